"""Tables of the evidence: accuracy targets, reasons for missing predictions, every group."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, grouped, significant
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.language.calibration import GroupAccuracy
from sizer.calibrate.validate import Summary, ValidatedRow, ValidationReport, summaries, summarise
from sizer.catalog.schema import Source
from sizer.evidence import rows as facts
from sizer.evidence.parity import source_title
from sizer.evidence.rows import Key
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row, table_text
from sizer.present.text.calibration import note_text, note_texts, status_text
from sizer.present.words import capital, listed, percent, plural

# Measure of accuracy -> what it is in words. Errors are |ln(predicted / published)|.
MEASURES = {
    "rates-predicted": "rates predicted, of those with neural network, GPU and precision",
    "in-sample-median": "error in sample, median",
    "in-sample-p90": "error in sample, 90th percentile",
    "held-out-series-median": "error with the series held out, median",
    "held-out-source-median": "error with the source held out, median",
    "held-out-clusters-median": "error with clusters above 8 GPUs held out, median",
    "held-out-source-coverage": "share inside the 90 % interval, source held out",
    "time-to-train-median": "error of the time to train of public logs, median",
    "host-source-median": "error of the host data path with the source held out, median",
    "host-source-coverage": "share of the host data path inside the 90 % interval, source held out",
    # Step times of language models.
    "language-median": "language models, error in sample, median",
    "language-p90": "language models, error in sample, 90th percentile",
    "language-held-out-series-median": "language models, error with the series held out, median",
    "language-held-out-source-median": "language models, source held out, stack known elsewhere, median",
    "language-better-than-utilization": "language models, share of sources better than one utilization per GPU",
    "language-unknown-stack-median": "language models, source held out, stack unknown, median",
    "language-newest-round-rates": "language models, MLPerf v5.1 held out, rates, median",
    "language-newest-round-times": "language models, MLPerf v5.1 held out, time to train, median",
    "language-coverage": "language models, share inside the 90 % interval, in sample",
    "language-held-out-series-coverage": "language models, share inside the 90 % interval, series held out",
    "language-held-out-source-coverage": "language models, share inside the 90 % interval, source held out",
    "language-unknown-stack-coverage": "language models, share inside the 90 % interval, stack unknown",
    "language-memory-median": "language models, GPU memory in sample, median",
    "language-memory-held-out-source-median": "language models, GPU memory, source held out, median",
    "language-memory-held-out-source-coverage": "language models, GPU memory, share inside the 90 % interval",
    "language-memory-refused-that-ran": "language models, published layouts refused for GPU memory",
    "language-bias": "language models, bias in sample",
    "language-held-out-source-bias": "language models, bias with the source held out",
    "language-unknown-stack-bias": "language models, bias with the stack unknown",
    # Days of whole trainings of language models, their family of models left out.
    "whole-run-coverage": "whole trainings, share of days inside the 90 % interval, family held out",
    "whole-run-bias": "whole trainings, bias of days, family held out",
    "whole-run-half-width": "whole trainings, half width of the 90 % interval, median",
    # Trainings of networks of one's own, their team left out.
    "own-networks-coverage": "own networks, 90 % interval of rates, team held out",
    "own-networks-bias": "own networks, bias of rates, team held out",
    "own-networks-half-width": "own networks, half width of the 90 % interval, median",
    # Other networks of MLPerf Training v1.0 and later.
    "modern-rate-in-sample-median": "MLPerf v1.0 to v5.1: rate in sample, median",
    "modern-rate-system-left-out-median": "MLPerf v1.0 to v5.1: rate with the system held out, median",
    "modern-rate-newest-round-left-out-median": "MLPerf v5.1 from v1.0 to v5.0: rate, median",
    "modern-time-in-sample-median": "MLPerf v1.0 to v5.1: time to train in sample, median",
    "modern-time-system-left-out-median": "MLPerf v1.0 to v5.1: time to train with the system held out, median",
    "modern-time-newest-round-left-out-median": "MLPerf v5.1 from v1.0 to v5.0: time to train, median",
    "modern-least-coverage": "MLPerf v1.0 to v5.1: share inside the 90 % interval, lowest check",
    "modern-most-coverage": "MLPerf v1.0 to v5.1: share inside the 90 % interval, highest check",
    "modern-largest-bias": "MLPerf v1.0 to v5.1: bias, largest of all checks",
    # Serving of language models: tokens/s, where nothing else is said.
    "serving-median": "serving, tokens/s in sample, median",
    "serving-cell-left-out-median": "serving, tokens/s, model x engine x GPU x precision held out, median",
    "serving-cell-left-out-p90": "serving, tokens/s, the same, 90th percentile",
    "serving-cell-left-out-time-per-token-median": "serving, time per token, the same, median",
    "serving-gpu-left-out-median": "serving, tokens/s, GPU held out, median",
    "serving-model-left-out-median": "serving, tokens/s, model held out, median",
    "serving-engine-left-out-median": "serving, tokens/s, engine held out, median",
    "serving-cell-left-out-first-token-median": "serving, time to the first token, combination held out, median",
    "serving-cell-left-out-first-token-coverage": "serving, time to the first token, share inside the 90 % interval",
    "serving-least-coverage": "serving, tokens/s, share inside the 90 % interval, lowest check",
    "serving-most-coverage": "serving, tokens/s, share inside the 90 % interval, highest check",
    "serving-half-width-cell-left-out": "serving, tokens/s, half width of the interval, combination held out",
    "serving-half-width": "serving, tokens/s, half width of the interval, in sample",
    "serving-half-width-after-one-measurement": "serving, tokens/s, half width near one measurement, held out",
    "serving-coverage-after-one-measurement": "serving, tokens/s, share inside the interval, the same",
    "serving-mlperf-offline-unfitted-median": "serving, MLPerf offline, none of its rows fitted, median",
    "serving-mlperf-server-unfitted-median": "serving, MLPerf server, none of its rows fitted, median",
    "serving-mlperf-interactive-unfitted-median": "serving, MLPerf interactive, none of its rows fitted, median",
    "serving-mlperf-unfitted-largest-bias": "serving, MLPerf, none of its rows fitted, largest bias of a scenario",
    "serving-mlperf-half-of-systems-left-out-median": "serving, MLPerf, half of the systems held out, median",
    "serving-memory-loads-and-refusals": "serving, published loads and refusals that memory explains",
    "serving-memory-limits-median": "serving, published limits of requests in flight, median",
    # Emulated accelerators of MLPerf Storage.
    "storage-system-left-out-median": "MLPerf Storage: rate of emulated accelerators with the system held out, median",
    "storage-system-left-out-coverage": "MLPerf Storage: share inside the 90 % interval, system held out",
}
# An effect whose spread the data narrowed by less than this share of its prior has learnt nothing.
_NOT_NARROWED = 0.01


def status_summaries(report: ValidationReport) -> tuple[Summary, ...]:
    """Accuracy by what a row is to the calibration, with the reason of those excluded or not predicted."""
    return summaries(list(report.rows), lambda row: status_text(row.status), only_meant=False)


def calibration_text(calibration: Calibration) -> str:
    """A fit in a few lines: its observations, spreads and exclusions."""
    c = calibration
    not_narrowed = [name for name, share in c.narrowed_fraction().items() if share < _NOT_NARROWED]
    examples = f", such as {', '.join(not_narrowed[:3])}" if not_narrowed else ""
    counts = Counter(note_text(reason) for reason in c.excluded.values())
    return "\n".join(
        [
            f"{len(c.used | c.host_used)} observations fitted with {len(c.names)} effects, {len(c.excluded)} excluded; "
            f"observations {c.digest}",
            f"scatter between sources {math.sqrt(c.tau2):.1%}, within a source: "
            + ", ".join(f"{kind} {sd:.1%}" for kind, sd in c.scatter_log_sd.items()),
            *(
                f"{task}: median error of a rate with its source held out {unseen['median_error']:.1%}"
                for task, unseen in c.unseen_sources.items()
            ),
            f"effects that the data do not narrow: {len(not_narrowed)}{examples}",
            *(f"excluded, {count}: {reason}" for reason, count in counts.most_common()),
        ]
    )


def validation_document(report: ValidationReport) -> dict[str, Any]:
    """Every published measurement with its prediction, and the accuracy of each group of them."""
    return json_document(
        "validation",
        rows=_rows(report.rows),
        summary=fields_of(
            report,
            *("by_task", "by_quantity", "by_source", "total"),
            by_status=status_summaries(report),
            figures=[
                fields_of(target, *vars(target), "is_reached", name=MEASURES[target.measure])
                for target in report.figures
            ],
            generations=report.generations,
        ),
        source_left_out=_rows(report.unseen),
    )


def calibration_document(calibration: Calibration, n_rows: int) -> dict[str, Any]:
    """A new calibration fitted to ``n_rows`` observations."""
    return json_document(
        "calibration",
        **fields_of(calibration, "digest", "unseen_sources"),
        left_out={name: note_text(reason) for name, reason in calibration.excluded.items()},
        rows=n_rows,
        effects=len(calibration.names),
    )


def _rows(rows: Sequence[ValidatedRow]) -> list[dict[str, object]]:
    return [
        fields_of(
            row,
            *("id", "task", "quantity", "source", "published", "predicted", "low", "high", "log_error"),
            status=status_text(row.status),
            notes=note_texts(row.notes),
        )
        for row in rows
    ]


# A file may name thousands of sources or reasons; a page that lists them all is not read.
_MOST_LINES = 60
# A group without a row that is predicted with its source held out.
_NONE = Summary("", 0, 0)


def figures_table(figures: Sequence[AccuracyTarget]) -> Table | None:
    """Accuracy targets of the calibration, and whether they are met; None where there is none."""
    if not figures:
        return None
    return record_table(
        "figures",
        "Accuracy targets of the calibration",
        figures,
        [
            Field("Measure", lambda one: capital(MEASURES[one.measure]), width=46),
            Field("Target", _target, "right", 17),
            Field("Measured", _measured, "right", 12),
            Field("Rows", lambda one: grouped(one.rows), "right", 9),
            Field("", lambda one: "met" if one.is_reached else "not met", width=16),
        ],
        kind=lambda one: "" if one.is_reached else "strong",
    )


def generations_table(groups: Sequence[GroupAccuracy]) -> Table | None:
    """Runs of language models by generation of GPU and software stack; None where there is none."""
    if not groups:
        return None
    return record_table(
        "by-generation",
        "Language models by generation of GPU and software stack",
        groups,
        [
            Field("Generation", lambda one: capital(one.generation_name), width=14),
            Field("Software stack", lambda one: one.stack_name, width=20),
            Field("Runs", lambda one: grouped(one.errors.rows), "right", 8),
            Field("Models", lambda one: grouped(one.models), "right", 9),
            Field("Most GPUs", lambda one: grouped(one.most_gpus), "right", 11),
            Field("Median error", lambda one: facts.share_text(one.errors.median), "right", 12),
            Field("90 % within", lambda one: facts.share_text(one.errors.p90), "right", 12),
            Field("In the interval", lambda one: facts.share_text(one.errors.coverage), "right", 14),
        ],
        note="Errors of rates in sample. A design on a generation and stack that is not listed extrapolates.",
    )


def _target(target: AccuracyTarget) -> str:
    if target.low <= 0:
        return f"at most {facts.share_text(target.high)}"
    if target.high >= 1:
        return f"at least {facts.share_text(target.low)}"
    return f"{facts.share_text(target.low)} to {facts.share_text(target.high)}"


def _measured(target: AccuracyTarget) -> str:
    # Three digits: 6.03 % misses a limit of 6 %, and the reader must see why.
    return f"{significant(100 * target.value)}{NARROW_SPACE}%" if math.isfinite(target.value) else "not known"


def reasons_table(rows: Sequence[ValidatedRow]) -> Table | None:
    """Rows that do not count, by reason; None where every row counts."""
    lines: list[Row] = []
    for title, predicted in (("Not predicted", False), ("Predicted, but excluded", True)):
        reasons = facts.reasons(rows, predicted=predicted)
        if not reasons:
            continue
        lines.append(row(title, kind="group"))
        lines += [row(facts.reason_text(status), grouped(count)) for status, count in reasons[:_MOST_LINES]]
        others = reasons[_MOST_LINES:]
        if others:
            lines.append(row(f"{plural(len(others), 'other reason')}", grouped(sum(count for _, count in others))))
        lines.append(row("Total", grouped(sum(count for _, count in reasons)), kind="total"))
    if not lines:
        return None
    return fact_table(
        "reasons",
        "Rows that do not count, by reason",
        lines,
        titles=("Reason", "Rows"),
        widths=(85, 15),
        aligns=("left", "right"),
        style="",
    )


def summary_table(
    rows: Sequence[ValidatedRow],
    unseen: Sequence[ValidatedRow],
    key: Key,
    id_: str,
    caption: str,
    head: str,
    name: Callable[[str], Cell],
) -> Table:
    """Accuracy of every group, with its source in the fit and held out."""
    groups = sorted(summaries(rows, key), key=lambda one: (-one.predicted_rows, -one.rows, one.name))
    held_out = {summary.name: summary for summary in summaries(unseen, key)}
    fields: list[Field[Summary]] = [
        Field("Rows", lambda one: grouped(one.rows), "right", 8),
        Field("Predicted", lambda one: grouped(one.predicted_rows), "right", 10),
        Field("Median error", lambda one: _known(one.median_error), "right", 10),
        Field("90th percentile", lambda one: _known(one.p90_error), "right", 10),
        Field("Inside", lambda one: _known(one.coverage), "right", 10),
    ]
    if unseen:
        everything = summarise("", unseen)
        fields += [
            Field("Median, held out", lambda one: _known(_of(one, held_out, everything).median_error), "right", 10),
            Field("Inside, held out", lambda one: _known(_of(one, held_out, everything).coverage), "right", 10),
        ]
    width = 100 - sum(field.width for field in fields)
    total = summarise("", rows)
    more = len(groups) - len(groups[:_MOST_LINES])
    return record_table(
        id_,
        caption,
        groups[:_MOST_LINES],
        [Field(head, lambda one: name(one.name), width=width), *fields],
        totals=[row("All", *(field.text(total) for field in fields), kind="total")],
        note=f"{plural(more, 'group')} with fewer rows are not listed; the total includes them." if more else "",
    )


def _of(summary: Summary, held_out: Mapping[str, Summary], everything: Summary) -> Summary:
    """The same group with its sources held out; the total has no name."""
    return held_out.get(summary.name, _NONE) if summary.name else everything


def task_cell(task: str) -> Cell:
    """Name of a task."""
    return Cell(facts.shortened(facts.task_name(task)))


def kind_cell(kind: str) -> Cell:
    """Task and quantity."""
    return Cell(facts.shortened(kind))


def source_cell(sources: Mapping[str, Source]) -> Callable[[str], Cell]:
    """Title of a source with its number in the list, or what a file calls it."""
    return lambda key: Cell(source_title(key, sources), cites=(key,) if key in sources else ())


def source_of(validated_row: ValidatedRow) -> str:
    """Key of the source."""
    return validated_row.source


def _known(share: float | None) -> Cell:
    return Cell("none", is_muted=True) if share is None else Cell(percent(share))


# Fewer rows have no 90th percentile.
_ENOUGH = 10


def report_text(report: ValidationReport, sources: Mapping[str, Source]) -> str:
    """Findings and tables as plain text, and the names of parts that the catalogue lacks."""
    if not report.rows:
        return "0 rows: the files hold no published number to compare a prediction with."
    shown = (*summary_tables(report, sources), reasons_table(report.rows), figures_table(report.figures))
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
        reached = sum(figure.is_reached for figure in report.figures)
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
    generations = generations_table(report.generations)
    if not rows:
        return []
    return [
        *([generations] if generations is not None else []),
        summary_table(rows, unseen, lambda row: row.task, "by-task", "By task", "Task", task_cell),
        summary_table(rows, unseen, facts.kind_name, "by-kind", "By quantity", "Quantity", kind_cell),
        summary_table(rows, unseen, source_of, "by-source", "By source", "Source", source_cell(sources)),
    ]
