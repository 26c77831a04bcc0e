"""The calibration: fitted values with their covariance, and what sizing asks of them."""

import binascii
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.base.stored_answers import Interned
from sizer.calibrate.cases import (
    CATALOGUE_DERIVES_FROM,
    HOST_LINK_RATE,
    Levels,
    RateCase,
    effects,
    generation,
    link_level,
    prior_of,
    release_year,
)
from sizer.calibrate.engine import Effect, Fit
from sizer.calibrate.fit import hosts as host_fit
from sizer.calibrate.fit.hosts import HostFit, HostTask, HostWork
from sizer.calibrate.gpu_memory import MemoryFit
from sizer.calibrate.modern.rows import sourced_accelerators
from sizer.calibrate.modern.terms import mlperf_curve
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import read_stored, write_stored
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Gpu, Recipe, Stack
from sizer.perf.pipeline import core_seconds_per_sample
from sizer.perf.step_terms import TERM_NAMES, StepTerms, drawn_estimate, drawn_terms
from sizer.perf.training_time import epochs_to_target


class DnnLike(Protocol):
    """A neural network of the catalogue or of a request."""

    @property
    def name(self) -> str: ...


def known_as(dnn: DnnLike) -> str:
    """Id of the neural network whose measurements speak for this one; empty for none."""
    return str(getattr(dnn, "relative", None) or getattr(dnn, "id", "") or "")


def notes_on(calibration: "Calibration", case: RateCase) -> tuple[CalibrationNote, ...]:
    """Where a run lies beyond what was measured; empty where the prediction interpolates."""
    task, precision = case.levels.task, case.levels.precision
    known = unmeasured(calibration, case.stack, case.dnn, precision, case.levels.gpu, case.gpu, task, case.n_servers)
    n_gpus, batch = case.n_gpus_per_server * case.n_servers, case.batch_per_gpu
    return known + extrapolations(calibration, case.stack, case.dnn, precision, task, n_gpus, batch)


def extrapolations(
    calibration: "Calibration", stack: Stack, dnn: DnnLike, precision: str, task: str, n_gpus: int, batch_per_gpu: float
) -> tuple[CalibrationNote, ...]:
    """Where a run lies beyond what was published of its stack and DNN; empty where it interpolates."""
    notes = []
    most = calibration.most_gpus.get(stack.id)
    if task == "training" and most is not None and n_gpus > most:
        notes.append(note(FitNote.MORE_GPUS, stack.name, most, n_gpus))
    batches = calibration.batches.get(f"{known_as(dnn)}/{precision}/{task}")
    if batches is not None and not batches[0] <= batch_per_gpu <= batches[1]:
        notes.append(note(FitNote.BATCH_OUTSIDE, dnn.name, *batches, precision, batch_per_gpu))
    return tuple(notes)


