"""Eras of the equipment that a request may get."""

import datetime
import math
from dataclasses import dataclass
from enum import Enum

from sizer.base.dates import days_of
from sizer.catalog.generations import eras_of, newer_eras, usual_eras
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold
from sizer.catalog.schema import Gpu, Server
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
    """Eras of the GPU servers that a request may get, and why."""

    eras: frozenset[str]
    basis: EquipmentBasis
    day: datetime.date | None  # on which servers and GPUs have to be sold; also None where they need not be
    owned: frozenset[str] = frozenset()  # ids of GPU servers that are there: these stay in use whatever is sold

    def allows(self, catalog: Catalog, item: Server | Gpu) -> bool:
        """Whether a server or GPU is sold on the day, where it has to be."""
        return self.basis is not EquipmentBasis.ON_SALE or is_sold(catalog, item, self.day)


def eras_asked(catalog: Catalog, request: SizingRequest) -> ErasAsked:
    """Eras of what a request names, else of what can be ordered on its date and its networks have a rate on.

    Beside these the eras of the servers that are there. Storage, fabrics and vendors choose no era.
    """
    asked, networks = request.platforms, [work.dnn for work in request.workload]
    owned = frozenset(request.existing.servers)
    of_owned = eras_of(catalog, owned)
    if named := eras_of(catalog, (*asked.servers, *asked.gpus, *asked.generations)):
        return ErasAsked(named | of_owned, EquipmentBasis.NAMED, None, owned)
    eras, is_on_sale = usual_eras(
        catalog,
        [dnn for dnn in networks if isinstance(dnn, str)],
        request.date,
        has_shape=any(isinstance(dnn, CustomTransformer) for dnn in networks),
    )
    if is_on_sale:
        return ErasAsked(eras | of_owned, EquipmentBasis.ON_SALE, request.date, owned)
    return ErasAsked(of_owned or eras, EquipmentBasis.NOT_ON_SALE, None, owned)


def most_of_kind(catalog: Catalog, request: SizingRequest, server: Server) -> float:
    """Most GPU servers of a kind that a design may have: those that are there where no more can be ordered.

    Without end where they are sold on the date of the request, or where it names their GPUs or generation, or software
    of the time when they were sold, which later GPUs do not run. A server that a dated request names and has is named
    to stay in use.
    """
    there, asked = request.existing.servers.get(server.id), request.platforms
    is_undated = request.date is None and server.id in asked.servers
    if there is None or is_undated or is_sold(catalog, server, request.date):
        return math.inf
    gpus = {gpu: catalog.gpus[gpu].generation for gpu in server.gpus}
    stacks = (catalog.stacks.get(work.stack or "") for work in request.workload)
    days = [days_of(stack.released.value)[0] for stack in stacks if stack is not None]
    is_meant = set(asked.gpus) & set(gpus) or set(asked.generations) & set(gpus.values())
    return math.inf if is_meant or any(is_sold(catalog, server, day) for day in days) else there


def may_get_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether some of the servers that a request may get are newer than V100 systems."""
    return bool(eras_asked(catalog, request).eras & newer_eras(catalog))


def asks_for_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether all servers that a request may get are newer than V100 systems."""
    return eras_asked(catalog, request).eras <= newer_eras(catalog)
