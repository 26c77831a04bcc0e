"""Page Designs: saved designs and their revisions."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from sizer.base.errors import SizerError
from sizer.library.compare import Snapshot
from sizer.library.library import MAX_QUERY, RevisionEntry, SavedDesign
from sizer.library.opening import LibraryError
from sizer.present.words import plural, sentence
from sizer.questions.compare.text import figure_text
from sizer.ui import look, state
from sizer.ui.designs import compare, saving
from sizer.ui.designs.saving import DESIGN, REVISION
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_DESIGNS_A_PAGE = 10
_REVISIONS_A_PAGE = 15
# Figures that the list shows of a design.
_SHOWN = ("gpus", "power", "price")


def open_from_link(query: Mapping[str, str]) -> None:
    """Open the design that the address of a new session names, or report the error.

    ``query``: parameters of the address; untrusted.
    """
    if DESIGN not in query:
        return
    try:
        saving.open_revision(query[DESIGN], _number(query.get(REVISION)))
    except SizerError as error:
        st.session_state.refused = f"**The link was not opened.** {plain(saving.fault_of(error))}"
    for name in (DESIGN, REVISION):
        with suppress(KeyError):
            del st.query_params[name]


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 7):
        raise LibraryError("the revision in the link is not a number")
    return int(text)


def show(view: View) -> None:
    """Draw the page."""
    if view.is_customer_mode:
        st.header("Designs", anchor=False)
        st.info("Turn off the customer view to see saved designs.", icon=":material/visibility_off:")
        return
    chosen = st.session_state.get("design_shown")
    try:
        if chosen is None:
            st.header("Designs", anchor=False)
            _error()
            _open_now(view, is_expanded=False)
            _list()
        else:
            _design(saving.library().design(chosen), view)
    except SizerError as error:
        st.session_state.pop("design_shown", None)
        st.error(plain(saving.fault_of(error)), icon=":material/block:")
        look.note("The other pages still work. To keep the request, download it on the page Requirements.")


def _error() -> None:
    """Error of the last action."""
    fault = st.session_state.pop("design_fault", "")
    if fault:
        st.error(plain(fault), icon=":material/block:")


def _do(act: Callable[[], str]) -> None:
    """Run an action of the page; its message or error is shown with the next run."""
    try:
        st.session_state.notice = act()
    except SizerError as error:
        st.session_state.design_fault = saving.fault_of(error)


# --- the design that is open


def _open_now(view: View, *, is_expanded: bool) -> None:
    """Which revision is open, and how its result changed since it was saved."""
    here = saving.saved()
    if here is None:
        return
    opened = f"**Open:** {plain(here['name'])}, revision {here['revision']}"
    if saving.is_unsaved(view):
        st.markdown(f"{opened}, with unsaved changes.")
        return
    revision = saving.library().revision(here["id"], here["revision"])
    since = view.once(
        "since saved",
        lambda: saving.since_saved(revision, SizingRequest.from_dict(revision.request)),
        *(revision.design_id, revision.number),
        doing="Comparing with the result when it was saved",
    )
    if since is None:
        st.markdown(f"{opened}. It was saved by another version of the program; its result then cannot be compared.")
        return
    st.markdown(f"{opened}. {plain(saving.verdict(since))}")
    if since.figures or since.lines:
        with st.expander("Changes since it was saved", expanded=is_expanded, key=f"since-{is_expanded:d}"):
            saving.show_since(since, view.catalog)


# --- the list


def _list() -> None:
    left, right = st.columns([4, 1], vertical_alignment="bottom", gap="medium")
    with left:
        words = st.text_input(
            "Search designs",
            key="designs-search",
            max_chars=MAX_QUERY,
            placeholder="name, customer or part",
            on_change=state.if_stored("designs-search", _first_page),
        )
    with right:
        with_hidden = st.toggle(
            "Show hidden", key="designs-hidden", on_change=state.if_stored("designs-hidden", _first_page)
        )
    page = int(st.session_state.get("designs_page", 0))
    match = saving.library().search(words, page=page, per_page=_DESIGNS_A_PAGE, with_hidden=with_hidden)
    if page and not match.designs and not match.damaged:
        _first_page()
        match = saving.library().search(words, page=0, per_page=_DESIGNS_A_PAGE, with_hidden=with_hidden)
    for damage in match.damaged:
        st.warning(plain(sentence(damage)), icon=":material/warning:")
    if not match.n_designs:
        _empty(bool(words.strip()), with_hidden)
        return
    for number, design in enumerate(match.designs):
        _card(design, number)
    _pages("designs_page", match.n_designs, _DESIGNS_A_PAGE, "design")


def _first_page() -> None:
    st.session_state.designs_page = 0


def _empty(searched: bool, with_hidden: bool) -> None:
    if searched:
        hint = "" if with_hidden else " Hidden designs were not searched."
        st.info(f"No design matches all these words in name, customer or parts.{hint}", icon=":material/search_off:")
    else:
        st.info(
            "No saved designs yet. Use **Save** above to save the present design and its later revisions.",
            icon=":material/inventory_2:",
        )


def _pages(key: str, n: int, a_page: int, noun: str) -> None:
    """Position in a long list, with buttons to other parts of it."""
    page, last = int(st.session_state.get(key, 0)), (n - 1) // a_page
    if not last:
        return

    def turn(to: int) -> None:
        st.session_state[key] = to

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Newer", key=f"{key}-newer", on_click=turn, args=(page - 1,), disabled=page == 0, type="tertiary")
        st.caption(f"{page * a_page + 1} to {min(n, (page + 1) * a_page)} of {plural(n, noun)}", width="content")
        st.button("Older", key=f"{key}-older", on_click=turn, args=(page + 1,), disabled=page >= last, type="tertiary")


def _card(design: SavedDesign, number: int) -> None:
    with st.container(border=True, key=f"design-{number}"):
        name, figures, buttons = st.columns([5, 4, 2], vertical_alignment="center", gap="medium")
        with name, st.container(gap="xxsmall"):
            hidden = " :gray-badge[hidden]" if design.is_hidden else ""
            customer = f"{plain(design.customer)} · " if design.customer else ""
            st.markdown(f"**{plain(design.name)}**{hidden}")
            st.caption(f"{customer}revision {design.newest.number} · {_by(design.newest)}")
        with figures:
            st.caption(plain(_in_short(design.snapshot)))
        with buttons, st.container(horizontal=True, gap="small", horizontal_alignment="right"):
            st.button("Open", key=f"open-{number}", on_click=_do, args=(lambda: _opened(design.id, None),))
            st.button("Revisions", key=f"more-{number}", on_click=_choose, args=(design.id,), type="tertiary")


def _in_short(snapshot: Snapshot | None) -> str:
    """GPUs, power and price of a result."""
    if snapshot is None:
        return "saved by another program version"
    figures = {key: snapshot.figure(key) for key in _SHOWN}
    texts = {key: figure_text(figure, snapshot.currency) for key, figure in figures.items() if figure is not None}
    price = figures["price"]
    if price is not None and not price.text:
        texts["price"] = f"price {texts['price']}"
    return " · ".join(f"{text} GPUs" if key == "gpus" else text for key, text in texts.items())


def _by(entry: RevisionEntry) -> str:
    return f"{plain(entry.author)}, {when(entry.created_at)}" if entry.author else when(entry.created_at)


def when(moment: datetime) -> str:
    """A moment in the time zone of the browser: '22 Nov 2026, 06:30'; in UTC, and marked so, where that is unknown."""
    zone = st.context.timezone
    with suppress(ZoneInfoNotFoundError, ValueError, TypeError):
        if zone:
            return f"{moment.astimezone(ZoneInfo(zone)):%-d %b %Y, %H:%M}"
    return f"{moment.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def _choose(design_id: str) -> None:
    st.session_state.design_shown = design_id
    st.session_state.revisions_page = 0


def _opened(design_id: str, number: int | None) -> str:
    saving.open_revision(design_id, number)
    return str(st.session_state.notice)


def _pinned(design: SavedDesign, number: int) -> str:
    request = SizingRequest.from_dict(saving.library().revision(design.id, number).request)
    compare.pin(f"{design.name}, revision {number}", request.model_dump_json())
    return str(st.session_state.notice)


# --- one design


def _design(design: SavedDesign, view: View) -> None:
    leave, shown = st.session_state.pop, ("design_shown", None)
    icon = ":material/arrow_back:"
    st.button("All designs", key="all-designs", on_click=leave, args=shown, icon=icon, type="tertiary")
    hidden = " :gray-badge[hidden]" if design.is_hidden else ""
    st.header(f"{plain(design.name)}{hidden}", anchor=False)
    _error()
    here = saving.saved()
    if here is not None and here["id"] == design.id:
        _open_now(view, is_expanded=True)
    st.button(
        "Show in the list" if design.is_hidden else "Hide",
        key="hide",
        icon=":material/visibility:" if design.is_hidden else ":material/visibility_off:",
        type="tertiary",
        on_click=_do,
        args=(lambda: _hidden(design),),
        help="Hidden designs stay in the library and their links keep working; the list does not show them.",
    )
    _revisions(design, saving.library().revisions(design.id)[::-1], view)


def _hidden(design: SavedDesign) -> str:
    saving.library().hide(design.id, is_hidden=not design.is_hidden)
    return f"{design.name} is {'in the list again' if design.is_hidden else 'hidden'}."


def _revisions(design: SavedDesign, entries: tuple[RevisionEntry, ...], view: View) -> None:
    st.subheader(plural(len(entries), "revision"), anchor=False)
    here = saving.saved()
    open_number = here["revision"] if here is not None and here["id"] == design.id else None
    page = int(st.session_state.get("revisions_page", 0))
    for entry in entries[page * _REVISIONS_A_PAGE : (page + 1) * _REVISIONS_A_PAGE]:
        _revision(design, entry, entry.number == open_number and not saving.is_unsaved(view))
    _pages("revisions_page", len(entries), _REVISIONS_A_PAGE, "revision")


def _revision(design: SavedDesign, entry: RevisionEntry, is_open: bool) -> None:
    text, buttons = st.columns([6, 2], vertical_alignment="center", gap="medium")
    with text, st.container(gap="xxsmall"):
        origin = f", from revision {entry.parent}" if entry.parent not in (None, entry.number - 1) else ""
        badge = " :blue-badge[open]" if is_open else ""
        st.markdown(f"**Revision {entry.number}**{badge} {plain(sentence(entry.comment))}")
        st.caption(f"{_by(entry)}{origin}")
    with buttons, st.container(horizontal=True, gap="small", horizontal_alignment="right"):
        number = entry.number
        st.button(
            "Open",
            key=f"open-revision-{number}",
            on_click=_do,
            args=(lambda: _opened(design.id, number),),
            type="tertiary",
            disabled=is_open,
        )
        st.button(
            "Pin",
            key=f"pin-revision-{number}",
            on_click=_do,
            args=(lambda: _pinned(design, number),),
            type="tertiary",
            icon=":material/keep:",
            help="The page Compare shows pinned designs side by side, sized with the prices of this session.",
        )