def unmeasured(
    calibration: "Calibration",
    stack: Stack,
    dnn: DnnLike,
    precision: str,
    gpu_level: str,
    gpu: Gpu,
    task: str,
    n_servers: int,
) -> tuple[CalibrationNote, ...]:
    """What was never measured of a combination, and what stands for it.

    ``stack``, ``dnn``, ``precision``: the combination; a custom neural network has no id. ``gpu_level``: name of the
    GPU in the fit: its id, or the chip of a board that is not stated. ``n_servers``: servers of the run. [-]
    """
    notes, index, dnn_id = [], calibration.fit.index, known_as(dnn)
    if f"stack-precision:{stack.id}/{precision}" not in index:
        notes.append(note(FitNote.STACK_PRECISION, stack.name, precision))
    if not hasattr(dnn, "id"):
        is_like = bool(dnn_id)
        notes.append(
            note(FitNote.DNN_FROM_LIKE, dnn.name, dnn_id) if is_like else note(FitNote.DNN_FROM_POOL, dnn.name)
        )
    elif f"dnn:{dnn_id}/{precision}" not in index:
        notes.append(note(FitNote.DNN_FROM_FAMILY, dnn.name, precision))
    elif f"pair:{stack.id}/{dnn_id}/{precision}/{task}" not in index:
        notes.append(note(FitNote.DNN_WITH_STACK, dnn.name, stack.name, precision, task))
    if f"gpu:{gpu_level}" not in index and f"gpu:{gpu.id}" not in index:
        measured = {sourced_accelerator.generation for sourced_accelerator in sourced_accelerators().values()}
        # Of the generation, in the runs of V100 systems or in MLPerf rows of today's.
        has_runs = gpu.id.startswith(generation(gpu)) or gpu.generation in measured
        kind = FitNote.GPU_FROM_GENERATION if has_runs else FitNote.GENERATION_NOT_MEASURED
        notes.append(note(kind, gpu.name))
    is_known = f"stack:{stack.id}" in index
    if is_known and n_servers > 1 and task == "training" and f"inter-stack:{stack.id}/{precision}" not in index:
        notes.append(note(FitNote.EXCHANGE_FROM_POOL, stack.name))
    return tuple(notes)


STORED_VERSION = 7
# Fields that are stored as JSON has them.
_AS_THEY_ARE = ("digest", "scatter_log_sd", "host_log_sd", "most_gpus", "dnn_families", "rates_of", "rates_with_batch",
                "unseen_sources")  # fmt: skip
