"""Storage systems with the values that a request states in place of the catalogue's."""

from functools import lru_cache

from sizer.base.provenance import Sourced
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.workload.request import SizingRequest

# Key of facts that the user gives; no document of the catalogue has it.
_SOURCE = "request"


def as_stated(catalog: Catalog, storage: Storage, request: SizingRequest) -> Storage:
    """A storage system with what the request states of it; the catalogue's own item where it states nothing."""
    for stated in request.stated_storage:
        if stated.storage == storage.id:
            return _replaced(
                catalog, storage.id, stated.node_read_bytes_per_s, stated.node_write_bytes_per_s, stated.usable_bytes
            )
    return storage


# Kept, so that the same values give the same object, of which other functions keep what they found.
@lru_cache(maxsize=64)
def _replaced(catalog: Catalog, item: str, rate: float | None, write: float | None, usable: float | None) -> Storage:
    facts: dict[str, object] = {}
    if rate is not None:
        facts |= dict.fromkeys(("node_read_low_bytes_per_s", "node_read_high_bytes_per_s"), _fact(rate))
    if write is not None:
        facts["node_write_bytes_per_s"] = _fact(write)
    if usable is not None:
        # The stated capacity stands for the whole system: it is not worked out from drives and protection.
        facts |= {"usable_bytes": _fact(usable), "capacity_options": (), "protection_overheads": ()}
        facts |= {"stripe_parity": None, "max_usable_bytes": None}
    return catalog.storage[item].model_copy(update=facts)


def _fact(value: float) -> Sourced[float]:
    return Sourced(value=value, basis="assumed", source=_SOURCE, where="stated_storage")
