"""From a request to a SizingResult: the one place that joins models, parts, prices and search."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile

import numpy as np

from sizer.base.errors import InfeasibleError
from sizer.base.stored_answers import Deferred
from sizer.bom.prices import usual_rate_usd
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.physical.capacity import is_bounded, nodes_there, usable_bytes
from sizer.physical.quantities import has_main
from sizer.sizing.assumptions import UsualExchangeRate
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import Limit
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import needed_of
from sizer.sizing.decision_options import can_be_bought, sold_today
from sizer.sizing.design import assumptions
from sizer.sizing.design.decisions import verdict_of, with_bills
from sizer.sizing.growth.growth_plan import FirstPurchases, first_purchases, is_same
from sizer.sizing.maximum import described_maximum, maximum, most_of_budget, rows_of
from sizer.sizing.reasons import (
    IdleReason,
    PreferenceKind,
    QuoteToSettle,
    RunnerUpKind,
    RunnerUpReason,
    Selection,
    SelectionKind,
    SizeKey,
)
from sizer.sizing.recommend import MAX_PLATFORMS_SHOWN, answerable, design_of, preference_of, rental_of_run, search
from sizer.sizing.result import (
    IMPLAUSIBLE_W,
    DecisionOption,
    DesignAnswer,
    IdleServers,
    IdleStorage,
    OtherLoad,
    ParetoPoint,
    SizingResult,
)
from sizer.sizing.search.infeasible_error import counts_ruled_out
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import (
    Ranking,
    best_of,
    beyond_budget,
    front_rows,
    is_tied,
    keys,
    preferred_parts,
    quotes_to_settle,
    rank_key,
    row_difference,
    tie_break,
    uncertainty,
)
from sizer.sizing.servers_needed import spare_cost, with_stack_defaults
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.gpu_memory import fit_chance
from sizer.sizing.stages.laid_out_models import lacks_rate
from sizer.sizing.stages.platform_columns import node_rates, rate_is_unknown
from sizer.workload.eras import eras_asked
from sizer.workload.request import SizingRequest, ranks_by_cost

# Numbers of people, over those asked, that are sized, too.
OTHER_LOADS = (0.5, 2.0)
# A probability that is higher by less is the same to a reader. [-]
_NOTICEABLY_LIKELIER = 0.02
# GPUs, over those of a design that keeps its limits less surely than asked, among which a surer one is looked for.
_MOST_SURER = 4
# Probabilities that nobody pays to tell apart where none is as high as asked. A choice of ours. [-]
_MUCH_THE_SAME = 0.1
# Points of the Pareto front that documents show.
MAX_PARETO_POINTS = 16


def size(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> SizingResult:
    """Size the cluster of a request.

    ``calibration``: default: the stored one. Returns its design is the best of the request; of a request that grows it
    is what the growth plan buys first, and the design that is enough for the first year alone is the runner-up where
    they differ. Where no plan covers the first year, the design is that of the first year. Where a workload asks for
    the maximum, its target is the rate that the answer reaches. Raises RequestError if the request names something that
    the catalogue does not have. Raises InfeasibleError if no design meets it: the sentence names the limit that rules
    every design out and what would be enough.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    most = maximum(request, catalog, fitted)
    if most is not None:
        request, found = most
        result = size(request, catalog, fitted)
        return replace(result, maximum=described_maximum(found, result.design))
    counts = search(request, catalog, fitted)
    ranking = Ranking(counts)
    order = ranking.first(MAX_PLATFORMS_SHOWN)
    if not order:
        return size(answerable(counts, fitted), catalog, fitted)
    order = _comparable(counts, ranking, order)
    choice = _first_year(counts, ranking, order, fitted)
    planned = first_purchases(request, catalog, fitted)
    if planned is not None and not is_same(planned.designs[0], choice.platforms[0]):
        choice = _first_of_plan(choice, _points(order[:1], -1, counts)[0], planned)
    result = _described(choice, counts, fitted)
    return result if planned is None else replace(result, planned_years=planned.years)


