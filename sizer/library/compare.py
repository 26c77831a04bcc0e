"""What is different: between an answer of the past and today's, and between two revisions of a design."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from sizer import __version__
from sizer.catalog.model import Catalog
from sizer.library.snapshot import (
    Amount,
    Figure,
    Line,
    Plain,
    Rate,
    Snapshot,
    part_of,
    prices_of,
    snapshot_of,
)
from sizer.sizing.result import SizingResult
from sizer.workload.changes import FieldChange, field_changes

# Below this relative difference two numbers differ by the rounding of another processor or library.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class FactChange:
    """A value of the catalogue that is another one; None where it is not stated."""

    part: str
    field: str  # path inside the item: "power_max_w"
    before: Plain
    now: Plain
    source: str  # key of the document that states it now; empty where none does


@dataclass(frozen=True)
class PriceChange:
    """A price of the price book that is another one; None where it is to be quoted."""

    part: str
    before: Amount | None
    now: Amount | None


@dataclass(frozen=True)
class RateChange:
    """A rate that another calibration predicts."""

    before: Rate
    now: Rate | None


@dataclass(frozen=True)
class FigureChange:
    """A figure of the headline that is another one; None where the answer has no such figure."""

    before: Figure | None
    now: Figure | None


@dataclass(frozen=True)
class LineChange:
    """A line of the bill that came, went or changed."""

    before: Line | None
    now: Line | None

    @property
    def more(self) -> Decimal | None:
        """What the line adds to the net price; None where either price is to be quoted."""
        amounts = [_amount(line) for line in (self.before, self.now)]
        before, now = amounts
        return None if before is None or now is None else now - before


@dataclass(frozen=True)
class Since:
    """What changed since an answer was saved, and what of the answer with it."""

    snapshot: Snapshot
    has_answer: bool  # False: no design meets the request any more, or it is not understood
    gone: tuple[str, ...]  # parts that the catalogue no longer has
    facts: tuple[FactChange, ...]
    prices: tuple[PriceChange, ...]
    rates: tuple[RateChange, ...]  # that another calibration predicts otherwise; empty while it is the same
    is_other_catalog: bool
    is_other_calibration: bool
    is_other_version: bool  # of this program
    figures: tuple[FigureChange, ...]
    lines: tuple[LineChange, ...]
    currencies: tuple[str, str]

    @property
    def is_same_answer(self) -> bool:
        """Whether the request still gives the figures and the bill that it was saved with."""
        return self.has_answer and not self.figures and not self.lines


class State(Protocol):
    """A request with its answer, now or as it was saved: a revision, a design's file, a request sized now."""

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data."""

    @property
    def price_book(self) -> str:
        """CSV text of the price book that it was answered with besides the catalogue's own; empty: none."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The answer in short; None where there is none that can be compared."""


@dataclass(frozen=True)
class Differences:
    """What one state says otherwise than another."""

    request: tuple[FieldChange, ...]
    is_other_price_book: bool
    has_answers: bool  # False: one of them has none that can be compared
    # Catalogue, calibration and program that answered them are others; False where that is not known.
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


def changes_since(snapshot: Snapshot, catalog: Catalog, calibration_digest: str, result: SizingResult | None) -> Since:
    """What changed since an answer was saved, and whether that changes it.

    Parameters
    ----------
    snapshot : Snapshot
        The answer as it was saved.
    catalog : Catalog
        Today's, with the price book of the session.
    calibration_digest : str
        Of today's calibration.
    result : SizingResult or None
        Today's answer to the same request, not a customer's copy; None where it has none.
    """
    today = None if result is None else snapshot_of(result, catalog)
    is_other_calibration = snapshot.calibration_digest != calibration_digest
    return Since(
        snapshot=snapshot,
        has_answer=today is not None,
        gone=tuple(part.name for item, part in snapshot.parts.items() if part_of(item, catalog) is None),
        facts=_fact_changes(snapshot, catalog),
        prices=_price_changes(snapshot, catalog),
        rates=_rate_changes(snapshot, today) if is_other_calibration else (),
        is_other_catalog=snapshot.catalog_digest != catalog.digest,
        is_other_calibration=is_other_calibration,
        is_other_version=snapshot.tool_version != __version__,
        figures=() if today is None else _figure_changes(snapshot, today),
        lines=() if today is None else _line_changes(snapshot, today),
        currencies=(snapshot.currency, snapshot.currency if today is None else today.currency),
    )


