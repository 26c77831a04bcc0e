"""Explanation of a number on a click: formula, inputs, sources, uncertainty and assumptions."""

from collections.abc import Mapping

import streamlit as st

from sizer.catalog.schema import Source
from sizer.explain.figure import Explanation, explanation
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.ui import look
from sizer.ui.state import View
from sizer.ui.typed import plain


@st.cache_resource(show_spinner=False, max_entries=256)
def _cached(answer_key: str, key: str, _result: SizingResult, _view: View) -> Explanation:  # noqa: ARG001  (names the result)
    return explanation(EvaluatedDesign(_result, _view.catalog), key)


def popover(label: str, key: str, view: View, place: str, quantity: str) -> None:
    """A small button that opens the explanation of a figure, drawn when opened.

    ``label``: of the button: the value itself, or words. Shown as it is, not as Markdown. ``place``: tells apart two
    buttons for one figure on one page. ``quantity``: what the value is of. It stands next to the button; in its
    label, small, it is for screen readers only.
    """
    name = f":small[{plain(quantity)}:] {plain(label)}"
    with st.popover(name, type="tertiary", on_change="rerun", key=f"why-{place}-{key}") as opened:
        if opened.open:
            assert view.result is not None
            show_inside(_cached(view.key, key, view.result, view), view.catalog.sources)


def show_inside(explanation: Explanation, sources: Mapping[str, Source]) -> None:
    """Draw an explanation without the button."""
    st.markdown(f"**{plain(explanation.title)}: {plain(explanation.answer)}**")
    if explanation.formula:
        st.markdown(f"*{plain(explanation.formula)}*")
    if explanation.inputs.rows:
        look.table(explanation.inputs, sources)
    for head, sentences in (
        ("Derivation", explanation.reasons),
        ("Uncertainty", explanation.uncertainty),
        ("Assumptions", explanation.assumptions),
    ):
        if sentences:
            st.caption(f"**{head}**")
            look.notes(sentences)
