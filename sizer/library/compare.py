"""Two answers compared, from the library, from files, or sized today."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Protocol, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from sizer import __version__
from sizer.base.errors import CatalogError, InfeasibleError, RequestError
from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import DIGEST, SCHEMA_VERSION, is_sealed, parse_json, portable
from sizer.base.resources import text_of_file
from sizer.bom.bill import BOUGHT, BillLine
from sizer.catalog.labels import sample_unit
from sizer.catalog.loader import with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import price_rows
from sizer.catalog.schema import Dnn
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult
from sizer.sizing.size import size
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest
from sizer.workload.table import FieldChange, field_changes

# Raised when older snapshots can no longer be compared.
SNAPSHOT_VERSION = 1


def _checked_amount(text: str) -> str:
    try:
        is_amount = Decimal(text).is_finite()
    except InvalidOperation:
        is_amount = False
    if not is_amount:
        raise ValueError("is not an amount")
    return text


AmountText = Annotated[str, AfterValidator(_checked_amount)]


class _Frozen(BaseModel):
    # Keys of a newer version are ignored; the known ones can still be compared.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class HeadlineFigure(_Frozen):
    """One number or word of the headline."""

    key: str
    label: str
    unit: str = ""  # "" a count; "%" of a fraction; "money" of the snapshot's currency; else as it is printed
    value: float | None = None  # None: not known, or ``text`` says it
    low: float | None = None  # ends of the 90 % interval
    high: float | None = None
    text: str = ""  # where the value is a word; money as decimal text
    is_at_least: bool = False  # parts of it are unknown
    of: str = ""  # what it refers to; figures that refer to different things are not subtracted

    @model_validator(mode="after")
    def _is_amount(self) -> Self:
        if self.unit == "money" and self.text:
            _checked_amount(self.text)
        return self


class SavedLine(_Frozen):
    """One line of the bill."""

    key: str  # identifies the line; the same in another bill with this part
    name: str
    quantity: int
    unit: str
    net: AmountText | None  # net price of the whole line as decimal text; None: to be quoted
    is_bought: bool


class Snapshot(_Frozen):
    """Summary of an answer."""

    version: int = SNAPSHOT_VERSION
    tool_version: str
    catalog_digest: str
    calibration_digest: str
    design: str  # "9 × DGX-1 + 8 × Isilon F800 nodes"
    verdict: str
    currency: str
    figures: tuple[HeadlineFigure, ...]
    lines: tuple[SavedLine, ...]

    def figure(self, key: str) -> HeadlineFigure | None:
        return next((figure for figure in self.figures if figure.key == key), None)


Text = Annotated[str, Field(max_length=2_000)]
Count = Annotated[int, Field(ge=0, le=10_000_000, strict=True)]
# A size, rate, time or amount: never below 0. The unit is that of its key.
Size = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Money = Annotated[str, Field(pattern=r"^-?[0-9]{1,15}\.[0-9]{2}$")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Stage = Annotated[str, Field(pattern=f"^({'|'.join(STAGES)})$")]


class _Read(BaseModel):
    # Only what is compared is read and checked.
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Ends(_Read):
    value: Size | None
    low: Size | None
    high: Size | None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        known = [end for end in (self.low, self.value, self.high) if end is not None]
        if known != sorted(known):
            raise ValueError(f"low {self.low:g}, value {self.value:g} and high {self.high:g} are not in this order")
        return self


class _Time(_Read):
    total_s: _Ends


class _Workload(_Read):
    name: Text
    dnn: Text
    sample_bytes: Size
    samples_per_s: _Ends
    bottleneck: Stage
    time: _Time | None
    serving: dict[str, Any] | None = None  # of a language model in use, whose samples are requests


class _Design(_Read):
    name: Text
    n_gpus: Count
    n_servers: Count
    storage_nodes: Count
    probability: Fraction | None
    rack_units: Size | None
    racks: Count
    power_max_w: Size | None
    unknown_power: list[Text]
    usable_bytes: Size | None
    workloads: Annotated[list[_Workload], Field(min_length=1, max_length=20)]


class _BillLine(_Read):
    group: Text
    category: Text
    item: Text | None
    description: Text
    quantity: Count
    unit: Text
    extended_net: Money | None
    status: Text


class _Bill(_Read):
    currency: Currency
    net_total: Money | None
    total: Money | None
    total_is_complete: bool
    lines: Annotated[list[_BillLine], Field(max_length=10_000)]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        net = Decimal(self.net_total or "0.00")
        bought = (Decimal(line.extended_net or "0.00") for line in self.lines if line.status in BOUGHT)
        added = sum(bought, Decimal("0.00"))
        if net != added:
            raise ValueError(f"net_total is {net}; its lines add up to {added}")
        if Decimal(self.total or "0.00") > net:
            raise ValueError(f"total is {self.total}, more than net_total, {net}")
        return self


class _File(_Read):
    schema_version: int
    tool_version: Text
    catalog_digest: Text = ""  # a customer's copy has neither
    calibration_digest: Text = ""
    verdict: Text
    design: _Design
    bill: _Bill


def snapshot_of(result: SizingResult) -> Snapshot:
    """Snapshot of a full answer, not of a customer's copy."""
    design = result.design
    return Snapshot(
        tool_version=__version__,
        catalog_digest=result.catalog_digest,
        calibration_digest=result.calibration_digest,
        design=design.name,
        verdict=verdict_text(result),
        currency=design.bill.currency,
        figures=figures_of(design),
        lines=_lines(design.bill.lines),
    )


