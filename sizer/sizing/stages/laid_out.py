"""Rates of what a layout divides over the GPUs of a design: language models, in training and in use."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Floats


@dataclass(frozen=True)
class LaidOutRun:
    """Rates by the best layout of every row. Arrays over the rows."""

    median_samples_per_s: Floats  # tokens of a training over days, with interruptions; requests of a model in use
    log_sd: Floats
    fits: Bools
    replicas: Floats  # that hold the model each
    timely: Floats | None = None  # probability that first tokens keep their limit; None where nobody waits

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate under some draws: no term of a step moves it, its scatter alone does. [samples/s]"""
        return np.asarray(self.median_samples_per_s + 0 * values[..., 0])
