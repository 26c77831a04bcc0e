"""The question "Do we need this?": the simplest sufficient design, and claims with what would overturn them."""

from collections.abc import Sequence

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.present.verdict_text import verdict_text
from sizer.present.words import sentence
from sizer.questions.verdict.analysis import Claim, claims
from sizer.questions.verdict.reversal import Change
from sizer.questions.verdict.simplest_design import SimplestDesign, simplest
from sizer.questions.verdict.tables import arithmetic_table, claims_table, simplest_table, simplest_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.ui import look, state
from sizer.ui.designs import compare
from sizer.ui.error_messages import kind_of
from sizer.ui.state import View
from sizer.ui.typed import plain, written
from sizer.workload.request import SizingRequest


def show(view: View) -> None:
    """Draw the question."""
    assert view.result is not None
    st.header("Do we need this?", anchor=False)
    st.markdown(plain(sentence(verdict_text(view.result))))
    _simplest(view)
    _claims(view)


def found_simplest(view: View) -> SimplestDesign:
    """The simplest design of the answer on the page; its requests keep discounts, which no page shows."""
    return _simplest_of(view.request_json, view.catalog.digest, view.catalog)


@st.cache_resource(show_spinner="Looking for the simplest design", max_entries=32)
def _simplest_of(request_json: str, digest: str, _parts: Catalog) -> SimplestDesign:  # noqa: ARG001  (the digest is part of the key)
    whole = state.outcome(SizingRequest.model_validate_json(request_json), _parts).result
    assert whole is not None  # it is the answer that the page shows
    return simplest(EvaluatedDesign(whole, _parts))


@st.cache_resource(show_spinner="Looking for what would overturn each claim", max_entries=16)
def _found_claims(
    answer_key: str,  # noqa: ARG001  (names the result)
    _result: SizingResult,
    _catalog: Catalog,
) -> tuple[Claim, ...]:
    return claims(EvaluatedDesign(_result, _catalog))


def _simplest(view: View) -> None:
    assert view.result is not None
    found = found_simplest(view)
    st.subheader("The simplest design that is enough", anchor=False)
    look.notes(simplest_text(found, view.result))
    look.table(simplest_table(found, view.result), view.catalog.sources)
    with st.container(horizontal=True, gap="small"):
        if not found.is_described:
            compare.describe_button(found.allowed.request.model_dump_json(), "the simplest design", "take-simplest")
        if found.lifted is not None:
            json = found.lifted.request.model_dump_json()
            st.button(
                "Describe the one without the choices",
                key="take-lifted",
                icon=":material/swap_horiz:",
                on_click=compare.describe,
                args=(json, "the simplest design without the choices"),
            )


def _claims(view: View) -> None:
    assert view.result is not None
    found = _found_claims(view.key, view.result, view.catalog)
    st.subheader("Claims and what would overturn them", anchor=False)
    table, arithmetic = claims_table(found, view.result), arithmetic_table(found)
    if table is None or arithmetic is None:
        st.info("The catalogue no longer holds all parts of this design, so no claim can be tried on it.")
        return
    look.table(table, view.catalog.sources)
    with st.expander("The arithmetic"):
        look.table(arithmetic, view.catalog.sources)
    _try([claim.overturn for claim in found if claim.overturn is not None], view)


def _try(found: Sequence[Change], view: View) -> None:
    """One of the changes, written into the request on a press."""
    # One change may turn several claims; it is told for the first of them.
    changes: dict[tuple[str, float], Change] = {}
    for one in found:
        changes.setdefault((one.key, one.after), one)
    st.subheader("Try what would overturn a claim", anchor=False)
    if not changes:
        look.note("No sensible change of the request overturns any of them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Change of the request",
            list(changes),
            format_func=lambda which: changes[which].sentence,
            key=f"overturn/{view.key}",
        )
        change = changes[chosen]
        st.button(
            "Try it",
            key="try-change",
            icon=":material/science:",
            on_click=_take,
            args=(change,),
            disabled=not view.is_current,
            help=f"Writes {plain(change.after_text)} into the request, which is sized anew.",
        )


def _take(change: Change) -> None:
    """Write the change into the request as a person would type it."""
    kind = kind_of(change.path)
    state.put(change.path, int(change.after) if kind is None else written(kind, change.after))
    st.session_state.notice = "The change is in the request, which was sized anew. Undo brings the one before back."
    state.refresh()
