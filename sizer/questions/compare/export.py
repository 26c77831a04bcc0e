"""A comparison of two answers as one JSON document."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.library.compare import Differences, figure_pairs
from sizer.library.compared_answers import ComparedAnswer
from sizer.library.snapshot import HeadlineFigure, SavedLine
from sizer.questions.compare.causes import AnswerDifference, Numbers, RequestOutcome


def difference_document(
    sides: tuple[ComparedAnswer, ComparedAnswer], found: Differences, caused: AnswerDifference
) -> dict[str, Any]:
    """The differences of two sides and which input caused each. Shares of counts are floats of exact fractions."""
    old, new = sides[0].snapshot, sides[1].snapshot
    pairs = figure_pairs(old, new) if old is not None and new is not None else ()
    return json_document(
        "difference",
        **fields_of(found, "request", "is_other_catalog", "is_other_calibration", "is_other_version"),
        is_other_price_book=found.is_other_price_book,
        sides=[_side(side) for side in sides],
        figures=[{"before": _figure(pair.before), "now": _figure(pair.now)} for pair in pairs],
        bill=[{"before": _line(line.before), "now": _line(line.now), "more": line.more} for line in found.lines],
        sized_now={
            "before": _outcome(caused.before),
            "now": _outcome(caused.now),
            "total": _numbers({key: caused.total(key) for key in caused.compared}),
            "is_combined": caused.is_combined,
            "orders": caused.n_all_orders,
            "orders_with_answers": caused.n_orders,
            "causes": [
                {
                    "input": cause.key,
                    "changes": cause.changes,
                    "alone": _outcome(cause.alone),
                    "left_out": _outcome(cause.left_out),
                    "shares": _numbers(cause.shares),
                }
                for cause in caused.causes
            ],
        },
    )


def _side(side: ComparedAnswer) -> dict[str, object]:
    of_answer = ("design", "verdict", "currency", "catalog_digest", "calibration_digest", "tool_version")
    snapshot = side.snapshot
    answer = dict.fromkeys(of_answer) if snapshot is None else fields_of(snapshot, *of_answer)
    return {
        **answer,
        **fields_of(
            side, "name", is_of_then=side.is_stored, is_without_digest=side.is_unsealed, reason=side.reason or None
        ),
    }


def _figure(figure: HeadlineFigure | None) -> dict[str, object] | None:
    return None if figure is None else figure.model_dump(mode="json", exclude={"of"})


def _line(line: SavedLine | None) -> dict[str, object] | None:
    return None if line is None else line.model_dump(mode="json", exclude={"key"})


def _outcome(outcome: RequestOutcome) -> dict[str, object]:
    return {
        "design": outcome.design or None,
        "limiting": outcome.limiting,
        "numbers": _numbers(outcome.numbers),
        "reason": outcome.reason or None,
    }


def _numbers(numbers: Numbers) -> dict[str, object]:
    return {key: _money(value) if key == "price" else value for key, value in numbers.items()}


def _money(amount: Fraction) -> Decimal:
    return Decimal(amount.numerator) / Decimal(amount.denominator)
