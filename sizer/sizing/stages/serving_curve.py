"""Output and pace of a served model over its load, beside published runs: what the chart of a serving shows."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.serving.calibration import serving_calibration
from sizer.calibrate.serving.layouts import points_of
from sizer.calibrate.serving.rows import CLOSED_LOOP, ServingRow, load_serving_rows
from sizer.sizing.stages.serving_rates import ServingAnswer

# Loads of the curve, and how many times the most within the limits it goes on.
_LOADS, _BEYOND = 24, 1.3
# A published run is shown where the lengths of its requests lie within this factor of those asked.
_ALIKE = 2.0


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
    """The published run of the same model on the same GPU that is nearest in lengths, and of these the fastest."""

    def distance(row: ServingRow) -> tuple[float, float]:
        pairs = ((row.input_tokens, found.work.input_tokens), (row.output_tokens, found.work.output_tokens))
        far = sum(abs(math.log(published / asked)) for published, asked in pairs if published)
        return round(far, 1), -(row.output_tokens_s or 0.0) / (row.gpus or 1.0)

    rows = [
        row for row in load_serving_rows() if (row.model, row.gpu) == (found.work.model_id, found.deployment.gpu.id)
    ]
    known = (row for row in rows if row.output_tokens_s and row.gpus and row.input_tokens and row.output_tokens)
    return min((row for row in known if not row.speculative.startswith("mtp")), key=distance, default=None)


def serving_curve(found: ServingAnswer) -> ServingCurve:
    """The curve of the chosen layout, rising in time and output."""
    work, layout = found.work, found.deployment
    most = max(1.0, min(found.most_concurrent, _BEYOND * max(found.limit_concurrency, found.concurrency)))
    loads = np.append(np.geomspace(1.0, most, _LOADS), found.concurrency)
    rates = serving_calibration().rates(points_of(work, [layout] * len(loads), loads))
    each = rates.tokens_per_s / layout.gpus
    order = np.argsort(rates.tpot_s[:-1])
    return ServingCurve(
        token_s=rates.tpot_s[order],
        tokens_per_s=Estimate.log_normal(each[order], rates.log_sd[order]),
        at=(float(rates.tpot_s[-1]), float(each[-1])),
        published=tuple(
            PublishedPoint(row.tpot_s, row.output_tokens_s / row.gpus, row.source)
            for row in _runs(work.model_id, layout.gpu.id)
            if row.weight_precision.rstrip("?") == layout.weights
            and row.tpot_s
            and row.output_tokens_s
            and row.gpus
            and _is_alike(row.input_tokens, work.input_tokens)
            and _is_alike(row.output_tokens, work.output_tokens)
        ),
    )


def _is_alike(published: float | None, asked: float) -> bool:
    return published is not None and asked / _ALIKE <= published <= asked * _ALIKE


@lru_cache(maxsize=64)
def _runs(model: str, gpu: str) -> tuple[ServingRow, ...]:
    """Published runs of one pool with a fixed number of requests in flight, without speculation."""
    return tuple(
        row
        for row in load_serving_rows()
        if (row.model, row.gpu, row.kind) == (model, gpu, CLOSED_LOOP)
        and row.split != "apart"
        and not row.speculative.rstrip("?").startswith("mtp")
    )
