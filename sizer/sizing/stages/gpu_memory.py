"""GPU memory of a workload: what it takes, whether its batch fits, and the batch of a request that states none."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import RequestError
from sizer.base.stored_answers import DeferredValues, StoredAnswers, stores_by_catalog
from sizer.base.streams import pause_point
from sizer.calibrate import own_networks
from sizer.calibrate.calibration import Calibration, known_as
from sizer.calibrate.gpu_memory import Activations, n_moments
from sizer.calibrate.modern.rows import largest_batches, published_runs
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf import gpu_memory
from sizer.perf.training_step import TRAINING_PASSES
from sizer.physical.platform import Platform
from sizer.sizing.stages import language_rates, measured_rates
from sizer.sizing.stages.laid_out_models import laid_out_model
from sizer.sizing.stages.language_rates import LanguageAnswer
from sizer.sizing.stages.own_networks import check_measured
from sizer.sizing.stages.platform_columns import ServerRows
from sizer.sizing.stages.serving_rates import ServingAnswer
from sizer.sizing.stages.sharding import EMBEDDING_BYTES, RECOMPUTED, Sharding, embedding_parameters, sharding_of
from sizer.workload.custom_network import CustomDnn
from sizer.workload.optional_tables import Measured
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import DEFAULT_BATCH, BatchSizes, ResolvedWorkload, resolve_one

# Networks whose answers are stored: requests of a batch differ in their data and targets above all.
_MOST_STORED = 1024
# A batch that was published on a GPU of this memory fits; some sources leave the size of the memory to be assumed.
RAN_PROBABILITY = 0.95
# Activations of a network that nobody measured are a guess: it refuses what almost surely does not fit, and leaves open
# what it does not show to fit.
_LEAST_OF_A_GUESS = 1 - gpu_memory.FITS_PROBABILITY
# Trainings of these compute activations again to fill a GPU: OpenCLIP on A100 40 GB from ViT-L/14 on, 224 pairs a GPU.
_COMPUTED_AGAIN = ("transformer",)
# Spread of the logarithm of activations that the customer measured: another release, another allocator.
_MEASURED_LOG_SD = 0.1


@dataclass(frozen=True)
class MemoryOfWorkload:
    """What a workload takes of every GPU. Sizes in bytes."""

    sharding: Sharding
    whole_bytes: float  # state that each GPU holds
    divided_bytes: float  # state that all GPUs hold together
    fixed_bytes: float  # context and workspaces
    sample_bytes: float  # activations of one sample, median
    sample_log_sd: float
    is_fitted: bool  # to published rows of this network
    ran: tuple[tuple[float, float], ...] = ()  # memory of GPUs, and the largest batch published on each
    # The same as the two of a sample where activations are computed again; None where that is no choice.
    recomputed: tuple[float, float] | None = None

    @property
    def is_guess(self) -> bool:
        """Whether nobody measured the activations of this network, so that too large a guess refuses nothing."""
        return self.recomputed is not None

    @property
    def least_probability(self) -> float:
        """Probability of a fit below which a batch is refused."""
        return _LEAST_OF_A_GUESS if self.is_guess else gpu_memory.FITS_PROBABILITY

    def as_it_runs(self, memory_bytes: float, batch: float, n_gpus: float) -> "MemoryOfWorkload":
        """The same with activations computed again where that alone lets a batch fit."""
        if self.recomputed is None:
            return self
        kept = replace(self, recomputed=None)
        if float(kept.fit_probability(memory_bytes, batch, n_gpus)) >= gpu_memory.FITS_PROBABILITY:
            return kept
        sample_bytes, log_sd = self.recomputed
        return replace(kept, sample_bytes=sample_bytes, sample_log_sd=log_sd)

    def most_run(self, memory_bytes: ArrayLike) -> Floats:
        """Largest batch that was published on a GPU of so much memory or less; 0 where there is none."""
        memory = np.asarray(memory_bytes, dtype=float)
        found = np.zeros(memory.shape)
        for least, batch in self.ran:
            found = np.maximum(found, np.where(memory >= least, batch, 0.0))
        return found

    def state_bytes(self, n_gpus: ArrayLike) -> Floats:
        """Weights, gradients and optimizer of one GPU."""
        return np.asarray(self.whole_bytes + self.divided_bytes / np.asarray(n_gpus, dtype=float))

    def fit_probability(self, memory_bytes: ArrayLike, batch: ArrayLike, n_gpus: ArrayLike) -> Floats:
        """Probability that a batch fits GPUs of some memory; 0..1."""
        of_gpu = memory_bytes, self.state_bytes(n_gpus), self.fixed_bytes, batch
        chance = gpu_memory.fit_probability(*of_gpu, self.sample_bytes, self.sample_log_sd)
        if self.recomputed is not None:
            chance = np.maximum(chance, gpu_memory.fit_probability(*of_gpu, *self.recomputed))
        has_run = np.asarray(batch, dtype=float) <= self.most_run(memory_bytes)
        if self.divided_bytes:
            # What ran divided over many GPUs says nothing about fewer, each of which holds more.
            need = self.state_bytes(n_gpus) + self.fixed_bytes + np.asarray(batch, dtype=float) * self.sample_bytes
            has_run = has_run & (need <= np.asarray(memory_bytes, dtype=float))
        return np.maximum(chance, np.where(has_run, RAN_PROBABILITY, 0.0))

    def largest_batch(self, memory_bytes: ArrayLike, n_gpus: ArrayLike) -> Floats:
        """Largest batch that fits; 0 where not one sample does."""
        of_gpu = memory_bytes, self.state_bytes(n_gpus), self.fixed_bytes
        most = gpu_memory.largest_batch(*of_gpu, self.sample_bytes, self.sample_log_sd)
        if self.recomputed is not None:
            most = np.where(most >= 1, most, gpu_memory.largest_batch(*of_gpu, *self.recomputed))
        return np.maximum(most, np.floor(self.most_run(memory_bytes)))


@dataclass(frozen=True)
class MemoryAnswer:
    """GPU memory of a workload on one design. Sizes in bytes."""

    need_bytes: float  # of one GPU, median
    state_bytes: float  # of it, weights, gradients and optimizer
    memory_bytes: float  # that the GPU has
    probability: float  # that the batch fits
    largest_batch: int  # that fits
    sharding: Sharding
    is_fitted: bool
    has_run: bool = False  # a run had this batch or a larger one on a GPU of no more memory
    is_guess: bool = False  # nobody measured its activations
    is_recomputed: bool = False  # it fits with activations that are computed again alone


def network_key(work: ResolvedWorkload) -> tuple[Hashable, ...]:
    """What batches and GPU memory depend on, and the rates of GPUs of all but language models."""
    asked = work.request
    return (
        *(work.dnn, asked.dnn, work.like, work.stack, work.mlperf, work.own_kind, asked.run, asked.measured),
        *(asked.stack, asked.precision, asked.task, asked.batch_per_gpu, work.batch_per_gpu, bool(work.batches)),
        *(tuple(work.batch_sizes), asked.target.gpus_busy if work.batch_sizes else None),
        None if work.recipe is None else work.recipe.id,
        None if work.own_kind is None and work.recipe is None else float(np.max(work.n_samples)),
    )


def memory_of(work: ResolvedWorkload, calibration: Calibration, catalog: Catalog) -> MemoryOfWorkload:
    """What a workload takes of a GPU."""
    return _memories(catalog, calibration).get(network_key(work), lambda: _memory_of(work, calibration, catalog))


_memories: Callable[[Catalog, Calibration], StoredAnswers[MemoryOfWorkload]] = stores_by_catalog(_MOST_STORED)


def _memory_of(work: ResolvedWorkload, calibration: Calibration, catalog: Catalog) -> MemoryOfWorkload:
    fitted, sharding, parameters = calibration.gpu_memory, sharding_of(work), work.dnn.parameters.value

    def activations_if(is_recomputed: bool) -> Activations:
        return fitted.activations(
            dnn_id=known_as(work.request.dnn) if isinstance(work.request.dnn, CustomDnn) else work.dnn.id,
            family=work.family,
            forward_flop=work.dnn.forward_flop.value,
            precision=work.request.precision,
            is_custom=work.is_custom_dnn,
            is_inference=work.is_inference,
            is_recomputed=is_recomputed,
        )

    activations = activations_if(sharding in RECOMPUTED)
    moments, divided = n_moments(work.family), 0.0
    if work.is_inference:
        whole = parameters * gpu_memory.INFERENCE_WEIGHT_BYTES
    elif sharding is Sharding.OPTIMIZER:
        divided = parameters * (gpu_memory.SHARED_WEIGHT_BYTES + gpu_memory.MOMENT_BYTES * moments)
        whole = float(gpu_memory.training_state_bytes(parameters, moments)) - divided
    elif sharding is Sharding.STATE:
        divided, whole = float(gpu_memory.training_state_bytes(parameters, moments)), 0.0
    elif sharding is Sharding.EMBEDDINGS:
        tables = embedding_parameters(work)
        divided = tables * EMBEDDING_BYTES
        whole = float(gpu_memory.training_state_bytes(parameters - tables, moments))
    else:
        whole = float(gpu_memory.training_state_bytes(parameters, moments))
    ran: tuple[tuple[float, float], ...] = ()
    sample_bytes = activations.sample_bytes
    if not work.is_inference and not work.is_custom_dnn:
        of_mlperf = largest_batches(work.mlperf) if work.mlperf else ()
        ran = (*fitted.trained(work.dnn.id, work.request.precision), *of_mlperf)
        # What ran did fit: a sample takes at most its share of the memory.
        shares = [(memory - whole - fitted.fixed_bytes) / batch for memory, batch in of_mlperf]
        sample_bytes = min([sample_bytes, *(share for share in shares if share > 0)])
    workload = MemoryOfWorkload(
        *(sharding, whole, divided, fitted.fixed_bytes, sample_bytes, activations.log_sd, activations.is_fitted, ran)
    )
    if work.own_kind is None:
        return workload
    again = activations_if(True)
    return _after_measured(replace(workload, recomputed=(again.sample_bytes, again.log_sd)), work, catalog.gpus)


def _after_measured(found: MemoryOfWorkload, work: ResolvedWorkload, gpus: Mapping[str, Gpu]) -> MemoryOfWorkload:
    """What a network of one's own takes after the trainings that the customer measured: their batches fit."""
    rates = [(rate, rate.batch_per_gpu or work.request.batch_per_gpu) for rate in work.request.measured]
    known = [(rate, batch) for rate, batch in rates if batch is not None]
    ran = tuple((gpus[rate.gpu].memory_bytes.value, float(batch)) for rate, batch in known)

    def sample_bytes(memory_bytes: float, rate: Measured, batch: int) -> float:
        return (memory_bytes - float(found.state_bytes(rate.gpus)) - found.fixed_bytes) / batch

    most = [sample_bytes(memory, rate, batch) for (memory, _), (rate, batch) in zip(ran, known, strict=True)]
    found = replace(found, ran=ran, sample_bytes=min([found.sample_bytes, *(each for each in most if each > 0)]))
    stated = [(rate.gpu_memory_bytes, rate, batch) for rate, batch in known if rate.gpu_memory_bytes is not None]
    taken = [each for one in stated if (each := sample_bytes(*one)) > 0]
    if not taken:
        return found
    measured = replace(found, sample_bytes=max(taken), sample_log_sd=_MEASURED_LOG_SD)
    return replace(measured, is_fitted=True, recomputed=None, ran=())


