"""The data on the storage, on the page Requirements: ingest, snapshots, reserve, checkpoints and preparation."""

import streamlit as st

from sizer.present.words import listed
from sizer.ui import fields, state
from sizer.ui.request_form.forms import DATA, RequestPath, label_at

HERE: RequestPath = ("data",)
# Fields that mean nothing without a checkpoint interval.
_OF_CHECKPOINTS = ("checkpoints_kept", "checkpoint_bytes_per_parameter")
# First values of a request without any; a notice names them as assumptions.
START = {
    "snapshot_share": 0.2,
    "reserve_share": 0.5,
    "checkpoint_every_s": "1 h",
    "checkpoints_kept": 10,
}


def show() -> None:
    """Draw the fold."""
    fields.draw_form("Data on the storage", DATA, "data", "data", _complete)


def begin() -> None:
    """Enter usual values, with a notice that they are assumptions."""
    for field, value in START.items():
        state.put((*HERE, field), value)
    state.refresh(f"Assumed values, editable on the page Requirements: {fields.summary(DATA)}.")


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
