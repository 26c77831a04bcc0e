"""Rent or buy in words and as a table: what each costs over the years, and the use at which they cost the same."""

import textwrap
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from sizer.base.language import Texts, mark, tr, translated, trn
from sizer.base.money import percent as money_percent
from sizer.base.quantities import grouped, plain, si
from sizer.bom.rental import RentOrBuy
from sizer.drawings.racks import at_least
from sizer.physical.power import HOURS_PER_YEAR
from sizer.report import words
from sizer.report.plain_table import WIDTH, table_text
from sizer.report.tables import Cell, Row, Table, columns, row

_HOURS_A_WEEK = 168
# Why owning or renting reads "at least".
_MISSING = Texts(
    {
        "renewals": mark("support and subscriptions without a known term are not renewed"),
        "electricity": mark("no price of electricity was given"),
        "watts": mark("some parts' draw is not published"),
        "cooling": mark("cooling is not counted, as no PUE was given"),
        "storage": mark("the offer names no price for storing the data"),
    }
)


def years_text(found: RentOrBuy) -> str:
    """The years that are compared."""
    return trn("{count} year", "{count} years", found.rental.years, count=found.rental.years)


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
        (tr("Part"), "left", 34),
        (tr("Amount, {currency}", currency=found.currency), "right", 26),
        (tr("How it comes about"), "left", 40),
    )
    rows = [*_owning_rows(found), *_renting_rows(found, use), *_tie_rows(found, use)]
    title = tr("Renting against buying, over {years}", years=years_text(found))
    return Table("rent-or-buy", title, heads, tuple(rows), rental_note(found))


def _owning_rows(found: RentOrBuy) -> Iterator[Row]:
    own, rental = found.owning, found.rental
    yield row(tr("Buying"), "", "", kind="group")
    lines = trn("{count} line to be quoted", "{count} lines to be quoted", own.n_open, count=own.n_open)
    purchase = translated(words.TO_BE_QUOTED) if own.is_unpriced else at_least(bool(own.n_open), _amount(own.purchase))
    yield row(tr("Purchase, net"), _quoted(purchase), lines if own.n_open else "")
    if own.renewals or "renewals" in own.missing:
        text = at_least("renewals" in own.missing, _amount(own.renewals))
        yield row(tr("Support after its term"), text, tr("at the prices of the purchase"))
    if own.care:
        share = f"{money_percent(rental.yearly_cost_percent)}\u202f%"
        yield row(
            tr("People, space and care"),
            at_least(bool(own.n_open), _amount(own.care)),
            tr("{share} of the purchase a year", share=share),
        )
    if own.energy is None:
        yield row(tr("Electricity"), Cell(tr("not counted"), is_muted=True), tr("no price of electricity was given"))
    else:
        yield row(
            tr("Electricity"),
            at_least("watts" in own.missing or "cooling" in own.missing, _amount(own.energy)),
            tr(
                "{energy} at {price} a kWh",
                energy=si(1e3 * float(own.energy_kwh), "Wh"),
                price=_rate(found, rental.electricity_per_kwh),
            ),
        )
    yield row(tr("Buying, altogether"), _quoted(owning_text(found, bare=True)), "", kind="total")


def _renting_rows(found: RentOrBuy, use: Decimal | None) -> Iterator[Row]:
    rental = found.rental
    hours = Decimal(1) if use is None else use
    share = tr("all hours") if use is None else tr("{share} of all hours", share=_share(use))
    yield row(tr("Renting, {share}", share=share), "", "", kind="group")
    gpu_hours = found.renting(hours) - (found.storage_rent or Decimal("0.00"))
    rented = Fraction(found.gpu_hours) * Fraction(hours) / Fraction(repr(rental.speed_ratio))
    how = tr("{hours} GPU-hours at {price}", hours=grouped(float(rented)), price=_rate(found, rental.per_gpu_hour))
    if rental.speed_ratio != 1:
        how += tr("; a rented GPU does {ratio} times the work", ratio=plain(rental.speed_ratio))
    yield row(tr("GPUs by the hour"), _amount(gpu_hours), how)
    if found.stored_tb:
        size = si(float(found.stored_tb) * 1e12, "B")
        if found.storage_rent is None:
            yield row(tr("Storage"), Cell(tr("not counted"), is_muted=True),
                      tr("{size}; the offer names no price", size=size))  # fmt: skip
        else:
            price = _rate(found, rental.storage_per_tb_month)
            yield row(tr("Storage"), _amount(found.storage_rent), tr("{size} at {price} a TB and month", size=size,
                                                                     price=price))  # fmt: skip
    text = at_least(found.is_rent_at_least, _amount(found.renting(hours)))
    yield row(tr("Renting, altogether"), text, "", kind="total")


def _tie_rows(found: RentOrBuy, use: Decimal | None) -> Iterator[Row]:
    own = found.owning
    yield row(tr("Both the same"), "", "", kind="group")
    if not own.is_unpriced:
        yield row(tr("Break-even use"), Cell(break_even_text(found)), _week(found))
        hours = Decimal(1) if use is None else use
        how = tr("every hour used") if use is None else tr("{share} of all hours used", share=_share(use))
        price = at_least(own.is_at_least, _amount(found.own_gpu_hour(hours)))
        yield row(tr("One used GPU-hour of one's own"), price, how)
    if own.n_open:
        hours = Decimal(1) if use is None else use
        budget = found.open_budget(hours)
        share = tr("all hours") if use is None else tr("{share} of all hours", share=_share(use))
        text = _amount(budget) if budget > 0 else tr("nothing")
        yield row(tr("Open prices may cost at most"), text, tr("so that buying is not dearer at {share}", share=share))


