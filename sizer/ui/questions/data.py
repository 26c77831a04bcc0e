"""A question of the page What-if: required capacity, ingest time, checkpoints, and local copies of the data."""

import streamlit as st

from sizer.present.availability import checkpoint_tables
from sizer.questions.data.analysis import data_plan
from sizer.questions.data.text import (
    assumptions_table,
    copy_text,
    ingest_text,
    questions,
    required_capacity_table,
    routes_table,
    transform_text,
    validation_table,
)
from sizer.ui import look
from sizer.ui.state import View
from sizer.workload.data import DataRequest


def show(view: View) -> None:
    """Draw the question."""
    st.header("Data and ingest", anchor=False)
    plan = view.once("data", lambda: data_plan(view.evaluated), doing="Calculating capacity and ingest")
    if view.result.request.data == DataRequest():
        if plan.required.checkpoints_bytes:
            lacks, holds = "checkpoint interval", "has to hold the data sets and the usual checkpoints"
        else:
            lacks, holds = "checkpoints", "only has to hold the data sets"
        st.info(
            f"The request has no snapshots, reserve or {lacks}: the storage {holds}. They are entered on the page "
            "Requirements, Data on the storage."
        )
    look.table(required_capacity_table(plan), view.catalog.sources)
    st.subheader("Ingest time", anchor=False)
    look.note(ingest_text(plan.ingest))
    look.table(routes_table(plan.ingest), view.catalog.sources)
    if plan.transform is not None:
        look.note(transform_text(plan.transform))
    checkpoints = checkpoint_tables(plan.design)
    if checkpoints or plan.validations:
        st.subheader("Checkpoints and validation", anchor=False)
        for table in checkpoints:
            look.table(table, view.catalog.sources)
        look.table(validation_table(plan.validations), view.catalog.sources)
    if plan.copies:
        st.subheader("Copy to local drives first", anchor=False)
        look.notes([copy_text(one) for one in plan.copies])
    look.table(assumptions_table(plan), view.catalog.sources, "Assumptions")
    with st.expander("Questions to the vendor about writing"):
        look.notes(questions(plan))
