"""The deck of an answer: 8 to 12 slides from the need to the next steps; ``architecture`` has those of the middle."""

import base64
from dataclasses import replace

from sizer.base.quantities import grouped, significant
from sizer.catalog.model import Catalog
from sizer.deck import architecture
from sizer.deck.blocks import (
    Block,
    Branding,
    ChartBlock,
    KeyFigure,
    KeyFigures,
    Paragraphs,
    Slide,
    SlideColumn,
    TableBlock,
    TitleSlide,
    notes,
    with_columns,
)
from sizer.deck.presentation import written
from sizer.guide.chapters import decisions as decisions_chapter
from sizer.guide.chapters import growth as growth_chapter
from sizer.guide.chapters import risks as risks_chapter
from sizer.guide.chapters import summary
from sizer.guide.chapters import team as team_chapter
from sizer.guide.chapters.compliance import requirements
from sizer.guide.chapters.requirements import conditions_table
from sizer.guide.context import GuideContext, guide_context
from sizer.guide.front_matter import LEGAL_NOTICE, budget_line, footer, key_figures, kind_name
from sizer.guide.further_answers import asks_for_filling, cautions, decisions, further_answers, further_needs
from sizer.guide.profile import GUIDE, Edition
from sizer.present import words
from sizer.present.bill_tables import cost_table, price_note
from sizer.present.charts import scaling_data
from sizer.present.tables import Cell, Field, Table, record_table, row
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import delivery_sentences
from sizer.present.text.checks import ONE_LOST, conditional_sentence
from sizer.present.text.decisions import confidence_texts
from sizer.present.text.design_size import asked_target_text, binding_text, required_rate_text
from sizer.present.text.verdict import proposal_text, reason_texts, selection_text
from sizer.questions.data.text import filling_text, required_capacity_table, routes_table
from sizer.questions.failures.text import tolerated_losses_table
from sizer.questions.growth.text import findings, purchases_table, recommendation
from sizer.questions.maximum.text import maximum_sentences, rate_text
from sizer.questions.ownership.text import owning_text
from sizer.questions.rent.rent_or_buy import offer_text
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.text import least_served, wait_text, waits_table
from sizer.sizing.checks import CheckResult
from sizer.sizing.reasons import BindingKind, SelectionKind
from sizer.sizing.result import SizingResult, WorkloadAnswer

# Letters of a title that fit in two lines.
_LONGEST_TITLE = 120
# What a meeting does not need of the constraints.
_NOT_SHOWN = ("Excluded servers", "Excluded storage", "Racks and PDUs")
_MEETS = {CheckResult.MET: "meets", CheckResult.NOT_MET: "does not meet", CheckResult.OPEN: "may meet"}
_TASKS = {
    "training": "training",
    "validation-inference": "batch inference",
    "serving": "for users",
    "generation": "on stored texts",
}


def title(context: GuideContext) -> TitleSlide:
    """Whose design it is, what is proposed, and four numbers."""
    result, request, profile = context.result, context.result.request, context.edition.profile
    author = request.quote.prepared_by or profile.company
    customer = request.customer
    facts = (
        f"Prepared for {customer}" if customer else "",
        f"Prepared by {author}" if author else "",
        words.date(request.date) if request.date is not None else "",
    )
    figures = tuple(KeyFigure(value, label) for label, value in key_figures(result))
    return TitleSlide(
        kicker=kind_name(result, context.edition),
        title=request.title,
        subtitle=_subtitle(context),
        facts=tuple(filter(None, facts)),
        figures=KeyFigures(figures),
        small_print=profile.legal or LEGAL_NOTICE,
        notes=(budget_line(result),),
    )


def _subtitle(context: GuideContext) -> str:
    if context.has_many_workloads:
        return f"{context.design.name} for {words.spelled(len(context.answers))} workloads"
    return words.sentence(proposal_text(context.result, takes_turns=bool(context.taking_turns)))


def need(context: GuideContext) -> Slide:
    """What the customer wants to do, and within which limits."""
    table = conditions_table(context.result, context.catalog)
    shown = tuple(one for one in table.rows if one.cells[0].text not in _NOT_SHOWN)
    head = "Why a cluster is needed" if context.result.needs_cluster else "Why one server is enough"
    reasons = tuple(words.sentence(text) for text in [*further_needs(context), *reason_texts(context.result)])
    workloads = TableBlock(_workloads(context))
    is_alone = len(workloads.table.rows) == 1
    # Next to text, the column of the labels takes a larger share.
    widths = {0: 44, 1: 56} if is_alone else {0: 24, 1: 76}
    constraints = TableBlock(with_columns(replace(table, rows=shown), widths), "the guide lists all constraints")
    if not is_alone:
        return Slide(
            topic="The need",
            title=_need_finding(context),
            columns=(SlideColumn((workloads, constraints)),),
            notes=notes(context, [*summary.needs(context), *reasons]),
        )
    return Slide(
        topic="The need",
        title=_need_finding(context),
        top=workloads,
        columns=(
            SlideColumn((constraints,), 50),
            SlideColumn((Paragraphs(reasons, head),), 50),
        ),
        notes=notes(context, summary.needs(context)),
    )


