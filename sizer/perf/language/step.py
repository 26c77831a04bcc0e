"""Time of one optimizer step of a transformer's training, term by term: arrays over layouts or measurements."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.perf.language.shape import FORWARD_FLOP, LORA_FLOP, TRAINING_FLOP, Shapes

# Bytes of an element in compute precision (BF16), of which activations and gathered weights are made.
ELEMENT_BYTES = 2.0
# Gathering BF16 weights and scattering FP32 gradients of a sharded optimizer; full sharding gathers twice, too.
OPTIMIZER_EXCHANGE_BYTES, FULL_SHARD_BYTES = 6.0, 6.0
# A gather and a scatter around each of the two blocks of a layer, forward and backward.
TENSOR_PASSES = 8.0
# A full recompute repeats the forward ones; behind NVLink the fitted exposed share has them.
_RECOMPUTED_PASSES = 4.0
# Dispatch and combine, forward and backward.
EXPERT_PASSES = 4.0
# Share of the forward pass that is computed again, the least first: it is the fastest that fits.
RECOMPUTE = {"none": 0.0, "selective": 0.15, "full": 1.0}
# Bytes moved for each attention score by unfused kernels: product, softmax, dropout and product read and write BF16 and
# a mask of one byte, 13 forward and about twice as many backward.
_SCORE_BYTES = 39.0
# Exponent of the sum of what runs side by side: 1 would add both, infinity take the longer one.
_OVERLAP_EXPONENT = 3.0


@dataclass(frozen=True)
class Layouts:
    """How the training is divided over GPUs. Arrays of one length; every one at least 1."""

    gpus: Floats
    batch: Floats  # sequences of a step, all GPUs together
    micro_batch: Floats
    sequence: Floats  # tokens of a sequence
    tensor: Floats
    pipeline: Floats
    virtual: Floats  # interleaved chunks of a pipeline stage
    context: Floats
    expert: Floats
    is_fully_sharded: Bools  # parameters, too, are divided over the data-parallel group
    is_optimizer_sharded: Bools  # only the optimizer's state is
    recompute: Floats  # share of the forward pass that is computed again: 0 none, 1 full
    is_lora: Bools  # adapters are trained, the model itself is frozen
    is_tuned: Bools  # whole steps as CUDA graphs and fused kernels, as in submissions to benchmarks
    is_unfused: Bools  # attention without a fused kernel: it writes its scores to memory
    is_early: Bools  # attention by the FlashAttention of 2023
    is_ported: Bools  # which is written for older GPUs: Hopper and later ones have units that it does not use

    @cached_property
    def data(self) -> Floats:
        """Data-parallel degree."""
        return np.asarray(np.maximum(1.0, self.gpus / (self.tensor * self.pipeline * self.context)))

    @cached_property
    def replicas(self) -> Floats:
        """GPUs that hold the same part of the model: context-parallel ones share its state with data-parallel ones."""
        return self.data * self.context

    @cached_property
    def micro_batches(self) -> Floats:
        """Micro batches of one replica in a step."""
        return np.asarray(np.maximum(1.0, self.batch / (self.data * self.micro_batch)))


@dataclass(frozen=True)
class Machines:
    """What runs it. Arrays; rates in FLOP/s and bytes/s, one direction, of one GPU."""

    matmul_flop_per_s: Floats  # measured, or expected, of large matrices in the precision of the training
    attention_flop_per_s: Floats  # the same in BF16
    memory_bytes: Floats
    memory_bytes_per_s: Floats
    domain_gpus: Floats  # GPUs that NVLink or its like joins
    domain_bytes_per_s: Floats
    nic_bytes_per_s: Floats


@dataclass(frozen=True)
class Efficiencies:
    """Fitted factors of the terms. All above 0."""

    linear: float = 1.15  # time of matrix products over time at the measured rate
    experts: float = 1.4  # the same of grouped products of experts, beyond ``linear``
    half_width: float = 300.0  # h / t at which matrices reach half their rate
    half_tokens: float = 400.0  # tokens of a kernel at which they do
    half_expert_tokens: float = 600.0
    attention: float = 1.8  # time of attention over time at the measured rate of matrices
    early: float = 1.0  # the same by the FlashAttention of 2023, over that
    ported: float = 1.4  # and by it on Hopper and later GPUs, over that
    elementwise_bytes: float = 100.0  # for each layer, token and element of the hidden state
    tensor: float = 0.5  # exposed share of traffic inside the NVLink domain
    tensor_far: float = 1.0  # the same over NICs
    expert_traffic: float = 0.6
    expert_far: float = 1.0
    context: float = 0.3
    data: float = 0.15
    full_shard: float = 1.0
    optimizer_bytes: float = 24.0  # for each parameter that a GPU updates
    routing_bytes: float = 60.0  # for each sparse layer, token, chosen expert and element: sorting tokens and back
    launch_s: float = 1e-4  # of one layer and micro batch, forward and backward
    routing_s: float = 3e-4  # of one sparse layer and micro batch beyond that
    fixed_s: float = 0.02  # of a step
    bubble: float = 1.0
    straggler: float = 0.01  # loss for each doubling of the domains
    head: float = 0.3  # share of the head that the other stages of a pipeline wait for
    far_rate: float = 1.0  # time over NICs over time at line rate
    recompute: float = 1.0  # time of recomputing over its share of work
    lora: float = 1.0
    tuned: float = 0.5  # launches, fixed time and half_tokens of a tuned step over those of a usual one


COEFFICIENTS = tuple(one.name for one in fields(Efficiencies))


@dataclass(frozen=True)
class StepTime:
    """Seconds of a step, by what they are spent on. Arrays."""

    linear: Floats
    attention: Floats
    elementwise: Floats
    tensor: Floats  # exposed
    expert: Floats
    context: Floats
    data: Floats
    bubble: Floats
    optimizer: Floats
    fixed: Floats

    @property
    def total(self) -> Floats:
        """Seconds of the whole step."""
        return np.asarray(sum(getattr(self, one.name) for one in fields(self)))


def matmul_seconds(shapes: Shapes, layouts: Layouts, machines: Machines) -> Floats:
    """Seconds of a step if all of its work, with nothing recomputed, ran at the measured rates of large matrices."""
    way, attention = layouts, shapes.attention_flop(layouts.sequence)
    linear = (shapes.model_flop(way.sequence) - attention) / machines.matmul_flop_per_s
    each = linear + attention / machines.attention_flop_per_s
    trained = np.where(way.is_lora, LORA_FLOP / TRAINING_FLOP, 1.0)
    return np.asarray(each * trained * way.batch * way.sequence / way.gpus)


def step_time(
    shapes: Shapes, layouts: Layouts, machines: Machines, by: Efficiencies, *, is_through_host: bool = False
) -> StepTime:
    """Seconds of a step by the terms of the docstrings; every array of one length, or scalar.

    ``is_through_host``: the link inside a server is the host's PCIe, behind which no traffic is hidden; the fitted
    exposed shares are those of NVLink.

    One micro batch passes a stage in the time of its layers; M micro batches and a bubble of (p - 1) / (M v) make the
    step, with the exposed part of the exchange of gradients and weights, the optimizer and a fixed time.
    """
    one, way = shapes, layouts
    tokens = way.micro_batch * way.sequence / way.context  # of a micro batch on one GPU, before tensor parallelism
    share = 1 / (way.tensor * way.pipeline)
    many = way.micro_batches
    times = way.is_lora * LORA_FLOP * by.lora + ~way.is_lora * TRAINING_FLOP
    times = times + FORWARD_FLOP * by.recompute * way.recompute
    width = one.hidden / way.tensor
    rate = machines.matmul_flop_per_s / by.linear * width / (width + by.half_width)
    head = one.vocabulary * one.hidden * (share + by.head * (1 / way.tensor - share))
    dense = (
        times * tokens * (one.dense_parameters_used * share) + (times - FORWARD_FLOP * way.recompute) * tokens * head
    )
    less = np.where(way.is_tuned, by.tuned, 1.0)
    linear = dense / (rate * tokens / (tokens + by.half_tokens * less))
    routed = np.where(one.is_mixture, one.active_experts / one.experts * way.expert * tokens, 1.0)
    grouped = machines.matmul_flop_per_s / (by.linear * by.experts) * routed / (routed + by.half_expert_tokens)
    linear = linear + times * tokens * one.routed_parameters_used * share / grouped
    passes = 1 + (FORWARD_FLOP / TRAINING_FLOP) * way.recompute
    kernel = by.attention * np.where(way.is_early, by.early, 1.0) * np.where(way.is_ported, by.ported, 1.0)
    attention = one.attention_flop(way.sequence) * passes * tokens * share * kernel
    attention = attention / machines.attention_flop_per_s
    layers = one.layers / way.pipeline
    moved = by.elementwise_bytes * one.hidden * layers * tokens / way.tensor * (1 + 0.3 * way.recompute)
    elementwise = moved / machines.memory_bytes_per_s
    sparse = np.where(one.is_mixture, layers * (one.layers - one.dense_layers) / one.layers, 0.0)
    moved = by.routing_bytes * one.hidden * sparse * tokens * one.active_experts / way.tensor
    elementwise = elementwise + moved / machines.memory_bytes_per_s
    scores = _SCORE_BYTES * way.is_unfused * one.heads / way.tensor * tokens * way.sequence * layers
    attention = attention + scores * (1 + way.recompute / 3) / machines.memory_bytes_per_s
    launch = (by.launch_s * layers + by.routing_s * sparse) * less

    state = tokens * one.hidden * ELEMENT_BYTES
    near = way.tensor <= machines.domain_gpus
    beyond = machines.nic_bytes_per_s / by.far_rate
    exposed_tensor, exposed_expert, exposed_context = (
        (1.0, 1.0, 1.0) if is_through_host else (by.tensor, by.expert_traffic, by.context)
    )
    recomputed = _RECOMPUTED_PASSES * (way.recompute >= RECOMPUTE["full"]) if is_through_host else 0.0
    tensor = (TENSOR_PASSES + recomputed) * layers * state * (way.tensor - 1) / way.tensor
    tensor = tensor * np.where(near, exposed_tensor / machines.domain_bytes_per_s, by.tensor_far / beyond)
    near = way.expert * way.tensor <= machines.domain_gpus
    expert = EXPERT_PASSES * sparse * state / way.tensor * one.active_experts * (way.expert - 1) / way.expert
    expert = expert * np.where(near, exposed_expert / machines.domain_bytes_per_s, by.expert_far / beyond)
    near = way.context * way.tensor <= machines.domain_gpus
    keys = 6 * layers * tokens * one.kv_heads * one.head_size / way.tensor * ELEMENT_BYTES * (way.context - 1)
    context = keys * np.where(near, exposed_context / machines.domain_bytes_per_s, by.context / beyond)

    q = _OVERLAP_EXPONENT
    computing = linear + attention + elementwise + tensor + expert + context
    # The host launches ahead of the GPU: where kernels are long, launching costs nothing.
    busy = computing + launch
    data = way.replicas
    trained = np.where(way.is_lora, 0.005, 1.0)
    # Tensor parallelism divides the dense layers and the vocabulary; experts are divided over their own group.
    dense_held = one.dense_parameters_used * share + one.vocabulary * one.hidden / way.tensor
    held = dense_held + one.expert_parameters / (way.pipeline * way.expert)
    near = data * way.tensor <= machines.domain_gpus
    pace = np.where(near, machines.domain_bytes_per_s, beyond)
    exchanged = OPTIMIZER_EXCHANGE_BYTES * held * trained * (data - 1) / data / pace * by.data
    gathered = FULL_SHARD_BYTES * held * np.where(way.is_lora, 0.67, 1.0) * (data - 1) / data / pace * by.full_shard
    waiting = (busy**q + gathered**q) ** (1 / q) - busy
    exposed = np.where(way.is_fully_sharded, many * waiting, exchanged)
    updated = held * trained / np.where(way.is_lora, 1.0, data)
    optimizer = by.optimizer_bytes * updated / machines.memory_bytes_per_s
    bubble = busy * (way.pipeline - 1) / way.virtual * by.bubble
    late = 1 + by.straggler * np.log2(np.maximum(1.0, way.gpus / machines.domain_gpus))
    return StepTime(
        linear=many * linear * late,
        attention=many * attention * late,
        elementwise=many * elementwise * late,
        tensor=many * tensor * late,
        expert=many * expert * late,
        context=many * context * late,
        data=exposed * late,
        bubble=bubble * late,
        optimizer=optimizer * late,
        fixed=(by.fixed_s * less + many * (busy - computing)) * late,
    )
