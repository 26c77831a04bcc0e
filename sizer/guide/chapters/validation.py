"""Chapter 9: what the model says about published runs, near this design and overall."""

from dataclasses import dataclass
from typing import Any

from sizer.evidence.answer import answer_parity_chart
from sizer.guide.chapters.case import Case
from sizer.present import result_text
from sizer.present.charting import chart_svg
from sizer.present.figures import Figure
from sizer.present.performance_tables import evidence_table
from sizer.present.tables import Table
from sizer.sizing.result import WorkloadAnswer

_CHART_PX = 280
# The short guide lists this many of the nearest runs.
_SHORT_RUNS = 4


@dataclass(frozen=True)
class EvidencePart:
    """The measurements near one workload."""

    name: str
    width: str  # what the interval of the GPUs' rate consists of
    table: Table
    chart: Figure | None


def content(case: Case) -> dict[str, Any]:
    """What ``sections/validation.html`` prints."""
    return {"parts": [part for number, answer in enumerate(case.answers, 1) if (part := _part(case, answer, number))]}


def _part(case: Case, answer: WorkloadAnswer, number: int) -> EvidencePart | None:
    table = evidence_table(answer, number, None if case.is_full else _SHORT_RUNS)
    if table is None:
        return None
    return EvidencePart(answer.workload.name, result_text.width(answer), table, _chart(case, answer, number))


def _chart(case: Case, answer: WorkloadAnswer, number: int) -> Figure | None:
    chart = answer_parity_chart(answer, case.palette, height=_CHART_PX) if case.is_full else None
    if chart is None:
        return None
    caption = (
        "Predicted against published rates of the runs below, with the 90 % interval of each "
        "prediction. The band is ± 10 %, the dashed lines are twice and half; a filled mark was "
        "published outside its interval."
    )
    return Figure(f"evidence-chart-{number}", caption, chart_svg(chart))
