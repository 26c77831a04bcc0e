"""Everything that the guide says, prepared: templates hold no arithmetic and choose no words."""

from dataclasses import dataclass, field

from sizer.base.quantities import grouped
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name
from sizer.drawings.datapath import datapath
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.physical.growth import growth
from sizer.report import charts, prose, words
from sizer.report.bill_tables import bill_table, component_table
from sizer.report.component_tables import Component, components
from sizer.report.evidence_answer import answer_parity_chart
from sizer.report.facility_tables import cables_table, facility_table, racks_table
from sizer.report.growth_table import growth_table
from sizer.report.performance_tables import (
    evidence_table,
    figures_table,
    platforms_table,
    ruled_out_table,
    stage_table,
    time_table,
)
from sizer.report.request_tables import (
    assumptions_table,
    checks_table,
    conditions_table,
    control_table,
    networks_table,
    numbers_table,
    requirement_table,
)
from sizer.report.tables import Table
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer

_EVIDENCE_PX = 280


@dataclass(frozen=True)
class Figure:
    """A drawing or chart with its caption. The drawing carries its own spoken text."""

    id: str
    caption: str
    svg: str
    is_wide: bool = False  # takes a landscape page


@dataclass(frozen=True)
class Section:
    """A chapter with its number, or the letter of an appendix, and the template that prints it."""

    number: str
    id: str
    title: str

    @property
    def template(self) -> str:
        """File under ``reports/``."""
        return f"sections/{self.id}.html"


@dataclass(frozen=True)
class WorkloadPart:
    """One workload in the chapter on performance."""

    answer: WorkloadAnswer
    unit: str
    verdict: str
    limit: str
    stages: Table
    figures: Table
    stage_chart: Figure
    scaling_chart: Figure | None
    time: Table | None
    time_chart: Figure | None
    cold_epoch: str
    measured: str
    evidence: Table | None
    evidence_chart: Figure | None
    width: str  # what the interval of the GPUs' rate consists of
    doubts: list[str]


@dataclass(frozen=True)
class Guide:
    """What the templates see as ``guide``."""

    title: str
    kicker: str
    customer: str
    date: str
    iso_date: str
    stamp: str
    design_name: str
    needs_cluster: bool
    verdict: str
    reasons: list[str]
    doubts: list[str]
    advice: list[str]
    open_prices: str
    key_figures: list[tuple[str, str]]
    control: Table
    numbers: Table
    topology: Figure
    racks: Table
    rack_fronts: list[Figure]
    room: Figure | None
    facility: Table
    growth: Table
    cables: Table | None
    plan_warnings: list[str]
    datapath: list[Figure]
    requirements: list[Table]
    conditions: Table
    checks: Table | None
    devices: Table
    networks: Table | None
    gateway_arithmetic: str
    components: list[Component]
    workloads: list[WorkloadPart]
    platforms: Table | None
    selection: str
    neighbours: str
    judged: str
    ruled_out: Table | None
    pareto: Figure | None
    deciding: list[str]
    bill: Table
    bill_warnings: list[str]
    assumptions: Table | None
    questions: list[str]
    warnings: list[str]
    sections: list[Section] = field(default_factory=list)

    def section(self, id_: str) -> Section:
        """Chapter by its id, for references."""
        return next(section for section in self.sections if section.id == id_)