def memory_answer(work: ResolvedWorkload, workload: MemoryOfWorkload, gpu: Gpu, n_gpus: float) -> MemoryAnswer:
    """GPU memory of a workload at its batch on so many GPUs."""
    memory, batch = gpu.memory_bytes.value, float(work.batch_on(gpu.id, n_gpus))
    state, runs = float(workload.state_bytes(n_gpus)), workload.as_it_runs(memory, batch, n_gpus)
    return MemoryAnswer(
        need_bytes=float(gpu_memory.needed_bytes(state, runs.fixed_bytes, batch, runs.sample_bytes)),
        state_bytes=state,
        memory_bytes=memory,
        probability=float(runs.fit_probability(memory, batch, n_gpus)),
        largest_batch=int(runs.largest_batch(memory, n_gpus)),
        sharding=workload.sharding,
        is_fitted=workload.is_fitted,
        has_run=bool(batch <= workload.most_run(memory)),
        is_guess=workload.is_guess,
        is_recomputed=runs.sample_bytes != workload.sample_bytes,
    )


def memory_of_layout(found: LanguageAnswer | ServingAnswer, gpu: Gpu) -> MemoryAnswer:
    """GPU memory of what a layout divides: of a model in use weights, and the requests that the limits let in."""
    if isinstance(found, ServingAnswer):
        state, need = found.weight_bytes, found.weight_bytes + found.cache_bytes + found.reserve_bytes
        probability, largest = 1.0, int(found.most_concurrent)
    else:
        state = need = float(found.layout.memory_bytes.value)
        probability, largest = found.layout.probability_fits, found.layout.micro_batch
    return MemoryAnswer(need, state, gpu.memory_bytes.value, probability, largest, Sharding.LAYOUT, is_fitted=True)


