"""Chapter 8: how the prediction is made, and what it says about every stage, size and epoch."""

from dataclasses import dataclass
from typing import Any

from sizer.guide.chapters.case import Case
from sizer.guide.chapters.scale import scale_part
from sizer.present import charts, result_text, words
from sizer.present.figures import Figure, charted
from sizer.present.performance_tables import figures_table, neighbours_table, stage_table, time_table
from sizer.present.tables import Table
from sizer.present.training_charts import accuracy_chart, epoch_chart
from sizer.sizing.result import WorkloadAnswer
from sizer.workload.target_text import target_text


@dataclass(frozen=True)
class WorkloadPart:
    """One workload of the chapter."""

    name: str
    verdict: str
    limit: str
    measured: str
    has_evidence: bool
    cold_epoch: str
    stages: Table
    figures: Table
    time: Table | None
    stage_chart: Figure | None
    scaling_chart: Figure | None
    time_chart: Figure | None
    epoch_chart: Figure | None
    accuracy_chart: Figure | None
    doubts: list[str]


def content(case: Case) -> dict[str, Any]:
    """What ``sections/performance.html`` prints."""
    return {
        "workloads": [_part(case, answer, number) for number, answer in enumerate(case.answers, 1)],
        "neighbours": neighbours_table(case.result) if case.is_full else None,
        "scale": scale_part(case),
    }


def _part(case: Case, answer: WorkloadAnswer, number: int) -> WorkloadPart:
    design = case.design
    chance, asked = words.percent(answer.probability), words.percent(case.result.request.confidence)
    verdict = (
        ("The design meets the target ({target}) with a probability of {chance}, against {asked} asked.")
        if answer.meets_target
        else ("The design does not meet the target ({target}) with a probability of {chance}, against {asked} asked.")
    ).format(target=target_text(answer.workload, answer.dnn), chance=chance, asked=asked)
    circles = (
        " "
        + ("Circles are published runs of this software, listed in the chapter on validation, some on other servers.")
        if answer.evidence
        else ""
    )
    return WorkloadPart(
        name=answer.workload.name,
        verdict=verdict,
        limit=result_text.limit(answer, named=False),
        measured=result_text.measured(answer),
        has_evidence=bool(answer.evidence),
        cold_epoch=result_text.cold_epoch(answer) if answer.time is not None else "",
        stages=stage_table(answer, number),
        figures=figures_table(answer, number),
        time=time_table(answer, number),
        stage_chart=charted(
            f"stage-chart-{number}",
            charts.stage_chart(answer, case.palette),
            (
                "Throughput that each stage could pass. The filled bar limits; thin lines are 90 % "
                "intervals; bars with an arrow are cut."
            ),
        ),
        scaling_chart=charted(
            f"scaling-chart-{number}",
            charts.scaling_chart(answer, design.n_gpus, case.palette) if answer.scaling.n_gpus.size > 1 else None,
            "Projected throughput by size, with storage and platform held fixed." + circles,
        ),
        time_chart=charted(
            f"time-chart-{number}",
            charts.time_chart(answer, case.palette) if case.is_full else None,
            "Where the time of one training goes.",
        ),
        epoch_chart=charted(
            f"epoch-chart-{number}",
            epoch_chart(answer, case.palette) if case.is_full else None,
            "The first epoch reads everything from storage; the later ones read what no cache holds.",
        ),
        accuracy_chart=charted(
            f"accuracy-chart-{number}",
            accuracy_chart(answer, design.n_gpus, case.palette) if case.is_full else None,
            (
                "More GPUs shorten an epoch, but a larger global batch may need more epochs. The band is "
                "the 90 % interval."
            ),
        ),
        doubts=[words.sentence(text) for text in result_text.cautions(answer)],
    )
