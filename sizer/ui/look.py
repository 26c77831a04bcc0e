"""The look of the pages: colours of the guide, tables without boxes, and numbers with their units."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from sizer.catalog.schema import Source
from sizer.drawings.palette import DARK, LIGHT, Palette
from sizer.report.tables import Cell, Row, Table
from sizer.sizing.result import STAGES


def palette() -> Palette:
    """Colours of the theme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def css(colours: Palette) -> str:
    """Style sheet of the pages."""
    stages = "".join(f"--sz-{key}:{colour};" for key, colour in colours.stages.items())
    return f"""<style>
.stApp {{--sz-ink:{colours.ink};--sz-muted:{colours.muted};--sz-hairline:{colours.hairline};--sz-surface:{colours.surface};
  --sz-accent:{colours.accent};{stages}}}
.stAppHeader {{padding-left:max(0px,calc((100vw - 1240px)/2 + 3.6rem));padding-right:max(0px,calc((100vw - 1240px)/2 + 3.6rem))}}
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
table.sz td.r {{white-space:nowrap}}
table.sz.headless {{border-top:1px solid var(--sz-hairline);max-width:760px}}
table.sz.headless td:first-child {{color:var(--sz-muted)}}
table.sz td.source {{color:var(--sz-muted);font-size:.85rem}}
table.sz td[title] {{cursor:help}}
table.sz td:last-child, table.sz th:last-child {{padding-right:0}}
table.sz td.u {{color:var(--sz-muted);font-style:italic}}
table.sz tr.group td {{font-weight:600;padding-top:.8rem}}
table.sz tr.total td {{font-weight:600;border-top:1px solid var(--sz-hairline)}}
table.sz tr.strong td {{font-weight:600;color:var(--sz-accent)}}
table.sz tr.strong td.stage ~ td, table.sz tr.strong td.stage, table.sz.headless tr.strong td {{color:inherit}}
table.sz td.stage {{font-weight:600;border-left:3px solid transparent;padding-left:.7rem}}
.stApp .sz-note {{color:var(--sz-muted);font-size:.9rem;line-height:1.5;max-width:84ch;margin:0 0 .2rem}}
.stApp ul.sz-note {{padding-left:1.2rem}}
.stApp ul.sz-note li {{font-size:.9rem;margin:.15rem 0}}
.sz-drawing svg {{width:100%;height:auto;max-width:1000px;display:block}}
.sz-drawing {{overflow-x:auto;margin:.3rem 0 .8rem}}
</style>"""


def table(data: Table, sources: Mapping[str, Source]) -> None:
    """A table of the guide, with rules above and below the head and at the end.

    A cell whose number has a source shows it where the pointer rests; a cell that holds a source only names it.
    """
    shares = [column.width for column in data.columns]
    widths = "".join(f'<col style="width:{share}%">' if share else "<col>" for share in shares)
    head = ""
    if any(column.title for column in data.columns):
        cells = (f'<th scope="col" class="{column.align[0]}">{escape(column.title)}</th>' for column in data.columns)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    body = "".join(_row(row, data, sources) for row in data.rows)
    kind = "sz" if head else "sz headless"
    st.html(
        f'<div class="sz-scroll"><table class="{kind}" aria-label="{escape(data.caption)}"><colgroup>{widths}</colgroup>'
        f"{head}<tbody>{body}</tbody></table></div>"
    )
    if data.note:
        note(data.note)


def _row(row: Row, data: Table, sources: Mapping[str, Source]) -> str:
    if row.kind == "group" and len(row.cells) < len(data.columns):
        return f'<tr class="group"><td colspan="{len(data.columns)}">{escape(row.cells[0].text)}</td></tr>'
    aligns = [column.align for column in data.columns]
    cells = [_cell(cell, align, sources) for cell, align in zip(row.cells, aligns, strict=True)]
    return f'<tr class="{row.kind}">{"".join(cells)}</tr>'


def _cell(cell: Cell, align: str, sources: Mapping[str, Source]) -> str:
    kinds = [kind for kind, applies in (("r", align == "right"), ("u", cell.is_unknown), ("stage", cell.stage in STAGES)) if applies]
    style = f' style="border-left-color:var(--sz-{cell.stage})"' if cell.stage in STAGES else ""
    cited = source_text(cell, sources)
    if cell.text:
        hover = f' title="{escape(cited)}"' if cited else ""
        return f'<td class="{" ".join(kinds)}"{style}{hover}>{escape(cell.text)}</td>'
    return f'<td class="{" ".join([*kinds, "source"])}">{escape(cited)}</td>'


def source_text(cell: Cell, sources: Mapping[str, Source]) -> str:
    """Documents that a cell cites, with the place in them."""
    titles = [sources[key].title if key in sources else key.replace("-", " ") for key in cell.cites]
    text = "; ".join(dict.fromkeys(titles))
    return f"{text}: {cell.where}" if text and cell.where else text or cell.where


def note(text: str) -> None:
    """A quiet paragraph."""
    st.html(f'<p class="sz-note">{escape(text)}</p>')


def notes(texts: Sequence[str]) -> None:
    """Quiet paragraphs as a list."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    st.html(f'<ul class="sz-note">{items}</ul>')


def drawing(svg: str) -> None:
    """A drawing as wide as the column. Its writer escapes every text in it; ``st.html`` would take the drawing out."""
    st.markdown(f'<div class="sz-drawing">{svg}</div>', unsafe_allow_html=True)