# A page cache that is pinned (or local drives that hold the set) never evicts; nothing is fitted there.
_PINNED = (1.0, 0.0)
_NO_CACHE = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Calibration(Interned):
    """Fitted values, their covariance and the digest of the observations that they came from."""

    digest: str
    fit: Fit
    scatter_log_sd: dict[str, float]  # within a source, by kind of observation
    tau2: float  # variance between sources
    dnn_families: dict[str, str]
    used: frozenset[str]  # ids of the rates and bandwidths that the joint fit reads
    rates_of: dict[str, int]  # stack/DNN/precision/task -> rates that the joint fit reads
    rates_with_batch: dict[str, int]  # of these, the ones that state their batch, on GPUs that a server takes
    host_used: frozenset[str]  # ids of the rows of the host's work that it reads
    host_log_sd: dict[str, float]  # scatter of the runs of a stack around the line of the host's work
    cache_positions: dict[str, tuple[float, float]]
    epochs_points: dict[str, tuple[tuple[float, float], ...]]  # recipe -> published points that its curve is fitted to
    most_gpus: dict[str, int]  # stack -> GPUs of its largest published run
    batches: dict[str, tuple[float, float]]  # DNN/precision/task -> least and largest published batch per GPU
    gpu_memory: MemoryFit  # own fit: activations and context
    excluded: dict[str, CalibrationNote] = field(default_factory=dict)  # id of a rate -> why the fit does not use it
    # By task: rates predicted by fits that had not seen their source; median and p90 of |ln error|, 90 % coverage.
    unseen_sources: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fitted effects."""
        return self.fit.names

    @cached_property
    def hosts(self) -> HostFit:
        """The host's work per sample."""
        return HostFit(self.fit, self.host_log_sd)

    @property
    def overhead(self) -> host_fit.RunOverhead:
        """What a run takes beyond its epochs."""
        start, share = (math.exp(self.fit.value(f"run-{name}:all")) for name in ("start-up", "evaluations"))
        return host_fit.RunOverhead(start, share, self.scatter_log_sd["run"])

    def epoch_samples_factor(self, dnn_id: str) -> float:
        """Samples of an epoch of the public runs of a DNN over those of the data set. [-]"""
        name = f"epoch-samples:{dnn_id}"
        return math.exp(self.fit.value(name)) if name in self.fit.index else 1.0

    @property
    def host_link(self) -> tuple[float, float]:
        """Rate of one x16 link between host and GPUs, and the spread of its logarithm. [B/s], [-]"""
        return math.exp(self.fit.value(HOST_LINK_RATE)), math.hypot(
            self.fit.sd_of(HOST_LINK_RATE), self.scatter_log_sd["inference"]
        )

    @property
    def start_up_s(self) -> float:
        """Start-up of a training run. [s]"""
        return self.overhead.start_up_s

    @property
    def start_up(self) -> Estimate:
        """Start-up of a training run with its 90 % interval. [s]"""
        return Estimate.log_normal(self.start_up_s, self.fit.sd_of("run-start-up:all"))

    @cached_property
    def measured(self) -> dict[tuple[str, str, str, str], int]:
        """Rates that state their batch, by (stack, DNN, precision, task): what a default stack rests on. [-]"""
        found = {}
        for name, count in self.rates_with_batch.items():
            stack, dnn, precision, task = name.split("/")
            found[stack, dnn, precision, task] = count
        return found

    def stacks_of(self, dnn_id: str) -> frozenset[str]:
        """Stacks with any published rate of a DNN."""
        combinations = (name.split("/") for name in self.rates_of)
        return frozenset(stack for stack, dnn, *_ in combinations if dnn == dnn_id)

    def calibrates(self, observation_id: str) -> bool:
        """Whether a published number was among those that the calibration is fitted to."""
        return observation_id in self.used | self.host_used | CATALOGUE_DERIVES_FROM

    def narrowed_fraction(self) -> dict[str, float]:
        """How much the data narrowed the prior of each effect: 0 not at all, 1 entirely."""
        prior = np.array([prior_of(name).sd for name in self.names])
        return dict(zip(self.names, (1 - self.fit.sd / prior).tolist(), strict=True))

    def step_terms(
        self,
        *,
        stack: Stack,
        dnn: DnnLike,
        precision: str,
        gpu: Gpu,
        intra_link: str,
        inter_link: str | None,
        task: str,
        server: str = "",
    ) -> StepTerms:
        """Sufficient numbers of one combination.

        ``dnn``: neural network; one that was never measured takes the pool of its family, a custom one of its ``like``.
        ``precision``: {"mixed", "fp32"}; arithmetic. ``intra_link``: link between the GPUs of a server: nvlink1,
        nvlink2, nvswitch or pcie3. ``inter_link``: link between servers, such as ``edr``, ``25gbe-tcp`` or
        ``100gbe-roce``; None on one server. ``100gbe`` alone is read as RoCE and slower Ethernet as TCP. ``task``:
        {"training", "inference", "validation-inference"}; what the GPUs do. Training reads and decodes its data.
        ``server``: server of the catalogue whose GPUs they are; empty: one that was never measured. See
        :func:`sizer.calibrate.calibration.unmeasured` for what no observation supports. Raises ValueError if
        precision or task are unknown.
        """
        if precision not in ("mixed", "fp32"):
            raise ValueError(f"precision must be mixed or fp32, got {precision!r}")
        kind = {"training": "training", "inference": "inference", "validation-inference": "inference"}.get(task)
        if kind is None:
            raise ValueError(f"task must be training or inference, got {task!r}")
        dnn_id = known_as(dnn)
        family = self.dnn_families.get(dnn_id) or str(getattr(dnn, "family", ""))
        levels = Levels(
            task=kind,
            precision=precision,
            framework=stack.framework,
            stack=stack.id,
            dnn=dnn_id,
            family=family,
            gpu=gpu.id,
            generation=generation(gpu),
            intra_link=intra_link,
            inter_link=link_level(inter_link) if inter_link else "",
            server=server,
            line=stack.line,
            has_xla=stack.xla,
            year=release_year(stack),
            is_real=kind == "training",
        )
        return self.terms_of(levels)

    def terms_of(self, levels: Levels) -> StepTerms:
        """Sufficient numbers of named levels; an effect that was never fitted counts with its prior."""
        terms = self.terms_from(effects(levels), levels.task)
        between = np.array(math.sqrt(self.tau2))
        return replace(terms, between_log_sd=between)

    def terms_from(self, found: Sequence[Effect], kind: str = "network") -> StepTerms:
        """Terms that some effects add up to; an effect that was never fitted counts with its prior."""
        values, covariance = self.fit.terms(found, len(TERM_NAMES))
        scatter = np.array(self.scatter_log_sd.get(kind, 0.0))
        return StepTerms(values, covariance, scatter, effects=tuple(found))

    def host_work(self, sample_format: SampleFormat, stack: Stack) -> HostWork:
        """Host work per sample of a format with the loader of a stack.

        Compressed images are decoded by the loader of the stack; a stack without a loader (``none``) reads them with
        the reference loader, with the spread of a stack that was never measured.
        """
        return self.hosts.work(host_task_of(sample_format, stack))

    def cache_position(self, access: str, cache_kind: str) -> tuple[float, float]:
        """Position of a cache for :func:`sizer.perf.caches.hit_fraction`, and its standard deviation.

        ``access``: {"random", "sharded"}; access pattern. ``cache_kind``: {"page-cache", "pinned", "none"}; a page
        cache evicts; a pinned one never does. Raises ValueError if one of them is unknown.
        """
        if cache_kind == "none":
            return _NO_CACHE
        if cache_kind == "pinned":
            return _PINNED
        if cache_kind != "page-cache" or access not in self.cache_positions:
            raise ValueError(f"no cache is fitted for {cache_kind!r} at {access!r} access")
        return self.cache_positions[access]

    def epochs(self, recipe: Recipe, global_batch: ArrayLike) -> Estimate:
        """Epochs that a recipe needs at a global batch, as draws of its curve give them.

        A recipe that the calibration was not fitted to has its curve's own spread.
        """
        curve = self.epochs_curve(recipe)
        if self.epochs_points.get(recipe.id) != host_fit.recipe_points(recipe):
            return curve.at(global_batch)
        names = host_fit.epochs_names(recipe)
        moved = drawn_terms(np.zeros(len(names)), self.fit.covariance(names))
        base, double, growth = np.exp(np.moveaxis(moved, -1, 0))
        # Draws change slowly with the batch: they are made at its powers of two.
        octave = np.log2(np.asarray(global_batch, float))
        octaves = np.arange(np.floor(octave.min()), np.floor(octave.max()) + 2)
        rest = curve.double_batch * double, curve.exponent * growth
        epochs = epochs_to_target(2.0 ** octaves[:, None], curve.base_epochs * base, *rest)
        at = drawn_estimate(np.log(epochs), np.array(curve.log_sd))
        over, here = at.scaled(1 / curve.at(2.0**octaves).value), curve.at(global_batch).value
        return Estimate(*(here * np.interp(octave, octaves, part) for part in (over.value, over.low, over.high)))

    def epochs_curve(self, recipe: Recipe) -> host_fit.EpochsCurve:
        """Fitted curve of a recipe; MLPerf since v1.0 has its own fit, one that was never fitted is fitted alone."""
        if recipe.mlperf:
            return mlperf_curve(recipe)
        if self.epochs_points.get(recipe.id) == host_fit.recipe_points(recipe):
            return host_fit.epochs_curve(recipe, [self.fit.value(name) for name in host_fit.epochs_names(recipe)])
        return host_fit.curve_alone(recipe)