def read_snapshot(text: str) -> Snapshot | None:
    """A stored snapshot; None where an incompatible version of this program wrote it."""
    try:
        snapshot = Snapshot.model_validate_json(text)
    except ValidationError:
        return None
    return snapshot if snapshot.version == SNAPSHOT_VERSION else None


# --- figures


def figures_of(design: DesignAnswer) -> tuple[HeadlineFigure, ...]:
    """Figures of a design in the order of the headline."""
    counts, bill = design.quantities, design.bill
    read = _Design.model_construct(
        name=design.name,
        n_gpus=design.n_gpus,
        n_servers=design.n_servers,
        storage_nodes=design.storage_nodes,
        usable_bytes=_number(design.usable_bytes),
        power_max_w=_number(counts.power_max_w[0]),
        unknown_power=list(counts.unknown_power),
        rack_units=_number(counts.rack_units[0]),
        racks=int(counts.racks[0]),
        probability=_number(design.probability),
        workloads=[
            _Workload.model_construct(
                name=answer.workload.name,
                dnn=answer.dnn.id,
                sample_bytes=answer.sample_bytes,
                samples_per_s=_ends(answer.throughput),
                bottleneck=answer.bottleneck,
                time=None if answer.time is None else _Time.model_construct(total_s=_ends(answer.time.total_s)),
            )
            for answer in design.workloads
        ],
    )
    price = "" if bill.net_total.is_unknown else f"{bill.total:.2f}"
    units = [str(sample_unit(answer.dnn)) for answer in design.workloads]
    return _figures(read, units, price, is_price_complete=bill.is_complete)


