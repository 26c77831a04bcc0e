"""Everything that the guide says, prepared: templates hold no arithmetic and choose no words."""

from dataclasses import dataclass, field

from sizer.base.quantities import grouped, si
from sizer.catalog.model import Catalog
from sizer.drawings.datapath import datapath
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.report import charts, prose, words
from sizer.report.bill_tables import bill_table, component_table
from sizer.report.component_tables import Component, components
from sizer.report.performance_tables import (
    evidence_table,
    figures_table,
    platforms_table,
    ruled_out_table,
    stage_table,
    time_table,
)
from sizer.report.tables import Cell, Row, Table, columns, item_name, row
from sizer.sizing.result import SizingResult, WorkloadAnswer


@dataclass(frozen=True)
class Figure:
    """A drawing or chart with its caption. The drawing carries its own spoken text."""

    id: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A numbered chapter and the template that prints it."""

    number: int
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
    evidence: Table | None


class Citations:
    """Numbers of the sources: those of the result first, then others as they come up."""

    def __init__(self, catalog: Catalog, keys: tuple[str, ...]) -> None:
        self._catalog = catalog
        self._numbers: dict[str, int] = {}
        for key in keys:
            self.number(key)

    def number(self, key: str) -> int | None:
        """Number of a source, or None for a key that is no document."""
        source = self._catalog.sources.get(key)
        if source is None:
            return None
        return self._numbers.setdefault(source.id, len(self._numbers) + 1)

    def name(self, key: str) -> str:
        """Name of a source that is no document, such as the request itself."""
        return words.name(key.replace("-", " "))

    def table(self) -> Table:
        """All cited documents. The last call of a rendering: what comes up later is missing."""
        rows = []
        for key, number in self._numbers.items():
            source = self._catalog.sources[key]
            text = f"{source.title}. {source.publisher}".rstrip(". ") + "."
            rows.append(row(f"[{number}]", text, source.date or Cell("not dated", is_muted=True), source.grade))
        return Table(
            "sources",
            "Documents that the numbers come from",
            columns(
                ("No.", "left", 7), ("Title and publisher", "left", 68), ("Date", "left", 15), ("Grade", "left", 10)
            ),
            tuple(rows),
            style="sources",
        )


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
        control=_control(result),
        numbers=_numbers(result),
        topology=Figure(
            "topology",
            "The design on one page. A stack of boxes is one kind of device with its number; a line is a bundle of "
            "cables, thicker where faster; dashed lines are management.",
            write_svg(topology(design)),
        ),
        datapath=[
            Figure(
                f"datapath-{number}",
                f"The way of one {answer.dnn.sample} of “{answer.workload.name}”: what each stage could pass, and how busy it is.",
                write_svg(datapath(design, answer, words.sample_unit(answer.dnn))),
            )
            for number, answer in enumerate(design.workloads, 1)
        ],
        requirements=[
            _requirement(answer, number, len(design.workloads)) for number, answer in enumerate(design.workloads, 1)
        ],
        conditions=_conditions(result, catalog),
        checks=_checks(result),
        devices=component_table(design, catalog),
        networks=_networks(result, catalog),
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
        bill=bill_table(bill),
        bill_warnings=[words.sentence(text) for text in bill.warnings],
        assumptions=_assumptions(result),
        questions=[words.question(text) for text in result.questions],
        warnings=list(prose.warnings(result)),
        sections=_sections(result),
    )


def _sections(result: SizingResult) -> list[Section]:
    """Chapters in order; when no cluster is needed, what is enough leads."""
    alternatives = ("alternatives", "Alternatives" if result.needs_cluster else "Why no cluster is needed")
    order = [
        ("summary", "Summary"),
        ("requirements", "Requirements and conditions"),
        ("architecture", "Architecture"),
        ("components", "Components"),
        ("performance", "Projected performance"),
        ("bill", "Bill of materials"),
        ("assumptions", "Assumptions and open questions"),
        ("sources", "Sources"),
        ("glossary", "Units and terms"),
    ]
    order.insert(5 if result.needs_cluster else 1, alternatives)
    return [Section(number, id_, title) for number, (id_, title) in enumerate(order, 1)]


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


def _control(result: SizingResult) -> Table:
    request = result.request
    rows = [
        row("Prepared for", request.customer or Cell("not named", is_muted=True)),
        row("Date", words.date(request.date)),
        row("Status", "budgetary and not binding; performance is projected, not guaranteed"),
        row("Catalogue", Cell(result.catalog_digest[:16])),
        row("Calibration", Cell(result.calibration_digest[:16])),
    ]
    note = "The same request, catalogue and calibration always print this same document."
    return Table("control", "Document control", columns(("", "left", 24), ("", "left", 76)), tuple(rows), note, "plain")


def _numbers(result: SizingResult) -> Table:
    """The answer in ten numbers, a few more with several workloads."""
    design = result.design
    counts = design.quantities
    many = len(design.workloads) > 1
    rows = [
        row(
            words.plural_of(design.n_servers, "GPU server").capitalize().replace("Gpu", "GPU"),
            grouped(design.n_servers),
            design.platform.server.name,
        ),
        row(words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus), design.platform.gpu.name),
        row(
            "Storage",
            prose.storage(design)
            if design.storage_nodes
            else "at hand"
            if design.platform.attachment == "lan"
            else "1",
            design.platform.storage.name,
        ),
        row(
            "Switches and gateways",
            grouped(prose.switches(design)) if prose.switches(design) else "none",
            "all networks",
        ),
        row("Rack space", prose.racks(design), ""),
        row("Power, maximum", prose.power(design), f"{prose.power(design, 'typical')} typical"),
    ]
    for answer in design.workloads:
        name = answer.workload.name if many else ""
        rows.append(
            row("Throughput", words.estimate(answer.throughput, words.sample_unit(answer.dnn)), name or answer.dnn.name)
        )
        if answer.time is not None:
            rows.append(
                row("Time to train", words.estimate(answer.time.total_s, "s"), name or prose.epochs_text(answer))
            )
        rows.append(row("Limiting stage", Cell(prose.STAGES[answer.bottleneck], stage=answer.bottleneck), name))
    rows.append(row("List price", prose.price(design.bill), prose.open_prices(design.bill)))
    if counts.unknown_power or counts.unknown_weight:
        missing = len(set(counts.unknown_power) | set(counts.unknown_weight))
        note = (
            f"“At least” marks totals without the {words.plural(missing, 'device type')} whose value no source gives."
        )
    else:
        note = ""
    return Table(
        "numbers",
        "The answer in numbers",
        columns(("", "left", 24), ("", "left", 32), ("", "left", 44)),
        tuple(rows),
        note,
        "facts",
    )


def _requirement(answer: WorkloadAnswer, number: int, of: int) -> Table:
    workload = answer.workload
    rows = [
        row("Neural network", f"{answer.dnn.name}, {words.name(workload.task)} with {words.name(workload.precision)}"),
        row(
            "Software",
            f"{answer.stack.name}; {words.name(answer.stack.loader)}"
            if answer.stack.loader != "none"
            else answer.stack.name,
        ),
        row("Batch per GPU", grouped(answer.batch_per_gpu)),
        row("Data set", prose.dataset_text(answer)),
        row("Format and order", f"{answer.dataset.format}; {words.name(workload.access)}"),
        row("Cache on the servers", words.name(workload.cache)),
        row("Target", words.sentence(answer.target).rstrip("."), kind="strong"),
    ]
    if answer.time is not None:
        rows.insert(-1, row("Length", prose.epochs_text(answer)))
    title = f"Workload {number}: {workload.name}" if of > 1 else f"Workload as understood: {workload.name}"
    return Table(f"workload-{number}", title, columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="facts")


def _conditions(result: SizingResult, catalog: Catalog) -> Table:
    request = result.request
    allowed, limits = request.platforms, request.limits
    rows = [row("Probability asked", f"{words.percent(request.confidence)} that all targets are met together")]

    def names(label: str, ids: tuple[str, ...]) -> None:
        if ids:
            rows.append(row(label, words.listed(item_name(one, catalog) for one in ids)))

    names("Servers allowed", allowed.servers)
    names("Servers ruled out", allowed.forbidden_servers)
    names("GPUs allowed", allowed.gpus)
    names("Storage allowed", allowed.storage)
    names("Storage ruled out", allowed.forbidden_storage)
    if allowed.fabrics:
        rows.append(row("Fabrics allowed", words.listed(words.link_name(kind) for kind in allowed.fabrics)))
    if allowed.gpus_per_server is not None:
        rows.append(row("GPUs of a server in use", grouped(allowed.gpus_per_server)))
    limit_texts = [
        ("Budget", limits.budget, lambda value: words.money(words.whole(value), request.currency)),
        ("Racks, most", limits.racks, grouped),
        ("Power of a rack, most", limits.rack_power_w, lambda value: si(value, "W")),
        ("Power in all, most", limits.power_w, lambda value: si(value, "W")),
        ("Rack units, most", limits.rack_units, grouped),
        ("Servers, most", limits.servers, grouped),
    ]
    rows += [row(label, text(value)) for label, value, text in limit_texts if value is not None]
    existing = {**request.existing.servers, **request.existing.storage_nodes, **request.existing.switches}
    if existing:
        rows.append(
            row(
                "At hand already",
                words.listed(f"{count} × {item_name(item, catalog)}" for item, count in existing.items()),
            )
        )
    if request.rank_by is not None:
        rows.append(row("Ranked by", words.name(request.rank_by)))
    rows.append(
        row("Racks and power units", f"{item_name(request.site.rack, catalog)}, {item_name(request.site.pdu, catalog)}")
    )
    return Table("conditions", "Conditions", columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="facts")


def _checks(result: SizingResult) -> Table | None:
    """Data sets against memory and capacity."""
    design = result.design
    memory = design.platform.server.memory_bytes
    usable = float(design.quantities.usable_bytes[0])
    rows: list[Row] = []
    for answer in design.workloads:
        name = answer.workload.name
        if memory is not None:
            rows.append(row(name, "memory of one server", prose.fits(answer.dataset_bytes, memory.value, "it")))
            if design.n_servers > 1:
                together = memory.value * design.n_servers
                rows.append(
                    row(
                        "",
                        f"memory of {words.plural(design.n_servers, 'server')} together",
                        prose.fits(answer.dataset_bytes, together, "it"),
                    )
                )
        if usable > 0:
            rows.append(
                row(
                    "" if memory is not None else name,
                    f"usable capacity of {design.platform.storage.name}",
                    prose.fits(answer.dataset_bytes, usable, "it"),
                )
            )
    if not rows:
        return None
    return Table(
        "checks",
        "Where the data set fits",
        columns(("Workload", "left", 28), ("Against", "left", 36), ("Outcome", "left", 36)),
        tuple(rows),
    )


def _networks(result: SizingResult, catalog: Catalog) -> Table | None:
    rows = []
    for net in result.design.quantities.networks:
        if not int(net.ports_used[0]):
            continue
        leaves, spines, gateways = (int(part[0]) for part in (net.leaves, net.spines, net.gateways))
        count = f"{leaves} leaf + {spines} spine" if spines else grouped(gateways or leaves)
        switch = item_name(net.switch, catalog) if net.switch is not None else "none"
        ratio = float(net.oversubscription[0])
        order = "1 : 1" if ratio <= 1 else f"{ratio:.2g} : 1"
        rows.append(
            row(
                Cell(words.sentence(net.name).rstrip(".")),
                words.link_name(net.kind),
                f"{count} × {switch}",
                prose.port_arithmetic(net),
                order if spines else "–",
            )
        )
    if not rows:
        return None
    notes = [
        words.sentence(f"{net.name}: {net.note}")
        for net in result.design.quantities.networks
        if net.note and int(net.ports_used[0])
    ]
    heads = columns(
        ("Network", "left", 17),
        ("Links", "left", 14),
        ("Switches", "left", 23),
        ("Ports", "left", 36),
        ("Down : up", "right", 10),
    )
    return Table("networks", "Networks and how their ports add up", heads, tuple(rows), " ".join(notes))


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
            f"stages-{number}",
            "Throughput that each stage could pass. The filled bar limits; thin lines are 90 % intervals; bars with an arrow are cut.",
            charts.chart_svg(charts.stage_chart(answer)),
        ),
        scaling_chart=Figure(
            f"scaling-{number}",
            "Projected throughput by size, with storage and platform held fixed.",
            charts.chart_svg(charts.scaling_chart(answer, design.n_gpus)),
        )
        if sizes > 1
        else None,
        time=time_table(answer, number),
        time_chart=None
        if time_chart is None
        else Figure(f"time-{number}", "Where the time of one training goes.", charts.chart_svg(time_chart)),
        cold_epoch=prose.cold_epoch(answer) if answer.time is not None else "",
        evidence=evidence_table(answer, number),
    )


def _pareto(result: SizingResult) -> Figure | None:
    chart = charts.pareto_chart(result)
    if chart is None:
        return None
    return Figure(
        "pareto",
        "Designs that no other one beats in price or size, time, power and rack space together. The filled mark is the design of this document.",
        charts.chart_svg(chart),
    )


def _assumptions(result: SizingResult) -> Table | None:
    """Assumed facts first, as they weigh most."""
    ordered = sorted(result.assumptions, key=lambda one: one.basis != "assumed")
    rows = [
        row(
            words.sentence(one.what).rstrip("."),
            one.value,
            words.name(one.basis),
            Cell(words.sentence(one.note), cites=(one.source,) if one.source else ()),
        )
        for one in ordered
    ]
    if not rows:
        return None
    heads = columns(
        ("Assumption", "left", 27), ("Value", "left", 17), ("Basis", "left", 11), ("Reason and source", "left", 45)
    )
    return Table("assumptions", "What is taken for granted", heads, tuple(rows))
