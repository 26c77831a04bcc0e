"""What one replica of a served model is: bytes of weights and cache, work and rates of each of its GPUs."""

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Rows
from sizer.perf.arguments import float_arrays

# Bytes of a parameter with the scales of its blocks: one byte for 16 (NVFP4), 16 to 32 (INT4) or 32 numbers (MXFP4).
WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "int8": 1.0, "nvfp4": 0.5625, "int4": 0.5625, "mxfp4": 0.53}
# Format in which the matrix units multiply weights of a precision: INT4 and INT8 weights are widened first.
COMPUTED_IN = {"bf16": "bf16", "fp8": "fp8", "int8": "fp8", "nvfp4": "fp4", "int4": "bf16", "mxfp4": "fp4"}
# Bytes of an element of the cache of keys and values.
CACHE_BYTES = {"bf16": 2.0, "fp8": 1.0}
# Embedding and output head stay in BF16, and the other dense layers of mixtures whose experts have four bits.
_WIDE = 2.0
FOUR_BITS = ("nvfp4", "int4", "mxfp4")
# A state of linear attention is kept in FP32, and read and written in every step.
_STATE_BYTES, _STATE_PASSES = 4.0, 2.0

# A number of one model, or an element for each of several.
Numbers: TypeAlias = Any


@dataclass(frozen=True)
class ServedModels(Rows):
    """Models as serving sees them: one, or arrays with an element a model.

    ``full_layers`` attend to all tokens, ``window_layers`` to the last ``window``, and ``linear_layers`` keep a state
    of ``state_elements`` numbers each in place of keys and values. ``kv_rank`` above 0: latent attention, whose keys
    and values are one vector of ``kv_rank`` + ``rope`` elements a token and layer.
    """

    layers: Numbers
    hidden: Numbers
    heads: Numbers
    kv_heads: Numbers
    head_size: Numbers
    vocabulary: Numbers
    total_parameters: Numbers
    experts: Numbers  # 1: dense
    active_experts: Numbers  # routed experts that a token uses
    mixture_layers: Numbers  # layers with experts
    expert_width: Numbers  # of one routed expert
    routed_parameters: Numbers  # of all routed experts
    full_layers: Numbers
    window_layers: Numbers
    window: Numbers  # tokens
    linear_layers: Numbers
    state_elements: Numbers  # of one linear layer
    kv_rank: Numbers
    rope: Numbers  # width of the keys that carry positions, of latent attention
    adapted: Numbers  # rows and columns of all matrices that adapters change: their parameters at a rank of one

    @property
    def is_mixture(self) -> Bools:
        """Whether tokens are routed to experts."""
        return np.asarray(self.experts > 1)

    @property
    def head_parameters(self) -> Floats:
        """Parameters of the output head; the embedding has as many."""
        return np.asarray(self.vocabulary * self.hidden)

    @property
    def other_parameters(self) -> Floats:
        """Parameters that every token uses: attention, dense blocks, shared experts, routers."""
        return np.asarray(self.total_parameters - self.routed_parameters - 2 * self.head_parameters)

    @property
    def cache_elements(self) -> Floats:
        """Elements of keys and values of a token in one layer that keeps them."""
        return np.asarray(np.where(self.kv_rank > 0, self.kv_rank + self.rope, 2 * self.kv_heads * self.head_size))

    @property
    def state_bytes(self) -> Floats:
        """State of linear attention of a sequence, all layers. [B]"""
        return np.asarray(self.linear_layers * self.state_elements * _STATE_BYTES)


@dataclass(frozen=True)
class ServingGpus(Rows):
    """GPUs. Arrays."""

    memory_bytes: Floats
    memory_bytes_per_s: Floats
    peak_flop_per_s: Floats  # in the format in which the weights are multiplied
    attention_flop_per_s: Floats  # BF16
    link_bytes_per_s: Floats  # between GPUs, one direction
    sum_bytes_per_s: Floats  # between tensor ranks


