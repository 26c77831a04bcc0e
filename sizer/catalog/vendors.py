"""Vendors by the names that a request uses."""

from collections.abc import Iterable

from sizer.catalog.model import Catalog

# Vendor of parts that anybody may supply.
ANY_VENDOR = "any"


def is_of_vendor(vendor: str, name: str) -> bool:
    """Whether a name means a vendor: its words, without regard to case, stand in the vendor's in this order.

    Examples
    --------
    >>> is_of_vendor("Dell EMC Isilon", "Dell EMC"), is_of_vendor("Dell EMC", "dell"), is_of_vendor("HPE", "HP")
    (True, True, False)
    """
    asked, known = " ".join(name.casefold().split()), " ".join(vendor.casefold().split())
    return bool(asked) and vendor != ANY_VENDOR and f" {asked} " in f" {known} "


def vendors_of(catalog: Catalog) -> tuple[str, ...]:
    """Vendors of GPU servers and of storage, in alphabetical order."""
    items: Iterable[tuple[str, bool]] = (
        *((item.vendor, item.role == "gpu") for item in catalog.servers.values()),
        *((item.vendor, True) for item in catalog.storage.values()),
    )
    return tuple(sorted({vendor for vendor, is_offered in items if is_offered and vendor != ANY_VENDOR}))
