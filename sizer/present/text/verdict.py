"""The verdict in words: whether a cluster is needed and why, why this design, and why it is not smaller."""

from math import isfinite

import numpy as np

from sizer.base import units
from sizer.base.quantities import (
    NARROW_SPACE,
    by_count,
    duration,
    grouped,
    plain,
    probability_text,
    si,
    significant,
    tokens_text,
)
from sizer.bom.prices import usual_rate_usd
from sizer.catalog.labels import sample_unit
from sizer.catalog.sale import introduced_on, is_sold, newest_sold
from sizer.drawings.racks import at_least
from sizer.perf.gpu_memory import REFUSED
from sizer.physical.quantities import ExistingUse
from sizer.physical.roles import NetworkRole, Role
from sizer.present import words
from sizer.present.text.bill_warnings import life_cycle_sentences, sale_end_sentences
from sizer.present.text.calibration import compared_time_s, evidence_warning
from sizer.present.text.checks import conditional_sentence, spare_sentence
from sizer.present.text.design_size import (
    asked_target_text,
    binding_text,
    highest_rate_text,
    measured_first_text,
    one_server_text,
)
from sizer.present.text.money import (
    BUT_FOR_CABLES,
    cost_at,
    is_free,
    least_cost_text,
    owned,
    price_range_text,
    range_text,
    savings_text,
    servers_price_text,
    tie_text,
)
from sizer.present.text.serving import (
    asked_cost_text,
    conditions,
    served_text,
    serving_cautions,
)
from sizer.present.words import is_even
from sizer.sizing.checks import TARGET_LIMITS, Limit
from sizer.sizing.constraints.job_mix import PermanentJobs
from sizer.sizing.decision_options import can_be_bought
from sizer.sizing.reasons import (
    BindingKind,
    DataInMemory,
    IdleReason,
    LinkCarriesReads,
    MoreEpochs,
    NoClusterFileSystem,
    NoServerFabric,
    OneServerFallsShort,
    Preference,
    PreferenceKind,
    RunnerUpKind,
    Selection,
    SelectionKind,
    SizeKey,
    VerdictKind,
    VerdictReason,
)
from sizer.sizing.result import DesignAnswer, IdleStorage, SizingResult, WorkloadAnswer
from sizer.sizing.stages.evaluate import least_chance
from sizer.workload.custom_network import CustomDnn
from sizer.workload.eras import EquipmentBasis
from sizer.workload.request import ranks_by_cost
from sizer.workload.serving import LoadKind
from sizer.workload.team import Team

# What two servers do over one, from which on it is no argument against a second.
_IN_PROPORTION = 1.95
# Data whose move to rented GPUs takes a day at 1 Gbit/s.
_WORTH_MOVING_BYTES = 10.8e12
# Servers that are there and meet the targets as likely as not are tried before others are bought.
_WORTH_TRYING = 0.5
_SIZES = {
    SizeKey.NEW_SERVERS: "new servers",
    SizeKey.NEW_STORAGE_NODES: "new storage nodes",
    SizeKey.IDLE_SERVER_KINDS: "kinds of existing servers left idle",
    SizeKey.IDLE_STORAGE_KINDS: "kinds of existing storage left idle",
    SizeKey.IDLE_SWITCH_KINDS: "kinds of existing switches left idle",
    SizeKey.SERVERS: "servers",
    SizeKey.STORAGE_NODES: "storage nodes",
    SizeKey.RACK_UNITS: "rack units",
}
# What the first platform has by each key that a user may rank by; cost has a sentence of its own.
_BEST_BY_KEY = {
    "time": "shortest time",
    "gpus": "fewest GPUs",
    "rack-units": "fewest rack units",
    "watts": "least power",
    "rate": "lowest cost for the work that its GPUs do",
}
# How a design compares with another one by each key that platforms are ranked by.
_MORE = {
    "cost": "costs about {by} more",
    "ownership": "costs about {by} more to own",
    "time": "takes {by} longer",
    "gpus": "has {by} more GPUs",
    "rack-units": "takes {by} more rack units",
    "watts": "draws {by} more power",
    "rate": "costs {by} more for the rate of its GPUs",
}


def preference_text(selection: Selection, currency: str, *, with_amounts: bool) -> str:
    """What the preference does, in one sentence or two; "" where the request prefers no vendor.

    ``currency``: of the request. ``with_amounts``: whether to say how much more the preferred design costs; a
    customer's copy never does.
    """
    preference = selection.preference
    if preference is None:
        return ""
    noun = "vendor" if len(preference.vendors) == 1 else "vendors"
    vendors = f"the preferred {noun} {words.listed(preference.vendors)}"
    within = f"{preference.within_percent:g}{NARROW_SPACE}%"
    more = _more(preference, selection.rank_by or "cost", currency, with_amounts=with_amounts)
    match preference.kind:
        case PreferenceKind.LEADS:
            first = f"{preference.other}, which leads without the preference"
            if not more:
                return f"It is of {vendors} and at most {within} behind {first}."
            text = f"It is of {vendors} and {more} than {first}; the preference is worth up to {within}."
            if ranks_by_cost(selection.rank_by) and not preference.is_exact:
                text = f"{text} Missing prices could still change which of the two costs less."
            return text
        case PreferenceKind.LEADS_ANYWAY:
            return f"It leads without the preference for {vendors}, too."
        case PreferenceKind.NO_DESIGN:
            return f"No design with GPUs, servers or storage of {vendors} meets the request."
        case PreferenceKind.CONDITIONAL:
            reason = "it depends on a value that the vendor must confirm"
        case PreferenceKind.OVER_BUDGET:
            reason = "it is less likely to keep the budget than was asked"
        case PreferenceKind.TOO_FAR:
            reason = (
                f"it {more}, and the preference is worth up to {within}" if more else f"it is more than {within} behind"
            )
    return f"The best design with more parts of {vendors} is {preference.other}; {reason}."


