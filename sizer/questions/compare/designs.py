"""Two to four answers side by side, with what differs from one of them marked in words and signs."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant, tokens_text
from sizer.bom.bill import Bill
from sizer.catalog.labels import with_maker, with_vendor
from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.drawings.racks import at_least
from sizer.drawings.shapes import wrapped
from sizer.explain.figure import GPUS, POWER, PRICE, RACK_UNITS, rate_key
from sizer.physical.components import CATEGORIES
from sizer.present import words
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.tables import Align, Cell, Column, Row, Table, columns, row
from sizer.present.text import result_text
from sizer.present.text.calibration import NOT_PREDICTED
from sizer.present.text.money import price_range_text
from sizer.present.theme import CHART_LABEL_PX
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text

SAME = "same"
WITHIN = "within the interval"
OTHER = "other"
OTHER_WORKLOAD = "other workload"
_MINUS = "\u2212"


@dataclass(frozen=True)
class Value:
    """What a column shows, and the number by which it differs from the baseline."""

    text: str
    number: float | None = None
    interval: Estimate | None = None
    is_share: bool = False  # differs by percentage points
    is_text: bool = False  # a name, which is the same or another
    of: str = ""  # two values of different things have no difference
    unit: str = ""  # in SI, of a number whose printed unit depends on its size
    is_bound: bool = False  # it reads "at least"
    name: str = ""  # in front of the number

    @classmethod
    def count(cls, number: float, text: str | None = None) -> "Value":
        return cls(grouped(number) if text is None else text, float(number))

    @classmethod
    def estimated(cls, interval: Estimate, unit: str, of: str) -> "Value":
        return cls(words.estimate(interval, unit), float(interval.value), interval, of=of, unit=unit)

    @classmethod
    def amount(cls, number: float, unit: str, *, is_bound: bool = False) -> "Value":
        return cls(at_least(is_bound, si(number, unit)), number, unit=unit, is_bound=is_bound)

    def in_unit_of(self, like: float) -> "Value":
        """The value printed in the unit that another one takes."""
        if not self.unit or self.number is None:
            return self
        if self.interval is not None:
            return replace(self, text=self.name + words.estimate(self.interval, self.unit, like=like))
        return replace(self, text=at_least(self.is_bound, si(self.number, self.unit, like=like)))


def in_one_unit(values: Sequence[Value]) -> list[Value]:
    """Values side by side, each in the unit of the largest of its kind."""
    largest: dict[str, float] = {}
    for value in values:
        if value.unit and value.number is not None and math.isfinite(value.number):
            largest[value.unit] = max(largest.get(value.unit, 0.0), value.number)
    return [value.in_unit_of(largest[value.unit]) if value.unit in largest else value for value in values]


def difference(value: float, base: float) -> str:
    """Difference of two numbers in percent with its sign: '+12 %', '−3.5 %', 'same'."""
    if value == base:
        return SAME
    if not base:
        return ""
    share = 100 * (value / base - 1)
    if abs(share) < 0.05:
        return SAME
    return f"{'+' if share > 0 else _MINUS}{significant(abs(share), 2)}{NARROW_SPACE}%"


def count_difference(value: float, base: float) -> str:
    """Difference of two counts with its sign: '+8', '−1', 'same'."""
    if value == base:
        return SAME
    return f"{'+' if value > base else _MINUS}{grouped(abs(value - base), 1 if (value - base) % 1 else 0)}"


def value_difference(value: Value, base: Value, is_count: bool) -> str:
    """The difference in words or with its sign; empty where none can be told."""
    if value.number is None or base.number is None:
        if value.is_text and base.is_text:
            return SAME if value.text == base.text else OTHER
        return ""
    if value.of != base.of:
        return "other targets" if value.is_share else OTHER_WORKLOAD
    if value.number != base.number and _overlap(value.interval, base.interval):
        return WITHIN
    if value.is_share:
        return points(value.number, base.number)
    told = count_difference if is_count else difference
    return told(value.number, base.number)


def _overlap(rate: Estimate | None, other: Estimate | None) -> bool:
    return rate is not None and other is not None and bool(rate.low <= other.high and other.low <= rate.high)


def points(value: float, base: float) -> str:
    """Difference of two shares in percentage points: '+2 points', 'same'."""
    points = round(100 * value) - round(100 * base)
    return (
        f"{'+' if points > 0 else _MINUS}{abs(points)} {'point' if abs(points) == 1 else 'points'}" if points else SAME
    )


MOST = 4
_NONE = "–"
_FIRST_WIDTH = 20
_NOTE = (
    "In brackets the difference to the baseline. Where the 90 % intervals or the ranges of prices overlap it reads "
    '"within the interval": the two cannot be told apart. Of watts and kilograms known as "at least" the known parts '
    "are compared."
)


@dataclass(frozen=True)
class Compared:
    """One answer of a comparison under the name that its column has."""

    name: str
    result: SizingResult


def figures_table(designs: Sequence[Compared], baseline: int, *, has_price: bool = True) -> Table:
    """Figures of every design, and under each what differs from the baseline.

    ``designs``: two to four. ``baseline``: place of the design that the others are told against. ``has_price``: false
    leaves prices out: a customer sees the price of the offered design only.
    """
    check(designs, baseline)
    listed = [figure for figure in _figures(designs) if has_price or not figure[0].startswith("Price")]
    rows = [
        row(label, *_marked([show(design) for design in designs], baseline, is_count=is_count))
        for label, show, is_count in listed
    ]
    return Table(
        "comparison", "Figures of the designs side by side", column_heads(designs, baseline), tuple(rows), _NOTE
    )


def bill_table(designs: Sequence[Compared], baseline: int) -> Table | None:
    """Items whose number differs between the designs, by category; None where the bills hold the same."""
    check(designs, baseline)
    counted = [_counts(design.result.design.bill) for design in designs]
    rows: list[Row] = []
    for category in CATEGORIES:
        items = dict.fromkeys(key for counts in counted for key in counts if key[0] == category)
        differing = [key for key in items if len({counts.get(key, 0) for counts in counted}) > 1]
        if differing:
            rows.append(row(words.sentence(category).rstrip("."), *[""] * len(designs), kind="group"))
        for key in differing:
            values = [Value.count(counts.get(key, 0)) for counts in counted]
            rows.append(row(key[1], *_marked(values, baseline, is_count=True)))
    if not rows:
        return None
    return Table(
        "comparison-bill",
        "Parts of which the designs have different numbers",
        column_heads(designs, baseline, "Item"),
        tuple(rows),
    )


class CardFigure(NamedTuple):
    """One figure of a card; ``key`` is that of :mod:`sizer.explain.figure`, empty where nothing stands behind it."""

    key: str
    label: str
    value: str
    difference: str


def card_figures(
    design: DesignAnswer, base: DesignAnswer | None, *, has_price: bool = True, probability: float | None = None
) -> tuple[CardFigure, ...]:
    """The few figures that a card shows, with their differences to a ``base`` and in its units.

    ``has_price``: false leaves the price out: a customer sees the price of the offered design only. ``probability``:
    that the design meets the targets of ``base``, where its own are others. [-]
    """
    figures = []
    for key, label, show, is_count in _card_figures(design, has_price):
        value = show(design)
        if base is None:
            figures.append(CardFigure(key, label, value.text, ""))
            continue
        reference = show(base)
        if show is _chance and probability is not None and _is_predicted(design):
            value = replace(reference, text=words.chance(probability), number=probability)
        elif value.unit == reference.unit and reference.number is not None and math.isfinite(reference.number):
            value = value.in_unit_of(reference.number)
        figures.append(CardFigure(key, label, value.text, value_difference(value, reference, is_count)))
    return tuple(figures)


_Show = Callable[[DesignAnswer], Value]


def _card_figures(design: DesignAnswer, has_price: bool) -> list[tuple[str, str, _Show, bool]]:
    several = len(design.workloads) > 1
    rates = [
        (rate_key(index), _labelled(_rate_label(one), [one.workload.name], index, several), _rate_of(index), False)
        for index, one in enumerate(design.workloads)
    ]
    figures: list[tuple[str, str, _Show, bool]] = [
        (GPUS, "GPUs", lambda one: Value.count(one.n_gpus), True),
        ("", "Storage nodes", lambda one: Value.count(one.storage_nodes), True),
        *rates,
        ("", "Probability", _chance, False),
        (RACK_UNITS, "Rack units", lambda one: _count(one, "rack_units"), True),
        (POWER, _POWER_LABEL, _power("power_max_w"), False),
    ]
    return [*figures, (PRICE, "Price", _price, False)] if has_price else figures


_POWER_LABEL = "Power, maximum"


def _figures(designs: Sequence[Compared]) -> list[tuple[str, Callable[[Compared], Value], bool]]:
    """Label, value and whether it is a count, of every row."""
    compared = [design.result.design for design in designs]
    most = max(compared, key=lambda design: len(design.workloads))
    several = len(most.workloads) > 1
    rates: list[tuple[str, Callable[[Compared], Value], bool]] = []
    limits: list[tuple[str, Callable[[Compared], Value], bool]] = []
    for number in range(len(most.workloads)):
        answers = [one.result.design.workloads[number] for one in designs if number < len(one.result.design.workloads)]
        names = [answer.workload.name for answer in answers]
        kinds = list(dict.fromkeys(map(_rate_label, answers)))
        is_named = len({answer.dnn.id for answer in answers}) > 1
        rates.append(
            (_labelled(" or ".join(kinds).capitalize(), names, number, several), _of(_rate_of(number, is_named)), False)
        )
        limits.append((_labelled("Limiting stage", names, number, several), _of(_limit_of(number)), False))
    titles: list[tuple[str, Callable[[Compared], Value], bool]] = (
        [("Request", lambda one: Value(one.result.request.title, is_text=True), False)]
        if len({design.result.request.title for design in designs}) > 1
        else []
    )
    table: list[tuple[str, Callable[[Compared], Value], bool]] = [
        *titles,
        ("Server", _of(lambda one: Value(_server(one), is_text=True)), False),
        ("Storage", _of(lambda one: Value(with_vendor(one.platform.storage), is_text=True)), False),
        ("GPUs", _of(lambda one: Value.count(one.n_gpus)), True),
        *rates,
        ("Probability of the targets", _of(_chance), False),
        ("Price", _of(_price), False),
        (_POWER_LABEL, _of(_power("power_max_w")), False),
        ("Racks", _of(lambda one: _count(one, "racks")), True),
        ("Servers", _of(lambda one: Value.count(one.n_servers)), True),
        ("Storage nodes", _of(lambda one: Value.count(one.storage_nodes)), True),
        *limits,
        ("Usable capacity", _of(_usable), False),
        ("Power, typical", _of(_power("power_typical_w")), False),
        ("Rack units", _of(lambda one: _count(one, "rack_units")), True),
        ("Switches and gateways", _of(lambda one: Value.count(result_text.switches(one))), True),
        ("Cables", _of(lambda one: Value.count(one.plan.n_links)), True),
        ("Weight", _of(_weight), False),
    ]
    if any(_price(design.result.design).number is not None for design in designs):
        table += [(label, _of(show), False) for label, show in _cost_rows(compared, most, several)]
    return table


def _server(design: DesignAnswer) -> str:
    """Server with its maker and what it carries: 'Supermicro AS-8125GS-TNHR, 8 × H100 SXM 80 GB'."""
    platform = design.platform
    return f"{with_vendor(platform.server)}, {platform.gpus_per_server} × {platform.gpu.name}"


def _of(show: _Show) -> Callable[[Compared], Value]:
    return lambda one: show(one.result.design)


def _cost_rows(designs: Sequence[DesignAnswer], most: DesignAnswer, several: bool) -> list[tuple[str, _Show]]:
    """Price by what it buys."""

    def per_rate(number: int) -> _Show:
        return lambda one: _price(
            one, float(one.workloads[number].throughput.value) if number < len(one.workloads) else 0.0
        )

    rates = [
        (f"Price per {words.sample_unit(answer.dnn)}{f', workload {number + 1}' if several else ''}", per_rate(number))
        for number, answer in enumerate(most.workloads)
        if len({words.sample_unit(one.workloads[number].dnn) for one in designs if number < len(one.workloads)}) == 1
    ]
    return [("Price per GPU", lambda one: _price(one, one.n_gpus)), *rates]


def _marked(values: Sequence[Value], baseline: int, *, is_count: bool) -> list[Cell]:
    """Cells with the difference to the baseline behind the value."""
    base = values[baseline]
    cells = []
    for index, value in enumerate(in_one_unit(values)):
        mark = "" if index == baseline else value_difference(value, base, is_count)
        cells.append(Cell(f"{value.text} ({mark})" if mark else value.text, is_muted=value.text == _NONE))
    return cells


def _rate_of(number: int, is_named: bool = False) -> _Show:
    """Rate or time to train of one workload, behind the name of its network where these differ."""

    def show(design: DesignAnswer) -> Value:
        if number >= len(design.workloads):
            return Value(_NONE)
        answer = design.workloads[number]
        if not answer.rate_is_predicted:
            return Value(NOT_PREDICTED)
        of = f"{answer.dnn.id} {answer.sample_bytes} {_rate_label(answer)}"
        if _is_timed(answer) and answer.time is not None:
            value = Value.estimated(answer.time.total_s, "s", of)
        else:
            value = Value.estimated(answer.throughput, words.sample_unit(answer.dnn), of)
        name = f"{answer.dnn.name}: " if is_named else ""
        return replace(value, text=name + value.text, name=name)

    return show


def _limit_of(number: int) -> _Show:
    def show(design: DesignAnswer) -> Value:
        if number >= len(design.workloads):
            return Value(_NONE)
        return Value(STAGES[design.workloads[number].bottleneck], is_text=True)

    return show


def _is_timed(answer: WorkloadAnswer) -> bool:
    return answer.workload.target.time_to_train_s is not None


def _rate_label(answer: WorkloadAnswer) -> str:
    if _is_timed(answer):
        return "Time to train"
    return "Inference rate" if answer.workload.task == "validation-inference" else "Rate"


def _labelled(what: str, names: Sequence[str], number: int, several: bool) -> str:
    """Label of a row about one of several workloads: its name where all designs call it the same."""
    if not several:
        return what
    return f"{what}, {names[0] if len(set(names)) == 1 else f'workload {number + 1}'}"


def _is_predicted(design: DesignAnswer) -> bool:
    """Whether GPUs of this generation were measured: else no rate is claimed, and no probability."""
    return all(answer.rate_is_predicted for answer in design.workloads)


def _chance(design: DesignAnswer) -> Value:
    asked = "; ".join(target_text(answer.workload, answer.dnn) for answer in design.workloads)
    if not _is_predicted(design):
        return Value(words.NOT_KNOWN)
    return Value(words.chance(design.probability), design.probability, is_share=True, of=asked)


def _count(design: DesignAnswer, field: str) -> Value:
    number = float(getattr(design.quantities, field)[0])
    return Value.count(number, f"{number:g}")


def _power(field: str) -> _Show:
    def show(design: DesignAnswer) -> Value:
        watts = float(getattr(design.quantities, field)[0])
        return Value.amount(watts, "W", is_bound=bool(design.quantities.unknown_power))

    return show


def _weight(design: DesignAnswer) -> Value:
    kilograms, is_bound = float(design.quantities.weight_kg[0]), bool(design.quantities.unknown_weight)
    return Value(at_least(is_bound, f"{grouped(kilograms)}{NARROW_SPACE}kg"), kilograms)


def _usable(design: DesignAnswer) -> Value:
    size = design.usable_bytes
    return Value.amount(size, "B") if size > 0 else Value(words.NOT_PUBLISHED)


def _price(design: DesignAnswer, parts: float = 1.0) -> Value:
    """The budgetary price, or that of one of so many parts; ranges that overlap differ by nothing that is known."""
    bill, cost = design.bill, design.cost
    if parts <= 0:
        return Value(words.TO_BE_QUOTED)
    text = price_range_text(design, parts)
    if bill.is_complete:
        return Value(text, float(bill.total) / parts)
    if cost is None or not math.isfinite(cost.high):
        return Value(text)
    low, expected, high = (np.asarray(amount / parts) for amount in (cost.low, cost.expected, cost.high))
    return Value(text, float(expected), Estimate(expected, low, high))


def _counts(bill: Bill) -> dict[tuple[str, str], int]:
    """Pieces of every item by category and name: a name stands for an item on pages."""
    counts: dict[tuple[str, str], int] = {}
    for line in bill.lines:
        key = (line.category, with_maker(line.manufacturer, line.description))
        counts[key] = counts.get(key, 0) + line.quantity
    return counts


def column_heads(designs: Sequence[Compared], baseline: int, first: str = "Figure") -> tuple[Column, ...]:
    """Columns of a comparison: what is compared, then a column a design."""
    share = (100 - _FIRST_WIDTH) // len(designs)
    names = (f"{design.name}, baseline" if index == baseline else design.name for index, design in enumerate(designs))
    heads: list[tuple[str, Align, int]] = [(name, "left", share) for name in names]
    return columns((first, "left", _FIRST_WIDTH), *heads)


def check(designs: Sequence[Compared], baseline: int) -> None:
    """Refuse fewer than two designs, more than four, and a baseline that is none of them."""
    if not 2 <= len(designs) <= MOST:
        raise ValueError(f"2 to {MOST} designs are compared, got {len(designs)}")
    if not 0 <= baseline < len(designs):
        raise ValueError(f"the baseline must be one of the {len(designs)} designs, got place {baseline}")


NOT_STATED = "not stated"
# From here on thousands are grouped.
_LARGE = 1e4
_Path = tuple[str, ...]
# Headings of a request; what the terms of its quote change shows in the prices.
_HEADING = ("schema_version", "quote", "title", "customer", "date")


def request_table(
    designs: Sequence[Compared], baseline: int, label_of: Callable[[str], str], name_of: Callable[[str], str]
) -> Table | None:
    """Fields in which the requests differ; None where they ask for the same.

    ``label_of``: label of a field by its name in a request. ``name_of``: name of a catalogue item by its id; other
    words come back as they are.
    """
    check(designs, baseline)
    asked = [dict(_fields(_told(design.result))) for design in designs]
    rows = []
    for path in dict.fromkeys(path for fields in asked for path in fields):
        values = [value_text(path[-1], fields.get(path), name_of) for fields in asked]
        if len(set(values)) > 1:
            cells = [_asked(value, values[baseline], index == baseline) for index, value in enumerate(values)]
            label = label_of(path[-1])
            rows.append(
                row((f"{label}, workload {path[1]}" if path[0] == "workload" and path[1] != "1" else label), *cells)
            )
    if not rows:
        return None
    return Table(
        "comparison-request",
        "Fields in which the requests differ",
        column_heads(designs, baseline, "Field"),
        tuple(rows),
    )


def _told(result: SizingResult) -> dict[str, Any]:
    data = result.asked_request.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in data.items() if key not in _HEADING}


def _fields(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Fields of a request with their places; tables below the list of workloads carry its number."""
    if isinstance(value, Mapping) and not (path and path[0] == "existing"):
        for key, part in value.items():
            yield from _fields(part, (*path, str(key)))
    elif path == ("workload",):
        for number, part in enumerate(value, start=1):
            yield from _fields(part, (*path, str(number)))
    else:
        yield path, value


