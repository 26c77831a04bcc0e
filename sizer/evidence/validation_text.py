"""Validation as text and as JSON."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.calibrate.accuracy_targets import AccuracyTarget
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.language.basis import GroupAccuracy
from sizer.calibrate.validate import Summary, ValidatedRow, ValidationReport, summaries, summarise
from sizer.present.text.calibration import note_text, note_texts, status_text

_NAME_CHARACTERS = 90
# An effect whose spread the data narrowed by less than this share of its prior has learnt nothing.
_NOT_NARROWED = 0.01


def status_summaries(report: ValidationReport) -> tuple[Summary, ...]:
    """Accuracy by what a row is to the calibration, with the reason of those excluded or not predicted."""
    return summaries(list(report.rows), lambda row: status_text(row.status), only_meant=False)


def report_text(report: ValidationReport) -> str:
    """Tables of the summaries."""
    if not report.rows:
        return "0 rows: the files hold no published number to compare a prediction with."
    titles = {
        "by task": report.by_task,
        "by quantity": report.by_quantity,
        "by source": report.by_source,
        "by use (rows that are excluded from the fit count as predicted in this table only)": status_summaries(report),
    }
    width = max(len(summary.name) for group in titles.values() for summary in group)
    width = min(max(width, len("all")), _NAME_CHARACTERS)
    head = f"{'':{width}} {'rows':>5} {'predicted':>9} {'median':>7} {'p90':>7} {'bias':>7} {'in 90 %':>7}"
    lines = ["Errors are |ln(predicted / published)|; 'in 90 %' is the share inside the interval.", ""]
    for title, group in titles.items():
        lines += [f"{title}", head, *(_line(summary, width) for summary in group), ""]
    lines.append(_line(report.total, width))
    if report.unseen:
        unseen = list(report.unseen)
        groups = summaries(unseen, lambda row: f"{row.task}: {row.quantity}")
        lines += ["", "predicted with the source held out", head]
        lines += [*(_line(summary, width) for summary in groups), _line(summarise("all", unseen), width)]
    if report.figures:
        lines += ["", f"{'accuracy targets':{width}} {'rows':>5} {'measured':>9} {'target':>13}"]
        lines += [_target_line(target, width) for target in report.figures]
    if report.generations:
        lines += ["", "language models by generation of GPU and software stack", head]
        lines += [_group_line(one, width) for one in report.generations]
    if report.unknown:
        lines += ["", *(f"{name.place}: unknown {name.column} {name.name}{name.suggestion}" for name in report.unknown)]
    return "\n".join(lines)


def _group_line(one: GroupAccuracy, width: int) -> str:
    name = f"{one.generation or 'other'}: {one.stack}, up to {one.most_gpus} GPUs"
    errors = f"{one.median:7.1%} {one.p90:7.1%} {one.bias:7.1%} {one.coverage:7.1%}"
    return f"{name:{width}} {one.runs:5d} {one.runs:9d} {errors}"


def _target_line(target: AccuracyTarget, width: int) -> str:
    # Of a measured 6.1 % nobody could tell whether "at most 6 %" is kept.
    low, high = (f"{100 * end:.3g}%" for end in (target.low, target.high))
    limit = f"{low} to {high}" if target.low > 0 else f"at most {high}"
    missed = "" if target.is_reached else "  MISSED"
    return f"{target.text:{width}} {target.rows:5d} {target.value:9.1%} {limit:>13}{missed}"


def _line(summary: Summary, width: int) -> str:
    name = summary.name if len(summary.name) <= width else summary.name[: width - 1] + "…"
    cells = [
        "      -" if value is None else f"{value:7.1%}"
        for value in (summary.median_error, summary.p90_error, summary.bias, summary.coverage)
    ]
    return f"{name:{width}} {summary.rows:5d} {summary.predicted_rows:9d} {' '.join(cells)}"


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
            figures=[fields_of(target, *vars(target), "is_reached", name=target.text) for target in report.figures],
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
            *(name for name in vars(row) if name not in ("status", "notes")),
            "log_error",
            status=status_text(row.status),
            notes=note_texts(row.notes),
        )
        for row in rows
    ]
