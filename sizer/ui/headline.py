"""Head of every page: the title, the verdict, and the figures of the design in one row."""

import streamlit as st

from sizer.base.quantities import grouped
from sizer.ui import look, state, tiles, toolbar, why
from sizer.ui.error_messages import RequestFault
from sizer.ui.figures import HeadlineItem, other_figures
from sizer.ui.request_form.names import label_at
from sizer.ui.state import View
from sizer.ui.typed import plain


def show_title(view: View) -> None:
    """Title and tools."""
    title = view.result.request.title if view.result is not None else state.get(("title",)) or "Deep-learning cluster"
    if view.has_question:  # a title of another request would stand over the need
        title = "No answer yet"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head"):
        st.title(plain(title), anchor=False, width="stretch")
        toolbar.show(view)
    notice = st.session_state.pop("notice", "")
    if notice:
        st.toast(plain(notice))


def show(view: View) -> None:
    """Errors of the request as typed, three tiles, and the other figures in a fold.

    Out of date they are grey; folded, too, while a need has no answer, as they belong to another request.
    """
    _errors(view)
    if view.result is None:
        return
    if view.is_current:
        with st.container(key="answer"):
            _answer(view)
    elif view.has_question:
        previous = plain(view.result.request.title)
        st.warning(
            f"**This need has no answer yet.** Everything below is the previous request, {previous}, until the need on "
            "the page Requirements can be sized.",
            icon=":material/history:",
        )
        with st.expander(f"Previous result: {previous}"), st.container(key="previous-answer"):
            _answer(view)
    else:
        st.caption(":material/history: **Showing the previous result.**")
        with st.container(key="previous-answer"):
            _answer(view)


def _answer(view: View) -> None:
    assert view.result is not None
    with st.container(horizontal=True, gap="medium", key="headline"):
        for number, tile in enumerate(tiles.tiles(view.result, is_customer_mode=view.is_customer_mode)):
            _tile(number, tile, view)
    st.markdown(plain(" ".join(tiles.sentences(view.result, is_customer_mode=view.is_customer_mode))))
    for text in tiles.open_checks(view.result):
        st.markdown(f":orange-badge[Open] {plain(text)}")
    with st.expander("More figures and the software stack", key="more", on_change="rerun") as more:
        if not more.open:  # what is closed costs the browser as much, and what the stack is worth takes a while
            return
        with st.container(horizontal=True, gap="medium", key="figures"):
            for number, figure in enumerate(other_figures(view.result.design), start=tiles.COUNT):
                _figure(number, figure, view)
        look.notes(tiles.stacks(view.result))


def _tile(number: int, tile: tiles.Tile, view: View) -> None:
    """One answer: the question with its badge, and a number that opens its explanation."""
    with st.container(key=f"tile-{number}", width="stretch", gap=None):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"head-of-tile-{number}"):
            st.markdown(f"**{tile.question}**", width="content")
            if tile.badge is not None:
                st.markdown(f":{tile.badge.colour}-badge[:material/{tile.badge.icon}: {plain(tile.badge.text)}]")
        _figure(number, tile.figure, view, "" if number else tile.question)
        if tile.note:
            st.caption(plain(tile.note))


def _figure(number: int, figure: HeadlineItem, view: View, quantity: str = "") -> None:
    """A number that opens its explanation; ``quantity``: what it is of where the words above it do not say."""
    with st.container(key=f"figure-{number}", width="content", gap=None):
        st.caption(plain(figure.label))
        why.popover(figure.value, figure.key, view, "tile" if number == 0 else "headline", quantity or figure.label)
        st.caption(plain(figure.under) or "\u00a0")


def _errors(view: View) -> None:
    if st.session_state.get("refused"):
        st.error(st.session_state.refused, icon=":material/block:")
    if view.infeasible:
        st.error(plain(view.infeasible), icon=":material/block:")
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        errors = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request has errors.** {errors}", icon=":material/edit_off:")


def _placed(fault: RequestFault) -> str:
    label = label_at(fault.path)
    return fault.text if fault.text.startswith(label) else f"{label}: {fault.text}"


def below(view: View) -> None:
    """Versions that the numbers depend on, at the end of each page."""
    if view.result is None:
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
