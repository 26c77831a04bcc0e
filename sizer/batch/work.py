"""The work of a worker: it sizes the requests of a chunk and returns one row for each, also where one fails."""

import os
import pickle
import signal
import threading
import zlib
from collections.abc import Sequence
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import Any

from sizer.base.error_report import reported
from sizer.base.errors import CalibrationError, CatalogError, InfeasibleError, RequestError, SizerError
from sizer.base.locale import DEFAULT_LOCALE, use_locale
from sizer.batch.answer import cells_of_answer
from sizer.batch.columns import PREFIX
from sizer.batch.keys import cells_of, writable
from sizer.batch.requests import SENTENCE, BatchRequest
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.workload.need import read_words
from sizer.workload.request import SizingRequest

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


def pickled_models(catalog: Catalog, calibration: Calibration) -> bytes:
    """Catalogue and calibration as they are sent to workers."""
    return zlib.compress(pickle.dumps((catalog, calibration), protocol=5), 1)


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
    load_models(key, *pickle.loads(zlib.decompress(content)))


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

    Parameters
    ----------
    key : str
        Names catalogue and calibration.
    requests : sequence of BatchRequest
        The requests.
    content : bytes, optional
        Both, as :func:`pickled_models`.
    n_submitted : int
        Differs in every call: Dask merges calls with the same arguments.

    Returns
    -------
    list of dict, or None
        None when this process has not loaded them: send the chunk again with ``content``.
    """
    if content is not None and key not in _loaded:
        load_models(key, *pickle.loads(zlib.decompress(content)))
    with _loading:
        found = _loaded.get(key)
    if found is None:
        return None
    # A table is for programs, whatever locale the calling thread prints in.
    with use_locale(DEFAULT_LOCALE):
        return [answer_row(batch_request, *found) for batch_request in requests]


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
        answer = cells_of_answer(request, catalog, calibration)
        return {**_row(cells, batch_request.place, SIZED), **answer}
    except SizerError as error:
        status = next((word for kind, word in STATUSES.items() if isinstance(error, kind)), FAILED)
        return _row(cells or batch_request.request_cells(), batch_request.place, status, str(error))
    except Exception as error:  # a fault of the program in one request must not lose the other hundred thousand
        return _row(cells or {}, batch_request.place, FAILED, reported(error))


def mapped_request(mapping: dict[str, Any], catalog: Catalog, place: str) -> SizingRequest:
    """The request of a mapping; one with a sentence is read, and its other keys rule over what is read.

    Raises
    ------
    RequestError
        If it is not valid, or something of the sentence has to be answered first.
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
