"""The way of one sample from the disk to the gradient: six stages, what each could pass and how busy it is."""

import math

from sizer.base.quantities import by_count, si, significant
from sizer.catalog.sample_formats import SampleFormat
from sizer.drawings.palette import COLUMN_PX, QUIET_OPACITY
from sizer.drawings.shapes import LINE_SIZE, Box, Drawing, FilledBar, Label, Link
from sizer.perf.pipeline import link_sample_bytes
from sizer.sizing.result import STAGES, DesignAnswer, Stage, WorkloadAnswer

_GAP = 15.0
_MARGIN = 6.0  # of what stands inside a stage
_TOP, _HEIGHT = 30.0, 74.0
# A stage that could pass this many times the throughput does not bear on the design.
_FREE_FROM = 1000.0


def is_limit(stage: Stage, answer: WorkloadAnswer) -> bool:
    """Whether the capacity of a stage says anything: it is used, and not beyond all proportion."""
    capacity = float(stage.capacity.value)
    return math.isfinite(capacity) and capacity <= _FREE_FROM * float(answer.throughput.value)


def datapath(design: DesignAnswer, answer: WorkloadAnswer, sample_unit: str) -> Drawing:
    """Drawing of the data path of one workload. ``sample_unit`` is 'images/s' or the like."""
    stages = [stage for stage in answer.stages if stage.key in STAGES]
    width = (COLUMN_PX - _GAP * (len(stages) - 1)) / max(len(stages), 1)
    boxes, bars, labels, arrows = [], [], [], []
    for index, stage in enumerate(stages):
        x = index * (width + _GAP)
        boxes.append(Box(stage.key, x, _TOP, width, _HEIGHT, "", (), stage.key))
        labels += _inside(stage, answer, x, sample_unit)
        bars += _load_bar(stage, x, width) if is_limit(stage, answer) else []
        labels.append(Label(x, _TOP - 10, STAGES[stage.key], 9.5, stage.key, semibold=True))
        below = _happening(stage.key, design, answer)
        labels += [Label(x, _TOP + _HEIGHT + 15 + 12 * row, text, LINE_SIZE, "muted") for row, text in enumerate(below)]
        if index:
            y = _TOP + 30
            arrows.append(
                Link(
                    f"{stages[index - 1].key}--{stage.key}",
                    stages[index - 1].key,
                    stage.key,
                    ((x - _GAP + 1, y), (x - 1, y)),
                    1.4,
                    "muted",
                    arrow=True,
                )
            )
    rate = si(float(answer.throughput.value), sample_unit)
    title = f"Data path of {answer.dnn.name}: {STAGES[answer.bottleneck]} limits at {rate}"
    height = _TOP + _HEIGHT + 15 + 12 * 3
    return Drawing(COLUMN_PX, height, title, tuple(boxes), tuple(arrows), tuple(bars), tuple(labels))


def _inside(stage: Stage, answer: WorkloadAnswer, x: float, sample_unit: str) -> list[Label]:
    value, used = float((answer.throughput if stage.is_saturated else stage.capacity).value), is_limit(stage, answer)
    number, _, unit = si(value, sample_unit).rpartition("\u202f") if used else ("not limiting", "", "")
    below = (unit if stage.is_saturated else f"{unit} possible") if used else ""
    labels = [
        Label(x + _MARGIN, _TOP + 23, number, 13, "ink" if used else "muted", semibold=used),
        Label(x + _MARGIN, _TOP + 36, below, LINE_SIZE, "muted"),
    ]
    if used:
        utilization = significant(100 * stage.load_fraction, 2)
        word = "limits" if stage.is_limiting else f"{utilization} % utilized"
        labels.append(
            Label(x + _MARGIN, _TOP + 53, word, LINE_SIZE, stage.key if stage.is_limiting else "ink", stage.is_limiting)
        )
    return [label for label in labels if label.text]


def _load_bar(stage: Stage, x: float, width: float) -> list[FilledBar]:
    room = width - 2 * _MARGIN
    share = min(max(stage.load_fraction, 0.0), 1.0)
    y = _TOP + _HEIGHT - 14
    return [
        FilledBar(x + _MARGIN, y, room, 5, "hairline"),
        FilledBar(x + _MARGIN, y, room * share, 5, stage.key, 1.0 if stage.is_limiting else 1 - QUIET_OPACITY),
    ]


def _happening(key: str, design: DesignAnswer, answer: WorkloadAnswer) -> tuple[str, ...]:
    """Two or three short lines: what a stage does with a sample here."""
    if key == "storage":
        read = si(float(answer.storage_bytes_per_s.value), "B/s")
        return f"{si(answer.sample_bytes, 'B')} each", f"{read} read"
    if key == "network":
        if design.platform.storage.kind == "local":
            return "not used:", "local drives"
        per_server = float(answer.storage_bytes_per_s.value) / max(design.n_servers, 1)
        return si(per_server, "B/s"), "into each server"
    if key == "decode":
        rate = float(answer.throughput.value) / max(design.n_servers, 1)
        return f"to {si(_decoded_bytes(answer), 'B')} each", f"{significant(rate)}/s per server"
    if key == "host_link":
        return f"to {design.gpus_at_work(answer)} GPUs", "as 4-byte values"
    if key == "gpu":
        n_gpus = design.gpus_at_work(answer)
        gpus = by_count(n_gpus, "on 1 GPU", f"on {n_gpus} GPUs")
        found = answer.language
        batch = f"batch {answer.batch_per_gpu} per GPU" if found is None else f"micro batch {found.layout.micro_batch}"
        return batch, gpus
    if answer.kind.trains_language:
        layout = answer.trained.layout
        exposed = significant(100 * layout.step_shares["exposed traffic"], 2)
        return f"TP {layout.tensor}, PP {layout.pipeline}, DP {layout.data}", f"{exposed} % of a step"
    if answer.exchanged_bytes is None:
        return ()
    return f"{si(answer.exchanged_bytes, 'B')} of gradient", "a step"


def _decoded_bytes(answer: WorkloadAnswer) -> float:
    """A sample as the host passes it on; stored tensors keep their size, where their values have four bytes at most."""
    decoded = float(answer.dnn.input_bytes.value)
    if answer.sample_format is SampleFormat.TENSORS:
        return min(float(answer.sample_bytes), link_sample_bytes(decoded))
    return decoded
