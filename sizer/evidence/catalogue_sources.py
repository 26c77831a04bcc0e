"""The documents that the catalogue cites, and the facts that no source gives."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sizer.base.quantities import grouped
from sizer.catalog.checks import unknown_facts
from sizer.catalog.items import Item
from sizer.catalog.labels import capital
from sizer.catalog.model import Catalog, statements
from sizer.catalog.schema import Source
from sizer.evidence.catalogue_tables import KINDS, cited_cell, label_of, part_name, unknown_key_facts
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import money, plural
from sizer.sizing.result import DesignAnswer

_NONE = " "  # a cell without text would show its source


def price_table(item_id: str, catalog: Catalog, *, shows_own: bool) -> Table | None:
    """Prices of a part; None where there is none to show.

    ``shows_own``: whether prices of the user's own book, their discounts and their notes may be shown.
    """
    is_own = item_id in catalog.own_prices
    if is_own and not shows_own:
        return None
    rows = [
        row(
            money(price.amount, price.currency),
            str(price.date),
            f"{price.discount_percent:f} %" if price.discount_percent else _NONE,
            Cell(price.source, is_muted=True) if is_own else cited_cell(price.source, price.where),
            price.note or _NONE,
        )
        for price in catalog.prices
        if price.item == item_id
    ]
    heads = columns(("List price", "right"), "Date", ("Discount", "right"), "Source and place", "Remark")
    return Table(f"prices-{item_id}", "Prices", heads, tuple(rows)) if rows else None


def uses_of(item_id: str, design: DesignAnswer) -> list[str]:
    """Sentences: where a part stands in a design; empty where it does not."""
    quantities: Counter[str] = Counter()
    for part in design.quantities.components:
        if part.item == item_id:
            quantities[part.role] += int(part.quantity[0])
    found = [f"{grouped(count)} × {role}" for role, count in quantities.items() if count]
    platform = design.platform
    if item_id == platform.gpu.id:
        found.append(f"{plural(design.n_gpus, 'GPU')} in {plural(design.n_servers, 'server')}")
    if platform.server.cpu is not None and item_id == platform.server.cpu.value:
        found.append("processor of the GPU servers")
    if item_id == platform.storage.id and not quantities:
        found.append("storage of the design")
    for answer in design.workloads:
        parts = {
            "neural network": answer.dnn,
            "data set": answer.dataset,
            "software stack": answer.stack,
            "training recipe": answer.recipe,
        }
        found += [
            f"{role} of the workload {answer.workload.name}"
            for role, used in parts.items()
            if used is not None and used.id == item_id
        ]
    return found


_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._~/?#&=%+,:@-]*)?")


def cited_sources(item: Item, catalog: Catalog) -> list[Source]:
    """Documents that a part cites, each once, in the order of its facts."""
    keys = [key for said in statements(item) for key in (said.source, *(other.source for other in said.alternates))]
    found = {catalog.sources[key].id: catalog.sources[key] for key in keys if key in catalog.sources}
    return list(found.values())


def https_address(source: Source) -> str:
    """Address of a document where its place is one that a browser may open; empty: it is none."""
    found = _HTTPS.search(source.where)
    return found.group().rstrip(".,:") if found else ""


def sources_table(catalog: Catalog, measurements: Counter[str], text: str = "", grades: Sequence[str] = ()) -> Table:
    """Cited documents: title, publisher, date, grade, and how much rests on them.

    ``measurements``: published numbers by key of their source. ``text``: words that title, publisher or place must
    hold. ``grades``: grades that pass; none: all do.
    """
    facts = Counter(
        catalog.sources[key].id
        for _, item in catalog.items()
        for said in statements(item)
        for key in (said.source, *(other.source for other in said.alternates))
        if key in catalog.sources
    )
    wanted = text.lower().split()
    rows = [
        row(
            source.title,
            source.publisher,
            source.date or Cell("not dated", is_muted=True),
            source.grade,
            grouped(facts[source.id]),
            grouped(sum(measurements[key] for key in {source.id, *source.aliases})),
            source.where or _NONE,
        )
        for source in sorted(set(catalog.sources.values()), key=lambda one: (one.title.lower(), one.id))
        if (not grades or source.grade in grades)
        and all(word in f"{source.title} {source.publisher} {source.where}".lower() for word in wanted)
    ]
    heads = columns(
        ("Title", "left", 32),
        ("Publisher", "left", 18),
        ("Date", "left", 10),
        ("Grade", "left", 6),
        ("Facts", "right", 6),
        ("Measurements", "right", 10),
        ("Place", "left", 18),
    )
    return Table("sources", "Cited documents", heads, tuple(rows))


_NUMBERED = re.compile(r"\[(\d+)\]")
# What a licence costs where it counts nothing.
_FREE = ("free", "included")


@dataclass(frozen=True)
class Gap:
    """What is not known about one part."""

    item: Item
    kind: str  # folder
    unpublished: tuple[str, ...]  # names of facts that no source gives, nor anybody assumed
    assumed: tuple[str, ...]  # names of facts that the catalogue assumes
    has_no_sku: bool
    has_no_price: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing is missing."""
        return not (self.unpublished or self.assumed or self.has_no_sku or self.has_no_price)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of everything that nobody published."""
        more = [label_of(field) for field, lacks in (("skus", self.has_no_sku), ("price", self.has_no_price)) if lacks]
        return (*self.unpublished, *more)


def gaps(catalog: Catalog, *, counts_own_prices: bool = True) -> list[Gap]:
    """What is not known about every part, kind by kind; parts without a gap are left out.

    ``counts_own_prices``: whether a price of the user's own book counts as known.
    """
    asked: dict[str, list[str]] = {}
    for item_id, field in unknown_facts(catalog):
        asked.setdefault(item_id, []).append(field)
    priced = {price.item for price in catalog.prices} - (set() if counts_own_prices else catalog.own_prices)
    found = [_gap(item, folder, asked.get(item.id, []), item.id in priced) for folder, item in catalog.items()]
    return [gap for gap in found if not gap.is_empty]


def _gap(item: Item, folder: str, fields: Sequence[str], is_priced: bool) -> Gap:
    assumed = {said.field for said in statements(item) if said.basis == "assumed"}
    names = {field: _name(field) for field in (*unknown_key_facts(item, folder), *fields)}
    is_free = getattr(item, "metric", None) is not None and item.metric.value in _FREE  # type: ignore[attr-defined]
    return Gap(
        item,
        folder,
        tuple(dict.fromkeys(name for field, name in names.items() if field not in assumed)),
        tuple(dict.fromkeys(name for field, name in names.items() if field in assumed)),
        has_no_sku=item.orderable and not item.skus and not is_free,
        has_no_price=item.orderable and not is_priced and not is_free,
    )


def _name(path: str) -> str:
    """Name of a fact by its path: 'ports[2]' reads 'Ports', 'capacity_options[0].raw_bytes' 'Capacity of a unit'."""
    field = _NUMBERED.sub("", path)
    head, _, rest = field.partition(".")
    return rest.capitalize() if head == "features" and rest else label_of(head)


def fact_counts(found: Sequence[Gap]) -> list[tuple[str, int]]:
    """Names of what is not published or assumed, and of how many parts; the most frequent first."""
    count = Counter(fact for gap in found for fact in (*gap.missing, *gap.assumed))
    return sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))


def gaps_table(
    found: Sequence[Gap], catalog: Catalog, facts: Collection[str] = (), items: Collection[str] | None = None
) -> Table:
    """Part by part what is not published and what is assumed.

    ``catalog``: where the names of parts are looked up. ``facts``: names of facts that are asked about; none: all.
    ``items``: ids of the parts that are asked about.
    """
    rows = []
    for gap in found:
        missing, assumed = ([one for one in names if not facts or one in facts] for names in (gap.missing, gap.assumed))
        if (missing or assumed) and (items is None or gap.item.id in items):
            rows.append(row(part_name(gap.item, catalog), KINDS[gap.kind], _listed(missing), _listed(assumed)))
    heads = columns(("Part", "left", 28), ("Kind", "left", 14), ("Not published", "left", 34), ("Assumed", "left", 24))
    return Table("unknown", "What is unknown, part by part", heads, tuple(rows))


def _listed(names: Sequence[str]) -> Cell:
    text = capital("; ".join(_inside(one) for one in names))
    return Cell(text or "\u2013", is_muted=not text)


def _inside(name: str) -> str:
    """A name as it stands inside a sentence; PCIe and GPUs keep their capitals."""
    first = name.split(" ", 1)[0].rstrip(",")
    return name if any(letter.isupper() for letter in first[1:]) else name[:1].lower() + name[1:]
