"""Cost of ownership as one JSON document."""

from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.bom.ownership import COST_KINDS
from sizer.questions.ownership.analysis import OwnershipAnswer


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
