"""Language models in use on designs: replicas by the layout that serves the most within the latency limits.

Replicas lie inside a server; where one has no room for the model and some requests, groups of whole servers hold one.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate, normal_cdf, normal_quantile
from sizer.base.quantities import duration, grouped, si
from sizer.base.units import HOUR_S
from sizer.calibrate.language.cases import pcie_bytes_per_s
from sizer.calibrate.serving import calibration
from sizer.calibrate.serving.deployment import (
    MOST_GUESSED,
    Deployment,
    engines_on,
    fits_inside,
    is_untried,
    layouts_inside,
    layouts_over,
    missing_facts,
    points_of,
    replicas_of,
    runs_on,
    weights_on,
)
from sizer.calibrate.serving.rows import CLOSED_LOOP, ServingRow, fitted_rows
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf.serving.percentiles import TPOT_RATIOS, first_token_ratio
from sizer.perf.serving.replica import FOUR_BITS, RESERVED_BYTES
from sizer.physical.platform import Platform
from sizer.sizing.stages.platform_columns import LaidOutRun, ServerKind, ServerRows, server_kinds
from sizer.workload.optional_tables import far_off
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.serving import LoadKind, NightWork, ServingWork

# More spread of groups with grouped heads: all rows that bear them out are of one model, and scatter by 0.13 about the
# fit where others do by 0.09.
_GROUPED_HEADS_SD = 0.15
# More spread of what no row of the fit has: adapters, and prompts whose answer is a vector. Assumed: about as much as
# a model left out scatters.
_ADAPTERS_SD, _EMBEDDING_SD = 0.15, 0.2
# Requests in flight of such a group, at most: beyond those of published runs no rate is promised.
_MOST_IN_FLIGHT = 512.0
_NO_RATE, _UNKNOWN_SD = 0.0, 0.5
_NEXT_TO_NOTHING = 1e-12
# Scores of first tokens beyond which nothing changes.
_MOST_SCORE = 40.0
# Rates that are tried where the highest one with first tokens in time is sought.
_TRIES = 192
_ROUNDING = 1e-6
# Servers that sure first tokens may take, over those of the rate alone, and so never a second for one; and what they
# may cost, over another design: the spread of a prefill is no matter of more servers, and what one replica shows in an
# hour settles it.
MOST_FOR_FIRST_TOKENS = 1.5
# Stay in the cache from which on its share is no condition: twice the pause of somebody who chats. Assumed.
ENOUGH_STAY_S = 600.0
# Share of the longest stay from which on a faster layout is worth more. Assumed.
_ALIKE_STAY = 2 / 3
# Share of a server's memory that may hold earlier prompts: the system and the engine have the rest. Assumed.
_OFFLOADED = 0.5
_NARROW = "nvfp4"
# Generations of GPUs with published rows of serving.
_MEASURED = ("ampere", "ada", "hopper", "blackwell", "cdna3", "cdna4")


@dataclass(frozen=True)
class _Layout:
    """One layout of a replica and the largest load that it serves within the limits."""

    deployment: Deployment
    servers: int  # of a replica; 1: it lies inside one
    replicas: int  # of as many servers
    rate: float  # of a replica, as the target counts: requests/s, or requests in flight; 0: no load meets the limits
    sure_rate: float  # the same with the confidence asked for
    timely_rate: float  # with that confidence together with first tokens in time; 0: no load is
    log_sd: float
    concurrency: float
    most_concurrent: float
    least_tpot_s: float  # of one request alone
    least_ttft_s: float
    fits: bool
    bound: calibration.Bound
    concurrencies: Floats  # loads from one request in flight on
    log_rates: Floats  # of a replica at these, as rate
    scores: Floats  # of its first tokens
    prefixes: float  # cached parts of prompts in the memory of one request; 0: nothing is cached

    def load_at(self, rate: Floats | float) -> Floats:
        """Requests in flight of a replica at a rate; of fewer than are tried each is alone."""
        log_rate = np.log(np.maximum(rate, _NEXT_TO_NOTHING))
        found = np.interp(log_rate, self.log_rates, np.log(self.concurrencies))
        return np.asarray(np.exp(found + np.minimum(log_rate - self.log_rates[0], 0.0)))

    def timely_at(self, rate: Floats | float) -> Floats:
        """Probability that first tokens keep their limit at a rate of a replica."""
        log_rate = np.log(np.maximum(rate, _NEXT_TO_NOTHING))
        return np.asarray(normal_cdf(np.interp(log_rate, self.log_rates, self.scores)))

    def stay_s(self, rate: float, requests_per_s: float, replicas: Floats) -> Floats:
        """For how long replicas keep what sessions leave, where a rate is asked of all of them. [s]"""
        free = np.maximum(self.most_concurrent - self.load_at(rate / np.maximum(replicas, 1.0)), 0.0)
        return np.asarray(free * replicas * self.prefixes / requests_per_s)

    @property
    def order(self) -> tuple[float, ...]:
        """Layouts by what is sure for each server; of those that are not, the one that comes nearest is the highest."""
        each, nearest = self.replicas / self.servers, float(self.scores[0])
        is_timely = self.timely_rate > 0
        return (
            *(self.fits, each * self.timely_rate, self.rate > 0, 0.0 if is_timely else nearest),
            *(each * self.rate, -self.least_tpot_s, -self.deployment.gpus),
        )


@dataclass(frozen=True)
class WithoutCache:
    """What the replicas of a design do where no request finds anything in the cache."""

    rate: float  # expected, within the limits
    probability: float  # that the target and its limits are kept
    servers: int | None  # of this kind that would then be bought; None: no number of them is enough


@dataclass(frozen=True)
class Offload:
    """What half of the servers' memory holds of earlier prompts, where the engine is told to use it."""

    sessions: float
    back_s: float  # to bring one to the GPUs of its replica
    compute_s: float  # to compute it there again


@dataclass(frozen=True)
class AfterFailure:
    """What the other replicas serve within the limits after a part failed."""

    replicas: int
    rate: Estimate  # as the target counts: requests/s, or requests in flight
    users: float | None  # as the target counts people, or all of a known use; None of no known use
    probability: float | None  # that the target and its limits are kept; None where no load is asked


