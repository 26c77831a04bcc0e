"""The best design of each platform as one list in four orders, and the quotes that would settle the first of them."""

import math
from collections.abc import Callable
from datetime import UTC, datetime

import streamlit as st

from sizer.base.money import parse_amount
from sizer.present.performance_tables import platforms_table
from sizer.present.text.money import quotes_text
from sizer.present.words import TO_BE_QUOTED
from sizer.questions.alternatives.analysis import on_platform
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.ui import look, session_catalog, state
from sizer.ui.bill.price_book import with_price
from sizer.ui.designs import compare
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_COST = "Cheapest on known prices"
_Key = Callable[[DesignAnswer], tuple[float, ...]]
_FAULT = "typed_price_fault"  # plain key: item and sentence of a refused price


def _cost(design: DesignAnswer) -> float:
    return math.inf if design.cost is None else design.cost.at_confidence


def _time(design: DesignAnswer) -> float:
    first = design.workloads[0]
    if first.time is not None and first.workload.target.time_to_train_s is not None:
        return float(first.time.total_s.value)
    return -float(first.throughput.value)


# What each order puts first. Watts and rates that are not published count behind all that are.
ORDERS: dict[str, _Key] = {
    _COST: lambda one: (_cost(one),),
    "Fewest servers": lambda one: (one.n_servers, _cost(one)),
    "Least power": lambda one: (bool(one.quantities.unknown_power), float(one.quantities.power_max_w[0])),
    "Fastest": lambda one: (_time(one),),
}


def show(view: View) -> None:
    """Draw the list, the selection of another platform, and the quotes with a field for each price."""
    result = view.result
    assert result is not None
    if len(result.platforms) < 2:
        look.note("Allow more servers or storage under Requirements to compare platforms.")
        return
    orders = [name for name in ORDERS if name != _COST or all(one.cost is not None for one in result.platforms)]
    order = st.segmented_control("Order of the list", orders, default=orders[0], required=True, key="platform-order")
    listed = ordered(result, str(order or orders[0]))
    table = platforms_table(result, listed, mark="shown on all pages")
    assert table is not None  # there are several platforms
    look.table(table, view.catalog.sources)
    _choose(view, [one for one in listed if one.platform.key != result.design.platform.key])
    if not view.is_customer_mode:
        _quotes(result)


def ordered(result: SizingResult, order: str) -> list[DesignAnswer]:
    """The platforms of a result in one of the orders; those that depend on an unknown fact come last."""
    key = ORDERS[order]
    return sorted(result.platforms, key=lambda one: (bool(one.conditional_on), *key(one)))


def _choose(view: View, others: list[DesignAnswer]) -> None:
    """Selection of another platform for all pages, or for the comparison."""
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Show another platform on all pages",
            range(len(others)),
            format_func=lambda place: others[place].name,
            key="another-platform",
            width=520,
        )
        chosen = others[number]
        st.button(
            "Use this platform",
            on_click=_use_platform,
            args=(chosen.platform.server.id, chosen.platform.gpu.id, chosen.platform.storage.id),
            icon=":material/swap_horiz:",
            help="Limits the request to this server, its GPU and storage. To undo it, press Undo.",
        )
        request = on_platform(SizingRequest.model_validate_json(view.request_json), chosen.platform)
        compare.pin_button(chosen.name, request.model_dump_json(), "pin-platform")


def _use_platform(server: str, gpu: str, storage: str) -> None:
    state.put(("platforms", "servers"), [server])
    state.put(("platforms", "gpus"), [gpu])
    state.put(("platforms", "storage"), [storage])
    state.refresh()


def _quotes(result: SizingResult) -> None:
    """The quotes that would settle which platform leads, each with a field for its price."""
    if not result.quotes_to_settle:
        return
    st.subheader("Quotes that would settle the order", anchor=False)
    look.note(quotes_text(result, with_amounts=True))
    refused = st.session_state.get(_FAULT, {})
    currency = result.request.currency
    with st.container(horizontal=True, gap="medium", key="quotes"):
        for quote in result.quotes_to_settle:
            with st.container(width=320, gap="xxsmall"):
                key = f"quote-{quote.item}"
                st.text_input(
                    f"Price of one {plain(quote.name)}, {currency}",
                    key=key,
                    max_chars=20,
                    placeholder=TO_BE_QUOTED,
                    help="List price of one piece, for example 149000.00. It joins the price book of this session.",
                    on_change=state.if_stored(key, _take_price),
                    args=(key, quote.item, currency),
                )
                if quote.item in refused:
                    st.caption(f":red[:material/error: {plain(refused[quote.item])}]")


def _take_price(key: str, item: str, currency: str) -> None:
    """Add a typed price to the price book of the session."""
    typed = str(st.session_state[key]).strip()
    st.session_state[_FAULT] = {}
    if not typed:
        return
    try:
        amount = parse_amount("".join(typed.split()))
    except ValueError:
        st.session_state[_FAULT] = {item: f"{typed} is not a price; write for example 149000.00"}
        return
    text = st.session_state.get(session_catalog.PRICE_BOOK, "")
    name = st.session_state.get(session_catalog.PRICE_BOOK_NAME, "") or session_catalog.ENTERED
    today = datetime.now(UTC).date()
    session_catalog.set_price_book(with_price(text, item, amount, currency, today), name)
