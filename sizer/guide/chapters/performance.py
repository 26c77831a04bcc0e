"""Chapter on performance: rates with headroom, time to train, confidence, and the published test that it resembles."""

from dataclasses import dataclass, replace
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import charts, words
from sizer.present.figures import PageFigure, charted
from sizer.present.language_charts import memory_chart, step_chart
from sizer.present.performance_tables import (
    figures_table,
    layout_table,
    serving_table,
    stage_note,
    time_table,
)
from sizer.present.reference_table import reference_text, references_table
from sizer.present.serving_charts import load_caption, load_chart, serving_memory_chart
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.text.decisions import confidence_texts
from sizer.present.text.layouts import rate_basis_text, unused_gpus_text
from sizer.present.text.verdict import meets_text
from sizer.present.training_charts import accuracy_caption, accuracy_chart
from sizer.sizing.result import WorkloadAnswer

# Height of the curves over the number of GPUs: two of them and their tables stand on one page.
_CURVE_PX = 190
# Of a language model, which has two more figures on these pages.
_LOW_CURVE_PX = 130


@dataclass(frozen=True)
class WorkloadPerformance:
    """Text, tables and figures on one workload."""

    name: str
    verdict: str
    serving: Table | None  # replicas, latencies and memory of a language model in use
    serving_charts: tuple[PageFigure, ...]
    bottleneck: str
    cold_epoch: str
    figures: Table
    time: Table | None
    stage_chart: PageFigure | None
    scaling_chart: PageFigure | None
    accuracy_chart: PageFigure | None
    resembles: str
    layout: Table | None  # of a language model, with the next one
    unused_gpus: str  # that the layout leaves some without work; "" where it does not
    basis: str  # published runs that the rate of a language model rests on
    step_chart: PageFigure | None
    memory_chart: PageFigure | None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/performance.html`` prints."""
    predicted = [answer for answer in context.answers if answer.rate_is_predicted]
    return {
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "confidence": confidence_texts(context.result),
        "references": references_table(predicted, context.design),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadPerformance:
    """One workload; without tables and charts of rates where its GPUs are of a generation that was never measured."""
    found = _with_rates(context, answer, number)
    if answer.rate_is_predicted:
        return found
    return replace(
        found,
        cold_epoch="",
        time=None,
        stage_chart=None,
        scaling_chart=None,
        accuracy_chart=None,
        resembles="",
        layout=None,
        unused_gpus="",
        step_chart=None,
    )


def _with_rates(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadPerformance:
    palette, n_gpus = context.palette, context.design.n_gpus
    height = _CURVE_PX if not answer.kind.trains_language else _LOW_CURVE_PX
    return WorkloadPerformance(
        name=answer.workload.name,
        verdict=meets_text(context.result, answer),
        serving=serving_table(context.design, answer, number),
        serving_charts=_serving_charts(context, answer, number),
        bottleneck=result_text.limit(answer, named=False),
        cold_epoch=result_text.cold_epoch(answer) if answer.time is not None else "",
        figures=figures_table(answer, number),
        time=time_table(answer, number),
        stage_chart=charted(
            f"stage-chart-{number}",
            charts.stage_chart(answer, palette) if charts.n_limits(answer) > 1 else None,
            f"{charts.stage_caption(answer)} {stage_note(answer)}".rstrip(),
        ),
        scaling_chart=charted(
            f"scaling-chart-{number}",
            charts.scaling_chart(answer, n_gpus, palette, height=height)
            if answer.scaling.n_gpus.size > 1 and answer.serving is None  # replicas add
            else None,
            "Projected throughput by number of GPUs, with storage and platform fixed.",
        ),
        accuracy_chart=charted(
            f"accuracy-chart-{number}",
            None if context.has_many_workloads else accuracy_chart(answer, n_gpus, palette, height=height),
            accuracy_caption(answer),
        ),
        layout=layout_table(answer, number),
        unused_gpus=unused_gpus_text(answer, context.design),
        basis=words.sentence(rate_basis_text(answer.trained)) if answer.kind.trains_language else "",
        step_chart=charted(
            f"step-chart-{number}",
            step_chart(answer, palette),
            "A step of the chosen layout. Traffic that is hidden behind computing is not shown.",
        ),
        memory_chart=charted(
            f"memory-chart-{number}",
            memory_chart(answer, palette),
            "GPU of the fullest pipeline stage. A layout counts as one that fits if its probability is at least 90 %, "
            "or if it was published for this model and GPU.",
        ),
        resembles=reference_text(answer, context.design),
    )


def _serving_charts(context: GuideContext, answer: WorkloadAnswer, number: int) -> tuple[PageFigure, ...]:
    """Output against pace, and memory, of a language model in use."""
    if answer.serving is None:
        return ()
    drawn = (
        charted(f"load-chart-{number}", load_chart(answer, context.palette), f"{load_caption(answer)}."),
        charted(
            f"serving-memory-chart-{number}",
            serving_memory_chart(answer, context.palette),
            "Memory of a GPU at this load; keys and values grow with the requests in flight.",
        ),
    )
    return tuple(one for one in drawn if one is not None)