def _comparable(counts: PartCounts, ranking: Ranking, order: list[int]) -> list[int]:
    """The first of the ranking; after one server with drives of its own other servers, not storage for a cluster.

    Storage that the request names or that is there stays in the order.
    """
    nodes, servers, request = counts.evaluated.storage_nodes, counts.evaluated.space.n_servers, counts.request
    if nodes[order[0]] or servers[order[0]] > 1 or request.platforms.storage or request.existing.storage_nodes:
        return order
    wider = islice(ranking.varied(), 2 * MAX_PLATFORMS_SHOWN)
    others = list(islice((row for row in wider if not nodes[row]), MAX_PLATFORMS_SHOWN))
    return others if len(others) > 1 else order[:2]


@dataclass(frozen=True)
class _Choice:
    """Which design is chosen, what else there is, and why."""

    platforms: tuple[DesignAnswer, ...]  # the first is chosen
    selection: Selection
    quotes: tuple[QuoteToSettle, ...]
    runner_up: ParetoPoint | None
    reason: RunnerUpReason
    pareto: Deferred[tuple[ParetoPoint, ...]]


def _first_year(counts: PartCounts, ranking: Ranking, order: Sequence[int], calibration: Calibration) -> _Choice:
    chosen = order[0]
    designs = tuple(design_of(counts, row, calibration, is_documented=row == chosen) for row in order)
    is_by_cost = counts.request.rank_by in (None, "cost")
    quotes = quotes_to_settle(counts, order) if is_by_cost else ()
    runner_up, reason = _runner_up(counts, order)
    selection = _selection(counts, order, ranking)
    selection = with_bills(selection, designs)
    # The search again, when a document asks: its arrays take a hundred times the memory of the answer.
    front = Deferred(partial(_front, counts.request, counts.catalog, calibration, chosen))
    return _Choice(designs, selection, quotes, runner_up, reason, front)


def _front(request: SizingRequest, catalog: Catalog, calibration: Calibration, chosen: int) -> tuple[ParetoPoint, ...]:
    """Front over the cost that ranks designs, time, power and rack units; it holds the chosen design."""
    counts = search(request, catalog, calibration)
    listed = front_rows(counts, chosen, MAX_PARETO_POINTS)
    return _points(listed if chosen in listed else [chosen, *listed], chosen, counts)


def _first_of_plan(first_year: _Choice, before: ParetoPoint, planned: FirstPurchases) -> _Choice:
    """What the growth plan buys first; the design that is enough for the first year alone is the runner-up."""
    design = planned.designs[0]

    def listed() -> tuple[ParetoPoint, ...]:
        points = (replace(point, is_documented=False) for point in first_year.pareto.value)
        return _point_of(design, before), *points

    return _Choice(
        platforms=planned.designs,
        selection=Selection(SelectionKind.GROWTH, first_year.selection.n_platforms, preference=planned.preference),
        quotes=planned.quotes_to_settle,
        runner_up=before,
        reason=RunnerUpReason(RunnerUpKind.FIRST_YEAR),
        pareto=Deferred(listed),
    )


def _described(choice: _Choice, counts: PartCounts, calibration: Calibration) -> SizingResult:
    """The answer that describes a chosen design."""
    request, catalog, works = counts.request, counts.catalog, counts.evaluated.works
    chosen, *others = choice.platforms
    design = with_stack_defaults(chosen, request, works, catalog, calibration)
    design = _with_other_loads(design, request, catalog, calibration)
    platforms = (design, *others)
    rate_usd = usual_rate_usd(request)
    rate = () if rate_usd is None else (UsualExchangeRate(request.currency, rate_usd),)
    taken = (*assumptions.design_assumptions(works, design, catalog), *rate)
    # One server in the first year is no alternative to a cluster that later years call for.
    compared = (design,) if choice.selection.kind is SelectionKind.GROWTH else platforms
    return SizingResult(
        request=request,
        catalog_digest=catalog.digest,
        calibration_digest=calibration.digest,
        verdict=verdict_of(design, compared, catalog),
        design=design,
        spare_cost=spare_cost(request, design, catalog, calibration),
        selection=choice.selection,
        platforms=platforms,
        deciding_prices=tuple(quote.item for quote in choice.quotes),
        runner_up=choice.runner_up,
        runner_up_reason=choice.reason,
        pareto=choice.pareto,
        n_designs=counts.evaluated.space.n_rows,
        ruled_out=counts_ruled_out(counts.evaluated.passes),
        assumptions=taken,
        questions=assumptions.open_points(design, catalog),
        sources=assumptions.sources(design, taken, catalog),
        quotes_to_settle=choice.quotes,
        equipment=eras_asked(catalog, request).basis,
        idle_servers=_idle_servers(counts, design),
        newer=_newer_design(request, design, catalog, calibration),
        idle_storage=idle_storage(counts, design),
        run_rental=rental_of_run(counts, design),
        likelier=_likelier(platforms, counts, calibration),
        surer=_surer(design, counts, calibration),
    )


