"""A platform: the kinds of thing a design is made of, before it is said how many; the memory of its hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sizer.base import units
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Gateway, Gpu, MemoryOption, Pdu, Port, Rack, Server, Storage, Switch
from sizer.physical.networks.ports import largest_group
from sizer.physical.racks.site_rules import ANY_SITE, SiteRules
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import dataset_of, stored_data

# Most servers whose networks are those of a few.
FEW_SERVERS = 8
# Server, speed of the GPU and storage, which tell platforms apart.
PlatformKey = tuple[str, tuple[float, float], str]
# Hosts with Arm processors, by the id of their kind.
_ARM_HOSTS = ("grace",)
# Software of the GPUs of vendors without CUDA.
_OTHER_THAN_CUDA: Mapping[str, Literal["rocm", "gaudi"]] = {"AMD": "rocm", "Intel": "gaudi"}
Attachment = Literal["fabric", "gateway", "own network", "spine", "lan", "local"]


@dataclass(frozen=True)
class SecondTier:
    """Where the data lie that the fast storage does not hold; what trainings read is staged from there."""

    storage: Storage | None  # None: object storage of the customer
    capacity_option: int
    nodes: int  # that the data and the staging call for, whatever the number of servers; 0 of object storage
    staging_bytes_per_s: float  # at which a working set is written to the fast tier
    is_in_band: bool = False  # its front end is on the in-band network, not on the one of the fast storage


@dataclass(frozen=True, eq=False)
class Platform:
    """One choice of server, GPU, storage and fabric, with the devices that follow from it.

    ``None`` means that the design has no such part (a single server needs no compute fabric).
    """

    server: Server
    gpu: Gpu
    gpus_per_server: int  # fitted in each server
    storage: Storage
    capacity_option: int  # index into storage.capacity_options; 0 where there is none
    storage_server: Server | None  # where the storage is software on servers
    fabric: LinkType  # network that carries gradients and storage traffic of the servers
    fabric_switch: Switch | None
    storage_switch: Switch | None  # Ethernet front end of the storage where it is not on the fabric
    back_end_switch: Switch | None
    gateway: Gateway | None
    management_switch: Switch
    head_node: Server | None
    rack: Rack
    pdu: Pdu
    # Spine of another kind than the leaf, where the leaf has uplink ports of its own (48 x 10GbE with 6 x 40GbE).
    spine_switch: Switch | None = None
    # Joins the management switches of a cluster that needs more than one.
    management_spine: Switch | None = None
    # Ethernet for the operating systems, where servers have ports for it besides those of the 1 GbE network.
    in_band_switch: Switch | None = None
    in_band_link: LinkType | None = None
    # Appliance that runs the subnet manager where a request asks for one.
    fabric_manager: Server | None = None
    # Takes what one switch of the fabric cannot, where directors are asked for.
    director: Switch | None = None
    # How the servers reach the storage: on the fabric, behind a gateway, on a network of its own, on the faster
    # spine, over the customer's LAN (by others), or not at all (local drives).
    attachment: Attachment = "fabric"
    # Replicas of models, each inside one server: servers do not talk with each other, and run no jobs.
    has_replicas_apart: bool = False
    # Built so that any one may be lost: the networks for gradients and files with two switches at least on every level
    # and the ports of each device dealt out over them; the front end with two gateways at least, every storage node
    # on two.
    has_spare_switches: bool = False
    has_spare_gateway: bool = False
    # Two head nodes wherever a design has one: an active and a standby one.
    has_spare_head: bool = False
    # Memory in place of the standard one, which ``server.memory_bytes`` then is; None: the standard one.
    host_memory: MemoryOption | None = None
    # Drives for data in a server whose price has none; 0 of others. [B]
    stored_bytes: float = 0.0
    # The same before it was said how much its drives hold, which changes its price alone; None: this one.
    without_drives: "Platform | None" = None
    # None: one tier holds everything.
    second_tier: SecondTier | None = None
    site: SiteRules = ANY_SITE
    # Ids of servers that are there and no longer sold, with the same GPUs and ports of the fabric: more of ``server``
    # joins them in one cluster. They are planned as it is.
    extends: tuple[str, ...] = ()
    network_pdu: Pdu | None = None  # of racks that hold networks, head nodes and storage alone
    # The same with the networks of a few servers, where these differ, and the most servers that have them.
    few: "Platform | None" = None
    few_servers: int = 0

    def of_size(self, n_servers: int) -> "Platform":
        """The platform as so many servers are connected."""
        return self.few if self.few is not None and n_servers <= self.few_servers else self

    def servers_there(self, existing: Mapping[str, int]) -> int:
        """How many of its servers a customer has, by what there is of each kind."""
        return sum(existing.get(item, 0) for item in (self.server.id, *self.extends))

    def device(self, catalog: Catalog, item: str) -> Device:
        """A device of the design by its catalogue id: the server as it is fitted, every other one as it is sold."""
        return self.server if item == self.server.id else catalog.device(item)

    @property
    def fitting(self) -> str:
        """GPUs of a server as price books name them: "8 x l40s-48gb"."""
        return f"{self.gpus_per_server} x {self.gpu.id}"

    @property
    def front_end_kind(self) -> LinkType:
        """Link that the storage nodes attach with; storage servers run what the fabric runs."""
        front = self.storage.front_end_kind
        return self.fabric if self.storage_server is not None or front is None else front.value

    @property
    def server_storage_kind(self) -> LinkType:
        """Link of the servers' ports on a storage network of its own."""
        return self.server_kind_on(self.storage_switch)

    def server_kind_on(self, switch: Switch | None) -> LinkType:
        """The fastest link that these ports and a switch can run, of the technology of the front end."""
        front = self.front_end_kind
        own = None if switch is None else largest_group(switch, front)
        if own is None:
            return front
        kinds = [
            kind
            for port in self.server.ports
            if port.use == "storage-network" and port.runs(front)
            for kind in (own.kind, *own.also)
            if port.runs(kind) and kind.is_infiniband == front.is_infiniband
        ]
        return max(kinds, key=lambda kind: kind.gbit_per_s.value, default=front)

    @property
    def intra_link(self) -> str:
        """Id of the link between the GPUs of a server; PCIe where no source states one."""
        link = self.server.intra_link
        return link.value.id if link is not None else "pcie3"

    @property
    def other_software(self) -> Literal["arm", "rocm", "gaudi"] | None:
        """What software that most people run, built for x86 and CUDA, has to be changed for; None: nothing."""
        if self.server.cpu is not None and self.server.cpu.value in _ARM_HOSTS:
            return "arm"
        return _OTHER_THAN_CUDA.get(self.gpu.vendor or "")

    @property
    def technology(self) -> tuple[bool, str | None]:
        """Whether it takes coolant, and what software has to be changed for: what a building or a team decides."""
        heat = self.server.liquid_heat_fraction
        return heat is not None and heat.value > 0, self.other_software

    @property
    def capacity_storage(self) -> Storage | None:
        """Storage of the capacity tier that is part of the design; None without one."""
        return None if self.second_tier is None else self.second_tier.storage

    @property
    def tier_key(self) -> str:
        """Identity of the second tier in comparisons; "" without one."""
        if self.second_tier is None:
            return ""
        return "object storage" if self.second_tier.storage is None else self.second_tier.storage.id

    @property
    def management_link(self) -> LinkType:
        """Link of the management ports of devices: the slowest that the management switch has ports for."""
        return min((p.kind for p in self.management_switch.ports if p.use == "any"), key=lambda k: k.gbit_per_s.value)

    @property
    def key(self) -> PlatformKey:
        """Identity of the platform in comparisons: server, GPU without the size of its memory, and storage."""
        return (self.server.id, self.gpu.speed, self.storage.id)