def _figures(
    design: _Design, units: Sequence[str], price: str, *, is_price_complete: bool
) -> tuple[HeadlineFigure, ...]:
    """Figures of a design in their order; ``units``: of the rate of each workload."""
    several = len(design.workloads) > 1
    figures = [
        HeadlineFigure(key="gpus", label="GPUs", value=design.n_gpus),
        HeadlineFigure(key="servers", label="GPU servers", value=design.n_servers),
        HeadlineFigure(key="storage-nodes", label="Storage nodes", value=design.storage_nodes),
    ]
    for number, (work, unit) in enumerate(zip(design.workloads, units, strict=True)):
        whose, of = f" of {work.name}" if several else "", f"{work.dnn} {work.sample_bytes:g}"
        measures = [("rate", "Rate", unit, work.samples_per_s)]
        measures += [] if work.time is None else [("time", "Time to train", "s", work.time.total_s)]
        figures += [
            HeadlineFigure(key=f"{key}-{number}", label=f"{label}{whose}", unit=measure_unit, of=of, **vars(ends))
            for key, label, measure_unit, ends in measures
        ]
    power, is_partial = design.power_max_w, bool(design.unknown_power)
    return (
        *figures,
        HeadlineFigure(key="capacity", label="Usable capacity", unit="B", value=design.usable_bytes or None),
        HeadlineFigure(key="power", label="Power", unit="W", value=power, is_at_least=is_partial),
        HeadlineFigure(key="rack-units", label="Rack units", value=design.rack_units),
        HeadlineFigure(key="racks", label="Racks", value=design.racks),
        HeadlineFigure(key="price", label="Net price", unit="money", text=price, is_at_least=not is_price_complete),
        HeadlineFigure(key="stage", label="Bottleneck", text=STAGES[design.workloads[0].bottleneck]),
        HeadlineFigure(
            key="probability", label="Probability of meeting every target", unit="%", value=design.probability
        ),
    )


def _ends(interval: Estimate) -> _Ends:
    value, low, high = map(_number, interval)
    return _Ends.model_construct(value=value, low=low, high=high)


def _number(value: Any) -> float | None:
    if value is None:  # a probability that is not known
        return None
    number = float(value)
    # Excludes infinity and NaN. As the design's file has it, so that the two are the same.
    return portable(number) if abs(number) < float("inf") else None


# --- bill


def _lines(lines: Iterable[BillLine | _BillLine]) -> tuple[SavedLine, ...]:
    """Lines of a bill with their keys: group, category and item, or the description of a line without one."""
    saved: dict[str, SavedLine] = {}
    for line in lines:
        key = "|".join((line.group, line.category, line.item or line.description))
        while key in saved:
            key += "+"
        net = line.extended_net
        saved[key] = SavedLine(
            key=key,
            name=line.description,
            quantity=line.quantity,
            unit=line.unit,
            net=f"{net:.2f}" if isinstance(net, Decimal) else net,
            is_bought=line.status in BOUGHT,
        )
    return tuple(saved.values())


def snapshot_of_file(document: Mapping[str, Any], place: str, catalog: Catalog) -> Snapshot:
    """Snapshot of a design.json: figures and bill.

    ``place``: its name, for errors. ``catalog``: has the unit of the rate of each network. Raises RequestError if it
    is not a design.json of this schema version, its figures cannot be those of an answer, or anything in it was
    changed since it was written. A customer's copy has no digest to tell the last.
    """
    try:
        read = _File.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise RequestError(f"{place}: is not a valid design.json: {where}: {first['msg']}") from None
    if read.schema_version != SCHEMA_VERSION:
        raise RequestError(
            f"{place}: has schema_version {read.schema_version}; this program reads {SCHEMA_VERSION}. "
            "Size the request again"
        )
    if has_digest(document) and not is_sealed(document):
        raise RequestError(
            f"{place}: was changed after it was written: its content does not match its {DIGEST}. "
            "Use the file as it was written, or size its request again"
        )
    design, bill = read.design, read.bill
    return Snapshot(
        tool_version=read.tool_version,
        catalog_digest=read.catalog_digest,
        calibration_digest=read.calibration_digest,
        design=design.name,
        verdict=read.verdict,
        currency=bill.currency,
        figures=_figures(
            design,
            [_unit(work, catalog) for work in design.workloads],
            bill.total or "",
            is_price_complete=bill.total_is_complete,
        ),
        lines=_lines(bill.lines),
    )


def has_digest(document: Mapping[str, Any]) -> bool:
    """Whether a design.json carries the digest of its content; a customer's copy does not."""
    return DIGEST in document


