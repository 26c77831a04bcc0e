"""Page Requirements: workloads, allowed equipment and limits."""

import streamlit as st

from sizer.base.formats.toml_text import to_toml
from sizer.present.words import listed, slug
from sizer.ui import fields, state
from sizer.ui.request_form.forms import (
    DATA,
    DOCUMENT,
    FABRIC_AND_ROOM,
    LIMITS,
    PLATFORMS,
    RESILIENCE,
    RequestPath,
    label_at,
)
from sizer.ui.requirements import surroundings, workload
from sizer.ui.requirements.surroundings import GROWTH, OWNERSHIP, RENTAL, TEAM
from sizer.ui.state import View

HERE: RequestPath = ("data",)
# Fields that mean nothing without a checkpoint interval.
_OF_CHECKPOINTS = ("checkpoints_kept", "checkpoint_bytes_per_parameter")


def _complete() -> None:
    """Without a checkpoint interval, remove what only checkpoints need, with a notice."""
    if state.get((*HERE, "checkpoint_every_s")):
        return
    removed = [label_at(path) for field in _OF_CHECKPOINTS if state.get(path := (*HERE, field)) is not None]
    for field in _OF_CHECKPOINTS:
        state.put((*HERE, field), None)
    if removed:
        st.session_state.notice = f"{listed(removed)}: removed, because the checkpoint interval is empty. Enter it too."
    state.refresh()


_MEGABYTES = 1  # upload limit of the browser's file field
# What a request may leave out.
_OPTIONAL = (TEAM, GROWTH, OWNERSHIP, RENTAL)


def show(view: View) -> None:
    """Draw the page."""
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
    workload.draw(view, workload.selected_workload())
    st.header("Options and limits", anchor=False)
    with st.container(gap="xxsmall", key="options"):
        _options(view)


def _options(view: View) -> None:
    """What few requests state: a fold each, and buttons for what this one leaves out."""
    fields.draw_form("Allowed equipment", PLATFORMS, "may-be-used", "platforms")
    fields.draw_form("Limits", LIMITS, "not-exceeded", "limits")
    surroundings.existing(view)
    surroundings.stated_storage(view)
    fields.draw_form("Fabric and room", FABRIC_AND_ROOM, "fabric-and-room", "fabric-and-room")
    fields.draw_form("Data on the storage", DATA, "data", "data", _complete)
    fields.draw_form("Redundancy", RESILIENCE, "may-fail", "resilience")
    for optional in _OPTIONAL:
        if optional.is_given:
            optional.show()
    fields.draw_form("Document details", DOCUMENT, "printed", "project")
    if left_out := [optional for optional in _OPTIONAL if not optional.is_given]:
        with st.container(horizontal=True, gap="small", key="left-out"):
            for optional in left_out:
                optional.begin_button(f"enter-{optional.key}")


# --- where the request comes from


def _example_chosen(name: str) -> None:
    if st.session_state[name] in state.examples():
        state.load_example(st.session_state[name])


def _uploaded(name: str) -> None:
    file = st.session_state[name]
    if file is not None:
        state.load_upload(file.name, file.getvalue())
        state.refresh()