def _likelier(
    platforms: Sequence[DesignAnswer], counts: PartCounts, calibration: Calibration
) -> Deferred[DesignAnswer | None] | None:
    """What keeps targets and budget together more likely than the first of some designs; None where that keeps both as
    surely as was asked.

    One of the others, or the most that the budget buys with the confidence asked: fewer parts, which meet the targets
    less surely.
    """
    check, joint = platforms[0].budget_check, platforms[0].joint_probability
    if check is None or joint is None or (check.probability or 0.0) >= least_chance(counts.request.confidence):
        return None

    def find() -> DesignAnswer | None:
        found = list(platforms)
        with suppress(InfeasibleError):
            bought = most_of_budget(counts, calibration)
            rows = np.zeros(0, dtype=np.int64) if bought is None else rows_of(counts.evaluated, bought)
            if rows.size:
                best = int(rows[np.argmax(counts.evaluated.probability[rows])])
                found.append(design_of(counts, best, calibration, is_documented=False))
        likeliest = max(found, key=lambda one: one.joint_probability or 0.0)
        return likeliest if (likeliest.joint_probability or 0.0) > joint + _NOTICEABLY_LIKELIER else None

    return Deferred(find)


def _surer(design: DesignAnswer, counts: PartCounts, calibration: Calibration) -> Deferred[DesignAnswer | None] | None:
    """Of a design that keeps first tokens less surely than was asked the cheapest that is as sure, with up to
    :data:`_MOST_SURER` times its GPUs; where none is, the cheapest that is nearly as sure as the surest.
    """
    if not design.late:
        return None

    def find() -> DesignAnswer | None:
        evaluated, found = counts.evaluated, []
        for index in counts.alive:
            at_most = _MOST_SURER * design.n_gpus / evaluated.gpus_per_server[index]
            sizes = np.flatnonzero(counts.candidates[index] & (evaluated.space.sizes <= at_most))
            found.append(counts.keeping_limits(index, sizes))
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        chance, asked = evaluated.probability[rows], least_chance(counts.request.confidence)
        surest = float(chance.max(initial=0.0))
        likely = rows[chance >= (asked if surest >= asked else surest - _MUCH_THE_SAME)]
        if surest < min(asked, (design.probability or 0.0) + _MUCH_THE_SAME):
            return None
        return design_of(counts, int(likely[np.argmin(counts.expected_cost[likely])]), calibration, is_documented=False)

    return Deferred(find)


def _with_other_loads(
    design: DesignAnswer, request: SizingRequest, catalog: Catalog, calibration: Calibration
) -> DesignAnswer:
    """A design that says what other numbers of people take; only where they are all that is asked for."""
    (answer, *others), asked = design.workloads, request.workload[0]
    counted = {name: number for name in ("users", "active_users") if (number := getattr(asked.target, name))}
    if others or not counted:
        return design
    allowed = {"servers": (design.platform.server.id,), "gpus": (design.platform.gpu.id,)}
    like = request.model_copy(update={"platforms": request.platforms.model_copy(update=allowed)})

    def find() -> tuple[OtherLoad, ...]:
        found = []
        for factor in OTHER_LOADS:
            people = {name: max(round(factor * number), 1) for name, number in counted.items()}
            work = asked.model_copy(update={"target": asked.target.model_copy(update=people)})
            with suppress(InfeasibleError):
                best = best_design(like.model_copy(update={"workload": (work,)}), catalog, calibration).design
                found.append(OtherLoad(factor, best.n_servers, best.platform.gpus_per_server))
        return tuple(found)

    return replace(design, workloads=(replace(answer, other_loads=Deferred(find)),))


