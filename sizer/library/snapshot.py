"""What a revision remembers of its answer: its figures, its bill, and the facts, prices and rates it hung on."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sizer import __version__
from sizer.base.estimate import Estimate
from sizer.bom.bill import BillLine
from sizer.bom.prices import price_book
from sizer.catalog.labels import sample_unit, with_vendor
from sizer.catalog.model import Catalog
from sizer.present.verdict_text import verdict_text
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer

# Raised with every change after which an older snapshot can no longer be compared.
SNAPSHOT_VERSION = 1

Plain = str | float | int | bool | None


class _Frozen(BaseModel):
    # Keys that a newer version added are passed over: what is known here can still be compared.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Figure(_Frozen):
    """One number, or one word, of the headline."""

    key: str
    label: str
    unit: str = ""  # "" a count; "%" of a fraction; "money" of the snapshot's currency; else as it is printed
    value: float | None = None  # None: not known, or ``text`` says it
    low: float | None = None  # ends of the 90 % interval
    high: float | None = None
    text: str = ""  # where it is no number; an amount of money as decimal text
    is_at_least: bool = False  # parts of it are unknown
    of: str = ""  # what it is measured on; figures of different things have no difference


class Line(_Frozen):
    """One line of the bill."""

    key: str  # what the line is about; the same in another bill of the same part
    name: str
    quantity: int
    unit: str
    net: str | None  # net price of the whole line as decimal text; None: to be quoted
    is_bought: bool


class Fact(_Frozen):
    """A value that the catalogue states."""

    value: Plain
    source: str = ""
    where: str = ""


class Part(_Frozen):
    """A catalogue item as the answer used it."""

    name: str
    facts: dict[str, Fact]  # by the path of the field: "power_max_w", "ports[2].count"


class Amount(_Frozen):
    """A price of the price book."""

    amount: str
    discount_percent: str
    date: str
    source: str


class Rate(_Frozen):
    """What the calibration says of one workload on the GPUs of the design. [samples/s of one GPU]"""

    workload: str
    unit: str
    per_gpu: float | None
    low: float | None
    high: float | None


class Snapshot(_Frozen):
    """An answer in short, with all that it hung on."""

    version: int = SNAPSHOT_VERSION
    tool_version: str
    catalog_digest: str
    calibration_digest: str
    design: str  # "9 × DGX-1 + 8 × Isilon F800 nodes"
    verdict: str
    currency: str
    figures: tuple[Figure, ...]
    lines: tuple[Line, ...]
    parts: dict[str, Part]  # by the id of the item
    prices: dict[str, Amount]  # by the id of the item; what has no price is missing
    rates: tuple[Rate, ...]

    def figure(self, key: str) -> Figure | None:
        """A figure by its key."""
        return next((figure for figure in self.figures if figure.key == key), None)


def snapshot_of(result: SizingResult, catalog: Catalog) -> Snapshot:
    """Snapshot of an answer.

    Parameters
    ----------
    result : SizingResult
        The whole one, not a customer's copy.
    catalog : Catalog
        That it was made from, with the price book of the session.
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
        prices=prices_of(parts, design.bill.currency, catalog),
        rates=tuple(_rate(answer, design.n_gpus) for answer in design.workloads),
    )


def prices_of(items: Iterable[str], currency: str, catalog: Catalog) -> dict[str, Amount]:
    """Prices of the price book by the id of the item; what has none in this currency is missing."""
    book = price_book(catalog)
    found = {item: book.price(item, currency) for item in items}
    return {
        item: Amount(
            amount=str(price.amount),
            discount_percent=str(price.discount_percent),
            date=str(price.date),
            source=price.source,
        )
        for item, price in found.items()
        if price is not None
    }


def read_snapshot(text: str) -> Snapshot | None:
    """A stored snapshot; None where a version of this program wrote it that this one does not know."""
    try:
        found = Snapshot.model_validate_json(text)
    except ValidationError:
        return None
    return found if found.version == SNAPSHOT_VERSION else None


# --- figures


def _figures(design: DesignAnswer) -> tuple[Figure, ...]:
    counts, bill = design.quantities, design.bill
    return headline(
        gpus=design.n_gpus,
        servers=design.n_servers,
        storage_nodes=design.storage_nodes,
        workloads=[figure for number in range(len(design.workloads)) for figure in _workload(design, number)],
        usable_bytes=_number(counts.usable_bytes[0]),
        power_w=_number(counts.power_max_w[0]),
        has_unknown_power=bool(counts.unknown_power),
        rack_units=_number(counts.rack_units[0]),
        racks=int(counts.racks[0]),
        price="" if bill.net_total.is_unknown else f"{bill.total:.2f}",
        is_price_complete=bill.is_complete,
        stage=design.workloads[0].bottleneck,
        probability=_number(design.probability),
    )


def headline(
    *,
    gpus: int,
    servers: int,
    storage_nodes: int,
    workloads: Sequence[Figure],
    usable_bytes: float | None,
    power_w: float | None,
    has_unknown_power: bool,
    rack_units: float | None,
    racks: int,
    price: str,
    is_price_complete: bool,
    stage: str,
    probability: float | None,
) -> tuple[Figure, ...]:
    """Figures of an answer in their order, whether it was made now or read from a file."""
    return (
        Figure(key="gpus", label="GPUs", value=gpus),
        Figure(key="servers", label="GPU servers", value=servers),
        Figure(key="storage-nodes", label="Storage nodes", value=storage_nodes),
        *workloads,
        Figure(key="capacity", label="Usable capacity", unit="B", value=usable_bytes or None),
        Figure(key="power", label="Power", unit="W", value=power_w, is_at_least=has_unknown_power),
        Figure(key="rack-units", label="Rack units", value=rack_units),
        Figure(key="racks", label="Racks", value=racks),
        Figure(key="price", label="Net price", unit="money", text=price, is_at_least=not is_price_complete),
        Figure(key="stage", label="Limiting stage", text=STAGES[stage]),
        Figure(key="probability", label="Chance of meeting every target", unit="%", value=probability),
    )


