"""Growth: for each platform the purchases of every year, at once or in steps, and the limits over time."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools
from sizer.base.errors import InfeasibleError, RequestError
from sizer.bom.lines import row_cost
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.design.evaluate_design import design_answer, room_of
from sizer.sizing.growth.purchase_planner import PurchasePlanner, count_sizes, with_ports_for
from sizer.sizing.growth.result import (
    CapacityLimit,
    ClusterSize,
    GrowthPlan,
    LimitKind,
    PlatformGrowth,
    PurchaseSequence,
    UnmetYear,
    growth_of,
    yearly_requests,
)
from sizer.sizing.reasons import Binding, BindingKind, Preference, QuoteToSettle
from sizer.sizing.recommend import MAX_PLATFORMS_SHOWN, binding_of, preference_of, search
from sizer.sizing.result import DesignAnswer, PlannedYear
from sizer.sizing.search.feasibility import design_space, evaluate_space
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, best_of, quotes_to_settle
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class TeamDemand:
    """Demand of one year's team on one kind of server."""

    n_servers: float  # fewest with which every kind of job meets its queue-wait target; inf: no count examined does
    bytes_per_s: float  # read by all jobs together on the year-1 servers


def limits_over_time(
    planner: PurchasePlanner, recommended: PurchaseSequence, years: Sequence[PartCounts], calibration: Calibration
) -> tuple[CapacityLimit, ...]:
    """Load on each limit of one platform's year-1 equipment, and on each limit of the request, in every year.

    ``planner``: of the platform. ``recommended``: its first size, with the network that it installs, is the fixed
    equipment. ``years``: designs of every year. In order of the year in which they are exceeded; then the others, the
    highest load first.

    Rates are those that each stage alone reaches with the requested confidence: together the stages may miss the
    target a little earlier. Ports, rack units and watts are those of the cluster that each year needs, divided by the
    capacity of the year-1 switches, racks and PDUs.
    """
    platform, needs, request = planner.platform, planner.needs, planner.request
    servers, nodes = zip(*((size.n_servers, size.storage_nodes) for size in needs), strict=True)
    sized, first = quantities(platform, servers, nodes, **room_of(request, planner.catalog)), recommended.sizes[0]
    installed = room_of(_with_room(request, recommended), planner.catalog)
    there = quantities(platform, [first.n_servers], [first.storage_nodes], **installed)
    limits = [
        *_rates(planner, first, float(there.gateway_bytes_per_s[0]), years, calibration),
        *_space_and_power(platform, sized, there, request),
        *_stated_limits(needs, sized, request),
    ]
    never = math.inf
    return tuple(sorted(limits, key=lambda limit: (limit.year or never, -limit.loads[-1])))


def _with_room(request: SizingRequest, recommended: PurchaseSequence) -> SizingRequest:
    """The request with the ports that a sequence installs in the first year for the last."""
    first, *_, last = recommended.sizes
    return with_ports_for(request, first, last) if recommended.is_prepared else request


def _rates(
    planner: PurchasePlanner, first: ClusterSize, gateway: float, years: Sequence[PartCounts], calibration: Calibration
) -> list[CapacityLimit]:
    """Loads on the stages of the year-1 cluster, and on its storage capacity."""
    loads: dict[LimitKind, list[float]] = {}
    platform, catalog = planner.platform, planner.catalog
    teams = _teams(planner, years)
    for year, counts in enumerate(years):
        request, works = counts.request, counts.evaluated.works
        of_year: dict[LimitKind, float] = {}
        team_bytes_per_s = teams[year].bytes_per_s if teams else 0.0
        for work in works:
            arguments = (request, work, platform, [first.n_servers], first.storage_nodes, gateway, catalog, calibration)
            try:
                of_work = _stage_loads(run_on(*arguments), request, work, gateway, team_bytes_per_s)
            except InfeasibleError:  # not even starting a run leaves time
                of_work = {LimitKind.GPU_RATE: math.inf}
            of_year |= {kind: max(load, of_year.get(kind, 0.0)) for kind, load in of_work.items()}
        tiers = storage_tiers(platform, first.storage_nodes, storage_demand(works, request.data), request.data)
        if full := [tier.planned_bytes / tier.usable_bytes for tier in tiers if tier.usable_bytes > 0]:
            of_year[LimitKind.STORAGE_CAPACITY] = max(full)
        for kind, load in of_year.items():
            loads.setdefault(kind, []).append(load)
    limits = [CapacityLimit(kind, tuple(of_years), is_gradual=True) for kind, of_years in loads.items()]
    if teams:
        waits = tuple(team.n_servers / first.n_servers for team in teams)
        limits.append(CapacityLimit(LimitKind.QUEUE_WAIT, waits, is_gradual=False))
    return limits


