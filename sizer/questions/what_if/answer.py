"""A design with changed inputs: the inputs, its rates at many points, and what the app shows of them."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import InfeasibleError
from sizer.base.estimate import Estimate
from sizer.base.provenance import Sourced
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.catalog.labels import sample_unit
from sizer.catalog.model import Catalog, Items
from sizer.catalog.schema import Gpu
from sizer.perf import pipeline
from sizer.physical import capacity
from sizer.physical.capacity import counts_nodes, node_limits, nodes_per_unit
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import NOT_KNOWN, chance, estimate, inside_sentence, is_even, listed, stage
from sizer.questions.what_if.sensitivity import MAX_BATCH
from sizer.sizing.constraints.stored_data import data_sets, storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import STAGES
from sizer.sizing.search.feasibility import StorageUnits
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.resolve import ResolvedWorkload

SERVERS, STORAGE_NODES = "servers", "storage-nodes"
SAMPLE_SIZE, DATASET_SIZE, BATCH = "sample-size", "dataset-size", "batch"
GPU_SPEED, CACHED_READS = "gpu-speed", "cached-reads"
TARGET, CONFIDENCE = "target", "confidence"

_NO_BREAK = "\u00a0"  # between a count and its noun
# Sizes, rates and times vary from an eighth to eight times, in four steps for each doubling.
_DOUBLINGS, _STEPS_PER_DOUBLING = 3, 4
# Counts have at most so many values; beyond, some are skipped.
_MOST_COUNTS = 40
# Even a single server or node is compared with some larger designs.
_LEAST_COUNTS = 8
_SPEEDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
_CONFIDENCES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
_CACHED = tuple(share / 20 for share in range(21))


@dataclass(frozen=True)
class VariedInput:
    """One input with its values, in rising order."""

    key: str
    name: str  # as the label of a field, "Image size"
    values: tuple[float, ...]
    texts: tuple[str, ...]  # of the values, with their unit
    base: int  # place of the value that the design or the request has
    note: str  # what stays fixed, and what the input means
    is_asked: bool = True  # a request states it; else it is a property of the design, or hypothetical

    @property
    def span(self) -> str:
        """The range in words."""
        return f"from {self.texts[0]} to {self.texts[-1]}"


def fixed_design_inputs(model: WorkloadOnDesign) -> tuple[VariedInput, ...]:
    """Inputs that a fixed design can be run with, the most important first."""
    base = float(model.run.comp.hit_fraction[0])

    def text(share: float) -> str:
        digits = 2 if 0 < share < 0.1 else 3
        return f"{significant(100 * share, digits)}{NARROW_SPACE}%"

    note = "Share of the reads of a later epoch that the memory of the servers serves; the first epoch has none."
    inputs = (
        *_sample_size(model),
        _servers(model),
        *_storage_nodes(model),
        *_shared(model),
        _input(CACHED_READS, "Reads served by the cache", _CACHED, base, text, note, is_asked=False),
        _dataset_size(model),
        _confidence(model),
    )
    # A storage that is sold in one size, say, cannot be varied.
    return tuple(one for one in inputs if len(one.values) > 1)


def request_changes(
    model: WorkloadOnDesign, values: Mapping[str, float]
) -> tuple[dict[str, object], dict[str, object]]:
    """Keys of the workload and of the whole request that some values of inputs stand for.

    Inputs that no request states are left out. A sample of another size leaves the number of samples as it is, unless
    the size of the data set is given, too.
    """
    work = model.work
    asked: dict[str, object] = {}
    if SAMPLE_SIZE in values or DATASET_SIZE in values:
        size = values.get(SAMPLE_SIZE, work.sample_bytes)
        asked["sample_bytes"] = size
        if DATASET_SIZE in values or work.request.dataset_bytes is not None:
            asked["dataset_bytes"] = values.get(DATASET_SIZE, work.n_samples * size)
    if BATCH in values:
        asked["batch_per_gpu"] = int(values[BATCH])
    if TARGET in values:
        kind = target_kind(model)
        asked["target"] = {kind: int(values[TARGET]) if kind == "gpus_busy" else values[TARGET]}
    whole: dict[str, object] = {CONFIDENCE: values[CONFIDENCE]} if CONFIDENCE in values else {}
    return asked, whole


def gpus_of(model: WorkloadOnDesign, n_servers: float) -> int:
    """GPUs that a job uses on so many servers of the design."""
    return int(n_servers * model.run.cols.gpus_per_server[0])


def target_kind(model: WorkloadOnDesign) -> str:
    """Key of the request under which the target of the workload stands."""
    target = model.work.request.target
    return next(name for name in ("samples_per_s", "time_to_train_s", "gpus_busy") if getattr(target, name) is not None)


def target_value(model: WorkloadOnDesign) -> float:
    """The target as the request states it. [samples/s], [s] or [-]"""
    return float(getattr(model.work.request.target, target_kind(model)))


def _input(
    key: str, name: str, values: Iterable[float], base: float, text: Callable[[float], str], note: str, **more: bool
) -> VariedInput:
    """Input with its base among its values; values whose texts are the same stand for one."""
    known: dict[str, float] = {text(value): value for value in sorted(values)}
    known[text(base)] = base
    pairs = sorted(known.items(), key=lambda pair: pair[1])
    ordered = tuple(value for _, value in pairs)
    return VariedInput(key, name, ordered, tuple(word for word, _ in pairs), ordered.index(base), note, **more)


def _count_text(noun: str) -> Callable[[float], str]:
    """Text of a count with its noun: '1 server', '9 servers'."""
    return lambda count: f"{grouped(count)}{_NO_BREAK}{noun}{'' if count == 1 else 's'}"


def _scaled(base: float) -> list[float]:
    """Values around a base at equal ratios, rounded to three digits so that they read well."""
    reach = _DOUBLINGS * _STEPS_PER_DOUBLING
    return [float(f"{base * 2 ** (step / _STEPS_PER_DOUBLING):.3g}") for step in range(-reach, reach + 1) if step]


def _counts(least: int, base: int, most: int, unit: int = 1) -> list[float]:
    """Counts from least to most in whole units, evenly skipped where they are many."""
    wide = np.arange(least, most + 1, unit)
    if wide.size <= _MOST_COUNTS:
        return wide.astype(float).tolist()
    places = np.unique(np.linspace(0, wide.size - 1, _MOST_COUNTS).round().astype(int))
    # The neighbours of the design stay, so that one more and one less can be compared.
    selected = {*wide[places].tolist(), base - unit, base + unit}
    return [float(count) for count in selected if least <= count <= most]


def _sample_size(model: WorkloadOnDesign) -> tuple[VariedInput, ...]:
    """Bytes of a sample; tokens keep theirs."""
    if model.work.kind.trains_language:
        return ()
    noun = model.work.dnn.sample
    note = "The data set keeps its number of samples and grows with them, unless its size is set as well."
    size = model.work.sample_bytes
    title = f"{noun[:1].upper()}{noun[1:]} size"
    return (_input(SAMPLE_SIZE, title, _scaled(size), size, lambda v: si(v, "B"), note),)


def _dataset_size(model: WorkloadOnDesign) -> VariedInput:
    size = model.work.dataset_bytes
    # A data set holds one sample at least.
    values = [value for value in _scaled(size) if value >= 8 * model.work.sample_bytes]
    note = "Samples keep their size, so a larger data set has more of them and is cached less."
    return _input(DATASET_SIZE, "Data set size", values, size, lambda v: si(v, "B"), note)


def _servers(model: WorkloadOnDesign) -> VariedInput:
    base = model.n_servers
    # On fewer servers than hold the network there is no rate to show.
    smaller = np.arange(1, base)
    hosts = replace(model.run.hosts(model.platform, model.catalog), n_servers=smaller)
    held = smaller[all_fit([model.work], hosts)]
    values = _counts(int(held.min(initial=base)), base, max(2 * base, _LEAST_COUNTS))
    note = "Storage nodes and gateways stay as they are."
    return _input(SERVERS, "GPU servers", values, float(base), _count_text("server"), note, is_asked=False)


def _storage_nodes(model: WorkloadOnDesign) -> tuple[VariedInput, ...]:
    """Storage nodes, where the storage is bought by the node."""
    storage, base = model.platform.storage, model.storage_nodes
    if not counts_nodes(storage) or base < 1:
        return ()
    unit = nodes_per_unit(storage)
    low, high = node_limits(storage)
    values = _counts(low, base, min(max(2 * base, low + _LEAST_COUNTS * unit), high), unit)
    note = "Servers and gateways stay as they are."
    return (_input(STORAGE_NODES, "Storage nodes", values, float(base), _count_text("node"), note, is_asked=False),)


def _shared(model: WorkloadOnDesign) -> tuple[VariedInput, ...]:
    """Target, GPU speed and batch; of language models the target alone."""
    if model.work.kind.trains_language:  # their layouts are judged by the GPU's measured rates, not by factors
        return (_target_input(model),)
    batch = model.work.batch_per_gpu
    halves = (factor * scale for scale in (0.125, 0.25, 0.5, 1, 2, 4) for factor in (1, 1.5))
    batches = {int(batch * half) for half in (*halves, 8)}
    speed = "Arithmetic of the GPUs alone: launches, gradient exchange and waiting stay as they are."
    return (
        _target_input(model),
        _input(GPU_SPEED, "GPU speed", _SPEEDS, 1.0, lambda v: f"{plain(v)}{NARROW_SPACE}×", speed, is_asked=False),
        _input(
            BATCH,
            "Batch per GPU",
            (float(count) for count in batches if 1 <= count <= MAX_BATCH),
            float(batch),
            grouped,
            "Whether a batch fits the memory of the GPUs is not checked.",
        ),
    )


def _target_input(model: WorkloadOnDesign) -> VariedInput:
    kind, base = target_kind(model), target_value(model)
    if kind == "samples_per_s":
        unit = sample_unit(model.work.dnn)
        return _input(TARGET, "Target rate", _scaled(base), base, lambda v: si(v, unit), "The rate to reach.")
    if kind == "time_to_train_s":
        return _input(
            TARGET, "Target time to train", _scaled(base), base, duration, "The longest time that training may take."
        )
    values = _counts(1, int(base), max(2 * int(base), _LEAST_COUNTS))
    return _input(
        TARGET, "GPUs to keep fully utilized", values, base, _count_text("GPU"), "GPUs that must not wait for data."
    )


def _confidence(model: WorkloadOnDesign) -> VariedInput:
    base = model.request.confidence

    def text(share: float) -> str:
        return f"{plain(100 * share)}{NARROW_SPACE}%"

    return _input(CONFIDENCE, "Confidence", _CONFIDENCES, base, text, "Probability with which the target must be met.")


@dataclass(frozen=True)
class FixedDesignRates:
    """Rates of one workload on a fixed design at each of some points. Arrays over the points."""

    rate: Estimate  # after the first epoch [samples/s]
    time_s: Floats | None  # to train; None where the request states no length
    stages: dict[str, Floats]  # key of STAGES -> median capacity after the first epoch [samples/s]
    limiting: tuple[str, ...]  # key of the bottleneck
    probability: Floats  # that the rate or time asked is reached
    holds_data: Bools  # whether the storage holds all data
    meets_target: Bools
    storage_nodes: Floats  # that the target would need, in whole units; inf: more than there are, NaN: not counted


def fixed_design_rates(model: WorkloadOnDesign, values: Mapping[str, ArrayLike]) -> FixedDesignRates:
    """The workload on the design with some inputs changed.

    Storage nodes, gateways and everything that is not varied stay as they are. Points of one GPU, and of one target
    where that is no rate, are evaluated in one pass.

    ``values``: key of an input -> its value at each point; values broadcast, and inputs that are left out stay as
    they are. Arrays over the points; at the values of the design it is the answer of the design.
    """
    points = {SERVERS: model.n_servers, STORAGE_NODES: model.storage_nodes, **values}
    parts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(part, float)) for part in points.values()))
    at, n = dict(zip(points, parts, strict=True)), parts[0].size
    apart = [at[key] for key in (GPU_SPEED, *([] if target_kind(model) == "samples_per_s" else [TARGET])) if key in at]
    groups: dict[tuple[float, ...], list[int]] = {}
    for index, each in enumerate(np.reshape(apart, (len(apart), n)).T.tolist()):
        groups.setdefault(tuple(each), []).append(index)
    gpu, speeds = model.platform.gpu, set(at[GPU_SPEED].tolist()) if GPU_SPEED in at else {1.0}
    catalogs = {speed: with_gpu_speed(model.catalog, gpu, speed) for speed in speeds}
    runs = [_run(model, {key: part[rows] for key, part in at.items()}, catalogs) for rows in groups.values()]
    # What is worked out group by group, in the order of the points.
    order = np.argsort(np.concatenate([*groups.values()]))
    chance, wanted = (np.concatenate(part)[order] for part in zip(*map(_target_of, runs), strict=True))
    rates = pipeline.throughputs(*(run.warm for run in runs), *(run.cold for run in runs))
    rate, cold_rate = rates[order], rates[order + n]
    times = [
        run.time_s(rate.value[rows], cold_rate.value[rows]) for run, rows in zip(runs, groups.values(), strict=True)
    ]
    timed = [part for part in times if part is not None]
    limiting = [key for run in runs for key in pipeline.bottlenecks(run.warm, run.comp.gpu_alone)[0]]
    medians = [
        {key: np.broadcast_to(stage.median, run.servers.shape) for key, stage in run.warm.by_key().items()}
        for run in runs
    ]
    holds, nodes = _storage_of(model, at, wanted)
    least = evaluate.least_chance(at.get(CONFIDENCE, np.full(n, model.request.confidence)))
    busy = at.get(TARGET, target_value(model)) if target_kind(model) == "gpus_busy" else 0.0
    return FixedDesignRates(
        rate=rate,
        time_s=np.concatenate(timed)[order] if timed else None,
        stages={key: np.concatenate([each[key] for each in medians])[order] for key in medians[0]},
        limiting=tuple(limiting[place] for place in order),
        probability=chance,
        holds_data=holds,
        meets_target=np.asarray((chance >= least) & holds & (at[SERVERS] * model.run.cols.gpus_per_server >= busy)),
        storage_nodes=nodes,
    )


def fixed_design_along(model: WorkloadOnDesign, x: VariedInput, others: Mapping[str, float]) -> FixedDesignRates:
    """The design at every value of an input, with other inputs at given values."""
    return fixed_design_rates(
        model, {**{key: value for key, value in others.items() if key != x.key}, x.key: np.array(x.values)}
    )


def with_gpu_speed(catalog: Catalog, gpu: Gpu, factor: float) -> Catalog:
    """Catalogue in which the arithmetic of one GPU is so many times as fast."""
    if factor == 1.0:
        return catalog

    def times(peak: Sourced[float] | None) -> Sourced[float] | None:
        return None if peak is None else peak.model_copy(update={"value": peak.value * factor})

    # In all number formats, and what large matrix products reach of them.
    update: dict[str, Any] = {
        name: times(getattr(gpu, name)) for name in ("peak_mixed_flop_per_s", "peak_fp32_flop_per_s")
    }
    for name in ("peak_flop_per_s", "matmul_flop_per_s"):
        update[name] = {kind: times(peak) for kind, peak in getattr(gpu, name).items()}
    faster = gpu.model_copy(update=update)
    return replace(catalog, gpus=Items("gpus", {**catalog.gpus, gpu.id: faster}))


def _run(model: WorkloadOnDesign, at: Mapping[str, Floats], catalogs: Mapping[float, Catalog]) -> WorkloadRun:
    """The workload with changed inputs on points that one pass evaluates."""
    request, work = model.request, model.work
    rows: dict[str, Any] = {}
    if CONFIDENCE in at:
        request = request.model_copy(update={"confidence": at[CONFIDENCE]})
    if TARGET in at:
        kind, asked = target_kind(model), at[TARGET]
        one: dict[str, Any] = {"gpus_busy": int(asked[0]), "time_to_train_s": float(asked[0]), "samples_per_s": asked}
        target = work.request.target.model_copy(update={kind: one[kind]})
        rows["request"] = work.request.model_copy(update={"target": target})
    if BATCH in at:
        rows["batch_per_gpu"] = at[BATCH]
    if SAMPLE_SIZE in at or DATASET_SIZE in at:
        sample, dataset = _sizes(work, at)
        n_samples = work.n_samples * (dataset / work.dataset_bytes) / (sample / work.sample_bytes)
        rows |= {"sample_bytes": sample, "dataset_bytes": dataset, "n_samples": n_samples}
    catalog = catalogs[float(at[GPU_SPEED][0]) if GPU_SPEED in at else 1.0]
    counts = at[SERVERS], at[STORAGE_NODES], model.gateway_bytes_per_s
    run = run_on(request, replace(work, **rows), model.platform, *counts, catalog, model.calibration)
    if CACHED_READS not in at:
        return run
    hits = at[CACHED_READS]
    return replace(run, comp=replace(run.comp, hit_fraction=hits, miss_log_sd=np.zeros(hits.shape)))


def _sizes(work: ResolvedWorkload, at: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Bytes of a sample and of the data set, which has as many samples as before unless its size is given."""
    sample = at.get(SAMPLE_SIZE, np.full(at[SERVERS].shape, work.sample_bytes))
    return sample, at.get(DATASET_SIZE, work.dataset_bytes * (sample / work.sample_bytes))


