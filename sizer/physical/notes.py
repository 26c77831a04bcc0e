"""What a reader must know of a design, as keys with their values. ``present.plan_text`` has the words."""

from dataclasses import dataclass
from enum import Enum

from sizer.catalog.links import LinkType


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
    SINGLE_SERVER = "single-server"
    # Cautions of a building plan.
    SINGLE_CORDED = "single-corded"  # device
    INLETS_UNKNOWN = "inlets-unknown"  # device
    DRIVES_UNKNOWN = "drives-unknown"  # of a server
    HIGHER_MAXIMUM = "higher-maximum"  # device, planned [W], its basis, another source [W], of what
    # Device, supplies, remaining after a loss, needed, 1: three feeds suffice, draw that the remaining ones carry [W];
    # needed and draw are 0 where not published.
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