class Latency(NamedTuple):
    """A time that somebody waits for."""

    key: str
    name: str  # "first token"
    mean: Estimate
    at_percentile: Estimate  # of the limits
    limit_s: float | None  # None: nobody waits
    chance: float | None  # that the limit is kept; None without one


@dataclass(frozen=True)
class ServingAnswer:
    """How a language model in use is divided over the GPUs of a design, and what its users see at the asked load."""

    work: ServingWork
    replicas: int
    tensor: int
    data: int
    servers_of_replica: int
    engine: str  # name; "" where none was named: a mixture of those in use
    engines: tuple[str, ...]  # names of those that run on the GPUs
    weights: str  # number format
    cache: str  # number format of keys and values
    cache_is_assumed: bool
    gpus_used: int
    load: str  # at which the figures below hold: that asked, or the most within the limits
    concurrency: float  # requests in flight of a replica
    limit_concurrency: float  # the most of a replica within the limits
    most_concurrent: float  # of a replica, for which its memory has room
    tokens_per_s: Estimate  # of all replicas, the most within the limits: output tokens, or those that are embedded
    bound: calibration.Bound  # what bounds them
    served_per_s: float  # requests of all replicas at the load
    ttft_s: Estimate  # means at the load
    tpot_s: Estimate
    ttft_percentile_s: Estimate  # at the percentile of the limits
    tpot_percentile_s: Estimate
    weight_bytes: float  # of a GPU, with those of adapters
    adapter_bytes: float  # of a GPU
    cache_bytes: float  # keys and values of the requests in flight, of a GPU
    room_bytes: float  # for keys and values, of a GPU
    reserve_bytes: float
    prefix_bytes: float  # keys and values of the cached part of one prompt, on all GPUs of its group
    longest_tokens: float  # longest context that the model and the room take
    # For the asked load at the confidence, with first tokens where few more servers do; None where no load is asked.
    replicas_needed: int | None
    after_replica: AfterFailure  # a GPU, and with it one replica, is lost
    after_server: AfterFailure
    first_token_chance: float | None  # that first tokens keep their limit at the load; None where nobody waits
    # Servers that make it as sure as the confidence; None where no number does, or where no load is asked.
    servers_timely: int | None
    without_cache: WithoutCache | None  # None where nothing is cached, or no load is asked
    offload: Offload | None  # None where nothing is cached, or a server's memory is not known
    # What the same GPUs serve with weights of four bits, over what they do; None where their format is asked for or
    # published, or the GPU lacks four bits.
    narrow_gain: float | None
    deployment: Deployment  # one replica
    # What a replica does under numbers of requests in flight.
    rates_at: Callable[[Floats], calibration.ServingRates] = field(repr=False, compare=False)
    is_untried: bool  # no published run of the vendor's GPUs multiplies weights of fewer bits in BF16
    link: str  # name of what joins the GPUs of a server

    @property
    def gpus_of_replica(self) -> int:
        """GPUs that hold one copy of the model."""
        return self.tensor * self.data

    @property
    def gpus_needed(self) -> int:
        """GPUs that the asked load takes at the confidence; all of its replicas where none is asked."""
        return (self.replicas_needed or self.replicas) * self.gpus_of_replica

    @property
    def wide_cache_matters(self) -> bool:
        """Whether keys and values, if some engine of a mixture keeps them in BF16, bound the load or what is cached."""
        may_be_wide = self.cache_is_assumed and self.cache != "bf16" and not self.engine
        return may_be_wide and (self.most_concurrent < 2 * self.limit_concurrency or self.prefix_bytes > 0)

    @property
    def has_four_bits(self) -> bool:
        """Whether weights have four bits that the model was not published in, which may cost quality of the answers."""
        return self.weights in FOUR_BITS and self.weights != self.work.shape.published_in

    @property
    def requests_per_s(self) -> Estimate:
        """Requests of all replicas, the most within the limits."""
        return self.tokens_per_s.scaled(1 / self.work.priced_tokens)

    @property
    def mean_tokens_per_s(self) -> float:
        """Tokens of all replicas, mean over a day with the load of every hour."""
        asked = self.work.asked_rate if self.load == "asked" and self.work.in_flight is None else None
        return (asked or self.served_per_s) * self.work.priced_tokens * self.work.mean_load

    @property
    def sure_tokens_per_s(self) -> float:
        """Tokens of all replicas, the most within the limits that is kept with the confidence asked for."""
        return float(self.tokens_per_s.value) * math.exp(
            -normal_quantile(self.work.confidence) * self.tokens_per_s.log_sd
        )

    @property
    def active_users(self) -> float | None:
        """Active users that the most within the limits serves, of GPUs with the confidence; None of no known use."""
        is_sure = self.work.load_kind is LoadKind.GPUS
        return self.work.active_users_of(self.served_per_s if is_sure else float(self.requests_per_s.value))

    @property
    def users(self) -> float | None:
        """All of whom these are the active ones; themselves where the target counts active users."""
        return _counted(self.work, self.active_users)

    @property
    def sessions_stored(self) -> float:
        """Sessions whose earlier prompts have room beside the requests in flight; 0 where nothing of them is cached."""
        if not self.prefix_bytes:
            return 0.0
        free = (self.room_bytes - self.cache_bytes) * self.replicas * self.gpus_of_replica
        return max(free, 0.0) // self.prefix_bytes

    @property
    def prefix_stay_s(self) -> float | None:
        """For how long the requests that arrive leave a prompt in the cache; None where the target counts people, of
        whom no more are served than it keeps, or nothing is cached.
        """
        if not self.prefix_bytes or self.work.counts_people:
            return None
        return self.sessions_stored / self.served_per_s

    @property
    def latencies(self) -> tuple[Latency, ...]:
        """Times at the load: of a text that is embedded none, of an answer of one token no later one."""
        work, is_told = self.work, not self.work.is_embedding
        first = (self.ttft_s, self.ttft_percentile_s, work.first_token_s, self.first_token_chance)
        later = (self.tpot_s, self.tpot_percentile_s, work.token_s, self.token_chance)
        return (
            *(Latency("first-token", "first token", *first) for _ in range(is_told)),
            *(Latency("later-tokens", "each later token", *later) for _ in range(is_told and work.output_tokens > 1)),
        )

    @property
    def token_chance(self) -> float | None:
        """Probability that later tokens keep their limit at the load; None where nobody waits, or none follows."""
        limit, time_s = self.work.token_s, self.tpot_percentile_s
        if limit is None or self.work.output_tokens <= 1:
            return None
        return float(normal_cdf(math.log(limit / float(time_s.value)) / time_s.log_sd))

    @property
    def depends_on_cache(self) -> bool:
        """Whether the target fails without the cached share, and memory does not keep it for long."""
        stay_s, without = self.prefix_stay_s, self.without_cache
        is_short = stay_s is not None and stay_s < ENOUGH_STAY_S
        return is_short and (without is None or without.probability < self.work.confidence)