def batches(work: ResolvedWorkload, hosts: ServerRows) -> Floats:
    """Samples of one step on one GPU of every row."""
    if not work.batches and not work.batch_sizes:
        return np.full(hosts.cols.compute.shape, work.batch_per_gpu, dtype=float)
    found = np.array([float(work.batch_on(group.gpu)) for group in hosts.groups])[hosts.cols.compute]
    if not work.batch_sizes:
        return found
    found, compute, n_gpus = map(np.array, np.broadcast_arrays(found, hosts.cols.compute, hosts.n_gpus))
    for number, group in enumerate(hosts.groups):
        if (sizes := work.batch_sizes.get(group.gpu)) is not None and (rows := compute == number).any():
            found[rows] = sizes.at(work.gpus_of_job(n_gpus[rows]))
    return found


def all_fit(works: Sequence[ResolvedWorkload], hosts: ServerRows) -> Bools:
    """Whether the batches of all workloads fit the GPUs of every row.

    What a guess leaves open (:func:`fit_is_open`) is not refused.
    """
    fits = np.ones(hosts.shape, dtype=bool)
    for work in works:
        if (model := laid_out_model(work)) is not None:
            fits &= model.run(work, hosts).fits
        else:
            workload = memory_of(work, hosts.calibration, hosts.catalog)
            fits &= _fit_probability(work, hosts) >= workload.least_probability
    return fits


