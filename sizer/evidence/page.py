"""Measurements against the model for people: one page that says how well it predicts, and where it does badly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizer.base.quantities import grouped
from sizer.calibrate.validate import ValidatedRow, ValidationReport
from sizer.catalog.schema import Source
from sizer.evidence import charts, tables
from sizer.evidence import rows as facts
from sizer.evidence.parity import source_title
from sizer.evidence.rows import RATE, Accuracy, Measure
from sizer.present.charting import Chart, chart_svg
from sizer.present.citations import Citations
from sizer.present.page import rendered, with_fonts_inside
from sizer.present.tables import Table
from sizer.present.theme import LIGHT
from sizer.present.words import listed, plural

TITLE = "How well the model predicts what was published"
COVERAGE_CAPTION = (
    "Share of the published numbers inside their 90\u202f% interval. A bar is the range that chance leaves open if "
    "rows are independent; those of one source are not quite, so the true range is wider."
)
# A panel, two of which stand side by side, and a chart as wide as the page. [px]
_PANEL_PX, _PAGE_PX = 480, 940
_TALL_PX, _FLAT_PX = 400, 260


# Fewer rows have no nine in ten.
_ENOUGH = 10


@dataclass(frozen=True)
class Drawn:
    """A chart with its caption."""

    id: str
    caption: str
    svg: str


@dataclass(frozen=True)
class EvidencePage:
    """What the template sees as ``page``."""

    title: str
    subject: str
    stamp: str
    key_figures: list[tuple[str, str]]
    findings: list[str]
    figures: Table | None
    pairs: list[tuple[Drawn, ...]]
    residuals: Drawn | None
    coverage: Drawn | None
    weaknesses: list[str]
    worst: list[Table]
    reasons: Table | None
    summaries: list[Table]
    has_unseen: bool


def evidence_html(
    report: ValidationReport,
    sources: Mapping[str, Source],
    *,
    title: str = TITLE,
    subject: str = "",
    stamp: str = "",
) -> str:
    """The validation as one HTML file that needs no other: fonts and charts are inside.

    Parameters
    ----------
    report : ValidationReport
        Published numbers with their predictions. Its names may come from anybody's file.
    sources : mapping
        Documents of the catalogue by key.
    title : str
        Head of the page.
    subject : str
        What was validated: "the built-in observations", the name of a file.
    stamp : str
        What the numbers were made with: digests of catalogue and calibration, a date.

    Raises
    ------
    ReportError
        If a template names something that does not exist.
    """
    names = {"page": evidence_page(report, sources, title=title, subject=subject, stamp=stamp)}
    return with_fonts_inside(rendered("evidence.html", names, Citations(sources), ("guide.css", "evidence.css")))


def evidence_page(
    report: ValidationReport, sources: Mapping[str, Source], *, title: str = TITLE, subject: str = "", stamp: str = ""
) -> EvidencePage:
    """Everything that the page says, prepared."""
    seen, unseen = facts.accuracy("", report.rows), facts.accuracy("", report.unseen)
    judged, remark = (report.unseen, ", with their source left out") if unseen.predicted else (report.rows, "")
    worst = [
        tables.worst_groups_table(judged, sources, remark),
        tables.worst_rows_table(judged, sources, "worst-rows", remark),
        tables.worst_rows_table(report.rows, sources, "worst-seen", ", though the fit has seen them")
        if remark
        else None,
    ]
    return EvidencePage(
        title=title,
        subject=facts.shortened(subject),
        stamp=facts.shortened(stamp),
        key_figures=_key_figures(seen, unseen),
        findings=findings(report),
        figures=tables.figures_table(report.figures),
        pairs=_pairs(report),
        residuals=_residuals(report, sources),
        coverage=_coverage(report),
        weaknesses=_weaknesses(judged, sources),
        worst=[table for table in worst if table is not None],
        reasons=tables.reasons_table(report.rows),
        summaries=_summaries(report, sources),
        has_unseen=bool(unseen.predicted),
    )


def _key_figures(seen: Accuracy, unseen: Accuracy) -> list[tuple[str, str]]:
    """The numbers that stand large at the top."""
    if not seen.predicted:
        return []
    found = [
        ("published numbers predicted", grouped(seen.predicted)),
        ("median error", facts.size_text(seen.median)),
        ("inside the 90\u202f% interval", facts.share_text(seen.coverage)),
    ]
    if unseen.predicted:
        found[2:2] = [("median error, source left out", facts.size_text(unseen.median))]
        found.append(("inside it, source left out", facts.share_text(unseen.coverage)))
    return found


def findings(report: ValidationReport) -> list[str]:
    """The main findings in sentences, first what they rest on."""
    seen, unseen = facts.accuracy("", report.rows), facts.accuracy("", report.unseen)
    if not seen.rows:
        return ["There are no measurements to compare with."]
    if not seen.predicted and seen.rows == 1:
        return ["The one published number cannot be predicted; the table below says why."]
    if not seen.predicted:
        return [f"None of {plural(seen.rows, 'published number')} can be predicted; the table below says why."]
    lines = [f"The model predicts {grouped(seen.predicted)} of {plural(seen.rows, 'published number')}."]
    if seen.median is not None:
        lines.append(f"Half of the predictions lie within {_spread(seen)}.")
    if unseen.median is not None:
        lines.append(
            f"With its source left out of the fit, as for a run that nobody has published, half of "
            f"{plural(unseen.predicted, 'prediction')} lie within {_spread(unseen)}."
        )
    lines += _interval_findings(seen, unseen)
    if report.figures:
        reached = sum(one.is_reached for one in report.figures)
        lines.append(
            f"Of {plural(len(report.figures), 'figure')} asked of the calibration, {reached} "
            f"{'is' if reached == 1 else 'are'} reached."
        )
    return lines


def _spread(one: Accuracy) -> str:
    """'2.2 %, nine in ten within 18 %'; a few rows have no nine in ten."""
    outer = f", nine in ten within {facts.size_text(one.p90)}" if one.predicted >= _ENOUGH else ""
    return facts.size_text(one.median) + outer


def _interval_findings(seen: Accuracy, unseen: Accuracy) -> list[str]:
    if not seen.judged:
        return []
    left_out = f", and {facts.share_text(unseen.coverage)} with the source left out" if unseen.judged else ""
    lines = [f"The 90\u202f% intervals hold {facts.share_text(seen.coverage)} of the published numbers{left_out}."]
    narrow = [
        name
        for one, name in ((seen, "for sources that the fit has seen"), (unseen, "for sources left out"))
        if one.is_too_narrow
    ]
    if narrow:
        where = f" {listed(narrow)}" if unseen.judged else ""
        lines.append(f"They are too narrow{where}.")
    return lines


def _pairs(report: ValidationReport) -> list[tuple[Drawn, ...]]:
    """Parity charts, one or two a measure: by the fit, and by fits that had not seen the source."""
    pairs = []
    for one in facts.MEASURES:
        found = (
            _parity(report.rows, one, "seen", "", "every source in the fit" if report.unseen else ""),
            _parity(report.unseen, one, "unseen", "Left out: h", "with the source of each number left out of its fit"),
        )
        panels = tuple(panel for panel in found if panel is not None)
        if panels:
            pairs.append(panels)
    return pairs


def _parity(rows: Sequence[ValidatedRow], one: Measure, id_: str, lead: str, how: str) -> Drawn | None:
    rows = [row for row in rows if facts.measure(row.quantity) is one]
    title = charts.parity_finding(rows)
    title = lead + title[1:] if lead and title.startswith("Half") else title
    height = _TALL_PX if one is RATE else _FLAT_PX
    chart = charts.parity_chart(rows, LIGHT, _PANEL_PX, height, title=title)
    caption = f"{one.title}{', ' + how if how else ''}."
    return _drawn(chart, f"parity-{id_}-{1 + facts.MEASURES.index(one)}", caption)


def _residuals(report: ValidationReport, sources: Mapping[str, Source]) -> Drawn | None:
    rows, seen = (report.unseen, report.rows) if facts.counted(report.unseen) else (report.rows, ())
    chart = charts.residual_chart(rows, sources, LIGHT, _PAGE_PX, seen=seen)
    return _drawn(chart, "residuals", residual_caption(bool(seen)))


def residual_caption(is_unseen: bool) -> str:
    """How to read the chart of residuals."""
    caption = (
        "Predicted over published numbers, a line a source with its number of rows, the largest median first. Circles "
        "are rows, the band holds their middle half, the bar is their median; a triangle lies beyond the axis."
    )
    if is_unseen:
        caption += " Each source is predicted by a fit without it; the cross is its median with it."
    return caption


def _coverage(report: ValidationReport) -> Drawn | None:
    groups, unseen = (facts.accuracies(rows, facts.kind_name) for rows in (report.rows, report.unseen))
    return _drawn(charts.coverage_chart(groups, unseen, LIGHT, _PAGE_PX), "coverage", COVERAGE_CAPTION)


def _drawn(chart: Chart | None, id_: str, caption: str) -> Drawn | None:
    return None if chart is None else Drawn(id_, caption, chart_svg(chart))


def _weaknesses(rows: Sequence[ValidatedRow], sources: Mapping[str, Source]) -> list[str]:
    """What the model does badly, in sentences."""
    lines = []
    kinds = facts.worst_groups(rows, facts.kind_name, 1)
    if kinds:
        one = kinds[0]
        lines.append(
            f"Worst predicted is {facts.shortened(one.name)}: {facts.size_text(one.median)} off in the median of "
            f"{plural(one.predicted, 'row')}, {one.tendency}."
        )
    far = [row for row in facts.counted(rows) if abs(facts.error(row) or 0.0) > facts.FACTOR_2]
    if far:
        lines.append(
            f"{plural(len(far), 'prediction')} {'is' if len(far) == 1 else 'are'} off by more than a factor of two."
        )
    narrow = [one for one in facts.accuracies(rows, tables.source_of) if one.is_too_narrow]
    if narrow:
        named = listed(source_title(one.name, sources) for one in narrow[:3])
        more = f" and {len(narrow) - 3} more" if len(narrow) > 3 else ""
        lines.append(f"Intervals are too narrow for {plural(len(narrow), 'source')}: {named}{more}.")
    return lines


def _summaries(report: ValidationReport, sources: Mapping[str, Source]) -> list[Table]:
    rows, unseen = report.rows, report.unseen
    if not rows:
        return []
    return [
        tables.summary_table(rows, unseen, lambda row: row.task, "by-task", "By task", "Task", tables.task_cell),
        tables.summary_table(rows, unseen, facts.kind_name, "by-kind", "By quantity", "Quantity", tables.kind_cell),
        tables.summary_table(
            rows, unseen, tables.source_of, "by-source", "By source", "Source", tables.source_cell(sources)
        ),
    ]
