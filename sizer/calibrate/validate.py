"""How well the model predicts what was published: every row with its prediction, and summaries."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sizer.calibrate.calibration import Calibration
from sizer.calibrate.observations import Observation
from sizer.calibrate.predict import predict_all
from sizer.catalog.model import Catalog

_NAME_CHARACTERS = 90


@dataclass(frozen=True)
class ValidatedRow:
    """One published number beside what the model says."""

    id: str
    task: str
    quantity: str
    source: str
    published: float
    predicted: float | None
    low: float | None
    high: float | None
    status: str

    @property
    def log_error(self) -> float | None:
        """ln(predicted / published); None without a prediction or where one of them is not above 0."""
        if self.predicted is None or self.predicted <= 0 or self.published <= 0:
            return None
        return math.log(self.predicted / self.published)

    @property
    def is_covered(self) -> bool | None:
        """Whether the published number lies in the 90 % interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.published <= self.high


@dataclass(frozen=True)
class Summary:
    """Accuracy of a group of rows."""

    name: str
    rows: int
    predicted_rows: int
    median_error: float | None  # of |ln(predicted / published)|
    p90_error: float | None
    bias: float | None  # median of ln(predicted / published)
    coverage: float | None  # share of published numbers inside their 90 % interval

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class ValidationReport:
    """Every row, and summaries by task, quantity, source and status."""

    rows: tuple[ValidatedRow, ...]
    by_task: tuple[Summary, ...]
    by_quantity: tuple[Summary, ...]
    by_source: tuple[Summary, ...]
    by_status: tuple[Summary, ...]
    total: Summary

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        groups = {name: getattr(self, name) for name in ("by_task", "by_quantity", "by_source", "by_status")}
        return {
            "rows": [vars(row) for row in self.rows],
            "summary": {
                **{name: [summary.as_dict() for summary in group] for name, group in groups.items()},
                "total": self.total.as_dict(),
            },
        }

    def as_text(self) -> str:
        """Tables of the summaries."""
        titles = {
            "by task": self.by_task,
            "by quantity": self.by_quantity,
            "by source": self.by_source,
            "by status": self.by_status,
        }
        width = max(len(summary.name) for group in titles.values() for summary in group)
        width = min(max(width, len("all")), _NAME_CHARACTERS)
        head = f"{'':{width}} {'rows':>5} {'predicted':>9} {'median':>7} {'p90':>7} {'bias':>7} {'in 90 %':>7}"
        lines = ["Errors are |ln(predicted / published)|; 'in 90 %' is the share inside the interval.", ""]
        for title, group in titles.items():
            lines += [f"{title}", head, *(_line(summary, width) for summary in group), ""]
        return "\n".join([*lines, _line(self.total, width)])


def validate(rows: tuple[Observation, ...], catalog: Catalog, calibration: Calibration) -> ValidationReport:
    """Predict every observation and summarise the errors.

    Summaries count rows that the model is meant to describe: those that it is calibrated on and those that it predicts.
    Rows left out of the fit for a reason keep their prediction in the table, beside that reason.
    """
    validated = []
    for row, (estimate, status) in zip(rows, predict_all(rows, catalog, calibration), strict=True):
        value, low, high = (None, None, None) if estimate is None else tuple(estimate)
        validated.append(ValidatedRow(row.id, row.task, row.quantity, row.source, row.value, value, low, high, status))
    return ValidationReport(
        tuple(validated),
        _grouped(validated, lambda row: row.task),
        _grouped(validated, lambda row: f"{row.task}: {row.quantity}"),
        _grouped(validated, lambda row: row.source),
        _grouped(validated, lambda row: row.status, only_meant=False),
        summarise("all", validated),
    )


def _line(summary: Summary, width: int) -> str:
    name = summary.name if len(summary.name) <= width else summary.name[: width - 1] + "…"
    cells = [
        "      -" if value is None else f"{value:7.1%}"
        for value in (summary.median_error, summary.p90_error, summary.bias, summary.coverage)
    ]
    return f"{name:{width}} {summary.rows:5d} {summary.predicted_rows:9d} {' '.join(cells)}"


def is_meant(row: ValidatedRow) -> bool:
    """Whether a row counts in summaries."""
    return row.predicted is not None and not row.status.startswith("left out")


def summarise(name: str, rows: list[ValidatedRow], only_meant: bool = True) -> Summary:
    """Accuracy of some rows."""
    counted = [row for row in rows if (is_meant(row) if only_meant else row.predicted is not None)]
    errors = np.array([row.log_error for row in counted if row.log_error is not None])
    covered = [row.is_covered for row in counted if row.is_covered is not None]
    if not len(errors):
        return Summary(name, len(rows), len(counted), None, None, None, None)
    return Summary(
        name,
        len(rows),
        len(counted),
        float(np.median(np.abs(errors))),
        float(np.quantile(np.abs(errors), 0.9)),
        float(np.median(errors)),
        float(np.mean(covered)),
    )


def _grouped(
    rows: list[ValidatedRow], key: Callable[[ValidatedRow], str], only_meant: bool = True
) -> tuple[Summary, ...]:
    groups: dict[str, list[ValidatedRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return tuple(summarise(name, groups[name], only_meant) for name in sorted(groups))
