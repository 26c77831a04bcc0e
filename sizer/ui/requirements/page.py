"""Page Requirements: workloads, allowed equipment and limits."""

import re
from collections.abc import Mapping

import streamlit as st

from sizer.base.formats.toml_text import to_toml
from sizer.present.words import inside_sentence, slug
from sizer.ui import fields, state
from sizer.ui.changes import in_words
from sizer.ui.error_messages import name_of
from sizer.ui.request_form.forms import DOCUMENT, LIMITS, PLATFORMS
from sizer.ui.request_form.names import label_at
from sizer.ui.requirements import data_form, resilience_form, surroundings, team_form, workload
from sizer.ui.requirements.optional_tables import GROWTH, OWNERSHIP, RENTAL
from sizer.ui.state import View

_MEGABYTES = 1  # upload limit of the browser's file field
# What may be used, by name in the head of its fold.
_NAMED = ("servers", "gpus", "generations", "storage", "fabrics")


def show(view: View) -> None:
    """Draw the page."""
    _start_from()
    workload.draw(view, workload.selected_workload())
    st.header("Options and limits", anchor=False)
    with st.container(gap="xxsmall", key="options"):
        _options(view)


def _options(view: View) -> None:
    """What few requests state: a fold each."""
    given = state.get(("platforms",))
    given = given if isinstance(given, Mapping) else {}
    named = [re.sub(r" \(.*\)", "", name_of(item)) for part in _NAMED for item in given.get(part) or ()]
    others = [inside_sentence(label_at(("platforms", part))) for part in given if part not in _NAMED]
    summary = ", ".join([*named, *others]) or "all orderable equipment"
    fields.draw_form("Allowed equipment", summary, PLATFORMS, "may-be-used", "platforms", "Apply allowed equipment")
    _limits()
    surroundings.existing(view)
    surroundings.stated_storage(view)
    surroundings.fabric_and_room()
    data_form.show()
    team_form.show()
    resilience_form.show()
    for optional in (GROWTH, OWNERSHIP, RENTAL):
        optional.show()
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
            on_change=state.if_stored(name, _example_chosen),
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
            on_change=state.if_stored(upload, _uploaded),
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


def _example_chosen(name: str) -> None:
    if st.session_state[name] in state.examples():
        state.load_example(st.session_state[name])


def _uploaded(name: str) -> None:
    file = st.session_state[name]
    if file is not None:
        state.load_upload(file.name, file.getvalue())
        state.refresh()


# --- allowed equipment, limits, document details


def _limits() -> None:
    limits = [
        f"{inside_sentence(label_at(path))} {in_words(part, value)}"
        for part in ("budget", "racks", "rack_power_w", "power_w", "rack_units", "servers", "gpus")
        if (value := state.get(path := ("limits", part)))
    ]
    fields.draw_form("Limits", ", ".join(limits) or "none", LIMITS, "not-exceeded", "limits", "Apply limits")


def _document_details() -> None:
    title = str(state.get(("title",)) or "Deep-learning cluster")
    customer = str(state.get(("customer",)) or "no customer")
    fields.draw_form(
        "Document details", f"{title}, {customer}", DOCUMENT, "printed", "project", "Apply document details"
    )