def _workload(design: DesignAnswer, number: int) -> tuple[Figure, ...]:
    answer = design.workloads[number]
    whose = answer.workload.name if len(design.workloads) > 1 else ""
    of = f"{answer.dnn.id} {answer.sample_bytes:g}"
    rate = rate_figure(number, whose, _unit(answer), of, _ends(answer.throughput))
    return (rate,) if answer.time is None else (rate, time_figure(number, whose, of, _ends(answer.time.total_s)))


Ends = tuple[float | None, float | None, float | None]  # value, low, high


def rate_figure(number: int, whose: str, unit: str, of: str, ends: Ends) -> Figure:
    """Rate of one workload; ``whose`` names it where there are several."""
    return _estimated(f"rate-{number}", f"Rate of {whose}" if whose else "Rate", unit, of, ends)


def time_figure(number: int, whose: str, of: str, ends: Ends) -> Figure:
    """Time to train of one workload."""
    return _estimated(f"time-{number}", f"Time to train of {whose}" if whose else "Time to train", "s", of, ends)


def _estimated(key: str, label: str, unit: str, of: str, ends: Ends) -> Figure:
    value, low, high = ends
    return Figure(key=key, label=label, unit=unit, value=value, low=low, high=high, of=of)


def _ends(interval: Estimate) -> Ends:
    value, low, high = (_number(one) for one in interval)
    return value, low, high


def _unit(answer: WorkloadAnswer) -> str:
    return str(sample_unit(answer.dnn))


def _number(value: Any) -> float | None:
    number = float(value)
    # Written this way, infinity and "not a number" are both out.
    return number if abs(number) < float("inf") else None


# --- bill


def _lines(lines: tuple[BillLine, ...]) -> tuple[Line, ...]:
    return keyed(
        (
            line.group,
            line.category,
            line.item,
            Line(
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


def keyed(lines: Iterable[tuple[str, str, str, Line]]) -> tuple[Line, ...]:
    """Lines of a bill with their keys, from group, category and item of each; an item may be empty."""
    found: dict[str, Line] = {}
    for group, category, item, line in lines:
        key = "|".join((group, category, item or line.name))
        while key in found:
            key += "+"
        found[key] = line.model_copy(update={"key": key})
    return tuple(found.values())


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"


# --- what it hung on


def _parts(design: DesignAnswer, catalog: Catalog) -> dict[str, Part]:
    """Every catalogue item that the design is made of or its workloads run with."""
    platform = design.platform
    ids = [platform.gpu.id, platform.server.id, platform.storage.id]
    if platform.server.cpu is not None:
        ids.append(str(platform.server.cpu.value))
    for answer in design.workloads:
        ids += [answer.dnn.id, answer.dataset.id, answer.stack.id]
        ids += [] if answer.recipe is None else [answer.recipe.id]
    ids += [part.item for part in design.quantities.components if int(part.quantity[0])]
    ids += [line.item for line in design.bill.lines if line.item]
    # What the request states by its own numbers is no item of the catalogue.
    return {item: found for item in dict.fromkeys(ids) if (found := part_of(item, catalog)) is not None}


def part_of(item_id: str, catalog: Catalog) -> Part | None:
    """An item as the catalogue states it; None where it has no such item."""
    try:
        item = catalog.item(item_id)
    except KeyError:
        return None
    stated = item.model_dump(mode="json", exclude_defaults=True, exclude={"id", "name", "vendor", "skus", "features"})
    return Part(name=with_vendor(item), facts=dict(_facts(stated, "")))


def _facts(stated: Any, path: str) -> list[tuple[str, Fact]]:
    """Values of nested tables by their paths; of a sourced value its source, and none of its notes."""
    if isinstance(stated, dict):
        if "value" in stated and "source" in stated and not isinstance(stated["value"], dict | list):
            return [(path, Fact(value=stated["value"], source=stated["source"], where=stated.get("where", "")))]
        about = {"source", "where", "note", "basis", "alternates"} if "source" in stated else set()
        return [
            fact
            for key, value in stated.items()
            if key not in about
            for fact in _facts(value, f"{path}.{key}" if path else key)
        ]
    if isinstance(stated, list):
        if not any(isinstance(one, dict | list) for one in stated):
            return [(path, Fact(value=", ".join(map(str, stated))))]
        return [fact for number, one in enumerate(stated) for fact in _facts(one, f"{path}[{number}]")]
    return [(path, Fact(value=stated))]


def _rate(answer: WorkloadAnswer, n_gpus: int) -> Rate:
    """Rate of one GPU of the design with its share of the exchange: what the calibration alone decides."""
    gpu = next(stage for stage in answer.stages if stage.key == "gpu")
    value, low, high = (_number(one / n_gpus) for one in gpu.capacity)
    name = f"{answer.dnn.name} with {answer.stack.name}"
    return Rate(workload=name, unit=_unit(answer), per_gpu=value, low=low, high=high)
