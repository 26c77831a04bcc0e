"""Price books: CSV files with a row a price. Every fault of every row is named with line, column and value."""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sizer.base.dates import PartialDate, days_of
from sizer.base.faults import in_words, nearest, shown
from sizer.base.formats.csv_rows import records_checked
from sizer.base.money import Amount, Percent, parse_rate, round_money
from sizer.base.texts import LongText, Name, Note, ShortText

NEEDED = ("item", "amount", "currency", "date", "source")
COLUMNS = (
    *NEEDED,
    "where",
    "note",
    "discount_percent",
    "term_months",
    "lead_time_weeks",
    "valid_until",
    "gpus",
)
RATE = "exchange_rate_usd"  # US dollars for one unit of the row's currency
# For the reader of a book; a part number or a description names the item where nothing else does.
INFORMATIVE = ("vendor", "part_number", "description", "quantity")
NAMES = ("item", "part_number", "description")
# What suppliers head their lists with, in lower case, words joined by underscores.
_CALLED = {
    written: name
    for name, others in {
        "amount": "price unit_price list_price unit_list_price einzelpreis listenpreis",
        "part_number": "part_no sku mpn item_number artikelnummer teilenummer",
        "description": "product product_description name beschreibung bezeichnung",
        "vendor": "maker manufacturer brand hersteller",
        "quantity": "qty menge",
        "currency": "währung",
        "date": "datum price_date",
        "source": "quote quelle",
        "discount_percent": "discount",
        "valid_until": "valid_to",
    }.items()
    for written in others.split()
}

_FITTED = re.compile(r"([1-9][0-9]?) ?[x×] ?(.+)")
_GERMAN_DAY = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")


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


def _fitted(written: object) -> object:
    """GPUs from the text of a cell: "8x L40S-48GB" is "8 x l40s-48gb"."""
    match = _FITTED.fullmatch(str(written).strip())
    if match is None and written:
        raise ValueError(f"{shown(written)} has no number of GPUs; write 8 x and their id")
    return "" if match is None else f"{match[1]} x {match[2].lower()}"


