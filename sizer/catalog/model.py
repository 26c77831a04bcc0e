"""The loaded catalogue: one immutable object that every other part of the program reads."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar, overload

from pydantic import BaseModel

from sizer.base.errors import CatalogError
from sizer.base.faults import nearest
from sizer.base.provenance import Sourced
from sizer.base.stored_answers import Interned
from sizer.catalog import schema
from sizer.catalog.items import ANY_VENDOR, Item
from sizer.catalog.links import GpuLink, LinkType, PowerInlet
from sizer.catalog.price_books import Price, PriceBands

T = TypeVar("T")
D = TypeVar("D")


class UnknownItemError(CatalogError, KeyError):
    """A name that the catalogue does not hold. A ``KeyError`` too, so that ``get`` of a mapping works."""

    def __str__(self) -> str:
        # KeyError would print the repr of its argument.
        return "\n".join(self.faults)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.faults,))


class Items(Mapping[str, T], Generic[T]):
    """Read-only mapping of id to item, in the order of the ids. Unlike a mapping proxy it can be pickled."""

    __slots__ = ("_folder", "_items")

    def __init__(self, folder: str, items: Mapping[str, T]) -> None:
        self._folder = folder
        self._items = dict(sorted(items.items()))

    def __getitem__(self, key: str) -> T:
        try:
            return self._items[key]
        except KeyError:
            hint = nearest(str(key), list(self._items))
            raise UnknownItemError([f"{self._folder} has no item {key!r}{hint}"]) from None

    @overload
    def get(self, key: str, /) -> T | None: ...
    @overload
    def get(self, key: str, /, default: T | D) -> T | D: ...
    def get(self, key: str, /, default: Any = None) -> Any:
        """Item, or what is given for one that the folder does not hold."""
        # The mapping's own method, as its test below, would build the error with its search for the nearest name.
        return self._items.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Items({self._folder!r}, {len(self)} items)"


@dataclass(frozen=True)
class Statement:
    """One thing that a file states with a source: a fact, a part number, ports, a row of a table."""

    field: str  # path inside the file, e.g. "power_max_w" or "ports[2]"
    value: Any
    source: str
    where: str
    basis: str  # "" where the kind of statement has none
    note: str
    alternates: tuple[Any, ...] = ()

    @property
    def last_field(self) -> str:
        """Part of the path that names a field: 'capacity_options[0].raw_bytes' is about raw_bytes."""
        return last_field(self.field)


def last_field(path: str) -> str:
    """Last part of a path that names a field."""
    return re.sub(r"\[\d+\]", "", path).rpartition(".")[2]


@dataclass(frozen=True)
class Assumption:
    """A fact that no source gives and a plan needs. Guides list them first."""

    item: str
    field: str
    value: Any
    note: str


def statements(item: BaseModel, prefix: str = "") -> Iterator[Statement]:
    """Everything an item states with a source, alternates included in the statement that they belong to."""
    for name in type(item).model_fields:
        yield from _statements_in(getattr(item, name), prefix + name)


def _statements_in(value: Any, path: str) -> Iterator[Statement]:
    if isinstance(value, Sourced):
        yield Statement(path, value.value, value.source, value.where, value.basis, value.note, value.alternates)
    elif isinstance(value, BaseModel) and not isinstance(value, Item):
        # Rows of tables: ports, part numbers, capacity options, overheads, epoch points, wordings of observations.
        source = getattr(value, "source", None)
        if source is not None and hasattr(value, "where"):
            basis, note = getattr(value, "basis", ""), getattr(value, "note", "")
            yield Statement(path, value, source, value.where, basis, note)
        yield from statements(value, f"{path}.")
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            if isinstance(part, BaseModel) and not isinstance(part, Item):
                yield from _statements_in(part, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _statements_in(part, f"{path}.{key}")


@dataclass(frozen=True, eq=False)
class Catalog(Interned):
    """Everything that the files of ``catalog/`` say. Two catalogues say the same when their digests are equal.

    ``cables``, ``racks``, ``pdus``, ``cooling``, ``accessories``, ``software``, ``support``, ``dnns``, ``datasets``,
    ``stacks``, ``recipes``: one read-only mapping of id to item for each folder. sources : Items Cited documents by
    key; an alias finds the same document. prices : tuple of Price Price book. An item may have several rows; an
    overlay's rows replace all rows of the item. digest : str SHA-256 of the content; comments, order of keys and white
    space do not change it. own_prices : frozenset of str Items whose prices come from an overlay, so that the source is
    the user's word rather than a key. bands : PriceBands What a part without a price most likely costs; for ranking
    only.
    """

    links: Items[LinkType]
    gpu_links: Items[GpuLink]
    power_inlets: Items[PowerInlet]
    generations: Items[schema.Generation]
    gpus: Items[schema.Gpu]
    cpus: Items[schema.Cpu]
    servers: Items[schema.Server]
    memory: Items[schema.MemoryOption]
    storage: Items[schema.Storage]
    switches: Items[schema.Switch]
    gateways: Items[schema.Gateway]
    nics: Items[schema.Nic]
    cables: Items[schema.Cable]
    racks: Items[schema.Rack]
    pdus: Items[schema.Pdu]
    cooling: Items[schema.CoolantUnit]
    accessories: Items[schema.Accessory]
    software: Items[schema.Software]
    support: Items[schema.Support]
    dnns: Items[schema.Dnn]
    datasets: Items[schema.Dataset]
    stacks: Items[schema.Stack]
    recipes: Items[schema.Recipe]
    sources: Items[schema.Source]
    prices: tuple[Price, ...]
    digest: str
    own_prices: frozenset[str] = frozenset()
    bands: PriceBands = field(default_factory=PriceBands)
    _index: dict[str, tuple[str, Item]] = field(init=False, repr=False)  # id -> folder and item

    def __post_init__(self) -> None:
        index = {key: (folder, item) for folder in schema.CATEGORIES for key, item in self.folder(folder).items()}
        object.__setattr__(self, "_index", index)

    def folder(self, name: str) -> Items[Any]:
        if name not in schema.CATEGORIES:
            raise UnknownItemError([f"the catalogue has no folder {name!r}{nearest(name, list(schema.CATEGORIES))}"])
        items: Items[Any] = getattr(self, name)
        return items

    def category_of(self, item_id: str) -> str:
        """Name of the folder that holds an item.

        Raises UnknownItemError if no folder does; the message names the nearest known id.
        """
        return self._entry(item_id)[0]

    def item(self, item_id: str) -> Item:
        """Item of any folder by its id.

        Raises UnknownItemError if no folder holds it; the message names the nearest known id.
        """
        return self._entry(item_id)[1]

    def gpus_sold(self, item_id: str) -> tuple[str, ...]:
        """GPUs that a server is sold with, "8 x l40s-48gb", the usual ones first; none of another part."""
        server = self.servers.get(item_id)
        if server is None or not server.gpus:
            return ()
        usual = () if server.n_gpus is None else (server.n_gpus.value,)
        numbers = dict.fromkeys((*usual, *server.n_gpus_choices, *server.n_gpus_alone))
        return tuple(f"{number} x {gpu}" for gpu in server.gpus for number in numbers)

    def price_needs_gpus(self, item_id: str) -> bool:
        """Whether a part is a server sold with several numbers of GPUs, or with some that differ in more than memory.

        A price that does not name them is then the price of nobody knows what.
        """
        sold = [name.partition(" x ") for name in self.gpus_sold(item_id)]
        return len({(number, self.gpus[gpu].speed) for number, _, gpu in sold}) > 1

    def _entry(self, item_id: str) -> tuple[str, Item]:
        try:
            return self._index[item_id]
        except KeyError:
            hint = nearest(str(item_id), list(self._index))
            raise UnknownItemError([f"the catalogue has no item {item_id!r}{hint}"]) from None

    def device(self, item_id: str) -> schema.Device:
        """Item that takes rack units and watts.

        Raises UnknownItemError if no folder holds it, or what holds it is no device.
        """
        item = self.item(item_id)
        if not isinstance(item, schema.Device):
            raise UnknownItemError([f"{self.category_of(item_id)}/{item_id} is not a device"])
        return item

    def items(self) -> Iterator[tuple[str, Item]]:
        """``(folder, item)`` of every item, folder by folder, in the order of the ids."""
        for folder in schema.CATEGORIES:
            for item in self.folder(folder).values():
                yield folder, item

    def assumptions(self) -> tuple[Assumption, ...]:
        """Every fact with basis ``assumed``, with the note that explains it."""
        return tuple(
            Assumption(item.id, statement.field, statement.value, statement.note)
            for _, item in self.items()
            for statement in statements(item)
            if statement.basis == "assumed"
        )


# A folder without a field, or the other way round, would be lost silently.
assert set(schema.CATEGORIES) <= {entry.name for entry in fields(Catalog)}


def vendors_of(catalog: Catalog) -> tuple[str, ...]:
    """Vendors of GPU servers, their GPUs and storage, in alphabetical order."""
    servers = [item for item in catalog.servers.values() if item.role == "gpu"]
    makers = {item.vendor for item in (*servers, *catalog.gpus.values(), *catalog.storage.values())}
    return tuple(sorted(makers - {ANY_VENDOR}))