@dataclass(frozen=True)
class Replicas(Rows):
    """Replicas: the group of GPUs that holds one copy of a model. Arrays, one element a replica.

    Of ``gpus`` = ``tensor`` x ``data`` GPUs, ``tensor`` divide attention and dense layers among them, ``data`` such
    groups serve requests of their own, and routed experts are spread over all.
    """

    # Model.
    layers: Floats
    hidden: Floats
    heads: Floats
    head_size: Floats
    mixture_layers: Floats
    active_experts: Floats
    active_share: Floats  # of the routed experts, that a token uses; 1: dense
    expert_width: Floats  # of the share of an expert that one GPU has; infinite: dense
    local_experts: Floats  # of a layer, of which a GPU holds a part or the whole
    is_latent: Floats
    is_linear: Floats
    # Layout.
    tensor: Floats
    summing: Floats  # tensor ranks that sum what they multiplied: those of one stage
    data: Floats
    # One GPU.
    memory_bytes: Floats
    memory_bytes_per_s: Floats
    peak_flop_per_s: Floats
    attention_flop_per_s: Floats
    link_bytes_per_s: Floats
    sum_bytes_per_s: Floats
    weight_bytes: Floats  # held
    dense_bytes: Floats  # read in every step
    expert_bytes: Floats  # all routed experts of the GPU
    dense_flop: Floats  # of a token of a decode step, its share: dense layers and head
    expert_flop: Floats  # of a token, its share: routed experts that it uses
    prefill_dense_flop: Floats  # of a token of a prompt of the tensor group
    prefill_expert_flop: Floats
    # Cache: bytes on one GPU of its group for a token in all full layers, in all window layers, and the state.
    full_bytes: Floats
    window_bytes: Floats
    window: Floats
    state_bytes: Floats
    # FLOP of scores and weighted values of one new token for each token that it sees, in all full and window layers.
    full_flop: Floats
    window_flop: Floats
    prefill_flop: Floats  # the same of a prompt in full layers: latent attention is unfolded there
    adapter_layers: Floats  # layers with adapters; 0: none are served
    transfer_bytes: Floats  # of a token's keys and values, all GPUs of a group

    @property
    def gpus(self) -> Floats:
        return self.tensor * self.data

    def cache_bytes(self, tokens: ArrayLike) -> Floats:
        """Keys and values of a sequence of so many tokens on one GPU of its group, without the state. [B]"""
        length = np.asarray(tokens, dtype=float)
        return np.asarray(self.full_bytes * length + self.window_bytes * np.minimum(length, self.window))


def replicas(
    models: ServedModels,
    gpus: ServingGpus,
    tensor: ArrayLike,
    data: ArrayLike,
    expert: ArrayLike,
    weight_bytes: ArrayLike,
    dense_weight_bytes: ArrayLike,
    cache_element_bytes: ArrayLike,
    pipeline: ArrayLike = 1.0,
    adapters: ArrayLike = 0.0,
    adapter_rank: ArrayLike = 0.0,
) -> Replicas:
    """Replicas of models on GPUs.

    ``tensor``, ``data`` (n,): ranks that divide attention and dense layers; groups of them with requests of their
        own.
    ``expert`` (n,): ranks over which whole experts are spread; the others divide each of them.
    ``weight_bytes``, ``dense_weight_bytes`` (n,): bytes of a parameter of routed experts (of a dense model all),
        and of the others; see :func:`weight_bytes_of` [B].
    ``cache_element_bytes`` (n,): bytes of an element of keys and values [B].
    ``pipeline`` (n,): stages that the tensor ranks form.
    ``adapters``, ``adapter_rank`` (n,): adapters (LoRA) in memory, of which a step reads each, as its requests
        choose among them; their rank.
    """
    t, d, wide, narrow, element = float_arrays(tensor, data, dense_weight_bytes, weight_bytes, cache_element_bytes)
    spread = np.asarray(expert, dtype=float)
    one, ranks = models, t * d
    number, rank = float_arrays(adapters, adapter_rank)
    adapter_bytes = number * rank * one.adapted * _WIDE / t
    adapter_flop = 2 * np.where(number > 0, rank, 0.0) * one.adapted
    head, others, routed = one.head_parameters, one.other_parameters, one.routed_parameters
    share = np.where(one.is_mixture, one.active_experts / one.experts, 1.0)
    latent = one.kv_rank > 0
    # Tensor ranks divide heads of keys and values; the vector of latent attention is whole on each.
    divided = np.where(latent, 1.0, np.minimum(t, one.kv_heads))
    token = one.cache_elements * element
    folded = 2 * one.heads * (2 * one.kv_rank + one.rope)
    usual = 4 * one.heads * one.head_size
    unfolded = 2 * one.heads * (2 * one.head_size + one.rope)
    decode = np.where(latent, folded, usual)
    values: dict[str, Any] = {
        "layers": one.layers,
        "hidden": one.hidden,
        "heads": one.heads,
        "head_size": one.head_size,
        "mixture_layers": one.mixture_layers,
        "active_experts": np.where(one.is_mixture, one.active_experts, 0.0),
        "active_share": share,
        "expert_width": np.where(one.is_mixture, one.expert_width * spread / ranks, np.inf),
        "local_experts": np.where(one.is_mixture, one.experts / spread, 0.0),
        "is_latent": latent * 1.0,
        "is_linear": (one.linear_layers > 0) * 1.0,
        "tensor": t,
        "summing": t / np.asarray(pipeline, dtype=float),
        "data": d,
        **{field.name: getattr(gpus, field.name) for field in fields(gpus)},
        "weight_bytes": (wide * others + 2 * _WIDE * head) / t + narrow * routed / ranks + adapter_bytes,
        "dense_bytes": (wide * others + _WIDE * head) / t + adapter_bytes,
        "expert_bytes": narrow * routed / ranks,
        "dense_flop": (2 * (others + head) + adapter_flop) / ranks,
        "expert_flop": 2 * routed * share / ranks,
        "prefill_dense_flop": (2 * others + adapter_flop) / t,
        "prefill_expert_flop": 2 * routed * share * d / ranks,
        "full_bytes": token * one.full_layers / divided,
        "window_bytes": token * one.window_layers / divided,
        "window": one.window,
        "state_bytes": one.state_bytes / t,
        "full_flop": decode * one.full_layers / t,
        "window_flop": decode * one.window_layers / t,
        "prefill_flop": np.where(latent, unfolded, usual) * one.full_layers / t,
        "transfer_bytes": token * (one.full_layers + one.window_layers),
        "adapter_layers": np.where(number > 0, one.layers, 0.0),
    }
    shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
    return Replicas(**{name: np.broadcast_to(np.asarray(value, dtype=float), shape) for name, value in values.items()})


