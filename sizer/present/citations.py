"""Numbers of the documents that a page cites, and the table of them at its end."""

from collections.abc import Mapping

from sizer.catalog.schema import Source
from sizer.present import words
from sizer.present.tables import Cell, Table, columns, row


class Citations:
    """Numbers of the sources: those given first, then others as they come up."""

    def __init__(self, sources: Mapping[str, Source], keys: tuple[str, ...] = ()) -> None:
        self._sources = sources
        self._numbers: dict[str, int] = {}
        for key in keys:
            self.number(key)

    def number(self, key: str) -> int | None:
        """Number of a source, or None for a key that is no document."""
        source = self._sources.get(key)
        if source is None:
            return None
        return self._numbers.setdefault(source.id, len(self._numbers) + 1)

    def name(self, key: str) -> str:
        """Name of a source that is no document, such as the request itself."""
        return words.name(key.replace("-", " "))

    def table(self) -> Table:
        """All cited documents. The last call of a rendering: what comes up later is missing."""
        rows = []
        for key, number in self._numbers.items():
            source = self._sources[key]
            text = f"{source.title}. {source.publisher}".rstrip(". ") + "."
            rows.append(row(f"[{number}]", text, source.date or Cell("not dated", is_muted=True), source.grade))
        return Table(
            "sources",
            "Documents that the numbers come from",
            columns(
                ("No.", "left", 7),
                ("Title and publisher", "left", 68),
                ("Date", "left", 15),
                ("Grade", "left", 10),
            ),
            tuple(rows),
            style="sources",
        )
