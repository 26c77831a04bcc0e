"""All platforms that the catalogue can order and a request allows, with the devices that follow from each choice."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sizer.base.errors import InfeasibleError
from sizer.base.provenance import Sourced
from sizer.base.stored_answers import StoredAnswers, stores_by_catalog
from sizer.base.streams import pause_point
from sizer.calibrate.serving.deployment import fits_inside
from sizer.catalog.fabrics import fabric_links, fabric_ports, plans_unasked, possible_links
from sizer.catalog.links import LinkType, fastest_first
from sizer.catalog.model import Catalog
from sizer.catalog.sale import era_of
from sizer.catalog.schema import CapacityOption, Device, Gateway, Gpu, MemoryOption, Pdu, Rack, Server, Storage, Switch
from sizer.physical.allowed_parts import (
    allowed_gpus,
    allowed_storage,
    asked_of,
    check_names,
    fits_era,
    gpus_fitted,
    larger_cache_bytes,
    network_pdu,
    servers_asked,
    site_item,
    site_pdu,
    why_none_error_text,
)
from sizer.physical.capacity import LEAST_USABLE_SHARE
from sizer.physical.networks.ports import (
    in_band_numbers,
    largest_group,
    management_numbers,
    nodes_of,
    storage_network_numbers,
)
from sizer.physical.platform import FEW_SERVERS, Attachment, Platform, cached_sets_bytes, considered_sizes, memory_sizes
from sizer.physical.racks.power import with_fitted_power
from sizer.physical.racks.site_rules import SiteRules, site_rules
from sizer.workload.eras import ErasAsked, eras_asked
from sizer.workload.request import Fabric, SizingRequest
from sizer.workload.resolve import dataset_of, served_works, stored_data
from sizer.workload.serving import ServingWork

# Key of facts that the user gives; no document of the catalogue has it.
_SOURCE = "request"


def as_stated(catalog: Catalog, storage: Storage, request: SizingRequest) -> Storage:
    """A storage system with what the request states of it; the catalogue's own item where it states nothing.

    What no source gives of one that the customer owns lies in the range of its class.
    """
    holds = _stored_bytes(catalog, request) if storage.id in request.existing.storage_nodes else None
    for stated in request.stated_storage:
        if stated.storage == storage.id:
            facts = stated.node_read_bytes_per_s, stated.node_write_bytes_per_s, stated.usable_bytes
            return _replaced(catalog, storage.id, *facts, holds)
    return storage if holds is None else _replaced(catalog, storage.id, None, None, None, holds)


def _stored_bytes(catalog: Catalog, request: SizingRequest) -> float:
    sets = (stored_data(work, dataset_of(work, "workload", catalog)).dataset_bytes for work in request.workload)
    return sum(sets) + (request.data.minimum_capacity_bytes or 0.0)


# Kept, so that the same values give the same object, of which other functions keep what they found.
@lru_cache(maxsize=64)
def _replaced(
    catalog: Catalog, item: str, rate: float | None, write: float | None, usable: float | None, holds: float | None
) -> Storage:
    facts = {} if holds is None else _of_class(catalog, catalog.storage[item], holds)
    if rate is not None:
        facts |= dict.fromkeys(("node_read_low_bytes_per_s", "node_read_high_bytes_per_s"), _fact(rate))
    if write is not None:
        facts["node_write_bytes_per_s"] = _fact(write)
    if usable is not None:
        # The stated capacity stands for the whole system: it is not worked out from drives and protection.
        facts |= {"usable_bytes": _fact(usable), "capacity_options": (), "protection_overheads": ()}
        facts |= {"stripe_parity": None, "max_usable_bytes": None}
    return catalog.storage[item].model_copy(update=facts) if facts else catalog.storage[item]


def _of_class(catalog: Catalog, storage: Storage, holds: float) -> dict[str, object]:
    """What no source gives of a system of storage nodes: the range of its class, its kind with its media.

    Its capacity only where the least of the class holds the data: more than that the customer has to state.
    """
    if storage.kind == "local" or storage.media is None:
        return {}
    peers = [one for one in catalog.storage.values() if (one.kind, one.tier) == (storage.kind, storage.tier)]
    facts: dict[str, object] = {}
    reads = {"node_read_low_bytes_per_s": min, "node_read_high_bytes_per_s": max}
    unknown = reads if all(getattr(storage, name) is None for name in reads) else {}
    if storage.node_write_bytes_per_s is None:
        unknown = {**unknown, "node_write_bytes_per_s": min}
    for name, end in unknown.items():
        if known := [fact.value for peer in peers if (fact := getattr(peer, name)) is not None]:
            facts[name] = _of_peers(end(known))
    options = [option.raw_bytes.value for peer in peers for option in peer.capacity_options]
    if options and not storage.capacity_options and storage.usable_bytes is None:
        least = min(options)
        if holds <= LEAST_USABLE_SHARE * least:
            facts["capacity_options"] = (CapacityOption(name="drives not known", raw_bytes=_of_peers(least)),)
    return facts


def _of_peers(value: float) -> Sourced[float]:
    return Sourced(value=value, basis="assumed", source="assumption", where="peers")


def _fact(value: float) -> Sourced[float]:
    return Sourced(value=value, basis="assumed", source=_SOURCE, where="stated_storage")


# Every design counts the 1 GbE ports of its devices on switches of this link (dell-ready-ai-nvidia-2018).
MANAGEMENT_LINK = "1gbe"
# A switch with more ports is a director: the one switch of a network, or a spine, never a leaf.
MAX_LEAF_PORTS = 144
# Ports of a leaf or spine. A switch with fewer of a kind has them as uplinks only.
MIN_LEAF_PORTS = 24
# A switch is too small for few servers where it does not take so many. A choice of ours.
_FEWEST = 4
# Ports of a switch of few servers for storage nodes, head node and uplinks. A choice of ours.
_FEW_OTHERS = 6
# An Ethernet port that serves a server as its way to the customer's storage. [Gbit/s] hitachi-dl-2019: 10 or 25 GbE.
MIN_LAN_GBIT_PER_S = 10
# People whom a machine at a desk serves, at most, unless it is named: it has one power supply, and nobody is on call.
# Assumed: Microsoft's server edition for small offices ends at 25 people with 50 devices.
_WORKGROUP = 50


def platforms(catalog: Catalog, request: SizingRequest, *, alone: bool = False) -> tuple[Platform, ...]:
    """Platforms of a request: servers x GPUs x storage x capacity options x fabrics that fit together.

    ``request``: ``platforms`` allows and forbids, ``site`` names rack and PDU. ``alone``: whether one server is enough,
    so that any number of cards may be fitted in it. In a fixed order: server, GPU, storage, capacity option and fabric
    as the catalogue and the request list them. Raises RequestError if a name is not in the catalogue: place, value and
    nearest known name. Raises InfeasibleError if what is allowed leaves nothing that fits together.

    A server is fitted with the fewest GPUs that it is sold with and that the request asks for. GPUs must be of a form
    that the server lists. Switches are chosen by ``choose_switch``, sizes of memory by ``considered_sizes``.
    """
    check_names(catalog, request)
    sets_bytes = tuple(sorted({larger_cache_bytes(catalog, one) for one in cached_sets_bytes(request, catalog)}))
    served = served_works(request, catalog)
    works = tuple(one.unloaded for one in served)
    # The rate that a maximum has reached is in samples/s: what reaches it must stay allowed.
    stated = (work.target.samples_per_s is None for work in request.workload)
    people = sum(one.people_served for one, is_asked in zip(served, stated, strict=False) if is_asked)
    # Who states rack units, racks or what one may draw has a place for servers, not for a machine at a desk.
    limits = request.limits
    in_racks = limits.racks or limits.rack_units or limits.rack_power_w or request.existing.racks
    at_a_desk = people <= _WORKGROUP and not in_racks
    # Servers that evaluate samples share no work, as those whose models are in use.
    only_evaluates = request.team is None and all(work.task == "validation-inference" for work in request.workload)
    there, rules = request.existing, (works, at_a_desk, only_evaluates, alone)
    key = (
        (request.platforms, request.fabric, request.resilience, request.site, request.stated_storage, request.currency),
        (tuple(there.servers), there.gpus, there.gpus_per_server, tuple(there.storage_nodes), tuple(there.switches)),
        (limits.rack_power_w, sets_bytes, eras_asked(catalog, request), request.growth is None),
        rules,
    )
    return _lists(catalog).get(key, lambda: _fitting(catalog, request, sets_bytes, *rules))


_lists: Callable[[Catalog], StoredAnswers[tuple[Platform, ...]]] = stores_by_catalog(64)


def _fitting(
    catalog: Catalog,
    request: SizingRequest,
    sets_bytes: tuple[float, ...],
    works: tuple[ServingWork, ...],
    at_a_desk: bool,
    only_evaluates: bool,
    alone: bool,
) -> tuple[Platform, ...]:
    asked, owned, eras = request.platforms, request.existing.storage_nodes, eras_asked(catalog, request)
    servers = servers_asked(catalog, asked, eras)
    switches_there = tuple(catalog.switches[item] for item in request.existing.switches if item in catalog.switches)
    there = [kind for kind in possible_links(catalog) if any(_is_made_for(one, kind) for one in switches_there)]
    kinds = fastest_first(catalog.links[name] for name in asked.fabrics)
    kinds = kinds or fastest_first({*fabric_links(catalog), *there})
    kept_without = request.resilience.keeps_targets_without
    spares = "switch" in kept_without, "gateway" in kept_without, "head-node" in kept_without
    usual = request.fabric.model_copy(update={"converged": False, "management_servers": None})
    # Networks that grow, keep ports free or lose a switch have the switches of the large ones from the start.
    is_few_apart = request.growth is None and not any(spares) and usual == Fabric()
    rack = site_item(catalog.racks, request.site.rack, "site.rack", "racks")
    of_room = (rack, site_rules(request.site), network_pdu(catalog, request))
    of_networks = (request.fabric.directors, request.fabric.converged, *spares, is_few_apart, switches_there)
    of_request = (*of_room, *of_networks, frozenset(asked.fabrics))
    pdus: dict[str, Pdu] = {}

    def pdu_of(server: Server) -> Pdu:
        if server.id not in pdus:
            pdus[server.id] = site_pdu(catalog, request, server)
        return pdus[server.id]

    def stores_of(server: Server, *, only_local: bool) -> list[Storage]:
        sold = allowed_storage(catalog, server, asked, owned, request.date)
        return [as_stated(catalog, one, request) for one in sold if one.kind == "local" or not only_local]

    # Models in use are read when a server starts, and nothing else is: storage of their own is only for who names it.
    names_storage = asked.storage or owned or asked.storage_tier or request.stated_storage
    only_local = bool(works) and not names_storage and any(stores_of(server, only_local=True) for server in servers)
    # A request names a machine at a desk that allows GPUs of no other.
    with_gpus = (server for server in servers if server.role == "gpu" and allowed_gpus(catalog, server, asked, eras))
    is_named = all(with_gpu.is_workstation for with_gpu in with_gpus)
    found = tuple(
        platform
        for server in servers
        if server.role == "gpu" and server.orderable
        if at_a_desk or is_named or not server.is_workstation or server.id in asked.servers
        for cpu in (None if server.cpu is None else catalog.cpus[server.cpu.value],)
        for stores in (stores_of(server, only_local=only_local),)
        for its_kinds in (
            [kind for kind in kinds if kind.id in asked.fabrics or kind in there or plans_unasked(server.ports, kind)],
        )
        for its in (asked_of(request, server),)
        for n_gpus in gpus_fitted(server, its.gpus_per_server, alone=alone)
        for gpu in allowed_gpus(catalog, server, its, eras)
        for fitted in considered_sizes(memory_sizes(server, catalog), asked.host_memory_bytes, n_gpus, gpu, sets_bytes)
        for storage in stores
        # Any number of cards is for small work: it has drives of its own, or storage that is named.
        if storage.kind == "local" or names_storage or its.gpus_per_server or n_gpus not in server.n_gpus_alone
        for kind in its_kinds
        for platform in next(
            filter(
                None,
                (
                    _on_fabric(
                        catalog,
                        with_fitted_power(fitted.server, gpu, n_gpus, cpu, catalog),
                        gpu,
                        n_gpus,
                        by_front,
                        kind,
                        pdu_of(server),
                        fitted.option,
                        only_evaluates
                        or (bool(works) and all(fits_inside(work, gpu, n_gpus, catalog) for work in works)),
                        _extended(catalog, server, gpu, n_gpus, storage, kind, eras),
                        *of_request,
                    )
                    for by_front in _fronts(storage)
                ),
            ),
            (),
        )
    )
    if not found:
        raise InfeasibleError(why_none_error_text(catalog, request, servers))
    return found


def choose_director(switches: Iterable[Switch], kind: LinkType) -> Switch | None:
    """Largest director for a kind of port; None where the catalogue orders none."""
    directors = [s for s in switches if s.orderable and leaf_ports(s, kind) > MAX_LEAF_PORTS]
    return max(directors, key=lambda s: (leaf_ports(s, kind), s.id), default=None)


def choose_switch(switches: Iterable[Switch], kind: LinkType, also: LinkType | None = None) -> Switch | None:
    """Switch for a network of one kind of port, chosen the same way every time.

    ``switches``: candidates. ``also``: kind that the storage brings; a switch whose ports also run it is preferred.
    Best is: made for the kind rather than able to run it, runs ``also``, has its own subnet manager, is not past its
    end of sale, most facts known (watts, weight, inlets, part number), name.
    """
    fitting = [s for s in switches if s.orderable and MIN_LEAF_PORTS <= leaf_ports(s, kind) <= MAX_LEAF_PORTS]

    def rank(switch: Switch) -> tuple[object, ...]:
        runs_also = also is None or kind.is_infiniband or _runs(switch, also)
        managed = switch.subnet_manager is not None and switch.subnet_manager.value
        return (
            not _is_made_for(switch, kind),
            not runs_also,
            not managed,
            switch.end_of_sale is not None,
            -_completeness(switch),
            switch.id,
        )

    return min(fitting, key=rank, default=None)


def leaf_ports(switch: Switch, kind: LinkType) -> int:
    """Ports of a switch that take end points of a kind; management, uplink-only and back-end ports stay out."""
    group = largest_group(switch, kind)
    return 0 if group is None else group.count


def lan_ports(server: Server) -> int:
    """Ports by which a server reaches the customer's LAN at 10 GbE or more: its own, those of management or in-band."""
    return max(
        (
            port.count
            for port in server.ports
            if port.use in ("any", "storage", "management", "in-band")
            and not port.kind.is_infiniband
            and port.kind.gbit_per_s.value >= MIN_LAN_GBIT_PER_S
        ),
        default=0,
    )