def weight_bytes_of(precision: str, is_mixture: bool) -> tuple[float, float]:
    """Bytes of a parameter of the routed experts and of the other layers.

    Four-bit checkpoints of mixtures keep attention and router in BF16; those of dense models quantise all linear
    layers.

    Examples
    --------
    >>> weight_bytes_of("nvfp4", True), weight_bytes_of("nvfp4", False)
    ((0.5625, 2.0), (0.5625, 0.5625))
    """
    narrow = WEIGHT_BYTES[precision]
    return narrow, _WIDE if is_mixture and precision in FOUR_BITS else narrow


def state_traffic_bytes(decode: Replicas) -> Floats:
    """Bytes that a step moves on one GPU for the state of one sequence. [B]"""
    return _STATE_PASSES * decode.state_bytes


# --- memory ---------------------------------------------------------------------------------------------------------

# Share of the memory that engines fill: their defaults, TensorRT-LLM's of what weights leave.
FILLED = {"trtllm": 0.90, "vllm": 0.90, "sglang": 0.85}
USUAL_FILLED = 0.88
# Weights of a GPU that leave room for anything.
_MOST_WEIGHTS = 0.94
# CUDA context, graphs, activations of a chunk of a prompt. [B]
RESERVED_BYTES = 3e9
# Share of the output for which an engine keeps room when it admits a request: TensorRT-LLM never evicts, others do.
RESERVED_OUTPUT = {"trtllm": 1.0, "vllm": 0.5, "sglang": 0.6}
USUAL_RESERVED_OUTPUT = 0.7


def most_concurrent(
    decode: Replicas,
    input_tokens: ArrayLike,
    output_tokens: ArrayLike,
    reserved_output: ArrayLike,
    filled: ArrayLike = USUAL_FILLED,
) -> Floats:
    """Requests in flight for which the memory of a replica has room; 0 where the weights leave none.

    ``input_tokens``, ``output_tokens`` (n,): of a request, means.
    ``reserved_output`` (n,): share of the output for which room is kept on admission: :data:`RESERVED_OUTPUT`.
    ``filled`` (n,): share of the memory that the engine fills: :data:`FILLED`.
    Returns (n,): not rounded: the lengths are means.
    """
    i, o, kept = float_arrays(input_tokens, output_tokens, reserved_output)
    room = np.asarray(filled) * decode.memory_bytes - decode.weight_bytes - RESERVED_BYTES
    each = decode.cache_bytes(i + kept * o) + decode.state_bytes
    found = decode.data * np.maximum(room, 0.0) / each
    return np.asarray(np.where(decode.weight_bytes <= _MOST_WEIGHTS * decode.memory_bytes, found, 0.0))
