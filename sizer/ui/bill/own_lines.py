"""Own lines of the quote, without a catalogue item: a list, and a form for one of them."""

from typing import Any, get_args

import streamlit as st
from pydantic import ValidationError

from sizer.base.faults import in_words
from sizer.base.money import percent
from sizer.base.quantities import grouped
from sizer.present.words import sentence
from sizer.ui import look, state
from sizer.ui.bill.overrides import BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS, CellError, note_text
from sizer.ui.error_messages import sentences
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.quote import Category, QuoteLine

PLACE = ("quote", "line")
CATEGORIES: tuple[str, ...] = get_args(Category)
STATES = {"added": BOUGHT, "optional": OPTIONAL, "by others": PROVIDED_BY_OTHERS}
MAX_LINES = 500
_EDITED = "own_line"  # plain key: number of the line in the form, None for a new one
_FAULTS = "own_line_faults"
_VERSION = "own_line_version"
_TEXTS = ("description", "unit", "manufacturer", "sku", "note")
_NUMBERS = ("quantity", "term_months", "lead_time_weeks")


def show(view: View) -> None:
    """Draw the list and the form."""
    look.note("Add lines for anything else, such as installation, training or other parts.")
    lines = state.get(PLACE) or []
    for number, line in enumerate(lines):
        _listed(number, line)
    place = st.session_state.get(_EDITED)
    if place is not None and place >= len(lines):
        place = st.session_state[_EDITED] = None
    currency = view.result.request.currency if view.sized is not None else ""
    _form(place, {} if place is None else lines[place], currency)


def _listed(number: int, line: dict[str, Any]) -> None:
    description = f"{line.get('description')}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(description)}:** {plain(_words(line))}", width="stretch")
        st.button(
            "Edit",
            key=f"own-change-{number}",
            on_click=_choose,
            args=(number,),
            type="tertiary",
            icon=":material/edit:",
            help=f"Edit {plain(description)} in the form below",
        )
        st.button(
            "Remove",
            key=f"own-remove-{number}",
            on_click=_remove,
            args=(number,),
            type="tertiary",
            icon=":material/delete:",
            help=f"Remove {plain(description)} from the quote",
        )


def _words(line: dict[str, Any]) -> str:
    try:
        made = QuoteLine.model_validate(line)
    except ValidationError:
        return "has errors; edit or remove it"
    unit = "" if made.unit == "EA" else f" {made.unit}"
    price = (
        "" if made.status == "by others" else "to be quoted" if made.unit_price is None else f"{made.unit_price:.2f}"
    )
    off = f"discount {percent(made.discount_percent)} %" if made.discount_percent else ""
    parts = (made.category, f"{grouped(made.quantity)}{unit}", price, off, STATES[made.status], made.note)
    return ", ".join(part for part in parts if part)


def _form(place: int | None, line: dict[str, Any], currency: str) -> None:
    prefix = f"own/{st.session_state.generation}/{st.session_state.get(_VERSION, 0)}"
    st.subheader("Add a line" if place is None else f"Edit line {place + 1}", anchor=False)
    for fault in st.session_state.get(_FAULTS, ()):
        st.error(plain(fault), icon=":material/edit_off:")
    given = {name: "" if line.get(name) is None else str(line[name]) for name in QuoteLine.model_fields}
    with st.form(f"own-line-{prefix}", border=False):
        _text("Description", "description", given, prefix, 200)
        with st.container(horizontal=True):
            st.selectbox(
                "Category",
                CATEGORIES,
                key=f"{prefix}/category",
                width=180,
                index=CATEGORIES.index(given["category"] if given["category"] in CATEGORIES else "service"),
                format_func=lambda one: sentence(one).rstrip("."),
            )
            _text("Quantity", "quantity", {"quantity": given["quantity"] or "1"}, prefix, 7, 100)
            _text("Unit", "unit", {"unit": given["unit"] or "EA"}, prefix, 12, 100)
            _text(f"Unit list price, {currency}", "unit_price", given, prefix, 20, 170, "to be quoted")
            _text("Discount, %", "discount_percent", given, prefix, 8, 110)
            st.selectbox(
                "In the quote",
                list(STATES),
                key=f"{prefix}/status",
                width=150,
                format_func=STATES.__getitem__,
                index=list(STATES).index(given["status"] if given["status"] in STATES else "added"),
            )
        with st.container(horizontal=True):
            _text("Vendor", "manufacturer", given, prefix, 120, 180)
            _text("Part number", "sku", given, prefix, 120, 180)
            _text("Term, months", "term_months", given, prefix, 4, 120)
            _text("Lead time, weeks", "lead_time_weeks", given, prefix, 4, 140)
        _text("Note", "note", given, prefix, 300, hint="Internal; not in customer copies")
        st.form_submit_button(
            "Add the line" if place is None else "Save the line", on_click=_save, args=(prefix, place)
        )
    if place is not None:
        st.button("Cancel", on_click=_choose, args=(None,), type="tertiary")


def _text(
    label: str,
    name: str,
    given: dict[str, str],
    prefix: str,
    longest: int,
    width: int | None = None,
    placeholder: str = "",
    hint: str | None = None,
) -> None:
    st.text_input(
        label,
        given[name],
        max_chars=longest,
        key=f"{prefix}/{name}",
        placeholder=placeholder,
        help=hint,
        width="stretch" if width is None else width,
    )


def _save(prefix: str, place: int | None) -> None:
    """Store the form as a line, or report the error of each field and leave the form as it is."""
    written = {name: st.session_state[f"{prefix}/{name}"] for name in QuoteLine.model_fields}
    data, faults = read_line(written)
    lines = list(state.get(PLACE) or [])
    if not faults and place is None and len(lines) >= MAX_LINES:
        faults = [f"A quote has at most {MAX_LINES} own lines."]
    st.session_state[_FAULTS] = faults
    if faults:
        return
    if place is None:
        lines.append(data)
    else:
        lines[place] = data
    state.put(PLACE, lines)
    _choose(None)


def read_line(written: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """A line as a request file has it, from the fields as typed, and a sentence for each error."""
    typed = {name: text.strip() for name, text in written.items() if text.strip()}
    given: dict[str, Any] = dict(typed)
    for name in _NUMBERS:
        # What is not a whole number stays as typed; the error names it.
        if name in given and given[name].isascii() and given[name].isdigit() and len(given[name]) <= 9:
            given[name] = int(given[name])
    faults = []
    for name in _TEXTS:
        try:
            note_text(given.get(name, ""))
        except CellError as error:
            faults.append(f"{sentence(name).rstrip('.')}: {error}.")
    try:
        made = QuoteLine.model_validate(given)
    except ValidationError as error:
        return {}, [*faults, *(sentences(text, "line") for text in in_words(QuoteLine, error, "line"))]
    return made.model_dump(mode="json", exclude_defaults=True), faults


def _choose(number: int | None) -> None:
    st.session_state[_EDITED] = number
    st.session_state[_FAULTS] = []
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _remove(number: int) -> None:
    lines = list(state.get(PLACE) or [])
    if number < len(lines):
        del lines[number]
    state.put(PLACE, lines)
    _choose(None)
