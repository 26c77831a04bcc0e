"""Generations of GPUs and the eras of the equipment around them."""

import datetime
from collections.abc import Iterable
from functools import lru_cache

from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold
from sizer.catalog.schema import Device, Gpu, Server

# Era of the systems that the model of a step is fitted to.
V100_ERA = "v100"


def era_of_gpu(catalog: Catalog, gpu: Gpu) -> str | None:
    """Era of a GPU; None: considered with those of every era."""
    return None if gpu.generation is None else catalog.generations[gpu.generation].era


@lru_cache(maxsize=4096)
def era_of(catalog: Catalog, device: Device) -> str | None:
    """Era of a device: of a GPU server that of its GPUs."""
    if isinstance(device, Server) and device.gpus:
        return era_of_gpu(catalog, catalog.gpus[device.gpus[0]])
    return device.era


def newer_eras(catalog: Catalog) -> frozenset[str]:
    """All eras but that of V100 systems."""
    return frozenset(one.era for one in catalog.generations.values()) - {V100_ERA}


@lru_cache(maxsize=64)
def eras_on_sale(catalog: Catalog, day: datetime.date | None) -> frozenset[str]:
    """Eras of which GPU servers can be ordered on a day; without one, after all dates of the catalogue."""
    servers = (one for one in catalog.servers.values() if one.role == "gpu" and is_sold(catalog, one, day))
    gpus = (catalog.gpus[name] for server in servers for name in server.gpus)
    eras = (era_of_gpu(catalog, gpu) for gpu in gpus if is_sold(catalog, gpu, day))
    return frozenset(era for era in eras if era is not None)


def rated_eras(catalog: Catalog, networks: Iterable[str], *, has_shape: bool = False) -> frozenset[str]:
    """Eras on which the models give a rate of all of some networks.

    Those of V100 are carried over to newer GPUs; not so language models, those that a request gives by their shape
    included (``has_shape``), and networks that were measured on one era only.
    """
    eras = newer_eras(catalog) if has_shape else newer_eras(catalog) | {V100_ERA}
    for dnn in (catalog.dnns[name] for name in networks if name in catalog.dnns):
        if dnn.era is not None:
            eras &= {dnn.era}
        elif dnn.transformer is not None:
            eras &= newer_eras(catalog)
    return eras


def usual_eras(
    catalog: Catalog, networks: Iterable[str], day: datetime.date | None, *, has_shape: bool = False
) -> tuple[frozenset[str], bool]:
    """Eras that answer a request which names no equipment, and whether they can be ordered on its day.

    Those that can be ordered and that the models rate all networks on; else, of those that they do, that of V100 first.
    """
    rated = rated_eras(catalog, networks, has_shape=has_shape)
    if sold := rated & eras_on_sale(catalog, day):
        return sold, True
    return (rated & {V100_ERA}) or rated, False


def eras_of(catalog: Catalog, names: Iterable[str]) -> frozenset[str]:
    """Eras of named GPUs, servers and generations; those without one say nothing."""
    found: set[str | None] = set()
    for name in names:
        if name in catalog.generations:
            found.add(catalog.generations[name].era)
        elif name in catalog.gpus:
            found.add(era_of_gpu(catalog, catalog.gpus[name]))
        elif name in catalog.servers:
            found.add(era_of(catalog, catalog.servers[name]))
    return frozenset(era for era in found if era is not None)
