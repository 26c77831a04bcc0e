"""Language models in use: requests are the samples, and what the request leaves open has a default of its use.

"Concurrent users" has three meanings: users, of whom a share is active in the peak hour; active users,
who ask, read and ask again; and requests in flight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.quantities import tokens_text
from sizer.base.units import DAY_S, HOUR_S
from sizer.catalog.schema import TOKEN_BYTES, Dnn, TransformerShape
from sizer.workload.language import DefaultKind
from sizer.workload.loads import DAY_HOURS, length_ratio, lengths_of, load_by_hour, stated_length
from sizer.workload.optional_tables import Measured
from sizer.workload.request import SERVING_TASKS, CustomDataset, Target, Use, Workload
from sizer.workload.transformer.number_formats import stack_precision

# Percentile at which latency limits hold where the request states none. Assumed: what service levels usually name.
DEFAULT_PERCENTILE = 95
# Software where the request names none and the GPUs run it: the most used one.
DEFAULT_ENGINE = "vllm"
# Keys that only language models in use have, and those that they do not have.
OF_SERVING = (
    *("use", "input_tokens", "output_tokens", "prefix_cached", "first_token_s", "token_s", "latency_percentile"),
    *("engine", "cache_precision", "adapters", "adapter_rank", "daily_profile", "load_by_hour"),
    *("input_tokens_p50", "input_tokens_p95", "output_tokens_p50", "output_tokens_p95"),
)
_TARGETS = ("requests_per_s", "requests_per_day", "concurrent_requests", "active_users", "users")
NOT_OF_SERVING = (
    *("tokens", "sequence_tokens", "batch_sequences", "method", "document_tokens", "layout", "batch_per_gpu"),
    *("epochs", "recipe", "stack", "sample_bytes", "sample_format", "dataset_bytes"),
)
# Bytes of a weight in the model store, which holds the weights as they are served, with the scales of their blocks;
# where no precision is stated as they are published, in BF16 unless the model is not. [B]
_STORED_WEIGHT_BYTES = {"fp8": 1.0, "mxfp8": 1.0, "nvfp4": 0.5625, "fp4": 0.5625, "int4": 0.5625, "mxfp4": 0.53}
_WIDE_WEIGHT_BYTES = 2.0
# What else there is of keys that a model in use does not have.
_INSTEAD = {
    "stack": "; engine names the software that serves",
    "method": "; adapters = 20 says how many a model in use has",
}
# Family of the networks of the catalogue that make vectors of texts and write none.
EMBEDS = "embedding-model"
# Use of a model that makes them.
EMBEDDING: Use = "embedding"
# Name of the model store, before that of the model.
WEIGHTS_OF = "Weights of "
# Rank of adapters where the request states none: that of the paper's examples and of most published ones. Assumed.
DEFAULT_ADAPTER_RANK = 16
# Parameters of adapters over those of their model, at most: beyond, engines load those in use. A choice of ours.
_MOST_ADAPTED = 10.0
# Memory of a vector with its index over its numbers in single precision: metadata, graph and segments that are being
# written have half as much again (Qdrant, documentation, "Capacity planning").
_NUMBER_BYTES, _INDEXED = 4.0, 1.5
# Copies in the model store: the model, its next version and one that is tried out. Assumed.
_STORED_COPIES = 3.0


@dataclass(frozen=True)
class UseOfModel:
    """What people do with a model: usual lengths and rates of one use."""

    input_tokens: float
    output_tokens: float
    prefix_cached: float  # share of the input that a cache of earlier prompts holds
    requests_per_h: float  # of an active user
    active_share: float  # of all users, in the peak hour
    first_token_s: float
    token_s: float
    output_tail: float  # 95th percentile of the answers over their mean


# Lengths: conversations and code of the traces that Azure published in 2023 (1,020 tokens in, 129 out; 1,930 in, 13
# out) and of LMSYS-Chat-1M (215 out a turn); retrieval between 1k and 8k of InferenceX, and as long questions on code
# with files (assumed); reasoning as measured of DeepSeek-R1 in MLPerf Inference (3,675 to 3,750 out); a call of a
# coding agent as the mean of 9.3 million of GitHub Copilot in June 2026 (67,900 in, of which 86 % were cached, 528
# out; AzurePublicDataset). Tails of answers: of chat and code those of Azure's traces (430 over 211, 100 over 28); the
# others are assumed. Limits: faster than reading (20 tokens/s); completions of code as MLPerf's interactive scenario,
# reasoning as its server scenario. Rates and shares of active users: assumed.
USES: dict[Use, UseOfModel] = {
    "chat": UseOfModel(1_000, 300, 0.0, 12, 0.10, 2.0, 0.05, 2.0),
    "rag": UseOfModel(6_000, 400, 0.1, 10, 0.10, 2.0, 0.05, 2.0),
    "code": UseOfModel(1_500, 15, 0.0, 120, 0.30, 0.45, 0.04, 3.6),
    "code-chat": UseOfModel(6_000, 400, 0.1, 20, 0.30, 2.0, 0.05, 2.0),
    "agent": UseOfModel(68_000, 530, 0.86, 150, 0.20, 2.0, 0.05, 3.0),
    "summary": UseOfModel(8_000, 300, 0.0, 4, 0.10, 5.0, 0.05, 2.0),
    "reasoning": UseOfModel(800, 3_700, 0.0, 6, 0.10, 2.0, 0.08, 3.0),
    # Passages, for which nobody waits. Their length is assumed: as retrieval cuts documents.
    EMBEDDING: UseOfModel(500, 1, 0.0, 0, 0.0, 0.0, 0.0, 1.0),
}


class LoadKind(Enum):
    """What the target of a serving counts, which decides what "concurrent" means in its answer."""

    REQUESTS = "requests"
    REQUESTS_A_DAY = "requests-a-day"
    IN_FLIGHT = "requests-in-flight"
    ACTIVE_USERS = "active-users"
    USERS = "users"
    TOKENS = "tokens"
    GPUS = "gpus"


@dataclass(frozen=True)
class ServingWork:
    """A language model in use. Lengths are means in tokens."""

    model: str  # name
    model_id: str
    shape: TransformerShape
    parameters: float
    precision: str  # as the request has it; "mixed": that which is usual for the model and the GPU
    cache: str | None  # number format of keys and values; None: as the engine has it by default
    confidence: float  # that the target must be met with
    input_tokens: float
    output_tokens: float
    prefix_cached: float  # share of the input
    # Variance of the lengths over the square of their mean; None: not known, as in published runs.
    input_variation: float | None
    output_variation: float | None
    load_by_hour: tuple[float, ...]  # of a day, over that of the peak hour, which the target counts
    night_hours: int | None  # of a generation that runs in these alone; the target is their mean over the day
    first_token_s: float | None  # limits at the percentile; None: nobody waits
    token_s: float | None
    percentile: int
    engine: str | None  # id of a stack; None: not named
    load_kind: LoadKind
    number: float  # that the target states: users, requests in flight, tokens/s or GPUs
    is_embedding: bool  # texts go in and one vector of each comes out, as if that were a token
    adapters: int
    adapter_rank: int
    # That the target comes to: requests a second, or requests in flight where it counts them; None of a number of GPUs.
    asked_rate: float | None
    people: UseOfModel | None  # what they do with it; None where the request names no use and counts none
    defaults: tuple[tuple[DefaultKind, float], ...]
    measured: tuple[Measured, ...] = ()  # rates of the customer, of one replica each
    shares_with: tuple["ServingWork", ...] = ()  # other models of the request, which are in use at the same time

    @property
    def context_tokens(self) -> float:
        """Longest context of a request. [tokens]"""
        return self.input_tokens + self.output_tokens

    @property
    def mean_load(self) -> float:
        """Mean load of a day over that of the peak, or of the hours of the night."""
        return self.night_hours / DAY_HOURS if self.night_hours else sum(self.load_by_hour) / DAY_HOURS

    @property
    def varies(self) -> bool:
        """Whether the load of a day does."""
        return min(self.load_by_hour, default=1.0) < 1

    def length_at(self, name: str, percentile: float) -> float | None:
        """Percentile of a length, ``name`` ``input`` or ``output``; None where nothing says how it varies. [tokens]"""
        mean, variation = getattr(self, f"{name}_tokens"), getattr(self, f"{name}_variation")
        return None if variation is None else float(mean * length_ratio(percentile, variation))

    @property
    def priced_tokens(self) -> float:
        """Tokens of a request that rates and costs count: those that come out, or of an embedding those that go in."""
        return self.input_tokens if self.is_embedding else self.output_tokens

    @property
    def memory_content(self) -> str:
        """What memory holds of the requests in flight."""
        return "texts" if self.is_embedding else "keys and values"

    @property
    def priced(self) -> str:
        """Name of these tokens."""
        return "input tokens" if self.is_embedding else "output tokens"

    @property
    def in_flight(self) -> float | None:
        """Requests that must fit in memory at once; None where the target does not count them."""
        return self.number if self.load_kind is LoadKind.IN_FLIGHT else None

    @property
    def least_requests_per_s(self) -> float | None:
        """Requests a second of the target: of those in flight by Little's law, each as slow as its limits allow."""
        if self.in_flight is None or self.first_token_s is None or self.token_s is None:
            return self.asked_rate
        return self.in_flight / (self.first_token_s + self.output_tokens * self.token_s)

    @property
    def comes_at_random(self) -> bool:
        """Whether somebody waits for requests that come when they do, and not as others end."""
        return self.first_token_s is not None and self.in_flight is None

    @property
    def unloaded(self) -> "ServingWork":
        """The same without others beside it, and without what it is asked to serve where that moves no rate."""
        return replace(self, shares_with=(), number=0.0, asked_rate=None, load_by_hour=(), night_hours=None)

    @property
    def counts_people(self) -> bool:
        """Whether the target does."""
        return self.load_kind in (LoadKind.USERS, LoadKind.ACTIVE_USERS)

    @property
    def users(self) -> float | None:
        """All who may ask; None where the target counts no people."""
        if not self.counts_people or self.people is None:
            return None
        return self.number / (1 if self.load_kind is LoadKind.USERS else self.people.active_share)

    @property
    def people_served(self) -> float:
        """People whom the target serves at the least: all it counts, those who wait at once, or whose requests come."""
        if self.first_token_s is None:
            return 0.0
        if self.counts_people or self.in_flight is not None:
            return self.users or self.number
        return (self.asked_rate or 0.0) * HOUR_S / (self.people or USES["chat"]).requests_per_h

    def active_users_of(self, requests_per_s: float) -> float | None:
        """Active users that a rate of requests serves; None where nothing says what people do."""
        return None if self.people is None else requests_per_s * HOUR_S / self.people.requests_per_h


