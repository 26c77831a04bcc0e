"""The model of serving rates: factors of the physics, and effects of what measurements share, under priors."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from scipy.sparse import csc_array, diags_array

from sizer.base.arrays import Floats, Ints
from sizer.calibrate.engine import Effect, Fit, Law, Prior, RateModel, kind_of
from sizer.calibrate.serving.deployment import EPOCH_MONTH, Deployment, ServingPoints
from sizer.perf.serving.loop import Served, closed_loop
from sizer.perf.serving.step import FACTORS, ServingFactors


class Quantity(StrEnum):
    """What a measurement prints."""

    TPOT = "tpot_s"  # seconds between tokens of a request
    REQUEST = "request_s"  # seconds of a request, which with the requests in flight make tokens/s
    TTFT = "ttft_s"  # seconds to the first token


# Logarithms of the prior means that differ from :class:`ServingFactors`, and spreads of all.
PRIOR_SD = {
    "bandwidth": 0.06,
    "expert_bandwidth": 0.15,
    "cache_bandwidth": 0.35,
    "decode_rate": 0.15,
    "attention_rate": 0.25,
    "prefill_rate": 0.3,
    "prefill_attention_rate": 0.4,
    "half_rows": 0.5,
    "spread": 0.5,
    "mix": 0.6,
    "interference": 0.25,
    "queue": 0.5,
    "layer_s": 0.4,
    "expert_layer_s": 0.7,
    "latent_layer_s": 0.7,
    "linear_layer_s": 0.7,
    "step_s": 0.8,
    "sequence_s": 0.8,
    "reduce_s": 0.7,
    "reduce_traffic": 0.5,
    "expert_traffic": 0.6,
    "prefill_layer_s": 0.6,
    "first_s": 0.7,
    "transfer_s": 0.7,
    "transfer_traffic": 0.7,
    "accepted": 0.25,
    "speculative_host": 0.5,
}
# Factors that differ by engine or by format, around the common one, with the spread of a difference.
_OF_ENGINE = {"layer_s": 0.3, "sequence_s": 0.3, "first_s": 0.6}
_OF_FORMAT = {"prefill_rate": 0.3}
# Levels and the spread of their effects on the logarithm of all times.
EFFECT_SD = {
    "engine": 0.08,
    "gpu": 0.08,
    "precision": 0.06,
    "family": 0.10,
    "model": 0.08,
    "cell": 0.12,
}
_DRIFT, _DRIFT_SD = -0.025, 0.01  # a month
TIME, FIRST = len(FACTORS), len(FACTORS) + 1
N_TERMS = len(FACTORS) + 2
_ROW_SD = 0.06
_FIRST_SD = 0.40


def prior_of(name: str) -> Prior:
    """Prior of a factor or of an effect."""
    if name in PRIOR_SD:
        return Prior(float(np.log(getattr(ServingFactors(), name))), PRIOR_SD[name])
    kind = kind_of(name)
    if kind == "drift":
        return Prior(_DRIFT, _DRIFT_SD, "software becomes faster")
    return Prior(0.0, (_OF_ENGINE | _OF_FORMAT | EFFECT_SD)[kind])


@lru_cache(maxsize=50_000)
def effects_of(one: Deployment) -> tuple[Effect, ...]:
    """Factors of a deployment, and the effects of its levels.

    Of an engine that is not named, those of engines are unknown: the prediction is that of their population.
    """
    place = {name: number for number, name in enumerate(FACTORS)}
    engine = one.engine or "unnamed"
    number_format, generation = one.computed_in, one.gpu.generation or one.gpu.id
    cell = f"{one.model.id}/{engine}/{one.gpu.id}/{one.weights}"
    found: list[Effect] = [(term, name, 1.0) for term, name in enumerate(FACTORS)]
    found += [(place[name], f"{name}:{engine}", 1.0) for name in _OF_ENGINE]
    found += [(place[name], f"{name}:{number_format}", 1.0) for name in _OF_FORMAT]
    levels = {
        "engine": engine,
        "gpu": one.gpu.id,
        "precision": f"{one.weights}/{generation}",
        "family": one.model.family,
        "model": one.model.id,
        "cell": cell,
    }
    found += [(TIME, f"{kind}:{level}", 1.0) for kind, level in levels.items()]
    found.append((TIME, "drift:month", one.month - EPOCH_MONTH))
    return tuple(found)


def factors_of(terms: Floats) -> ServingFactors:
    """Factors from terms, shape (cases, terms)."""
    values = np.exp(terms[:, : len(FACTORS)]).T
    return ServingFactors(**dict(zip(FACTORS, values, strict=True)))


def log_times(served: Served, terms: Floats) -> tuple[dict[Quantity, Floats], dict[Quantity, Floats]]:
    """Logarithms of the three times, shape (n,), and their derivatives by the terms, shape (n, terms)."""
    logs: dict[Quantity, Floats] = {}
    slopes: dict[Quantity, Floats] = {}
    place = {name: number for number, name in enumerate(FACTORS)}
    for quantity, part in (
        (Quantity.TPOT, served.tpot),
        (Quantity.REQUEST, served.request),
        (Quantity.TTFT, served.ttft),
    ):
        late = terms[:, FIRST] if quantity is Quantity.TTFT else 0.0
        logs[quantity] = np.log(part.value) + terms[:, TIME] + late
        found = np.zeros((len(terms), N_TERMS))
        for name, slope in part.log_slopes.items():
            found[:, place[name]] = slope
        found[:, TIME] = 1.0
        found[:, FIRST] = 1.0 * (quantity is Quantity.TTFT)
        slopes[quantity] = found
    return logs, slopes


def row_scatter(quantity: Quantity) -> float:
    """Scatter of one measurement, beyond that of every row."""
    return _FIRST_SD if quantity is Quantity.TTFT else 0.0


# --- the model as the engine takes it -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """One printed number of a measurement: a deployment under a load, and which of its times."""

    deployment: Deployment
    input_tokens: float
    output_tokens: float
    cached_share: float
    concurrency: float  # of one replica
    quantity: Quantity
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
    decode, fill, load = points.table.at(points.of), points.fill_table.at(points.of), points.load()
    masks = {quantity: np.array([case.quantity is quantity for case in cases]) for quantity in Quantity}

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
_SIGMA = {Quantity.TPOT: 0.14, Quantity.REQUEST: 0.14, Quantity.TTFT: 0.43}
# Rows of a cell that count in full.
_FULL_ROWS = 12.0


def sigma_of(cases: Sequence[Printed]) -> Floats:
    """Scatter of each case: many rows of one cell say little more than a few."""
    return np.array([_SIGMA[case.quantity] * max(1.0, case.rows_of_cell / _FULL_ROWS) ** 0.5 for case in cases])


SERVING = RateModel(
    n_terms=N_TERMS,
    effects=lambda case: effects_of(case.deployment),
    prior_of=prior_of,
    law=times_law,
    sigma=sigma_of,
    row_sd=_ROW_SD,
    scatter=lambda cases: np.array([row_scatter(case.quantity) for case in cases]),
)


_PROTOTYPE = {
    "bandwidth": 0.75, "expert_bandwidth": 0.93, "cache_bandwidth": 0.54, "decode_rate": 0.81, "attention_rate": 0.78,
    "prefill_attention_rate": 0.21, "mix": 0.41, "interference": 0.94, "spread": 0.70, "layer_s": 53e-6,
    "expert_layer_s": 20e-6, "latent_layer_s": 11e-6, "linear_layer_s": 12e-6, "step_s": 0.5e-3, "sequence_s": 26.5e-6,
    "reduce_s": 1.2e-6, "reduce_traffic": 4.2, "expert_traffic": 1.7, "prefill_layer_s": 164e-6, "first_s": 75e-3,
    "queue": 0.9, "transfer_s": 52e-3, "transfer_traffic": 1.9, "accepted": 2.1, "speculative_host": 3.4,
    "half_rows": 27.0, "prefill_rate": 0.48,
}  # fmt: skip
_PROTOTYPE_OF = {
    "layer_s:trtllm": 58 / 53, "layer_s:vllm": 67 / 53, "layer_s:sglang": 38 / 53, "sequence_s:trtllm": 24 / 26.5,
    "sequence_s:vllm": 25 / 26.5, "sequence_s:sglang": 31 / 26.5, "first_s:trtllm": 47 / 75, "first_s:vllm": 44 / 75,
    "first_s:sglang": 206 / 75, "prefill_rate:bf16": 0.60 / 0.48, "prefill_rate:fp8": 0.44 / 0.48,
    "prefill_rate:fp4": 0.42 / 0.48, "family:dense": np.exp(-0.21), "family:latent": np.exp(0.16),
    "family:hybrid": np.exp(0.10),
}  # fmt: skip


def prototype() -> Fit:
    """A fit with published coefficients, until the rows are fitted."""
    values = {**_PROTOTYPE, **_PROTOTYPE_OF, "drift:month": 1.0}
    logs = np.log(list(values.values()))
    logs[-1] = _DRIFT
    sds = np.array([min(0.25 * prior_of(name).sd, 0.05) for name in values])
    return Fit(tuple(values), logs, csc_array(diags_array(sds**-2.0)), prior_of, row_sd=_ROW_SD)
