"""Cost of ownership as tables, by year and kind and for one run of every workload, in sentences, and as plain text."""

import textwrap
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.money import percent as money_percent
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.bom.ownership import COST_KINDS, IDLE_SHARE, CostKind, Missing, OwnershipCost, OwnershipRates, YearCost
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.present import words
from sizer.present.tables import WIDTH, Cell, Field, Table, record_table, row, table_text
from sizer.present.text.money import planned_years_text, range_text
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
    "growth": "purchases after the first year, and what they cost to run, are not included: no plan covers them",
}


def years_text(years: int) -> str:
    """The period."""
    return by_count(years, "one year", f"{words.spelled(years)} years")


def kinds_of(answer: OwnershipAnswer) -> tuple[CostKind, ...]:
    """Kinds that cost something, purchase first."""
    return tuple(kind for kind in COST_KINDS if kind == "purchase" or cost_text(answer, kind) != "0")


def ownership_table(answer: OwnershipAnswer) -> Table:
    """Costs by year and by kind; what rests on lines without a price as the budgetary range."""
    cost = answer.cost
    kinds = kinds_of(answer)
    width = 88 // (len(kinds) + 1)
    columns: tuple[tuple[CostKind | Literal["total"], str], ...] = (
        *((kind, KIND_NAMES[kind]) for kind in kinds),
        ("total", "Total"),
    )
    fields: list[Field[YearCost]] = [Field("Year", lambda year: str(year.year), "left", 12)]
    fields += [
        Field(f"{name}, {cost.currency}", partial(_cell, answer, kind), "right", width) for kind, name in columns
    ]
    totals = [Cell("All years"), *(_cell(answer, kind) for kind, _ in columns)]
    return record_table(
        "ownership",
        f"Cost of ownership over {years_text(cost.rates.years)}",
        cost.years,
        fields,
        totals=[row(*totals, kind="total")],
        note=ownership_note(answer),
    )


def _cell(answer: OwnershipAnswer, kind: CostKind | Literal["total"], year: YearCost | None = None) -> Cell:
    return _quoted(cost_text(answer, kind, year))


def cost_text(answer: OwnershipAnswer, kind: CostKind | Literal["total"], year: YearCost | None = None) -> str:
    """Cost of a kind in a year, or in all; a range while a line of the bill has no price."""
    cost = answer.cost
    if not _rests(cost, kind):
        amounts = [getattr(one, kind) or Decimal(0) for one in cost.years if year in (None, one)]
        return _amount(sum(amounts, Decimal(0)))
    ends = answer.span(kind, None if year is None else year.year)
    if ends is None:
        return words.TO_BE_QUOTED
    return range_text("", *ends) if round(ends[1]) else _amount(Decimal(0))


def runs_table(answer: OwnershipAnswer) -> Table | None:
    """Energy and share of the cost of ownership of one run of every workload; None where models in use are all."""
    if not answer.runs:
        return None
    cost, use = answer.first, answer.utilization_fraction
    share = "Runs follow each other without a pause" if use is None else f"Runs take {words.percent(use)} of all hours"
    hours = grouped(HOURS_PER_YEAR)
    owned = "owning the design without later purchases" if answer.later else "ownership"
    note = (
        f"Cost = duration × cost of {owned} / ({cost.rates.years} × {hours} h"
        f"{'' if use is None else f' × {words.percent(use)}'}). {share}; each takes the whole cluster "
        f"at its full rate, whatever load is asked. Energy: typical draw{_cooled(cost)}. "
        f"{'Ranges: of the price' if cost.is_unpriced else f'In brackets: 90{NARROW_SPACE}% interval of the duration'}."
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
                lambda run: _quoted(run_cost_text(run, answer)),
                "right",
                27,
            ),
        ),
        note=note,
    )


def run_name(run: RunCost) -> str:
    """What the cost is for."""
    return "to train once" if run.is_training_run else f"1 million {words.plural_of(2, run.sample_unit)}"


def run_cost_text(run: RunCost, answer: OwnershipAnswer) -> str:
    """Cost of a run without its currency, to the digits that its duration or the range of the price supports."""
    middle, low, high = (significant(float(amount)) for amount in (run.cost, run.low, run.high))
    if answer.first.is_unpriced:
        ends = answer.run_span(run)
        return words.TO_BE_QUOTED if ends is None else range_text("", *ends)
    return middle if low == high else f"{middle} ({low} to {high})"


