"""What surrounds the steady state, as blocks of the joint fit: host decode, caches, epochs, start-up of a run."""

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import Effect
from sizer.calibrate.fit.host_rows import bound_rows, host_rows
from sizer.calibrate.fit.hosts import row_log_sd
from sizer.calibrate.fit.joint import FitBlock
from sizer.calibrate.fit.runs import CACHE_ROWS, PublicRun, cache_row_position, epochs_names, public_runs, recipe_points
from sizer.calibrate.observations import Observation
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
