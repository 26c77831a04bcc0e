"""The same number of GPUs in fewer or in more servers: which arrangements can be built, and why others cannot."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import grouped
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Server
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.sizing.recommend import MAX_SERVERS
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import FabricKind, Platforms, SizingRequest

# "design": servers of the described kind as full as the job fills them; "spread": more of them, each with fewer GPUs
# in use; "other": servers of another kind, full.
Kind = Literal["design", "spread", "other"]

# Published tests spread eight GPUs over one, two and four servers (weka-scaling-2019): halved twice.
_HALVINGS = 2
# GPUs whose peaks with mixed precision differ by no more are of one class: all forms of the V100 lie within a quarter
# of one another, a P100 reaches a sixth of theirs.
_SAME_CLASS = 0.25


@dataclass(frozen=True)
class Arrangement:
    """So many servers of one kind, of which the job uses so many GPUs each."""

    kind: Kind
    platform: Platform
    n_servers: int
    gpus_used: int  # of each server
    is_allowed: bool  # whether the request allows its parts; what it does not is compared all the same, and marked

    @property
    def n_gpus(self) -> int:
        """GPUs that the job uses."""
        return self.n_servers * self.gpus_used

    @property
    def name(self) -> str:
        """'4 × DGX-1', '8 × DGX-1 (4 of 8 GPUs used)', '4 × DSS 8440 (8 GPUs each)'."""
        server = self.platform.server
        values = {"servers": f"{grouped(self.n_servers)} × {server.name}", "used": self.gpus_used}
        if not self.is_full:
            return "{servers} ({used} of {all} GPUs used)".format(**values, all=self.platform.gpus_per_server)
        return "{servers} ({used} GPUs each)".format(**values) if server.n_gpus_choices else str(values["servers"])

    @property
    def is_full(self) -> bool:
        """Whether no GPU stays idle."""
        return self.gpus_used == self.platform.gpus_per_server


@dataclass(frozen=True)
class LeftOut:
    """A kind of server that is not compared."""

    name: str
    reason: str


def gpus_used(request: SizingRequest, platform: Platform) -> int:
    """GPUs of each server of a platform that a request's job uses."""
    return min(request.platforms.gpus_per_server or platform.gpus_per_server, platform.gpus_per_server)


def arrangements(
    request: SizingRequest, design: DesignAnswer, n_gpus: int, catalog: Catalog
) -> tuple[tuple[Arrangement, ...], tuple[LeftOut, ...]]:
    """Ways to arrange a number of GPUs, and what is left out.

    Parameters
    ----------
    request : SizingRequest
    design : DesignAnswer
        Its servers come first; its storage and fabric are kept where other servers can join them.
    n_gpus : int
        GPUs of every arrangement.
    catalog : Catalog

    Returns
    -------
    arrangements : tuple of Arrangement
        The design's kind of server as full as the number allows, the same spread over more servers, then the other
        orderable kinds in the order of the catalogue. That order ranks nobody.
    left_out : tuple of LeftOut
        In the same order.
    """
    own = design.platform
    most = gpus_used(request, own)
    used = next(count for count in range(min(most, n_gpus), 0, -1) if n_gpus % count == 0)
    found: list[Arrangement | LeftOut] = [_sized(Arrangement("design", own, n_gpus // used, used, is_allowed=True))]
    for _ in range(_HALVINGS):
        if used % 2 or used <= 2:
            break
        used //= 2
        found.append(_sized(Arrangement("spread", own, n_gpus // used, used, is_allowed=True)))
    for server in catalog.servers.values():
        if server.role == "gpu" and server.orderable and server.id != own.server.id:
            found += _others(request, own, server, n_gpus, catalog)
    return (
        tuple(one for one in found if isinstance(one, Arrangement)),
        tuple(one for one in found if isinstance(one, LeftOut)),
    )


def is_same_host(one: Server, other: Server) -> bool:
    """Whether two servers are the same host sold with GPUs of another form: all that feeds the GPUs is equal."""

    def host(server: Server) -> tuple[object, ...]:
        facts = (server.height_u, server.n_gpus, server.cpu, server.n_cpus, server.memory_bytes)
        ports = tuple((port.kind, port.count, port.use) for port in server.ports)
        return (server.vendor, *(fact and fact.value for fact in facts), ports)

    return host(one) == host(other)


def _sized(one: Arrangement) -> Arrangement | LeftOut:
    """The arrangement, unless it is larger than any that is looked at."""
    if one.kind == "design" or one.n_servers <= MAX_SERVERS:
        return one
    name = f"{grouped(one.n_servers)} × {one.platform.server.name}"
    return LeftOut(name, f"more than {MAX_SERVERS} servers are not looked at")


def _others(
    request: SizingRequest, own: Platform, server: Server, n_gpus: int, catalog: Catalog
) -> Iterator[Arrangement | LeftOut]:
    if server.id in request.platforms.forbidden_servers:
        yield LeftOut(server.name, "the request forbids it")
        return
    gpu = _gpu_for(server, own.gpu, catalog)
    if gpu is None:
        yield LeftOut(server.name, f"it takes no GPU of the class of {own.gpu.name}")
        return
    storage = server.local_storage if own.storage.kind == "local" else own.storage.id
    if storage is None:
        yield LeftOut(server.name, "no local drives of it are published")
        return
    options = _options(request, own, server, gpu, storage, catalog)
    if not options:
        yield LeftOut(server.name, f"it does not join {item_name(storage, catalog)}")
        return
    full = [option for option in options if n_gpus % option.gpus_per_server == 0]
    if not full:
        per = " or ".join(grouped(option.gpus_per_server) for option in options)
        yield LeftOut(server.name, f"{grouped(n_gpus)} GPUs do not fill servers of {per}")
    for option in full:
        allowed = _is_allowed(request, option)
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
    near = [
        gpu
        for gpu in (catalog.gpus[name] for name in server.gpus)
        if abs(gpu.peak_mixed_flop_per_s.value / peak - 1) <= _SAME_CLASS
    ]
    return min(near, key=distance, default=None)


def _options(
    request: SizingRequest, own: Platform, server: Server, gpu: Gpu, storage: str, catalog: Catalog
) -> list[Platform]:
    """Platforms of a server with one storage: on the design's fabric where it joins it, else on its fastest."""
    same_fabric = tuple(kind for kind in get_args(FabricKind) if kind == own.fabric)
    for fabrics in (same_fabric, ()):
        asked = Platforms(servers=(server.id,), gpus=(gpu.id,), storage=(storage,), fabrics=fabrics)
        try:
            found = platforms(catalog, request.model_copy(update={"platforms": asked}))
        except (InfeasibleError, RequestError):  # parts that do not join, or that the catalogue lost
            continue
        # The drives of the design; of several fabrics the fastest comes first.
        same = [one for one in found if one.capacity_option == own.capacity_option and one.storage.id == own.storage.id]
        return list({one.gpus_per_server: one for one in reversed(same or found)}.values())[::-1]
    return []


def _is_allowed(request: SizingRequest, platform: Platform) -> bool:
    asked = request.platforms
    return (
        (not asked.servers or platform.server.id in asked.servers)
        and (not asked.gpus or platform.gpu.id in asked.gpus)
        and (not asked.storage or platform.storage.id in asked.storage)
        and (not asked.fabrics or platform.fabric in asked.fabrics)
    )