def own_network_ports(server: Server, kind: LinkType, fabric: LinkType) -> int:
    """Ports of a server that join a storage network of its own: they run ``kind`` and are not on the fabric."""
    return storage_network_numbers(server, kind, fabric).size


def _extended(
    catalog: Catalog, server: Server, gpu: Gpu, n_gpus: int, storage: Storage, kind: LinkType, eras: ErasAsked
) -> tuple[str, ...]:
    """Servers that are there and can no longer be ordered, which more servers of another make join as equals.

    Drives inside the servers are not the same in both.
    """
    if storage.kind == "local":
        return ()
    there = (catalog.servers[name] for name in sorted(eras.owned))
    return tuple(
        one.id
        for one in there
        if one.id != server.id
        and not eras.offers(catalog, one, gpu)
        and gpu.id in one.gpus
        and n_gpus in gpus_fitted(one, None)
        and fabric_ports(one.ports, kind) == fabric_ports(server.ports, kind)
    )


@lru_cache(maxsize=256)
def _fronts(storage: Storage) -> tuple[Storage, ...]:
    """A storage system with its usual front end, and with the fastest of the other technology that its ports run."""
    usual = storage.front_end_kind
    if usual is None:
        return (storage,)
    runs = {link for port in storage.ports if port.runs(usual.value) for link in port.also}
    others = fastest_first(link for link in runs if link.is_infiniband != usual.value.is_infiniband)
    fronts = [usual.model_copy(update={"value": link}) for link in others[:1]]
    return (storage, *(storage.model_copy(update={"front_end_kind": front}) for front in fronts))


