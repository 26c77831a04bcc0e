"""The data on the storage, on the page Requirements: ingest, snapshots, reserve, checkpoints and preparation."""

import streamlit as st

from sizer.ui import fields, state
from sizer.ui.changes import in_words
from sizer.ui.request_form.data import DATA, INGEST_PATHS
from sizer.ui.request_form.field import RequestPath

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
    folded = fields.fold("Data on the storage", _summary(), "data")
    if not folded.open:
        return
    with folded:
        fields.draw_form(DATA, "data", "Apply data settings", _complete)


def begin() -> None:
    """Enter usual values, with a notice that they are assumptions."""
    for field, value in START.items():
        state.put((*HERE, field), value)
    st.session_state.notice = (
        "Assumed values, editable on the page Requirements: 20 % of the data for snapshots, 50 % capacity reserve, "
        "and an hourly checkpoint, ten of them retained."
    )
    state.refresh()


def _complete() -> None:
    """Without a checkpoint interval, remove what only checkpoints need."""
    if not state.get((*HERE, "checkpoint_every_s")):
        for field in _OF_CHECKPOINTS:
            state.put((*HERE, field), None)
        state.refresh()


def _summary() -> str:
    parts = []
    path = state.get((*HERE, "ingest"))
    if path:
        parts.append(f"ingest {str(INGEST_PATHS.get(path, path)).lower()}")
    for field, what in (("snapshot_share", "snapshots"), ("reserve_share", "reserve")):
        share = state.get((*HERE, field))
        if isinstance(share, (int, float)) and share:
            parts.append(f"{share:.0%} {what}")
    least = state.get((*HERE, "minimum_capacity_bytes"))
    if least:
        parts.append(f"at least {in_words('minimum_capacity_bytes', least)} usable")
    for field, what in (("minimum_read_bytes_per_s", "reads"), ("minimum_write_bytes_per_s", "writes")):
        rate = state.get((*HERE, field))
        if rate:
            parts.append(f"at least {in_words(field, rate)} of {what}")
    every = state.get((*HERE, "checkpoint_every_s"))
    if every:
        parts.append(f"checkpoints every {in_words('checkpoint_every_s', every)}")
    if state.get((*HERE, "transform_core_s")) or state.get((*HERE, "raw_sample_bytes")):
        parts.append("transformed before training")
    if state.get((*HERE, "copy_to_local")):
        parts.append("copied to local drives")
    return ", ".join(parts) or "data sets only"