def _target_of(run: WorkloadRun) -> tuple[Floats, Floats]:
    """Probability of the target, and the storage nodes that it takes, not rounded; inf: no number of them."""
    try:
        return run.probability, run.storage_nodes_needed
    except InfeasibleError:  # starting a run alone takes longer than the training may
        return np.zeros(run.servers.shape), np.full(run.servers.shape, np.inf)


def _storage_of(model: WorkloadOnDesign, at: Mapping[str, Floats], wanted: Floats) -> tuple[Bools, Floats]:
    """Whether the storage holds the data, and the nodes in whole units that a rate calls for.

    A capacity that no source gives counts as enough, as in the sizing.
    """
    platform, data = model.platform, model.request.data
    distinct, place = np.unique(np.stack(_sizes(model.work, at)), axis=1, return_inverse=True)
    works = [
        changed_works(model.works, model.index, replace(model.work, sample_bytes=sample, dataset_bytes=dataset))
        for sample, dataset in distinct.T.tolist()
    ]
    rows = list(zip(place.reshape(-1).tolist(), at[STORAGE_NODES].astype(int).tolist(), strict=True))
    demands = [storage_demand(each, data) for each in works]
    tiers = {(which, nodes): storage_tiers(platform, nodes, demands[which], data) for which, nodes in set(rows)}
    holds = np.array([not any(tier.free_bytes < 0 for tier in tiers[row]) for row in rows])
    if not capacity.counts_nodes(platform.storage):
        return holds, np.full(wanted.shape, np.nan)
    each = [vars(StorageUnits.of(some, [platform], data)) for some in works]
    units = StorageUnits(**{name: np.concatenate([one[name] for one in each])[place] for name in each[0]})
    whole, is_enough = units.whole(wanted[:, None], at[SERVERS][:, None].astype(int), model.run.cols.is_local)
    return holds, np.where(is_enough[:, 0] & units.holds_data, whole[:, 0], np.inf)


