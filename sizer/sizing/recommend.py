"""The designs that a request allows, searched, and one of them written out in full."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sizer.base import units
from sizer.base.arrays import Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.base.quantities import grouped, significant
from sizer.bom.prices import prices_for
from sizer.bom.rental import RunRental, run_rental
from sizer.calibrate.calibration import Calibration
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform, PlatformKey
from sizer.physical.platforms import platforms
from sizer.sizing.checks import COMPUTE_LIMITS, Limit, bound_of
from sizer.sizing.constraints.tiers import with_tiers
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.maximum import budget_error_text
from sizer.sizing.reasons import Binding, BindingKind, Preference, PreferenceKind
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.feasibility import MAX_SERVERS, EvaluatedSpace, Space, design_space, evaluate_space
from sizer.sizing.search.infeasible_error import infeasible_error, nearest_design
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, beyond_budget, rank_key, row_difference, uncertainty
from sizer.sizing.stages.gpu_memory import fit_chance, resolved
from sizer.workload.eras import extended_by_what_is_sold
from sizer.workload.request import SizingRequest, ranks_by_cost
from sizer.workload.resolve import ResolvedWorkload

# Largest number of servers that a search looks at; fewer where the fabric ends before.
MOST_SERVERS = 10_000
# What more servers may mend. A workload that starts to fit the GPUs on more of them is not foreseen.
TAKE_SERVERS = {*COMPUTE_LIMITS, Limit.TEAM_WAITS, Limit.CONFIDENCE, Limit.SERVER_LOSS} - {Limit.GPU_MEMORY}
# Scaling is judged over the last two doublings: layouts of language models divide some numbers better than others.
_DOUBLINGS = 2
# Looked at besides the number expected: a little fewer, and more for platforms that take more than the best one.
_FEWER, _MORE = 15 / 16, 5 / 4
# Sizes are a step apart where there would be more of them.
_MOST_SIZES = 512
# How often the numbers of servers are raised: rates of larger clusters may grow less than those before.
_MOST_RAISED = 4
# GPUs of the usual server: what a number of GPUs in all calls for in servers, where it is more than these.
_USUAL_GPUS = 8
# Searches of the usual maximum; platforms of which a first sizing takes two seconds or more, some 0.2 ms for each.
_TRIES, _MANY = 6, 10_000
# Platforms shown side by side; further ones are counted, not drawn.
MAX_PLATFORMS_SHOWN = 8


def is_long(request: SizingRequest, catalog: Catalog) -> bool:
    """Whether sizing takes seconds, by what it evaluates: platforms, for each workload, year and try of a maximum."""
    times = (1 if request.growth is None else request.growth.years) * (1 if request.maximized is None else _TRIES)
    return len(platforms(catalog, request)) * len(request.workload) * times > _MANY


def most_servers(request: SizingRequest, n_servers: int = 0) -> int:
    """Largest number of servers looked at first: the request's limit, or enough for the GPUs that it asks for.

    ``n_servers`` of a design: where changes of the request around it are looked at.
    """
    if request.limits.servers is not None:
        return min(request.limits.servers, MOST_SERVERS)
    gpus = max((each.target.gpus_busy or request.limits.gpus or 0 for each in request.workload), default=0)
    # Some more than the target needs, so that the next larger design is among them.
    return max(MAX_SERVERS, math.ceil(max(gpus / _USUAL_GPUS, n_servers) * 17 / 16))


def search(
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
    only: PlatformKey | None = None,
    most: int | None = None,
) -> PartCounts:
    """The design space of a request, its stages evaluated; parts are counted when they are needed.

    ``only``: of the one platform that is looked at; default all that the request allows. ``most``: largest number of
    servers looked at; default :func:`most_servers`, and more where no design meets the targets and larger ones may.
    Raises RequestError if the request names something that the catalogue does not have.
    Raises InfeasibleError if no platform is allowed, or no run can start in the time asked.
    """
    works = resolved(request, catalog, calibration)
    options = options_of(request, works, catalog, calibration)
    options = options if only is None else tuple(option for option in options if option.key == only)
    first = design_space(len(options), 1, most or most_servers(request))
    evaluated = evaluate_space(request, works, options, first, catalog, calibration)
    for _ in range(_MOST_RAISED if most is None else 0):
        more = larger_sizes(evaluated, min(request.limits.servers or MOST_SERVERS, MOST_SERVERS))
        if more is None:
            break
        space = Space(len(options), np.union1d(evaluated.space.sizes, more))
        del evaluated
        evaluated = evaluate_space(request, works, options, space, catalog, calibration)
    prices, is_first = prices_for(request, catalog), evaluated.space is first
    counts = PartCounts(request, evaluated, catalog, prices)
    if is_first or counts.candidates.any():
        return counts
    # Larger clusters that do not keep the limits of the room are no help.
    del counts, evaluated
    return PartCounts(request, evaluate_space(request, works, options, first, catalog, calibration), catalog, prices)


def options_of(
    request: SizingRequest, works: Sequence[ResolvedWorkload], catalog: Catalog, calibration: Calibration
) -> tuple[Platform, ...]:
    """Platforms that a request allows; where one server runs the work alone, with any number of cards in it."""
    usual = with_tiers(platforms(catalog, request), works, request, catalog)
    fitted = tuple(one for one in usual if one.server.n_gpus_alone)
    one_server = Space(len(fitted), np.array([1]))
    if not (fitted and evaluate_space(request, works, fitted, one_server, catalog, calibration).runs.any()):
        return usual
    return with_tiers(platforms(catalog, request, alone=True), works, request, catalog)


def answerable(counts: PartCounts, calibration: Calibration) -> SizingRequest:
    """The request that is answered in the place of one that no design meets: owned servers which are no longer sold,
    extended by what is.

    Raises InfeasibleError if there is none.
    """
    extended = extended_by_what_is_sold(counts.catalog, counts.request)
    if extended is None:
        raise _unmet_error(counts, calibration)
    return extended


def _unmet_error(counts: PartCounts, calibration: Calibration) -> InfeasibleError:
    """Error of a request that no design meets; where its limit of servers or its storage tier is to blame, with the
    design that meets it without, and where the budget alone is, with what that buys and what would do.
    """
    request = counts.request
    nearest, most = nearest_design(counts), request.limits.servers
    broken = set(nearest[1])
    expected = math.inf
    if broken <= TAKE_SERVERS:
        expected = servers_expected(counts.evaluated)
    for name in ("servers", "budget"):
        bound = getattr(request.limits, name)
        if bound is None or not (math.isfinite(expected) or Limit.TEAM_WAITS in broken):
            continue
        limits = request.limits.model_copy(update={name: None})
        if (design := _first(request.model_copy(update={"limits": limits}), counts.catalog, calibration)) is None:
            continue
        error = infeasible_error(counts, bound=f"limits.{name} = {grouped(bound)}", nearest=nearest)
        text, free, row = _text_of(design), *design
        small = _small_error_text(request, free, design_of(free, row, calibration, is_documented=False))
        return InfeasibleError(f"{error} Without this limit a design meets the request: {text[0]}{text[2]}.{small}")
    error = infeasible_error(counts, nearest=nearest)
    if most is None and (Limit.TEAM_WAITS in broken or MOST_SERVERS < expected < math.inf):
        compared = int(counts.evaluated.space.sizes[-1])
        error = InfeasibleError(
            f"{error} Clusters of up to {grouped(compared)} servers were compared; limits.servers allows larger ones."
        )
    tier = request.platforms.storage_tier
    if tier is not None:
        platforms_asked = request.platforms.model_copy(update={"storage_tier": None})
        design = _first(request.model_copy(update={"platforms": platforms_asked}), counts.catalog, calibration)
        if design is not None:
            text = _text_of(design)
            return InfeasibleError(
                f"{error} Without storage_tier = {tier!r} a design meets the request: {text[0]} ({text[1]})."
            )
    if broken == {Limit.BUDGET}:
        small = _small_error_text(request, counts, design_of(counts, nearest[0], calibration, is_documented=False))
        return InfeasibleError(f"{error}{budget_error_text(counts, calibration)}{small}")
    return error


def _small_error_text(request: SizingRequest, counts: PartCounts, design: DesignAnswer) -> str:
    """What a request whose budget buys no design needs all the same: one server or card, and what a run rents for."""
    texts = []
    if design.n_hosts == 1:
        texts.append("A cluster is not needed: one server, or workstation, is enough.")
    if design.is_small and design.share_of_one_gpu is not None:
        share = f"{100 * design.share_of_one_gpu:.2g} %"
        texts.append(f"The target takes {share} of one {design.platform.gpu.name}: any workstation with one card does.")
    rental = rental_of_run(counts, design)
    if rental is not None:
        cost = f"about {rental.currency} {significant(rental.expected, 2)}"
        texts.append(f"Rented, one run ({significant(rental.gpu_hours)} hours of {rental.gpu}) costs {cost}.")
        budget = request.limits.budget
        if budget is not None and rental.currency == request.currency and rental.expected > budget:
            texts.append(f"The budget rents {100 * budget / rental.expected:.2g} % of it.")
    return "".join(f" {text}" for text in texts)


def rental_of_run(counts: PartCounts, design: DesignAnswer) -> RunRental | None:
    """What one run of all trainings costs to rent, each with as many GPUs and for as long as in the design."""
    request = counts.request
    if request.team is not None or any(workload.time is None or workload.is_inference for workload in design.workloads):
        return None
    hours = [
        design.gpus_at_work(workload) * float(workload.time.total_s.value) / units.HOUR_S
        for workload in design.workloads
        if workload.time is not None and workload.rate_is_predicted
    ]
    if len(hours) < len(design.workloads):
        return None
    rest = (counts.catalog, counts.prices, request.currency, request.rental)
    return run_rental(design.platform.gpu, sum(hours), *rest)


def _first(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> tuple[PartCounts, int] | None:
    """First design of a request, as designs and a row; None where none meets it."""
    counts = search(request, catalog, calibration)
    found = Ranking(counts).first(1)
    return (counts, found[0]) if found else None


def _text_of(design: tuple[PartCounts, int]) -> tuple[str, str, str]:
    """A design, the media of its storage, and what it is expected to cost, for an error."""
    counts, row = design
    evaluated = counts.evaluated
    platform = evaluated.platforms[int(evaluated.space.platform[row])]
    nodes, cost = int(evaluated.storage_nodes[row]), float(counts.expected_cost[row])
    storage = (f"{nodes} × " if nodes else "") + with_vendor(platform.storage)
    servers = f"{int(evaluated.space.n_servers[row])} × {with_vendor(platform.server)}"
    money = f", expected to cost about {counts.request.currency} {significant(cost)}" if math.isfinite(cost) else ""
    return f"{servers} with {storage}", platform.storage.tier or "media not published", money


def design_of(counts: PartCounts, row: int, calibration: Calibration, *, is_documented: bool) -> DesignAnswer:
    """Everything about the design of one row."""
    evaluated = counts.evaluated
    return design_answer(
        counts.request,
        evaluated.works,
        evaluated.platforms[int(evaluated.space.platform[row])],
        int(evaluated.space.n_servers[row]),
        int(evaluated.storage_nodes[row]),
        counts.catalog,
        calibration,
        counts.prices,
        binding_of(counts, row),
        is_documented,
        partial(counts.design, row),
    )


def binding_of(counts: PartCounts, row: int) -> Binding:
    """What the next smaller size of the same platform breaks."""
    if counts.evaluated.space.n_servers[row] == 1:
        return Binding(BindingKind.SMALLEST)
    smaller = row - 1  # rows of a platform stand in order of servers
    count = int(counts.evaluated.space.n_servers[smaller])
    broken = counts.broken(smaller)
    if not broken and counts.evaluated.is_late[smaller] and not counts.evaluated.is_late[row]:
        broken = [Limit.CONFIDENCE]
    if not broken:
        return Binding(BindingKind.NONE, count)
    chance, evaluated = None, counts.evaluated
    if broken[0] is Limit.GPU_MEMORY:
        platform = evaluated.platforms[int(evaluated.space.platform[row])]
        gpus = count * platform.gpus_per_server
        chance = fit_chance(evaluated.works, evaluated.memory, platform, gpus, counts.catalog)
    return Binding(BindingKind.LIMIT, count, broken[0], bound_of(broken[0], counts.request.limits), chance)


def servers_expected(evaluated: EvaluatedSpace) -> float:
    """Servers at which the targets of a request may be met, by how the largest designs of its search scale.

    Infinite where more servers would not do: the rate does not grow enough, or another limit is broken.
    """
    most = int(evaluated.space.sizes[-1])
    others = [kept[:, -1] for limit, kept in evaluated.class_passes.items() if limit not in TAKE_SERVERS]
    could = np.logical_and.reduce(others)[evaluated.class_of]
    if not could.any():
        return math.inf
    sizes = evaluated.space.sizes
    place = int(np.searchsorted(sizes, max(most // 2**_DOUBLINGS, 1)))
    delivered = evaluated.kind_delivered[:, [place, -1]][evaluated.kind_of_class][evaluated.class_of]
    fewer, share = int(sizes[place]), delivered[could]
    exponent = np.ones(len(share))
    if fewer < most:
        with np.errstate(divide="ignore", invalid="ignore"):  # fewer servers may deliver nothing
            exponent = np.log(share[:, 1] / share[:, 0]) / math.log(most / fewer)
    return float(max(servers_by_scaling(most, share[:, 1], exponent).min(), most + 1.0))


def servers_by_scaling(n_servers: int, share: Floats, exponent: Floats) -> Floats:
    """Servers that deliver all of what is asked, where so many deliver a share; infinite where no number does.

    n servers deliver n/(a + b n), after Amdahl's law. Their share s grows as n^k, k = a/(a + b n) being ``exponent``,
    and is 1 at n k/(k - (1 - s)) servers. Each delivers no more than it does now, even where k is above 1.
    """
    k, missing = np.minimum(exponent, 1.0), 1 - np.minimum(share, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(k > missing, n_servers * k / (k - missing), np.inf))


def larger_sizes(evaluated: EvaluatedSpace, allowed: int = MOST_SERVERS) -> Ints | None:
    """Numbers of servers to look at besides those of a space; None where no other one would help.

    Larger ones where no design meets the targets. Where one does, those that were passed over just below the first size
    of each platform that meets them, so that one server fewer is known to miss.
    """
    sizes = evaluated.space.sizes
    if evaluated.runs.any():
        first = np.unique(evaluated.runs.argmax(axis=1)[evaluated.runs.any(axis=1)])
        gaps = [np.arange(sizes[place - 1] + 1, sizes[place]) for place in first if place]
        between = np.concatenate([sizes[:0], *gaps])
        return between if len(between) else None
    expected, most = servers_expected(evaluated), int(sizes[-1])
    if expected > allowed:
        return None
    low, high = max(most + 1, math.floor(expected * _FEWER)), min(allowed, math.ceil(expected * _MORE))
    return np.arange(low, high + 1, max(1, math.ceil((high - low) / _MOST_SIZES)))


def preference_of(
    counts: PartCounts, ranking: Ranking, chosen: int, name_of: Callable[[int], str]
) -> Preference | None:
    """What the preference of a request does; None where it prefers no vendor.

    ``chosen``: its first row. ``name_of``: name of the design of a row.
    """
    asked = counts.request.platforms
    if not asked.prefer_vendors:
        return None
    parts = ranking.parts_of_preferred_vendors
    before = next(ranking.without_preference())
    if chosen != before:
        return _compared(counts, PreferenceKind.LEADS, chosen, before, name_of)
    better = next((row for row in ranking.without_preference() if parts(row) > parts(chosen)), None)
    if better is None:
        kind = PreferenceKind.LEADS_ANYWAY if parts(chosen) else PreferenceKind.NO_DESIGN
        return Preference(kind, asked.prefer_vendors, asked.prefer_within_percent)
    over = beyond_budget(counts, counts.likely_cost[np.array([chosen, better])])
    unknown = uncertainty(counts, np.array([chosen, better]))
    if unknown[1] > unknown[0]:
        kind = PreferenceKind.CONDITIONAL
    else:
        kind = PreferenceKind.OVER_BUDGET if over[1] and not over[0] else PreferenceKind.TOO_FAR
    return _compared(counts, kind, chosen, better, name_of)


def _compared(
    counts: PartCounts, kind: PreferenceKind, chosen: int, other: int, name_of: Callable[[int], str]
) -> Preference:
    asked = counts.request.platforms
    by_cost = ranks_by_cost(counts.request.rank_by) and not counts.request.ranks_by_rate
    values = rank_key(counts, np.array([chosen, other]))
    pair = (chosen, other) if values[0] < values[1] else (other, chosen)
    return Preference(
        kind=kind,
        vendors=asked.prefer_vendors,
        within_percent=asked.prefer_within_percent,
        other=name_of(other),
        chosen_value=float(values[0]),
        other_value=float(values[1]),
        is_exact=by_cost and row_difference(counts, pair[1], pair[0]).low > 0,
    )
