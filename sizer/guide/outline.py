"""The guide as its templates see it: chapters in their order with what each prints. Templates hold no arithmetic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sizer.base.quantities import grouped
from sizer.catalog.model import Catalog
from sizer.guide.chapters import (
    appendices,
    architecture,
    bill,
    facility,
    network,
    one_page,
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
from sizer.guide.chapters.case import Case
from sizer.guide.edition import SHORT, Edition
from sizer.guide.tables.request import control_table, readers_table
from sizer.guide.user_texts import remark_on_glyphs
from sizer.present import words
from sizer.present.tables import Table
from sizer.present.verdict_text import verdict_text
from sizer.sizing.result import SizingResult

Content = Mapping[str, Any]
# Three lines of the cover's large letters.
_LONG_TITLE = 60


@dataclass(frozen=True)
class _Plan:
    """A chapter before it is written: what it is called, what fills it, and which forms have it."""

    id: str
    title: str
    content: Callable[[Case], Content]
    in_short: bool = True
    is_appendix: bool = False
    applies: Callable[[Case], bool] = lambda _: True  # whether the request asks the question it answers


# The short guide leaves out what only builders and operators need.
_CHAPTERS = (
    _Plan("summary", "Executive summary", summary.content),
    _Plan("requirements", "Requirements and assumptions", requirements.content),
    _Plan("overview", "Solution overview", overview.content),
    _Plan("architecture", "Solution architecture", architecture.content),
    _Plan("network", "Network", network.content),
    _Plan("storage", "Storage", storage.content),
    _Plan("software", "Software", software.content, in_short=False),
    _Plan("performance", "Sizing and predicted performance", performance.content),
    _Plan("team", "Team and waiting time", team.content, applies=team.applies),
    _Plan("validation", "Validation against published results", validation.content),
    _Plan("facility", "Physical design", facility.content),
    _Plan("bill", "Bill of materials", bill.content),
    _Plan("operation", "Operation and growth", operation.content),
    _Plan("purchases", "Growth plan", purchases.content, applies=lambda case: case.result.request.growth is not None),
    _Plan("risks", "Risks, limits and alternatives", risks.content),
    _Plan("sources", "Sources", appendices.nothing, is_appendix=True),
    _Plan("assumptions", "All assumptions", appendices.assumptions, in_short=False, is_appendix=True),
    _Plan("formulas", "Formulas and their validity", appendices.formulas, in_short=False, is_appendix=True),
    _Plan("addresses", "Addresses", appendices.addresses, in_short=False, is_appendix=True),
    _Plan("schedule", "Cable schedule and port map", appendices.schedule, in_short=False, is_appendix=True),
    _Plan("calibration", "Calibrated values", appendices.calibration, in_short=False, is_appendix=True),
    _Plan("parts", "Facts of the parts", appendices.parts, in_short=False, is_appendix=True),
    _Plan("glossary", "Glossary and units", appendices.nothing, is_appendix=True),
)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its number, or the letter of an appendix."""

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
    """What the templates see as ``guide``."""

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
        """Form of the guide, which the style sheet knows, too."""
        return self.edition.form

    @property
    def is_full(self) -> bool:
        """Whether this is the full guide."""
        return self.edition.form == "full"

    @property
    def has_long_title(self) -> bool:
        """Whether the title needs smaller letters to stay in its place on the cover."""
        return len(self.title) > _LONG_TITLE

    @property
    def language(self) -> str:
        """Language of the text, as HTML names it."""
        return self.edition.profile.locale

    @property
    def company(self) -> str:
        """Who hands the guide over."""
        return self.edition.profile.company

    @property
    def logo(self) -> str:
        """The company's logo as a data URI; "" without one."""
        return self.edition.profile.logo_uri

    def chapter_ref(self, id_: str, at_start: bool = False) -> Markup:
        """Link to a chapter or appendix by its number; ``at_start`` of a sentence."""
        found = next(chapter for chapter in self.chapters if chapter.id == id_)
        kind = "appendix" if found.is_appendix else "chapter"
        kind = words.capital(kind) if at_start else kind
        return Markup('<a class="ref" href="#chapter-{}">{}</a>').format(id_, f"{kind}{words.NO_BREAK}{found.number}")

    def has_chapter(self, id_: str) -> bool:
        """Whether this form has a chapter."""
        return any(chapter.id == id_ for chapter in self.chapters)


def guide(result: SizingResult, catalog: Catalog, edition: Edition = SHORT) -> Guide:
    """Everything that the guide about one result says in one edition."""
    case = Case(result, catalog, edition)
    is_one_page = edition.form == "summary"
    request = result.request
    chapters = [] if is_one_page else _chapters(case)
    return Guide(
        edition=edition,
        title=request.title,
        kicker="Reference architecture" if result.needs_cluster else "Sizing advice",
        customer=request.customer,
        date=words.date(request.date),
        iso_date=request.date.isoformat() if request.date is not None else "",
        footer=_footer(case),
        design_name=result.design.name,
        verdict=words.sentence(verdict_text(result)),
        legal=edition.profile.legal
        or (
            "Computed from published data. Performance is projected with its interval and not "
            "guaranteed; prices are budgetary and not binding; part numbers are to be confirmed "
            "before an order. Names of products belong to their owners."
        ),
        glyph_remark=remark_on_glyphs(result, edition.profile),
        key_figures=_key_figures(result),
        control=control_table(result, edition.profile, form_name(edition)),
        readers=readers_table({chapter.id: chapter.number for chapter in chapters}) if edition.form == "full" else None,
        chapters=chapters,
        summary=one_page.content(case) if is_one_page else {},
    )


def form_name(edition: Edition) -> str:
    """What a form of the guide is called."""
    names = {"short": "short guide", "full": "full guide", "summary": "summary"}
    return names[edition.form]


def _chapters(case: Case) -> list[Chapter]:
    """Chapters of this edition, numbered; appendices by letters."""
    plans = [plan for plan in _CHAPTERS if (case.is_full or plan.in_short) and plan.applies(case)]
    found: list[Chapter] = []
    n_chapters = sum(not plan.is_appendix for plan in plans)
    for place, plan in enumerate(plans):
        is_first = plan.is_appendix and place == n_chapters
        number = chr(ord("A") + place - n_chapters) if plan.is_appendix else str(place + 1)
        found.append(Chapter(plan.id, number, plan.title, plan.content(case), plan.is_appendix, is_first))
    return found


def _footer(case: Case) -> str:
    """What stands at the foot of every page."""
    result, quote = case.result, case.result.request.quote
    parts = [
        case.edition.profile.confidentiality,
        quote.number,
        f"revision {quote.revision}" if quote.revision else "",
        f"catalogue {result.catalog_digest[:8]}",
        f"calibration {result.calibration_digest[:8]}",
    ]
    return words.capital(" · ".join(part for part in parts if part))


def _key_figures(result: SizingResult) -> list[tuple[str, str]]:
    """Four numbers for the cover."""
    design = result.design
    first = design.workloads[0]
    speed = ("throughput", words.rounded(first.throughput, words.sample_unit(first.dnn)))
    if first.time is not None and first.workload.target.time_to_train_s is not None:
        speed = ("time to train", words.rounded(first.time.total_s, "s"))
    return [
        (words.plural_of(design.n_servers, "GPU server"), grouped(design.n_servers)),
        (words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus)),
        speed,
        ("probability of meeting the target", words.percent(design.probability)),
    ]
