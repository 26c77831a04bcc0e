"""Tables of the chapters on performance and alternatives."""

from sizer.base.quantities import duration, grouped, si
from sizer.drawings.datapath import is_limit
from sizer.present import result_text, words
from sizer.present.stage_text import measurement_text, stage_text
from sizer.present.tables import Align, Cell, Row, Table, columns, row
from sizer.present.verdict_text import limit_text
from sizer.sizing.limits import bound_of
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer


def stage_table(answer: WorkloadAnswer, number: int) -> Table:
    """Capacity and load of every stage."""
    unit = words.sample_unit(answer.dnn)
    rows = []
    for stage in answer.stages:
        used = is_limit(stage, answer)
        capacity = words.estimate(stage.capacity, unit, bare=True) if used else "not limited"
        load = ("limits" if stage.is_limiting else words.percent(stage.load_fraction)) if used else "–"
        rows.append(
            row(
                Cell(STAGES[stage.key], stage=stage.key),
                Cell(capacity, is_muted=not used),
                Cell(load),
                Cell(words.sentence(stage_text(stage.reason)), cites=stage.sources),
                kind="strong" if stage.is_limiting else "",
            )
        )
    heads = columns(
        ("Stage", "left", 18),
        (f"Could pass, {unit}", "right", 21),
        ("Load", "right", 9),
        ("Made of", "left", 52),
    )
    return Table(
        f"stages-{number}", "Capacity and load of every stage, medians with 90 % intervals", heads, tuple(rows)
    )


def figures_table(answer: WorkloadAnswer, number: int) -> Table:
    """Rates and loads of a workload on the design."""
    unit = words.sample_unit(answer.dnn)
    rows = [row("Throughput", words.estimate(answer.throughput, unit), kind="strong")]
    if answer.storage_bytes_per_s.value > 0:
        rows.append(row("Read from storage, warm", words.estimate(answer.storage_bytes_per_s, "B/s")))
    else:
        rows.append(row("Read from storage, warm", "nothing, the caches hold the data set"))
    rows += [
        row("Read from storage, first epoch", words.estimate(answer.cold_storage_bytes_per_s, "B/s")),
        row("Served from memory, warm", words.percent(answer.cache_hit_fraction)),
        row("GPUs busy", words.percent(answer.gpu_busy_fraction)),
        row("Processors busy", words.estimate(answer.cpu_utilization_fraction, "%")),
        row("Scaling efficiency against one GPU", words.percent(answer.scaling_efficiency)),
    ]
    return Table(
        f"figures-{number}",
        "What to expect in steady state",
        columns(("", "left", 45), ("", "left", 55)),
        tuple(rows),
        style="facts",
    )


def time_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """Parts of a training; None where no length is asked."""
    time = answer.time
    if time is None:
        return None
    evaluations = words.estimate(time.evaluations_s, "s") if time.evaluations_s.value > 0 else "none"
    rows = [
        row("Start-up", duration(time.start_up_s) if time.start_up_s > 0 else "none"),
        row("First epoch, cold", words.estimate(time.first_epoch_s, "s")),
        row("Each later epoch", words.estimate(time.epoch_s, "s")),
        row("Epochs", result_text.epochs_text(answer)),
        row("Evaluations", evaluations),
        row("Time to train", words.estimate(time.total_s, "s"), kind="total"),
    ]
    return Table(
        f"time-{number}",
        "Time to train and its parts",
        columns(("", "left", 45), ("", "left", 55)),
        tuple(rows),
        style="facts",
    )


def evidence_table(answer: WorkloadAnswer, number: int, most: int | None = None) -> Table | None:
    """Published measurements, the nearest first and at most ``most``, beside what the model says about them."""
    if not answer.evidence:
        return None
    unit = words.sample_unit(answer.dnn)
    rows = []
    for one in answer.evidence[:most]:
        value, low, high = one.predicted
        inside = "inside" if low <= one.published <= high else "outside"
        role = "calibrates" if one.calibrates else "tests"
        predicted = words.estimate(one.predicted, unit, bare=True)
        rows.append(
            row(
                Cell(measurement_text(one), cites=(one.source,), where=one.where),
                grouped(float(f"{one.published:.4g}")),
                predicted,
                result_text.gap(one.published, value),
                inside,
                role,
            )
        )
    heads = columns(
        ("Published run", "left", 42),
        (f"Measured, {unit}", "right", 13),
        ("Predicted", "right", 17),
        ("Gap", "right", 9),
        ("90 % interval", "left", 10),
        ("Role", "left", 9),
    )
    note = (
        "A run that calibrates helped to fit the model and so proves nothing; one that tests was predicted without it."
    )
    return Table(f"evidence-{number}", "Nearest published measurements", heads, tuple(rows), note)


