"""Page Bill: what to buy, what is still to be quoted, and the platforms side by side."""

from collections.abc import Mapping

import streamlit as st

from sizer.base.quantities import grouped, si
from sizer.bom.bill import Bill, BillLine
from sizer.physical.plan import CATEGORIES
from sizer.report.words import NOT_PUBLISHED, TO_BE_QUOTED, estimate, money, percent, plural, sample_unit, sentence
from sizer.sizing.result import DesignAnswer
from sizer.ui import look, state
from sizer.ui.architecture import item_name
from sizer.ui.look import Column, Row
from sizer.ui.state import View
from sizer.ui.typed import plain


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    bill = view.result.design.bill
    st.header("Bill of materials", anchor=False)
    _open_prices(view, bill)
    _lines(bill)
    look.note("List prices without taxes, freight and duties. Budgetary and not binding: part numbers and prices are to be "
              "confirmed with the vendors before ordering.")  # fmt: skip
    if bill.warnings:
        look.notes([sentence(warning) for warning in bill.warnings])
    _side_by_side(view)


def _open_prices(view: View, bill: Bill) -> None:
    if bill.is_complete:
        look.note(f"Every item is priced. The list price is {money(bill.total, bill.currency)}.")
        return
    if bill.total:
        said = f"The price is at least {money(bill.total, bill.currency)}"
    else:
        said = f"The price is {TO_BE_QUOTED}"
    look.note(f"{said}: {plural(len(bill.unpriced), 'item')} have no published price. Your own price list, laid over the "
              "catalogue, fills them in.")  # fmt: skip
    deciding = view.result.deciding_prices if view.result is not None else ()
    if deciding:
        names = ", ".join(item_name(view.catalog, item) for item in deciding)
        st.caption(f"Prices that would rank the platforms: {plain(names)}.")
