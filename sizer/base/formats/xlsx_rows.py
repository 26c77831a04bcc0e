"""The first sheet of a workbook (XLSX) as rows of text, read as untrusted input: what it holds, or why it is refused.

A workbook is a ZIP of XML. No formula, macro or merged cell is read as a value, no part is unpacked beyond a limit, and
no document type is accepted, with which XML would define text that multiplies.
"""

import datetime
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from xml.etree import ElementTree

# Of all parts unpacked together, and how many there may be.
MAX_UNPACKED_BYTES = 20_000_000
_MAX_PARTS = 500
_MAX_COLUMNS = 50
_CELL = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Numbers of built-in formats that show a date (ECMA-376, part 1, 18.8.30); others say day, month or year in letters.
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_PERCENT_FORMATS = {9, 10}
_DATE_LETTERS = re.compile(r"[dmy]", re.IGNORECASE)
_PERCENT_SIGN = re.compile("%")
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
# What a damaged part raises; LookupError: a part or an encoding that is not there.
_OF_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError)
_DAMAGED = (*_OF_ZIP, ElementTree.ParseError, LookupError, OSError)
_EPOCHS = {False: datetime.date(1899, 12, 30), True: datetime.date(1904, 1, 1)}  # by whether days count from 1904


class _Refusing(ElementTree.TreeBuilder):
    def doctype(self, *_: object) -> None:
        raise ValueError("the workbook defines its own XML types; save it with a spreadsheet")


def is_zip(content: bytes) -> bool:
    """Whether a file begins as a ZIP does, which a workbook is."""
    return content.startswith(b"PK\x03\x04")


def xlsx_rows(content: bytes, max_rows: int) -> list[list[str]]:
    """Rows of the first sheet, from its first row on, with empty texts where cells are empty.

    Raises ValueError if it is no workbook or too large, or a cell holds a formula, an error or part of a merged cell:
    with its name.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            return _rows(_Parts(book), max_rows)
    except _DAMAGED as error:
        raise ValueError(
            f"the file is no workbook that can be read ({type(error).__name__}); save it as XLSX"
        ) from None


class _Parts:
    """Parts of a workbook, none unpacked beyond what is left of the limit."""

    def __init__(self, book: zipfile.ZipFile) -> None:
        entries = book.infolist()
        if len(entries) > _MAX_PARTS or sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
            raise ValueError(f"the workbook unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB; remove sheets")
        if any(entry.flag_bits & 1 for entry in entries):
            raise ValueError("the workbook is encrypted; save it without a password")
        if any("vbaproject" in entry.filename.lower() for entry in entries):
            raise ValueError("the workbook has macros; save it as XLSX, without them")
        self._book, self._left, self.names = book, MAX_UNPACKED_BYTES, set(book.namelist())

    def xml(self, name: str) -> ElementTree.Element:
        """One part. What its head says of its size is not believed."""
        with self._book.open(name) as part:
            content = part.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise ValueError(f"the workbook unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB")
        return ElementTree.fromstring(content, ElementTree.XMLParser(target=_Refusing()))


def _rows(parts: _Parts, max_rows: int) -> list[list[str]]:
    book = parts.xml("xl/workbook.xml")
    first = book.find(f"{_MAIN}sheets/{_MAIN}sheet")
    if first is None:
        raise ValueError("the workbook has no sheet")
    links = {link.get("Id"): link.get("Target", "") for link in parts.xml("xl/_rels/workbook.xml.rels")}
    target = links[first.get(_LINK)]
    sheet = parts.xml(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    if (merged := sheet.find(f"{_MAIN}mergeCells/{_MAIN}mergeCell")) is not None:
        raise ValueError(f"{merged.get('ref', '')} are merged cells; a price book has a value in each cell")
    properties = book.find(f"{_MAIN}workbookPr")
    epoch = _EPOCHS[properties is not None and properties.get("date1904") in ("1", "true")]
    name = "xl/sharedStrings.xml"
    shared = ["".join(one.itertext()) for one in parts.xml(name)] if name in parts.names else []
    dated, percents = _styles(parts)
    rows: list[list[str]] = []
    for place, cell in _cells(sheet):
        match = _CELL.fullmatch(place)
        if match is None:
            raise ValueError("the sheet has a cell without a place")
        column, row = _number(match[1]), int(match[2])
        text = _text(place, cell, shared, dated, percents, epoch)
        if not text:
            continue
        if row > max_rows or column > _MAX_COLUMNS:
            raise ValueError(f"{place} is beyond {max_rows} rows and {_MAX_COLUMNS} columns; remove what is not needed")
        while len(rows) < row:
            rows.append([])
        rows[row - 1] += [""] * (column - len(rows[row - 1]))
        rows[row - 1][column - 1] = text
    return rows


def _cells(sheet: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    for cell in sheet.iter(f"{_MAIN}c"):
        yield cell.get("r", ""), cell


def _text(
    place: str, cell: ElementTree.Element, shared: list[str], dated: set[int], percents: set[int], epoch: datetime.date
) -> str:
    """What a cell holds, as a person would type it."""
    if cell.find(f"{_MAIN}f") is not None:
        raise ValueError(f"{place} holds a formula; paste its value")
    kind, value = cell.get("t", "n"), cell.findtext(f"{_MAIN}v") or ""
    if kind == "e":
        raise ValueError(f"{place} holds the error {value[:20]!r}")
    if kind == "inlineStr":
        return "".join(cell.itertext()).strip()
    if kind == "s":
        with suppress(ValueError, IndexError):
            return shared[int(value)].strip()
        raise ValueError(f"{place} names a text that the workbook does not have")
    if kind != "n" or not value:
        return value.strip()
    try:
        number = float(value)
        style = int(cell.get("s", "0"))
        if style in dated:
            return (epoch + datetime.timedelta(days=int(number))).isoformat()
    except (ValueError, OverflowError):
        raise ValueError(f"{place} holds {value[:20]!r}, which is no number") from None
    return f"{100 * number:.13g} %" if style in percents else f"{number:.15g}"


def _styles(parts: _Parts) -> tuple[set[int], set[int]]:
    """Numbers of the cell styles that show a number as a date, and of those that show it in per cent."""
    if "xl/styles.xml" not in parts.names:
        return set(), set()
    styles = parts.xml("xl/styles.xml")
    own = {one.get("numFmtId"): _QUOTED.sub("", one.get("formatCode", "")) for one in styles.iter(f"{_MAIN}numFmt")}
    formats = [one.get("numFmtId", "0") for one in styles.findall(f"{_MAIN}cellXfs/{_MAIN}xf")]
    dated, percents = (
        {
            index
            for index, one in enumerate(formats)
            if (letters.search(own[one]) if one in own else one.isdecimal() and int(one) in built_in)
        }
        for letters, built_in in ((_DATE_LETTERS, _DATE_FORMATS), (_PERCENT_SIGN, _PERCENT_FORMATS))
    )
    return dated, percents


def _number(letters: str) -> int:
    """Number of a column: A is 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """Name of a column by its number from 1."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
