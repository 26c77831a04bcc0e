"""What one workload reaches on one design: rates, time, loads, bottleneck and whether its target is met."""

from collections.abc import Sequence

import numpy as np

from sizer.base.estimate import Estimate
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Stack
from sizer.perf.pipeline import bottlenecks, read_demand_bytes_per_s
from sizer.perf.stage_capacity import Capacity
from sizer.physical.platform import Platform
from sizer.sizing.checks import CheckResult, MissingFact
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.result import SmallerSize, TrainingTime, WorkloadFigures
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.language_rates import gpus_at_work, language_answer
from sizer.sizing.stages.serving_rates import ServingAnswer, serving_answer
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.request import SizingRequest
from sizer.workload.serving import LoadKind
from sizer.workload.stack_choice import StackChoice, StackEvidence

# The rate of several stages together lies at most so far below the low end of the slowest one. [-]
_NEAR = 0.1


def training_time(run: WorkloadRun) -> TrainingTime | None:
    """Start-up + first (cold) epoch + remaining epochs + evaluations, on the first row of a run.

    None where no length is known, and where the GPUs do not hold the network.
    """
    rate, cold = (part[0] for part in run.rates)
    if run.epochs is None or run.length is None or not rate.value > 0 or (total_s := total_time(run)) is None:
        return None
    length, epoch = run.length[0], _seconds(run.work.n_samples, rate)
    evaluations_s = float(length.value) * evaluate.evaluation_share(run.work) * float(epoch.value)
    spread = float(np.hypot(length.log_sd, rate.log_sd))
    return TrainingTime(
        epochs=run.epochs[0],
        start_up_s=run.calibration.start_up_s,
        first_epoch_s=_seconds(run.work.n_samples, cold),
        epoch_s=epoch,
        evaluations_s=Estimate.log_normal(evaluations_s, spread) if evaluations_s else Estimate.exact(0.0),
        total_s=total_s[0],
        cold_limit=cold_limit(run.cold.storage, float(cold.value)),
        whole_run=None if run.comp.whole_run is None else run.comp.whole_run[0],
    )


def cold_limit(storage: Capacity, rate: float) -> str:
    """Key of the stage that a first epoch waits for which is slower than later ones: storage, or the way to it.

    ``storage``: of the first row, with nothing in a cache. ``rate``: what all stages together reach [samples/s].
    """
    # The slowest of several uncertain stages is slower than the median of each: its lower end tells.
    return "storage" if float(storage.quantile(0.05)[0]) <= (1 + _NEAR) * rate else "network"


def total_time(run: WorkloadRun) -> Estimate | None:
    """Start-up and the run, whose interval is that of its parts, widened by what is not known of its length. [s]

    None where no length is known.
    """
    length, (rate, cold) = run.length, run.rates
    if length is None or run.work.is_inference:
        return None
    value, low, high = (
        evaluate.time_s(run.work, length.value, steady, in_first, 0.0)
        for steady, in_first in ((rate.value, cold.value), (rate.high, cold.high), (rate.low, cold.low))
    )
    shorter = np.exp(np.hypot(np.log(value / low), np.log(length.value / length.low)))
    longer = np.exp(np.hypot(np.log(high / value), np.log(length.high / length.value)))
    start_up_s = run.calibration.start_up_s
    return Estimate(*(np.asarray(start_up_s + run_s) for run_s in (value, value / shorter, value * longer)))


def _seconds(samples: float, rate: Estimate) -> Estimate:
    return Estimate(samples / rate.value, samples / rate.high, samples / rate.low)


# No model makes an outcome certain: tails beyond this are not known.
MOST_CERTAIN = 0.999
# One server fewer says what a smaller design reaches; two fewer, what that design reaches after a loss.
_FEWER = (1, 2)
_FRAMEWORKS = {
    "caffe": "Caffe",
    "caffe2": "Caffe2",
    "hugectr": "HugeCTR",
    "mxnet": "MXNet",
    "oneflow": "OneFlow",
    "paddlepaddle": "PaddlePaddle",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "tensorrt": "TensorRT",
}


