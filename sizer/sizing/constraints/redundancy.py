"""Whether each design of the space still meets its targets after every loss that a request asks it to tolerate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.physical.capacity import counts_nodes
from sizer.physical.networks.members import shape
from sizer.physical.networks.storage_networks import gateway_bytes_per_s, gateway_uplink_count
from sizer.physical.platform import Platform
from sizer.physical.protection import nodes_survived
from sizer.sizing.constraints.remaining_capacity import RemainingCapacity, capacity_after
from sizer.sizing.constraints.team_limits import TeamLimits
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.evaluate import Need
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import Loss, SizingRequest
from sizer.workload.resolve import ResolvedWorkload


class Known:
    """What is known of a stage better than the calibration has it: here nothing."""

    def compute(self, index: int, comp: Compute) -> Compute:  # noqa: ARG002  (of a workload)
        """Servers of a workload."""
        return comp

    def node(self, index: int, cols: Columns) -> Columns:  # noqa: ARG002
        """Columns with the rate of a storage node."""
        return cols

    def path(self, index: int, stages: Stages) -> Stages:  # noqa: ARG002
        """Stages between the data and the servers."""
        return stages


NOTHING_KNOWN = Known()


@dataclass(frozen=True)
class AfterLoss:
    """All designs after one loss, before it is said what they are to reach. Arrays (platforms, sizes)."""

    loss: Loss
    left: RemainingCapacity
    cols: Columns
    platforms: Sequence[Platform]
    computes: Sequence[Compute]  # one a workload
    waits: Bools  # whether the jobs of a team start in time
    team_bytes_per_s: Floats | None  # that they read together

    def asked(
        self,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        calibration: Calibration,
        known: Known = NOTHING_KNOWN,
    ) -> "LossTargets":
        """The same with the targets of a request, which may differ from the one it was made for."""
        confidence = evaluate.share_of(request)
        least = evaluate.least_chance(confidence)
        servers, cols = self.left.n_servers, self.cols
        computes = [known.compute(index, comp) for index, comp in enumerate(self.computes)]
        needs, chances = [], []
        runs = self.left.is_running & self.waits
        for work, comp in zip(works, computes, strict=True):
            need = evaluate.need(work, comp, cols, servers, confidence, calibration)
            by_gpus = evaluate.gpu_probability(comp.gpu, need)
            by_feed = evaluate.feeding_probability(comp, need)
            runs &= servers * cols.gpus_per_server >= (work.request.target.gpus_busy or 0)
            runs &= (by_gpus >= least) & (by_feed >= least)
            needs.append(need)
            chances.append(by_gpus * by_feed)
        asked = evaluate.least_chance(request.confidence)
        return LossTargets(self, works, computes, needs, chances, runs, confidence, asked, known)


@dataclass(frozen=True)
class LossTargets:
    """What is asked of all designs after one loss. Arrays (platforms, sizes); of the sequences one entry a workload."""

    after: AfterLoss
    works: Sequence[ResolvedWorkload]
    computes: Sequence[Compute]
    needs: Sequence[Need]
    chances: Sequence[Floats]  # that GPUs and host decode meet the target
    runs: Bools  # where the servers are enough
    confidence: float  # of each workload alone
    least: float  # probability of all together
    known: Known

    def nodes(self) -> Floats:
        """Storage nodes in all that leave enough after the loss; 0 where no number of them would do."""
        each = zip(self.works, self.computes, self.needs, self.chances, strict=True)
        wanted = np.max(
            [
                evaluate.nodes_given_compute(
                    chance, work, comp, self.known.node(index, self.after.cols), need, self.confidence
                )
                for index, (work, comp, need, chance) in enumerate(each)
            ],
            axis=0,
        )
        if self.after.team_bytes_per_s is not None:
            wanted = np.maximum(
                wanted, evaluate.nodes_for(self.after.team_bytes_per_s, self.after.cols, self.confidence)
            )
        wanted = np.maximum(wanted, 1.0)
        ways = np.maximum(self.after.left.node_ways - 1, 1)
        cut = np.where(self.after.left.node_ways > 0, np.ceil(wanted / ways), 0.0)
        is_some = self.runs & np.isfinite(wanted)
        return np.where(is_some, np.where(np.isfinite(wanted), wanted, 0.0) + self.after.left.nodes_lost + cut, 0.0)

    def keeps(self, nodes: Ints) -> Bools:
        """Designs that still meet every target, of so many storage nodes before the loss."""
        left = self.after.left
        ways = np.maximum(left.node_ways, 1)
        cut = np.where(left.node_ways > 0, -(-nodes // ways), 0)
        survived = np.array([nodes_survived(one.storage) or 0 for one in self.after.platforms])[:, None]
        holds = (cut <= survived) | np.array([one.back_end_switch is not None for one in self.after.platforms])[:, None]
        there = np.maximum(nodes - cut - left.nodes_lost, 0)
        counted = np.array([counts_nodes(one.storage) for one in self.after.platforms])[:, None]
        enough = self.runs & holds & (~counted | (there > 0))
        gateway = self._gateway(nodes)
        side = evaluate.storage_side(self.after.cols, left.n_servers, there, gateway)
        chance = np.ones(nodes.shape)
        least = evaluate.least_chance(self.confidence)
        if self.after.team_bytes_per_s is not None:
            enough &= side.mounts.probability_at_least(self.after.team_bytes_per_s) >= least
            enough &= side.read.probability_at_least(self.after.team_bytes_per_s) >= least
            enough &= np.minimum(gateway, side.server_nic_bytes_per_s) >= self.after.team_bytes_per_s
        for index, (work, comp, need) in enumerate(zip(self.works, self.computes, self.needs, strict=True)):
            reads = evaluate.read_bytes_per_s(work, comp, need)
            enough &= side.mounts.probability_at_least(reads) >= least
            enough &= side.read.probability_at_least(reads) >= least
            warm, cold = (
                self.known.path(index, evaluate.stages(work.sample_bytes, comp, side, is_warm=is_warm))
                for is_warm in (True, False)
            )
            chance = chance * evaluate.probability(warm, cold, need)
        return np.asarray(enough & (chance >= self.least))

    def _gateway(self, nodes: Ints) -> Floats:
        """Rate of the uplinks that are left. [B/s]"""
        rate = np.full(nodes.shape, np.inf)
        for row in np.flatnonzero(self.after.left.gateway_ways.any(axis=1)).tolist():
            platform, ways = self.after.platforms[row], self.after.left.gateway_ways[row]
            rows = shape(platform, self.after.left.n_servers[row], nodes[row])
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
) -> list[AfterLoss]:
    """All designs after each loss that a request asks them to tolerate.

    Parameters
    ----------
    request : SizingRequest
        Names the losses, in ``resilience``.
    works : sequence of ResolvedWorkload
        Its workloads.
    platforms : sequence of Platform
        Platforms of the designs.
    sizes : ndarray of int
        Numbers of servers.
    cols : Columns
        Of the platforms, shape (platforms, 1) or (platforms, sizes).
    fewest_nodes : ndarray of int, shape (platforms,)
        Smallest storage system of each: a fabric of more end points has no fewer switches to share a loss.
    team : TeamLimits or None
        What the team of the request asks of the designs, row by row as ``platforms``.
    catalog : Catalog
        Parts of the platforms.
    calibration : Calibration
        Coefficients of the performance model.
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
            found.append(_after(loss, left, works, platforms, cols, team, catalog, calibration))
    return found


def _after(
    loss: Loss,
    left: RemainingCapacity,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    cols: Columns,
    team: TeamLimits | None,
    catalog: Catalog,
    calibration: Calibration,
) -> AfterLoss:
    cols = _narrower(cols, left)
    computes = [compute_side.compute(work, platforms, cols, left.n_servers, calibration, catalog) for work in works]
    waits: Bools = np.ones(left.is_running.shape, dtype=bool)
    reads: Floats | None = None
    if team is not None:
        # Sizes run from one server up.
        waits = np.take_along_axis(team.waits, left.n_servers - 1, axis=1)
        reads = np.take_along_axis(team.bytes_per_s, left.n_servers - 1, axis=1)
    return AfterLoss(loss, left, cols, platforms, computes, waits, reads)


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
