"""The need in words: its text in the session, how it was read, and whether it is still what the fields say."""

import copy
from typing import Any

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.ui import state
from sizer.workload.need import read_words
from sizer.workload.sentence.reading import Reading

# Plain keys of the session: the text, and the request as the fields had it when the text was given.
TEXT, FIELDS = "need", "need_fields"
_ORIGIN = "the need in words"
# Parts of the request that no need states: changing them leaves it true.
_NOT_STATED = ("title", "customer", "date", "quote", "schema_version")


@st.cache_resource(show_spinner=False, max_entries=256)
def _reading(text: str, digest: str, _parts: Catalog) -> Reading:  # noqa: ARG001  (the digest is part of the key)
    return read_words(text, _parts)


def text() -> str:
    """The need as given while the fields say what it says, so that Undo brings it back; else ""."""
    return str(st.session_state.get(TEXT, "")) if st.session_state.get(FIELDS) == _stated() else ""


def before_changes() -> str:
    """The need that the request was read from, where fields were changed since; else ""."""
    return "" if text() or st.session_state.origin != _ORIGIN else str(st.session_state.get(TEXT, ""))


def reading(parts: Catalog) -> Reading | None:
    """How the need is read; None where there is none."""
    return _reading(text(), parts.digest, parts) if text() else None


def give(words: str, parts: Catalog) -> None:
    """Take a need: as the request where it is complete, else as a question about it."""
    words = words.strip()
    found = _reading(words, parts.digest, parts) if words else None
    if found is not None and found.is_complete:
        state.take(state.dated(found.request), _ORIGIN)
    else:
        state.refresh()
    st.session_state[TEXT] = found.sentence or words if found is not None else ""
    st.session_state[FIELDS] = copy.deepcopy(_stated())


def forget() -> None:
    """Clear the need, which leaves the request that the fields say."""
    st.session_state[TEXT] = ""


def is_open(parts: Catalog) -> bool:
    """Whether the need has a question that is not answered yet."""
    found = reading(parts)
    return found is not None and not found.is_complete


def _stated() -> dict[str, Any]:
    return {key: value for key, value in state.draft().items() if key not in _NOT_STATED}