def total_text(answer: OwnershipAnswer) -> str:
    """Cost over all years, a range while a line has no price."""
    text = cost_text(answer, "total")
    return text if text == words.TO_BE_QUOTED else f"{answer.cost.currency} {text}"


def ownership_note(answer: OwnershipAnswer) -> str:
    """Rates behind the amounts, and costs that are not included."""
    cost, rates = answer.cost, answer.cost.rates
    sentences = [words.sentence(_MISSING[key]) for key in cost.missing if key != "prices"]
    if cost.n_open:
        sentences.append(f"{words.plural(cost.n_open, 'line')} of the bill to be quoted.")
    if rates.electricity_per_kwh is not None:
        kwh = si(1e3 * float(cost.energy_kwh), "Wh")
        sentences.append(
            f"Energy: {kwh} at {_rate_text(cost, rates.electricity_per_kwh)} per kWh, {_drawn(rates)}{_cooled(cost)}."
        )
    if rates.support_percent is not None:
        sentences.append(
            f"Support: {money_percent(rates.support_percent)}{NARROW_SPACE}% a year of what is bought once, "
            "after the terms that the bill pays for, in place of support lines without a price."
        )
    if cost.space is not None:
        price = rates.space_per_rack_unit_month or rates.space_per_rack_month or Decimal(0)
        unit = "rack" if rates.space_per_rack_month is not None else "rack unit"
        sentences.append(f"Space: {_rate_text(cost, price)} per {unit} and month.")
    omitted = "taxes" if answer.later else "taxes, price changes"
    sentences.append(f"Interest, {omitted} and residual value are not included. Amounts are rounded.")
    return " ".join(sentences)


def _drawn(rates: OwnershipRates) -> str:
    """In which hours the cluster draws how much."""
    use = rates.utilization_fraction
    if use is None or use == 1:
        return "typical draw at all hours"
    idle = words.percent(IDLE_SHARE)
    return f"typical draw in {words.percent(use)} of all hours, {idle} of it in the others (assumed)"


def _cooled(cost: OwnershipCost) -> str:
    pue = cost.rates.pue_ratio
    return ", without cooling" if pue is None else f" × PUE {plain(pue)}"


def _rate_text(cost: OwnershipCost, rate: Decimal) -> str:
    """A rate as it was stated, with cents where it has some."""
    decimals = len(f"{rate.normalize():f}".partition(".")[2])
    return f"{cost.currency} {grouped(rate, max(2, decimals) if decimals else 0)}"


def _amount(amount: Decimal) -> str:
    return grouped(words.whole(amount))


def _quoted(text: str) -> Cell:
    return Cell(text, is_muted=text == words.TO_BE_QUOTED)


_MET = {True: "met", False: "not met", None: "open until all prices are known"}


def ownership_document(answer: OwnershipAnswer) -> dict[str, Any]:
    """Cost of ownership as a document of its own."""
    return json_document("ownership", **ownership_content(answer))


def ownership_content(answer: OwnershipAnswer) -> dict[str, Any]:
    """Costs by year and kind, their total, and the cost of one run of every workload.

    ``missing`` names what the total does not include; no total is stated while a line has no price.
    """
    cost, rates = answer.cost, answer.cost.rates
    return {
        **fields_of(cost, "currency", "missing"),
        "years": rates.years,
        "rates": {
            "electricity_per_kwh": _rate(rates.electricity_per_kwh),
            "pue_ratio": rates.pue_ratio,
            "support_percent": _rate(rates.support_percent),
            "space_per_rack_unit_month": _rate(rates.space_per_rack_unit_month),
            "space_per_rack_month": _rate(rates.space_per_rack_month),
            "yearly_cost_percent": str(rates.care_percent),
            "utilization_fraction": answer.utilization_fraction,
        },
        "by_kind": {kind: None if _rests(cost, kind) else cost.of(kind) for kind in COST_KINDS},
        "by_year": [
            {"year": year.year}
            | {kind: None if _rests(cost, kind) else getattr(year, kind) for kind in (*COST_KINDS, "total")}
            for year in cost.years
        ],
        "total": None if cost.is_unpriced else cost.total,
        "lines_to_be_quoted": cost.n_open,
        "energy_kwh": float(cost.energy_kwh),
        "interval": None
        if answer.interval is None
        else fields_of(answer.interval, "low", "expected", "at_confidence", "high"),
        "cost_per_hour_used": None if answer.first.is_unpriced else float(answer.hourly_cost),
        "runs": [
            fields_of(
                run,
                *("workload", "is_training_run", "sample_unit", "duration_s", "energy_kwh", "electricity", "runs"),
                cost=None if answer.first.is_unpriced else run.cost,
                cost_low=None if answer.first.is_unpriced else run.low,
                cost_high=None if answer.first.is_unpriced else run.high,
                meets_cost_per_million_tokens=answer.meets_cost_per_token(run),
            )
            for run in answer.runs
        ],
        "cost_per_million_tokens_asked": _rate(answer.asked_per_million_tokens),
    }


