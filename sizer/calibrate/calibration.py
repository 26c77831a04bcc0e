"""The calibration: fitted values with their covariance, and what sizing asks of them."""

import base64
import binascii
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.cases import Levels, link_level
from sizer.calibrate.hosts import DecodeFit, fit_decode, host_rows
from sizer.calibrate.observations import (
    Observation,
    load_observations,
    observations_digest,
    read_stored,
    write_stored,
)
from sizer.calibrate.parameters import effects, prior_of
from sizer.calibrate.rules import CATALOGUE_DERIVES_FROM
from sizer.calibrate.runs import EpochsCurve, RunOverhead, fit_cache_positions, fit_epochs, fit_overhead, recipe_points
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Recipe, Stack
from sizer.perf.step import EFFICIENCY, TERM_NAMES, StepTerms

Floats = NDArray[np.float64]

STORED_VERSION = 2
# A combination with fewer rates than these is not offered where a request states no stack: one early run on a new chip
# says little about how the stack scales.
_FEW_RATES = 3
# An effect whose spread the data narrowed by less than this share of its prior has learnt nothing.
_LEFT_ALONE = 0.01
# A page cache that is pinned (or local drives that hold the set) never evicts; nothing is fitted there.
_PINNED = (1.0, 0.0)
_NO_CACHE = (0.0, 0.0)