def _more(preference: Preference, rank_by: str, currency: str, *, with_amounts: bool) -> str:
    """By how much the preferred design of the two is behind the other; "" where that is not told."""
    if preference.chosen_value is None or preference.other_value is None:
        return ""
    least = min(preference.chosen_value, preference.other_value)
    gap = abs(preference.chosen_value - preference.other_value)
    if ranks_by_cost(rank_by) and not with_amounts:
        return ""
    if not gap:
        return ""
    by = f"{significant(100 * gap / least, 2)}{NARROW_SPACE}%" if least else significant(gap, 2)
    if ranks_by_cost(rank_by):
        by = f"{significant(gap, 2)} {currency} ({by})"
    return _MORE[rank_by].format(by=by)


def verdict_text(result: SizingResult) -> str:
    """The answer in one or two sentences."""
    design, verdict = result.design, result.verdict
    if (team := result.request.team) is not None:
        met = _met_text(design, result.request.confidence)
        text = " ".join(filter(None, (_of_team_text(team, design), met, _lone_fabric_text(team, design))))
    elif verdict.single is None:
        text = _cluster_text(result)
    elif verdict.kind is VerdictKind.ONE_SERVER_TOO:
        one = f"one {verdict.single.platform.server.name} meets the target{_price_text(verdict.single)}"
        text = f"{_cluster_text(result)} It also works without a cluster: {one}."
    elif result.maximum is not None:
        text = f"You do not need a cluster. {_cluster_text(result)}"
    else:
        text = _single_text(verdict.kind, verdict.single, result)
    if (other := result.less_power) is not None:
        most, less = (si(float(one.quantities.power_max_w[0]), "W") for one in (design, other))
        newer = f"{other.name} with {other.platform.gpu.name} meets the same target with {less}"
        text = f"This design draws {most}: GPUs of today need far less ({newer}). {text}"
    text = " ".join(part for part in (_owned_text(result), *_served_texts(design), text, _small_text(result)) if part)
    told = (
        *(_surer_texts(result), served_cautions(result), site_texts(result)),
        *(_memory_texts(result), measure_texts(result), _turn_texts(result)),
        *(_budget_texts(result), _idle_texts(result), equipment_texts(result), life_cycle_sentences(design)),
    )
    sentences = [text, *(sentence for texts in told for sentence in texts), rented_run_text(result)]
    return " ".join(filter(None, sentences))


def _surer_texts(result: SizingResult) -> list[str]:
    """That a design keeps its limits less surely than asked, and what does."""
    if not result.design.late:
        return []
    asked = probability_text(result.request.confidence)
    other = None if result.surer is None else result.surer.value
    if other is None or other.probability is None:
        return [f"No design looked at is much surer: none reaches {asked}."]
    gpus, none = f"{grouped(other.n_gpus)} × {other.platform.gpu.name}", ""
    if other.probability < least_chance(result.request.confidence):
        none = f"; none looked at reaches {asked}"
    chance = probability_text(other.probability)
    return [f"{other.name} ({gpus}) meets it with {chance}{_price_text(other)}{none}."]


def _memory_texts(result: SizingResult) -> list[str]:
    """That fewer servers hold the training about as likely as not, so that memory alone decides the size."""
    is_likely = (result.design.binding.fit_probability or 0.0) >= _WORTH_TRYING
    return [binding_text(result.design)] if is_likely else []


def measure_texts(result: SizingResult, *, names_key: bool = True) -> list[str]:
    """How many servers, and which share of the price, are there for what is not known alone; what narrows that.

    ``names_key``: the table of the request that states a measured rate is named.
    """
    design = result.design
    names_key &= not design.bill.is_customer_copy
    expected = [answer.servers_at_even_odds for answer in design.workloads]
    known = [count for count in expected if count is not None]
    if not known or len(known) < len(expected) or result.maximum is not None or not _is_for_confidence(result):
        return []
    least = max(known)
    more = min(design.n_servers - least, design.servers_bought)
    if more < 1:
        return []
    price = servers_price_text(result, more)
    money = f", {price} for the servers alone," if price else ""
    enough = by_count(least, "one server is", f"{grouped(least)} servers are")
    others = f"{grouped(more)} of the {grouped(design.n_servers)} servers{money}"
    odds = design.workloads[0].chance_at_even_odds if len(expected) == 1 else None
    chance = "" if odds is None else f" ({probability_text(odds)})"
    what = f"{others} {by_count(more, 'covers', 'cover')} the uncertainty of that rate"
    text = f"At the expected rate {enough} enough{chance}; {what}."
    if any(answer.workload.measured for answer in design.workloads):
        return [text]
    if design.only_serves:
        stated = ", stated as [[workload.measured]]," if names_key else ""
        return [f"{text} One replica, measured first under this load{stated} settles how many are needed."]
    can_state = all(
        answer.kind.trains_language or isinstance(answer.workload.dnn, CustomDnn) for answer in design.workloads
    )
    stated = ", stated as [[workload.measured]]," if can_state and names_key else ""
    return [f"{text} Measuring this work for an hour on the fewest GPUs that hold it{stated} narrows it most."]


