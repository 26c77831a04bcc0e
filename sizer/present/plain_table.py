"""A table as plain text for a terminal: the same cells as in the guide, in columns of one width of letters."""

import textwrap
import unicodedata
from collections.abc import Sequence

from sizer.present.tables import Table

# Letters of a line, and those of a word that no narrowing breaks.
WIDTH = 110
_WORD = 24
_GAP = "  "


def table_text(table: Table, width: int = WIDTH) -> str:
    """Caption, heads, rows and note of a table.

    ``table``: sources of its cells are left out: they stand in the guide. ``width``: letters of a line. The widest
    columns are narrowed until it fits; a table of many columns may stay wider.

    Examples
    --------
    >>> from sizer.present.tables import columns, row
    >>> made = Table("x", "Servers", columns("Server", ("GPUs", "right")), (row("DGX-1", "8"), row("C4140", "4")))
    >>> print(table_text(made))
    Servers
    Server  GPUs
    ------------
    DGX-1      8
    C4140      4
    """
    heads = [clean(column.title) for column in table.columns]
    body = [[clean(cell.text) for cell in row.cells] for row in table.rows]
    counted = [cells for row, cells in zip(table.rows, body, strict=True) if row.kind != "group"]
    widths = _widths([heads, *counted], width)
    rights = [column.align == "right" for column in table.columns]
    lines = [clean(table.caption)] if table.caption else []
    if any(heads):
        lines += [*_lines(heads, widths, rights), "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))]
    for row, cells in zip(table.rows, body, strict=True):
        lines += [cells[0]] if row.kind == "group" else _lines(cells, widths, rights)
    if table.note:
        lines += textwrap.wrap(clean(table.note), width)
    return "\n".join(line.rstrip() for line in lines)


def _lines(cells: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> list[str]:
    """One row on as many lines as its longest cell needs."""
    parts = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, widths, strict=True)]
    tallest = max(len(part) for part in parts)
    return [
        _GAP.join(
            f"{part[number] if number < len(part) else '':{'>' if right else '<'}{width}}"
            for part, width, right in zip(parts, widths, rights, strict=True)
        )
        for number in range(tallest)
    ]


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Letters of each column."""
    widths = [max(1, *(len(cell) for cell in column)) for column in zip(*rows, strict=True)]
    least = [
        max([1, *(min(len(word), _WORD) for cell in column for word in cell.split())])
        for column in zip(*rows, strict=True)
    ]
    room = width - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room:
        loose = [place for place, letters in enumerate(widths) if letters > least[place]]
        if not loose:
            break
        widths[max(loose, key=lambda place: widths[place])] -= 1
    return widths


def clean(text: str) -> str:
    """Text without what would move the cursor or colour the terminal: names come from users."""
    return "".join(" " if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") else one for one in text)
