"""Saves the design of a session in the library of designs, and opens saved ones."""

import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from sizer.base.errors import RequestError, SizerError
from sizer.catalog.model import Catalog
from sizer.library.compare import Differences, FigureChange, differences, snapshot_of
from sizer.library.library import MAX_AUTHOR, MAX_COMMENT, MAX_NAME, Library, Revision, SaveOutcome, content_of
from sizer.library.opening import DatabaseError, default_address
from sizer.present.tables import Table
from sizer.present.words import listed, plural, sentence
from sizer.questions.compare.text import bill_table, field_of, figure_cell, figures_table, is_told_apart, request_table
from sizer.sizing.result import SizingResult
from sizer.ui import look, state
from sizer.ui.app_server.settings import user_header
from sizer.ui.error_messages import in_words, sentences
from sizer.ui.request_form.forms import label_of
from sizer.ui.session_catalog import PRICE_BOOK, catalog, remove_price_book, set_price_book
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest
from sizer.workload.table import FieldChange, Path

# Figures that a sentence names, the most important first.
_TELLING = ("gpus", "price", "rate-0", "time-0", "power", "storage-nodes", "capacity", "rack-units", "stage")


# --- since a result was saved


def verdict(since: Differences) -> str:
    """Whether a result is still the one that was saved, and what changed it."""
    if not since.has_answers:
        return "It no longer has a result."
    changed = [
        cause
        for cause, is_changed in (
            ("the catalogue or a price", since.is_other_catalog),
            ("the calibration", since.is_other_calibration),
            ("the version of the program", since.is_other_version),
        )
        if is_changed
    ]
    if since.is_same_answer:
        return (
            f"Its result is the same as when it was saved{f', although {listed(changed)} changed' if changed else ''}."
        )
    because = f"{listed(changed)} changed" if changed else "the calculation changed"
    return f"Its result has changed because {because}: {_effects(since)}."


def _effects(since: Differences) -> str:
    by_key = {figure.key: change for change in since.figures for figure in (change.before, change.now) if figure}
    telling = [by_key[key] for key in _TELLING if key in by_key][:3]
    if not telling:
        return f"{plural(len(since.lines), 'line')} of its bill"
    return listed(_figure_sentence(change, since.currencies) for change in telling)


def _figure_sentence(change: FigureChange, currencies: tuple[str, str]) -> str:
    label = next(figure.label for figure in (change.now, change.before) if figure is not None)
    before, now = (
        figure_cell(one, currency).text for one, currency in zip((change.before, change.now), currencies, strict=True)
    )
    return f"{label} {before} → {now}"


def show_since(since: Differences, catalog: Catalog) -> None:
    """Tables of the figures and lines of the bill that changed since a result was saved."""
    told = [figure for figure in since.figures if is_told_apart(figure, since.currencies)]
    draw_tables(
        (
            figures_table(told, "When saved", "Now", since.currencies),
            bill_table(since.lines, "when saved", "now", since.currencies),
        ),
        catalog,
    )


def fields_table(changes: Iterable[FieldChange], before: str, now: str) -> Table | None:
    """Fields of the request that differ, by their names on the pages."""
    return request_table(changes, before, now, _place, lambda path, value: in_words(field_of(path), value))


def _place(path: Path) -> str:
    """Place in a request in words: of several workloads with its number."""
    *tables, field = (part for part in path if isinstance(part, str))
    numbers = {path[index - 1]: part + 1 for index, part in enumerate(path) if isinstance(part, int)}
    # The name of a table adds nothing to the name of its field, unless it is one of several.
    entries = [f"{table.replace('_', ' ')} {numbers[table]}" for table in tables if table in numbers]
    last = f"{field.replace('_', ' ')} {numbers[field]}" if field in numbers else label_of(field)
    return ": ".join(word[:1].upper() + word[1:] for word in (*entries, last))


def draw_tables(tables: Iterable[Table | None], catalog: Catalog) -> None:
    """Tables below their captions, without those that have nothing to say."""
    for table in filter(None, tables):
        st.subheader(table.caption, anchor=False)
        look.table(table, catalog.sources)


# Parameters of a link to a design, and to one revision of it.
DESIGN, REVISION = "id", "rev"
# Environment.
USER = "SIZER_USER"  # author of revisions where nobody types a name

_POPOVER = "save"
UNTITLED = "Deep-learning cluster"


# --- the library


