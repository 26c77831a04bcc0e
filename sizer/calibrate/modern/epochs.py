"""Epochs to the target of recipes of MLPerf Training v1.0 and later."""

from sizer.base.errors import CalibrationError
from sizer.calibrate.fit.runs import EpochsCurve
from sizer.calibrate.modern.design_rates import convergence_of
from sizer.catalog.schema import Recipe


def mlperf_curve(recipe: Recipe) -> EpochsCurve:
    """Curve of a recipe whose samples to the target come from the fit of MLPerf rows.

    Raises
    ------
    CalibrationError
        If the recipe does not say how many samples an epoch has.
    """
    if recipe.epoch_samples is None:
        raise CalibrationError(f"recipe {recipe.id} has no epoch_samples, the samples of an epoch")
    found, epoch = convergence_of(recipe.mlperf), recipe.epoch_samples.value
    points = tuple((batch, float(found.samples(batch)) / epoch) for batch in found.batches)
    return EpochsCurve(found.few_samples / epoch, found.few_samples / found.steps, 1.0, found.log_sd, points)


def published_evaluation_share(recipe: Recipe) -> float | None:
    """Time of the evaluations over that of the training, of a recipe with published runs; None of others."""
    return convergence_of(recipe.mlperf).evaluation_share if recipe.mlperf else None