def fit_is_open(works: Sequence[ResolvedWorkload], hosts: ServerRows) -> Bools:
    """Rows of which a guess of the activations does not show that the batches of all workloads fit."""
    is_open = np.zeros(hosts.shape, dtype=bool)
    for work in works:
        if not work.is_laid_out and memory_of(work, hosts.calibration, hosts.catalog).is_guess:
            is_open |= _fit_probability(work, hosts) < gpu_memory.FITS_PROBABILITY
    return is_open


def fit_chance(
    works: Sequence[ResolvedWorkload],
    memories: Sequence[MemoryOfWorkload],
    platform: Platform,
    n_gpus: int,
    catalog: Catalog,
) -> float:
    """Probability that so many GPUs of a platform hold every workload; 0 with a model in use, of which it is a fact."""
    gpu, chances = platform.gpu, [1.0]
    for work, memory in zip(works, memories, strict=True):
        if work.language is not None:
            chances.append(language_rates.fit_chance(work.language, platform, n_gpus, catalog))
        elif work.is_laid_out:
            return 0.0
        else:
            batch = work.batch_on(gpu.id, n_gpus)
            chances.append(float(memory.fit_probability(gpu.memory_bytes.value, batch, n_gpus)))
    return min(chances)


def _fit_probability(work: ResolvedWorkload, hosts: ServerRows) -> Floats:
    """Probability that the batch of a workload fits the GPUs of every row."""
    memory = np.array([hosts.catalog.gpus[group.gpu].memory_bytes.value for group in hosts.groups])
    found, compute = memory_of(work, hosts.calibration, hosts.catalog), hosts.cols.compute
    if found.divided_bytes or work.batch_sizes:
        return found.fit_probability(memory[compute], batches(work, hosts), hosts.n_gpus)
    # The number of GPUs changes nothing: one probability a kind of GPU.
    batch = np.array([float(work.batch_on(group.gpu)) for group in hosts.groups])
    return found.fit_probability(memory, batch, 1)[compute]


