"""The inverse question: the highest rate that the limits of a request allow, and what more of each limit brings."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.base.quantities import duration, grouped, probability_text, significant
from sizer.bom.prices import PriceBook, prices_for
from sizer.calibrate.calibration import Calibration
from sizer.catalog.labels import sample_unit
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform, PlatformKey
from sizer.physical.platforms import platforms
from sizer.sizing.checks import SizeLimit
from sizer.sizing.constraints.tiers import with_tiers
from sizer.sizing.result import DesignAnswer, LimitDesign, LimitStep, Maximum
from sizer.sizing.search.feasibility import MAX_SERVERS, EvaluatedSpace, design_space, evaluate_space
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.main_items import check_budget
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import NEAR_TIE, beyond_budget, keys
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import Limits, SizingRequest, Target
from sizer.workload.resolve import ResolvedWorkload

Without = Collection[PlatformKey]


def least_row(counts: PartCounts, limit: SizeLimit, without: Without = ()) -> int | None:
    """Row that meets the request, within its budget at its confidence, and takes least of one quantity.

    ``counts``: the designs. Those that depend on more unknown facts than it allows are left out: no limit is kept by
    what nobody knows. ``limit``: the quantity. Designs that take equally much follow each other by cost, then as in the
    ranking. ``without``: of platforms that are left out. Returns none where no design meets the request.

    Exact: platforms are counted in the order of what their servers and storage alone take, until no other platform
    could take less.
    """
    could, cost, taken = possible(counts, without), counts.likely_main_cost, _bound(counts, limit)
    least = np.where(could, taken, np.inf).min(axis=1)
    cheapest = np.where(could, cost, np.inf).min(axis=1)
    best: int | None = None
    key: tuple[float, float] = (np.inf, np.inf)
    for index in np.lexsort((cheapest, least)).tolist():
        if (least[index], cheapest[index]) >= key:
            break
        rows = certain_rows(counts, index)
        if not rows.size:
            continue
        order = [amount_of(counts, rows, limit), counts.likely_cost[rows], *keys(counts, rows)]
        place = int(np.lexsort(order[::-1])[0])
        here = (float(order[0][place]), float(order[1][place]))
        if here < key:
            best, key = int(rows[place]), here
    return best


def possible(counts: PartCounts, without: Without = ()) -> Bools:
    """(platforms, sizes) designs whose servers and storage alone keep all limits, and that no unknown rate decides.

    ``without`` holds the keys of platforms that are left out.
    """
    shape = (counts.evaluated.space.n_platforms, len(counts.evaluated.space.sizes))
    is_known = (counts.unknowns <= counts.unknowns_allowed).reshape(shape)
    could = counts.candidates & is_known & ~beyond_budget(counts, counts.likely_main_cost)
    if without:
        could &= np.array([platform.key not in without for platform in counts.evaluated.platforms])[:, None]
    return np.asarray(could)


def certain_rows(counts: PartCounts, index: int) -> Ints:
    """Rows of one platform that keep every limit, the budget at the confidence asked, and depend on nothing unknown."""
    rows = counts.feasible_of(index)
    is_known = counts.unknowns[rows] <= counts.unknowns_allowed
    return np.asarray(rows[is_known & ~beyond_budget(counts, counts.likely_cost[rows])])


def promising(counts: PartCounts, could: Bools) -> list[int]:
    """Platforms with some possible design, those first that would go furthest if rates grew in line with limits.

    The order saves counting, nothing rests on it.
    """
    limits, evaluated = counts.request.limits, counts.evaluated
    bounds = {limit: getattr(limits, limit.value) for limit in SizeLimit}
    used = [_bound(counts, limit) / bound for limit, bound in bounds.items() if bound is not None]
    slowest = evaluated.class_slowest[evaluated.class_of]
    with np.errstate(divide="ignore"):  # what takes nothing of a limit may grow without end
        hope = np.where(could, slowest / np.maximum.reduce(used or [np.ones(could.shape)]), -np.inf).max(axis=1)
    return [int(index) for index in np.argsort(-hope, kind="stable") if could[index].any()]


def amount_of(counts: PartCounts, rows: Ints, limit: SizeLimit) -> Floats:
    """What counted designs take of a limited quantity: money at the confidence of the request, watts, counts."""
    if limit is SizeLimit.BUDGET:
        return counts.likely_cost[rows]
    if limit is SizeLimit.POWER:
        return counts.power_w[rows]
    if limit is SizeLimit.RACKS:
        return counts.racks[rows]
    if limit is SizeLimit.RACK_UNITS:
        return counts.rack_units[rows]
    return counts.evaluated.space.n_servers[rows].astype(float)


def _bound(counts: PartCounts, limit: SizeLimit) -> Floats:
    """(platforms, sizes) what servers and storage alone take."""
    if limit is SizeLimit.BUDGET:
        return counts.likely_main_cost
    if limit is SizeLimit.SERVERS:
        sizes = counts.evaluated.space.sizes.astype(float)
        return np.broadcast_to(sizes, counts.likely_main_cost.shape)
    names = {SizeLimit.POWER: "watts", SizeLimit.RACKS: "racks", SizeLimit.RACK_UNITS: "units"}
    return counts.at_least[names[limit]]


# A rate that any design reaches that runs at all. [samples/s]
_LOWEST_RATE = 1e-6
# The highest rate is sought until so little is left between a rate that is reached and one that is not. [-]
_RESOLUTION = 1e-3
# A design that reaches so much of the rate for so much of the money is worth knowing. A choice of ours.
_NEARLY, _CLEARLY_LESS = 0.85, 0.75
# Points of a grid of rates, and refinements of it: what remains of a factor of e is below a millionth.
_GRID, _REFINEMENTS = 65, 4


def with_fixed_target(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> SizingRequest:
    """The request with the highest rate that its limits allow as its target; unchanged where every target is given.

    Raises RequestError, InfeasibleError as :func:`maximum`.
    """
    if request.maximized is None:
        return request
    search = _MaximumSearch.of(request, catalog, calibration)
    _, found = search.chosen
    return search.at(_floored(found.samples_per_s))


def maximum(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> tuple[SizingRequest, Maximum] | None:
    """The highest rate within the limits, and the request that has it as its target.

    Returns none where every target is given. Raises RequestError if the request names something that the catalogue does
    not have, or its budget is in a currency in which servers or storage have no price. Raises InfeasibleError if no
    design at all runs within the limits.

    Whether some design within the limits reaches a rate is answered exactly, by the search of an ordinary request, and
    no design reaches a rate without reaching every lower one. So the highest rate lies where the answer turns, which is
    sought by halving. Of the designs within 1 % of it the ranking's first is taken: the cheapest, then the simplest.
    """
    if request.maximized is None:
        return None
    search = _MaximumSearch.of(request, catalog, calibration)
    highest, found = search.chosen
    rate = _floored(found.samples_per_s)
    steps = tuple(search.step(limit, highest) for limit in search.limits)
    answer = Maximum(
        workload=request.maximized,
        samples_per_s=rate,
        highest_samples_per_s=highest,
        confidence=request.confidence,
        design=found,
        steps=steps,
        runner_up=search.runner_up(found),
        cheaper=search.cheaper(found),
        is_largest=request.limits.servers is None and found.n_servers == MAX_SERVERS,
    )
    return search.at(rate), answer


def most_of_budget(counts: PartCounts, calibration: Calibration) -> LimitDesign | None:
    """The design of the highest rate that the budget of a request buys; None where that is no one rate.

    Raises InfeasibleError if it buys none of any rate.
    """
    request = counts.request
    [work, *others] = request.workload
    if others or request.team is not None or request.growth is not None or work.target.gpus_busy is not None:
        return None
    free = work.model_copy(update={"target": Target(maximum="rate")})
    asked = request.model_copy(update={"workload": (free,)})
    return _MaximumSearch.of(asked, counts.catalog, calibration).chosen[1]


def budget_error_text(counts: PartCounts, calibration: Calibration) -> str:
    """What the budget of a request buys that no design meets, or that it buys none of any rate, as a sentence; ""
    where that is no one rate.
    """
    request = counts.request
    try:
        point = most_of_budget(counts, calibration)
    except InfeasibleError as error:
        return f" Slower targets do not help: {error}."
    if point is None:
        return ""
    evaluated, rows = counts.evaluated, rows_of(counts.evaluated, point)
    if not rows.size:  # one server with a number of cards of its own, which the search of the target leaves out
        every = with_tiers(platforms(counts.catalog, request, alone=True), evaluated.works, request, counts.catalog)
        options = [one for one in every if one.server.id == point.server]
        if not options:  # a machine at a desk, which so many people do not use
            return ""
        space = design_space(len(options), 1, point.n_servers)
        evaluated = evaluate_space(request, evaluated.works, options, space, counts.catalog, calibration)
        rows = rows_of(evaluated, point)
    rate = f"{significant(point.samples_per_s)} {sample_unit(evaluated.works[0].dnn)}"
    if request.workload[0].target.time_to_train_s is not None:  # told as it was asked
        rate += f", which trains in about {duration(float(evaluated.time_at(rows, request.confidence).min()))}"
    return (
        f" The most that the budget buys at {probability_text(request.confidence)} confidence is {point.n_servers} × "
        f"{point.server_name} ({point.n_gpus} × {point.gpu_name}) with {point.storage_name}: {rate}. It meets the "
        f"target with {probability_text(float(evaluated.probability[rows].max()))} confidence."
    )


def rows_of(evaluated: EvaluatedSpace, point: LimitDesign) -> Ints:
    """Rows of a space that are a design, over any fabric and with any drives."""
    alike = [
        (one.server.id, one.gpu.id, one.storage.id, one.gpus_per_server * point.n_servers, _memory_id(one))
        == (point.server, point.gpu, point.storage, point.n_gpus, point.host_memory)
        for one in evaluated.platforms
    ]
    return np.flatnonzero(np.outer(alike, evaluated.space.sizes == point.n_servers))


def described_maximum(maximum: Maximum, design: DesignAnswer) -> Maximum:
    """The most that the limits give where the ranking of the request leads to another design of that rate.

    A preferred vendor, or another key than the cost, leads to one.
    """
    counts = design.quantities
    point = _point(
        design.platform,
        n_servers=design.n_servers,
        n_gpus=design.n_gpus,
        storage_nodes=design.storage_nodes,
        samples_per_s=maximum.samples_per_s,
        cost=None if design.cost is None else design.cost.at_confidence,
        power_w=float(counts.power_max_w[0]),
        racks=int(counts.racks[0]),
        rack_units=float(counts.rack_units[0]),
    )
    return maximum if point.parts == maximum.design.parts else replace(maximum, design=point)


@dataclass(frozen=True)
class _MaximumSearch:
    """The designs of a request at any rate of its one workload without a given target."""

    request: SizingRequest
    place: int  # of that workload
    catalog: Catalog
    calibration: Calibration
    options: Sequence[Platform]
    works: tuple[ResolvedWorkload, ...]
    prices: PriceBook
    unknowns: int = 0  # facts that no source gives, on which designs may depend

    @classmethod
    def of(cls, request: SizingRequest, catalog: Catalog, calibration: Calibration) -> "_MaximumSearch":
        """Platforms and workloads are looked up once for all rates; designs depend on as few unknown facts as any."""
        place = request.maximized
        assert place is not None  # asked by those who call it
        start = _at(request, place, _LOWEST_RATE)
        works = resolved(start, catalog, calibration)
        usual, every = (
            with_tiers(platforms(catalog, request, alone=alone), works, start, catalog) for alone in (False, True)
        )
        search = cls(start, place, catalog, calibration, usual, works, prices_for(request, catalog))
        check_budget(request, usual, search.prices)
        # The first is evaluated already.
        further_unknowns = (int(number) for number in np.unique(search._start.unknowns) if number)
        searches = (search, *(replace(search, unknowns=number) for number in further_unknowns))
        found = next((one for one in searches if one.highest is not None), search)
        if len(every) == len(usual):
            return found
        # One server with another number of cards may be faster than any of the usual ones.
        limits = start.limits.model_copy(update={"servers": 1})
        further = [one for one in every if one.gpus_per_server in one.server.n_gpus_alone]
        alone = replace(found, request=start.model_copy(update={"limits": limits}), options=further)
        is_faster = alone.highest is not None and alone.highest > (found.highest or 0.0) * (1 + _RESOLUTION)
        return replace(found, options=every) if is_faster else found

    @property
    def limits(self) -> tuple[SizeLimit, ...]:
        """Limits of the size that the request sets."""
        return tuple(limit for limit in SizeLimit if getattr(self.request.limits, limit.value) is not None)

    def at(self, rate: float) -> SizingRequest:
        """The request with a rate as its target. [samples/s]"""
        return _at(self.request, self.place, rate)

    def counts(
        self,
        rate: float,
        limits: Limits | None = None,
        most: int | None = None,
        options: Sequence[Platform] | None = None,
    ) -> PartCounts:
        """The designs at a rate; limits, largest number of servers and platforms may be others than the request's."""
        request = self.at(rate)
        if limits is not None:
            request = request.model_copy(update={"limits": limits})
        works = self._works_at(request, rate)
        # As in the search of an ordinary request, one server alone only where no second one is allowed.
        largest = int(min(request.limits.servers or MAX_SERVERS, max(most or self.most, 2)))
        options = self.options if options is None else options
        space = design_space(len(options), 1, largest)
        evaluated = evaluate_space(request, works, options, space, self.catalog, self.calibration)
        return PartCounts(request, evaluated, self.catalog, self.prices, self.unknowns)

    def _works_at(self, request: SizingRequest, rate: float) -> tuple[ResolvedWorkload, ...]:
        """The workloads at a rate, of which models in use know each other."""
        served = [None if work.serving is None else replace(work.serving, shares_with=()) for work in self.works]
        if (free := served[self.place]) is not None:
            served[self.place] = replace(free, asked_rate=rate, number=rate)
        works = []
        for work, asked, one in zip(self.works, request.workload, served, strict=True):
            others = tuple(other for other in served if other is not None and other is not one)
            serving = None if one is None else replace(one, shares_with=others)
            at_rate = work.request.model_copy(update={"target": asked.target})
            works.append(replace(work, request=at_rate, serving=serving))
        return tuple(works)

    @cached_property
    def _start(self) -> PartCounts:
        return self.counts(_LOWEST_RATE, most=MAX_SERVERS)

    @cached_property
    def most(self) -> int:
        """Largest number of servers that could keep the limits: no rate takes fewer parts than the lowest."""
        places = np.flatnonzero(possible(self._start).any(axis=0))
        return int(self._start.evaluated.space.sizes[places[-1]]) if places.size else 1

    @cached_property
    def chosen(self) -> tuple[float, LimitDesign]:
        """Highest rate of all designs within the limits, and the first of those near it. [samples/s]"""
        found = None if self.highest is None else self._near(self.highest)
        if self.highest is None or found is None:
            raise self._infeasible()
        return self.highest, found

    @cached_property
    def highest(self) -> float | None:
        """Highest rate of all designs within the limits; None where none runs within them. [samples/s]"""
        return self._highest()

    def runner_up(self, point: LimitDesign) -> LimitDesign | None:
        """Fastest design within the limits of another technology than one, or one nearly as fast.

        Where all are of the same cooling and kind of processors, on any other platform; None where there is none.
        """
        like = next(one for one in self.options if one.server.id == point.server and one.gpu.id == point.gpu)
        for without in (
            {option.key for option in self.options if option.technology == like.technology},
            {(*like.key[:2], point.storage)},
        ):
            if (highest := self._highest(without)) is not None:
                return self._near(highest, without)
        return None

    def cheaper(self, limit_design: LimitDesign) -> LimitDesign | None:
        """The cheapest design that is nearly as fast as one; None where it does not cost clearly less."""
        counts = self.counts(_NEARLY * limit_design.samples_per_s)
        row = least_row(counts, SizeLimit.BUDGET)
        point = None if row is None else self.point(counts, row)
        most = _CLEARLY_LESS * _amount(limit_design, SizeLimit.BUDGET)
        # Nothing costs less than what is there.
        return None if point is None or not most or _amount(point, SizeLimit.BUDGET) > most else point

    def _near(self, highest: float, without: Without = (), limits: Limits | None = None) -> LimitDesign | None:
        """The cheapest design within limits that reaches almost the highest rate."""
        counts = self.counts(highest * (1 - NEAR_TIE), limits, MAX_SERVERS if limits is not None else None)
        row = least_row(counts, SizeLimit.BUDGET, without)
        return None if row is None else self.point(counts, row)

    def _highest(self, without: Without = (), limits: Limits | None = None, known: float | None = None) -> float | None:
        """Highest rate of all designs within limits; ``known`` is a rate that some design reaches. [samples/s]

        A platform that does not reach a rate reaches no higher one, so each is counted once, at a rate just above that
        of the best before it. Where it reaches that, its own highest rate becomes the one to beat.
        """
        best, is_open = known, np.ones(len(self.options), dtype=bool)
        most = MAX_SERVERS if limits is not None else None
        counts = self._start if best is None and limits is None else self.counts(_above(best), limits, most)
        while True:
            for index in promising(counts, possible(counts, without) & is_open[:, None]):
                is_open[index] = False
                rows = certain_rows(counts, index)
                if rows.size:
                    best = self._highest_on(counts, rows)
                    break
            else:
                return best
            counts = self.counts(_above(best), limits, most)

    def _highest_on(self, counts: PartCounts, rows: Ints) -> float:
        """Highest rate of one platform, of which some ``rows`` reach that of ``counts``. [samples/s]"""
        platform = [counts.evaluated.platforms[int(counts.evaluated.space.platform[rows[0]])]]
        limits, most = counts.request.limits, int(counts.evaluated.space.sizes[-1])
        low, high = self._reached_by_any(counts, rows), np.inf
        while high > low * (1 + _RESOLUTION):
            middle = 2 * low if np.isinf(high) else float(np.sqrt(low * high))
            above = self.counts(middle, limits, most, platform)
            rows = certain_rows(above, 0)
            low, high = (self._reached_by_any(above, rows), high) if rows.size else (low, middle)
        return low

    def _reached_by_any(self, counts: PartCounts, rows: Ints) -> float:
        """What the fastest of some rows reaches. [samples/s]"""
        return self.reached(counts, int(rows[np.argmax(counts.evaluated.rates_at(rows)[0])]))

    def step(self, limit: SizeLimit, highest: float) -> LimitStep:
        """What more of a limit brings beyond the chosen design, the other limits kept."""
        bound, chosen = float(getattr(self.request.limits, limit.value)), self.chosen[1]
        is_counted = limit in (SizeLimit.RACKS, SizeLimit.SERVERS)
        following = self._with_one_more(limit, highest) if is_counted else self._with_least_more(limit, highest)
        is_more = (
            following is not None
            and _amount(following, limit) > bound
            and following.samples_per_s > chosen.samples_per_s
        )
        return LimitStep(limit, bound, following if is_more else None)

    def _with_one_more(self, limit: SizeLimit, highest: float) -> LimitDesign | None:
        """The fastest design with one rack or server more."""
        more = int(getattr(self.request.limits, limit.value)) + 1
        limits = self.request.limits.model_copy(update={limit.value: more})
        rate = self._highest(limits=limits, known=highest)
        return None if rate is None else self._near(rate, limits=limits)

    def _with_least_more(self, limit: SizeLimit, highest: float) -> LimitDesign | None:
        """The design that takes least of a limit among those that are faster than all within it."""
        # An endless limit, not none: what nobody knows of its quantity does not become known by more of it.
        limits = self.request.limits.model_copy(update={limit.value: np.inf})
        # Twice as many servers as now is more than such a step asks for.
        counts = self.counts(highest * (1 + NEAR_TIE), limits, min(MAX_SERVERS, 2 * self.most + 1))
        row = least_row(counts, limit)
        return None if row is None else self.point(counts, row)

    def point(self, counts: PartCounts, row: int) -> LimitDesign:
        """A row with what it reaches and takes."""
        evaluated = counts.evaluated
        index = int(evaluated.space.platform[row])
        platform, servers = evaluated.platforms[index], int(evaluated.space.n_servers[row])
        cost, power_w, racks, units = (
            float(amount_of(counts, np.array([row]), limit)[0])
            for limit in (SizeLimit.BUDGET, SizeLimit.POWER, SizeLimit.RACKS, SizeLimit.RACK_UNITS)
        )
        return _point(
            platform,
            n_servers=servers,
            n_gpus=int(servers * evaluated.gpus_per_server[index]),
            storage_nodes=int(evaluated.storage_nodes[row]),
            samples_per_s=self.reached(counts, row),
            cost=cost,
            power_w=power_w,
            racks=int(racks),
            rack_units=units,
        )

    def reached(self, counts: PartCounts, row: int) -> float:
        """Highest rate that a row reaches at the confidence of the request, its storage as it is. [samples/s]

        At least the target. Where losses are to be tolerated it is the target: what remains after a loss would have to
        be judged again at each rate.
        """
        evaluated, request, place = counts.evaluated, counts.request, self.place
        low = request.workload[place].target.samples_per_s
        assert low is not None  # every search of this module has one
        if request.resilience.keeps_targets_without:
            return low
        platform, nodes = evaluated.platforms[int(evaluated.space.platform[row])], int(evaluated.storage_nodes[row])
        size = (platform, int(evaluated.space.n_servers[row]), nodes, np.inf, self.catalog, self.calibration)
        runs = [run_on(request, work, *size) for work in evaluated.works]
        run = runs.pop(place)
        others, share = np.prod([one.probability[0] for one in runs]), evaluate.share_of(request)
        sure = low

        def highest(timely: float) -> float:
            """Where first tokens are so sure, whatever the rate."""
            low, high = sure, max(sure, float(run.warm.slowest[0]))
            for _ in range(_REFINEMENTS):
                rates = np.geomspace(low, high, _GRID)
                need = evaluate.need_of_rate(run.comp, rates[:, None])
                chance = need.outcomes.probability(run.warm, run.cold) * timely
                reads = evaluate.read_bytes_per_s(run.work, run.comp, need)
                least = np.minimum(chance, run.side.mounts.probability_at_least(reads)) >= evaluate.least_chance(share)
                met = least & (chance * others >= evaluate.least_chance(request.confidence))
                last = int(np.flatnonzero(met).max(initial=0))
                low, high = float(rates[last]), float(rates[min(last + 1, _GRID - 1)])
            return low

        rate, serving = highest(1.0), run.work.serving
        if serving is None or serving.first_token_s is None:
            return rate
        # At a lower rate they are surer.
        at_rate = run_on(request, replace(run.work, serving=replace(serving, asked_rate=rate)), *size)
        return highest(1.0 if at_rate.comp.timely is None else float(at_rate.comp.timely.reshape(-1)[0]))

    def _infeasible(self) -> InfeasibleError:
        """Why not even the lowest rate is reached within the limits."""
        limits = self.request.limits
        free = self.counts(_LOWEST_RATE, limits.model_copy(update={"budget": np.inf}), MAX_SERVERS)
        row = least_row(free, SizeLimit.BUDGET)
        if limits.budget is None or row is None:
            return infeasible_error(self._start, "any rate")
        cheapest = self.point(free, row)
        amounts = [
            f"{self.request.currency} {grouped(amount)}"
            for amount in (limits.budget, _amount(cheapest, SizeLimit.BUDGET))
        ]
        return InfeasibleError(
            f"no design is within limits.budget = {amounts[0]} at {probability_text(self.request.confidence)} "
            f"confidence. The cheapest, {cheapest.n_servers} × {cheapest.server_name} with {cheapest.storage_name}, "
            f"costs at most about {amounts[1]} at that confidence"
        )


