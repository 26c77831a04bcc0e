"""The published test that a workload resembles most, compared with the design line by line."""

from sizer.base.quantities import grouped, significant
from sizer.present import words
from sizer.present.tables import Cell, Table, fact_table, row
from sizer.present.text import result_text
from sizer.sizing.result import DesignAnswer, NearbyMeasurement, WorkloadAnswer


def reference_run(answer: WorkloadAnswer) -> NearbyMeasurement | None:
    """The published run nearest to a workload: of the same software where there is one."""
    alike = [run for run in answer.evidence if run.is_same_stack]
    return next(iter(alike or answer.evidence), None)


def reference_text(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """What the published test differs in, in one sentence; "" without a published run."""
    run = reference_run(answer)
    if run is None:
        return ""
    differences = [words.inside_sentence(label) for label, *_, is_same in _rows(run, answer, design) if not is_same]
    ran = f"The published test nearest to this workload ran on {run.n_gpus} × {run.gpu}"
    if not differences:
        return f"{ran}, with the same server and software."
    return f"{ran}. It differs in {words.listed(differences)}."


def _rows(run: NearbyMeasurement, answer: WorkloadAnswer, design: DesignAnswer) -> list[tuple[str, str, str, bool]]:
    platform = design.platform
    return [
        ("Number of GPUs", grouped(run.n_gpus), grouped(design.n_gpus), run.n_gpus == design.n_gpus),
        ("Type of GPU", run.gpu, platform.gpu.name, run.gpu == platform.gpu.name),
        ("Server", run.server or "not stated", platform.server.name, run.server == platform.server.name),
        ("Software", run.software or "not stated", answer.stack.name, run.is_same_stack),
    ]


def reference_table(answer: WorkloadAnswer, design: DesignAnswer, number: int) -> Table | None:
    """What the published test and this design have in common, and what differs; None without a published run."""
    run = reference_run(answer)
    if run is None:
        return None
    unit = words.sample_unit(answer.dnn)
    per_gpu = f"{significant(run.published / run.n_gpus)} {unit}"
    ours = float(answer.throughput.value)
    cells = [
        row(label, theirs, mine, "same" if is_same else "differs")
        for label, theirs, mine, is_same in _rows(run, answer, design)
    ]
    cells.append(
        row(f"Rate, {unit}", significant(run.published), words.estimate(answer.throughput, unit, bare=True), "")
    )
    cells.append(row("Rate per GPU", per_gpu, f"{significant(ours / design.n_gpus)} {unit}", ""))
    source = Cell("", cites=(run.source,), where=run.where)
    predicted = f"{words.estimate(run.predicted, unit)} ({result_text.gap(run.published, float(run.predicted.value))})"
    cells.append(row("Source", source, "", ""))
    cells.append(row("The model predicts", predicted, "", ""))
    return fact_table(
        f"reference-{number}",
        f"The published test that {answer.workload.name} resembles most",
        cells,
        titles=("Property", "Published test", "This design", "Compared"),
        widths=(20, 36, 32, 12),
        style="",
    )
