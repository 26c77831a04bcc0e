"""Generations of GPUs and the eras of the equipment around them."""

from collections.abc import Iterable

from sizer.base.identity_cache import cached_by_catalog
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Gpu, Server


def era_of_gpu(catalog: Catalog, gpu: Gpu) -> str | None:
    """Era of a GPU; None: considered with those of every era."""
    return None if gpu.generation is None else catalog.generations[gpu.generation].era


@cached_by_catalog
def era_of(catalog: Catalog, device: Device) -> str | None:
    """Era of a device: of a GPU server that of its GPUs."""
    if isinstance(device, Server) and device.gpus:
        return era_of_gpu(catalog, catalog.gpus[device.gpus[0]])
    return device.era


def default_eras(catalog: Catalog) -> frozenset[str]:
    """Eras that answer a request which names no equipment."""
    return frozenset(one.era for one in catalog.generations.values() if one.is_default)


def newer_eras(catalog: Catalog) -> frozenset[str]:
    """All other eras."""
    return frozenset(one.era for one in catalog.generations.values()) - default_eras(catalog)


def usual_eras(catalog: Catalog, networks: Iterable[str], *, has_shape: bool = False) -> frozenset[str]:
    """Eras that answer a request which names networks but no equipment.

    Language models, those that a request gives by their shape included (``has_shape``), and networks that were
    measured on one era only get what their runs were published on.
    """
    found: set[str] = set(newer_eras(catalog)) if has_shape else set()
    for name in networks:
        dnn = catalog.dnns.get(name)
        if dnn is not None and (dnn.transformer is not None or dnn.era is not None):
            found |= newer_eras(catalog) if dnn.era is None else {dnn.era}
    return frozenset(found) or default_eras(catalog)


def eras_of(catalog: Catalog, names: Iterable[str]) -> frozenset[str]:
    """Eras of named GPUs, servers, storage, generations and fabrics; those without one say nothing."""
    found: set[str | None] = set()
    for name in names:
        if name in catalog.generations:
            found.add(catalog.generations[name].era)
        elif name in catalog.gpus:
            found.add(era_of_gpu(catalog, catalog.gpus[name]))
        elif name in catalog.servers or name in catalog.storage:
            found.add(era_of(catalog, catalog.device(name)))
        elif name in catalog.links:
            found |= _eras_on(catalog, catalog.links[name])
    return frozenset(era for era in found if era is not None)


@cached_by_catalog
def _eras_on(catalog: Catalog, link: LinkType) -> frozenset[str | None]:
    """Era of the GPU servers with ports made for a link, where all are of one."""
    eras = frozenset(
        era_of(catalog, server)
        for server in catalog.servers.values()
        if server.role == "gpu" and any(port.kind.id == link.id and port.use == "compute" for port in server.ports)
    )
    return eras if len(eras) == 1 else frozenset()
