"""What a plan says besides its parts: notes on choices, and limits that it breaks."""

from dataclasses import dataclass
from enum import Enum

from sizer.base.quantities import grouped, plain, si
from sizer.catalog.links import LinkType


class ViolationKind(Enum):
    """A rule of the physical design that some sizes of a platform break; behind each its values."""

    TREE_TOO_LARGE = "tree-too-large"  # network, switch
    NO_SUBNET_MANAGER = "no-subnet-manager"  # kind of link
    DEVICE_EXCEEDS_RACK = "device-exceeds-rack"
    TOO_DEEP = "too-deep"  # device, its depth, rack, its usable depth [m]
    NODE_COUNT = "node-count"  # storage, fewest and most nodes
    TOO_MANY_GPUS = "too-many-gpus"  # storage, most GPUs that it is made for
    NEEDS_LIQUID = "needs-liquid"  # device, heat that coolant must carry [W]
    RACK_POWER = "rack-power"  # device, its draw, what a rack of the room gets [W]
    SHELF_FEED = "shelf-feed"  # device, phases, lowest and highest voltage of its power shelves
    FLOOR_LOAD = "floor-load"  # device, its load on the floor, what the floor carries [kg/m²]
    NO_OUTLET = "no-outlet"  # device, kind of its inlets, PDU
    ONE_WORKSTATION = "one-workstation"  # device


@dataclass(frozen=True)
class Violation:
    """One rule that is broken, with the values that its words need."""

    kind: ViolationKind
    values: tuple[str | float, ...] = ()


_ERROR_TEXTS = {
    ViolationKind.TREE_TOO_LARGE: "the {0} needs more ports than the largest tree of {1} has",
    ViolationKind.NO_SUBNET_MANAGER: "no switch of the {0} fabric and no head node can run a subnet manager",
    ViolationKind.DEVICE_EXCEEDS_RACK: "a device exceeds what one rack holds",
    ViolationKind.TOO_DEEP: "{0} is {1} m deep; {2} takes {3} m",
    ViolationKind.NODE_COUNT: "{0} has {1} to {2} nodes",
    ViolationKind.TOO_MANY_GPUS: "{0} is made for at most {1} GPUs; name a product of a vendor",
    ViolationKind.NEEDS_LIQUID: (
        "{0} is liquid-cooled and the room has air alone (site.cooling = 'air'); water that takes {1} per unit would "
        "be enough"
    ),
    ViolationKind.RACK_POWER: "{0} draws {1} and a rack gets {2}; limits.rack_power_w = {1} would be enough",
    ViolationKind.SHELF_FEED: (
        "the power shelves of {0} take {1} phases at {2} to {3}, and the room has others (site.feed_volts, "
        "site.feed_phases); such circuits would be enough"
    ),
    ViolationKind.FLOOR_LOAD: (
        "{0} puts {1} on the floor, which carries {2}; site.floor_kg_per_m2 = {1} would be enough"
    ),
    ViolationKind.ONE_WORKSTATION: "{0} is a workstation, which is not connected to others; name a server",
    ViolationKind.NO_OUTLET: "{0} has {1} inlets and {2} no outlet for them; name a PDU that has them in site.pdu",
}
# Units of the numbers among the values; others are plain.
_UNITS = {
    ViolationKind.NEEDS_LIQUID: ("", "W"),
    ViolationKind.RACK_POWER: ("", "W", "W"),
    ViolationKind.SHELF_FEED: ("", "", "V", "V"),
    ViolationKind.FLOOR_LOAD: ("", "kg/m²", "kg/m²"),
}


def violation_error_text(violation: Violation) -> str:
    """A broken rule in words."""
    units = _UNITS.get(violation.kind, ("",) * len(violation.values))
    values = (_shown(value, unit) for value, unit in zip(violation.values, units, strict=True))
    return _ERROR_TEXTS[violation.kind].format(*values)


def _shown(value: str | float, unit: str) -> str | float:
    if isinstance(value, str):
        return value
    if not unit and float(value).is_integer():
        return grouped(value)
    if unit == "W":
        return si(value, "W")
    return f"{grouped(value)} {unit}" if unit else plain(value)


