"""The same GPUs in fewer or in more servers, as text for a terminal."""

from collections.abc import Iterator

from sizer.present.plain_table import table_text
from sizer.present.words import plural
from sizer.questions.scale.analysis import ArrangementPair, EqualGpuComparison, RowOrder, ScaleComparison
from sizer.questions.scale.comparison_text import difference, storage_text
from sizer.questions.scale.tables import (
    excluded_table,
    hardware_table,
    per_gpu_table,
    rates_table,
    scaling_table,
    steps_table,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign

NOTHING = "The catalogue no longer holds the parts of this design, so it cannot be compared."


def scale_text(comparison: ScaleComparison, evaluated: EvaluatedDesign, order: RowOrder = "listed") -> str:
    """Tables and sentences of every number of GPUs.

    ``evaluated``: its design was compared. ``order``: order of the rows; every row is still compared with the first
    one as listed.
    """
    if not comparison.comparisons:
        return NOTHING
    parts = [part for same in comparison.comparisons for part in _parts(same, evaluated, order)]
    if comparison.scaling_steps:
        numbers = range(len(evaluated.result.design.workloads))
        parts += [table_text(scaling_table(comparison.scaling_steps, number)) for number in numbers]
    return "\n\n".join(parts)


def _parts(same: EqualGpuComparison, evaluated: EvaluatedDesign, order: RowOrder) -> Iterator[str]:
    design, catalog = evaluated.result.design, evaluated.catalog
    title = f"{plural(same.n_gpus, 'GPU')}: scale up or scale out"
    yield f"{title}\n{'=' * len(title)}\n{storage_text(same, design.storage_nodes)}"
    ways, works = same.ordered(order), design.workloads
    for number, answer in enumerate(works):
        if len(works) > 1:
            yield f"{answer.workload.name}:"
        for table in (rates_table(ways, number, first=same.first), steps_table(ways, number, first=same.first)):
            if table is not None:
                yield table_text(table)
    for table in (hardware_table(ways, catalog, first=same.first), per_gpu_table(ways, first=same.first)):
        yield table_text(table)
    pairs = [ArrangementPair(same.first, way) for way in ways if way is not same.first]
    yield "\n".join(f"- {difference(pair)}" for pair in (*pairs, *same.form_pairs))
    excluded = excluded_table(same.excluded, same.n_gpus, catalog)
    if excluded is not None:
        yield table_text(excluded)
