"""What would change the answer: a fixed design with one influence after the other at either end of its range."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sizer.base.quantities import by_count, duration, grouped, si, significant
from sizer.catalog.labels import sample_unit
from sizer.perf.pipeline import Stages, bottlenecks, throughputs
from sizer.physical.capacity import usable_bytes
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign, pinned
from sizer.sizing.recommend import most_servers
from sizer.sizing.servers_needed import Pin, fewest_servers
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import memory_of
from sizer.workload.request import Workload
from sizer.workload.resolve import DEFAULT_BATCH
from sizer.workload.stack_choice import StackEvidence

# Influences with a smaller effect are omitted: they are below the resolution of the models.
LEAST_REACH = 0.005
# Evidence of a stack that says nothing about whether another one runs the network.
_UNRELATED = (StackEvidence.SEVERAL_FAMILIES, StackEvidence.NONE, StackEvidence.OWN_CODE)
# Ends of a two-sided 90 % interval.
LOW, HIGH = 0.05, 0.95
# Quantities of the request are halved and doubled: the smallest steps that GPUs and batches come in.
FACTORS = (0.5, 2.0)
# Servers are sought up to this many times those of the design, and on small designs up to so many.
_SEARCH_FACTOR, _SEARCH_LEAST = 4, 8
MAX_BATCH = 65_536


@dataclass(frozen=True)
class Influence:
    """One influence on the result, at its two ends with everything else unchanged."""

    key: str
    label: str
    stage: str  # key of STAGES whose colour it takes: the stage itself, or the bottleneck at the slower end
    low_text: str  # the lower end tried, in words with its unit
    high_text: str
    low: float  # the design's metric at the lower end
    high: float
    low_servers: int | None  # GPU servers that the request would then need on this platform; None: not sought, or none
    high_servers: int | None
    basis: str  # where the two ends come from


@dataclass(frozen=True)
class Sensitivity:
    """All influences on one workload, the largest effect first."""

    workload: str
    metric: Literal["samples/s", "s"]  # "s": time to train, where the target is one
    base: float
    target: float | None  # None: the target is a number of fully utilized GPUs
    influences: tuple[Influence, ...]


class _End(NamedTuple):
    """One end of an influence: stages and epochs there, and how the servers needed are found."""

    text: str
    model: WorkloadOnDesign  # for the request as it is, or changed
    warm: Stages
    cold: Stages
    n_epochs: float | None = None  # None: as many as the model says
    pin: Pin | None = None

    @classmethod
    def of(cls, text: str, model: WorkloadOnDesign) -> "_End":
        """End at which a request as given is run."""
        return cls(text, model, model.run.warm, model.run.cold)


class _Trial(NamedTuple):
    key: str
    label: str
    low: _End
    high: _End
    basis: str
    stage: str | None = None  # None: the bottleneck at the slower end
    is_searched: bool = True


def sensitivities(evaluated: EvaluatedDesign) -> tuple[Sensitivity, ...]:
    """Influences on every workload of a result.

    The design stays as it is: servers, storage nodes and gateways. Of a stage, one capacity is known to lie at an end
    of its 90 % interval, the others keep their spread, and ``stage_capacity.throughput`` joins them as it does for the
    answer itself; a stage without spread (a line rate) has no influence then. What the request states is changed in
    the request, which is read and run again. A recipe's epochs follow the global batch. A change that the request does
    not allow is left out, and so is one that moves the result by less than :data:`LEAST_REACH`.

    One a workload. Metrics in samples/s or s.
    """
    return tuple(map(_of_workload, evaluated.workloads))


def _of_workload(model: WorkloadOnDesign) -> Sensitivity:
    target = model.work.request.target
    trials = [*_stages(model), *_epochs(model), *_requests(model)]
    as_it_is, *metrics = _metrics([_End.of("", model), *(end for trial in trials for end in (trial.low, trial.high))])
    found = []
    for trial, low, high in zip(trials, metrics[::2], metrics[1::2], strict=True):
        if trial.low.pin is not None:
            # A stage known to be slow removes the risk that it is slower still; that alone is no gain.
            worse, better = (max, min) if model.is_timed else (min, max)
            low, high = worse(low, as_it_is), better(high, as_it_is)
        reach = max(abs(metric / as_it_is - 1) for metric in (low, high))
        if reach >= LEAST_REACH:
            found.append((reach, _influence(trial, low, high)))
    return Sensitivity(
        workload=model.work.request.name,
        metric="s" if model.is_timed else "samples/s",
        base=as_it_is,
        target=target.time_to_train_s if model.is_timed else target.samples_per_s,
        influences=tuple(influence for _, influence in sorted(found, key=lambda one: -one[0])),
    )


def _metrics(ends: Sequence[_End]) -> list[float]:
    """Metric at every end; one pass over all of them, as one costs hardly less."""
    warm, cold = np.split(throughputs(*(end.warm for end in ends), *(end.cold for end in ends)).value, 2)
    return [_metric(end, *rates) for end, *rates in zip(ends, warm, cold, strict=True)]


def _metric(end: _End, rate: float, cold_rate: float) -> float:
    """Time to train where the target is one, else the rate itself. [s] or [samples/s]"""
    run, length = end.model.run, end.model.run.length
    if not end.model.is_timed or length is None:
        return rate
    n_epochs = length.value if end.n_epochs is None else end.n_epochs
    return float(np.ravel(evaluate.time_s(run.work, n_epochs, rate, cold_rate, run.calibration.start_up_s))[0])


def _influence(trial: _Trial, low: float, high: float) -> Influence:
    ends = (trial.low, trial.high)
    servers = [_servers(end) if trial.is_searched else None for end in ends]
    is_low_slower = (low < high) != trial.low.model.is_timed
    return Influence(
        key=trial.key,
        label=trial.label,
        stage=_limiting(ends[0 if is_low_slower else 1]) if trial.stage is None else trial.stage,
        low_text=trial.low.text,
        high_text=trial.high.text,
        low=low,
        high=high,
        low_servers=servers[0],
        high_servers=servers[1],
        basis=trial.basis,
    )


def _limiting(end: _End) -> str:
    (found,), _ = bottlenecks(end.warm, end.model.run.comp.gpu_alone)
    return found


def _servers(end: _End) -> int | None:
    """Servers that the request needs at an end."""
    model = end.model
    most = min(
        most_servers(model.request, _SEARCH_FACTOR * model.n_servers),
        max(_SEARCH_FACTOR * model.n_servers, _SEARCH_LEAST),
    )
    works, parts = model.works, (model.platform, most, model.catalog, model.calibration)
    return fewest_servers(model.request, works, *parts, pin=end.pin)


def _stages(model: WorkloadOnDesign) -> Iterator[_Trial]:
    """Each stage at the ends of its interval; the exchange is part of the GPUs' step."""
    labels = {
        "storage": "Read rate of the storage",
        "network": "Network to the storage",
        "decode": "Host data path",
        "host_link": "Links between host and GPUs",
        "gpu": "Rate of the GPUs",
    }
    fitted = "90\u202f% interval of the calibration"
    basis = {"gpu": fitted, "decode": fitted, "host_link": fitted}
    run = model.run
    for key, label in labels.items():
        rates = [float(run.cold.by_key()[key].quantile(probability).flat[0]) for probability in (LOW, HIGH)]
        if rates[0] == rates[1]:
            continue
        low, high = (
            _End(
                _capacity_text(model, key, rate),
                model,
                pinned(run.warm, key, probability),
                pinned(run.cold, key, probability),
                pin=Pin(model.index, key, probability),
            )
            for rate, probability in zip(rates, (LOW, HIGH), strict=True)
        )
        published = "90\u202f% of the span between its published rates"
        yield _Trial(key, label, low, high, basis.get(key, published), key)


