"""A growth plan: the requests of every year, the purchases on each platform, and when year 1 reaches each limit."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

from sizer.base.errors import RequestError
from sizer.bom.bill import Sum
from sizer.bom.cost import CostInterval, added
from sizer.bom.ownership import Footprint
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform, PlatformKey
from sizer.sizing.reasons import QuoteToSettle
from sizer.sizing.result import DesignAnswer
from sizer.workload.custom_network import CustomDnn
from sizer.workload.language import trains_language
from sizer.workload.optional_tables import Growth
from sizer.workload.request import SERVING_TASKS, SizingRequest, Workload
from sizer.workload.resolve import ResolvedWorkload, dataset_of, stored_data
from sizer.workload.transformer.custom_transformer import CustomTransformer

SequenceName = Literal["best", "at-once", "prepared", "as-it-grows"]
Criterion = Literal["cost", "watts", "equipment"]


@dataclass(frozen=True)
class ClusterSize:
    """Servers and storage nodes that are owned or needed."""

    n_servers: int
    storage_nodes: int


class LimitKind(StrEnum):
    """What can run out: a part of the year-1 cluster, or a limit that the request states."""

    GPU_RATE = "gpu rate"
    HOST_DECODE = "host decode"
    HOST_LINK = "host-to-GPU link"
    STORAGE_READS = "storage reads"
    STORAGE_CAPACITY = "storage capacity"
    GATEWAY_UPLINKS = "gateway uplinks"
    SERVER_PORTS = "server network ports"
    SWITCH_PORTS = "switch ports"
    RACK_UNITS = "rack units"
    POWER_FEEDS = "power feeds"
    QUEUE_WAIT = "queue wait"
    REQUESTED_RACKS = "requested racks"
    REQUESTED_POWER = "requested power"
    REQUESTED_RACK_UNITS = "requested rack units"
    REQUESTED_SERVERS = "requested servers"


@dataclass(frozen=True)
class CapacityLimit:
    """Utilization of one part of the year-1 cluster, or of one limit of the request, in every year."""

    kind: LimitKind
    loads: tuple[float, ...]  # demand / capacity of each year; above 1 it is exceeded; inf: no capacity would do
    is_gradual: bool  # the load grows with the data and the target; False: in whole devices
    is_of_request: bool = False  # a limit of the request, compared with the equipment of each year
    network: str = ""  # of switch ports: the fullest

    @property
    def year(self) -> float | None:
        """When the load passes 1; None: not in these years. A fraction where the load grows gradually.

        Growth by a factor a year is a straight line in the logarithm between two years.
        """
        for index, load in enumerate(self.loads):
            if load > 1:
                before = self.loads[index - 1] if index else 0.0
                if not self.is_gradual or before <= 0 or not math.isfinite(load):
                    return float(index + 1)
                return index + math.log(1 / before) / math.log(load / before)
        return None


@dataclass(frozen=True)
class Purchase:
    """What is bought at the start of one year, and what is owned in it."""

    year: int
    need: ClusterSize
    owned: ClusterSize
    bought: tuple[tuple[str, int], ...]  # catalogue id, pieces
    taken_out: tuple[tuple[str, int], ...]  # of earlier purchases; their cost is lost
    cost: Sum  # of what is bought, at this year's prices
    unpriced: tuple[str, ...]  # of what is bought
    interval: CostInterval | None  # of what is bought; None where bands are in another currency, or for a customer
    energy_cost: Decimal | None  # of this year; None: no price of energy given
    footprint: Footprint  # of what is owned in this year
    energy_kwh: float  # of this year, cooling of the room included
    power_max_w: float
    moved_links: int


@dataclass(frozen=True)
class PurchaseSequence:
    """One way to buy: the purchases of all years."""

    name: SequenceName
    is_prepared: bool  # network and racks of the last size are installed in the first year
    purchases: tuple[Purchase, ...]

    @property
    def cost(self) -> Sum:
        """Of everything that is bought."""
        # An item without a price is one open item, in however many years it is bought.
        unpriced = {item for purchase in self.purchases for item in purchase.unpriced}
        return Sum(sum((purchase.cost.amount for purchase in self.purchases), Decimal("0.00")), len(unpriced))

    @property
    def interval(self) -> CostInterval | None:
        """Of everything that is bought."""
        each = [purchase.interval for purchase in self.purchases]
        known = [one for one in each if one is not None]
        return added(known) if known and len(known) == len(each) else None

    @property
    def pieces(self) -> dict[str, int]:
        """Pieces of every item bought over all years."""
        total: dict[str, int] = {}
        for purchase in self.purchases:
            for item, count in purchase.bought:
                total[item] = total.get(item, 0) + count
        return total

    @property
    def energy_cost(self) -> Decimal | None:
        costs = [purchase.energy_cost for purchase in self.purchases]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal("0.00"))

    @property
    def energy_kwh(self) -> float:
        return sum(purchase.energy_kwh for purchase in self.purchases)

    @property
    def moved_links(self) -> int:
        """Links that move to another port, over all years."""
        return sum(purchase.moved_links for purchase in self.purchases)

    @property
    def server_years(self) -> int:
        """Servers owned, summed over the years."""
        return sum(purchase.owned.n_servers for purchase in self.purchases)

    @property
    def sizes(self) -> tuple[ClusterSize, ...]:
        """Owned in each year."""
        return tuple(purchase.owned for purchase in self.purchases)


@dataclass(frozen=True)
class PlatformGrowth:
    """One platform over the years: kinds of server, GPU, storage, drives and fabric stay the same."""

    platform: Platform
    needs: tuple[ClusterSize, ...]  # of each year, never less than of the year before
    recommended: PurchaseSequence
    alternatives: tuple[PurchaseSequence, ...]  # all at once; each year what it needs, network prepared or growing
    criterion: Criterion  # by which the recommended sequence was chosen
    deciding_prices: tuple[str, ...]  # items without a price that could make another sequence cheaper
    has_unknown_power: bool
    limits: tuple[CapacityLimit, ...]  # of the year-1 equipment


@dataclass(frozen=True)
class UnmetYear:
    """The first year that the plan does not cover."""

    year: int
    reason: str  # why no platform meets that year; "": some do, but none of them meets every earlier year, too


@dataclass(frozen=True)
class GrowthPlan:
    """Purchases over the years for every platform that meets all of them."""

    growth: Growth
    requests: tuple[SizingRequest, ...]  # of each year, those beyond the plan too
    workloads: tuple[tuple[ResolvedWorkload, ...], ...]  # of each year
    n_years: int  # that the plan covers
    unmet: UnmetYear | None  # None: the plan covers all years
    platforms: tuple[PlatformGrowth, ...]  # a ranking only where the prices allow one
    quotes_to_settle: tuple[QuoteToSettle, ...]  # that could change which platform leads

    @property
    def deciding_prices(self) -> tuple[str, ...]:
        """Items of ``quotes_to_settle``."""
        return tuple(quote.item for quote in self.quotes_to_settle)

    def of(self, key: PlatformKey) -> PlatformGrowth:
        """The platform of these kinds, else the first with this server, else the first."""
        same = [growth for growth in self.platforms if growth.platform.key == key]
        alike = [growth for growth in self.platforms if growth.platform.server.id == key[0]]
        return next(iter((*same, *alike, *self.platforms)))


def as_billed(plan: GrowthPlan, design: DesignAnswer) -> GrowthPlan:
    """The plan with the bill of the design that it buys first, as the purchase of the first year.

    The bill has the measured cables, the lines of the quote and every price that the quote names. The other sequences
    keep their difference from the recommended one, which counts both with the planned cables.
    """
    return replace(plan, platforms=tuple(_as_billed(growth, design) for growth in plan.platforms))


def _as_billed(growth: PlatformGrowth, design: DesignAnswer) -> PlatformGrowth:
    first, bill = growth.recommended.purchases[0], design.bill
    is_same_size = first.owned == ClusterSize(design.n_servers, design.storage_nodes)
    if growth.platform.key != design.platform.key or not is_same_size:
        return growth
    shift, gone = bill.total - first.cost.amount, set(first.unpriced)
    pieces: dict[str, int] = {}
    for line in bill.bought:
        if line.item and line.quantity:
            pieces[line.item] = pieces.get(line.item, 0) + line.quantity
    billed = replace(
        first, bought=tuple(pieces.items()), cost=bill.purchase, unpriced=bill.unpriced, interval=design.cost
    )

    def shifted(sequence: PurchaseSequence) -> PurchaseSequence:
        planned, *later = sequence.purchases
        if planned == first:
            return replace(sequence, purchases=(billed, *later))
        unpriced = tuple(dict.fromkeys((*bill.unpriced, *(item for item in planned.unpriced if item not in gone))))
        cost = Sum(planned.cost.amount + shift, len(unpriced))
        interval = None
        if planned.interval is not None and first.interval is not None and design.cost is not None:
            interval = added([planned.interval, design.cost], less=first.interval)
        shifted_first = replace(planned, cost=cost, unpriced=unpriced, interval=interval)
        return replace(sequence, purchases=(shifted_first, *later))

    return replace(
        growth, recommended=shifted(growth.recommended), alternatives=tuple(map(shifted, growth.alternatives))
    )


def offered(plan: GrowthPlan, design: DesignAnswer) -> GrowthPlan:
    """The plan as a customer reads it: of the platform that is offered, and no other."""
    return replace(plan, platforms=(plan.of(design.platform.key),), quotes_to_settle=())


# Rounding of factors that were multiplied year by year must not call for one more GPU.
_DIGITS = 9
_LONGEST_NAME = 120


def growth_of(request: SizingRequest) -> Growth:
    """The request's growth.

    Raises RequestError if it has none.
    """
    if request.growth is None:
        raise RequestError(
            "request: growth is missing; add a [growth] table with years and a yearly factor for data, sample_size, "
            "dnn_size, target or team"
        )
    return request.growth


def yearly_requests(request: SizingRequest, catalog: Catalog) -> tuple[SizingRequest, ...]:
    """Request of every year; none of them grows any further.

    ``request``: with a [growth]. ``catalog``: sizes of data sets and neural networks that the request names. Returns
    the first is the request as stated, without its growth. Raises RequestError if the request has no growth, names
    something that the catalogue lacks, or exceeds the range of a value in some year: the message names the year.

    In year y each factor f has been applied y - 1 times. ``data`` multiplies the samples of every data set; held-out
    samples stay. A grown neural network keeps the efficiency of the original; one of the catalogue becomes a custom one
    ``like`` it. Numbers of GPUs in use and of jobs that always run are rounded up.
    """
    growth = growth_of(request)
    return tuple(_grown(request, growth, year, catalog) for year in range(1, growth.years + 1))


def _grown(request: SizingRequest, growth: Growth, year: int, catalog: Catalog) -> SizingRequest:
    if year == 1:
        return request.model_copy(update={"growth": None})
    data = request.model_dump(exclude_none=True)
    del data["growth"]
    times = year - 1
    data["workload"] = [
        _workload(work, as_data, growth, times, catalog)
        for work, as_data in zip(request.workload, data["workload"], strict=True)
    ]
    if growth.team != 1 and "team" in data:
        data["team"] = {**data["team"], "job": [_job(job, growth.team**times) for job in data["team"]["job"]]}
    return SizingRequest.from_dict(data, f"year {year} of growth")


def _workload(work: Workload, data: dict[str, Any], growth: Growth, times: int, catalog: Catalog) -> dict[str, Any]:
    size, samples = growth.sample_size**times, growth.data**times
    if work.task in SERVING_TASKS:  # it reads no data set
        size = samples = 1.0
    elif trains_language(work, catalog):
        data = {**data, **_more_tokens(work, growth, samples)}
    elif size != 1 or samples != 1:
        stored = stored_data(work, dataset_of(work, f"workload {work.name}", catalog))
        sizes = {"sample_bytes": stored.sample_bytes * size, "dataset_bytes": stored.dataset_bytes * size * samples}
        data = {**data, **sizes}
    if growth.dnn_size != 1:
        data = {**data, "dnn": _dnn(work, growth.dnn_size**times, catalog)}
    if growth.target != 1:
        data = {**data, "target": _target(work, growth, times)}
    return data


def _more_tokens(work: Workload, growth: Growth, samples: float) -> dict[str, float]:
    """The tokens of a year. A language model keeps its shape and its tokens their size."""
    for factor in ("sample_size", "dnn_size"):
        if getattr(growth, factor) != 1:
            raise RequestError(
                f"request: growth.{factor} = {getattr(growth, factor):g}: {work.name!r} trains a language model, whose "
                f"shape and bytes a token do not grow; remove growth.{factor}, or ask for a larger model in a request "
                "of its own"
            )
    if samples == 1:
        return {}
    if work.tokens is None:
        raise RequestError(
            f"request: growth.data = {growth.data:g}: {work.name!r} does not state its tokens; add tokens to it"
        )
    stored = {} if work.dataset_bytes is None else {"dataset_bytes": work.dataset_bytes * samples}
    return {"tokens": work.tokens * samples, **stored}


def _dnn(work: Workload, factor: float, catalog: Catalog) -> dict[str, Any]:
    assert not isinstance(work.dnn, CustomTransformer)  # language models do not grow, see _more_tokens
    if isinstance(work.dnn, CustomDnn):
        grown = work.dnn.model_dump(exclude_none=True)
        if work.dnn.embedding_parameters is not None:
            grown["embedding_parameters"] = work.dnn.embedding_parameters * factor
        return {**grown, "forward_flop": work.dnn.forward_flop * factor, "parameters": work.dnn.parameters * factor}
    if work.dnn not in catalog.dnns:
        raise RequestError(f"request: dnn {work.dnn!r} of {work.name!r} is not in the catalogue")
    known = catalog.dnns[work.dnn]
    return {
        "name": f"{known.name} × {factor:.3g}"[:_LONGEST_NAME],
        "forward_flop": known.forward_flop.value * factor,
        "parameters": known.parameters.value * factor,
        "input_bytes": known.input_bytes.value,
        "version_of": known.id,
    }


def _target(work: Workload, growth: Growth, times: int) -> dict[str, Any]:
    factor = growth.target**times
    ((name, value),) = work.target.model_dump(exclude_none=True).items()
    if name == "time_to_train_s":
        return {name: value / factor}
    # The highest rate is refused together with [growth].
    return {name: _whole(value * factor) if isinstance(value, int) else value * factor}


def _job(job: dict[str, Any], factor: float) -> dict[str, Any]:
    grown = dict(job)
    for key in ("jobs_a_day", "jobs_a_day_each"):
        if key in grown:
            grown[key] *= factor
    if "always_running" in grown:
        grown["always_running"] = _whole(grown["always_running"] * factor)
    return grown


def _whole(count: float) -> int:
    return max(math.ceil(round(count, _DIGITS)), 1)
