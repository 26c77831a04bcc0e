"""Another target or confidence, such that a request asks for a given number of servers of one platform."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.sizing.recommend import most_servers
from sizer.sizing.servers_needed import fewest_servers
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest, Target

# Targets are loosened by at most the first factor, tightened by at most the second: one server that serves a small team
# may be enough for a hundred such teams.
_MOST_LOOSENED, _MOST_TIGHTENED = 32.0, 1024.0
# A factor is found as closely as this: well below the three digits that a changed target keeps.
_FACTOR_RATIO = 1.00085
_DIGITS = 3
_LEAST_CONFIDENCE_PERCENT = 50  # below it the request takes none


def at_lower_confidence(
    n_servers: int, request: SizingRequest, platform: Platform, catalog: Catalog, fitted: Calibration
) -> SizingRequest | None:
    """The request at the highest confidence, in whole percent, that so many servers reach."""
    servers = _Servers(platform, most_servers(request, n_servers), catalog, fitted)

    def at(percent: int) -> SizingRequest:
        return request.model_copy(update={"confidence": percent / 100})

    def suffices(percent: int) -> bool:
        needed = servers.asked_by(at(percent))
        return needed is not None and needed <= n_servers

    low, high = _LEAST_CONFIDENCE_PERCENT, math.ceil(100 * request.confidence - 1e-9)
    if high <= low or not suffices(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return at(low)


def with_looser_targets(
    n_servers: int, request: SizingRequest, platform: Platform, catalog: Catalog, fitted: Calibration
) -> SizingRequest | None:
    """The request with the tightest targets that so many servers meet."""
    gpus = _gpus_used(request, platform) * n_servers
    servers = _Servers(platform, most_servers(request, n_servers), catalog, fitted)

    def suffices(factor: float) -> bool:
        needed = servers.asked_by(_scaled(request, factor, at_most=gpus))
        return needed is not None and needed <= n_servers

    factor = _edge(suffices, 1 / _MOST_LOOSENED, 1.0)
    return None if factor is None else _scaled(request, factor, at_most=gpus)


def leading_to(
    n_servers: int, request: SizingRequest, platform: Platform, catalog: Catalog, fitted: Calibration
) -> SizingRequest | None:
    """The request itself, or with the loosest tighter targets that ask for so many servers; None where none does."""
    servers = _Servers(platform, most_servers(request, n_servers), catalog, fitted)
    needed = servers.asked_by(request)
    if needed is None or needed >= n_servers:
        return request if needed == n_servers else None
    busy = _keeping_busy(request, _gpus_used(request, platform) * n_servers)
    if busy is not None:
        return busy

    def stays_below(factor: float) -> bool:
        count = servers.asked_by(_scaled(request, factor))
        return count is not None and count < n_servers

    factor = _edge(stays_below, 1.0, _MOST_TIGHTENED, outer=True)
    if factor is None:
        return None
    tighter = _scaled(request, factor)
    return tighter if servers.asked_by(tighter) is not None else None


@dataclass(frozen=True)
class _Servers:
    """Servers of a platform that requests need which differ in targets or confidence only."""

    platform: Platform
    most: int
    catalog: Catalog
    calibration: Calibration

    def asked_by(self, request: SizingRequest) -> int | None:
        """Fewest servers of a request."""
        works = resolved(request, self.catalog, self.calibration)
        return fewest_servers(request, works, self.platform, self.most, self.catalog, self.calibration)


def _edge(holds: Callable[[float], bool], low: float, high: float, *, outer: bool = False) -> float | None:
    """Largest factor, to three digits, at which a condition holds that fails above it; ``outer``: the next above.

    None where it does not hold at ``low``, or where ``outer`` and it still holds at ``high``.
    """
    if not holds(low) or (outer and holds(high)):
        return None
    while high / low > _FACTOR_RATIO:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high if outer else low


def _gpus_used(request: SizingRequest, platform: Platform) -> int:
    used = request.platforms.gpus_per_server or platform.gpus_per_server
    return min(used, platform.gpus_per_server)


def _keeping_busy(request: SizingRequest, n_gpus: int) -> SizingRequest | None:
    """The request with its largest number of busy GPUs raised; None where no workload asks for one."""
    counts = [work.target.gpus_busy or 0 for work in request.workload]
    most = max(counts)
    if not most:
        return None
    works = [
        work.model_copy(update={"target": work.target.model_copy(update={"gpus_busy": n_gpus})})
        if count == most
        else work
        for work, count in zip(request.workload, counts, strict=True)
    ]
    return request.model_copy(update={"workload": tuple(works)})


def _scaled(request: SizingRequest, factor: float, at_most: int | None = None) -> SizingRequest:
    """The request with rates times a factor, times through it, and at most so many GPUs kept busy.

    A tighter target is rounded to the stricter side, a looser one to the looser.
    """
    works = []
    for work in request.workload:
        target = work.target
        update: dict[str, float | int] = {}
        if target.samples_per_s is not None:
            update["samples_per_s"] = _rounded(target.samples_per_s * factor, up=factor > 1)
        elif target.tokens_per_s is not None:
            update["tokens_per_s"] = _rounded(target.tokens_per_s * factor, up=factor > 1)
        elif target.time_to_train_s is not None:
            update["time_to_train_s"] = _rounded(target.time_to_train_s / factor, up=factor < 1)
        elif (name := _of_serving(target)) is not None:
            value = _rounded(getattr(target, name) * factor, up=factor > 1)
            update[name] = value if name == "requests_per_s" else max(round(value), 1)
        elif target.gpus_busy is not None and at_most is not None:
            update["gpus_busy"] = min(target.gpus_busy, at_most)
        works.append(work.model_copy(update={"target": target.model_copy(update=update)}))
    return request.model_copy(update={"workload": tuple(works)})


def _of_serving(target: Target) -> str | None:
    """Key of a target that counts requests or people; None of others."""
    keys = ("requests_per_s", "concurrent_requests", "active_users", "users")
    return next((key for key in keys if getattr(target, key) is not None), None)


def _rounded(value: float, *, up: bool) -> float:
    """Value to three significant digits, upwards or downwards."""
    step = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    count = math.ceil(value / step - 1e-9) if up else math.floor(value / step + 1e-9)
    # The product of a whole number and a power of ten, as a person would type it.
    return float(f"{count * step:.12g}")
