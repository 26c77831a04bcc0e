"""Words of the physical design: notes of networks, storage, cables and the building plan."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant, with_decimal_sign
from sizer.catalog import labels
from sizer.physical.components import Component
from sizer.physical.networks.single_fabric import SingleFabric
from sizer.physical.notes import CableQuestion, PlanNote, PlanNoteKind
from sizer.physical.plan import Plan
from sizer.physical.quantities import Equipment, ExistingUse
from sizer.physical.racks.feed_loads import FeedLoad
from sizer.physical.racks.feeds import FeedKind
from sizer.physical.roles import NetworkRole
from sizer.present.words import listed, plural, sentence, spelled
from sizer.workload.optional_tables import FeedRedundancy


def network_name(role: NetworkRole) -> str:
    """A network inside a sentence."""
    return {NetworkRole.IN_BAND: "in-band network", NetworkRole.MANAGEMENT: "management network"}.get(role, str(role))


def _storage_ratio(ratio: float) -> str:
    """Oversubscription of the storage network, as it is printed."""
    printed = significant(ratio, 2)
    if float(f"{ratio:.2g}") <= 1:
        return "non-blocking"
    pairs = "on separate leaf switches, as in NVIDIA\u2019s DGX SuperPOD"
    return f"servers are oversubscribed {printed}:1, storage 1:1, {pairs}"


def _in_each_rail(place: str) -> Callable[..., str]:
    return lambda switch, rails: f"runs in {place}, {switch}" + (" of each rail" if rails > 1 else "")


_TEXTS: dict[PlanNoteKind, Callable[..., str]] = {
    PlanNoteKind.GRADIENTS: lambda: "traffic between GPUs",
    PlanNoteKind.GRADIENTS_AND_FILES: lambda: "traffic between GPUs and storage traffic",
    PlanNoteKind.FILES: lambda: "storage traffic, separate from the compute fabric",
    PlanNoteKind.FILES_OF_ONE_SERVER: lambda: "storage traffic",
    PlanNoteKind.FILES_THROUGH_GATEWAY: lambda: "storage traffic through the gateway to the compute fabric",
    PlanNoteKind.BETWEEN_STORAGE_NODES: lambda: "traffic between the storage nodes",
    PlanNoteKind.DEPLOYMENT: lambda: "deployment, monitoring and maintenance",
    PlanNoteKind.IN_BAND: lambda: "operating systems, cluster management and the uplink to the customer's network",
    PlanNoteKind.OUT_OF_BAND: lambda: "baseboard controllers, switches, storage and rack PDUs",
    PlanNoteKind.DUAL_HOMED: lambda n: (
        f"each server has a port on both leaves of a pair, which {plural(n, 'cable')} connect with each other: MLAG "
        "on the leaves, LACP on the servers"
    ),
    PlanNoteKind.UPLINKS_IN_BAND: lambda n: f"each switch has {plural(n, 'uplink')} to the in-band network",
    PlanNoteKind.STORAGE_RATIO: lambda ratio, leaves: (
        f"{_storage_ratio(ratio)}; "
        + ("each server has its ports on both leaves of a pair" if leaves > 1 else "all ports are on one switch")
    ),
    PlanNoteKind.SUBNET_FILES: lambda: "storage traffic between storage and servers",
    PlanNoteKind.FILES_OF_ONE_SERVER_OVER_IPOIB: lambda: "storage traffic, over IPoIB",
    PlanNoteKind.GRADIENTS_OVER_IPOIB: lambda: "traffic between GPUs, over IPoIB",
    PlanNoteKind.GRADIENTS_AND_FILES_OVER_IPOIB: lambda: "traffic between GPUs and storage traffic, over IPoIB",
    PlanNoteKind.OPERATING_SYSTEMS: lambda: "operating systems: deployment, logins, scheduler",
    PlanNoteKind.CONTROLLERS: lambda: "baseboard controllers, switches and storage units",
    PlanNoteKind.RAILS: lambda n: f"{n} separate rails, one for each port of a server; other devices connect to rail 1",
    PlanNoteKind.SPARE_PORTS: lambda n: f"ports are reserved for {plural(n, 'more server')}",
    PlanNoteKind.GATEWAY_PORTS: lambda n: f"{plural(n, 'port')} of each storage node in use behind the gateway",
    PlanNoteKind.TWO_BACK_ENDS: lambda: (
        "two separate networks, int-a and int-b, on dedicated switches; no other device may be attached"
    ),
    PlanNoteKind.SHARED_WITH_BMC: lambda: (
        "one host port and the BMC of each server share this network (assumption); the uplink to the customer's LAN is "
        "out of scope"
    ),
    PlanNoteKind.BMC_ALONE: lambda network: (
        f"of each server the BMC alone is on it; deployment, scheduler and log-ins use the {network_name(network)} "
        "(assumption), and the uplink to the customer's LAN is out of scope"
    ),
    PlanNoteKind.MANAGER_IN_LEAF: _in_each_rail("the first leaf"),
    PlanNoteKind.MANAGER_IN_DIRECTOR: _in_each_rail("a director"),
    PlanNoteKind.MANAGER_ON_HEAD_NODE: lambda: "runs on the head node, because the switches have none",
    PlanNoteKind.MANAGER_ON_APPLIANCES: lambda appliance: f"runs on two appliances, {appliance}",
    PlanNoteKind.EXISTING_LAN_STORAGE: lambda storage: (
        f"{storage} and its connection over the LAN exist already and are out of scope"
    ),
    PlanNoteKind.LOCAL_COPIES: lambda: (
        "each server reads a copy of the data from its own drives; homes and checkpoints of several servers are on the "
        "drives of the head node"
    ),
    PlanNoteKind.USABLE_UNKNOWN: lambda storage: (
        f"the usable capacity of {storage} is not published: confirm that the data fit"
    ),
    PlanNoteKind.USABLE_BOUNDED: lambda storage: (
        f"the usable capacity of {storage} is not published: half of its drives is counted; the vendor states more"
    ),
    PlanNoteKind.SINGLE_SERVER: lambda: (
        "a single server, or a few that share no work, need no head node, fabric or management switch; their ports "
        "connect to the existing LAN, which is out of scope"
    ),
    PlanNoteKind.STANDBY_HEAD: lambda hosts: (
        f"an active and a standby head node are planned from {hosts} hosts on, so that the loss of one stops no jobs "
        "(assumption)"
    ),
    PlanNoteKind.INLETS_UNKNOWN: lambda device: (
        f"the vendor must confirm the power inlets of the {device}: each feed is planned for its full draw, and its "
        "power cords are not on the bill"
    ),
    PlanNoteKind.DRIVES_UNKNOWN: lambda: "local drives not published",
    PlanNoteKind.HIGHER_MAXIMUM: lambda device, planned_w, basis, other_w, what: (
        f"{device}: planned with {si(planned_w, 'W')} ({basis}); another source gives {si(other_w, 'W')} ({what}): "
        "confirm feeds and cooling"
    ),
    PlanNoteKind.CIRCUIT: lambda plug, pdu: (
        f"with breaker and outlet{f' for plug {plug}' if plug else ''}, one for each {pdu}"
    ),
    PlanNoteKind.FEED_TRANSFER: lambda rated_w: (
        f"{si(rated_w, 'W')}, in front of a PDU, if servers are to run on after the loss of a feed"
    ),
    PlanNoteKind.RACK_TRANSFER: lambda: "1U, in each rack with a single-corded device",
    PlanNoteKind.CABLE_MANAGER: lambda switches: (
        f"1U, one for every {switches} switches of a rack, in place of a blanking panel"
    ),
    PlanNoteKind.LAN_PORT: lambda link, server: f"{link} or slower, with its cable and optics, for {server}",
    PlanNoteKind.UPLINK_PORT: lambda link, medium: (
        f"{link}, {'with the optic of that end, ' * (medium == 'transceiver')}for an uplink, whose cable this bill has"
    ),
    PlanNoteKind.OF_REPLICAS: lambda requests, in_flight: (
        f"in front of the replicas: {significant(requests, 2)} requests/s, {grouped(math.ceil(in_flight))} open streams"
    ),
    PlanNoteKind.OF_SEARCH: lambda searches, bytes_, numbers: (
        f"with the nodes that search it {significant(searches, 2)} times a second; about {si(bytes_, 'B')} of memory "
        f"for each million passages of {grouped(numbers)} numbers"
    ),
    PlanNoteKind.OF_TEAM: lambda: "on the server, free of charge: queue and log-in of the team",
    PlanNoteKind.SINGLE_CORDED: lambda device: f"the {device} is single-corded to feed A; add a transfer switch",
    PlanNoteKind.FEW_SUPPLIES: lambda device, supplies, remaining, needed, *_: (
        f"when one feed is lost, the {device} {supplies_text(supplies, remaining, needed)}"
    ),
    PlanNoteKind.CABLE_TOO_SHORT: lambda role, way_m, longest_m: (
        f"{role}: {grouped(way_m, 1)} m are needed; the longest cable of this kind is {plain(longest_m)} m"
    ),
    PlanNoteKind.UNITS: lambda units, option: f"{units} × {option}",
    PlanNoteKind.HOT_SPARES: lambda spare, nodes: f"{spare} of {nodes} nodes reserved for a rebuild",
    PlanNoteKind.STRIPES: lambda data, parity: f"stripes of {data} data and {parity} parity blocks",
    PlanNoteKind.USABLE_SHARE: lambda share: f"{100 * share:.0f}{NARROW_SPACE}% remains after metadata and reserve",
    PlanNoteKind.ONEFS_OVERHEAD: lambda level, share, nodes: (
        f"{level} takes {100 * share:.0f}{NARROW_SPACE}% at {nodes} nodes"
    ),
    PlanNoteKind.ONEFS_EXTRAPOLATED: lambda level, share, nodes, last: (
        f"{level} takes {with_decimal_sign(f'{100 * share:.1f}')}{NARROW_SPACE}% at {nodes} nodes "
        f"(extrapolated: the published table ends at {last})"
    ),
    PlanNoteKind.LEAST_USABLE: lambda share: (
        f"the vendor must confirm the protection: {100 * share:.0f}{NARROW_SPACE}% of the drives count, as mirrored"
    ),
    PlanNoteKind.STATED: lambda note: note or "as stated by the source",
    PlanNoteKind.FOR_FILES: lambda: "capacity for files",
    PlanNoteKind.EXISTING: lambda: "existing",
    PlanNoteKind.SAME_GPUS: lambda name: f"as {name}, with the same GPUs",
    PlanNoteKind.SERVES_FILES: lambda: "serves the files",
    PlanNoteKind.NODES_PER_UNIT: lambda nodes: f"{nodes} nodes",
    PlanNoteKind.PER_UNIT: lambda metric: f"per {labels.name(metric)}",
    PlanNoteKind.END_OF_SALE: lambda day: f"end of sale {day}",
    PlanNoteKind.BOTH_FEEDS: lambda: "feeds A and B; each carries the rack",
    PlanNoteKind.ONE_FEED_SPARE: lambda: "N+1 feeds; the rack tolerates the loss of one",
    PlanNoteKind.NO_FEED_SPARE: lambda: "no spare feed; the rack stops when one is lost",
    PlanNoteKind.PLANNED_LENGTH: lambda length_m: f"planned {plain(length_m)} m",
    PlanNoteKind.TRANSCEIVERS_AND_FIBRE: lambda: "a transceiver at each end and a fibre",
    PlanNoteKind.TRANSCEIVERS_ALONE: lambda length_m: (
        f"a transceiver at each end; {plain(length_m)} m of fibre provided by others"
    ),
    PlanNoteKind.LONGEST_CABLE: lambda length_m: (
        f"longest in the catalogue: {plain(length_m)} m; place the racks side by side"
    ),
    PlanNoteKind.OTHER_CABLE: lambda kind, counted: f"no {kind} cable in the catalogue; counted as {counted}",
}


_PLURAL_FEEDS: dict[FeedKind, str] = {"PDU": "PDUs", "power shelf": "power shelves", "inlet": "inlets"}

# What the feeds of a rack bear, by their rule.
FEEDS_OF_RACKS: dict[FeedRedundancy, str] = {
    "2N": "Feeds A and B each carry a full rack",
    "N+1": "All feeds of a rack but one carry it",
    "N": "All feeds of a rack together carry it",
}


def unknown_feeds_text(plan: Plan) -> str:
    """Racks that hold devices and whose feeds are not stated, as a clause; "" without such beside others."""
    racks = [rack.name for rack in plan.racks if rack.devices and not rack.feeds]
    if not racks or len(racks) == len(plan.racks):
        return ""
    return f"the feeds of {listed(racks)} are not stated"


def feed_names(loads: Sequence[FeedLoad]) -> list[str]:
    """What one feed of each kind is called: "PDU", "power shelf", "inlet of the XDU1350"; PDUs by their ratings."""
    kinds = Counter((load.kind, load.device) for load in loads)
    return [
        (f"{load.kind} of the {load.device}" if load.device else load.kind)
        + (f" of {si(load.capacity_w, 'W')}" if kinds[load.kind, load.device] > 1 else "")
        for load in loads
    ]


def feed_counts(loads: Sequence[FeedLoad]) -> list[str]:
    """How many feeds there are of each kind: "6 PDUs", "64 power shelves", "2 inlets of the XDU1350"."""
    return [
        by_count(load.count, f"1 {name}", f"{grouped(load.count)} {name.replace(load.kind, _PLURAL_FEEDS[load.kind])}")
        for name, load in zip(feed_names(loads), loads, strict=True)
    ]


def supplies_text(supplies: object, remaining: object, needed: object) -> str:
    """What a device keeps of its power supplies after the loss of a feed, as a verb phrase; ``needed`` 0: unknown."""
    return f"{_kept_text(supplies, remaining, needed)} for full power: it may run slower or stop"


def _kept_text(supplies: object, remaining: object, needed: object, *, several: bool = False) -> str:
    keep, need = ("each keep", "need") if several else ("keeps", "needs")
    least = needed or "a number of them that the vendor must confirm"
    return f"{keep} {remaining} of {supplies} power supplies and {need} {least}"


def feed_loss_is_open(plan: Plan) -> bool:
    """Whether some device keeps too few power supplies for its full draw after the loss of a feed, or may do so."""
    return any(note.kind is PlanNoteKind.FEW_SUPPLIES for note in plan.warnings)


def few_supplies_text(plan: Plan) -> str:
    """Devices that a lost feed leaves, or may leave, with too few power supplies, on one line; "" without such."""
    few = (note.values for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES)
    kept = remaining_supplies_text((device, *supplies_) for device, *supplies_, _, _ in few)
    return f"with one feed lost, {kept}" if kept else ""


def remaining_supplies_text(few: Iterable[tuple[object, ...]]) -> str:
    """What devices keep of their power supplies: of each its name, supplies, those that remain and that it needs."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for device, *supplies_ in few:
        alike.setdefault(tuple(supplies_), []).append(f"the {device}")
    return "; ".join(
        f"{listed(devices)} {_kept_text(*supplies_, several=len(devices) > 1)}" for supplies_, devices in alike.items()
    )