# Kept, so that the same choice is the same object in every request: what other functions keep for it is found again.
@lru_cache(maxsize=16384)
def _on_fabric(
    catalog: Catalog,
    server: Server,
    gpu: Gpu,
    n_gpus: int,
    storage: Storage,
    kind: LinkType,
    pdu: Pdu,
    host_memory: MemoryOption | None,
    has_replicas_apart: bool,
    extends: tuple[str, ...],
    rack: Rack,
    site: SiteRules,
    network_pdu: Pdu | None,
    with_directors: bool,
    is_converged: bool,
    with_spare_switches: bool,
    with_spare_gateway: bool,
    with_spare_head: bool,
    is_few_apart: bool,
    switches_there: tuple[Switch, ...],
    allowed: frozenset[str],
) -> tuple[Platform, ...]:
    """Platforms of one choice on one fabric: one for each capacity option, none where the parts do not join."""
    pause_point()
    if fabric_ports(server.ports, kind) == 0 or (is_converged and kind.is_infiniband):
        return ()
    head = _head_node(catalog, server, storage)
    era = era_of(catalog, server)
    front = storage.front_end_kind.value if storage.front_end_kind is not None else None
    switch = _named_switch(catalog, era, kind, front if storage.kind == "scale-out-nas" or is_converged else None)
    if switch is None:
        return ()
    spine = _spine(catalog, era, switch, kind)
    storage_server = _storage_server(catalog, storage)
    joined = _attachment(catalog, server, storage, storage_server, head, kind, switch, spine, is_converged=is_converged)
    if joined is None or (is_converged and joined in ("own network", "gateway")):
        return ()
    own = None
    if joined == "own network" and front is not None:
        if not _is_allowed(front, allowed, catalog):
            return ()
        own = _storage_switch(catalog, era, server, front, allowed)
    back_end = storage.back_end_switch
    management = _switch_for(catalog, era, catalog.links[MANAGEMENT_LINK])
    in_band = _in_band(catalog, era, server, allowed)
    if management is None:
        return ()
    found = tuple(
        Platform(
            server=server,
            gpu=gpu,
            gpus_per_server=n_gpus,
            storage=storage,
            capacity_option=option,
            storage_server=storage_server,
            fabric=kind,
            fabric_switch=switch,
            storage_switch=own,
            back_end_switch=catalog.switches[back_end.value] if back_end is not None else None,
            gateway=_gateway(catalog, front, era) if joined == "gateway" and front is not None else None,
            management_switch=management,
            head_node=head,
            rack=rack,
            pdu=pdu,
            spine_switch=spine,
            management_spine=_spine(catalog, era, management, catalog.links[MANAGEMENT_LINK]),
            director=choose_director(_of_era(catalog, era), kind) if with_directors else None,
            attachment=joined,
            has_replicas_apart=has_replicas_apart,
            host_memory=host_memory,
            in_band_switch=in_band[0],
            in_band_link=in_band[1],
            fabric_manager=_fabric_manager(catalog, era),
            has_spare_switches=with_spare_switches,
            has_spare_gateway=with_spare_gateway and joined == "gateway" and _has_second_port(storage),
            has_spare_head=with_spare_head,
            site=site,
            extends=extends,
            network_pdu=network_pdu,
        )
        for option in range(max(len(storage.capacity_options), 1))
    )
    parts, few_servers = _few_switches(catalog, era, found[0], switches_there) if is_few_apart else ({}, 0)
    if not parts:
        return found
    return tuple(replace(one, few=replace(one, **parts), few_servers=few_servers) for one in found)


