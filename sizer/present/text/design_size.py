"""Why a design is as large as it is: what its target takes, and what the next smaller size reaches."""

from math import inf

from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, probability_text, si, significant
from sizer.catalog.labels import sample_unit
from sizer.perf.gpu_memory import FITS_PROBABILITY, REFUSED
from sizer.physical.platform import Platform
from sizer.present import words
from sizer.sizing.checks import TARGET_LIMITS, AnyLimit, Limit, SizeLimit
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer, Maximum, SizingResult, SmallerSize, WorkloadAnswer
from sizer.sizing.search.infeasible_error import limit_error_text
from sizer.workload.target_text import target_text

# Of these the sentence on rate and probability says all: several stages together, or servers that are not there.
_NOT_NAMED = (Limit.CONFIDENCE, Limit.SERVER_LOSS)


def limit_text(limit: AnyLimit, bound: float | None = None) -> str:
    """A limit in words; ``bound`` is the number that the request sets for racks, rack units or watts."""
    return limit_error_text(limit, bound)


def required_rate_text(answer: WorkloadAnswer) -> str:
    """The rate that a target in time takes: '1,363 samples/s'; "" of other targets, which say it themselves."""
    needed = answer.required_samples_per_s
    if needed is None or answer.workload.target.time_to_train_s is None:
        return ""
    return f"{significant(needed)}{NARROW_SPACE}{sample_unit(answer.dnn)}"


def required_reads_text(answer: WorkloadAnswer) -> str:
    """What the required rate reads from the storage after the first epoch: '8.7 GB/s'; "" where it reads nothing."""
    reads = answer.required_bytes_per_s
    # A language model reads its tokens at a rate that decides nothing.
    return si(reads, "B/s") if reads and not answer.kind.trains_language else ""


def takes_text(answer: WorkloadAnswer) -> str:
    """The target as a clause, with the rate that it takes: 'the target, 3 epochs within 4.00 d, takes 1,363 ...'."""
    target, needed = target_text(answer.workload, answer.dnn), required_rate_text(answer)
    return f"the target, {target}, takes {needed}" if needed else f"the target is {target}"


def binding_text(design: DesignAnswer, maximum: Maximum | None = None) -> str:
    """Why a design is not smaller; empty where nothing says so.

    ``maximum``: of a request that asks for the highest rate.
    """
    if maximum is not None:
        answer = design.workloads[maximum.workload]
        rate = f"{significant(maximum.samples_per_s)}{NARROW_SPACE}{sample_unit(answer.dnn)}"
        return (
            f"{rate} with {probability_text(maximum.confidence)} confidence is the highest rate within the limits of "
            "the request."
        )
    limit = design.binding.limit
    told = _smaller_text(design, limit) if limit is not None else ""
    return told or binding_limit_text(design.binding, design.platform)


def binding_limit_text(binding: Binding, platform: Platform | None = None) -> str:
    """The same without what the smaller size reaches, which only the described design knows: its limit alone."""
    if binding.kind is BindingKind.GIVEN:
        return "The cluster is given."
    if binding.kind is BindingKind.GROWTH:
        servers = by_count(binding.n_servers, "server is", f"{binding.n_servers} servers are")
        return f"{'One ' if binding.n_servers == 1 else ''}{servers} enough for the first year alone."
    if binding.kind is BindingKind.SMALLEST:
        return "One server is the smallest size."
    if binding.limit is None:
        enough = f"{_servers(binding.n_servers)} {by_count(binding.n_servers, 'is', 'are')} enough, too"
        return f"{enough}: this size leads by what the request ranks by." if binding.n_servers else ""
    verb, servers = by_count(binding.n_servers, "is", "are"), _servers(binding.n_servers)
    if platform is not None:
        servers += f" with {grouped(binding.n_servers * platform.gpus_per_server)} × {platform.gpu.name}"
    if binding.limit is Limit.GPU_MEMORY:
        if binding.fit_probability is not None and binding.fit_probability >= REFUSED:
            holds = by_count(binding.n_servers, "holds", "hold")
            return f"{servers} {holds} the model {measured_first_text(binding.fit_probability)}."
        whose = by_count(binding.n_servers, "its", "their")
        return f"{servers} {verb} not enough: the model does not fit the memory of {whose} GPUs."
    limit = limit_text(binding.limit, binding.bound)
    return f"{servers} {verb} not enough. Limit: {limit}."


def measured_first_text(chance: float) -> str:
    """How likely GPUs hold a training, which is less than is planned with, and what settles it, as a clause."""
    planned = probability_text(FITS_PROBABILITY)
    return (
        f"with {probability_text(chance)}, where {planned} is planned with: measure it first, or take an optimizer in "
        "8 bits or in host memory (offload)"
    )


def _servers(count: int) -> str:
    return by_count(count, "One server", f"{words.capital(words.spelled(count))} servers")


