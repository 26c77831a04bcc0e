"""The same GPUs in fewer or in more servers, as text for a terminal."""

from collections.abc import Iterator
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.catalog.model import Catalog
from sizer.present.plain_table import table_text
from sizer.present.words import plural
from sizer.questions.scale.analysis import (
    ArrangedDesign,
    ArrangementPair,
    ArrangementRun,
    EqualGpuComparison,
    RowOrder,
    ScaleComparison,
)
from sizer.questions.scale.comparison_text import difference, exclusion_text, storage_text
from sizer.questions.scale.tables import (
    excluded_table,
    hardware_table,
    rates_table,
    scaling_table,
    steps_table,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign

NOTHING = "The catalogue no longer holds the parts of this design, so it cannot be compared."


def scale_document(comparison: ScaleComparison, catalog: Catalog) -> dict[str, Any]:
    """The whole comparison."""
    return json_document(
        "up-or-out",
        comparisons=[_same_gpus(same, catalog) for same in comparison.comparisons],
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


def _same_gpus(same: EqualGpuComparison, catalog: Catalog) -> dict[str, object]:
    return fields_of(
        same,
        *("n_gpus", "storage_nodes", "storage_is_sized"),
        left_out=[{"name": one.name, "reason": exclusion_text(one, same.n_gpus, catalog)} for one in same.excluded],
        arrangements=[_way(same.first, way) for way in same.designs],
        forms=[_pair(pair) for pair in same.form_pairs],
    )


def _pair(pair: ArrangementPair) -> dict[str, object]:
    return {
        "first": pair.first.arrangement.name,
        "second": pair.second.arrangement.name,
        "rate_ratio": pair.rate_ratios,
        "difference": difference(pair),
    }


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
        "difference": "" if way is first else difference(ArrangementPair(first, way)),
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
    yield table_text(hardware_table(ways, catalog, first=same.first))
    pairs = [ArrangementPair(same.first, way) for way in ways if way is not same.first]
    yield "\n".join(f"- {difference(pair)}" for pair in (*pairs, *same.form_pairs))
    excluded = excluded_table(same.excluded, same.n_gpus, catalog)
    if excluded is not None:
        yield table_text(excluded)
