"""Causes of the difference between two requests: drawn on the pages What-if and Designs."""

import re

import streamlit as st

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.present.words import capital
from sizer.questions.compare.cause_tables import cause_sentences, effects_table, no_answer, shares_table, summary
from sizer.questions.compare.causes import AnswerDifference, diff
from sizer.ui import fields, look
from sizer.ui.designs.compare import pins
from sizer.ui.designs.revision_tables import fields_table
from sizer.ui.error_messages import sentences
from sizer.ui.request_form.names import label_of
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_CHOSEN = "causes_baseline"


@st.cache_resource(show_spinner="Sizing the request with each change", max_entries=32)
def _difference(before_json: str, now_json: str, digest: str, _catalog: Catalog) -> AnswerDifference:  # noqa: ARG001
    before, now = (SizingRequest.model_validate_json(text) for text in (before_json, now_json))
    return diff(before, now, _catalog)


def draw(before: SizingRequest, now: SizingRequest, names: tuple[str, str], catalog: Catalog) -> None:
    """Sentences and tables of the effect of each changed input.

    Parameters
    ----------
    before, now : SizingRequest
    names : tuple of str
        Names of the two in table heads.
    catalog : Catalog
    """
    try:
        found = _difference(before.model_dump_json(), now.model_dump_json(), catalog.digest, catalog)
    except RequestError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    currency = now.currency
    texts = [summary(found), *no_answer(found, *names), *cause_sentences(found, currency, input_label)]
    st.markdown("\n\n".join(plain(text) for text in texts))
    tables = (
        shares_table(found, currency, input_label),
        effects_table(found, *names, input_label),
        fields_table(found.changes, *names),
    )
    for table in tables:
        if table is not None:
            st.subheader(table.caption, anchor=False)
            look.table(table, catalog.sources)


def input_label(key: str) -> str:
    """Name of an input; of several workloads with its number."""
    if key.startswith("workload '"):
        return capital(key)
    number = re.search(r"\[(\d+)\]", key)
    return f"{label_of(key)} ({int(number[1]) + 1})" if number else label_of(key)


def show(view: View) -> None:
    """Draw the question of the page What-if: the request compared with another one."""
    assert view.result is not None
    st.header("What changed the answer", anchor=False)
    if view.is_customer_mode:
        st.info("Turn off the customer view to compare requests.", icon=":material/visibility_off:")
        return
    others = _others(view)
    if not others:
        st.info(
            "The request has not changed since it was opened. Change an input, or pin a design on the page "
            "Architecture; this page then shows the effect of each input.",
            icon=":material/info:",
        )
        return
    names = list(others)
    chosen = fields.remembered_choice("Compare the present request with", names, _CHOSEN)
    if not view.is_current:
        look.note("The request as entered has no result; the comparison uses the last one that had.")
    draw(others[chosen], view.result.request, ("Before", "Now"), view.catalog)


def _others(view: View) -> dict[str, SizingRequest]:
    """Requests that the present one can be compared with, by name."""
    assert view.result is not None
    named = [("Request as opened", st.session_state.original), *((one["name"], one["request_json"]) for one in pins())]
    found: dict[str, SizingRequest] = {}
    for name, data in named:
        try:
            request = SizingRequest.from_text(data, "json") if isinstance(data, str) else SizingRequest.from_dict(data)
        except RequestError:  # the session started from a request with an error
            continue
        if request != view.result.request:
            found[name] = request
    return found