def serving_run(work: ResolvedWorkload, hosts: ServerRows) -> LaidOutRun:
    """Requests a second of every row."""
    assert work.serving is not None
    shape, catalog = hosts.shape, hosts.catalog
    asked = (work.serving, *work.serving.shares_with)
    kinds, servers = server_kinds(hosts)
    tables = [_tables(one.unloaded, tuple(kinds), catalog) for one in asked]
    rate, sd, fits, replicas = (np.zeros(servers.size) for _ in range(4))
    timely = np.ones(servers.size)
    for one, rows in kinds.items():
        layouts = [table[one] for table in tables]
        if not layouts[0]:
            sd[rows], replicas[rows] = _UNKNOWN_SD, 1.0
            continue
        which, counts = _allotted(asked, layouts, servers[rows])
        each, log_sd, least = np.array(
            [(one.rate, one.log_sd, one.servers if one.fits else np.inf) for one in layouts[0]], dtype=float
        )[which].T
        rate[rows], sd[rows], fits[rows] = counts * each, log_sd, servers[rows] >= least
        replicas[rows] = np.maximum(counts, 1)
        for number in np.unique(which).tolist():
            here = which == number
            timely[rows[here]] = _timely(asked[0], layouts[0][number], counts[here])
    return LaidOutRun(
        *(rate.reshape(shape), sd.reshape(shape), fits.reshape(shape) > 0, replicas.reshape(shape)),
        None if work.serving.first_token_s is None else timely.reshape(shape),
    )


def night_share(night: NightWork, hosts: ServerRows) -> Floats:
    """Share of the GPUs of every row that models in use leave in the busiest hour of a night."""
    kinds, servers = server_kinds(hosts)
    taken = np.zeros(servers.size)
    for work in night.serves:
        tables = _tables(work.unloaded, tuple(kinds), hosts.catalog)
        for one, rows in kinds.items():
            if tables[one]:
                which, count = _least(work, tables[one])
                taken[rows] += count * tables[one][which].deployment.gpus / (one.gpus_per_server * servers[rows])
    return np.clip(1 - taken, 0.0, 1.0).reshape(hosts.shape)


def serving_answer(
    work: ResolvedWorkload,
    platform: Platform,
    n_servers: int,
    gpus_per_server: int,
    catalog: Catalog,
) -> ServingAnswer | None:
    """What the users of a design see; None where its GPUs hold no replica, or of other work."""
    if work.serving is None:
        return None
    asked = work.serving
    server_kind = ServerKind.of(platform.server.id, platform.gpu.id, gpus_per_server, platform.fabric, catalog)
    works = (asked, *asked.shares_with)
    layouts = [_tables(each.unloaded, (server_kind,), catalog)[server_kind] for each in works]
    if not layouts[0]:
        return None
    (which,), (count,) = _allotted(works, layouts, np.array([n_servers]))
    layout, replicas = layouts[0][which], int(count)
    link = catalog.gpu_links[platform.intra_link]
    if not layout.fits or not replicas:
        return None
    concurrency, load = _at_load(asked, layout, replicas)
    loads = np.array([concurrency, layout.concurrency, 1.0])
    own = calibration_of(asked.unloaded, catalog) if asked.measured else None
    rates_at = partial(_rates_at, own, asked, layout.deployment)
    rates, one_each = rates_at(loads), points_of(asked, [layout.deployment], 1.0)
    means, firsts, first_sds = calibration.first_tokens(
        asked.percentile,
        rates.ttft_s,
        rates.busy_share,
        loads,
        rates.busy_share / rates.requests_per_s,
        rates.ttft_s[2],
        (own or calibration.serving_calibration()).long_prompts(one_each, np.array([float(asked.percentile)])),
        asked.input_variation or 0.0,
        is_open=asked.comes_at_random,
    )
    first_sd = float(np.hypot(rates.ttft_log_sd, first_sds)[0])
    # Of an answer of one token no later one is known.
    tpot = Estimate.log_normal(float(rates.tpot_s[0]), np.nan_to_num(float(rates.tpot_log_sd[0])))
    later, later_sd = TPOT_RATIOS.at(asked.percentile)
    served, most, _ = (float(one) * replicas for one in rates.requests_per_s)
    gpu = replicas_of([layout.deployment])
    bare = replicas_of([replace(layout.deployment, adapters=0)])
    length = asked.input_tokens + 0.5 * asked.output_tokens
    each = float((gpu.cache_bytes(length) + gpu.state_bytes)[0])
    in_flight = concurrency / layout.deployment.data
    chance = None if asked.first_token_s is None else float(_timely(asked, layout, np.array([replicas]))[0])
    return ServingAnswer(
        work=asked,
        replicas=replicas,
        tensor=layout.deployment.tensor,
        data=layout.deployment.data,
        servers_of_replica=layout.servers,
        engine="" if asked.engine is None else catalog.stacks[work.stack.id].name,
        engines=tuple(catalog.stacks[each].name for each in engines_on(platform.gpu, catalog)),
        weights=layout.deployment.weights,
        cache=layout.deployment.cache,
        cache_is_assumed=asked.cache is None,
        gpus_used=replicas * layout.deployment.gpus,
        load=load,
        concurrency=concurrency,
        limit_concurrency=layout.concurrency,
        most_concurrent=layout.most_concurrent,
        tokens_per_s=Estimate.log_normal(
            (replicas * layout.rate if asked.in_flight is None else most) * asked.priced_tokens,
            layout.log_sd,
        ),
        bound=layout.bound,
        served_per_s=served,
        ttft_s=Estimate.log_normal(float(means[0]), float(rates.ttft_log_sd[0])),
        tpot_s=tpot,
        ttft_percentile_s=Estimate.log_normal(float(firsts[0]), first_sd),
        tpot_percentile_s=Estimate.log_normal(tpot.value * float(later), np.hypot(tpot.log_sd, later_sd)),
        weight_bytes=float(gpu.weight_bytes[0]),
        adapter_bytes=float((gpu.weight_bytes - bare.weight_bytes)[0]),
        cache_bytes=in_flight * each,
        room_bytes=layout.most_concurrent / layout.deployment.data * each,
        reserve_bytes=RESERVED_BYTES,
        prefix_bytes=_prefix_bytes(asked, layout.deployment),
        longest_tokens=min(
            layout.most_concurrent / layout.deployment.data * length, asked.shape.context_tokens or math.inf
        ),
        replicas_needed=_bought_for(asked, layout),
        after_replica=_after(asked, layout, replicas - 1),
        after_server=_after(asked, layout, replicas - math.ceil(replicas * layout.servers / n_servers)),
        first_token_chance=chance,
        servers_timely=_servers_of(layout, _needed(asked, layout.timely_rate)),
        without_cache=_without_cache(asked, server_kind, layout, replicas, catalog),
        offload=_offload(asked, layout.deployment, platform, n_servers),
        narrow_gain=_narrow_gain(asked, server_kind, layouts[0], layout.deployment.weights, catalog),
        deployment=layout.deployment,
        rates_at=rates_at,
        is_untried=is_untried(layout.deployment),
        # Cards of an earlier PCIe than their slots have its rate.
        link=link.family if link.topology == "host" else link.name,
    )


