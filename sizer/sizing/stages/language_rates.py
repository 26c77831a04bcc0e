"""Rates of language models on designs: at every number of GPUs those of the fastest layout that fits in memory.

Over days, with what interruptions and checkpoints leave of the time: the rate that a target asks for is sustained.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple, cast

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate, normal_cdf, normal_quantile
from sizer.base.faults import nearest
from sizer.base.quantities import si
from sizer.base.stored_answers import Deferred
from sizer.base.streams import pause_point
from sizer.base.units import gbit_per_s_from_bytes_per_s
from sizer.calibrate.language.calibration import (
    LanguageCalibration,
    RunBasis,
    StepInputs,
    basis_of,
    is_same_model,
    language_calibration,
    stack_effect,
    stack_worths,
)
from sizer.calibrate.language.cases import (
    LanguageCase,
    LanguageRow,
    arrays,
    cases_of,
    check_software,
    gpu_asked,
    gpu_of_case,
    is_through_host,
    number_format,
    ring_through_host_bytes_per_s,
    runtimes,
    shape_values,
    stack_named,
)
from sizer.calibrate.language.whole_runs import OWN_STEPS, WholeTraining, whole_runs
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Stack, TransformerShape
from sizer.perf.availability.goodput import CheckpointPlan
from sizer.perf.gpu_memory import FITS_PROBABILITY, REFUSED
from sizer.perf.language.step import (
    COEFFICIENTS,
    FILLED,
    GIB,
    MEMORY_FACTORS,
    RECOMPUTE,
    Efficiencies,
    Layouts,
    Machines,
    MemoryFactors,
    MemoryUse,
    Shapes,
    StepTime,
    memory_use,
    step_time,
)
from sizer.physical.platform import Platform
from sizer.sizing.stages.checkpoints import CheckpointedJob, goodput_of, plan_of
from sizer.sizing.stages.platform_columns import LaidOutRun, ServerKind, ServerRows, server_kinds
from sizer.workload.language import DEFAULT_LANGUAGE_STACK, LanguageWork
from sizer.workload.optional_tables import Measured, far_off
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve
from sizer.workload.transformer.layout_pins import (
    NO_PINS,
    LayoutPins,
    check_pins,
    divides_layers,
    undivided_error_text,
    wide_tensor_error_text,
)
from sizer.workload.transformer.number_formats import check_format, computed_as, number_format_named, stack_precision

# A layout that was published for this model, format and GPU fits: the prediction is taken to err, as far as it may. Of
# one that it gives less than REFUSED the run must have differed in something that its source does not state.
RAN_PROBABILITY = 0.95
_MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 16)
_LEAST_TOKENS = 1024  # of a sequence on one context-parallel GPU
_MOST_CONTEXT, _MOST_PIPELINE, _MOST_CHUNKS = 64, 32, 8
# Experts are divided over as many GPUs in published runs, also where NVLink joins eight.
_MOST_EXPERT = 64
# The fastest of thousands of layouts owes part of its lead to errors of the model. Over 140 published runs of models of
# the catalogue the rate found is 3 % above that published in the median, and four fifths of them lie within a fifth.
# Layouts within that lead are alike: of them people take the one that divides the model over the fewest GPUs.
_SELECTION_LOG, _SELECTION_SD = -0.03, 0.12
# A hair, so that no rounding of a bound drops what fits.
_BELOW = 1 - 1e-9


@dataclass(frozen=True)
class FastestLayouts:
    """The fastest layouts that fit, of every number of GPUs. Arrays over the layouts.

    Those that are alike stand first, the least divided of them before the others; the rest follows by its rate.
    """

    place: Ints  # of the number of GPUs
    ways: Layouts
    lag_log: Floats  # logarithm of the step time over that of the fastest on as many GPUs
    times: StepTime  # with the effects of model, machine and software
    log_sd: Floats  # spread of the logarithm of the step time
    memory: MemoryUse
    peak_log_sd: float
    probability: Floats  # that it fits
    n_judged: Ints  # for each number of GPUs
    n_fitting: Ints
    least_bytes: Floats  # of the smallest layout, for each number of GPUs; infinite where none divides
    likeliest: Floats  # probability that it fits
    least_state_bytes: Floats  # of it, or of another, weights, gradients and optimizer


def fastest_layouts(
    case: LanguageCase,
    gpus: Ints,
    batch: Ints,
    pins: LayoutPins,
    memory_bytes: float,
    calibration: LanguageCalibration,
    count: int,
) -> FastestLayouts:
    """Judge every layout that divides and return the fastest that fit.

    ``case``: model, machine and software; its layout only says what is trained and how. ``gpus``, ``batch`` (n,):
    numbers of GPUs, and the sequences of a step on each. ``pins``: what is fixed; ``sharding`` is. ``memory_bytes``: of
    a GPU [B]. ``count``: layouts of each number of GPUs.
    """
    divided = _Divided.of(case, gpus, batch, pins)
    memory, ran = _Memory.of(case, calibration), published_layouts(case, calibration)
    most_of_published, most_of_searched = (
        FILLED * memory_bytes * np.exp(-normal_quantile(chance) * memory.log_sd)
        for chance in (REFUSED, FITS_PROBABILITY)
    )
    most = most_of_published if pins.fixes_degrees else most_of_searched
    levels = tuple(RECOMPUTE.values()) if pins.recompute is None else (RECOMPUTE[pins.recompute],)
    smallest = [memory.of_framework(divided.smallest(level)) for level in levels]
    bounds, state = np.stack([use.total * memory.level for use in smallest]), smallest[0].state
    could = bounds * _BELOW <= most_of_published
    place, degree, ways = divided.layouts(np.any(could, axis=0))
    kept, left = [], np.arange(len(place))
    fitting, judged = np.zeros((2, len(gpus)), dtype=int)
    for level, holds in zip(levels, could, strict=True):
        pause_point()
        judged += divided.counts.sum(axis=1) - fitting
        rows = left[holds[place[left], degree[left]]]
        tried = replace(_rows(ways, rows), recompute=np.array([level]))
        peaks = memory.of_framework(tried, state[place[rows], degree[rows]]).total * memory.level
        fits = peaks <= most
        others = np.flatnonzero(~fits & (peaks <= most_of_published))
        fits[others] = ran.holds(_rows(tried, others, _KEYED), level)
        kept.append(rows[fits])
        fitting += np.bincount(place[kept[-1]], minlength=len(gpus))
        left = np.setdiff1d(left, kept[-1], assume_unique=True)
    rows = np.concatenate(kept)
    place, ways = place[rows], replace(_rows(ways, rows), recompute=np.repeat(levels, [len(one) for one in kept]))
    times = _times(case, ways, calibration)
    fastest = np.full(len(gpus), np.inf)
    np.minimum.at(fastest, place, times.total)
    divided_by = ways.tensor * ways.pipeline * ways.context * ways.expert
    lag_log = np.log(times.total / fastest[place])
    order = np.lexsort((times.total, np.where(lag_log <= -_SELECTION_LOG, divided_by, np.inf), place))
    first = np.searchsorted(place[order], np.arange(len(gpus)))
    rank = np.arange(len(order)) - first[place[order]]
    best = order[rank < count]
    ways = Layouts(**{name: np.broadcast_to(one, best.shape) for name, one in vars(_rows(ways, best)).items()})
    times = _times(case, ways, calibration)
    factor, log_sd = calibration.step_of_layouts(case, _inputs(case, ways)) if len(best) else (1.0, np.zeros(0))
    used = memory.use(ways)
    probability, least = memory.fit_probability(used.total, memory_bytes), divided.least(bounds.min(axis=0))
    has_run = ran.holds(ways, ways.recompute) & (probability >= REFUSED)
    probability = np.where(has_run, np.maximum(probability, RAN_PROBABILITY), probability)
    return FastestLayouts(
        place=place[best],
        ways=ways,
        lag_log=lag_log[best],
        times=StepTime(**{field.name: getattr(times, field.name) * factor for field in fields(StepTime)}),
        log_sd=log_sd,
        memory=used,
        peak_log_sd=memory.log_sd,
        probability=probability,
        n_judged=judged,
        n_fitting=fitting,
        least_bytes=least,
        likeliest=memory.fit_probability(least, memory_bytes),
        least_state_bytes=divided.least(state),
    )


@dataclass(frozen=True)
class _Memory:
    """Memory of the layouts of one case."""

    case: LanguageCase
    shapes: Shapes
    factors: MemoryFactors
    level: float  # factor of the stack
    log_sd: float

    @staticmethod
    def of(case: LanguageCase, calibration: LanguageCalibration) -> "_Memory":
        fit = calibration.memory.fit
        factors = MemoryFactors(**{name: math.exp(fit.value(name)) for name in MEMORY_FACTORS})
        level = math.exp(fit.value(stack_effect(case)))
        # A layout that is judged is known, so that nothing of it is a guess. The spread changes little with it: it is
        # that of the whole model on one GPU, whatever else is asked about.
        known = replace(case, guessed=(), layout=case.layout | {"gpus": 1.0, "batch": 1.0})
        key = ("memory", case.levels, case.layout["sequence"], *case.shape.values())
        sd = calibration.once(key, lambda: float(calibration.memory.predict([known])[1][0]))
        return _Memory(case, _shapes(case), factors, level, sd)

    def fit_probability(self, need_bytes: Floats, memory_bytes: float) -> Floats:
        """Probability that layouts which take so much of a GPU fit it; 0 of an infinite need."""
        return np.asarray(normal_cdf((math.log(FILLED * memory_bytes) - np.log(need_bytes)) / self.log_sd))

    def use(self, ways: Layouts) -> MemoryUse:
        """Bytes of one GPU of every layout: what the allocator holds, because that must fit."""
        used = self.of_framework(ways)
        return MemoryUse(**{field.name: getattr(used, field.name) * self.level for field in fields(MemoryUse)})

    def of_framework(self, ways: Layouts, state: Floats | None = None) -> MemoryUse:
        """The same without the factor of the stack; ``state``: that of the same layouts with other recomputation."""
        runtime = replace(runtimes([self.case]), is_allocated=np.array([False]))
        return memory_use(self.shapes, ways, runtime, self.factors, state)


@dataclass(frozen=True)
class PublishedLayouts:
    """Layouts with which a model was trained on a GPU: their keys in rising order, and the fewest replicas of each."""

    keys: Ints
    replicas: Floats

    def holds(self, ways: Layouts, level: Floats | float) -> Bools:
        """Whether each layout was published, at a level of recomputation, on as many replicas or fewer."""
        if not len(self.keys):
            return np.zeros(len(ways.tensor), dtype=bool)
        keys = _keys(ways, level)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray((self.keys[at] == keys) & (ways.replicas >= self.replicas[at]))


def _keys(ways: Layouts, level: Floats | float) -> Ints:
    """One number for each layout and what it shards, whatever the GPUs and the batch."""
    # Integers: 57 bits, which floats do not hold.
    key = np.rint(np.asarray(level) * 100).astype(np.int64)
    for name in _DEGREES:
        key = key * 256 + np.minimum(getattr(ways, name), 255).astype(np.int64)
    return np.asarray(key * 4 + 2 * ways.is_fully_sharded + ways.is_optimizer_sharded)


def published_layouts(case: LanguageCase, calibration: LanguageCalibration) -> PublishedLayouts:
    """Layouts of the runs of a case's model, whole, in its number format on its GPU by software of its group, as long
    or longer.
    """
    levels, sequence = case.levels, case.layout["sequence"]
    group = (levels.model_gpu, levels.stack_group, levels.lora)

    def found() -> PublishedLayouts:
        runs = [
            one
            for one in calibration.cases
            if not one.guessed
            and one.layout["sequence"] >= sequence
            and is_same_model(one, case)
            and one.machine["memory_bytes"] <= case.machine["memory_bytes"]
            and (one.levels.model_gpu, one.levels.stack_group, one.levels.lora) == group
        ]
        if not runs:
            return PublishedLayouts(np.zeros(0, dtype=np.int64), np.zeros(0))
        ways = arrays(runs)[1]
        keys, replicas = _keys(ways, ways.recompute), ways.replicas
        known = np.unique(keys)
        return PublishedLayouts(known, np.array([replicas[keys == key].min() for key in known]))

    return calibration.once(("published", *group, sequence, case.shape["layers"], case.shape["hidden"]), found)


def _shapes(case: LanguageCase) -> Shapes:
    return Shapes(**{field.name: np.array([case.shape[field.name]]) for field in fields(Shapes)})


def _inputs(case: LanguageCase, ways: Layouts) -> StepInputs:
    machines = Machines(**{field.name: np.array([case.machine[field.name]]) for field in fields(Machines)})
    return _shapes(case), ways, machines


def _times(case: LanguageCase, ways: Layouts, calibration: LanguageCalibration) -> StepTime:
    factors = Efficiencies(**dict(zip(COEFFICIENTS, np.exp(calibration.factors).tolist(), strict=True)))
    return step_time(*_inputs(case, ways), factors, is_through_host=case.machine.get("is_through_host", 0.0) > 0)


_NAMES = tuple(field.name for field in fields(Layouts))
# Degrees by which a published layout is known, and what tells its replicas.
_DEGREES = ("tensor", "pipeline", "virtual", "context", "expert", "micro_batch")
_KEYED = (*_DEGREES, "gpus")
_SEARCHED = ("tensor", "pipeline", "context", "expert")
_OF_CASE = ("is_lora", "is_tuned", "is_unfused", "is_early", "is_ported", "is_reduced_narrow")
# What all layouts of one search share: arrays of one element.
_SHARED = tuple(name for name in _NAMES if name.startswith("is_") or name == "sequence")


def _rows(ways: Layouts, rows: Ints, names: Sequence[str] = _NAMES) -> Layouts:
    """Some of the layouts; what is the same for all stays an array of one element, as all but ``names`` stay."""
    found = {name: getattr(ways, name) for name in _NAMES}
    varied = [name for name in names if name not in _SHARED and (name != "recompute" or len(ways.recompute) > 1)]
    return Layouts(**(found | {name: found[name].take(rows) for name in varied}))


def _powers(most: float) -> list[int]:
    return [2**i for i in range(int(np.log2(max(1, most))) + 1)]


@dataclass(frozen=True)
class _Divided:
    """Degrees by which heads, layers, experts, GPUs and batch divide, of every number of GPUs."""

    whole: Layouts  # (sizes, degrees), of the smallest micro batch and the fewest chunks, nothing recomputed
    micro_batches: Ints  # ascending
    divides: Bools  # (sizes, degrees, micro batches)
    chunks: Ints  # (degrees, most) chunks of a stage
    n_chunks: Ints  # (degrees,) that there are of these

    @classmethod
    def of(cls, case: LanguageCase, gpus: Ints, batch: Ints, pins: LayoutPins) -> "_Divided":
        """Those of a case."""
        shape = case.shape
        domain = int(case.machine["domain_gpus"])
        if why := wide_tensor_error_text(pins, domain, "layout"):
            raise RequestError(why)
        heads, layers, experts = int(shape["heads"]), int(shape["layers"]), int(shape["experts"])
        table = _degree_table(heads, layers, experts, domain, int(case.layout["sequence"]), pins)
        t, p, c, e = table.T
        micro = np.array(_MICRO_BATCHES if pins.micro_batch is None else (pins.micro_batch,))
        replicas = gpus[:, None] // (t * p * c)
        divides = replicas * t * p * c == gpus[:, None]
        if pins.data is not None:
            divides &= replicas == pins.data
        if experts > 1:
            divides &= gpus[:, None] // p % e == 0
        each = np.maximum(replicas, 1)[:, :, None] * micro
        of_stages = [_chunks(stages, layers, pins.chunks) for stages in range(p.max(initial=1) + 1)]
        padded = np.array([[*of_stage, *[1] * (_MOST_CHUNKS + 1 - len(of_stage))] for of_stage in of_stages])
        return cls(
            whole=Layouts(
                gpus=gpus[:, None].astype(float),
                batch=batch[:, None].astype(float),
                sequence=np.array([case.layout["sequence"]]),
                **dict(zip(_SEARCHED, table.T.astype(float), strict=True)),
                micro_batch=micro[:1].astype(float),
                virtual=padded[p, 0].astype(float),
                recompute=np.zeros(1),
                is_fully_sharded=np.array([pins.sharding == "all"]),
                is_optimizer_sharded=np.array([pins.sharding == "optimizer"]),
                **{name: np.array([case.layout[name] > 0]) for name in _OF_CASE},
            ),
            micro_batches=micro,
            divides=divides[:, :, None] & (batch[:, None, None] % each == 0),
            chunks=padded[p],
            n_chunks=np.array([len(of_stage) for of_stage in of_stages])[p],
        )

    @cached_property
    def counts(self) -> Ints:
        """(sizes, degrees) layouts."""
        return np.asarray(self.divides.sum(axis=2) * self.n_chunks)

    def smallest(self, recompute: float) -> Layouts:
        """(sizes, degrees) the layouts that take the least memory: a larger micro batch or more chunks take more.

        The smallest micro batch divides wherever a larger one does.
        """
        return replace(self.whole, recompute=np.array([recompute]))

    def least(self, amounts: Floats) -> Floats:
        """(sizes,) least of some amounts of :meth:`smallest`; infinite where nothing divides."""
        return np.asarray(np.where(self.counts > 0, amounts, np.inf).min(axis=1, initial=np.inf))

    def layouts(self, could: Bools) -> tuple[Ints, Ints, Layouts]:
        """Layouts of some (sizes, degrees), flat, with the places of their size and degrees."""
        place, degree, micro = np.nonzero(self.divides & could[:, :, None])
        n = self.n_chunks[degree]
        place, degree, micro = (np.repeat(one, n) for one in (place, degree, micro))
        offset = np.arange(len(place)) - np.repeat(np.cumsum(n) - n, n)
        whole = self.whole
        return (
            place,
            degree,
            replace(
                whole,
                **{name: getattr(whole, name)[place, 0] for name in ("gpus", "batch")},
                **{name: getattr(whole, name)[degree] for name in _SEARCHED},
                micro_batch=self.micro_batches[micro].astype(float),
                virtual=self.chunks[degree, offset].astype(float),
            ),
        )


@lru_cache(maxsize=256)
def _degree_table(heads: int, layers: int, experts: int, domain: int, sequence: int, pins: LayoutPins) -> Ints:
    """Degrees (tensor, pipeline, context, expert) to judge, shape (rows, 4)."""

    def asked(name: str, values: Sequence[int]) -> Sequence[int]:
        fixed = getattr(pins, name)
        return values if fixed is None else (fixed,)

    stages = [1] if pins.sharding == "all" else [p for p in range(1, _MOST_PIPELINE + 1) if divides_layers(p, layers)]
    found = itertools.product(
        [t for t in asked("tensor", _powers(domain)) if not heads % t],
        [p for p in asked("pipeline", stages) if divides_layers(p, layers)],
        asked(
            "context",
            [c for c in _powers(_MOST_CONTEXT) if c == 1 or (sequence % c == 0 and sequence / c >= _LEAST_TOKENS)],
        ),
        [e for e in asked("expert", _powers(max(domain, _MOST_EXPERT))) if not experts % e] if experts > 1 else [1],
    )
    return np.array(list(found), dtype=int).reshape(-1, 4)


def _chunks(stages: int, layers: int, fixed: int | None) -> tuple[int, ...]:
    """Chunks of a pipeline stage that divide its layers."""
    if stages < 1:
        return ()
    if fixed is not None:
        return (fixed,) if divides_layers(stages * fixed, layers) and (stages > 1 or fixed == 1) else ()
    if stages == 1:
        return (1,)
    return tuple(v for v in range(1, _MOST_CHUNKS + 1) if divides_layers(stages * v, layers))


MOST_GPUS = 131_072
# Stacks whose runs divide weights, gradients and optimizer over all replicas; the others divide the optimizer.
_FULLY_SHARDED = ("nemo-automodel", "llm-foundry", "torchtitan", "pytorch-fsdp", "nanotron", "pytorch", "deepspeed")


@dataclass(frozen=True)
class LayoutQuestion:
    """A training to divide. ``model`` names a language model of the catalogue, ``gpu`` a GPU."""

    model: str
    gpu: str
    gpus: int
    sequence: int
    batch: int  # sequences of a step
    precision: str = "bf16"
    software: str = "NeMo"
    kind: str = "pretrain"  # or "lora"
    gpus_per_server: int | None = None  # that NVLink or the like joins; None: eight
    nic_gbit_per_gpu: float | None = None  # line rate of the network of one GPU; None: the usual one of its kind
    pins: LayoutPins = NO_PINS  # fixed by the user; without a sharding, that of the stack's runs
    shape: TransformerShape | None = None  # of a model that is not in the catalogue; ``model`` is its name
    document_tokens: float | None = None  # of which attention sees one, where sequences are packed; None: all


EXPOSED = "exposed traffic"
_TERMS = tuple(field.name for field in fields(StepTime))
# Terms of a step in the order that a reader asks for them.
_STEP_PARTS = {
    "compute": ("linear", "elementwise"),
    "attention": ("attention",),
    EXPOSED: ("tensor", "expert", "context", "data"),
    "pipeline bubble": ("bubble",),
    "optimizer": ("optimizer",),
    "fixed": ("fixed",),
}


@dataclass(frozen=True)
class LayoutAnswer:
    """One layout. Times in seconds of a step, memory in bytes of one GPU."""

    tensor: int
    pipeline: int
    virtual: int
    context: int
    expert: int
    data: int
    micro_batch: int
    is_fully_sharded: bool  # weights, gradients and optimizer are divided over the replicas
    is_optimizer_sharded: bool  # only the optimizer's state is
    recompute: float
    step_s: dict[str, float]  # by what it is spent on
    tokens_per_s: Estimate  # of the whole system
    memory_bytes: Estimate
    memory_parts: dict[str, float]  # bytes by what they hold
    probability_fits: float

    @property
    def step_shares(self) -> dict[str, float]:
        """Share of a step by what it is spent on, in the order that a reader asks for them. [-]"""
        step = sum(self.step_s.values())
        return {name: sum(self.step_s[part] for part in parts) / step for name, parts in _STEP_PARTS.items()}


@dataclass(frozen=True)
class LayoutSearch:
    """The fastest layouts that fit, the fastest first."""

    question: LayoutQuestion
    answers: tuple[LayoutAnswer, ...]
    n_judged: int
    n_fitting: int
    least_bytes: float  # of a GPU, of the smallest layout; infinite where none divides
    likeliest: float  # probability that it fits
    least_state_bytes: float  # of a GPU, least of weights, gradients and optimizer; likewise


def search_layouts(
    question: LayoutQuestion, catalog: Catalog, calibration: LanguageCalibration, count: int = 5
) -> LayoutSearch:
    """Judge every layout that divides and return the fastest that fit.

    Raises RequestError if the model, GPU, software or number format is not known, the GPU does not have the format, a
    count is out of its range, nothing divides, or nothing fits.
    """
    layouts = search_sizes(question, (question.gpus,), (question.batch,), catalog, calibration, count)[0]
    if layouts.answers:
        return layouts
    if math.isinf(layouts.least_bytes):
        raise RequestError(
            undivided_error_text(question.pins, question.gpus, question.batch, "layout")
            or f"no layout divides {model_name(question, catalog)} and a batch of {question.batch} sequences over "
            f"{question.gpus} GPUs; give a batch that is a multiple of the number of GPUs, or fewer fixed degrees"
        )
    memory_bytes = gpu_of_case(_case(question, catalog), catalog).memory_bytes.value
    is_likely = layouts.likeliest >= REFUSED
    raise RequestError(
        f"{model_name(question, catalog)} {'fits' if is_likely else 'does not fit'} {question.gpus} x {question.gpu}"
        + (f" with {layouts.likeliest:.0%}, where {FITS_PROBABILITY:.0%} is planned with" if is_likely else "")
        + f": the smallest layout takes "
        f"{layouts.least_bytes / GIB:.0f} GiB of the {memory_bytes / GIB:.0f} GiB of a GPU, and weights, gradients and "
        f"optimizer alone {si(question.gpus * layouts.least_state_bytes, 'B')} of the "
        f"{si(question.gpus * memory_bytes, 'B')} of all; {'measure it first, or ' if is_likely else ''}take an "
        "optimizer in 8 bits or in host memory (offload), more GPUs, GPUs with more memory, or fewer fixed degrees"
    )


def search_sizes(
    question: LayoutQuestion,
    gpus: Sequence[int],
    batches: Sequence[int],
    catalog: Catalog,
    calibration: LanguageCalibration,
    count: int = 1,
) -> tuple[LayoutSearch, ...]:
    """Layouts on each of several numbers of GPUs, judged together; a number on which none fits has no answers.

    ``gpus`` and ``batch`` of the question are those of the parameters here.

    Raises RequestError if the model, GPU, software or number format is not known, the GPU does not have the format, a
    count is out of its range, or a fixed degree divides nothing.
    """
    asked = tuple(replace(question, gpus=n, batch=b) for n, b in zip(gpus, batches, strict=True))
    case = _case(asked[0], catalog)
    for one in asked:
        _check_counts(one)
    sizes = np.array(gpus, dtype=int), np.array(batches, dtype=int)
    if question.pins.sharding is not None:
        return _searched_sizes(asked, case, sizes, question.pins.sharding, catalog, calibration, count)
    is_whole = stack_named(case.row) in _FULLY_SHARDED
    searches = _searched_sizes(asked, case, sizes, "all" if is_whole else "optimizer", catalog, calibration, count)
    without = [index for index, search in enumerate(searches) if not search.answers]
    if is_whole or not without:
        return searches
    # What no layout of the stack holds, dividing everything may.
    fewer = sizes[0][without], sizes[1][without]
    again = _searched_sizes(tuple(asked[i] for i in without), case, fewer, "all", catalog, calibration, count)
    better = {
        place: one
        for place, one in zip(without, again, strict=True)
        if one.answers or one.likeliest > max(searches[place].likeliest, REFUSED)
    }
    return tuple(better.get(index, search) for index, search in enumerate(searches))


def _searched_sizes(
    asked: Sequence[LayoutQuestion],
    case: LanguageCase,
    sizes: tuple[Ints, Ints],
    sharding: str,
    catalog: Catalog,
    calibration: LanguageCalibration,
    count: int,
) -> tuple[LayoutSearch, ...]:
    pins = asked[0].pins.model_copy(update={"sharding": sharding})
    layouts = fastest_layouts(case, *sizes, pins, gpu_of_case(case, catalog).memory_bytes.value, calibration, count)
    answers = _answers(asked[0], layouts)
    ends = np.searchsorted(layouts.place, np.arange(len(asked) + 1))
    return tuple(
        LayoutSearch(
            question,
            answers[ends[i] : ends[i + 1]],
            int(layouts.n_judged[i]),
            int(layouts.n_fitting[i]),
            float(layouts.least_bytes[i]),
            float(layouts.likeliest[i]),
            float(layouts.least_state_bytes[i]),
        )
        for i, question in enumerate(asked)
    )


def model_name(question: LayoutQuestion, catalog: Catalog) -> str:
    """Name of the model of a question: that of the catalogue, or what its own shape is called."""
    return language_model(catalog, question.model).name if question.shape is None else question.model


def language_models(catalog: Catalog) -> dict[str, Dnn]:
    """Language models of the catalogue by their ids."""
    return {name: dnn for name, dnn in catalog.dnns.items() if dnn.transformer is not None}


def language_model(catalog: Catalog, text: str) -> Dnn:
    """The language model that a text names: by id, name, alias, or as measurements name it.

    Raises RequestError if none has this name.
    """
    known = language_models(catalog)
    names = {
        name.lower(): dnn
        for dnn in known.values()
        for name in (dnn.id, dnn.name, *dnn.aliases, dnn.transformer.measured_as if dnn.transformer else "")
        if name
    }
    if text.strip().lower() not in names:
        hint = nearest(text, [dnn.name for dnn in known.values()])
        raise RequestError(
            f"model {text[:60]!r} is not known{hint}; known are {', '.join(dnn.name for dnn in known.values())}"
        )
    return names[text.strip().lower()]


def domain_gpus(question: LayoutQuestion, catalog: Catalog) -> int:
    """GPUs that NVLink or its like joins."""
    return int(_case(question, catalog).machine["domain_gpus"])


def inputs_of(question: LayoutQuestion, answer: LayoutAnswer, catalog: Catalog) -> StepInputs:
    """One layout of a training as the step model takes it."""
    case = _case(question, catalog)
    degrees = ("tensor", "pipeline", "virtual", "context", "expert", "micro_batch", "recompute")
    stated = {name: float(getattr(answer, name)) for name in (*degrees, "is_fully_sharded", "is_optimizer_sharded")}
    return arrays([replace(case, layout=case.layout | stated)])


def _check_counts(question: LayoutQuestion) -> None:
    for name, least, most in (("gpus", 1, MOST_GPUS), ("batch", 1, 10**6), ("sequence", 128, 2**20)):
        value = getattr(question, name)
        if not least <= value <= most:
            raise RequestError(f"{name} is {value}; allowed are {least} to {most}")


def _case(question: LayoutQuestion, catalog: Catalog) -> LanguageCase:
    shape, name, measured_as = question.shape, question.model, ""
    if shape is None:
        dnn = language_model(catalog, question.model)
        shape, name = dnn.transformer, dnn.name
        assert shape is not None
        measured_as = dnn.transformer.measured_as if dnn.transformer is not None else ""
    _check_counts(question)
    gpu = gpu_asked(question.gpu, catalog)
    check_software(question.software, catalog)
    check_format(number_format_named(question.precision, "precision"), gpu, catalog)
    check_pins(question.pins, shape, question.sequence, name, "layout")
    row = LanguageRow(
        row_id="question",
        source="question",
        model=measured_as or name,
        gpu=gpu.id,
        precision=question.precision,
        gpus=float(question.gpus),
        kind=question.kind,
        seq=float(question.sequence),
        global_batch=float(question.batch),
        software=question.software,
        tp=1.0,
        sharding="dist_optimizer",
        arch="moe" if shape.experts > 1 else "dense",
        # A shape of the request is taken as it is, whatever models have its name.
        layers=1.0,
        hidden=float(shape.hidden),
        moe_ffn=1.0,
        gpus_per_node=None if question.gpus_per_server is None else float(question.gpus_per_server),
        network="" if question.nic_gbit_per_gpu is None else f"{question.nic_gbit_per_gpu:.0f} gb/s per gpu",
    )
    found = cases_of([row], catalog)[0]
    assert isinstance(found, LanguageCase), found  # all that a case needs is stated
    values = shape_values(shape)
    if question.document_tokens is not None:
        # Attention of packed sequences ends with each document, in every layer.
        seen = min(values["window"], question.document_tokens)
        values |= {"window": seen, "window_share": 1.0}
    machine = found.machine
    if is_through_host(gpu):
        machine = machine | {"domain_bytes_per_s": ring_through_host_bytes_per_s(gpu), "is_through_host": 1.0}
    return replace(found, shape=values, machine=machine)


def _answers(question: LayoutQuestion, layouts: FastestLayouts) -> tuple[LayoutAnswer, ...]:
    if not len(layouts.place):
        return ()
    ways, n = layouts.ways, len(layouts.place)
    slower, log_sd = np.ones(n), layouts.log_sd
    if not question.pins.fixes_degrees:
        is_alike = layouts.lag_log <= -_SELECTION_LOG
        slower, log_sd = np.exp(-_SELECTION_LOG - layouts.lag_log * is_alike), np.hypot(log_sd, _SELECTION_SD)
    rates = Estimate.log_normal(ways.batch * ways.sequence / (layouts.times.total * slower), log_sd)
    peaks = Estimate.log_normal(layouts.memory.total, layouts.peak_log_sd)
    terms = {name: np.broadcast_to(getattr(layouts.times, name), (n,)) * slower for name in _TERMS}
    return tuple(
        LayoutAnswer(
            **cast(Any, {name: int(getattr(ways, name)[i]) for name in (*_DEGREES, "data")}),
            is_fully_sharded=bool(ways.is_fully_sharded[i]),
            is_optimizer_sharded=bool(ways.is_optimizer_sharded[i]),
            recompute=float(ways.recompute[i]),
            step_s={name: float(values[i]) for name, values in terms.items()},
            tokens_per_s=rates[i],
            memory_bytes=peaks[i],
            memory_parts={field.name: float(getattr(layouts.memory, field.name)[i]) for field in fields(MemoryUse)},
            probability_fits=float(layouts.probability[i]),
        )
        for i in range(n)
    )


# Rate of what does not fit. [tokens/s]
_NO_RATE = 0.0
# Numbers of servers that are judged between one and twice as many: every one up to 128, as layouts that divide well may
# lie anywhere, then every second.
_STEPS_TO_DOUBLE = 64
# Layouts asked for: enough that the next one of other degrees is among them.
_JUDGED = 24
_LORA, _FULL = "lora", "pretrain"
# Kinds of published trainings as requests name their methods, and the GPUs of one of their servers.
_METHODS = {"pretrain": "full", "continued": "continued", "finetune": "fine-tuning"}
_GPUS_PER_SERVER = 8
# Of the rate on GPUs of a generation without any published run, by the peak alone: a factor of 1.8 either way in 90 %
# of cases. A choice of ours, three times the prior spread between GPUs that were measured.
_GENERATION_LOG_SD = 0.35
# Stacks (ids) for the vendors whose GPUs the default stack does not run on.
_STACK_OF_VENDOR = {"AMD": "primus"}


@dataclass(frozen=True)
class OtherStack:
    """Another software stack and what it is worth."""

    stack: Stack
    rate_ratio: Estimate  # its rate over that of the chosen stack, with the same layout
    runs: int  # published ones that the fit has


@dataclass(frozen=True)
class LanguageAnswer:
    """How the training of a language model is divided over the GPUs of a design."""

    work: LanguageWork
    layout: LayoutAnswer
    runner_up: LayoutAnswer | None  # the fastest layout of other degrees
    gpus_used: int  # of the design: models divide well over some numbers of servers only
    batch: int  # sequences of a step
    stack: str  # id of the software that runs on these GPUs
    plan: CheckpointPlan  # checkpoints and interruptions, on storage that is sized for them
    basis: RunBasis  # published runs that the rate rests on
    model_flop: float  # of training on one token, nothing recomputed
    peak_flop_per_s: float  # of a GPU in the format of the training, dense
    stacks: Deferred[tuple[OtherStack, ...]]  # for these GPUs, the fastest first

    def model_flop_per_s(self, tokens_per_s: float) -> float:
        """Useful FLOP/s of one GPU at a rate of the whole system."""
        return self.model_flop * tokens_per_s / self.gpus_used

    def utilization(self, tokens_per_s: float) -> float:
        """Model FLOP utilization (MFU): useful FLOP/s over the peak of the number format. [-]"""
        return self.model_flop_per_s(tokens_per_s) / self.peak_flop_per_s

    @property
    def job(self) -> CheckpointedJob:
        """The training with its checkpoints; rates and times count its interruptions."""
        work = self.work
        return CheckpointedJob(work.checkpoints, self.plan, work.parameters, max(self.layout.data, 1), counts=True)


def language_run(work: ResolvedWorkload, hosts: ServerRows) -> LaidOutRun:
    """Rates of every row.

    Layouts are judged at every number of servers up to 128, at every second one up to 256 and so on; one between them
    has the rate of the fastest one below it.
    """
    kinds, servers = server_kinds(hosts)
    rate, sd, fits = np.full(servers.size, _NO_RATE), np.full(servers.size, 0.2), np.zeros(servers.size, dtype=bool)
    replicas, shape = np.ones(servers.size), hosts.shape
    for one, rows in kinds.items():
        table = _table(work.trained, one, int(servers[rows].max()), work.request.target.gpus_busy, hosts.catalog)
        at = np.searchsorted(table.servers, servers[rows], side="right") - 1
        rate[rows], sd[rows], fits[rows] = table.tokens_per_s[at], table.log_sd[at], table.tokens_per_s[at] > _NO_RATE
        replicas[rows] = table.replicas[at]
    return LaidOutRun(rate.reshape(shape), sd.reshape(shape), fits.reshape(shape), replicas.reshape(shape))


def whole_run(work: ResolvedWorkload, hosts: ServerRows) -> Estimate | None:
    """How many times as long as its steps the training of a language model takes, of every row; None of other work."""
    if work.language is None or work.request.run == "benchmark":
        return None
    catalog = hosts.catalog
    shape = work.language.shape or catalog.dnns[work.language.model].transformer
    assert shape is not None
    name = "" if work.request.stack is None else work.stack.framework
    measured = {rate.gpu for rate in work.language.measured}
    factors = [
        OWN_STEPS
        if group.gpu in measured
        else whole_runs(catalog).factor(catalog.gpus[group.gpu], shape.experts > 1, name, catalog)
        for group in hosts.groups
    ]
    rows = np.broadcast_to(hosts.cols.compute, hosts.shape).astype(np.int64)
    value, low, high = np.array([tuple(factor) for factor in factors]).T
    return Estimate(value[rows], low[rows], high[rows])


def language_answer(work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog) -> LanguageAnswer | None:
    """Layout of a workload on so many GPUs of a platform, with the next one; None of what is no language model."""
    if work.language is None:
        return None
    used = min(platform.gpus_per_server, n_gpus)
    server_kind = ServerKind.of(platform.server.id, platform.gpu.id, used, platform.fabric, catalog)
    table = _table(work.language, server_kind, math.ceil(n_gpus / used), work.request.target.gpus_busy, catalog)
    if table.tokens_per_s[-1] <= _NO_RATE:
        return None
    servers = int(table.fastest[-1])
    gpus, found = servers * used, _layouts(work.language, server_kind, (servers,), catalog, _JUDGED)[0]
    others = (layout for layout in found if _degrees(layout) != _degrees(found[0]))
    batch, stack = work.language.batch(gpus), stack_on(work.language, platform.gpu.vendor)
    plan = plan_of(work.language.checkpoints, gpus)
    stacks = Deferred(partial(_other_stacks, work.language, server_kind, stack, found[0], gpus, catalog))
    basis = basis_of(_case(_question(work.language, server_kind, catalog), catalog), language_calibration())
    trained = replace(work.language, number_format=work.language.format_on(platform.gpu, catalog))
    flop = _model_flop(work.language, server_kind, found[0], gpus, catalog)
    peak = _peak_flop_per_s(work.language, platform.gpu, catalog)
    return LanguageAnswer(trained, found[0], next(others, None), gpus, batch, stack, plan, basis, flop, peak, stacks)


def _model_flop(work: LanguageWork, one: ServerKind, layout: LayoutAnswer, gpus: int, catalog: Catalog) -> float:
    """FLOP of training on one token, nothing recomputed."""
    question = replace(_question(work, one, catalog), gpus=gpus, batch=work.batch(gpus))
    shapes, layouts, _ = inputs_of(question, layout, catalog)
    return float(shapes.model_flop(layouts.sequence, layouts.is_lora)[0])


def _peak_flop_per_s(work: LanguageWork, gpu: Gpu, catalog: Catalog) -> float:
    """Of a GPU in the format of a training, dense."""
    computed = computed_as(work.format_on(gpu, catalog))
    return gpu.peak_flop_per_s.get(computed, gpu.peak_mixed_flop_per_s).value


def rate_of_training(training: WholeTraining, catalog: Catalog) -> Estimate:
    """Rate of a published training over its days, as it would be sized: by the fastest layout of the default stack.

    In tokens/s, with the spread of the steps.
    """
    request = {
        "workload": [
            {
                "name": training.model,
                "dnn": {"name": training.model, **training.shape.model_dump(exclude_defaults=True)},
                "tokens": training.tokens,
                "sequence_tokens": training.sequence,
                **({"batch_sequences": training.batch_sequences} if training.batch_sequences else {}),
                "method": _METHODS[training.kind],
                "target": {"gpus_busy": training.gpus},
            }
        ]
    }
    (work,) = resolve(SizingRequest.from_dict(request), catalog, {})
    assert work.language is not None
    server_kind = _usual_cluster(catalog.gpus[training.gpu], training.gpus)
    table = _table(work.language, server_kind, training.gpus // server_kind.gpus_per_server, training.gpus, catalog)
    return Estimate.log_normal(table.tokens_per_s[-1], table.log_sd[-1])


def gpus_at_work(work: ResolvedWorkload, platform: Platform, n_servers: int, catalog: Catalog) -> int:
    """GPUs of some servers that the fastest layout of a workload uses; all of them of what is no language model."""
    if work.language is None:
        return n_servers * platform.gpus_per_server
    server_kind = ServerKind.of(platform.server.id, platform.gpu.id, platform.gpus_per_server, platform.fabric, catalog)
    table = _table(work.language, server_kind, n_servers, work.request.target.gpus_busy, catalog)
    return int(table.fastest[-1]) * platform.gpus_per_server


def _degrees(layout: LayoutAnswer) -> tuple[int, ...]:
    return layout.tensor, layout.pipeline, layout.context, layout.expert


def _usual_cluster(gpu: Gpu, gpus: int) -> ServerKind:
    """So many GPUs of a kind in servers of eight, or where they do not fill these, of the most that they fill."""
    used = gpus if gpus <= _GPUS_PER_SERVER else math.gcd(gpus, _GPUS_PER_SERVER)
    return ServerKind(gpu.id, used, None)


def judged_sizes(most: int, asked: int) -> list[int]:
    """Numbers of servers to judge: the usual ones up to a number, and one that the request asks for."""
    parts = range(_STEPS_TO_DOUBLE, 2 * _STEPS_TO_DOUBLE)
    usual = {part * 2**k // _STEPS_TO_DOUBLE for k in range(most.bit_length() + 1) for part in parts}
    return sorted(step for step in usual | {asked} if step <= most)


class _Table(NamedTuple):
    """Numbers of servers that were judged, and for each the fastest up to it. Arrays of one length."""

    servers: Ints
    fastest: Ints  # servers that are used
    tokens_per_s: Floats
    log_sd: Floats
    replicas: Floats  # data parallel


@lru_cache(maxsize=1024)  # several questions about one request ask for the same
def _table(work: LanguageWork, one: ServerKind, most: int, busy: int | None, catalog: Catalog) -> _Table:
    """Rates on up to so many servers, ``busy`` GPUs of them asked for.

    More servers never have less: a batch that divides badly over them is trained on some of them, as is one on more
    GPUs than layouts are judged for.
    """
    steps = judged_sizes(
        min(most, MOST_GPUS // one.gpus_per_server), 1 if busy is None else math.ceil(busy / one.gpus_per_server)
    )
    found = _layouts(work, one, tuple(steps), catalog, 1)
    shares = [goodput_of(work.checkpoints, servers * one.gpus_per_server) for servers in steps]
    rate, sd = np.full(len(steps), _NO_RATE), np.full(len(steps), 0.2)
    for index, (answers, (share, share_sd)) in enumerate(zip(found, shares, strict=True)):
        if answers:
            rate[index] = float(answers[0].tokens_per_s.value) * share
            sd[index] = math.hypot(float(answers[0].tokens_per_s.log_sd), share_sd)
    servers = np.array(steps)
    best = np.maximum.accumulate(rate)
    places = np.maximum.accumulate(np.where(rate >= best, np.arange(len(rate)), 0))
    replicas = np.array([float(answers[0].data) if answers else 1.0 for answers in found])
    return _Table(servers, servers[places], best, sd[places], replicas[places])


def fit_chance(work: LanguageWork, platform: Platform, n_gpus: int, catalog: Catalog) -> float:
    """Probability that so many GPUs of a platform hold the training of a language model."""
    server_kind = ServerKind.of(
        platform.server.id, platform.gpu.id, min(platform.gpus_per_server, n_gpus), platform.fabric, catalog
    )
    question = _question(work, server_kind, catalog)
    try:
        found = search_sizes(question, (n_gpus,), (work.batch(n_gpus),), catalog, language_calibration())[0]
    except RequestError:  # of a platform that a fixed degree rules out
        return 0.0
    return max((found.likeliest, *(answer.probability_fits for answer in found.answers)))


def layout_refusal(work: LanguageWork, platform: Platform, n_gpus: int, catalog: Catalog) -> str:
    """Why no layout trains a language model on so many GPUs of a platform."""
    used = min(platform.gpus_per_server, n_gpus)
    server_kind = ServerKind.of(platform.server.id, platform.gpu.id, used, platform.fabric, catalog)
    question = _question(work, server_kind, catalog)
    try:
        search_layouts(
            replace(question, gpus=n_gpus, batch=work.batch(n_gpus)), catalog, language_calibration(), count=1
        )
    except RequestError as error:
        return str(error)
    return ""


def wide_tensor_refusal(
    resolved_work: ResolvedWorkload, platforms: Sequence[Platform], place: str, catalog: Catalog
) -> str:
    """Why the tensor parallelism of a request runs on no platform: none joins as many GPUs; "" where one does."""
    work = resolved_work.language
    if work is None or work.pins.tensor is None:
        return ""
    groups = {
        (one.server.id, one.gpu.id): ServerKind.of(one.server.id, one.gpu.id, one.gpus_per_server, one.fabric, catalog)
        for one in platforms
    }
    most = max(domain_gpus(_question(work, group, catalog), catalog) for group in groups.values())
    return wide_tensor_error_text(work.pins, most, place)


def _layouts(
    work: LanguageWork, server_kind: ServerKind, servers: tuple[int, ...], catalog: Catalog, count: int
) -> tuple[tuple[LayoutAnswer, ...], ...]:
    """The fastest layouts on each of several numbers of servers; rates of what fills the sequences."""
    gpus = tuple(number * server_kind.gpus_per_server for number in servers)
    batches = tuple(work.batch(number) for number in gpus)
    layouts = _searched(_question(work, server_kind, catalog), gpus, batches, catalog, count)
    learned = _learned(work, server_kind.gpu, catalog)
    is_guess = learned is None and is_unmeasured(catalog.gpus[server_kind.gpu], catalog)
    if work.filled_share == 1 and learned is None and not is_guess:
        return layouts

    def rate(tokens_per_s: Estimate) -> Estimate:
        filled = tokens_per_s.scaled(work.filled_share)
        if is_guess:
            return Estimate.log_normal(filled.value, np.hypot(filled.log_sd, _GENERATION_LOG_SD))
        return filled if learned is None else learned.applied(filled)

    return tuple(
        tuple(replace(layout, tokens_per_s=rate(layout.tokens_per_s)) for layout in answers) for answers in layouts
    )


class _Learned(NamedTuple):
    """What rates of the customer tell of a training on a kind of GPU (Bayes, normal in the logarithm)."""

    factor: float  # on rates
    before_log_sd: float  # of the rates that were measured, without them
    log_sd: float  # and with them

    def applied(self, rate: Estimate) -> Estimate:
        """A rate on other numbers of GPUs: what is less sure there than where it was measured stays so."""
        more = np.sqrt(np.maximum(np.square(rate.log_sd) - self.before_log_sd**2, 0.0))
        return Estimate.log_normal(rate.value * self.factor, np.hypot(self.log_sd, more))


def _learned(work: LanguageWork, gpu: str, catalog: Catalog) -> _Learned | None:
    """None where nothing was measured on this kind of GPU."""
    found = [(rate, _where_measured(work, rate, catalog)) for rate in work.measured if rate.gpu == gpu]
    if not found:
        return None
    before = max(float(layout.tokens_per_s.log_sd) for _, layout in found)
    weights = np.array([(rate.within_percent / 100) ** -2 for rate, _ in found])
    gaps = np.log([rate.samples_per_s / float(layout.tokens_per_s.value) for rate, layout in found])
    known = 1 / (1 + before**2 * weights.sum())
    return _Learned(math.exp(before**2 * known * float(weights @ gaps)), before, before * math.sqrt(known))


def _where_measured(work: LanguageWork, rate: Measured, catalog: Catalog) -> LayoutAnswer:
    """The fastest layout on the GPUs of a rate of the customer in the usual servers, as it is predicted without it.

    Raises RequestError if no layout fits in their memory.
    """
    there = _usual_cluster(catalog.gpus[rate.gpu], rate.gpus)
    [answers] = _layouts(replace(work, measured=()), there, (rate.gpus // there.gpus_per_server,), catalog, 1)
    if not answers:
        raise RequestError(
            f"workload.measured: {work.model} in training does not fit on {rate.gpus} {catalog.gpus[rate.gpu].name} "
            "as its memory is predicted; give the number of GPUs of the run that was measured"
        )
    return answers[0]


def check_measured_tokens(work: ResolvedWorkload, place: str, catalog: Catalog) -> None:
    """Refuse measured rates of a language model that its GPUs cannot reach, or on which no layout fits.

    Raises RequestError naming the rate and the peak.
    """
    for number, rate in enumerate(work.trained.measured):
        gpu, one = catalog.gpus[rate.gpu], _usual_cluster(catalog.gpus[rate.gpu], rate.gpus)
        layout = _where_measured(work.trained, rate, catalog)
        per_gpu = _model_flop(work.trained, one, layout, rate.gpus, catalog) * rate.samples_per_s / rate.gpus
        peak = _peak_flop_per_s(work.trained, gpu, catalog)
        if per_gpu > peak:
            raise RequestError(
                f"{place}.{number}.samples_per_s = {si(rate.samples_per_s, 'tokens/s')} on {rate.gpus} {gpu.name} "
                f"would be {si(per_gpu, 'FLOP/s')} a GPU, above its peak of {si(peak, 'FLOP/s')}; check the number of "
                "GPUs and that the rate is in tokens"
            )


def far_token_rates(work: LanguageWork, catalog: Catalog) -> list[float]:
    """Rates that the customer measured over what is predicted of them, of those that are far off. [-]"""
    return far_off(
        rate.samples_per_s / float(_where_measured(work, rate, catalog).tokens_per_s.value) for rate in work.measured
    )


def _question(work: LanguageWork, one: ServerKind, catalog: Catalog) -> LayoutQuestion:
    return LayoutQuestion(
        model=work.model,
        gpu=one.gpu,
        gpus=one.gpus_per_server,
        sequence=work.sequence,
        batch=1,
        precision=work.format_on(catalog.gpus[one.gpu], catalog),
        software=catalog.stacks[stack_on(work, catalog.gpus[one.gpu].vendor)].framework,
        kind=_LORA if work.method == "lora" else _FULL,
        gpus_per_server=one.gpus_per_server,
        nic_gbit_per_gpu=None if one.nic_bytes_per_s is None else gbit_per_s_from_bytes_per_s(one.nic_bytes_per_s),
        pins=work.pins,
        shape=work.shape,
        document_tokens=work.document_tokens,
    )


@lru_cache(maxsize=8)
def _measured(catalog: Catalog) -> frozenset[str | None]:
    """Ids and generations of the GPUs with published runs of language models."""
    gpus = [gpu_of_case(case, catalog) for case in language_calibration().cases]
    return frozenset(name for gpu in gpus for name in (gpu.id, gpu.generation)) - {None}


def is_unmeasured(gpu: Gpu, catalog: Catalog) -> bool:
    """Whether nobody published a run of a language model on a GPU, or on another one of its generation."""
    return _measured(catalog).isdisjoint((gpu.id, gpu.generation))


def stack_on(work: LanguageWork, vendor: str) -> str:
    """Software on the GPUs of a vendor: as asked, or where that is the default, the vendor's own."""
    return _STACK_OF_VENDOR.get(vendor, work.stack) if work.stack == DEFAULT_LANGUAGE_STACK else work.stack


