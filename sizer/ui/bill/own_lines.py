"""Own lines of the quote, without a catalogue item: a list, and a form for one of them."""

from typing import Any

import streamlit as st
from pydantic import ValidationError

from sizer.base.money import percent
from sizer.base.quantities import grouped
from sizer.ui import look, state
from sizer.ui.bill.overrides import BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS, read_typed
from sizer.ui.fields import draw_widget
from sizer.ui.request_form.forms import QUOTE_LINE
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.quote import QuoteLine

PLACE = ("quote", "line")
MAX_LINES = 500
# Plain keys of the session: number of the line in the form, None for a new one; its errors, and what was typed then.
_EDITED, _FAULTS, _TYPED = "own_line", "own_line_faults", "own_line_typed"
_VERSION = "own_line_version"
_STATES = {"added": BOUGHT, "optional": OPTIONAL, "by others": PROVIDED_BY_OTHERS}
_NEW = {"category": "service", "quantity": "1", "unit": "EA"}
_WIDTHS = {"category": 180, "unit_price": 170, "status": 160, "manufacturer": 180, "sku": 180, "lead_time_weeks": 140}
_WIDTH = 120


def show(_view: View) -> None:
    """Draw the list and the form."""
    look.note("Add lines for anything else, such as installation, training or other parts.")
    lines = state.get(PLACE) or []
    for number, line in enumerate(lines):
        _listed(number, line)
    place = st.session_state.get(_EDITED)
    if place is not None and place >= len(lines):
        place = st.session_state[_EDITED] = None
    _form(place, _NEW if place is None else lines[place])


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
    parts = (
        made.category,
        f"{grouped(made.quantity)}{unit}",
        price,
        off,
        _STATES[made.status],
        made.note,
    )
    return ", ".join(part for part in parts if part)


def _form(place: int | None, line: dict[str, Any]) -> None:
    prefix = f"own/{st.session_state.generation}/{st.session_state.get(_VERSION, 0)}"
    st.subheader("Add a line" if place is None else f"Edit line {place + 1}", anchor=False)
    for fault in st.session_state.get(_FAULTS, ()):
        st.error(plain(fault), icon=":material/edit_off:")
    given = st.session_state.get(_TYPED) or line
    with st.form(f"own-line-{prefix}", border=False):
        for row in QUOTE_LINE:
            with st.container(horizontal=True):
                for field in row:
                    name = field.keys[-1]
                    width = "stretch" if len(row) == 1 else _WIDTHS.get(name, _WIDTH)
                    draw_widget(field, f"{prefix}/{name}", given.get(name), width=width)
        st.form_submit_button(
            "Add the line" if place is None else "Save the line", on_click=_save, args=(prefix, place)
        )
    if place is not None:
        st.button("Cancel", on_click=_choose, args=(None,), type="tertiary")


def _save(prefix: str, place: int | None) -> None:
    """Store the form as a line, or report the error of each field and leave the form as it is."""
    written = {name: st.session_state[f"{prefix}/{name}"] for name in QuoteLine.model_fields}
    data, faults = read_typed(QuoteLine, (field for row in QUOTE_LINE for field in row), written, "line")
    lines = list(state.get(PLACE) or [])
    if not faults and place is None and len(lines) >= MAX_LINES:
        faults = [f"A quote has at most {MAX_LINES} own lines."]
    st.session_state[_FAULTS], st.session_state[_TYPED] = faults, written if faults else {}
    if faults:
        return
    if place is None:
        lines.append(data)
    else:
        lines[place] = data
    state.put(PLACE, lines)
    _choose(None)


def _choose(number: int | None) -> None:
    st.session_state[_EDITED] = number
    st.session_state[_FAULTS], st.session_state[_TYPED] = [], {}
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _remove(number: int) -> None:
    lines = list(state.get(PLACE) or [])
    if number < len(lines):
        del lines[number]
    state.put(PLACE, lines)
    _choose(None)
