"""The slides in the middle: architecture, data path with its bottleneck, racks and power."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from sizer.base.quantities import NARROW_SPACE, grouped, si
from sizer.catalog.labels import fact_value
from sizer.catalog.model import Catalog
from sizer.deck.blocks import (
    BODY,
    Block,
    ChartBlock,
    ChartRole,
    DrawingBlock,
    KeyFigure,
    KeyFigures,
    LineChart,
    Paragraphs,
    Series,
    Slide,
    SlideColumn,
    TableBlock,
    drop_line,
    notes,
)
from sizer.deck.native import scale_in
from sizer.drawings.cluster import Cluster, many
from sizer.drawings.datapath import datapath
from sizer.drawings.racks import ROLES, RackKind, is_unknown, rack_kinds, up_to, watts, weight_text
from sizer.drawings.room import room
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, wrapped
from sizer.drawings.topology import topology
from sizer.guide.chapters.architecture import building_block, network_sections
from sizer.guide.context import GuideContext
from sizer.physical.plan import PlacedDevice, Plan
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.charting import BandChart
from sizer.present.facility_tables import facility_table
from sizer.present.performance_tables import models_table
from sizer.present.serving_charts import memory_drawing, serving_charts
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.decisions import rack_texts, rack_trade_off
from sizer.present.text.stages import next_bottleneck, stage_finding
from sizer.sizing.design.decisions import RackChoice, RackLimit
from sizer.sizing.result import STAGES, WorkloadAnswer

# Points a pixel below which the small type of a drawing is too small to be read from the back of a room.
_LEAST_SCALE = 1.0
# Kinds of rack that fit next to a text, the width that they then share and the height that the units of one do.
_FEW_KINDS, _FEW_W, _FEW_UNITS_H = 2, 460.0, 324.0
# Kinds of rack side by side at most, and the number from which the names are below the racks instead of next to them.
MAX_KINDS = 8
_MAX_WIDE = 4
_WIDTH, _GAP = 880.0, 24.0
_UNIT, _LOW_UNIT, _POST = 6.0, 4.6, 2.0
_FACE_W, _TEXT_GAP = 64.0, 10.0
_HEAD_H, _LEADING, _SIZE = 42.0, 15.0, 12.6
_EDGE, _FILL = 3.0, 0.3
_TEXT_DROP = 3.8  # of a baseline below the middle of its line


def rack_contents(plan: Plan, catalog: Catalog) -> Drawing:
    """One rack of each kind, at most eight: its blocks of devices, units and draw. The title is the heaviest load."""
    kinds = rack_kinds(plan.racks)
    shown = kinds[:MAX_KINDS]
    is_wide = len(shown) <= _MAX_WIDE
    tallest = max(kind.first.height_u for kind in shown)
    unit = _UNIT if is_wide else _LOW_UNIT
    pitch = (_WIDTH + _GAP) / len(shown)
    if len(shown) <= _FEW_KINDS:
        unit, pitch = _FEW_UNITS_H / tallest, (_FEW_W + _GAP) / _FEW_KINDS
    head = _HEAD_H if is_wide else _HEAD_H + _LEADING
    floor = head + tallest * unit + 2 * _POST
    boxes: list[Box] = []
    bars: list[FilledBar] = []
    labels: list[Label] = []
    for index, kind in enumerate(shown):
        x, room = index * pitch, pitch - _GAP
        top = floor - _POST - kind.first.height_u * unit
        labels += _head(kind, x, top - head, room, is_wide=is_wide)
        bars += _frame(x, top, floor)
        blocks = list(_blocks(kind, x, floor, unit))
        boxes += [box for box, _ in blocks]
        bars += [bar for box, run in blocks for bar in _faces(box, run)]
        if is_wide:
            labels += _beside(blocks, x + _FACE_W + _TEXT_GAP, room - _FACE_W - _TEXT_GAP, catalog)
        else:
            labels += _below([run for _, run in blocks], x, floor, room, catalog)
    width = pitch * len(shown) - _GAP
    bottom = max([floor, *(label.y for label in labels)]) + 4
    return Drawing(width, bottom, _title(kinds, plan), tuple(boxes), (), tuple(bars), tuple(labels))


def _title(kinds: Sequence[RackKind], plan: Plan) -> str:
    most = max(plan.racks, key=lambda rack: rack.max_w)
    hidden = sum(len(kind.racks) for kind in kinds[MAX_KINDS:])
    more = f"; {hidden} further racks are not drawn" if hidden else ""
    return f"{most.name} draws most, {up_to(most.max_w, most.has_unknown_power)}{more}"


def _head(kind: RackKind, x: float, y: float, width: float, *, is_wide: bool) -> Iterator[Label]:
    rack, count = kind.first, len(kind.racks)
    title = f"{kind.names}: {count} equal racks" if count > 1 and is_wide else kind.names
    draw = watts(rack.max_w, rack.has_unknown_power)
    if is_wide and not is_unknown(rack.max_w, rack.has_unknown_power):
        draw = f"{draw} maximum"
    used = sum(device.height_u for device in rack.devices)
    each = " each" if count > 1 else ""
    units = f"{grouped(used)} of {rack.height_u}{NARROW_SPACE}U"
    facts = [f"{units}, {draw}{each}"] if is_wide else [units, f"{draw}{each}"]
    yield Label(x, y + 12, wrapped(title, _SIZE + 1, width, semibold=True, max_lines=1)[0], _SIZE + 1, semibold=True)
    for number, fact in enumerate(facts):
        text = wrapped(fact, _SIZE, width, max_lines=1)[0]
        yield Label(x, y + 28 + number * _LEADING, text, _SIZE, "muted")


def _frame(x: float, top: float, floor: float) -> Iterator[FilledBar]:
    """Posts, top and bottom."""
    height = floor - top + _POST
    yield FilledBar(x, top - _POST, _POST, height, "muted")
    yield FilledBar(x + _FACE_W - _POST, top - _POST, _POST, height, "muted")
    yield FilledBar(x, top - _POST, _FACE_W, _POST, "muted")
    yield FilledBar(x, floor - _POST, _FACE_W, _POST, "muted")


def _blocks(kind: RackKind, x: float, floor: float, unit: float) -> Iterator[tuple[Box, tuple[PlacedDevice, ...]]]:
    """Runs of equal devices, from the top down; each device keeps its own outline."""
    devices = sorted(kind.first.devices, key=lambda device: -device.unit)
    for _, group in groupby(devices, key=lambda device: (device.item, device.status)):
        run = tuple(group)
        lowest, highest = run[-1].unit, run[0].unit + run[0].height_u - 1
        height = (highest - lowest + 1) * unit
        y = floor - _POST - highest * unit
        name = f"{kind.first.name} U{lowest}"
        role = ROLES[run[0].category]
        yield (
            Box(name, x + _POST, y, _FACE_W - 2 * _POST, height, "", (), role, small=True),
            run,
        )


def _faces(box: Box, run: Sequence[PlacedDevice]) -> Iterator[FilledBar]:
    """Every device of a block in the colour of its role."""
    height = box.height / len(run)
    for index in range(len(run)):
        y = box.y + index * height
        yield FilledBar(box.x + _EDGE, y + 0.5, box.width - _EDGE, height - 1, box.role, _FILL)


def _beside(
    blocks: Sequence[tuple[Box, tuple[PlacedDevice, ...]]], x: float, width: float, catalog: Catalog
) -> Iterator[Label]:
    """Number and name of each block, level with it, as far as the line above leaves room; the last stays inside."""
    texts = [_text(run, width, catalog) for _, run in blocks]
    middles = [box.y + box.height / 2 for box, _ in blocks]
    # From the bottom up, then from the top down, so that no line leaves the rack or meets another.
    limit = blocks[-1][0].bottom if blocks else 0.0
    for index in range(len(middles) - 1, -1, -1):
        middles[index] = min(middles[index], limit)
        limit = middles[index] - _LEADING
    last = -_LEADING
    for middle, text in zip(middles, texts, strict=True):
        last = max(middle, last + _LEADING)
        yield Label(x, last + _TEXT_DROP, text, _SIZE)


def _below(
    runs: Sequence[Sequence[PlacedDevice]], x: float, floor: float, width: float, catalog: Catalog
) -> Iterator[Label]:
    """What a rack holds, kind by kind from the top down, below it."""
    devices = [device for run in runs for device in run]
    kinds = dict.fromkeys((device.item, device.status) for device in devices)
    for number, kind in enumerate(kinds, 1):
        alike = [device for device in devices if (device.item, device.status) == kind]
        yield Label(x, floor + 2 + number * _LEADING, _text(alike, width, catalog), _SIZE)


def _text(run: Sequence[PlacedDevice], width: float, catalog: Catalog) -> str:
    text = many(len(run), catalog.item(run[0].item).name)
    if run[0].status == "existing":
        text = f"{text}, at hand"
    return wrapped(text, _SIZE, width, max_lines=1)[0]


def architecture(context: GuideContext) -> Slide | None:
    """Every kind of device with its links; None where there are none."""
    drawing = topology(context.design)
    if not drawing.links:
        return None
    block = building_block(context)
    columns: tuple[SlideColumn, ...] = (SlideColumn((DrawingBlock(drawing),)),)
    if scale_in(drawing, BODY) < _LEAST_SCALE:
        drawing = topology(context.design, is_low=True)
        rest = tuple(_management(context))
        if scale_in(drawing, BODY) < _LEAST_SCALE:
            columns = (
                SlideColumn((DrawingBlock(drawing),), 72),
                SlideColumn((Paragraphs((*block, *rest), largest=14.0),), 28),
            )
        elif rest:
            columns = (SlideColumn((DrawingBlock(drawing), Paragraphs(rest, role="muted", largest=12.0))),)
    networks = [f"{title}: {text}" for title, text in network_sections(context.design, context.catalog)]
    return Slide(
        topic="Logical architecture",
        title=words.capital(Cluster(context.design).fabric_text()) or drawing.title,
        columns=columns,
        notes=notes(context, [*block, *networks]),
    )


def _management(context: GuideContext) -> Iterator[str]:
    """The networks that the drawing leaves out."""
    for role in (NetworkRole.IN_BAND, NetworkRole.MANAGEMENT):
        net = Cluster(context.design).network(role)
        if net is not None and int(net.ports_used[0]):
            switches = result_text.network_switches(net, context.catalog)
            yield f"Not drawn: the {role} network, {words.plural(int(net.ports_used[0]), 'port')} on {switches}."


def data_path(context: GuideContext) -> Slide | None:
    """The stages of the first workload that reads data, with a table of several; of models in use, rate and time."""
    first = next((answer for answer in context.answers if answer.kind.reads_data), context.answers[0])
    if context.only_serves:
        return _in_use(context)
    drawing = datapath(context.design, first, words.sample_unit(first.dnn))
    below: Block = TableBlock(_bottlenecks(context))
    if not context.has_many_workloads:
        epochs = [result_text.cold_epoch(first)] if first.time is not None else []
        below = Paragraphs((*result_text.reason(context.result), *epochs))
    sources = [key for answer in context.answers for stage in answer.stages for key in stage.sources]
    name = f"{words.shortened(first.workload.name)}: " if context.has_many_workloads else ""
    return Slide(
        topic="Data path and bottleneck",
        title=f"{name}{stage_finding(first)}",
        columns=(SlideColumn((DrawingBlock(drawing), below)),),
        notes=notes(context, result_text.reason(context.result), sources),
    )


def _in_use(context: GuideContext) -> Slide | None:
    """Output of a GPU by the time between tokens; of several models, what each serves. None of embeddings alone."""
    reasons = result_text.reason(context.result)
    if context.has_many_workloads:
        title = f"{words.capital(words.spelled(len(context.answers)))} models in use at the same time"
        table = SlideColumn((TableBlock(models_table(context.answers)),))
        return Slide("Rate and latency", title, (table,), notes=notes(context, reasons))
    chart = _charts(context).get("load")
    if chart is None:
        return None
    column = SlideColumn((ChartBlock(line_chart(chart), chart.how),))
    return Slide("Rate and latency", chart.finding, (column,), notes=notes(context, reasons))


def capacity(context: GuideContext) -> Slide | None:
    """What more servers would serve, what the tokens cost, and what fills a GPU; None but of one model in use."""
    if not context.only_serves or context.has_many_workloads:
        return None
    found, memory = _charts(context), memory_drawing(context.answers[0])
    assert memory is not None  # it is a model in use
    first = found["capacity"]
    blocks: tuple[SlideColumn, ...] = (SlideColumn((ChartBlock(line_chart(first)), DrawingBlock(memory))),)
    if (cost := found.get("cost")) is not None:
        blocks = tuple(SlideColumn((ChartBlock(line_chart(one), one.finding),), 50) for one in (first, cost))
    spoken = [*result_text.reason(context.result), memory.title]
    return Slide("Capacity", first.finding, blocks, notes=notes(context, spoken))


def _charts(context: GuideContext) -> dict[str, BandChart]:
    asked = context.result.request.ownership
    return {data.id: data for data in serving_charts(context.design, context.answers[0], asked)}


# Points of a curve at least: LibreOffice drops a first series that is shorter than a later one.
_LEAST_POINTS = 4


def line_chart(data: BandChart) -> LineChart:
    """A chart of the documents as a native one."""
    places = [row["x"] for row in data.rows]
    least = max(len(data.published), _LEAST_POINTS)
    at = places
    if len(places) < least:
        at = sorted({*places, *np.linspace(places[0], places[-1], least).tolist()})

    def line(name: str, key: str, role: ChartRole) -> Series:
        values = np.interp(at, places, [row[key] for row in data.rows])
        return Series(name, tuple(zip(at, values.tolist(), strict=True)), role)

    level = None if data.level is None else data.level[0]
    series = [
        line("Expected", "value", "expected"),
        line("90 % interval, low", "low", "interval"),
        line("90 % interval, high", "high", "interval"),
        Series("This design", drop_line(*data.design, level), "design", data.label),
    ]
    if data.level is not None:
        value, label = data.level
        series.append(Series("Target", ((0.0, value), (places[-1], value)), "target", label))
    if data.published:
        series.append(Series("Published runs", tuple((x, y) for x, y, _ in data.published), "published"))
    return LineChart(tuple(series), data.x_title, data.y_title, "gpu")


def _bottlenecks(context: GuideContext) -> Table:
    return record_table(
        "bottlenecks",
        "Bottleneck of each workload",
        context.answers,
        [
            Field("Workload", lambda answer: answer.workload.name, width=26),
            Field(
                "Throughput",
                lambda answer: words.estimate(answer.throughput, words.sample_unit(answer.dnn)),
                "right",
                26,
            ),
            Field("Bottleneck", lambda answer: Cell(STAGES[answer.bottleneck], stage=answer.bottleneck), width=20),
            Field("Next bottleneck", _following, width=28),
        ],
    )


def _following(answer: WorkloadAnswer) -> str:
    following = next_bottleneck(answer)
    if following is None:
        return "none"
    ratio = float(following.capacity.value) / float(answer.throughput.value)
    return f"{STAGES[following.key]}, {words.headroom(ratio)}"


def racks(context: GuideContext) -> Slide | None:
    """The racks with what stands in them, and what the room must supply; None of a workstation at a desk."""
    design = context.design
    if design.is_workstation:
        return None
    plan = design.plan
    counts = design.quantities
    some_weight = any(rack.has_unknown_weight for rack in plan.racks)
    weight = weight_text(sum(rack.weight_kg for rack in plan.racks), some_weight)
    count = counts.n_racks
    figures = (
        KeyFigure(grouped(count), words.plural_of(count, "rack")),
        KeyFigure(fact_value(float(counts.rack_units[0]), "U"), "rack units in use"),
        KeyFigure(result_text.power(design), "maximum power"),
        KeyFigure(result_text.power(design, "typical"), "typical power"),
        KeyFigure(weight, "with racks, without PDUs and cables"),
    )
    reasons = rack_texts(context.decisions.racks)
    block = DrawingBlock(_rack_drawing(context))
    top: KeyFigures | None = KeyFigures(figures)
    columns: tuple[SlideColumn, ...] = (SlideColumn((block,)),)
    if len(rack_kinds(plan.racks)) <= _FEW_KINDS:
        # A few racks leave room for what the room must supply, the key figures among it.
        facility = TableBlock(facility_table(context.result, context.catalog))
        top, columns = None, (SlideColumn((block,), 54), SlideColumn((facility,), 46))
    return Slide(
        topic="Racks and power",
        title=_racks_finding(context.decisions.racks, reasons),
        top=top,
        columns=columns,
        notes=notes(context, [*reasons, words.sentence(rack_trade_off(context.decisions.racks))]),
    )


def _racks_finding(choice: RackChoice, reasons: list[str]) -> str:
    """What decides the number of racks."""
    if choice.n_delivered:
        found = _racks_finding(replace(choice, n_delivered=0), reasons)
        return f"{words.plural(choice.n_delivered, 'rack')} delivered with contents, {words.inside_sentence(found)}"
    racks = words.plural(choice.n_racks, "rack")
    if choice.limit is RackLimit.POWER:
        most = si(choice.rack_w, "W")
        if choice.is_limited_by_request:
            return f"{words.capital(racks)}: the limit of {most} per rack decides, not space"
        return f"{words.capital(racks)}: power decides, not space; the feeds of a rack carry {most}"
    if choice.limit is RackLimit.UNITS:
        return f"{words.capital(racks)}: space decides, {grouped(choice.used_units)} U are used"
    if choice.limit is RackLimit.PLACEMENT and choice.n_for_power is not None:
        return f"{words.capital(racks)}: the power of each rack and kinds that stay together decide, not space"
    return reasons[0].rstrip(".")


def _rack_drawing(context: GuideContext) -> Drawing:
    """What stands in each kind of rack; the room from above where there are many kinds."""
    plan = context.design.plan
    return rack_contents(plan, context.catalog) if len(rack_kinds(plan.racks)) <= MAX_KINDS else room(plan)
