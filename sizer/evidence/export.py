"""Accuracy of the model, and a new calibration, as JSON documents."""

from collections.abc import Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.validate import ValidatedRow, ValidationReport
from sizer.evidence.validation_text import MEASURES, status_summaries
from sizer.present.text.calibration import note_text, note_texts, status_text


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
            *(name for name in vars(row) if name not in ("status", "notes")),
            "log_error",
            status=status_text(row.status),
            notes=note_texts(row.notes),
        )
        for row in rows
    ]