def _stage_loads(
    run: WorkloadRun, request: SizingRequest, work: ResolvedWorkload, gateway: float, team_bytes_per_s: float
) -> dict[LimitKind, float]:
    """Load on each stage at the rate that it reaches with the requested confidence, team reads included."""
    slow = 1 - evaluate.least_chance(evaluate.share_of(request))
    warm, cold = float(run.need.samples_per_s[0]), float(run.need.cold_samples_per_s[0])
    # A cached data set's first epoch is given time from the margin of the servers, which is no load on these.
    least = evaluate.required_samples_per_s(work, run.length, run.calibration)
    of_servers = 1.0 if least is None else float(least.flat[0] / run.need.gpu_samples_per_s[0])
    busy = work.request.target.gpus_busy
    n_gpus = float(run.servers[0] * run.cols.gpus_per_server[0])
    gpus = run.warm.gpu.widened(run.need.gpu_log_sd)
    loads = {
        LimitKind.GPU_RATE: busy / n_gpus
        if busy is not None
        else float(of_servers * run.need.gpu_samples_per_s[0] / gpus.quantile(slow)[0]),
        LimitKind.HOST_DECODE: float(of_servers * warm / run.warm.decode.quantile(slow)[0]),
        LimitKind.HOST_LINK: float(of_servers * warm / run.warm.host_link.quantile(slow)[0]),
        LimitKind.STORAGE_READS: max(
            float(warm / run.warm.storage.quantile(slow)[0]),
            float(cold / run.cold.storage.quantile(slow)[0]),
            float(team_bytes_per_s / run.side.read.quantile(slow)[0]),
        ),
    }
    reads = read_demand_bytes_per_s([warm, cold], work.sample_bytes, [float(run.comp.hit_fraction[0]), 0.0])
    exchanged = float(run.comp.exchanged_bytes[0]) * np.array([warm, cold])
    if math.isfinite(gateway):
        loads[LimitKind.GATEWAY_UPLINKS] = max(float(reads.max()), team_bytes_per_s) / gateway
    if math.isfinite(float(run.side.server_nic_bytes_per_s[0])):
        carried = max(float((reads + exchanged).max()), team_bytes_per_s)
        loads[LimitKind.SERVER_PORTS] = carried / float(run.side.server_nic_bytes_per_s[0])
    return loads


def _space_and_power(
    platform: Platform, sized: Quantities, there: Quantities, request: SizingRequest
) -> list[CapacityLimit]:
    """Loads of the cluster of each year on the switches, racks and PDUs that are there from year 1 on."""
    of_networks = []
    for network, installed in zip(sized.networks, there.networks, strict=True):
        # Ports of leaves: those of spines take no end point.
        ports = int(installed.end_points[0] + installed.leaf_ports_free[0])
        if network.switch is not None and ports:
            of_networks.append(((network.end_points / ports).tolist(), str(network.role)))
    highest = tuple(max(column) for column in zip(*(loads for loads, _ in of_networks), strict=True))
    _, fullest = max(of_networks, key=lambda of_network: of_network[0][-1], default=((), ""))
    limits = [CapacityLimit(LimitKind.SWITCH_PORTS, highest, is_gradual=False, network=fullest)] if fullest else []
    # What is installed for later years is there from the first one on.
    taken_u, drawn_w = np.maximum(sized.rack_units, there.rack_units), np.maximum(sized.power_max_w, there.power_max_w)
    racks = int(there.racks[0])
    if racks:
        units = racks * float(platform.rack.height_u.value)
        limits.append(CapacityLimit(LimitKind.RACK_UNITS, tuple((taken_u / units).tolist()), is_gradual=False))
        pdus = sum(int(part.quantity[0]) for part in there.components if part.item == platform.pdu.id)
        # Either of two sides carries all, or all PDUs but one of each rack, or all of them.
        carrying = {"2N": pdus / 2, "N+1": pdus - racks, "N": pdus}[platform.site.feeds]
        watts = carrying * platform.pdu.capacity_w.value
        if request.limits.rack_power_w is not None:
            watts = min(watts, racks * request.limits.rack_power_w)
        limits.append(CapacityLimit(LimitKind.POWER_FEEDS, tuple((drawn_w / watts).tolist()), is_gradual=False))
    return limits