def _capacity_text(model: WorkloadOnDesign, key: str, rate: float) -> str:
    """Capacity of a stage: in bytes on the data path, in samples where they are processed."""
    if key in ("storage", "network"):
        return si(rate * model.work.sample_bytes, "B/s")
    return si(rate, sample_unit(model.work.dnn))


def _epochs(model: WorkloadOnDesign) -> Iterator[_Trial]:
    """Length at the ends of its interval, where it makes the time to train: by its epochs, or by the whole run."""
    length, of_run = model.run.length, model.run.comp.whole_run
    if not model.is_timed or length is None:
        return
    counts = float(length.low[0]), float(length.high[0])
    if of_run is not None:
        texts = [f"{significant(float(end[0]))} times the time of the steps" for end in (of_run.low, of_run.high)]
        low, high = (_End.of(text, model)._replace(n_epochs=n) for text, n in zip(texts, counts, strict=True))
        basis = "90\u202f% interval of published whole trainings"
        yield _Trial("whole-run", "Overhead of a whole run", low, high, basis, "", is_searched=False)
        return
    low, high = (_End.of(f"{significant(count)} epochs", model)._replace(n_epochs=count) for count in counts)
    # Servers are not sought: on other sizes the batch, and with it the curve's interval, is another.
    basis = "90\u202f% interval of the curve through the recipe's published runs"
    yield _Trial("epochs", "Epochs to the target", low, high, basis, "", is_searched=False)


def _requests(model: WorkloadOnDesign) -> Iterator[_Trial]:
    """What the request states, changed at both ends."""
    for key, label, changes in _request_changes(model):
        made = [(text, model.asked(**change) if change else model) for text, change in changes]
        ends = [_End.of(text, other) for text, other in made if other is not None]
        if len(ends) == len(changes):
            yield _Trial(key, label, ends[0], ends[1], _basis(key))


