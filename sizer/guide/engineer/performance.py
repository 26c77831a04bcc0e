"""Performance in detail: method, every stage, where the time goes, neighbours, and the same GPUs in other servers."""

from dataclasses import dataclass, replace
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import training_charts, words
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import neighbours_table, serving_table, stage_table
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.training_charts import accuracy_caption, accuracy_chart, epoch_chart
from sizer.questions.scale.analysis import ArrangedDesign, ArrangementPair
from sizer.questions.scale.charts import rates_chart, steps_chart
from sizer.questions.scale.comparison_text import arrangements_text, difference
from sizer.questions.scale.tables import hardware_table, per_gpu_table, rates_table, steps_table
from sizer.sizing.result import WorkloadAnswer


@dataclass(frozen=True)
class WorkloadDetails:
    """Text, tables and figures on one workload."""

    name: str
    measured: str
    has_evidence: bool
    stages: Table  # of a language model in use: what its users see
    time_chart: PageFigure | None
    epoch_chart: PageFigure | None
    accuracy_chart: PageFigure | None
    cautions: list[str]


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/performance.html`` prints."""
    return {
        "has_stages": not context.only_serves,
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "neighbours": neighbours_table(context.result),
        "scale": scale_section(context),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> WorkloadDetails:
    palette = context.palette
    return WorkloadDetails(
        name=answer.workload.name,
        measured=result_text.measured(answer),
        has_evidence=bool(answer.evidence),
        stages=serving_table(context.design, answer, number) or stage_table(answer, number),
        time_chart=charted(
            f"time-chart-{number}", training_charts.time_chart(answer, palette), "Breakdown of the time to train."
        ),
        epoch_chart=charted(
            f"epoch-chart-{number}",
            epoch_chart(answer, palette),
            "The first epoch reads all data from storage; later epochs read only what is not cached.",
        ),
        accuracy_chart=charted(
            f"accuracy-chart-{number}",
            # The guide draws the one of a single workload.
            accuracy_chart(answer, context.design.n_gpus, palette) if context.has_many_workloads else None,
            accuracy_caption(answer),
        ),
        cautions=[words.sentence(text) for text in result_text.cautions(answer)],
    )


@dataclass(frozen=True)
class ArrangementsSection:
    """Text, tables and figures on the same GPUs in fewer or in more servers, partly filled ones included."""

    lead: str
    tables: list[Table]
    figures: list[PageFigure]
    differences: list[str]


def scale_section(context: GuideContext) -> ArrangementsSection | None:
    """The section; None where the request allows no second server type for the same number of GPUs."""
    same = context.same_gpus
    if same is None:
        return None
    ways = [way for way in same.designs if way.arrangement.is_allowed]
    return ArrangementsSection(
        lead=arrangements_text(same, ways, context.design.storage_nodes),
        tables=_tables(context, ways),
        figures=_figures(context, ways),
        differences=[difference(ArrangementPair(ways[0], way)) for way in ways[1:]],
    )


def _tables(context: GuideContext, ways: list[ArrangedDesign]) -> list[Table]:
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
        steps_chart(ways, palette=context.palette),
        "Breakdown of the time of a training step; for gradients, the part not hidden by computation.",
    )
    return [figure for figure in (rates, steps) if figure is not None]
