"""Cost of ownership in sentences, and as plain text for a terminal."""

import textwrap
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import significant
from sizer.bom.ownership import COST_KINDS
from sizer.present import words
from sizer.present.plain_table import WIDTH, table_text
from sizer.questions.ownership.analysis import OwnershipAnswer, RunCost
from sizer.questions.ownership.tables import (
    KIND_NAMES,
    kinds_of,
    ownership_table,
    run_cost_text,
    runs_table,
    total_text,
    years_text,
)

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
        "by_kind": {kind: cost.of(kind) for kind in COST_KINDS},
        "by_year": [fields_of(year, "year", *COST_KINDS, "total") for year in cost.years],
        "total": None if cost.is_unpriced else cost.total,
        "lines_to_be_quoted": cost.n_open,
        "energy_kwh": float(cost.energy_kwh),
        "interval": None
        if answer.interval is None
        else fields_of(answer.interval, "low", "expected", "at_confidence", "high"),
        "cost_per_hour_used": None if cost.is_unpriced else float(answer.hourly_cost),
        "runs": [
            fields_of(
                run,
                *("workload", "is_training_run", "sample_unit", "duration_s", "energy_kwh", "electricity", "runs"),
                cost=None if cost.is_unpriced else run.cost,
                cost_low=None if cost.is_unpriced else run.low,
                cost_high=None if cost.is_unpriced else run.high,
                meets_cost_per_million_tokens=answer.meets_cost_per_token(run),
            )
            for run in answer.runs
        ],
        "cost_per_million_tokens_asked": _rate(answer.asked_per_million_tokens),
    }


def _rate(rate: object) -> str | None:
    return None if rate is None else str(rate)  # stated with up to four decimals


def ownership_text(answer: OwnershipAnswer) -> str:
    """Cost of ownership as plain text for a terminal."""
    lines = "\n".join(textwrap.wrap(finding(answer), WIDTH))
    return "\n\n".join([lines, table_text(ownership_table(answer)), table_text(runs_table(answer))])


def finding(answer: OwnershipAnswer) -> str:
    """The answer in a sentence or two."""
    cost = answer.cost
    period = years_text(cost.rates.years)
    if "growth" in cost.missing:
        period += ", without what the growth plan buys after the first year,"
    if cost.is_unpriced:
        lines = f"{words.plural(cost.n_open, 'line')} of the bill"
        text = f"Prices of {lines} are missing, so the cost of ownership is not known."
        if answer.interval is not None:
            owning = f"Owning the cluster for {period} is estimated at {total_text(answer)}"
            text = f"{owning}: {lines} to be quoted."
        asked = (_asked_text(run, answer) for run in answer.runs)
        return " ".join([text, *(words.sentence(one) for one in asked if one)])
    text = f"Owning the cluster for {period} costs {total_text(answer)}."
    kinds = kinds_of(cost)
    if len(kinds) > 1:
        shares = [words.percent(float((cost.of(kind) or 0) / cost.total)) for kind in kinds]
        names = [words.inside_sentence(KIND_NAMES[kind]) for kind in kinds]
        first, *others = (f"{name} {share}" for name, share in zip(names, shares, strict=True))
        text = f"{text} Of this: {words.listed([first, *others])}."
    return " ".join([text, *(_run_text(run, answer) for run in answer.runs)])


def _run_text(run: RunCost, answer: OwnershipAnswer) -> str:
    amount = f"{answer.cost.currency} {run_cost_text(run, answer.cost)}"
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


def short_finding(answer: OwnershipAnswer) -> str:
    """The answer as the title of a chart."""
    cost = answer.cost
    running = cost.total - cost.purchase
    over = f"over {years_text(cost.rates.years)}"
    if not cost.purchase:
        return f"Running costs {over}"
    if not running:
        return f"The purchase is the only known cost {over}"
    return f"Running costs add {words.percent(float(running / cost.purchase))} to the purchase {over}"