def _newer_design(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration
) -> Deferred[DecisionOption | None] | None:
    """What does the work today in place of a megawatt, or of servers that are no longer sold."""
    if can_be_bought(design, catalog, request.date) and float(design.quantities.power_max_w[0]) <= IMPLAUSIBLE_W:
        return None

    return Deferred(partial(sold_today, request, design, catalog, calibration))


def _idle_servers(counts: PartCounts, design: DesignAnswer) -> tuple[IdleServers, ...]:
    """What each kind of GPU servers that a design leaves idle would reach alone, on their best platform."""
    evaluated, sizes, servers = counts.evaluated, counts.evaluated.space.sizes, []
    fits, work = evaluated.class_passes[Limit.GPU_MEMORY][evaluated.class_of], evaluated.works[0].request
    for one in () if design.existing is None else design.existing.idle:
        if one.item == design.platform.server.id:
            continue  # fewer than are there are enough
        options = [index for index, option in enumerate(evaluated.platforms) if option.server.id == one.item]
        place = int(np.searchsorted(sizes, one.count))
        if not options or place == sizes.size:
            continue
        rows = np.array([index * sizes.size + place for index in options if fits[index, place]], dtype=np.int64)
        if not rows.size:
            here = {evaluated.platforms[index].gpu.id: evaluated.platforms[index] for index in options}.values()
            fit = (evaluated.works, evaluated.memory)
            chances = [fit_chance(*fit, each, one.count * each.gpus_per_server, counts.catalog) for each in here]
            servers.append(IdleServers(one, None, None, probability=max(chances)))
            continue
        rates = evaluated.rates_at(rows)[0]
        best = rows[[int(np.argmax(rates))]]
        time_s = float(evaluated.time_at(best)[0]) if work.target.time_to_train_s is not None else None
        platform = evaluated.platforms[int(evaluated.space.platform[best[0]])]
        is_told = len(platform.server.gpus) == 1 or platform.gpu.id in counts.request.existing.gpus
        taken = "" if is_told else platform.gpu.name
        chance = float(evaluated.probability[best[0]])
        has_rate = not any(lacks_rate(each, platform.gpu, counts.catalog) for each in evaluated.works)
        servers.append(IdleServers(one, float(rates.max()), time_s, taken, chance, has_rate))
    return tuple(servers)


def idle_storage(counts: PartCounts, design: DesignAnswer) -> tuple[IdleStorage, ...]:
    """Why each storage system that is there, and that a design leaves idle, is not what it reads from."""
    request, platform, found = counts.request, design.platform, []
    there = request.existing.storage_nodes
    needed = max(max(one.required_bytes_per_s or 0.0, float(one.storage_bytes_per_s.value)) for one in design.workloads)
    demand = storage_demand(counts.evaluated.works, request.data)
    for one in () if design.existing is None else design.existing.idle:
        if one.item not in there or one.item == platform.storage.id:
            continue  # fewer nodes than are there are enough
        joined = [
            option
            for option in counts.evaluated.platforms
            if option.storage.id == one.item and option.server.id == platform.server.id
        ]
        if not joined:
            found.append(IdleStorage(one, IdleReason.NOT_CONNECTED, 0.0, 0.0, None))
            continue
        storage, nodes = joined[0].storage, nodes_there(joined[0].storage, there[one.item])
        given = nodes * max(min(node_rates(option)[0], node_rates(option)[2]) for option in joined)
        usable = float(usable_bytes(storage, joined[0].capacity_option, nodes))
        is_known, is_local = not rate_is_unknown(storage), platform.storage.kind == "local"
        copy_s = demand.sets_bytes * design.n_servers / given if is_known and is_local else None
        if np.isnan(usable) or (is_bounded(storage) and usable < needed_of(joined[0], demand, request.data)):
            found.append(IdleStorage(one, IdleReason.CAPACITY_UNKNOWN, demand.total_bytes, usable, None))
        elif usable < needed_of(joined[0], demand, request.data):
            found.append(IdleStorage(one, IdleReason.CAPACITY, demand.total_bytes, usable, copy_s))
        elif not is_known:
            found.append(IdleStorage(one, IdleReason.RATE_UNKNOWN, needed, 0.0, None))
        elif given < needed:
            found.append(IdleStorage(one, IdleReason.READ_RATE, needed, given, copy_s))
        else:
            found.append(IdleStorage(one, IdleReason.RANKED, needed, given, copy_s))
    return tuple(found)


