"""Fit of activations and context to published batches, out-of-memory cases and peaks of GPU memory.

Own fit: the logarithm of a sample's activations is linear in a few effects, a batch that ran bounds it from above, one
that ran out of memory from below, and a printed peak measures it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.gpu_memory import (
    BETWEEN_FAMILIES_LOG_SD,
    REFERENCE_FLOP,
    WITHIN_FAMILY_LOG_SD,
    MemoryFit,
    MemoryKind,
    MemoryRow,
)
from sizer.perf.gpu_memory import INFERENCE_WEIGHT_BYTES, training_state_bytes

# Effects of every fit: mean and standard deviation before the rows are seen.
_PRIORS = {
    # 5 mB of fp32 activations a FLOP; published networks lie between 1 and 10.
    "general": (math.log(5e-3 * REFERENCE_FLOP), 2.0),
    # Activations grow a little slower than FLOP with wider layers and just as fast with larger inputs.
    "slope": (0.9, 0.2),
    "mixed": (math.log(0.57), 0.07),  # half of the bytes at best; losses, norms and masks stay fp32
    "inference": (math.log(0.3), 0.5),  # outputs are freed once the next layer has read them
    # Inputs of blocks are kept, and one block is computed again at a time: 2/74 + 1/24 of BERT-large, 9 % measured.
    "recompute": (math.log(0.08), 0.3),
    "fixed": (math.log(1e9), 0.4),  # bytes of context and workspaces
    # Feature maps of a forward pass over what training keeps: in-place layers against saved masks and gradients.
    "features": (0.0, 0.3),
    "scatter": (math.log(0.3), 0.3),
}
# An estimate of feature maps counts outputs of layers; two counts of one network differ by so much.
_FEATURES_LOG_SD = 0.2
# Smallest room for activations that a row is read with: below, its state is as uncertain as the room itself. [B]
_LEAST_ROOM_BYTES = 1e8
_STEP = 1e-4


@dataclass(frozen=True)
class _Problem:
    """Rows as arrays, and the layout of the parameters."""

    names: tuple[str, ...]
    prior_mean: Floats
    prior_sd: Floats
    design: Floats  # (rows, parameters) of the effects on ln a
    memory: Floats  # less the state [B]
    batch: Floats
    has_fixed: Bools  # the number includes the context
    kind: NDArray[np.object_]

    @classmethod
    def of(cls, rows: Sequence[MemoryRow]) -> "_Problem":
        families = sorted({row.family for row in rows})
        dnns = sorted({row.dnn for row in rows})
        names = (*_PRIORS, *(f"family:{name}" for name in families), *(f"dnn:{name}" for name in dnns))
        index = {name: place for place, name in enumerate(names)}
        design = np.zeros((len(rows), len(names)))
        for number, row in enumerate(rows):
            effects = effects_of(row)
            for name, weight in effects.items():
                design[number, index[name]] = weight
        further = [(0.0, BETWEEN_FAMILIES_LOG_SD)] * len(families) + [(0.0, WITHIN_FAMILY_LOG_SD)] * len(dnns)
        priors = np.array([*_PRIORS.values(), *further])
        kind = np.array([row.kind for row in rows], dtype=object)
        return cls(
            names=names,
            prior_mean=priors[:, 0],
            prior_sd=priors[:, 1],
            design=design,
            memory=np.array([row.value_bytes - state_of(row) for row in rows]),
            batch=np.array([row.batch for row in rows]),
            has_fixed=np.array([row.kind not in (MemoryKind.PEAK, MemoryKind.FEATURE_MAPS) for row in rows]),
            kind=kind,
        )

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Negative logarithm of the posterior, and its gradient."""
        fixed, features, scatter = (self.names.index(name) for name in ("fixed", "features", "scatter"))
        context, s = math.exp(x[fixed]), math.exp(x[scatter])
        # A smooth corner keeps the room above 0 and the loss differentiable where the state takes all of the memory.
        left = self.memory - np.where(self.has_fixed, context, 0.0)
        root = np.hypot(left, 2 * _LEAST_ROOM_BYTES)
        z = np.log((left + root) / 2 / self.batch) - self.design @ x
        # Slope of each row's loss by z and by ln s.
        by_z, by_s, total = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
        for kind, sign in ((MemoryKind.FITS, 1.0), (MemoryKind.DOES_NOT_FIT, -1.0)):
            rows = self.kind == kind
            scaled = sign * z[rows] / s
            total[rows] = -log_ndtr(scaled)
            hazard = np.exp(-0.5 * scaled**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(scaled))
            by_z[rows], by_s[rows] = -sign * hazard / s, hazard * scaled
        rows = (self.kind == MemoryKind.PEAK) | (self.kind == MemoryKind.PEAK_OF_GPU)
        total[rows] = 0.5 * (z[rows] / s) ** 2 + x[scatter]
        by_z[rows], by_s[rows] = z[rows] / s**2, 1 - (z[rows] / s) ** 2
        rows = self.kind == MemoryKind.FEATURE_MAPS
        off = (z[rows] + x[features]) / _FEATURES_LOG_SD**2
        total[rows], by_z[rows] = 0.5 * off**2 * _FEATURES_LOG_SD**2, off
        gradient = -self.design.T @ by_z
        gradient[fixed] += float((by_z * np.where(self.has_fixed, -context / root, 0.0)).sum())
        gradient[features] += float(by_z[rows].sum())
        gradient[scatter] += float(by_s.sum())
        off_prior = (x - self.prior_mean) / self.prior_sd
        return float(total.sum() + 0.5 * off_prior @ off_prior), gradient + off_prior / self.prior_sd


