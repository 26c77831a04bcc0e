"""The deck of an answer: 8 to 12 slides from the need to the next steps."""

import base64

from sizer.catalog.model import Catalog
from sizer.deck import answers, architecture, opening, outlook
from sizer.deck.blocks import Branding, Slide, TitleSlide
from sizer.deck.presentation import written
from sizer.guide.context import GuideContext, guide_context
from sizer.guide.edition import GUIDE, Edition
from sizer.guide.front_matter import footer
from sizer.sizing.result import SizingResult

_SLIDES = (
    opening.need,
    opening.verdict,
    answers.answer,
    opening.why,
    architecture.architecture,
    architecture.data_path,
    architecture.racks,
    outlook.scaling,
    outlook.team,
    outlook.next_sizes,
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