def host_task_of(sample_format: SampleFormat, stack: Stack) -> HostTask:
    """What the host does for one sample with the loader of a stack."""
    return HostTask(sample_format, stack.loader, stack.framework, stack.id)


def save_calibration(calibration: Calibration, path: Path | str | None = None) -> Path:
    """Write a calibration as JSON, by default where the program looks for it."""
    c = calibration
    content: dict[str, Any] = {
        "version": STORED_VERSION,
        **{name: getattr(c, name) for name in _AS_THEY_ARE},
        "between_log_sd": math.sqrt(c.tau2),
        "cache_positions": c.cache_positions,
        "epochs_points": c.epochs_points,
        "batches": c.batches,
        "gpu_memory": c.gpu_memory.stored(),
        "used": sorted(c.used),
        "host_used": sorted(c.host_used),
        "excluded": {name: [reason.kind, *reason.values] for name, reason in c.excluded.items()},
        "fit": c.fit.stored(),
    }
    return write_stored(content, path)


def load_calibration(path: Path | str | None = None) -> Calibration:
    """Stored calibration, by default the shipped one.

    Raises CalibrationError if it is missing, damaged or of another version.
    """
    content = read_stored(path)
    if content.get("version") != STORED_VERSION:
        raise CalibrationError(
            f"stored calibration has version {content.get('version')!r}, this program reads {STORED_VERSION}; "
            "run 'sizer calibrate'"
        )
    try:
        return Calibration(
            **{name: content[name] for name in _AS_THEY_ARE},
            fit=Fit.of_stored(content["fit"], prior_of),
            tau2=content["between_log_sd"] ** 2,
            used=frozenset(content["used"]),
            host_used=frozenset(content["host_used"]),
            cache_positions={name: (pair[0], pair[1]) for name, pair in content["cache_positions"].items()},
            epochs_points={
                name: tuple((float(batch), float(epochs)) for batch, epochs in points)
                for name, points in content["epochs_points"].items()
            },
            batches={name: (pair[0], pair[1]) for name, pair in content["batches"].items()},
            gpu_memory=MemoryFit.of_stored(content["gpu_memory"]),
            excluded={
                name: CalibrationNote(FitNote(kind), tuple(values))
                for name, (kind, *values) in content["excluded"].items()
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, binascii.Error) as error:
        raise CalibrationError(f"stored calibration is damaged ({error!r}); run 'sizer calibrate'") from None


@lru_cache(maxsize=1)
def stored_calibration() -> Calibration:
    """The shipped calibration, read once: it does not change while the program runs."""
    return load_calibration()


# Key of a quantity -> generator of its numbers. Every quantity has a stream of its own, so that no number depends on
# what else is drawn, in which order or in which blocks.
GeneratorOf = Callable[[str], np.random.Generator]

# A cache at a position of 0 would hit nothing whatever it holds.
_LEAST_POSITION = 0.01


def streams(seed: int) -> GeneratorOf:
    """Generators that depend on seed and key alone."""

    def generator_of(key: str) -> np.random.Generator:
        words = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype="<u4")
        return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist()]))

    return generator_of


