"""What devices, cables and networks of a design are for. The values are the keys that files for machines carry."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a part is for."""

    GPU_SERVER = "GPU server"
    HEAD_NODE = "head node"
    STORAGE_SERVER = "storage server"
    HOST_MEMORY = "host memory"
    FABRIC_MANAGER = "fabric manager"
    STORAGE_FABRIC_MANAGER = "storage fabric manager"
    STORAGE_CHASSIS = "storage chassis"
    STORAGE_NODE = "storage node"
    CAPACITY_TIER = "capacity tier unit"
    GPU_SERVER_ADAPTER = "GPU server adapter"
    HEAD_NODE_ADAPTER = "head node adapter"
    STORAGE_SERVER_ADAPTER = "storage server adapter"
    COMPUTE_LEAF = "compute leaf switch"
    COMPUTE_SPINE = "compute spine switch"
    COMPUTE_CORE = "compute core switch"
    STORAGE_LEAF = "storage leaf switch"
    STORAGE_SPINE = "storage spine switch"
    STORAGE_CORE = "storage core switch"
    GATEWAY = "gateway"
    BACK_END_LEAF = "back-end switch"
    BACK_END_SPINE = "back-end spine switch"
    BACK_END_CORE = "back-end core switch"
    IN_BAND_LEAF = "in-band switch"
    IN_BAND_SPINE = "in-band spine switch"
    IN_BAND_CORE = "in-band core switch"
    MANAGEMENT_LEAF = "management switch"
    MANAGEMENT_SPINE = "management aggregation switch"
    MANAGEMENT_CORE = "management core switch"
    COMPUTE_CABLE = "compute cable"
    COMPUTE_UPLINK = "inter-switch cable"
    HEAD_NODE_CABLE = "head node cable"
    GATEWAY_UPLINK = "gateway uplink cable"
    LAN_UPLINK = "LAN uplink cable"
    STORAGE_CABLE = "storage cable"
    CAPACITY_CABLE = "capacity tier cable"
    SERVER_STORAGE_CABLE = "server storage cable"
    STORAGE_UPLINK = "storage inter-switch cable"
    BACK_END_CABLE = "back-end cable"
    BACK_END_UPLINK = "back-end inter-switch cable"
    FABRIC_MANAGER_CABLE = "fabric manager cable"
    IN_BAND_CABLE = "in-band cable"
    IN_BAND_UPLINK = "in-band inter-switch cable"
    MANAGEMENT_CABLE = "management cable"
    MANAGEMENT_UPLINK = "management inter-switch cable"
    COOLANT_UNIT = "coolant distribution unit"
    RACK = "rack"
    RACK_PDU = "rack PDU"
    BLANKING_PANEL = "blanking panel"
    POWER_CORD = "power cord"
    SOFTWARE = "software"
    SUPPORT = "support"

    @property
    def is_switch(self) -> bool:
        """Whether the part is a switch; a gateway is none."""
        return self in _SWITCHES

    @property
    def forwards(self) -> bool:
        """Whether the part connects others: a switch or a gateway."""
        return self.is_switch or self is Role.GATEWAY

    @property
    def is_between_switches(self) -> bool:
        """Whether the part is a cable with a switch at both ends."""
        return self in _BETWEEN_SWITCHES


# Leaf, spine and core switches of each network.
COMPUTE_SWITCHES = (Role.COMPUTE_LEAF, Role.COMPUTE_SPINE, Role.COMPUTE_CORE)
STORAGE_SWITCHES = (Role.STORAGE_LEAF, Role.STORAGE_SPINE, Role.STORAGE_CORE)
BACK_END_SWITCHES = (Role.BACK_END_LEAF, Role.BACK_END_SPINE, Role.BACK_END_CORE)
IN_BAND_SWITCHES = (Role.IN_BAND_LEAF, Role.IN_BAND_SPINE, Role.IN_BAND_CORE)
MANAGEMENT_SWITCHES = (Role.MANAGEMENT_LEAF, Role.MANAGEMENT_SPINE, Role.MANAGEMENT_CORE)
_SWITCHES = frozenset(
    (*COMPUTE_SWITCHES, *STORAGE_SWITCHES, *BACK_END_SWITCHES, *IN_BAND_SWITCHES, *MANAGEMENT_SWITCHES)
)
# Switches and cables over which servers are deployed and maintained.
MANAGING = frozenset(
    (
        *IN_BAND_SWITCHES,
        *MANAGEMENT_SWITCHES,
        Role.IN_BAND_CABLE,
        Role.IN_BAND_UPLINK,
        Role.LAN_UPLINK,
        Role.MANAGEMENT_CABLE,
        Role.MANAGEMENT_UPLINK,
    )
)
_BETWEEN_SWITCHES = frozenset(
    (Role.COMPUTE_UPLINK, Role.STORAGE_UPLINK, Role.BACK_END_UPLINK, Role.IN_BAND_UPLINK, Role.MANAGEMENT_UPLINK)
)

ADAPTERS = {
    Role.GPU_SERVER: Role.GPU_SERVER_ADAPTER,
    Role.HEAD_NODE: Role.HEAD_NODE_ADAPTER,
    Role.STORAGE_SERVER: Role.STORAGE_SERVER_ADAPTER,
}


class NetworkRole(StrEnum):
    """What a network is for."""

    COMPUTE = "compute fabric"
    STORAGE = "storage front end"
    STORAGE_BACK_END = "storage back end"
    IN_BAND = "in-band management"
    MANAGEMENT = "management"


@dataclass(frozen=True)
class NetworkPlane:
    """One of the networks of a design, or one of the several planes that it is made of."""

    network: NetworkRole
    rail: int = 0  # from 1; 0: the network is not divided into rails
    side: str = ""  # "a" or "b" of a back end of two networks

    @property
    def plane(self) -> str:
        """Key of the plane: "rail 2", "a"; "" where the network is one."""
        return f"rail {self.rail}" if self.rail else self.side

    @property
    def short(self) -> str:
        """Key of the plane inside names of devices: "r2", "a"."""
        return f"r{self.rail}" if self.rail else self.side

    def __str__(self) -> str:
        return f"{self.network}, {self.plane}" if self.plane else str(self.network)
