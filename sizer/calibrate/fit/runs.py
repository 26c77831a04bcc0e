"""Fits of what surrounds the steady state: cache positions, epochs to target, start-up of a run."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.fit.hosts import matching_rate
from sizer.calibrate.observations import Observation
from sizer.calibrate.rules import exclusion_of, rules
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe
from sizer.perf.training_time import epochs_to_target

# All rows of one access pattern come from one laboratory and two data sets; others will differ by more than they do.
_MIN_POSITION_SD = 0.05

# Two groups that run one recipe differ by an evaluation or two; medians of several runs are printed.
_MIN_EPOCHS_LOG_SD = 0.03
# Spread of a recipe that was published at a single batch: one step of the published growth (60 to 72 epochs).
_ONE_POINT_LOG_SD = 0.15


def cache_row_position(row: Observation) -> float:
    """Position p of a published miss: h = c^(1/p)."""
    cached = float(row.extra["cache_pct"]) / 100
    return math.log(cached) / math.log(1 - row.value)


def cache_positions(rows: tuple[Observation, ...], position: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Fitted position by access pattern, with the standard deviation that its rows show around it."""
    by_id = {row.id: row for row in rows}
    found = {}
    for access, value in position.items():
        shown = [cache_row_position(by_id[name]) for name in rules("cache_rows")[access] if name in by_id]
        spread = float(np.std(shown, ddof=1)) if len(shown) > 1 else 0.0
        found[access] = (value, max(_MIN_POSITION_SD, spread))
    return found


@dataclass(frozen=True)
class EpochsCurve:
    """Fitted epochs of one recipe."""

    base_epochs: float
    double_batch: float
    exponent: float
    log_sd: float
    points: tuple[tuple[float, float], ...]

    @property
    def batches(self) -> tuple[float, float]:
        """Least and largest published global batch."""
        return min(batch for batch, _ in self.points), max(batch for batch, _ in self.points)

    def extrapolates(self, global_batch: float) -> bool:
        """Whether a global batch lies well outside the published ones."""
        low, high = self.batches
        return global_batch > high or global_batch < low / 4

    def at(self, global_batch: ArrayLike) -> Estimate:
        """Epochs at a global batch."""
        batch = np.asarray(global_batch, dtype=float)
        low, high = self.batches
        median = epochs_to_target(batch, self.base_epochs, self.double_batch, self.exponent)
        # Each doubling beyond the published range adds the spread of one published step of growth.
        beyond = np.maximum(0.0, np.log2(batch / high)) + 0.2 * np.maximum(0.0, np.log2(low / batch))
        return Estimate.log_normal(median, np.hypot(self.log_sd, _ONE_POINT_LOG_SD * beyond))


def recipe_points(recipe: Recipe) -> tuple[tuple[float, float], ...]:
    """Global batch and epochs of every published point."""
    return tuple((point.global_batch, point.epochs) for point in recipe.points)


def epochs_names(recipe: Recipe) -> tuple[str, str, str]:
    """Parameters of a recipe's curve: E0, B2 and the exponent. A lone point says nothing about growth."""
    kind = "epochs-double" if len({point.global_batch for point in recipe.points}) > 1 else "epochs-lone"
    return f"epochs-base:{recipe.id}", f"{kind}:{recipe.id}", f"epochs-growth:{recipe.id}"


def epochs_curve(recipe: Recipe, parameters: ArrayLike) -> EpochsCurve:
    """Curve of a recipe from its three parameters, which are relative to its fewest epochs and largest batch.

    Raises CalibrationError if the recipe has no points.
    """
    points = recipe_points(recipe)
    if not points:
        raise CalibrationError(f"recipe {recipe.id} has no published point of epochs")
    batch, epochs = np.array(points).T
    base, double, growth = np.exp(np.asarray(parameters, float))
    base, double = float(base * epochs.min()), float(double * batch.max())
    errors = np.log(epochs / epochs_to_target(batch, base, double, float(growth)))
    grid = recipe.evaluate_every_epochs.value / math.sqrt(12) / float(np.median(epochs))
    spread = _ONE_POINT_LOG_SD if len(points) < 2 else float(np.sqrt((errors**2).mean()))
    return EpochsCurve(base, double, float(growth), max(_MIN_EPOCHS_LOG_SD, grid, spread), points)


@lru_cache(maxsize=4096)
def curve_alone(recipe: Recipe) -> EpochsCurve:
    """Curve of a recipe that the calibration was not fitted to.

    Raises CalibrationError if the recipe has no points.
    """
    if not recipe.points:
        raise CalibrationError(f"recipe {recipe.id} has no published point of epochs")
    # Solvers take long to import, and sizing seldom needs them.
    from sizer.calibrate.fit.joint import epochs_block, fit_joint

    fit = fit_joint([epochs_block(recipe)]).fit
    return epochs_curve(recipe, [fit.value(name) for name in epochs_names(recipe)])


@dataclass(frozen=True)
class RunOverhead:
    """What a run takes beyond its epochs: start-up, and evaluations as a share of the training."""

    start_up_s: float
    share: float
    log_sd: float


@dataclass(frozen=True)
class PublicRun:
    """A published time to train of which rate and epochs are printed, too."""

    row: Observation
    epochs: float
    n_samples: float  # of the data set
    samples_per_s: float


def public_runs(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[PublicRun, ...]:
    """Published times to train with everything that explains them."""
    rates = {row.id: row for row in rows if row.quantity == "samples_per_s"}
    epochs = {row.id.split("/")[0]: row.value for row in rows if row.quantity == "epochs_to_target"}
    found = []
    for row in rows:
        samples = samples_of(row.dnn, catalog)
        if row.quantity == "time_to_train_s" and samples is not None and not exclusion_of(row):
            rate, n = matching_rate(row, rates), epochs.get(row.id.split("/")[0])
            if rate is not None and n is not None:
                found.append(PublicRun(row, n, samples, rate.value))
    return tuple(found)


def samples_of(dnn: str, catalog: Catalog) -> float | None:
    """Training samples of the data set that the published runs of a DNN use; None where none is known.

    Runs of translation drop long sentence pairs, and how many is not printed: a fitted factor stands for it.
    """
    dataset = rules("run_datasets").get(
        dnn, "imagenet" if dnn in catalog.dnns and catalog.dnns[dnn].sample == "image" else ""
    )
    return catalog.datasets[dataset].n_samples.value if dataset in catalog.datasets else None
