"""The slide on what a request asks besides its target: the highest rate, filling of the storage, growth, losses."""

from dataclasses import replace

from sizer.deck.blocks import Paragraphs, Slide, SlideColumn, TableBlock
from sizer.deck.notes import notes
from sizer.deck.outlook import growth
from sizer.guide.context import GuideContext
from sizer.guide.further_answers import asks_for_filling
from sizer.present import words
from sizer.present.tables import Table
from sizer.present.text.redundancy import ONE_LOST
from sizer.questions.data.text import filling_text, required_capacity_table, routes_table
from sizer.questions.failures.text import tolerated_losses_table
from sizer.questions.maximum.text import maximum_sentences, rate_text

# Columns of the routes that a slide has room for.
_ROUTES = ("Route", "At least", "At the published write rate")
# Widths of the table of capacity on half a slide, in percent.
_CAPACITY = (32, 25, 43)


def answer(context: GuideContext) -> Slide | None:
    """What the limits give, how the storage fills, the plan of growth, or the losses; None without such a question."""
    if context.result.maximum is not None:
        return _maximum(context)
    if asks_for_filling(context):
        plan = context.data
        routes = routes_table(plan.ingest)
        text = filling_text(plan.ingest)
        tables = [TableBlock(_narrowed(routes))] if routes is not None else []
        first, _, rest = text.partition(". ")
        required = required_capacity_table(plan)
        heads = tuple(replace(column, width=width) for column, width in zip(required.columns, _CAPACITY, strict=True))
        return Slide(
            topic="Filling the storage",
            title=words.sentence(first).rstrip("."),
            columns=(
                SlideColumn((TableBlock(replace(required, columns=heads)),), 56),
                SlideColumn((*tables, *((Paragraphs((rest,), largest=14.0),) if rest else ())), 44),
            ),
            notes=notes(context, [text, *([] if routes is None else [routes.note])]),
        )
    if context.result.request.growth is not None:
        return growth(context)
    return _losses(context) if context.tolerated_losses else None


def _maximum(context: GuideContext) -> Slide:
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


def _losses(context: GuideContext) -> Slide:
    cases = {loss: [case for case in context.failures if case.loss == loss] for loss in context.tolerated_losses}
    kept = [ONE_LOST[loss] for loss, found in cases.items() if all(case.keeps_targets for case in found)]
    unknown = [ONE_LOST[loss] for loss, found in cases.items() if any(case.keeps_targets is None for case in found)]
    parts = [f"the target holds after the loss of {words.listed(kept, 'or')}"] if kept else []
    parts += [f"for {words.listed(unknown, 'or')} it is not known"] if unknown else []
    table = tolerated_losses_table(context.tolerated_losses, context.failures)
    return Slide(
        topic="Losses",
        title=words.sentence("; ".join(parts) or "the target does not hold after every loss").rstrip("."),
        columns=(SlideColumn((TableBlock(table),)),),
        notes=notes(context, [table.note]),
    )


def _narrowed(table: Table) -> Table:
    """Routes without their links, which the guide lists."""
    kept = [place for place, column in enumerate(table.columns) if column.title in _ROUTES]
    rows = tuple(replace(one, cells=tuple(one.cells[place] for place in kept)) for one in table.rows)
    return replace(table, columns=tuple(replace(table.columns[place], width=0) for place in kept), rows=rows, note="")
