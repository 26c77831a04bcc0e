"""Heading and terms of the quote: number, revision, for whom, by whom, how long, and the discount of the deal."""

from typing import Any

import streamlit as st
from pydantic import ValidationError

from sizer.base.faults import in_words
from sizer.present.words import date as day
from sizer.ui import look, state
from sizer.ui.bill.overrides import CellError, note_text
from sizer.ui.error_messages import sentences
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.quote import Quote

_FAULTS = "quote_faults"
_TEXTS = {
    "number": ("Number", "As your company numbers its quotes"),
    "revision": ("Revision", "Stands in the names of the files, too"),
    "prepared_for": ("Prepared for", "Left empty: the customer of the request"),
    "prepared_by": ("Prepared by", "Person or team"),
}
_LONGEST = 120


def show(view: View) -> None:
    """Draw the form."""
    for fault in st.session_state.get(_FAULTS, ()):
        st.error(plain(fault), icon=":material/edit_off:")
    prefix = f"quote/{st.session_state.generation}"
    given = state.get(("quote",)) or {}
    with st.form(f"form-{prefix}", border=False):
        with st.container(horizontal=True):
            for name, (label, hint) in _TEXTS.items():
                st.text_input(
                    label, str(given.get(name, "")), key=f"{prefix}/{name}", max_chars=_LONGEST, help=hint, width=260
                )
        with st.container(horizontal=True):
            valid, off = str(given.get("valid_days", "")), str(given.get("discount_percent", ""))
            st.text_input(
                "Valid for, days",
                valid,
                key=f"{prefix}/valid_days",
                placeholder="30",
                max_chars=6,
                width=260,
                help="1 to 365; 30 is usual, 14 where memory or GPUs drive the prices",
            )
            st.text_input(
                "Discount of the deal, %",
                off,
                key=f"{prefix}/discount_percent",
                placeholder="0",
                max_chars=8,
                width=260,
                help="0 to 100, on the sum of the net prices, after the discounts of the lines",
            )
        st.form_submit_button("Apply to the quote", on_click=_apply, args=(prefix,))
    valid_until = view.result.design.bill.valid_until if view.result is not None else None
    look.note(
        f"The quote holds until {day(valid_until)}."
        if valid_until is not None
        else "With a date of the request, under Requirements, the bill says until when the quote holds."
    )


def _apply(prefix: str) -> None:
    """Take the form into the request, or say what is wrong and leave the form as it is."""
    written = {name: st.session_state[f"{prefix}/{name}"] for name in (*_TEXTS, "valid_days", "discount_percent")}
    data, faults = read_heading(written)
    st.session_state[_FAULTS] = faults
    if not faults:
        for name in written:
            state.put(("quote", name), data.get(name))


def read_heading(written: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Heading as a request file holds it, from the fields as typed, and a sentence for each that is wrong."""
    given: dict[str, Any] = {name: text.strip() for name, text in written.items() if text.strip()}
    days = given.get("valid_days", "")
    if days.isascii() and days.isdigit():
        given["valid_days"] = int(days)
    if "discount_percent" in given:
        given["discount_percent"] = given["discount_percent"].removesuffix("%").strip()
    faults = []
    for name, (label, _) in _TEXTS.items():
        try:
            note_text(given.get(name, ""))
        except CellError as error:
            faults.append(f"{label}: {error}.")
    try:
        made = Quote.model_validate(given)
    except ValidationError as error:
        return {}, [*faults, *(sentences(text, "quote") for text in in_words(Quote, error, "quote"))]
    return made.model_dump(mode="json", exclude_defaults=True), faults