def _need_finding(context: GuideContext) -> str:
    team, answers = context.result.request.team, context.answers
    count = len(answers)
    if team is not None:
        who = words.plural(team.data_scientists, "data scientist") if team.data_scientists else "a team"
        return f"The need: GPUs for {who}; {wait_text(team)}"
    if count > 1:
        return f"The need: {words.spelled(count)} workloads on one system, each with its own target"
    answer = answers[0]
    return f"The need: {answer.dnn.name} {_TASKS[answer.workload.task]}, {asked_target_text(context.result, answer)}"


def _workloads(context: GuideContext) -> Table:
    """One row for each workload, and one for the team."""
    table = record_table(
        "need",
        "Workloads and their targets",
        context.answers,
        [
            Field("Workload", lambda answer: answer.workload.name, width=20),
            Field(
                "Task",
                result_text.network_text,
                width=28,
            ),
            Field("Model store" if context.design.only_serves else "Data set", result_text.dataset_text, width=30),
            Field("Target", lambda answer: _target(context, answer), width=22),
        ],
    )
    team = context.result.request.team
    if team is None:
        return table
    who = words.plural(team.data_scientists, "data scientist") if team.data_scientists else "A team"
    jobs = row("Team", f"{who} with {words.plural(len(team.job), 'job type')}", "", words.capital(wait_text(team)))
    return replace(table, rows=(*table.rows, jobs))


def _target(context: GuideContext, answer: WorkloadAnswer) -> str:
    """The target as the request states it, with the rate that one in time takes."""
    needed = required_rate_text(answer)
    return asked_target_text(context.result, answer) + (f", which takes {needed}" if needed else "")


def verdict(context: GuideContext) -> Slide:
    """What to buy, whether it does the job, and what it costs."""
    result, design = context.result, context.design
    told = confidence_texts(result) or [*filter(None, [conditional_sentence(design)])]
    options = TableBlock(summary.options_table(context), "the guide lists all key figures")
    # What each option does and costs stands in the table; of one there is room for what else it does.
    more = () if len(summary.options(context)) > 1 else (*further_answers(context), *cautions(context))
    return Slide(
        topic="The verdict",
        title=_verdict_finding(context),
        columns=(SlideColumn((options, Paragraphs((budget_line(result), *told, *more)))),),
        notes=notes(context, [*reason_texts(result), selection_text(result)]),
    )


def _verdict_finding(context: GuideContext) -> str:
    result, design = context.result, context.design
    target = "all targets" if context.has_many_workloads else "the target"
    check = design.target_check
    if result.maximum is not None:
        answer = context.answers[result.maximum.workload]
        rate = f"{significant(result.maximum.samples_per_s)}{words.NO_BREAK}{words.sample_unit(answer.dnn)}"
        return f"{design.name}: {rate} with {words.chance(design.probability)} confidence"
    meets = f"{_MEETS[check]} {target}"
    if check is CheckResult.MET and words.is_even(design.probability) and not context.has_many_workloads:
        meets = f"is as likely as not to meet {target}"
        if context.surer is not None:
            meets += f"; {context.surer.name} meets it with {words.chance(context.surer.probability)}"
    elif design.late:
        meets = f"{meets} on condition of its first tokens: {words.chance(design.probability)} before a measurement"
    elif check is not CheckResult.OPEN and design.probability is not None:
        meets = f"{meets} with {words.chance(design.probability)} confidence"
    if check is not CheckResult.MET:
        return f"{design.name}: {meets}"
    if result.needs_cluster or design.n_servers > 1:
        return f"{design.name}: {meets}"
    return f"You do not need a cluster: one {design.platform.server.name} {meets}"


