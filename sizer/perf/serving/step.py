"""Seconds of one decode step and of one prefill of a replica, with their derivatives by the fitted factors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.perf.serving.replica import Replicas, state_traffic_bytes


@dataclass(frozen=True)
class Graded:
    """Arrays and their derivatives by logarithms of factors, by the factors' names; without, where none are wanted."""

    value: Floats
    slopes: Mapping[str, Floats] = field(default_factory=dict)

    def __add__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value + other), self.slopes)
        return Graded(np.asarray(self.value + other.value), _together(self.slopes, other.slopes))

    def __mul__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value * other), {name: slope * other for name, slope in self.slopes.items()})
        mine, its = self.scaled_slopes(other.value), other.scaled_slopes(self.value)
        return Graded(np.asarray(self.value * other.value), _together(mine, its))

    def scaled_slopes(self, by: Floats) -> dict[str, Floats]:
        """The derivatives, each multiplied by the same."""
        return {name: slope * by for name, slope in self.slopes.items()}

    @property
    def plain(self) -> "Graded":
        """The values alone."""
        return Graded(self.value)

    @property
    def reciprocal(self) -> "Graded":
        """One over it."""
        inverse = 1 / self.value
        return Graded(inverse, self.scaled_slopes(-inverse * inverse) if self.slopes else {})

    @property
    def log_slopes(self) -> dict[str, Floats]:
        """Derivatives of its logarithm."""
        return self.scaled_slopes(1 / self.value)


