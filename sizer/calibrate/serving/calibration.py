"""What the shipped measurements say of serving: rates of deployments, and the largest load that meets limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.engine import (
    AccuracyTarget,
    Effect,
    Fit,
    Law,
    Prior,
    RateModel,
    fits_path,
    kind_of,
    load_fits,
    priors,
    stated_prior,
)
from sizer.calibrate.serving.deployment import EPOCH_MONTH, FITTED_VENDOR, Deployment, ServingPoints
from sizer.calibrate.serving.rows import CLOSED_LOOP, fitted_rows
from sizer.perf.serving.loop import Load, Served, closed_loop
from sizer.perf.serving.percentiles import TPOT_RATIOS, first_token_ratio, queue_wait
from sizer.perf.serving.step import FACTORS, ServingFactors
from sizer.workload.loads import length_ratio


class ServingTime(StrEnum):
    """What a measurement prints."""

    TPOT = "tpot_s"  # seconds between tokens of a request
    REQUEST = "request_s"  # seconds of a request, which with the requests in flight make tokens/s
    TTFT = "ttft_s"  # seconds to the first token


TIME, FIRST = "time", "first"  # all times of a deployment; more, the time to the first token
_TERMS = (*FACTORS, TIME, FIRST)
_PLACE = {name: index for index, name in enumerate(_TERMS)}
N_TERMS = len(_TERMS)
# Spread of levels that no row has, where rows left out show more than the priors, which fit best.
_UNSEEN_SD = {"time/model": 0.16, "time/cell": 0.105}
_FIRST_MONTHS = -4.0
# Scatter of a measurement about its prediction, and more of what is harder: routing, attention with kernels of its own
# (latent, linear), pools of their own, speculation, requests that wait for memory (admission differs by engine), first
# tokens (cold starts). As rows of each scatter about the fit.
_ROW_SD = 0.035
_MIXTURE_SD, _KERNEL_SD, _APART_SD, _SPECULATIVE_SD, _WAITING_SD, FIRST_SD = 0.05, 0.11, 0.05, 0.12, 0.40, 0.40
# More with many requests in flight of a group, whose batches each engine forms in its own way: of dense models, and of
# mixtures, none up to the first number and all of it from the second on. With kernels of their own none is seen.
_LOADED_SD, _LOADED_MIXTURE_SD, _LOADED = 0.05, 0.10, (8.0, 128.0)


def prior_of(name: str) -> Prior:
    """Prior of a factor or of an effect."""
    is_level = "/" in kind_of(name)
    return stated_prior("serving-effects" if is_level else "serving", name)


@lru_cache(maxsize=10_000)
def unseen(name: str) -> Prior:
    """What is expected of an effect that no row has: as its prior, wider where rows left out turned out to be."""
    found = prior_of(name)
    return replace(found, sd=max(found.sd, _UNSEEN_SD.get(kind_of(name), 0.0)))


def levels_of(deployment: Deployment) -> dict[str, str]:
    """Names of the groups of a deployment that share an effect."""
    engine, generation = deployment.engine or "unnamed", deployment.gpu.generation or deployment.gpu.id
    tuned = f"{deployment.tuning}/{generation}" if deployment.is_tuned else ""
    return {
        "engine": engine,
        "weights": deployment.weights,
        "format": "widened" if deployment.is_widened else deployment.computed_in,
        "gpu": deployment.gpu.id,
        "family": deployment.model.family,
        "model": deployment.model.id,
        "precision": f"{deployment.weights}/{generation}",
        "engine_generation": f"{engine}/{generation}",
        "vendor": "" if deployment.is_tuned or deployment.gpu.vendor == FITTED_VENDOR else deployment.gpu.vendor,
        "tuned": tuned,
        "tuned_model": tuned and f"{deployment.model.id}/{tuned}",
        "cell": f"{deployment.model.id}/{engine}/{deployment.gpu.id}/{deployment.weights}",
    }


@lru_cache(maxsize=50_000)
def effects_of(deployment: Deployment) -> tuple[Effect, ...]:
    """Factors of a deployment, and the effects of its levels.

    Of an engine that is not named, those of engines are unknown: the prediction is that of their population.
    """
    levels = levels_of(deployment)
    factors = [(index, name, 1.0) for index, name in enumerate(FACTORS)]
    pairs = (name.split("/") for name in priors("serving-effects"))
    found = [(_PLACE[term], f"{term}/{level}:{levels[level]}", 1.0) for term, level in pairs if levels[level]]
    # Stacks tuned for a benchmark are tuned at any date; of others none before the fitted ones was measured.
    months = 0.0 if deployment.is_tuned else max(deployment.month - EPOCH_MONTH, _FIRST_MONTHS)
    return (*factors, *found, (_PLACE[TIME], "drift:month", months))


def factors_of(terms: Floats) -> ServingFactors:
    """Factors from terms, shape (cases, terms)."""
    values = np.exp(terms[:, : len(FACTORS)]).T
    return ServingFactors(**dict(zip(FACTORS, values, strict=True)))


def log_times(served: Served, terms: Floats) -> tuple[dict[ServingTime, Floats], dict[ServingTime, Floats]]:
    """Logarithms of the three times, shape (n,), and their derivatives by the terms, shape (n, terms)."""
    logs: dict[ServingTime, Floats] = {}
    slopes: dict[ServingTime, Floats] = {}
    for quantity, part in (
        (ServingTime.TPOT, served.tpot),
        (ServingTime.REQUEST, served.request),
        (ServingTime.TTFT, served.ttft),
    ):
        late = terms[:, _PLACE[FIRST]] if quantity is ServingTime.TTFT else 0.0
        logs[quantity] = np.log(part.value) + terms[:, _PLACE[TIME]] + late
        found = np.zeros((len(terms), N_TERMS))
        for name, slope in part.log_slopes.items():
            found[:, _PLACE[name]] = slope
        found[:, _PLACE[TIME]] = 1.0
        found[:, _PLACE[FIRST]] = 1.0 * (quantity is ServingTime.TTFT)
        slopes[quantity] = found
    return logs, slopes


# --- the model as the engine takes it -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """One printed number of a measurement: a deployment under a load, and which of its times."""

    deployment: Deployment
    input_tokens: float
    output_tokens: float
    cached_share: float
    concurrency: float  # of one replica
    quantity: ServingTime
    row_id: str = ""
    rows_of_cell: float = 1.0  # rows of the same cell: together they count no more than a few

    @property
    def point(self) -> tuple[object, ...]:
        """What the times of one measurement share."""
        return self.deployment, self.input_tokens, self.output_tokens, self.cached_share, self.concurrency


def points_of(cases: Sequence[Printed]) -> tuple[ServingPoints, Ints, Ints]:
    """Points of printed numbers, the first case of each, and the point of each case."""
    number: dict[object, int] = {}
    first: list[int] = []
    of = []
    for position, case in enumerate(cases):
        if case.point not in number:
            number[case.point] = len(first)
            first.append(position)
        of.append(number[case.point])
    some = [cases[place] for place in first]
    deployments = tuple(dict.fromkeys(case.deployment for case in some))
    which = {deployment: index for index, deployment in enumerate(deployments)}
    points = ServingPoints.make(
        deployments,
        of=[which[case.deployment] for case in some],
        input_tokens=[case.input_tokens for case in some],
        output_tokens=[case.output_tokens for case in some],
        cached_share=[case.cached_share for case in some],
        concurrency=[case.concurrency for case in some],
    )
    return points, np.array(first, dtype=np.int64), np.array(of, dtype=np.int64)


def times_law(cases: Sequence[Printed]) -> Law:
    """Logarithms of printed times and their derivatives by the terms."""
    points, first, of = points_of(cases)
    decode, fill, load = points.table.take(points.of), points.fill_table.take(points.of), points.load()
    masks = {quantity: np.array([case.quantity is quantity for case in cases]) for quantity in ServingTime}

    def law(terms: Floats) -> tuple[Floats, Floats]:
        own = np.broadcast_to(terms, (len(cases), N_TERMS))[first]
        logs, slopes = log_times(closed_loop(decode, fill, load, factors_of(own), graded=True), own)
        found, derivatives = np.empty(len(cases)), np.empty((len(cases), N_TERMS))
        for quantity, mask in masks.items():
            found[mask] = logs[quantity][of[mask]]
            derivatives[mask] = slopes[quantity][of[mask]]
        return found, derivatives

    return law


# Scatter of printed times, within which the loss is quadratic: those of tokens belong together and count half each.
_SIGMA = {ServingTime.TPOT: 0.14, ServingTime.REQUEST: 0.14, ServingTime.TTFT: 0.43}
# Rows of a cell that count in full.
_FULL_ROWS = 12.0


def sigma_of(cases: Sequence[Printed]) -> Floats:
    """Scatter of each case: many rows of one cell say little more than a few."""
    return np.array([_SIGMA[case.quantity] * max(1.0, case.rows_of_cell / _FULL_ROWS) ** 0.5 for case in cases])


def scatter_of(points: ServingPoints) -> Floats:
    """Scatter of measured times of tokens beyond that of every one, shape (n,)."""
    of_deployment = [
        (
            _MIXTURE_SD * deployment.model.is_mixture,
            _KERNEL_SD * (deployment.model.family in ("latent", "hybrid")),
            _APART_SD * (deployment.prefill is not None),
            _SPECULATIVE_SD * deployment.is_speculative,
        )
        for deployment in points.deployments
    ]
    found = np.sqrt((np.array(of_deployment).reshape(-1, 4) ** 2).sum(axis=1))
    loaded = {"dense": _LOADED_SD, "mixture": _LOADED_MIXTURE_SD}
    most = np.array([loaded.get(deployment.model.family, 0.0) for deployment in points.deployments])
    groups = np.array([deployment.data for deployment in points.deployments])
    share = np.log2(np.maximum(points.concurrency / groups[points.of] / _LOADED[0], 1.0)) / np.log2(
        _LOADED[1] / _LOADED[0]
    )
    more = np.hypot(most[points.of] * np.minimum(share, 1.0), _WAITING_SD * (points.concurrency > points.room))
    return np.asarray(np.hypot(found[points.of], more))


def scatter(cases: Sequence[Printed]) -> Floats:
    """The same of printed numbers, shape (cases,), with what first tokens have more."""
    points, _, of = points_of(cases)
    first = np.array([FIRST_SD * (case.quantity is ServingTime.TTFT) for case in cases])
    return np.asarray(np.hypot(scatter_of(points)[of], first))


# Loads are solved to a millionth, so that the objective is no smoother; a fall of this much moves no factor by a
# hundredth of its spread.
_TOLERANCE = 1e-5
SERVING = RateModel(
    n_terms=N_TERMS,
    effects=lambda case: effects_of(case.deployment),
    prior_of=prior_of,
    law=times_law,
    sigma=sigma_of,
    row_sd=_ROW_SD,
    scatter=scatter,
    tolerance=_TOLERANCE,
)


# Name of the fit among those stored.
RATES = "rates"
# Points that are evaluated together: their arrays stay in the processor's cache.
_CHUNK = 4096
# Highest share of the time that prefills may take, and of the memory's room that requests may use, for a load with
# arrivals that vary.
MOST_BUSY, MOST_FILLED = 0.7, 0.85
# Concurrencies that are tried: from one on up to the room of the memory, and below one, where requests come one by one.
_FROM_ONE, _BELOW_ONE = 20, (1 / 64, 1 / 8, 1 / 4, 1 / 2)
LOADS = _FROM_ONE + len(_BELOW_ONE)
# Longest context of the published rows, and what each doubling beyond it adds to the spread. Assumed: rows of long
# contexts that no fit saw came out up to 2.9 times slower. [tokens], [-]
CALIBRATED_TOKENS = 8_192 + 1_024
_LONGER_SD = 0.10
# Spread of a mixture with more requests in flight of a GPU than its fitted rows have, from twice as many on. Assumed:
# TensorRT-LLM's full loads of gpt-oss-120b on H100 lie 0.18 from the fit, DeepSeek-R1 at 106 of a B200 in MLPerf 0.28.
_FULLER_SD = 0.2
# Spread of the room of the memory: computed limits lie 6 to 22 % below those that submitters set.
_ROOM_SD = 0.08
# What a misfit at one load says of that at another of the same layout and lengths: fitted rows of the same load
# correlate by 0.88, of twice the load by 0.73, of four times by 0.45, of eight times by 0.18, of more not at all.
_ALIKE, _ALIKE_OCTAVES = 0.88, 1.7
# Fall of the largest load for a given rise of all times, at most: near a limit that hardly depends on the load.
_MOST_MOVED = 5.0
# Standard deviations by which times are longer at 90 %, the usual confidence.
_LIKELY = 1.2816


@dataclass(frozen=True)
class ServingRates:
    """What deployments do under loads. Arrays of one length.

    Times are medians of what a measurement of the mean shows; where the model does not load they are infinite and
    tokens/s 0. Spreads are standard deviations of logarithms, and hold parameters, levels that nobody measured, and
    the scatter of one measurement: a 90 % interval is a factor exp(1.645 x spread) either way.
    """

    tokens_per_s: Floats  # output tokens of a replica, or of the pools
    requests_per_s: Floats
    tpot_s: Floats  # time between tokens of a request
    ttft_s: Floats  # time to the first token
    log_sd: Floats  # of tokens/s, and of requests/s
    tpot_log_sd: Floats
    ttft_log_sd: Floats
    most_concurrent: Floats  # requests in flight for which the memory has room
    fits: Bools  # whether the model loads, with room for one request of these lengths
    busy_share: Floats  # of the time, that prefills take


@dataclass(frozen=True)
class LatencyLimits:
    """Limits of a percentile of requests: scalars, or an element for each point. Infinite: none."""

    ttft_s: ArrayLike = np.inf
    tpot_s: ArrayLike = np.inf
    percentile: ArrayLike = 95.0
    busy_share: float = MOST_BUSY  # of the time, that prefills may take
    filled_share: float = MOST_FILLED  # of the memory's room, that requests may use
    most_in_flight: ArrayLike = np.inf  # requests of a replica, whatever its room
    is_open: bool = False  # whether requests come at random, as those of users do: they queue for few long prefills


class Bound(IntEnum):
    """What bounds the largest load."""

    FIRST_TOKEN = 0
    LATER_TOKENS = 1
    PREFILLS = 2  # the share of the time that they take
    ROOM = 3  # of the memory, or the most in flight


@dataclass(frozen=True)
class LoadCurve:
    """Loads of deployments up to the most that may be in flight. Arrays (n, loads)."""

    concurrency: Floats
    requests_per_s: Floats
    first_token_score: Floats  # standard deviations by which the limit of the first token lies above its percentile


@dataclass(frozen=True)
class LargestLoad:
    """The largest load of each deployment that meets the limits. Arrays, one element a point.

    ``is_reachable`` is false where no load meets them; the other columns are then those of one request alone.
    """

    concurrency: Floats
    requests_per_s: Floats  # of a replica
    tokens_per_s: Floats
    tpot_s: Floats  # means at that load
    ttft_s: Floats
    log_sd: Floats  # of the logarithm of requests/s within the limits
    concurrency_log_sd: Floats
    most_concurrent: Floats
    fits: Bools
    is_reachable: Bools
    least_tpot_s: Floats  # of one request alone
    least_ttft_s: Floats
    bound: Ints  # of :class:`Bound`
    curve: LoadCurve


@dataclass(frozen=True)
class MeasuredPoints:
    """Rates that somebody measured of deployments, and what the fit says of them. Arrays, an element for each point."""

    points: ServingPoints
    slopes: Floats  # of the logarithm of seconds of a request by the terms, shape (n, terms)
    misfit_sd: Floats
    log_gaps: Floats  # logarithm of measured over predicted seconds
    precision: Floats  # inverse of the covariance of these, shape (n, n)


@dataclass(frozen=True)
class ServingCalibration:
    """The fit, and what it says of deployments that somebody measured and of those that nobody did."""

    fit: Fit
    figures: tuple[AccuracyTarget, ...] = ()
    digest: str = ""  # of the rows and the facts that it was fitted to
    measured: MeasuredPoints | None = None

    def after(self, points: ServingPoints, requests_per_s: Floats, log_sd: Floats) -> "ServingCalibration":
        """The same after rates were measured, with such spreads of their logarithms (Bayes, linear in logarithms).

        ``points``, ``requests_per_s``, ``log_sd`` (n,): of one replica each. They tell of the effects of their
        deployments, and of what the model misses at about these loads of the same layout and lengths.
        """
        here = self._terms(points.deployments)[0][points.of]
        logs, slopes = log_times(_served(points, np.arange(len(points)), points.load(), here), here)
        gaps = np.log(points.concurrency / requests_per_s) - logs[ServingTime.REQUEST]
        misfit = np.hypot(self.fit.row_sd, _scatter(points))
        found = MeasuredPoints(points, slopes[ServingTime.REQUEST], misfit, gaps, np.diag(log_sd))
        shared = np.einsum("nt,ntm->nm", found.slopes, self._varying(points.deployments, found)[points.of])
        shared += _alike(points, points) * np.outer(misfit, misfit)
        # At its own point a misfit is the whole one.
        shared += np.diag(log_sd**2 + (1 - _ALIKE) * misfit**2)
        return replace(self, measured=replace(found, precision=np.linalg.inv(shared)))

    def rates(self, points: ServingPoints) -> ServingRates:
        """Rates of deployments under loads, with the spread of each.

        ``points`` (n,).
        """
        n = len(points)
        terms, kind, covariances = self._terms(points.deployments)
        logs, variances = (np.empty((len(ServingTime), n)) for _ in range(2))
        known = None if self.measured is None else self._varying(points.deployments, self.measured)
        shared = np.empty((len(ServingTime), n, 0 if self.measured is None else len(self.measured.points)))
        busy, room = np.empty(n), points.room
        # Fewer than one in flight on average: each is alone.
        load, alone = points.load(), points.concurrency < 1
        load = replace(load, concurrency=np.maximum(load.concurrency, 1.0))
        # Those of one kind together, which share a covariance.
        order = np.argsort(kind[points.of], kind="stable")
        for start in range(0, n, _CHUNK):
            some = order[start : start + _CHUNK]
            whose = points.of[some]
            here = terms[whose]
            one = _served(points, some, load, here)
            busy[some] = one.busy_share
            found, slopes = log_times(one, here)
            for row, quantity in enumerate(ServingTime):
                logs[row, some] = found[quantity]
                variances[row, some] = _variance(slopes[quantity], kind[whose], covariances)
                if known is not None:
                    shared[row, some] = np.einsum("nt,ntm->nm", slopes[quantity], known[whose])
        scatter = _scatter(points)
        tpot_sd, request_sd = (self.fit.interval_sd(variance, scatter) for variance in variances[:2])
        ttft_sd = self.fit.interval_sd(variances[2], np.hypot(scatter, FIRST_SD))
        if self.measured is not None:
            misfit = np.hypot(self.fit.row_sd, scatter)[:, None] * self.measured.misfit_sd
            shared += _alike(points, self.measured.points) * misfit
            gain = shared @ self.measured.precision
            logs += gain @ self.measured.log_gaps
            less = (gain * shared).sum(axis=2)
            tpot_sd, request_sd, ttft_sd = np.sqrt(np.square([tpot_sd, request_sd, ttft_sd]) - less)
        fits = room >= 1
        tpot, request, ttft = (np.where(fits, np.exp(row), np.inf) for row in logs)
        requests = np.where(fits, points.concurrency, 0.0) / request
        return ServingRates(
            tokens_per_s=requests * points.output_tokens,
            requests_per_s=requests,
            tpot_s=tpot,
            ttft_s=ttft,
            log_sd=request_sd,
            tpot_log_sd=tpot_sd,
            ttft_log_sd=ttft_sd,
            most_concurrent=room,
            fits=fits,
            busy_share=busy * np.where(alone, points.concurrency, 1.0),
        )

    def largest_load(self, points: ServingPoints, limits: LatencyLimits) -> LargestLoad:
        """The largest number of requests in flight that meets limits, and what is served then.

        ``points`` (n,): whose ``concurrency`` does not count. ``limits``: of percentiles: the mean times their ratio
        must stay within.

        Rates at some concurrencies up to 0.85 of the memory's room, between which all is linear in logarithms;
        prefills may take 0.7 of the time, so that arrivals that vary do not pile up.
        """
        n, room = len(points), points.room
        top = np.maximum(np.minimum(limits.filled_share * room, limits.most_in_flight), 1.0)
        below = np.broadcast_to(_BELOW_ONE, (n, len(_BELOW_ONE)))
        grid = np.concatenate([below, top[:, None] ** np.linspace(0.0, 1.0, _FROM_ONE)], axis=1)
        rates = self.rates(points.at_loads(grid))

        def column(values: Floats) -> Floats:
            # What does not load is no matter of rates; its numbers are replaced below.
            return np.asarray(np.where(rates.fits, values, 1.0).reshape(n, LOADS))

        tpot, ttft, busy = column(rates.tpot_s), column(rates.ttft_s), column(rates.busy_share)
        requests, log_sd = column(rates.requests_per_s), column(rates.log_sd)
        percentile = np.broadcast_to(np.asarray(limits.percentile, dtype=float), (n,))
        tpot_ratio = TPOT_RATIOS.at(percentile)[0][:, None]
        mean, first, ratio_log_sd = first_tokens(
            percentile[:, None],
            *(ttft, busy, grid, busy / requests, ttft[:, :1]),
            self.long_prompts(points, percentile)[:, None],
            np.nan_to_num(points.input_variation)[:, None],
            is_open=limits.is_open,
        )
        ttft_limit, tpot_limit = (
            np.broadcast_to(np.asarray(one, dtype=float), (n,))[:, None] for one in (limits.ttft_s, limits.tpot_s)
        )
        # Derivatives mean nothing where the queue reaches its bound; the spread hardly depends on the load.
        first_sd = column(rates.ttft_log_sd)
        first_sd = np.minimum(first_sd, np.median(first_sd, axis=1, keepdims=True))
        # Above 0 where a limit is broken; all grow with the load.
        with np.errstate(invalid="ignore", divide="ignore"):
            slow = np.log(tpot * tpot_ratio / tpot_limit)
            # Fewer in flight are never answered later: where the queue of a few says so, more of them are right.
            late = np.log(first / ttft_limit)
            late = np.minimum(late, np.minimum.accumulate(np.where(slow <= 0, late, np.inf)[:, ::-1], axis=1)[:, ::-1])
            each = np.stack([late, slow, np.log(busy / limits.busy_share)])
        over = each.max(axis=0)
        fits = room >= 1
        meets = over <= 0
        reachable = fits & meets[:, 0]
        # The last of the concurrencies that meet the limits without a gap, and the next one.
        last = np.maximum(np.cumprod(meets, axis=1).sum(axis=1) - 1, 0)
        following = np.minimum(last + 1, LOADS - 1)
        rows = np.arange(n)
        low, high = over[rows, last], over[rows, following]
        rise = high - low
        share = np.where(reachable & (rise > 0) & np.isfinite(rise), -low / np.where(rise > 0, rise, 1.0), 0.0)
        share = np.clip(share, 0.0, 1.0)

        def between(values: Floats) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                a, b = np.log(values[rows, last]), np.log(values[rows, following])
                return np.asarray(np.exp(np.where(share > 0, a + share * (b - a), a)))

        bound = np.where(over[rows, following] > 0, each[:, rows, following].argmax(axis=0), Bound.ROOM)
        # How sure a first token is does not depend on the number of replicas, and is told on its own.
        is_told = (bound == Bound.FIRST_TOKEN) & limits.is_open
        limited = (over, slow, log_sd[rows, last], last, following)
        concurrency, found = np.where(fits, between(grid), 0.0), between(requests)
        return LargestLoad(
            concurrency=concurrency,
            requests_per_s=np.where(fits, found, 0.0),
            tokens_per_s=np.where(fits, found, 0.0) * points.output_tokens,
            tpot_s=np.where(fits, between(tpot), np.inf),
            ttft_s=np.where(fits, between(mean), np.inf),
            # The rate at a load falls with longer times, and the limits are met at a smaller load, too.
            log_sd=log_sd[rows, last] * (1 + np.where(is_told, 0.0, _moved(np.log(requests), *limited))),
            concurrency_log_sd=np.hypot(_ROOM_SD, log_sd[rows, last] * _moved(np.log(grid), *limited)),
            most_concurrent=room,
            fits=fits,
            is_reachable=reachable,
            least_tpot_s=np.where(fits, tpot[:, 0], np.inf),
            least_ttft_s=np.where(fits, ttft[:, 0], np.inf),
            bound=bound,
            curve=LoadCurve(grid, requests, -late / np.hypot(first_sd, ratio_log_sd)),
        )

    def long_prompts(self, points: ServingPoints, percentile: ArrayLike) -> Floats:
        """First token of a prompt as long as a percentile of them over that of a mean one, each alone.

        ``points`` (n,); ``percentile`` (n,) [%]. NaN where nothing is known of how lengths vary.
        """
        if np.isnan(points.input_variation).all():
            return np.full(len(points), np.nan)
        mean = replace(points, concurrency=np.ones(len(points)), input_variation=np.zeros(len(points)))
        ratio = length_ratio(percentile, points.input_variation)
        long, usual = self.rates(replace(mean, input_tokens=points.input_tokens * ratio)), self.rates(mean)
        # Whether a long prompt alone finds room is no matter of the mean ones that fill the memory.
        both = long.fits & usual.fits
        return np.where(both, np.where(both, long.ttft_s, 1.0) / np.where(both, usual.ttft_s, 1.0), ratio)

    def _terms(self, deployments: Sequence[Deployment]) -> tuple[Floats, Ints, list[Floats]]:
        """Terms of each deployment, the number of its kind, and the covariances of the terms of each kind."""
        kinds: dict[object, int] = {}
        found: list[tuple[Floats, Floats]] = []
        numbers = []
        for deployment in deployments:
            effects = effects_of(deployment)
            if effects not in kinds:
                kinds[effects] = len(found)
                found.append(self.fit.terms(effects, N_TERMS))
            numbers.append(kinds[effects])
        kind = np.array(numbers, dtype=np.int64)
        terms = np.array([values for values, _ in found])[kind]
        return terms, kind, [covariance for _, covariance in found]

    def _varying(self, deployments: Sequence[Deployment], measured: MeasuredPoints) -> Floats:
        """Covariance of terms of deployments with measured seconds, shape (deployments, terms, measured points)."""
        found = np.empty((len(deployments), N_TERMS, len(measured.points)))
        for index, of in enumerate(measured.points.of.tolist()):
            theirs = [(n + N_TERMS, name, by) for n, name, by in effects_of(measured.points.deployments[of])]
            for row, deployment in enumerate(deployments):
                _, covariance = self.fit.terms((*effects_of(deployment), *theirs), 2 * N_TERMS)
                found[row, :, index] = covariance[:N_TERMS, N_TERMS:] @ measured.slopes[index]
        return self.fit.effect_factor * found


def _served(points: ServingPoints, some: Ints, load: Load, terms: Floats) -> Served:
    """Times of some points, of such terms, with their derivatives."""
    whose = points.of[some]
    tables = points.table.take(whose), points.fill_table.take(whose)
    return closed_loop(*tables, load.take(some), factors_of(terms), graded=True)


def _scatter(points: ServingPoints) -> Floats:
    """Scatter of measured times of tokens beyond that of every one, shape (n,): more where no row is as full."""
    context = points.input_tokens + points.output_tokens
    longer = _LONGER_SD * np.log2(np.maximum(context / CALIBRATED_TOKENS, 1.0))
    fullest = np.array([_fullest(deployment) for deployment in points.deployments])[points.of]
    fuller = _FULLER_SD * np.clip(np.log2(np.maximum(points.concurrency / fullest, 1.0)), 0.0, 1.0)
    return np.asarray(np.hypot(scatter_of(points), np.hypot(longer, fuller)))


def _alike(points: ServingPoints, others: ServingPoints) -> Floats:
    """Correlation of the misfits of points with those of others, shape (n, others)."""
    equal = np.array([[deployment == other for other in others.deployments] for deployment in points.deployments])
    is_same = equal[points.of][:, others.of]
    for name in ("input_tokens", "output_tokens", "cached_share"):
        is_same &= getattr(points, name)[:, None] == getattr(others, name)
    octaves = np.log2(np.maximum(points.concurrency, 1.0))[:, None] - np.log2(others.concurrency)
    return _ALIKE * is_same * np.exp(-0.5 * (octaves / _ALIKE_OCTAVES) ** 2)


def first_tokens(
    percentile: ArrayLike,
    ttft_s: Floats,
    busy_share: Floats,
    concurrency: Floats,
    service_s: Floats,
    alone_s: Floats,
    long: ArrayLike = np.nan,
    variation: ArrayLike = 0.0,
    *,
    is_open: bool,
) -> tuple[Floats, Floats, Floats]:
    """Mean and percentile of first tokens, and the spread of the logarithm of the percentile over the mean.

    A fixed number of requests in flight keeps the queue short, random arrivals do not: what few long prefills make of
    them follows from the queue alone. ``service_s`` is the time of a prefill, ``alone_s`` a first token without others,
    ``long`` as :meth:`ServingCalibration.long_prompts`, ``variation`` of the lengths of prompts.
    """
    ratio, log_sd = first_token_ratio(percentile, busy_share, concurrency, long)
    if not is_open:
        return ttft_s, ttft_s * ratio, log_sd
    mean, tail = queue_wait(percentile, busy_share, variation)
    return (
        np.maximum(ttft_s, alone_s + service_s * mean),
        np.maximum(ttft_s * ratio, alone_s + service_s * tail),
        log_sd,
    )


def _moved(log_load: Floats, over: Floats, slow: Floats, log_sd: Floats, last: Ints, following: Ints) -> Floats:
    """Fall of the logarithm of the largest load within the limits, if all times were longer by a factor, over its own.

    The steeper latency grows with the load, the smaller it is. Where memory bounds the load, it falls once the times
    are longer than the limit of later tokens has room for.
    """
    rows = np.arange(len(over))
    is_full = over[rows, following] <= 0
    before, limit = np.where(is_full, np.maximum(last - 1, 0), last), np.where(is_full[:, None], slow, over)
    with np.errstate(invalid="ignore"):  # no limit
        rise, gain = (of[rows, following] - of[rows, before] for of in (limit, log_load))
    moved = np.where((rise > 1e-6) & (gain > 0), gain / np.maximum(rise, 1e-6), 0.0)
    unlikely = np.where(is_full, -slow[rows, last] / (_LIKELY * np.maximum(log_sd, 1e-6)), 0.0)
    return np.asarray(np.minimum(moved, _MOST_MOVED) * np.clip(1 - unlikely, 0.0, 1.0))


def _fullest(one: Deployment) -> float:
    """Requests in flight up to which rows of a model bear out its rates; infinite where none could tell."""
    of_model = {} if one.is_tuned or not one.model.is_mixture else _most_published().get(one.model.id, {})
    return one.gpus * of_model.get(one.gpu.id, max(of_model.values(), default=np.inf))


@lru_cache(maxsize=1)
def _most_published() -> dict[str, dict[str, float]]:
    """The most requests in flight of a GPU in fitted rows, by model and GPU: of runs, not of points between them."""
    found: dict[str, dict[str, float]] = {}
    for row in fitted_rows():
        if row.kind == CLOSED_LOOP and row.ttft_s and row.concurrency and row.gpus:
            of_model = found.setdefault(row.model, {})
            of_model[row.gpu] = max(of_model.get(row.gpu, 0.0), row.concurrency / row.gpus)
    return found


def _variance(slopes: Floats, kind: Ints, covariances: Sequence[Floats]) -> Floats:
    """Variance of logarithms by the terms, each by the covariance of its kind, shape (n,)."""
    found = np.empty(len(slopes))
    for number in np.unique(kind).tolist():
        here = kind == number
        some = slopes[here]
        found[here] = ((some @ covariances[number]) * some).sum(axis=1)
    return found


@lru_cache(maxsize=1)
def serving_calibration() -> ServingCalibration:
    """The stored fit; read once.

    Raises CalibrationError if it is missing or damaged.
    """
    stored = load_fits(fits_path("serving"), {RATES: unseen})
    return ServingCalibration(stored.fits[RATES], stored.figures, stored.digest)
