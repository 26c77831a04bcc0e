"""Page Requirements: workloads, allowed equipment and limits."""

import re

import streamlit as st

from sizer.base.errors import RequestError
from sizer.base.toml_text import to_toml
from sizer.catalog.model import Catalog
from sizer.present.words import slug
from sizer.ui import fields, state
from sizer.ui.error_messages import sentences
from sizer.ui.request_form.cluster import FABRICS, LIMITS, PLATFORMS
from sizer.ui.request_form.names import label_at
from sizer.ui.request_form.options import orderable_servers, usable_storage
from sizer.ui.request_form.workload import DOCUMENT
from sizer.ui.requirements import (
    data_form,
    growth_form,
    ownership_form,
    rental_form,
    resilience_form,
    surroundings,
    team_form,
    workload,
)
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.sentence import EXAMPLE, MAX_CHARACTERS, read_sentence

_MEGABYTES = 1  # upload limit of the browser's file field


def show(view: View) -> None:
    """Draw the page."""
    _sentence(view.catalog)
    _start_from()
    st.header("Workload", anchor=False)
    workload.draw(view, workload.selected_workload())
    st.header("Options and limits", anchor=False)
    _platforms()
    _limits()
    surroundings.existing(view)
    surroundings.stated_storage(view)
    surroundings.fabric_and_room()
    data_form.show()
    team_form.show()
    resilience_form.show()
    growth_form.show()
    ownership_form.show()
    rental_form.show()
    _document_details()


# --- where the request comes from


def _start_from() -> None:
    left, middle, right = st.columns([5, 2, 2], vertical_alignment="bottom", gap="small")
    with left:
        names = dict(state.examples())
        origin = st.session_state.origin
        if origin not in names:
            names[origin] = f"({origin})"
        name = f"origin/{st.session_state.generation}"
        if name not in st.session_state:
            st.session_state[name] = origin
        st.selectbox(
            "Start from",
            list(names),
            format_func=lambda stem: names.get(stem, stem),
            key=name,
            on_change=_example_chosen,
            args=(name,),
            help="Published architectures, templates of common workloads, and typical questions. "
            "Your choice replaces the request; Undo restores it.",
        )
    with middle, st.popover("Open a request", icon=":material/upload_file:", width="stretch"):
        upload = f"upload/{st.session_state.generation}"
        st.file_uploader(
            "Request (TOML or JSON) or design.json",
            type=["toml", "json"],
            key=upload,
            max_upload_size=_MEGABYTES,
            on_change=_uploaded,
            args=(upload,),
        )
    with right:
        title = slug(str(state.get(("title",)) or "")) or "cluster"
        st.download_button(
            "Download the request",
            to_toml(state.draft()),
            f"{title}.toml",
            "application/toml",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
            help="The request as entered. Opening this file gives the same design.",
        )


def _sentence(parts: Catalog) -> None:
    """The need in one sentence, and how it was read."""
    key = f"sentence/{st.session_state.generation}"
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get("sentence", "")
    st.text_input(
        "Describe the need in one sentence",
        key=key,
        max_chars=MAX_CHARACTERS,
        placeholder=EXAMPLE,
        on_change=_sentence_given,
        args=(key, parts),
        help="Neural network, data and target: a rate, a time to train or a number of GPUs. Optional: servers, "
        "storage, epochs and confidence. It replaces the request; Undo restores it.",
    )
    error, reading = st.session_state.get("sentence_fault", ""), st.session_state.get("sentence_read", "")
    if error:
        st.caption(f":red[:material/error: {plain(error)}]")
    elif reading:
        st.caption(plain(reading))


def _sentence_given(key: str, parts: Catalog) -> None:
    text = st.session_state[key].strip()
    st.session_state.sentence_fault = st.session_state.sentence_read = ""
    st.session_state.sentence = text
    if not text:
        return
    try:
        reading = read_sentence(text, parts)
    except RequestError as error:
        st.session_state.sentence_fault = sentences(str(error), "sentence")
        return
    read = ", ".join(f"{words} ({meaning})" if words else meaning for words, meaning in reading.read)
    unread = f" Not understood: {', '.join(reading.unread)}." if reading.unread else ""
    st.session_state.sentence_read = f"Read: {read}.{unread}"
    state.take(state.dated(reading.request), "one sentence")


def _example_chosen(name: str) -> None:
    st.session_state.sentence = st.session_state.sentence_read = st.session_state.sentence_fault = ""
    if st.session_state[name] in state.examples():
        state.load_example(st.session_state[name])


def _uploaded(name: str) -> None:
    file = st.session_state[name]
    if file is not None:
        state.load_upload(file.name, file.getvalue())
        state.refresh()


# --- allowed equipment, limits, document details


def _platforms() -> None:
    names = {**orderable_servers(), **usable_storage(), **FABRICS}
    chosen = [
        names.get(item, item)
        for part in ("servers", "storage", "fabrics")
        for item in state.get(("platforms", part)) or ()
    ]
    summary = ", ".join(re.sub(r" \(.*\)", "", name) for name in chosen) or "all orderable equipment"
    folded = fields.fold("Allowed equipment", summary, "may-be-used")
    if folded.open:
        with folded:
            fields.draw_form(PLATFORMS, "platforms", "Apply allowed equipment")


def _limits() -> None:
    limits = [
        f"{label_at(path).lower()} {value}"
        for part in ("budget", "racks", "rack_power_w", "power_w", "rack_units", "servers")
        if (value := state.get(path := ("limits", part)))
    ]
    folded = fields.fold("Limits", ", ".join(limits) or "none", "not-exceeded")
    if folded.open:
        with folded:
            fields.draw_form(LIMITS, "limits", "Apply limits")


def _document_details() -> None:
    title = str(state.get(("title",)) or "Deep-learning cluster")
    customer = str(state.get(("customer",)) or "no customer")
    folded = fields.fold("Document details", f"{title}, {customer}", "printed")
    if folded.open:
        with folded:
            fields.draw_form(DOCUMENT, "project", "Apply document details")
