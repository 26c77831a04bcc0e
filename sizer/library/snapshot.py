"""Snapshot of an answer: its figures and bill."""

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from sizer import __version__
from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import portable
from sizer.bom.bill import BillLine
from sizer.catalog.labels import sample_unit
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult

# Raised when older snapshots can no longer be compared.
SNAPSHOT_VERSION = 1


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
