"""Further answers and cautions for the first pages: losses, filling of the storage, growth; spares, feeds."""

import math
from collections.abc import Iterator

from sizer.base.quantities import by_count, grouped, si, significant
from sizer.bom.bill import BillWarningKind
from sizer.guide.chapters.team import turns_text
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.availability import missing_spares_text
from sizer.present.bill_tables import category_prices
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import delivery_sentences, not_ordered, service_end_sentences
from sizer.present.text.layouts import unused_gpus_text
from sizer.present.text.limits import budget_likely_text
from sizer.present.text.money import price_range_text
from sizer.present.text.plan import feed_loss_remedies, few_supplies_text
from sizer.present.text.verdict import rented_run_text, served_cautions, site_texts
from sizer.present.text.warnings import storage_need_sentences
from sizer.questions.data.text import filling_text
from sizer.questions.failures.text import tolerated_sentence
from sizer.questions.growth.text import demand_text, limit_texts, recommendation
from sizer.questions.maximum.text import binding_limit_sentences
from sizer.questions.ownership.text import owning_text
from sizer.questions.rent.rent_or_buy import offer_text
from sizer.sizing.design.spares import spare_servers
from sizer.sizing.reasons import RateNeed

# Of a need, beyond which a reader is told that less would do.
_MUCH = 10
# Parts of which a design may have one only.
_SINGLE_POINTS = {
    "leaf": "the switch of the compute fabric",
    "front-end-switch": "the switch of the storage front end",
    "gateway": "the gateway",
}
SINGLE_POINTS_REMEDY = "accept the outage until the repair, keep a spare on site, or have the design sized for the loss"


def single_points(context: GuideContext) -> list[str]:
    """Parts besides servers whose loss stops everything."""
    return [
        _SINGLE_POINTS[case.key]
        for case in context.failures
        if case.key in _SINGLE_POINTS and case.rate_is_known and not any(case.share)
    ]


def further_answers(context: GuideContext) -> list[str]:
    """One or two sentences for each further question of the request; empty where it asks none."""
    parts = (_maximum, _lengths, _losses, _data, _growth, _money)
    return [text for part in parts for text in part(context) if text]


def cautions(context: GuideContext) -> list[str]:
    """What a reader of the first pages must know besides: GPUs without work, missing spares."""
    parts = (_life_cycle, _unused, _budget, _spares)
    return [
        *served_cautions(context.result),
        *site_texts(context.result),
        *(text for part in parts for text in part(context) if text),
    ]


def decisions(context: GuideContext) -> list[str]:
    """What the customer decides before the order, and by when."""
    result, design, surer = context.result, context.design, context.surer
    bill, found = design.bill, []
    if surer is not None:
        found.append(
            f"Confidence: {words.chance(design.probability)} with this design, or {words.chance(surer.probability)} "
            f"with {surer.name} ({price_range_text(surer)})."
        )
    if context.taking_turns:
        found.append(f"Training and team {'. '.join(turns_text(context))}.")
    if rented := rented_run_text(result):
        found.append(f"Rent or buy: {words.inside_sentence(rented)}")
    if other := other_parts(context):
        found.append(other)
    elif any(warning.kind is BillWarningKind.SALE_ENDED for warning in bill.warnings):
        found.append("Equipment that is no longer sold: confirm that it is in stock, or allow other parts.")
    need = design.storage_need
    if need is not None and need.rate_need is RateNeed.USUAL_CAPACITY and need.rate_decides:
        price = category_prices(result, context.catalog, result.request.currency).get("storage", "")
        found.append(f"Storage{f' of {price}' if price else ''}: {storage_need_sentences(design)[0]}")
    if few_supplies_text(design.plan):
        ways = words.listed(feed_loss_remedies(design.plan), "or")
        found.append(f"Power feeds, before they are ordered: {ways}, or accept that servers stop with a feed.")
    if names := single_points(context):
        found.append(f"Single points, {words.listed(names)}: {SINGLE_POINTS_REMEDY}.")
    if remedy := spare_remedy(context):
        found.append(f"Spares: {remedy}, or accept that the job waits for the repair, which goodput does not count.")
    by = "" if bill.valid_until is None else f" by {words.date(bill.valid_until)}"
    lines = bill.net_total.n_open
    if lines:
        found.append(f"Quotes{by}: {words.plural(lines, 'line')} of the bill.")
    elif bill.net_total.amount or design.servers_bought:
        found.append(f"Order{by}.")
    return [*found, *(delivery_sentences(bill.warnings) if result.request.needed_by is not None else ())]


def other_parts(context: GuideContext) -> str:
    """What parts that the request excludes would cost, where they are expected to cost less; "" elsewhere."""
    option, cost = context.on_sale, context.design.cost
    if option is None or option.design.cost is None or cost is None or not option.design.cost.expected < cost.expected:
        return ""
    gone = not_ordered(context.design, context.result.request.date)
    why = f"{words.listed(gone)} {by_count(len(gone), 'is', 'are')} no longer sold; " if gone else ""
    needs = [(float(answer.throughput.value), answer.required_samples_per_s) for answer in context.answers]
    ahead = [rate / need for rate, need in needs if need]
    if not why and context.design.n_servers == 1 and ahead and (times := min(ahead)) >= _MUCH:
        why = f"the smallest server with the parts asked for does {significant(times, 2)} times the need; "
    other = f"{option.design.name} ({price_range_text(option.design)})"
    mine = price_range_text(context.design)
    return f"Parts: {why}allow {other}, or keep to the parts asked for ({mine})."


