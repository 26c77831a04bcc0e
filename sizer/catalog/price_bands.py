"""Price bands: between which two amounts a part without a price most likely costs. They rank designs, never a bill."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sizer.base.faults import in_words, nearest, shown
from sizer.base.formats.csv_rows import records_checked
from sizer.base.texts import LongText, Name, Note, ShortText

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
        found = {(band.category, name): band for band in self.bands for name in band.items}
        object.__setattr__(self, "_by_name", found)

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
