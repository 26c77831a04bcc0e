"""The computed lines of the bill as an editable table; every change is an override in the quote."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from sizer.base.money import percent
from sizer.base.quantities import BYTES, grouped
from sizer.bom.bill import Bill
from sizer.bom.overrides import EditableLine
from sizer.physical.capacity import counts_nodes, usable_bytes
from sizer.present.bill_tables import cost_table, price_texts
from sizer.present.text.bill_warnings import change_text
from sizer.present.words import TO_BE_QUOTED, listed, plural
from sizer.ui import look, state
from sizer.ui.bill import overrides
from sizer.ui.bill.overrides import DISCOUNT, NOTE, PRICE, PROVIDED_BY_OTHERS, QUANTITY, STATE, STATES
from sizer.ui.request_form.forms import RequestPath
from sizer.ui.state import View
from sizer.ui.typed import plain, written

# Mark of every line that the quote changes.
CHANGED = "✎"
_REFUSED = "bill_refused"
_VERSION = "bill_version"
# A capacity that is asked for is a round one.
_CAPACITY_STEP_BYTES = 1e11


def show(view: View) -> None:
    """Draw the table, what is changed in it, and the sums."""
    result = view.result
    bill = result.design.bill
    lines = overrides.lines_of(result, overrides.typed(), view.catalog)
    look.note(f"Edit quantity, price in {bill.currency}, discount or note. Empty a cell to restore the computed value.")
    for refused in st.session_state.get(_REFUSED, ()):
        st.error(f"{plain(refused)} The cell was not changed.", icon=":material/edit_off:")
    _editor(view, lines)
    _changed(lines, view)
    look.table(cost_table(result, view.catalog), view.catalog.sources)


def _editor(view: View, lines: Sequence[EditableLine]) -> None:
    bill = view.result.design.bill
    key = f"bill-edit/{st.session_state.generation}/{st.session_state.get(_VERSION, 0)}/{len(lines)}"
    fixed: dict[str, Any] = {"disabled": True}
    right: dict[str, Any] = {"alignment": "right"}
    text = st.column_config.TextColumn
    st.data_editor(
        frame(lines, bill),
        key=key,
        on_change=state.if_stored(key, _take),
        args=(key, tuple(lines), bill),
        hide_index=True,
        num_rows="fixed",
        height="content",
        placeholder=TO_BE_QUOTED,
        alt="Computed lines of the bill with editable quantity, price, discount, status and note",
        column_config={
            "line": text("Line", width=104, pinned=True, help=f"{CHANGED} marks lines that the quote changes", **fixed),
            "description": text("Description", width=222, **fixed),
            "computed": text("Computed", width=76, help="Quantity required by the design", **fixed, **right),
            QUANTITY: text("Quantity", width=92, help="Pieces, a whole number", **right),
            PRICE: text("Unit list price", width=122, help=f"In {bill.currency}, for example 149000.00", **right),
            DISCOUNT: text("Discount, %", width=108, help="From 0 to 100, for this line", **right),
            "extended": text("Extended net", width=104, help=bill.currency, **fixed, **right),
            STATE: st.column_config.SelectboxColumn(
                "In the quote",
                width=112,
                options=STATES,
                required=True,
                help="Optional lines and items provided by others are listed but not in the total",
            ),
            NOTE: text("Note", width=144, help="Internal; not in customer copies", max_chars=overrides.MAX_NOTE),
        },
    )


def frame(lines: Sequence[EditableLine], bill: Bill) -> pd.DataFrame:
    """Rows of the table as texts; an unknown price is an empty cell."""
    numbers = {(line.item, line.category): line.line for line in reversed(bill.lines) if line.status != "existing"}
    rows = [
        {
            "line": f"{numbers.get(line.key, '')} {CHANGED} changed" if line.is_changed else numbers.get(line.key, ""),
            "description": line.computed.description,
            "computed": grouped(line.computed.quantity),
            **cells(line),
            "extended": price_texts(line.shown)[2],
        }
        for line in lines
    ]
    order = ["line", "description", "computed", QUANTITY, PRICE, DISCOUNT, "extended", STATE, NOTE]
    return pd.DataFrame(rows, columns=order, dtype=object)


def cells(line: EditableLine) -> dict[str, str | None]:
    """What the cells that can be edited hold."""
    shown = line.shown
    # An empty cell reads "to be quoted"; items provided by others have no price.
    unknown = "" if overrides.state_of(line) == PROVIDED_BY_OTHERS else None
    return {
        QUANTITY: str(shown.quantity),
        PRICE: unknown if shown.unit_price is None else f"{shown.unit_price:.2f}",
        DISCOUNT: (percent(shown.discount_percent) if shown.discount_percent else ""),
        STATE: overrides.state_of(line),
        NOTE: line.override.note if line.override is not None else "",
    }


def _take(key: str, lines: Sequence[EditableLine], bill: Bill) -> None:
    """Apply the edits; the table is rebuilt where its cells would not show the stored values."""
    edits: Mapping[int, Mapping[str, object]] = st.session_state[key]["edited_rows"]
    take(edits, lines, bill)


def take(edits: Mapping[int, Mapping[str, object]], lines: Sequence[EditableLine], bill: Bill) -> None:
    """Write edited cells into the request, and note what was refused."""
    st.session_state[_REFUSED] = overrides.apply(edits, lines)
    now = overrides.lines_now(lines, bill.currency)
    for place, changes in edits.items():
        stored = cells(now[int(place)])
        if any(column in stored and (stored[column] or "") != (cell or "") for column, cell in changes.items()):
            _renew()
            return


def _renew() -> None:
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _changed(lines: Sequence[EditableLine], view: View) -> None:
    """Each change with a button that undoes it, and one that makes the design follow where the request can say so."""
    bill = view.result.design.bill
    changed = [line for line in lines if line.is_changed]
    if not changed:
        return
    st.subheader(f"{CHANGED} {plural(len(changed), 'changed line')}", anchor=False)
    numbers = {(line.item, line.category): line.line for line in reversed(bill.lines) if line.status != "existing"}
    for number, line in enumerate(changed):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = f"{numbers.get(line.key, '')} {line.computed.description}".strip()
            st.markdown(f"{CHANGED} **{plain(name)}:** {plain(_words(line))}", width="stretch")
            if asked := _asked(line, view):
                st.button(
                    "Use in the design",
                    key=f"use-{number}",
                    on_click=_use,
                    args=(asked, line.key, tuple(lines)),
                    type="tertiary",
                    icon=":material/check:",
                    help=f"The request then asks for it: {listed([text for text, _ in asked.values()])}.",
                )
            st.button(
                "Restore computed value",
                key=f"back-{number}",
                on_click=_back,
                args=(line.key, tuple(lines)),
                type="tertiary",
                icon=":material/undo:",
                help=f"Undo the changes of {plain(name)}",
            )
    if any(line.shown.quantity != line.computed.quantity for line in changed):
        look.note(
            "A quantity changed by hand changes the price alone: performance, racks, power and drawings keep the "
            "computed one. For a larger design raise the target on the page Requirements."
        )
    if len(changed) > 1:
        st.button("Restore all computed values", key="all-back", on_click=_all_back, icon=":material/restart_alt:")


def _asked(line: EditableLine, view: View) -> dict[RequestPath, tuple[str, object]]:
    """In words and as values what the request asks for where the design has the quantity of a line.

    Empty where no input leads to it. A further server is a spare one; nodes of storage are its capacity.
    """
    design, few, many = view.result.design, line.computed.quantity, line.shown.quantity
    losses, storage = view.result.request.resilience.keeps_targets_without, design.platform.storage
    if line.key[0] == design.platform.server.id and many == few + 1 and "server" not in losses:
        return {("resilience", "keeps_targets_without"): ("targets hold without a server", [*losses, "server"])}
    if line.key[0] != storage.id or not counts_nodes(storage) or many <= few:
        return {}
    usable = float(usable_bytes(storage, design.platform.capacity_option, many * design.storage_nodes // few))
    if math.isnan(usable):
        return {}
    text = written(BYTES, usable // _CAPACITY_STEP_BYTES * _CAPACITY_STEP_BYTES)
    return {
        ("data", "minimum_capacity_bytes"): (f"a minimum usable capacity of {text}", text),
        ("platforms", "storage"): (storage.name, [storage.id]),
    }


def _use(asked: Mapping[RequestPath, tuple[str, object]], key: tuple[str, str], lines: Sequence[EditableLine]) -> None:
    for path, (_, value) in asked.items():
        state.put(path, value)
    _back(key, lines)
    state.refresh("The request now asks for the quantity; the design was sized again.")


def _words(line: EditableLine) -> str:
    note = line.override.note if line.override is not None else ""
    return "; ".join(part for part in (change_text(line.shown), f"note: {note}" if note else "") if part)


def _back(key: tuple[str, str], lines: Sequence[EditableLine]) -> None:
    overrides.store(overrides.without(overrides.typed(), lines, key))
    _reset()


def _all_back() -> None:
    overrides.store(())
    _reset()


def _reset() -> None:
    st.session_state[_REFUSED] = []
    _renew()
