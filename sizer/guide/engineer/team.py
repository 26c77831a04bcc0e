"""The team in detail: where its numbers come from, sizes, reads over time, fragmentation."""

from typing import Any

from sizer.guide.chapters.team import fragmentation
from sizer.guide.context import GuideContext
from sizer.present.figures import charted
from sizer.questions.team.charts import reads_chart
from sizer.questions.team.text import assumptions, gpus_table, sizes_table, sources_table


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/team.html`` prints."""
    answer = context.team
    assert answer is not None  # the chapter would not apply
    return {
        "origins": sources_table(answer),
        "sizes": sizes_table(answer),
        "reads_chart": charted(
            "team-reads-chart",
            reads_chart(answer, context.palette),
            "For each share of the time, the rate that all running jobs together do not exceed.",
        ),
        "gpus": gpus_table(answer.run),
        "fragments": fragmentation(answer) if answer.model.case.queue else "",
        "assumptions": list(assumptions(answer)),
    }