def _selection(counts: PartCounts, order: Sequence[int], ranking: Ranking) -> Selection:
    rank_by = "rate" if counts.request.ranks_by_rate else counts.request.rank_by
    n_found = len(ranking.first(MAX_PLATFORMS_SHOWN))
    n_platforms = n_found if n_found < MAX_PLATFORMS_SHOWN else ranking.n_compared()
    preference = preference_of(counts, ranking, order[0], counts.name_of)
    if preference is not None and preference.kind is PreferenceKind.LEADS:
        return Selection(SelectionKind.PREFERRED, n_platforms, rank_by, preference)
    if n_platforms == 1:
        return Selection(SelectionKind.ONLY, 1, preference=preference)
    if not ranks_by_cost(rank_by):
        return Selection(SelectionKind.RANKED, n_platforms, rank_by, preference)
    # Nothing costs less than nothing: the designs behind one need not be counted.
    is_free = counts.ownership_rates is None and not counts.likely_cost[order[0]]
    behind = iter(()) if is_free else _as_certain(counts, ranking.one_by_one())
    if all(row_difference(counts, row, order[0]).low > 0 for row in behind):
        return Selection(SelectionKind.CHEAPEST, n_platforms, None, preference, _years_owned(counts))
    expected = {
        index: row_difference(counts, row, order[0]).expected
        for index, row in enumerate(_as_certain(counts, iter(order)), 1)
    }
    # What is less likely to keep the budget leads by no amount.
    over = beyond_budget(counts, counts.likely_cost[np.array(order)])
    less = {place: amount for place, amount in expected.items() if amount < 0 and over[place] <= over[0]}
    leader = min(less, key=lambda place: less[place], default=None)
    return Selection(SelectionKind.LIKELY_CHEAPEST, n_platforms, None, preference, _years_owned(counts), leader)


def _as_certain(counts: PartCounts, ranked: Iterator[int]) -> Iterator[int]:
    """Rows after the first that depend on no more unknowns than it; they stand before all others."""
    first = next(ranked)
    return takewhile(lambda row: np.diff(uncertainty(counts, np.array([first, row])))[0] <= 0, ranked)


def _years_owned(counts: PartCounts) -> int | None:
    """Years of the cost of ownership that ranks designs; None where their prices do."""
    return None if counts.ownership_rates is None else counts.ownership_rates.years


def _points(rows: Sequence[int], chosen: int, counts: PartCounts) -> tuple[ParetoPoint, ...]:
    at = np.array(rows)
    rates, times_s = counts.evaluated.rates_at(at)[0].tolist(), counts.evaluated.time_at(at).tolist()
    return tuple(
        _point(row, chosen, counts, rate, time_s) for row, rate, time_s in zip(rows, rates, times_s, strict=True)
    )


def _point(row: int, chosen: int, counts: PartCounts, rate: float, time_s: float) -> ParetoPoint:
    evaluated = counts.evaluated
    index = int(evaluated.space.platform[row])
    platform = evaluated.platforms[index]
    servers, nodes = int(evaluated.space.n_servers[row]), int(evaluated.storage_nodes[row])
    return ParetoPoint(
        name=counts.name_of(row),
        server=platform.server.id,
        server_name=with_vendor(platform.server),
        gpu=platform.gpu.id,
        storage=platform.storage.id,
        n_servers=servers,
        n_gpus=int(servers * evaluated.gpus_per_server[index]),
        storage_nodes=nodes,
        throughput_samples_per_s=rate,
        time_s=time_s,
        power_w=float(counts.power_w[row]),
        rack_units=float(counts.rack_units[row]),
        cost=float(counts.cost[row]) if counts.is_priced[row] else None,
        is_documented=row == chosen,
    )


