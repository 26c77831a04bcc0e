"""Numbers of the documents that a page cites, and the table of them at its end."""

import re
from collections.abc import Mapping

from sizer.base.provenance import ASSUMPTION
from sizer.catalog.schema import Source
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table

# Press and community, and unsigned papers.
_WEAK = ("C", "D")


class Citations:
    """Numbers of the sources: those given first, then others as they come up; graded for those who know the grades."""

    def __init__(self, sources: Mapping[str, Source], keys: tuple[str, ...] = (), *, are_graded: bool = True) -> None:
        self._sources, self._are_graded = sources, are_graded
        self._numbers: dict[str, int] = {}
        for key in keys:
            self.number(key)

    def number(self, key: str) -> int | None:
        """Number of a source, or None for a key that is no document."""
        source = self._sources.get(key)
        if source is None or key == ASSUMPTION or self.is_weak(key):
            return None
        return self._numbers.setdefault(source.id, len(self._numbers) + 1)

    def is_weak(self, key: str) -> bool:
        """Whether a customer is told to have a fact confirmed instead: press, forums and unsigned papers prove none."""
        source = self._sources.get(key)
        return not self._are_graded and source is not None and source.grade in _WEAK and key != ASSUMPTION

    def name(self, key: str) -> str:
        """Name of a source that is no document, such as the request itself; of a weak one what to do about it."""
        if self.is_weak(key):
            return "secondary source, to be confirmed"
        return words.name(key.replace("-", " "))

    def table(self) -> Table:
        """All cited documents. The last call of a rendering: what comes up later is missing."""
        grade = Field[tuple[int, Source]]("Grade", lambda pair: pair[1].grade, width=10)
        return record_table(
            "sources",
            "Documents that the numbers come from",
            [(number, self._sources[key]) for key, number in self._numbers.items()],
            [
                Field("No.", lambda pair: f"[{pair[0]}]", width=6),
                Field(
                    "Title, publisher and place",
                    lambda pair: _title(pair[1], has_commits=self._are_graded),
                    width=67 if self._are_graded else 70,
                ),
                Field("Date", lambda pair: _date(pair[1]), width=17 if self._are_graded else 24),
                *([grade] if self._are_graded else []),
            ],
            style="sources",
        )


# A commit, or files by a pattern.
_FOR_PROGRAMS = re.compile(r",? *(?:commits? |file version )?\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|, [^,]*\*[^,]*")


def _title(source: Source, *, has_commits: bool) -> str:
    where = source.where if has_commits else _FOR_PROGRAMS.sub("", source.where)
    parts = (source.title, _begun(source.publisher), _begun(where))
    return ". ".join(part.rstrip(". ") for part in parts if part) + "."


def _begun(text: str) -> str:
    """Text as it begins a sentence; addresses and repositories keep their letters."""
    is_address = any(mark in text.split(" ")[0] for mark in "./")
    return text if is_address else words.capital(text)


def _date(source: Source) -> str | Cell:
    if source.date:
        return source.date
    return Cell(f"not dated, read {source.read}" if source.read else "not dated", is_muted=True)