class DnnLike(Protocol):
    """A neural network of the catalogue or of a request."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Calibration:
    """Fitted values, their covariance and the digest of the observations that they came from."""

    digest: str
    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    scatter_log_sd: dict[str, float]  # within a source, by task
    tau2: float  # variance between sources
    dnn_families: dict[str, str]
    used: frozenset[str]  # ids of the rates that the joint fit reads
    rates_of: dict[str, int]  # stack/DNN/precision/task -> rates that the joint fit reads
    host_used: frozenset[str]  # ids of the rows that the fit of the host's work reads
    decode: DecodeFit
    cache_positions: dict[str, tuple[float, float]]
    epochs_curves: dict[str, EpochsCurve]
    overhead: RunOverhead
    left_out: dict[str, str] = field(default_factory=dict)  # id of a rate -> why the fit does not use it
    # By task: rates predicted by fits that had not seen their source; median and p90 of |ln error|, 90 % coverage.
    unseen_sources: dict[str, dict[str, float]] = field(default_factory=dict)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @property
    def start_up_s(self) -> float:
        """Start-up of a training run. [s]"""
        return self.overhead.start_up_s

    @cached_property
    def measured(self) -> frozenset[tuple[str, ...]]:
        """(stack, DNN, precision, task) of every combination with more than a stray published rate."""
        return frozenset(tuple(name.split("/")) for name, count in self.rates_of.items() if count >= _FEW_RATES)

    def stacks_of(self, dnn_id: str) -> frozenset[str]:
        """Stacks with any published rate of a DNN."""
        combinations = (name.split("/") for name in self.rates_of)
        return frozenset(stack for stack, dnn, *_ in combinations if dnn == dnn_id)

    @property
    def parameter_sd(self) -> Floats:
        """Standard deviation of every parameter."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def summary(self) -> str:
        """What the fit knows, in a few lines."""
        lines = [
            f"{len(self.used)} rates fitted with {len(self.names)} effects, {len(self.left_out)} left out; "
            f"observations {self.digest}",
        ]
        for task, sd in self.scatter_log_sd.items():
            unseen = self.unseen_sources.get(task, {})
            told = f"; an unseen source is {unseen['median_error']:.0%} off (median)" if unseen else ""
            lines.append(f"{task}: scatter within a source {sd:.1%}, between sources {math.sqrt(self.tau2):.1%}{told}")
        alone = [name for name, share in self.narrowed_fraction().items() if share < _LEFT_ALONE]
        lines.append(
            f"effects that the data left alone: {len(alone)}" + (f", such as {', '.join(alone[:3])}" if alone else "")
        )
        counts: dict[str, int] = {}
        for reason in self.left_out.values():
            counts[reason] = counts.get(reason, 0) + 1
        lines += [f"left out, {count}: {reason}" for reason, count in sorted(counts.items(), key=lambda item: -item[1])]
        return "\n".join(lines)

    def calibrates(self, observation_id: str) -> bool:
        """Whether a published number was among those that the calibration is fitted to."""
        return observation_id in self.used | self.host_used | CATALOGUE_DERIVES_FROM

    def narrowed_fraction(self) -> dict[str, float]:
        """How much the data narrowed the prior of each effect: 0 not at all, 1 entirely."""
        prior = np.array([prior_of(name).sd for name in self.names])
        return dict(zip(self.names, (1 - self.parameter_sd / prior).tolist(), strict=True))

    def step_terms(
        self,
        *,
        stack: Stack,
        dnn: DnnLike,
        precision: str,
        gpu: Gpu,
        intra_link: str,
        inter_link: str | None,
        task: str,
    ) -> StepTerms:
        """Sufficient numbers of one combination.

        Parameters
        ----------
        stack : Stack
            Software stack.
        dnn : Dnn or CustomDnn
            Neural network; one that was never measured takes the pool of its family, a custom one of its ``like``.
        precision : {"mixed", "fp32"}
            Arithmetic.
        gpu : Gpu
            Part of the catalogue.
        intra_link : str
            Link between the GPUs of a server: nvlink1, nvlink2, nvswitch or pcie3.
        inter_link : str or None
            Link between servers, such as ``edr``, ``25gbe-tcp`` or ``100gbe-roce``; None on one server. ``100gbe``
            alone is read as RoCE and slower Ethernet as TCP.
        task : {"training", "inference", "validation-inference"}
            What the GPUs do.

        Returns
        -------
        StepTerms
            With a note for everything that no observation stands behind.

        Raises
        ------
        ValueError
            If precision or task are unknown.
        """
        if precision not in ("mixed", "fp32"):
            raise ValueError(f"precision must be mixed or fp32, got {precision!r}")
        kind = {"training": "training", "inference": "inference", "validation-inference": "inference"}.get(task)
        if kind is None:
            raise ValueError(f"task must be training or inference, got {task!r}")
        dnn_id = str(getattr(dnn, "like", None) or getattr(dnn, "id", "") or "")
        family = self.dnn_families.get(dnn_id) or str(getattr(dnn, "family", ""))
        levels = Levels(
            task=kind,
            precision=precision,
            framework=stack.framework,
            stack=stack.id,
            dnn=dnn_id,
            family=family,
            gpu=gpu.id,
            intra_link=intra_link,
            inter_link=link_level(inter_link) if inter_link else "",
        )
        notes = self._notes(levels, stack, dnn, gpu, is_custom=not hasattr(dnn, "id"))
        return self.terms_of(levels, notes)

    def terms_of(self, levels: Levels, notes: tuple[str, ...] = (), extra_log_sd: float = 0.0) -> StepTerms:
        """Sufficient numbers of named levels; an effect that was never fitted counts with its prior."""
        k = len(TERM_NAMES)
        values, outside = np.zeros(k), np.zeros(k)
        rows, columns = [], []
        for term, name in effects(levels):
            if name in self._index:
                rows.append(term)
                columns.append(self._index[name])
            else:
                prior = prior_of(name)
                values[term] += prior.mean
                outside[term] += prior.sd**2
        np.add.at(values, rows, self.values[columns])
        among = self.covariance[np.ix_(columns, columns)]
        adds = np.zeros((k, len(columns)))
        adds[rows, np.arange(len(columns))] = 1.0
        covariance = adds @ among @ adds.T + np.diag(outside)
        scatter = math.sqrt(self.scatter_log_sd[levels.task] ** 2 + self.tau2 + extra_log_sd**2)
        # No share of the peak exceeds 1, whatever the pools add up to.
        values[EFFICIENCY] = min(values[EFFICIENCY], 0.0)
        return StepTerms(values, covariance, np.array(scatter), notes)

    def _notes(self, levels: Levels, stack: Stack, dnn: DnnLike, gpu: Gpu, is_custom: bool) -> tuple[str, ...]:
        e, notes = levels, []
        if f"stack-precision:{e.stack}/{e.precision}" not in self._index:
            notes.append(
                f"{stack.name} was not measured in {e.precision} precision: rates are those of its framework's pool"
            )
        if is_custom:
            base = f"the efficiency of {e.dnn}" if e.dnn else "the efficiency of the pool of all neural networks"
            notes.append(f"{dnn.name} was not measured: it borrows {base}")
        elif f"dnn:{e.dnn}/{e.precision}" not in self._index:
            notes.append(
                f"{dnn.name} was not measured in {e.precision} precision: rates are those of its family's pool"
            )
        elif f"pair:{e.stack}/{e.dnn}/{e.precision}/{e.task}" not in self._index:
            notes.append(f"{dnn.name} was not measured with {stack.name} in {e.precision} precision ({e.task})")
        if f"gpu:{e.gpu}" not in self._index:
            notes.append(f"{gpu.name} was not measured: it takes the efficiency of its generation")
        if e.inter_link and f"inter-stack:{e.stack}/{e.precision}" not in self._index and e.task == "training":
            notes.append(f"{stack.name} was measured on one server only: its exchange between servers is the pool's")
        return tuple(notes)

    def decode_terms(self, loader: str, framework: str, stack_id: str) -> tuple[float, float, float, str]:
        """Host work per sample.

        Parameters
        ----------
        loader : {"framework", "dali", "dali-cpu", "none"}
            Input pipeline; ``none`` reads decoded tensors.
        framework, stack_id : str
            Framework whose loader it is, and stack.

        Returns
        -------
        tuple
            Fixed work [core s], work per stored byte [core s/B], standard deviation of the logarithm, note.
        """
        return self.decode.terms(loader, framework, stack_id)

    def cache_position(self, access: str, cache_kind: str) -> tuple[float, float]:
        """Position of a cache for :func:`sizer.perf.caches.hit_fraction`, and its standard deviation.

        Parameters
        ----------
        access : {"random", "sharded"}
            Access pattern.
        cache_kind : {"page-cache", "pinned", "none"}
            A page cache evicts; a pinned one never does.

        Raises
        ------
        ValueError
            If one of them is unknown.
        """
        if cache_kind == "none":
            return _NO_CACHE
        if cache_kind == "pinned":
            return _PINNED
        if cache_kind != "page-cache" or access not in self.cache_positions:
            raise ValueError(f"no cache is fitted for {cache_kind!r} at {access!r} access")
        return self.cache_positions[access]

    def epochs(self, recipe: Recipe, global_batch: ArrayLike) -> Estimate:
        """Epochs that a recipe needs at a global batch; warns outside the published batches."""
        curve = self.epochs_curves.get(recipe.id)
        if curve is None or curve.points != recipe_points(recipe):
            curve = fit_epochs(recipe)  # of an overlay
        return curve.at(global_batch, recipe.name)


