"""Eras of the equipment that a request may get."""

from sizer.catalog.generations import default_eras, eras_of, newer_eras, usual_eras
from sizer.catalog.model import Catalog
from sizer.workload.request import SizingRequest
from sizer.workload.transformer.custom_transformer import CustomTransformer


def eras_asked(catalog: Catalog, request: SizingRequest) -> frozenset[str]:
    """Eras of the servers that a request may get: those of what it names, else those that its networks ran on."""
    asked, existing = request.platforms, request.existing
    named = (*asked.servers, *asked.gpus, *asked.generations, *asked.storage, *asked.fabrics, *existing.servers)
    networks = (work.dnn for work in request.workload if isinstance(work.dnn, str))
    has_shape = any(isinstance(work.dnn, CustomTransformer) for work in request.workload)
    return eras_of(catalog, named) or usual_eras(catalog, networks, has_shape=has_shape)


def leaves_out_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether a request names no equipment and gets that of the default generations alone."""
    asked = request.platforms
    names = (*asked.servers, *asked.gpus, *asked.generations, *asked.storage, *asked.fabrics, *request.existing.servers)
    return not names and not may_get_newer(catalog, request)


def may_get_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether some of the servers that a request may get are newer than those of the default generations."""
    return bool(eras_asked(catalog, request) & newer_eras(catalog))


def asks_for_newer(catalog: Catalog, request: SizingRequest) -> bool:
    """Whether all servers that a request may get are newer than those of the default generations."""
    return may_get_newer(catalog, request) and not eras_asked(catalog, request) & default_eras(catalog)
