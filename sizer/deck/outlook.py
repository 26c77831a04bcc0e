"""The last slides: scaling, team, growth, bill, risks and next steps."""

from dataclasses import replace

import numpy as np

from sizer.base.quantities import significant
from sizer.deck.blocks import (
    Block,
    ChartBlock,
    LineChart,
    Paragraphs,
    Series,
    Slide,
    SlideColumn,
    TableBlock,
    notes,
)
from sizer.guide.chapters import growth as growth_chapter
from sizer.guide.chapters import risks as risks_chapter
from sizer.guide.chapters import team as team_chapter
from sizer.guide.context import GuideContext
from sizer.guide.front_matter import budget_line
from sizer.guide.further_answers import asks_for_filling, decisions
from sizer.present import words
from sizer.present.bill_tables import cost_table, price_note
from sizer.present.charts import scaling_finding
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import delivery_sentences
from sizer.present.text.checks import ONE_LOST
from sizer.questions.failures.text import tolerated_losses_table
from sizer.questions.growth.text import findings, purchases_table, recommendation
from sizer.questions.ownership.text import owning_text
from sizer.questions.rent.rent_or_buy import offer_text
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.text import least_served, waits_table
from sizer.sizing.result import WorkloadAnswer

# Limits of the growth that a slide has room for.
_MOST_LIMITS = 5
# Fewer rows are no slide: the verdict and the racks tell them.
_LEAST_ROWS = 3
# Risks that the title of their slide has room for.
_NAMED_RISKS = 3
# The chart shows sizes up to this many times the design.
_BEYOND = 2.5
# Points of a curve at least: LibreOffice drops a first series that is shorter than a later one.
_LEAST_POINTS = 4
# The label of the design stands on its drop line, at the first of these shares of its rate that is clear of the target.
_LABEL_AT = (0.3, 0.6)
_CLEAR = 0.15  # of the rate
# Columns of the purchases by their titles, with their widths in percent.
_PRICE_HEADS = ("Parts", "Parts with a price", "Price range")
_PURCHASES = {"Year": 12, "Owned": 12, "Bought": 36, **dict.fromkeys(_PRICE_HEADS, 23), "Maximum draw": 17}


def scaling(context: GuideContext) -> Slide | None:
    """Throughput by number of GPUs; None where the design was evaluated at its own size alone."""
    answer, n_gpus = context.answers[0], context.design.n_gpus
    if answer.scaling.n_gpus.size < 2 or context.only_serves:  # replicas add
        return None
    chart = _scaling_chart(answer, n_gpus, context.design.platform.gpu.name)
    has_circles = any(series.role == "published" for series in chart.series)
    note = "Storage and platform are those of the design at every size."
    if has_circles:
        note += " Circles are published runs with this GPU and software, some in other servers."
    name = f"{words.shortened(answer.workload.name)}: " if context.has_many_workloads else ""
    finding = scaling_finding(answer, n_gpus)
    return Slide(
        topic="Scaling",
        title=f"{name}{words.inside_sentence(finding) if name else finding}",
        columns=(SlideColumn((ChartBlock(chart, note),)),),
        notes=notes(context, [result_text.measured(answer)], [one.source for one in answer.evidence]),
    )


def _scaling_chart(answer: WorkloadAnswer, n_gpus: int, gpu: str) -> LineChart:
    unit, grid = words.sample_unit(answer.dnn), answer.scaling
    gpus = np.atleast_1d(grid.n_gpus)
    keep = gpus <= max(_BEYOND * n_gpus, gpus[min(_LEAST_POINTS, gpus.size) - 1])
    gpus = gpus[keep]

    def points(values: object) -> tuple[tuple[float, float], ...]:
        chosen = np.broadcast_to(np.atleast_1d(np.asarray(values, dtype=float)), keep.shape)[keep]
        return tuple((float(x), float(y)) for x, y in zip(gpus, chosen, strict=True))

    most = float(gpus.max())
    high = points(grid.throughput.high)
    series = [
        Series("Expected rate", points(grid.throughput.value), "expected"),
        Series("90 % interval, low", points(grid.throughput.low), "interval"),
        Series("90 % interval, high", high, "interval", "90 % interval"),
    ]
    target = answer.workload.target.samples_per_s
    if target is not None:
        label = f"target {significant(target)}"
        series.append(Series("Target", ((0.0, target), (most, target)), "target", label))
    published = tuple(
        (float(one.n_gpus), float(one.published))
        for one in answer.evidence
        if one.is_same_stack
        and one.gpu == gpu
        and one.n_gpus <= most
        and one.published <= 1.04 * max(y for _, y in high)
    )
    if published:
        series.append(Series("Published runs", published, "published"))
    rate = float(answer.throughput.value)
    label = f"this design: {significant(rate)}"
    is_near = target is not None and abs(target - _LABEL_AT[0] * rate) < _CLEAR * rate
    drop = ((float(n_gpus), 0.0), (float(n_gpus), _LABEL_AT[is_near] * rate), (float(n_gpus), rate))
    series.append(Series("This design", drop, "design", label))
    task = "throughput" if answer.is_inference else "training throughput"
    return LineChart(tuple(series), "GPUs", f"{task}, {unit}", "gpu")


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
    kept = [place for place, column in enumerate(table.columns) if column.title.partition(",")[0] in _PURCHASES]
    columns = tuple(replace(table.columns[n], width=_PURCHASES[table.columns[n].title.partition(",")[0]]) for n in kept)
    rows = tuple(replace(one, cells=tuple(one.cells[n] for n in kept)) for one in table.rows)
    return replace(table, columns=columns, rows=rows)


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
    listed = (*decisions(context), *risks_chapter.next_steps(context, "the tests of the guide"))
    steps = Paragraphs(listed, "Next steps", is_numbered=True, largest=14.0)
    columns: tuple[SlideColumn, ...] = (SlideColumn((steps,)),)
    if table is not None:
        # The guide has the reasons: with them the letters of a slide would be those of a page.
        rows = tuple(replace(one, cells=(one.cells[0], one.cells[2])) for one in table.rows)
        heads = tuple(replace(table.columns[place], width=width) for place, width in ((0, 36), (2, 64)))
        brief = replace(table, columns=heads, rows=rows)
        columns = (SlideColumn((TableBlock(brief, "the guide has the reasons"),), 58), SlideColumn((steps,), 42))
    return Slide(
        topic="Risks and next steps",
        title=_risk_finding(table),
        columns=columns,
        notes=notes(context, result_text.reason(context.result)),
    )


def _risk_finding(table: Table | None) -> str:
    if table is None:
        return "No open risk: order, install and accept"
    names = [words.inside_sentence(one.cells[0].text) for one in table.rows]
    kinds = list(dict.fromkeys(names))
    count = len(names)
    first = kinds if len(kinds) <= _NAMED_RISKS else [*kinds[: _NAMED_RISKS - 1], "others"]
    return f"{words.capital(words.spelled(count))} {words.plural_of(count, 'risk')} to manage: {words.listed(first)}"