def _combination(levels: Levels) -> str:
    return f"{levels.stack}/{levels.dnn}/{levels.precision}/{levels.task}"


def calibrate(catalog: Catalog, observations: tuple[Observation, ...] | None = None) -> Calibration:
    """Fit everything to the observations, by default the shipped ones.

    Raises
    ------
    CalibrationError
        If observations cannot be read or a fit does not hold.
    """
    # Solvers take long to import, and sizing reads this module for the stored result alone.
    from sizer.calibrate.rates import fit_rates

    rows = load_observations() if observations is None else observations
    rates = fit_rates(rows, catalog)
    return Calibration(
        digest=observations_digest(rows),
        names=rates.layout.names,
        values=rates.fit.values,
        covariance=rates.fit.covariance,
        scatter_log_sd=rates.scatter_log_sd,
        tau2=rates.tau2,
        dnn_families={dnn.id: dnn.family for dnn in catalog.dnns.values()},
        used=frozenset(case.row.id for case in rates.cases),
        rates_of=dict(Counter(_combination(case.levels) for case in rates.cases)),
        host_used=frozenset(one.row.id for one in host_rows(rows, catalog)),
        decode=fit_decode(rows, catalog),
        cache_positions=fit_cache_positions(rows),
        epochs_curves={recipe.id: fit_epochs(recipe) for recipe in catalog.recipes.values()},
        overhead=fit_overhead(rows, catalog),
        left_out=rates.left_out,
        unseen_sources=rates.unseen_sources(),
    )


