"""Chapter on data: rates and capacity as charts, routes of the ingest, validation, decoded data and local copies."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.guide.storage_charts import demand_chart, ladder_chart
from sizer.physical.capacity import capacity_ladder
from sizer.present import words
from sizer.present.figures import charted
from sizer.questions.data.charts import copy_chart
from sizer.questions.data.tables import (
    assumptions_table,
    copies_table,
    decoded_table,
    routes_table,
    validation_table,
)
from sizer.questions.data.text import copy_text, questions
from sizer.sizing.constraints.stored_data import storage_demand


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/data.html`` prints."""
    design, plan, platform = context.design, context.data, context.design.platform
    steps = capacity_ladder(platform.storage, platform.capacity_option, design.storage_nodes)
    sets_bytes = storage_demand(context.answers, context.result.request.data).sets_bytes
    return {
        "demand_charts": [
            charted(
                f"demand-{number}",
                demand_chart(answer, design, context.palette),
                f"Read rate required by {answer.workload.name}, compared with the rates of the storage.",
            )
            for number, answer in enumerate(context.answers, 1)
        ],
        "capacity_chart": charted(
            "ladder-chart",
            ladder_chart(steps, sets_bytes, context.palette) if len(steps) > 2 else None,
            "From raw to usable capacity; the dashed line is the training data.",
        ),
        "ingest_paths": routes_table(plan.ingest),
        "decoded": decoded_table(plan.decoded),
        "validation": validation_table(plan.validations),
        "copies": [copy_text(copy) for copy in plan.copies],
        "copies_table": copies_table(plan.copies),
        "copy_charts": [
            charted(
                f"copy-{number}",
                copy_chart(copy, context.palette),
                f"Time of {copy.workload}: read from the storage, or staged to local drives first.",
            )
            for number, copy in enumerate(plan.copies, 1)
        ],
        "assumptions": assumptions_table(plan),
        "questions": [words.question(text) for text in questions(plan)],
    }