def why(context: GuideContext) -> Slide:
    """Why this server, storage, fabric and rack layout: the number that decided, and what was rejected."""
    choices = list(decisions_chapter.choices(context))
    table = record_table(
        "choices",
        "Choices with the numbers that decided",
        choices,
        [
            Field[decisions_chapter.ChoiceSection]("Choice", lambda one: one.title, width=12),
            Field[decisions_chapter.ChoiceSection]("Chosen", lambda one: one.chosen, width=24),
            Field[decisions_chapter.ChoiceSection]("The number that decided", _deciding, width=38),
            Field[decisions_chapter.ChoiceSection]("Rejected", _rejected, width=26),
        ],
    )
    behind = [f"{choice.title}: {' '.join(choice.reasons)} Trade-off: {choice.trade_off}" for choice in choices]
    return Slide(
        topic="Why this design",
        title=_why_finding(context),
        columns=(SlideColumn((TableBlock(table),)),),
        notes=notes(context, behind),
    )


def _why_finding(context: GuideContext) -> str:
    result, design = context.result, context.design
    if result.maximum is None and design.binding.kind is BindingKind.SMALLEST:
        if result.selection.kind is SelectionKind.LIKELY_CHEAPEST:
            return f"{design.name} is expected to cost least of the designs that meet the request"
        return _first_sentence(selection_text(result))
    text = binding_text(design, result.maximum).replace(". Limit: ", ": the limit is the ")
    return words.capital(_first_sentence(text)) if text else _first_sentence(selection_text(result))


def _first_sentence(text: str) -> str:
    """The first sentence without its stop, or of a long one what stands before the colon: a title has room for one."""
    first = text.split(". ")[0].rstrip(".")
    return first if len(first) <= _LONGEST_TITLE else first.partition(": ")[0]


def _deciding(choice: decisions_chapter.ChoiceSection) -> str:
    """The sentences that name the deciding number; the notes have them all."""
    if choice.title == "Storage":
        # Rate, then what decides the number of nodes; how full it is stands between them.
        return " ".join(choice.reasons[:1] + choice.reasons[2:3])
    if choice.title == "Rack layout":
        return " ".join(choice.reasons)
    if choice.title == "GPU server":
        # One sentence for each workload, then the one that decides between them.
        return choice.reasons[-1] if len(choice.reasons) > 2 else choice.reasons[0]
    return choice.reasons[-1]


def _rejected(choice: decisions_chapter.ChoiceSection) -> Cell:
    if choice.rejected is None:
        return Cell(choice.no_choice or "none", is_muted=True)
    first = choice.rejected.rows[-1 if choice.title == "Fabric" else 0]
    reason = words.inside_sentence(first.cells[-1].text)
    more = len(choice.rejected.rows) - 1
    text = f"{first.cells[0].text}: {reason}"
    return Cell(f"{text}. Compared besides: {grouped(more)}" if more else text)


# Limits of the growth that a slide has room for.
_MOST_LIMITS = 5
# Fewer rows are no slide: the verdict and the racks tell them.
_LEAST_ROWS = 3
# Risks that the title of their slide has room for.
_NAMED_RISKS = 3
# Columns of the purchases by their titles, with their widths in percent.
_PRICE_HEADS = ("Parts", "Parts with a price", "Price range")
_PURCHASES = {"Year": 12, "Owned": 12, "Bought": 36, **dict.fromkeys(_PRICE_HEADS, 23), "Maximum draw": 17}


def scaling(context: GuideContext) -> Slide | None:
    """Throughput by number of GPUs; None where the design was evaluated at its own size alone."""
    answer = context.answers[0]
    data = scaling_data(answer, context.design.n_gpus)
    if data is None:
        return None
    note = "Storage and platform are those of the design at every size."
    if data.published:
        note += " Circles are published runs with this GPU and software, some in other servers."
    name = f"{words.shortened(answer.workload.name)}: " if context.has_many_workloads else ""
    return Slide(
        topic="Scaling",
        title=f"{name}{words.inside_sentence(data.finding) if name else data.finding}",
        columns=(SlideColumn((ChartBlock(architecture.line_chart(data), note),)),),
        notes=notes(context, [result_text.measured(answer)], [one.source for one in answer.evidence]),
    )


def team(context: GuideContext) -> Slide | None:
    """Queue waits of the team; None where the request names none."""
    if not team_chapter.applies(context):
        return None
    answer = context.team
    assert answer is not None  # the chapter would not apply
    texts = [team_chapter.verdict(answer), team_chapter.sizing_driver(answer), team_chapter.read_load(answer)]
    waits = waits_table(answer)
    blocks: tuple[Block, ...] = (Paragraphs(tuple(filter(None, texts))),)
    if waits is not None:
        blocks = (TableBlock(waits), *blocks)
    return Slide("The team", _team_finding(answer), (SlideColumn(blocks),), notes=notes(context, texts))