def save_calibration(calibration: Calibration, path: Path | str | None = None) -> Path:
    """Write a calibration as JSON, by default where the program looks for it."""
    c = calibration
    lower = c.covariance[np.tril_indices(len(c.names))].astype("<f4").tobytes()
    content: dict[str, Any] = {
        "version": STORED_VERSION,
        "digest": c.digest,
        "scatter_log_sd": c.scatter_log_sd,
        "between_log_sd": math.sqrt(c.tau2),
        "cache_positions": c.cache_positions,
        "overhead": {"start_up_s": c.overhead.start_up_s, "share": c.overhead.share, "log_sd": c.overhead.log_sd},
        "decode": c.decode.to_json(),
        "epochs": {name: curve.to_json() for name, curve in c.epochs_curves.items()},
        "dnn_families": c.dnn_families,
        "used": sorted(c.used),
        "rates_of": c.rates_of,
        "host_used": sorted(c.host_used),
        "left_out": c.left_out,
        "unseen_sources": c.unseen_sources,
        # value and standard deviation of each, for readers; the covariance below holds the latter exactly.
        "parameters": {
            name: [float(f"{value:.9g}"), float(f"{sd:.3g}")]
            for name, value, sd in zip(c.names, c.values, c.parameter_sd, strict=True)
        },
        "covariance_lower_triangle_float32_base64": base64.b64encode(lower).decode(),
    }
    return write_stored(content, path)


def load_calibration(path: Path | str | None = None) -> Calibration:
    """Stored calibration, by default the shipped one.

    Raises
    ------
    CalibrationError
        If it is missing, damaged or of another version.
    """
    content = read_stored(path)
    if content.get("version") != STORED_VERSION:
        raise CalibrationError(
            f"stored calibration has version {content.get('version')!r}, this program reads {STORED_VERSION}; "
            "run 'sizer calibrate'"
        )
    try:
        names = tuple(content["parameters"])
        return Calibration(
            digest=content["digest"],
            names=names,
            values=np.array([pair[0] for pair in content["parameters"].values()]),
            covariance=_symmetric(content["covariance_lower_triangle_float32_base64"], len(names)),
            scatter_log_sd=content["scatter_log_sd"],
            tau2=content["between_log_sd"] ** 2,
            dnn_families=content["dnn_families"],
            used=frozenset(content["used"]),
            rates_of=content["rates_of"],
            host_used=frozenset(content["host_used"]),
            decode=DecodeFit.from_json(content["decode"]),
            cache_positions={name: (pair[0], pair[1]) for name, pair in content["cache_positions"].items()},
            epochs_curves={name: EpochsCurve.from_json(one) for name, one in content["epochs"].items()},
            overhead=RunOverhead(**content["overhead"]),
            left_out=content["left_out"],
            unseen_sources=content["unseen_sources"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, binascii.Error) as error:
        raise CalibrationError(f"stored calibration is damaged ({error!r}); run 'sizer calibrate'") from None


@lru_cache(maxsize=1)
def stored_calibration() -> Calibration:
    """The shipped calibration, read once: it does not change while the program runs."""
    return load_calibration()


def _symmetric(text: str, n: int) -> Floats:
    lower = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")
    if lower.shape != (n * (n + 1) // 2,) or not np.isfinite(lower).all():
        raise ValueError("covariance does not fit the parameters")
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = lower
    return matrix + np.tril(matrix, -1).T
