"""The stored fits of language models: most probable values and covariances, exact to the last bit."""

import base64
import binascii
import hashlib
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.language.fit import StepModel
from sizer.calibrate.language.gpu_memory import MemoryModel
from sizer.calibrate.language.rows import rows_digest
from sizer.calibrate.observations import read_stored, stored_path, write_stored

# Values of the parameters of one fit, and their covariance.
FitResult = tuple[Floats, Floats]


@dataclass(frozen=True)
class StoredFits:
    """Results of the fits, and the digest of what they were made from."""

    digest: str
    steps: FitResult
    memory: FitResult
    benchmarks: dict[str, FitResult]


def problem_digest(steps: StepModel, memory: MemoryModel) -> str:
    """Short digest of rows, names of effects, priors and every number that the fits take of the catalogue."""
    numbers = [column for one in (*steps.inputs, *memory.inputs) for column in astuple(one)]
    digest = hashlib.sha256(repr((rows_digest(), steps.layout.names, memory.stacks)).encode())
    for column in (steps.layout.prior_sd, *numbers):
        # Seven digits: the last ones may differ between processors.
        digest.update(np.asarray(column, dtype="<f4").tobytes())
    return digest.hexdigest()[:16]


def fits_path() -> Path:
    """Where the shipped fits are stored."""
    return stored_path().with_name("language.json")


def save_fits(fits: StoredFits, path: Path | None = None) -> Path:
    """Write the fits as JSON."""
    content = {
        "digest": fits.digest,
        "steps": _written(fits.steps),
        "memory": _written(fits.memory),
        "benchmarks": {name: _written(one) for name, one in fits.benchmarks.items()},
    }
    return write_stored(content, path or fits_path())


def load_fits(digest: str, path: Path | None = None) -> StoredFits:
    """Stored fits of what has this digest.

    Raises
    ------
    CalibrationError
        If they are missing or damaged, or were made from something else.
    """
    file = path or fits_path()
    content = read_stored(file)
    try:
        found = StoredFits(
            content["digest"],
            _read(content["steps"]),
            _read(content["memory"]),
            {name: _read(one) for name, one in content["benchmarks"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise CalibrationError(f"{file.name}: is damaged ({error!r}); run 'sizer calibrate'") from None
    if found.digest != digest:
        raise CalibrationError(
            "rows of language models, or GPUs and models of the catalogue that they name, have changed since they "
            "were fitted; run 'sizer calibrate'"
        )
    return found


def _written(result: FitResult) -> dict[str, str]:
    values, covariance = result
    lower = covariance[np.tril_indices(len(values))]
    return {
        "values_float64_base64": base64.b64encode(values.astype("<f8").tobytes()).decode(),
        "covariance_lower_triangle_float64_base64": base64.b64encode(lower.astype("<f8").tobytes()).decode(),
    }


def _read(content: dict[str, Any]) -> FitResult:
    values = _numbers(content["values_float64_base64"])
    lower = _numbers(content["covariance_lower_triangle_float64_base64"])
    n = len(values)
    if lower.shape != (n * (n + 1) // 2,):
        raise ValueError("covariance does not fit the values")
    covariance = np.zeros((n, n))
    covariance[np.tril_indices(n)] = lower
    return values, covariance + np.tril(covariance, -1).T


def _numbers(text: str) -> Floats:
    found = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(float)
    if not np.isfinite(found).all():
        raise ValueError("a value is not finite")
    return found
