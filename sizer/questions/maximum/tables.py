"""The front of each limit as a table: the designs on it, what they take, and what each step brings."""

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.base.quantities import by_count, plain, si, significant
from sizer.catalog.labels import sample_unit
from sizer.present.tables import Field, Table, record_table
from sizer.present.words import capital, money, percent, whole
from sizer.sizing.limits import SizeLimit
from sizer.sizing.maximum_result import FrontPoint, LimitFront, Maximum
from sizer.sizing.result import SizingResult

LIMIT_NAMES = {
    SizeLimit.BUDGET: "budget",
    SizeLimit.POWER: "power",
    SizeLimit.RACKS: "racks",
    SizeLimit.RACK_UNITS: "rack units",
    SizeLimit.SERVERS: "servers",
}
# What a gain is stated for, and how many of the limit's own units that is.
_STEPS = {
    SizeLimit.BUDGET: (1e4, "10,000"),
    SizeLimit.POWER: (1e3, "kW"),
    SizeLimit.RACKS: (1.0, "rack"),
    SizeLimit.RACK_UNITS: (1.0, "rack unit"),
    SizeLimit.SERVERS: (1.0, "server"),
}


@dataclass(frozen=True)
class FrontStep:
    """A design of a front, compared with the one before it."""

    point: FrontPoint
    before: FrontPoint | None  # None: the first
    limit: SizeLimit
    is_within: bool
    is_described: bool

    @property
    def gain(self) -> float | None:
        """Rate that it adds to the design before it. [samples/s]"""
        return None if self.before is None else self.point.samples_per_s - self.before.samples_per_s

    @property
    def gain_per_unit(self) -> float | None:
        """That rate for each watt, rack or unit of currency more; None where the amounts are not told."""
        if self.before is None or self.gain is None:
            return None
        amounts = [one.amount(self.limit) for one in (self.before, self.point)]
        if amounts[0] is None or amounts[1] is None or amounts[1] <= amounts[0]:
            return None
        return self.gain / (amounts[1] - amounts[0])


def front_steps(front: LimitFront, maximum: Maximum) -> list[FrontStep]:
    """The designs of a front in the order of what they take."""
    before = (None, *front.points)
    first_beyond = front.points.index(front.following) if front.following is not None else len(front.points)
    return [
        FrontStep(point, previous, front.limit, place < first_beyond, is_same(point, maximum.design))
        for place, (previous, point) in enumerate(zip(before, front.points, strict=False))
    ]


def is_same(one: FrontPoint, other: FrontPoint) -> bool:
    """Whether two points are the same servers and storage."""
    return one.parts == other.parts


def point_name(point: FrontPoint) -> str:
    """Short name of a design: '3 × DGX-1 (24 × Tesla V100 SXM2 16 GB) + 4 × Isilon F800'."""
    storage = f"{point.storage_nodes} × {point.storage_name}" if point.storage_nodes else point.storage_name
    return f"{point.n_servers} × {point.server_name} ({point.n_gpus} × {point.gpu_name}) + {storage}"


def amount_text(limit: SizeLimit, amount: float, currency: str, *, is_exact: bool = False) -> str:
    """An amount of a limited quantity with its unit; money to three digits unless it is exact."""
    if limit is SizeLimit.BUDGET:
        return money(whole(amount if is_exact else float(f"{amount:.3g}")), currency)
    if limit is SizeLimit.POWER:
        return si(amount, "W")
    noun = _STEPS[limit][1]
    return by_count(round(amount), f"{plain(amount)} {noun}", f"{plain(amount)} {noun}s")


def rate_text(samples_per_s: float, unit: str) -> str:
    """A rate with its unit."""
    return f"{significant(samples_per_s)} {unit}"


def front_table(front: LimitFront, result: SizingResult, *, with_amounts: bool) -> Table | None:
    """The designs of one front; None below two of them.

    Parameters
    ----------
    front : LimitFront
    result : SizingResult
    with_amounts : bool
        Whether to state costs, which rest on price ranges: customers' documents do not.
    """
    maximum = result.maximum
    assert maximum is not None  # a front belongs to one
    if len(front.points) < 2:
        return None
    currency, limit = result.request.currency, front.limit
    unit = sample_unit(result.design.workloads[maximum.workload].dnn)
    per, name = _STEPS[limit]
    each = f"{name} {currency}" if limit is SizeLimit.BUDGET else name
    is_told = limit is not SizeLimit.BUDGET or (with_amounts and _costs_are_known(front.points))

    def amount(step: FrontStep) -> str:
        value = step.point.amount(limit)
        return "" if value is None else amount_text(limit, value, currency)

    def gain(step: FrontStep) -> str:
        return "" if step.gain is None or step.before is None else f"+{percent(step.gain / step.before.samples_per_s)}"

    def per_unit(step: FrontStep) -> str:
        return "" if step.gain_per_unit is None else significant(step.gain_per_unit * per)

    fields: list[Field[FrontStep]] = [Field("Design", lambda step: point_name(step.point), "left", 44)]
    if is_told:
        head = "Cost at most" if limit is SizeLimit.BUDGET else capital(LIMIT_NAMES[limit])
        fields.append(Field(head, amount, "right", 16))
    fields.append(Field(f"Rate, {unit}", lambda step: significant(step.point.samples_per_s), "right", 14))
    fields.append(Field("Gain", gain, "right", 10))
    if is_told:
        fields.append(Field(f"{unit} per {each}", per_unit, "right", 16))
    bound = amount_text(limit, front.bound, currency, is_exact=True)
    confidence = percent(maximum.confidence)
    notes = [f"Rates are reached with {confidence} confidence."]
    if is_told and limit is SizeLimit.BUDGET:
        notes.append("Costs are amounts that are not exceeded with the same confidence, from price ranges.")
    elif limit is SizeLimit.BUDGET:
        notes.append(
            f"“Within”: at least {confidence} likely to cost no more than {bound}, by published prices and usual price "
            "ranges; no vendor has quoted yet."
        )
    notes.append("Designs that take more without being faster are omitted.")
    return record_table(
        f"maximum-{limit.value.replace('_', '-')}",
        f"What each step of the {LIMIT_NAMES[limit]} brings",
        front_steps(front, maximum),
        fields,
        kind=lambda step: "strong" if step.is_described else "",
        group=lambda step: f"Within {bound}" if step.is_within else f"Beyond {bound}",
        note=" ".join(notes),
    )


def _costs_are_known(points: Sequence[FrontPoint]) -> bool:
    return all(point.cost is not None for point in points)


def percent_more(new: float, old: float) -> str:
    """By how much a rate is higher: '12 %'."""
    return percent(new / old - 1)