def vector_bytes(numbers: float) -> tuple[float, float]:
    """A vector of so many numbers as it is stored, and in the memory of what searches it. [B]

    Examples
    --------
    >>> vector_bytes(1024)
    (4096.0, 6144.0)
    """
    return _NUMBER_BYTES * numbers, _INDEXED * _NUMBER_BYTES * numbers


def is_served(work: Workload) -> bool:
    """Whether a workload is a language model in use."""
    return work.task in SERVING_TASKS


def check_not_served(work: Workload, place: str) -> None:
    """Refuse what only a language model in use has.

    Raises RequestError naming the first such key.
    """
    given = [name for name in OF_SERVING if getattr(work, name) is not None]
    given += [f"target.{name}" for name in _TARGETS if getattr(work.target, name) is not None]
    if given:
        raise RequestError(
            f"{place}.{given[0]}: this is of a language model in use; remove {' and '.join(given)}, or write task = "
            f"{' or '.join(map(repr, SERVING_TASKS))}"
        )


def in_requests(work: Workload, dnn: Dnn, place: str, confidence: float) -> tuple[Workload, Dnn, ServingWork]:
    """A workload and its network with requests as samples, and what is served.

    Raises RequestError if the network is no language model, a length is above its context, or the target lacks what it
    needs.
    """
    shape = dnn.transformer
    if shape is None:
        raise RequestError(
            f"{place}.task = {work.task!r}: {dnn.name} is no language model with a known shape; write "
            "'validation-inference' for batches of samples, or choose a language model of the catalogue"
        )
    wrong = [name for name in NOT_OF_SERVING if getattr(work, name) is not None]
    if wrong:
        instead = _INSTEAD.get(wrong[0], "")
        raise RequestError(f"{place}.{wrong[0]}: this is of a training; remove {' and '.join(wrong)}{instead}")
    is_embedding, is_offline = work.use == EMBEDDING, work.task == "generation"
    if dnn.family == EMBEDS and not is_embedding:
        raise RequestError(
            f"{place}: {dnn.name} makes vectors of texts and writes none; write task = 'generation' and use = "
            f"{EMBEDDING!r}"
        )
    if is_offline and (work.first_token_s is not None or work.token_s is not None):
        raise RequestError(
            f"{place}.task = {work.task!r} has no latency limits; write task = 'serving', or remove first_token_s and "
            "token_s"
        )
    if is_embedding and (any(one is not None for one in lengths_of(work, "output_tokens")) or not is_offline):
        raise RequestError(
            f"{place}.use = {EMBEDDING!r}: texts go in, of each one vector comes out, and nobody waits; write task = "
            "'generation', and remove output_tokens"
        )
    if work.adapter_rank is not None and work.adapters is None:
        raise RequestError(f"{place}.adapter_rank: of how many adapters? Write adapters = 20, or remove adapter_rank")
    rank = work.adapter_rank or DEFAULT_ADAPTER_RANK
    adapters = (work.adapters or 0) * rank * shape.adapted
    if adapters > _MOST_ADAPTED * dnn.parameters.value:
        raise RequestError(
            f"{place}.adapters: {work.adapters} of rank {rank} have {adapters / dnn.parameters.value:.3g} times the "
            f"parameters of {dnn.name}, and all stay in GPU memory; write those in use at the same time, or a lower "
            "adapter_rank"
        )
    use = USES[work.use or ("summary" if is_offline else "chat")]
    defaults: list[tuple[DefaultKind, float]] = []

    def taken(name: str, kind: DefaultKind, usual: float) -> float:
        stated = getattr(work, name)
        if stated is None:
            defaults.append((kind, usual))
        return float(usual if stated is None else stated)

    for name in ("input", "output"):
        if work.use is None and not any(lengths_of(work, f"{name}_tokens")[:2]) and _counts_people(work.target):
            raise RequestError(
                f"{place}: users ask for answers of some length; add input_tokens and output_tokens, or "
                f"use = {', '.join(map(repr, USES))}"
            )
    profile = load_by_hour(work, place)

    def length_of(key: str, kind: DefaultKind, tail: float | None) -> tuple[float, float | None]:
        """Mean of a length and its variation."""
        is_open = getattr(work, key) is None and getattr(work, f"{key}_p50") is None
        tail = tail if is_open and work.use is not None else None
        mean, variation = stated_length(work, place, key, getattr(use, key), tail)
        if is_open:
            defaults.append((kind, mean))
        return mean, variation

    # How prompts vary where nobody says is part of MLPerf's percentiles of first tokens.
    prompt, prompts_vary = length_of("input_tokens", DefaultKind.INPUT_TOKENS, None)
    answer, answers_vary = use.output_tokens, None
    if not is_embedding:
        answer, answers_vary = length_of("output_tokens", DefaultKind.OUTPUT_TOKENS, use.output_tail)
        if answers_vary is not None and work.output_tokens_p95 is None:
            defaults.append((DefaultKind.OUTPUT_TAIL, use.output_tail * answer))
    longest, last = work.input_tokens_p95 or prompt, work.output_tokens_p95 or answer
    if shape.context_tokens is not None and longest + last > shape.context_tokens:
        raise RequestError(
            f"{place}: {tokens_text(longest)} in and {tokens_text(last)} out are more than the context of {dnn.name}, "
            f"{tokens_text(shape.context_tokens)}; write fewer, or choose a model with a longer context"
        )
    first: float | None = None
    token: float | None = None
    if not is_offline:
        first = taken("first_token_s", DefaultKind.FIRST_TOKEN, use.first_token_s)
        token = taken("token_s", DefaultKind.TOKEN_TIME, use.token_s)
        taken("latency_percentile", DefaultKind.PERCENTILE, DEFAULT_PERCENTILE)
    if work.adapters is not None:
        taken("adapter_rank", DefaultKind.ADAPTER_RANK, DEFAULT_ADAPTER_RANK)
    counted = prompt if is_embedding else answer
    load_kind, number, rate = _rate(work, place, use, first, token, counted, sum(profile) / DAY_HOURS, defaults)
    if work.daily_profile in ("office", "consumer"):
        defaults.append((DefaultKind.DAILY_PROFILE, DAY_HOURS / sum(profile)))
    if rate is not None and work.night_hours:
        rate *= DAY_HOURS / work.night_hours
    if work.prefix_cached is None and use.prefix_cached:
        defaults.append((DefaultKind.PREFIX_CACHED, use.prefix_cached))
    serving_work = ServingWork(
        model=dnn.name,
        model_id=dnn.id,
        shape=shape,
        parameters=dnn.parameters.value,
        precision=work.precision,
        cache=work.cache_precision,
        confidence=confidence,
        input_tokens=prompt,
        output_tokens=answer,
        prefix_cached=use.prefix_cached if work.prefix_cached is None else work.prefix_cached,
        input_variation=prompts_vary,
        output_variation=answers_vary,
        load_by_hour=profile,
        night_hours=work.night_hours,
        first_token_s=first,
        token_s=token,
        percentile=work.latency_percentile or DEFAULT_PERCENTILE,
        engine=work.engine,
        load_kind=load_kind,
        number=number,
        is_embedding=is_embedding,
        adapters=work.adapters or 0,
        adapter_rank=rank,
        asked_rate=rate,
        people=use if not is_offline and (work.use is not None or _counts_people(work.target)) else None,
        defaults=tuple(defaults),
        measured=work.measured,
    )
    weights = _weight_bytes(work.precision, shape, dnn.parameters.value) * _STORED_COPIES
    sample = max(TOKEN_BYTES * prompt, 1.0)
    changed: dict[str, Any] = {
        "stack": work.engine or DEFAULT_ENGINE,
        "precision": stack_precision(work.precision),
        # The model store. A request itself reads nothing from it.
        "dataset": CustomDataset(name=f"{WEIGHTS_OF}{dnn.name}", n_samples=weights / sample, sample_bytes=sample),
        "sample_format": "tokens",
    }
    if rate is not None:
        changed["target"] = Target(samples_per_s=rate)
    flop = dnn.forward_flop.value * (prompt + answer)
    of_request = dnn.model_copy(
        update={
            "sample": "request in flight" if load_kind is LoadKind.IN_FLIGHT else "request",
            "transformer": None,
            "forward_flop": dnn.forward_flop.model_copy(update={"value": flop}),
            "input_bytes": dnn.input_bytes.model_copy(update={"value": sample}),
        }
    )
    return work.model_copy(update=changed), of_request, serving_work


