"""Eras of the equipment that a request may get."""

import datetime
import math
from dataclasses import dataclass
from enum import Enum

from sizer.base.dates import days_of
from sizer.catalog.model import Catalog
from sizer.catalog.sale import eras_of, is_sold, usual_eras
from sizer.catalog.schema import Gpu, Server, Storage
from sizer.workload.request import SizingRequest
from sizer.workload.transformer.custom_transformer import CustomTransformer


class EquipmentBasis(Enum):
    """Why a request gets GPU servers of some eras."""

    NAMED = "named"  # it names GPU servers, GPUs or generations
    ON_SALE = "on-sale"  # they can be ordered on its date
    # No model gives a rate of all its networks on what can be ordered then.
    NOT_ON_SALE = "not-on-sale"


@dataclass(frozen=True)
class ErasAsked:
    """Eras of the GPU servers that a request may get, why, and of which servers it may get more than are there."""

    eras: frozenset[str]
    basis: EquipmentBasis
    day: datetime.date | None  # on which what is bought has to be sold; without one after all dates
    owned: frozenset[str] = frozenset()  # ids of GPU servers that are there: these stay in use whatever is sold
    # Servers, GPUs and generations that are meant to be bought although nobody sells them any more.
    meant: frozenset[str | None] = frozenset()

    def offers(self, catalog: Catalog, server: Server, gpu: Gpu) -> bool:
        """Whether a server with a GPU may be bought."""
        if self.basis is EquipmentBasis.NOT_ON_SALE or self.meant & {server.id, gpu.id, gpu.generation}:
            return True
        return is_sold(catalog, server, self.day) and is_sold(catalog, gpu, self.day)

    def has(self, catalog: Catalog, server: Server) -> bool:
        """Whether a server is there or may be bought with one of its GPUs."""
        return server.id in self.owned or any(self.offers(catalog, server, catalog.gpus[gpu]) for gpu in server.gpus)


def eras_asked(catalog: Catalog, request: SizingRequest) -> ErasAsked:
    """Eras of what a request names, else of what can be ordered on its date and its networks have a rate on.

    Beside these the eras of the servers that are there. Storage, fabrics and vendors choose no era.
    """
    asked, networks = request.platforms, [work.dnn for work in request.workload]
    owned, day = frozenset(request.existing.servers), request.date
    of_owned, meant = eras_of(catalog, owned), _meant_to_be_bought(catalog, request)
    if named := eras_of(catalog, (*asked.servers, *asked.gpus, *asked.generations)):
        return ErasAsked(named | of_owned, EquipmentBasis.NAMED, day, owned, meant)
    eras, is_on_sale = usual_eras(
        catalog,
        [dnn for dnn in networks if isinstance(dnn, str)],
        day,
        has_shape=any(isinstance(dnn, CustomTransformer) for dnn in networks),
    )
    if is_on_sale:
        return ErasAsked(eras | of_owned, EquipmentBasis.ON_SALE, day, owned, meant)
    return ErasAsked(of_owned or eras, EquipmentBasis.NOT_ON_SALE, day, owned)


def _meant_to_be_bought(catalog: Catalog, request: SizingRequest) -> frozenset[str | None]:
    """Servers, GPUs and generations that a request names and means although nobody sells them any more.

    Of a GPU or generation that some server is still sold with, only such servers are bought. More of the servers that
    are there are meant by software of the time when they were sold: later GPUs do not run it.
    """
    asked = request.platforms
    names = {*asked.servers, *asked.gpus, *asked.generations} - _kept_in_use(catalog, request)
    stacks = (catalog.stacks.get(work.stack or "") for work in request.workload)
    days = [days_of(stack.released.value)[0] for stack in stacks if stack is not None]
    there = (catalog.servers[name] for name in request.existing.servers)
    of_stacks = {one.id for one in there if any(is_sold(catalog, one, day) for day in days)}
    return frozenset(names - _sold_in_servers(catalog, request) | of_stacks)


def _sold_in_servers(catalog: Catalog, request: SizingRequest) -> frozenset[str | None]:
    """Named GPUs and generations that a server which is not excluded is sold with."""
    asked, day = request.platforms, request.date
    names = {*asked.gpus, *asked.generations}
    servers = (one for one in catalog.servers.values() if one.role == "gpu" and one.id not in asked.forbidden_servers)
    pairs = ((server, catalog.gpus[name]) for server in servers for name in server.gpus)
    return frozenset(
        name
        for server, gpu in pairs
        if names & {gpu.id, gpu.generation} and is_sold(catalog, server, day) and is_sold(catalog, gpu, day)
        for name in (gpu.id, gpu.generation)
    )


def _kept_in_use(catalog: Catalog, request: SizingRequest) -> set[str | None]:
    """Servers that are there, with their GPUs, and storage: a dated request that names them has them stay in use."""
    if request.date is None:
        return set()
    servers = [catalog.servers[name] for name in request.existing.servers]
    gpus = [catalog.gpus[name] for server in servers for name in server.gpus]
    there = {*request.existing.servers, *request.existing.storage_nodes}
    return {*there, *(gpu.id for gpu in gpus), *(gpu.generation for gpu in gpus)}


def most_of_kind(catalog: Catalog, request: SizingRequest, server: Server) -> float:
    """Most GPU servers of a kind that a design may have: those that are there where no more may be bought."""
    there = request.existing.servers.get(server.id)
    if there is None:
        return math.inf
    eras = eras_asked(catalog, request)
    return math.inf if any(eras.offers(catalog, server, catalog.gpus[gpu]) for gpu in server.gpus) else there


def most_nodes_of_kind(catalog: Catalog, request: SizingRequest, storage: Storage) -> float:
    """Most storage nodes of a kind that a design may have, as :func:`most_of_kind`; by the date of the request."""
    there = request.existing.storage_nodes.get(storage.id)
    if there is None or request.date is None or is_sold(catalog, catalog.storage[storage.id], request.date):
        return math.inf
    return there


def extended_by_what_is_sold(catalog: Catalog, request: SizingRequest) -> SizingRequest | None:
    """The request with what can be ordered beside servers and storage that are there and that it names to stay in use.

    None where all that it names can be bought, or where it asks what its equipment does at most.
    """
    asked, kept = request.platforms, _kept_in_use(catalog, request)
    named = (*(catalog.servers[name] for name in asked.servers), *(catalog.storage[name] for name in asked.storage))
    sold = _sold_in_servers(catalog, request) | {one.id for one in named if is_sold(catalog, one, request.date)}
    opened = {
        key: tuple(name for name in names if name in sold)
        for key in ("servers", "gpus", "generations", "storage")
        if (names := getattr(asked, key)) and kept.issuperset(set(names) - sold)
    }
    is_maximum = any(work.target.maximum is not None for work in request.workload)
    changed = asked.model_copy(update=opened)
    return None if is_maximum or changed == asked else request.model_copy(update={"platforms": changed})
