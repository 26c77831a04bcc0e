"""Degrees of a layout that a source does not state: the least with which the state of the training fits."""

import itertools
from collections.abc import Sequence

import numpy as np

from sizer.calibrate.language.rows import LanguageRow
from sizer.perf.language.shape import Shapes

# Share of a GPU's memory that weights, gradients and optimizer may take, so that activations have the rest.
_STATE_SHARE = 0.6
# Bytes of weights and gradients of a parameter, and of its optimizer, which replicas divide.
_WHOLE, _DIVIDED = 4.0, 12.0
_TENSOR, _PIPELINE, _EXPERT = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32, 64)


def usual_degrees(
    row: LanguageRow, shape: dict[str, float], memory_bytes: float, domain: float
) -> tuple[float, float, float]:
    """Tensor, pipeline and expert parallelism of a run: as stated, else the least that fits.

    Parameters
    ----------
    row : LanguageRow
    shape : dict
        Of its model.
    memory_bytes : float
        Of a GPU. [B]
    domain : float
        GPUs that NVLink or its like joins.
    """
    counts = Shapes(**{name: np.array([value]) for name, value in shape.items()})
    dense = float(counts.dense_parameters_used[0]) + float(2 * counts.vocabulary[0] * counts.hidden[0])
    experts = float(counts.expert_parameters[0]) if shape["experts"] > 1 else 0.0
    context = row.cp or 1.0

    def choices(stated: float | None, known: Sequence[int], most: float, whole: float) -> list[float]:
        if stated is not None:
            return [stated]
        return [float(n) for n in known if n <= most and whole % n == 0]

    tensors = choices(row.tp, _TENSOR, min(domain, row.gpus), shape["heads"])
    # With the replicas stated the stages are what is left: any number that divides the layers, such as 35 of 105.
    numbers = range(1, int(min(shape["layers"], row.gpus)) + 1) if row.dp else _PIPELINE
    stages = choices(row.pp, numbers, row.gpus, shape["layers"])
    parts = choices(row.ep, _EXPERT, min(domain, row.gpus), shape["experts"]) if experts else [row.ep or 1.0]
    found = [
        (t, p, e)
        for t, p, e in itertools.product(tensors, stages, parts)
        if row.gpus % (t * p * context) == 0 and e * p <= row.gpus
    ]
    if row.dp:
        found = [one for one in found if one[0] * one[1] * context * row.dp == row.gpus] or found
    if not found:
        return row.tp or 1.0, row.pp or 1.0, row.ep or 1.0

    def state_bytes(t: float, p: float, e: float) -> float:
        held, routed = dense / (t * p), experts / (p * e)
        once = held / (row.gpus / (t * p)) + routed / max(1.0, row.gpus / (p * e))
        return _WHOLE * (held + routed) + _DIVIDED * once

    fitting = [one for one in found if state_bytes(*one) <= _STATE_SHARE * memory_bytes]
    if fitting:
        return min(fitting, key=lambda one: (one[0] * one[1], one[2], one[1]))
    return min(found, key=lambda one: state_bytes(*one))
