"""Charts of a language model's training: where the time of a step goes, and what fills the memory of a GPU."""

from sizer.base.quantities import significant
from sizer.perf.language.step import GIB
from sizer.present import words
from sizer.present.charting import COLUMN_PX, LIGHT, QUIET_OPACITY, Chart, ChartBar, Palette, bar_chart
from sizer.sizing.result import WorkloadAnswer

# Names of what a GPU holds, in the order in which it is shown.
MEMORY_PARTS = {
    "state": "Model state",
    "activations": "Activations",
    "logits": "Output layer",
    "runtime": "Libraries and buffers",
}


def step_chart(answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Parts of a step, each beginning where the last one ends; None of other workloads."""
    found = answer.language
    if found is None:
        return None
    step = sum(found.layout.step_s.values())
    bars, start = [], 0.0
    for name, share in found.layout.step_shares.items():
        end = start + share * step
        text = f"{significant(share * step, 2)} s, {words.percent(share)}"
        is_work = name in ("compute", "attention")
        colour = palette.stages["gpu"] if is_work else palette.other
        bars.append(ChartBar(words.capital(name), end, text, colour, start=start))
        start = end
    return bar_chart(bars, step_finding(answer), "seconds of a step", palette, width)


def step_finding(answer: WorkloadAnswer) -> str:
    """Title of the chart of a step."""
    found = answer.language
    assert found is not None  # asked of language models only
    shares = found.layout.step_shares
    work = shares["compute"] + shares["attention"]
    rest = max((name for name in shares if name not in ("compute", "attention")), key=lambda name: shares[name])
    name = "the fixed time of a step" if rest == "fixed" else rest
    return f"{words.percent(work)} of a step is computing; the largest loss is {name}, {words.percent(shares[rest])}"


def memory_chart(answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """What the fullest GPU holds, each part beginning where the last one ends, with its memory as a line."""
    found, memory = answer.language, answer.memory
    if found is None:
        return None
    bars, start = [], 0.0
    for name, label in MEMORY_PARTS.items():
        end = start + found.layout.memory_parts[name] / GIB
        # Values stand with the names: next to the bars the line of the GPU's memory would run through them.
        name_text = f"{label}: {significant(end - start)}{words.NO_BREAK}GiB"
        bars.append(ChartBar(name_text, end, "", palette.stages["gpu"], start=start))
        start = end
    low, high = float(found.layout.memory_bytes.low) / GIB, float(found.layout.memory_bytes.high) / GIB
    total = ChartBar(
        f"Sum, 90 % interval: {significant(start)}{words.NO_BREAK}GiB",
        start,
        "",
        palette.other,
        interval=(low, high),
        fill=QUIET_OPACITY,
    )
    size = memory.memory_bytes / GIB
    reference = (size, f"memory {significant(size)}{words.NO_BREAK}GiB")
    return bar_chart([*bars, total], memory_finding(answer), "GiB of a GPU", palette, width, reference=reference)


def memory_finding(answer: WorkloadAnswer) -> str:
    """Title of the chart of GPU memory."""
    found, memory = answer.language, answer.memory
    assert found is not None  # asked of language models only
    parts = found.layout.memory_parts
    most = max(parts, key=lambda name: parts[name])
    share = float(found.layout.memory_bytes.value) / memory.memory_bytes
    return (
        f"{words.percent(share)} of the {significant(memory.memory_bytes / GIB)} GiB of a GPU are filled; largest "
        f"part: {MEMORY_PARTS[most].lower()}"
    )
