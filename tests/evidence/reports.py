"""Validation reports for tests of the evidence page."""

from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.notes import PREDICTED, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow
from tests import factories

SOURCES = factories.catalog().sources
NO_MODEL = RowStatus(RowUse.NOT_MODELLED, note(FitNote.QUANTITY_NOT_MODELLED, "stall_fraction"))
EXCLUDED = RowStatus(RowUse.EXCLUDED, note(FitNote.PARAMETER_SERVER))


def row(published: float, predicted: float | None, *, spread: float = 1.2, **more: Any) -> ValidatedRow:
    """A row of training rates; its interval reaches ``spread`` times down and up."""
    values: dict[str, Any] = {
        "id": f"run-{published}-{predicted}",
        "task": "training",
        "quantity": "samples_per_s",
        "source": factories.BLOG,
        "status": PREDICTED if predicted is not None else RowStatus(RowUse.OUTSIDE, note(FitNote.GPU_NOT_NAMED)),
        **more,
    }
    ends = None if predicted is None else Estimate(*np.array([predicted, predicted / spread, predicted * spread]))
    return ValidatedRow(published=published, estimate=ends, **values)


def mixed() -> list[ValidatedRow]:
    """Rows of several tasks and sources: 7 that count, 2 without prediction, 1 left out of the fit."""
    return [
        row(1000, 1010),
        row(2000, 1900),
        row(4000, 8800, id="far"),
        row(500, 505, task="inference", source=factories.GUIDE),
        row(3600, 3700, quantity="time_to_train_s", source=factories.GUIDE),
        row(60, 61, task="accuracy", quantity="epochs_to_target", source=factories.MLPERF),
        row(0.5, 0.45, task="preprocess", quantity="cpu_utilization_fraction", source=factories.MLPERF),
        row(0.2, None, task="storage", quantity="stall_fraction", status=NO_MODEL),
        row(7, None),
        row(900, 300, status=EXCLUDED),
    ]


def values_of(spec: dict, mark: str) -> list[dict]:
    """Rows of the layers with a mark."""
    layers = [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]
    return [one for layer in layers for one in spec["datasets"][layer["data"]["name"]]]