def break_even_text(found: RentOrBuy) -> str:
    """The use at which both cost the same, in per cent of all hours."""
    if found.break_even > 1:
        return tr("above {all}", all=_share(1))
    if found.break_even <= 0:
        return tr("none: storage alone costs more")
    share = _share(found.break_even)
    said = {
        "exact": share,
        "at least": tr("at least {amount}", amount=share),
        "at most": tr("at most {amount}", amount=share),
        "open": tr("{share}, as far as costs are known", share=share),
    }
    return said[found.bound]


def _week(found: RentOrBuy) -> str:
    if not 0 < found.break_even <= 1:
        return ""
    hours = grouped(float(found.break_even * _HOURS_A_WEEK))
    return tr("{hours} of the {all} hours of a week", hours=hours, all=_HOURS_A_WEEK)


def finding(found: RentOrBuy, use: Decimal | None) -> str:
    """The answer in one sentence."""
    own = found.owning
    if own.is_unpriced:
        budget = _money(found.open_budget(Decimal(1) if use is None else use), found)
        return tr(
            "Nothing of the purchase has a price yet: up to {budget} it is no dearer than renting {share} for {years}.",
            budget=budget, share=_hours(use), years=years_text(found),
        )  # fmt: skip
    if found.break_even > 1:
        text = tr(
            "Renting costs less however much the GPUs are used: {rent} for all hours of {years} against {own}.",
            rent=rent_text(found, Decimal(1)), years=years_text(found), own=owning_text(found),
        )  # fmt: skip
        return text if not found.is_rent_at_least else f"{text} {tr('Storing the data is not in it.')}"
    if found.break_even <= 0:
        return tr("Buying costs less even if the GPUs are never used: renting the storage alone costs more.")
    said = tr(
        "Renting and buying cost the same when the GPUs are used {share} of all hours.", share=break_even_text(found)
    )
    if found.bound == "open":
        said = tr(
            "As far as costs are known, renting and buying cost the same when the GPUs are used {share} of all hours.",
            share=_share(found.break_even),
        )
    return f"{said} {_at_use(found, use)}" if use is not None else said


def _at_use(found: RentOrBuy, use: Decimal) -> str:
    """Which costs less at a use, as far as what is open allows a word."""
    rent, own = found.renting(use), found.owning.total
    pair = {"share": _share(use), "rent": rent_text(found, use), "own": owning_text(found)}
    if rent == own:
        return tr("That is the use that was stated, {share}.", share=_share(use))
    if rent < own:
        if found.is_rent_at_least:
            return tr(
                "At {share} renting costs less, as far as the offer names its costs: {rent} against {own}.", **pair
            )
        return tr("At {share} renting costs less: {rent} against {own}.", **pair)
    if not found.owning.is_at_least:
        return tr("At {share} buying costs less: {own} against {rent}.", **pair)
    if not found.owning.n_open:
        return tr("At {share} buying costs less, as far as its costs are known: {own} against {rent}.", **pair)
    budget = _money(found.open_budget(use), found)
    return tr(
        "At {share} renting costs {rent}: buying costs less as long as what is to be quoted stays below {budget}.",
        budget=budget, **pair,
    )  # fmt: skip


def short_finding(found: RentOrBuy) -> str:
    """The answer as the title of a chart."""
    if found.break_even > 1:
        return tr("Renting costs less however much the GPUs are used")
    if found.break_even <= 0:
        return tr("Buying costs less however little the GPUs are used")
    if found.bound == "open":
        return tr("Buying pays from {share} of all hours on, as far as costs are known", share=_share(found.break_even))
    return tr("Buying pays from {share} of all hours on", share=break_even_text(found))


def rental_notes(found: RentOrBuy) -> list[str]:
    """What the costs leave out, beside prices that are to be quoted."""
    missing = [key for key in found.owning.missing if key != "prices"]
    if found.is_rent_at_least:
        missing.append("storage")
    return [words.sentence(_MISSING[key]) for key in missing]


def rental_note(found: RentOrBuy) -> str:
    """What the table takes for granted."""
    note = tr(
        "Rates are those of the request for \u201c{offer}\u201d. A year has {hours} hours. "
        "Electricity is that of the typical draw at all hours, as the idle draw is not published. Interest, taxes and "
        "what the cluster is worth afterwards are not counted.",
        offer=found.rental.offer, hours=grouped(HOURS_PER_YEAR),
    )  # fmt: skip
    return " ".join((*rental_notes(found), note))


def owning_text(found: RentOrBuy, *, bare: bool = False) -> str:
    """What buying costs over the years; "at least" while a part is not known. ``bare`` leaves the currency out."""
    own = found.owning
    if own.is_unpriced:
        return translated(words.TO_BE_QUOTED)
    return at_least(own.is_at_least, _amount(own.total) if bare else _money(own.total, found))


def rent_text(found: RentOrBuy, use: Decimal) -> str:
    """What renting costs at a use; "at least" while the offer leaves something out."""
    return at_least(found.is_rent_at_least, _money(found.renting(use), found))


def _hours(use: Decimal | None) -> str:
    return tr("at all hours") if use is None else tr("{share} of all hours", share=_share(use))


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
    return Cell(text, is_muted=text == translated(words.TO_BE_QUOTED))
