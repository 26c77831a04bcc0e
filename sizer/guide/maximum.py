"""What the limits allow, for requests that ask for the highest rate: the answer, and the front of each limit."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.figures import charted
from sizer.questions.maximum.charts import front_chart
from sizer.questions.maximum.tables import LIMIT_NAMES, front_table
from sizer.questions.maximum.text import maximum_sentences


def applies(context: GuideContext) -> bool:
    """Whether the request asks for the highest rate."""
    return context.result.maximum is not None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/maximum.html`` prints."""
    result = context.result
    fronts = result.maximum.fronts if result.maximum is not None else ()
    return {
        "findings": maximum_sentences(result, with_amounts=False),
        "fronts": [
            {
                "chart": charted(
                    f"maximum-{front.limit.value.replace('_', '-')}-chart",
                    front_chart(front, result, context.palette),
                    f"Highest rate by {LIMIT_NAMES[front.limit]}. Pale bars lie beyond the limit; the coloured bar is "
                    "the described design.",
                ),
                "table": front_table(front, result, with_amounts=False),
            }
            for front in fronts
        ],
    }
