"""The slides in the middle: architecture, data path with its bottleneck, racks and power."""

from collections.abc import Iterator

from sizer.base.quantities import grouped, si
from sizer.catalog.labels import fact_value
from sizer.deck.blocks import (
    BODY,
    Block,
    DrawingBlock,
    KeyFigure,
    KeyFigures,
    Paragraphs,
    Slide,
    SlideColumn,
    TableBlock,
)
from sizer.deck.drawing_shapes import scale_in
from sizer.deck.notes import notes
from sizer.deck.rack_contents import MAX_KINDS, rack_contents
from sizer.drawings.cluster import Cluster
from sizer.drawings.datapath import datapath
from sizer.drawings.racks import rack_kinds, weight_text
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import grouped_topology, topology
from sizer.guide.chapters.architecture import network_sections
from sizer.guide.chapters.overview import building_block
from sizer.guide.context import GuideContext
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.charts import next_bottleneck, stage_finding
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.decisions import rack_texts, rack_trade_off
from sizer.sizing.design.decisions import RackChoice, RackLimit
from sizer.sizing.result import STAGES, WorkloadAnswer

# Points a pixel below which the small type of a drawing is too small to be read from the back of a room.
_LEAST_SCALE = 1.0
# Kinds of rack that fit next to a text.
_FEW_KINDS = 2


def architecture(context: GuideContext) -> Slide:
    """Every device, or every kind of device of a large cluster, with its links."""
    drawing = topology(context.design)
    block = building_block(context)
    columns: tuple[SlideColumn, ...] = (SlideColumn((DrawingBlock(drawing),)),)
    if scale_in(drawing, BODY) < _LEAST_SCALE:
        drawing = grouped_topology(Cluster(context.design), is_low=True)
        rest = tuple(_management(context))
        if scale_in(drawing, BODY) < _LEAST_SCALE:
            columns = (
                SlideColumn((DrawingBlock(drawing),), 72),
                SlideColumn((Paragraphs((*block, *rest), largest=14.0),), 28),
            )
        elif rest:
            columns = (SlideColumn((DrawingBlock(drawing), Paragraphs(rest, role="muted", largest=12.0))),)
    networks = [f"{section.title}: {' '.join(section.texts)}" for section in network_sections(context)]
    return Slide(
        topic="Logical architecture",
        title=drawing.title,
        columns=columns,
        notes=notes(context, [*block, *networks]),
    )


def _management(context: GuideContext) -> Iterator[str]:
    """The network that the drawing leaves out."""
    net = Cluster(context.design).network(NetworkRole.MANAGEMENT)
    if net is not None and int(net.ports_used[0]):
        switches = result_text.network_switches(net, context.catalog)
        yield f"Not drawn: the management network, {words.plural(int(net.ports_used[0]), 'port')} on {switches}."


def data_path(context: GuideContext) -> Slide:
    """The stages of the first workload; a table where there are several."""
    first = context.answers[0]
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


def racks(context: GuideContext) -> Slide:
    """The racks with what stands in them, and what the room must supply."""
    design = context.design
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
        KeyFigure(weight, "weight without PDUs and cables"),
    )
    reasons = rack_texts(context.decisions.racks)
    block = DrawingBlock(_rack_drawing(context))
    columns: tuple[SlideColumn, ...] = (SlideColumn((block,)),)
    if len(rack_kinds(plan.racks)) <= _FEW_KINDS:
        # A few racks leave room for the reasons.
        texts = (*reasons, words.sentence(rack_trade_off(context.decisions.racks)))
        columns = (SlideColumn((block,), 64), SlideColumn((Paragraphs(texts, largest=14.0),), 36))
    return Slide(
        topic="Racks and power",
        title=_racks_finding(context.decisions.racks, reasons),
        top=KeyFigures(figures),
        columns=columns,
        notes=notes(context, reasons),
    )


def _racks_finding(choice: RackChoice, reasons: list[str]) -> str:
    """What decides the number of racks."""
    racks = words.plural(choice.n_racks, "rack")
    if choice.limit is RackLimit.POWER:
        most = si(choice.rack_w, "W")
        if choice.is_limited_by_request:
            return f"{words.capital(racks)}: the limit of {most} per rack decides, not space"
        return f"{words.capital(racks)}: power decides, not space; the feeds of a rack carry {most}"
    if choice.limit is RackLimit.UNITS:
        return f"{words.capital(racks)}: space decides, {grouped(choice.used_units)} U are used"
    if choice.limit is RackLimit.PLACEMENT and choice.n_for_power is not None:
        return f"{words.capital(racks)}: placed whole, one kind after another, the devices take more than their units"
    return reasons[0].rstrip(".")


def _rack_drawing(context: GuideContext) -> Drawing:
    """What stands in each kind of rack; the room from above where there are many kinds."""
    plan = context.design.plan
    return rack_contents(plan, context.catalog) if len(rack_kinds(plan.racks)) <= MAX_KINDS else room(plan)
