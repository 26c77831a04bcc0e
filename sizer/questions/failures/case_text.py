"""Failures in words: what fails, what the effect is, and what to do."""

from collections.abc import Iterator, Sequence

from sizer.base.quantities import grouped, si
from sizer.present.text.plan import feed_names, supplies_text
from sizer.present.words import listed, percent, plural, sentence
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.scenarios import (
    CapacityReduced,
    CoolantLost,
    DriveLost,
    FailureEffect,
    FeedLost,
    JobsContinue,
    JobsRestart,
    NodeLost,
    StandbyTakesOver,
    WorkStops,
)

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
    "management-switch": "Replace the switch.",
    "head": "Restore it from its backup; keep a backup.",
    "subnet-manager": "Restart it; run a second one on another switch or on the head node.",
    "power-feed": "Restore it; until then the other feed must not fail.",
    "coolant-unit": "Repair it.",
}
ENGINEERING_JUDGEMENT = "Engineering judgement."
_UNAFFECTED = {
    "back-end-switch": ("The storage nodes use the other internal network; the effect on their rate is not published."),
    "management-switch": "Files use another network, so the job continues; monitoring stops. Engineering judgement.",
    "head": "Running jobs continue; new jobs and log-ins wait until it is restored. Engineering judgement.",
    "subnet-manager": ("Active links keep their routes; a port that comes up gets none. Engineering judgement."),
}
_UNMANAGED_CLUSTER = (
    "Gradients and files use other networks, so running jobs continue. The scheduler gets no reports from the servers; "
    "deployment and monitoring stop. Engineering judgement."
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
            heat = f"the other units take {si(case.effect.remaining_w, 'W')} of at most {si(case.effect.needed_w, 'W')}"
            return sentence(f"{heat}; {_GO_ON}")
        case StandbyTakesOver():
            return (
                "Running jobs continue; new jobs and log-ins wait until the standby head node has taken over. "
                "The time that it takes is not published."
            )
        case JobsContinue():
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
            return "Repair it; the job uses all servers again from its next start."
        case JobsRestart(on="another GPU"):
            return "Replace the GPU when no job runs."
        case JobsRestart(on="servers"):
            return "Take the server out of the scheduler until the GPU is replaced."
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
            f"No source states how {lost.storage} protects its data; if the other nodes hold it, reads continue from "
            f"{nodes}."
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
    why = f"No source states how the drives of {lost.storage} are protected"
    if lost.n_survived == 0:
        why = f"The drives of {lost.storage} are not protected"
    if not lost.is_local:
        return f"{why}; reads are assumed to continue."
    if lost.n_servers == 1:
        return f"{why}; without protection the server has no data and stops."
    return f"{why}; without protection one server has no data, and jobs restart on the others."


def _feed_parts(lost: FeedLost) -> Iterator[str]:
    yield (
        f"single-corded devices lose power with their feed: {_named(lost.unpowered)}"
        if lost.unpowered
        else "all devices on the plan's feeds are dual-corded"
        if lost.few_supplies
        else "all devices on the plan's feeds are dual-corded and stay on"
    )
    for few in lost.few_supplies:
        yield f"the {few.name} {supplies_text(few.supplies, few.remaining, few.needed or 0)}"
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