def _point_of(design: DesignAnswer, like: ParetoPoint) -> ParetoPoint:
    """A design that is written out as a point of the front; ``like`` is another of the same request."""
    counts, answer = design.quantities, design.workloads[0]
    rate = float(answer.throughput.value)
    # The time of a workload without a known length is that of a million samples, which the rate scales.
    scaled_s = like.time_s * like.throughput_samples_per_s / rate
    return ParetoPoint(
        name=design.name,
        server=design.platform.server.id,
        server_name=with_vendor(design.platform.server),
        gpu=design.platform.gpu.id,
        storage=design.platform.storage.id,
        n_servers=design.n_servers,
        n_gpus=design.n_gpus,
        storage_nodes=design.storage_nodes,
        throughput_samples_per_s=rate,
        time_s=float(answer.time.total_s.value) if answer.time is not None else scaled_s,
        power_w=float(counts.power_max_w[0]),
        rack_units=float(counts.rack_units[0]),
        cost=float(design.bill.total) if design.bill.is_complete else None,
        is_documented=True,
    )


def _runner_up(counts: PartCounts, order: Sequence[int]) -> tuple[ParetoPoint | None, RunnerUpReason]:
    """The next best design and why it is second: the second platform, else the next on the same one.

    The same counts with other drives or another GPU memory are no other design.
    """
    chosen, evaluated = order[0], counts.evaluated
    if len(order) > 1:
        second = order[1]
    else:
        fabric = evaluated.exchange_bytes_per_s[evaluated.space.platform]
        is_same = (
            (evaluated.space.n_servers == evaluated.space.n_servers[chosen])
            & (evaluated.storage_nodes == evaluated.storage_nodes[chosen])
            & (fabric == fabric[chosen])
        )
        others = np.flatnonzero(counts.feasible & ~is_same)
        if others.size == 0:
            return None, RunnerUpReason(RunnerUpKind.NONE)
        second = best_of(counts, others)
    return _points([second], chosen, counts)[0], _why_second(counts, chosen, second)


def _why_second(counts: PartCounts, chosen: int, second: int) -> RunnerUpReason:
    request = counts.request
    pair = np.array([chosen, second])
    if counts.unknowns[second] > counts.unknowns[chosen]:
        return RunnerUpReason(RunnerUpKind.CONDITIONAL)
    if counts.evaluated.is_late[second] and not counts.evaluated.is_late[chosen]:
        return RunnerUpReason(RunnerUpKind.LATE)
    if counts.energy_is_open[second] and not counts.energy_is_open[chosen]:
        return RunnerUpReason(RunnerUpKind.ENERGY_UNKNOWN)
    over = beyond_budget(counts, counts.likely_cost[pair])
    if over[1] and not over[0]:
        return RunnerUpReason(RunnerUpKind.OVER_BUDGET)
    rank = rank_key(counts, pair)
    platforms = [counts.evaluated.platforms[int(index)] for index in counts.evaluated.space.platform[pair]]
    of_preferred = preferred_parts(platforms, request.platforms)
    if rank[1] < rank[0] and of_preferred[0] > of_preferred[1]:
        return RunnerUpReason(RunnerUpKind.NOT_PREFERRED, float(rank[0]), float(rank[1]))
    if rank[1] > rank[0]:
        if request.ranks_by_rate:
            return RunnerUpReason(RunnerUpKind.DEARER_RATE, float(rank[0]), float(rank[1]))
        if request.rank_by == "time":
            return RunnerUpReason(RunnerUpKind.SLOWER, float(rank[0]), float(rank[1]))
    cost = counts.ranking_cost[pair]
    if is_tied(counts, chosen, second):
        first_by = tie_break(counts, chosen, second)
        return RunnerUpReason(RunnerUpKind.TIED, years=_years_owned(counts), tie_break=first_by)
    if cost[1] > cost[0] and (ranks_by_cost(request.rank_by) or rank[1] == rank[0]):
        more, amounts = row_difference(counts, second, chosen), (float(cost[0]), float(cost[1]))
        years = _years_owned(counts)
        return RunnerUpReason(RunnerUpKind.DEARER, *amounts, is_settled=more.low > 0, years=years, difference=more)
    # Keys of the purchase only where main equipment is there; the last two have no name.
    names = list(SizeKey) if has_main(request.existing) else list(SizeKey)[-4:]
    for key, (one, two) in zip(names, keys(counts, pair), strict=False):
        if two != one:
            kind = RunnerUpKind.LARGER if two > one else RunnerUpKind.SMALLER
            return RunnerUpReason(kind, float(one), float(two), key)
    return RunnerUpReason(RunnerUpKind.EQUAL)
