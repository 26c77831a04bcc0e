"""Chapter on validation: predictions of the model for published runs close to this design."""

from dataclasses import dataclass
from typing import Any

from sizer.evidence.parity import answer_parity_chart
from sizer.guide.context import GuideContext
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import evidence_table
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.sizing.result import WorkloadAnswer

_CHART_PX = 240


@dataclass(frozen=True)
class WorkloadEvidence:
    """Published runs close to one workload."""

    name: str
    uncertainty: str  # components of the uncertainty of the GPU rate
    table: Table
    chart: PageFigure | None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/validation.html`` prints."""
    return {
        "parts": [part for number, answer in enumerate(context.answers, 1) if (part := _part(context, answer, number))]
    }


def _part(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadEvidence | None:
    table = evidence_table(answer, number)
    if table is None:
        return None
    return WorkloadEvidence(answer.workload.name, result_text.width(answer), table, _chart(context, answer, number))


def _chart(context: GuideContext, answer: WorkloadAnswer, number: int) -> PageFigure | None:
    chart = answer_parity_chart(answer, context.palette, height=_CHART_PX)
    if chart is None:
        return None
    caption = (
        "Predicted and published rates of the runs below, with the 90 % interval of each prediction. "
        "The band is ± 10 %, the dashed lines a factor of two; filled marks are outside their interval."
    )
    return charted(f"evidence-chart-{number}", chart, caption)
