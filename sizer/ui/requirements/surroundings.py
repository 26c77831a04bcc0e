"""Existing equipment and stated storage values on the page Requirements."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from sizer.base.quantities import number_kind
from sizer.catalog.model import Catalog
from sizer.present.words import plural
from sizer.ui import fields, look, state
from sizer.ui.request_form.field import FormField, RequestPath, Typed
from sizer.ui.request_form.forms import EXISTING_RACK, STATED_STORAGE
from sizer.ui.request_form.options import existing_items, shared_storage
from sizer.ui.requirements.entries import add_button, box, entries, unused_name
from sizer.ui.state import View

_KINDS = {
    "servers": "Existing servers",
    "storage_nodes": "Existing storage nodes",
    "switches": "Existing switches",
}
_RACKS: RequestPath = ("existing", "racks")
_STATED: RequestPath = ("stated_storage",)
_PIECES = Typed(number_kind(1, 100_000, is_whole=True))
_MAX_RACKS = 100  # of a request
_MAX_STATED = 20  # of a request


def existing(view: View) -> None:
    """Equipment that the customer has: the design uses it, the bill lists it without a price."""
    counts = {item: n for kind in _KINDS for item, n in _mapping(("existing", kind)).items()}
    racks = entries(_RACKS)
    names = {item: name for kind in _KINDS for item, name in existing_items(view.catalog, kind).items()}
    summary = [f"{n} × {names.get(item, item)}" for item, n in counts.items()]
    summary += [plural(len(racks), "rack")] if racks else []

    def draw() -> None:
        columns = st.columns(3, gap="large")
        for column, (kind, label) in zip(columns, _KINDS.items(), strict=True):
            with column:
                _item_counts(view.catalog, kind, label)
        for number in range(len(racks)):
            box(EXISTING_RACK, _RACKS, number, "existing-rack", "Remove this rack")
        add_button("Add a rack with free space", _RACKS, _new_rack, _MAX_RACKS, "existing-rack")
        fields.reset_button("existing", ("existing",))

    look.folded("Existing equipment", "existing", draw, ", ".join(summary) or "none")


def _mapping(path: RequestPath) -> dict[str, Any]:
    table = state.get(path)
    return dict(table) if isinstance(table, Mapping) else {}


def _item_counts(parts: Catalog, kind: str, label: str) -> None:
    """Which items exist, and how many of each."""
    here = ("existing", kind)
    present = _mapping(here)
    known = {**{item: item for item in present}, **existing_items(parts, kind)}
    key = f"{fields.key(here)}/which"
    if key not in st.session_state:
        st.session_state[key] = list(present)

    def changed() -> None:
        chosen = st.session_state[key]
        state.put(here, {item: present.get(item, 1) for item in chosen})

    st.multiselect(
        label,
        list(known),
        format_func=lambda item: known.get(item, item),
        key=key,
        placeholder="none",
        on_change=state.if_stored(key, fields.unless_replaced(changed)),
        help="The design may use them. They are listed on the bill but not priced. Default: none.",
    )
    for item in present:
        quantity = FormField((*here, item), f"Quantity: {known[item]}", "Pieces that the customer has.", _PIECES, "1")
        fields.draw(quantity, after=state.refresh)


def _new_rack() -> dict[str, Any]:
    return {"name": unused_name(_RACKS, "Rack"), "free_u": 20, "power_w": "5 kW"}


def stated_storage(view: View) -> None:
    """Values of storage systems that the customer or the vendor states."""
    stated = entries(_STATED)
    names = shared_storage()
    summary = ", ".join(names.get(str(entry.get("storage")), str(entry.get("storage"))) for entry in stated)

    def draw() -> None:
        st.caption(
            "A read rate or a capacity that no source publishes makes a design conditional. State it here as the "
            "customer or the vendor gives it; the documents list it as an assumption."
        )
        for number in range(len(stated)):
            box(STATED_STORAGE, _STATED, number, "stated-storage", "Remove these values")
        first = _first_unstated(view, stated)
        add_button(
            "State values of a storage system", _STATED, lambda: {"storage": first}, _MAX_STATED, "stated-storage"
        )
        fields.reset_button("stated-storage", _STATED)

    look.folded("Stated storage values", "stated-storage", draw, summary or "none")


def _first_unstated(view: View, stated: Sequence[Mapping[str, Any]]) -> str:
    """Storage of the design where nothing is stated of it, else the first without stated values."""
    taken = {entry.get("storage") for entry in stated}
    names = list(shared_storage())
    own = [view.result.design.platform.storage.id] if view.sized is not None else []
    return next((item for item in (*own, *names) if item in names and item not in taken), names[0])
