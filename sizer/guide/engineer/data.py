"""Chapter on data: routes of the ingest, validation and local copies; the guide has the rates."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.questions.data.text import (
    assumptions_table,
    copy_text,
    questions,
    routes_table,
    validation_table,
)


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/data.html`` prints."""
    plan = context.data
    return {
        "ingest_paths": routes_table(plan.ingest),
        "validation": validation_table(plan.validations),
        "copies": [copy_text(copy) for copy in plan.copies],
        "assumptions": assumptions_table(plan),
        "questions": [words.question(text) for text in questions(plan)],
    }