def _rests(cost: OwnershipCost, kind: str) -> bool:
    """Whether an amount is a part of prices that are open."""
    return cost.is_unpriced and kind not in ("energy", "space")


def _rate(rate: object) -> str | None:
    return None if rate is None else str(rate)  # stated with up to four decimals


def ownership_text(answer: OwnershipAnswer) -> str:
    """Cost of ownership as plain text for a terminal."""
    lines = "\n".join(textwrap.wrap(finding(answer), WIDTH))
    tables = filter(None, (ownership_table(answer), runs_table(answer)))
    return "\n\n".join([lines, *map(table_text, tables)])


def finding(answer: OwnershipAnswer) -> str:
    """The answer in a sentence or two, and what the growth plan buys besides."""
    later = planned_years_text(answer.later)
    return _finding(answer) + (f" Bought later, at the prices of those years: {later}." if later else "")


def owning_text(answer: OwnershipAnswer | None) -> str:
    """What owning the cluster costs, in a sentence; "" where it is not asked, or not known."""
    if answer is None or (answer.cost.is_unpriced and answer.interval is None):
        return ""
    cost = answer.cost
    period = years_text(cost.rates.years)
    if answer.later:
        period += ", with what the growth plan buys later,"
    elif "growth" in cost.missing:
        period += ", without what is bought after the first year,"
    verb = "is estimated at" if cost.is_unpriced else "costs"
    return f"Owning the cluster for {period} {verb} {total_text(answer)}."


def _finding(answer: OwnershipAnswer) -> str:
    cost, owning = answer.cost, owning_text(answer)
    if cost.is_unpriced:
        lines = f"{words.plural(cost.n_open, 'line')} of the bill"
        text = f"Prices of {lines} are missing, so the cost of ownership is not known."
        if owning:
            text = f"{owning.removesuffix('.')}: {lines} to be quoted."
        asked = (_asked_text(run, answer) for run in answer.runs)
        return " ".join([text, *(words.sentence(one) for one in asked if one)])
    kinds = kinds_of(answer)
    if len(kinds) > 1:
        shares = (words.percent(float((cost.of(kind) or 0) / cost.total)) for kind in kinds)
        names = (words.inside_sentence(KIND_NAMES[kind]) for kind in kinds)
        owning += f" Of this: {words.listed(f'{name} {share}' for name, share in zip(names, shares, strict=True))}."
    return " ".join([owning, *(_run_text(run, answer) for run in answer.runs)])


def _run_text(run: RunCost, answer: OwnershipAnswer) -> str:
    amount = f"{answer.first.currency} {run_cost_text(run, answer)}"
    name = words.shortened(run.workload)
    if run.is_training_run:
        return f"One run of {name} costs {amount}."
    text = f"One million {words.plural_of(2, run.sample_unit)} of {name} cost {amount}"
    return f"{'; '.join(filter(None, (text, _asked_text(run, answer))))}."


def _asked_text(run: RunCost, answer: OwnershipAnswer) -> str:
    """Whether a million tokens cost no more than was asked; "" where nothing was."""
    if answer.asked_per_million_tokens is None or not run.is_million_tokens:
        return ""
    asked = f"at most {answer.cost.currency} {significant(float(answer.asked_per_million_tokens))} asked"
    return f"{asked}, which is {_MET[answer.meets_cost_per_token(run)]}"
