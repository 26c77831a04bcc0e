"""The data on the storage, on the page Requirements: how they get in, what is kept beside them, what is done ahead."""

import streamlit as st

from sizer.ui import fields, state
from sizer.ui.error_messages import Path_

HERE: Path_ = ("data",)
WAYS = {
    "": "The quickest that the design has",
    "gateway": "Through the gateway",
    "front-end": "Through the front end of the storage",
    "head-node": "Through the head node",
}
_FIELDS = (
    "ingest",
    "source_bytes_per_s",
    "snapshot_share",
    "reserve_share",
    "checkpoint_every_s",
    "checkpoints_kept",
    "checkpoint_bytes_per_parameter",
    "transform_core_s",
    "raw_sample_bytes",
    "copy_to_local",
)
# What hangs on the period of checkpoints, and says nothing without it.
_OF_CHECKPOINTS = ("checkpoints_kept", "checkpoint_bytes_per_parameter")
# What the data are begun with where nothing is stated; a notice says that it is assumed.
START = {
    "snapshot_share": 0.2,
    "reserve_share": 0.5,
    "checkpoint_every_s": "1 h",
    "checkpoints_kept": 10,
}


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Data on the storage", _said(), "data")
    if not folded.open:
        return
    with folded, st.form("data-form", border=False):
        left, middle, right = st.columns(3, gap="large")
        with left:
            fields.choice("Way in", (*HERE, "ingest"), WAYS, "", "By which the data reach the storage.", in_form=True)
            fields.quantity(
                "Rate of the source",
                (*HERE, "source_bytes_per_s"),
                "What the customer's archive and its network deliver.",
                "not stated",
                in_form=True,
            )
            fields.flag(
                "Copy to local drives first",
                (*HERE, "copy_to_local"),
                "Compare a copy on every server's own drives with reading the storage in every epoch.",
            )
        with middle:
            fields.number(
                "Snapshots, share of the data",
                (*HERE, "snapshot_share"),
                "Space that snapshots take: 0.2 is a fifth of the data.",
                0.0,
                1.0,
                "0",
                in_form=True,
            )
            fields.number(
                "Reserve, share of the data",
                (*HERE, "reserve_share"),
                "Space that stays free for data to come: 0.5 is half as much again.",
                0.0,
                20.0,
                "0",
                in_form=True,
            )
            fields.number(
                "Core-seconds to transform a sample",
                (*HERE, "transform_core_s"),
                "Work on one sample ahead of training. Without it the cost of decoding stands in.",
                1e-9,
                1e6,
                "not transformed",
                in_form=True,
            )
            fields.quantity(
                "Raw sample",
                (*HERE, "raw_sample_bytes"),
                "Size in which a sample comes, where it is transformed ahead. The raw set is kept, too.",
                "as prepared",
                in_form=True,
            )
        with right:
            fields.quantity(
                "Checkpoint every", (*HERE, "checkpoint_every_s"), "Empty: none are counted.", "none", in_form=True
            )
            fields.whole(
                "Checkpoints kept", (*HERE, "checkpoints_kept"), "Of each training.", 100_000, "1", in_form=True
            )
            fields.number(
                "Bytes a parameter in a checkpoint",
                (*HERE, "checkpoint_bytes_per_parameter"),
                "Default: 8, weights and momentum in single precision.",
                1.0,
                64.0,
                "8",
                in_form=True,
            )
        st.form_submit_button("Apply these data", on_click=_store)


def begin() -> None:
    """Enter what is usually kept beside the data, and say that it is assumed."""
    for field, value in START.items():
        state.put((*HERE, field), value)
    st.session_state.notice = (
        "Assumed, to be changed on the page Requirements: 20 % of the data for snapshots, 50 % in reserve, and a "
        "checkpoint every hour, of which ten are kept."
    )
    state.refresh()


def _store() -> None:
    fields.store_all([(*HERE, field) for field in _FIELDS])
    if not state.get((*HERE, "ingest")):
        state.put((*HERE, "ingest"), None)
    if not state.get((*HERE, "checkpoint_every_s")):
        for field in _OF_CHECKPOINTS:
            state.put((*HERE, field), None)
        state.refresh()


def _said() -> str:
    said = []
    way = state.get((*HERE, "ingest"))
    if way:
        said.append(str(WAYS.get(way, way)).lower())
    for field, what in (("snapshot_share", "snapshots"), ("reserve_share", "reserve")):
        share = state.get((*HERE, field))
        if isinstance(share, (int, float)) and share:
            said.append(f"{share:.0%} {what}")
    every = state.get((*HERE, "checkpoint_every_s"))
    if every:
        said.append(f"checkpoints every {every}")
    if state.get((*HERE, "transform_core_s")) or state.get((*HERE, "raw_sample_bytes")):
        said.append("transformed ahead")
    if state.get((*HERE, "copy_to_local")):
        said.append("copied to local drives")
    return ", ".join(said) or "the data sets alone"