def effects_of(row: MemoryRow) -> dict[str, float]:
    """Effects on the logarithm of a row's activations, with their weights."""
    found = {"general": 1.0, "slope": math.log(row.forward_flop / REFERENCE_FLOP)}
    found |= {f"family:{row.family}": 1.0, f"dnn:{row.dnn}": 1.0}
    if row.precision == "mixed":
        found["mixed"] = 1.0
    if row.n_moments < 0:
        found["inference"] = 1.0
    if row.is_recomputed:
        found["recompute"] = 1.0
    return found


def state_of(row: MemoryRow) -> float:
    """Weights, gradients and optimizer state of a row; a count of feature maps has none. [B]"""
    if row.kind is MemoryKind.FEATURE_MAPS:
        return 0.0
    if row.n_moments < 0:
        return row.parameters * INFERENCE_WEIGHT_BYTES
    return float(training_state_bytes(row.parameters, row.n_moments))


def fit_memory(rows: Sequence[MemoryRow]) -> MemoryFit:
    """Most probable effects and their Laplace covariance.

    Raises CalibrationError if there are no rows or the fit does not converge.
    """
    if not rows:
        raise CalibrationError("no published GPU memory: nothing to fit")
    problem = _Problem.of(rows)
    values, covariance = _solve(problem)
    ran: dict[str, dict[float, float]] = {}
    for row in rows:
        if row.kind is MemoryKind.FITS and row.n_moments >= 0 and not row.is_variant:
            of_dnn = ran.setdefault(f"{row.dnn}/{row.precision}", {})
            of_dnn[row.value_bytes] = max(of_dnn.get(row.value_bytes, 0.0), row.batch)
    return MemoryFit(
        names=problem.names,
        values=values,
        covariance=covariance,
        scatter_log_sd=math.exp(float(values[problem.names.index("scatter")])),
        n_rows=len(rows),
        ran={name: tuple(sorted(pairs.items())) for name, pairs in ran.items()},
    )


def _solve(problem: _Problem) -> tuple[Floats, Floats]:
    start = problem.prior_mean
    best = minimize(problem.loss, start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    # Steps that rounding alone makes are no failure: the gradient says whether the end is one.
    if float(np.abs(best.jac).max()) > 1e-3:
        raise CalibrationError(f"GPU memory: no convergence in {best.nit} iterations ({best.message})")
    n = len(start)
    curvature = np.empty((n, n))
    for place in range(n):
        step = np.zeros(n)
        step[place] = _STEP
        up, down = (problem.loss(best.x + sign * step)[1] for sign in (1.0, -1.0))
        curvature[place] = (up - down) / (2 * _STEP)
    return best.x, np.asarray(np.linalg.inv(0.5 * (curvature + curvature.T)))
