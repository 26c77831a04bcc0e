"""Appearance of the pages: colours of the guide, tables without boxes, notes, drawings and charts."""

import copy
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from sizer.catalog.schema import Source
from sizer.drawings.palette import DARK, LIGHT, Palette
from sizer.present.charting import Chart
from sizer.present.tables import Cell, Row, Table
from sizer.present.words import SECONDARY
from sizer.sizing.result import STAGES
from sizer.ui import state
from sizer.ui.request_form.forms import in_labels
from sizer.ui.state import View
from sizer.ui.typed import plain

Spec = dict[str, Any]


def palette() -> Palette:
    """Colours of the theme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def style(colours: Palette) -> None:
    """Put the style sheet into the page, in the colours of the theme."""
    st.html(variables(colours))
    st.html(Path(__file__).with_name("look.css"))


def close_menu(page: str) -> None:
    """On a phone, close the menu that covers the page.

    The script runs when the name of the page is another one; a choice of the page that is shown closes the menu itself.
    """
    with st.container(key="menu"):
        st.html(
            f"<script>/* {escape(page)} */"
            "{const close = () => {const menu = document.querySelector('[data-testid=\"stSidebar\"]');"
            "if (window.innerWidth < 768 && menu && menu.getBoundingClientRect().right > 0)"
            " menu.querySelector('[data-testid=\"stSidebarCollapseButton\"] button')?.click();};"
            "close();"
            "if (!window.closesMenu) {window.closesMenu = true; document.addEventListener('click', event => {"
            "if (event.target.closest('[data-testid=\"stSidebarNavLink\"][aria-current]')) close();});}}</script>",
            unsafe_allow_javascript=True,
        )


def variables(colours: Palette) -> str:
    """Colours of the palette under the names that the style sheet uses."""
    named = {
        "ink": colours.ink,
        "muted": colours.muted,
        "hairline": colours.hairline,
        "surface": colours.surface,
        "page": colours.background,
        "accent": colours.accent,
        **colours.stages,
    }
    return "<style>:root {" + "".join(f"--sz-{name}:{value};" for name, value in named.items()) + "}</style>"


def table(data: Table | None, sources: Mapping[str, Source], fold: str = "") -> None:
    """A table of the guide, with rules above and below the head and at the end, below the head of a ``fold``.

    A cell whose number has a source shows it where the pointer rests; a cell that holds a source only names it.
    """
    if data is None:
        return
    if fold:
        with st.expander(fold):
            table(data, sources)
        return
    shares = [column.width for column in data.columns]
    widths = "".join(f'<col style="width:{share}%">' if share else "<col>" for share in shares)
    head = ""
    if any(column.title for column in data.columns):
        cells = (f'<th scope="col" class="{column.align[0]}">{escape(column.title)}</th>' for column in data.columns)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    body = "".join(_row(row, data, sources) for row in data.rows)
    kind = f"sz {data.style}" if head else "sz headless"
    st.html(
        # What may be wider than the window is scrolled by keys, too.
        f'<div class="sz-scroll" tabindex="0"><table class="{kind}" aria-label="{escape(data.caption)}">'
        f"<colgroup>{widths}</colgroup>{head}<tbody>{body}</tbody></table></div>"
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
    kinds = [
        kind
        for kind, applies in (("r", align == "right"), ("u", cell.is_unknown), ("stage", cell.stage in STAGES))
        if applies
    ]
    style = f' style="border-left-color:var(--sz-{cell.stage})"' if cell.stage in STAGES else ""
    weak = {key for key in cell.cites if state.is_customer_mode() and key in sources and sources[key].is_weak}
    named = (sources[key].title if key in sources else key.replace("-", " ") for key in cell.cites if key not in weak)
    titles = (*named, *([SECONDARY] if weak else []))
    text = "; ".join(dict.fromkeys(titles))
    cited = f"{text}: {cell.where}" if text and cell.where else text or cell.where
    if cell.text:
        hover = f' title="{escape(cited)}"' if cited else ""
        return f'<td class="{" ".join(kinds)}"{style}{hover}>{escape(cell.text)}</td>'
    return f'<td class="{" ".join([*kinds, "source"])}">{escape(cited)}</td>'


def note(text: str) -> None:
    """A quiet paragraph."""
    st.html(f'<p class="sz-note">{escape(in_labels(text))}</p>')


def notes(texts: Sequence[str]) -> None:
    """Quiet paragraphs as a list."""
    items = "".join(f"<li>{escape(in_labels(text))}</li>" for text in texts)
    st.html(f'<ul class="sz-note">{items}</ul>')


def folded(title: str, key: str, draw: Callable[[], None], summary: str = "") -> None:
    """A fold whose content is drawn once it is open: closed ones would cost the browser as much as open ones.

    ``summary``: of the content, behind the title. The session notes what is open: a fold whose head changes is another
    one to Streamlit, and would close under the reader's eyes.
    """

    def note_fold() -> None:
        st.session_state.folds = {**st.session_state.get("folds", {}), key: bool(st.session_state.get(key))}

    head = f"**{title}:** {plain(summary)}" if summary else title
    is_open = st.session_state.get("folds", {}).get(key, False)
    with st.expander(head, is_open, key=key, on_change=state.if_stored(key, note_fold)) as fold:
        if fold.open:
            draw()


def drawing(svg: str, *, is_fitted: bool = True) -> None:
    """A drawing as wide as the column, or in its own size where it is not ``is_fitted``.

    Its writer escapes every text in it; ``st.html`` would take the drawing out.
    """
    kind = "sz-drawing" if is_fitted else "sz-drawing own-size"
    st.markdown(f'<div class="{kind}" tabindex="0">{svg}</div>', unsafe_allow_html=True)


def spec_of(drawn: Chart | None) -> Spec | None:
    """A chart as a specification; its numbers were checked when it was built."""
    return None if drawn is None else drawn.to_dict(validate=False)


def charted(view: View, what: str, draw: Callable[[Palette], Chart | None], *inputs: Hashable) -> None:
    """A chart of the result, built once for its inputs and the colours of the theme: it takes longer than sizing."""
    colours = palette()
    chart(view.once(what, lambda: spec_of(draw(colours)), *inputs, colours.name))


def figures(key: str, shown: Iterable[tuple[str, str, str | None]]) -> None:
    """Figures side by side: label, value, and what stands under it."""
    with st.container(horizontal=True, gap="medium", key=key):
        for label, value, under in shown:
            st.metric(label, value, under or None, delta_color="off", delta_arrow="off", width="content")


def chart(spec: Spec | None) -> None:
    """A chart as wide as the column; its finding stands above it, where its lines break, and is what is spoken."""
    if spec is None:
        return
    title = spec["title"]
    finding, marks = (
        text if isinstance(text, str) else " ".join(text) for text in (title["text"], title.get("subtitle", ""))
    )
    st.html(f'<p class="sz-finding">{escape(finding)}<small>{escape(marks)}</small></p>')
    drawn = copy.deepcopy({key: value for key, value in spec.items() if key != "title"})
    st.vega_lite_chart(drawn, theme=None, width="stretch", alt=finding)
