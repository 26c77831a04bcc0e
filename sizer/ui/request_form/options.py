"""Options of choices: raw keys as words, and items of the catalogue by name."""

from collections.abc import Callable, Mapping

from sizer.catalog.fabrics import possible_links
from sizer.catalog.items import Item
from sizer.catalog.labels import capital
from sizer.catalog.model import Catalog, vendors_of
from sizer.catalog.sale import usable_gpus
from sizer.catalog.sample_formats import FORMAT_NAMES
from sizer.physical.capacity import counts_nodes
from sizer.present.words import name
from sizer.ui.session_catalog import catalog
from sizer.workload.data import OBJECT_STORAGE


def capitalized_name(key: str) -> str:
    """Name of a raw key, with a capital: 'page-cache' reads 'Page cache'."""
    text = name(key)
    return text[:1].upper() + text[1:]


def names_by_id(items: Mapping[str, Item]) -> dict[str, str]:
    """Names by id, in the order of the names."""
    return {item.id: item.name for item in sorted(items.values(), key=lambda item: item.name.lower())}


def orderable_servers() -> dict[str, str]:
    """GPU servers that can be ordered."""
    servers = catalog().servers
    return names_by_id({key: item for key, item in servers.items() if item.role == "gpu" and item.orderable})


def fabrics() -> dict[str, str]:
    """Links that a fabric between GPU servers may have."""
    return {link.id: link.name for link in possible_links(catalog())}


def orderable_gpus() -> dict[str, str]:
    """GPUs that can be ordered in one of the servers."""
    parts = catalog()
    return names_by_id({key: parts.gpus[key] for key in usable_gpus(parts) if parts.gpus[key].orderable})


def usable_storage() -> dict[str, str]:
    """Storage that can be ordered, and what is there where it is named: an NFS server, Ceph."""
    storage = catalog().storage
    return names_by_id({key: item for key, item in storage.items() if item.orderable or item.kind != "local"})


def shared_storage() -> dict[str, str]:
    """Storage systems that servers share: all but the local drives of a server."""
    return existing_items(catalog(), "storage_nodes")


def capacity_tiers() -> dict[str, str]:
    """Capacity tiers to choose from."""
    items = catalog().storage.values()
    disks = {item.id: item.name for item in items if item.tier == "capacity" and item.orderable and counts_nodes(item)}
    return {"": "What costs least, or one tier", OBJECT_STORAGE: "Object storage of the customer", **disks}


def vendors() -> dict[str, str]:
    """Vendors of GPU servers and storage."""
    return {vendor: vendor for vendor in vendors_of(catalog())}


def existing_items(catalogue: Catalog, kind: str) -> dict[str, str]:
    """Items that a customer may already have, of one table of ``[existing]``."""
    if kind == "servers":
        return names_by_id({key: item for key, item in catalogue.servers.items() if item.role == "gpu"})
    if kind == "storage_nodes":
        return names_by_id({key: item for key, item in catalogue.storage.items() if item.kind != "local"})
    return names_by_id(catalogue.switches)


# Choices whose options are items of the catalogue, by key.
OF_CATALOGUE: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "platforms.servers": orderable_servers,
    "platforms.gpus": orderable_gpus,
    "platforms.generations": lambda: names_by_id(catalog().generations),
    "platforms.storage": usable_storage,
    "platforms.fabrics": fabrics,
    "platforms.prefer_vendors": vendors,
    "stated_storage.storage": shared_storage,
    "site.rack": lambda: names_by_id(catalog().racks),
    "site.pdu": lambda: {"": "usual for the servers", **names_by_id(catalog().pdus)},
    "data.capacity_tier": capacity_tiers,
    "workload.dnn.like": lambda: {"": "none", **names_by_id(catalog().dnns)},
    "workload.sample_format": lambda: {
        "": "derived",
        **{kind.value: capital(words) for kind, words in FORMAT_NAMES.items()},
    },
    # Given by the form, which knows the workload.
    "workload.stack": dict,
    "workload.engine": dict,
    "team.job.workload": dict,
    "team.job.duration_gpu": lambda: {"": "every GPU", **names_by_id(catalog().gpus)},
}