def _unit(work: _Workload, catalog: Catalog) -> str:
    if work.serving is not None:
        return "requests in flight" if work.serving.get("load_kind") == "requests-in-flight" else "requests/s"
    try:
        item = catalog.item(work.dnn)
    except KeyError:
        return "samples/s"
    return str(sample_unit(item)) if isinstance(item, Dnn) else "samples/s"


# A design.json of a thousand servers has about 10 MB.
MAX_DESIGN_BYTES = 50_000_000


@dataclass(frozen=True)
class ComparedAnswer:
    """One of the two answers that are compared."""

    name: str
    sizing_request: SizingRequest
    snapshot: Snapshot | None
    price_book: str = ""
    is_stored: bool = False  # the answer was read from the file or revision, not computed now
    reason: str = ""  # why there is no answer
    is_unsealed: bool = False  # the file carries no digest that would tell a change of its figures

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data, with every default."""
        return self.sizing_request.model_dump(mode="json", exclude_none=True)


def answer_to_request(name: str, request: SizingRequest, catalog: Catalog) -> ComparedAnswer:
    """Answer to a request, sized now.

    Raises RequestError if it names something that is not in the catalogue.
    """
    try:
        return ComparedAnswer(name, request, snapshot_of(size(request, catalog)))
    except InfeasibleError as error:
        return ComparedAnswer(name, request, None, reason=str(error))


def sized_today(saved: ComparedAnswer, catalog: Catalog) -> ComparedAnswer:
    """Answer to the request of a saved answer, sized now with its price book."""
    rows, faults = price_rows(saved.price_book, saved.name) if saved.price_book else ([], [])
    if faults:
        raise CatalogError(faults)
    today = answer_to_request(saved.name, saved.sizing_request, with_prices(catalog, rows) if rows else catalog)
    return replace(today, price_book=saved.price_book)


def answer_in_file(path: Path, catalog: Catalog) -> ComparedAnswer:
    """Answer to a request file, sized now, or the answer stored in a design.json.

    Raises RequestError if it cannot be read, or is neither.
    """
    place = str(path)
    if path.suffix.lower() != ".json":
        return answer_to_request(place, SizingRequest.from_file(path), catalog)
    text = text_of_file(path, MAX_DESIGN_BYTES, "a design.json")
    try:
        data = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{place}: is not valid JSON: {error}") from None
    kind = data.get("kind", "") if isinstance(data, dict) else ""
    if kind == "design":
        return ComparedAnswer(
            place,
            SizingRequest.from_dict(data.get("request"), place),
            snapshot_of_file(data, place, catalog),
            is_stored=True,
            is_unsealed=not has_digest(data),
        )
    if kind:
        raise RequestError(f"{place}: is a document of kind {str(kind)[:40]!r}; give a request or a design.json")
    if len(text) > MAX_REQUEST_BYTES:
        raise RequestError(f"{place}: has {len(text)} characters; a request has at most {MAX_REQUEST_BYTES}")
    return answer_to_request(place, SizingRequest.from_dict(data, place), catalog)


# Smaller relative differences come from the rounding of another processor or library.
_ROUNDING = 1e-6


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
    def is_same_answer(self) -> bool:
        """Whether both have an answer, with the same figures and bill."""
        return self.has_answers and not self.figures and not self.lines

    @property
    def are_none(self) -> bool:
        """Whether request, price book and answer are the same."""
        return not (self.request or self.is_other_price_book or self.figures or self.lines)


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


def figure_pairs(before: Snapshot, now: Snapshot) -> tuple[FigureChange, ...]:
    """Every figure of two answers, changed or not."""
    keys = dict.fromkeys(figure.key for figure in (*before.figures, *now.figures))
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


def _is_equal(before: float | None, now: float | None) -> bool:
    return before == now if before is None or now is None else math.isclose(before, now, rel_tol=_ROUNDING)
