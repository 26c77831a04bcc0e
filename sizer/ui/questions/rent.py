"""A question of the page What-if: renting the GPUs by the hour compared with buying them."""

from decimal import ROUND_HALF_UP, Decimal

import streamlit as st

from sizer.bom.prices import prices_for
from sizer.bom.rental import run_rental
from sizer.present.words import percent
from sizer.questions.rent.rent_or_buy import (
    break_even_text,
    finding,
    owning_text,
    rent_or_buy,
    rent_text,
    rental_table,
    years_text,
)
from sizer.ui import look, state
from sizer.ui.requirements.optional_tables import RENTAL
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.optional_tables import Rental

_RATE_STEP = Decimal("0.0001")
# Multiples of the price of the offer on the slider.
_FACTORS = (0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 4.0)
_USE = 50


def show(view: View) -> None:
    """Draw the question."""
    st.header("Rent or buy", anchor=False)
    asked_offer = view.result.request.rental
    offer = asked_offer or _usual(view)
    if offer is None:
        st.info(
            "The request has no rental offer. With a price per GPU-hour, this page shows the GPU utilization "
            "above which buying costs less.",
            icon=":material/info:",
        )
        RENTAL.begin_button("begin-offer")
        return
    if asked_offer is None:
        look.note("The request has no rental offer: the middle of the published rates of this GPU is tried.")
    rate, use = _sliders(offer)
    asked = offer.model_copy(update={"per_gpu_hour": rate})
    found = rent_or_buy(view.result, asked)
    assert found is not None
    st.markdown(plain(finding(found, use)))
    tie = "" if found.owning.is_unpriced else break_even_text(found)
    shown = (
        ("Break-even utilization", tie or "to be quoted", "of all hours"),
        ("Buying", owning_text(found), years_text(found)),
        ("Renting", rent_text(found, use), f"{years_text(found)}, GPU utilization {percent(float(use))}"),
    )
    look.figures("what-if-figures", shown)
    look.table(rental_table(found, use), view.catalog.sources)
    stated = None if offer.utilization_fraction is None else Decimal(repr(offer.utilization_fraction))
    st.button(
        "Apply to the request",
        icon=":material/check:",
        key="take-offer",
        on_click=_take,
        args=(rate, use),
        disabled=not view.is_current or (offer is asked_offer and rate == offer.per_gpu_hour and use == stated),
        help="Writes price and utilization into the request and its documents.",
    )


def _usual(view: View) -> Rental | None:
    """An offer at the middle of the published rates of the GPU; None where they cannot be converted."""
    request, gpu = view.result.request, view.result.design.platform.gpu
    book = prices_for(request, view.catalog)
    found = run_rental(gpu, 1.0, view.catalog, book, request.currency, None)
    return None if found is None else Rental(offer="published rates", per_gpu_hour=Decimal(f"{found.expected:.2f}"))


def _sliders(offer: Rental) -> tuple[Decimal, Decimal]:
    """Price and utilization of the sliders; another offer starts with its own."""
    about = f"{st.session_state.generation}/{offer.model_dump_json()}"
    rates = sorted({_rate(offer, factor) for factor in _FACTORS})
    left, right = st.columns(2, gap="large")
    with left:
        rate = st.select_slider(
            "Price per GPU-hour",
            rates,
            value=offer.per_gpu_hour,
            format_func=lambda price: f"{price:f}",  # str() would write 1E+1
            key=f"rent-rate/{about}",
        )
    with right:
        stated = _USE if offer.utilization_fraction is None else max(1, round(100 * offer.utilization_fraction))
        use = st.slider("GPU utilization, % of all hours", 1, 100, stated, key=f"rent-use/{about}")
    is_stated = offer.utilization_fraction is not None and use == stated
    return rate, Decimal(repr(offer.utilization_fraction)) if is_stated else Decimal(use) / 100


def _rate(offer: Rental, factor: float) -> Decimal:
    """A multiple of the price, rounded to the decimals of a request; the price itself stays as it was typed."""
    if factor == 1:
        return offer.per_gpu_hour
    return max((offer.per_gpu_hour * Decimal(repr(factor))).quantize(_RATE_STEP, ROUND_HALF_UP).normalize(), _RATE_STEP)


def _take(rate: Decimal, use: Decimal) -> None:
    state.put((RENTAL.key, "per_gpu_hour"), float(rate))
    state.put((RENTAL.key, "utilization_fraction"), float(use))
    state.refresh("Price and utilization are now in the request.")