# Memory that the operating system, the framework and pinned buffers keep from the page cache, in addition to a copy of
# the GPU memory: the rule "RAM at least the sum of GPU memory" (dell-ready-ai-nvidia-2018) leaves the rest for caching.
OS_RESERVE_BYTES = 16 * units.GIB


@dataclass(frozen=True)
class FittedServer:
    """A server with one of the memory sizes that it is sold with."""

    server: Server  # its ``memory_bytes`` is that of the option
    option: MemoryOption | None  # None: the standard memory


def lan_ports(server: Server) -> tuple[Port, ...]:
    """Groups of which one port joins the customer's LAN where a design has no network: data first, then controller."""
    data = [port for port in server.ports if port.use != "bmc" and not port.kind.is_infiniband]
    in_band = [port for port in data if port.use == "in-band"]
    slowest = sorted(in_band or data, key=lambda port: port.kind.gbit_per_s.value)[:1]
    return (*slowest, *[port for port in server.ports if port.use == "bmc"][:1])


def page_cache_bytes(server: Server, n_gpus: int, gpu: Gpu) -> float:
    """Memory of a server that can hold data: what a copy of the GPU memory and the operating system leave. [B]"""
    if server.memory_bytes is None:
        return 0.0
    return max(server.memory_bytes.value - n_gpus * gpu.memory_bytes.value - OS_RESERVE_BYTES, 0.0)


def cached_sets_bytes(request: SizingRequest, catalog: Catalog) -> tuple[float, ...]:
    """Sizes of the data sets that a request lets the servers cache, the smallest first. [B]

    Raises RequestError if a data set is not in the catalogue.
    """
    sizes = {
        stored_data(work, dataset_of(work, f"workload.{index}", catalog)).dataset_bytes
        for index, work in enumerate(request.workload)
        if work.cache != "none"
    }
    return tuple(sorted(sizes))


def memory_sizes(server: Server, catalog: Catalog) -> tuple[FittedServer, ...]:
    """A server with its standard memory and with every published option, the smallest first."""
    options = [one for one in catalog.memory.values() if one.server == server.id and one.orderable]
    larger = sorted(options, key=lambda one: one.memory_bytes.value)
    return FittedServer(server, None), *(FittedServer(_with(server, option), option) for option in larger)


def considered_sizes(
    sizes: tuple[FittedServer, ...], least_bytes: float | None, n_gpus: int, gpu: Gpu, sets_bytes: tuple[float, ...]
) -> list[FittedServer]:
    """Sizes that the search compares; none where no published size is enough.

    ``sizes``: of one server, as of :func:`memory_sizes`. ``least_bytes``: memory that the request asks for [B].
    ``n_gpus``: GPUs fitted in the server. ``sets_bytes``: data sets that may be cached [B].

    The smallest size that the request allows, and for each data set that its page cache cannot hold the smallest size
    whose page cache can. Other sizes cost more and save no read entirely.
    """
    enough = [one for one in sizes if least_bytes is None or _memory_bytes(one.server) >= least_bytes]
    if not enough:
        return []
    chosen = enough[:1]
    for size in sets_bytes:
        holds = next((one for one in enough if page_cache_bytes(one.server, n_gpus, gpu) >= size), None)
        if holds is not None and holds not in chosen:
            chosen.append(holds)
    return chosen


def _memory_bytes(server: Server) -> float:
    return server.memory_bytes.value if server.memory_bytes is not None else 0.0


# Kept, so that the same choice is the same object: other functions keep by identity what they found of it.
@lru_cache(maxsize=4096)
def _with(server: Server, option: MemoryOption) -> Server:
    return server.model_copy(update={"memory_bytes": option.memory_bytes})
