"""The data on the storage, on the page Requirements: ingest, snapshots, reserve, checkpoints and preparation."""

import streamlit as st

from sizer.present.words import inside_sentence, listed
from sizer.ui import fields, state
from sizer.ui.changes import in_words
from sizer.ui.request_form.field import RequestPath
from sizer.ui.request_form.forms import DATA, words_of
from sizer.ui.request_form.names import label_at
from sizer.ui.requirements import serving
from sizer.ui.requirements.language import trains_language
from sizer.ui.session_catalog import catalog

HERE: RequestPath = ("data",)
# Fields that mean nothing without a checkpoint interval.
_OF_CHECKPOINTS = ("checkpoints_kept", "checkpoint_bytes_per_parameter")
# Fields that the head of the fold sums up in words of their own; others by their labels.
_SUMMED = (
    *("ingest", "snapshot_share", "reserve_share", "minimum_capacity_bytes", "minimum_read_bytes_per_s"),
    *("minimum_write_bytes_per_s", "checkpoint_every_s", "transform_core_s", "raw_sample_bytes", "copy_to_local"),
)
# First values of a request without any; a notice names them as assumptions.
START = {
    "snapshot_share": 0.2,
    "reserve_share": 0.5,
    "checkpoint_every_s": "1 h",
    "checkpoints_kept": 10,
}


def show() -> None:
    """Draw the fold."""
    fields.draw_form("Data on the storage", _summary(), DATA, "data", "data", "Apply data settings", _complete)


def begin() -> None:
    """Enter usual values, with a notice that they are assumptions."""
    for field, value in START.items():
        state.put((*HERE, field), value)
    state.refresh(
        "Assumed values, editable on the page Requirements: 20 % of the data for snapshots, 50 % capacity reserve, "
        "and an hourly checkpoint, ten of them retained."
    )


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


def _summary() -> str:
    parts = []
    path = state.get((*HERE, "ingest"))
    if path:
        parts.append(f"ingest {words_of('data.ingest', path).lower()}")
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
    given = state.get(HERE)
    parts += [inside_sentence(label_at((*HERE, field))) for field in given or () if field not in _SUMMED]
    if parts:
        return ", ".join(parts)
    paths: list[RequestPath] = [("workload", number) for number in range(len(state.get(("workload",)) or ()))]
    if all(map(serving.is_served, paths)):
        return "weights of the models"
    has_checkpoints = any(trains_language(catalog(), path) and not serving.is_served(path) for path in paths)
    return "data sets and checkpoints" if has_checkpoints else "data sets only"