def _together(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> dict[str, Floats]:
    """Derivatives of a sum, from those of its two parts."""
    found = dict(one)
    for name, slope in other.items():
        found[name] = found[name] + slope if name in found else slope
    return found


def smooth_max(graded: Graded, other: Graded) -> Graded:
    """What takes about as long as the longer of two that run side by side: (a^3 + b^3)^(1/3)."""
    a, b = graded.value, other.value
    total: Floats = np.cbrt(a * a * a + b * b * b)
    if not (graded.slopes or other.slopes):
        return Graded(total)
    safe: Floats = np.maximum(total, np.finfo(float).tiny)
    return Graded(total, _together(graded.scaled_slopes((a / safe) ** 2), other.scaled_slopes((b / safe) ** 2)))


def least(graded: Graded, other: Graded) -> Graded:
    """The smaller of two, element by element."""
    return chosen(graded.value <= other.value, graded, other)


def chosen(is_first: Bools, graded: Graded, other: Graded) -> Graded:
    """One of two, element by element.

    ``is_first`` (n,): where it is the first.
    """
    if not is_first.any():
        return other
    if is_first.all():
        return graded
    value = np.where(is_first, graded.value, other.value)
    first: Floats = is_first.astype(float)
    return Graded(value, _together(graded.scaled_slopes(first), other.scaled_slopes(1 - first)))


# Two matrix products of a layer end in a sum over tensor ranks; a token's vector has two bytes an element.
_REDUCTIONS, _ELEMENT_BYTES = 2.0, 2.0
# Experts to which the fitted seconds of a layer of a mixture refer.
_USUAL_EXPERTS = 8.0
# Launches of adapters in a layer of a step: 2 ms a token of the 32 layers of Llama 2 7B on A100 (Punica, arXiv
# 2310.18547); no row of the fit has adapters. [s]
_ADAPTER_LAYER_S = 2e-3 / 32
# Vectors that a token sends to and gets from each of its experts, in bytes an element: dispatch FP8, combine BF16.
_EXPERT_BYTES = 3.0


@dataclass(frozen=True)
class ServingFactors:
    """Fitted factors of the times: arrays with an element for each case, or scalars. All above 0.

    Shares are those of the peak and of the bandwidth of the data sheet that are reached.
    """

    bandwidth: Floats
    expert_bandwidth: Floats
    cache_bandwidth: Floats
    decode_rate: Floats
    attention_rate: Floats
    prefill_rate: Floats
    prefill_attention_rate: Floats
    half_width: Floats  # of an expert's share on one GPU, at which its matrix products reach half their rate
    half_rows: Floats  # of an expert's matrix product, at which it does
    spread: Floats  # tokens of one answer choose alike: below 1, fewer experts are read
    mix: Floats  # share of a prefill's weight reads and launches that a decode step does not hide
    interference: Floats  # share of the prefills of others that a decoding request waits for
    unbalanced: Floats  # share of the prefills of one group for which the other groups of a replica wait
    lockstep: Floats  # share of the prefills that requests in lockstep wait for before they decode
    queue: Floats
    token_bytes: Floats  # of a token, layer and element of its vector
    routing_bytes: Floats  # more, each expert that it uses
    layer_s: Floats  # of a decode step, each layer
    expert_layer_s: Floats  # more, of a layer of eight active experts
    expert_s: Floats  # of each expert that a GPU touches in a layer: its share may be small
    latent_layer_s: Floats
    linear_layer_s: Floats
    step_s: Floats
    sequence_s: Floats  # of the scheduler, each decoding request
    reduce_s: Floats  # latency of a sum over ranks, times log2 of them
    reduce_traffic: Floats  # on the bytes of such a sum
    expert_traffic: Floats  # on the bytes of dispatch and combine
    prefill_layer_s: Floats
    first_s: Floats  # of a request before its prefill: network, tokeniser, scheduler
    transfer_s: Floats  # of a request between pools
    transfer_traffic: Floats  # on the bytes of its keys and values
    accepted: Floats  # tokens of a speculative step, of four verified
    speculative_host: Floats  # on the scheduler's time of a speculative step


FACTORS = tuple(one.name for one in fields(ServingFactors))


class Terms:
    """Factors as a formula takes them, with derivatives where they are wanted."""

    def __init__(self, by: ServingFactors, graded: bool) -> None:
        self._by, self.graded = by, graded

    def times(self, work: Floats | float, *names: str, over: tuple[str, ...] = ()) -> Graded:
        """A time: work times some factors, over others."""
        value = np.asarray(work, dtype=float)
        for name in names:
            value = value * getattr(self._by, name)
        for name in over:
            value = value / getattr(self._by, name)
        slopes = dict.fromkeys(names, value) | dict.fromkeys(over, -value) if self.graded else {}
        return Graded(value, slopes)

    def slope(self, name: str, value: Floats) -> dict[str, Floats]:
        """A derivative that a formula knows itself."""
        return {name: value} if self.graded else {}

    def value(self, name: str) -> Floats:
        return np.asarray(getattr(self._by, name), dtype=float)


@dataclass(frozen=True)
class DecodeStep:
    """One step in which every decoding request of a replica advances, but for their number: arrays, shape (n,)."""

    dense_reads: Graded  # s
    expert_reads: Graded  # s, of all experts that a GPU holds
    touches: Graded  # s, of launching all of them
    work: Graded  # s a request: matrix products
    few_rows: Graded  # s a request, more, as long as an expert has less than a row
    most_few: Floats  # requests from which on that grows no more
    attention: Graded  # s a request
    per_request: Graded  # s a request: scheduler, sums over ranks, exchange of experts, vectors of tokens
    fixed: Graded  # s: launches
    log_missed: Floats  # logarithm of the share of experts that one request does not touch
    graded: bool

    def plain(self) -> "DecodeStep":
        """The same without derivatives."""
        parts: dict[str, Any] = {name: one.plain for name, one in vars(self).items() if isinstance(one, Graded)}
        return replace(self, **parts, graded=False)

    def seconds(self, decoding: Floats) -> Graded:
        """Seconds of a step of so many requests: a mean, so fractions are allowed."""
        log_missed = self.log_missed * decoding
        missed = np.exp(log_missed)
        touched = Graded(1 - missed, {"spread": -missed * log_missed} if self.graded else {})
        reads = self.dense_reads + self.expert_reads * touched
        work = self.work * decoding + self.few_rows * np.minimum(decoding, self.most_few)
        return (
            smooth_max(reads, work)
            + (self.attention + self.per_request) * decoding
            + self.fixed
            + self.touches * touched
        )


def decode_step(fill: Replicas, by: Terms, context: Floats, verified: Floats, guessed: Floats) -> DecodeStep:
    """One step of replicas, by the number of requests that decode.

    ``context`` (n,): tokens that each request has behind it, mean.
    ``verified`` (n,): tokens that a step works on for each of them: 1, more where some were guessed, or of several
        beams.
    ``guessed`` (n,): 1 where some of them were guessed, else 0.

    Reading weights and multiplying run side by side, and so do reading keys and values and scoring them; launches,
    sums over ranks, exchange of experts and the host's scheduler add up. A step that works on n tokens touches
    1 - (1 - e/E)^(s n) of the experts.
    """
    q, d = verified, fill.data
    usual, few = _expert_work(fill, by, q * fill.expert_flop, "decode_rate")
    each = fill.cache_bytes(context) + state_traffic_bytes(fill)
    cache = by.times(each / d / fill.memory_bytes_per_s, over=("cache_bandwidth",))
    scores = fill.full_flop * context + fill.window_flop * np.minimum(context, fill.window)
    scored = by.times(q / d * scores / fill.attention_flop_per_s, over=("attention_rate",))
    sums = _REDUCTIONS * fill.layers * (fill.summing > 1)
    ring = q / d * _ring_s(fill)
    exchanged = fill.mixture_layers * (d > 1)
    traffic = exchanged * _EXPERT_BYTES * fill.hidden * fill.active_experts * q / fill.gpus / fill.link_bytes_per_s
    return DecodeStep(
        dense_reads=by.times(fill.dense_bytes / fill.memory_bytes_per_s, over=("bandwidth",)),
        expert_reads=by.times(fill.expert_bytes / fill.memory_bytes_per_s, over=("expert_bandwidth",)),
        touches=by.times(fill.mixture_layers * fill.local_experts, "expert_s"),
        work=by.times(q * fill.dense_flop / fill.peak_flop_per_s, over=("decode_rate",)) + usual,
        few_rows=few,
        most_few=1 / (q * fill.active_share),
        attention=smooth_max(cache, scored),
        per_request=by.times(sums * ring, "reduce_traffic")
        + by.times(traffic, "expert_traffic")
        + by.times((1 - guessed) / d, "sequence_s")
        + by.times(guessed / d, "sequence_s", "speculative_host")
        + _token_traffic(fill, by, q / d),
        fixed=by.times(fill.layers, "layer_s")
        + by.times(fill.mixture_layers * fill.active_experts / _USUAL_EXPERTS, "expert_layer_s")
        + by.times(fill.layers * fill.is_latent, "latent_layer_s")
        + by.times(fill.layers * fill.is_linear, "linear_layer_s")
        + by.times(np.ones_like(fill.layers), "step_s")
        + by.times(fill.adapter_layers * _ADAPTER_LAYER_S)
        + by.times(sums * np.log2(fill.summing) + 2 * exchanged, "reduce_s"),
        log_missed=_log_missed(fill, by) * q,
        graded=by.graded,
    )


def _log_missed(decode: Replicas, by: Terms) -> Floats:
    """Logarithm of the share of experts that one token does not touch."""
    return np.asarray(np.log1p(-np.minimum(decode.active_share, 1 - 1e-12)) * by.value("spread"))


def _expert_work(decode: Replicas, by: Terms, flop: Floats, rate: str) -> tuple[Graded, Graded]:
    """Seconds of the experts' matrix products, and more of each row that an expert lacks.

    Narrow shares of experts leave units idle, and so do few rows.
    """
    seconds = flop / decode.peak_flop_per_s
    wide = by.times(1 / decode.expert_width, "half_width") + 1.0
    return by.times(seconds, over=(rate,)) * wide, by.times(seconds, "half_rows", over=(rate,)) * wide


def _ring_s(decode: Replicas) -> Floats:
    """Seconds of one sum over ranks for each token; each stage of a pipeline sums in its own layers alone."""
    return np.asarray(_ELEMENT_BYTES * decode.hidden * (decode.summing - 1) / decode.tensor / decode.sum_bytes_per_s)


def _token_traffic(decode: Replicas, by: Terms, tokens: Floats) -> Graded:
    """Seconds in which vectors of so many tokens of a group pass memory: norms and sums, and the way to the experts.

    Tensor ranks do not divide it: each holds the whole vector of a token between its matrix products.
    """
    moved = tokens * decode.hidden / decode.memory_bytes_per_s
    routed = decode.mixture_layers * decode.active_experts * moved
    return by.times(decode.layers * moved, "token_bytes") + by.times(routed, "routing_bytes")


@dataclass(frozen=True)
class Prefill:
    """Seconds of the prefill of one request of one data-parallel group.

    Among decode steps it adds ``work`` to them, and ``overhead`` to a step in which there is any prefill. Groups step
    together for the exchange of experts: ``stalls`` is more of a step in which one group prefills and others wait.
    """

    alone: Graded
    work: Graded
    overhead: Graded
    stalls: Graded


def prefill(
    decode: Replicas, by: Terms, input_tokens: Floats, cached_share: Floats, variation: Floats | float = 0.0
) -> Prefill:
    """Seconds of the prefill of one request, mean.

    ``input_tokens`` (n,): of the prompt, mean.
    ``cached_share`` (n,): share of it whose keys and values are there already.
    ``variation`` (n,): variance of the lengths over the square of their mean.
    """
    new = input_tokens * (1 - cached_share)
    dense = by.times(new * decode.prefill_dense_flop / decode.peak_flop_per_s, over=("prefill_rate",))
    usual, few = _expert_work(decode, by, new * decode.prefill_expert_flop, "prefill_rate")
    work = dense + usual + few * (1 / np.maximum(1.0, new * decode.active_share))
    log_missed = _log_missed(decode, by) * new
    missed = np.exp(log_missed)
    touched = Graded(1 - missed, by.slope("spread", -missed * log_missed))
    reads = by.times(decode.dense_bytes / decode.memory_bytes_per_s, over=("bandwidth",))
    reads = reads + by.times(decode.expert_bytes / decode.memory_bytes_per_s, over=("expert_bandwidth",)) * touched
    # Causal: a new token sees those cached and half of the new ones. Of lengths that vary, the mean of the squares.
    seen = new * (input_tokens - new / 2) * (1 + variation)
    near = new * np.minimum(input_tokens - new / 2, decode.window)
    scores = (decode.prefill_flop * seen + decode.window_flop * near) / decode.attention_flop_per_s
    sums = _REDUCTIONS * decode.layers * (decode.summing > 1)
    ring = new * _ring_s(decode)
    rest = by.times(scores, over=("prefill_attention_rate",)) + by.times(sums * ring, "reduce_traffic")
    rest = rest + _token_traffic(decode, by, new)
    mix = by.times(1.0, "mix")
    launches = by.times(decode.layers, "prefill_layer_s") + decode.adapter_layers * _ADAPTER_LAYER_S
    alone = smooth_max(work, reads) + rest + launches
    # All GPUs share the experts of a prompt; its other layers are those of its group alone.
    stalls = (dense + rest) * by.times(1 - 1 / decode.data, "unbalanced")
    return Prefill(alone, (work + rest) * (1 / decode.data), (reads + launches) * mix * (1 / decode.data), stalls)
