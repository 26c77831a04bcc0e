"""The joint fit of V100 systems: every kind of observation in one vector of parameters, with one covariance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import Effect, Fit, FittedRows, Problem
from sizer.calibrate.fit.hosts import bound_rows, host_rows, row_log_sd
from sizer.calibrate.fit.runs import PublicRun, cache_row_position, epochs_names, public_runs, recipe_points
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import prior_of
from sizer.calibrate.rules import rules
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe

# Scatter of a row with which the fit starts; later passes use the scatter that the one before finds.
_FIRST_SIGMA = 0.06
_SCATTER_PASSES = 3
# Rates are printed to three digits, but runs of one set-up differ by some per cent; a smaller scatter would only say
# that a block has about as many parameters as rows.
MIN_SCATTER_LOG_SD = 0.022
# Fits in which the medians of draws, not the rates at the fitted parameters, come to meet the measurements.
_CENTRING_PASSES = 2
_CENTRING_PAIRS = 256
# Ratio of the standard deviation of a normal distribution to its median absolute deviation.
MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class FitBlock(FittedRows):
    """Rows of one kind, each with its id and source; a scatter of NaN is estimated from the residuals of the kind."""

    kind: str  # name under which the scatter is kept
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    is_drawn: bool = False  # answers take the median of draws, not the value at the parameters


@dataclass(frozen=True)
class JointFit:
    """Result of the joint fit."""

    problem: Problem  # measured: what each row asks of the rate at the parameters, for the median of draws to be right
    fit: Fit
    blocks: tuple[FitBlock, ...]
    scatter_log_sd: dict[str, float]  # within a source, by kind

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(name for block in self.blocks for name in block.ids)

    @property
    def sources(self) -> NDArray[np.str_]:
        return np.array([source for block in self.blocks for source in block.sources])

    @property
    def kinds(self) -> NDArray[np.str_]:
        return _by_row(self.blocks, [block.kind for block in self.blocks])

    def without(self, out: Bools) -> Fit:
        """The fit to the rows outside ``out`` alone."""
        return self.problem.without(self.fit, out)

    def errors(self, fit: Fit, rows: Bools | slice = slice(None)) -> tuple[Floats, Floats]:
        """Logarithms of some rows, measured less the median of draws by a fit, and their variance by the effects."""
        logs, derivative = self.problem(fit.values)
        return (self.problem.measured - logs)[rows], fit.variance(derivative[rows].toarray())


def fit_joint(blocks: Sequence[FitBlock]) -> JointFit:
    """Fit all blocks at once.

    Raises CalibrationError if there are no rows or the fit does not converge.

    A rate is no linear function of its parameters, so the median of draws around the most probable ones differs from
    the rate at them: 2 % below where hundreds of GPUs wait for one another. What the data say is the rate, so the
    normal distribution of the parameters is moved until the medians meet the measurements (the mean of a variational
    posterior), and every answer, which is a median of draws, is free of that bias.
    """
    used = tuple(block for block in blocks if block.ids)
    if not used:
        raise CalibrationError("no usable observation: nothing to calibrate on")
    problem = Problem(used, prior_of)
    kinds = _by_row(used, [block.kind for block in used])
    measured, given = problem.measured, problem.sigma
    sigma, start = np.where(np.isnan(given), _FIRST_SIGMA, given), problem.mean
    for _ in range(_SCATTER_PASSES):
        problem = problem.with_rows(measured, sigma)
        fit = problem.fit(start)
        scatter = _within_scatter(problem, fit, kinds)
        found = np.array([scatter[kind] for kind in kinds])
        sigma, start = np.where(np.isnan(given), found, given), fit.values
    is_drawn = _by_row(used, [block.is_drawn for block in used])
    for _ in range(_CENTRING_PASSES if is_drawn.any() else 0):
        problem = problem.with_rows(measured - _median_shift(problem, fit, is_drawn), sigma)
        fit = problem.fit(fit.values)
    return JointFit(problem, fit, used, scatter)


def _by_row(blocks: Sequence[FitBlock], values: Sequence[str | bool]) -> NDArray[Any]:
    return np.repeat(np.array(values), [len(block.ids) for block in blocks])


def _median_shift(problem: Problem, fit: Fit, is_drawn: NDArray[np.bool_]) -> Floats:
    """(rows) median of draws of the parameters less the value at them, where answers take that median."""
    normal = np.random.default_rng(0).standard_normal((_CENTRING_PAIRS, len(fit.values)))
    steps = normal @ np.linalg.cholesky(fit.covariance(fit.names)).T
    drawn = [problem.logs(fit.values + sign * step)[is_drawn] for step in steps for sign in (1, -1)]
    shift = np.zeros(len(problem.measured))
    shift[is_drawn] = np.median(drawn, axis=0) - problem.logs(fit.values)[is_drawn]
    return shift


def _within_scatter(problem: Problem, fit: Fit, kinds: NDArray[np.str_]) -> dict[str, float]:
    """Robust standard deviation of the residuals by kind, with the freedom that the parameters took given back."""
    residuals = problem.measured - problem.logs(fit.values)
    # Share of each parameter that the data determined rather than its prior, summed.
    taken = float((1 - fit.sd**2 / problem.sd**2).sum())
    n = len(residuals)
    freedom = np.sqrt(n / max(n - taken, 0.1 * n))
    found = {}
    for kind in np.unique(kinds):
        spread = float(MAD_TO_SD * np.median(np.abs(residuals[kinds == kind])) * freedom)
        found[str(kind)] = max(MIN_SCATTER_LOG_SD, spread)
    return found


START_UP, EVALUATIONS = "run-start-up:all", "run-evaluations:all"
# Data sets whose samples the public runs use whole; of others a fitted share.
_WHOLE_SETS = ("resnet50", "ssd-resnet34", "mask-rcnn")
_CACHE_LOG_SD = 0.1  # misses are printed in whole per cent
_EPOCHS_LOG_SD = 0.05  # counts lie on a grid of evaluations


def host_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Lines and factors of the host's work: every observation of it, and what runs say that it cannot exceed."""
    used = host_rows(rows, catalog) + bound_rows(rows, catalog)
    y = np.log([one.core_s for one in used])
    size = np.array([one.sample_bytes for one in used])
    is_bound = np.array([one.is_bound for one in used])
    has_fixed = np.array([float(one.task.has_fixed_part) for one in used])

    def law(terms: Floats) -> tuple[Floats, Floats]:
        fixed, grown = has_fixed * np.exp(terms[:, 0]), np.exp(terms[:, 1]) * size
        slopes = np.stack([fixed / (fixed + grown), grown / (fixed + grown), np.ones_like(size)], axis=1)
        work = np.log(fixed + grown) + terms[:, 2]
        # Below its bound a row says nothing.
        is_silent = is_bound & (work < y)
        slopes[is_silent] = 0.0
        return np.where(is_silent, y, work), slopes

    return FitBlock(
        effects=[
            [(0, one.task.fixed, 1.0), (1, one.task.per_byte, 1.0), *((2, name, 1.0) for name in one.task.factors)]
            for one in used
        ],
        law=law,
        measured=y,
        n_terms=3,
        sigma=np.array([row_log_sd(one.row) for one in used]),
        kind="host",
        ids=tuple(f"{one.row.id}#most" if one.is_bound else one.row.id for one in used),
        sources=tuple(one.row.source for one in used),
    )


