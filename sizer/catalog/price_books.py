"""Price books: CSV files with a row a price. Every fault of every row is named with line, column and value."""

import csv
import datetime
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sizer.base.dates import PartialDate, days_of
from sizer.base.faults import in_words, nearest, shown
from sizer.base.money import Amount, Percent

NEEDED = ("item", "amount", "currency", "date", "source")
COLUMNS = (
    *NEEDED,
    "where",
    "note",
    "discount_percent",
    "term_months",
    "lead_time_weeks",
    "valid_until",
)


Text = Annotated[str, Field(max_length=300)]


def _whole(written: object) -> object:
    """Whole number from the text of a cell; other spellings that Python takes (1_0, 2.0) are no numbers here."""
    return int(written) if isinstance(written, str) and re.fullmatch("[0-9]{1,4}", written) else written


def _day(written: object) -> object:
    """Day from the text of a cell; a month, or digits without hyphens, is no day."""
    if isinstance(written, datetime.date):
        return written
    with suppress(ValueError):
        if isinstance(written, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", written):
            return datetime.date.fromisoformat(written)
    raise ValueError(f"{shown(written)} is not a date; write 2026-11-21")


class Price(BaseModel):
    """A price with its date; a price without a date is not loaded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: Annotated[str, Field(min_length=1, max_length=60)]
    amount: Amount  # list price of one unit, for the whole term where there is one
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    date: PartialDate
    source: Text
    where: Text
    note: Text = ""
    discount_percent: Percent = Decimal(0)
    # Months that the price pays for: support and subscriptions.
    term_months: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=240, strict=True)] | None = None
    lead_time_weeks: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=260, strict=True)] | None = None
    valid_until: Annotated[datetime.date, BeforeValidator(_day)] | None = None
    # File and line for messages; no part of what the price says.
    place: Annotated[str, Field(exclude=True)] = ""

    @model_validator(mode="after")
    def _holds_for_a_while(self) -> Self:
        if self.valid_until is not None and self.valid_until < days_of(self.date)[0]:
            raise ValueError(f"valid_until = {self.valid_until} must not be before date = {self.date}")
        return self


def price_rows(text: str, place: str) -> tuple[list[Price], list[str]]:
    """Prices of one file, and its faults.

    Parameters
    ----------
    text : str
        The file.
    place : str
        Its name in messages.

    Returns
    -------
    tuple
        Rows without a fault; one sentence for each fault: place, line, column, value, what is allowed.
    """
    rows: list[Price] = []
    faults: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip() for name in next(reader, [])]
        faults += [f"{place} line 1: {fault}" for fault in _column_faults(columns)]
        if faults:
            return [], faults
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            here = f"{place} line {reader.line_num}"
            if len(cells) != len(columns):
                faults.append(
                    f"{here}: has {len(cells)} cells, not as many cells as there are columns ({len(columns)})"
                )
                continue
            row, found = _price(dict(zip(columns, (cell.strip() for cell in cells), strict=True)), here)
            rows += row
            faults += found
    except csv.Error as error:
        faults.append(f"{place} line {reader.line_num}: is not valid CSV: {error}")
    return rows, faults


def _column_faults(columns: Sequence[str]) -> list[str]:
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        used = "semicolons" if ";" in columns[0] else "tabs"
        return [f"the columns are separated by {used}; separate them by commas, and write decimals with a point"]
    known = f"columns are {', '.join(COLUMNS)}"
    faults = [f"unknown column {shown(name)}{_meant(name)}; {known}" for name in columns if name not in COLUMNS]
    missing = [repr(name) for name in NEEDED if name not in columns]
    if missing:
        is_one = len(missing) == 1
        faults.append(
            f"column{'' if is_one else 's'} {', '.join(missing)} {'is' if is_one else 'are'} missing; {known}"
        )
    twice = dict.fromkeys(name for name in columns if name in COLUMNS and columns.count(name) > 1)
    return faults + [f"column {name!r} stands there more than once" for name in twice]


def _meant(name: str) -> str:
    # A list price is called amount here, which no likeness of letters would tell.
    return "; did you mean 'amount'?" if "price" in name.lower() else nearest(name.lower(), COLUMNS)


def _price(cells: dict[str, str], place: str) -> tuple[list[Price], list[str]]:
    given = {name: cell for name, cell in cells.items() if cell}
    try:
        return [Price.model_validate({"where": "", "place": place, **given})], []
    except ValidationError as error:
        faults = in_words(Price, error, place)
    empty = {
        f"{place}: key {name!r} is missing": f"{place}: {name} is empty; a price has {', '.join(NEEDED)}"
        for name in NEEDED
    }
    return [], [empty.get(fault, fault) for fault in faults]
