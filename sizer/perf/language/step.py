"""Time of one optimizer step of a transformer's training, term by term: arrays over layouts or measurements."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from sizer.base.arrays import Bools, Floats

# FLOP for each parameter and token: two forward, two for gradients of activations, two for gradients of weights.
TRAINING_FLOP, LORA_FLOP, FORWARD_FLOP = 6.0, 4.0, 2.0


@dataclass(frozen=True)
class Shapes:
    """Shapes of transformers, one array element a model; all arrays have one length or broadcast.

    ``experts`` is 1 and ``shared_ffn`` 0 for a dense model. ``window`` is the attention window of a share of the
    layers, infinite where every token sees all before it. ``kv_rank`` above 0: latent attention.
    """

    layers: Floats
    hidden: Floats
    ffn: Floats  # of a dense layer
    heads: Floats
    kv_heads: Floats
    head_size: Floats
    vocabulary: Floats
    gates: Floats  # matrices of a feed-forward block: 3 gated, 2 plain
    experts: Floats
    active_experts: Floats
    expert_ffn: Floats
    shared_ffn: Floats  # of the experts that every token uses
    dense_layers: Floats  # layers without experts, of a mixture
    window: Floats
    window_share: Floats  # of the layers, that have the window
    q_rank: Floats
    kv_rank: Floats

    @property
    def is_mixture(self) -> np.ndarray:
        """Whether tokens are routed to experts."""
        return np.asarray(self.experts > 1)

    @property
    def attention_parameters(self) -> Floats:
        """Parameters of the attention of one layer: queries, keys, values and output.

        With latent attention: down to the ranks and up again (DeepSeek-V3: 128 + 64 wide keys, rope shared).
        """
        h, a, k, d = self.hidden, self.heads, self.kv_heads, self.head_size
        usual = h * d * (2 * a + 2 * k)
        rope = d / 2
        queries = np.where(self.q_rank > 0, h * self.q_rank + self.q_rank * a * (d + rope), h * a * (d + rope))
        latent = queries + h * (self.kv_rank + rope) + self.kv_rank * a * 2 * d + a * d * h
        return np.asarray(np.where(self.kv_rank > 0, latent, usual))

    @property
    def routed_parameters_used(self) -> Floats:
        """Parameters of the routed experts that one token uses, all layers."""
        layers = np.where(self.is_mixture, self.layers - self.dense_layers, 0.0)
        return np.asarray(layers * self.gates * self.hidden * self.expert_ffn * self.active_experts)

    @property
    def dense_block_parameters(self) -> Floats:
        """Parameters of the feed-forward blocks that every token passes, all layers."""
        sparse = np.where(self.is_mixture, self.layers - self.dense_layers, 0.0)
        return np.asarray(self.gates * self.hidden * ((self.layers - sparse) * self.ffn + sparse * self.shared_ffn))

    @property
    def dense_parameters_used(self) -> Floats:
        """Parameters that every token uses, all layers, without embedding and head."""
        return np.asarray(self.layers * self.attention_parameters + self.dense_block_parameters)

    @property
    def block_width(self) -> Floats:
        """Width of the feed-forward blocks that one token passes in a layer; of a mixture in a sparse one."""
        return np.asarray(np.where(self.is_mixture, self.active_experts * self.expert_ffn + self.shared_ffn, self.ffn))

    @property
    def linear_parameters_used(self) -> Floats:
        """Parameters of all linear layers that one token uses, without embedding and head."""
        return self.dense_parameters_used + self.routed_parameters_used

    @property
    def expert_parameters(self) -> Floats:
        return self.routed_parameters_used * self.experts / self.active_experts

    @property
    def parameters(self) -> Floats:
        """All parameters; embedding and head untied."""
        return self.dense_parameters_used + self.expert_parameters + 2 * self.vocabulary * self.hidden

    def attention_flop(self, sequence: Floats) -> Floats:
        """FLOP of scores and weighted values of one token, forward and backward, causal: 6 L s a d."""
        seen = self.window_share * np.minimum(sequence, self.window) + (1 - self.window_share) * sequence
        return np.asarray(6 * self.layers * seen * self.heads * self.head_size)

    def model_flop(self, sequence: Floats, is_lora: Bools) -> Floats:
        """FLOP of one token's training by the causal convention, nothing recomputed.

        Adapters need no gradients of the frozen weights; attention, which has none, works as much.
        """
        linear = self.linear_parameters_used + self.vocabulary * self.hidden
        return np.where(is_lora, LORA_FLOP, TRAINING_FLOP) * linear + self.attention_flop(sequence)


# Share of the parameters of adapters.
_ADAPTERS = 0.005
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
# Share of elementwise traffic that is of norms and dropouts: 10 of 34 bytes, Korthikanti et al. 2022, arXiv:2205.05198.
_REPEATED = 10 / 34
# Share of NVLink's rate that an all-reduce of large messages reaches: nccl-tests, 230 of 300 GB/s on DGX A100.
_BUS_SHARE = 0.77
# Elements of a head, of which the rate of attention is stated.
_USUAL_HEAD = 128.0
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
    is_ported: Bools  # attention that is written for older GPUs: Hopper and later ones have units that it does not use
    is_reduced_narrow: Bools  # gradients are added up over the replicas in 16 bits

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
    half_width: float = 300.0  # width of a GPU's part of a block at which matrices reach half their rate
    half_tokens: float = 400.0  # tokens of a kernel at which they do
    half_expert_tokens: float = 600.0
    attention: float = 1.8  # time of attention over time at the measured rate of matrices
    # The same by the FlashAttention of 2023, over that: FlashAttention-2 takes 1.3 to 2.5 times less than the first one
    # in Triton, Dao 2023, arXiv:2307.08691, section 4.1.
    early: float = 1.8
    half_head: float = 55.0  # elements of a head at which attention reaches half its rate
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
    expert_s: float = 1e-4  # the same of each expert that a GPU holds: its products are launched one by one
    fixed_s: float = 0.02  # of a step
    bubble: float = 1.0
    straggler: float = 0.01  # loss for each doubling of the domains
    head: float = 0.3  # share of the head that the other stages of a pipeline wait for
    far_rate: float = 1.0  # time over NICs over time at line rate
    recompute: float = 1.0  # time of recomputing over its share of work
    lora: float = 1.0
    tuned: float = 0.5  # launches, fixed time and half_tokens of a tuned step over those of a usual one


COEFFICIENTS = tuple(field.name for field in fields(Efficiencies))


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
        return np.asarray(sum(getattr(self, field.name) for field in fields(self)))


def matmul_seconds(shapes: Shapes, layouts: Layouts, machines: Machines) -> Floats:
    """Seconds of a step if all of its work, with nothing recomputed, ran at the measured rates of large matrices."""
    way, attention = layouts, shapes.attention_flop(layouts.sequence)
    linear = (shapes.model_flop(way.sequence, way.is_lora) - attention) / machines.matmul_flop_per_s
    each = linear + attention / machines.attention_flop_per_s
    return np.asarray(each * way.batch * way.sequence / way.gpus)


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
    # Tensor parallelism narrows the inner matrices of attention and of the blocks.
    inner, block = one.heads * one.head_size, np.where(one.is_mixture, one.expert_ffn, one.ffn)
    narrow = by.half_width * way.tensor
    rate = machines.matmul_flop_per_s / by.linear
    head = one.vocabulary * one.hidden * (share + by.head * (1 / way.tensor - share))
    products = one.layers * one.attention_parameters * (1 + narrow / inner)
    products = products + one.dense_block_parameters * (1 + narrow / block)
    dense = times * tokens * products * share + (times - FORWARD_FLOP * way.recompute) * tokens * head
    less = np.where(way.is_tuned, by.tuned, 1.0)
    linear = dense / (rate * tokens / (tokens + by.half_tokens * less))
    routed = np.where(one.is_mixture, one.active_experts / one.experts * way.expert * tokens, 1.0)
    grouped = rate / by.experts * routed / (routed + by.half_expert_tokens) / (1 + by.half_width / block)
    linear = linear + times * tokens * one.routed_parameters_used * share / grouped
    passes = 1 + (FORWARD_FLOP / TRAINING_FLOP) * way.recompute
    # Softmax takes a time of its own for each score, whatever the size of a head.
    kernel = by.attention * (1 + by.half_head / one.head_size) / (1 + by.half_head / _USUAL_HEAD)
    kernel = kernel * np.where(way.is_early, by.early, 1.0) * np.where(way.is_ported, by.ported, 1.0)
    attention = one.attention_flop(way.sequence) * passes * tokens * share * kernel
    attention = attention / machines.attention_flop_per_s
    layers = one.layers / way.pipeline
    # Without sequence parallelism every tensor rank repeats norms and dropouts.
    repeated = 1 + way.is_unfused * _REPEATED * (way.tensor - 1)
    moved = by.elementwise_bytes * one.hidden * layers * tokens / way.tensor * repeated * (1 + 0.3 * way.recompute)
    elementwise = moved / machines.memory_bytes_per_s
    sparse = np.where(one.is_mixture, layers * (one.layers - one.dense_layers) / one.layers, 0.0)
    # A layer that is computed again launches, sorts and sends its tokens once more.
    repeats = 1 + way.recompute / 3 * (way.recompute >= RECOMPUTE["full"])
    moved = by.routing_bytes * one.hidden * sparse * tokens * one.active_experts / way.tensor * repeats
    elementwise = elementwise + moved / machines.memory_bytes_per_s
    scores = _SCORE_BYTES * way.is_unfused * one.heads / way.tensor * tokens * way.sequence * layers
    attention = attention + scores * (1 + way.recompute / 3) / machines.memory_bytes_per_s
    launch = (by.launch_s * layers + by.expert_s * sparse * one.experts / way.expert) * less * repeats
    routing = by.routing_s * sparse * less * repeats

    state = tokens * one.hidden * ELEMENT_BYTES
    near = way.tensor <= machines.domain_gpus
    beyond = machines.nic_bytes_per_s / by.far_rate
    exposed_expert, exposed_context = (1.0, 1.0) if is_through_host else (by.expert_traffic, by.context)
    # Before 2023 Megatron waited for each exchange; a recomputed one is waited for as well.
    waits = way.is_unfused | is_through_host
    recomputed = _RECOMPUTED_PASSES * (way.recompute >= RECOMPUTE["full"]) * waits
    tensor = (TENSOR_PASSES + recomputed) * layers * state * (way.tensor - 1) / way.tensor
    exposed_tensor = np.where(waits, 1.0 if is_through_host else 1 / _BUS_SHARE, by.tensor)
    tensor = tensor * np.where(near, exposed_tensor / machines.domain_bytes_per_s, by.tensor_far / beyond)
    # Experts have a group of their own, of the tensor ranks, too. Over NICs a token goes once to each domain that has
    # some of its experts, and from there over NVLink.
    domains = np.maximum(1.0, way.expert / machines.domain_gpus)
    met = domains * (1 - (1 - 1 / domains) ** one.active_experts) * (domains - 1) / domains
    within = np.minimum(way.expert, machines.domain_gpus)
    expert = one.active_experts * (within - 1) / within * exposed_expert / machines.domain_bytes_per_s
    expert = (expert + met * by.expert_far / beyond) * EXPERT_PASSES * repeats * sparse * state / way.tensor
    near = way.context * way.tensor <= machines.domain_gpus
    keys = 6 * layers * tokens * one.kv_heads * one.head_size / way.tensor * ELEMENT_BYTES * (way.context - 1)
    context = keys * np.where(near, exposed_context / machines.domain_bytes_per_s, by.context / beyond)

    q = _OVERLAP_EXPONENT
    computing = linear + attention + elementwise + tensor + expert + context
    # The host launches ahead of the GPU: where kernels are long, launching costs nothing. For routing it waits.
    busy = (computing**q + launch**q) ** (1 / q) + routing
    data = way.replicas
    trained = np.where(way.is_lora, _ADAPTERS, 1.0)
    # Tensor parallelism divides the dense layers and the vocabulary; experts are divided over their own group.
    dense_held = one.dense_parameters_used * share + one.vocabulary * one.hidden / way.tensor
    held = dense_held + one.expert_parameters / (way.pipeline * way.expert)
    # A gather passes the NVLinks of a domain; between domains the NICs of all replicas inside one share it.
    inside = np.clip(machines.domain_gpus / way.tensor, 1.0, data)
    passing = ((inside - 1) / machines.domain_bytes_per_s + (1 - inside / data) / beyond) / inside
    exchanged = (OPTIMIZER_EXCHANGE_BYTES - 2 * way.is_reduced_narrow) * held * trained * passing * by.data
    gathered = FULL_SHARD_BYTES * held * np.where(way.is_lora, 0.67, 1.0) * passing * by.full_shard
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


GIB = 2.0**30
# Share of a GPU's memory that a run may fill before allocation fails.
FILLED = 0.94
# Bytes a parameter: BF16 weights, as linear layers read them.
_WEIGHT = 2.0
# Share of what selective recomputation leaves of the activations.
_SELECTIVE = 0.55


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


MEMORY_FACTORS = tuple(field.name for field in fields(MemoryFactors))


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
        return self.state + self.activations + self.logits + self.runtime


def memory_use(
    shapes: Shapes, layouts: Layouts, runtime: Runtime, by: MemoryFactors, state: Floats | None = None
) -> MemoryUse:
    """Bytes that one GPU of the fullest stage holds; every array of one length, or broadcast.

    ``state``: the field ``state`` of the same layouts with another recomputation, which it does not depend on [B].
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


def _state_bytes(shapes: Shapes, way: Layouts, runtime: Runtime) -> Floats:
    """Bytes of weights, gradients and optimizer on a GPU of the fullest stage."""
    share = 1 / (way.tensor * way.pipeline)
    # The first stage holds the embedding, the last the head; of one stage both.
    ends = np.where(way.pipeline > 1, 1.0, 2.0) * shapes.vocabulary * shapes.hidden / way.tensor
    dense = shapes.dense_parameters_used * share + ends
    experts = shapes.expert_parameters / (way.pipeline * way.expert)
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
    gathered = 2 * _WEIGHT * held * way.pipeline / shapes.layers
    gathered = np.where(way.is_fully_sharded & (way.pipeline <= 1), gathered, 0.0)
    return np.asarray(np.where(way.is_lora, frozen, usual) + gathered)
