"""What leaving whole sources out of the fit shows: the variance between sources, and errors on the unseen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Floats
from sizer.calibrate.engine import ErrorStatistics
from sizer.calibrate.fit.joint import MAD_TO_SD, JointFit
from sizer.calibrate.fit.rates import RATE_TASKS

# Nearly every stack of the observations comes from one source, so leaving sources out cannot tell how far two
# laboratories with one stack disagree: the spread of stacks takes that up. Releases that several laboratories printed
# at full batch differ by 3 % (MXNet 20.03 against 20.12, PyTorch 19.05 against 20.03) to 6 % (TensorFlow 20.03 with
# XLA, 1,199 images/s, against 19.07, 1,249 to 1,336): the least of that is assumed at least.
MIN_BETWEEN_LOG_SD = 0.03


@dataclass(frozen=True)
class Unseen:
    """Rates predicted by fits that had not seen their source. Arrays over rates, of logarithms."""

    kinds: NDArray[np.str_]
    errors: Floats
    variances: Floats  # by the parameters
    scatter: Floats  # standard deviation within a source

    @property
    def tau2(self) -> float:
        """max(0, variance of the errors - mean parameter variance - scatter), medians against outliers."""
        spread = (MAD_TO_SD * np.median(np.abs(self.errors))) ** 2
        beyond = spread - np.median(self.variances) - np.median(self.scatter**2)
        return float(max(MIN_BETWEEN_LOG_SD**2, beyond))

    def by_task(self) -> dict[str, dict[str, float]]:
        """Rows, median and 90th percentile of the error, and coverage of the 90 % interval, by task."""
        found = {}
        sd = np.sqrt(self.variances + self.scatter**2 + self.tau2)
        for task in RATE_TASKS:
            mine = self.kinds == task
            if mine.any():
                one = ErrorStatistics.of(self.errors[mine], sd[mine])
                found[task] = {
                    "rows": one.rows,
                    "median_error": one.median,
                    "p90_error": one.p90,
                    "coverage": one.coverage,
                }
        return found


def leave_sources_out(fit: JointFit) -> Unseen:
    """Every rate, predicted by a fit without its source."""
    kinds, sources = fit.kinds, fit.sources
    is_rate = np.isin(kinds, RATE_TASKS)
    errors, variances = np.zeros(len(kinds)), np.zeros(len(kinds))
    for source in np.unique(sources[is_rate]):
        out = sources == source
        errors[out], variances[out] = fit.errors(fit.without(out), out)
    return Unseen(kinds[is_rate], errors[is_rate], variances[is_rate], fit.problem.sigma[is_rate])
