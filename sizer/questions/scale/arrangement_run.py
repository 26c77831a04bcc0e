"""One workload on one arrangement of GPUs: the times of a step, and the rate in every draw of the calibration."""

from dataclasses import dataclass, replace

from sizer.base.arrays import Floats
from sizer.calibrate.draws import Draws
from sizer.catalog.model import Catalog
from sizer.perf.training_step import TrainingRun
from sizer.questions.scale.arrangements import Arrangement
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.search.posterior import DrawnServers
from sizer.sizing.stages.platform_columns import compute_groups
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class StepBreakdown:
    """Times of a training step at the medians. [s]

    ``inside_s`` and ``between_s`` are the whole exchange, hidden or not; the other four add up to the step.
    """

    compute_s: float
    inside_s: float
    between_s: float
    exposed_s: float  # exchange that computation does not hide
    waiting_s: float  # of the GPUs for the slowest one
    data_s: float  # for host decode, network or storage

    @property
    def exchange_s(self) -> float:
        """The whole gradient exchange."""
        return self.inside_s + self.between_s

    @property
    def step_s(self) -> float:
        """The whole step."""
        return self.compute_s + self.exposed_s + self.waiting_s + self.data_s


def request_of(request: SizingRequest, one: Arrangement) -> SizingRequest:
    """The request on so many GPUs of each server."""
    only = request.platforms.model_copy(update={"gpus_per_server": None if one.is_full else one.gpus_used})
    return request.model_copy(update={"platforms": only})


@dataclass(frozen=True)
class DrawnRates:
    """One workload on one arrangement in every draw."""

    run: TrainingRun | None  # None for inference
    terms: Floats
    samples_per_s: Floats  # (draws,)
    equipment: tuple[object, ...]  # all that the models know of GPUs, links and their numbers

    def breakdown(self, answer: WorkloadAnswer) -> StepBreakdown | None:
        """Times of a step; what storage, network and host decode take from the median rate is waiting for data."""
        if self.run is None:
            return None
        times = self.run.times(self.terms)
        compute_s, exposed_s, waiting_s = (
            float(part.flat[0]) for part in (times.compute_s, times.exposed_s, times.waiting_s)
        )
        step_s = float(self.run.samples.flat[0]) / float(answer.throughput.value)
        return StepBreakdown(
            compute_s=compute_s,
            inside_s=float(times.inside_s.flat[0]),
            between_s=float(times.between_s.flat[0]),
            exposed_s=exposed_s,
            waiting_s=waiting_s,
            data_s=max(step_s - compute_s - exposed_s - waiting_s, 0.0),
        )


def drawn_estimates(
    request: SizingRequest,
    work: ResolvedWorkload,
    one: Arrangement,
    design: DesignAnswer,
    catalog: Catalog,
    draws: Draws,
) -> DrawnRates:
    """A workload on an arrangement under the draws; ``design`` has the storage and the gateway."""
    gateway = float(design.quantities.gateway_bytes_per_s[0])
    platforms = [one.platform]
    run = run_on(
        request_of(request, one),
        work,
        one.platform,
        [one.n_servers],
        design.storage_nodes,
        gateway,
        catalog,
        draws.calibration,
    )
    one_size = (slice(None), None)
    cols, comp = run.cols.shaped((-1, 1)), run.comp.take(one_size)
    drawn = DrawnServers.of(work, platforms, one.platform, comp, cols, run.servers[one_size], draws, catalog)
    servers = drawn.compute()
    # Storage and network are the same system in all arrangements: their uncertainty does not affect the comparison.
    stages = replace(run.warm, gpu=servers.gpu, decode=servers.decode, host_link=servers.host_link)
    (group,), _ = compute_groups(platforms)
    equipment = (group.gpu, work.stack.id, group.intra_link, group.fabric.id, one.gpus_used, one.n_servers)
    steps = drawn.run if isinstance(drawn.run, TrainingRun) else None
    return DrawnRates(steps, drawn.terms.values, stages.slowest.ravel(), equipment)
