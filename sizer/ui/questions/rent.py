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
    use_of,
    years_text,
)
from sizer.ui import look, state
from sizer.ui.questions.tried import Tried
from sizer.ui.requirements.surroundings import RENTAL
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.optional_tables import Rental

_RATE_STEP = Decimal("0.0001")
_USE = 50


def show(view: View) -> None:
    """Draw the question."""
    st.header("Rent or buy", anchor=False)
    asked = view.result.request.rental
    offer = asked or _usual(view)
    if asked is None:
        look.note("The request has no rental offer: the middle of the published rates of this GPU is tried.")
    tried = Tried("rent", f"{st.session_state.generation}/{offer.model_dump_json()}")
    rate, use = _sliders(offer, tried)
    found = rent_or_buy(view.result, offer.model_copy(update={"per_gpu_hour": rate}))
    assert found is not None
    st.markdown(plain(finding(found, use)))
    shown = (
        ("Break-even utilization", break_even_text(found), "of all hours"),
        ("Buying", owning_text(found), years_text(found)),
        ("Renting", rent_text(found, use), f"{years_text(found)}, GPU utilization {percent(float(use))}"),
    )
    look.figures("what-if-figures", shown)
    look.table(rental_table(found, use), view.catalog.sources)
    can_take = offer is not asked or rate != offer.per_gpu_hour or use != use_of(offer)
    tried.buttons(view, _take, (rate, use), is_moved=bool(tried.values), can_take=can_take)


def _usual(view: View) -> Rental:
    """An offer at the middle of the published rates of the GPU; an assumed one where they cannot be converted."""
    request, gpu = view.result.request, view.result.design.platform.gpu
    found = run_rental(gpu, 1.0, view.catalog, prices_for(request, view.catalog), request.currency, None)
    if found is None:
        return Rental.model_validate(RENTAL.start())
    return Rental(offer="published rates", per_gpu_hour=Decimal(f"{found.expected:.2f}"))


def _sliders(offer: Rental, tried: Tried) -> tuple[Decimal, Decimal]:
    """Price and utilization of the sliders; the price itself stays as it was typed."""
    price, stated = offer.per_gpu_hour, use_of(offer)

    def times(factor: float) -> Decimal:
        return max((price * Decimal(repr(factor))).quantize(_RATE_STEP, ROUND_HALF_UP).normalize(), _RATE_STEP)

    left, right = st.columns(2, gap="large")
    with left:
        rate = tried.multiple("Price per GPU-hour", "rate", price, times, "{:f}".format)
    with right:
        first = _USE if stated is None else max(1, round(100 * stated))
        use = st.slider("GPU utilization, % of all hours", 1, 100, **tried.widget("use", first))
    return rate, stated if stated is not None and use == first else Decimal(use) / 100


def _take(rate: Decimal, use: Decimal) -> None:
    state.put((RENTAL.key, "per_gpu_hour"), float(rate))
    state.put((RENTAL.key, "utilization_fraction"), float(use))
    state.refresh("Price and utilization are now in the request.")