class Price(BaseModel):
    """A price with its date; a price without a date is not loaded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: Name
    amount: Amount  # list price of one unit, for the whole term where there is one
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    date: PartialDate
    source: Note
    where: Note
    note: Note = ""
    discount_percent: Percent = Decimal(0)
    # Months that the price pays for: support and subscriptions.
    term_months: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=240, strict=True)] | None = None
    lead_time_weeks: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=260, strict=True)] | None = None
    valid_until: Annotated[datetime.date, BeforeValidator(_day)] | None = None
    # GPUs of the server that it is the price of: "8 x l40s-48gb"; "" of what is sold with no others.
    gpus: Annotated[Note, BeforeValidator(_fitted)] = ""
    # File and line for messages; no part of what the price says.
    place: Annotated[str, Field(exclude=True)] = ""

    @model_validator(mode="after")
    def _holds_for_a_while(self) -> Self:
        if self.valid_until is not None and self.valid_until < days_of(self.date)[0]:
            raise ValueError(f"valid_until = {self.valid_until} must not be before date = {self.date}")
        return self


def price_rows(text: str, place: str) -> tuple[list[Price], list[str]]:
    """Prices of one file, and its faults.

    ``text``: the file, with columns separated by commas, or by semicolons; then a comma may mark decimals. ``place``:
    its name in messages. Returns rows without a fault; one sentence for each fault: place, line, column, value, what is
    allowed.
    """
    rows: list[Price] = []
    faults: list[str] = []
    for here, cells in records_checked(text, place, faults, _column_faults, delimiter_of(text), column_meant):
        # Days as 2026-11-21 where they can only mean that.
        read = dict(cells)
        for name in ("date", "valid_until"):
            if day := _GERMAN_DAY.fullmatch(cells.get(name, "")):
                read[name] = f"{day[3]}-{int(day[2]):02}-{int(day[1]):02}"
        row, prices = _price(read, here)
        rows += row
        faults += prices
    return rows, faults


def delimiter_of(text: str) -> str:
    """What separates the columns of a price book: a semicolon where spreadsheets write decimals with a comma."""
    head = text.partition("\n")[0]
    return ";" if ";" in head and "," not in head else ","


def _column_faults(columns: Sequence[str]) -> list[str]:
    if len(columns) == 1 and "\t" in columns[0]:
        return ["the columns are separated by tabs; separate them by commas or semicolons"]
    known = f"columns are {', '.join((*COLUMNS, RATE))}"
    unknown = [name for name in columns if name not in (*COLUMNS, RATE, *INFORMATIVE)]
    faults = [f"unknown column {shown(name)}{nearest(name.lower(), COLUMNS)}" for name in unknown]
    names_items = not set(NAMES).isdisjoint(columns)
    missing = [repr(name) for name in NEEDED if name not in columns and not (name == "item" and names_items)]
    if missing:
        is_one = len(missing) == 1
        faults.append(f"column{'' if is_one else 's'} {', '.join(missing)} {'is' if is_one else 'are'} missing")
    if faults:
        faults[-1] += f"; {known}"
    twice = dict.fromkeys(name for name in columns if columns.count(name) > 1)
    return faults + [f"column {name!r} stands there more than once" for name in twice]


def column_meant(written: str) -> str:
    """Column of a book that a head means; as written where it means none."""
    name = re.sub(r"\W+", "_", written.strip().lower()).strip("_")
    meant = _CALLED.get(name, name)
    return meant if meant in (*COLUMNS, RATE, *INFORMATIVE) else written.strip()


def _price(cells: dict[str, str], place: str) -> tuple[list[Price], list[str]]:
    """The price of a row; with a stated exchange rate a second one in USD, from which others are converted."""
    given = {name: cell for name, cell in cells.items() if cell and name not in INFORMATIVE}
    if named := next((cells[name] for name in NAMES if cells.get(name)), ""):
        given["item"] = named
    written = given.pop(RATE, "")
    try:
        price = Price.model_validate({"where": "", "place": place, **given})
    except ValidationError as error:
        faults = in_words(Price, error, place)
        empty = {
            f"{place}: key {name!r} is missing": f"{place}: {name} is empty; a price has {', '.join(NEEDED)}"
            for name in NEEDED
        }
        return [], [empty.get(fault, fault) for fault in faults]
    if not written or price.currency == "USD":
        return [price], []
    try:
        rate = parse_rate(written)
    except ValueError as error:
        return [], [f"{place}: {RATE}: {error}"]
    note = f"{price.currency} {price.amount} at USD {rate}{'; ' if price.note else ''}{price.note}"
    return [
        price,
        price.model_copy(update={"amount": round_money(price.amount * rate), "currency": "USD", "note": note}),
    ], []


# Files of ``prices/`` that hold no prices.
BANDS_FILE = "bands.csv"
EVIDENCE_FILE = "band_evidence.csv"
# Names every part of a category that no other row names.
FALLBACK = "*"

Unit = Literal[
    "piece",
    "raw-terabyte",  # 1e12 B before protection
    "port",
    "gigabyte",  # 2**30 B of memory beyond the standard of a server
    "server-without-gpus",  # the cards are added from their own rows
    "percent-a-year",  # of the price of what is supported
    "percent-once",
    "node-year",
    "gpu-year",
    "cluster-year",
    "endpoint-year",
    "cluster",
    "kilowatt-hour",
    "kilowatt-month",
    "gpu-hour",
]
_PERCENT_UNITS = ("percent-a-year", "percent-once")
_Money = Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)]


def _names(written: object) -> object:
    """Names of one cell, which bars separate."""
    return tuple(name.strip() for name in written.split("|")) if isinstance(written, str) else written


def _words(written: object) -> object:
    return tuple(written.split()) if isinstance(written, str) else written


class PriceBand(BaseModel):
    """Lowest and highest amount that some parts most likely cost, at list or street prices of its year.

    The band of a server holds its GPUs, that of a storage system its drives.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    category: Annotated[str, Field(pattern="^[a-z]+$")]  # folder of the catalogue, or services, operation, rental
    items: Annotated[tuple[Name, ...], BeforeValidator(_names), Field(min_length=1)]  # ids, or :data:`FALLBACK`
    low: _Money
    high: _Money
    currency: Annotated[str, Field(pattern=r"^([A-Z]{3})?$")]  # empty for percentages
    unit: Unit
    date: Annotated[str, Field(pattern=r"^20[0-9]{2}$")]
    basis: Literal["published", "assumed"]
    evidence: Annotated[tuple[Name, ...], BeforeValidator(_words)] = ()  # ids of the evidence file
    note: Note = ""
    configuration: Note = ""  # that the amounts hold for, where the catalogue's server has more

    @model_validator(mode="after")
    def _runs_upwards(self) -> Self:
        if self.high < self.low:
            raise ValueError(f"low = {self.low:g} must not be above high = {self.high:g}")
        if (self.unit in _PERCENT_UNITS) is bool(self.currency):
            raise ValueError(f"a band in {self.unit} has {'no' if self.currency else 'a'} currency")
        if self.basis == "assumed" and not (self.note or self.evidence):
            raise ValueError("an assumed band needs a note or evidence")
        return self


