"""The stored fits of MLPerf rows, with their checks."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, triu

from sizer.base.errors import CalibrationError
from sizer.calibrate.modern.checks import AccuracyCheck, fit_and_check
from sizer.calibrate.modern.fit import Fit
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.rules import fits_rate, fits_time
from sizer.calibrate.observations import read_stored, stored_path, write_stored


@dataclass(frozen=True)
class ModernCalibration:
    """Fits of the rates and of the times to train, the rows they were made from, and their accuracy."""

    digest: str
    rate: Fit
    time: Fit
    used: frozenset[str]  # rows of the fit of the rates
    networks: frozenset[str]
    accelerators: frozenset[str]
    checks: tuple[AccuracyCheck, ...]


def calibrate_modern(rows: Sequence[ModernRow]) -> ModernCalibration:
    """Fit rates and times to train to rows, and check the fits on systems and a round that they have not seen."""
    rates = [row for row in rows if fits_rate(row)]
    rate, time, checks = fit_and_check(rates, [row for row in rates if fits_time(row)])
    return ModernCalibration(
        digest_of(rows),
        rate,
        time,
        frozenset(row.id for row in rates),
        frozenset(row.benchmark for row in rates),
        frozenset(row.accelerator for row in rates),
        checks,
    )


def digest_of(rows: Sequence[ModernRow]) -> str:
    """Short digest of rows; the place of a row is no part of it."""
    text = "\n".join(repr({name: value for name, value in vars(row).items() if name != "place"}) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modern_path() -> Path:
    """Where the shipped fits are stored."""
    return stored_path().with_name("modern.json")


def save_modern(calibration: ModernCalibration, path: Path | None = None) -> Path:
    """Write the fits as JSON."""
    content = {
        "digest": calibration.digest,
        "rate": _written(calibration.rate),
        "time": _written(calibration.time),
        "used": sorted(calibration.used),
        "networks": sorted(calibration.networks),
        "accelerators": sorted(calibration.accelerators),
        "checks": [asdict(check) for check in calibration.checks],
    }
    return write_stored(content, path or modern_path())


def load_modern_calibration(path: Path | None = None) -> ModernCalibration:
    """Stored fits.

    Raises
    ------
    CalibrationError
        If they are missing or damaged.
    """
    content = read_stored(path or modern_path())
    try:
        return ModernCalibration(
            content["digest"],
            _read(content["rate"]),
            _read(content["time"]),
            frozenset(content["used"]),
            frozenset(content["networks"]),
            frozenset(content["accelerators"]),
            tuple(AccuracyCheck(**one) for one in content["checks"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CalibrationError(f"stored fits of MLPerf rows are damaged ({error!r}); run 'sizer calibrate'") from None


@cache
def stored_modern_calibration() -> ModernCalibration:
    """The shipped fits, read once."""
    return load_modern_calibration()


def _written(fit: Fit) -> dict[str, Any]:
    upper = coo_array(triu(fit.hessian))
    return {
        "names": list(fit.names),
        "values": [float(f"{value:.8g}") for value in fit.values],
        "rows": upper.coords[0].tolist(),
        "columns": upper.coords[1].tolist(),
        "hessian": [float(f"{value:.6g}") for value in upper.data],
        "effect_factor": fit.effect_factor,
        "row_sd": fit.row_sd,
    }


def _read(content: dict[str, Any]) -> Fit:
    names, n = tuple(content["names"]), len(content["names"])
    values = np.array(content["values"], dtype=float)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError("effects and values do not match")
    at, to = np.array(content["rows"], dtype=int), np.array(content["columns"], dtype=int)
    upper = coo_array((np.array(content["hessian"], dtype=float), (at, to)), shape=(n, n))
    off_diagonal = coo_array((np.where(at == to, 0.0, upper.data), (to, at)), shape=(n, n))
    return Fit(names, values, csc_array(upper + off_diagonal), content["effect_factor"], content["row_sd"])
