"""The work of a worker: it sizes the requests of a chunk and returns one row for each, also where one fails."""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from math import prod
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from sizer.base.errors import CalibrationError, CatalogError, InfeasibleError, RequestError, SizerError, reported
from sizer.base.locale import DEFAULT_LOCALE, use_locale
from sizer.base.stored_answers import StoredAnswers, stores_by_catalog
from sizer.base.streams import CPU_S, processor_time
from sizer.batch.columns import PREFIX, answer_cells, cells_of, design_cells, writable
from sizer.batch.requests import SENTENCE, BatchRequest
from sizer.bom.lines import bill
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING
from sizer.sizing.best_design import BestDesign, BestRow, best_row
from sizer.sizing.design.design_checks import conditional_on, missing_for_rate
from sizer.sizing.design.evaluate_design import MOST_CERTAIN, built_design, unused_software, workload_figures
from sizer.sizing.recommend import binding_of
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.need import read_words
from sizer.workload.request import SizingRequest


class _Built(NamedTuple):
    """What a batch tells of a design whatever runs on it."""

    cells: dict[str, Any]
    gateway_bytes_per_s: float
    unknown_power: tuple[str, ...]


_designs: Callable[[Catalog], StoredAnswers[_Built]] = stores_by_catalog(16384)  # 1.4 kB each


def cells_of_answer(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> dict[str, Any]:
    """Cells of the design that :func:`sizer.sizing.best_design.best_design` finds.

    Raises RequestError, InfeasibleError as :func:`sizer.sizing.size.size`.
    """
    best = best_row(request, catalog, calibration)
    return cells_of_design(best) if isinstance(best, BestDesign) else _of_row(best, calibration)


def cells_of_design(best: BestDesign) -> dict[str, Any]:
    """Cells of a design that is written out in full."""
    design = best.design
    built = design_cells(design.platform, design.n_servers, design.storage_nodes, design.quantities, design.bill)
    return answer_cells(design.workloads, design.probability, design.binding, best.needs_cluster, built)


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
        prices.fitted(platform),
        request.currency,
        request.date,
        request.quote,
        needed_by=request.needed_by,
        is_documented=False,
    )
    cells = design_cells(platform, n_servers, storage_nodes, parts, priced)
    return _Built(cells, float(parts.gateway_bytes_per_s[0]), parts.unknown_power)


Row = dict[str, Any]

SIZED = "sized"
FAILED = "failed"
# Status of a row by its error.
STATUSES: dict[type[SizerError], str] = {
    RequestError: "refused",
    InfeasibleError: "infeasible",
    CatalogError: "catalogue",
    CalibrationError: "calibration",
}

# Catalogue and calibration of the batches that this process works for, by key; a few megabytes each.
_MOST_LOADED = 2
_loaded: dict[str, tuple[Catalog, Calibration]] = {}
_loading = threading.Lock()


def load_models(key: str, catalog: Catalog, calibration: Calibration) -> None:
    """Load catalogue and calibration for chunks that name the key."""
    with _loading:
        _loaded.pop(key, None)
        _loaded[key] = (catalog, calibration)
        while len(_loaded) > _MOST_LOADED:
            del _loaded[next(iter(_loaded))]


def start_worker(key: str, content: bytes) -> None:
    """Set up a new worker process: it ends with its parent, which alone handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        # A killed parent sends no message; an idle worker would wait for it for ever.
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    load_models(key, *pickle.loads(content))


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def size_chunk(
    key: str,
    requests: Sequence[BatchRequest],
    content: bytes | None = None,
    n_submitted: int = 0,  # noqa: ARG001 -- makes the call differ
) -> list[Row] | None:
    """Rows of some requests, in their order.

    ``key``: names catalogue and calibration. ``requests``: the requests. ``content``: both, pickled.
    ``n_submitted``: differs in every call: Dask merges calls with the same arguments. Returns none when this process
    has not loaded them: send the chunk again with ``content``.
    """
    if content is not None and key not in _loaded:
        load_models(key, *pickle.loads(content))
    with _loading:
        loaded = _loaded.get(key)
    if loaded is None:
        return None
    # A table is for programs, whatever locale the calling thread prints in.
    with use_locale(DEFAULT_LOCALE):
        return [answer_row(batch_request, *loaded) for batch_request in requests]


def answer_row(batch_request: BatchRequest, catalog: Catalog, calibration: Calibration) -> Row:
    """Row of one request: its keys, then status and answer."""
    cells: Row | None = None
    try:
        if batch_request.request is None:
            return _row(batch_request.request_cells(), batch_request.place, "refused", batch_request.refusal)
        request = batch_request.request
        if not isinstance(request, SizingRequest):
            request = mapped_request(request, catalog, batch_request.place)
        cells = cells_of(request)
        with processor_time(CPU_S):
            answer = cells_of_answer(request, catalog, calibration)
        return {**_row(cells, batch_request.place, SIZED), **answer}
    except SizerError as error:
        status = next((word for kind, word in STATUSES.items() if isinstance(error, kind)), FAILED)
        return _row(cells or batch_request.request_cells(), batch_request.place, status, str(error))
    except Exception as error:  # a fault of the program in one request must not lose the other hundred thousand
        return _row(cells or {}, batch_request.place, FAILED, reported(error))


def mapped_request(mapping: dict[str, Any], catalog: Catalog, place: str) -> SizingRequest:
    """The request of a mapping; one with a sentence is read, and its other keys rule over what is read.

    Raises RequestError if it is not valid, or something of the sentence has to be answered first.
    """
    keys = {key: value for key, value in mapping.items() if key != SENTENCE}
    if SENTENCE not in mapping:
        return SizingRequest.from_dict(keys, place)
    reading = read_words(mapping[SENTENCE], catalog, keys)
    if reading.question is not None:
        raise RequestError(f"{place}: {reading.question.text}")
    return SizingRequest.from_dict(reading.request, place)


def failed_row(batch_request: BatchRequest, reason: str) -> Row:
    """Row of a request that no worker could answer."""
    return _row(batch_request.request_cells(), batch_request.place, FAILED, reason)


def _row(cells: Row, place: str, status: str, error: str | None = None) -> Row:
    error = None if error is None else writable(error)
    return {**cells, f"{PREFIX}place": writable(place), f"{PREFIX}status": status, f"{PREFIX}error": error}