def stack_in_fit(stack: Stack, gpu: str) -> str:
    """Name of a stack of the catalogue in the fit of the published runs; ``gpu`` is an id."""
    return stack_named(LanguageRow("", "", "", gpu, "", 1.0, software=stack.framework))


def measured_language_stacks(dnn: str, catalog: Catalog) -> frozenset[str]:
    """Ids of the stacks with published runs of a language model (id) among those that the rates rest on."""
    shape = catalog.dnns[dnn].transformer if dnn in catalog.dnns else None
    if shape is None:
        return frozenset()
    cases = [case for case in language_calibration().cases if case.row.model == shape.measured_as]
    return frozenset(
        stack.id
        for stack in catalog.stacks.values()
        if stack.trains_language and any(stack_in_fit(stack, case.gpu_id) == case.levels.stack for case in cases)
    )


def _other_stacks(
    work: LanguageWork, server_kind: ServerKind, chosen: str, layout: LayoutAnswer, gpus: int, catalog: Catalog
) -> tuple[OtherStack, ...]:
    """Other stacks for the GPUs of a cluster that have the number format of the training."""
    wanted = stack_precision(work.number_format)
    # Software of other makers is for their own GPUs.
    makers = {gpu.vendor for gpu in catalog.gpus.values()} - {catalog.gpus[server_kind.gpu].vendor}
    stacks = {
        stack.id: stack_in_fit(stack, server_kind.gpu)
        for stack in catalog.stacks.values()
        if stack.id == chosen or (stack.trains_language and wanted in stack.precisions and stack.vendor not in makers)
    }
    question = replace(_question(work, server_kind, catalog), gpus=gpus, batch=work.batch(gpus))
    inputs = inputs_of(question, layout, catalog)
    gpu, is_lora, precision = catalog.gpus[server_kind.gpu], work.method == _LORA, number_format(question.precision)
    worths = stack_worths(
        language_calibration(), stacks, chosen, gpu=gpu, precision=precision, is_lora=is_lora, inputs=inputs
    )
    return tuple(OtherStack(catalog.stacks[worth.stack], worth.rate_ratio, worth.runs) for worth in worths)


@lru_cache(maxsize=4096)
def _searched(
    question: LayoutQuestion, gpus: tuple[int, ...], batches: tuple[int, ...], catalog: Catalog, count: int
) -> tuple[tuple[LayoutAnswer, ...], ...]:
    try:
        searches = search_sizes(question, gpus, batches, catalog, language_calibration(), count)
    except RequestError:  # of a platform that a fixed degree rules out
        return ((),) * len(gpus)
    return tuple(search.answers for search in searches)
