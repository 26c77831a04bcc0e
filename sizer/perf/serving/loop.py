"""Requests in flight: time per token, time to the first token and rate of a replica under a number of them."""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats, Rows
from sizer.perf.serving.replica import Replicas
from sizer.perf.serving.step import Graded, Prefill, ServingFactors, Terms, chosen, decode_step, least, prefill

# Share of a prefill pool that may be busy: above, its queue has no steady state.
_MOST_BUSY = 0.98
# Rounds of the fixed point at most, of which the first are damped and the others secants, and the step of logarithms
# below which it has settled.
_ROUNDS, _DAMPED, _SETTLED = 8, 3, 1e-9
_STEP = 1e-4
# Share of the prefills of all requests that one waits for, where they start together.
_WAVE = 0.7


@dataclass(frozen=True)
class Load(Rows):
    """What a replica is asked. Arrays of one length."""

    concurrency: Floats  # requests in flight
    most_concurrent: Floats  # for which its memory has room
    input_tokens: Floats
    output_tokens: Floats
    cached_share: Floats  # of the input
    input_variation: Floats  # variance of these lengths over the square of their mean
    output_variation: Floats
    verified: Floats  # tokens of a request that a step works on: 1, or 4 with three guessed or with four beams
    is_guessed: Floats  # 1: some of them are guesses, of which those that prove right are kept; else 0
    buffered_tokens: Floats  # tokens that the server gathers before it sends the first
    burst_share: Floats  # of the prefills of all requests in flight, that a mean first token waits for
    is_lockstep: Floats  # 1: all requests start together, and prefills run before decode steps; else 0
    # Replicas of the decode pool and of the prefill pool; 0: prefill and decode run together.
    decode_replicas: Floats
    prefill_replicas: Floats

    @property
    def context(self) -> Floats:
        """Tokens that a decoding request has behind it, mean over time: those of long answers decode for longer."""
        return self.input_tokens + self.output_tokens * (1 + self.output_variation) / 2


@dataclass(frozen=True)
class Served:
    """What a replica, or pools of them, do under a load."""

    tpot: Graded  # seconds between tokens of a request
    ttft: Graded  # seconds from a request to its first token
    request: Graded  # seconds of a request
    decoding: Floats  # requests that decode
    busy_share: Floats  # of the time, that prefills take: rho

    def requests_per_s(self, load: Load) -> Floats:
        """Finished requests a second."""
        return load.concurrency / self.request.value


def closed_loop(decode: Replicas, fill: Replicas, load: Load, by: ServingFactors, graded: bool = False) -> Served:
    """Times and rate with a fixed number of requests in flight: a new one starts as one ends.

    ``decode`` (n,): that decode; where prefill and decode run together, the only ones.
    ``fill`` (n,): of the prefill pool where there is one; else the same.
    ``graded``: whether derivatives are wanted.

    Of C requests in flight (at most those for which memory has room) B decode, so that they finish
    X = B / (O TPOT(B)) requests a second, and B = C O TPOT / (TTFT + O TPOT): one unknown, solved by a damped fixed
    point and secants. Times a factor on all times leaves B as it is. Derivatives are those of the solution: by the
    theorem of the implicit function one derivative by B is enough.
    """
    exact = _Loop(decode, fill, load, Terms(by, graded))
    loop = exact.plain()
    state = _solve(loop)
    if not graded:
        return loop.served(state, loop.round(state))
    here, moved = exact.round(state), loop.round(state * (1 + _STEP))
    return exact.served_graded(state, here, moved)


@dataclass(frozen=True)
class _Round:
    """One evaluation at an assumed number of decoding requests."""

    tpot: Graded
    ttft: Graded
    request: Graded
    next: Graded  # decoding requests that follow
    busy_share: Floats