def feed_loss_remedies(plan: Plan) -> list[str]:
    """Ways to keep devices running that a lost feed leaves with too few supplies, as phrases; empty without such."""
    few = [note.values for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES]
    if not few:
        return []
    caps = [(device, int(left), float(cap_w)) for device, _, left, *_, cap_w in few if cap_w]
    capped = [f"the {device} to {si(w, 'W')} ({left} supplies of {si(w / left, 'W')})" for device, left, w in caps]
    remedies = [f"limit {listed(capped)} after the loss (lower rate)"] if capped else []
    enough = {f"the {device}": int(feeds) for device, *_, feeds, _ in few if feeds}
    if enough:
        whose = "" if len(enough) == len(few) else f" for {listed(enough)}"
        remedies.append(f"take {spelled(max(enough.values()))} feeds with one spare (N+1){whose}")
    return [*remedies, "feed the PDUs through static transfer switches"]


def feeds_sentence(plan: Plan, *, with_remedies: bool = True) -> str:
    """What the loss of a feed means for the racks of a design; ``with_remedies``: and how to keep devices running."""
    if plan.inputs.platform.server.is_workstation and not plan.inputs.storage_nodes:
        return "A wall socket carries the workstation, which stops when that loses power."
    site = plan.inputs.platform.site.feeds
    items = dict.fromkeys(
        device.item for rack in plan.racks if rack.feeds for device in rack.devices if not device.power.is_known
    )
    few = few_supplies_text(plan) if site != "N" else ""
    supplies = f"{few} for full draw: such a device may run slower or stop" if few else ""
    ways = f"To avoid it: {listed(feed_loss_remedies(plan), 'or')}." if few and with_remedies else ""
    if items and site != "N":
        unknown = listed([plan.catalog.device(item).name for item in items])
        text = f"The PDUs carry the known draw after the loss of a feed. Open: the maximum power of {unknown}"
        return " ".join(filter(None, (f"{text} is not published.", supplies and sentence(supplies), ways)))
    open_ = unknown_feeds_text(plan)
    open_ = f" Open: {open_}." if open_ and site != "N" else ""
    if few:
        carried = f"{'Either feed carries' if site == '2N' else 'All feeds of a rack but one carry'} the full rack load"
        return f"{carried}, but {supplies}.{open_} {ways}".rstrip()
    if site != "N" and any(rack.has_unknown_power for rack in plan.racks):
        return (
            "Whether the loss of a feed is tolerated is open: the maximum power of some devices is not published. "
            "Confirm it before the feeds are ordered."
        )
    if site == "2N":
        carried = (
            "Feeds A and B each carry the full rack load, so dual-corded devices tolerate the loss of either feed."
        )
        return carried + open_
    if site == "N+1":
        return (
            "Each rack has one feed more than its load needs, so devices with inlets on several feeds tolerate the "
            f"loss of one.{open_}"
        )
    return "The feeds of a rack together carry its load. None is spare: a rack stops when one of them is lost."


