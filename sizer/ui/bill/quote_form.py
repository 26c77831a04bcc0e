"""Heading and terms of the quote: number, revision, names, validity and deal discount."""

from typing import Any

import streamlit as st
from pydantic import ValidationError

from sizer.base.faults import in_words
from sizer.present.words import date as day
from sizer.ui import look, state
from sizer.ui.bill.overrides import CellError, note_text
from sizer.ui.error_messages import sentences
from sizer.ui.fields import draw_widget
from sizer.ui.request_form.forms import QUOTE_TERMS, QUOTE_TEXTS
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.quote import Quote

# Plain keys of the session: errors of the form, and what was typed when it had them.
_FAULTS, _TYPED = "quote_faults", "quote_typed"
_WIDTH = 260


def show(view: View) -> None:
    """Draw the form."""
    for fault in st.session_state.get(_FAULTS, ()):
        st.error(plain(fault), icon=":material/edit_off:")
    prefix = f"quote/{st.session_state.generation}"
    given = st.session_state.get(_TYPED) or state.get(("quote",)) or {}
    with st.form(f"form-{prefix}", border=False):
        for fields in (QUOTE_TEXTS, QUOTE_TERMS):
            with st.container(horizontal=True):
                for field in fields:
                    name = field.keys[-1]
                    draw_widget(field, f"{prefix}/{name}", given.get(name), width=_WIDTH)
        st.form_submit_button("Apply to the quote", on_click=_apply, args=(prefix,))
    valid_until = view.result.design.bill.valid_until if view.sized is not None else None
    look.note("The customer and the quote date are entered under Requirements, Document details.")
    look.note(
        f"The quote is valid until {day(valid_until)}."
        if valid_until is not None
        else "With a quote date the bill shows how long the quote is valid."
    )


def _apply(prefix: str) -> None:
    """Write the form into the request, or show its errors and leave the form as it is."""
    names = [field.keys[-1] for field in (*QUOTE_TEXTS, *QUOTE_TERMS)]
    written = {name: st.session_state[f"{prefix}/{name}"] for name in names}
    data, faults = read_heading(written)
    st.session_state[_FAULTS], st.session_state[_TYPED] = faults, written if faults else {}
    if not faults:
        for name in written:
            state.put(("quote", name), data.get(name))


def read_heading(written: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Heading as a request file holds it, from the fields as typed, and a sentence for each error."""
    given: dict[str, Any] = {name: text.strip() for name, text in written.items() if text.strip()}
    days = given.get("valid_days", "")
    if days.isascii() and days.isdigit():
        given["valid_days"] = int(days)
    if "discount_percent" in given:
        given["discount_percent"] = given["discount_percent"].removesuffix("%").strip()
    faults = []
    for field in QUOTE_TEXTS:
        try:
            note_text(given.get(field.keys[-1], ""))
        except CellError as error:
            faults.append(f"{field.label}: {error}.")
    try:
        made = Quote.model_validate(given)
    except ValidationError as error:
        return {}, [*faults, *(sentences(text, "quote") for text in in_words(Quote, error, "quote"))]
    return made.model_dump(mode="json", exclude_defaults=True), faults
