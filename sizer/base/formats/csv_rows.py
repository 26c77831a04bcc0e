"""Rows of a CSV file of measurements: each record made into something, with all that is wrong named at once."""

import csv
import io
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import TypeVar, get_args

from sizer.base.errors import CalibrationError, RequestError
from sizer.base.faults import shown
from sizer.base.resources import text_of_file
from sizer.base.texts import paragraphs

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

    ``text``: the file, or its lines with their ends. ``delimiter``: what separates the cells.
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


def records_checked(
    text: str,
    place: str,
    faults: list[str],
    faults_of: Callable[[Sequence[str]], Iterable[str]],
    delimiter: str = ",",
    name_of: Callable[[str], str] = str.strip,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Place and cells by column of every record that has all columns; what is wrong with the others goes to ``faults``.

    ``faults_of``: what is wrong with the columns of the head; then no record is read. ``name_of``: name of a column as
    it is written in the head.
    """
    records = csv_records(text, delimiter)
    head = next(records, CsvRecord(1, 1, []))
    columns = [name_of(name) for name in head.cells]
    if wrong := [head.fault] if head.fault else list(faults_of(columns)):
        faults += [f"{place} line 1: {fault}" for fault in wrong]
        return
    for record in records:
        here, n_cells = f"{place} line {record.line}", len(record.cells)
        if record.fault:
            faults.append(f"{here}: {record.fault}")
        elif not record.is_blank and n_cells != len(columns):
            faults.append(f"{here}: has {n_cells} cells, not as many cells as there are columns ({len(columns)})")
        elif not record.is_blank:
            yield here, {name: cell.strip() for name, cell in record.by_column(columns).items()}


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


MAX_FILE_BYTES = 20_000_000
MAX_ROWS = 50_000
MAX_CELL_CHARACTERS = 5_000
# More faults than these help nobody to find the first.
_MAX_FAULTS = 20

T = TypeVar("T")


def measured_text(path: Path, what: str, most_bytes: int = MAX_FILE_BYTES) -> str:
    """Text of a file of measurements or of what was fitted to them; ``what``: what it holds, for messages.

    Raises CalibrationError if it cannot be read or is too large. [B]
    """
    try:
        return text_of_file(path, most_bytes, what)
    except RequestError as error:
        raise CalibrationError(str(error)) from None


def rows_of_file(path: Path, what: str, make: Callable[[dict[str, str], str], T], key: str = "") -> list[T]:
    """:func:`rows_of_text` of a file; ``what``: what the file holds, for messages.

    Raises CalibrationError if the file cannot be read or is too large, too.
    """
    return rows_of_text(measured_text(path, what), path.name, make, key)


def rows_of_text(
    text: str, name: str, make: Callable[[dict[str, str], str], T], key: str = "", columns: Sequence[str] = ()
) -> list[T]:
    """What ``make`` makes of the cells of each record, by their columns, and of its place ``name:line``.

    ``make``: raises ValueError for what is wrong with a record; a message of several lines names several faults.
    ``key``: column whose values name the records: no two are alike. ``columns``: those that must be there; with them
    every record has as many cells as the header. Raises CalibrationError if a column is missing or there twice, or
    naming the faults of the records: file, line, column, value.
    """
    records = csv_records(text)
    head = next(records, CsvRecord(1, 1, []))
    names = [cell.strip() for cell in head.cells]
    twice = next((column for column, times in Counter(filter(None, names)).items() if times > 1), None)
    if twice is not None or head.fault:
        raise CalibrationError(f"{name}:1: {head.fault or f'column {shown(twice)} is there twice'}")
    if missing := [column for column in columns if column not in names]:
        raise CalibrationError(f"{name}:1: column {missing[0]!r} is missing; columns are {', '.join(columns)}")
    rows: list[T] = []
    faults: list[str] = []
    lines: dict[str, int] = {}
    for record in records:
        if record.is_blank:
            continue
        place = f"{name}:{record.line}"
        cells = {column: cell.strip() for column, cell in record.by_column(names).items()}
        fault = record.fault or next(filter(None, map(_fault_of_cell, cells.items())), "")
        if not fault and columns and len(record.cells) != len(names):
            fault = f"has {len(record.cells)} cells; there are {len(names)} columns"
        if fault:
            faults.append(f"{place}: {fault}")
            continue
        id_ = cells.get(key, "")
        if id_ and lines.setdefault(id_, record.line) != record.line:
            faults.append(f"{place}: {key} {shown(id_)} is used by line {lines[id_]} already; ids are unique")
            continue
        if len(rows) >= MAX_ROWS:
            raise CalibrationError(f"{name}: more than {MAX_ROWS} rows")
        try:
            rows.append(make(cells, place))
        except ValueError as error:
            faults += [f"{place}: {line}" for line in str(error).splitlines()]
    if faults:
        more = [f"and {len(faults) - _MAX_FAULTS} more"] if len(faults) > _MAX_FAULTS else []
        raise CalibrationError("\n".join(faults[:_MAX_FAULTS] + more))
    return rows


def typed_row(kind: type[T], cells: dict[str, str], number: Callable[[str, str], float | None], **others: object) -> T:
    """A record as the dataclass whose fields are its columns; others than those are left out.

    An empty cell leaves a field its default; without one, text is empty and what may be None is None.

    ``kind``: fields are text, whole numbers and numbers. ``number``: makes a number of a column and its cell, or raises
    ValueError. ``**others``: fields that are no cell of their own. Raises ValueError naming the columns of all cells
    that are wrong, and those without which a row says nothing.
    """
    columns = fields(kind)  # type: ignore[arg-type]  # a dataclass
    kinds, values, faults = {column.name: column.type for column in columns}, dict(others), []
    for name, cell in cells.items():
        if name in kinds and name not in others and cell:
            try:
                values[name] = cell if kinds[name] is str else int(cell) if kinds[name] is int else number(name, cell)
            except ValueError as error:
                faults.append(f"{name}: {error}")
    for column in columns:
        if column.default is MISSING and column.name not in values:
            if kinds[column.name] is str:
                values[column.name] = ""
            elif NoneType in get_args(kinds[column.name]):
                values[column.name] = None
            elif not cells.get(column.name):
                faults.append(f"{column.name}: is missing")
    if faults:
        raise ValueError("\n".join(faults))
    return kind(**values)


def number_within(text: str, low: float, high: float, *, or_zero: bool = False) -> float:
    """Number of a cell within bounds.

    Raises ValueError if it is none, or outside them.
    """
    try:
        value = number_of(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a number") from None
    if not (math.isfinite(value) and (low <= value <= high or (or_zero and value == 0))):
        raise ValueError(f"{text[:40]} must be {'0 or ' if or_zero else ''}{low:g} to {high:g}")
    return value


def bounded(_: str, text: str) -> float:
    """Number of any column: 0, or a published quantity of any unit."""
    return number_within(text, 1e-9, 1e18, or_zero=True)


def is_stated(text: str) -> bool:
    """Whether a cell states something; tables write so where they do not."""
    return text.lower() not in ("", "na", "n/a", "none", "-")


def number_of(text: str) -> float:
    """Number of a cell. float() also reads "1_000" and digits of other scripts; neither is a published number."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def _fault_of_cell(cell: tuple[str, str]) -> str:
    name, text = cell
    if len(text) > MAX_CELL_CHARACTERS:
        return f"{name}: longer than {MAX_CELL_CHARACTERS} characters"
    try:
        paragraphs(text)
    except ValueError as error:
        return f"{name}: {error}"
    return ""
