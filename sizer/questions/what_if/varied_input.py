"""Inputs that can be varied around a design, each with its values and their texts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.catalog.labels import sample_unit
from sizer.physical.capacity import counts_nodes, node_limits, nodes_per_unit
from sizer.questions.what_if.sensitivity import MAX_BATCH
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages.gpu_memory import all_fit

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
        return (_target(model),)
    batch = model.work.batch_per_gpu
    halves = (factor * scale for scale in (0.125, 0.25, 0.5, 1, 2, 4) for factor in (1, 1.5))
    batches = {int(batch * half) for half in (*halves, 8)}
    speed = "Arithmetic of the GPUs alone: launches, gradient exchange and waiting stay as they are."
    return (
        _target(model),
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


def _target(model: WorkloadOnDesign) -> VariedInput:
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