@st.cache_resource(show_spinner="Opening the library of designs", max_entries=4)
def _library(where: str) -> Library:
    return Library(where)


def library() -> Library:
    """The library, opened once for all sessions.

    Raises LibraryError if it cannot be opened; the next call tries again.
    """
    return _library(default_address(os.environ))


def fault_of(error: SizerError) -> str:
    """Error as a sentence; a database that failed is reopened the next time."""
    if isinstance(error, DatabaseError):
        _library.clear()
    return sentence(str(error))


def author() -> str:
    """Author: as typed in this session, else from the reverse proxy or the environment."""
    typed = st.session_state.get("author")
    if typed is not None:
        return str(typed)
    header = ""
    with suppress(RequestError):  # reported when the app starts
        header = user_header(os.environ)
    named = (st.context.headers.get(header) if header else None) or os.environ.get(USER, "")
    return "".join(one for one in named if one.isprintable()).strip()[:MAX_AUTHOR]


# --- state of the session


def saved() -> dict[str, Any] | None:
    """Design and revision that the session was opened from or saved as: id, revision, name."""
    opened: dict[str, Any] | None = st.session_state.get("saved")
    return opened


def price_book() -> str:
    """CSV text of the price book that the session uploaded; empty: none."""
    return str(st.session_state.get(PRICE_BOOK) or "")


def is_unsaved(view: View) -> bool:
    """Whether the request as typed differs from the saved one."""
    here = saved()
    return here is None or not view.is_current or here["state"] != _state_of(view.request_json)


def _state_of(request_json: str) -> str:
    """Identifies request and price book of the session."""
    return hashlib.sha256(f"{price_book()}\0{request_json}".encode("utf-8", "surrogatepass")).hexdigest()


def _remember(design_id: str, number: int, name: str, request_json: str) -> None:
    st.session_state.saved = {"id": design_id, "revision": number, "name": name, "state": _state_of(request_json)}


def address_of(design_id: str, number: int | None = None) -> str:
    """Short address that opens a design of the library with its prices: its newest revision, or a fixed one."""
    fixed = {} if number is None else {REVISION: number}
    return f"{(st.context.url or '').partition('?')[0]}?{urlencode({DESIGN: design_id, **fixed})}"


# --- saving


@dataclass(frozen=True)
class SaveMessage:
    """Message after a save, shown until the request changes."""

    is_fault: bool
    text: str
    about: str  # request that was saved


def controls(view: View) -> None:
    """The button that opens the form to save; not in the customer view."""
    if view.is_customer_mode:
        return
    here = saved()
    unsaved = is_unsaved(view)
    label, icon = ("Save", "save") if here is None else ("Unsaved", "edit") if unsaved else ("Saved", "check")
    with st.popover(label, icon=f":material/{icon}:", type="tertiary", key=_POPOVER, on_change="rerun"):
        if here is not None:
            changed = ", unsaved changes" if unsaved else ""
            st.markdown(f"**{plain(here['name'])}**, revision {here['revision']}{changed}")
            if here.get("since") and not unsaved:
                look.note(here["since"])
        if not view.is_current or view.sized is None:
            st.info("A request with errors cannot be saved. Correct the errors shown above first.")
        else:
            _form()
        _message(view)


def _form() -> None:
    here = saved()
    name = str(state.get(("title",)) or UNTITLED) if here is None else str(here["name"])
    # A widget stores what was typed under its key; another design gets other keys.
    about = _short("" if here is None else here["id"])
    keys = {"name": f"save-name/{_short(name)}", "comment": f"save-comment/{about}", "author": "save-author"}
    with st.form("save-form", border=False, enter_to_submit=False):
        st.text_input("Name of the design", value=name[:MAX_NAME], max_chars=MAX_NAME, key=keys["name"])
        st.text_input(
            "Comment: what changed, and why", max_chars=MAX_COMMENT, key=keys["comment"], placeholder="optional"
        )
        st.text_input("Your name", value=author(), max_chars=MAX_AUTHOR, key=keys["author"], placeholder="optional")
        with st.container(horizontal=True, gap="small"):
            first = "Save the design" if here is None else "Save as the next revision"
            st.form_submit_button(first, key="save-it", on_click=_save, args=(keys, here is None))
            if here is not None:
                other = "Save as a new design"
                st.form_submit_button(other, key="save-new", on_click=_save, args=(keys, True), type="tertiary")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _save(keys: dict[str, str], is_new: bool) -> None:
    name, comment, by = (str(st.session_state.get(keys[part]) or "") for part in ("name", "comment", "author"))
    st.session_state.author = by
    view = state.view(catalog())
    result = state.outcome(SizingRequest.from_dict(state.draft()), view.catalog).result if view.is_current else None
    if result is None:
        return  # the form is not drawn then; the errors are shown above
    about = view.request_json
    try:
        message = _stored(name, comment, by, is_new, result, view)
    except SizerError as error:
        message = SaveMessage(True, fault_of(error), about)
    else:
        st.session_state[keys["comment"]] = ""
    st.session_state.save_message = message
    # Its label changes, which makes it another popover: that one shows the message.
    st.session_state[_POPOVER] = True