def guide(result: SizingResult, catalog: Catalog) -> Guide:
    """Everything that the guide about one result says."""
    design, request = result.design, result.request
    bill = design.bill
    plan_warnings = [words.sentence(text) for text in design.plan.warnings]
    return Guide(
        title=request.title,
        kicker="Reference architecture" if result.needs_cluster else "Sizing advice",
        customer=request.customer,
        date=words.date(request.date),
        iso_date=request.date.isoformat() if request.date is not None else "",
        stamp=f"Catalogue {result.catalog_digest[:8]} · calibration {result.calibration_digest[:8]}",
        design_name=design.name,
        needs_cluster=result.needs_cluster,
        verdict=words.sentence(result.verdict),
        reasons=prose.reason(design),
        doubts=prose.doubt(result),
        advice=[words.sentence(text) for text in result.advice],
        open_prices=prose.open_prices(bill),
        key_figures=_key_figures(result),
        control=control_table(result),
        numbers=numbers_table(result),
        topology=_topology(design),
        racks=racks_table(design.plan),
        rack_fronts=_rack_fronts(design, catalog),
        room=_room(design),
        facility=facility_table(result, catalog),
        growth=growth_table(growth(design.plan)),
        cables=cables_table(design.plan, catalog),
        plan_warnings=plan_warnings,
        datapath=[
            Figure(
                f"datapath-{number}",
                f"The way of one {answer.dnn.sample} of “{answer.workload.name}”: what each stage could pass, "
                "and how busy it is.",
                write_svg(datapath(design, answer, words.sample_unit(answer.dnn))),
            )
            for number, answer in enumerate(design.workloads, 1)
        ],
        requirements=[
            requirement_table(answer, number, len(design.workloads))
            for number, answer in enumerate(design.workloads, 1)
        ],
        conditions=conditions_table(result, catalog),
        checks=checks_table(result),
        devices=component_table(design, catalog),
        networks=networks_table(result, catalog),
        gateway_arithmetic=prose.gateway_arithmetic(design),
        components=components(design, catalog),
        workloads=[_workload(result, answer, number) for number, answer in enumerate(design.workloads, 1)],
        platforms=platforms_table(result),
        selection=words.sentence(result.selection),
        neighbours=prose.neighbours(result),
        judged=prose.judged(result),
        ruled_out=ruled_out_table(result),
        pareto=_pareto(result),
        deciding=[item_name(item, catalog) for item in result.deciding_prices],
        bill=bill_table(bill, catalog.sources),
        bill_warnings=[words.sentence(text) for text in bill.warnings],
        assumptions=assumptions_table(result),
        questions=[words.question(text) for text in result.questions],
        warnings=[text for text in prose.warnings(result) if text not in plan_warnings],
        sections=_sections(result),
    )


def _sections(result: SizingResult) -> list[Section]:
    """Chapters in order; when no cluster is needed, what is enough leads."""
    alternatives = ("alternatives", "Alternatives" if result.needs_cluster else "Why no cluster is needed")
    order = [
        ("summary", "Summary"),
        ("requirements", "Requirements and conditions"),
        ("architecture", "Architecture"),
        ("facility", "Racks, power and cables"),
        ("components", "Components"),
        ("performance", "Projected performance"),
        ("bill", "Bill of materials"),
        ("assumptions", "Assumptions and open questions"),
        ("sources", "Sources"),
        ("glossary", "Units and terms"),
    ]
    order.insert(6 if result.needs_cluster else 1, alternatives)
    sections = [Section(str(number), id_, title) for number, (id_, title) in enumerate(order, 1)]
    if any(answer.evidence for answer in result.design.workloads):
        sections.append(Section("A", "evidence", "Appendix: measurements behind this design"))
    return sections


def _key_figures(result: SizingResult) -> list[tuple[str, str]]:
    """Four numbers for the cover."""
    design = result.design
    first = design.workloads[0]
    speed = ("throughput", words.rounded(first.throughput, words.sample_unit(first.dnn)))
    if first.time is not None and first.workload.target.time_to_train_s is not None:
        speed = ("time to train", words.rounded(first.time.total_s, "s"))
    return [
        (words.plural_of(design.n_servers, "GPU server"), grouped(design.n_servers)),
        (words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus)),
        speed,
        ("probability of meeting the target", words.percent(design.probability)),
    ]


def _drawn(id_: str, caption: str, drawing: Drawing) -> Figure:
    return Figure(id_, caption, write_svg(drawing), is_wide=drawing.width > COLUMN_PX)


