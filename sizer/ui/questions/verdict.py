"""The question "Do we need this?": the simplest sufficient design, and claims with their numbers."""

import streamlit as st

from sizer.present.text.verdict import verdict_text
from sizer.present.words import sentence
from sizer.questions.verdict.analysis import claims
from sizer.questions.verdict.simplest_design import SimplestDesign, simplest_design
from sizer.questions.verdict.text import (
    claims_table,
    simplest_table,
    simplest_text,
)
from sizer.ui import look, state
from sizer.ui.designs import compare
from sizer.ui.request_form.forms import in_labels
from sizer.ui.state import View
from sizer.ui.typed import plain


def show(view: View) -> None:
    """Draw the question."""
    st.header("Do we need this?", anchor=False)
    st.markdown(plain(in_labels(sentence(verdict_text(view.result)))))
    simplest = simplest_of(view)
    st.subheader("Simplest sufficient design", anchor=False)
    look.notes(simplest_text(simplest, view.result))
    look.table(simplest_table(simplest, view.result), view.catalog.sources)
    with st.container(horizontal=True, gap="small"):
        if not simplest.is_described:
            compare.use_button(simplest.allowed.request.model_dump_json(), "the simplest design", "take-simplest")
        if simplest.unrestricted is not None:
            name = "the design without the choices"
            compare.use_button(simplest.unrestricted.request.model_dump_json(), name, "take-lifted", f"Use {name}")
    _claims(view)


def simplest_of(view: View) -> SimplestDesign:
    """The simplest design of the answer on the page; its requests include discounts, which no page shows."""
    return view.once(
        "simplest design",
        lambda: simplest_design(state.whole(view)),
        doing="Searching for the simplest design",
    )


def _claims(view: View) -> None:
    found = view.once("claims", lambda: claims(view.evaluated), doing="Checking each claim")
    st.subheader("Claims", anchor=False)
    look.table(claims_table(found), view.catalog.sources)