def _of_team_text(team: Team, design: DesignAnswer) -> str:
    """What a team gets of a design: how long its jobs wait, and how much of the GPUs they use."""
    text = f"{design.name} for a team{_price_text(design)}: {_waits_text(team)}"
    queued = [job for job in team.job if job.always_running is None]
    if any(job.holds_anywhere for job in queued):
        text += f" if the stated durations hold on the {design.platform.gpu.name} (else state the GPU of the durations)"
    if not queued or any(job.duration_s is None or job.duration_gpu is not None for job in queued):
        return f"{text}."
    hours = sum(team.jobs_a_day(job) * (job.duration_s or 0.0) * job.gpus / job.sessions_per_gpu for job in queued)
    hours /= units.HOUR_S
    standing = [
        PermanentJobs(job.gpus, job.whole_servers, job.always_running or 0, job.sessions_per_gpu) for job in team.job
    ]
    there = 24 * (design.n_gpus - sum(one.gpus * one.n_places for one in standing))
    used = f"{significant(hours)} of {grouped(there)} GPU hours ({words.percent(hours / there)})"
    return f"{text}; on a working day they take {used}."


def _lone_fabric_text(team: Team, design: DesignAnswer) -> str:
    """That nothing a team runs needs the compute fabric, which servers bring ports for; "" where something does."""
    net = next((network for network in design.quantities.networks if network.role is NetworkRole.COMPUTE), None)
    spans = any(job.gpus > design.platform.gpus_per_server for job in team.job)
    is_read_over_it = design.platform.attachment in ("fabric", "gateway", "spine")
    if net is None or spans or is_read_over_it or any(one.servers_at_even_odds != 1 for one in design.workloads):
        return ""
    return (
        f"No job of the team takes more than one server, and one is expected to meet each target: nothing here needs "
        f"the {net.kind.name} between servers; leave it out unless larger jobs are to come."
    )


def _waits_text(team: Team) -> str:
    share = f"{plain(100 * team.wait_probability)}{NARROW_SPACE}%"
    return f"at least {share} of the jobs of each kind start within the queue wait that it accepts"


def _is_for_confidence(result: SizingResult) -> bool:
    """Whether the rate alone decides that a design is no smaller: memory, waits and limits would allow fewer."""
    design, confidence = result.design, result.request.confidence
    if design.binding.kind is not BindingKind.GROWTH:
        return design.binding.limit in TARGET_LIMITS
    fewer = [answer.smaller[0].probability for answer in design.workloads if answer.smaller]
    is_missed = any(chance is not None and chance < confidence for chance in fewer)
    return design.binding.n_servers == design.n_servers and is_missed


def _turn_texts(result: SizingResult) -> list[str]:
    """That workloads take turns: trainings with models in use, and those that GPUs cannot hold at once.

    Nothing of a team, whose jobs queue, and of models in use, which have GPUs of their own.
    """
    design = result.design
    trained = [answer for answer in design.workloads if answer.serving is None]
    if result.request.team is not None or not trained:
        return []
    texts = []
    served = [answer.serving for answer in design.workloads if answer.serving is not None and answer.night is None]
    if served and any(answer.night is None for answer in trained):
        needed = grouped(sum(one.gpus_needed for one in served))
        texts.append(
            "Serving takes turns with the other workloads: they are sized with all "
            f"{words.plural(design.n_gpus, 'GPU')}, of which serving needs {needed}."
        )
    need, has = sum(answer.memory.need_bytes for answer in trained), design.platform.gpu.memory_bytes.value
    if len(trained) > 1 and need > has:
        texts.append(
            f"The workloads take turns, for example by day and by night: together they would take "
            f"{plain(need / units.GIB, 3)} of the {plain(has / units.GIB, 3)} GiB of each GPU."
        )
    return texts


def _served_texts(design: DesignAnswer) -> list[str]:
    """What GPUs serve, where that is the question."""
    texts = [
        f"{served_text(answer.serving, design.platform.gpu.name)}."
        for answer in design.workloads
        if answer.serving is not None and answer.serving.work.load_kind is LoadKind.GPUS
    ]
    served = [answer.serving for answer in design.workloads if answer.serving is not None and answer.night is None]
    texts += [
        f"{answer.workload.name} has {significant(night.gpus)} of the {words.plural(design.n_gpus, 'GPU')} in "
        f"{night.hours} hours of the night from {night.first_hour}:00 on; models in use keep the others."
        for answer in design.workloads
        if (night := answer.night) is not None
    ]
    if len(served) > 1:
        used = words.plural(sum(one.gpus_used for one in served), "GPU")
        texts.append(f"The {len(served)} models in use run at the same time and share the cluster: {used} serve them.")
    return texts


def served_cautions(result: SizingResult) -> list[str]:
    """What is to be measured, tested or prepared before a design is ordered, and whether a cost asked for is kept."""
    design, several = result.design, len(result.design.workloads) > 1
    found = [
        f"{f'{answer.workload.name}: this' if several else 'This'} holds {condition.text}."
        for answer in design.workloads
        if answer.serving is not None
        for condition in conditions(design, answer)
    ]
    served = [answer.serving for answer in design.workloads if answer.serving is not None]
    if not served:
        return []
    found += [f"{text}." for one in served for text in serving_cautions(one)]
    cost = asked_cost_text(design, result.request.ownership)
    return [*found, *([f"{cost}."] if cost else [])]


