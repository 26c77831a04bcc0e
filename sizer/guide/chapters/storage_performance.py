"""Chapter on the performance of the storage: reads, writes, checkpoints, restarts, tiers and published levels."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.availability import checkpoint_table, checkpoint_text, cycle_chart
from sizer.present.figures import charted
from sizer.present.storage_streams import level_table, staging_text, streams_table, tiers_table, together_text
from sizer.sizing.design.storage_need import demand_over_time, writes_one_checkpoint
from sizer.workload.checkpoints import other_streams


def applies(context: GuideContext) -> bool:
    """Whether something is written besides the data sets, or two tiers hold them."""
    return (
        any(answer.job is not None and answer.job.checkpoints.is_asked for answer in context.answers)
        or not other_streams(context.result.request).is_nothing
        or context.design.platform.second_tier is not None
    )


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/storage-performance.html`` prints."""
    design, request = context.design, context.result.request
    return {
        "together": together_text(demand_over_time(design, request)),
        "streams": streams_table(design, request),
        "checkpoints": [
            (checkpoint_text(design, answer), table, _cycle(context, number))
            for number, answer in enumerate(context.answers, 1)
            if answer.job is not None
            and answer.job.checkpoints.is_asked
            and (table := checkpoint_table(design, answer, number)) is not None
        ],
        "staging": staging_text(design, request),
        "tiers": tiers_table(design),
        "levels": level_table(design) if request.data.storage_level not in (None, "none") else None,
    }


def _cycle(context: GuideContext, number: int) -> Any:
    answer = context.answers[number - 1]
    job = answer.job
    # A run that ends before its first checkpoint has no cycle.
    return charted(
        f"cycle-chart-{number}",
        None
        if job is None or writes_one_checkpoint(answer)
        else cycle_chart(job.plan, context.palette, waits=job.checkpoints.waits),
        "One interval with its checkpoint, and an average interruption after it. Goodput and figure count the time "
        "that writing and loading are allowed, not the shorter one that the storage takes.",
    )