def _at(request: SizingRequest, place: int, rate: float) -> SizingRequest:
    works = list(request.workload)
    works[place] = works[place].model_copy(update={"target": Target(samples_per_s=rate)})
    return request.model_copy(update={"workload": tuple(works)})


def _above(rate: float | None) -> float:
    """Rate to beat: a hair above one that is reached. [samples/s]"""
    return _LOWEST_RATE if rate is None else rate * (1 + _RESOLUTION)


def _floored(rate: float) -> float:
    """A rate to four significant digits, never above it. [samples/s]"""
    unit = 10.0 ** (np.floor(np.log10(rate)) - 3)
    return float(f"{np.floor(rate / unit * (1 + 1e-12)) * unit:.12g}")


def _point(platform: Platform, **amounts: Any) -> LimitDesign:
    """A design on a platform; ``amounts`` are the other fields."""
    return LimitDesign(
        server=platform.server.id,
        server_name=platform.server.name,
        gpu=platform.gpu.id,
        gpu_name=platform.gpu.name,
        host_memory=_memory_id(platform),
        storage=platform.storage.id,
        storage_name=platform.storage.name,
        technology=platform.technology,
        **amounts,
    )


def _memory_id(platform: Platform) -> str | None:
    return None if platform.host_memory is None else platform.host_memory.id


def _amount(point: LimitDesign, limit: SizeLimit) -> float:
    amount = point.amount(limit)
    assert amount is not None  # amounts are left out of customers' copies only
    return amount
