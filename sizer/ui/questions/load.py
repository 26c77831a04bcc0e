"""A question of the page What-if: a language model in use, resized for another load, other lengths or other limits."""

from collections.abc import Mapping

import streamlit as st

from sizer.base.quantities import duration, grouped, significant
from sizer.questions.compare.designs import Compared, figures_table
from sizer.ui import look, state
from sizer.ui.error_messages import sentences
from sizer.ui.performance.page import chosen_workload
from sizer.ui.questions.tried import Tried
from sizer.ui.request_form.forms import RequestPath, label_at
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_COUNTS = ("input_tokens", "output_tokens")
_LIMITS = ("first_token_s", "token_s")


def show(view: View) -> None:
    """Draw the question."""
    number = chosen_workload(view.result.design, "what-if")
    st.header("Other load or limits", anchor=False)
    look.note("The cluster is resized for these values. The request stays as it is until they are applied.")
    tried = Tried("load", f"{number} {view.request_json}")
    values = _sliders(view, number, tried)
    tried.buttons(view, _take, (values,), is_moved=bool(values), can_take=bool(values))
    if not values:
        return
    data = view.result.request.model_dump(mode="json", exclude_none=True)
    for path, value in values.items():
        state.put(path, value, data)
    found = state.outcome(SizingRequest.from_dict(data), view.catalog)
    if found.result is None:
        st.warning(plain(sentences(found.infeasible or found.refused)), icon=":material/block:")
        return
    both = [Compared("Present design", view.result), Compared("With these values", found.result)]
    look.table(figures_table(both, 0, has_price=not view.is_customer_mode), view.catalog.sources)


def _sliders(view: View, number: int, tried: Tried) -> dict[RequestPath, float]:
    """A slider for the load, the lengths and each limit; the values that were moved, by their place in the request."""
    served = view.result.design.workloads[number].serving
    assert served is not None  # asked of language models in use
    work, target = served.work, view.result.request.workload[number].target.model_dump(exclude_none=True)
    known: dict[RequestPath, float | None] = {("target", next(iter(target))): next(iter(target.values()))}
    known |= {(key,): getattr(work, key) for key in (*_COUNTS, *_LIMITS)}
    moved: dict[RequestPath, float] = {}
    columns = st.columns(2, gap="large")
    stated = [(path, base) for path, base in known.items() if isinstance(base, (int, float)) and base]
    for place, (path, base) in enumerate(stated):
        is_count = path[-1] in _COUNTS or isinstance(base, int)
        text = grouped if is_count else duration if path[-1] in _LIMITS else significant

        def times(factor: float, base: float = base, is_count: bool = is_count) -> float:
            return max(1, round(base * factor)) if is_count else float(f"{base * factor:.3g}")

        at = ("workload", number, *path)
        with columns[place % 2]:
            value = tried.multiple(label_at(at), str(path[-1]), base, times, text)
        if value != base:
            moved[at] = value
    return moved


def _take(values: Mapping[RequestPath, float]) -> None:
    for path, value in values.items():
        state.put(path, value)
    state.refresh("The values are now in the request; the design was sized again.")
