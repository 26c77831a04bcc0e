"""A question of the page What-if: the same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import streamlit as st

from sizer.base.errors import SizerError
from sizer.present.words import plural
from sizer.questions.scale.analysis import (
    ArrangedDesign,
    ArrangementPair,
    EqualGpuComparison,
    RowOrder,
    scale_comparison,
)
from sizer.questions.scale.text import (
    NOTHING,
    difference,
    excluded_table,
    hardware_table,
    rates_table,
    steps_table,
    storage_text,
)
from sizer.ui import look, state
from sizer.ui.error_messages import sentences
from sizer.ui.performance.page import chosen_workload
from sizer.ui.state import View
from sizer.ui.typed import plain

# Larger clusters take too long for a page; the command line accepts up to 10,000.
MOST_GPUS = 1024
# Arrangements that are compared at first; the others wait in the list.
_SHOWN = 6
_ORDERS: Mapping[RowOrder, str] = {
    "listed": "as listed",
    "rate": "highest rate first",
    "rack-units": "fewest rack units first",
    "watts": "least power first",
    "ports": "fewest ports first",
}
assert set(_ORDERS) == set(get_args(RowOrder))


def show(view: View) -> None:
    """Draw the question."""
    number = chosen_workload(view.result.design, "what-if")
    st.header("Scale up or scale out", anchor=False)
    choices = _choices(view.key)
    try:
        same = view.once(
            "scale",
            lambda: next(iter(scale_comparison(view.evaluated, choices["gpus"]).comparisons), None),
            choices["gpus"],
            doing="Comparing other servers with the same GPUs",
        )
    except SizerError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    if same is None:
        st.info(NOTHING)
        return
    if choices["of"] != same.n_gpus:
        others = {way.arrangement.name for way in same.designs[_SHOWN:]}
        choices.update(of=same.n_gpus, gpus=same.n_gpus, off=others)
    _inputs(same, choices)
    ways = [
        way for way in same.ordered(choices["order"]) if way is same.first or way.arrangement.name not in choices["off"]
    ]
    look.note(storage_text(same, view.result.design.storage_nodes))
    if len(same.designs) == 1:
        st.info(f"No other server can be filled with {plural(same.n_gpus, 'GPU')}; try another number.")
    _compared(view, number, same, ways)
    excluded = excluded_table(same.excluded, same.n_gpus, view.catalog)
    look.table(excluded, view.catalog.sources, "Excluded from the comparison")


def _choices(answer_key: str) -> dict[str, Any]:
    """Inputs of this question for one answer; a new answer starts with the GPUs of its design."""
    choices: dict[str, Any] = st.session_state.get("scale", {})
    if choices.get("answer") != answer_key:
        order = choices.get("order", "listed")
        choices = st.session_state.scale = {
            "answer": answer_key,
            "gpus": None,
            "of": None,
            "off": set(),
            "order": order,
        }
    return choices


def _inputs(same: EqualGpuComparison, choices: dict[str, Any]) -> None:
    names = [way.arrangement.name for way in same.designs[1:]]
    for key, value in (
        ("scale/gpus", choices["gpus"]),
        ("scale/order", choices["order"]),
        ("scale/shown", [name for name in names if name not in choices["off"]]),
    ):
        st.session_state[key] = value
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.number_input(
            "GPUs in total",
            1,
            max(MOST_GPUS, same.n_gpus),
            key="scale/gpus",
            help="All arrangements use the same number of GPUs.",
            on_change=state.stores("scale/gpus", "scale", "gpus"),
            width=200,
        )
        st.selectbox(
            "Order",
            list(_ORDERS),
            format_func=lambda key: _ORDERS[key],
            key="scale/order",
            help="As listed: the servers of the design first, then the order of the catalogue. Rows are not ranked.",
            on_change=state.stores("scale/order", "scale", "order"),
            width=240,
        )
    st.multiselect(
        f"Compare {plain(same.first.arrangement.name)} with",
        names,
        key="scale/shown",
        placeholder="none",
        on_change=state.if_stored("scale/shown", _store_shown),
        args=(names,),
    )


def _store_shown(names: Sequence[str]) -> None:
    st.session_state.scale["off"] = set(names) - set(st.session_state["scale/shown"])


def _compared(view: View, number: int, same: EqualGpuComparison, ways: Sequence[ArrangedDesign]) -> None:
    sources, first = view.catalog.sources, same.first
    look.table(rates_table(ways, number, first=first), sources)
    table = steps_table(ways, number, first=first)
    answer = first.runs[number].answer
    if table is None and answer.kind.trains_language:
        look.note("Of language models, the layout decides the time of a step; the page Performance has its parts.")
    elif table is None:
        look.note("Batch inference exchanges no gradients, so there is no step breakdown.")
    else:
        st.subheader("Time per training step", anchor=False)
        look.table(table, sources)
    st.subheader("Hardware and price", anchor=False)
    look.table(hardware_table(ways, view.catalog, first=first), sources)
    shown = [ArrangementPair(first, way) for way in ways if way is not first]
    shown += [
        pair
        for pair in same.form_pairs
        if {pair.first.arrangement.name, pair.second.arrangement.name} <= {way.arrangement.name for way in ways}
    ]
    if shown:
        with st.expander("Summary of the differences"):
            look.notes([difference(pair) for pair in shown])
