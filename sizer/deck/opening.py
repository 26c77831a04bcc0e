"""The first slides: title, need, verdict, and why this design."""

from dataclasses import replace

from sizer.base.quantities import grouped, significant
from sizer.deck.blocks import KeyFigure, KeyFigures, Paragraphs, Slide, SlideColumn, TableBlock, TitleSlide, notes
from sizer.guide.chapters import decisions, summary
from sizer.guide.chapters.requirements import conditions_table
from sizer.guide.context import GuideContext
from sizer.guide.front_matter import LEGAL_NOTICE, budget_line, key_figures, kind_name
from sizer.guide.further_answers import cautions, further_answers, further_needs
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table, row
from sizer.present.text import result_text
from sizer.present.text.calibration import throughput_text
from sizer.present.text.checks import conditional_sentence
from sizer.present.text.decisions import confidence_texts
from sizer.present.text.design_size import asked_target_text, binding_text, required_rate_text
from sizer.present.text.verdict import proposal_text, reason_texts, selection_text
from sizer.questions.team.text import wait_text
from sizer.sizing.checks import CheckResult
from sizer.sizing.reasons import BindingKind, SelectionKind
from sizer.sizing.result import WorkloadAnswer

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
# A table of key figures with more workloads than these names only the most important figure of each.
_MOST_DETAILED = 1


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
    return words.sentence(proposal_text(context.result))


def need(context: GuideContext) -> Slide:
    """What the customer wants to do, and within which limits."""
    table = conditions_table(context.result, context.catalog)
    shown = tuple(one for one in table.rows if one.cells[0].text not in _NOT_SHOWN)
    head = "Why a cluster is needed" if context.result.needs_cluster else "Why one server is enough"
    reasons = tuple(words.sentence(text) for text in [*further_needs(context), *reason_texts(context.result)])
    workloads = TableBlock(_workloads(context))
    is_alone = len(workloads.table.rows) == 1
    # Next to text, the column of the labels takes a larger share.
    widths = (44, 56) if is_alone else (24, 76)
    heads = tuple(replace(column, width=width) for column, width in zip(table.columns, widths, strict=True))
    constraints = TableBlock(replace(table, rows=shown, columns=heads), "the guide lists all constraints")
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
            Field("Data set", result_text.dataset_text, width=30),
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
    is_brief = len(context.answers) > _MOST_DETAILED
    rates = [f"{_named(context, answer)}{throughput_text(answer)}." for answer in context.answers]
    told = confidence_texts(result) or [*filter(None, [conditional_sentence(design)])]
    job = [*rates, *told, *further_answers(context), *cautions(context, is_brief=True)]
    cost = [budget_line(result), result_text.open_prices(design.bill)]
    columns: tuple[SlideColumn, ...]
    if len(summary.options(context)) > 1:
        # What each option does and costs stands in the table, which takes the whole width.
        options = TableBlock(summary.options_table(context), "the guide lists all key figures")
        columns = (SlideColumn((options, Paragraphs((cost[0], *told)))),)
    else:
        table = TableBlock(summary.numbers_table(context, is_brief=is_brief), "the guide lists all key figures")
        asked = (Paragraphs(tuple(job), "Does it do the job?"), Paragraphs(tuple(cost), "What does it cost?"))
        columns = (SlideColumn((table,), 58), SlideColumn(asked, 42))
    return Slide(
        topic="The verdict",
        title=_verdict_finding(context),
        columns=columns,
        notes=notes(context, [*reason_texts(result), selection_text(result)]),
    )


def _named(context: GuideContext, answer: WorkloadAnswer) -> str:
    """How a sentence on the rate of a workload begins."""
    return f"{answer.workload.name}: " if context.has_many_workloads else "Expected: "


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
        return f"{design.name} {meets}"
    if result.needs_cluster or design.n_servers > 1:
        return f"{design.name} {meets}"
    return f"You do not need a cluster: one {design.platform.server.name} {meets}"


def why(context: GuideContext) -> Slide:
    """Why this server, storage, fabric and rack layout: the number that decided, and what was rejected."""
    choices = list(decisions.choices(context))
    table = record_table(
        "choices",
        "Choices with the numbers that decided",
        choices,
        [
            Field[decisions.ChoiceSection]("Choice", lambda one: one.title, width=12),
            Field[decisions.ChoiceSection]("Chosen", lambda one: one.chosen, width=24),
            Field[decisions.ChoiceSection]("The number that decided", _deciding, width=38),
            Field[decisions.ChoiceSection]("Rejected", _rejected, width=26),
        ],
    )
    behind = [f"{one.title}: {' '.join(one.reasons)} Trade-off: {one.trade_off}" for one in choices]
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


def _deciding(choice: decisions.ChoiceSection) -> str:
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


def _rejected(choice: decisions.ChoiceSection) -> Cell:
    if choice.rejected is None:
        return Cell(choice.no_choice or "none", is_muted=True)
    first = choice.rejected.rows[-1 if choice.title == "Fabric" else 0]
    reason = words.inside_sentence(first.cells[-1].text)
    more = len(choice.rejected.rows) - 1
    text = f"{first.cells[0].text}: {reason}"
    return Cell(f"{text}. {grouped(more)} more were compared" if more else text)
