"""Changed lines after the design changed: those whose item left the bill go, and quantities set for another design."""

from collections.abc import Mapping, Sequence

import streamlit as st

from sizer.base.errors import RequestError
from sizer.bom.overrides import EditableLine, fits
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.sizing.result import SizingResult
from sizer.ui import state
from sizer.ui.bill.overrides import lines_of, store, typed
from sizer.workload.quote import QuoteOverride
from sizer.workload.request import SizingRequest

# Plain keys of the session: computed quantities for which others were set, and sentences on what was dropped.
COMPUTED, DROPPED = "computed_quantities", "dropped_quantities"


def reconcile(parts: Catalog) -> None:
    """Drop changes of lines that the bill no longer has, with a sentence for each; Undo restores them."""
    present = typed()
    if not present:
        return
    try:
        request = SizingRequest.from_dict(state.draft())
    except RequestError:
        return  # the request has other errors
    sized = state.outcome(request, parts)
    if sized.refused:
        bare = request.model_copy(update={"quote": request.quote.model_copy(update={"override": ()})})
        sized = state.outcome(bare, parts)
    if sized.result is None:
        return
    lines = sized.result.design.bill.lines
    kept, told = _without_outdated([one for one in present if fits(one, lines)], sized.result, parts)
    told += [
        f"{item_name(one.item, parts)}: not in this bill, so your changes of its line no longer apply."
        for one in present
        if not fits(one, lines)
    ]
    if not told:
        return
    store(kept)
    state.refresh()
    st.session_state[DROPPED] = told
    if not state.is_customer_mode():
        st.session_state.notice = " ".join(told)


def _without_outdated(
    present: Sequence[QuoteOverride], result: SizingResult, parts: Catalog
) -> tuple[list[QuoteOverride], list[str]]:
    """Overrides without quantities that were set for another computed quantity, and a sentence for each of those.

    A quantity is remembered with the computed one that it was set for, as long as the request is the same one.
    """
    given = [one for one in present if one.quantity is not None]
    stored = st.session_state.get(COMPUTED) or {}
    of = st.session_state.original
    before: Mapping[str, int] = stored.get("quantities", {}) if stored.get("of") == of else {}
    lines = lines_of(result, (), parts) if given else ()
    now = {_key(one): sum(line.computed.quantity for line in lines if _is_of(one, line)) for one in given}
    st.session_state[COMPUTED] = {"of": of, "quantities": now}
    kept, told = [], []
    for one in present:
        needed = now.get(_key(one))
        was = before.get(_key(one), needed)
        if one.quantity is None or was == needed or not needed:
            kept.append(one)
            continue
        told.append(
            f"{item_name(one.item, parts)}: the design now needs {needed} instead of {was}, so your quantity of "
            f"{one.quantity} no longer applies."
        )
        fields = one.model_dump(exclude_defaults=True, exclude={"quantity"})
        if set(fields) - {"item", "category", "note"}:
            kept.append(QuoteOverride.model_validate(fields))
    return kept, told


def _key(one: QuoteOverride) -> str:
    return f"{one.item}/{one.category or ''}"


def _is_of(one: QuoteOverride, line: EditableLine) -> bool:
    item, category = line.key
    return one.item == item and one.category in (None, category)
