"""Alternatives to the design that a result describes, each with the request that leads to it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import NARROW_SPACE, plain
from sizer.calibrate.calibration import Calibration
from sizer.catalog.items import Item
from sizer.catalog.labels import item_name, sentence
from sizer.catalog.model import Catalog
from sizer.catalog.sale import as_sold_as
from sizer.physical.allowed_parts import narrowed_to
from sizer.physical.platform import Platform
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import cost_difference, speed_up
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.reasons import CostDifference
from sizer.sizing.recommend import most_servers
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.servers_needed import fewest_servers
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.quote import QuoteOverride
from sizer.workload.request import SizingRequest, Target
from sizer.workload.target_text import target_text

VendorKind = Literal["other server", "other storage"]
NeighbourKind = Literal["cheaper", "faster", "smaller", "simplest", "simplest of all", "other server", "other storage"]
NEARBY_KINDS: tuple[NeighbourKind, ...] = ("cheaper", "smaller", "faster")
VENDOR_KINDS: tuple[VendorKind, ...] = ("other server", "other storage")

# A design is called faster from this gain of the median on: less is hardly visible within the 90 % intervals.
_NOTICEABLE = 0.1
# Sizes tried for a faster design before the platform counts as exhausted.
_TRIES = 4
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


@dataclass(frozen=True)
class Neighbour:
    """An alternative to the described design.

    ``request`` leads to it: sized again it gives the same design.
    """

    kind: NeighbourKind
    request: SizingRequest
    design: DesignAnswer
    cost: CostDifference | None = None  # of a cheaper one: alternative - described design
    target_probability: float | None = None  # of one with other targets: that it meets the original ones


def nearby_designs(evaluated: EvaluatedDesign) -> tuple[Neighbour, ...]:
    """Cheaper, smaller and faster than the described design, as far as there are such.

    Smaller and faster stay on the platform of the design and are resized, each in the time of a narrow request.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    found = (change(result, catalog, fitted) for change in (_cheaper, _smaller, _faster))
    return tuple(one for one in found if one is not None)


def other_vendors(evaluated: EvaluatedDesign) -> tuple[Neighbour, ...]:
    """Best design of another server vendor, and of another storage vendor, that meets the same request.

    Only the list of servers, or only the list of storage, is widened. Several vendors are in the order of the search,
    which is no ranking unless the request names a key or prices decide.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    found = (_other_vendor(result, catalog, fitted, kind) for kind in VENDOR_KINDS)
    return tuple(one for one in found if one is not None)


def _with_platforms(request: SizingRequest, **lists: list[str]) -> SizingRequest:
    data = request.model_dump(exclude_none=True)
    return SizingRequest.from_dict({**data, "platforms": {**data["platforms"], **lists}})


def on_platform(request: SizingRequest, platform: Platform) -> SizingRequest:
    """The request with one server, its GPU and one storage; fabric and drives are the best of these again."""
    return _with_platforms(
        request,
        servers=[platform.server.id],
        forbidden_servers=[],
        gpus=[platform.gpu.id],
        storage=[platform.storage.id],
        forbidden_storage=[],
    )


def _cheaper(result: SizingResult, catalog: Catalog, fitted: Calibration) -> Neighbour | None:
    """Design that meets the same request and is expected to cost less; of several the one that costs least.

    One that certainly costs less comes before one that is only expected to. An unknown fact saves nothing.
    """
    design, request = result.design, result.request
    others = [
        other
        for other in result.platforms
        if other is not design and (design.conditional_on or not other.conditional_on)
    ]
    compared = [(cost_difference(other, design, request, catalog), other) for other in others]
    less = [pair for pair in compared if pair[0].expected < 0]
    if not less:
        return None
    _, other = min(less, key=lambda pair: (not pair[0].high < 0, pair[0].expected))
    narrow = on_platform(request, other.platform)
    settled = _settled(narrow, catalog, fitted) if narrow.quote.override else (narrow, other)
    if settled is None:
        return None
    return Neighbour("cheaper", *settled, cost=cost_difference(settled[1], design, request, catalog))


def _smaller(result: SizingResult, catalog: Catalog, fitted: Calibration) -> Neighbour | None:
    """The next smaller size of the platform: at a lower confidence, or else for a looser target."""
    design, platform = result.design, result.design.platform
    fewer = design.n_servers - 1
    if not fewer:
        return None
    narrow = narrowed_to(result.request, platform)
    request = at_lower_confidence(fewer, narrow, platform, catalog, fitted) or with_looser_targets(
        fewer, narrow, platform, catalog, fitted
    )
    settled = None if request is None else _settled(request, catalog, fitted)
    if settled is None or settled[1].n_servers >= design.n_servers:
        return None
    return Neighbour("smaller", *settled, target_probability=_probability(result, settled[1], catalog, fitted))


def _faster(result: SizingResult, catalog: Catalog, fitted: Calibration) -> Neighbour | None:
    """The next size up of the same platform that is noticeably faster."""
    design, platform = result.design, result.design.platform
    narrow = narrowed_to(result.request, platform)
    # Numbers of servers to try: from the first at which the design's own storage feeds a noticeable gain.
    scaling = design.workloads[0].scaling
    rate = float(design.workloads[0].throughput.value)
    gains = (scaling.throughput.value >= (1 + _NOTICEABLE) * rate) & (scaling.n_servers > design.n_servers)
    first = int(scaling.n_servers[np.argmax(gains)]) if gains.any() else design.n_servers + 1
    step = max(1, round(_NOTICEABLE * design.n_servers / 2))
    for count in [first + step * number for number in range(_TRIES)]:
        request = leading_to(count, narrow, platform, catalog, fitted)
        settled = None if request is None else _settled(request, catalog, fitted)
        if settled is None:
            return None
        if speed_up(settled[1], design) >= 1 + _NOTICEABLE:
            return Neighbour("faster", *settled, target_probability=_probability(result, settled[1], catalog, fitted))
    return None


def _settled(
    request: SizingRequest, catalog: Catalog, fitted: Calibration
) -> tuple[SizingRequest, DesignAnswer] | None:
    """A request with its design; None where no design meets it.

    Quantities that the quote changes apply to the original design only. Prices and discounts of parts that this design
    also has are retained.
    """
    overrides = request.quote.override
    try:
        design = best_design(_with_overrides(request, ()), catalog, fitted).design
        if not overrides:
            return request, design
        items = {line.item for line in design.bill.lines if line.status != "existing"}
        retained = [
            one.model_copy(update={"quantity": None})
            for one in overrides
            if one.item in items
            and (one.unit_price, one.discount_percent, one.optional, one.by_others) != (None, None, None, False)
        ]
        request = _with_overrides(request, retained)
        return request, best_design(request, catalog, fitted).design if retained else design
    except (InfeasibleError, RequestError):
        return None


def _with_overrides(request: SizingRequest, overrides: Sequence[QuoteOverride]) -> SizingRequest:
    return request.model_copy(update={"quote": request.quote.model_copy(update={"override": tuple(overrides)})})


def _probability(result: SizingResult, design: DesignAnswer, catalog: Catalog, fitted: Calibration) -> float:
    """Probability that a design meets all targets of a result's request; 0 where it lacks GPUs to keep busy."""
    if any((work.target.gpus_busy or 0) > design.n_gpus for work in result.request.workload):
        return 0.0
    evaluated = EvaluatedDesign(replace(result, design=design), catalog, fitted)
    return math.prod(float(model.run.probability[0]) for model in evaluated.workloads)


