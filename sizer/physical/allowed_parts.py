"""What a request allows: servers, GPUs, storage, site; and the sentence that names the choice which leaves nothing."""

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import TypeVar

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.faults import nearest
from sizer.base.quantities import plain, si
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.items import Item, is_of_vendor
from sizer.catalog.model import Catalog, vendors_of
from sizer.catalog.sale import Sale, era_of, era_of_gpu, sale_on, usable_gpus
from sizer.catalog.schema import Gpu, Pdu, Server, Storage
from sizer.physical.platform import Platform, memory_sizes, page_cache_bytes
from sizer.physical.racks.site_rules import site_rules
from sizer.workload.eras import EquipmentBasis, ErasAsked, eras_asked
from sizer.workload.request import Platforms, SizingRequest

T = TypeVar("T", bound=Item)
# Of servers whose generation names none.
DEFAULT_PDU = "ap8886"
# Currencies of grids with 100 to 127 V, whose three phases have less than 400 V.
_OF_LOW_VOLTAGE = frozenset(("USD", "CAD", "MXN", "JPY", "TWD"))


def gpus_fitted(server: Server, asked: int | None, *, alone: bool = False) -> list[int]:
    """Numbers of GPUs that a server is sold with; where so many are asked for, the fewest that are enough.

    Clusters are built of the usual numbers; of a server ``alone``, or where a number is asked for, any is looked at.
    """
    default = (server.n_gpus.value,) if server.n_gpus is not None else ()
    further = server.n_gpus_alone if alone or asked is not None else ()
    choices = sorted({*server.n_gpus_choices, *further, *default})
    if asked is None:
        return choices
    return [n for n in choices if n >= asked][:1]


def larger_cache_bytes(catalog: Catalog, size_bytes: float) -> float:
    """The smallest page cache of any server that holds a data set: alike where the same sizes of memory do. [B]"""
    caches = _page_caches(catalog)
    position = bisect_left(caches, size_bytes)
    return caches[position] if position < len(caches) else math.inf


@lru_cache(maxsize=8)
def _page_caches(catalog: Catalog) -> list[float]:
    """Page caches of all GPU servers with all their GPUs and published sizes of memory, rising. [B]"""
    return sorted(
        {
            page_cache_bytes(fitted.server, n_gpus, catalog.gpus[gpu])
            for server in catalog.servers.values()
            for fitted in memory_sizes(server, catalog)
            for n_gpus in gpus_fitted(server, None)
            for gpu in server.gpus
        }
    )


def asked_of(request: SizingRequest, server: Server) -> Platforms:
    """What a request asks of a server: of one that is there, the GPUs that it holds where they are told."""
    asked, existing = request.platforms, request.existing
    if server.id not in existing.servers:
        return asked
    owned_gpus = tuple(gpu for gpu in existing.gpus if gpu in server.gpus and (not asked.gpus or gpu in asked.gpus))
    each = existing.gpus_per_server or asked.gpus_per_server
    return asked.model_copy(update={"gpus": owned_gpus or asked.gpus, "gpus_per_server": each})


def allowed_gpus(catalog: Catalog, server: Server, asked: Platforms, eras: ErasAsked) -> list[Gpu]:
    """GPUs of a server that are allowed; an empty list allows all that ``eras`` does."""
    # A GPU that is not sold apart comes inside its server, so the server's list decides.
    known = [catalog.gpus[g] for g in server.gpus if not asked.gpus or g in asked.gpus]
    return [
        gpu
        for gpu in known
        if (not asked.generations or gpu.generation in asked.generations)
        and (server.id in eras.owned or eras.offers(catalog, server, gpu))
    ]


def allowed_storage(
    catalog: Catalog, server: Server, asked: Platforms, owned: Collection[str], day: date | None
) -> list[Storage]:
    """Storage of the tier asked for that a server can have; what is named or ``owned`` joins servers of any era.

    Other storage must be sold on a day; without one, after all dates.
    """
    allowed, named = [], {*asked.storage, *owned}
    for storage in allowed_items(catalog.storage, asked.storage, asked.forbidden_storage):
        if asked.storage_tier is not None and storage.tier != asked.storage_tier:
            continue
        is_sold = fits_era(storage.era, era_of(catalog, server)) and sale_on(catalog, storage, day) is not Sale.ENDED
        if storage.id not in named and not is_sold:
            continue
        if storage.kind == "local":
            fits = storage.id == server.local_storage  # of the server that lists them
        else:
            # Storage that cannot be ordered is there only where the head node serves it or the request names it.
            fits = storage.orderable or storage.server is not None or storage.id in named
        if fits:
            allowed.append(storage)
    return allowed


def fits_era(era: str | None, of_server: str | None) -> bool:
    """Whether equipment of an era is planned with servers of another one."""
    return era is None or of_server is None or era == of_server


