"""Chapter on availability: interruptions, goodput, spare servers, and storage that pays for itself."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.availability import availability_table
from sizer.questions.failures.goodput import question_of
from sizer.questions.failures.storage_worth import Pays, storage_worth, worth_table, worth_text


def applies(context: GuideContext) -> bool:
    """Whether a training is large, or asks for checkpoints, and its rate is predicted."""
    return any(answer.job is not None and answer.rate_is_predicted for answer in context.answers)


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/availability.html`` prints."""
    parts = []
    for number, answer in enumerate(context.answers, 1):
        table = availability_table(context.design, answer, number)
        if table is None:
            continue
        question = question_of(context.design, answer)
        worth = None if question is None else storage_worth(context.evaluated, question)
        is_worth_reading = worth is not None and any(row.pays in (Pays.YES, Pays.OPEN) for row in worth.rows)
        parts.append(
            {
                "name": answer.workload.name if context.has_many_workloads else "",
                "counts": answer.job is not None and answer.job.counts,
                "table": table,
                "worth": worth_table(worth, number) if worth is not None and is_worth_reading else None,
                "worth_text": "" if worth is None else worth_text(worth),
            }
        )
    return {"workloads": parts, "is_one_server": context.design.n_servers == 1}