def workload_figures(
    request: SizingRequest, platform: Platform, run: WorkloadRun, missing: Sequence[MissingFact], catalog: Catalog
) -> WorkloadFigures:
    """Figures of one workload on the first row of a run; ``missing``: what decides on its target and nobody gives."""
    n_gpus = int(run.servers[0]) * float(run.cols.gpus_per_server[0])
    work = run.work.on(platform.gpu.id, n_gpus)
    rate, cold_rate = (part[0] for part in run.rates)
    hits = float(run.comp.hit_fraction[0])
    (bottleneck,), (following,) = bottlenecks(run.warm, run.comp.gpu_alone)
    if evaluate.reads_once(work, run.length):
        hits = 0.0  # no later epoch finds anything in a cache
    chance = told_chance(run)
    # An unknown rate counts as its upper bound: a target that is missed with it is missed, a met one is open.
    met = CheckResult.OPEN if missing else CheckResult.MET
    language = language_answer(work, platform, int(n_gpus), catalog)
    serving = serving_answer(work, platform, int(run.servers[0]), int(run.cols.gpus_per_server[0]), catalog)
    rate_stack = design_rates(work, platform.gpu.id).software(work, language, catalog)
    stack = software_on(rate_stack, work.stack_choice, platform.gpu, catalog)
    # Of a model that shares the GPUs with others its own ones count.
    apart = [one for one in (language, serving) if one is not None and not (serving and serving.work.shares_with)]
    used = [one.gpus_used / n_gpus for one in apart]
    core_load = run.comp.core_s_per_sample / (int(run.servers[0]) * float(run.cols.cores[0]))
    # Share of what the GPUs can pass that they do.
    most = float(run.comp.gpu.median[0])
    return WorkloadFigures(
        throughput=rate,
        time=training_time(run),
        storage_bytes_per_s=_reads(rate, work.sample_bytes, hits),
        cold_storage_bytes_per_s=_reads(cold_rate, work.sample_bytes, 0.0 if work.kind.reads_data else 1.0),
        cpu_utilization_fraction=_cpu(rate, core_load, float(run.comp.decode.log_sd.flat[0])),
        gpu_busy_fraction=(min(1.0, passed_rate(rate, serving) / most) if most > 0 else 0.0)
        * (used[0] if used else 1.0),
        cache_hit_fraction=hits,
        bottleneck=bottleneck,
        next_bottleneck=following,
        probability=None if missing else min(chance, MOST_CERTAIN),
        # That first tokens are in time is a condition of its own.
        target_check=met
        if run.target_probability[0] >= evaluate.least_chance(request.confidence)
        else CheckResult.NOT_MET,
        stack=stack,
        rate_stack=rate_stack if rate_stack is not stack else None,
        batch_per_gpu=work.batch_per_gpu,
        language=language,
        serving=serving,
    )


def told_chance(run: WorkloadRun) -> float:
    """Probability that a workload meets its target and its limits of latency; of GPUs that serve that of the rate which
    they are said to keep.
    """
    serving = run.work.serving
    chance = float(run.probability[0])
    return min(chance, serving.confidence) if serving and serving.load_kind is LoadKind.GPUS else chance


def passed_rate(throughput: Estimate, serving: ServingAnswer | None) -> float:
    """Rate at which the design works: of a model in use what is asked, else as fast as it can. [samples/s]"""
    return (serving and serving.work.asked_rate) or float(throughput.value)


def smaller_sizes(
    along: WorkloadRun, platform: Platform, n_servers: int, catalog: Catalog, *, is_open: bool
) -> tuple[SmallerSize, ...]:
    """One and two servers fewer, of a run on sizes that hold the workload; ``is_open``: what decides is not known."""
    run = along.take(np.flatnonzero(np.isin(along.servers, n_servers - np.array(_FEWER)))[::-1])
    if not run.servers.size:
        return ()
    warm, cold = (part.value for part in run.rates)
    time_s = run.time_s(warm, cold)
    return tuple(
        SmallerSize(
            count,
            gpus_at_work(run.work, platform, count, catalog),
            float(warm[place]),
            None if time_s is None else float(time_s[place]),
            None if is_open else min(float(run.probability[place]), MOST_CERTAIN),
        )
        for place, count in enumerate(run.servers.tolist())
    )


def software_on(stack: Stack, choice: StackChoice | None, gpu: Gpu, catalog: Catalog) -> Stack:
    """Software that runs a network on a GPU: of a stack older than the GPU, a release of today of its framework.

    So, too, of a default that was measured with other kinds of network only: its scripts do not run this one.
    """
    if stack.runs_mlperf or stack.trains_own or stack.trains_language or stack.serves_language:
        return stack
    generation = catalog.generations[gpu.generation or ""]
    is_older = generation.introduced is not None and stack.released.value < str(generation.introduced.value)[:7]
    is_of_others = choice is not None and choice.evidence in (StackEvidence.SEVERAL_FAMILIES, StackEvidence.NONE)
    if not is_older and not is_of_others:
        return stack
    name = _FRAMEWORKS.get(stack.framework, stack.framework)
    return stack.model_copy(update={"name": f"a current release of {name}"})


def _reads(rate: Estimate, sample_bytes: float, hit_fraction: float) -> Estimate:
    value, low, high = (read_demand_bytes_per_s(end, sample_bytes, hit_fraction) for end in rate)
    return Estimate(value, low, high)


def _cpu(rate: Estimate, core_s_per_sample_per_core: float, decode_log_sd: float) -> Estimate:
    """Load of the host cores: rate x cost of a sample; both spread. Never above 1: then decode is the bottleneck."""
    spread = float(np.hypot(rate.log_sd, decode_log_sd))
    load = Estimate.log_normal(rate.value * core_s_per_sample_per_core, spread)
    return Estimate(np.minimum(load.value, 1.0), np.minimum(load.low, 1.0), np.minimum(load.high, 1.0))
