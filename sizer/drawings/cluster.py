"""A design as its drawings see it: devices by what they do, with the bundles of cables between them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.quantities import by_count, grouped, si, significant
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Device
from sizer.physical.components import Network
from sizer.physical.networks.links import OUTSIDE, ZERO_U
from sizer.physical.plan import NAME_PREFIXES, PlacedDevice, Plan
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.result import DesignAnswer

# End of the cables that lead to the customer's network.
CUSTOMER_LAN = "customer-lan"


@dataclass(frozen=True)
class Bundle:
    """Cables of one kind between two ends."""

    a: str  # the device, or the lower switch
    z: str  # the switch
    kind: LinkType
    count: int
    least: int  # cables of the device at the lower end that has fewest, and most, of them
    most: int

    @property
    def of_each(self) -> str:
        """Cables of one device at the lower end: '2', or '3 to 27' where they differ."""
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


def bundles(plan: Plan, end: Callable[[PlacedDevice], str]) -> tuple[Bundle, ...]:
    """Cables of a plan but those of its rack PDUs, bundled by their ends.

    ``end``: name of what stands for a device on the drawing: the device itself or its group.
    """
    names = [end(device) for device in plan.devices] + [CUSTOMER_LAN]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    known, number = list(numbers), np.array([numbers[name] for name in names])
    # Pair of ends and device at the lower end of every cable, as one number.
    found: dict[tuple[int, LinkType], list[Ints]] = {}
    for cable in plan.cables:
        drawn = cable.run.a_device != ZERO_U
        a_device = np.where(cable.run.a_device == OUTSIDE, len(plan.devices), cable.run.a_device)[drawn]
        pairs = number[a_device] * len(known) + number[cable.run.b_device[drawn]]
        for pair in np.unique(pairs).tolist():
            found.setdefault((pair, cable.run.kind), []).append(a_device[pairs == pair])
    counts = {key: np.unique(np.concatenate(devices), return_counts=True)[1] for key, devices in found.items()}
    return tuple(
        Bundle(known[pair // len(known)], known[pair % len(known)], kind, int(of.sum()), int(of.min()), int(of.max()))
        for (pair, kind), of in counts.items()
    )


def speed(kind: LinkType) -> str:
    """Speed of one link: 'FDR 56 Gbit/s', '40 GbE'."""
    return f"{kind.id.upper()} {kind.gbit_per_s.value:g} Gbit/s" if kind.is_infiniband else kind.name


def link_text(count: int, kind: LinkType) -> str:
    """Count and speed of a bundle: '3 × FDR 56 Gbit/s', '16 × 40 GbE'."""
    return f"{grouped(count)} × {speed(kind)}"


def stroke(kind: LinkType) -> float:
    """Line width of a link; it grows with the logarithm of the speed."""
    return 0.8 + 1.2 * math.log10(kind.gbit_per_s.value)


def many(count: int, name: str) -> str:
    """Name with its multiplicity, which one alone does not need."""
    return f"{grouped(count)} × {name}" if count > 1 else name


def memory(size_bytes: float) -> str:
    """Memory is sold in binary units where it divides by one."""
    gib = size_bytes / 2**30
    return f"{grouped(gib)} GiB" if gib.is_integer() else si(size_bytes, "B")


def oversubscribed(net: Network) -> str:
    """How a leaf's uplinks compare with its downlinks, as part of a sentence."""
    ratio = float(net.oversubscription[0])
    return "non-blocking" if ratio <= 1 else f"oversubscribed {significant(ratio, 2)}:1"


# Where a group is not called by the prefix of its devices' names.
_OTHER_NAMES = {
    "gpu": "servers",
    "mgmt": "management",
    "mgmt-agg": "management-aggregation",
    "mgmt-core": "management-core",
    "capacity": "storage",  # both tiers are drawn as the storage
}
# Group of each role of the plan. Its name stands for its devices on a drawing that shows them as one.
GROUPS = {role: _OTHER_NAMES.get(prefix, prefix) for role, prefix in NAME_PREFIXES.items()}
# Networks whose switches are called by them: 'in-band spine switches'.
_NETWORKS = ("storage", "back-end", "in-band", "management")
# Appliances that run subnet managers.
MANAGERS = ("ufm", "storage-ufm")
_ALONE, _DIRECTOR = ("fabric switch", "fabric switches"), ("director", "directors")
_LEVELS = {"leaf": "leaf", "spine": "spine", "core": "core"}


