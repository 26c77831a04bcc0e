"""Answers of a batch: the figures of its table and no more, so that a hundred thousand of them take minutes."""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from sizer.base.stored_answers import StoredAnswers, stores_by_catalog
from sizer.batch.columns import answer_cells, design_cells
from sizer.bom.lines import bill
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING
from sizer.sizing.best_design import BestDesign, BestRow, best_row
from sizer.sizing.design.design_checks import conditional_on, missing_for_rate
from sizer.sizing.design.evaluate_design import built_design, unused_software
from sizer.sizing.design.workload_figures import MOST_CERTAIN, figures_of, workload_figures
from sizer.sizing.recommend import binding_of
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import SizingRequest


class _Built(NamedTuple):
    """What a batch tells of a design whatever runs on it."""

    cells: dict[str, Any]
    gateway_bytes_per_s: float
    unknown_power: tuple[str, ...]


_designs: Callable[[Catalog], StoredAnswers[_Built]] = stores_by_catalog(16384)  # 1.4 kB each


def cells_of_answer(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> dict[str, Any]:
    """Cells of the design that :func:`sizer.sizing.best_design.best_design` finds.

    Raises
    ------
    RequestError, InfeasibleError
        As :func:`sizer.sizing.size.size`.
    """
    best = best_row(request, catalog, calibration)
    return cells_of_design(best) if isinstance(best, BestDesign) else _of_row(best, calibration)


def cells_of_design(best: BestDesign) -> dict[str, Any]:
    """Cells of a design that is written out in full."""
    design = best.design
    built = design_cells(design.platform, design.n_servers, design.storage_nodes, design.quantities, design.bill)
    answers = [figures_of(answer) for answer in design.workloads]
    return answer_cells(answers, design.probability, design.binding, best.needs_cluster, built)


def _of_row(best: BestRow, calibration: Calibration) -> dict[str, Any]:
    counts, row, platform = best.counts, best.row, best.platform
    request, evaluated, catalog = counts.request, counts.evaluated, counts.catalog
    n_servers, nodes = int(evaluated.space.n_servers[row]), int(evaluated.storage_nodes[row])
    built = _built(request, platform, n_servers, nodes, catalog, counts.prices)
    answers, chances, unknown = [], [], []
    for work in evaluated.works:
        run = run_on(request, work, platform, [n_servers], nodes, built.gateway_bytes_per_s, catalog, calibration)
        missing = missing_for_rate(platform, run, catalog)
        answers.append(workload_figures(request, platform, run, missing, catalog))
        chances.append(float(run.probability[0]))
        unknown.append(missing)
    is_open = bool(conditional_on(platform, unknown, built.unknown_power, request.limits, catalog))
    probability = None if is_open else min(prod(chances), MOST_CERTAIN)
    return answer_cells(answers, probability, binding_of(counts, row), best.needs_cluster, built.cells)


def _built(
    request: SizingRequest, platform: Platform, n_servers: int, storage_nodes: int, catalog: Catalog, prices: PriceBook
) -> _Built:
    """What a batch tells of a design; kept for the next request, many of which end at the same one."""
    if request.existing != NOTHING_EXISTING:
        return _newly_built(request, platform, n_servers, storage_nodes, catalog, prices)
    key = (
        platform,
        n_servers,
        storage_nodes,
        prices,
        # Of the room's limits only what a rack is fed with changes how a design is built.
        *(request.limits.rack_power_w, request.fabric, request.site, request.currency),
        *(request.date, request.quote, request.needed_by),
        unused_software(request, catalog),
    )
    return _designs(catalog).get(
        key, lambda: _newly_built(request, platform, n_servers, storage_nodes, catalog, prices)
    )


def _newly_built(
    request: SizingRequest, platform: Platform, n_servers: int, storage_nodes: int, catalog: Catalog, prices: PriceBook
) -> _Built:
    parts, _ = built_design(request, platform, n_servers, storage_nodes, catalog)
    priced = bill(
        parts.components,
        catalog,
        prices,
        request.currency,
        request.date,
        request.quote,
        needed_by=request.needed_by,
        is_documented=False,
    )
    cells = design_cells(platform, n_servers, storage_nodes, parts, priced)
    return _Built(cells, float(parts.gateway_bytes_per_s[0]), parts.unknown_power)