def _team_finding(answer: TeamAnswer) -> str:
    if not answer.model.case.queue:
        return team_chapter.verdict(answer).rstrip(".")
    kind = least_served(answer.run, answer)
    share = words.percent(kind.share_within)
    return f"{share} of the jobs “{words.shortened(kind.name)}” start within their limit, the lowest share of all types"


def losses_and_headroom(context: GuideContext) -> Slide | None:
    """What remains after each loss that the request names, and the headroom for growth; None where that is little."""
    asks_first = context.result.maximum is not None or asks_for_filling(context)
    has_plan = context.result.request.growth is not None
    if has_plan and asks_first:
        return growth(context)
    losses = context.tolerated_losses
    tables = [tolerated_losses_table(losses, context.failures)] if losses else []
    if not has_plan:
        tables.append(_limits(context))
    if sum(len(table.rows) for table in tables) < _LEAST_ROWS:
        return None
    return Slide(
        topic="Losses and growth" if losses else "Growth",
        title=_loss_finding(context) if losses else f"Headroom for growth: {tables[-1].rows[0].cells[1].text}",
        columns=(SlideColumn(tuple(TableBlock(table) for table in tables)),),
        notes=notes(context, [table.note for table in tables]),
    )


def _loss_finding(context: GuideContext) -> str:
    cases = {loss: [case for case in context.failures if case.loss == loss] for loss in context.tolerated_losses}
    kept = [ONE_LOST[loss] for loss, found in cases.items() if all(case.keeps_targets for case in found)]
    unknown = [ONE_LOST[loss] for loss, found in cases.items() if any(case.keeps_targets is None for case in found)]
    parts = [f"the target holds after the loss of {words.listed(kept, 'or')}"] if kept else []
    target = "it" if kept else "the target"
    parts += [f"whether {target} holds after the loss of {words.listed(unknown, 'or')} is not known"] if unknown else []
    return words.sentence("; ".join(parts) or "the target does not hold after every loss").rstrip(".")


def _limits(context: GuideContext) -> Table:
    limits = growth_chapter.limits_table(context.design, context.result.request.limits.rack_power_w)
    return replace(limits, rows=limits.rows[:_MOST_LIMITS])


def growth(context: GuideContext) -> Slide:
    """The growth plan of a request with growth; without one that covers it the headroom of the design."""
    if context.growth_plan[0] is not None:
        return _growth_plan(context)
    return Slide(
        topic="Growth",
        title="No purchase plan covers the growth",
        columns=(SlideColumn((TableBlock(_limits(context)),)),),
        notes=notes(context, [context.growth_plan[1]]),
    )


def _growth_plan(context: GuideContext) -> Slide:
    plan, _ = context.growth_plan
    assert plan is not None  # the caller looked
    platform = plan.of(context.design.platform.key)
    table = purchases_table(platform, context.catalog, context.result.request.currency)
    texts = findings(plan, platform, context.catalog)
    columns = (SlideColumn((TableBlock(_narrowed(table), "the guide lists every year"),)),)
    title = recommendation(platform, in_short=True)
    if plan.unmet is not None:
        title += f"; no plan covers year {plan.unmet.year}"
    return Slide("Growth", title, columns, notes=notes(context, texts))


def _narrowed(table: Table) -> Table:
    """Columns of the purchases that a slide has room for."""
    heads = enumerate(column.title.partition(",")[0] for column in table.columns)
    return with_columns(table, {place: _PURCHASES[head] for place, head in heads if head in _PURCHASES})


def bill(context: GuideContext) -> Slide:
    """What it costs by category, as far as prices are known."""
    shown = context.design.bill
    texts = [result_text.open_prices(shown), price_note(shown), *delivery_sentences(shown.warnings)]
    texts += filter(None, (owning_text(context.ownership), offer_text(context.result)))
    return Slide(
        topic="Bill of materials",
        title=budget_line(context.result, in_short=True).rstrip("."),
        columns=(
            SlideColumn((TableBlock(cost_table(context.result, context.catalog)),), 64),
            SlideColumn((Paragraphs(tuple(texts)),), 36),
        ),
        notes=notes(context, ["The workbook has every line."], [line.price_source for line in shown.lines]),
    )


