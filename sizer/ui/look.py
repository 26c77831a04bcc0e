"""The look of the pages: colours of the guide, tables without boxes, and numbers with their units."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import streamlit as st

from sizer.drawings.palette import DARK, LIGHT, Palette
from sizer.report.words import NOT_PUBLISHED, TO_BE_QUOTED
from sizer.sizing.result import STAGES

Align = Literal["left", "right"]
_UNKNOWN = (TO_BE_QUOTED, NOT_PUBLISHED, "not known")


@dataclass(frozen=True)
class Column:
    """Column of a table: its heading, the unit once under it, and how its cells are set."""

    title: str
    unit: str = ""
    align: Align = "left"
    wraps: bool = False  # long text: takes what width is left


@dataclass(frozen=True)
class Row:
    """Row of a table. ``kind`` 'group' is a heading over the rows that follow, 'total' stands over a hairline."""

    cells: Sequence[str]
    kind: Literal["plain", "group", "total", "chosen"] = "plain"
    stage: str = ""  # key of STAGES that marks the row
    is_limiting: bool = False


def palette() -> Palette:
    """Colours of the theme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def css(colours: Palette) -> str:
    """Style sheet of the pages."""
    stages = "".join(f"--sz-{key}:{colour};" for key, colour in colours.stages.items())
    return f"""<style>
.stApp {{--sz-ink:{colours.ink};--sz-muted:{colours.muted};--sz-hairline:{colours.hairline};--sz-surface:{colours.surface};
  --sz-accent:{colours.accent};{stages}}}
.stMainBlockContainer {{max-width:1240px;padding-top:4.6rem;padding-bottom:3rem}}
.stApp h1 {{font-size:1.56rem;padding:0 0 .15rem;letter-spacing:-.01em}}
.stApp h2 {{font-size:1.25rem;padding:.4rem 0 .2rem}}
.stApp h3 {{font-size:1.1rem;padding:.4rem 0 .1rem}}
[data-testid="stMetric"] [data-testid="stMetricValue"] {{font-variant-numeric:tabular-nums;line-height:1.25;padding:0}}
[data-testid="stMetricLabel"] p {{color:var(--sz-muted);font-size:.85rem}}
[data-testid="stMetricDelta"] {{background:none;padding:0;color:var(--sz-muted);font-size:.85rem;font-weight:400}}
.sz-scroll {{overflow-x:auto}}
table.sz {{border-collapse:collapse;width:100%;font-size:.9rem;line-height:1.4;color:var(--sz-ink);margin:.2rem 0 .6rem;
  border-bottom:1px solid var(--sz-hairline);font-variant-numeric:tabular-nums}}
table.sz th {{text-align:left;font-weight:600;font-size:.85rem;padding:.4rem .9rem .4rem 0;vertical-align:bottom;
  border-top:1px solid var(--sz-hairline);border-bottom:1px solid var(--sz-hairline);background:none}}
table.sz th small {{display:block;font-weight:400;font-size:.8rem;color:var(--sz-muted)}}
table.sz td {{padding:.32rem .9rem .32rem 0;vertical-align:top;border:none}}
table.sz .r {{text-align:right}}
table.sz td.n, table.sz td.r {{white-space:nowrap}}
table.sz td:last-child, table.sz th:last-child {{padding-right:0}}
table.sz td.u {{color:var(--sz-muted);font-style:italic}}
table.sz tr.group td {{font-weight:600;padding-top:.8rem}}
table.sz tr.total td {{font-weight:600;border-top:1px solid var(--sz-hairline)}}
table.sz tr.chosen td {{font-weight:600;color:var(--sz-accent)}}
table.sz td.stage {{font-weight:600;border-left:3px solid transparent;padding-left:.7rem}}
.sz-note {{color:var(--sz-muted);font-size:.9rem;max-width:76ch}}
.sz-drawing svg {{width:100%;height:auto;max-width:1000px;display:block}}
.sz-drawing {{overflow-x:auto}}
</style>"""


def table(columns: Sequence[Column], rows: Sequence[Row], label: str) -> None:
    """Table with rules above and below the head and at the end. ``label`` is what screen readers say."""
    head = "".join(_head(column) for column in columns)
    body = "".join(_row(row, columns) for row in rows)
    st.html(
        f'<div class="sz-scroll"><table class="sz" aria-label="{escape(label)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _head(column: Column) -> str:
    unit = f"<small>{escape(column.unit)}</small>" if column.unit else ""
    return f'<th scope="col" class="{column.align[0]}">{escape(column.title)}{unit}</th>'


def _row(row: Row, columns: Sequence[Column]) -> str:
    if row.kind == "group":
        return f'<tr class="group"><td colspan="{len(columns)}">{escape(row.cells[0])}</td></tr>'
    cells = []
    for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
        kinds = ["r"] if column.align == "right" else [] if column.wraps else ["n"]
        kinds += ["u"] if cell.startswith(_UNKNOWN) else []
        style = ""
        if place == 0 and row.stage in STAGES:
            kinds.append("stage")
            style = f' style="border-left-color:var(--sz-{row.stage})"'
        cells.append(f'<td class="{" ".join(kinds)}"{style}>{escape(cell)}</td>')
    return f'<tr class="{row.kind}">{"".join(cells)}</tr>'


def facts(rows: Sequence[tuple[str, str]], label: str) -> None:
    """Two columns without a head: what, and its value."""
    cells = "".join(
        f'<tr><td class="n" style="color:var(--sz-muted)">{escape(what)}</td>'
        f'<td class="{"u" if value.startswith(_UNKNOWN) else ""}">{escape(value)}</td></tr>'
        for what, value in rows
    )
    st.html(f'<table class="sz" aria-label="{escape(label)}" style="border-top:1px solid var(--sz-hairline)">{cells}</table>')


def note(text: str) -> None:
    """A quiet paragraph."""
    st.html(f'<p class="sz-note">{escape(text)}</p>')


def notes(texts: Sequence[str]) -> None:
    """Quiet paragraphs as a list."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    st.html(f'<ul class="sz-note">{items}</ul>')


def drawing(svg: str) -> None:
    """A drawing as wide as the column."""
    st.html(f'<div class="sz-drawing">{svg}</div>')
