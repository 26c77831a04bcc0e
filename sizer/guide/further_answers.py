"""Answers to what the request asks besides its targets, for the first pages: losses, filling of the storage, growth."""

from collections.abc import Iterator

from sizer.base.quantities import by_count, si
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.questions.data.text import filling_text
from sizer.questions.failures.tables import tolerated_sentence
from sizer.questions.growth.text import demand_text, limit_texts, recommendation


def further_answers(context: GuideContext) -> list[str]:
    """One or two sentences for each further question of the request; empty where it asks none."""
    return [text for text in (*_losses(context), *_data(context), *_growth(context)) if text]


def further_needs(context: GuideContext) -> list[str]:
    """What the request asks besides its targets, and no table of the workload shows; empty where it asks nothing."""
    plan = context.growth_plan[0] if context.result.request.growth is not None else None
    if plan is None or not (changes := demand_text(plan)):
        return []
    return [f"Growth until year {plan.n_years}: {changes}."]


def _losses(context: GuideContext) -> Iterator[str]:
    yield tolerated_sentence(context.tolerated_losses, context.failures, context.answers)


def _data(context: GuideContext) -> Iterator[str]:
    asked = context.result.request.data
    plan = context.data
    if asked.ingest is not None or asked.source_bytes_per_s is not None:
        yield filling_text(plan.ingest)
    beside = plan.required.total_bytes - plan.required.sets_bytes
    if beside > 0 and (asked.snapshot_share or asked.reserve_share):
        kinds = [
            *(["snapshots"] if asked.snapshot_share else []),
            *(["reserve"] if asked.reserve_share else []),
            *(["checkpoints"] if asked.checkpoint_every_s is not None else []),
        ]
        yield (
            f"In addition to the data, {words.listed(kinds)} {by_count(len(kinds), 'takes', 'take')} "
            f"{si(beside, 'B')}; in all {si(plan.required.total_bytes, 'B')} are needed."
        )


def _growth(context: GuideContext) -> Iterator[str]:
    if context.result.request.growth is None:
        return
    plan, reason = context.growth_plan
    if plan is None:
        yield f"No purchase plan covers the growth: {reason}"
        return
    growth = plan.of(*context.design.platform.key)
    yield recommendation(growth)
    yield from limit_texts(plan, growth)
