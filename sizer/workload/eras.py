"""Eras of the equipment that a request may get."""

import datetime
from dataclasses import dataclass
from enum import Enum

from sizer.catalog.generations import eras_of, newer_eras, usual_eras
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold
from sizer.catalog.schema import Gpu, Server
from sizer.workload.request import SizingRequest
from sizer.workload.transformer.custom_transformer import CustomTransformer


class EquipmentBasis(Enum):
    """Why a request gets GPU servers of some eras."""

    NAMED = "named"  # it names or has GPU servers, GPUs or generations
    ON_SALE = "on-sale"  # they can be ordered on its date
    # No model gives a rate of all its networks on what can be ordered then.
    NOT_ON_SALE = "not-on-sale"


@dataclass(frozen=True)
class ErasAsked:
    """Eras of the GPU servers that a request may get, and why."""

    eras: frozenset[str]
    basis: EquipmentBasis
    day: datetime.date | None  # on which servers and GPUs have to be sold; also None where they need not be

    def allows(self, catalog: Catalog, item: Server | Gpu) -> bool:
        """Whether a server or GPU is sold on the day, where it has to be."""
        return self.basis is not EquipmentBasis.ON_SALE or is_sold(catalog, item, self.day)


def eras_asked(catalog: Catalog, request: SizingRequest) -> ErasAsked:
    """Eras of what a request names or has, else of what can be ordered on its date and its networks have a rate on.

    Storage, fabrics and vendors choose no era.
    """
    asked, networks = request.platforms, [work.dnn for work in request.workload]
    named = eras_of(catalog, (*asked.servers, *asked.gpus, *asked.generations, *request.existing.servers))
    if named:
        return ErasAsked(named, EquipmentBasis.NAMED, None)
    eras, is_on_sale = usual_eras(
        catalog,
        [dnn for dnn in networks if isinstance(dnn, str)],
        request.date,
        has_shape=any(isinstance(dnn, CustomTransformer) for dnn in networks),
    )
    if is_on_sale:
        return ErasAsked(eras, EquipmentBasis.ON_SALE, request.date)
    return ErasAsked(eras, EquipmentBasis.NOT_ON_SALE, None)


def may_get_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether some of the servers that a request may get are newer than V100 systems."""
    return bool(eras_asked(catalog, request).eras & newer_eras(catalog))


def asks_for_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether all servers that a request may get are newer than V100 systems."""
    return eras_asked(catalog, request).eras <= newer_eras(catalog)
