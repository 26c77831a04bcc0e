"""The same GPUs in fewer or in more servers, as tables, in sentences and as plain text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si, significant
from sizer.catalog.labels import item_name, sentence
from sizer.catalog.model import Catalog
from sizer.drawings.racks import at_least
from sizer.present import words
from sizer.present.tables import Cell, Field, RowKind, Table, record_table, table_text
from sizer.present.text.layouts import degrees_text
from sizer.present.text.money import price_range_text
from sizer.present.words import plural
from sizer.questions.scale.analysis import (
    ArrangedDesign,
    ArrangementPair,
    ArrangementRun,
    EqualGpuComparison,
    ExcludedServer,
    ScaleComparison,
    ScalingStep,
    StepBreakdown,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import STAGES


def signed(percent: float) -> str:
    """A percentage with its sign: +3.2, −0.8."""
    digits = significant(abs(percent), 2) if abs(percent) >= 1 else grouped(abs(percent), 1)
    return digits if not float(f"{abs(percent):.1f}") else f"{'+' if percent > 0 else '−'}{digits}"


def storage_text(same: EqualGpuComparison, design_nodes: int) -> str:
    """Which storage all arrangements have, and for which of them it is the bottleneck."""
    storage = same.first.design.platform.storage
    if storage.kind == "local":
        text = "Each kind of server reads from its own local drives"
    elif not same.storage_nodes:
        text = f"All arrangements read from {storage.name}"
    elif not same.storage_is_sized or same.storage_nodes == design_nodes:
        nodes = f"{same.storage_nodes} {storage.name} {by_count(same.storage_nodes, 'node', 'nodes')}"
        text = f"All arrangements have the {nodes} of the design"
    else:
        text = (
            f"To compare the servers alone, all arrangements have {same.storage_nodes} {storage.name} "
            f"{by_count(same.storage_nodes, 'node', 'nodes')}, enough "
            f"for the full servers that read the most, not the {design_nodes} of the design"
        )
    bound = [
        way.arrangement.name
        for way in same.designs
        if any(run.answer.bottleneck in ("storage", "network") for run in way.runs)
    ]
    if bound:
        text += f"; storage or network remains the bottleneck of {', '.join(bound)}"
    return sentence(text)


# Items without a price named below a table; the others are counted.
_NAMED = 8
# Shorter parts of a step are below the resolution of the model. [ms]
_LEAST_MS = 0.01
# Parts that differ between arrangements; cables, cords and panels without a price are counted only.
_DISTINCTIVE = ("compute", "storage", "network")
_ARRANGEMENT = "Arrangement"


def rates_table(ways: Sequence[ArrangedDesign], number: int = 0, first: ArrangedDesign | None = None) -> Table:
    """Rate of every arrangement, compared with the first and with single GPUs, and its bottleneck.

    ``ways``: rows in this order. ``suffix``: makes the table's id unique in a document. ``first``: what the others
    are compared with; default the first row.
    """
    base = first or ways[0]
    unit = words.sample_unit(base.runs[number].answer.dnn)
    times = [way.runs[number].answer.time for way in ways]
    is_timed = all(time is not None for time in times)

    def time_text(way: ArrangedDesign) -> str:
        time = way.runs[number].answer.time
        return "" if time is None else words.rounded(time.total_s, "s")

    def bottleneck(way: ArrangedDesign) -> Cell:
        key = way.runs[number].answer.bottleneck
        return Cell(STAGES[key], stage=key)

    is_language = not base.runs[number].answer.kind.compares_one_gpu
    widths = (20, 18, 12) if is_language else (24 if is_timed else 29, 22, 16)
    # Of a language model each arrangement has the layout that suits it; a single GPU does not hold the model.
    compared: Field[ArrangedDesign] = (
        Field("Scaling efficiency", lambda way: words.percent(way.runs[number].answer.scaling_efficiency), "right", 10)
        if not is_language
        else Field("Layout", lambda way: degrees_text(way.runs[number].answer.trained.layout), width=24)
    )
    fields: list[Field[ArrangedDesign]] = [
        Field(_ARRANGEMENT, arrangement_name, width=widths[0]),
        Field(
            f"Rate, {unit}",
            lambda way: words.estimate(way.runs[number].answer.throughput, unit, bare=True),
            "right",
            16,
        ),
        Field("Compared with the first", lambda way: _ratio_text(base, way, number), "right", widths[1]),
        compared,
        Field("Bottleneck", bottleneck, width=widths[2]),
        *([Field("Time to train", time_text, "right", 12)] if is_timed else []),
    ]
    note = (
        "Compared with the first: ratio of the medians with its 90 % interval; both rates share the uncertain "
        "parameters."
    )
    if not is_language:
        note = f"{note} Scaling efficiency: rate compared with that of as many GPUs that work alone."
    caption = f"{grouped(base.n_gpus)} GPUs in several arrangements"
    return _table("up-or-out-rates", caption, ways, fields, base, note)


def steps_table(ways: Sequence[ArrangedDesign], number: int = 0, first: ArrangedDesign | None = None) -> Table | None:
    """Where the time of a training step goes; None for inference."""
    steps = {id(way): way.runs[number].step for way in ways}
    if any(step is None for step in steps.values()):
        return None

    def part(title: str, width: int, seconds: Callable[[StepBreakdown], float]) -> Field[ArrangedDesign]:
        def text(way: ArrangedDesign) -> str:
            step = steps[id(way)]
            return "" if step is None else milliseconds(seconds(step))

        return Field(title, text, "right", width)

    fields: list[Field[ArrangedDesign]] = [
        Field(_ARRANGEMENT, arrangement_name, width=30),
        part("Step, ms", 10, lambda step: step.step_s),
        part("Computing", 11, lambda step: step.compute_s),
        part("Gradients inside", 11, lambda step: step.inside_s),
        part("Gradients between", 11, lambda step: step.between_s),
        part("Not hidden", 8, lambda step: step.exposed_s),
        part("Waiting for others", 10, lambda step: step.waiting_s),
        part("Waiting for data", 9, lambda step: step.data_s),
    ]
    note = (
        "A step consists of computing, gradients that computing does not hide, and waiting. Published runs on many "
        "servers lose more than the links explain; the model counts that as GPUs waiting for one another."
    )
    caption = "A training step, in milliseconds, at the medians"
    return _table("up-or-out-steps", caption, ways, fields, first or ways[0], note)


def hardware_table(ways: Sequence[ArrangedDesign], catalog: Catalog, first: ArrangedDesign | None = None) -> Table:
    """Rack units, power, switches, ports, cables and price of every arrangement as a whole design."""
    fields: list[Field[ArrangedDesign]] = [
        Field(_ARRANGEMENT, arrangement_name, width=30),
        Field("Rack units", lambda way: grouped(way.rack_units), "right", 8),
        Field("Power", power, "right", 20),
        Field("Switches", lambda way: grouped(way.n_switches), "right", 9),
        Field("Ports", lambda way: grouped(way.n_ports), "right", 7),
        Field("Cables", lambda way: grouped(way.n_cables), "right", 8),
        Field("Price", lambda way: price_range_text(way.design), "right", 18),
    ]
    note = (
        "The whole design with storage and network, including idle GPUs. Where no draw is published, power is a range "
        "from the sum of the parts to the rating of the power supplies."
    )
    caption = f"Hardware of every arrangement of {grouped(ways[0].n_gpus)} GPUs"
    note = f"{note} {_unpriced(ways, catalog)}".strip()
    return _table("up-or-out-things", caption, ways, fields, first or ways[0], note)


def scaling_table(steps: Sequence[ScalingStep], number: int = 0) -> Table:
    """Scaling efficiency from one number of GPUs to the next, on the same kind of server."""

    def interval(step: ScalingStep) -> str:
        efficiency = step.efficiency[number]
        return f"{words.percent(float(efficiency.low))} to {words.percent(float(efficiency.high))}"

    fields: list[Field[ScalingStep]] = [
        Field("From and to", lambda step: f"{step.few.arrangement.name} to {step.many.arrangement.name}", width=50),
        Field("Scaling efficiency", lambda step: words.percent(float(step.efficiency[number].value)), "right", 22),
        Field("90 % interval", interval, "right", 28),
    ]
    name = steps[0].few.runs[number].answer.workload.name
    return record_table(f"up-or-out-kept-{number}", f"{name}: rate per GPU on more servers", steps, fields)


def excluded_table(excluded: Sequence[ExcludedServer]) -> Table | None:
    """Kinds of server that are not compared, and why; None where there is none."""
    if not excluded:
        return None
    fields: list[Field[ExcludedServer]] = [
        Field("Server", lambda one: one.name, width=35),
        Field("Why it is not compared", lambda one: one.reason, width=65),
    ]
    return record_table("up-or-out-left-out", "Not compared", excluded, fields)


def arrangement_name(way: ArrangedDesign) -> str:
    """Name of an arrangement, with a mark where the request does not allow it."""
    return way.arrangement.name if way.arrangement.is_allowed else f"{way.arrangement.name} *"


def power(way: ArrangedDesign) -> str:
    """Range of the draw, 'at least' where a device has no published one."""
    low, high = si(way.power_low_w, "W"), si(way.power_max_w, "W")
    if low.rpartition(NARROW_SPACE)[2] == high.rpartition(NARROW_SPACE)[2]:
        low = low.rpartition(NARROW_SPACE)[0]  # of 16.4 kW to 17.4 kW the second unit is enough
    text = high if way.power_low_w == way.power_max_w else f"{low} to {high}"
    # Where the cell must break, it breaks before the range.
    return at_least(way.has_unknown_power, text.replace(" ", words.NO_BREAK))


def milliseconds(seconds: float) -> str:
    """A part of a step, to a hundredth of a millisecond at most."""
    value = 1e3 * seconds
    if value >= 1:
        return significant(value)
    return grouped(value, 2) if value >= _LEAST_MS / 2 else "0"


def _table(
    id_: str,
    caption: str,
    ways: Sequence[ArrangedDesign],
    fields: Sequence[Field[ArrangedDesign]],
    base: ArrangedDesign,
    note: str = "",
) -> Table:
    """A row for each arrangement; the one that the others are compared with stands out."""

    def kind(way: ArrangedDesign) -> RowKind:
        return "strong" if way is base else ""

    if not all(way.arrangement.is_allowed for way in ways):
        note = f"{note} * Not allowed by the request; compared for information.".strip()
    return record_table(id_, caption, ways, fields, kind=kind, note=note)


def _ratio_text(base: ArrangedDesign, way: ArrangedDesign, number: int) -> str:
    """'−3.1 % (−5.0 to +0.4)'."""
    if way is base:
        return "–"
    ratio = ArrangementPair(base, way).rate_ratios[number]
    if tuple(ratio) == (1.0, 1.0, 1.0):
        return "equal"
    value, low, high = (signed(100 * (float(part) - 1)) for part in ratio)
    text = f"{value}{NARROW_SPACE}%"
    # The same here, before the interval.
    span = f"{low} to {high}".replace(" ", words.NO_BREAK)
    return text if low == high else f"{text} ({span})"


def _unpriced(ways: Sequence[ArrangedDesign], catalog: Catalog) -> str:
    """What has no price, by name: servers first, since they differ between arrangements."""
    lines = [line for way in ways for line in way.design.bill.bought if line.extended_net is None and line.item]
    # A customer's copy prices the offer alone; published prices of other parts do not belong in it.
    if not lines or ways[0].design.bill.is_customer_copy:
        return ""
    distinctive = dict.fromkeys(line.item for kind in _DISTINCTIVE for line in lines if line.category == kind)
    named = [item_name(item, catalog) for item in distinctive][:_NAMED]
    more = len({line.item for line in lines}) - len(named)
    items = words.listed([*named, f"{more} others"] if more else named)
    return f"Without a published price: {items}."


def scale_document(comparison: ScaleComparison) -> dict[str, Any]:
    """The whole comparison."""
    return json_document(
        "up-or-out",
        comparisons=[_same_gpus(same) for same in comparison.comparisons],
        kept=[
            {
                "from_gpus": step.few.n_gpus,
                "to_gpus": step.many.n_gpus,
                "server": step.few.arrangement.platform.server.id,
                "share": step.efficiency,
            }
            for step in comparison.scaling_steps
        ],
    )


def _same_gpus(same: EqualGpuComparison) -> dict[str, object]:
    return fields_of(
        same,
        *("n_gpus", "storage_nodes", "storage_is_sized"),
        left_out=same.excluded,
        arrangements=[_way(same.first, way) for way in same.designs],
        forms=[
            {"first": one.first.arrangement.name, "second": one.second.arrangement.name, "rate_ratio": one.rate_ratios}
            for one in same.form_pairs
        ],
    )


def _way(first: ArrangedDesign, way: ArrangedDesign) -> dict[str, object]:
    arrangement, platform, bill = way.arrangement, way.arrangement.platform, way.design.bill
    return {
        **fields_of(arrangement, "name", "kind", "n_servers", "is_allowed", gpus_used_per_server=arrangement.gpus_used),
        **fields_of(platform, "fabric", gpus_fitted_per_server=platform.gpus_per_server),
        "server": platform.server.id,
        "gpu": platform.gpu.id,
        "storage": platform.storage.id,
        **fields_of(way, "rack_units", "power_low_w", "power_max_w", switches=way.n_switches, ports=way.n_ports),
        "cables": way.n_cables,
        "power_is_complete": not way.has_unknown_power,
        **fields_of(bill, "currency", "unpriced", total_is_complete=bill.is_complete),
        "total": None if bill.net_total.is_unknown else bill.total,
        "storage_nodes": way.design.storage_nodes,
        "workloads": [_run(run, before) for run, before in zip(way.runs, first.runs, strict=True)],
    }


def _run(run: ArrangementRun, before: ArrangementRun) -> dict[str, object]:
    answer, step = run.answer, run.step
    return fields_of(
        answer,
        *("scaling_efficiency", "bottleneck"),
        name=answer.workload.name,
        samples_per_s=answer.throughput,
        rate_ratio=run.over(before),
        time_to_train_s=None if answer.time is None else answer.time.total_s,
        step=None if step is None else fields_of(step, *vars(step), "exchange_s", "step_s"),
    )


def scale_text(comparison: ScaleComparison, evaluated: EvaluatedDesign) -> str:
    """Tables and sentences of every number of GPUs; ``evaluated``: its design was compared."""
    parts = [part for same in comparison.comparisons for part in _parts(same, evaluated)]
    if comparison.scaling_steps:
        numbers = range(len(evaluated.result.design.workloads))
        parts += [table_text(scaling_table(comparison.scaling_steps, number)) for number in numbers]
    return "\n\n".join(parts)


def _parts(same: EqualGpuComparison, evaluated: EvaluatedDesign) -> Iterator[str]:
    design, catalog = evaluated.result.design, evaluated.catalog
    title = f"{plural(same.n_gpus, 'GPU')}: scale up or scale out"
    yield f"{title}\n{'=' * len(title)}\n{storage_text(same, design.storage_nodes)}"
    ways, works = same.designs, design.workloads
    for number, answer in enumerate(works):
        if len(works) > 1:
            yield f"{answer.workload.name}:"
        for table in (rates_table(ways, number, first=same.first), steps_table(ways, number, first=same.first)):
            if table is not None:
                yield table_text(table)
    yield table_text(hardware_table(ways, catalog, first=same.first))
    excluded = excluded_table(same.excluded)
    if excluded is not None:
        yield table_text(excluded)
