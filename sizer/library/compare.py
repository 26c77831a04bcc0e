"""Differences between a saved answer and today's, and between two answers."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from sizer import __version__
from sizer.bom.prices import PriceBook, prices_for
from sizer.catalog.model import Catalog
from sizer.library.snapshot import (
    FactValue,
    HeadlineFigure,
    SavedLine,
    SavedPrice,
    SavedRate,
    Snapshot,
    saved_part,
    saved_prices,
    snapshot_of,
)
from sizer.sizing.result import SizingResult
from sizer.workload.changes import FieldChange, field_changes
from sizer.workload.request import SizingRequest

# Smaller relative differences come from the rounding of another processor or library.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class FactChange:
    """A changed value of the catalogue; None where it is not stated."""

    part: str
    field: str  # path inside the item: "power_max_w"
    before: FactValue
    now: FactValue
    source: str  # key of its source today; empty where there is none


@dataclass(frozen=True)
class PriceChange:
    """A changed price of the price book; None where it needs a quote."""

    part: str
    before: SavedPrice | None
    now: SavedPrice | None


@dataclass(frozen=True)
class RateChange:
    """A rate that a new calibration changed."""

    before: SavedRate
    now: SavedRate | None


@dataclass(frozen=True)
class FigureChange:
    """A changed figure of the headline; None where the answer has no such figure."""

    before: HeadlineFigure | None
    now: HeadlineFigure | None


@dataclass(frozen=True)
class LineChange:
    """A line of the bill that was added, removed or changed."""

    before: SavedLine | None
    now: SavedLine | None

    @property
    def more(self) -> Decimal | None:
        """Increase of the net price by the line; None where either price needs a quote."""
        amounts = [_amount(line) for line in (self.before, self.now)]
        before, now = amounts
        return None if before is None or now is None else now - before


@dataclass(frozen=True)
class ChangesSince:
    """What changed since an answer was saved, and the effect on the answer."""

    snapshot: Snapshot
    has_answer: bool  # False: no design meets the request now, or it is not valid now
    removed_parts: tuple[str, ...]  # parts that are no longer in the catalogue
    facts: tuple[FactChange, ...]
    prices: tuple[PriceChange, ...]
    rates: tuple[RateChange, ...]  # changed by a new calibration; empty where the calibration is the same
    is_other_catalog: bool
    is_other_calibration: bool
    is_other_version: bool  # of this program
    figures: tuple[FigureChange, ...]
    lines: tuple[LineChange, ...]
    currencies: tuple[str, str]

    @property
    def is_same_answer(self) -> bool:
        """Whether the request still gives the saved figures and bill."""
        return self.has_answer and not self.figures and not self.lines


class RequestWithAnswer(Protocol):
    """A request with its answer: a revision, a design file, or a request sized now."""

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data."""

    @property
    def price_book(self) -> str:
        """CSV text of its price book in addition to the catalogue's own; empty: none."""

    @property
    def snapshot(self) -> Snapshot | None:
        """Summary of the answer; None where there is none that can be compared."""


@dataclass(frozen=True)
class Differences:
    """Differences of two answers."""

    request: tuple[FieldChange, ...]
    is_other_price_book: bool
    has_answers: bool  # False: one of them cannot be compared
    # Whether catalogue, calibration and program differ; False where that is not known.
    is_other_catalog: bool
    is_other_calibration: bool
    is_other_version: bool
    figures: tuple[FigureChange, ...]
    lines: tuple[LineChange, ...]
    currencies: tuple[str, str]

    @property
    def are_none(self) -> bool:
        """Whether request, price book and answer are the same."""
        return not (self.request or self.is_other_price_book or self.figures or self.lines)


def changes_since(
    snapshot: Snapshot,
    request: SizingRequest,
    catalog: Catalog,
    calibration_digest: str,
    result: SizingResult | None,
) -> ChangesSince:
    """What changed since an answer was saved, and whether the answer changed.

    Parameters
    ----------
    snapshot : Snapshot
        The answer as it was saved.
    request : SizingRequest
        What was saved with it.
    catalog : Catalog
        Today's, with the price book of the session.
    calibration_digest : str
        Of today's calibration.
    result : SizingResult or None
        Today's answer to the same request, not a customer's copy; None where it has none.
    """
    today = None if result is None else snapshot_of(result, catalog)
    is_other_calibration = snapshot.calibration_digest != calibration_digest
    return ChangesSince(
        snapshot=snapshot,
        has_answer=today is not None,
        removed_parts=tuple(part.name for item, part in snapshot.parts.items() if saved_part(item, catalog) is None),
        facts=_fact_changes(snapshot, catalog),
        prices=_price_changes(snapshot, prices_for(request, catalog)),
        rates=_rate_changes(snapshot, today) if is_other_calibration else (),
        is_other_catalog=snapshot.catalog_digest != catalog.digest,
        is_other_calibration=is_other_calibration,
        is_other_version=snapshot.tool_version != __version__,
        figures=() if today is None else _figure_changes(snapshot, today),
        lines=() if today is None else _line_changes(snapshot, today),
        currencies=(snapshot.currency, snapshot.currency if today is None else today.currency),
    )


