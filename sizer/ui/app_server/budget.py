"""Answers in worker processes, each within a budget of processor time and memory."""

import resource
import signal
from collections.abc import Callable, Mapping
from typing import Any

from sizer.base.errors import SizerError
from sizer.base.units import GIB
from sizer.base.worker_process import REQUESTS, WorkerLostError, apart

CPU_S, MEMORY_BYTES = 120, 2 * GIB


class BudgetError(SizerError):
    """An answer takes more processor time or memory than it may."""


def within_budget(function: Callable[..., Any], *arguments: object, cpu_s: float = CPU_S, **named: object) -> Any:
    """What a function of a module returns, called in a worker process.

    Raises BudgetError if it takes more processor time or memory than an answer may; else what the function raises.
    """
    try:
        return apart(_limited, cpu_s, function, arguments, named, pool=REQUESTS)
    except (WorkerLostError, MemoryError):
        message = f"the answer takes more than {cpu_s:g} s or {MEMORY_BYTES / GIB:g} GiB; limit the request"
        raise BudgetError(message) from None


def _limited(
    cpu_s: float, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], _told: Any
) -> Any:
    # Not RLIMIT_CPU, which counts whole seconds: the default action of the timer's signal is to end the process.
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = int(MEMORY_BYTES) if hard == resource.RLIM_INFINITY else min(int(MEMORY_BYTES), hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        return function(*arguments, **named)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
