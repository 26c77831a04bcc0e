"""Numbers of the documents that a page cites, and the table of them at its end."""

from collections.abc import Mapping

from sizer.catalog.schema import Source
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table


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
        return record_table(
            "sources",
            "Documents that the numbers come from",
            [(number, self._sources[key]) for key, number in self._numbers.items()],
            [
                Field("No.", lambda pair: f"[{pair[0]}]", width=7),
                Field("Title and publisher", lambda pair: _title(pair[1]), width=68),
                Field("Date", lambda pair: pair[1].date or Cell("not dated", is_muted=True), width=15),
                Field("Grade", lambda pair: pair[1].grade, width=10),
            ],
            style="sources",
        )


def _title(source: Source) -> str:
    return f"{source.title}. {source.publisher}".rstrip(". ") + "."