@dataclass(frozen=True)
class Draws:
    """So many sets of coefficients.

    One draw is one set for everything that is evaluated with it: designs that share a parameter share its draw, and so
    do the workloads of a design. Fitted parameters are drawn together from the joint normal distribution of
    :func:`~sizer.calibrate.fit.joint.fit_joint`, whose medians of rates meet the measurements; an effect that was never
    fitted is drawn from its prior.

    ``calibration``: values, covariance, scatter. ``n``: draws. ``generator_of``: gives the generator of a key.
    """

    calibration: Calibration
    n: int
    generator_of: GeneratorOf
    _kept: dict[str, Floats] = field(default_factory=dict, repr=False)

    def normal(self, key: str) -> Floats:
        """(n,) standard normal numbers of a quantity, always the same."""
        if key not in self._kept:
            self._kept[key] = self.generator_of(key).standard_normal(self.n)
        return self._kept[key]

    def uniform(self, key: str) -> Floats:
        """(n,) numbers of a quantity between 0 and 1, always the same."""
        if key not in self._kept:
            self._kept[key] = self.generator_of(key).random(self.n)
        return self._kept[key]

    @cached_property
    def _fitted(self) -> tuple[dict[str, int], Floats]:
        """Place of each fitted parameter, and (parameters, n) how far the draws move it."""
        names = self.calibration.names
        covariance = self.calibration.fit.covariance(names)
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:  # parameters without spread, or rounded by storing
            variance, directions = np.linalg.eigh(covariance)
            root = directions * np.sqrt(np.maximum(variance, 0.0))
        normal = self.generator_of("parameters").standard_normal((self.n, len(names)))
        return {name: index for index, name in enumerate(names)}, root @ normal.T

    def moved(self, name: str) -> Floats:
        """(n,) how far the draws move a parameter from its value."""
        place, moved = self._fitted
        if name in place:
            return np.asarray(moved[place[name]])
        return prior_of(name).sd * self.normal(f"prior {name}")

    def step_values(self, terms: StepTerms) -> Floats:
        """Terms of one combination, shape (n, k): their values, moved as the effects move that they add up."""
        values = np.repeat(terms.values[:, None], self.n, axis=1)
        for term, name, coefficient in terms.effects:
            values[term] += coefficient * self.moved(name)
        # The draws of one term lie side by side, which is how they are read.
        return values.T

    def core_seconds(self, sample_format: SampleFormat, stack: Stack, sample_bytes: float) -> Floats:
        """(n,) core time that a sample costs the host, with the scatter of the runs of a stack. [core s]"""
        task, hosts = host_task_of(sample_format, stack), self.calibration.hosts
        work = hosts.work(task)
        scatter = hosts.scatter_log_sd(task) * self.normal(f"decode {task.line} {task.stack}")
        scatter = scatter + sum(self.moved(name) for name in task.factors)
        return core_seconds_per_sample(
            sample_bytes,
            work.fixed_core_s * np.exp(self.moved(task.fixed) + scatter),
            work.core_s_per_byte * np.exp(self.moved(task.per_byte) + scatter),
        )

    def host_link_bytes_per_s(self) -> Floats:
        """(n,) rate of one link between host and GPUs, with the scatter of the runs that show it. [B/s]"""
        rate, _ = self.calibration.host_link
        scatter = self.calibration.scatter_log_sd["inference"] * self.normal("host link")
        return np.asarray(rate * np.exp(self.moved(HOST_LINK_RATE) + scatter))

    def cache_position(self, access: str, cache_kind: str) -> Floats:
        """(n,) position of a cache, with the spread of the rows that show it; without any where nothing is fitted."""
        position, sd = self.calibration.cache_position(access, cache_kind)
        if sd == 0:
            return np.full(self.n, position)
        moved = position * np.exp(self.moved(f"cache-position:{access}")) + sd * self.normal(f"cache {access}")
        return np.clip(moved, _LEAST_POSITION, 1.0)

    def epochs(self, recipe: Recipe, global_batch: ArrayLike) -> Floats:
        """Epochs at global batches of shape (..., 1): (..., n).

        The curve moves with its parameters, also beyond the published batches, and all of it with the scatter of the
        published points. A recipe that the calibration was not fitted to has its curve's own spread.
        """
        curve = self.calibration.epochs_curve(recipe)
        scatter = self.normal(f"epochs {recipe.id}")
        if self.calibration.epochs_points.get(recipe.id) != host_fit.recipe_points(recipe):
            found = curve.at(global_batch)
            return np.asarray(found.value * np.exp(found.log_sd * scatter))
        base, double, growth = (np.exp(self.moved(name)) for name in host_fit.epochs_names(recipe))
        median = epochs_to_target(
            global_batch, curve.base_epochs * base, curve.double_batch * double, curve.exponent * growth
        )
        return np.asarray(median * np.exp(curve.log_sd * scatter))

    def start_up_s(self) -> Floats:
        """(n,) start-up of a training run. [s]"""
        return np.asarray(self.calibration.start_up_s * np.exp(self.moved("run-start-up:all")))
