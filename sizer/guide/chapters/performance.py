"""Chapter on performance: rates with headroom, time to train, confidence, and the published test that it resembles."""

from dataclasses import dataclass
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import charts
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import figures_table, time_table
from sizer.present.reference_table import reference_table, reference_text
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.text.decisions import confidence_texts
from sizer.present.text.verdict import meets_text
from sizer.present.training_charts import accuracy_chart
from sizer.questions.scale.comparison_text import arrangements_text
from sizer.questions.scale.tables import short_table
from sizer.sizing.result import WorkloadAnswer


@dataclass(frozen=True)
class WorkloadPerformance:
    """Text, tables and figures on one workload."""

    name: str
    verdict: str
    bottleneck: str
    cold_epoch: str
    figures: Table
    time: Table | None
    stage_chart: PageFigure | None
    scaling_chart: PageFigure | None
    accuracy_chart: PageFigure | None
    resembles: str
    reference: Table | None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/performance.html`` prints."""
    return {
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "confidence": confidence_texts(context.result, context.surer),
        "scale": scale_section(context),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadPerformance:
    palette, n_gpus = context.palette, context.design.n_gpus
    circles = " Circles are published runs with this software, some on other servers." if answer.evidence else ""
    return WorkloadPerformance(
        name=answer.workload.name,
        verdict=meets_text(answer),
        bottleneck=result_text.limit(answer, named=False),
        cold_epoch=result_text.cold_epoch(answer) if answer.time is not None else "",
        figures=figures_table(answer, number),
        time=time_table(answer, number),
        stage_chart=charted(
            f"stage-chart-{number}",
            charts.stage_chart(answer, palette),
            "Capacity of each stage. The filled bar is the bottleneck; thin lines are 90 % intervals; "
            "bars with an arrow are truncated.",
        ),
        scaling_chart=charted(
            f"scaling-chart-{number}",
            charts.scaling_chart(answer, n_gpus, palette) if answer.scaling.n_gpus.size > 1 else None,
            "Projected throughput by number of GPUs, with storage and platform fixed." + circles,
        ),
        accuracy_chart=charted(
            f"accuracy-chart-{number}",
            accuracy_chart(answer, n_gpus, palette),
            "More GPUs shorten an epoch, but a larger global batch may need more epochs. "
            "The band is the 90 % interval.",
        ),
        resembles=reference_text(answer, context.design),
        reference=reference_table(answer, context.design, number),
    )


@dataclass(frozen=True)
class ScaleSection:
    """Text and table on the same GPUs in fewer or in more servers."""

    lead: str
    table: Table


def scale_section(context: GuideContext) -> ScaleSection | None:
    """The section; None where the request allows no second server type for the same number of GPUs."""
    same = context.same_gpus
    if same is None:
        return None
    ways = [way for way in same.designs if way.arrangement.is_allowed and way.arrangement.kind != "spread"]
    return ScaleSection(arrangements_text(same, ways, context.design.storage_nodes), short_table(ways))
