"""Rent or buy in words and as a table: what each costs over the years, and the use at which they cost the same."""

import textwrap
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from sizer.base.money import percent as money_percent
from sizer.base.quantities import by_count, grouped, plain, si
from sizer.bom.rental import RentOrBuy
from sizer.drawings.racks import at_least
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.present import words
from sizer.present.plain_table import WIDTH, table_text
from sizer.present.tables import Cell, Row, Table, columns, row

_HOURS_A_WEEK = 168
# Why owning or renting reads "at least".
_MISSING = {
    "renewals": "support and subscriptions without a known term are not renewed",
    "electricity": "no price of electricity was given",
    "watts": "some parts' draw is not published",
    "cooling": "cooling is not counted, as no PUE was given",
    "storage": "the offer names no price for storing the data",
}


def years_text(found: RentOrBuy) -> str:
    """The years that are compared."""
    return by_count(found.rental.years, f"{found.rental.years} year", f"{found.rental.years} years")


def rental_text(found: RentOrBuy, use: Decimal | None) -> str:
    """Rent or buy as plain text for a terminal."""
    said = "\n".join(textwrap.wrap(finding(found, use), WIDTH))
    return f"{said}\n\n{table_text(rental_table(found, use))}"


def rental_table(found: RentOrBuy, use: Decimal | None) -> Table:
    """What buying and renting cost, line by line.

    Parameters
    ----------
    found : RentOrBuy
    use : Decimal or None
        Share of all hours in which the GPUs are used, where it is known.
    """
    heads = columns(
        ("Part", "left", 34),
        (f"Amount, {found.currency}", "right", 26),
        ("How it comes about", "left", 40),
    )
    rows = [*_owning_rows(found), *_renting_rows(found, use), *_tie_rows(found, use)]
    title = f"Renting against buying, over {years_text(found)}"
    return Table("rent-or-buy", title, heads, tuple(rows), rental_note(found))


def _owning_rows(found: RentOrBuy) -> Iterator[Row]:
    own, rental = found.owning, found.rental
    yield row("Buying", "", "", kind="group")
    lines = by_count(own.n_open, f"{own.n_open} line to be quoted", f"{own.n_open} lines to be quoted")
    purchase = words.TO_BE_QUOTED if own.is_unpriced else at_least(bool(own.n_open), _amount(own.purchase))
    yield row("Purchase, net", _quoted(purchase), lines if own.n_open else "")
    if own.renewals or "renewals" in own.missing:
        text = at_least("renewals" in own.missing, _amount(own.renewals))
        yield row("Support after its term", text, "at the prices of the purchase")
    if own.care:
        share = f"{money_percent(rental.yearly_cost_percent)}\u202f%"
        yield row(
            "People, space and care",
            at_least(bool(own.n_open), _amount(own.care)),
            f"{share} of the purchase a year",
        )
    if own.energy is None:
        yield row("Electricity", Cell("not counted", is_muted=True), "no price of electricity was given")
    else:
        yield row(
            "Electricity",
            at_least("watts" in own.missing or "cooling" in own.missing, _amount(own.energy)),
            (f"{si(1e3 * float(own.energy_kwh), 'Wh')} at {_rate(found, rental.electricity_per_kwh)} a kWh"),
        )
    yield row("Buying, altogether", _quoted(owning_text(found, bare=True)), "", kind="total")


def _renting_rows(found: RentOrBuy, use: Decimal | None) -> Iterator[Row]:
    rental = found.rental
    hours = Decimal(1) if use is None else use
    share = "all hours" if use is None else f"{_share(use)} of all hours"
    yield row(f"Renting, {share}", "", "", kind="group")
    gpu_hours = found.renting(hours) - (found.storage_rent or Decimal("0.00"))
    rented = Fraction(found.gpu_hours) * Fraction(hours) / Fraction(repr(rental.speed_ratio))
    how = f"{grouped(float(rented))} GPU-hours at {_rate(found, rental.per_gpu_hour)}"
    if rental.speed_ratio != 1:
        how += f"; a rented GPU does {plain(rental.speed_ratio)} times the work"
    yield row("GPUs by the hour", _amount(gpu_hours), how)
    if found.stored_tb:
        size = si(float(found.stored_tb) * 1e12, "B")
        if found.storage_rent is None:
            yield row("Storage", Cell("not counted", is_muted=True), f"{size}; the offer names no price")
        else:
            price = _rate(found, rental.storage_per_tb_month)
            yield row("Storage", _amount(found.storage_rent), f"{size} at {price} a TB and month")
    text = at_least(found.is_rent_at_least, _amount(found.renting(hours)))
    yield row("Renting, altogether", text, "", kind="total")


def _tie_rows(found: RentOrBuy, use: Decimal | None) -> Iterator[Row]:
    own = found.owning
    yield row("Both the same", "", "", kind="group")
    if not own.is_unpriced:
        yield row("Break-even use", Cell(break_even_text(found)), _week(found))
        hours = Decimal(1) if use is None else use
        how = "every hour used" if use is None else f"{_share(use)} of all hours used"
        price = at_least(own.is_at_least, _amount(found.own_gpu_hour(hours)))
        yield row("One used GPU-hour of one's own", price, how)
    if own.n_open:
        hours = Decimal(1) if use is None else use
        budget = found.open_budget(hours)
        share = "all hours" if use is None else f"{_share(use)} of all hours"
        text = _amount(budget) if budget > 0 else "nothing"
        yield row("Open prices may cost at most", text, f"so that buying is not dearer at {share}")


