"""The model of serving rates: factors of the physics, and effects of what measurements share, under priors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.calibrate.engine import Effect, Law, Prior, RateModel, kind_of, priors, stated_prior
from sizer.calibrate.serving.deployment import EPOCH_MONTH, Deployment, ServingPoints
from sizer.perf.serving.loop import Served, closed_loop
from sizer.perf.serving.step import FACTORS, ServingFactors


class ServingTime(StrEnum):
    """What a measurement prints."""

    TPOT = "tpot_s"  # seconds between tokens of a request
    REQUEST = "request_s"  # seconds of a request, which with the requests in flight make tokens/s
    TTFT = "ttft_s"  # seconds to the first token


TIME, FIRST = "time", "first"  # all times of a deployment; more, the time to the first token
_TERMS = (*FACTORS, TIME, FIRST)
_PLACE = {name: place for place, name in enumerate(_TERMS)}
N_TERMS = len(_TERMS)
# Vendor of whose GPUs most rows are: launches on others have an effect of their own, where stacks are not tuned.
FITTED_VENDOR = "NVIDIA"
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


def levels_of(one: Deployment) -> dict[str, str]:
    """Names of the groups of a deployment that share an effect."""
    engine, generation = one.engine or "unnamed", one.gpu.generation or one.gpu.id
    tuned = f"{one.tuning}/{generation}" if one.is_tuned else ""
    return {
        "engine": engine,
        "weights": one.weights,
        "format": "widened" if one.is_widened else one.computed_in,
        "gpu": one.gpu.id,
        "family": one.model.family,
        "model": one.model.id,
        "precision": f"{one.weights}/{generation}",
        "engine_generation": f"{engine}/{generation}",
        "vendor": "" if one.is_tuned or one.gpu.vendor == FITTED_VENDOR else one.gpu.vendor,
        "tuned": tuned,
        "tuned_model": tuned and f"{one.model.id}/{tuned}",
        "cell": f"{one.model.id}/{engine}/{one.gpu.id}/{one.weights}",
    }


@lru_cache(maxsize=50_000)
def effects_of(one: Deployment) -> tuple[Effect, ...]:
    """Factors of a deployment, and the effects of its levels.

    Of an engine that is not named, those of engines are unknown: the prediction is that of their population.
    """
    levels = levels_of(one)
    factors = [(place, name, 1.0) for place, name in enumerate(FACTORS)]
    pairs = (name.split("/") for name in priors("serving-effects"))
    found = [(_PLACE[term], f"{term}/{level}:{levels[level]}", 1.0) for term, level in pairs if levels[level]]
    # Stacks tuned for a benchmark are tuned at any date; of others none before the fitted ones was measured.
    months = 0.0 if one.is_tuned else max(one.month - EPOCH_MONTH, _FIRST_MONTHS)
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
    for place, case in enumerate(cases):
        if case.point not in number:
            number[case.point] = len(first)
            first.append(place)
        of.append(number[case.point])
    some = [cases[place] for place in first]
    deployments = tuple(dict.fromkeys(case.deployment for case in some))
    which = {one: index for index, one in enumerate(deployments)}
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
            _MIXTURE_SD * one.model.is_mixture,
            _KERNEL_SD * (one.model.family in ("latent", "hybrid")),
            _APART_SD * (one.prefill is not None),
            _SPECULATIVE_SD * one.is_speculative,
        )
        for one in points.deployments
    ]
    found = np.sqrt((np.array(of_deployment).reshape(-1, 4) ** 2).sum(axis=1))
    loaded = {"dense": _LOADED_SD, "mixture": _LOADED_MIXTURE_SD}
    most = np.array([loaded.get(one.model.family, 0.0) for one in points.deployments])
    groups = np.array([one.data for one in points.deployments])
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
