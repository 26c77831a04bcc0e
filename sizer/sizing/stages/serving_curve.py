"""Output and pace of a served model over its load, beside published runs: what the chart of a serving shows."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.serving.deployment import Deployment
from sizer.calibrate.serving.rows import CLOSED_LOOP, ServingRow, fitted_rows
from sizer.sizing.stages.serving_rates import ServingAnswer

# Loads of the curve, and how many times the most within the limits it goes on.
_LOADS, _BEYOND = 24, 1.3
# A published run is shown where the lengths of its requests lie within this factor of those asked: those of the usual
# ones, 1,024 and 8,192 tokens, lie a factor of eight apart.
_ALIKE = 8**0.5
# Distance of a run that was as fast as possible from one with limits: as much as twice the length. A choice of ours.
_OTHER_LOAD = 2.0
# Share of the highest published output from which on a load needs it. Below, a design does not rest on the difference.
_NEEDED = 0.8


@dataclass(frozen=True)
class PublishedPoint:
    """A published run on the same GPU with the same model."""

    token_s: float  # between tokens of a request
    tokens_per_s: float  # output of a GPU
    source: str


@dataclass(frozen=True)
class ServingCurve:
    """The layout of a design from one request in flight to the most. Arrays over the loads."""

    token_s: Floats
    tokens_per_s: Estimate  # output of a GPU
    at: tuple[float, float]  # the design at its load: seconds between tokens, output of a GPU
    published: tuple[PublishedPoint, ...]


def nearest_run(found: ServingAnswer) -> ServingRow | None:
    """The published run of the same model on the same GPU that is nearest: by the number format of the weights, by the
    engine where one is named, then by lengths and load, and of these the fastest.
    """
    work, layout = found.work, found.deployment

    def distance(row: ServingRow) -> tuple[bool, bool, float, float]:
        pairs = [(row.input_tokens, work.input_tokens), (row.output_tokens, work.output_tokens)]
        if row.tpot_s:
            pairs.append((row.tpot_s, float(found.tpot_s.value)))
        elif row.has_limits and work.token_s is not None:
            pairs.append((row.tpot_limit_s, work.token_s))
        elif row.has_limits or work.token_s is not None:
            pairs.append((_OTHER_LOAD, 1.0))
        far = sum(abs(math.log(published / asked)) for published, asked in pairs if published)
        is_other = bool(layout.engine) and row.engine != layout.engine
        return row.computed_in != layout.weights, is_other, round(far, 1), -output_of_gpu(row)

    return min(_runs(work.model_id, layout), key=distance, default=None)


def highest_run(found: ServingAnswer) -> ServingRow | None:
    """The published run with the highest output of a GPU, of the same model, GPU, number format and similar lengths."""
    alike = (row for row in _runs(found.work.model_id, found.deployment) if _is_like(row, found))
    return max(alike, key=output_of_gpu, default=None)


def exceeded_run(found: ServingAnswer) -> ServingRow | None:
    """The highest published run, where the rate that is kept as surely as asked is above it, and the load needs it."""
    row = None if found.work.is_embedding else highest_run(found)
    if row is None:
        return None
    load = found.served_per_s * found.work.priced_tokens / found.gpus_used
    is_above = found.sure_tokens_per_s / found.gpus_used > output_of_gpu(row)
    return row if is_above and load > _NEEDED * output_of_gpu(row) else None


def output_of_gpu(row: ServingRow) -> float:
    """Output tokens of a GPU of a published run; 0 where it does not say. [1/s]"""
    return (row.output_tokens_s or 0.0) / (row.gpus or math.inf)


def serving_curve(found: ServingAnswer) -> ServingCurve:
    """The curve of the chosen layout, rising in time and output."""
    work, layout = found.work, found.deployment
    most = max(1.0, min(found.most_concurrent, _BEYOND * max(found.limit_concurrency, found.concurrency)))
    loads = np.append(np.geomspace(1.0, most, _LOADS), found.concurrency)
    rates = found.rates_at(loads)
    each = rates.tokens_per_s / layout.gpus
    order = np.argsort(rates.tpot_s[:-1])
    return ServingCurve(
        token_s=rates.tpot_s[order],
        tokens_per_s=Estimate.log_normal(each[order], rates.log_sd[order]),
        at=(float(rates.tpot_s[-1]), float(each[-1])),
        published=tuple(
            PublishedPoint(row.tpot_s, output_of_gpu(row), row.source)
            for row in _runs(work.model_id, layout)
            if row.kind == CLOSED_LOOP and row.tpot_s and _is_like(row, found)
        ),
    )


def _is_like(row: ServingRow, found: ServingAnswer) -> bool:
    """Whether a run has the number format of an answer and similar lengths."""
    lengths = ((row.input_tokens, found.work.input_tokens), (row.output_tokens, found.work.output_tokens))
    return row.computed_in == found.deployment.weights and all(_is_alike(*pair) for pair in lengths)


def _is_alike(published: float | None, asked: float) -> bool:
    return published is not None and asked / _ALIKE <= published <= asked * _ALIKE


def _runs(model: str, layout: Deployment) -> tuple[ServingRow, ...]:
    """Published runs of one pool on the GPU of a layout, with tokens guessed ahead or without, as it has them."""
    return tuple(row for row in _rows_with_output(model, layout.gpu.id) if row.guesses == layout.is_speculative)


@lru_cache(maxsize=64)
def _rows_with_output(model: str, gpu: str) -> tuple[ServingRow, ...]:
    """Those that state what they measured, and their output and lengths."""
    return tuple(
        row
        for row in fitted_rows()
        if (row.model, row.gpu) == (model, gpu)
        and output_of_gpu(row)
        and row.input_tokens
        and row.output_tokens
        and row.split != "apart"
    )
