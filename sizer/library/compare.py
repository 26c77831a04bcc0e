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
    return headline_figures(
        gpus=design.n_gpus,
        servers=design.n_servers,
        storage_nodes=design.storage_nodes,
        workloads=[figure for number in range(len(design.workloads)) for figure in _workload(design, number)],
        usable_bytes=_number(design.usable_bytes),
        power_w=_number(counts.power_max_w[0]),
        has_unknown_power=bool(counts.unknown_power),
        rack_units=_number(counts.rack_units[0]),
        racks=int(counts.racks[0]),
        price="" if bill.net_total.is_unknown else f"{bill.total:.2f}",
        is_price_complete=bill.is_complete,
        stage=design.workloads[0].bottleneck,
        probability=_number(design.probability),
    )


def headline_figures(
    *,
    gpus: int,
    servers: int,
    storage_nodes: int,
    workloads: Sequence[HeadlineFigure],
    usable_bytes: float | None,
    power_w: float | None,
    has_unknown_power: bool,
    rack_units: float | None,
    racks: int,
    price: str,
    is_price_complete: bool,
    stage: str,
    probability: float | None,
) -> tuple[HeadlineFigure, ...]:
    """Figures of an answer in their order, computed now or read from a file."""
    return (
        HeadlineFigure(key="gpus", label="GPUs", value=gpus),
        HeadlineFigure(key="servers", label="GPU servers", value=servers),
        HeadlineFigure(key="storage-nodes", label="Storage nodes", value=storage_nodes),
        *workloads,
        HeadlineFigure(key="capacity", label="Usable capacity", unit="B", value=usable_bytes or None),
        HeadlineFigure(key="power", label="Power", unit="W", value=power_w, is_at_least=has_unknown_power),
        HeadlineFigure(key="rack-units", label="Rack units", value=rack_units),
        HeadlineFigure(key="racks", label="Racks", value=racks),
        HeadlineFigure(key="price", label="Net price", unit="money", text=price, is_at_least=not is_price_complete),
        HeadlineFigure(key="stage", label="Bottleneck", text=STAGES[stage]),
        HeadlineFigure(key="probability", label="Probability of meeting every target", unit="%", value=probability),
    )


def _workload(design: DesignAnswer, number: int) -> tuple[HeadlineFigure, ...]:
    answer = design.workloads[number]
    whose = answer.workload.name if len(design.workloads) > 1 else ""
    of = f"{answer.dnn.id} {answer.sample_bytes:g}"
    rate = rate_figure(number, whose, str(sample_unit(answer.dnn)), of, _ends(answer.throughput))
    return (rate,) if answer.time is None else (rate, time_figure(number, whose, of, _ends(answer.time.total_s)))


IntervalEnds = tuple[float | None, float | None, float | None]  # value, low, high


def rate_figure(number: int, whose: str, unit: str, of: str, ends: IntervalEnds) -> HeadlineFigure:
    """Rate of one workload; ``whose`` names it where there are several."""
    return _estimated(f"rate-{number}", f"Rate of {whose}" if whose else "Rate", unit, of, ends)


def time_figure(number: int, whose: str, of: str, ends: IntervalEnds) -> HeadlineFigure:
    """Time to train of one workload."""
    return _estimated(f"time-{number}", f"Time to train of {whose}" if whose else "Time to train", "s", of, ends)


def _estimated(key: str, label: str, unit: str, of: str, ends: IntervalEnds) -> HeadlineFigure:
    value, low, high = ends
    return HeadlineFigure(key=key, label=label, unit=unit, value=value, low=low, high=high, of=of)


def _ends(interval: Estimate) -> IntervalEnds:
    value, low, high = (_number(one) for one in interval)
    return value, low, high


def _number(value: Any) -> float | None:
    if value is None:  # a probability that is not known
        return None
    number = float(value)
    # Excludes infinity and NaN. As the design's file has it, so that the two are the same.
    return portable(number) if abs(number) < float("inf") else None


# --- bill


def _lines(lines: tuple[BillLine, ...]) -> tuple[SavedLine, ...]:
    return lines_with_keys(
        (
            line.group,
            line.category,
            line.item,
            SavedLine(
                key="",
                name=line.description,
                quantity=line.quantity,
                unit=line.unit,
                net=None if line.extended_net is None else f"{line.extended_net:.2f}",
                is_bought=line.is_bought,
            ),
        )
        for line in lines
    )


def lines_with_keys(lines: Iterable[tuple[str, str, str, SavedLine]]) -> tuple[SavedLine, ...]:
    """Lines of a bill with their keys, from group, category and item of each; an item may be empty."""
    found: dict[str, SavedLine] = {}
    for group, category, item, line in lines:
        key = "|".join((group, category, item or line.name))
        while key in found:
            key += "+"
        found[key] = line.model_copy(update={"key": key})
    return tuple(found.values())


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

    @property
    def ends(self) -> IntervalEnds:
        return self.value, self.low, self.high


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
    several = len(design.workloads) > 1
    figures = []
    for number, work in enumerate(design.workloads):
        whose, of = work.name if several else "", f"{work.dnn} {work.sample_bytes:g}"
        figures.append(rate_figure(number, whose, _unit(work, catalog), of, work.samples_per_s.ends))
        if work.time is not None:
            figures.append(time_figure(number, whose, of, work.time.total_s.ends))
    return Snapshot(
        tool_version=read.tool_version,
        catalog_digest=read.catalog_digest,
        calibration_digest=read.calibration_digest,
        design=design.name,
        verdict=read.verdict,
        currency=bill.currency,
        figures=headline_figures(
            gpus=design.n_gpus,
            servers=design.n_servers,
            storage_nodes=design.storage_nodes,
            workloads=figures,
            usable_bytes=design.usable_bytes,
            power_w=design.power_max_w,
            has_unknown_power=bool(design.unknown_power),
            rack_units=design.rack_units,
            racks=design.racks,
            price=bill.total or "",
            is_price_complete=bill.total_is_complete,
            stage=design.workloads[0].bottleneck,
            probability=design.probability,
        ),
        lines=lines_with_keys(
            (
                line.group,
                line.category,
                line.item or "",
                SavedLine(
                    key="",
                    name=line.description,
                    quantity=line.quantity,
                    unit=line.unit,
                    net=line.extended_net,
                    is_bought=line.status in BOUGHT,
                ),
            )
            for line in bill.lines
        ),
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
