"""What surrounds the steady state, as blocks of the joint fit: host decode, caches, epochs, start-up of a run."""

import numpy as np
from scipy.sparse import csr_array

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.fit.host_rows import bound_rows, host_rows
from sizer.calibrate.fit.hosts import row_log_sd
from sizer.calibrate.fit.joint import FitBlock
from sizer.calibrate.fit.runs import CACHE_ROWS, PublicRun, cache_row_position, epochs_names, public_runs, recipe_points
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import Layout
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe

START_UP, EVALUATIONS = "run-start-up:all", "run-evaluations:all"
# Data sets whose samples the public runs use whole; of others a fitted share.
_WHOLE_SETS = ("resnet50", "ssd-resnet34", "mask-rcnn")
_CACHE_LOG_SD = 0.1  # misses are printed in whole per cent
_EPOCHS_LOG_SD = 0.05  # counts lie on a grid of evaluations


def host_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Lines and factors of the host's work: every observation of it, and what runs say that it cannot exceed."""
    used = host_rows(rows, catalog) + bound_rows(rows, catalog)
    layout = Layout.of(name for one in used for name in (one.task.fixed, one.task.per_byte, *one.task.factors))
    y = np.log([one.core_s for one in used])
    size = np.array([one.sample_bytes for one in used])
    is_bound = np.array([one.is_bound for one in used])
    has_fixed = np.array([float(one.task.has_fixed_part) for one in used])
    at_fixed = np.array([layout.index[one.task.fixed] for one in used])
    at_slope = np.array([layout.index[one.task.per_byte] for one in used])
    factors = np.zeros((len(used), len(layout.names)))
    for i, one in enumerate(used):
        factors[i, [layout.index[name] for name in one.task.factors]] = 1
    every = np.arange(len(used))

    def predict(k: Floats) -> tuple[Floats, csr_array]:
        fixed, grown = has_fixed * np.exp(k[at_fixed]), np.exp(k[at_slope]) * size
        derivative = factors.copy()
        derivative[every, at_fixed] = fixed / (fixed + grown)
        derivative[every, at_slope] = grown / (fixed + grown)
        work = np.log(fixed + grown) + factors @ k
        # Below its bound a row says nothing.
        is_silent = is_bound & (work < y)
        derivative[is_silent] = 0.0
        return np.where(is_silent, y, work), csr_array(derivative)

    return FitBlock(
        "host",
        tuple(f"{one.row.id}#most" if one.is_bound else one.row.id for one in used),
        tuple(one.row.source for one in used),
        layout.names,
        y,
        predict,
        np.array([row_log_sd(one.row) for one in used]),
    )


def cache_block(rows: tuple[Observation, ...]) -> FitBlock:
    """Position of a page cache between never hitting and never evicting, by access pattern.

    Raises
    ------
    CalibrationError
        If no row shows an access pattern.
    """
    by_id = {row.id: row for row in rows}
    shown = [(access, by_id[name]) for access, names in CACHE_ROWS.items() for name in names if name in by_id]
    missing = [access for access in CACHE_ROWS if access not in {one for one, _ in shown}]
    if missing:
        raise CalibrationError(
            f"no observation shows a page cache at {missing[0]} access; one of {', '.join(CACHE_ROWS[missing[0]])} "
            "is needed"
        )
    names = tuple(f"cache-position:{access}" for access in CACHE_ROWS)
    which = np.array([[access == name.split(":")[1] for name in names] for access, _ in shown], dtype=float)
    return FitBlock(
        "cache",
        tuple(row.id for _, row in shown),
        tuple(row.source for _, row in shown),
        names,
        np.log([cache_row_position(row) for _, row in shown]),
        lambda k: (which @ k, csr_array(which)),
        np.full(len(shown), _CACHE_LOG_SD),
    )


def epochs_block(recipe: Recipe) -> FitBlock:
    """Epochs of one recipe: flat, then growing; a lone point is taken as it is."""
    points = recipe_points(recipe)
    batch, epochs = np.array(points).T

    def predict(k: Floats) -> tuple[Floats, csr_array]:
        base, double, growth = np.exp(k) * [epochs.min(), batch.max(), 1.0]
        ratio = np.log(batch / double)
        grown = np.exp(growth * ratio)
        share = grown / (1 + grown)
        slopes = np.stack([np.ones_like(batch), -growth * share, share * ratio * growth], axis=1)
        return np.log(base * (1 + grown)), csr_array(slopes)

    return FitBlock(
        "epochs",
        tuple(f"{recipe.id}@{point.global_batch:g}#{i}" for i, point in enumerate(recipe.points)),
        tuple(point.source for point in recipe.points),
        epochs_names(recipe),
        np.log(epochs),
        predict,
        np.full(len(points), _EPOCHS_LOG_SD),
    )


def run_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Start-up and evaluations of the public runs, from their times, epochs and rates."""
    runs = public_runs(rows, catalog)
    layout = Layout.of([START_UP, EVALUATIONS, *(_samples_name(one) for one in runs if _samples_name(one))])
    steady_s = np.array([one.epochs * one.n_samples / one.samples_per_s for one in runs])
    at_start, at_share = layout.index[START_UP], layout.index[EVALUATIONS]
    at_samples = [layout.index.get(_samples_name(one), -1) for one in runs]

    def predict(k: Floats) -> tuple[Floats, csr_array]:
        start, share = np.exp(k[at_start]), np.exp(k[at_share])
        used = steady_s * np.exp([k[column] if column >= 0 else 0.0 for column in at_samples])
        total = start + used * (1 + share)
        slopes = np.zeros((len(runs), len(k)))
        slopes[:, at_start], slopes[:, at_share] = start / total, used * share / total
        for row, column in enumerate(at_samples):
            if column >= 0:
                slopes[row, column] = used[row] * (1 + share) / total[row]
        return np.log(total), csr_array(slopes)

    return FitBlock(
        "run",
        tuple(one.row.id for one in runs),
        tuple(one.row.source for one in runs),
        layout.names,
        np.log([one.row.value for one in runs]),
        predict,
    )


def _samples_name(run: PublicRun) -> str:
    return "" if run.row.dnn in _WHOLE_SETS else f"epoch-samples:{run.row.dnn}"
