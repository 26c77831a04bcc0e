"""Up to four designs pinned and side by side, with what differs from one of them marked."""

import streamlit as st

from sizer.base.errors import RequestError
from sizer.questions.compare.designs import MOST, Compared, bill_table, figures_table
from sizer.questions.compare.requests import request_table
from sizer.ui import fields, look, state
from sizer.ui.error_messages import label_of, name_of, sentences
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.ui.uploads import without_nothing
from sizer.workload.request import SizingRequest

# A plain key of the session, so that pins survive page switches: [{"name": ..., "request_json": ...}, ...]
PINS = "pins"
_BASELINE = "baseline"


def pins() -> list[dict[str, str]]:
    """Pinned designs in the order in which they were pinned."""
    found: list[dict[str, str]] = st.session_state.setdefault(PINS, [])
    return found


def is_pinned(request_json: str) -> bool:
    """Whether a design is among the pinned ones."""
    return any(pin["request_json"] == request_json for pin in pins())


def pin(name: str, request_json: str) -> None:
    """Pin a design, or say why not."""
    if is_pinned(request_json):
        st.session_state.notice = "This design is pinned already."
    elif len(pins()) >= MOST:
        st.session_state.notice = f"{MOST} designs are pinned already; unpin one of them first."
    else:
        pins().append({"name": _unlike_others(name), "request_json": request_json})
        st.session_state.notice = f"Pinned: {name}. Pinned designs are compared at the end of the page Architecture."


def _unlike_others(name: str) -> str:
    """The name, with a number where another pinned design has it."""
    taken = {one["name"] for one in pins()}
    number, found = 2, name
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    return found


def unpin(request_json: str) -> None:
    """Take a design from the pinned ones."""
    st.session_state[PINS] = [one for one in pins() if one["request_json"] != request_json]


def pin_button(name: str, request_json: str, key: str) -> None:
    """Button that pins a design, or unpins it."""
    if is_pinned(request_json):
        st.button("Unpin", key=key, icon=":material/keep_off:", on_click=unpin, args=(request_json,))
    else:
        st.button("Pin", key=key, icon=":material/keep:", on_click=pin, args=(name, request_json))


def describe_button(request_json: str, origin: str, key: str) -> None:
    """Button that makes a request the one that all pages describe."""
    st.button(
        "Describe this one", key=key, icon=":material/swap_horiz:", on_click=describe, args=(request_json, origin)
    )


def describe(request_json: str, origin: str) -> None:
    """Take the request of a design; the pages describe it from now on."""
    request = SizingRequest.model_validate_json(request_json)
    state.take(without_nothing(request.model_dump(mode="json", exclude_defaults=True)), origin)
    st.session_state.notice = "The request now leads to this design. Undo brings the one before back."


def show(view: View) -> None:
    """Draw the pinned designs side by side."""
    st.header("Pinned designs side by side", anchor=False)
    listed = pins()
    if not listed:
        look.note(
            f"None is pinned. Up to {MOST} designs can be pinned above, also after a change of the request; "
            "they stand side by side here."
        )
        return
    found = [_compared(one, view) for one in listed]
    known = [one for one in found if one is not None]
    if len(known) > 1:
        names = [one.name for one in known]
        baseline = names.index(fields.kept_choice("Baseline: the others are told against it", names, _BASELINE))
        sources = view.catalog.sources
        look.table(figures_table(known, baseline), sources)
        parts = bill_table(known, baseline)
        asked = request_table(known, baseline, label_of, name_of)
        with st.expander("Parts that differ", key="compare-parts", on_change="rerun") as opened:
            if opened.open:
                look.note("The parts lists hold the same.") if parts is None else look.table(parts, sources)
        with st.expander("Requests that lead to them", key="compare-requests", on_change="rerun") as opened:
            if opened.open:
                look.note("They ask for the same.") if asked is None else look.table(asked, sources)
    elif known:
        look.note(f"Pinned: {known[0].name}. Pin another one to compare the two.")
    _manage(listed, view)


def _compared(one: dict[str, str], view: View) -> Compared | None:
    """A pinned design with its answer; None, and a sentence, where the catalogue no longer gives one."""
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
        f"{plain(one['name'])} has no answer with the present catalogue: {plain(fault)}", icon=":material/warning:"
    )
    return None


def _manage(listed: list[dict[str, str]], view: View) -> None:
    for number, one in enumerate(listed):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            shown = " (described on all pages)" if one["request_json"] == view.request_json else ""
            st.markdown(f"{plain(one['name'])}{shown}", width=420)
            if not shown:
                describe_button(one["request_json"], "a pinned design", f"take-pin-{number}")
            st.button(
                "Unpin", key=f"unpin-{number}", icon=":material/keep_off:", on_click=unpin, args=(one["request_json"],)
            )