def differences(before: State, now: State) -> Differences:
    """What a state says otherwise than another one: fields of the request, figures, lines of the bill."""
    old, new = before.snapshot, now.snapshot
    both = (old, new) if old is not None and new is not None else None
    return Differences(
        request=tuple(field_changes(before.request, now.request)),
        is_other_price_book=before.price_book != now.price_book,
        has_answers=both is not None,
        is_other_catalog=both is not None and both[0].catalog_digest != both[1].catalog_digest,
        is_other_calibration=both is not None and both[0].calibration_digest != both[1].calibration_digest,
        is_other_version=both is not None and both[0].tool_version != both[1].tool_version,
        figures=() if both is None else _figure_changes(*both),
        lines=() if both is None else _line_changes(*both),
        currencies=(old.currency if old is not None else "", new.currency if new is not None else ""),
    )


# --- catalogue, prices, calibration


def _fact_changes(snapshot: Snapshot, catalog: Catalog) -> tuple[FactChange, ...]:
    changes = []
    for item, part in snapshot.parts.items():
        today = part_of(item, catalog)
        if today is None:
            continue
        for field in dict.fromkeys((*part.facts, *today.facts)):
            old, new = part.facts.get(field), today.facts.get(field)
            before, now = (None if fact is None else fact.value for fact in (old, new))
            if not _is_equal(before, now):
                changes.append(FactChange(today.name, field, before, now, new.source if new is not None else ""))
    return tuple(changes)


def _price_changes(snapshot: Snapshot, catalog: Catalog) -> tuple[PriceChange, ...]:
    today = prices_of(snapshot.parts, snapshot.currency, catalog)
    return tuple(
        PriceChange(part.name, snapshot.prices.get(item), today.get(item))
        for item, part in snapshot.parts.items()
        if _paid(snapshot.prices.get(item)) != _paid(today.get(item))
    )


def _paid(price: Amount | None) -> tuple[str, str] | None:
    return None if price is None else (price.amount, price.discount_percent)


def _rate_changes(snapshot: Snapshot, today: Snapshot | None) -> tuple[RateChange, ...]:
    now = () if today is None else today.rates
    pairs = ((rate, now[number] if number < len(now) else None) for number, rate in enumerate(snapshot.rates))
    return tuple(RateChange(old, new) for old, new in pairs if new is None or not _is_equal(old.per_gpu, new.per_gpu))


# --- answer


def figure_pairs(before: Snapshot, now: Snapshot) -> tuple[FigureChange, ...]:
    """Every figure of two answers, also those that are the same."""
    keys = dict.fromkeys(one.key for one in (*before.figures, *now.figures))
    return tuple(FigureChange(before.figure(key), now.figure(key)) for key in keys)


def _figure_changes(before: Snapshot, now: Snapshot) -> tuple[FigureChange, ...]:
    is_other_currency = before.currency != now.currency
    return tuple(
        one
        for one in figure_pairs(before, now)
        if not _is_same_figure(one.before, one.now)
        or (is_other_currency and one.before is not None and one.before.unit == "money")
    )


def _is_same_figure(one: Figure | None, other: Figure | None) -> bool:
    if one is None or other is None:
        return one is other
    numbers = zip((one.value, one.low, one.high), (other.value, other.low, other.high), strict=True)
    return (
        one.text == other.text
        and one.unit == other.unit
        and one.is_at_least == other.is_at_least
        and all(_is_equal(old, new) for old, new in numbers)
    )


def _line_changes(before: Snapshot, now: Snapshot) -> tuple[LineChange, ...]:
    old, new = ({line.key: line for line in snapshot.lines} for snapshot in (before, now))
    return tuple(
        LineChange(old.get(key), new.get(key))
        for key in dict.fromkeys((*old, *new))
        if _counted(old.get(key)) != _counted(new.get(key))
    )


def _counted(line: Line | None) -> tuple[int, str | None, bool] | None:
    return None if line is None else (line.quantity, line.net, line.is_bought)


def _amount(line: Line | None) -> Decimal | None:
    """What a line adds to the net price."""
    if line is None or not line.is_bought:
        return Decimal("0.00")
    return None if line.net is None else Decimal(line.net)


def _is_equal(one: Plain, other: Plain) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_ROUNDING)
    return one == other
