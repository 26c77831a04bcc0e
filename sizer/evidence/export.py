"""Accuracy of the model, and what a new calibration changed, as JSON documents."""

from collections.abc import Sequence
from typing import Any

from sizer.base.json_document import fields_of, json_document
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.changes import Moved
from sizer.calibrate.validate import ValidatedRow, ValidationReport


def validation_document(report: ValidationReport) -> dict[str, Any]:
    """Every published measurement with its prediction, and the accuracy of each group of them."""
    return json_document(
        "validation",
        rows=_rows(report.rows),
        summary=fields_of(
            report,
            *("by_task", "by_quantity", "by_source", "by_status", "total"),
            figures=[fields_of(figure, *vars(figure), "is_reached") for figure in report.figures],
        ),
        source_left_out=_rows(report.unseen),
    )


def calibration_document(calibration: Calibration, n_rows: int, moved: Moved | None) -> dict[str, Any]:
    """A new calibration fitted to ``n_rows`` observations; ``moved`` None: there is none to compare it with."""
    return json_document(
        "calibration",
        **fields_of(calibration, "digest", "left_out", "unseen_sources"),
        rows=n_rows,
        effects=len(calibration.names),
        moved=None if moved is None else _moved(moved),
    )


def _rows(rows: Sequence[ValidatedRow]) -> list[dict[str, object]]:
    return [fields_of(row, *vars(row), "log_error") for row in rows]


def _moved(moved: Moved) -> dict[str, object]:
    effects = ("name", "before", "after", "standard_deviations")
    return fields_of(
        moved,
        *("new_rows", "gone_rows", "n_predictions", "n_moved"),
        predictions=[dict(zip(("id", "before", "after"), row, strict=True)) for row in moved.predictions],
        effects=[dict(zip(effects, row, strict=True)) for row in moved.effects],
    )