def servers_asked(catalog: Catalog, asked: Platforms, eras: ErasAsked) -> list[Server]:
    """Servers that a request allows, of the eras that it may get."""
    allowed = allowed_items(catalog.servers, asked.servers, asked.forbidden_servers)
    return [
        server
        for server in allowed
        if eras.has(catalog, server) and ((era := era_of(catalog, server)) is None or era in eras.eras)
    ]


def allowed_items(items: Mapping[str, T], allowed: Sequence[str], forbidden: Sequence[str]) -> list[T]:
    """Items that are allowed and not forbidden; an empty list allows all."""
    chosen = [items[name] for name in dict.fromkeys(allowed)] if allowed else list(items.values())
    return [item for item in chosen if item.id not in forbidden]


def narrowed_to(request: SizingRequest, platform: Platform) -> SizingRequest:
    """The request with one platform left: its server with its GPUs, its storage and fabric."""
    gpus = request.platforms.gpus_per_server
    if gpus is None and platform.server.n_gpus_choices:
        gpus = platform.gpus_per_server
    # Ids of a platform are valid: nothing has to be checked again.
    chosen = Platforms(
        servers=(platform.server.id,),
        gpus=(platform.gpu.id,),
        storage=(platform.storage.id,),
        fabrics=(platform.fabric.id,),
        gpus_per_server=gpus,
        host_memory_bytes=request.platforms.host_memory_bytes,
    )
    return request.model_copy(update={"platforms": chosen})


def check_names(catalog: Catalog, request: SizingRequest) -> None:
    """Raise a RequestError that lists every name which the catalogue does not have."""
    asked, existing = request.platforms, request.existing
    lists: list[tuple[str, Iterable[str], Mapping[str, Item], str]] = [
        ("platforms.servers", asked.servers, catalog.servers, "servers"),
        ("platforms.forbidden_servers", asked.forbidden_servers, catalog.servers, "servers"),
        ("platforms.gpus", asked.gpus, catalog.gpus, "gpus"),
        ("platforms.generations", asked.generations, catalog.generations, "generations"),
        ("platforms.fabrics", asked.fabrics, catalog.links, "links"),
        ("platforms.storage", asked.storage, catalog.storage, "storage"),
        ("platforms.forbidden_storage", asked.forbidden_storage, catalog.storage, "storage"),
        ("existing.servers", existing.servers, catalog.servers, "servers"),
        ("existing.gpus", existing.gpus, catalog.gpus, "gpus"),
        ("existing.storage_nodes", existing.storage_nodes, catalog.storage, "storage"),
        ("existing.switches", existing.switches, {**catalog.switches, **catalog.gateways}, "switches or gateways"),
        ("stated_storage", [one.storage for one in request.stated_storage], catalog.storage, "storage"),
        ("site.rack", [request.site.rack], catalog.racks, "racks"),
        ("site.pdu", [] if request.site.pdu is None else [request.site.pdu], catalog.pdus, "pdus"),
        ("site.network_pdu", [one for one in [request.site.network_pdu] if one is not None], catalog.pdus, "pdus"),
    ]
    faults = [
        f"request: {key} names {name!r}, which is not in the catalogue{nearest(name, list(known))}; "
        f"its {folder} are {', '.join(known)}"
        for key, names, known, folder in lists
        for name in names
        if name not in known
    ]
    vendors = vendors_of(catalog)
    faults += [
        f"request: platforms.prefer_vendors names {name!r}, which supplies no GPU, GPU server or storage of the "
        f"catalogue{nearest(name, list(vendors))}; known: {', '.join(vendors)}"
        for name in asked.prefer_vendors
        if not any(is_of_vendor(vendor, name) for vendor in vendors)
    ]
    if faults:
        raise RequestError("\n".join(faults))


def site_item(items: Mapping[str, T], name: str, place: str, folder: str) -> T:
    """Rack or PDU of the room; a RequestError where it is no item to order."""
    item = items[name]
    if not item.orderable:
        raise RequestError(f"request: {place} = {name!r} is a rule of the catalogue's {folder}, not an item to order")
    return item


