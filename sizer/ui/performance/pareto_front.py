"""The Pareto front of designs as a chart, and the request of one of them."""

import streamlit as st

from sizer.base.errors import InfeasibleError
from sizer.present import charts
from sizer.present.words import sentence
from sizer.questions.alternatives.analysis import Description, description
from sizer.questions.alternatives.text import change_text
from sizer.sizing.result import ParetoPoint
from sizer.ui import look, state
from sizer.ui.designs import compare
from sizer.ui.state import View

_HEIGHT = 360


def show(view: View) -> None:
    """Draw the front, and the request of the selected design."""
    others = [point for point in view.result.pareto if not point.is_documented]
    if not others:
        look.note("No alternative: no other design is better in cost, size, time, power or rack space.")
        return
    look.charted(view, "front", lambda colours: charts.pareto_chart(view.result, colours, "container", _HEIGHT))
    names = [point.name for point in others]
    chosen = st.selectbox(
        "Alternative design",
        names,
        index=None,
        placeholder="none selected",
        key=f"front-{st.session_state.generation}-list",
        width=520,
    )
    if chosen is not None:
        _offer(others[names.index(chosen)], view)


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
