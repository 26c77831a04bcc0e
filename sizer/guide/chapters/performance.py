"""Chapter on performance: rates with headroom, time to train, confidence, and the published test that it resembles."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from sizer.base.quantities import significant
from sizer.calibrate.notes import FitNote
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.figures import PageFigure, drawn
from sizer.present.performance_tables import figures_table, layout_table, models_table, serving_tables, time_table
from sizer.present.serving_charts import memory_drawing, serving_charts
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.layouts import rate_basis_text, unused_gpus_text
from sizer.present.workload_charts import figure_of, workload_data
from sizer.sizing.result import DesignAnswer, NearbyMeasurement, WorkloadAnswer

# Height of the curves over the number of GPUs: two of them and their tables stand on one page.
_CURVE_PX = 190
# Of a language model, which has two more figures on these pages.
_LOW_CURVE_PX = 130
# What the table of the workload and the drawing of the memory say.
_ELSEWHERE = ("Load", "Request", "Limits", "Memory")
_Pair: TypeAlias = tuple[WorkloadAnswer, NearbyMeasurement]


def reference_run(answer: WorkloadAnswer) -> NearbyMeasurement | None:
    """The published run nearest to a workload: of the same software where there is one."""
    alike = [run for run in answer.evidence if run.is_same_stack]
    return next(iter(alike or answer.evidence), None)


def reference_text(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """What the published test differs in, in one sentence; "" without a published run."""
    run = reference_run(answer)
    if run is None:
        return ""
    found = dict(_compared(run, answer, design))
    differences = [label for label, is_same in found.items() if is_same is False]
    unknown = [label for label, is_same in found.items() if is_same is None]
    ran = f"The published test nearest to this workload ran on {run.n_gpus} × {run.gpu}"
    if not differences and not unknown:
        return f"{ran}, with the same server and software."
    differs = f" It differs in {words.listed(differences)}." if differences else ""
    missing = f" The source does not state its {words.listed(unknown)}." if unknown else ""
    return f"{ran}.{differs}{missing}"


def _compared(
    run: NearbyMeasurement, answer: WorkloadAnswer, design: DesignAnswer
) -> Iterator[tuple[str, bool | None]]:
    """What a run and a design may have in common, and whether they do; None: the source is silent."""
    platform, n_gpus, found = design.platform, design.gpus_at_work(answer), answer.language
    # Runs of another network stand in for one that was never measured.
    if any(note.kind is FitNote.DNN_FROM_LIKE for note in answer.unmeasured):
        yield "neural network", False
    yield "number of GPUs", run.n_gpus == n_gpus
    yield "type of GPU", run.gpu == platform.gpu.name
    yield "server", run.server == platform.server.name if run.server else None
    yield "software", _is_same_software(run, answer)
    # Of a language model a run with FP8 is much faster than one with BF16.
    if found is not None and run.number_format:
        yield "number format", run.number_format == found.work.precision
    if run.batch_per_gpu is not None:
        mine = float(answer.batch_per_gpu) if found is None else found.batch / found.gpus_used
        label = "batch per GPU" if found is None else "sequences per GPU"
        yield label, math.isclose(run.batch_per_gpu, mine)


def _is_same_software(run: NearbyMeasurement, answer: WorkloadAnswer) -> bool | None:
    """Whether a run used the software of the design; None of one that states none."""
    if not run.software:
        return None
    if not run.is_same_stack:
        return False
    # On the GPUs of another vendor a language model runs on another stack than was asked for.
    return not answer.kind.trains_language or answer.trained.stack == answer.trained.work.stack


def references_table(answers: Sequence[WorkloadAnswer], design: DesignAnswer) -> Table | None:
    """The published test nearest to each workload, one line each; None without any."""
    pairs = [(answer, run) for answer in answers if (run := reference_run(answer)) is not None]
    if not pairs:
        return None
    units = {words.sample_unit(answer.dnn) for answer, _ in pairs}
    unit = f", {units.pop()}" if len(units) == 1 else ""
    fields = (
        Field[_Pair]("Workload", lambda pair: pair[0].workload.name, width=19),
        Field[_Pair]("Published test", lambda pair: _ran(pair[1]), width=27),
        Field[_Pair](f"Published rate{unit}", lambda pair: _rate(pair[1].published, pair[0], unit), "right", 19),
        Field[_Pair]("The model predicts", lambda pair: _predicted(pair[1], pair[0]), "right", 20),
        Field[_Pair]("Per GPU, test and design", lambda pair: _per_gpu(*pair, design), "right", 15),
    )
    notes = dict.fromkeys(filter(None, (outside_text(answer) for answer, _ in pairs)))
    if any(answer.job is not None and answer.job.counts for answer, _ in pairs):
        notes["Per GPU of the design: while it runs, without interruptions."] = None
    return record_table("references", "Published test nearest to each workload", pairs, fields, note=" ".join(notes))


def _ran(run: NearbyMeasurement) -> Cell:
    server = f", {run.server}" if run.server else ""
    return Cell(f"{run.n_gpus} × {run.gpu}{server}", cites=(run.source,), where=_place(run))


def _place(run: NearbyMeasurement) -> str:
    """Place inside the source; paths of log files are left to the engineer's file."""
    return "" if "/" in run.where else run.where


