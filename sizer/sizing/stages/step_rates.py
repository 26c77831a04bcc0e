"""Rates of the GPUs of many designs, with what draws of the coefficients make of them.

Draws cost some hundred evaluations of a step. How far they move a rate changes slowly with the number of servers, so
they are made once for all platforms that compute alike and at a few sizes; between these the move is interpolated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.stored_answers import StoredAnswers
from sizer.perf.stage_capacity import Capacity
from sizer.perf.step_terms import StepTerms
from sizer.perf.training_step import InferenceRun, TrainingRun
from sizer.sizing.stages.laid_out import LaidOutRun
from sizer.sizing.stages.platform_columns import Columns

# Sizes drawn at, by powers of this ratio. Halfway between two of them the interpolated probability is off by less than
# half a hundredth.
_RATIO = 2.0

_Run = TrainingRun | InferenceRun | LaidOutRun
RunOf = Callable[[Columns, Ints, Floats], _Run]


@dataclass(frozen=True)
class GpuRates:
    """Rates of all GPUs of every design. [samples/s]"""

    gpu: Capacity  # with exchange and waiting, without the links from the hosts
    alone: Floats  # median without exchange and waiting
    exchange: Floats  # the exchange alone; infinite where there is none


def gpu_rates(
    run_of: RunOf, terms: Sequence[StepTerms], cols: Columns, n_servers: Ints, batch_per_gpu: Floats
) -> GpuRates:
    """Rates of designs.

    Parameters
    ----------
    run_of : callable
        Gives the runs on servers of some columns, at numbers of servers and batches that broadcast with them.
    terms : sequence of StepTerms
        Of every compute group, in the order of ``cols.compute``: on one server, and on several.
    cols : Columns
        One entry a row, or (platforms, 1).
    n_servers : ndarray of int
        Servers of each row, or (1, sizes). [-]
    batch_per_gpu : ndarray
        Samples of one step on one GPU of each row, or (platforms, 1). [-]
    """
    run = run_of(cols, n_servers, batch_per_gpu)
    first, batch, place = _distinct(cols, batch_per_gpu)
    distinct = Columns(**{name: np.ravel(part)[first][:, None] for name, part in vars(cols).items()})
    sizes, below, above, share = _grid(n_servers)
    if isinstance(run, LaidOutRun):
        gpu = Capacity.log_normal(run.median_samples_per_s, run.log_sd)
        return GpuRates(gpu, gpu.median, np.full(gpu.median.shape, np.inf))
    if isinstance(run, InferenceRun):
        one_server = run_of(distinct, np.ones((1, 1), dtype=np.int64), batch[:, None])
        assert isinstance(one_server, InferenceRun)
        drawn = one_server.rate(StepTerms.stack(list(terms))[2 * distinct.compute])
        gpu = Capacity.of_estimate(drawn.compute).flat_rows(place).scaled(n_servers)
        return GpuRates(gpu, gpu.median, np.full(gpu.median.shape, np.inf))
    few = run_of(distinct, sizes[None, :], batch[:, None])
    assert isinstance(few, TrainingRun)
    moved = _drawn(few, terms, 2 * distinct.compute + (sizes > 1))

    def at_rows(table: Floats) -> Floats:
        return np.asarray(table[place, below] * (1 - share) + table[place, above] * share)

    found = run.medians(np.stack([one.values for one in terms])[2 * cols.compute + (n_servers > 1)])
    median, sd = found.samples_per_s * np.exp(at_rows(moved.log_ratio)), at_rows(moved.log_sd)
    alone = (moved.alone[:, 0] / sizes[0])[place] * n_servers
    gpu = Capacity(median, sd, np.zeros_like(sd), at_rows(moved.skew))
    return GpuRates(gpu, alone, found.exchange_samples_per_s)


class _Drawn(NamedTuple):
    """What draws make of the rates of a few runs."""

    alone: Floats  # median without exchange and waiting [samples/s]
    log_ratio: Floats  # logarithm of the median over the rate at the values of the terms
    log_sd: Floats
    skew: Floats


def _drawn(run: TrainingRun, terms: Sequence[StepTerms], index: Ints) -> _Drawn:
    def work_out() -> _Drawn:
        own = StepTerms.stack(list(terms))[index]
        rate = run.rate(own)
        spread = Capacity.of_estimate(rate.total)
        log_ratio = np.log(rate.total.value / run.samples_per_s(own.values))
        return _Drawn(rate.compute.value, log_ratio, spread.log_sd, spread.skew)

    return _drawings.get(_digest(run, [terms[number] for number in index.ravel().tolist()]), work_out)


# Questions about a design change one input at a time.
_drawings: StoredAnswers[_Drawn] = StoredAnswers(1024)


def _digest(run: TrainingRun, terms: Sequence[StepTerms]) -> bytes:
    arrays = (np.asarray(getattr(run, one.name)) for one in fields(run))
    content = [part for one in arrays for part in (repr(one.shape).encode(), one.tobytes())]
    return blake2b(b"".join((*content, *(one.digest for one in terms))), digest_size=16).digest()


def _distinct(cols: Columns, batch_per_gpu: Floats) -> tuple[Ints, Floats, Ints]:
    """First row and batch of each kind of server, fabric and batch that a step knows, and which of them rows have."""
    if cols.compute.size == batch_per_gpu.size == 1:
        return np.zeros(1, dtype=np.int64), np.ravel(batch_per_gpu), np.zeros(cols.compute.shape, dtype=np.int64)
    facts = np.stack([np.ravel(part) for part in (cols.compute, cols.gpus_per_server, cols.exchange_bytes_per_s)])
    _, first, index = np.unique(facts, axis=1, return_index=True, return_inverse=True)
    levels, level = np.unique(batch_per_gpu, return_inverse=True)
    codes = np.reshape(index, cols.compute.shape) * levels.size + np.reshape(level, batch_per_gpu.shape)
    used, place = np.unique(codes, return_inverse=True)
    return first[used // levels.size], levels[used % levels.size], np.reshape(place, codes.shape)


def _grid(n_servers: Ints) -> tuple[Ints, Ints, Ints, Floats]:
    """Sizes that are drawn at; of every entry, the places of the two beside it and the share of the upper one."""
    step = np.log(n_servers) / np.log(_RATIO)
    low = np.floor(step + 1e-9).astype(np.int64)
    share = np.where(np.abs(step - low) < 1e-9, 0.0, step - low)
    first, last = int(low.min()), int((low + (share > 0)).max())
    sizes = np.round(_RATIO ** np.arange(first, last + 1)).astype(np.int64)
    return sizes, low - first, np.minimum(low + 1, last) - first, share
