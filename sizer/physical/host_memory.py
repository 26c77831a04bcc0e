"""Memory of a server: what of it caches data, and which published sizes a request considers."""

from dataclasses import dataclass
from functools import lru_cache

from sizer.base import units
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, MemoryOption, Server
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import dataset_of, stored_data

# Memory that the operating system, the framework and pinned buffers keep from the page cache, in addition to a copy of
# the GPU memory: the rule "RAM at least the sum of GPU memory" (dell-ready-ai-nvidia-2018) leaves the rest for caching.
OS_RESERVE_BYTES = 16 * units.GIB


@dataclass(frozen=True)
class FittedServer:
    """A server with one of the memory sizes that it is sold with."""

    server: Server  # its ``memory_bytes`` is that of the option
    option: MemoryOption | None  # None: the standard memory


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
