"""The question "Do we need this?": the simplest sufficient design, and claims with what would reverse them."""

from collections.abc import Sequence

import streamlit as st

from sizer.present.text.verdict import verdict_text
from sizer.present.words import sentence
from sizer.questions.verdict.analysis import claims
from sizer.questions.verdict.claim import Claim
from sizer.questions.verdict.reversal import Reversal
from sizer.questions.verdict.simplest_design import SimplestDesign, simplest_design
from sizer.questions.verdict.text import (
    arithmetic_table,
    claims_table,
    input_text,
    reversal_text,
    simplest_table,
    simplest_text,
)
from sizer.ui import look, state
from sizer.ui.designs import compare
from sizer.ui.request_form.forms import in_labels, kind_of
from sizer.ui.state import View
from sizer.ui.typed import plain, written


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
            json = simplest.unrestricted.request.model_dump_json()
            st.button(
                "Use the design without the choices",
                key="take-lifted",
                icon=":material/swap_horiz:",
                on_click=compare.use_design,
                args=(json, "the design without the choices"),
            )
    _claims(view)


def simplest_of(view: View) -> SimplestDesign:
    """The simplest design of the answer on the page; its requests include discounts, which no page shows."""
    return view.once(
        "simplest design",
        lambda: simplest_design(state.whole(view)),
        doing="Searching for the simplest design",
    )


def _claims(view: View) -> None:
    found = view.once("claims", lambda: claims(view.evaluated), doing="Searching for what would reverse each claim")
    st.subheader("Claims and what would reverse them", anchor=False)
    table, arithmetic = claims_table(found, view.result), arithmetic_table(found)
    if table is None or arithmetic is None:
        st.info("This design contains parts that are no longer in the catalogue; its claims cannot be checked.")
        return
    look.table(table, view.catalog.sources)
    look.table(arithmetic, view.catalog.sources, "Calculation")
    _try(found, view)


def _try(claims_: Sequence[Claim], view: View) -> None:
    """One of the changes, written into the request on a press."""
    # One change may reverse several claims; it is described for the first of them.
    changes: dict[tuple[str, float], tuple[Reversal, str]] = {}
    for claim in claims_:
        if claim.reversal is not None:
            which = (claim.reversal.input.key, claim.reversal.after)
            changes.setdefault(which, (claim.reversal, reversal_text(claim)))
    st.subheader("Try a change that reverses a claim", anchor=False)
    if not changes:
        look.note("No realistic change of the request reverses any of them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Change to the request",
            list(changes),
            format_func=lambda which: changes[which][1],
            key=f"reversal/{view.key}",
        )
        reversal, _ = changes[chosen]
        st.button(
            "Apply this change",
            key="try-change",
            icon=":material/science:",
            on_click=_take,
            args=(reversal,),
            disabled=not view.is_current,
            help=f"Writes {plain(input_text(reversal.input, reversal.after))} into the request and resizes it.",
        )


def _take(reversal: Reversal) -> None:
    """Write the change into the request as a person would type it."""
    path, value = reversal.input.path, reversal.after
    kind = kind_of(path)
    state.put(path, int(value) if kind is None else written(kind, value))
    state.refresh("The request was changed and resized. Undo restores the previous one.")
