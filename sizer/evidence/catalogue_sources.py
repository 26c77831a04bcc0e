"""The documents that the catalogue cites: those of a part, all of them, and which have an address for a browser."""

import re
from collections import Counter
from collections.abc import Sequence

from sizer.base.quantities import grouped
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog, statements
from sizer.catalog.schema import Source
from sizer.present.tables import Cell, Table, columns, row

_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._~/?#&=%+,:@-]*)?")
_NONE = " "  # a cell without text would show its source


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
