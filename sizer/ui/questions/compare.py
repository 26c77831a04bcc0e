"""Which input caused the difference between two requests: drawn on the pages What-if and Designs."""

import re

import streamlit as st

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.present.words import capital
from sizer.questions.compare.cause_tables import cause_sentences, effects_table, no_answer, shares_table, summary
from sizer.questions.compare.causes import Difference, diff
from sizer.ui import fields, look
from sizer.ui.designs.compare import pins
from sizer.ui.designs.revision_tables import fields_table
from sizer.ui.error_messages import label_of, sentences
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_CHOSEN = "causes_baseline"


@st.cache_resource(show_spinner="Sizing the request with each change", max_entries=32)
def _difference(before_json: str, now_json: str, digest: str, _catalog: Catalog) -> Difference:  # noqa: ARG001
    before, now = (SizingRequest.model_validate_json(text) for text in (before_json, now_json))
    return diff(before, now, _catalog)


def draw(before: SizingRequest, now: SizingRequest, names: tuple[str, str], catalog: Catalog) -> None:
    """Sentences and tables of what each changed input does.

    Parameters
    ----------
    before, now : SizingRequest
    names : tuple of str
        What the two are called in the heads of tables.
    catalog : Catalog
    """
    try:
        found = _difference(before.model_dump_json(), now.model_dump_json(), catalog.digest, catalog)
    except RequestError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    currency = now.currency
    said = [summary(found), *no_answer(found, *names), *cause_sentences(found, currency, input_label)]
    st.markdown("\n\n".join(plain(text) for text in said))
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
    """An input in the words of the pages; of several workloads with its number."""
    if key.startswith("workload '"):
        return capital(key)
    number = re.search(r"\[(\d+)\]", key)
    return f"{label_of(key)} ({int(number[1]) + 1})" if number else label_of(key)


def show(view: View) -> None:
    """Draw the question of the page What-if: the request against another one."""
    assert view.result is not None
    st.header("What changed the answer", anchor=False)
    if view.is_customer_mode:
        st.info("Leave customer mode to compare requests.", icon=":material/visibility_off:")
        return
    others = _others(view)
    if not others:
        st.info(
            "The request is what it was when it was opened. Change something, or pin a design on the page "
            "Architecture: the page then says which input does how much.",
            icon=":material/info:",
        )
        return
    names = list(others)
    chosen = fields.kept_choice("The request now is set against", names, _CHOSEN)
    if not view.is_current:
        look.note("The request as typed has no answer; what is compared is the last one that had.")
    draw(others[chosen], view.result.request, ("Then", "Now"), view.catalog)


def _others(view: View) -> dict[str, SizingRequest]:
    """Requests that the present one can be set against, by name."""
    assert view.result is not None
    named = [("As it was opened", st.session_state.original), *((one["name"], one["request_json"]) for one in pins())]
    found: dict[str, SizingRequest] = {}
    for name, data in named:
        try:
            request = SizingRequest.from_text(data, "json") if isinstance(data, str) else SizingRequest.from_dict(data)
        except RequestError:  # a request that was begun with a fault in it
            continue
        if request != view.result.request:
            found[name] = request
    return found
