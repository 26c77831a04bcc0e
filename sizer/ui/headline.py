"""Head of every page: the title, the verdict, and the figures of the design in one row."""

from collections.abc import Mapping

import streamlit as st

from sizer.base.quantities import grouped
from sizer.catalog.schema import Source
from sizer.explain.figure import explanation
from sizer.explain.inputs import Explanation
from sizer.ui import look, need, session_catalog, sharing, state, tiles
from sizer.ui.designs import saving
from sizer.ui.error_messages import RequestFault
from sizer.ui.request_form.forms import LIMITS, RequestPath, in_labels, label_at
from sizer.ui.state import View
from sizer.ui.tiles import HeadlineItem, other_figures
from sizer.ui.typed import plain

_HIGHEST = {"maximum": "rate"}


def show_toolbar(view: View) -> None:
    """Draw the row of buttons."""
    with st.container(horizontal=True, width="content", gap="xsmall", key="toolbar"):
        for label, act, is_off, tip in (
            ("Undo", state.undo, len(st.session_state.steps) < 2, "Undo the last change of the request."),
            ("Redo", state.redo, not st.session_state.undone, "Redo the change."),
        ):
            key, icon = label.lower(), f":material/{label.lower()}:"
            st.button(label, key=key, on_click=act, icon=icon, type="tertiary", disabled=is_off, help=tip)
        _share(view)
        saving.controls(view)
        toggle = f"customer-mode/{state.is_customer_mode()}"
        st.toggle(
            "Customer view",
            value=state.is_customer_mode(),
            key=toggle,
            on_change=state.if_stored(toggle, _customer_mode),
            args=(toggle,),
            help="Hides costs, discounts and internal notes on every page and in every file.",
        )


def _customer_mode(toggle: str) -> None:
    # What it shows, not the contrary of what holds: it may be called for a toggle that nobody touched.
    st.session_state.customer_mode = st.session_state[toggle]


def _share(view: View) -> None:
    with st.popover("Share", icon=":material/link:", type="tertiary", on_change="rerun", key="share") as shared:
        if not shared.open:
            return
        if view.sized is None or not view.is_current:
            st.info("A request with errors cannot be shared; correct it first.", icon=":material/edit_off:")
            return
        here = saving.saved()
        if here is not None and not saving.is_unsaved(view) and not view.is_customer_mode:
            look.note("For colleagues: the saved revision with its prices and discounts.")
            st.code(saving.address_of(here["id"], here["revision"]), language=None, wrap_lines=True)
        request = state.shareable_request(view)
        book = "" if view.is_customer_mode else st.session_state.get(session_catalog.PRICE_BOOK_NAME, "")
        address = sharing.link(st.context.url or "", request, book)
        if address is None:
            st.info(
                "The request is too long for a link. Save the design, or send the request as a file.",
                icon=":material/info:",
            )
            return
        look.note("This address opens the same request and the same design. It carries no discounts.")
        st.code(address, language=None, wrap_lines=True)
        if book == session_catalog.ENTERED:
            look.note("The link does not include the prices entered in the app.")
        elif book:
            look.note(f"The link names the price book {book} and does not include its prices.")


def popover(label: str, key: str, view: View, place: str, quantity: str) -> None:
    """A small button that opens the explanation of a figure, drawn when opened.

    ``label``: of the button: the value itself, or words. Shown as it is, not as Markdown. ``place``: tells apart two
    buttons for one figure on one page. ``quantity``: what the value is of. It stands next to the button; in its
    label, small, it is for screen readers only.
    """
    name = f":small[{plain(quantity)}:] {plain(label)}"
    with st.popover(name, type="tertiary", on_change="rerun", key=f"why-{place}-{key}") as opened:
        if opened.open:
            show_inside(view.once("explanation", lambda: explanation(view.evaluated, key), key), view.catalog.sources)


def show_inside(explanation: Explanation, sources: Mapping[str, Source]) -> None:
    """Draw an explanation without the button."""
    st.markdown(f"**{plain(explanation.title)}: {plain(explanation.answer)}**")
    if explanation.formula:
        st.markdown(f"*{plain(explanation.formula)}*")
    if explanation.inputs.rows:
        look.table(explanation.inputs, sources)
    for head, sentences in (
        ("Derivation", explanation.reasons),
        ("Uncertainty", explanation.uncertainty),
        ("Assumptions", explanation.assumptions),
    ):
        if sentences:
            st.caption(f"**{head}**")
            look.notes(sentences)


def show(view: View, *, is_first: bool) -> None:
    """Title, tools, errors of the request as typed, and the answer: three tiles on the first page, a line on others.

    Out of date it is grey; while a need has no answer there is none.
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
        show_toolbar(view)
    if notice := st.session_state.pop("notice", ""):
        st.toast(plain(notice), duration="long")  # a run that sizes takes longer than the usual four seconds
    for key, draw, icon in (("refused", st.error, "block"), ("told", st.info, "info")):
        if text := st.session_state.get(key):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                draw(text, icon=f":material/{icon}:")
                st.button(
                    "Dismiss", key=f"dismiss-{key}", on_click=st.session_state.pop, args=(key, None), type="tertiary"
                )
    if view.infeasible:
        st.error(plain(view.infeasible), icon=":material/block:")
        _ways_out()
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        errors = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request has errors.** {errors}", icon=":material/edit_off:")
    if view.sized is None:
        return
    if view.has_question:
        where = "above" if is_first else "on the page Requirements"
        st.warning(f"**This need has no answer yet.** Answer the question {where}.", icon=":material/history:")
        previous = plain(view.result.request.title)
        st.button(f"Return to {previous}", key="return", on_click=need.forget, icon=":material/undo:")
        return
    if not view.is_current:
        st.caption(":material/history: **Showing the previous result.**")
    if not is_line:
        with st.container(key="answer" if view.is_current else "previous-answer"):
            _answer(view)


def _ways_out() -> None:
    """Buttons for a request that no design meets: the most within its limits, or the request without one of them."""
    limits: list[tuple[str, RequestPath]] = [
        (field.label, field.keys) for column in LIMITS for field in column if state.get(field.keys) is not None
    ]
    restricts = any(not key.startswith("prefer") for key in state.get(("platforms",)) or ())
    without = [*limits, *([("Allowed equipment", ("platforms",))] if restricts else [])]
    works = state.get(("workload",)) or []
    with st.container(horizontal=True, gap="xsmall", key="ways-out"):
        if limits and len(works) == 1 and not {"gpus_busy", "maximum"} & set(works[0].get("target", ())):
            most: dict[RequestPath, object] = {("team",): None, ("growth",): None, ("workload", 0, "target"): _HIGHEST}
            tip = "Replaces the target by the highest rate, without team and growth; Undo restores them."
            st.button("Most within the limits", key="most", on_click=_change, args=(most,), help=tip)
        for label, path in without:
            tip = "Removes it from the request; Undo restores it."
            st.button(f"Without: {label}", key=f"without-{path[-1]}", on_click=_change, args=({path: None},), help=tip)


def _change(values: Mapping[RequestPath, object]) -> None:
    for path, value in values.items():
        state.put(path, value)
    state.refresh()


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
        popover(figure.value, figure.key, view, "tile" if number == 0 else "headline", quantity or figure.label)
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