def changed_works(
    works: Sequence[ResolvedWorkload], index: int, changed: ResolvedWorkload
) -> tuple[ResolvedWorkload, ...]:
    """All workloads with one of them changed; who reads the same data set as it does now goes on doing so."""
    shared = next(data_set.readers for data_set in data_sets(works) if index in data_set.readers)
    found = [
        replace(work, sample_bytes=changed.sample_bytes) if number in shared else work
        for number, work in enumerate(works)
    ]
    found[index] = changed
    return tuple(found)


T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Span(Generic[T]):
    """Values of an input, from the first to the last one, at which something is the same."""

    value: T
    first: int
    last: int


def spans(series: Sequence[T]) -> tuple[Span[T], ...]:
    """Runs of equal values, in order."""
    found: list[Span[T]] = []
    for index, value in enumerate(series):
        if found and found[-1].value == value:
            found[-1] = Span(value, found[-1].first, index)
        else:
            found.append(Span(value, index, index))
    return tuple(found)


@dataclass(frozen=True)
class BreakEven:
    """A quantity that may change along an input, and the sentence that says where it does."""

    what: str
    text: str
    changes: bool  # within the range


def fixed_design_break_evens(
    model: WorkloadOnDesign,
    x: VariedInput,
    line: FixedDesignRates,
    others: Mapping[str, float],
) -> tuple[BreakEven, ...]:
    """Break-even points of a fixed design along an input.

    ``line``: from :func:`~fixed_design_along`. ``others``: values of the other
    inputs.
    """
    nodes = int(others.get(STORAGE_NODES, model.storage_nodes))
    evens = [_limits(x, line.limiting), _target(x, line.meets_target.tolist())]
    if x.key != STORAGE_NODES and not np.isnan(line.storage_nodes).any():
        evens.append(_nodes_in_place(x, line.storage_nodes.tolist(), nodes))
    if not line.holds_data.all():
        evens.append(_capacity(x, line.holds_data.tolist()))
    return tuple(evens)