def site_texts(result: SizingResult) -> list[str]:
    """What of the servers that are bought a building, software or a purchase must be ready for."""
    design = result.design
    server = design.platform.server
    if not design.servers_bought:
        return []
    texts = []
    if liquid_w := float(design.quantities.liquid_heat_w[0]):
        units = sum(device.role is Role.COOLANT_UNIT for device in design.plan.devices)
        texts.append(
            f"The {server.name} is cooled by liquid: the building brings water for {si(liquid_w, 'W')}"
            + (f" and {words.plural(units, 'coolant distribution unit')}, one of them spare (N+1)." if units else ".")
        )
    if design.platform.other_software is not None:
        texts.append(f"{other_software_text(design)}.")
    return texts


def other_software_text(design: DesignAnswer) -> str:
    """What software must be ready for where GPUs or processors are of another kind than most."""
    platform = design.platform
    if platform.other_software == "arm":
        return f"The processors of the {platform.server.name} are Arm: software must be built for them (aarch64)"
    stack = {"rocm": "ROCm", "gaudi": "Intel's Gaudi software"}[str(platform.other_software)]
    return f"The {platform.gpu.name} runs {stack}, not CUDA: confirm that all operators of your code run on it"


def _budget_texts(result: SizingResult) -> list[str]:
    """How likely target and budget are met together, where the budget may be broken or its currency is converted."""
    design, budget = result.design, result.design.budget_check
    if budget is None:
        return []
    rate = usual_rate_usd(result.request)
    basis = (
        "" if rate is None else f" (price ranges in USD at {plain(rate)} for one {result.request.currency}, assumed)"
    )
    if budget.probability == 1:
        return [] if rate is None else [f"The budget is kept{basis}."]
    amount = words.money(words.whole(budget.asked), result.request.currency)
    if budget.probability is None or design.joint_probability is None:
        return [f"Whether it keeps the budget of {amount} is not known."]
    kept, both = probability_text(budget.probability), probability_text(design.joint_probability)
    noun = "all targets" if len(design.workloads) > 1 else "the target"
    return [
        f"It keeps the budget of {amount} with a probability of {kept}{basis}; the probability of meeting {noun} "
        f"within the budget is {both}.{_likelier_text(result)}"
    ]


def _likelier_text(result: SizingResult) -> str:
    """The design that keeps targets and budget together more likely than the described one; "" where none does."""
    found = None if result.likelier is None else result.likelier.value
    if found is None or found.budget_check is None:
        return ""
    chances = (found.joint_probability, found.probability, found.budget_check.probability)
    both, met, kept = (probability_text(chance or 0.0) for chance in chances)
    gpus = f"{found.n_gpus} × {found.platform.gpu.name}"
    return f" {found.name} ({gpus}) is likelier to keep both, {both}: the target with {met}, the budget with {kept}."


def rented_run_text(result: SizingResult) -> str:
    """What one run costs to rent, and how many cost as much as the purchase; "" where nothing ends, or is bought."""
    rental, cost = result.run_rental, result.design.cost
    if rental is None or (result.design.existing is not None and not result.design.servers_bought):
        return ""
    hours = f"{significant(rental.gpu_hours)} GPU-hours of {rental.gpu}"
    expected = range_text(rental.currency, rental.expected, rental.expected)
    ends = "" if rental.low == rental.high else f" ({range_text(rental.currency, rental.low, rental.high)})"
    moved = sum({answer.dataset.name: answer.dataset_bytes for answer in result.design.workloads}.values())
    without = f", without moving and storing {si(moved, 'B')} of data" if moved >= _WORTH_MOVING_BYTES else ""
    text = f"Rented, one run ({hours}) costs {expected}{ends}{without}"
    if cost is None or not isfinite(cost.high) or cost.low < rental.high:
        return f"{text}."
    runs = significant(cost.expected / rental.expected, 2)
    return f"{text}; about {runs} runs cost as much as the purchase."


def _idle_texts(result: SizingResult) -> list[str]:
    """What servers that are there, and that the design leaves idle, would do alone."""
    texts, answer, existing = [], result.design.workloads[0], result.design.existing
    if existing is not None and not result.design.servers_bought:
        texts += _all_servers_text(result.design, existing)
    for idle in result.idle_servers:
        servers = f"The existing {grouped(idle.equipment.count)} × {idle.equipment.name}"
        servers += f", taken to hold the {idle.gpu}," if idle.gpu else ""
        servers += by_count(idle.equipment.count, " is", " are") + " free for other work"
        if idle.samples_per_s is None:
            language = answer.language
            at = "" if language is None else f" with sequences of {grouped(language.work.sequence)} tokens"
            less = "; adapters (LoRA) need far less memory" if language and language.work.method != "lora" else ""
            holds = f"do not hold {answer.dnn.name}{at}"
            if idle.probability >= REFUSED:
                holds = f"hold {answer.dnn.name}{at} {measured_first_text(idle.probability)}"
            texts.append(f"{servers}: their GPUs {holds}{less}.")
            continue
        rate = f"{significant(idle.samples_per_s)}{NARROW_SPACE}{sample_unit(answer.dnn)}"
        alone = f"to deliver {rate}" if idle.time_s is None else f"to take {duration(idle.time_s)}"
        text = f"{servers}, alone expected {alone} (target: {asked_target_text(result, answer)}"
        if not idle.has_rate:
            text += "; by their peak alone, as no run of such a model on their GPUs is published"
        if idle.probability >= _WORTH_TRYING:
            text += f"; met with {probability_text(idle.probability)} confidence"
        texts.append(f"{text}).")
        is_settled = idle.has_rate and idle.probability >= result.request.confidence
        if idle.probability >= _WORTH_TRYING and not is_settled:
            texts.append("Run the work there for an hour before you order.")
    return [*texts, *(_idle_storage_text(storage, result.design.n_servers) for storage in result.idle_storage)]