def _stated_limits(needs: Sequence[ClusterSize], sized: Quantities, request: SizingRequest) -> list[CapacityLimit]:
    """Loads of the cluster of each year on the limits that the request states."""
    limits = request.limits
    servers = np.array([size.n_servers for size in needs])
    stated = (
        (LimitKind.REQUESTED_RACKS, sized.racks, limits.racks),
        (LimitKind.REQUESTED_POWER, sized.power_max_w, limits.power_w),
        (LimitKind.REQUESTED_RACK_UNITS, sized.rack_units, limits.rack_units),
        (LimitKind.REQUESTED_SERVERS, servers, limits.servers),
    )
    return [
        CapacityLimit(kind, tuple((taken / most).tolist()), is_gradual=False, is_of_request=True)
        for kind, taken, most in stated
        if most is not None
    ]


def growth_plan(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> GrowthPlan:
    """Purchases that meet the target of every year; installed equipment stays.

    ``request``: with a [growth]. ``calibration``: default: the stored one. Raises RequestError if the request has no
    growth, names something that the catalogue lacks, or exceeds the range of a value. Raises InfeasibleError if nothing
    meets even the first year.

    A platform is considered if it meets the last year; its best design for that year fixes GPU, fabric and drives. The
    need of a year is the best design of this platform with no fewer servers and storage nodes than the year before. At
    the start of each year the cluster is the need of that year or of any later one. The cheapest sequence of these is
    found exactly (``cheapest_sequence``) among those that move no link: either the network and the racks of the last
    year are installed in the first, or they grow where that moves nothing. A step costs the parts that it adds, at
    the prices of its year, and the energy of the year; a part without a price costs what its band gives at the
    confidence of the request, as in the ranking of designs. Parts that a larger network no longer uses are taken out,
    and their cost is lost. Support and licences are paid once, for the term that their price names. Quotes that could
    make another sequence cheaper are named. Only where a part has neither price nor band, the sequence with the fewest
    servers and storage nodes over the years is taken.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    covered = covered_years(request, catalog, fitted)
    growth = growth_of(request)
    platforms = tuple(_platform_growth(planner, covered.years, fitted) for planner in covered.planners)
    return GrowthPlan(
        growth,
        covered.requests,
        covered.workloads,
        covered.n_years,
        covered.unmet,
        platforms,
        covered.quotes_to_settle(),
    )


@dataclass(frozen=True)
class CoveredYears:
    """The years that a plan covers, and the platforms that meet all of them, the best of the last year first."""

    request: SizingRequest
    requests: tuple[SizingRequest, ...]  # of each year, those beyond the plan too
    workloads: tuple[tuple[ResolvedWorkload, ...], ...]  # of each year
    n_years: int
    unmet: UnmetYear | None
    last: PartCounts  # the whole space of the last year covered
    order: tuple[int, ...]  # its best rows
    years: tuple[PartCounts, ...]  # the platforms of ``order`` in each year covered
    planners: tuple[PurchasePlanner, ...]  # at least one

    def quotes_to_settle(self) -> tuple[QuoteToSettle, ...]:
        """Quotes that could change which platform leads in the last year."""
        return quotes_to_settle(self.last, self.order) if self.request.rank_by in (None, "cost") else ()


def covered_years(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> CoveredYears:
    """The most years that some platform meets, and what is needed to plan its purchases.

    Raises RequestError, InfeasibleError as :func:`growth_plan`.
    """
    requests = yearly_requests(request, catalog)
    workloads = tuple(resolved(of_year, catalog, calibration) for of_year in requests)
    unmet: UnmetYear | None = None
    for n_years in range(len(requests), 0, -1):
        rows: list[int] = []
        try:
            last = search(requests[n_years - 1], catalog, calibration)
            rows = Ranking(last).first(MAX_PLATFORMS_SHOWN)
            reason = "" if rows else str(infeasible_error(last))
        except InfeasibleError as error:
            reason = str(error)
        if rows:
            ranked = [last.evaluated.platforms[int(last.evaluated.space.platform[row])] for row in rows]
            # Networks grow: few servers have those of many from the start.
            chosen = [replace(platform, few=None) for platform in ranked]
            most = int(last.evaluated.space.sizes[-1])
            years = _years(chosen, requests[:n_years], most, catalog, calibration)
            planners = tuple(_planners(years, request)) if years else ()
            if planners:
                return CoveredYears(request, requests, workloads, n_years, unmet, last, tuple(rows), years, planners)
        if n_years == 1:
            raise InfeasibleError(reason or "no platform meets the first year")
        unmet = UnmetYear(n_years, reason)
    raise AssertionError("the loop returns or raises")


def _years(
    chosen: Sequence[Platform],
    requests: Sequence[SizingRequest],
    most: int,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[PartCounts, ...]:
    """Some platforms with up to so many servers in every year; empty where none of them meets one of the years."""
    years = []
    with suppress(InfeasibleError):
        for request in requests:
            workloads, space = resolved(request, catalog, calibration), design_space(len(chosen), 1, most)
            evaluated = evaluate_space(request, workloads, chosen, space, catalog, calibration)
            years.append(PartCounts(request, evaluated, catalog, prices_for(request, catalog)))
        return tuple(years)
    return ()


def _planners(years: Sequence[PartCounts], request: SizingRequest) -> Iterator[PurchasePlanner]:
    """Planners of the platforms that meet all years."""
    platforms, catalog = years[0].evaluated.platforms, years[0].catalog
    for index, platform in enumerate(platforms):
        found = _needs(years, index)
        if found is None:
            continue
        needs, binding = found
        sizes = list(dict.fromkeys(needs))
        by_size = count_sizes(platform, [(size.n_servers, size.storage_nodes) for size in sizes], request, catalog)
        parts, last = by_size.quantities, years[-1]
        cost, _ = row_cost(parts.components, catalog, last.prices.fitted(platform), last.request.currency)
        # The storage of a size may be larger than that of the year's own need.
        if all(bool(is_met.all()) for is_met in last.limits_of(parts, cost).values()):
            meets = _meets(years, index, sizes)
            yield PurchasePlanner(request, catalog, years[0].prices, platform, needs, binding, sizes, by_size, meets)


def _platform_growth(planner: PurchasePlanner, years: Sequence[PartCounts], calibration: Calibration) -> PlatformGrowth:
    recommended, criterion, deciding = planner.recommended()
    return PlatformGrowth(
        platform=planner.platform,
        needs=planner.needs,
        recommended=recommended,
        alternatives=planner.alternatives(),
        criterion=criterion,
        deciding_prices=deciding,
        has_unknown_power=bool(planner.by_size.quantities.unknown_power),
        limits=limits_over_time(planner, recommended, years, calibration),
    )


def _needs(years: Sequence[PartCounts], index: int) -> tuple[tuple[ClusterSize, ...], Binding] | None:
    """Need of every year, never less than of the year before; None where a year has none."""
    needs: list[ClusterSize] = []
    binding = Binding(BindingKind.NONE)
    servers = nodes = 0
    for counts in years:
        rows = counts.feasible_of(index)
        rows = rows[counts.evaluated.space.n_servers[rows] >= servers]
        if not rows.size:
            return None
        row = best_of(counts, rows)
        binding = binding if needs else binding_of(counts, row)
        servers = int(counts.evaluated.space.n_servers[row])
        nodes = max(int(counts.evaluated.storage_nodes[row]), nodes)
        needs.append(ClusterSize(servers, nodes))
    return tuple(needs), binding


def _teams(planner: PurchasePlanner, years: Sequence[PartCounts]) -> list[TeamDemand]:
    """Demand of every year's team on a kind of server; empty without a team."""
    demands, first = [], planner.needs[0]
    index = next(i for i, platform in enumerate(years[0].evaluated.platforms) if platform is planner.platform)
    for counts in years:
        evaluated, team = counts.evaluated, counts.evaluated.team
        if team is None:
            return []
        kind = evaluated.kind_of_class[evaluated.class_of[index]]
        enough = evaluated.space.sizes[team.waits[kind]]
        reads = team.bytes_per_s[kind, np.searchsorted(evaluated.space.sizes, first.n_servers)]
        demands.append(TeamDemand(float(enough.min()) if enough.size else np.inf, float(reads)))
    return demands


def _meets(years: Sequence[PartCounts], index: int, sizes: Sequence[ClusterSize]) -> Bools:
    """(years, sizes) whether a size meets a year."""
    meets = np.zeros((len(years), len(sizes)), dtype=bool)
    for number, counts in enumerate(years):
        evaluated = counts.evaluated
        class_index = evaluated.class_of[index]
        runs = np.logical_and.reduce([passes[class_index] for passes in evaluated.class_passes.values()])
        for position, size in enumerate(sizes):
            at = int(np.searchsorted(evaluated.space.sizes, size.n_servers))  # large sizes are steps apart
            meets[number, position] = runs[at] and size.storage_nodes >= evaluated.class_nodes[class_index, at]
    return meets


@dataclass(frozen=True)
class FirstPurchases:
    """What the platforms of a growth plan have in the first year, in the order of the plan."""

    designs: tuple[DesignAnswer, ...]  # the first is the one to buy
    quotes_to_settle: tuple[QuoteToSettle, ...]  # that could change which platform that is
    years: tuple[PlannedYear, ...]  # of the first
    preference: Preference | None = None  # what it does in the last year


def first_purchases(
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
    *,
    only_first: bool = False,
) -> FirstPurchases | None:
    """First purchases of the platforms that a plan considers.

    ``only_first``: whether the design to buy is all that is asked for: without its nearest measurements, other
    platforms and quotes. Returns none where the request does not grow, or no plan covers the first year: the growth
    chapter says why.
    """
    if request.growth is None:
        return None
    try:
        covered = covered_years(request, catalog, calibration)
    except (InfeasibleError, RequestError):
        return None
    planners = covered.planners[:1] if only_first else covered.planners
    designs = tuple(
        _design(planner, covered.workloads[0], calibration, is_documented=not only_first and index == 0)
        for index, planner in enumerate(planners)
    )
    if only_first:
        return FirstPurchases(designs, (), ())
    last = covered.last
    preference = preference_of(last, Ranking(last), covered.order[0], last.name_of)
    years = tuple(_planned_years(planners[0], designs[0]))
    return FirstPurchases(designs, covered.quotes_to_settle(), years, preference)


def _planned_years(planner: PurchasePlanner, design: DesignAnswer) -> Iterator[PlannedYear]:
    """Years of the recommended sequence; the first costs what the bill of its design does."""
    before = 0
    for purchase in planner.recommended()[0].purchases:
        owned = purchase.owned
        cost, paid = (design.cost, design.bill.purchase) if purchase.year == 1 else (purchase.interval, purchase.cost)
        bought = owned.n_servers - before
        yield PlannedYear(purchase.year, bought, owned.n_servers, owned.storage_nodes, cost, paid, purchase.footprint)
        before = owned.n_servers


def _design(
    planner: PurchasePlanner, works: Sequence[ResolvedWorkload], calibration: Calibration, *, is_documented: bool
) -> DesignAnswer:
    catalog, (recommended, *_) = planner.catalog, planner.recommended()
    # What comes later has its ports where the network of the last year is installed, and brings its racks.
    request, first = _with_room(planner.request, recommended), recommended.sizes[0]
    return design_answer(
        request,
        works,
        planner.platform,
        first.n_servers,
        first.storage_nodes,
        catalog,
        calibration,
        prices_for(request, catalog),
        planner.binding if first == planner.needs[0] else Binding(BindingKind.GROWTH, planner.needs[0].n_servers),
        is_documented,
    )


def is_same(design: DesignAnswer, other: DesignAnswer) -> bool:
    """Whether two designs are the same order: parts of the platform, counts and every line of the bill."""
    # By parts: a growth plan's platform is a copy, and platforms themselves are equal as one object only.
    return _order_of(design) == _order_of(other) and vars(design.platform) == vars(other.platform)


def _order_of(design: DesignAnswer) -> tuple[object, ...]:
    lines = sorted((line.item, line.description, line.quantity) for line in design.bill.lines)
    return design.n_servers, design.storage_nodes, *lines
