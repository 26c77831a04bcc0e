"""Accuracy of the predictions compared with published numbers, as a page and as plain text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizer.base.quantities import grouped
from sizer.calibrate.validate import Summary, ValidatedRow, ValidationReport, summarise
from sizer.catalog.schema import Source
from sizer.drawings.palette import LIGHT
from sizer.evidence import rows as facts
from sizer.evidence import tables
from sizer.evidence.parity import parity_chart, parity_finding
from sizer.evidence.rows import RATE, NumberKind
from sizer.present.charting import chart_svg
from sizer.present.figures import PageFigure
from sizer.present.page import Citations, rendered, with_fonts_inside
from sizer.present.tables import Table, table_text
from sizer.present.words import listed, plural

# A panel, two of which stand side by side. [px]
_PANEL_PX = 480
_TALL_PX, _FLAT_PX = 400, 260
# Fewer rows have no 90th percentile.
_ENOUGH = 10


@dataclass(frozen=True)
class EvidencePage:
    """What the template sees as ``page``."""

    findings: list[str]
    figures: Table | None
    pairs: list[tuple[PageFigure, ...]]
    worst: list[Table]
    reasons: Table | None
    summaries: list[Table]
    has_unseen: bool


def evidence_html(report: ValidationReport, sources: Mapping[str, Source]) -> str:
    """The validation as one HTML file that needs no other: fonts and charts are inside.

    ``report``: published numbers with their predictions. Its names may come from anybody's file. Raises ReportError if
    a template names something that does not exist, or a chart cannot be drawn.
    """
    names = {"page": evidence_page(report, sources)}
    return with_fonts_inside(rendered("evidence.html", names, Citations(sources), ("guide.css", "evidence.css")))


def evidence_page(report: ValidationReport, sources: Mapping[str, Source]) -> EvidencePage:
    """Content of the page."""
    unseen = summarise("", report.unseen)
    judged, remark = (report.unseen, ", with their source held out") if unseen.predicted_rows else (report.rows, "")
    worst = [
        tables.worst_groups_table(judged, sources, remark),
        tables.worst_rows_table(judged, sources, remark),
    ]
    return EvidencePage(
        findings=findings(report),
        figures=tables.figures_table(report.figures),
        pairs=_pairs(report),
        worst=[table for table in worst if table is not None],
        reasons=tables.reasons_table(report.rows),
        summaries=summary_tables(report, sources),
        has_unseen=bool(unseen.predicted_rows),
    )


def report_text(report: ValidationReport, sources: Mapping[str, Source]) -> str:
    """Findings and tables as plain text, and the names of parts that the catalogue lacks."""
    if not report.rows:
        return "0 rows: the files hold no published number to compare a prediction with."
    shown = (*summary_tables(report, sources), tables.reasons_table(report.rows), tables.figures_table(report.figures))
    parts = [" ".join(findings(report)), *(table_text(table) for table in shown if table is not None)]
    parts += [f"{name.place}: unknown {name.column} {name.name}{name.suggestion}" for name in report.unknown]
    return "\n\n".join(parts)


def findings(report: ValidationReport) -> list[str]:
    """The main findings in sentences."""
    seen, unseen = summarise("", report.rows), summarise("", report.unseen)
    if not seen.rows:
        return ["There are no measurements to compare with."]
    if not seen.predicted_rows and seen.rows == 1:
        return ["The published number cannot be predicted; the table below gives the reason."]
    if not seen.predicted_rows:
        return [f"None of {plural(seen.rows, 'published number')} can be predicted; the table below gives the reasons."]
    lines = [f"The model predicts {grouped(seen.predicted_rows)} of {plural(seen.rows, 'published number')}."]
    if seen.median_error is not None:
        lines.append(f"The median error is {_spread(seen)}.")
    if unseen.median_error is not None:
        lines.append(
            f"Held-out validation, each source excluded from its own fit: the median error of "
            f"{plural(unseen.predicted_rows, 'prediction')} is {_spread(unseen)}."
        )
    lines += _interval_findings(seen, unseen)
    if report.figures:
        reached = sum(one.is_reached for one in report.figures)
        lines.append(f"The calibration meets {reached} of {plural(len(report.figures), 'accuracy target')}.")
    return lines


def _spread(one: Summary) -> str:
    """'2.2 %, 90 % of the errors below 18 %'; few rows have no 90th percentile."""
    outer = (
        f", 90\u202f% of the errors are below {facts.size_text(one.p90_error)}" if one.predicted_rows >= _ENOUGH else ""
    )
    return facts.size_text(one.median_error) + outer


def _interval_findings(seen: Summary, unseen: Summary) -> list[str]:
    if not seen.judged_rows:
        return []
    left_out = f", and {facts.share_text(unseen.coverage)} with the source held out" if unseen.judged_rows else ""
    lines = [f"The 90\u202f% intervals contain {facts.share_text(seen.coverage)} of the published numbers{left_out}."]
    narrow = [
        name
        for one, name in ((seen, "for sources in the fit"), (unseen, "for sources held out"))
        if facts.is_too_narrow(one)
    ]
    if narrow:
        where = f" {listed(narrow)}" if unseen.judged_rows else ""
        lines.append(f"They are too narrow{where}.")
    return lines


def _pairs(report: ValidationReport) -> list[tuple[PageFigure, ...]]:
    """Parity charts, one or two per kind of number: by the fit, and by fits without the source."""
    pairs = []
    for one in facts.MEASURES:
        found = (
            _parity(report.rows, one, "seen", "", "every source in the fit" if report.unseen else ""),
            _parity(
                report.unseen,
                one,
                "unseen",
                "Held-out validation: ",
                "with the source of each number held out of its fit",
            ),
        )
        panels = tuple(panel for panel in found if panel is not None)
        if panels:
            pairs.append(panels)
    return pairs


def _parity(rows: Sequence[ValidatedRow], one: NumberKind, id_: str, lead: str, how: str) -> PageFigure | None:
    rows = [row for row in rows if facts.measure(row.quantity) is one]
    title = lead + parity_finding(rows, is_inside=bool(lead))
    height = _TALL_PX if one is RATE else _FLAT_PX
    chart = parity_chart(rows, LIGHT, _PANEL_PX, height, title=title)
    caption = f"{one.title}{', ' + how if how else ''}."
    place = 1 + facts.MEASURES.index(one)
    return None if chart is None else PageFigure(f"parity-{id_}-{place}", caption, chart_svg(chart))


def summary_tables(report: ValidationReport, sources: Mapping[str, Source]) -> list[Table]:
    """Summary by generation of GPU, task, quantity and source."""
    rows, unseen = report.rows, report.unseen
    generations = tables.generations_table(report.generations)
    if not rows:
        return []
    return [
        *([generations] if generations is not None else []),
        tables.summary_table(rows, unseen, lambda row: row.task, "by-task", "By task", "Task", tables.task_cell),
        tables.summary_table(rows, unseen, facts.kind_name, "by-kind", "By quantity", "Quantity", tables.kind_cell),
        tables.summary_table(
            rows, unseen, tables.source_of, "by-source", "By source", "Source", tables.source_cell(sources)
        ),
    ]