def _stored(name: str, comment: str, by: str, is_new: bool, result: SizingResult, view: View) -> SaveMessage:
    content = content_of(state.draft(), price_book(), result, view.catalog)
    here, about = saved(), view.request_json
    if here is None or is_new:
        design_id = secrets.token_urlsafe(12)
        library().create(design_id, name, content, author=by, comment=comment, now=datetime.now(UTC))
        _remember(design_id, 1, name.strip(), about)
        return SaveMessage(False, "Saved as revision 1.", about)
    design_id, based_on = str(here["id"]), int(here["revision"])
    done = library().save(design_id, based_on, content, author=by, comment=comment, now=datetime.now(UTC))
    if name.strip() != here["name"]:
        library().rename(design_id, name)
    _remember(design_id, done.number, name.strip() or str(here["name"]), about)
    return SaveMessage(False, _what_became(done, based_on), about)


def _what_became(done: SaveOutcome, based_on: int) -> str:
    """Message of a save: its revision, and revisions that others saved meanwhile."""
    others = [entry for entry in done.newer_revisions if entry.number != done.number]
    if not done.is_new:
        text = f"Nothing to save: revision {done.number} is the same."
    else:
        text = f"Saved as revision {done.number}."
    if not others:
        return text
    saves = listed(f"{entry.author or 'someone'} saved revision {entry.number}" for entry in others[-3:])
    more = f" ({len(others)} revisions in all)" if len(others) > 3 else ""
    both = "; the page Designs has both, to be pinned and compared" if done.is_new else ""
    return f"{text} Meanwhile {saves}{more}, based on revision {based_on} or later{both}."


def _message(view: View) -> None:
    message: SaveMessage | None = st.session_state.get("save_message")
    if message is None or message.about != view.request_json:
        return
    if message.is_fault:
        st.error(plain(message.text), icon=":material/block:")
    else:
        st.success(plain(message.text), icon=":material/check:")


# --- opening


def open_revision(design_id: str, number: int | None = None) -> None:
    """Open a saved revision as the request of the session, and report how its result changed since.

    ``number``: Default: the newest. Raises SizerError if the library has no such revision, or this program does not
    understand its request.
    """
    design = library().design(design_id)
    revision = library().revision(design_id, design.newest.number if number is None else number)
    try:
        request = SizingRequest.from_dict(revision.request)
    except RequestError as error:
        raise RequestError(f"revision {revision.number} of {design.name} has errors: {sentences(str(error))}") from None
    if revision.price_book:
        set_price_book(revision.price_book, f"{design.name}, revision {revision.number}")
    else:
        remove_price_book()
    state.take(revision.request, f"{design.name}, revision {revision.number}")
    since = since_saved(revision, request)
    _remember(design_id, revision.number, design.name, request.model_dump_json())
    notices = [f"{design.name}, revision {revision.number}, is open."]
    if since is not None:
        st.session_state.saved["since"] = verdict(since)
        notices.append(
            "Its result is the same as when it was saved."
            if since.is_same_answer
            else "Its result has changed since it was saved; the page Designs shows why."
        )
    if revision.price_book and not price_book():
        notices.append("Its price book was not loaded: it has items that are no longer in the catalogue.")
    st.session_state.notice = " ".join(notices)


def since_saved(revision: Revision, request: SizingRequest) -> Differences | None:
    """Changes since a revision was saved; None where its result was not stored."""
    if revision.snapshot is None:
        return None
    result = state.outcome(request, catalog()).result
    today = "" if result is None else snapshot_of(result).model_dump_json()
    return differences(revision, replace(revision, snapshot_json=today))
