"""Head of every page: the title, the verdict, and the figures of the design in one row."""

import streamlit as st

from sizer.base.quantities import grouped
from sizer.ui import look, need, state, tiles, toolbar, why
from sizer.ui.error_messages import RequestFault
from sizer.ui.figures import HeadlineItem, other_figures
from sizer.ui.request_form.forms import in_labels, label_at
from sizer.ui.state import View
from sizer.ui.typed import plain


def show(view: View, *, is_first: bool) -> None:
    """Title, tools, errors of the request as typed, and the answer: three tiles on the first page, a line on others.

    Out of date it is grey; folded, too, while a need has no answer, as it belongs to another request.
    """
    title = view.result.request.title if view.sized is not None else state.get(("title",)) or "Deep-learning cluster"
    if view.has_question:  # a title of another request would stand over the need
        title = "No answer yet"
    is_line = not is_first and view.sized is not None and not view.has_question
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="head-line" if is_line else "head"
    ):
        st.title(plain(title), anchor=False, width="content" if is_line else "stretch")
        if is_line:
            with st.container(key="answer" if view.is_current else "previous-answer", width="stretch"):
                _line(view)
        toolbar.show(view)
    if notice := st.session_state.pop("notice", ""):
        st.toast(plain(notice), duration="long")  # a run that sizes takes longer than the usual four seconds
    if st.session_state.get("refused"):
        st.error(st.session_state.refused, icon=":material/block:")
    if view.infeasible:
        st.error(plain(view.infeasible), icon=":material/block:")
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        errors = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request has errors.** {errors}", icon=":material/edit_off:")
    if view.sized is None:
        return
    if view.has_question:
        previous = plain(view.result.request.title)
        where = "Answer the question above" if is_first else "Answer the question on the page Requirements"
        shown = "" if is_first else f" What this page shows is the previous request, {previous}."
        st.warning(f"**This need has no answer yet.** {where}.{shown}", icon=":material/history:")
        if is_first:
            st.button(f"Return to {previous}", key="return", on_click=need.forget, icon=":material/undo:")
        with st.expander(f"Previous result: {previous}"), st.container(key="previous-answer"):
            _answer(view)
        return
    if not view.is_current:
        st.caption(":material/history: **Showing the previous result.**")
    if not is_line:
        with st.container(key="answer" if view.is_current else "previous-answer"):
            _answer(view)


def _answer(view: View) -> None:
    with st.container(horizontal=True, gap="medium", key="headline"):
        for number, tile in enumerate(_tiles(view)):
            _tile(number, tile, view)
    _sentences(view)
    look.folded("More figures and the software stack", "more", lambda: _more(view))


def _line(view: View) -> None:
    """The answer in one line; the reason and the other figures open from it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="headline"):
        for number, tile in enumerate(_tiles(view)):
            _figure(number, tile.figure, view, "" if number else tile.question)
            if tile.badge is not None and (number == 1 or tile.badge.colour == "red"):
                _badge(tile.badge, tile.badge.in_short or tile.badge.text)
        with st.popover("More", type="tertiary", key="more", on_change="rerun") as more:
            if more.open:
                _sentences(view)
                _more(view)


def _tiles(view: View) -> tuple[tiles.Tile, tiles.Tile, tiles.Tile]:
    return tiles.tiles(view.result, is_customer_mode=view.is_customer_mode)


def _sentences(view: View) -> None:
    texts = tiles.sentences(view.result, is_customer_mode=view.is_customer_mode)
    st.markdown(plain(in_labels(" ".join(texts))))
    for text in tiles.open_checks(view.result):
        st.markdown(f":orange-badge[Open] {plain(text)}")


def _more(view: View) -> None:
    with st.container(horizontal=True, gap="medium", key="figures"):
        for number, figure in enumerate(other_figures(view.result.design), start=tiles.COUNT):
            _figure(number, figure, view)
    look.notes(tiles.stacks(view.result))


def _badge(badge: tiles.Badge, text: str) -> None:
    st.markdown(f":{badge.colour}-badge[:material/{badge.icon}: {plain(text)}]", width="content")


def _tile(number: int, tile: tiles.Tile, view: View) -> None:
    """One answer: the question with its badge, and a number that opens its explanation."""
    with st.container(key=f"tile-{number}", width="stretch", gap=None):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"head-of-tile-{number}"):
            st.markdown(f"**{tile.question}**", width="content")
            if tile.badge is not None:
                _badge(tile.badge, tile.badge.text)
        _figure(number, tile.figure, view, "" if number else tile.question)
        if tile.note:
            st.caption(plain(tile.note))


def _figure(number: int, figure: HeadlineItem, view: View, quantity: str = "") -> None:
    """A number that opens its explanation; ``quantity``: what it is of where the words above it do not say."""
    with st.container(key=f"figure-{number}", width="content", gap=None):
        st.caption(plain(figure.label))
        why.popover(figure.value, figure.key, view, "tile" if number == 0 else "headline", quantity or figure.label)
        st.caption(plain(figure.under) or "\u00a0")


def _placed(fault: RequestFault) -> str:
    label = label_at(fault.path)
    return fault.text if fault.text.startswith(label) else f"{label}: {fault.text}"


def below(view: View) -> None:
    """Versions that the numbers depend on, at the end of each page."""
    if view.sized is None:
        return
    dates = sorted({line.price_date for line in view.result.design.bill.lines if line.price_date})
    prices = (
        f" Prices dated {dates[0]} to {dates[-1]}." if len(dates) > 1 else f" Prices dated {dates[0]}." if dates else ""
    )
    st.caption(
        f"{grouped(view.result.n_designs)} designs evaluated. Catalogue {view.result.catalog_digest[:10]}, calibration "
        f"{view.result.calibration_digest[:10]}.{plain(prices)} Modelled from published measurements; "
        "90\u00a0% intervals."
    )