class _Loop:
    """What stays the same while the number of decoding requests is searched."""

    def __init__(self, decode: Replicas, fill: Replicas, load: Load, by: Terms) -> None:
        self.load = load
        self.admitted = np.minimum(load.concurrency, load.most_concurrent)
        self.is_apart = load.prefill_replicas > 0
        apart: Floats = self.is_apart.astype(float)
        self.workers = np.where(self.is_apart, np.maximum(load.decode_replicas, 1), 1.0)
        self.step = decode_step(decode, by, load.context, load.verified, load.is_guessed)
        filling: Prefill = prefill(fill, by, load.input_tokens, load.cached_share, load.input_variation)
        self.work, self.overhead = filling.work * (1 - apart), filling.overhead * (1 - apart)
        self.stalls = filling.stalls * (1 - apart)
        # Of the pool's prefills, as one request after the other sees them.
        self.pooled = filling.alone * (apart / (fill.data * np.maximum(load.prefill_replicas, 1.0)))
        # The same of full batches of them, which share what is not work.
        self.batched = filling.work * (apart / np.maximum(load.prefill_replicas, 1.0)) + (1 - apart)
        self.half_step = 0.5 * (1 - apart)
        # Steps a token.
        is_guessed = load.is_guessed > 0
        accepted = np.where(is_guessed, by.value("accepted"), 1.0)
        self.steps = Graded(1 / accepted, by.slope("accepted", np.where(is_guessed, -1 / accepted, 0.0)))
        bytes_of_request = load.input_tokens * decode.transfer_bytes
        transfer = by.times(apart, "transfer_s")
        transfer = transfer + by.times(apart * bytes_of_request / decode.link_bytes_per_s, "transfer_traffic")
        # Of a first token, whatever the load.
        self.alone = by.times(np.ones_like(apart), "first_s") + filling.alone + transfer
        # Of requests that start together, prefills delay the first tokens of all and not their decode steps.
        self.together = by.times(load.is_lockstep, "lockstep")
        self.delays = by.times(1.0, "interference") * (self.together * -1.0 + 1.0)
        self.queue = by.times(1.0, "queue")

    def plain(self) -> "_Loop":
        """The same without derivatives."""
        found = copy(self)
        for name, part in vars(self).items():
            if isinstance(part, Graded):
                setattr(found, name, part.plain)
        found.step = self.step.plain()
        return found

    def round(self, decoding: Floats) -> _Round:
        """Times if so many requests decode."""
        load = self.load
        step = self.step.seconds(decoding / self.workers)
        others = np.maximum(decoding - 1, 0.0) / load.output_tokens
        # Several prefills of one step share what is not work.
        shared = -np.expm1(-others) / np.maximum(others, 1e-12) + (others <= 0)
        # The more prefills a step has, the more of the groups have one.
        busy = self.work + self.overhead * shared + self.stalls * (1 / (1 + others))
        service = busy + self.pooled
        tpot = step * self.steps + busy * self.delays * others
        # As users see it: the tokens held back are counted to the first one.
        rate = (tpot * (load.output_tokens / decoding)).reciprocal
        rho = least(rate * service, Graded(np.full_like(decoding, _MOST_BUSY)))
        queue = rho * (rho * -1.0 + 1.0).reciprocal * service * self.queue
        longest = service * np.where(self.is_apart, self.admitted, decoding)
        waves = self.together * (_WAVE * load.concurrency) + load.burst_share * load.concurrency
        first = self.alone + step * self.half_step + least(queue, longest) + service * waves
        first = first + tpot * (load.buffered_tokens - 1)
        rest = tpot * np.maximum(load.output_tokens - load.buffered_tokens, 0.0)
        admitted = first + rest
        following = tpot * load.output_tokens * admitted.reciprocal * self.admitted
        # A pool prefills no more requests a second than its workers do: those beyond wait for it.
        most = tpot * load.output_tokens * (self.batched.reciprocal * _MOST_BUSY)
        is_short = self.is_apart & (most.value < following.value)
        following = least(chosen(is_short, most, following), Graded(self.admitted))
        admitted = chosen(is_short, rate.reciprocal * self.admitted, admitted)
        first = chosen(is_short, admitted + rest * -1.0, first)
        waiting = np.maximum(load.concurrency - self.admitted, 0.0) / np.maximum(self.admitted, 1e-9)
        # However they overlap, the work of all prefills in flight takes its time one after the other.
        prefills = self.work * load.concurrency
        whole = admitted * (1 + waiting)
        whole = chosen(prefills.value > whole.value, prefills, whole)
        # From the first token sent to the last, of those after the first; where none follows, as if one did.
        follows = load.output_tokens > np.maximum(load.buffered_tokens, 1.0)
        shown = chosen(follows, rest * (1 / np.maximum(load.output_tokens - 1, 1.0)), tpot)
        return _Round(shown, first + admitted * waiting, whole, following, rho.value)

    def served(self, decoding: Floats, at: _Round) -> Served:
        return Served(at.tpot, at.ttft, at.request, decoding, at.busy_share)

    def served_graded(self, decoding: Floats, here: _Round, moved: _Round) -> Served:
        """The solution with its derivatives, from those at a fixed number of decoding requests."""
        by_state = (np.log(moved.next.value) - np.log(here.next.value)) / np.log1p(_STEP)
        of_state = {name: slope / (1 - by_state) for name, slope in here.next.log_slopes.items()}

        def total(part: Graded, then: Graded) -> Graded:
            along = (then.value - part.value) / np.log1p(_STEP)
            return part + Graded(np.zeros(()), {name: along * slope for name, slope in of_state.items()})

        return replace(
            self.served(decoding, here),
            tpot=total(here.tpot, moved.tpot),
            ttft=total(here.ttft, moved.ttft),
            request=total(here.request, moved.request),
        )


def _solve(loop: _Loop) -> Floats:
    """Requests that decode, by damped rounds and secants on logarithms."""
    top = np.log(np.maximum(loop.admitted, 1e-6))
    at = before = top
    gap = its_gap = np.log(loop.round(np.exp(at)).next.value) - at
    for number in range(_ROUNDS):
        if np.abs(gap).max() < _SETTLED:
            break
        change = gap - its_gap
        slope = np.where(np.abs(change) > 1e-14, (at - before) / np.where(change == 0, 1.0, change), -1.0)
        # The following number changes less than the assumed one, or the other way: the slope of the gap lies below 0.
        is_secant = (number >= _DAMPED) & (slope < 0) & (slope > -4)
        before, its_gap = at, gap
        at = np.minimum(at + np.where(is_secant, -slope, 0.5) * gap, top)
        gap = np.log(loop.round(np.exp(at)).next.value) - at
    return np.exp(at)