class PlanNoteKind(Enum):
    """What a note is about; behind each its values."""

    # Purposes of networks.
    GRADIENTS = "gradients"
    GRADIENTS_AND_FILES = "gradients-and-files"
    FILES = "files"
    FILES_OF_ONE_SERVER = "files-of-one-server"
    FILES_THROUGH_GATEWAY = "files-through-gateway"
    BETWEEN_STORAGE_NODES = "between-storage-nodes"
    DEPLOYMENT = "deployment"
    IN_BAND = "in-band"
    OUT_OF_BAND = "out-of-band"
    # Purposes of subnets.
    SUBNET_FILES = "subnet-files"
    FILES_OF_ONE_SERVER_OVER_IPOIB = "files-of-one-server-over-ipoib"
    GRADIENTS_OVER_IPOIB = "gradients-over-ipoib"
    GRADIENTS_AND_FILES_OVER_IPOIB = "gradients-and-files-over-ipoib"
    OPERATING_SYSTEMS = "operating-systems"
    CONTROLLERS = "controllers"
    # How networks are built.
    RAILS = "rails"  # number of rails
    SPARE_PORTS = "spare-ports"  # servers that can be added
    GATEWAY_PORTS = "gateway-ports"  # ports of each storage node
    TWO_BACK_ENDS = "two-back-ends"
    SHARED_WITH_BMC = "shared-with-bmc"
    BMC_ALONE = "bmc-alone"  # network that operating systems use
    DUAL_HOMED = "dual-homed"  # cables between the leaves of a pair
    UPLINKS_IN_BAND = "uplinks-in-band"  # uplinks of each switch
    STORAGE_RATIO = "storage-ratio"  # ratio of ports to uplinks towards the servers, leaves
    # Where the subnet manager runs.
    MANAGER_IN_LEAF = "manager-in-leaf"  # switch, number of rails
    MANAGER_IN_DIRECTOR = "manager-in-director"  # switch, number of rails
    MANAGER_ON_HEAD_NODE = "manager-on-head-node"
    MANAGER_ON_APPLIANCES = "manager-on-appliances"  # appliance
    # What the whole design rests on.
    EXISTING_LAN_STORAGE = "existing-lan-storage"  # storage
    LOCAL_COPIES = "local-copies"
    USABLE_UNKNOWN = "usable-unknown"  # storage
    USABLE_BOUNDED = "usable-bounded"  # storage
    LEAST_USABLE = "least-usable"  # share of the drives
    SINGLE_SERVER = "single-server"
    STANDBY_HEAD = "standby-head"  # hosts from which on a second one is planned
    # Cautions of a building plan.
    # What the customer provides.
    CIRCUIT = "circuit"  # plug, PDU
    FEED_TRANSFER = "feed-transfer"  # rating of a PDU [W]
    RACK_TRANSFER = "rack-transfer"
    CABLE_MANAGER = "cable-manager"  # switches that share one
    LAN_PORT = "lan-port"  # link, server
    UPLINK_PORT = "uplink-port"  # link, what its optic is: medium of the cable
    OF_REPLICAS = "of-replicas"  # requests/s, requests in flight
    OF_SEARCH = "of-search"  # searches/s, bytes of a million vectors, numbers of one
    OF_TEAM = "of-team"
    SINGLE_CORDED = "single-corded"  # device
    INLETS_UNKNOWN = "inlets-unknown"  # device
    DRIVES_UNKNOWN = "drives-unknown"  # of a server
    HIGHER_MAXIMUM = "higher-maximum"  # device, planned [W], its basis, another source [W], of what
    # Device, supplies, remaining after a loss, needed, fewest feeds (N+1) that leave enough, draw that those left carry
    # [W]; needed, feeds and draw are 0 where not published or not possible.
    FEW_SUPPLIES = "few-supplies"
    CABLE_TOO_SHORT = "cable-too-short"  # role, length of the way, longest cable [m]
    # Steps from raw to usable capacity.
    UNITS = "units"  # number, capacity option
    HOT_SPARES = "hot-spares"  # nodes kept free, all nodes
    STRIPES = "stripes"  # data and parity blocks
    USABLE_SHARE = "usable-share"  # share
    ONEFS_OVERHEAD = "onefs-overhead"  # protection level, share, nodes
    ONEFS_EXTRAPOLATED = "onefs-extrapolated"  # protection level, share, nodes, last published number of nodes
    STATED = "stated"  # the source's own note, or ""
    FOR_FILES = "for-files"
    # Parts and cables.
    EXISTING = "existing"
    SAME_GPUS = "same-gpus"  # what is there are servers of another maker, by name
    SERVES_FILES = "serves-files"
    NODES_PER_UNIT = "nodes-per-unit"  # nodes of a chassis
    PER_UNIT = "per-unit"  # what a licence or a support contract is counted by
    END_OF_SALE = "end-of-sale"  # date
    BOTH_FEEDS = "both-feeds"
    ONE_FEED_SPARE = "one-feed-spare"
    NO_FEED_SPARE = "no-feed-spare"
    PLANNED_LENGTH = "planned-length"  # length [m]
    TRANSCEIVERS_AND_FIBRE = "transceivers-and-fibre"
    TRANSCEIVERS_ALONE = "transceivers-alone"  # length of the fibre [m]
    LONGEST_CABLE = "longest-cable"  # length of the longest cable [m]
    OTHER_CABLE = "other-cable"  # kind of the link, kind of the cable that is counted


@dataclass(frozen=True)
class PlanNote:
    """One note: its kind and the values that its words need."""

    kind: PlanNoteKind
    values: tuple[str | float, ...] = ()


@dataclass(frozen=True)
class CableQuestion:
    """A cable that the catalogue does not have: its part number is open."""

    kind: LinkType
    length_m: float
