"""Fits of what surrounds the steady state: cache positions, epochs to target, start-up of a run."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.hosts import matching_rate
from sizer.calibrate.observations import Observation
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe
from sizer.perf.epochs import epochs_to_target

Floats = NDArray[np.float64]

# Access pattern -> rows of cache misses that show it. ``sharded``: records read file by file, in order inside a file.
CACHE_ROWS = {
    "random": ("mohan-pagecache-35/cache_miss_fraction", "mohan-openimages-dali-shuffle/cache_miss_fraction"),
    "sharded": (
        "mohan-tf-cache-50/cache_miss_fraction",
        "mohan-tf-cache-35/cache_miss_fraction",
        "mohan-tf-cache-25/cache_miss_fraction",
        "mohan-openimages-dali-seq/cache_miss_fraction",
    ),
}
# All rows of one access pattern come from one laboratory and two data sets; others will differ by more than they do.
_MIN_POSITION_SD = 0.05

# Priors of the epochs curve, weak next to two or more points: (mean, sd) of ln(B2 / largest batch) and of ln g.
_DOUBLE_BATCH_PRIOR = (math.log(2.0), 0.8)
_LONE_DOUBLE_BATCH_PRIOR = (math.log(16.0), 0.8)
_EXPONENT_PRIOR = (math.log(1.5), 0.3)
# Two groups that run one recipe differ by an evaluation or two; medians of several runs are printed.
_MIN_EPOCHS_LOG_SD = 0.03
# Spread of a recipe that was published at a single batch: one step of the published growth (60 to 72 epochs).
_ONE_POINT_LOG_SD = 0.15


def cache_row_position(row: Observation) -> float:
    """Position p of a published miss: h = c^(1/p)."""
    cached = float(row.extra["cache_pct"]) / 100
    return math.log(cached) / math.log(1 - row.value)


def fit_cache_positions(rows: tuple[Observation, ...]) -> dict[str, tuple[float, float]]:
    """Position and its standard deviation by access pattern.

    Raises
    ------
    CalibrationError
        If a row that shows an access pattern is missing.
    """
    by_id = {row.id: row for row in rows}
    found = {}
    for access, ids in CACHE_ROWS.items():
        missing = [name for name in ids if name not in by_id]
        if missing:
            raise CalibrationError(f"observations lack {missing[0]!r}, which shows the cache at {access} access")
        positions = np.array([cache_row_position(by_id[name]) for name in ids])
        found[access] = (float(positions.mean()), float(max(_MIN_POSITION_SD, positions.std(ddof=1))))
    return found


@dataclass(frozen=True)
class EpochsCurve:
    """Fitted epochs of one recipe."""

    base_epochs: float
    double_batch: float
    exponent: float
    log_sd: float
    points: tuple[tuple[float, float], ...]

    def at(self, global_batch: ArrayLike, name: str) -> Estimate:
        """Epochs at a global batch, with a warning outside the published batches."""
        batch = np.asarray(global_batch, dtype=float)
        low, high = min(b for b, _ in self.points), max(b for b, _ in self.points)
        median = epochs_to_target(batch, self.base_epochs, self.double_batch, self.exponent)
        # Each doubling beyond the published range adds the spread of one published step of growth.
        beyond = np.maximum(0.0, np.log2(batch / high)) + 0.2 * np.maximum(0.0, np.log2(low / batch))
        warnings: tuple[str, ...] = ()
        if (batch > high).any() or (batch < low / 4).any():
            warnings = (f"epochs of {name} are published for global batches {low:g} to {high:g}; this extrapolates",)
        return Estimate.log_normal(median, np.hypot(self.log_sd, _ONE_POINT_LOG_SD * beyond), warnings)

    def to_json(self) -> dict[str, Any]:
        """Content for storage."""
        return {
            "base_epochs": self.base_epochs,
            "double_batch": self.double_batch,
            "exponent": self.exponent,
            "log_sd": self.log_sd,
            "points": [list(point) for point in self.points],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "EpochsCurve":
        """Curve from its stored content."""
        points = tuple((float(b), float(e)) for b, e in content["points"])
        return cls(content["base_epochs"], content["double_batch"], content["exponent"], content["log_sd"], points)


def recipe_points(recipe: Recipe) -> tuple[tuple[float, float], ...]:
    """Global batch and epochs of every published point."""
    return tuple((point.global_batch, point.epochs) for point in recipe.points)


def fit_epochs(recipe: Recipe) -> EpochsCurve:
    """Fit of a recipe's points: flat, then growing; a lone point is taken as it is.

    Raises
    ------
    CalibrationError
        If the recipe has no points.
    """
    points = recipe_points(recipe)
    if not points:
        raise CalibrationError(f"recipe {recipe.id} has no published point of epochs")
    batch, epochs = np.array(points).T
    largest = float(batch.max())
    # One point says nothing about growth: taken to lie on the flat part.
    middle, sd = _DOUBLE_BATCH_PRIOR if len(set(batch)) > 1 else _LONE_DOUBLE_BATCH_PRIOR

    def residuals(k: Floats) -> Floats:
        curve = epochs_to_target(batch, np.exp(k[0]), largest * np.exp(k[1]), np.exp(k[2]))
        return np.concatenate(
            [
                # Soft L1 by hand, so that the priors stay quadratic.
                _soft(np.log(epochs / curve) / 0.05),
                [(k[1] - middle) / sd],
                [(k[2] - _EXPONENT_PRIOR[0]) / _EXPONENT_PRIOR[1]],
            ]
        )

    start = np.array([math.log(epochs.min()), middle, _EXPONENT_PRIOR[0]])
    from scipy.optimize import least_squares  # long to import, and sizing reads the stored curves

    best = least_squares(residuals, start)
    base, double, power = float(np.exp(best.x[0])), float(largest * np.exp(best.x[1])), float(np.exp(best.x[2]))
    errors = np.log(epochs / epochs_to_target(batch, base, double, power))
    grid = recipe.evaluate_every_epochs.value / math.sqrt(12) / float(np.median(epochs))
    spread = _ONE_POINT_LOG_SD if len(points) < 2 else float(np.sqrt((errors**2).mean()))
    return EpochsCurve(base, double, power, max(_MIN_EPOCHS_LOG_SD, grid, spread), points)


def _soft(z: Floats) -> Floats:
    return np.asarray(np.sign(z) * np.sqrt(2 * (np.sqrt(1 + z**2) - 1)))


@dataclass(frozen=True)
class RunOverhead:
    """What a run takes beyond its epochs: start-up, and evaluations as a share of the training."""

    start_up_s: float
    share: float
    log_sd: float


def overhead_rows(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[tuple[Observation, float], ...]:
    """Published times to train with the seconds that epochs x samples / rate explain, where all three are known."""
    rates = {row.id: row for row in rows if row.quantity == "samples_per_s"}
    epochs = {row.id.split("/")[0]: row.value for row in rows if row.quantity == "epochs_to_target"}
    samples = dnn_samples(catalog)
    found = []
    for row in rows:
        if row.quantity == "time_to_train_s" and row.dnn in samples:
            rate, n = matching_rate(row, rates), epochs.get(row.id.split("/")[0])
            if rate is not None and n is not None:
                found.append((row, n * samples[row.dnn] / rate.value))
    return tuple(found)


def dnn_samples(catalog: Catalog) -> dict[str, float]:
    """Training samples of the data set that the published runs of a DNN use.

    Translation is not among them: its runs drop long sentence pairs, and how many is not printed.
    """
    sets = {"resnet50": "imagenet", "ssd-resnet34": "coco", "mask-rcnn": "coco"}
    return {
        dnn: catalog.datasets[dataset].n_samples.value
        for dnn, dataset in sets.items()
        if dnn in catalog.dnns and dataset in catalog.datasets
    }


def fit_overhead(rows: tuple[Observation, ...], catalog: Catalog) -> RunOverhead:
    """Start-up and evaluation share of the published image classification runs, neither below 0.

    Raises
    ------
    CalibrationError
        If fewer than three runs tell time, epochs and rate.
    """
    runs = [(row.value, steady) for row, steady in overhead_rows(rows, catalog) if row.dnn == "resnet50"]
    if len(runs) < 3:
        raise CalibrationError(f"{len(runs)} runs tell time, epochs and rate; three are needed for start-up times")
    total, steady = np.array(runs).T
    # Relative errors: a run of two hours must not outweigh one of two minutes.
    matrix = np.stack([1 / total, steady / total], axis=1)
    from scipy.optimize import nnls  # long to import, and sizing reads the stored overhead

    (start_up, share), _ = nnls(matrix, (total - steady) / total)
    errors = np.log(total / (steady * (1 + share) + start_up))
    return RunOverhead(float(start_up), float(share), float(np.sqrt((errors**2).mean())))