def _rate(rate: float, answer: WorkloadAnswer, unit: str) -> str:
    return significant(rate) if unit else f"{significant(rate)} {words.sample_unit(answer.dnn)}"


def _predicted(run: NearbyMeasurement, answer: WorkloadAnswer) -> str:
    rate = words.estimate(run.predicted, words.sample_unit(answer.dnn), bare=True)
    return f"{rate} ({result_text.gap(run.published, float(run.predicted.value))})"


def _per_gpu(answer: WorkloadAnswer, run: NearbyMeasurement, design: DesignAnswer) -> str:
    ours = float(answer.running_throughput.value) / design.gpus_at_work(answer)
    return f"{significant(run.published / run.n_gpus)} and {significant(ours)}"


def outside_text(answer: WorkloadAnswer) -> str:
    """Which way the nearest published rate moves the answer, outside the interval of its prediction; "" inside it."""
    run = reference_run(answer)
    if run is None or float(run.predicted.low) <= run.published <= float(run.predicted.high):
        return ""
    above = run.published > float(run.predicted.high)
    side, likely = ("above", "too low than too high") if above else ("below", "too high than too low")
    return (
        f"The nearest published rate lies {side} the 90\u202f% interval of its prediction: the projected rate of this "
        f"design is more likely {likely}."
    )


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/performance.html`` prints."""
    predicted = [answer for answer in context.answers if answer.rate_is_predicted]
    return {
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "models": models_table(context.answers)
        if sum(answer.serving is not None for answer in context.answers) > 1
        else None,
        "references": references_table(predicted, context.design),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> dict[str, Any]:
    """One workload; without tables and charts of rates where its GPUs are of a generation that was never measured."""
    design, trains_language = context.design, answer.kind.trains_language
    has_rates = answer.rate_is_predicted
    # Of many workloads the engineer's file has the time over the size.
    draws = {"scaling": has_rates, "accuracy": has_rates and not context.has_many_workloads}
    height = _LOW_CURVE_PX if trains_language else _CURVE_PX
    return {
        "name": answer.workload.name,
        "serving": serving_tables(design, answer, number, elsewhere=_ELSEWHERE),
        "bottleneck": "" if answer.serving is not None else result_text.limit(answer, named=False),
        "cold_epoch": result_text.cold_epoch(answer) if has_rates and answer.time is not None else "",
        "figures": figures_table(answer, number) if answer.serving is None else None,
        "time": time_table(answer, number) if has_rates else None,
        "layout": layout_table(answer, number) if has_rates else None,
        "unused_gpus": unused_gpus_text(answer, design) if has_rates else "",
        "basis": words.sentence(rate_basis_text(answer.trained)) if trains_language else "",
        "spread": result_text.spread_text(answer) if has_rates else "",
        "resembles": reference_text(answer, design) if has_rates else "",
        "charts": {
            name: figure_of(workload_data(name, answer, design.n_gpus), number, context.palette, height)
            if is_drawn
            else None
            for name, is_drawn in draws.items()
        },
        "served": serving_figures(context, answer, number),
    }


# Height of the curves of a model in use: table and drawing of its room stand on the page of two of them.
_SERVED_PX = 150


def serving_figures(context: GuideContext, answer: WorkloadAnswer, number: int) -> dict[str, PageFigure | None]:
    """Figures of a model in use by what they show; empty of other workloads."""
    asked = context.result.request.ownership
    figures: dict[str, PageFigure | None] = dict.fromkeys(("load", "memory", "capacity", "day", "cost"))
    figures |= {
        serving_chart.id: figure_of(serving_chart, number, context.palette, _SERVED_PX)
        for serving_chart in serving_charts(context.design, answer, asked)
        # What one server serves is a number of the table.
        if not (context.is_single and serving_chart.id.startswith("capacity"))
    }
    memory = memory_drawing(answer)
    return figures if memory is None else {**figures, "memory": drawn(f"memory-{number}", memory)}