def resolved(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> tuple[ResolvedWorkload, ...]:
    """All workloads of a request, looked up, with a batch for each GPU of the catalogue where none is stated.

    Raises RequestError as :func:`sizer.workload.resolve.resolve`; or if a target is the maximum, which only a sizing
    turns into a rate.
    """
    return tuple(resolved_one(request, index, catalog, calibration) for index in range(len(request.workload)))


def resolved_one(request: SizingRequest, index: int, catalog: Catalog, calibration: Calibration) -> ResolvedWorkload:
    """One workload of a request; the others change nothing about it, but that models in use share the GPUs.

    Raises RequestError as :func:`resolved`.
    """
    if request.maximized is not None:
        raise RequestError(
            f"workload.{request.maximized}.target: maximum = 'rate' is a question to 'sizer size' and 'sizer batch'; "
            "give samples_per_s here, for example the rate that they answer"
        )
    pause_point()
    work = resolve_one(request, index, catalog, calibration.measured)
    check = check_measured if work.language is None else language_rates.check_measured_tokens
    if work.serving is None:  # what is far from the prediction is told of a model in use
        check(work, f"workload.{index}.measured", catalog)
    if work.request.batch_per_gpu is not None or work.is_laid_out:
        return work
    return _with_batches(work, catalog, calibration)


def _with_batches(work: ResolvedWorkload, catalog: Catalog, calibration: Calibration) -> ResolvedWorkload:
    def work_out() -> tuple[Mapping[str, int], Mapping[str, BatchSizes]]:
        gpus = catalog.gpus if published_runs(work.mlperf) else {}
        measured = {key for key in gpus if measured_rates.is_measured(work, key)}
        # What the customer measured is trained with the batch of it.
        grows = work.recipe is not None and not work.request.measured
        by_size = [key for key in catalog.gpus if key in measured or grows]
        others = [key for key in catalog.gpus if key not in by_size]

        def soonest(gpu: str) -> BatchSizes:
            known = measured_rates.accelerator(gpu) if gpu in measured else None
            most = measured_rates.largest_batch(work.mlperf, known) if known else usual(gpu)
            return measured_rates.soonest_batches(work, gpu, most, calibration, catalog)

        def usual(gpu: str) -> int:
            return default_batch(work, gpu, calibration, catalog)

        # A question about one design reads the batch of its GPU alone.
        return DeferredValues(others, usual), DeferredValues(by_size, soonest)

    batches, batch_sizes = _batches(catalog, calibration).get(network_key(work), work_out)
    return replace(work, batches=batches, batch_sizes=batch_sizes)


_Batches = tuple[Mapping[str, int], Mapping[str, BatchSizes]]
_batches: Callable[[Catalog, Calibration], StoredAnswers[_Batches]] = stores_by_catalog(_MOST_STORED)


def default_batch(work: ResolvedWorkload, gpu_id: str, calibration: Calibration, catalog: Catalog) -> int:
    """Batch of a workload that states none: the one that the customer measured, else the largest that the fitted memory
    allows, no larger than a published one.

    On a GPU of MLPerf rows, those of the network that a custom one is ``like`` are published, too.

    Some published runs fit more by tuning of their own, which a request has to state. Rounded down to 1, 2, 3, 4, 6, 8,
    12, 16, ..., the batches that published runs use. At least 1, which the check of the memory refuses where not even
    one sample fits.
    """
    found, memory = memory_of(work, calibration, catalog), catalog.gpus[gpu_id].memory_bytes.value
    if found.divided_bytes:
        # How much of the memory divided state takes depends on the GPUs of a design: half of it is left to it.
        memory -= max(memory - found.whole_bytes - found.fixed_bytes, 0.0) / 2
    whole = replace(found, divided_bytes=0.0, ran=found.ran if work.own_kind is not None else ())
    most, largest = most_measured(work, calibration), float(whole.largest_batch(memory, 1))
    if work.own_kind is not None:
        most = min(most, _most_of_its_own(work, gpu_id, catalog.gpus))
    if work.own_kind in _COMPUTED_AGAIN:
        largest = _quickest(whole, memory, most, work.dnn.forward_flop.value)
    own = [rate.batch_per_gpu for rate in work.request.measured if rate.batch_per_gpu is not None]
    if own and max(own) <= largest:
        return max(own)  # another one trains otherwise, and how much faster nobody measured
    like = "" if work.like is None or work.is_inference else catalog.dnns[work.like].mlperf
    known = measured_rates.accelerator(gpu_id) if work.own_kind is None else None
    if known is not None and published_runs(like):
        most = max(most, measured_rates.largest_batch(like, known))
    # Largest power of two, or one and a half times one, that is not above a batch; at least 1.
    batch = min(largest, most, *own)
    power = 1 << max(int(batch).bit_length() - 1, 0)
    return power * 3 // 2 if power > 1 and power * 3 // 2 <= batch else power


def _most_of_its_own(work: ResolvedWorkload, gpu_id: str, gpus: Mapping[str, Gpu]) -> float:
    """Largest batch per GPU of the published trainings of a network itself, in proportion to a larger memory; infinite
    where there are none. Larger images, or losses of another kind, make its batches smaller than those of its kind.
    """
    memory = gpus[gpu_id].memory_bytes.value
    runs = [run for run in own_networks.load_runs() if run.network == work.request.dnn]
    batches = [run.batch_per_gpu * max(memory / gpus[run.gpu].memory_bytes.value, 1.0) for run in runs]
    return max(batches, default=math.inf)


def _quickest(workload: MemoryOfWorkload, memory_bytes: float, most: float, forward_flop: float) -> float:
    """Largest batch that fits: with activations computed again where so large a batch, up to ``most``, fills a GPU that
    much better than it costs, a forward pass more in each step. The published shares of the peak hold that pass.
    """
    kept = float(workload.largest_batch(memory_bytes, 1))
    if workload.recomputed is None or kept >= most:
        return kept
    sample_bytes, log_sd = workload.recomputed
    again = replace(workload, recomputed=None, sample_bytes=sample_bytes, sample_log_sd=log_sd)
    largest = float(again.largest_batch(memory_bytes, 1))
    filled, filled_again = (own_networks.filled_share(min(each, most) * forward_flop) for each in (kept, largest))
    return largest if filled_again > (1 + 1 / TRAINING_PASSES) * filled else kept


def most_measured(work: ResolvedWorkload, calibration: Calibration) -> float:
    """Largest batch per GPU that was published of a network, or of one that it is like; of a network of one's own that
    of its kind, or one that fills a GPU.
    """
    if work.own_kind is not None:
        return own_networks.largest_batch(work.own_kind, work.dnn.forward_flop.value, float(np.max(work.n_samples)))
    usual = float(DEFAULT_BATCH[work.request.precision])
    task = "inference" if work.is_inference else "training"
    dnn = known_as(work.request.dnn) if isinstance(work.request.dnn, CustomDnn) else work.dnn.id
    for precision in (work.request.precision, *(other for other in DEFAULT_BATCH if other != work.request.precision)):
        rated = calibration.batches.get(f"{dnn}/{precision}/{task}", (0.0, 0.0))[1]
        if work.is_inference:
            # Larger batches bring an inference little, and its results wait for them.
            if rated:
                return min(rated, usual)
            continue
        # Networks whose rates were not fitted still have published batches.
        most = rated or max(
            (batch for _, batch in calibration.gpu_memory.ran.get(f"{dnn}/{precision}", ())), default=0.0
        )
        if most:
            return most
    return usual
