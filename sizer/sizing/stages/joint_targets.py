"""What all workloads of a request, and the jobs of a team, ask of many designs together; and whether they get it.

Rows are designs as they are built, or what is left of them after a loss. Arrays have any shape of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.perf.pipeline import Stages, StorageSide
from sizer.sizing.checks import AnyLimit, Limit
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.evaluate import ByStage, Need
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import SizingRequest
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
# Limits of the stages of the servers, in their order.
RATE_LIMITS = (Limit.GPU_RATE, Limit.HOST_DECODE, Limit.HOST_LINK)


@dataclass(frozen=True)
class JointTargets:
    """Servers with what is asked of them and of their storage. Of the sequences one entry a workload."""

    works: Sequence[ResolvedWorkload]
    computes: Sequence[Compute]
    needs: Sequence[Need]
    by_stage: Sequence[ByStage]  # probabilities that GPUs, host decode and the links between them meet the target
    chances: Sequence[Floats]  # that they do together
    cols: Columns
    n_servers: Ints
    confidence: float  # of each workload alone
    team_bytes_per_s: Floats | None  # that the jobs of a team read together
    known: Known

    @classmethod
    def of(
        cls,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        computes: Sequence[Compute],
        cols: Columns,
        n_servers: Ints,
        calibration: Calibration,
        known: Known = NOTHING_KNOWN,
        team_bytes_per_s: Floats | None = None,
    ) -> "JointTargets":
        """Targets of a request on servers whose compute side is given, as it is fitted."""
        confidence = evaluate.share_of(request)
        computes = [known.compute(index, comp) for index, comp in enumerate(computes)]
        needs = [
            evaluate.need(work, comp, cols, n_servers, confidence, calibration)
            for work, comp in zip(works, computes, strict=True)
        ]
        by_stage = [evaluate.stage_probabilities(comp, need) for comp, need in zip(computes, needs, strict=True)]
        chances = [need.outcomes.of_servers for need in needs]
        return cls(works, computes, needs, by_stage, chances, cols, n_servers, confidence, team_bytes_per_s, known)

    @property
    def limits(self) -> dict[AnyLimit, Bools]:
        """Limits of the servers, without their memory and ports -> rows that keep them."""
        asked, names = evaluate.least_chance(self.confidence), (Limit.GPU_COUNT, *RATE_LIMITS)
        limits: dict[AnyLimit, Bools] = {name: np.ones(self.chances[0].shape, dtype=bool) for name in names}
        each = zip(self.works, self.needs, self.by_stage, self.chances, strict=True)
        for work, need, by_stage, together in each:
            busy = work.request.target.gpus_busy or 0
            limits[Limit.GPU_COUNT] &= self.n_servers * self.cols.gpus_per_server >= busy
            for name, chance in zip(RATE_LIMITS, by_stage, strict=True):
                if need.counts_gpu or name is not Limit.GPU_RATE:
                    # A stage on its own is judged by a normal law of the time, all of them by the draws, which rule.
                    limits[name] &= (chance >= asked) | (together >= asked)
        return limits

    def on(self, kinds: Ints | slice, cols: Columns) -> "JointTargets":
        """The same servers on rows with storage of their own; ``kinds`` are the servers of each row."""
        team = self.team_bytes_per_s
        return replace(
            self,
            computes=[comp.take(kinds) for comp in self.computes],
            needs=[need.take(kinds) for need in self.needs],
            chances=[chance[kinds] for chance in self.chances],
            by_stage=(),
            cols=cols,
            team_bytes_per_s=None if team is None else team[kinds],
        )

    @cached_property
    def reads_bytes_per_s(self) -> Floats:
        """Largest reads of a workload, or of the team. [B/s]"""
        each = zip(self.works, self.computes, self.needs, strict=True)
        reads = [evaluate.read_bytes_per_s(work, comp, need) for work, comp, need in each]
        return np.asarray(np.max(reads if self.team_bytes_per_s is None else [*reads, self.team_bytes_per_s], axis=0))

    @property
    def nodes(self) -> Floats:
        """Fewest storage nodes whose rates meet all targets, not rounded; inf where no number does."""
        each = zip(self.chances, self.works, self.computes, self.needs, strict=True)
        wanted = [
            evaluate.storage_nodes(chance, work, comp, self.known.node(index, self.cols), need, self.confidence)
            for index, (chance, work, comp, need) in enumerate(each)
        ]
        if self.team_bytes_per_s is not None:
            least = evaluate.least_chance(self.confidence)
            wanted.append(evaluate.nodes_reading(self.team_bytes_per_s, self.cols, least))
        return np.asarray(np.max(wanted, axis=0))

    def has_mounts(self, side: StorageSide) -> Bools:
        """Whether the mounts pass the reads."""
        return side.mounts.probability_at_least(self.reads_bytes_per_s) >= evaluate.least_chance(self.confidence)

    def stages(self, side: StorageSide) -> Iterator[tuple[Stages, Stages]]:
        """Stages of every workload after the first epoch, and in it."""
        for index, (work, comp) in enumerate(zip(self.works, self.computes, strict=True)):
            warm, cold = (
                self.known.path(index, evaluate.stages(work.sample_bytes, comp, side, is_warm=is_warm))
                for is_warm in (True, False)
            )
            yield warm, cold