def note_text(note: PlanNote) -> str:
    """A note in words, without a full stop."""
    return _TEXTS[note.kind](*note.values)


def notes_text(notes: Iterable[PlanNote | None]) -> str:
    """Several notes on one line."""
    return "; ".join(note_text(note) for note in notes if note is not None)


def part_note_text(part: Component) -> str:
    """What comes with a part and what must be known of it, on one line."""
    return "; ".join(filter(None, (part.contents, notes_text(part.notes))))


def note_sentences(notes: Iterable[PlanNote]) -> list[str]:
    """Notes as sentences."""
    return [sentence(note_text(note)) for note in notes]


def manager_text(where: PlanNote | None) -> str:
    """Where the subnet manager runs: 'subnet manager runs in the first leaf, SB7800'; "" where there is none."""
    return "" if where is None else f"subnet manager {note_text(where)}"


def question_text(question: CableQuestion) -> str:
    """What a vendor must be asked about a plan."""
    return f"part number of a {question.kind.name} cable of {plain(question.length_m)} m"


def fabric_text(fabric: SingleFabric) -> str:
    """Switches and cables of one fabric in a few lines."""
    names = (("leaf", "leaves"), ("spine", "spines"), ("core", "cores"))
    counts = (fabric.leaves, fabric.spines, fabric.cores)
    switches = [f"{n} {one if n == 1 else more}" for n, (one, more) in zip(counts, names, strict=True)]
    cables = [
        f"{fabric.end_point_cables} to end points",
        f"{fabric.leaf_spine_cables} between leaves and spines",
        f"{fabric.spine_core_cables} between spines and cores",
    ]
    level = "one switch" if fabric.leaves + fabric.spines == 1 else plural(fabric.levels, "level")
    shown = max(fabric.levels, 1)
    peers = [f"{fabric.peer_cables} between the leaves of a pair"] if fabric.peer_cables else []
    modules = f"{fabric.switch_modules} in switches"
    if fabric.node_modules:
        modules += f", {fabric.node_modules} in servers"
    return "\n".join(
        (
            f"{level}: {', '.join(switches[:shown])}",
            f"cables: {', '.join([*cables[:shown], *peers])}",
            f"modules where links are optical: {modules}",
            f"oversubscription {plain(fabric.oversubscription, 3)}:1; {fabric.spare_ports} ports spare",
        )
    )


def existing_text(use: ExistingUse | None, plan: Plan) -> str:
    """What the design uses, adds and leaves idle, in one sentence; "" where nothing is there."""
    racks = [f"{rack.name} for {plural(len(rack.devices), 'device')}" for rack in plan.racks if rack.is_existing]
    if use is None:
        return f"Of the existing equipment the design uses {listed(racks)}." if racks else ""
    parts = [f"adds {listed(_equipment(use.added))}" if use.added else "adds no server, storage or switch"]
    if use.idle:
        parts.append(f"leaves {listed(_equipment(use.idle))} idle")
    taken = f"uses {listed([*_equipment(use.used), *racks])}" if use.used or racks else "uses none"
    text = f"Of the existing equipment the design {taken}; it {' and '.join(parts)}."
    around = f" Assumed to be there, and not in the price: {listed(_equipment(use.assumed))}, with their cables."
    return text + around if use.assumed else text


def _equipment(equipment: Sequence[Equipment]) -> list[str]:
    return [f"{grouped(one.count)} × {one.name}" for one in equipment]
