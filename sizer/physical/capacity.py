"""Raw to usable bytes of storage systems, and the fewest nodes that hold a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.schema import Storage
from sizer.physical.notes import PlanNote, PlanNoteKind

# OneFS +2d:1n writes 2 (n - 1) data and 2 parity units; the published layouts never pass 16 data units
# ("emc-overhead-15": 16+4 is the widest).
ONEFS_PARITY_UNITS = 2
ONEFS_MAX_DATA_UNITS = 16
# Share of the drives that a system keeps for files whatever its protection: that of mirroring. Assumed, a lower bound.
LEAST_USABLE_SHARE = 0.5
# Largest system looked at where the catalogue states no limit: "some hundreds of nodes" ("weka-scaling-2019").
DEFAULT_MAX_NODES = 400


@dataclass(frozen=True)
class CapacityStep:
    """One rung of the ladder from raw to usable."""

    label: str  # "raw", "hot spare", "protection", "reserve", "usable"
    capacity_bytes: float  # what is left after this step
    how: PlanNote
    basis: str  # basis of the fact used
    source: str  # key of catalog/sources.toml, "" for a sum


@dataclass(frozen=True)
class SmallestNodes:
    """Fewest nodes for data, arrays of one shape. ``nodes`` is the largest system where ``fits`` is False."""

    nodes: Ints
    fits: Bools


def counts_nodes(storage: Storage) -> bool:
    """Whether a system is bought by the node. Local drives and NFS servers are not: their node count is 0."""
    return storage.kind in ("scale-out-nas", "parallel-file-system")


def nodes_per_unit(storage: Storage) -> int:
    """Nodes in the smallest thing that can be bought: a chassis, or one server."""
    return storage.nodes_per_unit.value if storage.nodes_per_unit is not None else 1


def nodes_there(storage: Storage, stated: int) -> int:
    """Nodes that a customer has, in whole units: who states one node of a pair has the pair."""
    return -(-stated // nodes_per_unit(storage)) * nodes_per_unit(storage)


def node_limits(storage: Storage) -> tuple[int, int]:
    """Smallest and largest node count, in whole units."""
    unit = nodes_per_unit(storage)
    low = storage.min_nodes.value if storage.min_nodes is not None else unit
    high = storage.max_nodes.value if storage.max_nodes is not None else DEFAULT_MAX_NODES
    return -(-max(low, 1) // unit) * unit, max(high // unit, 1) * unit


def onefs_overhead_fraction(n_nodes: ArrayLike, published: dict[int, float] | None = None) -> Floats:
    """Share of raw capacity that OneFS protection +2d:1n takes.

    ``n_nodes`` (...): nodes of the cluster, 2 or more. ``published``: overheads printed for some node counts; they win
    over the pattern. Returns (...): overhead.

    2 (n - 1) data and 2 parity units give 1/n; published tables stop at 6 nodes [1]_. Beyond, 1/n is extrapolated, and
    no stripe is assumed wider than 16 + 2 units, which stops the overhead at 1/9.

    References
    ----------
    .. [1] EMC community chart of protection overhead, 2015 ("emc-overhead-15").

    Examples
    --------
    >>> onefs_overhead_fraction([4, 8, 12]).round(3)
    array([0.25 , 0.125, 0.111])
    """
    nodes = np.asarray(n_nodes, dtype=np.int64)
    if nodes.size and not (nodes >= 2).all():
        raise ValueError(f"n_nodes must be at least 2, got {nodes.min()}")
    data = np.minimum(ONEFS_PARITY_UNITS * (nodes - 1), ONEFS_MAX_DATA_UNITS)
    overhead = ONEFS_PARITY_UNITS / (data + ONEFS_PARITY_UNITS)
    for count, value in (published or {}).items():
        overhead = np.where(nodes == count, value, overhead)
    return np.asarray(overhead)


def weka_usable_bytes(
    raw_bytes_per_node: ArrayLike,
    n_nodes: ArrayLike,
    stripe_data: ArrayLike,
    stripe_parity: ArrayLike,
    hot_spare_nodes: ArrayLike,
    usable_share: ArrayLike,
) -> Floats:
    """Usable bytes of WekaIO Matrix.

    ``raw_bytes_per_node`` (...): SSD capacity of one server [B]. ``n_nodes``, ``stripe_data``, ``stripe_parity``,
    ``hot_spare_nodes`` (...): servers; data and parity blocks of a stripe; servers kept as hot spare. ``usable_share``
    (...): left after metadata and reserve: 0.8 in 2018, 0.9 from April 2019. Returns (...): usable bytes; 0 where data
    + parity + spares exceed the servers, which the vendor forbids [B].

    raw (n - spare) D / (D + P) k, after [1]_.

    References
    ----------
    .. [1] WekaIO 3.1.9 documentation, overview/ssd-capacity-management.md ("weka-319").

    Examples
    --------
    >>> float(weka_usable_bytes(1e12, 20, 16, 2, 2, 0.8) / 1e12)
    12.8
    """
    inputs = (raw_bytes_per_node, n_nodes, stripe_data, stripe_parity, hot_spare_nodes, usable_share)
    raw, n, data, parity, spare, share = (np.asarray(a, dtype=float) for a in inputs)
    usable = raw * (n - spare) * data / (data + parity) * share
    return np.asarray(np.where(data + parity + spare <= n, usable, 0.0))


def raw_bytes(storage: Storage, capacity_option: int, n_nodes: ArrayLike) -> Floats:
    """Raw bytes of a system; NaN where no source gives a capacity. [B]

    Local drives are counted per server: ``n_nodes`` is ignored for systems that are not bought by the node.
    """
    nodes = np.asarray(n_nodes, dtype=np.int64)
    if not storage.capacity_options:
        known = storage.usable_bytes.value if storage.usable_bytes is not None else np.nan
        return np.full(nodes.shape, known)
    per_unit = storage.capacity_options[capacity_option].raw_bytes.value
    if not counts_nodes(storage):
        return np.full(nodes.shape, per_unit)
    return np.asarray(_units(storage, nodes) * per_unit)


def usable_bytes(storage: Storage, capacity_option: int, n_nodes: ArrayLike) -> Floats:
    """Usable bytes of a system at some node counts, at least; NaN where no source gives a capacity.

    ``storage``: the system. ``capacity_option``: index into ``storage.capacity_options``. ``n_nodes`` (...): nodes;
    rounded up to whole chassis. Ignored for local drives (usable bytes of one server, each holds its own copy) and for
    NFS servers of one fixed capacity. Returns (...): usable bytes; 0 for no nodes [B].
    """
    nodes = np.asarray(n_nodes, dtype=np.int64)
    raw = raw_bytes(storage, capacity_option, nodes)
    if not counts_nodes(storage):
        fixed = storage.usable_bytes.value if storage.usable_bytes is not None else None
        return raw if fixed is None else np.full(nodes.shape, fixed)
    whole = _units(storage, nodes) * nodes_per_unit(storage)
    if storage.stripe_parity is not None:
        data, parity, spare, share = _stripe(storage, whole)
        narrowest = storage.stripe_data.value if storage.stripe_data is not None else 1
        per_node = np.where(whole > 0, raw / np.maximum(whole, 1), 0.0)
        usable = weka_usable_bytes(per_node, whole, data, parity, spare, share)
        return np.asarray(np.where(data >= narrowest, usable, 0.0))
    if storage.protection_overheads:
        overheads = _overheads(storage)
        overhead = overheads[np.minimum(whole, overheads.size - 1)]
        return np.asarray(np.where(whole > 0, raw * (1 - overhead), 0.0))
    if storage.usable_bytes is not None:
        return np.full(nodes.shape, storage.usable_bytes.value)
    # A system whose protection no source describes: its drives bound what it holds from below.
    return raw * LEAST_USABLE_SHARE if storage.capacity_options else raw


def smallest_nodes(storage: Storage, capacity_option: int, data_bytes: ArrayLike) -> SmallestNodes:
    """Fewest nodes, in whole units and within the system's limits, whose usable bytes hold the data.

    ``storage``: the system. ``capacity_option``: index into ``storage.capacity_options``. ``data_bytes`` (...): data to
    hold [B]. Returns 0 nodes for local drives and NFS servers. Where no drives are known the minimum system counts as
    fitting, up to the largest that the vendor publishes: ``usable_bytes`` is NaN there and the design is conditional.
    """
    need = np.asarray(data_bytes, dtype=float)
    largest = storage.max_usable_bytes.value if storage.max_usable_bytes is not None else np.inf
    if not counts_nodes(storage):
        usable = usable_bytes(storage, capacity_option, np.zeros(need.shape, dtype=np.int64))
        return SmallestNodes(np.zeros(need.shape, dtype=np.int64), np.asarray(np.isnan(usable) | (usable >= need)))
    sizes, usable = _usable_by_size(storage, capacity_option)
    if np.isnan(usable).any():
        return SmallestNodes(np.full(need.shape, sizes[0]), np.asarray(need <= largest))
    # Usable bytes grow with the nodes, so the first size that holds the data is found by bisection.
    index = np.searchsorted(usable, need, side="left")
    return SmallestNodes(sizes[np.minimum(index, sizes.size - 1)], np.asarray((index < sizes.size) & (need <= largest)))


@lru_cache(maxsize=4096)
def _usable_by_size(storage: Storage, capacity_option: int) -> tuple[Ints, Floats]:
    """Node counts that a system is sold with, ascending, and the usable bytes of each."""
    low, high = node_limits(storage)
    sizes = np.arange(low, high + 1, nodes_per_unit(storage))
    return sizes, usable_bytes(storage, capacity_option, sizes)


def is_extrapolated(storage: Storage, n_nodes: int) -> bool:
    """Whether the protection overhead at a node count lies outside the published table."""
    has_table = counts_nodes(storage) and bool(storage.protection_overheads)
    return has_table and n_nodes > 0 and n_nodes not in _published(storage)


def capacity_ladder(storage: Storage, capacity_option: int, n_nodes: int) -> tuple[CapacityStep, ...]:
    """Steps from raw to usable of one system, for documents. Empty where no capacity is known.

    ``storage``: the system. ``capacity_option``: index into ``storage.capacity_options``. [-] ``n_nodes``: nodes; 0 for
    local drives and NFS servers. [-]
    """
    raw = float(raw_bytes(storage, capacity_option, n_nodes))
    usable = float(usable_bytes(storage, capacity_option, n_nodes))
    if np.isnan(raw):
        return ()
    steps: list[CapacityStep] = []
    if storage.capacity_options:
        option = storage.capacity_options[capacity_option]
        units = int(_units(storage, np.asarray(n_nodes))) if counts_nodes(storage) else 1
        fact = option.raw_bytes
        steps.append(
            CapacityStep("raw", raw, PlanNote(PlanNoteKind.UNITS, (units, option.name)), fact.basis, fact.source)
        )
    if counts_nodes(storage) and storage.stripe_parity is not None:
        steps += _striped_steps(storage, raw, n_nodes)
    elif counts_nodes(storage) and storage.protection_overheads:
        steps.append(_onefs_step(storage, usable, n_nodes))
    elif is_bounded(storage):
        steps.append(_step("protection", usable, PlanNote(PlanNoteKind.LEAST_USABLE, (LEAST_USABLE_SHARE,)), None))
    fixed = storage.usable_bytes
    if fixed is not None and not counts_nodes(storage):
        how = PlanNote(PlanNoteKind.STATED, (fixed.note,))
        steps.append(CapacityStep("usable", usable, how, fixed.basis, fixed.source))
    else:
        steps.append(CapacityStep("usable", usable, PlanNote(PlanNoteKind.FOR_FILES), "derived", ""))
    return tuple(steps)


def _stripe(storage: Storage, nodes: Ints) -> tuple[Ints, int, Ints, float]:
    """Data blocks (as many as nodes and vendor allow), parity, spares and share left."""
    parity = storage.stripe_parity.value if storage.stripe_parity is not None else 0
    at_min = storage.hot_spare_nodes.value if storage.hot_spare_nodes is not None else 0
    above = storage.hot_spare_nodes_above_min.value if storage.hot_spare_nodes_above_min is not None else at_min
    spare = np.where(nodes > node_limits(storage)[0], above, at_min)
    widest = next((fact.value for fact in (storage.stripe_data_max, storage.stripe_data) if fact is not None), 1)
    share = storage.usable_share.value if storage.usable_share is not None else 1.0
    return np.clip(nodes - parity - spare, 0, widest), parity, spare, share


def is_bounded(storage: Storage) -> bool:
    """Whether the drives alone say what a system holds at least."""
    is_described = storage.protection_overheads or storage.stripe_parity is not None or storage.usable_bytes is not None
    return counts_nodes(storage) and bool(storage.capacity_options) and not is_described


def changing_steps(steps: Sequence[CapacityStep]) -> tuple[CapacityStep, ...]:
    """Raw and usable capacity, and the steps between them that take something.

    ``steps``: as :func:`capacity_ladder` gives them.
    """
    pairs = zip(steps, (None, *steps), strict=False)
    return tuple(
        step
        for step, before in pairs
        if before is None or step.label == "usable" or step.capacity_bytes < before.capacity_bytes
    )


def _striped_steps(storage: Storage, raw: float, n_nodes: int) -> list[CapacityStep]:
    data_array, parity, spare_array, share = _stripe(storage, np.asarray(n_nodes))
    data, spare = int(data_array), int(spare_array)
    left = raw * max(n_nodes - spare, 0) / max(n_nodes, 1)
    how = PlanNote(PlanNoteKind.HOT_SPARES, (spare, n_nodes))
    steps = [_step("hot spare", left, how, storage.hot_spare_nodes)]
    left *= data / max(data + parity, 1)
    how = PlanNote(PlanNoteKind.STRIPES, (data, parity))
    steps.append(_step("protection", left, how, storage.stripe_parity))
    how = PlanNote(PlanNoteKind.USABLE_SHARE, (share,))
    steps.append(_step("reserve", left * share, how, storage.usable_share))
    return steps


def _step(label: str, left: float, how: PlanNote, fact: object) -> CapacityStep:
    return CapacityStep(label, left, how, getattr(fact, "basis", "assumed"), getattr(fact, "source", ""))


def _onefs_step(storage: Storage, usable: float, n_nodes: int) -> CapacityStep:
    nodes = int(_units(storage, np.asarray(n_nodes))) * nodes_per_unit(storage)
    overhead = float(onefs_overhead_fraction(max(nodes, 2), _published(storage)))
    level = storage.protection.value if storage.protection is not None else "+2d:1n"
    if is_extrapolated(storage, nodes):
        last = max(_published(storage), default=0)
        how = PlanNote(PlanNoteKind.ONEFS_EXTRAPOLATED, (level, overhead, nodes, last))
        return CapacityStep("protection", usable, how, "derived", storage.protection_overheads[-1].source)
    row = next(row for row in storage.protection_overheads if row.nodes == nodes)
    how = PlanNote(PlanNoteKind.ONEFS_OVERHEAD, (level, overhead, nodes))
    return CapacityStep("protection", usable, how, row.basis, row.source)


@lru_cache(maxsize=4096)
def _overheads(storage: Storage) -> Floats:
    """Protection overhead at 0, 1, 2 ... nodes; from the last entry on it stays the same."""
    published = _published(storage)
    widest = ONEFS_MAX_DATA_UNITS // ONEFS_PARITY_UNITS + 1  # nodes from which on the stripe grows no more
    last = max(widest, *(count + 1 for count in published))
    return onefs_overhead_fraction(np.maximum(np.arange(last + 1), 2), published)


def _published(storage: Storage) -> dict[int, float]:
    # Rows beyond the published table may be stored as "derived"; they do not count as published.
    return {row.nodes: row.overhead for row in storage.protection_overheads if row.basis != "derived"}


def _units(storage: Storage, nodes: Ints) -> Ints:
    return np.asarray(-(-nodes // nodes_per_unit(storage)), dtype=np.int64)
