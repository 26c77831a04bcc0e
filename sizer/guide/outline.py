"""The two documents as their templates use them: chapters in order with their content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sizer.catalog.model import Catalog
from sizer.guide.chapters import (
    architecture,
    bill,
    decisions,
    growth,
    operation,
    performance,
    requirements,
    risks,
    short_chapters,
    storage,
    summary,
    team,
)
from sizer.guide.context import GuideContext, guide_context
from sizer.guide.engineer import operation as engineer_operation
from sizer.guide.engineer import short_chapters as engineer_short
from sizer.guide.front_matter import LEGAL_NOTICE, budget_line, control_table, footer, key_figures, kind_name
from sizer.guide.further_answers import asks_for_filling
from sizer.guide.profile import GUIDE, Edition
from sizer.guide.user_texts import remark_on_glyphs
from sizer.present import words
from sizer.present.tables import Table
from sizer.present.text.assumptions import values_to_confirm
from sizer.present.text.verdict import proposal_text
from sizer.sizing.result import SizingResult

Content = Mapping[str, Any]
# Characters in three lines of the large title of the cover.
_LONG_TITLE = 60
# Chapters and appendices of a guide that is read without a list of them.
_FEW_CHAPTERS = 12


@dataclass(frozen=True)
class _ChapterPlan:
    """A chapter before its content is made: title and function that makes the content."""

    id: str
    title: str
    content: Callable[[GuideContext], Content]
    is_appendix: bool = False
    applies: Callable[[GuideContext], bool] = lambda _: True  # whether the request asks the question it answers


def _is_cluster(context: GuideContext) -> bool:
    """Whether there is more to describe than one server: its guide is a few pages, the engineer's file has the rest."""
    return not context.is_single


def _performs(context: GuideContext) -> bool:
    """Whether rates are told on their own: of a cluster, and of what people wait for."""
    return _is_cluster(context) or context.serves


def _is_operated(context: GuideContext) -> bool:
    """Whether there is more to run than one training: several servers, requests, or jobs of a team."""
    return _performs(context) or team.applies(context)


def _has_racks(context: GuideContext) -> bool:
    return not context.design.is_workstation


def _stores_more(context: GuideContext) -> bool:
    asked = context.result.request.data
    has_tiers = context.design.platform.second_tier is not None
    # Drives that hold model weights alone are in the bill.
    is_read = _is_cluster(context) and (context.design.storage_nodes > 0 or not context.only_serves)
    return is_read or asks_for_filling(context) or asked.checkpoint_every_s is not None or has_tiers


