"""Requests of a batch, one after the other, from Python objects, files and tables. None is read whole."""

import contextlib
import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sizer.base.errors import RequestError
from sizer.base.faults import shown
from sizer.base.formats.csv_rows import CsvRecord, csv_records
from sizer.base.resources import require_file
from sizer.batch.columns import PREFIX, cells_of, nested, request_key, unknown_column, value_of_cell
from sizer.workload.request import SizingRequest

# Column with a need in words; other columns of its row rule over what it says.
SENTENCE = "sentence"
TABLE_ENDINGS = (".csv", ".parquet")
# A row of requests is far shorter; a longer line is something else.
MAX_LINE_BYTES = 1_000_000
# A list in a cell has 20,000 characters at most, of up to four bytes.
MAX_CELL_BYTES = 80_000
_ENDS_BYTES = 16  # what a column notes of where one begins and ends
# Of a row group, which is read whole; answers of an earlier batch are not read.
MAX_GROUP_BYTES = 256_000_000
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class BatchRequest:
    """One request of a batch.

    ``place``: its file, its table and line, or its number. ``request``: a mapping is checked by the worker. None where
    it could not be read. ``refusal``: why it could not be read. ``cells``: the valid cells of a request that could not
    be read, by dotted key.
    """

    place: str
    request: SizingRequest | dict[str, Any] | None
    refusal: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)

    def request_cells(self) -> dict[str, Any]:
        """Values by dotted key that fit the columns of a table."""
        return dict(self.cells) if self.request is None else cells_of(self.request)


def digest_of(requests: Sequence[BatchRequest], salt: str) -> str:
    """SHA-256 of some requests with their places; ``salt`` holds what else their answers depend on."""
    content = [(request.place, _plain_request(request.request), request.refusal) for request in requests]
    return hashlib.sha256(json.dumps([salt, content], sort_keys=True, default=repr).encode()).hexdigest()


def _plain_request(request: SizingRequest | dict[str, Any] | None) -> Any:
    return request.model_dump(mode="json", exclude_unset=True) if isinstance(request, SizingRequest) else request


def batch_requests(requests: Any) -> tuple[Iterator[BatchRequest], int | None]:
    """Requests one by one, and how many there are where that is known beforehand.

    ``requests``: as for :func:`sizer.batch.run.size_batch`. Raises RequestError if a table has a column that no request
    has, or cannot be read. Tables inside a list are looked at, too; those that a generator yields later are refused as
    one row.
    """
    if isinstance(requests, str | Path | SizingRequest | Mapping):
        requests = [requests]
    if isinstance(requests, pa.Table) or (type(requests).__name__ == "DataFrame" and hasattr(requests, "itertuples")):
        rows = _table_rows(requests) if isinstance(requests, pa.Table) else _frame_rows(requests)
        return rows, len(requests)
    if not isinstance(requests, Iterable):
        raise RequestError(f"expected requests, a table or the path of a table, got {type(requests).__name__}")
    total = None
    if isinstance(requests, Sequence):
        counts = [_rows_in(request) if _is_table_path(request) else 1 for request in requests]
        total = None if None in counts else sum(count or 0 for count in counts)
    return _each(requests), total


def _is_table_path(request: object) -> bool:
    return isinstance(request, str | Path) and Path(request).suffix.lower() in TABLE_ENDINGS


def _rows_in(source: str | Path) -> int | None:
    """Rows of a table where they need no reading; its columns are checked."""
    path = Path(source)
    if path.suffix.lower() == ".csv":
        with _opened(path) as stream:
            lines = _Lines(stream)
            _csv_columns(csv_records(lines), lines, str(path))
        return None
    with _parquet(path) as file:
        _columns(file.schema_arrow.names, str(path))
        _require_small(file, str(path))
        rows: int = file.metadata.num_rows
    return rows


def _each(requests: Iterable[Any]) -> Iterator[BatchRequest]:
    for number, request in enumerate(requests, 1):
        if _is_table_path(request):
            path = Path(request)
            try:
                yield from _csv_rows(path) if path.suffix.lower() == ".csv" else _parquet_rows(path)
            except RequestError as error:
                yield BatchRequest(str(path), None, str(error))
        else:
            yield _batch_request(request, f"request {number}")


def _batch_request(request: Any, place: str) -> BatchRequest:
    if isinstance(request, SizingRequest):
        return BatchRequest(place, request)
    if isinstance(request, str | Path):
        try:
            return BatchRequest(str(request), SizingRequest.from_file(request))
        except RequestError as error:
            return BatchRequest(str(request), None, str(error))
    if isinstance(request, Mapping):
        if any(isinstance(key, str) and "." in key for key in request):
            return _from_cells({name: _of_frame(cell) for name, cell in request.items()}, place)
        try:
            return BatchRequest(place, {str(key): _plain(value) for key, value in request.items()})
        except RequestError as error:
            return BatchRequest(place, None, f"{place}: {error}")
    refusal = f"{place}: expected a request, a mapping or the path of a file, got {type(request).__name__}"
    return BatchRequest(place, None, refusal)