@dataclass(frozen=True)
class NightWork:
    """The night of what runs in it alone."""

    hours: int
    first_hour: int
    serves: tuple[ServingWork, ...]  # what models in use are asked in the busiest of these hours


def at_night(works: Sequence[ServingWork], hours: int) -> tuple[int, tuple[ServingWork, ...]]:
    """First of the hours in a row in which models in use have the least load together, and what they serve then."""
    total = [sum(loads) for loads in zip(*(work.load_by_hour for work in works), strict=True)]

    def within(start: int, loads: Sequence[float]) -> float:
        return max(loads[(start + hour) % DAY_HOURS] for hour in range(hours))

    first, found = min(range(DAY_HOURS), key=lambda start: within(start, total)), []
    for work in works:
        share = within(first, work.load_by_hour)
        if work.asked_rate is None:  # all that some GPUs serve: they have it at night, too
            found.append(work)
        elif share > 0:
            found.append(replace(work, asked_rate=share * work.asked_rate, number=share * work.number))
    return first, tuple(found)


def _weight_bytes(precision: str, shape: TransformerShape, parameters: float) -> float:
    """One copy of the weights. Embeddings stay in BF16, of four-bit mixtures all but their routed experts. [B]"""
    stored = shape.published_in if precision == "mixed" else precision
    each = _STORED_WEIGHT_BYTES.get(stored or "", _WIDE_WEIGHT_BYTES)
    wide = min(2.0 * shape.vocabulary * shape.hidden, parameters)
    if each < 1 and shape.experts > 1:
        routed = 3 * shape.hidden * (shape.expert_ffn or shape.ffn) * shape.experts
        wide = max(parameters - (shape.layers - shape.dense_layers) * routed, 0.0)
    return each * (parameters - wide) + _WIDE_WEIGHT_BYTES * wide