def _smaller_text(design: DesignAnswer, limit: AnyLimit) -> str:
    """Rate or time of the next smaller size and its probability of meeting the target; "" where it says too little."""
    if limit is Limit.GPU_COUNT:
        asked = max(answer.workload.target.gpus_busy or 0 for answer in design.workloads)
        takes = f"The target of {words.plural(asked, 'GPU')} takes {words.plural(design.n_servers, 'server')}"
        remaining = (design.n_servers - 1) * design.platform.gpus_per_server
        if not 0 < remaining < asked:
            return f"{takes}."
        return f"{takes}; after the loss of one it is missed until the repair, as {grouped(remaining)} GPUs remain."
    n_fewer = 2 if limit is Limit.SERVER_LOSS else 1
    # What does not fit has no rate.
    if limit is Limit.GPU_MEMORY or limit not in (*TARGET_LIMITS, Limit.SERVER_LOSS):
        return ""
    sizes = [
        (answer, answer.smaller[n_fewer - 1])
        for answer in design.workloads
        if len(answer.smaller) >= n_fewer and answer.rate_is_predicted
    ]
    if design.probability is None:
        short = [pair for pair in sizes if limit is not Limit.SERVER_LOSS and not _is_enough(*pair)]
        return f"{_expects(*short[0])}; {takes_text(short[0][0])}." if short else ""
    known = [(one.probability, index) for index, (_, one) in enumerate(sizes) if one.probability is not None]
    if not known:
        return ""
    answer, size = sizes[min(known)[1]]
    assert size.probability is not None  # known
    several = len(design.workloads) > 1
    here = answer.probability if several else design.probability
    if here is None or size.probability >= here or probability_text(size.probability) == probability_text(here):
        return ""
    target = f"the target of {answer.workload.name}" if several else "the target"
    if limit is Limit.SERVER_LOSS:
        return (
            f"{_servers(design.n_servers - 1)} would not tolerate the loss of one: "
            f"{words.inside_sentence(_reaches(answer, size))} {target} with a probability of "
            f"{_only(answer, size)}{probability_text(size.probability)}.{_after_loss_text(answer)}"
        )
    return (
        f"{_reaches(answer, size)} {target} with a probability of {_only(answer, size)}"
        f"{probability_text(size.probability)}; {words.spelled(design.n_servers)} "
        f"{by_count(design.n_servers, 'meets', 'meet')} it with {probability_text(here)}.{_why(design, size, limit)}"
    )


def _why(design: DesignAnswer, size: SmallerSize, limit: AnyLimit) -> str:
    """Why a smaller size misses: GPUs that its layout leaves without work, else its limit."""
    servers = by_count(size.n_servers, "one server", f"{words.spelled(size.n_servers)} servers")
    gpus = size.n_servers * design.platform.gpus_per_server
    if size.gpus_at_work < gpus:
        return f" With {servers} the fastest layout uses {grouped(size.gpus_at_work)} of the {grouped(gpus)} GPUs."
    return "" if limit in _NOT_NAMED else f" The bottleneck of {servers} is the {limit_text(limit)}."


def _after_loss_text(answer: WorkloadAnswer) -> str:
    """What the design itself reaches after the loss of a server."""
    left = answer.smaller[0]
    if left.probability is None:
        return ""
    meets = by_count(left.n_servers, "meets", "meet")
    return (
        f" Of {words.spelled(left.n_servers + 1)}, {words.spelled(left.n_servers)} remain and {meets} it with "
        f"{probability_text(left.probability)}."
    )


def _reaches(answer: WorkloadAnswer, size: SmallerSize) -> str:
    """'Four servers are expected to take 3.81 d, but meet'."""
    link = ", but" if _is_enough(answer, size) else " and"
    return f"{_expects(answer, size)}{link} {by_count(size.n_servers, 'meets', 'meet')}"


def _expects(answer: WorkloadAnswer, size: SmallerSize) -> str:
    verb = by_count(size.n_servers, "is", "are")
    if answer.workload.target.time_to_train_s is not None and size.time_s is not None:
        does = f"take {duration(size.time_s)}"
    else:
        does = f"deliver {significant(size.samples_per_s)}{NARROW_SPACE}{sample_unit(answer.dnn)}"
    return f"{_servers(size.n_servers)} {verb} expected to {does}"


def _only(answer: WorkloadAnswer, size: SmallerSize) -> str:
    return "only " if _is_enough(answer, size) else ""


def _is_enough(answer: WorkloadAnswer, size: SmallerSize) -> bool:
    """Whether the expected rate or time meets the target."""
    target_s = answer.workload.target.time_to_train_s
    if target_s is not None and size.time_s is not None:
        return size.time_s <= target_s
    return answer.required_samples_per_s is not None and size.samples_per_s >= answer.required_samples_per_s


