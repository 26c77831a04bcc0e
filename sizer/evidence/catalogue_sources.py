"""The documents that the catalogue cites: those of a part, all of them, and which have an address for a browser."""

import re
from collections import Counter
from collections.abc import Sequence

from sizer.base.quantities import grouped
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog, statements
from sizer.catalog.schema import Source
from sizer.evidence.catalogue_tables import cited_cell
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import money, plural
from sizer.sizing.result import DesignAnswer

_NONE = " "  # a cell without text would show its source


def price_table(item_id: str, catalog: Catalog, *, shows_own: bool) -> Table | None:
    """Prices of a part; None where there is none to show.

    Parameters
    ----------
    item_id : str
        Part.
    catalog : Catalog
        Where its prices lie.
    shows_own : bool
        Whether prices of the user's own book, their discounts and their notes may be shown.
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

    Parameters
    ----------
    catalog : Catalog
        Parts and sources.
    measurements : Counter
        Published numbers by key of their source.
    text : str
        Words that title, publisher or place must hold.
    grades : sequence of str
        Grades that pass; none: all do.
    """
    facts = _facts_by_source(catalog)
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


def _facts_by_source(catalog: Catalog) -> Counter[str]:
    """Facts of parts that rest on each document, by its own key."""
    return Counter(
        catalog.sources[key].id
        for _, item in catalog.items()
        for said in statements(item)
        for key in (said.source, *(other.source for other in said.alternates))
        if key in catalog.sources
    )
