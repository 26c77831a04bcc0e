"""What measurements of every kind show, as the fit predicts it: throughput, time per token, time to the first token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.serving.calibration import LatencyLimits, ServingCalibration
from sizer.calibrate.serving.cases import ServingCase
from sizer.calibrate.serving.deployment import ServingPoints
from sizer.calibrate.serving.rows import CLOSED_LOOP, MLPERF

# Quantities of a row.
TOKENS, TPOT, TTFT = "output_tokens_per_s", "tpot_s", "ttft_s"
# Of a limit on a whole request, what its first token may take.
_FIRST_SHARE = 0.1
# A server at its limit: MLPerf's are as busy as they can be, and fill their memory.
_BUSY, _FILLED, _PERCENTILE = 0.97, 1.0, 99.0
# More spread of the logarithm of a rate where it is searched, from that of the percentile over the mean, and where the
# layout is guessed.
_SEARCHED_SD, _GUESSED_SD = 0.10, 0.35


@dataclass(frozen=True)
class Predicted:
    """Medians and spreads of the logarithms, shape (n,); not a number where the model does not load."""

    value: Floats
    log_sd: Floats

    def estimate(self, row: int) -> Estimate | None:
        """One of them; None where the model does not load."""
        if not self.value[row] > 0:
            return None
        return Estimate.log_normal(float(self.value[row]), float(self.log_sd[row]))


def predict(cases: Sequence[ServingCase], calibration: ServingCalibration) -> Mapping[str, Predicted]:
    """Throughput of the whole system, time per token and time to the first token of measurements.

    A fixed number of requests in flight: at that number. Offline: as many as memory and engine take. Servers with
    limits: the largest load within them; their times are those at the measured number in flight, where it is stated.
    """
    n = len(cases)
    points = ServingPoints.make(
        [case.deployment for case in cases],
        input_tokens=[case.input_tokens for case in cases],
        output_tokens=[case.output_tokens for case in cases],
        cached_share=[case.cached_share for case in cases],
    )
    replicas = np.array([case.replicas for case in cases])
    stated = np.array([case.concurrency or np.nan for case in cases]) / replicas
    in_flight = np.where(np.isfinite(stated), stated, np.maximum(points.room, 1.0))
    rates = calibration.rates(replace(points, concurrency=in_flight))
    tokens, log_sd = rates.tokens_per_s.copy(), rates.log_sd.copy()
    is_offline = np.array([case.row.kind != CLOSED_LOOP and not is_limited(case) for case in cases], dtype=bool)
    is_limited_here = np.array([is_limited(case) for case in cases], dtype=bool)
    if is_offline.any():
        full = replace(points, concurrency=np.maximum(points.room, 1.0))
        found = calibration.rates(_some(full, is_offline))
        tokens[is_offline], log_sd[is_offline] = found.tokens_per_s, found.log_sd
    if is_limited_here.any():
        some = [case for case, here in zip(cases, is_limited_here, strict=True) if here]
        largest = calibration.largest_load(_some(points, is_limited_here), limits_of(some))
        tokens[is_limited_here] = largest.tokens_per_s
        log_sd[is_limited_here] = np.hypot(largest.log_sd, _SEARCHED_SD)
    guessed = _GUESSED_SD * np.array([bool(case.guessed) for case in cases], dtype=float)
    tokens = np.where(rates.fits, tokens * replicas, np.nan).reshape(n)
    return {
        TOKENS: Predicted(tokens, np.hypot(log_sd, guessed)),
        TPOT: Predicted(np.where(rates.fits, rates.tpot_s, np.nan), np.hypot(rates.tpot_log_sd, guessed)),
        TTFT: Predicted(np.where(rates.fits, rates.ttft_s, np.nan), np.hypot(rates.ttft_log_sd, guessed)),
    }


def is_limited(case: ServingCase) -> bool:
    """Whether a row states the largest rate within limits of latency."""
    return case.row.kind == MLPERF and case.row.scenario != "Offline"


def limits_of(cases: Sequence[ServingCase]) -> LatencyLimits:
    """Limits of rows of MLPerf's servers; one on a whole request is one on its tokens, a tenth for the first."""

    def first(case: ServingCase) -> float:
        whole = case.row.latency_limit_s
        return case.row.ttft_limit_s or (np.inf if whole is None else _FIRST_SHARE * whole)

    def each(case: ServingCase) -> float:
        whole = case.row.latency_limit_s
        rest = np.inf if whole is None else (1 - _FIRST_SHARE) * whole / case.output_tokens
        return case.row.tpot_limit_s or rest

    return LatencyLimits(
        np.array([first(case) for case in cases]), np.array([each(case) for case in cases]), _PERCENTILE, _BUSY, _FILLED
    )


def _some(points: ServingPoints, here: np.ndarray) -> ServingPoints:
    rows = np.flatnonzero(here)
    names = ("of", "input_tokens", "output_tokens", "cached_share", "concurrency")
    return replace(points, **{name: getattr(points, name)[rows] for name in names})