def neighbours_table(result: SizingResult) -> Table | None:
    """The design between the next smaller and the next faster one that no other beats; None where it stands alone."""
    chosen = next((point for point in result.pareto if point.is_documented), None)
    if chosen is None:
        return None
    smaller = [point for point in result.pareto if point.n_gpus < chosen.n_gpus]
    faster = [point for point in result.pareto if point.time_s < chosen.time_s]
    named = [
        ("next smaller", max(smaller, key=lambda point: (point.n_gpus, -point.time_s), default=None)),
        ("this design", chosen),
        ("next faster", max(faster, key=lambda point: (point.time_s, -point.power_w), default=None)),
    ]
    found = [(label, point) for label, point in named if point is not None]
    if len(found) < 2:
        return None
    first = result.design.workloads[0]
    unit, is_timed = words.sample_unit(first.dnn), first.time is not None
    rows = []
    for label, point in found:
        cells = [f"{point.name}, {label}", grouped(point.n_gpus), si(point.throughput_samples_per_s, unit)]
        cells += [duration(point.time_s)] if is_timed else []
        rows.append(
            row(*cells, si(point.power_w, "W"), grouped(point.rack_units), kind="strong" if point is chosen else "")
        )
    timed: list[tuple[str, Align, int]] = [("Time to train", "right", 12)] if is_timed else []
    heads = columns(
        ("Design", "left", 38),
        ("GPUs", "right", 9),
        ("Throughput", "right", 17),
        *timed,
        ("Power", "right", 13),
        ("Rack units", "right", 11),
    )
    note = "Medians, of designs that no other one beats in price or size, time, power and rack space together."
    if len(result.design.workloads) > 1:
        note += " " + "Throughput of the first workload."
    return Table("neighbours", "The design between its neighbours", heads, tuple(rows), note)


def platforms_table(result: SizingResult) -> Table | None:
    """The best design of each platform side by side; None where there is only one."""
    if len(result.platforms) < 2:
        return None
    rows = []
    for design in result.platforms:
        chosen = design is result.design
        rows.append(_platform_row(design, chosen))
    heads = columns(
        ("Design", "left", 27),
        ("GPUs", "right", 7),
        ("Throughput", "right", 16),
        ("Probability", "right", 13),
        ("Rack units", "right", 9),
        ("Power", "right", 13),
        (result_text.price_label(result.design.bill), "right", 15),
    )
    note = "Throughput of the first workload." if len(result.design.workloads) > 1 else ""
    return Table("platforms", "The best design of each platform", heads, tuple(rows), note)


def _platform_row(design: DesignAnswer, chosen: bool) -> Row:
    first = design.workloads[0]
    name = f"{design.name} (this document)" if chosen else design.name
    return row(
        name,
        grouped(design.n_gpus),
        words.rounded(first.throughput, words.sample_unit(first.dnn)),
        words.percent(design.probability),
        grouped(float(design.quantities.rack_units[0])),
        result_text.power(design),
        result_text.price(design.bill),
        kind="strong" if chosen else "",
    )


def ruled_out_table(result: SizingResult) -> Table | None:
    """How many designs each limit ruled out."""
    rows = [
        row(words.sentence(limit_text(limit, bound_of(limit, result.request.limits))).rstrip("."), grouped(count))
        for limit, count in sorted(result.ruled_out.items(), key=lambda pair: -pair[1])
        if count
    ]
    if not rows:
        return None
    note = f"Of {words.plural(result.n_designs, 'design')}; one design may break several limits."
    return Table(
        "ruled-out",
        "What ruled designs out",
        columns(("Limit", "left", 70), ("Designs", "right", 30)),
        tuple(rows),
        note,
    )
