"""The deck of an answer: 8 to 12 slides from the need to the next steps."""

import base64
from dataclasses import replace

from sizer.catalog.model import Catalog
from sizer.deck import architecture, opening, outlook
from sizer.deck.blocks import Branding, Paragraphs, Slide, SlideColumn, TableBlock, TitleSlide, notes
from sizer.deck.outlook import growth
from sizer.deck.presentation import written
from sizer.guide.context import GuideContext, guide_context
from sizer.guide.front_matter import footer
from sizer.guide.further_answers import asks_for_filling
from sizer.guide.profile import GUIDE, Edition
from sizer.present import words
from sizer.present.tables import Table
from sizer.questions.data.text import filling_text, required_capacity_table, routes_table
from sizer.questions.maximum.text import maximum_sentences, rate_text
from sizer.sizing.result import SizingResult

# Columns of the routes that a slide has room for.
_ROUTES = ("Route", "At least", "At the published write rate")
# Widths of the table of capacity on half a slide, in percent.
_CAPACITY = (32, 25, 43)


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
    return growth(context) if context.result.request.growth is not None else None


def _narrowed(table: Table) -> Table:
    """Routes without their links, which the guide lists."""
    kept = [place for place, column in enumerate(table.columns) if column.title in _ROUTES]
    rows = tuple(replace(one, cells=tuple(one.cells[place] for place in kept)) for one in table.rows)
    return replace(table, columns=tuple(replace(table.columns[place], width=0) for place in kept), rows=rows, note="")


_SLIDES = (
    opening.need,
    opening.verdict,
    further_answer,
    opening.why,
    architecture.architecture,
    architecture.data_path,
    architecture.racks,
    outlook.scaling,
    outlook.team,
    outlook.losses_and_headroom,
    outlook.bill,
    outlook.risks,
)
# With its title; beyond it the curve of the rate is left to the guide.
_MOST_SLIDES = 12


def slides(context: GuideContext) -> tuple[Slide | TitleSlide, ...]:
    """The slides in their order; those that a request does not ask for are left out."""
    found = {make: slide for make in _SLIDES if (slide := make(context)) is not None}
    if len(found) >= _MOST_SLIDES:
        found.pop(outlook.scaling, None)
    return (opening.title(context), *found.values())


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