def _few_switches(
    catalog: Catalog, era: str | None, platform: Platform, there: Sequence[Switch]
) -> tuple[dict[str, Any], int]:
    """Parts of the networks that few servers have instead, and how many servers: a switch that is there, else smaller
    ones, and beside Ethernet, be it of the storage alone, no in-band network.
    """
    server, kind, most = platform.server, platform.fabric, FEW_SERVERS
    found: dict[str, Any] = {}
    if nodes_of(server) > 1:
        return {}, 0
    front = None if platform.storage.front_end_kind is None else platform.storage.front_end_kind.value
    every = catalog.switches.values()
    networks: list[tuple[str, Switch | None, LinkType, int, LinkType | None, Collection[Switch]]] = []
    if platform.attachment != "spine" and platform.spine_switch is None:
        also = front if platform.attachment == "fabric" else None
        ports = fabric_ports(server.ports, kind)
        networks.append(("fabric_switch", platform.fabric_switch, kind, ports, also, every))
    if front is not None and (switch := platform.storage_switch) is not None:
        own = platform.server_storage_kind
        # Ports that a smaller switch would let run faster make another data path, not the same of fewer servers.
        alike = [one for one in every if platform.server_kind_on(one) == own]
        networks.append(("storage_switch", switch, own, own_network_ports(server, own, kind), front, alike))
    has_own = platform.storage_switch is not None and front is not None and not front.is_infiniband
    if platform.in_band_switch is not None and (has_own or not kind.is_infiniband):
        found |= {"in_band_switch": None, "in_band_link": None}
    elif platform.in_band_link is not None:
        ports = in_band_numbers(server).size
        networks.append(("in_band_switch", platform.in_band_switch, platform.in_band_link, ports, None, every))
    # At 1 GbE a switch that is there does as well; none is smaller.
    link = platform.management_link
    made = [one for one in there if _is_made_for(one, link)]
    networks.append(
        ("management_switch", platform.management_switch, link, management_numbers(server).size, None, made)
    )
    for name, switch, link, ports, also, switches in networks:
        if switch is None or not ports or switch in there:
            continue
        known = [
            one for one in there if one in switches and _runs(one, link) and (also is None or leaf_ports(one, also))
        ]
        smaller = max(known, key=lambda one: (leaf_ports(one, link), one.id), default=None)
        if smaller is None and not link.is_infiniband:
            smaller = _smaller_switch(switches, era, switch, link, also)
        fits = 0 if smaller is None else (leaf_ports(smaller, link) - _FEW_OTHERS) // ports
        if fits >= _FEWEST:
            found[name], most = smaller, min(most, fits)
    return found, most


