"""Chapter on validation: predictions of the model for published runs close to this design."""

from typing import Any

from sizer.evidence.parity import answer_parity_chart
from sizer.guide.context import GuideContext
from sizer.present.figures import charted
from sizer.present.performance_tables import evidence_table
from sizer.present.text import result_text

_CHART_PX = 240


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/validation.html`` prints: published runs close to each workload."""
    caption = (
        "Predicted and published rates of the runs below, with the 90 % interval of each prediction. "
        "The band is ± 10 %, the dashed lines a factor of two; filled marks are outside their interval."
    )
    return {
        "parts": [
            {
                "name": answer.workload.name,
                "uncertainty": result_text.width(answer),
                "table": table,
                "chart": charted(
                    f"evidence-chart-{number}",
                    answer_parity_chart(answer, context.palette, height=_CHART_PX),
                    caption,
                ),
            }
            for number, answer in enumerate(context.answers, 1)
            if (table := evidence_table(answer, number)) is not None
        ]
    }