def cache_block(rows: tuple[Observation, ...]) -> FitBlock:
    """Position of a page cache between never hitting and never evicting, by access pattern.

    Raises CalibrationError if no row shows an access pattern.
    """
    by_id = {row.id: row for row in rows}
    access_rows = rules("cache_rows")
    shown = [(access, by_id[name]) for access, names in access_rows.items() for name in names if name in by_id]
    missing = [access for access in access_rows if access not in {one for one, _ in shown}]
    if missing:
        raise CalibrationError(
            f"no observation shows a page cache at {missing[0]} access; one of {', '.join(access_rows[missing[0]])} "
            "is needed"
        )
    return FitBlock(
        effects=[[(0, f"cache-position:{access}", 1.0)] for access, _ in shown],
        law=lambda terms: (terms[:, 0], np.ones_like(terms)),
        measured=np.log([cache_row_position(row) for _, row in shown]),
        n_terms=1,
        sigma=_CACHE_LOG_SD,
        kind="cache",
        ids=tuple(row.id for _, row in shown),
        sources=tuple(row.source for _, row in shown),
    )


def epochs_block(recipe: Recipe) -> FitBlock:
    """Epochs of one recipe: flat, then growing; a lone point is taken as it is."""
    points = recipe_points(recipe)
    batch, epochs = np.array(points).T

    def law(terms: Floats) -> tuple[Floats, Floats]:
        base, double, growth = np.exp(terms).T * np.array([[epochs.min()], [batch.max()], [1.0]])
        ratio = np.log(batch / double)
        grown = np.exp(growth * ratio)
        share = grown / (1 + grown)
        slopes = np.stack([np.ones_like(batch), -growth * share, share * ratio * growth], axis=1)
        return np.log(base * (1 + grown)), slopes

    return FitBlock(
        effects=[[(term, name, 1.0) for term, name in enumerate(epochs_names(recipe))]] * len(points),
        law=law,
        measured=np.log(epochs),
        n_terms=3,
        sigma=_EPOCHS_LOG_SD,
        kind="epochs",
        ids=tuple(f"{recipe.id}@{point.global_batch:g}#{i}" for i, point in enumerate(recipe.points)),
        sources=tuple(point.source for point in recipe.points),
    )


def run_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Start-up and evaluations of the public runs, from their times, epochs and rates."""
    runs = public_runs(rows, catalog)
    steady_s = np.array([one.epochs * one.n_samples / one.samples_per_s for one in runs])

    def law(terms: Floats) -> tuple[Floats, Floats]:
        start, share, used = np.exp(terms[:, 0]), np.exp(terms[:, 1]), steady_s * np.exp(terms[:, 2])
        total = start + used * (1 + share)
        return np.log(total), np.stack([start, used * share, used * (1 + share)], axis=1) / total[:, None]

    return FitBlock(
        effects=[[(0, START_UP, 1.0), (1, EVALUATIONS, 1.0), *_samples_effect(one)] for one in runs],
        law=law,
        measured=np.log([one.row.value for one in runs]),
        n_terms=3,
        sigma=np.nan,
        kind="run",
        ids=tuple(one.row.id for one in runs),
        sources=tuple(one.row.source for one in runs),
    )


def _samples_effect(run: PublicRun) -> list[Effect]:
    return [] if run.row.dnn in _WHOLE_SETS else [(2, f"epoch-samples:{run.row.dnn}", 1.0)]