def value_text(field: str, value: Any, name_of: Callable[[str], str]) -> str:
    """Value of a field with its unit, from a request with every default."""
    if value in (None, [], {}):
        return NOT_STATED
    if isinstance(value, Mapping):
        return ", ".join(f"{name_of(str(key))}: {value_text(str(key), part, name_of)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(value_text(field, part, name_of) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return name_of(str(value))
    if field == "samples_per_s":
        return f"{significant(value, 4)} samples/s"
    if field == "confidence":
        return words.percent(value)
    if field == "tokens_per_s":
        return f"{significant(value, 4)} tokens/s"
    units = (("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_flop", "FLOP"), ("_w", "W"))
    unit = next((unit for ending, unit in units if field.endswith(ending)), "")
    if unit:
        return si(value, unit, 4)
    if field == "tokens":
        return tokens_text(value)
    if field.endswith("_s"):
        return duration(value)
    return plain(value) if value < _LARGE else significant(value, 6)


def _asked(value: str, base: str, is_base: bool) -> Cell:
    text = value if is_base or value != base or value == NOT_STATED else f"{value} ({SAME})"
    return Cell(text, is_muted=value == NOT_STATED)


_NAME_PX, _ROW_PX = 170, 36
_ROOM = 1.6  # length of the axis by the longest bar: the prices stand behind the bars


def price_chart(
    designs: Sequence[Compared], baseline: int, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Expected price of each design with its range; None where a price is missing or they are in several currencies."""
    costs = [design.result.design.cost for design in designs]
    known = [cost for cost in costs if cost is not None and math.isfinite(cost.high)]
    if len(known) < len(designs) or len({cost.currency for cost in known}) > 1:
        return None
    rows: Rows = [
        {
            "name": "\n".join(wrapped(design.name, CHART_LABEL_PX, _NAME_PX, max_lines=2)),
            **{key: getattr(cost, key) / 1e3 for key in ("low", "expected", "high")},
            "text": price_range_text(design.result.design),
            "colour": palette.accent if index == baseline else palette.other,
        }
        for index, (design, cost) in enumerate(zip(designs, known, strict=True))
    ]
    scale = alt.Scale(domain=[0, _ROOM * max(row["high"] for row in rows)], nice=False)
    names = alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=_NAME_PX, domain=False, ticks=False)
    base = chart_of(rows).encode(y=alt.Y("name:N", sort=None, title=None, axis=names))
    bars = base.mark_bar(strokeWidth=1, height=alt.RelativeBandSize(0.6), fillOpacity=0.35).encode(
        x=alt.X("expected:Q", scale=scale, axis=axis(grid=False), title=f"price, thousand {known[0].currency}"),
        color=alt.Color("colour:N", scale=None),
        stroke=alt.Stroke("colour:N", scale=None),
        tooltip=["name:N", "text:N"],
    )
    ranges = base.mark_rule(strokeWidth=1.2, color=palette.ink).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    texts = base.mark_text(align="left", dx=6).encode(x=alt.X("high:Q", scale=scale), text="text:N")
    least = min(zip(known, designs, strict=True), key=lambda pair: pair[0].expected)
    finding = f"{least[1].name} is expected to cost least"
    if any(cost.low < least[0].high for cost in known if cost is not least[0]):
        finding += "; the ranges overlap"
    return finish([bars, ranges, texts], finding, palette, width, _ROW_PX * len(rows))
