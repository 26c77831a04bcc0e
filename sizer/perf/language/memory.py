"""Memory of one GPU that a transformer's training takes: state, activations, logits and what the runtime holds."""

from dataclasses import dataclass, fields

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import Layouts

GIB = 2.0**30
# Share of a GPU's memory that a run may fill before allocation fails.
FILLED = 0.94
# Bytes a parameter: BF16 weights, as linear layers read them.
_WEIGHT = 2.0
# Share of what selective recomputation leaves of the activations.
_SELECTIVE = 0.55
# Share of the parameters of adapters.
_ADAPTERS = 0.005


@dataclass(frozen=True)
class MemoryFactors:
    """Fitted factors of the terms. All above 0."""

    state: float = 1.0
    activations: float = 1.0
    scores: float = 1.0  # of attention that writes its scores to memory
    narrow: float = 0.85  # activations where linear layers keep their inputs in FP8 or FP4, over those in BF16
    logits: float = 1.0
    reserved: float = 1.1  # what the allocator holds over what tensors take
    constant: float = 3.0  # GiB: context, communication buffers


MEMORY_FACTORS = tuple(one.name for one in fields(MemoryFactors))


@dataclass(frozen=True)
class Runtime:
    """What the software keeps in memory. Arrays."""

    element_bytes: Floats  # of a weight in the number format of the linear layers
    gradient_bytes: Floats  # of a parameter, where gradients are not divided over the replicas
    shared_gradient_bytes: Floats  # of a parameter, where full sharding adds gradients up
    optimizer_bytes: Floats  # of a parameter: weights that the optimizer updates and its two moments
    logit_bytes: Floats  # of an element of the logits, with its gradient
    is_allocated: Bools  # tensors are counted only, not what the allocator and the libraries hold beyond them


@dataclass(frozen=True)
class MemoryUse:
    """Bytes of one GPU of the fullest pipeline stage. Arrays."""

    state: Floats
    activations: Floats
    logits: Floats
    runtime: Floats  # what the allocator and libraries hold beyond them

    @property
    def total(self) -> Floats:
        """All of it."""
        return self.state + self.activations + self.logits + self.runtime


def memory_use(
    shapes: Shapes, layouts: Layouts, runtime: Runtime, by: MemoryFactors, state: Floats | None = None
) -> MemoryUse:
    """Bytes that one GPU of the fullest stage holds; every array of one length, or broadcast.

    Parameters
    ----------
    shapes : Shapes
    layouts : Layouts
    runtime : Runtime
    by : MemoryFactors
    state : ndarray, optional
        The field ``state`` of the same layouts with another recomputation, which it does not depend on. [B]
    """
    one, way = shapes, layouts
    state = by.state * _state_bytes(one, way, runtime) if state is None else state

    whole_tokens = way.micro_batch * way.sequence / way.context
    tokens = whole_tokens / way.tensor
    # Without sequence parallelism every tensor rank keeps the inputs of norms and dropouts whole.
    kept_tokens = np.where(way.is_unfused, whole_tokens, tokens)
    narrow = np.where(runtime.element_bytes < _WEIGHT, by.narrow, 1.0)
    wide = one.heads * one.head_size
    # Attention: input, queries, keys and values, their output; then the input of the block and its inner products.
    kept = 2 * one.hidden + 4 * wide + 4 * one.kv_heads * one.head_size + 2 * one.gates * one.block_width
    # A routed token is kept once more for each of its experts, before and after them.
    kept = tokens * (kept + np.where(one.is_mixture, 4 * one.active_experts * one.hidden, 0.0)) * narrow
    kept = kept + kept_tokens * np.where(way.is_unfused, 10.0, 2.0) * one.hidden
    scores = 5 * one.heads * way.sequence * tokens * by.scores * way.is_unfused
    live = kept + scores
    layers = one.layers / way.pipeline
    # The first stage holds as many micro batches as there are stages; with chunks somewhat more.
    more = np.where(way.virtual > 1, (way.pipeline - 1) / (way.pipeline * way.virtual), 0.0)
    flying = np.where(way.pipeline > 1, np.minimum(way.pipeline, way.micro_batches) * (1 + more), 1.0)
    some = (way.recompute > 0) & (way.recompute < 1)
    saved = np.where(way.recompute >= 1, 2 * kept_tokens * one.hidden, live * np.where(some, _SELECTIVE, 1.0))
    activations = by.activations * (saved * layers * flying + np.where(way.recompute >= 1, live, 0.0))
    elements = way.micro_batch * way.sequence * one.vocabulary / (way.tensor * way.context)
    logits = by.logits * runtime.logit_bytes * elements
    runs = np.where(runtime.is_allocated, 0.0, by.constant * GIB + (by.reserved - 1) * (state + activations + logits))
    return MemoryUse(state, activations, np.asarray(logits), runs)


def _state_bytes(one: Shapes, way: Layouts, runtime: Runtime) -> Floats:
    """Bytes of weights, gradients and optimizer on a GPU of the fullest stage."""
    share = 1 / (way.tensor * way.pipeline)
    # The first stage holds the embedding, the last the head; of one stage both.
    ends = np.where(way.pipeline > 1, 1.0, 2.0) * one.vocabulary * one.hidden / way.tensor
    dense = one.dense_parameters_used * share + ends
    experts = one.expert_parameters / (way.pipeline * way.expert)
    held = dense + experts
    # Held once by each replica: experts by fewer of them, because they are divided over some.
    once = dense / way.replicas + experts / np.maximum(1.0, way.gpus / (way.pipeline * way.expert))
    whole = _WEIGHT + runtime.gradient_bytes
    # Between micro batches of a pipeline weights and gradients stay whole.
    unsharded = np.where(way.pipeline > 1, _WEIGHT + runtime.shared_gradient_bytes, 0.0)
    sharded = once * (runtime.shared_gradient_bytes + runtime.optimizer_bytes) + held * unsharded
    usual = held * whole + runtime.optimizer_bytes * np.where(way.is_optimizer_sharded, once, held)
    usual = np.where(way.is_fully_sharded, sharded, usual)
    frozen = runtime.element_bytes * np.where(way.is_fully_sharded, once, held)
    frozen = frozen + _ADAPTERS * held * (whole + runtime.optimizer_bytes)
    gathered = 2 * _WEIGHT * held * way.pipeline / one.layers
    gathered = np.where(way.is_fully_sharded & (way.pipeline <= 1), gathered, 0.0)
    return np.asarray(np.where(way.is_lora, frozen, usual) + gathered)