def _smaller_switch(
    switches: Iterable[Switch], era: str | None, switch: Switch, link: LinkType, also: LinkType | None
) -> Switch | None:
    """The switch of the fewest ports, fewer than another has, that is made for a link; None where there is none."""
    fitting = [
        one
        for one in switches
        if one.orderable and one.end_of_sale is None
        if MIN_LEAF_PORTS <= leaf_ports(one, link) < leaf_ports(switch, link)
        if also is None or leaf_ports(one, also)
    ]

    def rank(spine: Switch) -> tuple[object, ...]:
        is_native = any(port.kind == link for port in spine.ports)
        return not is_native, leaf_ports(spine, link), not fits_era(spine.era, era), -_completeness(spine), spine.id

    return min(fitting, key=rank, default=None)


def _is_allowed(link: LinkType, allowed: frozenset[str], catalog: Catalog) -> bool:
    """Whether a network may run a link where a request names fabrics: none faster than those, and no InfiniBand beside
    Ethernet alone.
    """
    named = [catalog.links[name] for name in allowed]
    same = [one.gbit_per_s.value for one in named if one.is_infiniband == link.is_infiniband]
    if not same:
        return not (named and link.is_infiniband)
    return link.gbit_per_s.value <= max(same)


def _has_second_port(storage: Storage) -> bool:
    """Whether each node can reach two gateways by as many ports as it uses on one."""
    ports, used = storage.front_end_ports_per_node, storage.gateway_ports_per_node
    return ports is not None and used is not None and ports.value >= 2 * used.value