def where(x: VariedInput, first: int, last: int) -> str:
    """Part of the range, in words: 'up to 226 kB', 'from 269 kB on'."""
    end = len(x.values) - 1
    if first == 0 and last == end:
        return f"in the whole range ({x.span})"
    if first == last:
        return f"at {x.texts[first]}"
    if first == 0:
        return f"up to {x.texts[last]}"
    if last == end:
        return f"from {x.texts[first]} on"
    return f"from {x.texts[first]} to {x.texts[last]}"


def _sentence(x: VariedInput, parts: Sequence[Span[T]], say: Callable[[T], str]) -> str:
    texts = [f"{say(part.value)} {where(x, part.first, part.last)}" for part in parts]
    sentence = "; ".join(texts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _limits(x: VariedInput, stages: Sequence[str]) -> BreakEven:
    parts = spans(stages)
    text = _sentence(x, parts, lambda key: f"{stage(key, inside=True)} is the bottleneck")
    if "storage" not in stages:
        whole = "there" if len(parts) == 1 else f"within the range ({x.span})"
        text = f"{text} Storage does not become the bottleneck {whole}."
    return BreakEven("Bottleneck", text, len(parts) > 1)


def _target(x: VariedInput, is_met: Sequence[bool]) -> BreakEven:
    parts = spans(is_met)
    if len(parts) == 1:
        text = f"The target is {'met' if is_met[0] else 'missed'} {where(x, 0, len(is_met) - 1)}."
    else:
        text = _sentence(x, parts, lambda met: f"the target is {'met' if met else 'missed'}")
    return BreakEven("Target", text, len(parts) > 1)


def _capacity(x: VariedInput, fits: Sequence[bool]) -> BreakEven:
    text = _sentence(x, spans(fits), lambda one: "the storage holds the data" if one else "the data do not fit")
    return BreakEven("Capacity", text, len(set(fits)) > 1)


def _nodes_in_place(x: VariedInput, needed: Sequence[float], nodes: int) -> BreakEven:
    """Where the target needs more storage nodes than the design has, and how many the first step beyond needs."""
    is_enough = [count <= nodes for count in needed]
    parts = spans(is_enough)
    have = f"{nodes} {'node is' if nodes == 1 else 'nodes are'}"
    if len(parts) == 1 and is_enough[0]:
        return BreakEven("Storage nodes", f"The {have} enough {where(x, 0, len(needed) - 1)}.", False)

    texts = []
    for part in parts:
        place = where(x, part.first, part.last)
        if part.value:
            texts.append(f"the {have} enough {place}")
            continue
        # The count nearest to where the nodes in place are enough.
        least = min(needed[part.first : part.last + 1])
        texts.append(
            f"{grouped(least)} or more are needed {place}"
            if np.isfinite(least)
            else f"no number of nodes is enough {place}"
        )
    sentence = "; ".join(texts)
    return BreakEven("Storage nodes", f"{sentence[:1].upper()}{sentence[1:]}.", len(parts) > 1)


MINUS = "\u2212"
# Smaller relative changes are below the resolution of the models.
_SAME = 0.001


class ComparedFigure(NamedTuple):
    """One figure of an answer, and how it differs from the design as it is."""

    label: str
    value: str
    under: str  # "+12 % compared with 52 200"


def fixed_design_figures(
    model: WorkloadOnDesign, now: FixedDesignRates, base: FixedDesignRates
) -> tuple[ComparedFigure, ...]:
    """Figures of a fixed design at one point, compared with those of the unchanged design.

    ``now``, ``base``: one point each.
    """
    unit = sample_unit(model.work.dnn)
    figures = [_rate_figure(model, now.rate, base.rate, unit)]
    if now.time_s is not None and base.time_s is not None:
        here, there = float(now.time_s[0]), float(base.time_s[0])
        figures.append(ComparedFigure("Time to train", duration(here), _ratio(here, there, duration(there))))
    is_same_stage = now.limiting == base.limiting
    figures += [
        ComparedFigure(
            "Bottleneck",
            STAGES[now.limiting[0]],
            "unchanged" if is_same_stage else f"instead of {stage(base.limiting[0], inside=True)}",
        ),
        ComparedFigure("Target", _verdict(now, is_open=model.is_open), _verdict_change(now, base)),
    ]
    needed, needs = float(now.storage_nodes[0]), float(base.storage_nodes[0])
    if not np.isnan(needed):
        value = grouped(needed) if np.isfinite(needed) else "no number is enough"
        under = _difference(needed, needs) if np.isfinite(needed) and np.isfinite(needs) else ""
        figures.append(ComparedFigure("Storage nodes needed for the target", value, under))
    return tuple(figures)


def _rate_figure(model: WorkloadOnDesign, now: Estimate, base: Estimate, unit: str) -> ComparedFigure:
    label = "Inference rate" if model.work.is_inference else "Training rate"
    here, there = float(now.value[0]), float(base.value[0])
    return ComparedFigure(label, estimate(now[0], unit), _ratio(here, there, significant(there)))


def _verdict(rates: FixedDesignRates, *, is_open: bool) -> str:
    if not rates.holds_data[0]:
        return "missed: the data do not fit"
    if is_open and rates.meets_target[0]:
        return NOT_KNOWN
    probability = chance(float(rates.probability[0]))
    if is_even(float(rates.probability[0])):
        return f"even odds, probability {probability}"
    return f"{'met' if rates.meets_target[0] else 'missed'}, probability {probability}"


def _verdict_change(now: FixedDesignRates, base: FixedDesignRates) -> str:
    if bool(now.meets_target[0]) == bool(base.meets_target[0]):
        return "unchanged"
    return "met before the change" if base.meets_target[0] else "missed before the change"


def _difference(here: float, there: float) -> str:
    """Difference of two counts with its sign: '+2 compared with 9'."""
    if here == there:
        return "unchanged"
    sign = "+" if here > there else MINUS
    return f"{sign}{plain(abs(here - there))} compared with {plain(there)}"


def _ratio(here: float, there: float, was: str) -> str:
    """Difference of two quantities in percent with its sign: '+12 % compared with 52 200'."""
    if abs(here / there - 1) < _SAME:
        return "unchanged"
    sign = "+" if here > there else MINUS
    return f"{sign}{significant(100 * abs(here / there - 1), 2)}{NARROW_SPACE}% compared with {was}"


def break_even_table(x: VariedInput, others: Sequence[str], break_evens: Sequence[BreakEven], number: int) -> Table:
    """Break-even points along an input; what does not change in the range is listed last, muted.

    ``others``: other changed inputs, in words: "image size at 226 kB". ``number``: of the table on its page.
    """
    ordered = sorted(break_evens, key=lambda break_even: not break_even.changes)
    rows = [row(one.what, one.text if one.changes else Cell(one.text, is_muted=True)) for one in ordered]
    at = f", with {listed(others)}" if others else ""
    heads = columns((f"Along {inside_sentence(x.name)}{at}", "left", 24), ("Where it changes", "left", 76))
    return Table(f"break-even-{number}", f"Break-even points along {inside_sentence(x.name)}", heads, tuple(rows))