def _all_servers_text(design: DesignAnswer, existing: ExistingUse) -> list[str]:
    """What all servers of its kind that are there do at no more cost: end a training sooner, take over after a loss."""
    count = design.n_servers + sum(one.count for one in existing.idle if one.item == design.platform.server.id)
    along, spare = design.workloads[0].scaling, count - design.n_servers
    if design.only_serves and spare:
        others = by_count(spare, f"The other {design.platform.server.name} takes", f"The other {grouped(spare)} take")
        return [f"{others} over after the loss of a server, at no more cost: run the model there, too."]
    if along.time_s is None or not design.n_servers < count <= along.n_servers[-1]:
        return []
    here_s, all_s = np.interp([design.n_servers, count], along.n_servers, along.time_s.value)
    all_of_them = by_count(count - 1, "Both", f"All {grouped(count)}")
    return [f"{all_of_them} would take {duration(float(all_s))}, at no more cost."] if all_s < here_s else []


def _idle_storage_text(idle: IdleStorage, n_servers: int) -> str:
    """Why storage that is there is not read from, and how long copying from it takes."""
    needed, given = idle.needed, idle.given
    match idle.reason:
        case IdleReason.NOT_CONNECTED:
            why = "no port, gateway or adapter of the catalogue connects it to the servers"
        case IdleReason.CAPACITY:
            why = f"{si(needed, 'B')} must be stored, and it holds {si(given, 'B')}"
        case IdleReason.READ_RATE:
            why = f"the design reads {si(needed, 'B/s')}, and it delivers {si(given, 'B/s')}"
        case IdleReason.RATE_UNKNOWN:
            why = "the vendor must confirm its read rate; the request can state it"
        case IdleReason.CAPACITY_UNKNOWN:
            why = f"the vendor must confirm what it holds, and {si(needed, 'B')} are stored; the request can state it"
        case IdleReason.RANKED:
            why = f"it delivers enough, {si(given, 'B/s')}, and this design leads without it"
    text = f"The existing {idle.equipment.name.removeprefix('existing ')} stays idle: {why}."
    if idle.copy_s is None:
        return text
    servers = by_count(n_servers, "the server", f"{grouped(n_servers)} servers")
    return f"{text} Copying the data from it to the drives of {servers} takes {duration(idle.copy_s)}."


def _small_text(result: SizingResult) -> str:
    """That one card is enough, by what the targets take of it."""
    design = result.design
    if result.request.team is not None or not design.is_small or design.servers_bought == 0:
        return ""
    share = words.percent(design.share_of_one_gpu)
    text = f"The target takes {share} of one {design.platform.gpu.name} at the low end of its rate"
    if design.platform.server.is_workstation:
        return f"{text}."
    if not design.platform.gpu.form_factor.value.startswith("pcie"):
        return f"{text}: a smaller server, or rented hours, are enough."
    return f"{text}: a workstation with one such card is enough, and a server is a choice."


def _owned_text(result: SizingResult) -> str:
    """That the servers that are there are enough, and what is assumed of them."""
    design = result.design
    if design.existing is None or design.servers_bought:
        return ""
    own = [one for one in design.existing.used if one.item == design.platform.server.id]
    if not own:
        return ""
    servers = f"{grouped(own[0].count)} × {own[0].name}"
    server, gpu, request = design.platform.server, design.platform.gpu, result.request
    others = [design.plan.catalog.gpus[name].name for name in server.gpus if name != gpu.id]
    networks = "management network" if request.existing.switches else "networks"
    taken = [f"racks, power, head node and {networks} around them are there"]
    if others and gpu.id not in {*request.platforms.gpus, *request.existing.gpus}:
        taken.insert(0, f"they have the {gpu.name}, not the {words.listed(others, 'or')}")
    return (
        f"No GPU server need be bought: the existing {servers} {by_count(own[0].count, 'is', 'are')} enough. "
        f"Assumed: {'; '.join(taken)}."
    )


def proposal_text(result: SizingResult, *, takes_turns: bool = False) -> str:
    """The answer without its confidence: what is proposed, what it does, and the target.

    ``takes_turns``: whether the sized run leaves the jobs of the team too few servers.
    """
    design, single = result.design, result.verdict.single
    served = [answer for answer in design.workloads if answer.serving is not None]
    holds = [f"This holds on condition that {one.clause}." for answer in served for one in conditions(design, answer)]
    if single is None or result.verdict.kind is VerdictKind.ONE_SERVER_TOO:
        served_texts = _served_texts(design)
        is_told = any(one.served.work.load_kind is LoadKind.GPUS for one in served)
        team, told = result.request.team, _rates_text(design, result)
        if team is not None:
            turns = "In turns with them, alone" if takes_turns else "Alone"
            told = f"{_waits_text(team)}. {turns} on all GPUs: {told}"
        rates = [*([] if is_told else [f"{design.name}: {told}."]), *served_texts]
        texts = [*rates, *holds, *equipment_texts(result)]
        return " ".join([*texts, *sale_end_sentences(design)])
    server = single.platform.server.name
    verb = "may be" if single.probability is None or single.late else "is"
    if single.probability is not None and any(answer.unmeasured for answer in single.workloads):
        verb = "is expected to be"
    turns = " for the training and the team's jobs in turns" if takes_turns else ""
    text = f"One {server} with {_storage_text(single)} {verb} enough{turns}: {_rates_text(single, result)}."
    texts = [*(_served_texts(single) or [text]), *holds, *equipment_texts(result)]
    return " ".join([*texts, *sale_end_sentences(single)])


