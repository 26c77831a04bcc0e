"""Snapshot of an answer: its figures and bill, and the facts, prices and rates that they depend on."""

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from sizer import __version__
from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import portable
from sizer.bom.bill import BillLine
from sizer.bom.prices import PriceBook, prices_for
from sizer.catalog.labels import sample_unit, with_vendor
from sizer.catalog.model import Catalog
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer

# Raised when older snapshots can no longer be compared.
SNAPSHOT_VERSION = 1

FactValue = str | float | int | bool | None


def _amount(text: str) -> str:
    try:
        is_amount = Decimal(text).is_finite()
    except InvalidOperation:
        is_amount = False
    if not is_amount:
        raise ValueError("is not an amount")
    return text


AmountText = Annotated[str, AfterValidator(_amount)]


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
            _amount(self.text)
        return self


class SavedLine(_Frozen):
    """One line of the bill."""

    key: str  # identifies the line; the same in another bill with this part
    name: str
    quantity: int
    unit: str
    net: AmountText | None  # net price of the whole line as decimal text; None: to be quoted
    is_bought: bool


class SavedFact(_Frozen):
    """A value of the catalogue with its source."""

    value: FactValue
    source: str = ""
    where: str = ""


class SavedPart(_Frozen):
    """A catalogue item as the answer used it."""

    name: str
    facts: dict[str, SavedFact]  # by the path of the field: "power_max_w", "ports[2].count"


class SavedPrice(_Frozen):
    """A price of the price book."""

    amount: AmountText
    discount_percent: AmountText
    date: str
    source: str


class SavedRate(_Frozen):
    """Calibrated rate of one workload on the GPUs of the design. [samples/s of one GPU]"""

    workload: str
    unit: str
    per_gpu: float | None
    low: float | None
    high: float | None


class Snapshot(_Frozen):
    """Summary of an answer, with all that it depends on."""

    version: int = SNAPSHOT_VERSION
    tool_version: str
    catalog_digest: str
    calibration_digest: str
    design: str  # "9 × DGX-1 + 8 × Isilon F800 nodes"
    verdict: str
    currency: str
    figures: tuple[HeadlineFigure, ...]
    lines: tuple[SavedLine, ...]
    parts: dict[str, SavedPart]  # by the id of the item
    prices: dict[str, SavedPrice]  # by the id of the item; items without a price are missing
    rates: tuple[SavedRate, ...]

    def figure(self, key: str) -> HeadlineFigure | None:
        """A figure by its key."""
        return next((figure for figure in self.figures if figure.key == key), None)


def snapshot_of(result: SizingResult, catalog: Catalog) -> Snapshot:
    """Snapshot of an answer.

    Parameters
    ----------
    result : SizingResult
        The full answer, not a customer's copy.
    catalog : Catalog
        The catalogue of the answer, with the price book of the session.
    """
    design = result.design
    parts = _parts(design, catalog)
    return Snapshot(
        tool_version=__version__,
        catalog_digest=result.catalog_digest,
        calibration_digest=result.calibration_digest,
        design=design.name,
        verdict=verdict_text(result),
        currency=design.bill.currency,
        figures=_figures(design),
        lines=_lines(design.bill.lines),
        parts=parts,
        prices=saved_prices(parts, design.bill.currency, prices_for(result.request, catalog)),
        rates=tuple(_rate(answer, design.n_gpus) for answer in design.workloads),
    )


def saved_prices(items: Iterable[str], currency: str, book: PriceBook) -> dict[str, SavedPrice]:
    """Prices of the price book by the id of the item; items without one in this currency are missing."""
    prices = {item: book.price(item, currency) for item in items}
    return {
        item: SavedPrice(
            amount=str(price.amount),
            discount_percent=str(price.discount_percent),
            date=str(price.date),
            source=price.source,
        )
        for item, price in prices.items()
        if price is not None
    }


def read_snapshot(text: str) -> Snapshot | None:
    """A stored snapshot; None where an incompatible version of this program wrote it."""
    try:
        snapshot = Snapshot.model_validate_json(text)
    except ValidationError:
        return None
    return snapshot if snapshot.version == SNAPSHOT_VERSION else None


# --- figures


def _figures(design: DesignAnswer) -> tuple[HeadlineFigure, ...]:
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
    rate = rate_figure(number, whose, _unit(answer), of, _ends(answer.throughput))
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


def _unit(answer: WorkloadAnswer) -> str:
    return str(sample_unit(answer.dnn))


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
                net=_money(line.extended_net),
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


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"


# --- facts, prices and rates


def _parts(design: DesignAnswer, catalog: Catalog) -> dict[str, SavedPart]:
    """Every catalogue item of the design and its workloads."""
    platform = design.platform
    ids = [platform.gpu.id, platform.server.id, platform.storage.id]
    if platform.server.cpu is not None:
        ids.append(str(platform.server.cpu.value))
    for answer in design.workloads:
        ids += [answer.dnn.id, answer.dataset.id, answer.stack.id]
        ids += [] if answer.recipe is None else [answer.recipe.id]
    ids += [part.item for part in design.quantities.components if int(part.quantity[0])]
    ids += [line.item for line in design.bill.lines if line.item]
    # Networks and data sets of the request itself are not in the catalogue.
    return {item: found for item in dict.fromkeys(ids) if (found := saved_part(item, catalog)) is not None}


def saved_part(item_id: str, catalog: Catalog) -> SavedPart | None:
    """An item of the catalogue; None where there is none."""
    try:
        item = catalog.item(item_id)
    except KeyError:
        return None
    stated = item.model_dump(mode="json", exclude_defaults=True, exclude={"id", "name", "vendor", "skus", "features"})
    return SavedPart(name=with_vendor(item), facts=dict(_facts(stated, "")))


def _facts(stated: Any, path: str) -> list[tuple[str, SavedFact]]:
    """Values of nested tables by their paths; sourced values with their source, without their notes."""
    if isinstance(stated, dict):
        if "value" in stated and "source" in stated and not isinstance(stated["value"], dict | list):
            return [(path, SavedFact(value=stated["value"], source=stated["source"], where=stated.get("where", "")))]
        about = {"source", "where", "note", "basis", "alternates"} if "source" in stated else set()
        return [
            fact
            for key, value in stated.items()
            if key not in about
            for fact in _facts(value, f"{path}.{key}" if path else key)
        ]
    if isinstance(stated, list):
        if not any(isinstance(one, dict | list) for one in stated):
            return [(path, SavedFact(value=", ".join(map(str, stated))))]
        return [fact for number, one in enumerate(stated) for fact in _facts(one, f"{path}[{number}]")]
    return [(path, SavedFact(value=stated))]


def _rate(answer: WorkloadAnswer, n_gpus: int) -> SavedRate:
    """Rate of one GPU of the design with its share of the exchange, which depends on the calibration alone."""
    gpu = next(stage for stage in answer.stages if stage.key == "gpu")
    value, low, high = (_number(one / n_gpus) for one in gpu.capacity)
    name = f"{answer.dnn.name} with {answer.stack.name}"
    return SavedRate(workload=name, unit=_unit(answer), per_gpu=value, low=low, high=high)
