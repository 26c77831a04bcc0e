"""Rent or buy in sentences, and as plain text for a terminal."""

import textwrap
from decimal import Decimal
from math import isfinite
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.bom.rental import RentOrBuy
from sizer.present import words
from sizer.present.plain_table import WIDTH, table_text
from sizer.present.text.money import range_text
from sizer.questions.rent.analysis import rent_or_buy, use_of
from sizer.questions.rent.tables import (
    break_even_text,
    money_text,
    owning_text,
    rent_text,
    rental_table,
    share_text,
    years_text,
)
from sizer.sizing.result import SizingResult


def rental_document(comparison: RentOrBuy, use: Decimal | None) -> dict[str, Any]:
    """Both costs and the break-even.

    ``missing`` names what the costs of buying do not include; no total is stated while a line has no price. Costs at
    a utilization are those at the stated one, else at all hours.
    """
    own, rental = comparison.owning, comparison.rental
    hours = Decimal(1) if use is None else use
    return json_document(
        "rent-or-buy",
        **fields_of(comparison, "currency", "n_gpus", "gpu_hours"),
        years=rental.years,
        buying=fields_of(
            own,
            *("purchase", "care", "energy", "space", "missing"),
            renewals=own.support,
            lines_to_be_quoted=own.n_open,
            energy_kwh=float(own.energy_kwh),
            total=None if own.is_unpriced else own.total,
            of_a_used_gpu_hour=None if own.is_unpriced else comparison.own_gpu_hour(hours),
        ),
        renting={
            "per_gpu_hour": str(rental.per_gpu_hour),  # stated with up to four decimals
            "speed_ratio": rental.speed_ratio,
            "storage": comparison.storage_rent,
            "stored_tb": float(comparison.stored_tb),
            "total": comparison.renting(hours),
            "is_at_least": comparison.is_rent_at_least,
        },
        utilization_fraction=float(hours),
        is_utilization_stated=use is not None,
        break_even_fraction=None if own.is_unpriced else float(comparison.break_even),
        break_even_is=comparison.bound,
        open_prices_at_most=comparison.open_budget(hours) if own.n_open else None,
    )


def rental_text(comparison: RentOrBuy, use: Decimal | None) -> str:
    """Rent or buy as plain text for a terminal."""
    lines = "\n".join(textwrap.wrap(finding(comparison, use), WIDTH))
    return f"{lines}\n\n{table_text(rental_table(comparison, use))}"


def offer_text(result: SizingResult) -> str:
    """What the offer of a request costs, what buying does, and which of the two to take; "" without an offer."""
    comparison, offer = rent_or_buy(result), result.request.rental
    if comparison is None or offer is None:
        return ""
    use, cost = use_of(offer), result.design.cost
    if cost is None or not isfinite(cost.high) or not cost.high:
        return finding(comparison, use)
    low, high = comparison.buying(cost.low), comparison.buying(cost.high)
    share = Decimal(1) if use is None else use
    rent, hours = float(comparison.renting(share)), "all hours" if use is None else f"{share_text(use)} of all hours"
    renting = range_text(comparison.currency, rent, rent)
    buying = f"buying and running cost {range_text(comparison.currency, low, high)}"
    advice = "rent" if rent < low else "buy" if rent > high else "both cost the same within the price ranges"
    return (
        f"{words.capital(hours)} of {years_text(comparison)} from “{offer.offer}” cost {renting}; {buying}: {advice}."
    )


def finding(comparison: RentOrBuy, use: Decimal | None) -> str:
    """The answer in a sentence or two."""
    if comparison.owning.is_unpriced:
        share = Decimal(1) if use is None else use
        budget, hours = comparison.open_budget(share), "all hours" if use is None else f"{share_text(use)} of all hours"
        lines = f"{words.capital(words.plural(comparison.owning.n_open, 'line'))} of the purchase to be quoted."
        if budget <= 0:
            return f"{lines} Renting {hours} of {years_text(comparison)} costs less than the other lines alone: rent."
        return (
            f"{lines} Up to {money_text(budget, comparison)} for them, buying costs no more than renting {hours} of "
            f"{years_text(comparison)}."
        )
    if comparison.break_even > 1:
        text = (
            f"Renting costs less at any utilization: {rent_text(comparison, Decimal(1))} for all hours of "
            f"{years_text(comparison)}, compared with {owning_text(comparison)} for buying."
        )
        return f"{text} Storage of the data is not included." if comparison.is_rent_at_least else text
    if comparison.break_even <= 0:
        return "Buying costs less even if the GPUs are never used, because renting the storage alone costs more."
    text = f"Break-even utilization: {break_even_text(comparison)}."
    return text if use is None else f"{text} {_at_use(comparison, use)}"


def _at_use(comparison: RentOrBuy, use: Decimal) -> str:
    """Which costs less at a utilization, as far as the known costs allow a conclusion."""
    rent, own, share = rent_text(comparison, use), owning_text(comparison), share_text(use)
    difference = comparison.renting(use) - comparison.owning.total
    if not difference:
        return f"The stated utilization is exactly that, {share}."
    if difference < 0:
        caution = " from the known costs" if comparison.is_rent_at_least else ""
        return f"At {share} renting costs less{caution}: {rent} compared with {own}."
    caution = " from the known costs" if comparison.owning.is_at_least else ""
    return f"At {share} buying costs less{caution}: {own} compared with {rent}."


def short_finding(comparison: RentOrBuy) -> str:
    """The answer as the title of a chart."""
    if comparison.break_even > 1:
        return "Renting costs less at any utilization"
    if comparison.break_even <= 0:
        return "Buying costs less at any utilization"
    if comparison.bound == "exact":
        return f"Buying costs less above {share_text(comparison.break_even)} utilization"
    return f"Break-even utilization: {break_even_text(comparison)}"