class BandEvidence(BaseModel):
    """One price that somebody published, on which bands rest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern="^E[0-9]{3}$")]
    item: LongText
    low: _Money | None = None
    high: _Money | None = None
    currency: ShortText = ""
    unit: ShortText = ""
    date: ShortText
    kind: Literal["list", "press", "street", "rental"]
    title: LongText
    address: LongText = ""
    where: LongText = ""
    grade: Literal["A", "B", "C", "D"]  # A: the vendor's own page; D: an unnamed author
    note: LongText = ""


_Row = TypeVar("_Row", bound=BaseModel)


def band_rows(text: str, place: str) -> tuple[list[PriceBand], list[str]]:
    """Bands of one file and its faults, one sentence each: place, line, column, value."""
    return _rows(PriceBand, text, place)


def evidence_rows(text: str, place: str) -> tuple[list[BandEvidence], list[str]]:
    """Evidence of one file and its faults, one sentence each: place, line, column, value."""
    return _rows(BandEvidence, text, place)


def _rows(model: type[_Row], text: str, place: str) -> tuple[list[_Row], list[str]]:
    known, rows, faults = tuple(model.model_fields), [], list[str]()

    def unknown(columns: Sequence[str]) -> list[str]:
        return [f"unknown column {shown(name)}{nearest(name, known)}" for name in columns if name not in known]

    for here, cells in records_checked(text, place, faults, unknown):
        try:
            rows.append(model.model_validate({name: cell for name, cell in cells.items() if cell or name in _KEPT}))
        except ValidationError as error:
            faults += in_words(model, error, here)
    return rows, faults


# Columns whose empty cell says something: a percentage has no currency.
_KEPT = ("currency",)


@dataclass(frozen=True)
class PriceBands:
    """The bands of a catalogue by part. Of several rows that name a part the last counts: an overlay's."""

    bands: tuple[PriceBand, ...] = ()
    evidence: tuple[BandEvidence, ...] = ()
    _by_name: Mapping[tuple[str, str], PriceBand] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_item = {(band.category, name): band for band in self.bands for name in band.items}
        object.__setattr__(self, "_by_name", by_item)

    def band(self, category: str, item: str, gpu: str = "") -> PriceBand | None:
        """Band of a part, else that of its category; None where the catalogue has neither.

        That of a server with a kind of GPU goes before that of the server: its name is ``server/gpu``.
        """
        names = (f"{item}/{gpu}", item, FALLBACK) if gpu else (item, FALLBACK)
        return next((band for name in names if (band := self._by_name.get((category, name)))), None)

    def faults(self, categories: Iterable[str]) -> list[str]:
        """Evidence that bands name and nobody gives, evidence given twice, categories without a fallback."""
        ids: Sequence[str] = [row.id for row in self.evidence]
        wrong = [f"prices/{EVIDENCE_FILE}: {key} stands there more than once" for key in set(ids) if ids.count(key) > 1]
        for band in self.bands:
            wrong += [
                f"prices/{BANDS_FILE}: evidence {key} of {band.items[0]} is not in {EVIDENCE_FILE}"
                for key in band.evidence
                if key not in ids
            ]
        if self.bands:
            wrong += [
                f"prices/{BANDS_FILE}: {name} has no row for '{FALLBACK}'"
                for name in categories
                if (name, FALLBACK) not in self._by_name
            ]
        return wrong
