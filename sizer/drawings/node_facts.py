"""What is known about the inside of a compute node: how GPUs are joined, what each port is for, which drives it has.

Nothing is filled in: a server whose source states no layout gets the generic form, and the drawing says so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from sizer.base.quantities import si
from sizer.catalog.items import Item
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Cpu, Port, Server, Storage
from sizer.drawings.links import link_text, many, memory
from sizer.physical.platforms import MIN_LAN_GBIT_PER_S
from sizer.physical.roles import NetworkPlane, NetworkRole, Role
from sizer.sizing.result import DesignAnswer

# mesh: hybrid cube mesh of eight; full: every pair; many: every pair of too many GPUs to draw each; switched: NVSwitch;
# joined: direct links, pairs not in the catalogue; pcie: PCIe only; unknown: no source says; single: one GPU.
Layout = Literal["mesh", "full", "many", "switched", "joined", "pcie", "unknown", "single"]

# Features of catalog/servers/ that state a layout, and the values that are drawn pair by pair.
NVLINKS_OF_A_GPU, PCIE_SWITCHES = "NVLinks of a GPU", "PCIe switches"
NVSWITCH_CHIPS, HOST_LINK, LOCAL_DRIVES = "NVSwitch chips", "host to GPU", ("local drives", "local drive")
_MESH, _FULL = "hybrid cube mesh", "fully connected"
_MESH_GPUS, _MOST_FULL_GPUS = 8, 4
# Ports that carry no data of a training.
_SERVICE = ("management", "bmc")
# What lies on the compute fabric beside gradients.
_FILES_ON_FABRIC = ("fabric", "gateway", "spine")

ItemT = TypeVar("ItemT", bound=Item)


@dataclass(frozen=True)
class Part:
    """Title and lines of a box."""

    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeFacts:
    """One compute node of a design."""

    design: DesignAnswer

    @property
    def server(self) -> Server:
        """The kind of server."""
        return self.design.platform.server

    @property
    def n_trays(self) -> int:
        """Trays of a system that arrives as a rack, of which one is drawn; 1 for any other server."""
        delivered = self.server.delivered
        return 1 if delivered is None else max(delivered.n_nodes, 1)

    @property
    def n_gpus(self) -> int:
        """GPUs fitted in it."""
        return self.design.platform.gpus_per_server // self.n_trays

    @property
    def layout(self) -> Layout:
        """How its GPUs are joined, as far as a source says so."""
        link = self.server.intra_link
        if self.n_gpus == 1:
            return "single"
        if link is None:
            return "unknown"
        if link.value.topology == "switched":
            return "switched"
        if link.value.topology == "host":
            return "pcie"
        stated = self.feature(self.layout_key)
        if stated == _MESH and self.n_gpus == _MESH_GPUS:
            return "mesh"
        if stated != _FULL:
            return "joined"
        return "full" if self.n_gpus <= _MOST_FULL_GPUS else "many"

    @property
    def layout_key(self) -> str:
        """Feature that states which GPUs its links join: "NVLink layout", "Infinity Fabric layout"."""
        return f"{self.link_name} layout"

    def feature(self, key: str) -> str:
        """A feature of the server; empty where its catalogue file states none."""
        fact = self.server.features.get(key)
        return "" if fact is None else fact.value

    def is_derived(self, key: str) -> bool:
        """Whether a feature follows from others instead of being printed."""
        fact = self.server.features.get(key)
        return fact is not None and fact.basis == "derived"

    def count(self, key: str) -> int | None:
        """A feature that is a number."""
        text = self.feature(key)
        return int(text) if text.isdecimal() else None

    @property
    def link_name(self) -> str:
        """What its GPUs are joined by: "NVLink", with or without switches, or "Infinity Fabric"."""
        link = self.server.intra_link
        family = "" if link is None else link.value.family
        return family if family and not family.startswith("NV") else "NVLink"

    @property
    def link_rate(self) -> str:
        """What all links of one GPU to others carry in one direction; empty where unknown."""
        fact = self.design.platform.gpu.nvlink_bytes_per_s
        return "" if fact is None else si(fact.value, "B/s")

    # --- host

    @cached_property
    def cpu(self) -> Cpu | None:
        """The kind of processor, where the catalogue has it."""
        fact = self.server.cpu
        return None if fact is None else _found(self.design.plan.catalog.cpus, fact.value)

    def processor(self) -> Part:
        """One processor."""
        fact = self.server.cpu
        if self.cpu is None or fact is None:
            return Part("Processor", ("model to be confirmed",))
        cores = self.cpu.cores.value
        said = f"{cores} cores, assumed" if fact.basis == "assumed" else f"{cores} cores"
        return Part(self.cpu.name, (said,))

    def memory(self) -> Part:
        """Memory of all processors."""
        fact = self.server.memory_bytes
        if fact is None:
            return Part("Memory", ("to be confirmed",))
        lines = ["all processors together"] if self.n_cpus > 1 else []
        if fact.basis == "assumed":
            lines.append("assumed")
        return Part(f"{memory(fact.value / self.n_trays)} memory", tuple(lines))

    @property
    def n_cpus(self) -> int:
        """Processors; one stands for a number that no source gives."""
        return self.server.n_cpus.value // self.n_trays if self.server.n_cpus is not None else 1

    @property
    def lanes(self) -> int | None:
        """PCIe lanes of one processor."""
        fact = None if self.cpu is None else self.cpu.pcie_lanes
        return None if fact is None else fact.value

    @cached_property
    def drives(self) -> Part:
        """Drives inside the server."""
        title = "Local drives"
        stated = next((text for key in LOCAL_DRIVES if (text := self.feature(key))), "")
        storage = self._local_storage
        if stated:
            return Part(title, (_printed(stated),))
        if storage is None:
            return Part(title, ("to be confirmed",))
        drives = storage.features.get("drives")
        if drives is not None:
            return Part(title, (_printed(drives.value),))
        size = storage.usable_bytes
        if size is None or size.basis == "assumed":
            return Part(title, (storage.name, "number and size to be confirmed"))
        return Part(title, (f"{si(size.value, 'B')} {storage.name}",))

    @property
    def _local_storage(self) -> Storage | None:
        name = self.server.local_storage
        return None if name is None else _found(self.design.plan.catalog.storage, name)

    # --- ports

    def ports(self) -> tuple[Part, ...]:
        """Adapters by the use of their ports in this design; those for management together at the end."""
        data = [self._data_ports(port, first) for first, port in self._numbered() if port.use not in _SERVICE]
        service = [self._service_port(port) for _, port in self._numbered() if port.use in _SERVICE]
        if service:
            data.append(Part("Management", tuple(service)))
        return tuple(data)

    def _numbered(self) -> Iterator[tuple[int, Port]]:
        """Groups of ports with the number of the first one, as plans count them."""
        first = 0
        for port in self.server.ports:
            yield first, port
            first += port.count

    def _data_ports(self, port: Port, first: int) -> Part:
        # Of the first tray, where there are several; ports that they share stay whole.
        count = port.count if port.count % self.n_trays else port.count // self.n_trays
        used = [self._cabled[number] for number in range(first, first + count) if number in self._cabled]
        kind = used[0][1] if used else port.kind
        use = self._use(used, port)
        lines = [f"{use}, port assumed" if port.basis == "assumed" and used else use]
        if used and len(used) < count:
            lines.append(f"{len(used)} of {count} cabled")
        nic = None if port.nic is None else _found(self.design.plan.catalog.nics, port.nic)
        if nic is not None:
            lines.append(many(-(-count // max(nic.n_ports.value, 1)), nic.name))
        return Part(link_text(count, kind), tuple(lines))

    def _use(self, used: list[tuple[NetworkPlane, LinkType]], port: Port) -> str:
        """What goes through some ports, by the networks that they are cabled to."""
        if not used:
            if self.design.platform.attachment == "lan" and not port.kind.is_infiniband:
                return "to the customer's LAN, provided by others"
            return "not cabled in this design"
        network = used[0][0]
        if network.network is NetworkRole.STORAGE:
            return "files"
        if network.network is not NetworkRole.COMPUTE:
            return str(network)
        attachment = self.design.platform.attachment
        has_files = attachment in _FILES_ON_FABRIC or (attachment == "lan" and not used[0][1].is_infiniband)
        if self.design.n_servers == 1:
            return "files" if has_files else "compute fabric"
        return "gradients and files" if has_files else "gradients"

    def _service_port(self, port: Port) -> str:
        name = "controller" if port.use == "bmc" else "host"
        if port.use == "management" and self._leads_to_lan(port):
            name = "host and customer's LAN"
        shared = "" if port.count % self.n_trays == 0 else ", shared by all trays"
        count = port.count if shared else port.count // self.n_trays
        return f"{link_text(count, port.kind)}, {name}{shared}"

    def _leads_to_lan(self, port: Port) -> bool:
        """Whether files come in through a management port: the fabric is InfiniBand and storage at hand is not."""
        parts = self.design.platform
        is_fast = not port.kind.is_infiniband and port.kind.gbit_per_s.value >= MIN_LAN_GBIT_PER_S
        return parts.attachment == "lan" and parts.fabric.is_infiniband and is_fast

    @cached_property
    def _cabled(self) -> dict[int, tuple[NetworkPlane, LinkType]]:
        """Port number -> network and kind of link, of the first server of the plan."""
        plan = self.design.plan
        server = next((at for at, device in enumerate(plan.devices) if device.role is Role.GPU_SERVER), None)
        return {
            int(port): (cable.run.network, cable.run.kind)
            for cable in plan.cables
            for port in cable.run.a_port[cable.run.a_device == server]
        }


def _printed(text: str) -> str:
    """A count of a catalogue file, '4 x 1.92 TB', with its proper sign."""
    return text.replace(" x ", " × ")


def _found(items: Mapping[str, ItemT], name: str) -> ItemT | None:
    return items.get(name)
