"""The guide as its templates use it: chapters in order with their content. Templates hold no arithmetic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sizer.catalog.model import Catalog
from sizer.guide import maximum
from sizer.guide.chapters import (
    appendices,
    architecture,
    bill,
    facility,
    network,
    operation,
    overview,
    performance,
    purchases,
    requirements,
    risks,
    software,
    storage,
    summary,
    team,
    validation,
)
from sizer.guide.context import GuideContext
from sizer.guide.edition import SHORT, Edition
from sizer.guide.front_matter import LEGAL_NOTICE, control_table, footer, key_figures, kind_name, readers_table
from sizer.guide.user_texts import remark_on_glyphs
from sizer.present import words
from sizer.present.tables import Table
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import SizingResult

Content = Mapping[str, Any]
# Characters in three lines of the large title of the cover.
_LONG_TITLE = 60


@dataclass(frozen=True)
class _ChapterPlan:
    """A chapter before its content is made: title, function that makes the content, and the forms that include it."""

    id: str
    title: str
    content: Callable[[GuideContext], Content]
    in_short: bool = True
    is_appendix: bool = False
    applies: Callable[[GuideContext], bool] = lambda _: True  # whether the request asks the question it answers


# The short guide omits what only installation and operation need.
_CHAPTERS = (
    _ChapterPlan("summary", "Executive summary", summary.content),
    _ChapterPlan("requirements", "Requirements and assumptions", requirements.content),
    _ChapterPlan("overview", "Solution overview", overview.content),
    _ChapterPlan("architecture", "Solution architecture", architecture.content),
    _ChapterPlan("network", "Network", network.content),
    _ChapterPlan("storage", "Storage", storage.content),
    _ChapterPlan("software", "Software", software.content, in_short=False),
    _ChapterPlan("performance", "Sizing and predicted performance", performance.content),
    _ChapterPlan("maximum", "What the limits allow", maximum.content, applies=maximum.applies),
    _ChapterPlan("team", "Team and queue wait", team.content, applies=team.applies),
    _ChapterPlan("validation", "Validation with published results", validation.content),
    _ChapterPlan("facility", "Physical design", facility.content),
    _ChapterPlan("bill", "Bill of materials", bill.content),
    _ChapterPlan("operation", "Operation and growth", operation.content),
    _ChapterPlan("purchases", "Growth plan", purchases.content, applies=purchases.applies),
    _ChapterPlan("risks", "Risks, limits and alternatives", risks.content),
    _ChapterPlan("sources", "Sources", appendices.no_content, is_appendix=True),
    _ChapterPlan("assumptions", "All assumptions", appendices.assumptions, in_short=False, is_appendix=True),
    _ChapterPlan("formulas", "Formulas and their validity", appendices.formulas, in_short=False, is_appendix=True),
    _ChapterPlan("addresses", "IP addresses", appendices.addresses, in_short=False, is_appendix=True),
    _ChapterPlan("schedule", "Cable schedule and port map", appendices.schedule, in_short=False, is_appendix=True),
    _ChapterPlan("calibration", "Calibrated values", appendices.calibration, in_short=False, is_appendix=True),
    _ChapterPlan("parts", "Component data", appendices.parts, in_short=False, is_appendix=True),
    _ChapterPlan("glossary", "Glossary and units", appendices.no_content, is_appendix=True),
)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its number, or an appendix with its letter."""

    id: str
    number: str
    title: str
    content: Content
    is_appendix: bool = False
    starts_appendices: bool = False

    @property
    def template(self) -> str:
        """File under ``reports/``."""
        return f"sections/{self.id}.html"


@dataclass(frozen=True)
class Guide:
    """What the templates use as ``guide``."""

    edition: Edition
    title: str
    kicker: str
    customer: str
    date: str
    iso_date: str
    footer: str
    design_name: str
    verdict: str
    legal: str
    glyph_remark: str  # characters that no font draws
    key_figures: list[tuple[str, str]]
    control: Table
    readers: Table | None
    chapters: list[Chapter]
    summary: Content  # of the one-page form

    @property
    def form(self) -> str:
        """Form of the guide, a class in the style sheet."""
        return self.edition.form

    @property
    def is_full(self) -> bool:
        """Whether this is the full guide."""
        return self.edition.form == "full"

    @property
    def has_long_title(self) -> bool:
        """Whether the title needs smaller letters to fit on the cover."""
        return len(self.title) > _LONG_TITLE

    @property
    def language(self) -> str:
        """Language of the text, as HTML names it."""
        return self.edition.profile.locale

    @property
    def company(self) -> str:
        """The company that issues the guide."""
        return self.edition.profile.company

    @property
    def logo(self) -> str:
        """The company's logo as a data URI; "" without one."""
        return self.edition.profile.logo_uri

    def chapter_ref(self, id_: str, at_start: bool = False) -> Markup:
        """Link to a chapter or appendix by its number; ``at_start`` of a sentence."""
        chapter = next(chapter for chapter in self.chapters if chapter.id == id_)
        kind = "appendix" if chapter.is_appendix else "chapter"
        kind = words.capital(kind) if at_start else kind
        return Markup('<a class="ref" href="#chapter-{}">{}</a>').format(id_, f"{kind}{words.NO_BREAK}{chapter.number}")

    def has_chapter(self, id_: str) -> bool:
        """Whether this form has a chapter."""
        return any(chapter.id == id_ for chapter in self.chapters)


def guide(result: SizingResult, catalog: Catalog, edition: Edition = SHORT) -> Guide:
    """The guide about one result in one edition."""
    context = GuideContext(result, catalog, edition)
    is_one_page = edition.form == "summary"
    request = result.request
    chapters = [] if is_one_page else _chapters(context)
    numbers = {chapter.id: chapter.number for chapter in chapters}
    return Guide(
        edition=edition,
        title=request.title,
        kicker=kind_name(result),
        customer=request.customer,
        date=words.date(request.date),
        iso_date=request.date.isoformat() if request.date is not None else "",
        footer=footer(context),
        design_name=result.design.name,
        verdict=words.sentence(verdict_text(result)),
        legal=edition.profile.legal or LEGAL_NOTICE,
        glyph_remark=remark_on_glyphs(result, edition.profile),
        key_figures=key_figures(result),
        control=control_table(context),
        readers=readers_table(numbers) if edition.form == "full" else None,
        chapters=chapters,
        summary=summary.one_page(context) if is_one_page else {},
    )


def _chapters(context: GuideContext) -> list[Chapter]:
    """Chapters of this edition, numbered; appendices by letters."""
    plans = [plan for plan in _CHAPTERS if (context.is_full or plan.in_short) and plan.applies(context)]
    chapters: list[Chapter] = []
    n_chapters = sum(not plan.is_appendix for plan in plans)
    for place, plan in enumerate(plans):
        is_first = plan.is_appendix and place == n_chapters
        number = chr(ord("A") + place - n_chapters) if plan.is_appendix else str(place + 1)
        chapters.append(Chapter(plan.id, number, plan.title, plan.content(context), plan.is_appendix, is_first))
    return chapters