def _rates_at(
    own: calibration.ServingCalibration | None, work: ServingWork, one: Deployment, concurrency: Floats
) -> calibration.ServingRates:
    # The shipped fit is not part of an answer, which goes to other processes.
    return (own or calibration.serving_calibration()).rates(points_of(work, [one] * len(concurrency), concurrency))


def _timely(work: ServingWork, layout: _Layout, replicas: Ints) -> Floats:
    """Probability that first tokens keep their limit at the asked load; at what is kept surely where none is asked."""
    if work.asked_rate is None:
        return layout.timely_at(np.full(replicas.shape, layout.timely_rate or layout.sure_rate))
    return layout.timely_at(work.asked_rate / np.maximum(replicas, 1))


def _after(work: ServingWork, layout: _Layout, replicas: int) -> AfterFailure:
    replicas = max(replicas, 0)
    rate = Estimate.log_normal(replicas * layout.rate, layout.log_sd)
    chance = None if work.asked_rate is None else 0.0
    if replicas and work.asked_rate is not None:
        chance = _chance(work, layout, replicas)
    served = replicas * layout.sure_rate if work.load_kind is LoadKind.GPUS else float(rate.value)
    active = None if work.in_flight is not None else work.active_users_of(served)
    return AfterFailure(replicas, rate, _counted(work, active), chance)


def _chance(work: ServingWork, layout: _Layout, replicas: int) -> float:
    """Probability that replicas keep the asked load and its limits."""
    assert work.asked_rate is not None  # asked of a load
    margin = math.log(max(replicas * layout.rate, _NEXT_TO_NOTHING) / work.asked_rate) / layout.log_sd
    return float(normal_cdf(margin) * _timely(work, layout, np.array([replicas]))[0])


def _counted(work: ServingWork, active: float | None) -> float | None:
    """People of whom so many are active, as a target counts them; all of them where it counts none."""
    if work.people is None or active is None or work.load_kind is LoadKind.ACTIVE_USERS:
        return active
    return active / work.people.active_share


def _without_cache(
    work: ServingWork, server_kind: ServerKind, layout: _Layout, replicas: int, catalog: Catalog
) -> WithoutCache | None:
    """The replicas of a design without the cached share, and how many servers would then do."""
    asked = work.asked_rate
    if not work.prefix_cached or asked is None or work.shares_with:
        return None
    bare = replace(work.unloaded, prefix_cached=0.0)
    (same,) = _rated(bare, {server_kind: [(layout.deployment, layout.servers)]}, catalog)[server_kind]
    layouts = [other for other in _tables(bare, (server_kind,), catalog)[server_kind] if other.fits]
    of_rate, timely = (
        min((count for count in counts if count is not None), default=None)
        for counts in (
            [_servers_of(other, _needed(work, other.sure_rate)) for other in layouts],
            [_servers_of(other, _needed(work, other.timely_rate)) for other in layouts],
        )
    )
    least = timely if _are_few(of_rate, timely) else of_rate
    return WithoutCache(replicas * same.rate, _chance(work, same, replicas), least)


