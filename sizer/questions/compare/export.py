"""A comparison of two answers as one JSON document."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from sizer.base.money import round_money
from sizer.library.compare import Differences, figure_pairs
from sizer.library.sides import Side
from sizer.library.snapshot import Figure, Line
from sizer.questions.compare.causes import Difference, Numbers, Outcome
from sizer.workload.changes import FieldChange

KIND = "difference"
SCHEMA_VERSION = 1


def difference_document(sides: tuple[Side, Side], found: Differences, caused: Difference) -> dict[str, Any]:
    """What two sides say otherwise, and which input caused it, as plain data.

    Unknown numbers are ``null``; money is decimal text. Shares of counts are floats of exact fractions.
    """
    old, new = sides[0].snapshot, sides[1].snapshot
    pairs = figure_pairs(old, new) if old is not None and new is not None else ()
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "sides": [_side(side) for side in sides],
        "request": [_change(one) for one in found.request],
        "figures": [{"before": _figure(one.before), "now": _figure(one.now)} for one in pairs],
        "bill": [{"before": _line(one.before), "now": _line(one.now), "more": _money(one.more)} for one in found.lines],
        "is_other_catalog": found.is_other_catalog,
        "is_other_calibration": found.is_other_calibration,
        "is_other_version": found.is_other_version,
        "is_other_price_book": found.is_other_price_book,
        "sized_now": {
            "before": _outcome(caused.before),
            "now": _outcome(caused.now),
            "total": _numbers({key: caused.total(key) for key in caused.compared}),
            "is_combined": caused.is_combined,
            "orders": caused.n_all_orders,
            "orders_with_answers": dict(caused.n_orders),
            "causes": [
                {
                    "input": cause.key,
                    "changes": [_change(one) for one in cause.changes],
                    "alone": _outcome(cause.alone),
                    "left_out": _outcome(cause.left_out),
                    "shares": _numbers(cause.shares),
                }
                for cause in caused.causes
            ],
        },
    }


def _side(side: Side) -> dict[str, Any]:
    snapshot = side.snapshot
    return {
        "name": side.name,
        "is_of_then": side.is_of_then,
        "design": None if snapshot is None else snapshot.design,
        "verdict": None if snapshot is None else snapshot.verdict,
        "currency": None if snapshot is None else snapshot.currency,
        "catalog_digest": None if snapshot is None else snapshot.catalog_digest,
        "calibration_digest": None if snapshot is None else snapshot.calibration_digest,
        "tool_version": None if snapshot is None else snapshot.tool_version,
        "reason": side.reason or None,
    }


def _change(change: FieldChange) -> dict[str, Any]:
    return {"path": list(change.path), "before": change.before, "now": change.now}


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else figure.model_dump(mode="json", exclude={"of"})


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else line.model_dump(mode="json", exclude={"key"})


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "design": outcome.design or None,
        "limiting": list(outcome.limiting),
        "numbers": _numbers(outcome.numbers),
        "reason": outcome.reason or None,
    }


def _numbers(numbers: Numbers) -> dict[str, float | str | None]:
    return {key: _exact_money(value) if key == "price" else float(value) for key, value in numbers.items()}


def _exact_money(amount: Fraction) -> str | None:
    return _money(Decimal(amount.numerator) / Decimal(amount.denominator))


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{round_money(amount):.2f}"