@dataclass(frozen=True)
class Cluster:
    """Devices of a design by group, and where their cables lead."""

    design: DesignAnswer

    @cached_property
    def groups(self) -> dict[str, tuple[PlacedDevice, ...]]:
        """Devices by group."""
        found: dict[str, list[PlacedDevice]] = {}
        for device in self.design.plan.devices:
            found.setdefault(GROUPS[device.role], []).append(device)
        return {group: tuple(devices) for group, devices in found.items()}

    def count(self, group: str) -> int:
        return len(self.groups.get(group, ()))

    def id(self, group: str) -> str:
        """Name of the box that shows a group: its device's own name where it is one."""
        devices = self.groups.get(group, ())
        return devices[0].name if len(devices) == 1 else group

    def bundles(self, end: Callable[[PlacedDevice], str]) -> tuple[Bundle, ...]:
        return bundles(self.design.plan, end)

    def model(self, group: str) -> str:
        """What the devices of a group are, by the parts of the platform."""
        parts = self.design.platform
        if group == "storage":
            return parts.storage.name
        item: Device | None
        if group == "servers":
            item = parts.server
        elif group == "head":
            item = parts.head_node
        elif group in MANAGERS:
            item = parts.fabric_manager
        elif group.startswith("in-band"):
            item = parts.in_band_switch
        elif group == "gateway":
            item = parts.gateway
        elif group.startswith("back-end"):
            item = parts.back_end_switch
        elif group.startswith("storage-"):
            item = parts.storage_switch
        elif group.startswith("management-"):
            item = parts.management_spine or parts.management_switch
        elif group == "management":
            item = parts.management_switch
        elif group == "spine" and self.has_director:
            item = parts.director
        else:
            item = parts.fabric_switch if group == "leaf" else parts.spine_switch or parts.fabric_switch
        assert item is not None, f"the platform names no {group}"
        return item.name

    def words(self, group: str) -> str:
        """What switches do: 'leaf switches', 'director', 'gateway'."""
        count = self.count(group)
        is_director = group == "spine" and self.has_director
        is_alone = group == "leaf" and not self.count("spine")
        network = next((f"{name} " for name in _NETWORKS if group.startswith(f"{name}-")), "")
        level = f"{network}{group.removeprefix(network.replace(' ', '-'))}"
        usual = ("gateway", "gateways") if group == "gateway" else (f"{level} switch", f"{level} switches")
        return by_count(max(count, 1), *(_DIRECTOR if is_director else _ALONE if is_alone else usual))

    @property
    def has_director(self) -> bool:
        """Whether one director does the work of leaves and spines."""
        return bool(self.count("spine")) and not self.count("leaf")

    @property
    def rails(self) -> int:
        """Compute fabrics that are kept apart."""
        return max((net.rails for net in self.design.quantities.networks), default=1)

    def server_facts(self) -> list[str]:
        """What a server is made of: GPUs, memory, how many GPUs all have, links between the GPUs."""
        parts, n_servers = self.design.platform, self.design.n_servers
        server, per = parts.server, parts.gpus_per_server
        gpus = f"{per} × {parts.gpu.name}"
        facts = [f"{gpus} each" if n_servers > 1 else gpus]
        if server.memory_bytes is not None:
            facts.append(f"{memory(server.memory_bytes.value)} memory")
        if n_servers > 1:
            facts.append(f"{grouped(self.design.n_gpus)} GPUs in all")
        if server.intra_link is not None and per > 1:
            facts.append(f"{server.intra_link.value.name} between the GPUs")
        if parts.storage.kind == "local":
            facts.append(f"data on {parts.storage.name}")
        return facts

    @property
    def head_serves_files(self) -> bool:
        """Whether the files are the head node's."""
        storage = self.design.platform.storage
        return storage.kind == "nfs-server" and storage.server is not None

    @property
    def storage_nodes(self) -> int:
        tier = self.design.platform.second_tier
        return self.design.storage_nodes + (0 if tier is None else tier.nodes)

    def storage_title(self) -> str:
        """Storage with its multiplicity: chassis where nodes share one."""
        tier = self.design.platform.capacity_storage
        units = sum(device.role is Role.CAPACITY_TIER for device in self.groups.get("storage", ()))
        fast = many(self.count("storage") - units, self.model("storage"))
        return fast if tier is None else f"{fast}, {many(units, tier.name)}"

    def storage_lines(self) -> list[str]:
        """Nodes, servers below the software, usable capacity."""
        parts, nodes, units = self.design.platform, self.storage_nodes, self.count("storage")
        lines = []
        if nodes > units > 0:
            lines.append(f"{nodes} nodes in {units} chassis")
        if parts.storage_server is not None:
            lines.append(f"on {parts.storage_server.name}")
        if parts.attachment == "lan":
            lines.append("existing, provided by others")
        for tier in self.design.tiers:
            if tier.usable_bytes > 0:
                where = f" on {tier.storage.name}" if parts.second_tier is not None and tier.storage is not None else ""
                lines.append(f"{si(tier.usable_bytes, 'B')} usable{where}")
        return lines

    def title(self) -> str:
        """What a drawing of the whole cluster shows, in a sentence without its full stop."""
        fabric = self.fabric_text()
        return f"{self.design.name}, connected by {fabric}" if fabric else self.design.name

    def fabric_text(self) -> str:
        """Link and switches of the cluster, and the gateway to its storage; "" without switches."""
        levels = [group for group in ("leaf", "spine", "core") if self.count(group)]
        behind = f"storage behind {self.model('gateway')}" if self.count("gateway") else ""
        if not levels:
            return behind
        net = self.network(NetworkRole.COMPUTE)
        ratio = oversubscribed(net) if len(levels) > 1 and net is not None else ""
        text = f"{self.design.platform.fabric.name} on {self._switches(levels)}"
        return ", ".join(filter(None, (text, ratio, behind)))

    def _switches(self, levels: Sequence[str]) -> str:
        """'one SB7800', '2 directors', '3 leaf and 2 spine switches'."""
        *others, last = levels
        if not others and self.count(last) == 1:
            return f"one {self.model(last)}"
        counted = ", ".join(f"{grouped(self.count(group))} {_LEVELS[group]}" for group in others)
        switches = f"{grouped(self.count(last))} {self.words(last)}"
        return f"{counted} and {switches}" if counted else switches

    def network(self, role: NetworkRole) -> Network | None:
        return next((net for net in self.design.quantities.networks if net.role is role), None)
