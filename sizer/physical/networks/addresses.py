"""Subnets and addresses of a design: one address for every port that ends a link of its building plan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from sizer.base.errors import InfeasibleError
from sizer.base.quantities import grouped
from sizer.physical.networks.ports import device_ports
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.plan import NAME_PREFIXES, Connection, Plan
from sizer.physical.roles import MANAGEMENT_SWITCHES, NetworkPlane, NetworkRole, Role

# The largest of the three blocks that RFC 1918 sets aside for private networks.
PRIVATE_SPACE = IPv4Network("10.0.0.0/8")
# Subnets are sized for this many times the ports of today: the growth table of the plan ends at twice the design.
GROWTH_FACTOR = 2
# No subnet is smaller: the last octet then tells a port within its subnet.
LONGEST_PREFIX = 24
# VLANs are numbered in steps, so that a later one finds room between two.
VLAN_STEP = 10
# Addresses of a subnet that no port can have: those of the network and of the broadcast.
_NETWORK_AND_BROADCAST = 2


@dataclass(frozen=True)
class Subnet:
    """One subnet."""

    name: str
    purpose: PlanNote
    vlan: int  # 0: untagged; InfiniBand has none, and the back end has switches of its own
    network: IPv4Network
    n_used: int  # addresses of ports
    n_after_growth: int  # addresses of ports that it is sized for
    gateway: IPv4Address | None  # kept for the customer's router; None: nothing leaves the subnet


@dataclass(frozen=True)
class Address:
    """One port with its address."""

    device: str
    port: str
    subnet: str
    address: IPv4Address


@dataclass(frozen=True)
class AddressPlan:
    """All subnets with the addresses in them."""

    subnets: tuple[Subnet, ...]
    addresses: tuple[Address, ...]


@dataclass
class _Draft:
    """A subnet before it has its place."""

    name: str
    purpose: PlanNote
    is_tagged: bool
    is_routed: bool
    ends: list[tuple[str, str]]  # device and port

    def after_growth(self, servers_to_come: int) -> int:
        """Addresses to keep room for: twice today's, or more where more servers are planned."""
        device = next(
            (device for device, _ in self.ends if device.startswith(f"{NAME_PREFIXES[Role.GPU_SERVER]}-")), ""
        )
        each = sum(end[0] == device for end in self.ends)
        return max(GROWTH_FACTOR * len(self.ends), len(self.ends) + servers_to_come * each)


def address_plan(plan: Plan) -> AddressPlan:
    """Subnets and addresses of a building plan.

    ``plan``: its links say which ports there are. In the order of the plan's networks and links; empty for a
    server without networks of its own: the customer's LAN has its addresses already. Raises InfeasibleError if the
    subnets do not fit :data:`PRIVATE_SPACE`.

    Private addresses after RFC 1918 (Y. Rekhter et al., "Address Allocation for Private Internets," IETF, 1996,
    section 3). One address for each port of a server, head node or storage unit, also over InfiniBand (IPoIB), and one
    for the management of each switch; ports that join two switches have none. Each network of the plan is a subnet,
    each rail that is kept apart as well; ports on a pair of in-band switches are a bond. The management network
    carries two: baseboard controllers, switches and storage out of band, operating systems in band. A prefix holds
    twice the ports of today and the router.
    """
    drafts = [draft for draft in _drafts(plan) if draft.ends]
    room = [draft.after_growth(plan.inputs.fabric.spare_servers) for draft in drafts]
    networks = allocated([n + draft.is_routed for n, draft in zip(room, drafts, strict=True)], PRIVATE_SPACE)
    subnets: list[Subnet] = []
    addresses: list[Address] = []
    for number, (draft, network, size) in enumerate(zip(drafts, networks, room, strict=True), start=1):
        gateway = network.network_address + 1 if draft.is_routed else None
        first = network.network_address + 1 + draft.is_routed
        vlan = VLAN_STEP * number if draft.is_tagged else 0
        subnets.append(Subnet(draft.name, draft.purpose, vlan, network, len(draft.ends), size, gateway))
        addresses += [Address(*end, draft.name, first + index) for index, end in enumerate(draft.ends)]
    return AddressPlan(tuple(subnets), tuple(addresses))


