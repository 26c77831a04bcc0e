"""Up to four pinned designs side by side, with differences from a baseline marked."""

import streamlit as st

from sizer.base.errors import RequestError
from sizer.questions.compare.designs import MOST, Compared, bill_table, figures_table
from sizer.questions.compare.requests import request_table
from sizer.ui import fields, look, state
from sizer.ui.error_messages import name_of, sentences
from sizer.ui.request_form.names import label_of
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.ui.uploads import without_empty_values
from sizer.workload.request import SizingRequest

# A plain key of the session, so that pins survive page switches: [{"name": ..., "request_json": ...}, ...]
PINS = "pins"
_BASELINE = "baseline"


def pins() -> list[dict[str, str]]:
    """Pinned designs in the order in which they were pinned."""
    pinned: list[dict[str, str]] = st.session_state.setdefault(PINS, [])
    return pinned


def is_pinned(request_json: str) -> bool:
    """Whether a design is among the pinned ones."""
    return any(pin["request_json"] == request_json for pin in pins())


def pin(name: str, request_json: str) -> None:
    """Pin a design, or show why not."""
    if is_pinned(request_json):
        st.session_state.notice = "This design is already pinned."
    elif len(pins()) >= MOST:
        st.session_state.notice = f"Already {MOST} designs are pinned; unpin one first."
    else:
        pins().append({"name": _unique(name), "request_json": request_json})
        st.session_state.notice = f"Pinned: {name}. Pinned designs are compared at the end of the page Architecture."


def _unique(name: str) -> str:
    """The name, with a number where another pinned design has it."""
    taken = {one["name"] for one in pins()}
    number, unique = 2, name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


def unpin(request_json: str) -> None:
    """Unpin a design."""
    st.session_state[PINS] = [one for one in pins() if one["request_json"] != request_json]


def pin_button(name: str, request_json: str, key: str) -> None:
    """Button that pins a design, or unpins it."""
    if is_pinned(request_json):
        st.button("Unpin", key=key, icon=":material/keep_off:", on_click=unpin, args=(request_json,))
    else:
        st.button("Pin", key=key, icon=":material/keep:", on_click=pin, args=(name, request_json))


def use_button(request_json: str, origin: str, key: str) -> None:
    """Button that makes a design the one shown on all pages."""
    st.button(
        "Use this design", key=key, icon=":material/swap_horiz:", on_click=use_design, args=(request_json, origin)
    )


def use_design(request_json: str, origin: str) -> None:
    """Make the request of a design the present one."""
    request = SizingRequest.model_validate_json(request_json)
    state.take(without_empty_values(request.model_dump(mode="json", exclude_defaults=True)), origin)
    st.session_state.notice = "The request now gives this design. Undo restores the previous request."


def show(view: View) -> None:
    """Draw the pinned designs side by side."""
    st.header("Pinned designs side by side", anchor=False)
    listed = pins()
    if not listed:
        look.note(
            f"No design is pinned. Pin up to {MOST} designs above, also from different requests, to compare them here."
        )
        return
    compared = [_compared(pinned, view) for pinned in listed]
    known = [design for design in compared if design is not None]
    if len(known) > 1:
        names = [design.name for design in known]
        baseline = names.index(fields.remembered_choice("Baseline of the comparison", names, _BASELINE))
        sources = view.catalog.sources
        look.table(figures_table(known, baseline), sources)
        parts = bill_table(known, baseline)
        asked = request_table(known, baseline, label_of, name_of)
        with st.expander("Parts that differ", key="compare-parts", on_change="rerun") as opened:
            if opened.open:
                look.note("The parts lists are the same.") if parts is None else look.table(parts, sources)
        with st.expander("Differences between the requests", key="compare-requests", on_change="rerun") as opened:
            if opened.open:
                look.note("The requests are the same.") if asked is None else look.table(asked, sources)
    elif known:
        look.note(f"Pinned: {known[0].name}. Pin another design to compare the two.")
    _manage(listed, view)


def _compared(one: dict[str, str], view: View) -> Compared | None:
    """A pinned design with its result; None, and a warning, where the present catalogue gives none."""
    try:
        SizingRequest.from_text(one["request_json"], "json", one["name"])
    except RequestError as error:
        fault = sentences(str(error), one["name"])
    else:
        result = state.shown(one["request_json"], view.catalog)
        if result is not None:
            return Compared(one["name"], result)
        outcome = state.outcome(SizingRequest.model_validate_json(one["request_json"]), view.catalog)
        fault = sentences(outcome.refused or outcome.infeasible)
    st.warning(
        f"{plain(one['name'])} has no result with the present catalogue: {plain(fault)}", icon=":material/warning:"
    )
    return None


def _manage(listed: list[dict[str, str]], view: View) -> None:
    for number, one in enumerate(listed):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            shown = " (present design)" if one["request_json"] == view.request_json else ""
            st.markdown(f"{plain(one['name'])}{shown}", width=420)
            if not shown:
                use_button(one["request_json"], "a pinned design", f"take-pin-{number}")
            st.button(
                "Unpin", key=f"unpin-{number}", icon=":material/keep_off:", on_click=unpin, args=(one["request_json"],)
            )