def spare_remedy(context: GuideContext) -> str:
    """What gives the longest job the spare servers that goodput counts on; "" where none are missing.

    Of racks of many hosts some GPUs are enough; a job goes on with whole replicas only: for 16 GPUs of a training on 9
    replicas of 4 x 16 GPUs one replica, 64 GPUs. A design that tolerates the loss of a server has its spare.
    """
    if context.is_single or "server" in context.result.request.resilience.keeps_targets_without:
        return ""
    for answer in context.answers:
        spares = spare_servers(context.design, answer)
        if answer.job is None or not answer.job.counts or spares is None or not spares.missing:
            continue
        if spares.gpus_each is None:
            return f"add {words.plural(spares.missing, 'spare server')}, which covers repairs of a day"
        gpus, more = spares.missing * spares.gpus_each, f"add one {context.design.platform.server.name}"
        if not answer.kind.trains_language:
            return f"leave {words.plural(gpus, 'GPU')} out of the job, {more}"
        layout = answer.trained.layout
        each = layout.tensor * layout.pipeline * layout.context
        replicas = math.ceil(gpus / each)
        if replicas >= layout.data:
            return more
        of = f"{grouped(replicas)} of {words.plural(layout.data, 'replica')}"
        return f"leave {of} ({words.plural(replicas * each, 'GPU')}) out of the job, {more}"
    return ""


def asks_for_filling(context: GuideContext) -> bool:
    """Whether the request states how the data arrive."""
    asked = context.result.request.data
    return asked.ingest is not None or asked.source_bytes_per_s is not None


def further_needs(context: GuideContext) -> list[str]:
    """What the request asks besides its targets, and no table of the workload shows; empty where it asks nothing."""
    plan = context.growth_plan[0] if context.result.request.growth is not None else None
    if plan is None or not (changes := demand_text(plan)):
        return []
    until = f"Growth until year {plan.n_years}"
    return [f"{until}: {changes}." if plan.unmet is None else f"{until} of {plan.growth.years}: {changes}."]


def _spares(context: GuideContext) -> Iterator[str]:
    """Only where a design has several servers: one more of them can take the place of any."""
    if context.design.n_servers > 1:
        yield next(filter(None, (missing_spares_text(context.design, answer) for answer in context.answers)), "")


def _life_cycle(context: GuideContext) -> Iterator[str]:
    """A published end of service of the main parts."""
    yield from service_end_sentences(context.design)


def _unused(context: GuideContext) -> Iterator[str]:
    yield from (unused_gpus_text(answer, context.design) for answer in context.answers)


def _lengths(context: GuideContext) -> Iterator[str]:
    """How long a training of given epochs takes whose target is no time; the first sentence says it of tokens."""
    for answer in context.answers:
        work = answer.workload
        is_asked = not answer.kind.trains_language and work.epochs is not None
        if answer.time is not None and is_asked and work.target.time_to_train_s is None and answer.rate_is_predicted:
            name = f"{work.name}: " if context.has_many_workloads else ""
            length = result_text.epochs_text(answer)
            yield words.capital(f"{name}{length} take {words.estimate(answer.time.total_s, 's')} to train.")


def _maximum(context: GuideContext) -> Iterator[str]:
    """Which limit binds, and what its next step brings."""
    yield from binding_limit_sentences(context.result, with_amounts=False)


def _budget(context: GuideContext) -> Iterator[str]:
    """How likely the budget is kept, where prices are missing."""
    request = context.result.request
    if request.limits.budget is not None and (likely := budget_likely_text(context.result)):
        yield f"Budget of {words.money(words.whole(request.limits.budget), request.currency)}: {likely}."


def _losses(context: GuideContext) -> Iterator[str]:
    yield tolerated_sentence(context.tolerated_losses, context.failures, context.answers)


def _data(context: GuideContext) -> Iterator[str]:
    asked = context.result.request.data
    plan = context.data
    if asks_for_filling(context):
        yield filling_text(plan.ingest)
    added_bytes = plan.required.total_bytes - plan.required.sets_bytes
    if added_bytes > 0 and (asked.snapshot_share or asked.reserve_share):
        kinds = [
            *(["snapshots"] if asked.snapshot_share else []),
            *(["reserve"] if asked.reserve_share else []),
            *(["checkpoints"] if asked.checkpoint_every_s is not None else []),
        ]
        verb = "takes" if kinds == ["reserve"] else "take"
        yield (
            f"In addition to the data, {words.listed(kinds)} {verb} "
            f"{si(added_bytes, 'B')}; in all {si(plan.required.total_bytes, 'B')} are needed."
        )


def _money(context: GuideContext) -> Iterator[str]:
    """What owning and renting cost."""
    yield owning_text(context.ownership)
    yield offer_text(context.result)


def _growth(context: GuideContext) -> Iterator[str]:
    if context.result.request.growth is None:
        return
    plan, reason = context.growth_plan
    if plan is None:
        yield f"No purchase plan covers the growth: {reason}"
        return
    growth = plan.of(context.design.platform.key)
    yield recommendation(growth)
    yield from limit_texts(plan, growth)
