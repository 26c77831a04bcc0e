"""The engine of charts, Vega in a JavaScript machine of 70 MB: loaded in a process of its own, never in this one."""

import importlib
import json
import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

from sizer.base.errors import ReportError
from sizer.base.resources import data_dir
from sizer.base.worker_process import CHARTS, Progress, WorkerLostError, apart, start_workers

_VEGA_LITE = "6.4"
_FIRST = {"data": {"values": [{}]}, "mark": "point"}


def prepare_charts() -> None:
    """Start the process that draws charts."""
    start_workers("sizer.present.chart_engine.loaded", count=1, pool=CHARTS)


def vega_svg(spec: dict[str, Any]) -> str:
    """SVG of a Vega-Lite specification.

    Raises ReportError if the process that draws it is lost.
    """
    try:
        svg: str = apart(_svg_here, json.dumps(spec), pool=CHARTS)
    except WorkerLostError as error:
        raise ReportError(f"the process that draws charts ended with {error}; make the document again") from None
    return svg


def vega_svg_meanwhile(spec: dict[str, Any]) -> Future[str]:
    """What :func:`vega_svg` returns, drawn while this thread goes on; one chart after the other."""
    return _thread().submit(vega_svg, spec)


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread.cache_clear)  # the thread stays with the parent


def load_here() -> None:
    """Draw a first chart in this process: starting the engine takes longer than all charts of a guide."""
    _svg_here(json.dumps(_FIRST), lambda _: None)


def _svg_here(spec: str, _: Progress) -> str:
    svg: str = _engine().vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[])
    return svg


@cache
def _engine() -> Any:
    engine = importlib.import_module("vl_convert")
    # Without the shipped font it measures the text of another one and the margins come out wrong.
    engine.register_font_directory(str(data_dir("reports") / "fonts"))
    return engine
