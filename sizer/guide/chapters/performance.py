"""Chapter on performance: capacity of every stage, throughput by size, time to train, and scale up or scale out."""

from dataclasses import dataclass, replace
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import charts, words
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import figures_table, neighbours_table, stage_table, time_table
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.training_charts import accuracy_chart, epoch_chart
from sizer.questions.scale.analysis import ArrangedDesign, ArrangementPair, EqualGpuComparison
from sizer.questions.scale.charts import rates_chart, steps_chart
from sizer.questions.scale.comparison_text import difference, storage_text
from sizer.questions.scale.tables import hardware_table, per_gpu_table, rates_table, short_table, steps_table
from sizer.sizing.checks import CheckResult
from sizer.sizing.result import WorkloadAnswer
from sizer.workload.target_text import target_text

_MEETS = {
    CheckResult.MET: "meets",
    CheckResult.NOT_MET: "does not meet",
    CheckResult.OPEN: "may meet",
}


@dataclass(frozen=True)
class WorkloadPerformance:
    """Text, tables and figures on one workload."""

    name: str
    verdict: str
    bottleneck: str
    measured: str
    has_evidence: bool
    cold_epoch: str
    stages: Table
    figures: Table
    time: Table | None
    stage_chart: PageFigure | None
    scaling_chart: PageFigure | None
    time_chart: PageFigure | None
    epoch_chart: PageFigure | None
    accuracy_chart: PageFigure | None
    cautions: list[str]


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/performance.html`` prints."""
    return {
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "neighbours": neighbours_table(context.result) if context.is_full else None,
        "scale": scale_section(context),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadPerformance:
    palette, n_gpus, is_full = context.palette, context.design.n_gpus, context.is_full
    probability, confidence = words.percent(answer.probability), words.percent(context.result.request.confidence)
    meets = _MEETS[answer.target_check]
    circles = " Circles are published runs with this software, some on other servers." if answer.evidence else ""
    return WorkloadPerformance(
        name=answer.workload.name,
        verdict=(
            f"The design {meets} the target ({target_text(answer.workload, answer.dnn)}): "
            f"the probability is {probability}, the requested confidence {confidence}."
        ),
        bottleneck=result_text.limit(answer, named=False),
        measured=result_text.measured(answer),
        has_evidence=bool(answer.evidence),
        cold_epoch=result_text.cold_epoch(answer) if answer.time is not None else "",
        stages=stage_table(answer, number),
        figures=figures_table(answer, number),
        time=time_table(answer, number),
        stage_chart=charted(
            f"stage-chart-{number}",
            charts.stage_chart(answer, palette),
            "Capacity of each stage. The filled bar is the bottleneck; thin lines are 90 % intervals; "
            "bars with an arrow are truncated.",
        ),
        scaling_chart=charted(
            f"scaling-chart-{number}",
            charts.scaling_chart(answer, n_gpus, palette) if answer.scaling.n_gpus.size > 1 else None,
            "Projected throughput by number of GPUs, with storage and platform fixed." + circles,
        ),
        time_chart=charted(
            f"time-chart-{number}",
            charts.time_chart(answer, palette) if is_full else None,
            "Breakdown of the time to train.",
        ),
        epoch_chart=charted(
            f"epoch-chart-{number}",
            epoch_chart(answer, palette) if is_full else None,
            "The first epoch reads all data from storage; later epochs read only what is not cached.",
        ),
        accuracy_chart=charted(
            f"accuracy-chart-{number}",
            accuracy_chart(answer, n_gpus, palette) if is_full else None,
            "More GPUs shorten an epoch, but a larger global batch may need more epochs. "
            "The band is the 90 % interval.",
        ),
        cautions=[words.sentence(text) for text in result_text.cautions(answer)],
    )


@dataclass(frozen=True)
class ScaleSection:
    """Text, tables and figures on the same GPUs in fewer or in more servers."""

    lead: str
    tables: list[Table]
    figures: list[PageFigure]
    differences: list[str]  # in the full guide


def scale_section(context: GuideContext) -> ScaleSection | None:
    """The section; None where the request allows no second server type for the same number of GPUs.

    Only servers that the request allows are compared; the full guide also compares partly filled servers.
    """
    same = context.same_gpus
    if same is None:
        return None
    allowed = [way for way in same.designs if way.arrangement.is_allowed]
    ways = allowed if context.is_full else [way for way in allowed if way.arrangement.kind != "spread"]
    return ScaleSection(
        lead=_lead(context, same, ways),
        tables=_full_tables(context, ways) if context.is_full else [short_table(ways)],
        figures=_figures(context, ways),
        differences=[difference(ArrangementPair(ways[0], way)) for way in ways[1:]] if context.is_full else [],
    )


def _lead(context: GuideContext, same: EqualGpuComparison, ways: list[ArrangedDesign]) -> str:
    text = (
        f"The same {words.plural(same.n_gpus, 'GPU')} fit in fewer, larger servers or in more, smaller ones. "
        "Larger servers exchange more of the gradients over internal links and need fewer ports; "
        "smaller servers give the same GPUs more host processors and more ports."
    )
    if all(run.step is None for way in ways for run in way.runs):
        text += " Inference exchanges no gradients, so only rack space, power and the hosts differ."
    return f"{text} {storage_text(same, context.design.storage_nodes)}"


def _full_tables(context: GuideContext, ways: list[ArrangedDesign]) -> list[Table]:
    by_workload: list[Table] = []
    for number, answer in enumerate(context.answers):
        suffix = f"-{number + 1}" if context.has_many_workloads else ""
        tables = (rates_table(ways, number, suffix), steps_table(ways, number, suffix))
        prefix = f"{answer.workload.name}: " if context.has_many_workloads else ""
        by_workload += [replace(table, caption=prefix + table.caption) for table in tables if table is not None]
    return [*by_workload, hardware_table(ways, context.catalog), per_gpu_table(ways)]


def _figures(context: GuideContext, ways: list[ArrangedDesign]) -> list[PageFigure]:
    rates = charted(
        "up-or-out-chart",
        rates_chart(ways, palette=context.palette),
        "The same number of GPUs in fewer or in more servers; thin lines are 90 % intervals.",
    )
    steps = charted(
        "up-or-out-steps-chart",
        steps_chart(ways, palette=context.palette) if context.is_full else None,
        "Breakdown of the time of a training step; for gradients, the part not hidden by computation.",
    )
    return [figure for figure in (rates, steps) if figure is not None]
