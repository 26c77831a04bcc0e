"""What the limits give, for requests that ask for the highest rate: the answer and the front of each limit."""

import streamlit as st

from sizer.questions.maximum.charts import front_chart
from sizer.questions.maximum.tables import front_table
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.result import SizingResult
from sizer.ui import look
from sizer.ui.look import Spec
from sizer.ui.state import View


def show(view: View) -> None:
    """Draw the section; nothing where every target was given."""
    result = view.result
    if result is None or result.maximum is None:
        return
    with_amounts = not view.is_customer_mode
    st.header("What the limits allow", anchor=False)
    look.notes(maximum_sentences(result, with_amounts=with_amounts))
    specs = _specs(view.key, look.palette().name, with_amounts, result)
    for front, spec in zip(result.maximum.fronts, specs, strict=True):
        if spec is not None:
            look.chart(spec)
        table = front_table(front, result, with_amounts=with_amounts)
        if table is not None:
            with st.expander(table.caption):
                look.table(table, view.catalog.sources)


@st.cache_resource(show_spinner=False, max_entries=32)
def _specs(
    answer_key: str,  # noqa: ARG001  (names the result)
    palette_name: str,
    with_amounts: bool,
    _result: SizingResult,
) -> list[Spec | None]:
    """Charts of the fronts as specifications."""
    assert _result.maximum is not None  # the section is drawn for one only
    colours = look.palette_named(palette_name)
    drawn = [
        front_chart(front, _result, colours, "container", with_amounts=with_amounts) for front in _result.maximum.fronts
    ]
    return [None if one is None else one.to_dict(validate=False) for one in drawn]