def equipment_texts(result: SizingResult) -> list[str]:
    """That the GPU servers that are bought cannot be ordered on the date of the request, or how old their GPUs are."""
    design, day = result.design, result.request.date
    gpu, catalog = design.platform.gpu, design.plan.catalog
    if result.equipment is EquipmentBasis.NOT_ON_SALE:
        on_day = "" if day is None else f" on {day}"
        networks = " and ".join(dict.fromkeys(answer.dnn.name for answer in design.workloads))
        return [
            f"Our catalogue has no run of {networks} on GPUs that can be ordered{on_day}; it was sized with the "
            f"{gpu.name}, which cannot be ordered then."
        ]
    newest = newest_sold(catalog, gpu, day)
    server = design.platform.server
    if result.newer is not None and not can_be_bought(design, catalog, day):
        option = result.newer.value
        what = f"New servers with {gpu.name}" if is_sold(catalog, server, day) else f"The {server.name}"
        instead = "" if newest is None else f": today's GPUs are {newest.name}"
        if option is not None:
            today = option.design
            does = by_count(today.n_servers, "does", "do")
            instead = f": {today.name} with {today.platform.gpu.name} {does} the same work today"
        return [f"{what} can no longer be ordered as far as known{instead}."]
    used = () if design.existing is None else design.existing.used
    extended = [one.name for one in used if one.item in design.platform.extends]
    if extended and design.servers_bought:
        return [
            f"The {words.listed(extended)} can no longer be ordered: {grouped(design.servers_bought)} × "
            f"{server.name} with the same GPUs and ports are bought beside them, for one cluster."
        ]
    asked = result.request.platforms
    is_named = gpu.id in asked.gpus or gpu.generation in asked.generations or server.id in asked.servers
    if not design.servers_bought or day is None or newest is None or gpu.generation is None or is_named:
        return []
    own = catalog.generations[gpu.generation]
    since, newest_since = (f"{one.name} generation ({introduced_on(one).year})" for one in (own, newest))
    return [
        f"The {gpu.name} belongs to the {since} and is still on sale as far as known; the newest on sale is the "
        f"{newest_since}."
    ]


def _rates_text(design: DesignAnswer, result: SizingResult) -> str:
    several = len(design.workloads) > 1
    return "; ".join(
        (f"{answer.workload.name} " if several else "") + _rate_and_target_text(answer, result)
        for answer in design.workloads
    )


def _rate_and_target_text(answer: WorkloadAnswer, result: SizingResult) -> str:
    """The rate with its target; of a request for the highest rate, the rate at the confidence that it asks for."""
    found = result.maximum
    if found is None or result.design.workloads[found.workload].workload != answer.workload:
        return f"{_rate(answer)}, target {asked_target_text(result, answer)}{_tokens_time_text(answer)}"
    reached = f"{significant(found.samples_per_s)}{NARROW_SPACE}{sample_unit(answer.dnn)}"
    confidence = probability_text(found.confidence)
    return f"{reached} with {confidence} confidence, {highest_rate_text(result)}; expected are {_rate(answer)}"


def _tokens_time_text(answer: WorkloadAnswer) -> str:
    """How long the tokens of a language model take, where the target is no time; "" of others."""
    target = answer.workload.target
    if answer.kind.rereads or answer.time is None or target.time_to_train_s is not None or not answer.rate_is_predicted:
        return ""
    value, low, high = answer.time.total_s
    interval = f"90\u202f% interval {duration(low, value)} to {duration(high, value)}"
    return f"; {tokens_text(answer.samples_trained)} take {duration(value)} ({interval})"


def _cluster_text(result: SizingResult) -> str:
    design = result.design
    several = len(design.workloads) > 1
    rates = _rates_text(design, result)
    if result.maximum is not None and not several:
        return f"{design.name}: {rates}. {conditional_sentence(design)}".rstrip()
    return f"{design.name}: {rates}{_price_text(design)}. {_met_text(design, result.request.confidence)}"


def _met_text(design: DesignAnswer, confidence: float) -> str:
    """How likely the targets are met."""
    if design.probability is None:
        return conditional_sentence(design)
    targets = "all targets" if len(design.workloads) > 1 else "the target"
    less = f", less than the {probability_text(confidence)} asked for" if design.late else ""
    text = f"The probability of meeting {targets} is {probability_text(design.probability)}{less}."
    return f"{text} {even_odds_text(design)}".rstrip()


def _price_text(design: DesignAnswer) -> str:
    """What it costs; "" where nobody says, or nothing is bought."""
    price = price_range_text(design)
    return "" if is_free(design) or price == words.TO_BE_QUOTED else f", {price}"


def even_odds_text(design: DesignAnswer) -> str:
    """That a design with one workload may as well miss its target; "" where the odds are not even."""
    if len(design.workloads) > 1 or not is_even(design.probability):
        return ""
    return "The expected rate equals the target, so the design has no headroom."


