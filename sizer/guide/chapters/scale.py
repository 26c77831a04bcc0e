"""A section of chapter 8: the same GPUs in fewer or in more servers."""

from dataclasses import dataclass, replace

from sizer.guide.chapters.case import Case
from sizer.present import words
from sizer.present.figures import Figure, charted
from sizer.present.tables import Table
from sizer.questions.scale.analysis import Pair, SameGpus, Way
from sizer.questions.scale.charts import rates_chart, steps_chart
from sizer.questions.scale.comparison_text import difference, storage_words
from sizer.questions.scale.tables import per_gpu_table, rates_table, short_table, steps_table, things_table


@dataclass(frozen=True)
class ScalePart:
    """What the section prints."""

    lead: str
    tables: list[Table]
    figures: list[Figure]
    differences: list[str]  # of the full guide


def scale_part(case: Case) -> ScalePart | None:
    """The section; None where the request allows no second kind of server that takes as many GPUs.

    A guide shows what the request allows: the short one servers with no GPU idle, the full one the same servers half
    used, too. What else could be compared is a question for the app and the command line.
    """
    same = case.same_gpus
    if same is None:
        return None
    allowed = [way for way in same.ways if way.arrangement.is_allowed]
    ways = allowed if case.is_full else [way for way in allowed if way.arrangement.kind != "spread"]
    return ScalePart(
        lead=_lead(case, same, ways),
        tables=_full_tables(case, ways) if case.is_full else [short_table(ways)],
        figures=_figures(case, ways),
        differences=[difference(Pair(ways[0], way)) for way in ways[1:]] if case.is_full else [],
    )


def _lead(case: Case, same: SameGpus, ways: list[Way]) -> str:
    text = (
        f"The same {words.plural(same.n_gpus, 'GPU')} can stand in fewer, larger servers or in "
        "more, smaller ones. Larger servers exchange more of the gradients over their own links "
        "and need fewer ports; smaller ones bring more host processors and more ports to the "
        "same GPUs."
    )
    if all(run.split is None for way in ways for run in way.runs):
        text += " " + "Validation exchanges no gradients, so only rack space, power and the hosts differ."
    return f"{text} {storage_words(same, case.design.storage_nodes)}"


def _full_tables(case: Case, ways: list[Way]) -> list[Table]:
    found: list[Table] = []
    for number, answer in enumerate(case.answers):
        suffix = f"-{number + 1}" if case.has_many_workloads else ""
        tables = (rates_table(ways, number, suffix), steps_table(ways, number, suffix))
        whose = f"{answer.workload.name}: " if case.has_many_workloads else ""
        found += [replace(table, caption=whose + table.caption) for table in tables if table is not None]
    return [*found, things_table(ways, case.catalog), per_gpu_table(ways)]


def _figures(case: Case, ways: list[Way]) -> list[Figure]:
    rates = charted(
        "up-or-out-chart",
        rates_chart(ways, palette=case.palette),
        "The same number of GPUs in fewer or in more servers; thin lines are 90 % intervals.",
    )
    steps = charted(
        "up-or-out-steps-chart",
        steps_chart(ways, palette=case.palette) if case.is_full else None,
        "Where the time of a training step goes; of the gradients what computing does not hide.",
    )
    return [figure for figure in (rates, steps) if figure is not None]
