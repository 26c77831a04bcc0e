"""Whether each design of the space still meets its targets after every loss that a request asks it to tolerate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.capacity import counts_nodes
from sizer.physical.losses import nodes_survived
from sizer.physical.networks.members import shape
from sizer.physical.networks.storage_networks import gateway_bytes_per_s, gateway_uplink_count
from sizer.physical.platform import Platform
from sizer.sizing.constraints.remaining_capacity import RemainingCapacity, capacity_after
from sizer.sizing.constraints.team_limits import TeamLimits
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.joint_targets import JointTargets, Known
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import Loss, SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class AfterLoss:
    """All designs after one loss, with the targets of their request. Arrays (platforms, sizes)."""

    loss: Loss
    left: RemainingCapacity
    platforms: Sequence[Platform]
    targets: JointTargets
    runs: Bools  # where the servers are enough, and the jobs of a team start in time
    least: float  # probability of all targets together

    def nodes(self) -> Floats:
        """Storage nodes in all that leave enough after the loss; 0 where no number of them would do."""
        wanted = np.maximum(self.targets.nodes, 1.0)
        ways = np.maximum(self.left.node_ways - 1, 1)
        cut = np.where(self.left.node_ways > 0, np.ceil(wanted / ways), 0.0)
        is_some = self.runs & np.isfinite(wanted)
        return np.where(is_some, np.where(np.isfinite(wanted), wanted, 0.0) + self.left.nodes_lost + cut, 0.0)

    def keeps(self, nodes: Ints) -> Bools:
        """Designs that still meet every target, of so many storage nodes before the loss."""
        left, targets = self.left, self.targets
        ways = np.maximum(left.node_ways, 1)
        cut = np.where(left.node_ways > 0, -(-nodes // ways), 0)
        survived = np.array([nodes_survived(one.storage) or 0 for one in self.platforms])[:, None]
        holds = (cut <= survived) | np.array([one.back_end_switch is not None for one in self.platforms])[:, None]
        there = np.maximum(nodes - cut - left.nodes_lost, 0)
        counted = np.array([counts_nodes(one.storage) for one in self.platforms])[:, None]
        enough = self.runs & holds & (~counted | (there > 0))
        gateway = self._gateway(nodes)
        side = evaluate.storage_side(targets.cols, left.n_servers, there, gateway)
        reads = side.read.probability_at_least(targets.reads_bytes_per_s)
        enough &= targets.has_mounts(side) & (reads >= evaluate.least_chance(targets.confidence))
        if targets.team_bytes_per_s is not None:
            enough &= np.minimum(gateway, side.server_nic_bytes_per_s) >= targets.team_bytes_per_s
        chance = np.ones(nodes.shape)
        for need, (warm, cold) in zip(targets.needs, targets.stages(side), strict=True):
            chance *= evaluate.probability(warm, cold, need)
        return np.asarray(enough & (chance >= self.least))

    def _gateway(self, nodes: Ints) -> Floats:
        """Rate of the uplinks that are left. [B/s]"""
        rate = np.full(nodes.shape, np.inf)
        for row in np.flatnonzero(self.left.gateway_ways.any(axis=1)).tolist():
            platform, ways = self.platforms[row], self.left.gateway_ways[row]
            rows = shape(platform, self.left.n_servers[row], nodes[row])
            uplinks = gateway_uplink_count(platform, rows)
            kept = uplinks - np.where(ways > 0, -(-uplinks // np.maximum(ways, 1)), 0)
            rate[row] = gateway_bytes_per_s(platform, rows) * kept / np.maximum(uplinks, 1)
        return rate


def after_losses(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    sizes: Ints,
    cols: Columns,
    fewest_nodes: Ints,
    team: TeamLimits | None,
    catalog: Catalog,
    calibration: Calibration,
    known: Known,
) -> list[AfterLoss]:
    """All designs after each loss that a request asks them to tolerate.

    ``sizes``: numbers of servers. ``cols``: of the platforms, shape (platforms, 1) or (platforms, sizes).
    ``fewest_nodes`` (platforms,): smallest storage system of each: a fabric of more end points has no fewer switches to
    share a loss. ``team``: what the team of the request asks of the designs, row by row as ``platforms``.
    """
    found = []
    for loss in dict.fromkeys(request.resilience.keeps_targets_without):
        ways = [
            list(capacity_after(loss, platform, sizes, int(nodes), request.fabric))
            for platform, nodes in zip(platforms, fewest_nodes, strict=True)
        ]
        for number in range(max(map(len, ways))):
            whole = RemainingCapacity.whole(sizes)
            rows = [some[number] if number < len(some) else whole for some in ways]
            left = RemainingCapacity(
                *(np.stack(part) for part in zip(*(vars(row).values() for row in rows), strict=True))
            )
            own = _narrower(cols, left)
            computes = [
                compute_side.compute(work, platforms, own, left.n_servers, calibration, catalog) for work in works
            ]
            runs, reads = left.is_running, None
            if team is not None:
                place = np.maximum(np.searchsorted(sizes, left.n_servers, side="right") - 1, 0)
                runs = runs & np.take_along_axis(team.waits, place, axis=1)
                reads = np.take_along_axis(team.bytes_per_s, place, axis=1)
            targets = JointTargets.of(request, works, computes, own, left.n_servers, calibration, known, reads)
            runs = np.logical_and.reduce([runs, *targets.limits.values()])
            found.append(AfterLoss(loss, left, platforms, targets, runs, evaluate.least_chance(request.confidence)))
    return found


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