def _single_text(kind: VerdictKind, single: DesignAnswer, result: SizingResult) -> str:
    server = single.platform.server.name
    if single.probability is None:
        return f"One {server} with {_storage_text(single)} may be enough. {conditional_sentence(single)}"
    chance = probability_text(single.probability)
    if single.late:
        chance += f" instead of {probability_text(result.request.confidence)}"
    verb = "is expected to meet" if any(map(evidence_warning, single.workloads)) else "meets"
    what = f"{_rates_text(single, result)}{_price_text(single)}"
    if kind is VerdictKind.ONE_SERVER_AND_STORAGE:
        meets = (
            f"You do not need a cluster of servers: one {server} {verb} the target with {chance} confidence: {what}."
        )
        reads = [answer for answer in single.workloads if answer.cache_hit_fraction < 1]
        if all(not answer.kind.rereads for answer in reads):
            return f"{meets} Data and checkpoints are kept on {_storage_text(single)}."
        needs = [answer.required_bytes_per_s or float(answer.storage_bytes_per_s.value) for answer in reads]
        return (
            f"{meets} Its memory does not hold all data, so it needs storage that sustains {si(max(needs), 'B/s')}: "
            f"{_storage_text(single)}."
        )
    storage = single.platform.storage.name
    return f"You do not need a cluster: one {server} with {storage} {verb} the target with {chance} confidence: {what}."


def _storage_text(design: DesignAnswer) -> str:
    storage = design.platform.storage.name
    count = design.storage_nodes
    return f"{count} {storage} {by_count(count, 'node', 'nodes')}" if count else storage


def _rate(answer: WorkloadAnswer) -> str:
    is_bound = answer.rate_is_upper_bound
    if not answer.rate_is_predicted:  # of a GPU that nobody measured no rate is claimed
        return "rates are not predicted (no GPU of this generation was measured)"
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        value, low, high = answer.time.total_s
        like = compared_time_s(answer)
        middle, *ends = (duration(one, like) for one in (value, low, high))
        return at_least(is_bound, f"{middle} to train (90\u202f% interval {' to '.join(ends)})")
    value, low, high = answer.throughput
    span = f"90\u202f% interval {significant(low)} to {significant(high)}"
    return f"{'at most ' if is_bound else ''}{significant(value)} {sample_unit(answer.dnn)} ({span})"


def reason_texts(result: SizingResult, *, with_amounts: bool = False) -> list[str]:
    """Why a cluster is needed or not, what is enough, and what redundancy costs; one sentence or two each.

    ``with_amounts`` is that of :func:`selection_text`.
    """
    design = result.verdict.single or result.design
    told = (_reason_text(reason, design, result) for reason in result.verdict.reasons)
    texts = [text for text in told if text]
    takes_turns = any(answer.serving is None for answer in result.design.workloads)
    if len(result.design.workloads) > 1 and result.request.team is None and takes_turns:
        # That several workloads are not meant to run side by side, and what they take one after another.
        text = "Each workload meets its target with all GPUs to itself: rates and times do not hold side by side"
        times = [answer.time for answer in result.design.workloads]
        if all(time is not None for time in times):
            total_s = sum(float(time.total_s.value) for time in times if time is not None)
            text = f"{text}. One after another they take {duration(total_s)}"
        texts.append(f"{text}. To run them at the same time, size a team.")
    if result.needs_cluster and result.design.binding.is_no_rate and result.design.binding.limit is not Limit.GPU_COUNT:
        texts += filter(None, [binding_text(result.design)])
    if result.spare_cost is not None:
        texts.append(
            spare_sentence(result.spare_cost, result.request.currency, result.design.plan, with_amounts=with_amounts)
        )
    return texts


def _reason_text(reason: VerdictReason, design: DesignAnswer, result: SizingResult) -> str:
    server = design.platform.server.name
    match reason:
        case DataInMemory(workload, memory_bytes, read_s):
            return _in_memory_text(design, design.workloads[workload], memory_bytes, read_s)
        case LinkCarriesReads(workload, link, bytes_per_s):
            if design.platform.storage.kind == "local":
                return ""  # nothing is read over a network
            verb = "carries" if link == design.platform.fabric else "would carry"
            reads, most = si(bytes_per_s, "B/s"), si(link.bytes_per_s, "B/s")
            return f"{design.workloads[workload].workload.name}: {link.name} {verb} the reads, {reads} of {most}."
        case NoClusterFileSystem():
            what = "weights" if design.only_serves else "data"
            return (
                f"No cluster file system is needed: one server reads the {what}, and "
                f"{design.platform.storage.name} stores them."
            )
        case NoServerFabric() if design.n_hosts > 1:
            return (
                f"One {server} is a rack of {design.n_hosts} hosts with {design.n_gpus} GPUs in one NVLink domain. "
                "No network between servers carries gradients; scheduler, head node and shared storage are those of a "
                "cluster."
            )
        case OneServerFallsShort(workload, samples_per_s):
            is_maximum = result.maximum is not None and result.maximum.workload == workload
            return one_server_text(design, design.workloads[workload], samples_per_s, is_maximum=is_maximum)
        case MoreEpochs(workload):
            answer = design.workloads[workload]
            assert answer.time is not None  # the reason is one of a training with a known length
            return (
                f"{answer.workload.name}: the global batch of {grouped(answer.batch_per_gpu * design.n_gpus)} needs "
                f"{significant(float(answer.time.epochs.value))} epochs. Twice the rate does not halve the time."
            )
        case _:
            trains = any(answer.workload.task == "training" for answer in design.workloads)
            needless = ("fabric between servers", "head node", *(["distributed training code"] if trains else []))
            text = f"One {server} needs no {', no '.join(needless[:-1])} and no {needless[-1]}."
            return f"{text} {_of_two_servers(design)}".strip()


def _of_two_servers(design: DesignAnswer) -> str:
    """What a second server would add to the trainings, where that is clearly less than the first one gives."""
    least = min(
        float(np.interp(2, answer.scaling.n_servers, answer.scaling.throughput.value) / answer.throughput.value)
        if answer.workload.task == "training" and answer.rate_is_predicted and len(answer.scaling.n_servers) > 1
        else 2.0
        for answer in design.workloads
    )
    return f"Two servers would deliver {significant(least)} times the rate of one." if least < _IN_PROPORTION else ""