def site_pdu(catalog: Catalog, request: SizingRequest, server: Server) -> Pdu:
    """PDU of the racks: the request's, else that of the generation of a server's GPUs.

    Where grids have 230 and 400 V, and where the room gives a rack little, it is the smallest for such a circuit that
    carries what a rack has, or the largest.
    """
    if request.site.pdu is not None:
        asked = site_item(catalog.pdus, request.site.pdu, "site.pdu", "pdus")
        if not site_rules(request.site).feeds_pdu(asked):
            raise RequestError(
                f"request: site.pdu = {asked.id!r} needs {pdu_circuit_text(asked) or 'a circuit that nobody states'}; "
                "site.feed_volts and site.feed_phases state another one: name a PDU for it or leave site.pdu out"
            )
        return asked
    generations = (catalog.gpus[name].generation for name in server.gpus)
    usual = next((catalog.generations[name].pdu for name in generations if name is not None), None)
    standard, rack_w = catalog.pdus[usual or DEFAULT_PDU], request.limits.rack_power_w
    has_circuit = request.site.feed_volts is not None or request.site.feed_phases is not None
    of_230_v = sorted(
        (pdu for pdu in catalog.pdus.values() if pdu.orderable and _takes_230_v(pdu)),
        key=lambda pdu: (pdu.capacity_w.value, pdu.id),
    )
    is_small = rack_w is not None and rack_w <= of_230_v[-1].capacity_w.value < standard.capacity_w.value
    if not has_circuit and (request.currency not in _OF_LOW_VOLTAGE or is_small):
        largest_w = of_230_v[-1].capacity_w.value
        most_w = largest_w if rack_w is None else min(rack_w, largest_w)
        return next(pdu for pdu in of_230_v if pdu.capacity_w.value >= most_w)
    return _fed(catalog, request, standard)


def _takes_230_v(pdu: Pdu) -> bool:
    """Whether a PDU is for one phase of 230 V or three of 400 V."""
    if pdu.low_v is None or pdu.high_v is None or pdu.phases is None:
        return False
    return pdu.low_v.value <= (230 if pdu.phases.value == 1 else 400) <= pdu.high_v.value


def network_pdu(catalog: Catalog, request: SizingRequest) -> Pdu | None:
    """PDU of racks that hold no servers; None: the same as of the others."""
    name = request.site.network_pdu
    return None if name is None else site_item(catalog.pdus, name, "site.network_pdu", "pdus")


def _fed(catalog: Catalog, request: SizingRequest, usual: Pdu) -> Pdu:
    """The usual PDU where the circuits of the room feed it, else the largest that they feed."""
    rules = site_rules(request.site)
    if rules.feeds_pdu(usual):
        return usual
    fed = [pdu for pdu in catalog.pdus.values() if pdu.orderable and rules.feeds_pdu(pdu)]
    if fed:
        return max(fed, key=lambda pdu: (pdu.capacity_w.value, pdu.id))
    known = ", ".join(f"{pdu.name} ({pdu_circuit_text(pdu)})" for pdu in catalog.pdus.values() if pdu.phases)
    asked = request.site
    given = [f"feed_volts = {plain(asked.feed_volts)}"] if asked.feed_volts is not None else []
    given += [f"feed_phases = {asked.feed_phases}"] if asked.feed_phases is not None else []
    raise InfeasibleError(f"the catalogue has no PDU for site.{' and '.join(given)}; there are {known}")


def pdu_circuit_text(pdu: Pdu) -> str:
    """Circuit of a PDU: '400 V, 3 phases'; '' where no source tells it."""
    if pdu.low_v is None or pdu.high_v is None or pdu.phases is None:
        return ""
    low, high, phases = pdu.low_v.value, pdu.high_v.value, pdu.phases.value
    volts = plain(low) if low == high else f"{plain(low)} to {plain(high)}"
    return f"{volts} V, {phases} {'phase' if phases == 1 else 'phases'}"


