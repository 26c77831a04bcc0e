"""Overrides after the design changed: those of items that left the bill, and quantities set for another design."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from sizer.base.errors import RequestError
from sizer.bom.overrides import EditableLine, fits
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.present.words import listed
from sizer.sizing.result import SizingResult
from sizer.ui import state
from sizer.ui.bill.overrides import as_typed, lines_of, store, typed
from sizer.workload.quote import QuoteOverride
from sizer.workload.request import SizingRequest

_SUSPENDED = "set_aside"
# Plain keys of the session: computed quantities for which others were set, and sentences on those that were dropped.
COMPUTED, DROPPED = "computed_quantities", "dropped_quantities"


def reconcile(parts: Catalog) -> bool:
    """Suspend overrides of items that left the bill, and apply those of items that returned.

    Whether the request changed.
    """
    stored = suspended()
    present = typed()
    if not present and not stored:
        return False
    try:
        request = SizingRequest.from_dict(state.draft())
    except RequestError:
        return False  # the request has other errors
    sized = state.outcome(request, parts)
    if sized.refused:
        bare = request.model_copy(update={"quote": request.quote.model_copy(update={"override": ()})})
        sized = state.outcome(bare, parts)
    if sized.result is None:
        return False
    lines = sized.result.design.bill.lines
    present, outdated = _without_outdated(present, sized.result, parts)
    known = {(one.item, one.category) for one in present}
    waiting = tuple(one for one in stored if (one.item, one.category) not in known)
    leaving = tuple(one for one in present if not fits(one, lines))
    coming = tuple(one for one in waiting if fits(one, lines))
    if not leaving and not coming and not outdated:
        _suspend(waiting)
        return False
    store((*(one for one in present if one not in leaving), *coming))
    _suspend((*(one for one in waiting if one not in coming), *leaving))
    state.refresh()
    st.session_state[DROPPED] = outdated
    if not state.is_customer_mode():
        notices = []
        if leaving:
            notices.append(f"Your changes are suspended for items that left the bill: {_names(leaving, parts)}.")
        if coming:
            notices.append(f"Your changes apply again to items that returned: {_names(coming, parts)}.")
        st.session_state.notice = " ".join((*outdated, " ".join(notices))).strip()
    return True


def _without_outdated(
    present: Sequence[QuoteOverride], result: SizingResult, parts: Catalog
) -> tuple[tuple[QuoteOverride, ...], list[str]]:
    """Overrides without quantities that were set for another computed quantity, and a sentence for each of those.

    A quantity is remembered with the computed one that it was set for, as long as the request is the same one.
    """
    given = [one for one in present if one.quantity is not None]
    stored = st.session_state.get(COMPUTED) or {}
    before: Mapping[str, int] = stored.get("quantities", {}) if stored.get("of") == _of_request() else {}
    lines = lines_of(result, (), parts) if given else ()
    now = {_key(one): sum(line.computed.quantity for line in lines if _is_of(one, line)) for one in given}
    st.session_state[COMPUTED] = {"of": _of_request(), "quantities": now}
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
    return tuple(kept), told


def _key(one: QuoteOverride) -> str:
    return f"{one.item}/{one.category or ''}"


def _is_of(one: QuoteOverride, line: EditableLine) -> bool:
    item, category = line.key
    return one.item == item and one.category in (None, category)


def _names(overrides: Iterable[QuoteOverride], parts: Catalog) -> str:
    return listed(item_name(one.item, parts) for one in overrides)


def suspended() -> tuple[QuoteOverride, ...]:
    """Overrides of items that are not in the bill; those of another request are dropped."""
    stored = st.session_state.get(_SUSPENDED) or {}
    if not isinstance(stored, Mapping) or stored.get("of") != _of_request():
        return ()
    return tuple(QuoteOverride.model_validate(one) for one in stored.get("overrides", ()))


def discard_suspended() -> None:
    """Discard the suspended overrides."""
    _suspend(())


def _suspend(overrides: Iterable[QuoteOverride]) -> None:
    st.session_state[_SUSPENDED] = {"of": _of_request(), "overrides": [as_typed(one) for one in overrides]}


def _of_request() -> str:
    """Identifies the request that the session started from; suspended overrides belong to it."""
    text = json.dumps(st.session_state.get("original"), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
