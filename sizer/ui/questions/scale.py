"""A question of the page What-if: the same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Sequence

import streamlit as st

from sizer.base.errors import SizerError
from sizer.present.words import plural
from sizer.questions.scale.analysis import (
    ArrangedDesign,
    EqualGpuComparison,
    job_gpus,
    scale_comparison,
)
from sizer.questions.scale.text import (
    excluded_table,
    hardware_table,
    rates_table,
    steps_table,
    storage_text,
)
from sizer.ui import look
from sizer.ui.error_messages import sentences
from sizer.ui.performance.page import chosen_workload
from sizer.ui.questions.tried import Tried
from sizer.ui.state import View
from sizer.ui.typed import plain

# Larger clusters take too long for a page; the command line accepts up to 10,000.
MOST_GPUS = 1024
# Arrangements that are compared, those of the design first; the command has all of them.
_SHOWN = 6


def show(view: View) -> None:
    """Draw the question."""
    number = chosen_workload(view.result.design, "what-if")
    st.header("Scale up or scale out", anchor=False)
    tried = Tried("scale", view.key)
    here = job_gpus(view.result)
    n_gpus = st.number_input(
        "GPUs in total",
        1,
        max(MOST_GPUS, here),
        **tried.widget("gpus", here),
        help="All arrangements use the same number of GPUs.",
        width=200,
    )
    try:
        same = view.once(
            "scale",
            lambda: scale_comparison(view.evaluated, n_gpus).comparisons[0],
            n_gpus,
            doing="Comparing other servers with the same GPUs",
        )
    except SizerError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    ways = same.designs[:_SHOWN]
    look.note(storage_text(same, view.result.design.storage_nodes))
    if len(same.designs) == 1:
        st.info(f"No other server can be filled with {plural(same.n_gpus, 'GPU')}; try another number.")
    _compared(view, number, same, ways)
    look.table(excluded_table(same.excluded), view.catalog.sources, "Excluded from the comparison")


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