def why_none_error_text(catalog: Catalog, request: SizingRequest, servers: Sequence[Server]) -> str:
    """Sentence naming the choice that leaves no platform."""
    asked, eras = request.platforms, eras_asked(catalog, request)
    gpu_servers = [s for s in servers if s.role == "gpu" and s.orderable]
    if not gpu_servers:
        known = [s.id for s in catalog.servers.values() if s.role == "gpu" and s.orderable]
        return f"no platform: platforms.servers and forbidden_servers leave no GPU server; there are {', '.join(known)}"
    if not any(gpus_fitted(s, asked.gpus_per_server) for s in gpu_servers):
        most = max((n for s in gpu_servers for n in gpus_fitted(s, None)), default=0)
        return (
            f"no platform: platforms.gpus_per_server = {asked.gpus_per_server}; the allowed servers take at most {most}"
        )
    if not any(allowed_gpus(catalog, s, asked, eras) for s in gpu_servers):
        if apart := _without_server_texts(catalog, request):
            return f"no platform: {'; '.join(apart)}"
        fits = sorted({g for s in gpu_servers for g in s.gpus})
        return (
            f"no platform: none of the GPUs asked for ({', '.join((*asked.gpus, *asked.generations))}) fits an allowed "
            "server "
            f"({', '.join(s.id for s in gpu_servers)}); these take {', '.join(fits)}"
        )
    gpu_servers = [s for s in gpu_servers if allowed_gpus(catalog, s, asked, eras)]
    least, all_servers = asked.host_memory_bytes or 0.0, gpu_servers
    gpu_servers = [s for s in gpu_servers if _largest(s, catalog) >= least]
    if not gpu_servers:
        return _no_memory_error_text(all_servers, catalog, asked)
    names = ", ".join(s.id for s in gpu_servers)
    owned = request.existing.storage_nodes
    stores = {s.id for g in gpu_servers for s in allowed_storage(catalog, g, asked, owned, request.date)}
    if not stores:
        return _no_storage_error_text(catalog, gpu_servers, names, asked)
    fabrics = ", ".join(asked.fabrics) if asked.fabrics else "any fabric"
    if request.fabric.converged:
        return (
            "no platform: fabric.converged = true needs an Ethernet fabric whose switches also take the storage; "
            f"{names} with {', '.join(sorted(stores))} on {fabrics} have none. Name an Ethernet fabric such as 400gbe, "
            "or leave fabric.converged out"
        )
    if eras.basis is EquipmentBasis.ON_SALE:
        day = "" if eras.day is None else f" on {eras.day}"
        names = f"the {len(gpu_servers)} GPU servers that can be ordered{day}"
    if asked.fabrics and not any(fabric_ports(s.ports, catalog.links[f]) for s in gpu_servers for f in asked.fabrics):
        # For a named Ethernet its ports are listed alone, for an InfiniBand likewise, where there are any.
        kinds = {port.kind.id: port.kind for s in gpu_servers for port in s.ports if port.use == "compute"}
        asked_kinds = {catalog.links[name].is_infiniband for name in asked.fabrics}
        links = sorted(name for name, kind in kinds.items() if kind.is_infiniband in asked_kinds) or sorted(kinds)
        text = f"no platform: {names} and {fabrics} do not join: their compute ports are {', '.join(links)}"
    else:
        text = (
            f"no platform: {names} with {', '.join(sorted(stores))} on {fabrics} do not join: "
            "a server needs a port of the fabric, and the storage a way onto it"
        )
    return f"{text}{_older_text(catalog, eras)}"


def _without_server_texts(catalog: Catalog, request: SizingRequest) -> list[str]:
    """Why GPUs that are asked for and that no server of the catalogue takes cannot be planned."""
    texts, usable = [], usable_gpus(catalog)
    for gpu in (catalog.gpus[name] for name in request.platforms.gpus if name not in usable):
        is_announced = sale_on(catalog, gpu, request.date) is Sale.NOT_YET
        why = "announced, and not sold on the date of the request" if is_announced else "no published rates here"
        what = "leave it out to see what can be sized, or state a server with it in a catalogue of your own (--catalog)"
        texts.append(f"{gpu.name}: {why}; {what}")
    return texts


def _older_text(catalog: Catalog, eras: ErasAsked) -> str:
    """How to ask for servers that cannot be ordered, where the request has those that can."""
    if eras.basis is not EquipmentBasis.ON_SALE:
        return ""
    gpus = (catalog.gpus[name] for name in usable_gpus(catalog))
    older = {gpu.generation for gpu in gpus if era_of_gpu(catalog, gpu) not in eras.eras}
    names = ", ".join(f'"{name}"' for name in sorted(name for name in older if name is not None))
    return f". For systems that are no longer sold, write platforms.generations = [{names}]" if names else ""


def _largest(server: Server, catalog: Catalog) -> float:
    memory = memory_sizes(server, catalog)[-1].server.memory_bytes
    return memory.value if memory is not None else 0.0


def _no_memory_error_text(servers: Sequence[Server], catalog: Catalog, asked: Platforms) -> str:
    wanted = 0.0 if asked.host_memory_bytes is None else asked.host_memory_bytes
    largest = max(servers, key=lambda server: _largest(server, catalog))
    most = _largest(largest, catalog)
    return (
        f"no platform: platforms.host_memory_bytes = {si(wanted, 'B')}; of the allowed servers {largest.name} has the "
        f"largest published memory, {si(most, 'B')}. Ask for at most that, or allow other servers"
    )


def _no_storage_error_text(catalog: Catalog, servers: Sequence[Server], names: str, asked: Platforms) -> str:
    any_tier = asked.model_copy(update={"storage_tier": None})
    others = {s.id: s for server in servers for s in allowed_storage(catalog, server, any_tier, (), None)}
    if asked.storage_tier is None or not others:
        return (
            f"no platform: platforms.storage and forbidden_storage leave nothing for {names}; "
            "local storage comes only with the server that it belongs to"
        )
    tiers = ", ".join(f"{s.id} ({s.tier or 'media not published'})" for s in others.values())
    return (
        f"no platform: platforms.storage_tier = {asked.storage_tier!r} leaves no storage for {names}; "
        f"the request allows {tiers}"
    )
