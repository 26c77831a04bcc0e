"""Which parts can be ordered on a day, by the dates of their files, and their generations."""

import datetime
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import TypeVar

from sizer.base.dates import days_of
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Generation, Gpu, Server

T = TypeVar("T", bound=Item)


class Sale(Enum):
    """Whether a part is sold on a day."""

    ENDS_LATER = "on sale, end known"
    NOT_KNOWN = "end of sale not known"
    ENDED = "sale ended"
    NOT_YET = "not yet on sale"
    NOT_SOLD = "not sold on its own"


def sale_on(catalog: Catalog, item: Item, day: datetime.date | None) -> Sale:
    """Whether a part is sold on a day; one of which nothing tells the end stays unknown.

    A date without its day, or without its month, has passed when the whole month or year has. A GPU without a date has
    that of its generation, and a GPU server is sold as long as one of its GPUs is. Without a day: after all dates.
    """
    if not item.orderable:
        return Sale.NOT_SOLD
    own = _by_dates(catalog, item, day)
    if not isinstance(item, Server) or not item.gpus or own in (Sale.ENDED, Sale.NOT_YET):
        return own
    of_gpus = [_by_dates(catalog, catalog.gpus[name], day) for name in item.gpus]
    return own if any(sale in _SOLD for sale in of_gpus) else of_gpus[0]


def is_sold(catalog: Catalog, item: Item, day: datetime.date | None) -> bool:
    """Whether a part can be ordered on a day, a GPU inside a server at least."""
    return (_by_dates(catalog, item, day) if isinstance(item, Gpu) else sale_on(catalog, item, day)) in _SOLD


def newest_sold(catalog: Catalog, gpu: Gpu, day: datetime.date | None) -> Generation | None:
    """The newest generation of a GPU's vendor that servers are sold with on a day; None where it is the GPU's own."""
    own = catalog.generations.get(gpu.generation or "")
    gpus = (catalog.gpus[name] for name in usable_gpus(catalog))
    sold = {one.generation for one in gpus if one.generation is not None and is_sold(catalog, one, day)}
    later = [
        one
        for one in (catalog.generations[name] for name in sold)
        if own is not None and one.vendor == own.vendor and introduced_on(one) > introduced_on(own)
    ]
    return max(later, key=introduced_on, default=None)


def introduced_on(generation: Generation) -> datetime.date:
    """First day that the introduction of a generation may mean."""
    return datetime.date.min if generation.introduced is None else days_of(generation.introduced.value)[0]


def since(catalog: Catalog, gpu: Gpu) -> datetime.date:
    """First day that the introduction of the generation of a GPU may mean."""
    generation = catalog.generations.get(gpu.generation or "")
    return datetime.date.min if generation is None else introduced_on(generation)


def orderable_on(catalog: Catalog, items: Iterable[Item], day: datetime.date | None) -> list[Item]:
    """Parts that are sold on a day as far as anybody knows; those of unknown end are among them."""
    return [item for item in items if sale_on(catalog, item, day) in _SOLD]


def as_sold_as(catalog: Catalog, items: Iterable[T], own: Item, day: datetime.date | None) -> list[T]:
    """Parts that can be ordered on a day; of its time where ``own`` cannot be any more, and without a day, all."""
    known = [item for item in items if item.orderable]
    return [item for item in known if day is None or not is_sold(catalog, own, day) or is_sold(catalog, item, day)]


def usable_gpus(catalog: Catalog) -> list[str]:
    """GPUs of the servers that can be ordered; some are sold inside their server only."""
    servers = (server for server in catalog.servers.values() if server.role == "gpu" and server.orderable)
    taken = {key for server in servers for key in server.gpus}
    return [key for key in catalog.gpus if key in taken]


_SOLD = (Sale.ENDS_LATER, Sale.NOT_KNOWN)


def _by_dates(catalog: Catalog, item: Item, day: datetime.date | None) -> Sale:
    generation = catalog.generations.get(item.generation or "") if isinstance(item, Gpu) else None
    start = item.introduced or (generation.introduced if generation is not None else None)
    end = item.end_of_sale or (generation.end_of_sale if generation is not None else None)
    day = datetime.date.max if day is None else day
    if start is not None and day < days_of(start.value)[0]:
        return Sale.NOT_YET
    if end is None:
        return Sale.NOT_KNOWN
    return Sale.ENDED if days_of(end.value)[1] < day else Sale.ENDS_LATER


def of_generation(items: Iterable[Item], generation: str, gpus: dict[str, Gpu]) -> list[Item]:
    """GPUs of a generation, and servers that take one of them."""
    return [item for item in items if generation in _generations(item, gpus)]


def _generations(item: Item, gpus: dict[str, Gpu]) -> set[str | None]:
    if isinstance(item, Gpu):
        return {item.generation}
    if isinstance(item, Server):
        return {gpus[name].generation for name in item.gpus if name in gpus}
    return set()


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
    return frozenset(generation.era for generation in catalog.generations.values()) - {V100_ERA}


@lru_cache(maxsize=64)
def eras_on_sale(catalog: Catalog, day: datetime.date | None) -> frozenset[str]:
    """Eras of which GPU servers can be ordered on a day; without one, after all dates of the catalogue."""
    servers = (server for server in catalog.servers.values() if server.role == "gpu" and is_sold(catalog, server, day))
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
