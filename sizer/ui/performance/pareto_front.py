"""The Pareto front of designs, as a chart with selectable points."""

import copy
from typing import Any

import streamlit as st

from sizer.base.errors import InfeasibleError
from sizer.present import charts
from sizer.present.words import sentence
from sizer.questions.alternatives.analysis import Description, description
from sizer.questions.alternatives.text import change_text
from sizer.sizing.result import ParetoPoint
from sizer.ui import look, state
from sizer.ui.designs import compare
from sizer.ui.look import Spec
from sizer.ui.state import View

_HEIGHT = 360
_PICK = "picked"  # name of the selection inside the chart
# A point smaller than this is hard to hit. [square px]
_POINT_AREA = 110


def show(view: View) -> None:
    """Draw the front, and the request of the selected point."""
    colours = look.palette()

    def drawn() -> Spec | None:
        spec = look.spec_of(charts.pareto_chart(view.result, colours, "container", _HEIGHT))
        return None if spec is None else selectable(spec)

    spec = view.once("front", drawn, colours.name)
    others = [point for point in view.result.pareto if not point.is_documented]
    if spec is None or not others:
        look.note("No alternative: no other design is better in cost, size, time, power or rack space.")
        return
    key = f"front-{st.session_state.generation}"
    title = spec["title"]["text"]
    event = st.vega_lite_chart(
        copy.deepcopy(spec),
        theme=None,
        width="stretch",
        alt=title if isinstance(title, str) else " ".join(title),
        on_select="rerun",
        key=key,
    )
    picked = _picked(event)
    names = [point.name for point in others]
    # A click on the chart moves the list; the list alone serves those who work by keyboard.
    if picked in names and st.session_state.get("front_clicked") != picked:
        st.session_state[f"{key}-list"] = picked
    st.session_state.front_clicked = picked
    chosen = st.selectbox(
        "Alternative design; or click a point in the chart",
        names,
        index=None,
        placeholder="none selected",
        key=f"{key}-list",
        width=520,
    )
    if chosen is not None:
        _offer(others[names.index(chosen)], view)


def _picked(event: Any) -> str | None:
    """Name of the point that was clicked last."""
    points = event.selection.get(_PICK, []) if event is not None else []
    return str(points[-1]["name"]) if points and "name" in points[-1] else None


def _offer(point: ParetoPoint, view: View) -> None:
    def described() -> Description | str:
        try:
            return description(point, state.whole(view))
        except InfeasibleError as error:
            return str(error)

    found = view.once("description", described, point.name, doing="Sizing the selected design")
    if isinstance(found, str):
        look.note(f"No request gives {point.name}: {sentence(found)}")
        return
    request_json = found.request.model_dump_json()
    change = change_text(found.request, view.evaluated)
    if found.is_exact:
        look.note(f"Change to the request: {change}")
    else:
        look.note(
            f"This many servers need a higher target, which also needs more storage: {found.design.name}. "
            f"Change to the request: {change}"
        )
    with st.container(horizontal=True, gap="small"):
        compare.pin_button(found.design.name, request_json, "pin-front")
        compare.use_button(request_json, "an alternative design", "take-front")


def selectable(spec: Spec) -> Spec:
    """The chart with selectable points for all designs except the present one."""
    points = next(layer for layer in spec["layer"] if layer["mark"].get("filled") is False)
    # A hollow mark would take a click on its line only.
    points["mark"] |= {"fill": "transparent", "size": _POINT_AREA, "cursor": "pointer"}
    points["params"] = [{"name": _PICK, "select": {"type": "point", "fields": ["name"]}}]
    width = points["mark"].get("strokeWidth", 1.4)
    points["encoding"]["strokeWidth"] = {
        "condition": {"param": _PICK, "value": 2 * width, "empty": False},
        "value": width,
    }
    return spec
