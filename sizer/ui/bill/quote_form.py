"""Heading and terms of the quote: number, revision, names, validity and deal discount."""

import streamlit as st

from sizer.present.words import date as day
from sizer.ui import look, state
from sizer.ui.bill.overrides import read_typed
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
    data, faults = read_typed(Quote, (*QUOTE_TEXTS, *QUOTE_TERMS), written, "quote")
    st.session_state[_FAULTS], st.session_state[_TYPED] = faults, written if faults else {}
    if not faults:
        for name in written:
            state.put(("quote", name), data.get(name))