def break_even_text(found: RentOrBuy) -> str:
    """The use at which both cost the same, in per cent of all hours."""
    if found.break_even > 1:
        return f"above {_share(1)}"
    if found.break_even <= 0:
        return "none: storage alone costs more"
    share = _share(found.break_even)
    said = {
        "exact": share,
        "at least": f"at least {share}",
        "at most": f"at most {share}",
        "open": f"{share}, as far as costs are known",
    }
    return said[found.bound]


def _week(found: RentOrBuy) -> str:
    if not 0 < found.break_even <= 1:
        return ""
    hours = grouped(float(found.break_even * _HOURS_A_WEEK))
    return f"{hours} of the {_HOURS_A_WEEK} hours of a week"


def finding(found: RentOrBuy, use: Decimal | None) -> str:
    """The answer in one sentence."""
    own = found.owning
    if own.is_unpriced:
        budget = _money(found.open_budget(Decimal(1) if use is None else use), found)
        return (
            f"Nothing of the purchase has a price yet: up to {budget} it is no dearer than renting "
            f"{_hours(use)} for {years_text(found)}."
        )
    if found.break_even > 1:
        text = (
            f"Renting costs less however much the GPUs are used: {rent_text(found, Decimal(1))} for "
            f"all hours of {years_text(found)} against {owning_text(found)}."
        )
        return text if not found.is_rent_at_least else f"{text} Storing the data is not in it."
    if found.break_even <= 0:
        return "Buying costs less even if the GPUs are never used: renting the storage alone costs more."
    said = f"Renting and buying cost the same when the GPUs are used {break_even_text(found)} of all hours."
    if found.bound == "open":
        said = (
            "As far as costs are known, renting and buying cost the same when the GPUs are used "
            f"{_share(found.break_even)} of all hours."
        )
    return f"{said} {_at_use(found, use)}" if use is not None else said


def _at_use(found: RentOrBuy, use: Decimal) -> str:
    """Which costs less at a use, as far as what is open allows a word."""
    rent, own = found.renting(use), found.owning.total
    pair = {"share": _share(use), "rent": rent_text(found, use), "own": owning_text(found)}
    if rent == own:
        return f"That is the use that was stated, {_share(use)}."
    if rent < own:
        if found.is_rent_at_least:
            return ("At {share} renting costs less, as far as the offer names its costs: {rent} against {own}.").format(
                **pair
            )
        return "At {share} renting costs less: {rent} against {own}.".format(**pair)
    if not found.owning.is_at_least:
        return "At {share} buying costs less: {own} against {rent}.".format(**pair)
    if not found.owning.n_open:
        return "At {share} buying costs less, as far as its costs are known: {own} against {rent}.".format(**pair)
    budget = _money(found.open_budget(use), found)
    return (
        "At {share} renting costs {rent}: buying costs less as long as what is to be quoted stays below {budget}."
    ).format(**pair, budget=budget)


def short_finding(found: RentOrBuy) -> str:
    """The answer as the title of a chart."""
    if found.break_even > 1:
        return "Renting costs less however much the GPUs are used"
    if found.break_even <= 0:
        return "Buying costs less however little the GPUs are used"
    if found.bound == "open":
        return f"Buying pays from {_share(found.break_even)} of all hours on, as far as costs are known"
    return f"Buying pays from {break_even_text(found)} of all hours on"


def rental_notes(found: RentOrBuy) -> list[str]:
    """What the costs leave out, beside prices that are to be quoted."""
    missing = [key for key in found.owning.missing if key != "prices"]
    if found.is_rent_at_least:
        missing.append("storage")
    return [words.sentence(_MISSING[key]) for key in missing]


def rental_note(found: RentOrBuy) -> str:
    """What the table takes for granted."""
    note = (
        f"Rates are those of the request for “{found.rental.offer}”. A year has "
        f"{grouped(HOURS_PER_YEAR)} hours. Electricity is that of the typical draw at all hours, "
        "as the idle draw is not published. Interest, taxes and what the cluster is worth "
        "afterwards are not counted."
    )
    return " ".join((*rental_notes(found), note))


def owning_text(found: RentOrBuy, *, bare: bool = False) -> str:
    """What buying costs over the years; "at least" while a part is not known. ``bare`` leaves the currency out."""
    own = found.owning
    if own.is_unpriced:
        return words.TO_BE_QUOTED
    return at_least(own.is_at_least, _amount(own.total) if bare else _money(own.total, found))


def rent_text(found: RentOrBuy, use: Decimal) -> str:
    """What renting costs at a use; "at least" while the offer leaves something out."""
    return at_least(found.is_rent_at_least, _money(found.renting(use), found))


def _hours(use: Decimal | None) -> str:
    return "at all hours" if use is None else f"{_share(use)} of all hours"


def _share(use: Decimal | Fraction | int) -> str:
    return words.percent(float(use))


def _amount(amount: Decimal) -> str:
    """Money under a head that names the currency, in cents, so that the column adds up."""
    return grouped(amount, 2)


def _money(amount: Decimal, found: RentOrBuy) -> str:
    """Money in a sentence: cents would only hide the number."""
    return words.money(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP), found.currency)


def _rate(found: RentOrBuy, rate: Decimal | None) -> str:
    assert rate is not None  # the rows ask only for rates that the offer names
    return f"{found.currency} {rate.normalize():f}"


def _quoted(text: str) -> Cell:
    return Cell(text, is_muted=text == words.TO_BE_QUOTED)
