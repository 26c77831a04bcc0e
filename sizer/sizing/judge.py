"""Judges every design of the space: how many storage nodes it needs, which limits it breaks, what it takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.base.language import mark, tr, trn
from sizer.base.quantities import plain
from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.design.space import Space
from sizer.physical import capacity
from sizer.physical.counted import Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.sizing import evaluate
from sizer.sizing.columns import Columns, fabric_shares
from sizer.sizing.evaluate import Compute, Need
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


# Limits that a single stage sets; a row that keeps them all can still miss the joint confidence. The names of these and
# of what cannot be built are English until they are shown; those of the request's limits are made in words at once.
_COMPUTE_LIMITS = (
    mark("number of GPUs"),
    mark("rate of the GPUs"),
    mark("host processors that decode"),
    mark("network ports of the servers"),
)
_STORAGE_LIMIT = mark("storage read rate")
_MOUNT_LIMIT = mark("file-system mounts of the servers")
STAGE_LIMITS = (*_COMPUTE_LIMITS, _STORAGE_LIMIT, _MOUNT_LIMIT)
_CHANCE_LIMIT = mark("confidence that all stages meet the target together")
JOINT_LIMITS = (*STAGE_LIMITS, _CHANCE_LIMIT)

# Not a limit of the request: the smaller twin of a design stands for it.
TWIN_LIMIT = mark("larger drives or GPU memory than the workload needs")


@dataclass(frozen=True)
class Judged:
    """The whole space with its verdicts. Arrays over rows unless said."""

    space: Space
    columns: Columns
    storage_nodes: Ints
    computes: tuple[Compute, ...]  # one a workload
    needs: tuple[Need, ...]
    probability: Floats  # that all targets are met
    passes: dict[str, Bools]  # limit in words -> rows that keep it
    throughput: Floats  # of the first workload, median of the slowest stage [samples/s]
    time_s: Floats  # to train the first workload, or a million samples where the length is not known
    quantities: dict[int, Quantities]  # platform -> its rows
    racks: Ints
    rack_units: Floats
    raw_bytes: Floats
    power_w: Floats
    cost: Floats  # sum of the priced lines
    unpriced: dict[int, frozenset[str]]  # platform -> its items without a price

    @property
    def was_counted(self) -> Bools:
        """Rows whose parts were counted; the others failed before, or are twins of one that was."""
        return np.isin(self.space.platform, list(self.quantities))

    @property
    def feasible(self) -> Bools:
        """Rows that keep every limit."""
        return np.asarray(np.logical_and.reduce(list(self.passes.values())))

    def deciding_prices(self, rows: Ints) -> tuple[str, ...]:
        """Items without a price whose quantity differs between ``rows``: only their prices could rank these by cost."""
        low: dict[str, int] = {}
        high: dict[str, int] = {}
        members = [int(index) for index in np.unique(self.space.platform[rows])]
        for index in members:
            first = self.space.of_platform(index).start
            local = rows[self.space.platform[rows] == index] - first
            counts: dict[str, Ints] = {}
            for part in self.quantities[index].components:
                if part.item in self.unpriced[index] and part.status == "computed":
                    counts[part.item] = (
                        counts.get(part.item, np.zeros(local.size, dtype=np.int64)) + part.quantity[local]
                    )
            for item in dict.fromkeys([*low, *counts]):
                # A platform without the item has none of it, and so had all before an item's first appearance.
                values = counts.get(item, np.zeros(1, dtype=np.int64))
                before = 0 if index != members[0] and item not in low else int(values.min())
                low[item] = min(low.get(item, before), int(values.min()))
                high[item] = max(high.get(item, before), int(values.max()))
        return tuple(item for item in low if high[item] > low[item])


def judge(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    space: Space,
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
    prices: PriceBook,
) -> Judged:
    """Judge all rows in one vectorised pass; only counting parts goes platform by platform."""
    confidence = evaluate.share_of(request)
    servers = space.n_servers
    computes = tuple(evaluate.compute(work, platforms, cols, servers, calibration, catalog) for work in works)
    needs = tuple(
        evaluate.need(work, comp, cols, servers, confidence, calibration)
        for work, comp in zip(works, computes, strict=True)
    )
    passes = _compute_limits(works, computes, needs, cols, servers, confidence)
    wanted = np.max(
        [
            evaluate.storage_nodes(work, comp, cols, need, confidence)
            for work, comp, need in zip(works, computes, needs, strict=True)
        ],
        axis=0,
    )
    nodes, holds_data, enough_nodes = _whole_units(works, platforms, space, wanted)
    twins = _twins(platforms, space, nodes, computes)
    passes[TWIN_LIMIT] = ~np.isin(space.platform, list(twins))
    passes[mark("storage capacity for the data set")] = holds_data
    passes[_STORAGE_LIMIT] = enough_nodes
    buildable = np.logical_and.reduce(list(passes.values()))
    counted, units, watts, racks, raw = _count(request, platforms, space, nodes, catalog, passes, buildable)
    if request.fabric.oversubscription > 1:
        # The columns were narrowed for the fewest storage nodes; more of them may call for another level.
        fewest = np.array([capacity.node_limits(platform.storage)[0] for platform in platforms])[space.platform]
        shares = [fabric_shares(platforms, space.platform, servers, n, request.fabric) for n in (nodes, fewest)]
        passes[mark("uplinks of the oversubscribed fabric")] = shares[0] >= shares[1]
    side = evaluate.storage_side(cols, servers, nodes, np.full(len(servers), np.inf))
    asked = evaluate.least_chance(confidence)
    reads = np.max(
        [evaluate.read_bytes_per_s(work, comp, need) for work, comp, need in zip(works, computes, needs, strict=True)],
        axis=0,
    )
    passes[_MOUNT_LIMIT] = side.mounts.probability_at_least(reads) >= asked
    made = [evaluate.stages(work, comp, side) for work, comp in zip(works, computes, strict=True)]
    chance = np.ones(len(servers))
    for work, comp, need, warm in zip(works, computes, needs, made, strict=True):
        chance = chance * evaluate.probability(warm, evaluate.stages(work, comp, side, is_warm=False), need)
    meets = chance >= evaluate.least_chance(request.confidence)
    # Named only where no single stage is: a stage that fails alone is the better reason.
    alone = np.logical_and.reduce([passes[name] for name in STAGE_LIMITS])
    passes[_CHANCE_LIMIT] = meets | ~alone
    _add_site_limits(passes, request, racks, units, watts, servers)
    cost, unpriced = _costs(request, counted, space, catalog, prices)
    if request.limits.budget is not None:
        # An unpriced line is not zero: a budget cannot be shown to be kept, which the answer says; known prices count.
        passes[mark("budget")] = ~(cost > request.limits.budget)
    rate = np.min([stage.median for stage in made[0].limiting()], axis=0)
    return Judged(
        space=space,
        columns=cols,
        storage_nodes=nodes,
        computes=computes,
        needs=needs,
        probability=chance,
        passes=passes,
        throughput=rate,
        time_s=_time_s(works[0], cols, servers, rate, calibration),
        quantities=counted,
        racks=racks,
        rack_units=units,
        raw_bytes=raw,
        power_w=watts,
        cost=cost,
        unpriced=unpriced,
    )


def _compute_limits(
    works: Sequence[ResolvedWorkload],
    computes: Sequence[Compute],
    needs: Sequence[Need],
    cols: Columns,
    servers: Ints,
    confidence: float,
) -> dict[str, Bools]:
    rows = len(servers)
    gpu, decode, network, count = (np.ones(rows, dtype=bool) for _ in range(4))
    asked = evaluate.least_chance(confidence)
    for work, comp, need in zip(works, computes, needs, strict=True):
        gpu &= evaluate.gpu_probability(comp.gpu, need) >= asked
        decode &= comp.decode.probability_at_least(need.samples_per_s) >= asked
        busy = work.request.target.gpus_busy
        if busy is not None:
            count &= servers * cols.gpus_per_server >= busy
        nic = servers * cols.storage_nic_bytes_per_s
        warm = need.samples_per_s * (work.sample_bytes * (1 - comp.hit_fraction) + comp.exchanged_bytes)
        cold = need.cold_samples_per_s * (work.sample_bytes + comp.exchanged_bytes)
        network &= nic >= np.maximum(warm, cold)
    return dict(zip(_COMPUTE_LIMITS, (count, gpu, decode, network), strict=True))


def _twins(platforms: Sequence[Platform], space: Space, nodes: Ints, computes: Sequence[Compute]) -> frozenset[int]:
    """Platforms that differ from an earlier one in drive size or GPU memory only, and perform exactly alike.

    They would be the same designs at a higher price: larger drives that no row needs, memory that no model reads.
    """
    seen: dict[tuple[object, ...], int] = {}
    twins = set()
    for index, platform in enumerate(platforms):
        rows = space.of_platform(index)
        alike = (
            platform.server.id,
            platform.gpus_per_server,
            platform.storage.id,
            platform.fabric,
            nodes[rows].tobytes(),
            *(part[rows].tobytes() for comp in computes for part in (comp.gpu.median, comp.gpu.log_sd)),
        )
        if seen.setdefault(alike, index) != index:
            twins.add(index)
    return frozenset(twins)


def _whole_units(
    works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], space: Space, wanted: Floats
) -> tuple[Ints, Bools, Bools]:
    """Storage nodes of every row in whole chassis, and whether they hold the data and give the rate."""
    data = max(work.dataset_bytes for work in works)
    nodes = np.zeros(space.n_rows, dtype=np.int64)
    holds = np.ones(space.n_rows, dtype=bool)
    enough = np.ones(space.n_rows, dtype=bool)
    for index, platform in enumerate(platforms):
        rows = space.of_platform(index)
        storage = platform.storage
        for_data = capacity.smallest_nodes(storage, platform.capacity_option, data)
        holds[rows] = for_data.fits
        if not capacity.counts_nodes(storage):
            # Local drives: one "node" a server. An NFS server: one.
            available = space.n_servers[rows] if storage.kind == "local" else 1
            enough[rows] = wanted[rows] <= available
            continue
        unit = capacity.nodes_per_unit(storage)
        low, high = capacity.node_limits(storage)
        least = np.maximum(np.maximum(wanted[rows], low), int(for_data.nodes))
        whole = np.ceil(least / unit) * unit
        enough[rows] = whole <= high
        nodes[rows] = np.minimum(whole, high).astype(np.int64)
    return nodes, holds, enough


def _count(
    request: SizingRequest,
    platforms: Sequence[Platform],
    space: Space,
    nodes: Ints,
    catalog: Catalog,
    passes: dict[str, Bools],
    buildable: Bools,
) -> tuple[dict[int, Quantities], Floats, Floats, Ints, Floats]:
    """Parts of all rows; what cannot be built is added to ``passes``.

    Platforms without a row that is still ``buildable`` are not counted, unless none has one: then all are, so that
    the answer can say how near the nearest design comes.
    """
    distinct = np.unique(space.platform[passes[TWIN_LIMIT]]).tolist()
    alive = set(np.unique(space.platform[buildable]).tolist()) or set(distinct)
    counted: dict[int, Quantities] = {}
    units, watts = np.zeros(space.n_rows), np.zeros(space.n_rows)
    racks, raw = np.zeros(space.n_rows, dtype=np.int64), np.zeros(space.n_rows)
    for index, platform in enumerate(platforms):
        if index not in alive:
            continue
        rows = space.of_platform(index)
        found = quantities(
            platform,
            space.n_servers[rows],
            nodes[rows],
            catalog=catalog,
            limits=request.limits,
            existing=request.existing,
            fabric=request.fabric,
        )
        counted[index] = found
        units[rows], watts[rows], racks[rows] = found.rack_units, found.power_max_w, found.racks
        raw[rows] = np.nan_to_num(found.raw_bytes)
        for limit, breaks in found.violations.items():
            passes.setdefault(limit, np.ones(space.n_rows, dtype=bool))[rows] &= ~breaks
    return counted, units, watts, racks, raw


def _add_site_limits(
    passes: dict[str, Bools], request: SizingRequest, racks: Ints, units: Floats, watts: Floats, servers: Ints
) -> None:
    limits = request.limits
    if (n := limits.racks) is not None:
        passes[trn("the limit of {n} rack", "the limit of {n} racks", n, n=n)] = racks <= n
    if (n := limits.rack_units) is not None:
        passes[trn("the limit of {n} rack unit", "the limit of {n} rack units", n, n=n)] = units <= n
    if limits.power_w is not None:
        passes[tr("the limit of {n} kW", n=plain(limits.power_w / 1e3))] = watts <= limits.power_w
    if (n := limits.servers) is not None:
        passes[trn("the limit of {n} server", "the limit of {n} servers", n, n=n)] = servers <= n


def _costs(
    request: SizingRequest, counted: dict[int, Quantities], space: Space, catalog: Catalog, prices: PriceBook
) -> tuple[Floats, dict[int, frozenset[str]]]:
    """Sum of the priced lines of every row, and each platform's items without a price."""
    cost = np.zeros(space.n_rows)
    missing: dict[int, frozenset[str]] = {}
    for index, found in counted.items():
        amount, unpriced = row_cost(found.components, catalog, prices, request.currency)
        missing[index] = frozenset(unpriced)
        if amount is not None:
            cost[space.of_platform(index)] = amount
    return cost, missing


def _time_s(work: ResolvedWorkload, cols: Columns, servers: Ints, rate: Floats, calibration: Calibration) -> Floats:
    length = evaluate.epochs(work, cols, servers, calibration)
    if length is None:
        return np.asarray(1e6 / rate)
    return np.asarray(
        calibration.start_up_s + length.value * work.n_samples * (1 + evaluate.evaluation_share(work)) / rate
    )
