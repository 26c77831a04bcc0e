"""What every size of a platform has left after a loss, and which designs keep their targets with it.

The losses of one laid-out design are told by ``failure_cases``; here the same follows for all sizes at once from the
rule that deals the ports out. Where these do not come out even, the worst device stands for all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes
from sizer.physical.losses import nodes_survived
from sizer.physical.networks import storage_networks
from sizer.physical.networks.compute_fabric import compute_fabric, rail_rule
from sizer.physical.networks.fat_tree import SwitchTree
from sizer.physical.networks.members import shape
from sizer.physical.platform import Platform
from sizer.physical.platforms import own_network_ports
from sizer.sizing.constraints.team_limits import TeamLimits
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.joint_targets import JointTargets, Known
from sizer.sizing.stages.platform_columns import Columns, ServerRows
from sizer.workload.request import Fabric as FabricAsked
from sizer.workload.request import Loss, SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Attachments of storage that share the compute fabric.
ON_FABRIC = ("fabric", "gateway", "spine")


@dataclass(frozen=True)
class RemainingCapacity:
    """What is left of every size of one platform after one loss. Arrays over the sizes; shares of line rates."""

    is_running: Bools  # something to run on, and a way to the data
    n_servers: Ints
    exchange: Floats
    file: Floats
    ports: Floats  # of the storage nodes that are left
    gateway_ways: Ints  # switches that share the uplinks of the gateways, one of which is lost; 0: none is
    nodes_lost: Ints
    node_ways: Ints  # switches that share storage nodes of one port each, one of which is lost; 0: none is

    @classmethod
    def whole(cls, sizes: Ints) -> "RemainingCapacity":
        """Nothing lost yet."""
        one, zero = np.ones(sizes.shape), np.zeros_like(sizes)
        return cls(np.ones(sizes.shape, dtype=bool), sizes, one, one, one, zero, zero, zero)


def capacity_after(
    loss: Loss, platform: Platform, sizes: Ints, nodes: int, fabric: FabricAsked
) -> Iterator[RemainingCapacity]:
    """What is left after each way of losing one part of a kind; nothing where the platform has no such part."""
    whole = RemainingCapacity.whole(sizes)
    if loss == "server":
        yield replace(whole, is_running=sizes > 1, n_servers=np.maximum(sizes - 1, 1))
    elif loss == "storage-node" and platform.storage.kind != "local":
        survives = counts_nodes(platform.storage) and (nodes_survived(platform.storage) or 0) >= 1
        yield replace(whole, is_running=np.full(sizes.shape, survives), nodes_lost=np.ones_like(sizes))
    elif loss == "gateway" and platform.gateway is not None:
        # Each node has as many ports on another gateway.
        kept = np.full(sizes.shape, platform.has_spare_gateway)
        yield replace(whole, is_running=kept, ports=np.full(sizes.shape, 0.5))
    elif loss == "feed" and (platform.site.feeds == "N" or single_corded_device(platform)):
        yield replace(whole, is_running=np.zeros(sizes.shape, dtype=bool))
    elif loss == "head-node" and serves_files(platform):
        # The data are on the drives of one head node; the other one does not hold them.
        yield replace(whole, is_running=np.zeros(sizes.shape, dtype=bool))
    elif loss == "switch":
        yield from _without_switch(platform, sizes, nodes, fabric, whole)


def _without_switch(
    platform: Platform, sizes: Ints, nodes: int, fabric: FabricAsked, whole: RemainingCapacity
) -> Iterator[RemainingCapacity]:
    rows = shape(platform, sizes, np.full(sizes.shape, nodes), fabric)
    if platform.fabric_switch is not None:
        planes = compute_fabric(platform, rows, fabric).planes
        each = fabric_ports(platform.server.ports, platform.fabric)
        carries_files = platform.attachment in ON_FABRIC
        for number, plane in enumerate(planes):
            has_files = carries_files and number == 0
            if len(planes) == 1:
                rule = rail_rule(platform, fabric)
                on_leaf = None if rule is None else rule.worst_on_leaf(rows.room)
                leaf = _leaf_lost(platform, plane.tree, sizes, each, whole, has_files=has_files, on_leaf=on_leaf)
            else:
                others = np.full(sizes.shape, 1 - 1 / len(planes))
                # Servers on the lost leaf of the rail that leads to the storage read nothing more.
                leaf = _leaf_lost(platform, plane.tree, sizes, 1, whole, has_files=has_files) if has_files else whole
                leaf = replace(leaf, exchange=others)
            yield _where_any(plane.tree, leaf, whole)
            yield from _above(platform, plane.tree, whole, len(planes), has_files=has_files)
    if platform.attachment == "own network":
        tree = storage_networks.own_front_end(platform, rows).planes[0].tree
        ports = own_network_ports(platform.server, platform.server_storage_kind, platform.fabric)
        leaf = _leaf_lost(platform, tree, sizes, ports, whole, has_files=True)
        yield _where_any(tree, replace(leaf, exchange=whole.exchange), whole)
        for above in _above(platform, tree, whole, 1, has_files=True):
            yield replace(above, exchange=whole.exchange)


def _where_any(tree: SwitchTree, left: RemainingCapacity, whole: RemainingCapacity) -> RemainingCapacity:
    """What is left where the network has a switch at all."""
    some = tree.leaves + tree.spines > 0
    parts = {name: np.where(some, part, getattr(whole, name)) for name, part in vars(left).items()}
    return RemainingCapacity(**parts)


def _leaf_lost(
    platform: Platform,
    tree: SwitchTree,
    sizes: Ints,
    ports: int,
    whole: RemainingCapacity,
    *,
    has_files: bool,
    on_leaf: Ints | None = None,
) -> RemainingCapacity:
    """Without one leaf, of devices whose ports are dealt out over the leaves, or have so many on one (rails)."""
    leaves = np.maximum(tree.leaves, 1)
    kept = (ports - (np.ceil(ports / leaves) if on_leaf is None else on_leaf)) / ports
    # Of servers with one port those on the lost leaf are gone; the others keep all they had.
    n_servers = np.where(kept > 0, sizes, sizes - np.ceil(sizes / leaves).astype(np.int64))
    share = np.where(kept > 0, kept, 1.0)
    left = replace(
        whole,
        is_running=(tree.leaves > 1) & (n_servers > 0),
        n_servers=np.maximum(n_servers, 1),
        exchange=share,
        file=share if has_files else whole.file,
    )
    if not has_files or platform.attachment == "spine":
        return left
    if platform.attachment == "gateway":
        return replace(left, gateway_ways=leaves)
    if not counts_nodes(platform.storage):
        return replace(left, is_running=np.zeros(sizes.shape, dtype=bool))  # the one port of the head node
    if storage_networks.front_end_ports(platform) == 1 and platform.back_end_switch is None:
        # The fabric has so many leaves that the data survive the nodes of one (``compute_fabric``).
        survived = nodes_survived(platform.storage) or 0
        return replace(left, is_running=left.is_running & (survived > 0), nodes_lost=np.full(sizes.shape, survived))
    return _fewer_node_ports(left, storage_networks.front_end_ports(platform), leaves)


def _fewer_node_ports(left: RemainingCapacity, ports: int, switches: Ints) -> RemainingCapacity:
    kept = (ports - np.ceil(ports / switches)) / ports
    is_cut = kept <= 0
    return replace(left, ports=np.where(is_cut, 1.0, kept), node_ways=np.where(is_cut, switches, 0))


def _above(
    platform: Platform, tree: SwitchTree, whole: RemainingCapacity, rails: int, *, has_files: bool
) -> Iterator[RemainingCapacity]:
    """Without one spine, and without one core where there are three levels."""
    if not np.count_nonzero(tree.spines):
        return
    up = tree.leaf_spine_cables // np.maximum(tree.leaves, 1)
    is_deep = tree.cores > 0
    groups = np.where(is_deep, tree.cores // np.maximum(up, 1), 1)
    for there, ways in ((tree.spines > 0, np.where(is_deep, up, tree.spines)), (is_deep, groups)):
        if not np.count_nonzero(there):
            continue
        share = np.where(there, 1 - 1 / np.maximum(ways, 1), 1.0)
        one = np.ones(share.shape)
        left = replace(
            whole,
            # A network of spines alone is a director; one that holds leaves apart from each other leaves none in reach.
            is_running=~there | ((ways > 1) & (tree.leaves > 0)) | (rails > 1 and not has_files),
            exchange=np.maximum(1 - (1 - share) / rails, 1 - 1 / rails if rails > 1 else 0.0),
            file=share if has_files else one,
        )
        left = replace(left, exchange=np.where(left.exchange > 0, left.exchange, 1.0))
        left = replace(left, file=np.where(left.file > 0, left.file, 1.0))
        if has_files and platform.attachment == "spine" and counts_nodes(platform.storage):
            left = _fewer_node_ports(left, storage_networks.front_end_ports(platform), np.maximum(tree.spines, 1))
        yield left


def serves_files(platform: Platform) -> bool:
    """Whether the head node serves the files from its own drives."""
    return platform.storage.kind == "nfs-server" and platform.storage.server is not None


def single_corded_device(platform: Platform) -> Device | None:
    """A device on the data path with one power inlet, where there is one: it fails with its feed."""
    head = platform.head_node if serves_files(platform) else None
    storage = platform.storage_server or platform.storage
    devices: tuple[Device | None, ...] = (
        platform.server,
        head,
        storage,
        platform.fabric_switch,
        platform.spine_switch,
        platform.director,
        platform.storage_switch,
        platform.back_end_switch,
        platform.gateway,
    )
    return next(
        (
            device
            for device in devices
            if device is not None and device.power_inlets is not None and device.power_inlets.value == 1
        ),
        None,
    )


@dataclass(frozen=True)
class AfterLoss:
    """All designs after one loss, with the targets of their request. Arrays (platforms, sizes)."""

    loss: Loss
    left: RemainingCapacity
    platforms: Sequence[Platform]
    targets: JointTargets
    runs: Bools  # where the servers are enough, and the jobs of a team start in time
    timely: Floats | float  # probability that first tokens of what is served keep their limit
    least: float  # probability of all targets together

    def nodes(self) -> Floats:
        """Storage nodes in all that leave enough after the loss; 0 where no number of them would do."""
        wanted = np.maximum(self.targets.nodes, 1.0)
        ways = np.maximum(self.left.node_ways - 1, 1)
        cut = np.where(self.left.node_ways > 0, np.ceil(wanted / ways), 0.0)
        is_some = self.runs & np.isfinite(wanted)
        return np.where(is_some, np.where(np.isfinite(wanted), wanted, 0.0) + self.left.nodes_lost + cut, 0.0)

    def keeps(self, nodes: Ints, is_late: Bools) -> Bools:
        """Designs that still meet every target, of so many storage nodes before the loss.

        ``is_late``: those whose first tokens are not as sure as asked before any loss, so that a measurement decides.
        """
        left, targets = self.left, self.targets
        ways = np.maximum(left.node_ways, 1)
        cut = np.where(left.node_ways > 0, -(-nodes // ways), 0)
        survived = np.array([nodes_survived(platform.storage) or 0 for platform in self.platforms])[:, None]
        holds = (cut <= survived) | np.array([one.back_end_switch is not None for one in self.platforms])[:, None]
        there = np.maximum(nodes - cut - left.nodes_lost, 0)
        counted = np.array([counts_nodes(platform.storage) for platform in self.platforms])[:, None]
        enough = self.runs & holds & (~counted | (there > 0))
        gateway = self._gateway(nodes)
        side = evaluate.storage_side(targets.cols, left.n_servers, there, gateway)
        reads = side.read.probability_at_least(targets.reads_bytes_per_s)
        enough &= targets.has_mounts(side) & (reads >= evaluate.least_chance(targets.confidence))
        if targets.team_bytes_per_s is not None:
            enough &= np.minimum(gateway, side.server_nic_bytes_per_s) >= targets.team_bytes_per_s
        chance = np.ones(nodes.shape)
        for need, (warm, cold) in zip(targets.needs, targets.stages(side), strict=True):
            chance *= need.outcomes.probability(warm, cold)
        return np.asarray(enough & (chance * np.where(is_late, 1.0, self.timely) >= self.least))

    def _gateway(self, nodes: Ints) -> Floats:
        """Rate of the uplinks that are left. [B/s]"""
        rate = np.full(nodes.shape, np.inf)
        for row in np.flatnonzero(self.left.gateway_ways.any(axis=1)).tolist():
            platform, ways = self.platforms[row], self.left.gateway_ways[row]
            rows = shape(platform, self.left.n_servers[row], nodes[row])
            uplinks = storage_networks.gateway_uplink_count(platform, rows)
            kept = uplinks - np.where(ways > 0, -(-uplinks // np.maximum(ways, 1)), 0)
            rate[row] = storage_networks.gateway_bytes_per_s(platform, rows) * kept / np.maximum(uplinks, 1)
        return rate


def after_losses(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    rows: Ints,
    sizes: Ints,
    cols: Columns,
    fewest_nodes: Ints,
    team: TeamLimits | None,
    catalog: Catalog,
    calibration: Calibration,
    known: Known,
) -> list[AfterLoss]:
    """Designs after each loss that a request asks them to tolerate.

    ``platforms``: all of the request; ``rows`` (rows,): those that are looked at. ``sizes``: numbers of servers.
    ``cols``: of the rows, shape (rows, 1) or (rows, sizes). ``fewest_nodes`` (rows,): smallest storage system of each:
    a fabric of more end points has no fewer switches to share a loss. ``team``: what the team of the request asks of
    the designs, row by row.
    """
    losses, own_platforms = [], [platforms[row] for row in rows]
    for loss in dict.fromkeys(request.resilience.keeps_targets_without):
        ways = [
            list(capacity_after(loss, platform, sizes, int(nodes), request.fabric))
            for platform, nodes in zip(own_platforms, fewest_nodes, strict=True)
        ]
        for number in range(max(map(len, ways))):
            whole = RemainingCapacity.whole(sizes)
            each = [some[number] if number < len(some) else whole for some in ways]
            left = RemainingCapacity(*map(np.stack, zip(*(vars(row).values() for row in each), strict=True)))
            own = _narrower(cols, left)
            hosts = ServerRows(platforms, own, left.n_servers, catalog, calibration)
            computes = [compute_side.compute(work, hosts) for work in works]
            runs, reads = left.is_running, None
            if team is not None:
                place = np.maximum(np.searchsorted(sizes, left.n_servers, side="right") - 1, 0)
                runs = runs & np.take_along_axis(team.waits, place, axis=1)
                reads = np.take_along_axis(team.bytes_per_s, place, axis=1)
            targets = JointTargets.of(request, works, computes, own, left.n_servers, calibration, known, reads)
            runs = np.logical_and.reduce([runs, *targets.limits.values()])
            least = evaluate.least_chance(request.confidence)
            timely = compute_side.timely(computes)
            losses.append(AfterLoss(loss, left, own_platforms, targets, runs, timely, least))
    return losses


def _narrower(cols: Columns, left: RemainingCapacity) -> Columns:
    shape_ = left.n_servers.shape
    spread = Columns(**{name: np.broadcast_to(part, shape_) for name, part in vars(cols).items()})
    return replace(
        spread,
        exchange_bytes_per_s=spread.exchange_bytes_per_s * left.exchange,
        storage_nic_bytes_per_s=spread.storage_nic_bytes_per_s * left.file,
        node_line_bytes_per_s=spread.node_line_bytes_per_s * left.ports,
        mounts_per_node=spread.mounts_per_node * left.ports,
    )
