"""Every layout that divides a model over each of several numbers of GPUs, as arrays: which fit, which are fastest."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.estimate import normal_cdf, normal_quantile
from sizer.base.streams import pause_point
from sizer.calibrate.language.calibration import LanguageCalibration, is_same_model
from sizer.calibrate.language.cases import LanguageCase, arrays, runtimes
from sizer.calibrate.language.fit import StepInputs
from sizer.calibrate.language.gpu_memory import REFUSED, software_effects
from sizer.perf.language.step import (
    COEFFICIENTS,
    FILLED,
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
from sizer.workload.transformer.layout_pins import LayoutPins, divides_layers, wide_tensor_error_text

# Probability at which a layout that is searched counts as one that fits.
CERTAIN = 0.9
# A layout that was published for this model, format and GPU fits: the prediction is taken to err, as far as it may. Of
# one that it gives less than REFUSED the run must have differed in something that its source does not state.
RAN_PROBABILITY = 0.95
_MICRO_BATCHES = (1, 2, 4, 8, 16)
_LEAST_TOKENS = 1024  # of a sequence on one context-parallel GPU
_MOST_CONTEXT, _MOST_PIPELINE, _MOST_CHUNKS = 64, 32, 8
# Experts are divided over as many GPUs in published runs, also where NVLink joins eight.
_MOST_EXPERT = 64
# A hair, so that no rounding of a bound drops what fits.
_BELOW = 1 - 1e-9


@dataclass(frozen=True)
class FastestLayouts:
    """The fastest layouts that fit, of every number of GPUs, the fastest first. Arrays over the layouts."""

    place: Ints  # of the number of GPUs
    ways: Layouts
    times: StepTime  # with the effects of model, machine and software
    log_sd: Floats  # spread of the logarithm of the step time
    memory: MemoryUse
    peak_log_sd: float
    probability: Floats  # that it fits
    n_judged: Ints  # for each number of GPUs
    n_fitting: Ints
    least_bytes: Floats  # of the smallest layout, for each number of GPUs; infinite where none divides
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
        FILLED * memory_bytes * np.exp(-normal_quantile(chance) * memory.log_sd) for chance in (REFUSED, CERTAIN)
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
    order = np.lexsort((times.total, place))
    first = np.searchsorted(place[order], np.arange(len(gpus)))
    rank = np.arange(len(order)) - first[place[order]]
    best = order[rank < count]
    ways = Layouts(**{name: np.broadcast_to(one, best.shape) for name, one in vars(_rows(ways, best)).items()})
    times = _times(case, ways, calibration)
    factor, log_sd = calibration.step_of_layouts(case, _inputs(case, ways)) if len(best) else (1.0, np.zeros(0))
    used = memory.use(ways)
    probability = np.asarray(normal_cdf(np.log(FILLED * memory_bytes / used.total) / memory.log_sd))
    has_run = ran.holds(ways, ways.recompute) & (probability >= REFUSED)
    probability = np.where(has_run, np.maximum(probability, RAN_PROBABILITY), probability)
    return FastestLayouts(
        place=place[best],
        ways=ways,
        times=StepTime(**{one.name: getattr(times, one.name) * factor for one in fields(StepTime)}),
        log_sd=log_sd,
        memory=used,
        peak_log_sd=memory.log_sd,
        probability=probability,
        n_judged=judged,
        n_fitting=fitting,
        least_bytes=divided.least(bounds.min(axis=0)),
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
        level = math.exp(sum(map(fit.value, software_effects(case))))
        # A layout that is judged is known, so that nothing of it is a guess. The spread changes little with it: it is
        # that of the whole model on one GPU, whatever else is asked about.
        known = replace(case, guessed=(), layout=case.layout | {"gpus": 1.0, "batch": 1.0})
        key = ("memory", case.levels, case.layout["sequence"], *case.shape.values())
        sd = calibration.once(key, lambda: float(calibration.memory.predict([known])[1][0]))
        return _Memory(case, _shapes(case), factors, level, sd)

    def use(self, ways: Layouts) -> MemoryUse:
        """Bytes of one GPU of every layout: what the allocator holds, because that must fit."""
        used = self.of_framework(ways)
        return MemoryUse(**{one.name: getattr(used, one.name) * self.level for one in fields(MemoryUse)})

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
    return Shapes(**{one.name: np.array([case.shape[one.name]]) for one in fields(Shapes)})


def _inputs(case: LanguageCase, ways: Layouts) -> StepInputs:
    machines = Machines(**{one.name: np.array([case.machine[one.name]]) for one in fields(Machines)})
    return _shapes(case), ways, machines


def _times(case: LanguageCase, ways: Layouts, calibration: LanguageCalibration) -> StepTime:
    factors = Efficiencies(**dict(zip(COEFFICIENTS, np.exp(calibration.factors).tolist(), strict=True)))
    return step_time(*_inputs(case, ways), factors, is_through_host=case.machine.get("is_through_host", 0.0) > 0)


_NAMES = tuple(one.name for one in fields(Layouts))
# Degrees by which a published layout is known, and what tells its replicas.
_DEGREES = ("tensor", "pipeline", "virtual", "context", "expert", "micro_batch")
_KEYED = (*_DEGREES, "gpus")
_SEARCHED = ("tensor", "pipeline", "context", "expert")
_OF_CASE = ("is_lora", "is_tuned", "is_unfused", "is_early", "is_ported")
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
        table = _degrees(heads, layers, experts, domain, int(case.layout["sequence"]), pins)
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
        padded = np.array([[*one, *[1] * (_MOST_CHUNKS + 1 - len(one))] for one in of_stages])
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
            n_chunks=np.array([len(one) for one in of_stages])[p],
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
def _degrees(heads: int, layers: int, experts: int, domain: int, sequence: int, pins: LayoutPins) -> Ints:
    """Degrees (tensor, pipeline, context, expert) to judge, shape (rows, 4)."""

    def asked(name: str, values: Sequence[int]) -> Sequence[int]:
        fixed = getattr(pins, name)
        return values if fixed is None else (fixed,)

    stages = [1] if pins.sharding == "all" else [p for p in range(1, _MOST_PIPELINE + 1) if divides_layers(p, layers)]
    found = itertools.product(
        [t for t in asked("tensor", _powers(domain)) if not heads % t],
        [p for p in asked("pipeline", stages) if divides_layers(p, layers)],
        asked("context", [c for c in _powers(_MOST_CONTEXT) if _divides_sequence(c, sequence)]),
        [e for e in asked("expert", _powers(max(domain, _MOST_EXPERT))) if not experts % e] if experts > 1 else [1],
    )
    return np.array(list(found), dtype=int).reshape(-1, 4)


def _divides_sequence(context: int, sequence: int) -> bool:
    """Whether each context-parallel GPU has as many tokens, and not too few."""
    return context == 1 or (sequence % context == 0 and sequence / context >= _LEAST_TOKENS)


def _chunks(stages: int, layers: int, fixed: int | None) -> tuple[int, ...]:
    """Chunks of a pipeline stage that divide its layers."""
    if stages < 1:
        return ()
    if fixed is not None:
        return (fixed,) if divides_layers(stages * fixed, layers) and (stages > 1 or fixed == 1) else ()
    if stages == 1:
        return (1,)
    return tuple(v for v in range(1, _MOST_CHUNKS + 1) if divides_layers(stages * v, layers))
