"""Accuracy of the stored fits of MLPerf rows compared with its targets."""

from sizer.calibrate.accuracy_targets import AccuracyMeasure, AccuracyTarget
from sizer.calibrate.modern.stored import ModernCalibration

# Test and quantity -> measure and the largest median error that is asked for.
_TARGETS = {
    ("in-sample", "samples_per_s"): (AccuracyMeasure.MODERN_RATE, 0.03),
    ("system-left-out", "samples_per_s"): (AccuracyMeasure.MODERN_RATE_SYSTEM, 0.06),
    ("newest-round-left-out", "samples_per_s"): (AccuracyMeasure.MODERN_RATE_ROUND, 0.08),
    ("in-sample", "time_to_train_s"): (AccuracyMeasure.MODERN_TIME, 0.03),
    ("system-left-out", "time_to_train_s"): (AccuracyMeasure.MODERN_TIME_SYSTEM, 0.06),
    ("newest-round-left-out", "time_to_train_s"): (AccuracyMeasure.MODERN_TIME_ROUND, 0.10),
}
_COVERED, _BIAS = (0.85, 0.96), 0.03


def accuracy_figures(calibration: ModernCalibration) -> tuple[AccuracyTarget, ...]:
    """Measures of the checks that were stored with the fits."""
    checks = calibration.checks
    found = []
    for check in checks:
        measure, most = _TARGETS[check.test, check.quantity]
        found.append(AccuracyTarget(measure, check.median_error, 0.0, most, check.rows))
    n = sum(check.rows for check in checks)
    shares = [check.coverage for check in checks]
    found.append(AccuracyTarget(AccuracyMeasure.MODERN_COVERAGE_LEAST, min(shares), *_COVERED, n))
    found.append(AccuracyTarget(AccuracyMeasure.MODERN_COVERAGE_MOST, max(shares), *_COVERED, n))
    found.append(AccuracyTarget(AccuracyMeasure.MODERN_BIAS, max(abs(check.bias) for check in checks), 0.0, _BIAS, n))
    return tuple(found)
