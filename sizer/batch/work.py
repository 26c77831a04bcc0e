"""What a worker does: it sizes the requests of a chunk and answers with one row each, whatever happens to one."""

import os
import pickle
import signal
import threading
import zlib
from collections.abc import Sequence
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from typing import Any

from sizer.base.errors import CalibrationError, CatalogError, InfeasibleError, RequestError, SizerError
from sizer.base.locale import DEFAULT_LOCALE, use_locale
from sizer.batch.asks import Ask
from sizer.batch.columns import PREFIX, answer_cells
from sizer.batch.keys import cells_of, writable
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.sizing.recommend import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest

Row = dict[str, Any]

SIZED = "sized"
FAILED = "failed"
# Status of a row by the error that ended it.
STATUSES: dict[type[SizerError], str] = {
    RequestError: "refused",
    InfeasibleError: "infeasible",
    CatalogError: "catalogue",
    CalibrationError: "calibration",
}

# Catalogue and calibration of the batches that this process works for, by key; a few megabytes each.
_MOST_KEPT = 2
_kept: dict[str, tuple[Catalog, Calibration]] = {}
_keeping = threading.Lock()


def sized(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> tuple[DesignAnswer, bool]:
    """Recommended design of a request, and whether one server would not do."""
    best = best_design(request, catalog, calibration)
    return best.design, best.needs_cluster


def packed(catalog: Catalog, calibration: Calibration) -> bytes:
    """Catalogue and calibration as they travel to workers."""
    return zlib.compress(pickle.dumps((catalog, calibration), protocol=5), 1)


def keep(key: str, catalog: Catalog, calibration: Calibration) -> None:
    """Have catalogue and calibration at hand for chunks that name the key."""
    with _keeping:
        _kept.pop(key, None)
        _kept[key] = (catalog, calibration)
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]


def prepare(key: str, content: bytes) -> None:
    """Make a new process of our own ready: it ends with its parent, and leaves Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        # A parent that was killed says no goodbye, and an idle worker would wait for it for ever.
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    keep(key, *pickle.loads(zlib.decompress(content)))


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def size_chunk(
    key: str,
    asks: Sequence[Ask],
    content: bytes | None = None,
    n_sent: int = 0,  # noqa: ARG001 -- makes the call differ
) -> list[Row] | None:
    """Rows of some requests, in their order.

    Parameters
    ----------
    key : str
        Names catalogue and calibration.
    asks : sequence of Ask
        The requests.
    content : bytes, optional
        Both, as :func:`packed`.
    n_sent : int
        Differs in every call: Dask takes calls with the same arguments for one.

    Returns
    -------
    list of dict, or None
        None when this process does not have them yet: the chunk is to be sent again with ``content``.
    """
    if content is not None and key not in _kept:
        keep(key, *pickle.loads(zlib.decompress(content)))
    with _keeping:
        found = _kept.get(key)
    if found is None:
        return None
    # A table is for programs, whatever locale the calling thread prints in.
    with use_locale(DEFAULT_LOCALE):
        return [answered(ask, *found) for ask in asks]


def answered(ask: Ask, catalog: Catalog, calibration: Calibration) -> Row:
    """Row of one request: what was asked, then status and answer."""
    told: Row | None = None
    try:
        if ask.request is None:
            return _row(ask.told(), ask.place, "refused", ask.refusal)
        request = ask.request
        if not isinstance(request, SizingRequest):
            request = SizingRequest.from_dict(request, ask.place)
        told = cells_of(request)
        design, needs_cluster = sized(request, catalog, calibration)
        return {**_row(told, ask.place, SIZED), **answer_cells(design, needs_cluster)}
    except SizerError as error:
        status = next((word for kind, word in STATUSES.items() if isinstance(error, kind)), FAILED)
        return _row(told or ask.told(), ask.place, status, str(error))
    except Exception as error:  # a fault of the program in one request must not lose the other hundred thousand
        return _row(told or {}, ask.place, FAILED, f"{type(error).__name__}: {error}")


def failed(ask: Ask, reason: str) -> Row:
    """Row of a request that no worker could answer."""
    return _row(ask.told(), ask.place, FAILED, reason)


def _row(told: Row, place: str, status: str, error: str | None = None) -> Row:
    error = None if error is None else writable(error)
    return {**told, f"{PREFIX}place": writable(place), f"{PREFIX}status": status, f"{PREFIX}error": error}