def _topology(design: DesignAnswer) -> Figure:
    """The cluster with how to read the drawing; a single server needs no such help."""
    drawing = topology(design)
    lines = "thicker where faster; dashed lines are management."
    if not any(link.dashed for link in drawing.links):
        caption = ""
    elif any(box.copies > 1 for box in drawing.boxes):
        caption = f"A stack of boxes is one kind of device with its number; a line is a bundle of cables, {lines}"
    else:
        caption = f"Every device under its name in the plan; a line is all cables between two devices, {lines}"
    return _drawn("topology", f"{drawing.title}. {caption}".strip(), drawing)


def _rack_fronts(design: DesignAnswer, catalog: Catalog) -> list[Figure]:
    """Racks from the front; the first figure says how to read them."""
    read = (
        "Unit 1 is the lowest; blanking panels close hatched units. Below each rack stands what a PDU carries while "
        "the other side is lost, and how many of its outlets are taken."
    )
    drawings = rack_fronts(design.plan, catalog)
    return [
        _drawn(f"racks-{number}", f"{drawing.title}. {read if number == 1 else ''}".strip(), drawing)
        for number, drawing in enumerate(drawings, 1)
    ]


def _room(design: DesignAnswer) -> Figure | None:
    """The room from above; one rack alone needs no plan."""
    if len(design.plan.racks) == 1:
        return None
    drawing = room(design.plan)
    caption = f"{drawing.title}. The colour at the left of a rack tells what it mainly holds."
    return _drawn("room", caption, drawing)


def _workload(result: SizingResult, answer: WorkloadAnswer, number: int) -> WorkloadPart:
    design = result.design
    time_chart = charts.time_chart(answer)
    chance, asked = words.percent(answer.probability), words.percent(result.request.confidence)
    met = "meets" if answer.meets_target else "does not meet"
    sizes = answer.scaling.n_gpus.size
    return WorkloadPart(
        answer=answer,
        unit=words.sample_unit(answer.dnn),
        verdict=f"The design {met} the target ({answer.target}) with a probability of {chance}, against {asked} asked.",
        limit=prose.limit(answer, named=False),
        stages=stage_table(answer, number),
        figures=figures_table(answer, number),
        stage_chart=Figure(
            f"stage-chart-{number}",
            "Throughput that each stage could pass. The filled bar limits; thin lines are 90 % intervals; "
            "bars with an arrow are cut.",
            charts.chart_svg(charts.stage_chart(answer)),
        ),
        scaling_chart=Figure(
            f"scaling-chart-{number}",
            "Projected throughput by size, with storage and platform held fixed."
            + (
                " Circles are published runs of this software, listed in the appendix, some on other servers."
                if answer.evidence
                else ""
            ),
            charts.chart_svg(charts.scaling_chart(answer, design.n_gpus)),
        )
        if sizes > 1
        else None,
        time=time_table(answer, number),
        time_chart=None
        if time_chart is None
        else Figure(f"time-chart-{number}", "Where the time of one training goes.", charts.chart_svg(time_chart)),
        cold_epoch=prose.cold_epoch(answer) if answer.time is not None else "",
        measured=prose.measured(answer),
        evidence=evidence_table(answer, number),
        evidence_chart=_evidence_chart(answer, number),
        width=prose.width(answer),
        doubts=[words.sentence(text) for text in answer.warnings],
    )


def _evidence_chart(answer: WorkloadAnswer, number: int) -> Figure | None:
    chart = answer_parity_chart(answer, height=_EVIDENCE_PX)
    if chart is None:
        return None
    caption = (
        "Predicted against published rates of the runs below, with the 90 % interval of each prediction. The band is "
        "± 10 %, the dashed lines are twice and half; a filled mark was published outside its interval."
    )
    return Figure(f"evidence-chart-{number}", caption, charts.chart_svg(chart))


def _pareto(result: SizingResult) -> Figure | None:
    chart = charts.pareto_chart(result)
    if chart is None:
        return None
    return Figure(
        "pareto",
        "Designs that no other one beats in price or size, time, power and rack space together. "
        "The filled mark is the design of this document.",
        charts.chart_svg(chart),
    )
