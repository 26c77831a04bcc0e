"""Performance in detail: method, every stage, where the time goes, neighbours, and the same GPUs in other servers."""

from dataclasses import replace
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import neighbours_table, serving_table, stage_table
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.workload_charts import workload_figure
from sizer.questions.scale.analysis import ArrangedDesign, ArrangementPair
from sizer.questions.scale.charts import rates_chart
from sizer.questions.scale.text import arrangements_text, difference, hardware_table, rates_table, steps_table
from sizer.sizing.result import WorkloadAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/performance.html`` prints."""
    return {
        "has_stages": not context.only_serves,
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
        "neighbours": neighbours_table(context.result),
        "scale": scale_section(context),
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> dict[str, Any]:
    # The guide draws the time to train of a single workload.
    draws = {"time": True, "epoch": True, "accuracy": context.has_many_workloads}
    return {
        "name": answer.workload.name,
        "measured": result_text.measured(answer),
        "has_evidence": bool(answer.evidence),
        # Of a language model in use: what its users see.
        "stages": serving_table(context.design, answer, number) or stage_table(answer, number),
        "charts": {
            name: workload_figure(name, answer, number, context.design.n_gpus, context.palette) if is_drawn else None
            for name, is_drawn in draws.items()
        },
        "cautions": [words.sentence(text) for text in result_text.cautions(answer)],
    }


def scale_section(context: GuideContext) -> dict[str, Any] | None:
    """The same GPUs in fewer or in more servers; None where the request allows no second server type for them."""
    same = context.same_gpus
    if same is None:
        return None
    ways = [way for way in same.designs if way.arrangement.is_allowed]
    return {
        "lead": arrangements_text(same, ways, context.design.storage_nodes),
        "tables": _tables(context, ways),
        "figures": _figures(context, ways),
        "differences": [difference(ArrangementPair(ways[0], way)) for way in ways[1:]],
    }


def _tables(context: GuideContext, ways: list[ArrangedDesign]) -> list[Table]:
    by_workload: list[Table] = []
    for number, answer in enumerate(context.answers):
        suffix = f"-{number + 1}" if context.has_many_workloads else ""
        tables = (rates_table(ways, number, suffix), steps_table(ways, number, suffix))
        prefix = f"{answer.workload.name}: " if context.has_many_workloads else ""
        by_workload += [replace(table, caption=prefix + table.caption) for table in tables if table is not None]
    return [*by_workload, hardware_table(ways, context.catalog)]


def _figures(context: GuideContext, ways: list[ArrangedDesign]) -> list[PageFigure]:
    rates = charted(
        "up-or-out-chart",
        rates_chart(ways, palette=context.palette),
        "The same number of GPUs in fewer or in more servers; thin lines are 90 % intervals.",
    )
    return [] if rates is None else [rates]