def _offload(work: ServingWork, deployment: Deployment, platform: Platform, n_servers: int) -> Offload | None:
    memory, each = platform.server.memory_bytes, _prefix_bytes(work, deployment)
    if memory is None or not each:
        return None
    bare, cached = (
        float(calibration.serving_calibration().rates(points_of(each_work, [deployment], 1.0)).ttft_s[0])
        for each_work in (replace(work, prefix_cached=0.0), work)
    )
    # The vector of latent attention, which each rank has whole, is kept once.
    kept = float(replicas_of([deployment]).transfer_bytes[0]) * work.input_tokens * work.prefix_cached
    back_s = each / deployment.tensor / pcie_bytes_per_s(deployment.gpu)
    return Offload(_OFFLOADED * memory.value * n_servers // kept, back_s, bare - cached)


def _narrow_gain(
    work: ServingWork, server_kind: ServerKind, layouts: Sequence[_Layout], weights: str, catalog: Catalog
) -> float | None:
    narrow = replace(work.unloaded, precision=_NARROW, measured=())
    is_open = work.precision == "mixed" and weights == "fp8" and work.shape.published_in is None
    if not is_open or weights_on(narrow, catalog.gpus[server_kind.gpu], catalog) is None:
        return None
    most, wide = (
        max(each.replicas / each.servers * each.rate for each in of)
        for of in (_tables(narrow, (server_kind,), catalog)[server_kind], layouts)
    )
    return most / wide if wide else None


def _needed(work: ServingWork, each: float) -> int | None:
    """Replicas that the asked load takes, of such a rate each; None without one or if none is enough."""
    if work.asked_rate is None or each <= 0:
        return None
    return max(1, math.ceil(work.asked_rate / each - _ROUNDING))


def _servers_of(layout: _Layout, replicas: int | None) -> int | None:
    return None if replicas is None else -(-replicas // layout.replicas) * layout.servers


def _bought_for(work: ServingWork, layout: _Layout) -> int | None:
    """Replicas that the asked load takes, with first tokens in time where :data:`MOST_FOR_FIRST_TOKENS` do for both."""
    of_rate, timely = (_needed(work, each) for each in (layout.sure_rate, layout.timely_rate))
    return timely if _are_few(_servers_of(layout, of_rate), _servers_of(layout, timely)) else of_rate


def _are_few(of_rate: int | None, timely: int | None) -> bool:
    """Whether servers that make first tokens sure are few enough over those of the rate."""
    return of_rate is not None and timely is not None and timely <= MOST_FOR_FIRST_TOKENS * of_rate


def serving_error_text(
    work: ServingWork, platform: Platform, gpus_per_server: int, n_servers: int, catalog: Catalog
) -> str:
    """Why the GPUs of some servers serve nothing within the limits, in the words of an error; "" where they do."""
    server_kind = ServerKind.of(platform.server.id, platform.gpu.id, gpus_per_server, platform.fabric, catalog)
    layouts, gpu = _tables(work.unloaded, (server_kind,), catalog)[server_kind], platform.gpu
    within = [each for each in layouts if each.servers <= n_servers] or list(layouts)
    layout = max(within, key=lambda each: each.order, default=None)
    if layout is None and not runs_on(work, gpu, catalog):
        return f"{catalog.stacks[str(work.engine)].name} does not run on {gpu.name}"
    if layout is None:
        weights = weights_on(work, gpu, catalog)
        if weights is None:
            return f"{gpu.name} does not compute in {work.precision.upper()}"
        known = missing_facts(gpu, 2)
        return f"{gpu.name} cannot be rated" + ("" if known is None else f": {known.values[1]} is not known")
    if not layout.fits or layout.servers > n_servers:
        gpus = gpus_per_server * n_servers
        memory = si(gpus * gpu.memory_bytes.value, "B")
        whole = replace(layout.deployment, tensor=1, data=1)
        weights = si(float(replicas_of([whole]).weight_bytes[0]), "B")
        return (
            f"{gpus} × {gpu.name} with {memory} do not hold {work.model}, whose weights take {weights} in "
            f"{layout.deployment.weights.upper()}, and one request of {grouped(work.context_tokens)} tokens"
        )
    replicas = n_servers // layout.servers * layout.replicas
    if work.in_flight is not None and replicas * layout.most_concurrent < work.in_flight:
        # Keys and values of a request on all GPUs of its group. [B]
        table = replicas_of([layout.deployment])
        length = work.input_tokens + 0.5 * work.output_tokens
        each = float((table.cache_bytes(length) + table.state_bytes)[0]) * layout.deployment.tensor
        most = replicas * layout.most_concurrent
        return (
            f"keys and values of {grouped(work.in_flight)} requests of {grouped(work.context_tokens)} tokens take "
            f"{si(work.in_flight * each, 'B')} in {layout.deployment.cache.upper()}, and the GPUs have room for "
            f"{si(most * each, 'B')}: {grouped(most)} requests"
        )
    if layout.rate > _NO_RATE:
        needs = [
            (each.model, found[which].deployment.gpus * count)
            for each in (work, *work.shares_with)
            if (found := _tables(each.unloaded, (server_kind,), catalog)[server_kind])
            for which, count in [_least(each, found)]
        ]
        if sum(count for _, count in needs) <= gpus_per_server * n_servers:
            return ""
        listed = ", ".join(f"{name} {count}" for name, count in needs)
        there = f"{gpus_per_server * n_servers} × {gpu.name}"
        return f"of the {there} the models in use take more at once: {listed}"
    first = float(first_token_ratio(work.percentile)[0]) * layout.least_ttft_s
    later = float(TPOT_RATIOS.at(work.percentile)[0]) * layout.least_tpot_s
    return (
        f"the latency limits are not reachable at any size: of one request alone the {work.percentile}th percentile is "
        f"{duration(first)} to its first token and {duration(later)} for each later one on {gpu.name}"
    )


def is_unserved(gpu: Gpu) -> bool:
    """Whether nobody published serving rates on a GPU, or on another one of its generation."""
    return (gpu.generation or "") not in _MEASURED


@lru_cache(maxsize=64)
def calibration_of(work: ServingWork, catalog: Catalog) -> calibration.ServingCalibration:
    """What is known of rates, after those that the customer measured of one replica each, in its fastest layout.

    Raises RequestError if no layout holds the model on the GPUs of a rate.
    """
    found, layouts = calibration.serving_calibration(), []
    if not work.measured:
        return found
    for rate in work.measured:
        gpu, load = catalog.gpus[rate.gpu], float(rate.concurrent_requests or 1)
        inside = [each for each in layouts_inside(work, gpu, rate.gpus, catalog) if each.gpus == rate.gpus]
        rates = found.rates(points_of(work, inside, load)) if inside else None
        if rates is None or not rates.fits.any():
            raise RequestError(
                f"workload.measured: {work.model} does not fit on {rate.gpus} {gpu.name} as its memory is predicted; "
                "give the number of GPUs of one replica"
            )
        layouts.append(inside[int(rates.requests_per_s.argmax())])
    loads, requests, within = np.array(
        [(rate.concurrent_requests, rate.samples_per_s, rate.within_percent / 100) for rate in work.measured]
    ).T
    return found.after(points_of(work, layouts, loads), requests, within)


def far_request_rates(work: ServingWork, catalog: Catalog) -> list[float]:
    """Rates that the customer measured over what is predicted of them, of those that are far off. [-]"""
    measured = calibration_of(work, catalog).measured
    return [] if measured is None else far_off(np.exp(-measured.log_gaps).tolist())


@lru_cache(maxsize=64)  # every question about one request asks for the same
def _tables(
    work: ServingWork, alike: tuple[ServerKind, ...], catalog: Catalog
) -> dict[ServerKind, tuple[_Layout, ...]]:
    """Layouts of every kind of servers, the best first: inside one, and over some where one has little room.

    None where the catalogue does not say enough of the GPU.
    """

    def of(server_kind: ServerKind) -> tuple[ServingWork, Gpu, int]:
        return work, catalog.gpus[server_kind.gpu], server_kind.gpus_per_server

    def layouts(one: ServerKind) -> list[tuple[Deployment, int]]:
        inside = [(each, 1) for each in layouts_inside(*of(one), catalog)]
        over = () if fits_inside(*of(one), catalog) else layouts_over(*of(one), one.nic_bytes_per_s, catalog)
        return [*inside, *over]

    return _rated(work, {one: layouts(one) for one in alike}, catalog)


def _chosen(work: ServingWork, layouts: Sequence[_Layout], n_servers: Ints) -> tuple[Ints, Ints]:
    """Which of some layouts serves the most on each number of servers, and how many replicas it has there.

    Of a number of GPUs that is asked for, no more of them count. Layouts that carry an asked load lead; where requests
    find earlier prompts in a cache, those of them whose memory keeps these for longest; and of these those that carry
    it with one replica fewer: a card may then fail.
    """
    most = work.number if work.load_kind is LoadKind.GPUS else math.inf
    # Where none serves anything in time surely, the first of those for which there are GPUs comes nearest.
    nearest = _NEXT_TO_NOTHING * np.arange(len(layouts), 0, -1)[:, None]
    parts = [(one.servers, one.replicas, one.timely_rate, one.sure_rate, one.deployment.gpus) for one in layouts]
    servers, replicas, timely, sure, gpus = np.array(parts, dtype=float).T[:, :, None]
    counts = np.minimum(n_servers // servers * replicas, np.floor(most / gpus))
    served = counts * timely + nearest * (counts > 0)
    if (asked := work.asked_rate) is not None:
        served = _preferred(served, counts * sure >= asked)
        arrive = work.least_requests_per_s
        if work.prefix_cached and not work.counts_people and arrive is not None:
            stays = [layout.stay_s(asked, arrive, count) for layout, count in zip(layouts, counts, strict=True)]
            stay = np.where(counts * timely >= asked, np.minimum(stays, ENOUGH_STAY_S), 0.0)
            served = np.where(stay >= _ALIKE_STAY * stay.max(axis=0), served, 0.0)
        served = _preferred(served, ((counts - 1) * timely >= asked) & (served > 0))
    which = np.argmax(served, axis=0)
    return which, counts[which, np.arange(len(n_servers))].astype(np.int64)


def _preferred(served: Floats, is_better: Bools) -> Floats:
    """What layouts serve, of those that are better where any is; shape (layouts, numbers of servers)."""
    return np.where(is_better | ~is_better.any(axis=0), served, 0.0)


def _least(work: ServingWork, layouts: Sequence[_Layout], is_timely: bool = False) -> tuple[int, int]:
    """Which of some layouts serves the asked load with the fewest GPUs, and its replicas.

    ``is_timely``: with first tokens as sure as asked, whatever that takes; else where few GPUs more do.
    """
    if work.asked_rate is None:
        (which,), (count,) = _chosen(work, layouts, np.array([max(work.number, 1.0)]))
        return int(which), max(int(count), 1)
    bought = [_needed(work, layout.timely_rate) if is_timely else _bought_for(work, layout) for layout in layouts]
    if not any(bought):
        bought = [_bought_for(work, layout) for layout in layouts]
    gpus = [
        (count or math.inf)
        * layout.deployment.gpus
        * (1.0 if count == _needed(work, layout.timely_rate) else MOST_FOR_FIRST_TOKENS)
        for layout, count in zip(layouts, bought, strict=True)
    ]
    which = min(range(len(layouts)), key=lambda place: (not layouts[place].fits, gpus[place], place))
    return which, bought[which] or 1


def _allotted(works: Sequence[ServingWork], layouts: Sequence[Sequence[_Layout]], n_servers: Ints) -> tuple[Ints, Ints]:
    """Layout of the first of some models on each number of servers, and its replicas beside the others.

    Models in use run at the same time: each has the replicas that its load takes, in the layout of the fewest GPUs,
    and as many more, or fewer, as the servers take of all of them alike.
    """
    if len(works) == 1:
        return _chosen(works[0], layouts[0], n_servers)
    # With first tokens in time where the servers have the GPUs for it.
    (timely, counts, scale), (least, fewest, _) = (_shares(works, layouts, n_servers, way) for way in (True, False))
    return np.where(scale >= 1, timely, least), np.where(scale >= 1, counts, fewest)


def _shares(
    works: Sequence[ServingWork], layouts: Sequence[Sequence[_Layout]], n_servers: Ints, is_timely: bool
) -> tuple[int, Ints, Floats]:
    """Layout of the first of some models, its replicas on each number of servers, and how many times all loads fit."""
    least = [(each, *_least(work, each, is_timely)) for work, each in zip(works, layouts, strict=True) if each]
    needs = [(each[which], count) for each, which, count in least]
    scale = np.full(len(n_servers), np.inf)
    for one, _ in needs:
        # Replicas of as many GPUs and of more fill whole parts of servers: sizes are powers of two.
        parts = one.replicas if one.servers == 1 else 1 / one.servers
        taken = sum(
            count * (other.deployment.gpus // one.deployment.gpus if other.servers == 1 else other.servers * parts)
            for other, count in needs
            if (other.servers, other.deployment.gpus) >= (one.servers, one.deployment.gpus)
        )
        scale = np.minimum(scale, (n_servers // one.servers * one.servers) * parts / taken)
    scale = scale + _ROUNDING
    which, count = least[0][1:]
    counts = np.floor(scale * count)
    if works[0].load_kind is LoadKind.GPUS:
        counts = np.minimum(counts, count)
    return which, counts.astype(np.int64), scale


def _rated(
    work: ServingWork, layouts: dict[ServerKind, list[tuple[Deployment, int]]], catalog: Catalog
) -> dict[ServerKind, tuple[_Layout, ...]]:
    flat = [(one, deployment, servers) for one, each in layouts.items() for deployment, servers in each]
    found: dict[ServerKind, list[_Layout]] = {one: [] for one in layouts}
    if not flat:
        return dict.fromkeys(layouts, ())
    load = _largest_load(work, [each for _, each, _ in flat], catalog)
    log_rates, scores, rates, log_sd = _rates(work, [each for _, each, _ in flat], load, catalog)
    prefixes = _prefixes(work, [each for _, each, _ in flat])
    if work.counts_people and work.people is not None and work.prefix_cached:
        # A prompt is found in the cache only where it stays there until its session asks again: in flight, and beside.
        sessions = prefixes * (load.most_concurrent - load.concurrency) + load.concurrency
        rates = np.minimum(rates, np.maximum(sessions, 0.0) * work.people.requests_per_h / HOUR_S)
    timely = _timely_rates(log_rates, scores, rates, log_sd, work.confidence)
    if work.first_token_s is None:
        timely = rates
    sure = rates * np.exp(-normal_quantile(work.confidence) * log_sd)
    for index, (one, deployment, servers) in enumerate(flat):
        layout = _Layout(
            deployment=deployment,
            servers=servers,
            replicas=one.gpus_per_server // deployment.gpus if servers == 1 else 1,
            rate=float(rates[index]),
            sure_rate=float(sure[index]),
            timely_rate=float(min(timely[index], sure[index])),
            log_sd=float(log_sd[index]),
            concurrency=float(load.concurrency[index]),
            most_concurrent=float(load.most_concurrent[index]),
            least_tpot_s=float(load.least_tpot_s[index]),
            least_ttft_s=float(load.least_ttft_s[index]),
            fits=bool(load.fits[index]),
            bound=calibration.Bound(int(load.bound[index])),
            concurrencies=load.curve.concurrency[index],
            log_rates=log_rates[index],
            scores=scores[index],
            prefixes=float(prefixes[index]),
        )
        found[one].append(layout)
    return {one: tuple(sorted(each, key=lambda layout: layout.order, reverse=True)) for one, each in found.items()}


def _largest_load(work: ServingWork, deployments: Sequence[Deployment], catalog: Catalog) -> calibration.LargestLoad:
    """The largest load within the limits, with no more requests in flight than in published runs."""
    first, later = (np.inf if limit is None else limit for limit in (work.first_token_s, work.token_s))
    most = np.array(
        [MOST_GUESSED * one.gpus if one.is_speculative else _MOST_IN_FLIGHT * one.data for one in deployments]
    )
    limits = calibration.LatencyLimits(first, later, work.percentile, most_in_flight=most, is_open=work.comes_at_random)
    if work.in_flight is not None or work.first_token_s is None:
        # A new request starts as one ends: none pile up, and prefills may take all the time and requests all the room.
        limits = replace(limits, busy_share=1.0, filled_share=1.0)
    return calibration_of(work, catalog).largest_load(points_of(work, deployments, 1.0), limits)


def _rates(
    work: ServingWork, deployments: Sequence[Deployment], load: calibration.LargestLoad, catalog: Catalog
) -> tuple[Floats, Floats, Floats, Floats]:
    """Logarithms of the rates of all loads, scores of their first tokens, the largest rate, and its spread."""
    rates, most, log_sd = load.curve.requests_per_s, load.requests_per_s, load.log_sd
    if work.in_flight is not None:
        rates, most, log_sd = load.curve.concurrency, load.concurrency, load.concurrency_log_sd
    untried = math.hypot(_ADAPTERS_SD * (work.adapters > 0), _EMBEDDING_SD * work.is_embedding)
    measured = calibration_of(work, catalog).measured
    own = () if measured is None else measured.points.deployments
    more = [math.hypot(untried, _GROUPED_HEADS_SD * (one.data > 1 and not one.model.kv_rank)) for one in deployments]
    log_sd = np.hypot(log_sd, [0.0 if one in own else sd for one, sd in zip(deployments, more, strict=True)])
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum.accumulate(np.maximum(rates, _NEXT_TO_NOTHING), axis=1))
    scores = np.clip(np.nan_to_num(load.curve.first_token_score, nan=-_MOST_SCORE), -_MOST_SCORE, _MOST_SCORE)
    return logs, scores, np.where(load.is_reachable & load.fits, most, _NO_RATE), log_sd


def _prefix_bytes(work: ServingWork, deployment: Deployment) -> float:
    """Keys and values of what an earlier prompt left, on all GPUs of its group. [B]"""
    table = replicas_of([deployment])
    return float(table.cache_bytes(work.input_tokens * work.prefix_cached)[0]) * deployment.tensor


def _prefixes(work: ServingWork, deployments: Sequence[Deployment]) -> Floats:
    """Cached parts of prompts that take the memory of one request in flight; 0 where nothing is cached."""
    if not work.prefix_cached:
        return np.zeros(len(deployments))
    table = replicas_of(deployments)
    whole = table.cache_bytes(work.input_tokens + 0.5 * work.output_tokens) + table.state_bytes
    cached = table.cache_bytes(work.input_tokens * work.prefix_cached) + table.state_bytes
    return np.asarray(whole / np.minimum(cached, whole))


def _timely_rates(log_rates: Floats, scores: Floats, most: Floats, log_sd: Floats, confidence: float) -> Floats:
    """Largest rates that layouts reach, with their first tokens in time, at a confidence; 0 where none is.

    Servers that are added shorten the queue and not the prefill, so that such a rate chooses layouts and sizes nothing.
    """
    top = np.log(np.maximum(most, _NEXT_TO_NOTHING))[:, None]
    tries = np.linspace(0.0, 1.0, _TRIES) * (np.minimum(log_rates[:, :1], top - 4 * log_sd[:, None]) - top) + top
    first = normal_cdf(np.array([np.interp(*of) for of in zip(tries, log_rates, scores, strict=True)]))
    chance = first * normal_cdf((top - tries) / np.maximum(log_sd, _NEXT_TO_NOTHING)[:, None])
    is_sure = (chance >= confidence) & (most > _NO_RATE)[:, None]
    # Between the first that is sure and the one before, which is not.
    rows, sure = np.arange(len(tries)), is_sure.argmax(axis=1)
    unsure = np.maximum(sure - 1, 0)
    gain = chance[rows, sure] - chance[rows, unsure]
    share = np.where(gain > 0, (chance[rows, sure] - confidence) / np.where(gain > 0, gain, 1.0), 0.0)
    best = tries[rows, sure] + share * (tries[rows, unsure] - tries[rows, sure])
    return np.where(is_sure.any(axis=1), np.exp(best), 0.0)


def _at_load(work: ServingWork, layout: _Layout, replicas: int) -> tuple[float, str]:
    """Requests in flight of a replica at the asked load; at that kept with the confidence where none is asked."""
    if layout.rate <= _NO_RATE:
        return 1.0, "one request"
    asked = work.asked_rate
    each = (layout.timely_rate or layout.sure_rate) if asked is None else asked / replicas
    if each >= layout.rate:
        return layout.concurrency, "most"
    # Fewer in flight are served faster.
    return float(layout.load_at(each)), "sure" if asked is None else "asked"


# Loads of the curve, and how many times the most within the limits it goes on.
_LOADS, _BEYOND = 24, 1.3
# A published run is shown where the lengths of its requests lie within this factor of those asked: those of the usual
# ones, 1,024 and 8,192 tokens, lie a factor of eight apart.
_ALIKE = 8**0.5
# Distance of a run that was as fast as possible from one with limits: as much as twice the length. A choice of ours.
_OTHER_LOAD = 2.0
# Share of the highest published output from which on a load needs it. Below, a design does not rest on the difference.
_NEEDED = 0.8


@dataclass(frozen=True)
class PublishedPoint:
    """A published run on the same GPU with the same model."""

    token_s: float  # between tokens of a request
    tokens_per_s: float  # output of a GPU
    source: str


@dataclass(frozen=True)
class ServingCurve:
    """The layout of a design from one request in flight to the most. Arrays over the loads."""

    token_s: Floats
    tokens_per_s: Estimate  # output of a GPU
    at: tuple[float, float]  # the design at its load: seconds between tokens, output of a GPU
    published: tuple[PublishedPoint, ...]


def nearest_run(answer: ServingAnswer) -> ServingRow | None:
    """The published run of the same model on the same GPU that is nearest: by the number format of the weights, by the
    engine where one is named, then by lengths and load, and of these the fastest.
    """
    work, layout = answer.work, answer.deployment

    def distance(row: ServingRow) -> tuple[bool, bool, float, float]:
        pairs = [(row.input_tokens, work.input_tokens), (row.output_tokens, work.output_tokens)]
        if row.tpot_s:
            pairs.append((row.tpot_s, float(answer.tpot_s.value)))
        elif row.has_limits and work.token_s is not None:
            pairs.append((row.tpot_limit_s, work.token_s))
        elif row.has_limits or work.token_s is not None:
            pairs.append((_OTHER_LOAD, 1.0))
        far = sum(abs(math.log(published / asked)) for published, asked in pairs if published)
        is_other = bool(layout.engine) and row.engine != layout.engine
        return row.computed_in != layout.weights, is_other, round(far, 1), -output_of_gpu(row)

    return min(_runs(work.model_id, layout), key=distance, default=None)


def highest_run(answer: ServingAnswer) -> ServingRow | None:
    """The published run with the highest output of a GPU, of the same model, GPU, number format and similar lengths."""
    alike = (row for row in _runs(answer.work.model_id, answer.deployment) if _is_like(row, answer))
    return max(alike, key=output_of_gpu, default=None)


def exceeded_run(answer: ServingAnswer) -> ServingRow | None:
    """The highest published run, where the rate that is kept as surely as asked is above it, and the load needs it."""
    row = None if answer.work.is_embedding else highest_run(answer)
    if row is None:
        return None
    load = answer.served_per_s * answer.work.priced_tokens / answer.gpus_used
    is_above = answer.sure_tokens_per_s / answer.gpus_used > output_of_gpu(row)
    return row if is_above and load > _NEEDED * output_of_gpu(row) else None


def output_of_gpu(row: ServingRow) -> float:
    """Output tokens of a GPU of a published run; 0 where it does not say. [1/s]"""
    return (row.output_tokens_s or 0.0) / (row.gpus or math.inf)


def rate_sources(found: ServingAnswer) -> tuple[str, ...]:
    """Sources of the fitted runs of the model or on the GPU, those of the most runs first."""
    of_either = (row for row in fitted_rows() if found.work.model_id == row.model or found.deployment.gpu.id == row.gpu)
    return tuple(source for source, _ in Counter(row.source for row in of_either).most_common())


def serving_curve(answer: ServingAnswer) -> ServingCurve:
    """The curve of the chosen layout, rising in time and output."""
    work, layout = answer.work, answer.deployment
    most = max(1.0, min(answer.most_concurrent, _BEYOND * max(answer.limit_concurrency, answer.concurrency)))
    loads = np.append(np.geomspace(1.0, most, _LOADS), answer.concurrency)
    rates = answer.rates_at(loads)
    each = rates.tokens_per_s / layout.gpus
    order = np.argsort(rates.tpot_s[:-1])
    return ServingCurve(
        token_s=rates.tpot_s[order],
        tokens_per_s=Estimate.log_normal(each[order], rates.log_sd[order]),
        at=(float(rates.tpot_s[-1]), float(each[-1])),
        published=tuple(
            PublishedPoint(row.tpot_s, output_of_gpu(row), row.source)
            for row in _runs(work.model_id, layout)
            if row.kind == CLOSED_LOOP and row.tpot_s and _is_like(row, answer)
        ),
    )


def _is_like(row: ServingRow, answer: ServingAnswer) -> bool:
    """Whether a run has the number format of an answer and similar lengths."""
    lengths = ((row.input_tokens, answer.work.input_tokens), (row.output_tokens, answer.work.output_tokens))
    return row.computed_in == answer.deployment.weights and all(
        published is not None and asked / _ALIKE <= published <= asked * _ALIKE for published, asked in lengths
    )


def _runs(model: str, layout: Deployment) -> tuple[ServingRow, ...]:
    """Published runs of one pool on the GPU of a layout, with tokens guessed ahead or without, as it has them."""
    return tuple(row for row in _rows_with_output(model, layout.gpu.id) if row.guesses == layout.is_speculative)


@lru_cache(maxsize=64)
def _rows_with_output(model: str, gpu: str) -> tuple[ServingRow, ...]:
    """Those that state what they measured, and their output and lengths."""
    return tuple(
        row
        for row in fitted_rows()
        if (row.model, row.gpu) == (model, gpu)
        and output_of_gpu(row)
        and row.input_tokens
        and row.output_tokens
        and row.split != "apart"
    )