def _plain(value: Any) -> Any:
    """Value as plain data, which can be sent to a worker in another process."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    if value is None or isinstance(value, str | int | float | datetime.date | Decimal):
        return value
    # Numbers and arrays of numpy and pandas know their plain form.
    if hasattr(value, "tolist"):
        return value.tolist()
    raise RequestError(
        f"{shown(value)} is of type {type(value).__name__}; a request takes text, numbers, dates, lists and tables"
    )


def _from_cells(cells: Mapping[Any, Any], place: str) -> BatchRequest:
    """Request from the cells of a row; empty ones are not given."""
    given: dict[str, Any] = {}
    sentence = ""
    try:
        for name, cell in cells.items():
            if name == SENTENCE:
                sentence = str(_cell(name, cell) or "").strip()
                continue
            if not isinstance(name, str) or request_key(name) is None:
                raise unknown_column(str(name), place)
            value = value_of_cell(name, _cell(name, cell))
            if value is not None:
                given[name] = value
        return BatchRequest(place, {**nested(given), **({SENTENCE: sentence} if sentence else {})})
    except RequestError as error:
        text = str(error)
        return BatchRequest(place, None, text if text.startswith(place) else f"{place}: {text}", _valid_cells(given))


def _valid_cells(given: Mapping[str, Any]) -> dict[str, Any]:
    """Cells of a row that fit their columns, for the row of the answer."""
    return {name: cell for key, value in given.items() for name, cell in cells_of({key: value}).items()}


def _cell(name: str, cell: Any) -> Any:
    if isinstance(cell, RequestError):
        raise RequestError(f"{name}: {cell}")
    if isinstance(cell, Decimal):
        return float(cell)
    try:
        return _plain(cell)
    except RequestError as error:
        raise RequestError(f"{name}: {error}") from None


def _columns(names: Sequence[str], place: str) -> dict[int, str]:
    """Position of each column of a request; answers of an earlier batch are not read.

    Raises RequestError if a column is unknown, has no name, or stands there twice.
    """
    columns: dict[int, str] = {}
    for position, name in enumerate(names):
        if not name:
            raise RequestError(f"{place}: column {position + 1} has no name")
        if name.startswith(PREFIX):
            continue
        if name != SENTENCE and request_key(name) is None:
            raise unknown_column(name, place)
        if name in columns.values():
            raise RequestError(f"{place}: column {name!r} appears more than once; remove one of them")
        columns[position] = name
    if not columns:
        raise RequestError(f"{place}: has no request column; add one such as workload.0.dnn")
    return columns


def _table_rows(requests: pa.Table, place: str = "table") -> Iterator[BatchRequest]:
    columns = _columns(requests.schema.names, place)
    return _batch_rows(requests.select(list(columns)).to_batches(max_chunksize=_ROWS_AT_ONCE), columns, place)


def _batch_rows(batches: Iterable[pa.RecordBatch], columns: Mapping[int, str], place: str) -> Iterator[BatchRequest]:
    number = 0
    names = list(columns.values())
    for batch in batches:
        for cells in zip(*(_cells_in(column) for column in batch.columns), strict=True):
            number += 1
            yield _from_cells(dict(zip(names, cells, strict=True)), f"{place} row {number}")


def _cells_in(column: pa.Array) -> list[Any]:
    """Cells of a column; the error in the place of one that is too long or has no Python value."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if _size(column) <= MAX_CELL_BYTES:
        with contextlib.suppress(OverflowError, ValueError):
            cells: list[Any] = column.to_pylist()
            return cells
    return [_cell_of(column.slice(index, 1)) for index in range(len(column))]


def _size(cells: pa.Array) -> int:
    """Bytes of some cells, or entries of their lists: those without a value take none."""
    entries = pc.sum(pc.list_value_length(cells)).as_py() if hasattr(cells, "value_lengths") else 0
    return max(int(cells.nbytes), int(entries or 0))


def _cell_of(cell: pa.Array) -> Any:
    if _size(cell) > MAX_CELL_BYTES + _ENDS_BYTES:
        return RequestError(f"is longer than {MAX_CELL_BYTES} B, the longest cell allowed")
    try:
        return cell[0].as_py()
    except UnicodeDecodeError:
        return RequestError("is not UTF-8 text")
    except (OverflowError, ValueError):
        return RequestError(f"holds a value of type {cell.type} that is no day of the years 1 to 9999")


def _frame_rows(requests: Any) -> Iterator[BatchRequest]:
    columns = _columns([str(name) for name in requests.columns], "table")
    rows = requests.itertuples(index=False, name=None)
    return (
        _from_cells({name: _of_frame(row[position]) for position, name in columns.items()}, f"table row {number}")
        for number, row in enumerate(rows, 1)
    )