def allocated(needs: Sequence[int], space: IPv4Network) -> tuple[IPv4Network, ...]:
    """Networks one after the other in ``space``, each with room for so many addresses.

    ``needs``: addresses of each network, that of its router included. ``space``: where they lie. Raises InfeasibleError
    if they do not fit.

    Examples
    --------
    >>> [str(network) for network in allocated([300, 20], IPv4Network("10.0.0.0/8"))]
    ['10.0.0.0/23', '10.0.2.0/24']
    """
    networks: list[IPv4Network] = []
    cursor = int(space.network_address)
    for need in needs:
        prefix = min(LONGEST_PREFIX, 32 - (need + _NETWORK_AND_BROADCAST - 1).bit_length())
        size = 2 ** (32 - max(prefix, 0))
        start = -(-cursor // size) * size
        if prefix < space.prefixlen or start + size - 1 > int(space.broadcast_address):
            raise InfeasibleError(
                f"address plan: subnets for {grouped(sum(needs))} addresses do not fit {space}, "
                f"which holds {grouped(space.num_addresses)}"
            )
        networks.append(IPv4Network((start, prefix)))
        cursor = start + size
    return tuple(networks)


def _drafts(plan: Plan) -> Iterator[_Draft]:
    """Subnets with the ports in them, network by network of the plan."""
    by_network: dict[NetworkPlane, list[Connection]] = {}
    for link in plan.connections:
        by_network.setdefault(link.network, []).append(link)
    roles = {device.name: device.role for device in plan.devices}
    for key, links in by_network.items():
        if key.network is NetworkRole.MANAGEMENT:
            yield from _management(plan, links, roles)
        else:
            yield _data(plan, key, links, roles)


def _data(plan: Plan, key: NetworkPlane, links: Sequence[Connection], roles: dict[str, Role]) -> _Draft:
    """Subnet of a network that carries gradients or files. What stands outside the plan has addresses already."""
    ends = [
        (link.a.device, link.a.port) for link in links if link.a.device in roles and not roles[link.a.device].forwards
    ]
    kind = plan.inputs.platform.fabric if key.network is NetworkRole.COMPUTE else links[0].kind
    if key.network is NetworkRole.STORAGE_BACK_END:
        name = f"Storage back end, {key.side}" if key.side else "Storage back end"
        return _Draft(name, PlanNote(PlanNoteKind.BETWEEN_STORAGE_NODES), is_tagged=False, is_routed=False, ends=ends)
    if key.network is NetworkRole.IN_BAND:
        ports_of: dict[str, list[str]] = {}
        for device, port in ends:
            ports_of.setdefault(device, []).append(port)
        bonds = [(device, " + ".join(ports)) for device, ports in ports_of.items()]
        return _Draft("In-band management", PlanNote(PlanNoteKind.OPERATING_SYSTEMS), True, True, bonds)
    if key.network is NetworkRole.STORAGE:
        name, purpose = "Storage front end", PlanNote(PlanNoteKind.SUBNET_FILES)
        return _Draft(name, purpose, is_tagged=True, is_routed=True, ends=ends)
    name = f"Compute fabric, rail {key.rail}" if key.rail else "Compute fabric"
    # All but servers joins the first rail; the others carry gradients only, and nothing leaves them.
    is_first = key.rail <= 1
    carries_files = is_first and plan.inputs.platform.attachment in ("fabric", "gateway", "spine", "lan")
    n_servers = len({device for device, _ in ends if roles[device] is Role.GPU_SERVER})
    purpose = _fabric_purpose(kind.is_infiniband, carries_files, n_servers)
    return _Draft(name, purpose, not kind.is_infiniband, is_first and (carries_files or not kind.is_infiniband), ends)


def _fabric_purpose(is_ib: bool, carries_files: bool, n_servers: int) -> PlanNote:
    if carries_files and n_servers == 1:  # its gradients stay inside
        return PlanNote(PlanNoteKind.FILES_OF_ONE_SERVER_OVER_IPOIB if is_ib else PlanNoteKind.FILES_OF_ONE_SERVER)
    if carries_files:
        return PlanNote(PlanNoteKind.GRADIENTS_AND_FILES_OVER_IPOIB if is_ib else PlanNoteKind.GRADIENTS_AND_FILES)
    return PlanNote(PlanNoteKind.GRADIENTS_OVER_IPOIB if is_ib else PlanNoteKind.GRADIENTS)


def _management(plan: Plan, links: Sequence[Connection], roles: dict[str, Role]) -> Iterator[_Draft]:
    """In band: host ports of servers. Out of band: their baseboard controllers, storage units and switches."""
    in_band = _Draft("In-band management", PlanNote(PlanNoteKind.OPERATING_SYSTEMS), True, True, [])
    out_of_band = _Draft("Out-of-band management", PlanNote(PlanNoteKind.CONTROLLERS), True, True, [])
    uses: dict[str, dict[str, str]] = {}
    for link in links:
        if link.a.device not in roles:  # a rack PDU
            out_of_band.ends.append((link.a.device, link.a.port))
            continue
        role = roles[link.a.device]
        if link.role is not Role.MANAGEMENT_CABLE:
            continue  # joins two management switches
        if link.a.item not in uses:
            uses[link.a.item] = {port.name: port.group.use for port in device_ports(plan.catalog.device(link.a.item))}
        is_host = (
            role in (Role.GPU_SERVER, Role.HEAD_NODE, Role.STORAGE_SERVER) and uses[link.a.item][link.a.port] != "bmc"
        )
        (in_band if is_host else out_of_band).ends.append((link.a.device, link.a.port))
    # Management switches are managed through the network that they make.
    out_of_band.ends += [(device.name, "in band") for device in plan.devices if device.role in MANAGEMENT_SWITCHES]
    yield in_band
    yield out_of_band