@lru_cache(maxsize=4096)
def _switch_for(catalog: Catalog, era: str | None, kind: LinkType, also: LinkType | None = None) -> Switch | None:
    return choose_switch(_of_era(catalog, era), kind, also)


def _named_switch(catalog: Catalog, era: str | None, kind: LinkType, also: LinkType | None = None) -> Switch | None:
    """Switch of a network that a request may name, or that storage brings: of the servers' era where it has one."""
    return _switch_for(catalog, era, kind, also) or _switch_for(catalog, None, kind, also)


def _of_era(catalog: Catalog, era: str | None) -> list[Switch]:
    return [switch for switch in catalog.switches.values() if fits_era(switch.era, era)]


def _attachment(
    catalog: Catalog,
    server: Server,
    storage: Storage,
    storage_server: Server | None,
    head: Server,
    kind: LinkType,
    switch: Switch,
    spine: Switch | None,
    *,
    is_converged: bool,
) -> Attachment | None:
    """How storage joins a fabric; None where it cannot. A converged fabric carries its files, too."""
    if storage.kind == "local":
        return "local"
    era = era_of(catalog, server)
    if storage.kind == "parallel-file-system" and storage.server is not None:
        return "fabric" if storage_server is not None and fabric_ports(storage_server.ports, kind) else None
    front = storage.front_end_kind.value if storage.front_end_kind is not None else None
    if storage.server is not None:
        # The head node serves the files: it must sit on the fabric.
        return "fabric" if fabric_ports(head.ports, kind) else None
    if front is None:
        # An NFS server that the customer has: over the LAN, by the fabric's uplinks or by the servers' own ports.
        return "lan" if not kind.is_infiniband or lan_ports(server) else None
    own = (port for port in server.ports if port.use == "storage-network" and not is_converged)
    if any(port.runs(front) for port in own):
        return "own network" if _named_switch(catalog, era, front) is not None else None
    if front == kind or (not kind.is_infiniband and _runs(switch, front)):
        return "fabric"
    if kind.is_infiniband and _gateway(catalog, front, era) is not None:
        return "gateway"
    if spine is not None and leaf_ports(spine, front):
        return "spine"
    has_network = _named_switch(catalog, era, front) is not None
    return "own network" if has_network and own_network_ports(server, front, kind) else None