def _counts_people(target: Target) -> bool:
    return target.users is not None or target.active_users is not None


def _rate(
    work: Workload,
    place: str,
    use: UseOfModel,
    first_token_s: float | None,
    token_s: float | None,
    priced_tokens: float,
    mean_load: float,
    defaults: list[tuple[DefaultKind, float]],
) -> tuple[LoadKind, float, float | None]:
    """What the target counts, how many, and the rate that it comes to."""
    target = work.target
    if target.gpus_busy is not None:
        return LoadKind.GPUS, float(target.gpus_busy), None
    if target.maximum is not None:
        return LoadKind.REQUESTS, 0.0, None
    stated = target.requests_per_s if target.requests_per_s is not None else target.samples_per_s
    if target.requests_per_day is not None:
        return LoadKind.REQUESTS_A_DAY, target.requests_per_day, target.requests_per_day / DAY_S / mean_load
    if stated is not None:
        return LoadKind.REQUESTS, stated, stated
    if target.tokens_per_s is not None:
        return LoadKind.TOKENS, target.tokens_per_s, target.tokens_per_s / priced_tokens
    if first_token_s is None or token_s is None:
        raise RequestError(
            f"{place}.target: nobody waits for task = {work.task!r}; write requests_per_s, tokens_per_s or gpus_busy, "
            "or task = 'serving'"
        )
    if target.concurrent_requests is not None:
        asked = float(target.concurrent_requests)
        return LoadKind.IN_FLIGHT, asked, asked
    defaults.append((DefaultKind.REQUESTS_PER_USER, use.requests_per_h))
    each = use.requests_per_h / HOUR_S
    if target.active_users is not None:
        return LoadKind.ACTIVE_USERS, float(target.active_users), target.active_users * each
    assert target.users is not None  # a target is one of them
    defaults.append((DefaultKind.ACTIVE_SHARE, use.active_share))
    return LoadKind.USERS, float(target.users), target.users * use.active_share * each
