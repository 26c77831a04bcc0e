"""Rent or buy as one JSON document."""

from decimal import Decimal
from typing import Any

from sizer.bom.rental import RentOrBuy

KIND = "rent-or-buy"
SCHEMA_VERSION = 1


def rental_document(found: RentOrBuy, use: Decimal | None) -> dict[str, Any]:
    """Both costs and the break-even as plain data; money is decimal text.

    ``missing`` names what the costs of buying leave out; while it names something they read "at least". Costs at a use
    are those at the stated one, else at all hours.
    """
    own = found.owning
    hours = Decimal(1) if use is None else use
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "currency": found.currency,
        "years": found.rental.years,
        "n_gpus": found.n_gpus,
        "gpu_hours": found.gpu_hours,
        "buying": {
            "purchase": f"{own.purchase:.2f}",
            "lines_to_be_quoted": own.n_open,
            "renewals": f"{own.renewals:.2f}",
            "care": f"{own.care:.2f}",
            "energy": None if own.energy is None else f"{own.energy:.2f}",
            "energy_kwh": float(own.energy_kwh),
            "total": None if own.is_unpriced else f"{own.total:.2f}",
            "missing": list(own.missing),
            "of_a_used_gpu_hour": None if own.is_unpriced else f"{found.own_gpu_hour(hours):.2f}",
        },
        "renting": {
            "per_gpu_hour": str(found.rental.per_gpu_hour),
            "speed_ratio": found.rental.speed_ratio,
            "storage": None if found.storage_rent is None else f"{found.storage_rent:.2f}",
            "stored_tb": float(found.stored_tb),
            "total": f"{found.renting(hours):.2f}",
            "is_at_least": found.is_rent_at_least,
        },
        "utilization_fraction": float(hours),
        "is_utilization_stated": use is not None,
        "break_even_fraction": None if own.is_unpriced else float(found.break_even),
        "break_even_is": found.bound,
        "open_prices_at_most": f"{found.open_budget(hours):.2f}" if own.n_open else None,
    }
