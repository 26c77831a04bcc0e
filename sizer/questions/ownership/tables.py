"""Cost of ownership as tables: by year and kind, and for one run of every workload."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

from sizer.base.money import percent as money_percent
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.bom.ownership import COST_KINDS, CostKind, Missing, OwnershipCost, YearCost
from sizer.drawings.racks import at_least
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table, row
from sizer.questions.ownership.analysis import OwnershipAnswer, RunCost

KIND_NAMES: dict[CostKind, str] = {
    "purchase": "Purchase",
    "support": "Support",
    "energy": "Energy",
    "space": "Space",
    "care": "Staff and care",
}
# Costs that the total leaves out, apart from prices to be quoted.
_MISSING: dict[Missing, str] = {
    "renewals": "renewals of support and subscriptions without a known term are not included",
    "electricity": "electricity is not included because no price was given",
    "watts": "the power draw of some parts is not published",
    "cooling": "cooling is not included because no PUE was given",
    "space": "space is not included because no price was given",
    "growth": "purchases of the growth plan after the first year, and what they cost to run, are not included",
}


def years_text(years: int) -> str:
    """The period."""
    return by_count(years, "one year", f"{words.spelled(years)} years")


def kinds_of(cost: OwnershipCost) -> tuple[CostKind, ...]:
    """Kinds that cost something, purchase first."""
    return tuple(kind for kind in COST_KINDS if kind == "purchase" or cost.of(kind))


def ownership_table(cost: OwnershipCost) -> Table:
    """Costs by year and by kind; the total of a kind reads "at least" where a part of it is not known."""
    kinds = kinds_of(cost)
    width = 88 // (len(kinds) + 1)
    fields: list[Field[YearCost]] = [Field("Year", lambda year: str(year.year), "left", 12)]
    fields += [Field(f"{KIND_NAMES[kind]}, {cost.currency}", _of(kind), "right", width) for kind in kinds]
    fields.append(Field(f"Total, {cost.currency}", lambda year: _amount(year.total), "right", width))
    totals = [Cell("All years"), *(_total(cost, kind) for kind in kinds), _quoted(total_text(cost, bare=True))]
    return record_table(
        "ownership",
        f"Cost of ownership over {years_text(cost.rates.years)}",
        cost.years,
        fields,
        totals=[row(*totals, kind="total")],
        note=ownership_note(cost),
    )


def _of(kind: CostKind) -> Callable[[YearCost], str]:
    return lambda year: _amount(getattr(year, kind))


def runs_table(answer: OwnershipAnswer) -> Table:
    """Energy and share of the cost of ownership of one run of every workload."""
    cost = answer.cost
    use = answer.utilization_fraction
    share = "Runs follow each other without a pause" if use is None else f"Runs take {words.percent(use)} of all hours"
    hours = grouped(HOURS_PER_YEAR)
    note = (
        f"Cost = duration × cost of ownership / ({cost.rates.years} × {hours} h"
        f"{'' if use is None else f' × {words.percent(use)}'}). {share}; each takes the whole cluster. Energy: "
        f"typical draw{_cooled(cost)}. Cost in brackets: 90{NARROW_SPACE}% interval of the duration."
    )
    return record_table(
        "cost-per-run",
        "Cost of one run",
        answer.runs,
        (
            Field("Workload", lambda run: words.shortened(run.workload), "left", 24),
            Field("Run", run_name, "left", 18),
            Field("Duration", lambda run: words.estimate(run.duration_s, "s"), "right", 19),
            Field("Energy", lambda run: si(1e3 * run.energy_kwh, "Wh"), "right", 12),
            Field(
                f"Cost, {cost.currency}",
                lambda run: _quoted(words.TO_BE_QUOTED if cost.is_unpriced else run_cost_text(run, cost)),
                "right",
                27,
            ),
        ),
        note=note,
    )


def run_name(run: RunCost) -> str:
    """What the cost is for."""
    return "to train once" if run.is_training_run else f"1 million {words.plural_of(2, run.sample_unit)}"


def run_cost_text(run: RunCost, cost: OwnershipCost) -> str:
    """Cost of a run without its currency, to the digits that its duration supports; "at least" where owning is."""
    middle, low, high = (significant(float(amount)) for amount in (run.cost, run.low, run.high))
    return at_least(cost.is_at_least, middle if low == high else f"{middle} ({low} to {high})")


def total_text(cost: OwnershipCost, *, bare: bool = False) -> str:
    """Cost over all years; "at least" while a part is not known. ``bare``: with cents, without the currency."""
    if cost.is_unpriced:
        return words.TO_BE_QUOTED
    whole = cost.total.quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return at_least(cost.is_at_least, _amount(cost.total) if bare else words.money(whole, cost.currency))


def ownership_note(cost: OwnershipCost) -> str:
    """Rates behind the amounts, and costs that are not included."""
    rates = cost.rates
    sentences = [words.sentence(_MISSING[key]) for key in cost.missing if key != "prices"]
    if cost.n_open:
        sentences.append(f"{words.plural(cost.n_open, 'line')} of the bill to be quoted.")
    if rates.electricity_per_kwh is not None:
        kwh = si(1e3 * float(cost.energy_kwh), "Wh")
        sentences.append(
            f"Energy: {kwh} at {_rate(cost, rates.electricity_per_kwh)} per kWh, typical draw at all "
            f"hours{_cooled(cost)}."
        )
    if rates.support_percent is not None:
        sentences.append(
            f"Support: {money_percent(rates.support_percent)}{NARROW_SPACE}% a year of what is bought once, "
            "after the terms that the bill pays for."
        )
    if cost.space is not None:
        price = rates.space_per_rack_unit_month or rates.space_per_rack_month or Decimal(0)
        unit = "rack" if rates.space_per_rack_month is not None else "rack unit"
        sentences.append(f"Space: {_rate(cost, price)} per {unit} and month.")
    sentences.append("Interest, taxes, price changes and residual value are not included.")
    return " ".join(sentences)


def _cooled(cost: OwnershipCost) -> str:
    pue = cost.rates.pue_ratio
    return ", without cooling" if pue is None else f" × PUE {plain(pue)}"


def _total(cost: OwnershipCost, kind: CostKind) -> Cell:
    amount = cost.of(kind)
    assert amount is not None  # a column exists only for kinds with a rate
    is_lower = {
        "purchase": cost.n_open > 0,
        "support": "renewals" in cost.missing or (cost.rates.support_percent is not None and cost.n_open > 0),
        "energy": "watts" in cost.missing or "cooling" in cost.missing,
        "space": False,
        "care": cost.n_open > 0,
    }[kind]
    return _quoted(
        words.TO_BE_QUOTED if kind == "purchase" and cost.is_unpriced else at_least(is_lower, _amount(amount))
    )


def _rate(cost: OwnershipCost, rate: Decimal) -> str:
    """A rate as it was stated, with cents."""
    return f"{cost.currency} {grouped(rate, max(2, len(f'{rate.normalize():f}'.partition('.')[2])))}"


def _amount(amount: Decimal) -> str:
    return grouped(amount, 2)


def _quoted(text: str) -> Cell:
    return Cell(text, is_muted=text == words.TO_BE_QUOTED)