def risks(context: GuideContext) -> Slide:
    """Risks with their actions, and what happens next."""
    table = risks_chapter.risk_table(context)
    to_decide = decisions(context)
    listed = (*to_decide, *risks_chapter.next_steps(context, "the tests of the guide"))
    steps = Paragraphs(listed, "Next steps", is_numbered=True, largest=14.0)
    columns: tuple[SlideColumn, ...] = (SlideColumn((steps,)),)
    if table is not None:
        # The guide has the reasons: with them the letters of a slide would be those of a page.
        brief = TableBlock(with_columns(table, {0: 36, 2: 64}), "the guide has the reasons")
        columns = (SlideColumn((brief,), 58), SlideColumn((steps,), 42))
    return Slide(
        topic="Risks and next steps",
        title=_risk_finding(context, table),
        columns=columns,
        notes=notes(context, result_text.reason(context.result)),
    )


def _risk_finding(context: GuideContext, table: Table | None) -> str:
    rows = () if table is None else table.rows
    names = [words.inside_sentence(one.cells[0].text) for one in rows]
    if not names and any(requirement.is_met is not True for requirement in requirements(context)):
        return "To be settled before the order: the open requirements"
    if not names:
        quotes = context.design.bill.n_unpriced
        order = f"{words.plural(quotes, 'quote')} to come, then order" if quotes else "Order"
        return f"{order}, install and accept"
    kinds = list(dict.fromkeys(names))
    count = len(names)
    first = kinds if len(kinds) <= _NAMED_RISKS else [*kinds[: _NAMED_RISKS - 1], "others"]
    return f"{words.capital(words.spelled(count))} {words.plural_of(count, 'risk')} to manage: {words.listed(first)}"


# Columns of the routes that a slide has room for.
_ROUTES = ("Route", "At least", "At the published write rate")
# Widths of the table of capacity on half a slide, in percent.
_CAPACITY = {0: 32, 1: 25, 2: 43}


def further_answer(context: GuideContext) -> Slide | None:
    """What the limits give, how the storage fills, or the plan of growth; None without such a question."""
    if context.result.maximum is not None:
        result = context.result
        assert result.maximum is not None  # the caller looked
        unit = words.sample_unit(context.answers[result.maximum.workload].dnn)
        texts = maximum_sentences(result, with_amounts=False)
        return Slide(
            topic="What the limits give",
            title=f"The limits give {rate_text(result.maximum.samples_per_s, unit)}",
            columns=(SlideColumn((Paragraphs(tuple(texts), largest=18.0),)),),
            notes=notes(context, texts),
        )
    if asks_for_filling(context):
        plan = context.data
        routes = routes_table(plan.ingest)
        text = filling_text(plan.ingest)
        tables = [TableBlock(_routes_alone(routes))] if routes is not None else []
        first, _, rest = text.partition(". ")
        required = TableBlock(with_columns(required_capacity_table(plan), _CAPACITY))
        return Slide(
            topic="Filling the storage",
            title=words.sentence(first).rstrip("."),
            columns=(
                SlideColumn((required,), 56),
                SlideColumn((*tables, *((Paragraphs((rest,), largest=14.0),) if rest else ())), 44),
            ),
            notes=notes(context, [text, *([] if routes is None else [routes.note])]),
        )
    return growth(context) if context.result.request.growth is not None else None


def _routes_alone(table: Table) -> Table:
    """Routes without their links, which the guide lists."""
    kept = {index: 0 for index, column in enumerate(table.columns) if column.title in _ROUTES}
    return replace(with_columns(table, kept), note="")


_SLIDES = (
    need,
    verdict,
    further_answer,
    why,
    architecture.architecture,
    architecture.data_path,
    architecture.capacity,
    architecture.racks,
    scaling,
    team,
    losses_and_headroom,
    bill,
    risks,
)
# With its title; beyond it the curve of the rate is left to the guide.
_MOST_SLIDES = 12


def slides(context: GuideContext) -> tuple[Slide | TitleSlide, ...]:
    """The slides in their order; those that a request does not ask for are left out."""
    found = {make: slide for make in _SLIDES if (slide := make(context)) is not None}
    if context.is_single or len(found) >= _MOST_SLIDES:
        found.pop(scaling, None)
    return (title(context), *found.values())


def deck(result: SizingResult, catalog: Catalog, edition: Edition = GUIDE) -> bytes:
    """Presentation about an answer.

    ``result``: as it is handed over; a customer's copy is already without internals. A PowerPoint file. The figures
    and sentences are those of the guide; equal results give equal bytes.
    """
    context = guide_context(result, catalog, edition)
    profile = edition.profile
    _, _, logo = profile.logo_uri.partition(",")
    branding = Branding(result.request.title, footer(context), profile.company, base64.b64decode(logo))
    return written(slides(context), branding, profile.palette)