def asked_target_text(result: SizingResult, answer: WorkloadAnswer) -> str:
    """The target as the request states it: the limits of the highest rate and its confidence; users with their rate."""
    found = result.maximum
    if found is None or result.design.workloads[found.workload].workload != answer.workload:
        reached = target_text(answer.workload, answer.dnn)
        stated = [work for work in result.request.workload if work.name == answer.workload.name]
        people = [target_text(work, answer.dnn) for work in stated if work.target.users or work.target.active_users]
        return f"{people[0]}, {reached}" if people else reached
    return f"{highest_rate_text(result)}, with {probability_text(found.confidence)} confidence"


def highest_rate_text(result: SizingResult) -> str:
    """What a request for the highest rate asks for: 'the highest rate within USD 500,000'."""
    budget, steps = result.request.limits.budget, () if result.maximum is None else result.maximum.steps
    limits = "the limits"
    if budget is not None and [step.limit for step in steps] == [SizeLimit.BUDGET]:
        limits = words.money(words.whole(budget), result.request.currency)
    return f"the highest rate within {limits}"


def not_predicted_text(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """The target of a workload whose rate on these GPUs is not predicted, as a clause."""
    target = target_text(answer.workload, answer.dnn)
    return f"the target is {target}; no rate of the {design.platform.gpu.name} is predicted"


def one_server_text(
    design: DesignAnswer, answer: WorkloadAnswer, samples_per_s: float | None, *, is_maximum: bool = False
) -> str:
    """What one server delivers of a workload, compared with its target and with all servers."""
    if not answer.rate_is_predicted:
        return f"{answer.workload.name}: {not_predicted_text(design, answer)}."
    if answer.kind.trains_language:
        return _servers_of_language_text(design, answer, is_maximum=is_maximum)
    if samples_per_s is None:
        server, gpus = design.platform.server.name, words.plural(design.platform.gpus_per_server, "GPU")
        in_use = [workload.serving for workload in design.workloads if workload.serving is not None]
        needed = sum(one.gpus_needed for one in in_use)
        if len(in_use) > 1 and needed > design.platform.gpus_per_server:
            told = f"The {len(in_use)} models in use take {grouped(needed)} GPUs at once; one {server} has {gpus}."
            return told if answer.serving is in_use[0] else ""
        return (
            f"{answer.workload.name}: the {gpus} of one {server} do not hold {answer.dnn.name}; {takes_text(answer)}."
        )
    rate = f"{significant(samples_per_s)} {sample_unit(answer.dnn)}"
    all_servers = f"{words.spelled(design.n_servers)} deliver {significant(float(answer.throughput.value))}"
    clause = all_servers if is_maximum else takes_text(answer)
    if not is_maximum and samples_per_s >= (answer.required_samples_per_s or inf):
        clause += ". At the expected rate one is enough for this target alone"
    first = f"{answer.workload.name}: one {design.platform.server.name} delivers {rate}; {clause}."
    at = f"With {grouped(design.n_servers)} servers"
    if answer.serving is not None:  # replicas add
        return first
    if answer.bottleneck in ("gpu", "exchange"):
        share = f"{words.percent(answer.scaling_efficiency)} compared with one GPU"
        return f"{first} Scaling efficiency at {grouped(design.n_gpus)} GPUs: {share}."
    # What GPUs lose to a slower stage is no loss of scaling.
    busy = f"{100 * answer.gpu_busy_fraction:.0f}{NARROW_SPACE}%"
    return f"{first} {at} the bottleneck is {words.stage(answer.bottleneck, inside=True)}; GPU utilization: {busy}."


def _servers_of_language_text(design: DesignAnswer, answer: WorkloadAnswer, *, is_maximum: bool) -> str:
    """What one server delivers of a language model, and how many the target takes at the expected rate."""
    unit, server = sample_unit(answer.dnn), design.platform.server.name
    assert answer.kind.trains_language  # asked of language models only
    needed = answer.required_samples_per_s
    if needed is None:
        target, gpus = target_text(answer.workload, answer.dnn), words.plural(design.platform.gpus_per_server, "GPU")
        return f"{answer.workload.name}: the target is {target}; one {server} has {gpus}."
    each = float(answer.throughput.value) / answer.trained.gpus_used * design.platform.gpus_per_server
    least = answer.servers_at_even_odds
    lost = "" if answer.time is None or answer.time.whole_run is None else " with what a whole run loses"
    takes = "" if is_maximum else f"the target takes {significant(needed)} {unit}{lost}; "
    text = f"{answer.workload.name}: {takes}one {server} delivers {significant(each)} {unit}"
    if answer.trained.gpus_used > design.platform.gpus_per_server:
        text = f"{text} as one of {grouped(design.n_servers)}"
    if is_maximum or least is None or least >= design.n_servers or answer.probability is None:
        return f"{text}."
    reach = by_count(least, "one server reaches", f"{grouped(least)} servers reach")
    text = f"{text}. At the expected rate {reach} the target"
    if len(design.workloads) > 1:  # others may take the servers
        return f"{text}."
    return f"{text}; {grouped(design.n_servers)} reach it with {probability_text(answer.probability)} confidence."
