"""Memory of one GPU that a transformer's training takes: state, activations, logits and what the runtime holds."""

from dataclasses import dataclass, fields

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import Layouts

GIB = 2.0**30
# Bytes a parameter: BF16 weights; FP32 master weights and two moments of Adam.
_WEIGHT, _OPTIMIZER = 2.0, 12.0
# Bytes of logits an element: BF16, FP32 and gradient.
_LOGIT = 10.0
# Share of what selective recomputation leaves of the activations.
_SELECTIVE = 0.55
# Share of the parameters of adapters.
_ADAPTERS = 0.005


@dataclass(frozen=True)
class MemoryFactors:
    """Fitted factors of the terms. All above 0."""

    state: float = 1.1
    gradient_bytes: float = 4.0  # a parameter; FP32 where a framework adds up micro batches
    activations: float = 1.0
    scores: float = 1.0  # of attention that writes its scores to memory
    narrow: float = 0.65  # activations kept in FP8 or FP4 over those in BF16
    logits: float = 1.0
    constant: float = 5.0  # GiB: context, communication buffers, fragments


MEMORY_FACTORS = tuple(one.name for one in fields(MemoryFactors))


@dataclass(frozen=True)
class MemoryUse:
    """Bytes of one GPU of the fullest pipeline stage. Arrays."""

    state: Floats
    activations: Floats
    logits: Floats
    constant: Floats

    @property
    def total(self) -> Floats:
        """All of it."""
        return self.state + self.activations + self.logits + self.constant


def memory_use(
    shapes: Shapes, layouts: Layouts, writes_scores: Bools, weight_bytes: Floats, by: MemoryFactors
) -> MemoryUse:
    """Bytes that one GPU of the fullest stage holds; every array of one length.

    Parameters
    ----------
    shapes : Shapes
    layouts : Layouts
    writes_scores : ndarray of bool
        Attention without a fused kernel: scores of a layer lie in memory.
    weight_bytes : ndarray
        Of a frozen weight, where adapters are trained. [B]
    by : MemoryFactors
    """
    one, way = shapes, layouts
    data = way.replicas
    share = 1 / (way.tensor * way.pipeline)
    # The first stage holds the embedding, the last the head; of one stage both.
    ends = np.where(way.pipeline > 1, 1.0, 2.0) * one.vocabulary * one.hidden / way.tensor
    held = one.dense_parameters_used * share + ends + one.expert_parameters / (way.pipeline * way.expert)
    whole = _WEIGHT + by.gradient_bytes
    divided = np.where(way.is_fully_sharded, (whole + _OPTIMIZER) / data, 0.0)
    divided = np.where(way.is_optimizer_sharded, whole + _OPTIMIZER / data, divided)
    usual = np.where(way.is_fully_sharded | way.is_optimizer_sharded, divided, whole + _OPTIMIZER)
    frozen = weight_bytes / np.where(way.is_fully_sharded, data, 1.0) + _ADAPTERS * (whole + _OPTIMIZER)
    a_layer = held * way.pipeline / one.layers
    gathered = np.where(way.is_fully_sharded, 2 * _WEIGHT * a_layer, 0.0)
    state = by.state * (held * np.where(way.is_lora, frozen, usual) + gathered)

    whole_tokens = way.micro_batch * way.sequence / way.context
    tokens = whole_tokens / way.tensor
    # Without sequence parallelism every tensor rank keeps the inputs of norms and dropouts whole.
    kept_tokens = np.where(writes_scores, whole_tokens, tokens)
    block = np.where(one.is_mixture, one.active_experts * one.expert_ffn + one.shared_ffn, one.ffn)
    narrow = np.where(weight_bytes < _WEIGHT, by.narrow, 1.0)
    kept = tokens * (6 * one.hidden + 4 * one.kv_heads * one.head_size + 2 * one.gates * block) * narrow
    kept = kept + kept_tokens * np.where(writes_scores, 10.0, 2.0) * one.hidden
    kept = kept * np.where(one.is_mixture, 1 + one.active_experts / 8, 1.0)
    scores = 5 * one.heads * way.sequence * tokens * by.scores * writes_scores
    live = kept + scores
    layers = one.layers / way.pipeline
    flying = np.minimum(way.pipeline, way.micro_batches) * (1 + (way.pipeline - 1) / (way.pipeline * way.virtual))
    flying = np.where(way.pipeline > 1, flying, 1.0)
    some = (way.recompute > 0) & (way.recompute < 1)
    saved = np.where(way.recompute >= 1, 2 * kept_tokens * one.hidden, live * np.where(some, _SELECTIVE, 1.0))
    activations = by.activations * (saved * layers * flying + np.where(way.recompute >= 1, live, 0.0))
    logits = by.logits * _LOGIT * way.micro_batch * way.sequence * one.vocabulary / (way.tensor * way.context)
    return MemoryUse(state, activations, np.asarray(logits), np.full(state.shape, by.constant * GIB))