def _of_frame(cell: Any) -> Any:
    # pandas writes "not given" as NaN, NaT or NA; each differs from itself or cannot be compared.
    try:
        is_given = bool(cell == cell)
    except (TypeError, ValueError):
        is_given = hasattr(cell, "tolist")
    return cell if is_given else None


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        require_file(path)
        texts = [column.name for column in pq.read_schema(path) if pa.types.is_string(column.type)]
        # A text that many rows share stays one in memory.
        return pq.ParquetFile(path, read_dictionary=texts)
    except (OSError, pa.ArrowException) as error:
        raise RequestError(f"{path}: cannot be read as Parquet: {_first_line(error)}") from None


def _require_small(file: pq.ParquetFile, place: str) -> None:
    """Refuse a row group that unpacks to far more than requests take, before it is read."""
    for group in range(file.metadata.num_row_groups):
        of_group = file.metadata.row_group(group)
        chunks = (of_group.column(number) for number in range(of_group.num_columns))
        size = sum(chunk.total_uncompressed_size for chunk in chunks if not chunk.path_in_schema.startswith(PREFIX))
        if size > MAX_GROUP_BYTES:
            raise RequestError(
                f"{place}: has {size} B in one row group; at most {MAX_GROUP_BYTES} B are allowed; shorten its cells "
                "or write smaller row groups"
            )


def _parquet_rows(path: Path) -> Iterator[BatchRequest]:
    with _parquet(path) as file:
        names = file.schema_arrow.names
        columns = _columns(names, str(path))
        _require_small(file, str(path))
        batches = file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=[names[position] for position in columns])
        try:
            yield from _batch_rows(batches, columns, str(path))
        except (OSError, pa.ArrowException) as error:
            raise RequestError(f"{path}: cannot be read to its end: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _opened(path: Path) -> IO[bytes]:
    try:
        require_file(path)
        return path.open("rb")
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from None


class _Lines:
    """Lines of a file as text, none longer than allowed; ``too_long`` holds the numbers of those that were."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.number = 0  # of the line read last
        self.too_long: set[int] = set()

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._stream.readline(MAX_LINE_BYTES)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            self.too_long.add(self.number)
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(MAX_LINE_BYTES)
            return "\n"
        if self.number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        # Bytes that are not UTF-8 become lone surrogates, and the row with them is refused.
        return line.decode("utf-8", "surrogateescape")


def _csv_columns(records: Iterator[CsvRecord], lines: _Lines, place: str) -> tuple[dict[int, str], int]:
    """Columns of a request by position, and how many columns there are."""
    head = next(records, CsvRecord(1, 1, []))
    if head.fault:
        raise RequestError(f"{place} line 1: {head.fault}")
    names = head.cells
    if lines.too_long:
        raise RequestError(f"{place} line 1: is longer than {MAX_LINE_BYTES} B, the longest row allowed")
    fault = _unreadable("\n".join(names))
    if fault:
        raise RequestError(f"{place} line 1: {fault}")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        used = "semicolons" if ";" in names[0] else "tabs"
        raise RequestError(f"{place} line 1: the columns are separated by {used}; use commas")
    if not any(names):
        raise RequestError(f"{place}: is empty; its first line names the columns, such as workload.0.dnn")
    return _columns([name.strip() for name in names], f"{place} line 1"), len(names)


def _unreadable(text: str) -> str:
    if "\0" in text:
        return "contains a NUL character; save the table as CSV in UTF-8"
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "is not UTF-8 text; save the table as CSV in UTF-8"
    return ""


def _csv_rows(path: Path) -> Iterator[BatchRequest]:
    with _opened(path) as stream:
        lines = _Lines(stream)
        records = csv_records(lines)
        columns, n_columns = _csv_columns(records, lines, str(path))
        while True:
            try:
                record = next(records, None)
            except OSError as error:
                raise RequestError(f"{path}: cannot be read to its end: {error.strerror}") from None
            if record is None:
                return
            first, last, cells, fault = record.line, record.last_line, record.cells, record.fault
            place = f"{path} line {first}" if last <= first else f"{path} lines {first} to {last}"
            if any(number in lines.too_long for number in range(first, last + 1)):
                fault = f"is longer than {MAX_LINE_BYTES} B, the longest row allowed"
            fault = fault or _unreadable("\n".join(cells))
            if not fault and not any(cell.strip() for cell in cells):
                continue
            if not fault and len(cells) != n_columns:
                fault = f"has {len(cells)} cells; the table has {n_columns} columns"
            if fault:
                yield BatchRequest(place, None, f"{place}: {fault}")
            else:
                yield _from_cells({name: cells[position].strip() for position, name in columns.items()}, place)
