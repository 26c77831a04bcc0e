"""A language model in use in words: the load that was asked, replicas and layout, latencies, memory, users, cost."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sizer.base.estimate import Estimate
from sizer.base.quantities import (
    NARROW_SPACE,
    by_count,
    duration,
    grouped,
    plain,
    probability_text,
    si,
    significant,
    stated,
)
from sizer.base.units import GIB
from sizer.calibrate.serving.calibration import Bound
from sizer.calibrate.serving.rows import ServingRow
from sizer.present.words import listed, percent, plural
from sizer.sizing.design.served_day import YEAR_S, YEARS
from sizer.sizing.result import DesignAnswer, OtherLoad, TokenCost, WorkloadAnswer
from sizer.sizing.stages.platform_columns import node_read_rate
from sizer.sizing.stages.serving_rates import AfterFailure, ServingAnswer, exceeded_run, nearest_run, output_of_gpu
from sizer.workload.optional_tables import Ownership
from sizer.workload.serving import USES, LoadKind, ServingWork, UseOfModel, vector_bytes

# Less of a GPU's memory is told as less: nobody reads 0.00739 GiB.
_LEAST_GIB = 0.1
_ENGINES = {"trtllm": "TensorRT-LLM", "vllm": "vLLM", "sglang": "SGLang"}
_BOUNDS = {
    Bound.FIRST_TOKEN: "limited by the time to the first token",
    Bound.LATER_TOKENS: "limited by the time of the later tokens",
    Bound.PREFILLS: "limited by the share of the time that prefills may take",
    Bound.ROOM: "limited by memory, or by the most that published runs had in flight",
}


def load_text(work: ServingWork) -> str:
    """What the target counts, with the meaning of "concurrent" that was used, and the requests that it comes to."""
    in_hours = f" in {work.night_hours} hours of the night" if work.night_hours else ""
    rate = "" if work.asked_rate is None else f"{significant(work.asked_rate)} requests/s{in_hours}"
    number = grouped(work.number)
    active = None if work.asked_rate is None else work.active_users_of(work.asked_rate)
    match work.load_kind:
        case LoadKind.USERS if work.people is not None and active is not None:
            return (
                f"{number} users in all, of whom {percent(work.people.active_share)} are active in the peak hour "
                f"({grouped(active)}) and send {_each_hour(work.people)}: {rate}"
            )
        case LoadKind.ACTIVE_USERS if work.people is not None:
            return f"{number} active users, who read between their requests and send {_each_hour(work.people)}: {rate}"
        case LoadKind.REQUESTS_A_DAY:
            return f"{number} requests a day, {'in the peak hour ' if work.varies else ''}{rate}"
        case LoadKind.IN_FLIGHT:
            return f"{number} requests in flight at once"
        case LoadKind.TOKENS:
            return f"{number} {work.priced}/s, which are {rate}"
        case LoadKind.GPUS:
            return f"what {number} GPUs serve"
    return rate or "the highest rate within the limits"


def _each_hour(people: UseOfModel) -> str:
    return f"{plain(people.requests_per_h)} requests an hour each (assumed)"


def most_users_text(answer: ServingAnswer) -> str:
    """How many people the GPUs serve, counted as the load is; "" where nothing says what they do."""
    if answer.work.people is None or answer.users is None:
        return ""
    most = "about" if answer.work.load_kind is LoadKind.GPUS else "at most about"
    return f"{most} {grouped(float(f'{answer.users:.2g}'))} {people_text(answer.work)}"


def users_text(answer: ServingAnswer) -> str:
    """People whom the GPUs serve, with what is assumed of them; "" where nothing says what they do."""
    most, people = most_users_text(answer), answer.work.people
    if not most or people is None or answer.active_users is None:
        return ""
    if answer.work.load_kind is LoadKind.ACTIVE_USERS:
        return f"{most} with {_each_hour(people)}"
    active = f"{percent(people.active_share)} are active ({grouped(float(f'{answer.active_users:.2g}'))})"
    return f"{most}, of whom {active} with {_each_hour(people)}"


def serving_need_text(answer: WorkloadAnswer, serving_answer: ServingAnswer, *, in_short: bool = False) -> str:
    """What is asked for, in two sentences; ``in_short``: without lengths and limits."""
    work = serving_answer.work
    text = f"{answer.dnn.name} in {serving_answer.weights.upper()} for {load_text(work)}"
    return f"{text}." if in_short else f"{text}, each with {lengths_text(work)}. Latency limits: {limits_text(work)}."


def limits_text(work: ServingWork) -> str:
    """The latency limits: 'first token within 2 s, each later one within 50 ms, for 95 % of the requests'."""
    if work.first_token_s is None or work.token_s is None:
        return "no limits: batch work"
    return (
        f"first token within {stated(work.first_token_s, 's')}, each later one within {stated(work.token_s, 's')}, for "
        f"{work.percentile}{NARROW_SPACE}% of the requests"
    )


def lengths_text(work: ServingWork) -> str:
    """Mean lengths of a request."""
    cached = f" ({percent(work.prefix_cached)} of them in a cache of earlier prompts)" if work.prefix_cached else ""
    out = "one vector" if work.is_embedding else grouped(work.output_tokens)
    tails = [(work.length_at("input", 95), "in"), (work.length_at("output", 95), "out")]
    told = [f"{grouped(tail)} {way}" for tail, way in tails if tail is not None]
    longest = f"; 95th percentiles {listed(told)}" if told else ""
    return f"{grouped(work.input_tokens)} tokens in{cached} and {out} out{longest}"


def within(work: ServingWork) -> str:
    """Words after the most that is served: of what nobody waits for, nothing."""
    return "" if work.first_token_s is None else " within the limits"


def bound_text(answer: ServingAnswer) -> str:
    """What bounds the most that is served, as a clause."""
    return "limited by the computation of the texts" if answer.work.is_embedding else _BOUNDS[answer.bound]


def replicas_text(found: ServingAnswer) -> str:
    """Replicas, their layout and what joins their GPUs: '8 replicas of 1 GPU (TP 1)', '(TP 2 over PCIe 5.0)'."""
    each = plural(found.gpus_of_replica, "GPU")
    over = "" if found.servers_of_replica == 1 else f" over {found.servers_of_replica} servers"
    layout = f"TP {found.tensor}" + (f", attention DP {found.data} with the experts over all" if found.data > 1 else "")
    layout += ", three tokens guessed ahead by multi-token prediction" * found.deployment.is_speculative
    if found.gpus_of_replica > 1:
        layout = f"{layout}, over {found.link}{' and the fabric' if over else ''}"
    return f"{plural(found.replicas, 'replica')} of {each}{over} ({layout})"


def served_text(answer: ServingAnswer, gpu: str) -> str:
    """What GPUs serve within the limits: the answer where their number is what is asked."""
    serve = f"{grouped(answer.gpus_used)} × {gpu} serve {significant(answer.served_per_s)} requests/s"
    output = significant(answer.served_per_s * answer.work.priced_tokens)
    users = f": {text}" if (text := users_text(answer)) else ""
    return (
        f"{serve} of {answer.work.model} within the limits with {probability_text(answer.work.confidence)} confidence, "
        f"{output} {answer.work.priced}/s{users}; expected are {_rate_text(answer.requests_per_s, 'requests/s')}, and "
        f"{bound_text(answer)}"
    )


@dataclass(frozen=True)
class Condition:
    """What the answer depends on, and what is known of it."""

    clause: str  # 'one replica keeps the first token within 6 s'
    why: str
    action: str  # that settles it

    @property
    def text(self) -> str:
        """Both in one clause."""
        return f"on condition that {self.clause}: {self.why}"


def conditions(design: DesignAnswer, answer: WorkloadAnswer) -> Iterator[Condition]:
    """What a model in use depends on: first tokens that are not sure enough, and a cache that soon forgets."""
    found, limit = answer.served, answer.served.work.first_token_s
    if any(answer is one for one in design.late) and limit is not None and found.first_token_chance is not None:
        more = ""
        if found.servers_timely is not None and found.servers_timely > design.n_servers:
            more = f"; without that, {plural(found.servers_timely, 'server')} keep all limits as surely as asked"
        yield Condition(
            f"one replica, measured first, keeps the first token within {stated(limit, 's')} at this load",
            f"its {found.work.percentile}th percentile is predicted as {_interval(found.ttft_percentile_s)}, so that "
            f"the limit is kept with {probability_text(found.first_token_chance)}{more}",
            "measure one replica under this load before the order",
        )
    if found.depends_on_cache and found.prefix_stay_s is not None:
        more = "" if (text := without_cache_text(found)) == "" else f"; {text}"
        yield Condition(
            f"the cached {percent(found.work.prefix_cached)} of the input are the same in many requests, or asked for "
            f"again within {duration(found.prefix_stay_s)}",
            f"for longer the memory of the GPUs does not keep what sessions leave{more}",
            "measure on requests of today after how long a session asks again, before the order",
        )


def without_cache_text(answer: ServingAnswer) -> str:
    """What the same GPUs serve without the cached share, and how many servers would then do; "" where none is asked."""
    without, asked = answer.without_cache, answer.work.asked_rate
    if without is None or asked is None:
        return ""
    unit = "requests/s" if answer.work.in_flight is None else "requests in flight"
    text = "without the cached share the same GPUs serve"
    kept = f"{text} {significant(without.rate)} {unit} and keep the target with {probability_text(without.probability)}"
    if not without.rate:
        kept = f"{text} nothing within the limits"
    if without.probability >= answer.work.confidence:
        return kept
    if without.servers is None:
        return f"{kept}; no number of such servers is enough then"
    return f"{kept}; it takes {plural(without.servers, 'such server')} then"


def software_text(answer: ServingAnswer) -> str:
    """Number formats of the weights and of keys and values, and the software."""
    note = "assumed"
    if answer.wide_cache_matters:
        half = grouped(int(answer.most_concurrent / 2))
        note = f"assumed; in BF16, the default of vLLM and SGLang, memory has room for {half} requests"
    cache = f"{answer.cache.upper()}{f' ({note})' if answer.cache_is_assumed else ''}"
    mixture = f"a mixture of {listed(answer.engines)}, as the request names none"
    is_open = answer.work.precision == "mixed" and answer.weights != answer.work.shape.published_in
    gain = ""
    if answer.narrow_gain is not None:
        gain = f"; in NVFP4, whose quality is not modelled, {significant(answer.narrow_gain, 2)} times the rate"
    weights = f"{answer.weights.upper()} weights{f' (assumed{gain})' if is_open else ''}"
    kept = "" if answer.work.is_embedding else f", keys and values in {cache}"
    return f"{weights}{kept}; {answer.engine or mixture}"


# Time of a prompt from which on it is worth keeping. Assumed.
_LEAST_SAVED_S = 0.2


def offload_text(answer: ServingAnswer) -> str:
    """What memory of the servers keeps of earlier prompts; "" where nothing is cached, or soon computed again."""
    if (more := answer.offload) is None or more.compute_s < _LEAST_SAVED_S:
        return ""
    return (
        f"half of the servers' memory keeps the prompts of {grouped(more.sessions)} more sessions, where the engine is "
        f"told to: {duration(more.back_s)} to bring one back over PCIe, {duration(more.compute_s)} to compute it "
        "again; no rate here counts on it"
    )


def start_text(design: DesignAnswer, answer: ServingAnswer) -> str:
    """How long a server reads its copy of the weights from its drives; "" where they have no known rate."""
    storage = design.platform.storage
    rate = node_read_rate(storage) if storage.kind == "local" else None
    if rate is None:
        return ""
    copy = answer.weight_bytes * answer.gpus_of_replica / answer.servers_of_replica
    least, most = (duration(copy / one.value) for one in (rate.high, rate.low))
    return f"a server that starts reads {si(copy, 'B')} of weights from its drives in {least} to {most}"


def adapters_text(answer: ServingAnswer) -> str:
    """Adapters that requests choose among, and their memory."""
    each = f"{significant(answer.adapter_bytes / GIB)}{NARROW_SPACE}GiB"
    return (
        f"{plural(answer.work.adapters, 'adapter')} of rank {answer.work.adapter_rank} share one copy of the model and "
        f"take {each} of the weights of each GPU"
    )


def ingress_text(answer: ServingAnswer) -> str:
    """What spreads requests over the replicas; it is no part of the bill."""
    if answer.work.first_token_s is None:
        text = "the application that reads the texts and stores the results keeps enough requests in flight"
        return f"{text}{'' if answer.replicas == 1 else ' in each replica'}: out of scope, not on the bill"
    engines = "" if answer.replicas == 1 else f" and spreads requests over the {grouped(answer.replicas)} replicas"
    text = f"a gateway or load balancer on the users' Ethernet authenticates{engines}: provided by others"
    is_search = answer.work.people == USES["rag"]
    return f"{text}{', and so are the vector store and the nodes that search it' if is_search else ''}"


def batch_text(answer: ServingAnswer) -> str:
    """How long a batch takes as fast as the GPUs go."""
    value, low, high = (1e6 / float(end) for end in answer.requests_per_s)
    return (
        f"a million requests take {duration(value)} at the most (90{NARROW_SPACE}% interval {duration(high, value)} to "
        f"{duration(low, value)})"
    )


def vectors_text(work: ServingWork) -> str:
    """What vectors take where they are stored; their store is no part of the design."""
    each, searched = vector_bytes(work.shape.hidden)
    return (
        f"one of {grouped(work.shape.hidden)} numbers takes {si(each, 'B')}, a million {si(1e6 * each, 'B')}, and "
        f"about {si(1e6 * searched, 'B')} of memory where they are searched: out of scope, not on the bill"
    )


def energy_text(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """Energy of the equipment, and the carbon of it, for a million tokens; "" of several workloads."""
    day, work = answer.day, answer.served.work
    if day is None or day.kwh_per_million is None:
        return ""
    watts = si(float(design.quantities.power_typical_w[0]), "W")
    load = "over the day" if work.varies else "at this load"
    told = "" if day.kg_co2_per_million is None else significant(day.kg_co2_per_million, 2)
    carbon = f"; {told}{NARROW_SPACE}kg of CO2, with the PUE where it is stated" if told else ""
    return (
        f"about {significant(day.kwh_per_million, 2)}{NARROW_SPACE}kWh for a million {work.priced} {load}, of all "
        f"equipment at its typical {watts}{' throughout' if work.varies else ''}, without cooling{carbon}"
    )


def day_text(answer: WorkloadAnswer) -> str:
    """Tokens of a day whose load varies, or of a night, and what the GPUs leave idle; "" of one load at all hours."""
    day, work = answer.day, answer.served.work
    if day is None or not (work.varies or work.night_hours):
        return ""
    tokens = f"{significant(day.tokens / 1e6)} million {work.priced} in a"
    idle = f"{percent(day.idle_share)} of what the GPUs serve within the limits is left idle"
    if work.night_hours:
        return f"{tokens} night of {work.night_hours} hours; {idle}"
    return f"{tokens} day: its mean load is {percent(work.mean_load)} of that of the peak hour; {idle}"


def failure_text(answer: ServingAnswer) -> str:
    """What is left within the limits without one replica, and without one server."""

    def left(one: AfterFailure) -> str:
        if not one.replicas:
            return "nothing"
        unit = "requests/s" if answer.work.in_flight is None else "requests in flight"
        people = "" if one.users is None else f", about {grouped(float(f'{one.users:.2g}'))} {people_text(answer.work)}"
        chance = (
            ""
            if one.probability is None
            else f"; the target is met with {probability_text(one.probability)} probability"
        )
        return f"{_rate_text(one.rate, unit)}{people}{chance}"

    return f"without one replica {left(answer.after_replica)}; without one server {left(answer.after_server)}"


def people_text(work: ServingWork) -> str:
    """People as the target counts them."""
    return "active users" if work.load_kind is LoadKind.ACTIVE_USERS else "users in all"


def needed_text(answer: ServingAnswer) -> str:
    """Replicas that the asked load takes, and what the others are for."""
    assert answer.replicas_needed is not None
    spare = answer.replicas - answer.replicas_needed
    text = f"{plural(answer.replicas_needed, 'replica')} at the confidence asked for"
    if spare < 0:
        return f"{text}, {plural(-spare, 'replica')} more than there are"
    if spare < 1:
        return f"{text}; none is in reserve"
    return f"{text}; {by_count(spare, 'the other one is', f'the other {grouped(spare)} are')} in reserve"


def used_stack_text(answer: WorkloadAnswer) -> str:
    """Software of a workload; of a language model in use whose engine is not named, those in use."""
    if not answer.kind.reads_data and not answer.served.engine:
        return listed(answer.served.engines, "or")
    return answer.stack.name


def flight_text(answer: ServingAnswer) -> str:
    """Requests in flight of a replica."""
    at = {"asked": "at this load", "sure": "at the rate kept with the confidence asked for"}.get(
        answer.load, "at the most within the limits"
    )
    at = f"{at} ({significant(answer.served_per_s)} requests/s in all)"
    count = significant(answer.concurrency) if answer.concurrency >= 1 else "fewer than 1"
    return f"{count} {at} in each replica, whose memory has room for {grouped(int(answer.most_concurrent))}"


def prefix_text(answer: ServingAnswer) -> str:
    """Memory of what earlier prompts leave in the cache, and for how many sessions there is room; "" without one."""
    work, each = answer.work, answer.prefix_bytes
    if not each:
        return ""
    stay = "" if answer.prefix_stay_s is None else f", those of {duration(answer.prefix_stay_s)} at this load"
    return (
        f"the cached prompt of a session, {grouped(work.input_tokens * work.prefix_cached)} tokens, takes "
        f"{si(each, 'B')}: besides the requests in flight, all GPUs have room for {grouped(answer.sessions_stored)} "
        "sessions"
        f"{stay}; the next request of a session must go to the replica that holds them"
    )


def latency_text(mean: Estimate, at_percentile: Estimate, percentile: int) -> str:
    """A latency: mean with its interval, and the percentile."""
    return f"{_interval(mean)} on average; {percentile}th percentile {_interval(at_percentile)}"


def _interval(time_s: Estimate) -> str:
    value, low, high = (float(end) for end in time_s)
    return f"{duration(value)} (90{NARROW_SPACE}% interval {duration(low, value)} to {duration(high, value)})"


def tokens_text(answer: ServingAnswer) -> str:
    """Output tokens a second within the limits, of all GPUs and of one."""
    each = significant(float(answer.tokens_per_s.value) / answer.gpus_used)
    return f"at most {_rate_text(answer.tokens_per_s, f'{answer.work.priced}/s')}, {each} per GPU; {bound_text(answer)}"


def _rate_text(rate: Estimate, unit: str) -> str:
    value, low, high = (significant(float(end)) for end in rate)
    return f"{value} {unit} (90{NARROW_SPACE}% interval {low} to {high})"


def published_text(answer: ServingAnswer) -> str:
    """The published run that is nearest to what is served."""
    row = nearest_run(answer)
    if row is None:
        return f"no run of {answer.work.model} on the {answer.deployment.gpu.name} is known to us"
    return f"nearest run of the model on this GPU known to us: {_run_text(row)}"


def _run_text(row: ServingRow) -> str:
    """What a published run gave, of what, and whether somebody waited."""
    each = f"{significant(output_of_gpu(row))} output tokens/s per GPU"
    lengths = f"{grouped(row.input_tokens or 0.0)} tokens in and {grouped(row.output_tokens or 0.0)} out"
    if row.tpot_s:
        load = f"at {duration(row.tpot_s)} for each later token"
    elif row.tpot_limit_s:
        load = f"each later token within {stated(row.tpot_limit_s, 's')}"
    else:
        load = "within limits of latency" if row.has_limits else "without limits of latency"
    parts = [f"{row.computed_in.upper()} weights" if row.computed_in else "", _ENGINES.get(row.engine, ""), load]
    return f"{each} with {lengths}, {', '.join(part for part in parts if part)}"


def memory_text(answer: ServingAnswer, memory_bytes: float) -> str:
    """Memory of a GPU: weights, keys and values, reserve and what is free."""
    used = answer.weight_bytes + answer.cache_bytes + answer.reserve_bytes
    weights, cache, reserve, free = (
        gib_text(part) for part in (answer.weight_bytes, answer.cache_bytes, answer.reserve_bytes, memory_bytes - used)
    )
    return f"weights {weights}, {answer.work.memory_content} {cache}, workspace {reserve}, free {free} of each GPU"


def gib_text(size_bytes: float) -> str:
    """A part of the memory of a GPU."""
    size = max(size_bytes, 0.0) / GIB
    return f"{significant(size) if size >= _LEAST_GIB else f'under {_LEAST_GIB}'}{NARROW_SPACE}GiB"


# Tokens in for one out from which on a request is priced, too: its prompt is most of the work.
_LONG_PROMPT = 4.0


def cost_text(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """Hardware for a million tokens, written off over some years, and renting as much; "" without an estimate."""
    day, found = answer.day, answer.served
    # With a cost of owning, that alone is told: of other years and hours it would be another number.
    if day is None or (bought := day.bought_per_million) is None or design.ownership is not None:
        return ""
    work, rented = found.work, day.rented_per_million
    text = f"{_each_text(bought)} of hardware for a million {work.priced}"
    if work.input_tokens >= _LONG_PROMPT * work.output_tokens and not work.is_embedding:
        text = f"{text}, {_each_text(bought, 1e3 / work.priced_tokens)} for 1{NARROW_SPACE}000 requests"
    # At one load around the clock, which nobody has: of a day that is stated the mean counts.
    less = "" if work.first_token_s is None or work.varies else " (at 8 hours a day three times as much)"
    rent = "" if rented is None else f"; renting as many GPUs for these hours costs {_each_text(rented)}"
    return f"{text}: its price over {YEARS} years at {_clock_text(found)}{less}, without energy, space and people{rent}"


def _each_text(cost: TokenCost, pieces: float = 1.0) -> str:
    low, middle, high = (significant(end / pieces, 2) for end in (cost.low, cost.expected, cost.high))
    return f"about {cost.currency}{NARROW_SPACE}{middle}{'' if low == high else f' ({low} to {high})'}"


def _clock_text(answer: ServingAnswer) -> str:
    rate, work = significant(answer.served_per_s, 2), answer.work
    if work.night_hours:
        return f"{rate} requests/s in {work.night_hours} hours of each night"
    if work.varies:
        return f"{percent(work.mean_load)} of the peak rate of {rate} requests/s, the mean of the day"
    return f"{'the peak rate of ' if work.first_token_s is not None else ''}{rate} requests/s around the clock"


def _owned_millions(design: DesignAnswer, asked: Ownership | None) -> float:
    """Millions of tokens that models in use give over the years of owning; 0 of other work and without a cost."""
    if asked is None or design.ownership is None or not design.only_serves:
        return 0.0
    # A day that is stated says itself how much of the peak is used.
    used = asked.utilization_fraction or 1.0
    return sum(
        one.mean_tokens_per_s * asked.years * YEAR_S / 1e6 * (1.0 if one.work.varies else used)
        for one in _priced(design)
    )


def _priced(design: DesignAnswer) -> list[ServingAnswer]:
    """Models in use whose tokens are counted: those that come out, and texts that are embedded only without them."""
    served = [answer.serving for answer in design.workloads if answer.serving is not None]
    return [one for one in served if not one.work.is_embedding] or served


def owned_per_million(design: DesignAnswer, asked: Ownership | None) -> TokenCost | None:
    """What a million tokens of models in use cost to own; None of other work and without a cost."""
    millions, cost = _owned_millions(design, asked), design.ownership
    if not millions or cost is None:
        return None
    return TokenCost(cost.currency, cost.low / millions, cost.expected / millions, cost.high / millions)


def token_cost(design: DesignAnswer, asked: Ownership | None) -> tuple[str, bool | None]:
    """What a million tokens of models in use cost to own; whether that is no more than was asked, None: open."""
    cost = owned_per_million(design, asked)
    if cost is None or asked is None:
        return "", None
    most = math.inf if asked.cost_per_million_tokens is None else float(asked.cost_per_million_tokens)
    is_met = True if cost.high <= most else False if cost.low > most else None
    return _each_text(cost), is_met


def asked_cost_text(design: DesignAnswer, asked: Ownership | None) -> str:
    """What a million tokens cost to own, and whether that is no more than was asked; "" without [ownership]."""
    amount, is_met = token_cost(design, asked)
    if not amount or asked is None or design.ownership is None:
        return ""
    found, several = _priced(design)[0], len(design.workloads) > 1
    limit, cost, share = asked.cost_per_million_tokens, design.ownership, asked.utilization_fraction
    load = "the loads of all models together" if several else _clock_text(found)
    if share is not None:
        rate = load if several else f"{significant(found.served_per_s, 2)} requests/s"
        load = f"{rate} in {percent(share)} of all hours"
    years = plural(asked.years, "year")
    text = f"A million {found.work.priced} at {load} cost {amount} over {years} of owning, all other work included"
    if limit is None:
        return text
    most = float(limit)
    met = {True: "met", False: "missed", None: "open until quotes are there"}[is_met]
    text = f"{text}; the limit of {cost.currency}{NARROW_SPACE}{plain(most)} is {met}"
    if not (is_met and most) or share is not None or found.work.first_token_s is None or found.work.varies:
        return text
    hours = 24 * cost.high / _owned_millions(design, asked) / most
    return f"{text}, and kept from {significant(hours, 2)} hours of such load a day on"


def other_loads_text(loads: Sequence[OtherLoad]) -> str:
    """What half and twice as many people take."""
    return listed(
        [
            f"{'half' if load.factor < 1 else 'twice'} as many requests: {plural(load.n_servers, 'server')} with "
            f"{plural(load.gpus_per_server, 'GPU')}{' each' if load.n_servers > 1 else ''}"
            for load in loads
        ]
    )


def serving_cautions(found: ServingAnswer) -> tuple[str, ...]:
    """What the figures do not say."""
    cautions = []
    if (row := exceeded_run(found)) is not None:
        each = significant(found.sure_tokens_per_s / found.gpus_used)
        cautions.append(
            f"{each} {found.work.priced}/s per GPU, kept with {probability_text(found.work.confidence)} confidence by "
            "the model, are more than any run known to us with this GPU, number format and similar lengths gave: "
            f"{_run_text(row)}. Measure one replica before the order"
        )
    if found.has_four_bits:
        weights = found.weights.upper()
        cautions.append(f"{weights} weights have 4 bits: the quality of the answers is not modelled; test it")
    if found.is_untried:
        cautions.append(
            f"No run known to us multiplies {found.weights.upper()} weights in BF16 on GPUs of "
            f"{found.deployment.gpu.vendor}: without kernels for that a replica is several times slower. Measure one "
            "before the order"
        )
    if found.deployment.is_speculative:
        cautions.append(
            "Published runs of multi-token prediction have random texts; how many of the guesses prove right, and so "
            "the rate, depends on yours: test it"
        )
    if found.work.adapters:
        cautions.append(
            "No run known to us has adapters: what they take follows from their bytes and launches; test it"
        )
    if found.work.is_embedding:
        cautions.append("No run known to us embeds texts: the rate is that of prompts alone; test it")
    return tuple(cautions)


def serving_rows(design: DesignAnswer, answer: WorkloadAnswer, *, with_cost: bool) -> list[tuple[str, str]]:
    """Rows of the block "Serving performance", for command, guide and page alike; estimates of cost for the house."""
    found = answer.serving
    if found is None:
        return []
    work, loads = found.work, answer.other_loads
    by_day = [one.serving for one in design.workloads if one.serving is not None and one.night is None]
    used = sum(one.gpus_used for one in by_day)
    is_told = used < design.n_gpus and answer is design.workloads[0]
    stay = by_count(design.n_gpus - used, "stays", "stay")
    idle = f"; {plural(design.n_gpus - used, 'GPU')} of the design {stay} idle" if is_told else ""
    latencies = {one.key: latency_text(one.mean, one.at_percentile, work.percentile) for one in found.latencies}
    rows = [
        ("Load", load_text(work)),
        ("Request", lengths_text(work)),
        ("Limits", limits_text(work)),
        ("Replicas", f"{replicas_text(found)}{idle}"),
        ("Software", software_text(found)),
        ("Adapters", adapters_text(found) if work.adapters else ""),
        ("Needed", "" if found.replicas_needed is None else needed_text(found)),
        ("After a loss", failure_text(found)),
        ("Prefix cache", prefix_text(found)),
        ("Offload", offload_text(found)),
        ("Without cache", "" if found.depends_on_cache else without_cache_text(found)),
        ("In flight", flight_text(found)),
        ("First token", latencies.get("first-token", "")),
        *(("Conditional", condition.text) for condition in conditions(design, answer)),
        ("Later tokens", latencies.get("later-tokens", "")),
        ("Input" if work.is_embedding else "Output", tokens_text(found)),
        ("Published", published_text(found)),
        ("Users", users_text(found)),
        ("Sensitivity", "" if loads is None else other_loads_text(loads.value)),
        ("Memory", memory_text(found, answer.memory.memory_bytes)),
        ("Start", start_text(design, found)),
        ("Ingress", ingress_text(found)),
        ("Batch", batch_text(found) if work.first_token_s is None else ""),
        ("Vectors", vectors_text(work) if work.is_embedding else ""),
        ("Day", day_text(answer)),
        ("Energy", energy_text(design, answer)),
        ("Cost", cost_text(design, answer) if with_cost else ""),
    ]
    return [row for row in rows if row[1]]
