"""Explanation of a number on a click: formula, inputs, sources, uncertainty and assumptions."""

from collections.abc import Mapping

import streamlit as st

from sizer.catalog.schema import Source
from sizer.explain.figure import Explanation, explanation
from sizer.ui import look
from sizer.ui.state import View
from sizer.ui.typed import plain


def popover(label: str, key: str, view: View, place: str, quantity: str) -> None:
    """A small button that opens the explanation of a figure, drawn when opened.

    ``label``: of the button: the value itself, or words. Shown as it is, not as Markdown. ``place``: tells apart two
    buttons for one figure on one page. ``quantity``: what the value is of. It stands next to the button; in its
    label, small, it is for screen readers only.
    """
    name = f":small[{plain(quantity)}:] {plain(label)}"
    with st.popover(name, type="tertiary", on_change="rerun", key=f"why-{place}-{key}") as opened:
        if opened.open:
            show_inside(view.once("explanation", lambda: explanation(view.evaluated, key), key), view.catalog.sources)


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
