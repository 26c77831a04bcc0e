"""Failures: what is lost and what remains, as tables, in sentences and as plain text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import duration, grouped, si
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table, table_text
from sizer.present.text.checks import ONE_LOST, spare_sentence
from sizer.present.text.plan import feed_names, remaining_supplies_text
from sizer.present.words import listed, percent, plural, sentence
from sizer.questions.failures.analysis import (
    CapacityReduced,
    CoolantLost,
    DriveLost,
    FailureCase,
    FailureEffect,
    FeedLost,
    JobsContinue,
    JobsRestart,
    NodeLost,
    StandbyTakesOver,
    WorkStops,
)
from sizer.sizing.result import SizingResult, SpareCost, WorkloadAnswer
from sizer.workload.request import Loss

# Devices named one by one in a sentence; more are counted.
_MAX_NAMED = 4
_TITLES = {
    "gpu": "One GPU fails",
    "server": "One GPU server fails",
    "storage-node": "One storage node fails",
    "drive": "One drive fails",
    "leaf": "One leaf switch fails",
    "spine": "One spine switch fails",
    "core": "One core switch fails",
    "switch-cable": "One cable between two switches fails",
    "front-end-switch": "One switch of the storage front end fails",
    "gateway": "One gateway fails",
    "gateway-uplink": "One uplink of the gateway fails",
    "back-end-switch": "One back-end switch fails",
    "in-band-switch": "One in-band switch fails",
    "management-switch": "A management switch fails",
    "head": "The head node fails",
    "subnet-manager": "The subnet manager stops",
    "power-feed": "One PDU or one power feed fails",
    "coolant-unit": "One coolant distribution unit fails",
}
_TITLES_OF_ONLY_ONE = {
    "server": "The GPU server fails",
    "leaf": "The switch of the compute fabric fails",
    "gateway": "The gateway fails",
}
_SPARE_SWITCH = "Replace the switch and load its saved configuration; a spare on site avoids the delivery time."
_CABLE = "Replace the cable; its id is on the label."
_REBUILD = "Replace it; the rebuild takes part of the read rate, which is not included here."
_GO_ON = "running jobs continue"
_ASK = "Ask the vendor which losses the system survives."
_REMEDIES = {
    "gpu": "Replace the GPU.",
    "server": "Repair the server.",
    "leaf": _SPARE_SWITCH,
    "spine": _SPARE_SWITCH,
    "core": _SPARE_SWITCH,
    "front-end-switch": _SPARE_SWITCH,
    "switch-cable": _CABLE,
    "gateway-uplink": _CABLE,
    "gateway": "Replace the gateway and load its saved configuration; only a second gateway would take over.",
    "back-end-switch": "Have the vendor replace the switch.",
    "in-band-switch": _SPARE_SWITCH,
    "management-switch": "Replace the switch.",
    "head": "Restore it from its backup; keep a backup.",
    "subnet-manager": "Restart it; run a second one on another switch or on the head node.",
    "power-feed": "Restore it; until then the other feed must not fail.",
    "coolant-unit": "Repair it.",
}
ENGINEERING_JUDGEMENT = "Engineering judgement."
_UNAFFECTED = {
    "back-end-switch": ("The storage nodes use the other internal network; the effect on their rate is not published."),
    "in-band-switch": "Every server keeps its port on the other switch of the pair; jobs and scheduler continue. "
    "Engineering judgement.",
    "management-switch": "Files use another network, so the job continues; monitoring stops. Engineering judgement.",
    "head": "Running jobs continue; new jobs and log-ins wait until it is restored. Engineering judgement.",
    "subnet-manager": ("Active links keep their routes; a port that comes up gets none. Engineering judgement."),
}
_UNMANAGED_CLUSTER = (
    "GPU traffic and files use other networks, so running jobs continue. The scheduler gets no reports from the "
    "servers; deployment and monitoring stop. Engineering judgement."
)

_OUT_OF_BAND_LOST = (
    "Jobs, scheduler and deployment continue on the in-band network; baseboard controllers and rack PDUs cannot be "
    "reached. Engineering judgement."
)


def failure_title(case: FailureCase) -> str:
    """What fails: 'One GPU server fails'."""
    if isinstance(case.effect, StandbyTakesOver):
        return "One of the head nodes fails"
    return _TITLES_OF_ONLY_ONE[case.key] if case.is_only else _TITLES[case.key]


def effect_text(case: FailureCase) -> str:
    """What the failure leads to, as one sentence."""
    match case.effect:
        case JobsRestart():
            return _restart_text(case.effect)
        case WorkStops():
            part = "GPU is replaced" if case.key == "gpu" else "server is repaired"
            return f"Nothing runs until the {part}."
        case NodeLost():
            return _node_text(case.effect)
        case DriveLost():
            return _drive_text(case.effect)
        case CapacityReduced():
            parts = _capacity_parts(case.effect)
            if case.key == "leaf" and case.effect.remaining.n_servers == case.effect.whole.n_servers > 1:
                # The collectives of a job end with an error when ports of its servers go.
                parts.insert(0, "jobs over several servers stop and restart on the remaining ports")
            return sentence("; ".join(parts or [_GO_ON]))
        case FeedLost():
            return sentence("; ".join(_feed_parts(case.effect)))
        case CoolantLost():
            needed, most = (si(watts, "W") for watts in (case.effect.needed_w, case.effect.remaining_w))
            return sentence(f"the other units, of up to {most}, take the {needed}; {_GO_ON}")
        case StandbyTakesOver():
            return (
                "Running jobs continue; new jobs and log-ins wait until the standby head node has taken over. "
                "The time that it takes is not published."
            )
        case JobsContinue():
            if case.key == "management-switch" and case.effect.has_in_band:
                return _OUT_OF_BAND_LOST
            is_cluster = case.key == "management-switch" and case.effect.n_servers > 1
            return _UNMANAGED_CLUSTER if is_cluster else _UNAFFECTED[case.key]


def remedy_text(case: FailureCase) -> str:
    """What to do, as one sentence."""
    special = _special_remedy(case.key, case.effect)
    return special or _REMEDIES[case.key]


def _special_remedy(key: str, effect: FailureEffect) -> str:
    """A remedy that depends on the effect; empty where it depends on the part alone."""
    match effect:
        case JobsRestart() if key == "server":
            return "Repair it; what ran on all servers uses it again from its next start."
        case JobsRestart(on="another GPU"):
            return "Replace the GPU when no job runs."
        case JobsRestart(on="servers"):
            return "Take the server out of service until the GPU is replaced."
        case NodeLost():
            return _node_remedy(effect)
        case DriveLost():
            if effect.n_survived:
                return _REBUILD
            return "Replace it and copy the data to the server again." if effect.is_local else _ASK
        case FeedLost(unpowered=[_, *_]):
            return "Restore it; a transfer switch connects a single-corded device to both feeds."
        case StandbyTakesOver():
            return "Repair it and let it rejoin as the standby."
        case JobsContinue() if key == "management-switch" and effect.n_servers > 1:
            return "Replace the switch; set the scheduler timeout longer than the replacement takes."
    return ""


def _restart_text(effect: JobsRestart) -> str:
    on = "another GPU of the same server"
    if effect.on == "servers":
        on = plural(effect.count, "server")
    elif effect.on == "GPUs":
        on = f"the remaining {plural(effect.count, 'GPU')}"
    if not effect.has_training:
        return f"What ran there starts again on {on}."
    if not effect.has_checkpoints:
        return f"Jobs restart on {on}, from their last checkpoint if they write any; the work since then is lost."
    return f"Jobs restart from their last checkpoint on {on}; the work since then is lost."


def _node_text(lost: NodeLost) -> str:
    if lost.controllers > 1:
        others = "the other controller" if lost.controllers == 2 else "the other controllers"
        return f"One controller of {lost.storage} fails: {others} of the appliance takes over, and reads continue."
    if lost.remaining_nodes == 0 or lost.n_survived == 0:
        return "No other node holds the data: reads stop."
    nodes = plural(lost.remaining_nodes, "node")
    if lost.n_survived is None:
        return (
            f"The vendor must confirm how {lost.storage} protects its data; if the other nodes hold it, reads "
            f"continue from {nodes}."
        )
    survived = "one node" if lost.n_survived == 1 else f"{lost.n_survived} nodes"
    return f"{lost.storage} survives the loss of {survived}: reads continue from {nodes}."


def _node_remedy(lost: NodeLost) -> str:
    if lost.controllers > 1:
        return "Replace the controller."
    if lost.remaining_nodes == 0 or lost.n_survived == 0:
        return "Replace it and load the data again."
    if lost.n_survived is None:
        return _ASK
    if lost.min_nodes is None:
        return _REBUILD
    return (
        f"Replace it: {lost.storage} needs at least {grouped(lost.min_nodes)} nodes, so the remaining ones have no "
        "room to rebuild its data."
    )


def _drive_text(lost: DriveLost) -> str:
    if lost.n_survived:
        survived = "one drive" if lost.n_survived == 1 else f"{lost.n_survived} drives"
        return f"{lost.storage} survives the loss of {survived}: reads continue."
    why = f"The vendor must confirm how the drives of {lost.storage} are protected"
    if lost.n_survived == 0:
        why = f"The drives of {lost.storage} are not protected"
    if not lost.is_local:
        return f"{why}; reads are assumed to continue."
    if lost.n_servers == 1:
        return f"{why}; without protection the server has no data and stops."
    return f"{why}; without protection one server has no data, and what ran there starts again on the others."


def _feed_parts(lost: FeedLost) -> Iterator[str]:
    yield (
        f"single-corded devices lose power with their feed: {_named(lost.unpowered)}"
        if lost.unpowered
        else "all devices on the plan's feeds are dual-corded"
        if lost.few_supplies or lost.unknown
        else "all devices on the plan's feeds are dual-corded and stay on"
    )
    if lost.few_supplies:
        few = ((one.name, one.supplies, one.remaining, one.needed or 0) for one in lost.few_supplies)
        yield f"{remaining_supplies_text(few)} for full power: such a device may run slower or stop"
    limit, end = ("at most", "") if lost.load_is_known else ("at least", ", open until every maximum draw is known")
    names = feed_names(lost.loads)
    loads = [
        f"one {name} alone carries {limit} {si(load.alone_w, 'W')} of its {si(load.capacity_w, 'W')}"
        for name, load in zip(names, lost.loads, strict=True)
    ]
    yield listed(loads) + end
    if lost.unknown:
        yield f"the plan does not know the feeds of {_named(lost.unknown)}"
    yield from _capacity_parts(lost.capacity) or ([] if lost.few_supplies or not lost.load_is_known else [_GO_ON])


def _capacity_parts(effect: CapacityReduced) -> list[str]:
    """What remains, in parts of a sentence; empty where nothing is lost."""
    whole, remaining, parts = effect.whole, effect.remaining, []
    if remaining.n_servers == 0 and whole.n_servers > 1:
        parts.append("no server reaches another, so every multi-server job stops")
    elif remaining.n_servers < whole.n_servers:
        parts.append(f"jobs restart on {plural(remaining.n_servers, 'server')} of {grouped(whole.n_servers)}")
    if remaining.n_servers > 1 and remaining.exchange_share < 1:
        every = "each of them" if parts else "every server"
        parts.append(f"{every} keeps at least {percent(remaining.exchange_share)} of its bandwidth to the others")
    if whole.reaches_storage and not remaining.reaches_storage and remaining.n_servers:
        parts.append("no server reaches the data")
        cached = "jobs past their first epoch continue from memory as long as they write nothing"
        parts.append(cached if effect.is_cached else "jobs wait for their data")
    elif remaining.storage_nodes < whole.storage_nodes and remaining.n_servers:
        nodes = plural(whole.storage_nodes, "storage node")
        parts.append(f"{grouped(remaining.storage_nodes)} of {nodes} stay reachable")
    if 0 < remaining.node_port_share < 1 and remaining.reaches_storage:
        parts.append(f"storage nodes keep {percent(remaining.node_port_share)} of their ports")
    if 0 < remaining.gateway_share < 1 and remaining.reaches_storage:
        parts.append(f"the gateways keep {percent(remaining.gateway_share)} of their uplinks")
    return parts


def _named(devices: Sequence[str]) -> str:
    """Names of devices; of many the first ones and how many more."""
    more = len(devices) - _MAX_NAMED
    text = ", ".join(devices[:_MAX_NAMED])
    return f"{text} and {grouped(more)} more" if more > 0 else text


# Parts that are taken out for maintenance, by the failure that is the same loss.
_SERVICED = {
    "server": "GPU server",
    "storage-node": "Storage node",
    "leaf": "Switch with servers on it",
    "spine": "Spine switch",
    "core": "Core switch",
    "front-end-switch": "Switch of the storage front end",
    "gateway": "Gateway",
    "back-end-switch": "Back-end switch",
    "management-switch": "Management switch",
    "head": "Head node",
    "power-feed": "PDU or power feed",
    "coolant-unit": "Coolant distribution unit",
}
# A probability below this prints as none.
_LEAST_PROBABILITY = 0.005
# A shorter outage is of no use for any work on a part.
_LEAST_OUTAGE_S = 60.0


@dataclass(frozen=True)
class _ToleratedLoss:
    """A loss that a request names, with the worst failure of that kind; None where the design has no such part."""

    loss: Loss
    worst: FailureCase | None


def failures_table(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Table | None:
    """Each failure with the remaining throughput, whether the targets are met, and what to do."""
    if not cases:
        return None
    has_team = any(case.within_wait is not None for case in cases)
    fields: list[Field[FailureCase]] = [
        Field("What fails", failure_title, width=17),
        Field("Effect", effect_text, width=29 if has_team else 35),
        Field("Remaining throughput", _shares, "right", 11),
        Field("Targets", targets_text, width=13),
        *([Field("Jobs within wait", _within_wait, "right", 8)] if has_team else []),
        Field("Remedy", remedy_text, width=22 if has_team else 24),
    ]
    note = " ".join(_notes(cases, answers))
    return record_table("failures", "Single failures and what each costs", cases, fields, note=note)


def maintenance_table(cases: Sequence[FailureCase], *, serves: bool = False) -> Table | None:
    """Parts that are taken out one after the other, and whether the targets are met meanwhile.

    ``serves``: models in use are all that runs.
    """
    serviced = [case for case in cases if case.key in _SERVICED and case.keeps_targets is not None]
    if not serviced:
        return None
    fields: list[Field[FailureCase]] = [
        Field("Taken out, one at a time", lambda case: _SERVICED[case.key], width=30),
        Field("Targets meanwhile", targets_text, width=25),
        Field("When", lambda case: _maintenance_text(case, serves), width=45),
    ]
    return record_table("maintenance", "Maintenance during operation", serviced, fields)


def tolerated_losses_table(losses: Sequence[Loss], cases: Sequence[FailureCase]) -> Table:
    """Losses that the request asks the design to tolerate, with what remains after each."""
    fields: list[Field[_ToleratedLoss]] = [
        Field("Lost", lambda one: words.capital(ONE_LOST[one.loss]), width=18),
        Field(
            "What remains",
            lambda one: "The design has no such part." if one.worst is None else effect_text(one.worst),
            width=46,
        ),
        Field("Remaining throughput", lambda one: "" if one.worst is None else _shares(one.worst), "right", 16),
        Field(
            "Targets",
            lambda one: Cell("met", is_muted=True) if one.worst is None else targets_text(one.worst),
            width=20,
        ),
    ]
    rows = [_ToleratedLoss(loss, _worst([case for case in cases if case.loss == loss])) for loss in losses]
    return record_table("kept-without", "Losses that the request asks the design to tolerate", rows, fields)


def single_failures_table(cases: Sequence[FailureCase], losses: Sequence[Loss]) -> Table | None:
    """Failures of whole devices and feeds, tolerated or not, for a reader who plans operation; None without any.

    ``losses`` are those that the request asks the design to tolerate.
    """
    shown = [case for case in cases if case.key in _SERVICED and case.key != "back-end-switch"]
    if not shown:
        return None

    def result(case: FailureCase) -> Cell:
        is_asked = case.loss in losses
        text = targets_text(case)
        return Cell(f"{text} (requested)" if is_asked else text, is_open=case.keeps_targets is None)

    fields: list[Field[FailureCase]] = [
        Field("What fails", failure_title, width=20),
        Field("Effect", lambda case: effect_text(case).removesuffix(f" {ENGINEERING_JUDGEMENT}"), width=52),
        Field("Rate", _shares, "right", 13),
        Field("Targets", result, width=15),
    ]
    note = (
        "Rate: share of the normal rate, once what stopped runs again. Targets: whether a run still meets them if "
        "the part stays out for the whole run, with the probability."
    )
    return record_table("single-failures", "Single failures and what remains after each", shown, fields, note=note)


def tolerated_sentence(losses: Sequence[Loss], cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> str:
    """What remains after each loss that the request asks the design to tolerate; "" where it asks for none."""
    parts = []
    for loss in losses:
        worst = _worst([case for case in cases if case.loss == loss])
        if worst is None:
            continue
        after = f"after the loss of {ONE_LOST[loss]}"
        if worst.keeps_targets is None:
            parts.append(f"{after} the target is {targets_text(worst)}")
            continue
        met = targets_text(worst)
        (answer, share) = min(zip(answers, worst.share, strict=True), key=lambda pair: pair[1])
        target_s = answer.workload.target.time_to_train_s
        if target_s is not None and answer.time is not None and share > 0:
            remains = f"the training takes {duration(float(answer.time.total_s.value) / share)}"
        else:
            remains = f"{_shares(worst)} of the rate {'remain' if share else 'remains'}"
        parts.append(f"{after} {remains} (target {met})")
    return words.sentence("; ".join(parts)) if parts else ""


def _worst(cases: Sequence[FailureCase]) -> FailureCase | None:
    return min(cases, key=lambda case: (bool(case.keeps_targets), sum(case.share), sum(case.probability)), default=None)


def targets_text(case: FailureCase) -> str:
    """Whether the targets are met after a loss, and with which probability."""
    if case.met_if_so is not None:
        is_met, chance = case.met_if_so
        return f"{f'met, {words.chance(chance)},' if is_met else 'missed even'} if {_hope(case.effect)}"
    if case.keeps_targets is None:
        return "not known"
    probability = prod(case.probability)
    if case.keeps_targets and len(case.probability) == 1 and words.is_even(probability):
        return f"as likely as not, {words.chance(probability)}"
    if case.keeps_targets:
        return f"met, {words.chance(probability)}"
    if all(case.meets_target):
        return "jobs start too late"  # the targets of the workloads are met; the team waits
    if probability < _LEAST_PROBABILITY:
        if case.too_few_gpus is None:
            return "missed"
        remaining, asked = case.too_few_gpus
        return f"missed, {grouped(remaining)} of {words.plural(asked, 'GPU')}"
    return f"missed, {words.chance(probability)}"


def _hope(effect: FailureEffect) -> str:
    """What no source says, on which the targets depend after a loss."""
    if isinstance(effect, FeedLost):
        return "the servers run on at full rate" if effect.few_supplies else "the other feed carries the load"
    return "the vendor confirms that the data stay readable"


def _shares(case: FailureCase) -> str:
    if not case.rate_is_known and case.met_if_so is None:
        return words.NOT_KNOWN
    return words.listed(dict.fromkeys(words.percent(share) if share > 0 else "none" for share in case.share))


def _within_wait(case: FailureCase) -> str:
    return "" if case.within_wait is None else words.percent(case.within_wait)


def _maintenance_text(case: FailureCase, serves: bool) -> str:
    """When a part can be serviced."""
    if case.keeps_targets and case.key == "head" and not isinstance(case.effect, StandbyTakesOver):
        return "any time; no job starts meanwhile"
    if case.keeps_targets:
        return "any time, one after the other"
    when = "outside the busy hours" if serves else "between two runs"
    if case.keeps_targets is None:
        return f"{when}: whether the targets are met meanwhile is not known"
    outage_s = min(case.outage_s, default=0.0)
    if _LEAST_OUTAGE_S <= outage_s < float("inf"):
        return f"for at most {duration(outage_s)} during a run, or {when}"
    return f"{when}: the targets are missed as long as it is out"


def _notes(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Iterator[str]:
    if len(answers) > 1:
        yield "Remaining throughput is the projected share of the normal rate, per workload where they differ."
    if any(case.keeps_targets is not None for case in cases):
        yield (
            "Targets: whether runs still meet them if the part stays out for the whole run, with the probability. A "
            "part that is repaired during the run does less harm."
        )
    if any(case.within_wait is not None for case in cases):
        yield "Jobs within wait: share that starts within its wait limit, for the worst kind of job."


_NO_REDUNDANCY = (
    "The request asks for no redundancy. To ask for it, use [resilience] keeps_targets_without or --without."
)


def failures_document(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> dict[str, Any]:
    """Everything about the cases; the length of a window without an end is null."""
    return json_document(
        "failures",
        design=result.design.name,
        workloads=[answer.workload.name for answer in result.design.workloads],
        keeps_targets_without=result.request.resilience.keeps_targets_without,
        cases=[_case(case) for case in cases],
        cost=None if cost is None else _cost(cost, result.request.currency),
    )


def _case(case: FailureCase) -> dict[str, object]:
    return fields_of(
        case,
        *("key", "loss", "share", "keeps_targets", "probability", "meets_target"),
        what=failure_title(case),
        effect=effect_text(case),
        remedy=remedy_text(case),
        throughput_samples_per_s=case.throughput,
        window_s=case.outage_s,
        starts_in_time=case.within_wait,
    )


def _cost(cost: SpareCost, currency: str) -> dict[str, object]:
    return fields_of(
        cost,
        *("n_servers", "storage_nodes", "switches", "rack_units", "has_unknown_power"),
        without=cost.without.name,
        power_max_w=cost.power_w,
        priced_lines=cost.amount,
        currency=currency,
        to_be_quoted=cost.open_items,
        difference=cost.cost,
    )


def failures_text(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> str:
    """Tables of the guide, below the cost of the redundancy that the request asks for.

    ``cases``: of its design. ``cost``: of the redundancy that the request asks for; None where it asks for none.
    """
    title, losses = result.request.title, result.request.resilience.keeps_targets_without
    redundancy = (
        spare_sentence(cost, result.request.currency, result.design.plan, with_amounts=True)
        if cost is not None
        else _NO_REDUNDANCY
    )
    parts = [f"{title}\n{'=' * len(title)}\n{result.design.name}\n{redundancy}"]
    if losses:
        parts.append(table_text(tolerated_losses_table(tuple(dict.fromkeys(losses)), cases)))
    design = result.design
    tables = (failures_table(cases, design.workloads), maintenance_table(cases, serves=design.only_serves))
    return "\n\n".join([*parts, *(table_text(table) for table in tables if table is not None)])
