"""Published MLPerf runs of today's accelerators by network: newest round, batches, and what fitted which memory."""

import math
from collections import defaultdict
from functools import cache

from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.rows import ModernRow, fits_rate, load_modern


@cache
def published_runs(benchmark: str) -> tuple[ModernRow, ...]:
    """Runs of a network that the fit of the rates uses; empty for one that MLPerf does not have."""
    return _by_benchmark().get(benchmark, ())


@cache
def newest_round(benchmark: str) -> str:
    """Newest round with runs of a network."""
    return max(published_runs(benchmark), key=lambda row: row.round_order).round


@cache
def published_batches(benchmark: str) -> tuple[float, float]:
    """Least and largest published global batch of a network."""
    batches = [row.global_batch for row in published_runs(benchmark) if row.global_batch]
    return min(batches), max(batches)


@cache
def n_runs(generation: str) -> int:
    """Runs of all networks on the accelerators of a generation."""
    known = sourced_accelerators()
    accelerators = {name for name, gpu in known.items() if gpu.generation == generation}
    return sum(row.accelerator in accelerators for rows in _by_benchmark().values() for row in rows)


@cache
def largest_batches(benchmark: str, generation: str = "") -> tuple[tuple[float, float], ...]:
    """Memory of accelerators of the catalogue, and the largest batch of one pass published on each. [B], [-]

    By default those of all generations.
    """
    known = sourced_accelerators()
    found: defaultdict[float, float] = defaultdict(float)
    for row in published_runs(benchmark):
        gpu = known.get(row.accelerator)
        if gpu is None or generation not in ("", gpu.generation):
            continue
        if row.global_batch and row.accelerators:
            found[gpu.memory_bytes] = max(found[gpu.memory_bytes], micro_batch(row))
    return tuple(sorted(found.items()))


def micro_batch(row: ModernRow) -> float:
    """Samples of one pass of one accelerator. The row states batch and accelerators."""
    assert row.global_batch is not None
    assert row.accelerators is not None
    return math.ceil(row.global_batch / (row.accelerators * row.accumulation))


@cache
def fitted_ids() -> frozenset[str]:
    """Runs of all networks that the fit of the rates uses."""
    return frozenset(row.id for rows in _by_benchmark().values() for row in rows)


@cache
def fitted_accelerators() -> frozenset[str]:
    """Accelerators of these runs, by their names in them."""
    return frozenset(row.accelerator for rows in _by_benchmark().values() for row in rows)


@cache
def _by_benchmark() -> dict[str, tuple[ModernRow, ...]]:
    found: defaultdict[str, list[ModernRow]] = defaultdict(list)
    for row in load_modern():
        if fits_rate(row):
            found[row.benchmark].append(row)
    return {name: tuple(rows) for name, rows in found.items()}