def _spine(catalog: Catalog, era: str | None, leaf: Switch, kind: LinkType) -> Switch | None:
    """Spine for leaves with uplink ports of another, faster kind; None where leaf and spine are the same switch."""
    uplinks = [p for p in leaf.ports if p.use == "fabric" and p.kind != kind]
    return _switch_for(catalog, era, uplinks[0].kind) if uplinks else None


def _storage_switch(
    catalog: Catalog, era: str | None, server: Server, front: LinkType, allowed: frozenset[str]
) -> Switch | None:
    """Switch of a storage network of its own: of the servers' fastest link whose switch runs the storage's, too."""
    kinds = {
        kind
        for port in server.ports
        if port.use == "storage-network" and port.runs(front)
        for kind in catalog.links.values()
        if port.runs(kind)
        and kind.is_infiniband == front.is_infiniband
        and kind.gbit_per_s.value <= port.kind.gbit_per_s.value
        and _is_allowed(kind, allowed, catalog)
    }
    for kind in fastest_first(kinds):
        for of_era in dict.fromkeys((era, None)):
            switch = _switch_for(catalog, of_era, kind, front)
            if switch is not None and _runs(switch, front):
                return switch
    return _named_switch(catalog, era, front)


def _in_band(
    catalog: Catalog, era: str | None, server: Server, allowed: frozenset[str]
) -> tuple[Switch | None, LinkType | None]:
    """Switch and link of the in-band network: the slowest allowed link that the server's ports for it can run."""
    kinds = {kind for port in server.ports if port.use == "in-band" for kind in (port.kind, *port.also)}
    usable = (k for k in kinds if not k.is_infiniband and _is_allowed(k, allowed, catalog))
    for kind in sorted(usable, key=lambda k: k.gbit_per_s.value):
        switch = _switch_for(catalog, era, kind)
        if switch is not None:
            return switch, kind
    return None, None


def _fabric_manager(catalog: Catalog, era: str | None) -> Server | None:
    """Appliance that runs the subnet manager of an InfiniBand fabric."""
    known = (s for s in catalog.servers.values() if s.role == "fabric-manager" and s.orderable and fits_era(s.era, era))
    return min(known, key=lambda s: s.id, default=None)


def _gateway(catalog: Catalog, front: LinkType, era: str | None) -> Gateway | None:
    known = (g for g in catalog.gateways.values() if g.orderable and fits_era(g.era, era))
    return next((g for g in known if g.front_end_kind.value == front), None)


def _head_node(catalog: Catalog, server: Server, storage: Storage) -> Server:
    """Head node: the one that serves the files, else one of the server's vendor, else the Dell R740xd."""
    if storage.server is not None and catalog.servers[storage.server.value].role == "head":
        return catalog.servers[storage.server.value]
    era = era_of(catalog, server)
    heads = [s for s in catalog.servers.values() if s.role == "head" and s.orderable and fits_era(s.era, era)]
    if not heads:
        raise InfeasibleError("catalogue: no orderable server has the role 'head'; a cluster needs a head node")
    # The Dell guide is the only source that describes a head node in full, so it stands in for other vendors.
    return min(heads, key=lambda s: (s.vendor != server.vendor, s.vendor != "Dell EMC", s.id))


def _storage_server(catalog: Catalog, storage: Storage) -> Server | None:
    if storage.server is None or storage.kind != "parallel-file-system":
        return None
    return catalog.servers[storage.server.value]


def _is_made_for(switch: Switch, kind: LinkType) -> bool:
    return any(port.kind == kind and port.count >= MIN_LEAF_PORTS for port in switch.ports)


def _runs(switch: Switch, kind: LinkType) -> bool:
    return leaf_ports(switch, kind) >= MIN_LEAF_PORTS


def _completeness(device: Device) -> int:
    """Number of planning facts that are known and not assumed."""
    facts = (
        device.height_u,
        device.weight_kg,
        device.power_typical_w,
        device.power_max_w or device.power_high_w,
        device.power_inlets,
        device.depth_m,
    )
    return sum(fact is not None and fact.basis != "assumed" for fact in facts) + bool(device.skus)
