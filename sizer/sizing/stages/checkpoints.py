"""Checkpoints of language models: what of the time interruptions leave, and what checkpoints ask of the storage."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.normal import normal_quantile
from sizer.perf.availability.goodput import (
    INTERRUPTIONS,
    CheckpointPlan,
    best_interval,
    checkpoint_plan,
    time_between_interruptions,
)
from sizer.workload.language import CHECKPOINT_WAIT_S, Checkpoints, LanguageWork

# What storage is sized for: a checkpoint is read back, and where training goes on meanwhile written, in so long a time.
# A choice of ours: longer adds to every restart, shorter pays for storage that is idle between checkpoints.
TRANSFER_S = 300.0
# Copying the state of a GPU into the memory of its server: 0.5 to 5 s are published; the upper end.
COPY_S = 5.0


@dataclass(frozen=True)
class CheckpointRates:
    """What checkpoints ask of the storage of every row. [B/s]"""

    written_bytes_per_s: Floats
    restart_bytes_per_s: Floats

    def take(self, rows: Ints) -> "CheckpointRates":
        """Of some rows of the first axis."""
        return CheckpointRates(self.written_bytes_per_s[rows], self.restart_bytes_per_s[rows])


@lru_cache(maxsize=4096)
def plan_of(checkpoints: Checkpoints, gpus: int) -> CheckpointPlan:
    """Checkpoints of a job, on storage that is sized for them."""
    stated = checkpoints.interruptions
    rates = INTERRUPTIONS if stated is None else (stated, stated, stated)
    median = float(time_between_interruptions(rates[0], gpus))
    copy_s = None if checkpoints.waits else COPY_S
    write_s = CHECKPOINT_WAIT_S
    if copy_s is not None:
        # A checkpoint is written before the next one starts.
        interval = checkpoints.every_s or float(best_interval(copy_s, median))
        write_s = min(TRANSFER_S, interval)
    return checkpoint_plan(
        gpus,
        checkpoints.written_bytes,
        checkpoints.written_bytes / write_s,
        checkpoints.written_bytes / TRANSFER_S,
        copy_s=copy_s,
        interval_s=checkpoints.every_s,
        rates=rates,
    )


def goodput_of(checkpoints: Checkpoints, gpus: int) -> tuple[float, float]:
    """Median share of the time that is useful, and the spread of its logarithm. [-], [-]"""
    value, low, high = plan_of(checkpoints, gpus).goodput
    width = np.log(high / max(low, 1e-9)) if low < high else 0.0
    return value, float(width / (2 * normal_quantile(0.95)))


def checkpoint_rates(work: LanguageWork | None, gpus: Floats) -> CheckpointRates | None:
    """What checkpoints of a job on so many GPUs ask of the storage; None of other networks."""
    if work is None:
        return None
    distinct, places = np.unique(gpus, return_inverse=True)
    plans = [plan_of(work.checkpoints, int(count)) for count in distinct]
    written = np.array([plan.checkpoint_bytes / plan.write_s for plan in plans])
    restart = np.full(gpus.shape, work.checkpoints.restart_bytes / TRANSFER_S)
    return CheckpointRates(written[places].reshape(gpus.shape), restart)
