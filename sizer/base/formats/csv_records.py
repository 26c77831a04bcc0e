"""Records of a CSV file with their lines. A quotation mark that is not closed costs its own line and no other."""

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_UNCLOSED = (
    "a quotation mark opens a cell and does not close it; close it, or write two where one belongs to the text of a "
    "quoted cell"
)


@dataclass(frozen=True)
class CsvRecord:
    """One record: usually a line; several where a quoted cell has line ends."""

    line: int  # the first one, from 1
    last_line: int
    cells: list[str]
    fault: str = ""  # why it is no record; then there are no cells

    @property
    def is_blank(self) -> bool:
        """Whether it holds nothing."""
        return not self.fault and not any(cell.strip() for cell in self.cells)

    def by_column(self, columns: Sequence[str]) -> dict[str, str]:
        """Cells by their columns, as many as there are of both."""
        return dict(zip(columns, self.cells, strict=False))


def csv_records(text: str | Iterable[str], delimiter: str = ",") -> Iterator[CsvRecord]:
    """Records of a CSV file in their order, with blank ones.

    After a quotation mark that is not closed the reading goes on in the next line: no row that follows is lost.

    Parameters
    ----------
    text : str or iterable of str
        The file, or its lines with their ends.
    delimiter : str
        What separates the cells.
    """
    # newline="": a quoted cell may hold line ends of either kind.
    lines = _Lines(io.StringIO(text, newline="") if isinstance(text, str) else text)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        first = lines.n_done + 1
        cells: list[str] = []
        fault = ""
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # Only inside quotation marks does a record go beyond its line, or the file end before it.
            is_unclosed = len(lines.taken) > 1 or "unexpected end of data" in str(error)
            fault = f"is not valid CSV: {_UNCLOSED if is_unclosed else error}"
            lines.give_back_after_first()
        yield CsvRecord(first, first + max(len(lines.taken), 1) - 1, cells, fault)
        lines.forget()


class _Lines:
    """Lines of which those of the present record can be given back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._returned: deque[str] = deque()
        self.taken: list[str] = []  # by the present record
        self.n_done = 0  # lines of the records before

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._lines)
        self.taken.append(line)
        return line

    def give_back_after_first(self) -> None:
        self._returned.extendleft(reversed(self.taken[1:]))
        self.taken = self.taken[:1]

    def forget(self) -> None:
        self.n_done += len(self.taken)
        self.taken = []