def _other_vendor(result: SizingResult, catalog: Catalog, fitted: Calibration, kind: VendorKind) -> Neighbour | None:
    """Best design with a server, or with storage, of another vendor; the other lists stay as the request has them."""
    is_server, asked = kind == "other server", result.request.platforms
    items: Iterable[Item] = catalog.servers.values() if is_server else catalog.storage.values()
    own = result.design.platform.server if is_server else result.design.platform.storage
    forbidden = asked.forbidden_servers if is_server else asked.forbidden_storage
    sold = as_sold_as(catalog, items, own, result.request.date)
    ids = [item.id for item in sold if item.vendor != own.vendor and item.id not in forbidden]
    widened = _with_platforms(result.request, **{"servers" if is_server else "storage": ids})
    settled = _settled(widened, catalog, fitted) if ids else None
    if settled is None:
        return None
    request, design = settled
    narrow = _with_platforms(request, servers=[design.platform.server.id], storage=[design.platform.storage.id])
    return Neighbour(kind, narrow, design)


# Digits of a rate asked: a changed target differs from the old one in the third or fourth.
_RATE_DIGITS = 4


def change_text(after: SizingRequest, evaluated: EvaluatedDesign) -> str:
    """What differs between the request of a result and that of an alternative, as one sentence."""
    before, design, catalog = evaluated.result.request, evaluated.result.design, evaluated.catalog
    said = []
    if after.confidence != before.confidence:
        said.append(f"confidence {_percent(after.confidence)} instead of {_percent(before.confidence)}")
    for old, new, answer in zip(before.workload, after.workload, design.workloads, strict=True):
        if new.target != old.target:
            of_which = f"{answer.workload.name}: " if len(before.workload) > 1 else ""
            targets = (target_text(one, answer.dnn, _RATE_DIGITS) for one in (new, old))
            said.append(f"{of_which}{' instead of '.join(targets)}")
    left = [
        item_name(ids[0], catalog)
        for ids, known in (
            (after.platforms.servers, before.platforms.servers),
            (after.platforms.storage, before.platforms.storage),
        )
        if ids != known and len(ids) == 1
    ]
    if left:
        said.append(f"only {' with '.join(left)}")
    if after.platforms.fabrics != before.platforms.fabrics and len(after.platforms.fabrics) == 1:
        said.append(f"only {item_name(after.platforms.fabrics[0], catalog)}")
    return sentence("; ".join(said)) if said else "The request does not change."


def _percent(fraction: float) -> str:
    return f"{plain(100 * fraction, 2)}{NARROW_SPACE}%"
