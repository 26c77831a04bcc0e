"""Rent or buy: costs of renting GPUs by the hour and of buying the design, from the offer in the request."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.money import percent as money_percent
from sizer.base.quantities import by_count, grouped, plain, si
from sizer.bom.bill import customer_bill
from sizer.bom.ownership import IDLE_SHARE, footprint_of, rates_of
from sizer.bom.rental import RentOrBuy, compared
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.present import words
from sizer.present.tables import WIDTH, Cell, Row, Table, fact_table, row, table_text
from sizer.present.text.money import range_text
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.result import SizingResult
from sizer.workload.optional_tables import Rental


def rent_or_buy(result: SizingResult, rental: Rental | None = None) -> RentOrBuy | None:
    """Compare the design of an answer with an offer by the hour.

    Rented GPUs do the same work: the hours in which the cluster's GPUs are used, divided by ``speed_ratio``. Every data
    set is stored once, with its snapshots and checkpoints; spare capacity is not rented. Energy is the racks' typical
    draw while the GPUs are used, and a share of it otherwise. Existing equipment costs only its energy.

    ``result``: the whole answer or a customer's copy: both give the same comparison, based on the customer's price.
    ``rental``: Default: that of the request. None if the request has no offer.
    """
    offer = rental if rental is not None else result.request.rental
    if offer is None:
        return None
    design, request = result.design, result.request.model_copy(update={"rental": offer})
    stored, cost = storage_demand(design.workloads, request.data), design.cost
    found = compared(
        design.bill if design.bill.is_customer_copy else customer_bill(design.bill),
        offer,
        rates_of(request, offer.years),
        footprint_of(design.plan, design.quantities),
        n_gpus=design.n_gpus,
        stored_bytes=stored.data_bytes + stored.snapshots_bytes + stored.checkpoints_bytes,
    )
    is_known = cost is not None and isfinite(cost.high) and cost.high > 0
    return replace(found, cost=cost if is_known else None, is_first_of_plan=request.growth is not None)


def use_of(rental: Rental) -> Decimal | None:
    """Utilization of the GPUs that the request states, as a share of all hours."""
    return None if rental.utilization_fraction is None else Decimal(repr(rental.utilization_fraction))


_HOURS_A_WEEK = 168
# Costs that the totals leave out.
_MISSING = {
    "renewals": "renewals of support and subscriptions without a known term are not included",
    "electricity": "electricity is not included because no price was given",
    "watts": "the power draw of some parts is not published",
    "cooling": "cooling is not included because no PUE was given",
    "space": "space in the room is not included because no price was given",
    "storage": "storage is not included in renting because the offer has no price for it",
    "growth": "both are for the first purchase: what the growth plan buys later is in neither",
}


def years_text(comparison: RentOrBuy) -> str:
    """The period of the comparison."""
    return by_count(comparison.rental.years, f"{comparison.rental.years} year", f"{comparison.rental.years} years")


def rental_table(comparison: RentOrBuy, use: Decimal | None) -> Table:
    """Costs of buying and of renting, line by line.

    ``use``: share of all hours in which the GPUs are used, if it is known.
    """
    # Assumptions of the table, and costs that it does not include.
    note = (
        f"Rates of “{words.shortened(comparison.rental.offer)}”. A year has {grouped(HOURS_PER_YEAR)} hours. "
        f"Electricity: typical draw, {share_text(Fraction(repr(IDLE_SHARE)))} of it while idle (assumed). Interest, "
        "taxes and residual value are not included."
    )
    missing: list[str] = [key for key in comparison.owning.missing if key != "prices"]
    if comparison.is_rent_at_least:
        missing.append("storage")
    if comparison.is_first_of_plan:
        missing.append("growth")
    return fact_table(
        "rent-or-buy",
        f"Costs of buying and renting over {years_text(comparison)}",
        [*_owning_rows(comparison), *_renting_rows(comparison, use), *_break_even_rows(comparison, use)],
        titles=("Item", f"Amount, {comparison.currency}", "Basis"),
        widths=(34, 26, 40),
        aligns=("left", "right", "left"),
        note=" ".join((*[words.sentence(_MISSING[key]) for key in missing], note)),
        style="",
    )


Fact: TypeAlias = tuple[str, str | Cell, str] | Row


def _owning_rows(comparison: RentOrBuy) -> Iterator[Fact]:
    own, rates, cost = comparison.owning, comparison.owning.rates, comparison.cost

    def of_purchase(known: Decimal, share: float) -> Cell:
        """An amount that is known, or a share of what the purchase costs by price bands."""
        if not own.is_unpriced:
            return Cell(_amount(known))
        return _quoted(words.TO_BE_QUOTED if cost is None else range_text("", share * cost.low, share * cost.high))

    yield row("Buying", "", "", kind="group")
    lines = by_count(own.n_open, f"{own.n_open} line to be quoted", f"{own.n_open} lines to be quoted")
    yield "Net purchase", of_purchase(own.purchase, 1.0), lines if own.n_open else ""
    if own.support or "renewals" in own.missing:
        share = rates.support_percent
        of_years = 0.0 if share is None else float(share) / 100 * rates.years
        renewals = Cell(_amount(own.support)) if share is None else of_purchase(own.support, of_years)
        basis = (
            "at the prices of the purchase"
            if share is None
            else f"{money_percent(share)}\u202f% of what is bought once, a year"
        )
        yield "Support beyond the purchase", renewals, basis
    if own.care:
        rate = f"{money_percent(rates.care_percent)}\u202f% of the purchase a year"
        name = "Staff, space and maintenance" if own.space is None else "Staff and maintenance"
        yield name, of_purchase(own.care, float(rates.care_percent) / 100 * rates.years), rate
    if own.energy is None:
        yield "Electricity", Cell("not included", is_muted=True), "no electricity price given"
    else:
        kwh = si(1e3 * float(own.energy_kwh), "Wh")
        yield "Electricity", _amount(own.energy), f"{kwh} at {_rate(comparison, rates.electricity_per_kwh)} per kWh"
    if own.space is not None:
        yield "Space", _amount(own.space), "at the price stated for ownership"
    yield row("Total cost of buying", _quoted(owning_text(comparison, bare=True)), "", kind="total")


def _renting_rows(comparison: RentOrBuy, use: Decimal | None) -> Iterator[Fact]:
    rental = comparison.rental
    hours = Decimal(1) if use is None else use
    share = "all hours" if use is None else f"{share_text(use)} of all hours"
    yield row(f"Renting, {share}", "", "", kind="group")
    gpu_cost = comparison.renting(hours) - (comparison.storage_rent or Decimal("0.00"))
    gpu_hours = Fraction(comparison.gpu_hours) * Fraction(hours) / Fraction(repr(rental.speed_ratio))
    basis = f"{grouped(float(gpu_hours))} GPU-hours at {_rate(comparison, rental.per_gpu_hour)}"
    if rental.speed_ratio != 1:
        basis += f"; a rented GPU does {plain(rental.speed_ratio)} times the work"
    yield "GPU-hours", _amount(gpu_cost), basis
    if comparison.stored_tb:
        size = si(float(comparison.stored_tb) * 1e12, "B")
        if comparison.storage_rent is None:
            yield "Storage", Cell("not included", is_muted=True), f"{size}; the offer has no storage price"
        else:
            price = _rate(comparison, rental.storage_per_tb_month)
            yield "Storage", _amount(comparison.storage_rent), f"{size} at {price} per TB and month"
    yield row("Total cost of renting", _amount(comparison.renting(hours)), "", kind="total")


def _break_even_rows(comparison: RentOrBuy, use: Decimal | None) -> Iterator[Fact]:
    own, hours = comparison.owning, Decimal(1) if use is None else use
    yield row("Break-even", "", "", kind="group")
    if own.is_unpriced and comparison.cost is not None:
        yield "Break-even utilization", break_even_text(comparison), "at the ends of the price range"
        return
    if not own.is_unpriced:
        yield "Break-even utilization", break_even_text(comparison), _week(comparison)
        price = grouped(comparison.own_gpu_hour(hours), 2)
        share = "at 100\u202f% utilization" if use is None else f"at {share_text(use)} utilization"
        yield "Cost of one used GPU-hour when buying", price, share
    if own.n_open:
        budget = comparison.open_budget(hours)
        limit = f"for buying to cost no more than renting at {share_text(hours)} utilization"
        yield "Maximum for all lines to be quoted", _amount(budget) if budget > 0 else "none: rent", limit


def break_even_text(comparison: RentOrBuy) -> str:
    """The utilization at which both cost the same, in per cent of all hours; a range while lines are open."""
    if comparison.owning.is_unpriced:
        if comparison.cost is None:
            return words.TO_BE_QUOTED
        ends = (comparison.break_even_of(comparison.buying(one)) for one in (comparison.cost.low, comparison.cost.high))
        return " to ".join(
            dict.fromkeys(share_text(max(end, Fraction(0))) if end <= 1 else f"above {share_text(1)}" for end in ends)
        )
    if comparison.break_even > 1:
        return f"above {share_text(1)}"
    if comparison.break_even <= 0:
        return "none: storage alone costs more"
    share = share_text(comparison.break_even)
    texts = {
        "exact": share,
        "at least": f"at least {share}",
        "at most": f"at most {share}",
        "open": f"{share}, based on known costs",
    }
    return texts[comparison.bound]


def _week(comparison: RentOrBuy) -> str:
    if not 0 < comparison.break_even <= 1:
        return ""
    hours = grouped(float(comparison.break_even * _HOURS_A_WEEK))
    return f"{hours} of the {_HOURS_A_WEEK} hours of a week"


def owning_text(comparison: RentOrBuy, *, bare: bool = False) -> str:
    """Cost of buying over the years, a range while lines are open. ``bare``: without the currency."""
    own, cost = comparison.owning, comparison.cost
    if own.is_unpriced and cost is not None:
        return range_text("" if bare else cost.currency, *(comparison.buying(one) for one in (cost.low, cost.high)))
    if own.is_unpriced:
        return words.TO_BE_QUOTED
    return _amount(own.total) if bare else money_text(own.total, comparison)


def rent_text(comparison: RentOrBuy, use: Decimal) -> str:
    """Cost of renting at a utilization."""
    return money_text(comparison.renting(use), comparison)


def share_text(use: Decimal | Fraction | int) -> str:
    """A share of all hours in per cent."""
    return words.percent(float(use))


def _amount(amount: Decimal) -> str:
    """Money in a column that names the currency."""
    return grouped(words.whole(amount))


def money_text(amount: Decimal, comparison: RentOrBuy) -> str:
    """Money in a sentence, without cents."""
    return words.money(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP), comparison.currency)


def _rate(comparison: RentOrBuy, rate: Decimal | None) -> str:
    assert rate is not None  # rows exist only for rates that the offer has
    return f"{comparison.currency} {rate.normalize():f}"


def _quoted(text: str) -> Cell:
    return Cell(text, is_muted=text == words.TO_BE_QUOTED)


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
    return "" if comparison is None or offer is None else finding(comparison, use_of(offer))


def finding(comparison: RentOrBuy, use: Decimal | None) -> str:
    """The answer in a sentence or two."""
    if comparison.owning.is_unpriced:
        return _open_finding(comparison, use)
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


def _open_finding(comparison: RentOrBuy, use: Decimal | None) -> str:
    """The answer while lines of the purchase are open: within its price range, else what these lines may cost."""
    share, cost, years = Decimal(1) if use is None else use, comparison.cost, years_text(comparison)
    hours = "all hours" if use is None else f"{share_text(use)} of all hours"
    if cost is not None:
        rent = float(comparison.renting(share))
        low, high = (comparison.buying(end) for end in (cost.low, cost.high))
        advice = "rent" if rent < low else "buy" if rent > high else "both cost the same within the price ranges"
        advice += f" from {break_even_text(comparison)} of the hours on" if use is None and advice == "buy" else ""
        return (
            f"{words.capital(hours)} of {years} from “{words.shortened(comparison.rental.offer)}” cost "
            f"{range_text(comparison.currency, rent, rent)}; buying costs {owning_text(comparison)}: "
            f"{advice}."
        )
    budget = comparison.open_budget(share)
    lines = f"{words.capital(words.plural(comparison.owning.n_open, 'line'))} of the purchase to be quoted."
    if budget <= 0:
        return f"{lines} Renting {hours} of {years} costs less than the other lines alone: rent."
    most = money_text(budget, comparison)
    return f"{lines} Up to {most} for them, buying costs no more than renting {hours} of {years}."


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
