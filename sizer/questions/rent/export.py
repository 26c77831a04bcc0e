"""Rent or buy as one JSON document."""

from decimal import Decimal
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.bom.rental import RentOrBuy


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