def _request_changes(model: WorkloadOnDesign) -> Iterator[tuple[str, str, list[tuple[str, dict[str, object]]]]]:
    """Key, label and both ends of what the request states: text, and changed keys (none: as asked)."""
    work, batch = model.work, model.work.batch_per_gpu
    size, data = work.sample_bytes, work.dataset_bytes
    # As many samples as before: a data set of larger samples is larger.
    yield (
        "sample-size",
        "Size of a sample",
        [(_size_text(model, size * f), {"sample_bytes": size * f, "dataset_bytes": data * f}) for f in FACTORS],
    )
    yield (
        "dataset-size",
        "Size of the data set",
        [(_data_text(model, data * f), {"sample_bytes": size, "dataset_bytes": data * f}) for f in FACTORS],
    )
    n_gpus = model.n_servers * float(model.run.cols.gpus_per_server[0])
    memory_bytes = model.platform.gpu.memory_bytes.value
    most = min(
        MAX_BATCH,
        max(batch, int(memory_of(model.work, model.calibration, model.catalog).largest_batch(memory_bytes, n_gpus))),
    )
    batches = (max(1, int(batch * FACTORS[0])), min(most, int(batch * FACTORS[1])))
    yield (
        "batch",
        "Batch per GPU",
        [(_batch_text(count), {"batch_per_gpu": count}) for count in batches],
    )
    kinds = {"page-cache": "page cache of the servers", "pinned": "data pinned in the servers' memory"}
    if work.request.cache != "none":
        ends: list[tuple[str, dict[str, object]]] = [
            ("every read from the storage", {"cache": "none"}),
            (kinds[work.request.cache], {}),
        ]
        yield "cache", "Cache in the servers", ends
    # Stacks that ran neither the network nor its family may not be able to, but for image networks.
    is_known = work.stack_choice is None or work.stack_choice.evidence not in _UNRELATED or work.dnn.sample == "image"
    if work.stack_choice is not None and work.stack_choice.others and is_known:
        stacks = (work.stack_choice.others[-1], work.stack)
        yield (
            "stack",
            "Software stack",
            [(f"{stack.name} ({stack.released.value})", {"stack": stack.id}) for stack in stacks],
        )
    if {"mixed", "fp32"} <= set(work.stack.precisions):
        yield "precision", "Precision", _precisions(work.request, work.stack.id, batch)


def _precisions(asked: Workload, stack: str, batch: int) -> list[tuple[str, dict[str, object]]]:
    """Single and mixed precision; the other one than asked with the batch that fits the same memory."""
    ratio = DEFAULT_BATCH["mixed"] // DEFAULT_BATCH["fp32"]
    other = max(1, batch // ratio) if asked.precision == "mixed" else min(MAX_BATCH, batch * ratio)
    ends: list[tuple[str, dict[str, object]]] = []
    for precision, name in (("fp32", "single precision"), ("mixed", "mixed precision")):
        is_asked = precision == asked.precision
        text = f"{name}, {_batch_text(batch if is_asked else other)}"
        changes: dict[str, object] = {"precision": precision, "batch_per_gpu": other, "stack": stack}
        ends.append((text, {} if is_asked else changes))
    return ends


def _size_text(model: WorkloadOnDesign, size: float) -> str:
    if model.work.dnn.sample == "image":
        return f"{si(size, 'B')} an image"
    return f"{si(size, 'B')} a sample"


def _data_text(model: WorkloadOnDesign, size: float) -> str:
    holds = float(usable_bytes(model.platform.storage, model.platform.capacity_option, model.storage_nodes))
    if np.isfinite(holds) and size > holds:
        return f"{si(size, 'B')}, more than the storage holds"
    return si(size, "B")


def _batch_text(count: int) -> str:
    return by_count(count, f"{grouped(count)} sample a GPU", f"{grouped(count)} samples a GPU")


def _basis(key: str) -> str:
    if key == "stack":
        return "the oldest and the newest of the stacks measured equally well"
    if key == "batch":
        return "half and twice the request; whether it fits the GPUs' memory is not checked"
    if key == "cache":
        return "without a cache, and as requested"
    if key == "precision":
        return "as requested, and the other one that the stack has; mixed precision doubles the batch that fits"
    return "half and twice the request"


def influence_table(sensitivity: Sensitivity, unit: str, number: int) -> Table:
    """Both ends of each input with the result of the design there and the servers then needed.

    ``unit`` is that of the workload's rate; ``number`` counts the workloads.
    """
    is_time = sensitivity.metric == "s"

    def value(amount: float) -> str:
        return duration(amount) if is_time else significant(amount)

    def servers(count: int | None) -> Cell:
        return Cell("–", is_muted=True) if count is None else Cell(grouped(count))

    result = "Time to train" if is_time else unit
    fields = (
        Field[Influence]("Input", lambda i: Cell(i.label, stage=i.stage), "left", 21),
        Field[Influence]("From", lambda i: i.low_text, "left", 18),
        Field[Influence](result, lambda i: value(i.low), "right", 13),
        Field[Influence]("Servers", lambda i: servers(i.low_servers), "right", 9),
        Field[Influence]("To", lambda i: i.high_text, "left", 18),
        Field[Influence](result, lambda i: value(i.high), "right", 12),
        Field[Influence]("Servers", lambda i: servers(i.high_servers), "right", 9),
    )
    note = (
        "Rates and times are those of this design. “Servers” is the number of servers that would then be needed "
        "on this platform; a dash means not determined."
    )
    caption = f"Sensitivity of {sensitivity.workload}"
    return record_table(f"influences-{number}", caption, sensitivity.influences, fields, note=note)
