"""The published test that a workload resembles most, compared with the design line by line."""

import math
import re
from collections.abc import Sequence
from typing import TypeAlias

from sizer.base.quantities import duration, grouped, significant
from sizer.calibrate.notes import FitNote
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, fact_table, record_table, row
from sizer.present.text import result_text
from sizer.sizing.result import DesignAnswer, NearbyMeasurement, WorkloadAnswer

_Row: TypeAlias = tuple[str, str, str, bool | None]
_Pair: TypeAlias = tuple[WorkloadAnswer, NearbyMeasurement]
# Systems as Dell submits them to MLPerf: servers, type of server, GPUs in each.
_SUBMITTED = re.compile(r"\d+x([A-Z][A-Za-z0-9-]*?)x\d+[A-Z].*")
_COMPARED = {True: "same", False: "differs", None: "not known"}


def reference_run(answer: WorkloadAnswer) -> NearbyMeasurement | None:
    """The published run nearest to a workload: of the same software where there is one."""
    alike = [run for run in answer.evidence if run.is_same_stack]
    return next(iter(alike or answer.evidence), None)


def reference_text(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """What the published test differs in, in one sentence; "" without a published run."""
    run = reference_run(answer)
    if run is None:
        return ""
    rows = _rows(run, answer, design)
    differences = [words.inside_sentence(label) for label, *_, is_same in rows if is_same is False]
    unknown = [words.inside_sentence(label) for label, *_, is_same in rows if is_same is None]
    ran = f"The published test nearest to this workload ran on {run.n_gpus} × {run.gpu}"
    if not differences and not unknown:
        return f"{ran}, with the same server and software."
    differs = f" It differs in {words.listed(differences)}." if differences else ""
    missing = f" The source does not state its {words.listed(unknown)}." if unknown else ""
    return f"{ran}.{differs}{missing}"


def _rows(run: NearbyMeasurement, answer: WorkloadAnswer, design: DesignAnswer) -> list[_Row]:
    """What is compared: label, of the test, of the design, and whether it is the same; None: the source is silent."""
    platform, n_gpus = design.platform, design.gpus_at_work(answer)
    return [
        *_networks(answer),
        ("Number of GPUs", grouped(run.n_gpus), grouped(n_gpus), run.n_gpus == n_gpus),
        ("Type of GPU", run.gpu, platform.gpu.name, run.gpu == platform.gpu.name),
        ("Server", _server(run) or "not stated", platform.server.name, _is_same(_server(run), platform.server.name)),
        ("Software", _software(run, answer), answer.stack.name, _is_same_software(run, answer)),
        *_formats(run, answer),
        *_batches(run, answer),
    ]


def _is_same(theirs: str, mine: str) -> bool | None:
    return theirs == mine if theirs else None


def _networks(answer: WorkloadAnswer) -> list[_Row]:
    """The neural network, where the published runs are those of another one."""
    like = next((note.values for note in answer.unmeasured if note.kind is FitNote.DNN_FROM_LIKE), None)
    return [] if like is None else [("Neural network", str(like[1]), answer.dnn.name, False)]


def _formats(run: NearbyMeasurement, answer: WorkloadAnswer) -> list[_Row]:
    """Number formats of a language model: a run with FP8 is much faster than one with BF16."""
    if not answer.kind.counts_interruptions or not run.number_format:
        return []
    mine = answer.trained.work.precision
    return [("Number format", run.number_format.upper(), mine.upper(), run.number_format == mine)]


def _batches(run: NearbyMeasurement, answer: WorkloadAnswer) -> list[_Row]:
    """Samples of a step on each GPU, which the rate of a GPU depends on."""
    if run.batch_per_gpu is None:
        return []
    found = answer.language
    label, mine = "Batch per GPU", float(answer.batch_per_gpu)
    if found is not None:
        label, mine = "Sequences per GPU", found.batch / found.gpus_used
    return [(label, f"{run.batch_per_gpu:.3g}", f"{mine:.3g}", math.isclose(run.batch_per_gpu, mine))]


def _is_same_software(run: NearbyMeasurement, answer: WorkloadAnswer) -> bool | None:
    """Whether a run used the software of the design; None of one that states none."""
    if not run.software:
        return None
    if not run.is_same_stack:
        return False
    # On the GPUs of another vendor a language model runs on another stack than was asked for.
    return not answer.kind.counts_interruptions or answer.trained.stack == answer.trained.work.stack


def _software(run: NearbyMeasurement, answer: WorkloadAnswer) -> str:
    """Software of a run: by its name in the catalogue where it is that of the design, else in the source's words."""
    return answer.stack.name if _is_same_software(run, answer) else run.software or "not stated"


def references_table(answers: Sequence[WorkloadAnswer], design: DesignAnswer) -> Table | None:
    """The published test nearest to each of several workloads, one line each; None without any."""
    pairs = [(answer, run) for answer in answers if (run := reference_run(answer)) is not None]
    if not pairs:
        return None
    units = {words.sample_unit(answer.dnn) for answer, _ in pairs}
    unit = f", {units.pop()}" if len(units) == 1 else ""
    fields = (
        Field[_Pair]("Workload", lambda pair: pair[0].workload.name, width=13),
        Field[_Pair]("Published test", lambda pair: _ran(pair[1]), width=27),
        Field[_Pair]("Software", lambda pair: _same_software(pair[1]), width=12),
        Field[_Pair](f"Published rate{unit}", lambda pair: _rate(pair[1].published, pair[0], unit), "right", 16),
        Field[_Pair]("The model predicts", lambda pair: _predicted(pair[1], pair[0]), "right", 18),
        Field[_Pair]("Per GPU, test and design", lambda pair: _per_gpu(*pair, design), "right", 14),
    )
    return record_table("references", "The published tests that the workloads resemble most", pairs, fields)


def _ran(run: NearbyMeasurement) -> Cell:
    server = f", {_server(run)}" if run.server else ""
    return Cell(f"{run.n_gpus} × {run.gpu}{server}", cites=(run.source,), where=_place(run))


def _server(run: NearbyMeasurement) -> str:
    """Server of a run: that of a submission such as '2xXE9680Lx8H200-SXM-141GB' without its numbers and its GPUs."""
    submitted = _SUBMITTED.fullmatch(run.server)
    return submitted[1] if submitted else run.server


def _place(run: NearbyMeasurement) -> str:
    """Place inside the source in words; names of submissions and paths of log files are left to the engineer's file."""
    parts = run.where.split(", ")
    return "" if "/" in run.where else ", ".join(part for part in parts if not _SUBMITTED.fullmatch(part))


def _same_software(run: NearbyMeasurement) -> str:
    return run.software or "not stated" if not run.is_same_stack else "same" if run.software else "not stated"


def _rate(rate: float, answer: WorkloadAnswer, unit: str) -> str:
    return significant(rate) if unit else f"{significant(rate)} {words.sample_unit(answer.dnn)}"


def _predicted(run: NearbyMeasurement, answer: WorkloadAnswer) -> str:
    rate = words.estimate(run.predicted, words.sample_unit(answer.dnn), bare=True)
    return f"{rate} ({result_text.gap(run.published, float(run.predicted.value))})"


def _per_gpu(answer: WorkloadAnswer, run: NearbyMeasurement, design: DesignAnswer) -> str:
    ours = float(answer.running_throughput.value) / design.gpus_at_work(answer)
    return f"{significant(run.published / run.n_gpus)} and {significant(ours)}"


def reference_table(answer: WorkloadAnswer, design: DesignAnswer, number: int) -> Table | None:
    """What the published test and this design have in common, and what differs; None without a published run."""
    run = reference_run(answer)
    if run is None:
        return None
    unit = words.sample_unit(answer.dnn)
    per_gpu = f"{significant(run.published / run.n_gpus)} {unit}"
    ours = float(answer.running_throughput.value)
    cells = [
        row(label, theirs, mine, _COMPARED[is_same]) for label, theirs, mine, is_same in _rows(run, answer, design)
    ]
    cells.append(
        row(f"Rate, {unit}", significant(run.published), words.estimate(answer.running_throughput, unit, bare=True), "")
    )
    cells.append(row("Rate per GPU", per_gpu, f"{significant(ours / design.gpus_at_work(answer))} {unit}", ""))
    if run.time_to_train_s is not None and answer.time is not None:
        cells.append(row("Time to train", duration(run.time_to_train_s), words.estimate(answer.time.total_s, "s"), ""))
    source = Cell("", cites=(run.source,), where=_place(run))
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
        note=_outside_text(run),
    )


def _outside_text(run: NearbyMeasurement) -> str:
    """Which way a published rate outside the interval of its prediction moves the answer; "" inside it."""
    if float(run.predicted.low) <= run.published <= float(run.predicted.high):
        return ""
    above = run.published > float(run.predicted.high)
    side, likely = ("above", "too low than too high") if above else ("below", "too high than too low")
    return (
        f"The published rate lies {side} the 90\u202f% interval of its prediction: the projected rate of this design "
        f"is more likely {likely}."
    )
