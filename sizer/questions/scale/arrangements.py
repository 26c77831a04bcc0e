"""The same number of GPUs in fewer or in more servers: arrangements that can be built, and why others cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import grouped
from sizer.catalog.generations import era_of
from sizer.catalog.model import Catalog
from sizer.catalog.sale import as_sold_as
from sizer.catalog.schema import Gpu, Server
from sizer.physical.allowed_parts import fits_era
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.sizing.constraints.tiers import with_tier_of
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.space import MAX_SERVERS
from sizer.workload.request import Platforms, SizingRequest

# "design": servers of the described kind, as full as the number of GPUs allows; "spread": more of them, each with
# fewer GPUs in use; "other": servers of another kind, full.
ArrangementKind = Literal["design", "spread", "other"]

# Published tests spread eight GPUs over one, two and four servers (weka-scaling-2019): halved twice.
_HALVINGS = 2
# GPUs whose peaks with mixed precision differ by no more are of one class: all forms of the V100 lie within a quarter
# of one another, a P100 reaches a sixth of theirs.
_SAME_CLASS = 0.25


@dataclass(frozen=True)
class Arrangement:
    """So many servers of one kind, of which the job uses so many GPUs each."""

    kind: ArrangementKind
    platform: Platform
    n_servers: int
    gpus_used: int  # of each server
    is_allowed: bool  # whether the request allows its parts; others are compared as well, and marked

    @property
    def n_gpus(self) -> int:
        """GPUs that the job uses."""
        return self.n_servers * self.gpus_used

    @property
    def name(self) -> str:
        """'4 × DGX-1', '8 × DGX-1 (4 of 8 GPUs used)', '4 × DSS 8440 (8 GPUs each)'."""
        server = self.platform.server
        servers = f"{grouped(self.n_servers)} × {server.name}"
        if not self.is_full:
            return f"{servers} ({self.gpus_used} of {self.platform.gpus_per_server} GPUs used)"
        return f"{servers} ({self.gpus_used} GPUs each)" if server.n_gpus_choices else servers

    @property
    def is_full(self) -> bool:
        """Whether no GPU is idle."""
        return self.gpus_used == self.platform.gpus_per_server


class ExclusionReason(Enum):
    """Why a kind of server is not compared."""

    TOO_MANY_SERVERS = "more servers than the search considers"
    FORBIDDEN = "excluded by the request"
    NO_SIMILAR_GPU = "supports no GPU of the same class"
    NO_LOCAL_DRIVES = "no local drives published"
    NO_STORAGE_CONNECTION = "cannot connect to the storage"
    NOT_FILLED = "the GPUs do not fill it"
    TOO_LITTLE_MEMORY = "the GPUs do not hold the network"


@dataclass(frozen=True)
class ExcludedServer:
    """A kind of server that is not compared."""

    name: str
    reason: ExclusionReason
    gpus_per_server: tuple[int, ...] = ()  # of the kind, where the GPUs do not fill it
    part: str = ""  # id of the part that the server does not support


def gpus_used(request: SizingRequest, platform: Platform) -> int:
    """GPUs of each server of a platform that a request's job uses."""
    return min(request.platforms.gpus_per_server or platform.gpus_per_server, platform.gpus_per_server)


