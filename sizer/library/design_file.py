"""The snapshot of the answer in a design.json."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sizer.base.errors import RequestError
from sizer.base.formats.json_document import DIGEST, SCHEMA_VERSION, is_sealed
from sizer.bom.bill import BOUGHT
from sizer.catalog.labels import sample_unit
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.library.snapshot import (
    IntervalEnds,
    SavedLine,
    Snapshot,
    headline_figures,
    lines_with_keys,
    rate_figure,
    time_figure,
)
from sizer.sizing.result import STAGES

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
        return "requests/s"
    try:
        item = catalog.item(work.dnn)
    except KeyError:
        return "samples/s"
    return str(sample_unit(item)) if isinstance(item, Dnn) else "samples/s"