def _in_memory_text(design: DesignAnswer, answer: WorkloadAnswer, memory_bytes: float, read_s: float) -> str:
    """Why a data set in memory asks little of storage."""
    source = " from its own drives" if design.platform.storage.kind == "local" else ""
    takes = f", in {duration(read_s)} at the rate of one {design.platform.fabric.name} link" if not source else ""
    if answer.time is not None:
        takes = f", in the first epoch of {duration(float(answer.time.first_epoch_s.value))}"
    return (
        f"{answer.workload.name}: the data set of {si(answer.dataset_bytes, 'B')} fits in the memory of one server "
        f"({grouped(memory_bytes / units.GIB)}{NARROW_SPACE}GiB). The server reads it once{source}{takes}, then serves "
        "it from memory."
    )


def selection_text(result: SizingResult, *, with_amounts: bool = False) -> str:
    """Why the described design is the one; ``with_amounts`` says by how much it costs less, for use in the house."""
    preference = preference_text(result.selection, result.request.currency, with_amounts=with_amounts)
    return f"{_choice_text(result, with_amounts=with_amounts)} {preference}".strip()


def _choice_text(result: SizingResult, *, with_amounts: bool) -> str:
    """Why it is the one, without what the preference for a vendor does."""
    selection = result.selection
    match selection.kind:
        case SelectionKind.GROWTH:
            text = "It is what the growth plan buys in the first year."
            return text if selection.preference is None else f"{text} The preference acts on designs of the last year."
        case SelectionKind.PREFERRED:
            return f"{grouped(selection.n_platforms)} platforms meet the request."
        case SelectionKind.ONLY:
            return "It is the only platform that the request allows and that meets it."
        case SelectionKind.RANKED:
            assert selection.rank_by is not None  # the kind says that the request ranks
            text = tie_text(result) or f"it has the {_BEST_BY_KEY[selection.rank_by]}."
            return f"Of {selection.n_platforms} platforms compared {text}"
        case SelectionKind.CHEAPEST | SelectionKind.LIKELY_CHEAPEST:
            return least_cost_text(result, with_amounts=with_amounts)


def runner_up_text(result: SizingResult) -> str:
    """Why the next best design is second."""
    reason = result.runner_up_reason
    if reason.kind is RunnerUpKind.NONE:
        return "No other design meets the request."
    if reason.kind is RunnerUpKind.FIRST_YEAR:
        if result.runner_up is not None and result.runner_up.name == result.design.name:
            return (
                "It has the same servers and storage, without what the described design prepares for later years: "
                "ports and rack space."
            )
        return "It is enough for the first year alone; the growth plan buys the described design for all years."
    if reason.kind is RunnerUpKind.CONDITIONAL:
        return "Whether it meets the request depends on a value that the vendor must confirm."
    if reason.kind is RunnerUpKind.LATE:
        return "Its first tokens keep their limit with less than the confidence asked for."
    if reason.kind is RunnerUpKind.EQUAL:
        return (
            "It is equal in servers, storage nodes, rack units and power; its network or its drives are larger than "
            "needed."
        )
    if reason.kind is RunnerUpKind.OVER_BUDGET:
        return "It is less likely to keep the budget than was asked."
    if reason.kind is RunnerUpKind.ENERGY_UNKNOWN:
        return "Its power draw is not published, so its cost of ownership is not known."
    if reason.kind is RunnerUpKind.DEARER:
        if 1 in result.selection.less_on_bill:
            return f"It costs {BUT_FOR_CABLES}."
        if reason.is_settled:
            return f"It costs more{owned(reason.years)}."
        return f"It {cost_at(result.request.confidence, 'costs more', 'is expected to cost more', reason.years)}."
    if reason.kind is RunnerUpKind.TIED:
        change = savings_text(reason.tie_break)
        same = f"It costs the same{owned(reason.years)} within the price ranges."
        return f"{change[0].upper()}{change[1:]}." if change else same
    if reason.kind is RunnerUpKind.DEARER_RATE:
        return "It costs more for the work that its GPUs do."
    if reason.kind is RunnerUpKind.NOT_PREFERRED:
        return "It leads without the preference for the vendors that the request names."
    if reason.chosen is None or reason.other is None:
        return ""
    chosen, other = reason.chosen, reason.other
    if reason.kind is RunnerUpKind.SLOWER:
        share = words.percent(result.request.confidence)
        return f"With a probability of {share} it takes at most {duration(other)} instead of {duration(chosen)}."
    assert reason.key is not None  # designs that differ in size differ in one of its keys
    if reason.key is SizeKey.WATTS:
        values = f"{si(other, 'W')} instead of {si(chosen, 'W')}"
        if reason.kind is RunnerUpKind.LARGER:
            return f"It draws up to {values}."
        return f"It draws less ({values}), but an earlier key of the ranking decided."
    noun, values = _SIZES[reason.key], f"instead of {plain(chosen)}"
    if reason.key in (SizeKey.IDLE_SERVER_KINDS, SizeKey.IDLE_STORAGE_KINDS, SizeKey.IDLE_SWITCH_KINDS):
        return f"It leaves {'more' if other > chosen else 'less'} of the existing equipment idle."
    if reason.kind is RunnerUpKind.LARGER:
        return f"It takes {plain(other)} {noun} {values}."
    return f"It has fewer {noun} ({plain(other)} {values}), but an earlier key of the ranking decided."
