"""Fitted activations of neural networks, and what a workload takes of the memory of a GPU."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.base.formats.csv_rows import rows_of_file
from sizer.calibrate.cases import RateCase
from sizer.calibrate.engine import priors
from sizer.calibrate.observations import benchmark_file
from sizer.catalog.model import Catalog
from sizer.perf.gpu_memory import INFERENCE_WEIGHT_BYTES, training_state_bytes

# Activations of a network are compared at this forward pass. [FLOP]
REFERENCE_FLOP = 1e10
# Spread of networks of one family around their line, and of families around all, before their rows are seen.
WITHIN_FAMILY_LOG_SD = 0.5
BETWEEN_FAMILIES_LOG_SD = 0.8


@dataclass(frozen=True)
class Activations:
    """Activations of one sample."""

    sample_bytes: float  # median [B]
    log_sd: float
    is_fitted: bool  # published rows of this network; False: from its family or from all networks


@dataclass(frozen=True)
class MemoryFit:
    """Effects on the logarithm of a sample's activations, with their covariance.

    ln a = general + family + slope ln(F / 10 GFLOP) + dnn [+ mixed] [+ inference] [+ recompute], F the forward pass.
    ``fixed`` is the logarithm of the context and workspaces of a GPU.
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    scatter_log_sd: float  # of implementations of one network
    n_rows: int
    # DNN/precision -> memory of a GPU [B] and the largest batch that was published as trained on it.
    ran: dict[str, tuple[tuple[float, float], ...]]

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of every effect by its name."""
        return {name: index for index, name in enumerate(self.names)}

    @property
    def fixed_bytes(self) -> float:
        """Context of the driver and workspaces. [B]"""
        return math.exp(float(self.values[self.index["fixed"]]))

    def trained(self, dnn_id: str, precision: str) -> tuple[tuple[float, float], ...]:
        """Memory of GPUs and the largest batch of a network published on each; mixed precision takes less than fp32."""
        names = ("mixed", "fp32") if precision == "mixed" else (precision,)
        return tuple(pair for name in names for pair in self.ran.get(f"{dnn_id}/{name}", ()))

    def activations(
        self,
        *,
        dnn_id: str,
        family: str,
        forward_flop: float,
        precision: str,
        is_custom: bool = False,
        is_inference: bool = False,
        is_recomputed: bool = False,
    ) -> Activations:
        """Activations of one sample.

        ``dnn_id``: network of the catalogue, or the one that a custom network is like; empty for none. ``family``: its
        family; empty where it is not known. ``forward_flop``: forward pass of one sample. [FLOP] ``is_custom``: the
        network is another one of the family of ``dnn_id``. ``is_inference``: forward passes only, so that most
        activations are freed at once. ``is_recomputed``: activations are computed again in the backward pass.
        """
        effects = [("general", 1.0), ("slope", math.log(forward_flop / REFERENCE_FLOP))]
        effects += [("mixed", 1.0)] * (precision == "mixed")
        effects += [("inference", 1.0)] * is_inference + [("recompute", 1.0)] * is_recomputed
        variance = self.scatter_log_sd**2
        known = f"dnn:{dnn_id}" in self.index
        if f"family:{family}" in self.index:
            effects.append((f"family:{family}", 1.0))
        else:
            variance += BETWEEN_FAMILIES_LOG_SD**2
        if known:
            effects.append((f"dnn:{dnn_id}", 1.0))
        if is_custom or not known:
            variance += WITHIN_FAMILY_LOG_SD**2
        mean, sd = self.log_mean_and_sd(effects, variance)
        return Activations(math.exp(mean), sd, known and not is_custom)

    def log_mean_and_sd(self, effects: Sequence[tuple[str, float]], variance: float = 0.0) -> tuple[float, float]:
        """Sum of some effects and its standard deviation, with a further variance."""
        columns = [self.index[name] for name, _ in effects]
        weights = np.array([weight for _, weight in effects])
        mean = float(weights @ self.values[columns])
        return mean, math.sqrt(float(weights @ self.covariance[np.ix_(columns, columns)] @ weights) + variance)

    def stored(self) -> dict[str, Any]:
        """Section of the stored calibration."""
        return {
            "scatter_log_sd": self.scatter_log_sd,
            "n_rows": self.n_rows,
            "ran": self.ran,
            "parameters": {name: float(f"{value:.6g}") for name, value in zip(self.names, self.values, strict=True)},
            "covariance": [[float(f"{one:.4g}") for one in row] for row in self.covariance],
        }

    @classmethod
    def of_stored(cls, content: dict[str, Any]) -> "MemoryFit":
        """Fit from its section of the stored calibration; errors are those of a damaged dict."""
        names = tuple(content["parameters"])
        covariance = np.array(content["covariance"], dtype=float)
        if covariance.shape != (len(names), len(names)):
            raise ValueError("covariance of the GPU memory does not fit its parameters")
        return cls(
            names=names,
            values=np.array(list(content["parameters"].values()), dtype=float),
            covariance=covariance,
            scatter_log_sd=float(content["scatter_log_sd"]),
            n_rows=int(content["n_rows"]),
            ran={
                name: tuple((float(memory), float(batch)) for memory, batch in pairs)
                for name, pairs in content["ran"].items()
            },
        )


# Batches of this network are printed in tokens, its samples are pairs of 27 + 27 (catalog/dnns/transformer-big.toml).
TOKENS_PER_SAMPLE = {"transformer-big": 27.0}
# Families that are trained with Adam or LAMB; all others with momentum.
ADAM_FAMILIES = ("bert", "translation", "recommender", "diffusion", "")


class MemoryKind(Enum):
    """What a published number says of the memory."""

    FITS = "fits"  # the batch ran on a GPU of this memory
    DOES_NOT_FIT = "does-not-fit"  # the batch ran out of memory
    PEAK = "peak"  # what the framework allocated, without the context of the driver
    PEAK_OF_GPU = "peak-of-gpu"  # what the driver reports, with the context
    FEATURE_MAPS = "feature-maps"  # estimate: outputs of all layers of one sample in fp32


@dataclass(frozen=True)
class MemoryRow:
    """One published number. Sizes in bytes, FLOP of the forward pass of one sample."""

    id: str
    source: str
    dnn: str  # of the catalogue, or another that shares its family
    family: str
    forward_flop: float
    parameters: float
    precision: str
    n_moments: int  # running means of the optimizer; -1: inference
    is_recomputed: bool  # activations are computed again in the backward pass
    batch: float
    kind: MemoryKind
    value_bytes: float  # memory of the GPU for the kinds FITS and DOES_NOT_FIT, else the number printed
    is_variant: bool = False  # with another input than the network of the catalogue


def n_moments(family: str) -> int:
    """Running means that the usual optimizer of a family keeps of each parameter."""
    return 2 if family in ADAM_FAMILIES else 1


def load_memory_rows(catalog: Catalog, path: Path | str | None = None) -> tuple[MemoryRow, ...]:
    """Rows of the shipped file, or of another of the same columns.

    Raises CalibrationError if it cannot be read, or a row is not complete: place and column.
    """
    file = benchmark_file("memory", "gpu_memory.csv") if path is None else Path(path)
    return tuple(rows_of_file(file, "published memory", lambda cells, _: _row(cells, catalog)))


_MOMENTS = {"sgd": 1, "adam": 2, "": 0, "inference": -1}


def _row(row: dict[str, str], catalog: Catalog) -> MemoryRow:
    known = catalog.dnns.get(row["dnn"])
    flop, parameters = row["forward_flop"], row["parameters"]
    if known is None and not (flop and parameters and row["family"]):
        raise ValueError(f"{row['dnn']!r} is not in the catalogue; write family, forward_flop and parameters")
    if row["optimizer"] not in _MOMENTS:
        raise ValueError(f"optimizer: {row['optimizer']!r} is none of {', '.join(filter(None, _MOMENTS))}")
    kind = MemoryKind(row["kind"])
    is_bound = kind in (MemoryKind.FITS, MemoryKind.DOES_NOT_FIT)
    return MemoryRow(
        id=row["id"],
        source=row["source"],
        dnn=row["dnn"],
        family=row["family"] or (known.family if known is not None else ""),
        forward_flop=float(flop) if flop else known.forward_flop.value if known is not None else 0.0,
        parameters=float(parameters) if parameters else known.parameters.value if known is not None else 0.0,
        precision=row["precision"],
        n_moments=_MOMENTS[row["optimizer"]],
        is_recomputed=row["recompute"] == "yes",
        batch=float(row["batch_per_gpu"]),
        kind=kind,
        value_bytes=float(row["gpu_memory_bytes"] if is_bound else row["value_bytes"]),
        is_variant=bool(flop),
    )


def measured_rows(cases: Iterable[RateCase], stated: Iterable[MemoryRow] = ()) -> tuple[MemoryRow, ...]:
    """Batches of published training rates as rows: the largest of each network, precision, memory and source.

    A rate names the batch of an update, which may be added up from several smaller ones. Where the source states what
    one pass held, in ``stated``, that counts alone: BERT-large of MLPerf v0.7 on DGX-1 makes 36 of six times 6.
    """
    held = {(row.dnn, row.precision, row.value_bytes, row.source) for row in stated if row.kind is MemoryKind.FITS}
    largest: dict[tuple[object, ...], MemoryRow] = {}
    for case in cases:
        if case.levels.task != "training" or case.row.batch_per_gpu is None:
            continue
        dnn, memory = case.dnn, case.gpu.memory_bytes.value
        row = MemoryRow(
            id=case.row.id,
            source=case.row.source,
            dnn=dnn.id,
            family=dnn.family,
            forward_flop=dnn.forward_flop.value,
            parameters=dnn.parameters.value,
            precision=case.levels.precision,
            n_moments=n_moments(dnn.family),
            is_recomputed=False,
            batch=case.row.batch_per_gpu / TOKENS_PER_SAMPLE.get(dnn.id, 1.0),
            kind=MemoryKind.FITS,
            value_bytes=memory,
        )
        key = (dnn.id, row.precision, memory, row.source)
        if key not in held and (key not in largest or row.batch > largest[key].batch):
            largest[key] = row
    return tuple(largest.values())


def telling(rows: Iterable[MemoryRow]) -> tuple[MemoryRow, ...]:
    """Rows without those that another of the same source, network, precision and memory implies.

    Of batches that ran the largest says all; of those that ran out of memory the smallest.
    """
    found: dict[tuple[object, ...], MemoryRow] = {}
    for row in rows:
        is_bound = row.kind in (MemoryKind.FITS, MemoryKind.DOES_NOT_FIT)
        task = (row.dnn, row.forward_flop, row.precision, row.n_moments, row.value_bytes, row.source, row.kind)
        key = task if is_bound else (*task, row.id)
        other = found.get(key)
        if other is None or (row.batch > other.batch) == (row.kind is MemoryKind.FITS):
            found[key] = row
    return tuple(found.values())


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
        stated = priors("memory")
        names = (*stated, *(f"family:{name}" for name in families), *(f"dnn:{name}" for name in dnns))
        index = {name: position for position, name in enumerate(names)}
        design = np.zeros((len(rows), len(names)))
        for number, row in enumerate(rows):
            effects = effects_of(row)
            for name, weight in effects.items():
                design[number, index[name]] = weight
        further = [(0.0, BETWEEN_FAMILIES_LOG_SD)] * len(families) + [(0.0, WITHIN_FAMILY_LOG_SD)] * len(dnns)
        expected = np.array([*((one.mean, one.sd) for one in stated.values()), *further])
        kind = np.array([row.kind for row in rows], dtype=object)
        return cls(
            names=names,
            prior_mean=expected[:, 0],
            prior_sd=expected[:, 1],
            design=design,
            memory=np.array([row.value_bytes - state_of(row) for row in rows]),
            batch=np.array([row.batch for row in rows]),
            has_fixed=np.array([row.kind not in (MemoryKind.PEAK, MemoryKind.FEATURE_MAPS) for row in rows]),
            kind=kind,
        )

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Negative logarithm of the posterior, and its gradient."""
        from scipy.special import log_ndtr  # takes long to import, and only a fit needs it

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
    effects = {"general": 1.0, "slope": math.log(row.forward_flop / REFERENCE_FLOP)}
    effects |= {f"family:{row.family}": 1.0, f"dnn:{row.dnn}": 1.0}
    if row.precision == "mixed":
        effects["mixed"] = 1.0
    if row.n_moments < 0:
        effects["inference"] = 1.0
    if row.is_recomputed:
        effects["recompute"] = 1.0
    return effects


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
    from scipy.optimize import minimize  # takes long to import, and only a fit needs it

    start = problem.prior_mean
    best = minimize(problem.loss, start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    # Steps that rounding alone makes are no failure: the gradient says whether the end is one.
    if float(np.abs(best.jac).max()) > 1e-3:
        raise CalibrationError(f"GPU memory: no convergence in {best.nit} iterations ({best.message})")
    n = len(start)
    curvature = np.empty((n, n))
    for index in range(n):
        step = np.zeros(n)
        step[index] = _STEP
        up, down = (problem.loss(best.x + sign * step)[1] for sign in (1.0, -1.0))
        curvature[index] = (up - down) / (2 * _STEP)
    return best.x, np.asarray(np.linalg.inv(0.5 * (curvature + curvature.T)))
