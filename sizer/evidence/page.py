"""Accuracy of the predictions compared with published numbers: findings and tables."""

from collections.abc import Mapping

from sizer.base.quantities import grouped
from sizer.calibrate.validate import Summary, ValidationReport, summarise
from sizer.catalog.schema import Source
from sizer.evidence import rows as facts
from sizer.evidence import tables
from sizer.present.tables import Table, table_text
from sizer.present.words import listed, plural

# Fewer rows have no 90th percentile.
_ENOUGH = 10


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