def arrangements(
    request: SizingRequest, design: DesignAnswer, n_gpus: int, catalog: Catalog
) -> tuple[tuple[Arrangement, ...], tuple[ExcludedServer, ...]]:
    """Arrangements of a number of GPUs, and the kinds of server that are excluded.

    ``design``: its servers come first; other servers use its storage and fabric where they can connect to them.
    ``n_gpus``: GPUs of every arrangement. ``arrangements``: the design's kind of server as full as the number allows,
    the same spread over more servers, then the other orderable kinds in the order of the catalogue, which is not a
    ranking. ``excluded``: in the same order.
    """
    own = design.platform
    most = gpus_used(request, own)
    used = next(count for count in range(min(most, n_gpus), 0, -1) if n_gpus % count == 0)
    found: list[Arrangement | ExcludedServer] = [
        _sized(Arrangement("design", own, n_gpus // used, used, is_allowed=True))
    ]
    for _ in range(_HALVINGS):
        if used % 2 or used <= 2:
            break
        used //= 2
        found.append(_sized(Arrangement("spread", own, n_gpus // used, used, is_allowed=True)))
    era = era_of(catalog, own.server)
    for server in as_sold_as(catalog, catalog.servers.values(), own.server, request.date):
        if server.role != "gpu" or not fits_era(era_of(catalog, server), era):
            continue
        if server.id != own.server.id:
            others = _others(request, own, server, n_gpus, catalog)
            if design.bill.is_customer_copy:
                # A customer reads of no parts that the request excludes.
                others = _allowed_only(others) if _server_is_allowed(request, server) else iter(())
            found += others
    return (
        tuple(one for one in found if isinstance(one, Arrangement)),
        tuple(one for one in found if isinstance(one, ExcludedServer)),
    )


def is_same_host(one: Server, other: Server) -> bool:
    """Whether two servers are the same host sold with GPUs of another form: all that feeds the GPUs is equal."""

    def host(server: Server) -> tuple[object, ...]:
        facts = (server.height_u, server.n_gpus, server.cpu, server.n_cpus, server.memory_bytes)
        ports = tuple((port.kind, port.count, port.use) for port in server.ports)
        return (server.vendor, *(fact and fact.value for fact in facts), ports)

    return host(one) == host(other)


def _sized(one: Arrangement) -> Arrangement | ExcludedServer:
    """The arrangement, unless it is larger than any that the search considers."""
    if one.kind == "design" or one.n_servers <= MAX_SERVERS:
        return one
    name = f"{grouped(one.n_servers)} × {one.platform.server.name}"
    return ExcludedServer(name, ExclusionReason.TOO_MANY_SERVERS)


def _others(
    request: SizingRequest, own: Platform, server: Server, n_gpus: int, catalog: Catalog
) -> Iterator[Arrangement | ExcludedServer]:
    if server.id in request.platforms.forbidden_servers:
        yield ExcludedServer(server.name, ExclusionReason.FORBIDDEN)
        return
    gpu = _gpu_for(server, own.gpu, catalog)
    if gpu is None:
        yield ExcludedServer(server.name, ExclusionReason.NO_SIMILAR_GPU, part=own.gpu.id)
        return
    storage = server.local_storage if own.storage.kind == "local" else own.storage.id
    if storage is None:
        yield ExcludedServer(server.name, ExclusionReason.NO_LOCAL_DRIVES)
        return
    options = _options(request, own, server, gpu, storage, catalog)
    if not options:
        yield ExcludedServer(server.name, ExclusionReason.NO_STORAGE_CONNECTION, part=storage)
        return
    full = [option for option in options if n_gpus % option.gpus_per_server == 0]
    if not full:
        sizes = tuple(option.gpus_per_server for option in options)
        yield ExcludedServer(server.name, ExclusionReason.NOT_FILLED, sizes)
    for option in full:
        asked = request.platforms
        allowed = (
            _server_is_allowed(request, option.server)
            and (not asked.gpus or option.gpu.id in asked.gpus)
            and (not asked.storage or option.storage.id in asked.storage)
            and asked.storage_tier in (None, option.storage.tier)
            and (not asked.fabrics or option.fabric.id in asked.fabrics)
        )
        yield _sized(
            Arrangement("other", option, n_gpus // option.gpus_per_server, option.gpus_per_server, is_allowed=allowed)
        )


def _gpu_for(server: Server, like: Gpu, catalog: Catalog) -> Gpu | None:
    """The GPU of a server that is most like another: itself, else one of its class, with memory as near as can be."""
    if like.id in server.gpus:
        return like

    def distance(gpu: Gpu) -> float:
        return abs(gpu.memory_bytes.value - like.memory_bytes.value)

    peak = like.peak_mixed_flop_per_s.value
    similar = [
        gpu
        for gpu in (catalog.gpus[name] for name in server.gpus)
        if abs(gpu.peak_mixed_flop_per_s.value / peak - 1) <= _SAME_CLASS
    ]
    return min(similar, key=distance, default=None)


def _options(
    request: SizingRequest, own: Platform, server: Server, gpu: Gpu, storage: str, catalog: Catalog
) -> list[Platform]:
    """Platforms of a server with one storage: on the design's fabric where it connects to it, else on its fastest."""
    own_memory = None if own.host_memory is None else own.host_memory.memory_bytes.value
    memory = own_memory if server.id == own.server.id and own_memory else request.platforms.host_memory_bytes
    for fabrics in ((own.fabric.id,), ()):
        asked = Platforms(
            servers=(server.id,), gpus=(gpu.id,), storage=(storage,), fabrics=fabrics, host_memory_bytes=memory
        )
        try:
            found: Sequence[Platform] = platforms(
                catalog,
                request.model_copy(update={"platforms": asked}),
                alone=own.gpus_per_server in server.n_gpus_alone,
            )
        except (InfeasibleError, RequestError):  # parts that cannot be connected, or that the catalogue no longer holds
            continue
        found = with_tier_of(own, found, catalog)
        if not found:
            continue
        # The drives of the design; of several fabrics the fastest comes first.
        same = [one for one in found if one.capacity_option == own.capacity_option and one.storage.id == own.storage.id]
        return list({one.gpus_per_server: one for one in reversed(same or found)}.values())[::-1]
    return []


def _allowed_only(found: Iterator[Arrangement | ExcludedServer]) -> Iterator[Arrangement | ExcludedServer]:
    return (one for one in found if isinstance(one, ExcludedServer) or one.is_allowed)


def _server_is_allowed(request: SizingRequest, server: Server) -> bool:
    asked = request.platforms
    return (not asked.servers or server.id in asked.servers) and server.id not in asked.forbidden_servers