def differences(before: RequestWithAnswer, now: RequestWithAnswer) -> Differences:
    """Differences of two answers: fields of the request, figures, lines of the bill."""
    old, new = before.snapshot, now.snapshot
    both = (old, new) if old is not None and new is not None else None
    return Differences(
        request=tuple(field_changes(before.request, now.request)),
        is_other_price_book=before.price_book != now.price_book,
        has_answers=both is not None,
        is_other_catalog=both is not None and _differ(both[0].catalog_digest, both[1].catalog_digest),
        is_other_calibration=both is not None and _differ(both[0].calibration_digest, both[1].calibration_digest),
        is_other_version=both is not None and both[0].tool_version != both[1].tool_version,
        figures=() if both is None else _figure_changes(*both),
        lines=() if both is None else _line_changes(*both),
        currencies=(old.currency if old is not None else "", new.currency if new is not None else ""),
    )


def _differ(before: str, now: str) -> bool:
    """Whether two digests are of different data; a customer's copy names none."""
    return bool(before and now) and before != now


# --- catalogue, prices, calibration


def _fact_changes(snapshot: Snapshot, catalog: Catalog) -> tuple[FactChange, ...]:
    changes = []
    for item, part in snapshot.parts.items():
        today = saved_part(item, catalog)
        if today is None:
            continue
        for field in dict.fromkeys((*part.facts, *today.facts)):
            old, new = part.facts.get(field), today.facts.get(field)
            before, now = (None if fact is None else fact.value for fact in (old, new))
            if not _is_equal(before, now):
                changes.append(FactChange(today.name, field, before, now, new.source if new is not None else ""))
    return tuple(changes)


def _price_changes(snapshot: Snapshot, book: PriceBook) -> tuple[PriceChange, ...]:
    today = saved_prices(snapshot.parts, snapshot.currency, book)
    return tuple(
        PriceChange(part.name, snapshot.prices.get(item), today.get(item))
        for item, part in snapshot.parts.items()
        if _paid(snapshot.prices.get(item)) != _paid(today.get(item))
    )


def _paid(price: SavedPrice | None) -> tuple[str, str] | None:
    return None if price is None else (price.amount, price.discount_percent)


def _rate_changes(snapshot: Snapshot, today: Snapshot | None) -> tuple[RateChange, ...]:
    now = () if today is None else today.rates
    pairs = ((rate, now[number] if number < len(now) else None) for number, rate in enumerate(snapshot.rates))
    return tuple(RateChange(old, new) for old, new in pairs if new is None or not _is_equal(old.per_gpu, new.per_gpu))


# --- answer


def figure_pairs(before: Snapshot, now: Snapshot) -> tuple[FigureChange, ...]:
    """Every figure of two answers, changed or not."""
    keys = dict.fromkeys(one.key for one in (*before.figures, *now.figures))
    return tuple(FigureChange(before.figure(key), now.figure(key)) for key in keys)


def _figure_changes(before: Snapshot, now: Snapshot) -> tuple[FigureChange, ...]:
    is_other_currency = before.currency != now.currency
    return tuple(
        pair
        for pair in figure_pairs(before, now)
        if not _is_same_figure(pair.before, pair.now)
        or (is_other_currency and pair.before is not None and pair.before.unit == "money")
    )


def _is_same_figure(before: HeadlineFigure | None, now: HeadlineFigure | None) -> bool:
    if before is None or now is None:
        return before is now
    numbers = zip((before.value, before.low, before.high), (now.value, now.low, now.high), strict=True)
    return (
        before.text == now.text
        and before.unit == now.unit
        and before.is_at_least == now.is_at_least
        and all(_is_equal(old, new) for old, new in numbers)
    )


def _line_changes(before: Snapshot, now: Snapshot) -> tuple[LineChange, ...]:
    old, new = ({line.key: line for line in snapshot.lines} for snapshot in (before, now))
    return tuple(
        LineChange(old.get(key), new.get(key))
        for key in dict.fromkeys((*old, *new))
        if _compared_cells(old.get(key)) != _compared_cells(new.get(key))
    )


def _compared_cells(line: SavedLine | None) -> tuple[int, str | None, bool] | None:
    return None if line is None else (line.quantity, line.net, line.is_bought)


def _amount(line: SavedLine | None) -> Decimal | None:
    """What a line adds to the net price."""
    if line is None or not line.is_bought:
        return Decimal("0.00")
    return None if line.net is None else Decimal(line.net)


def _is_equal(one: FactValue, other: FactValue) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_ROUNDING)
    return one == other
