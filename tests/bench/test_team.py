"""The queue of a team; the aim is 5 s for 10,000 jobs."""

from typing import Any

import numpy as np
import pytest

from sizer.perf.scheduling import ServerPool, schedule

N_JOBS = 10_000
SIZES = (1, 1, 1, 2, 4, 8, 16)  # GPUs of a job; 16 take two whole servers


@pytest.mark.parametrize("order", ["first-come", "backfill"])
def test_schedule(benchmark: Any, order: str) -> None:
    """Jobs of one to 16 GPUs on 16 servers of eight, at 85 % of what these could take."""
    draws = np.random.default_rng(1)
    gpus = draws.choice(SIZES, N_JOBS)
    hours = draws.exponential(4.0, N_JOBS)
    cluster = ServerPool.of(16, 8)
    gap_s = gpus.mean() * hours.mean() * 3600 / (0.85 * 16 * 8)
    arrival_s = np.cumsum(draws.exponential(gap_s, N_JOBS))
    whole = np.zeros(N_JOBS, dtype=bool)
    found = benchmark(lambda: schedule(arrival_s, hours * 3600, gpus, whole, cluster, backfill=order == "backfill"))
    assert np.isfinite(found.start_s).all()