# What a customer reads from the first page to the last: the decisions, each with its reason and its number.
_GUIDE = (
    _ChapterPlan("summary", "Executive summary", summary.content),
    _ChapterPlan("requirements", "Need and workload", requirements.content),
    _ChapterPlan("overview", "Design overview", architecture.overview, applies=_is_cluster),
    _ChapterPlan("architecture", "Architecture", architecture.architecture, applies=_is_cluster),
    _ChapterPlan("decisions", "Why this design", decisions.content, applies=_is_cluster),
    _ChapterPlan("storage", "Data and storage", storage.content, applies=_stores_more),
    _ChapterPlan(
        "storage-performance",
        "Storage performance",
        short_chapters.storage_performance,
        applies=lambda context: _stores_more(context) and short_chapters.storage_performance_applies(context),
    ),
    _ChapterPlan("software", "Software", architecture.software, applies=_is_cluster),
    _ChapterPlan(
        "performance", "Serving performance", performance.content, applies=lambda context: context.only_serves
    ),
    _ChapterPlan(
        "performance",
        "Performance and headroom",
        performance.content,
        applies=lambda context: not context.only_serves and _performs(context),
    ),
    _ChapterPlan(
        "availability",
        "Availability and goodput",
        short_chapters.availability,
        applies=lambda context: _is_cluster(context) and short_chapters.availability_applies(context),
    ),
    _ChapterPlan("maximum", "What the limits allow", short_chapters.maximum, applies=short_chapters.maximum_applies),
    _ChapterPlan("team", "Team and queue wait", team.content, applies=team.applies),
    _ChapterPlan("facility", "Power and racks", short_chapters.facility, applies=_has_racks),
    _ChapterPlan("bill", "Bill of materials", bill.content),
    _ChapterPlan(
        "growth",
        "Growth",
        growth.content,
        # A plan of purchases says more; one limit alone is no chapter.
        applies=lambda context: (
            _is_cluster(context)
            and not short_chapters.purchases_applies(context)
            and len(growth.limits_table(context.design).rows) > 1
        ),
    ),
    _ChapterPlan("purchases", "Growth plan", short_chapters.purchases, applies=short_chapters.purchases_applies),
    _ChapterPlan("operation", "From plan to operation", operation.content, applies=_is_operated),
    _ChapterPlan("acceptance", "Acceptance test", short_chapters.acceptance),
    _ChapterPlan("risks", "Risks and next steps", risks.content),
    _ChapterPlan(
        "values",
        "Values to confirm",
        short_chapters.values,
        is_appendix=True,
        applies=lambda context: bool(values_to_confirm(context.result)),
    ),
    _ChapterPlan("sources", "Sources", engineer_short.no_content, is_appendix=True),
)
# The evidence behind it, for those who check, install and operate.
_ENGINEER = (
    _ChapterPlan("record", "The answer and how it was made", engineer_short.record),
    _ChapterPlan("necessity", "Is this design necessary?", engineer_short.necessity),
    _ChapterPlan("alternatives", "Sensitivity and alternatives", engineer_short.alternatives),
    _ChapterPlan(
        "engineer-performance",
        "Performance stage by stage",
        engineer_short.performance_chapter,
        applies=lambda context: not context.only_serves,
    ),
    _ChapterPlan("validation", "Validation with published results", engineer_short.validation),
    _ChapterPlan(
        "networks", "Subnets", engineer_short.networks, applies=lambda context: bool(context.addresses.subnets)
    ),
    _ChapterPlan("data", "Data", engineer_short.data, applies=lambda context: not context.only_serves),
    _ChapterPlan("engineer-team", "Team", engineer_short.team_chapter, applies=team.applies),
    _ChapterPlan("racks", "Feeds and cables", engineer_short.racks, applies=_has_racks),
    _ChapterPlan("engineer-operation", "Operation", engineer_operation.content),
    _ChapterPlan(
        "engineer-purchases", "Growth plan", engineer_short.purchases, applies=engineer_short.purchases_applies
    ),
    _ChapterPlan("sources", "Sources", engineer_short.no_content, is_appendix=True),
    _ChapterPlan("assumptions", "All assumptions", engineer_short.assumptions_chapter, is_appendix=True),
    _ChapterPlan("calculation", "Formulas and their inputs", engineer_short.calculation, is_appendix=True),
    _ChapterPlan("glossary", "Glossary and units", engineer_short.glossary, is_appendix=True),
)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its number, or an appendix with its letter."""

    id: str
    number: str
    title: str
    content: Content
    folder: str  # of its template
    is_appendix: bool = False

    @property
    def template(self) -> str:
        """File under ``reports/``."""
        return f"{self.folder}/{self.id.removeprefix('engineer-')}.html"


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
    proposal: str
    budget: str
    legal: str
    glyph_remark: str  # characters that no font draws
    key_figures: list[tuple[str, str]]
    control: Table
    chapters: list[Chapter]
    summary: Content  # of the one-page form

    @property
    def has_long_title(self) -> bool:
        """Whether the title needs smaller letters to fit on the cover."""
        return len(self.title) > _LONG_TITLE

    @property
    def has_contents(self) -> bool:
        """Whether it is long enough to be looked up."""
        return len(self.chapters) > _FEW_CHAPTERS

    def chapter_ref(self, id_: str, at_start: bool = False) -> Markup:
        """Link to a chapter or appendix by its number; ``at_start`` of a sentence."""
        chapter = next(chapter for chapter in self.chapters if chapter.id == id_)
        kind = "appendix" if chapter.is_appendix else "chapter"
        kind = words.capital(kind) if at_start else kind
        return Markup('<a class="ref" href="#chapter-{}">{}</a>').format(id_, f"{kind}{words.NO_BREAK}{chapter.number}")

    def has_chapter(self, id_: str) -> bool:
        """Whether this form has a chapter."""
        return any(chapter.id == id_ for chapter in self.chapters)


def guide(result: SizingResult, catalog: Catalog, edition: Edition = GUIDE) -> Guide:
    """The document about one result in one edition."""
    context = guide_context(result, catalog, edition)
    is_one_page = edition.form == "summary"
    request = result.request
    chapters = [] if is_one_page else _chapters(context)
    return Guide(
        edition=edition,
        title=request.title,
        kicker=kind_name(result, edition),
        customer=request.customer,
        date=words.date(request.date),
        iso_date=request.date.isoformat() if request.date is not None else "",
        footer=footer(context),
        design_name=result.design.name,
        proposal=words.sentence(proposal_text(result, takes_turns=bool(context.taking_turns))),
        budget=budget_line(result),
        legal=edition.profile.legal or LEGAL_NOTICE,
        glyph_remark=remark_on_glyphs(result, edition.profile),
        key_figures=key_figures(result),
        control=control_table(context),
        chapters=chapters,
        summary=summary.one_page(context) if is_one_page else {},
    )


def _chapters(context: GuideContext) -> list[Chapter]:
    """Chapters of this edition, numbered; appendices by letters."""
    is_engineers = context.edition.form == "engineer"
    plans = [plan for plan in (_ENGINEER if is_engineers else _GUIDE) if plan.applies(context)]
    folder = "engineer" if is_engineers else "sections"
    chapters: list[Chapter] = []
    n_chapters = sum(not plan.is_appendix for plan in plans)
    for index, plan in enumerate(plans):
        number = chr(ord("A") + index - n_chapters) if plan.is_appendix else str(index + 1)
        chapters.append(Chapter(plan.id, number, plan.title, plan.content(context), folder, plan.is_appendix))
    return chapters
