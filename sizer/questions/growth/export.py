"""The growth plan as one JSON document."""

import math
from typing import Any

from sizer import __version__
from sizer.bom.bill import Sum
from sizer.questions.growth.limits_over_time import Limit
from sizer.questions.growth.result import GrowthPlan, PlatformGrowth, Purchase, Purchases
from sizer.questions.growth.size import Size


def growth_document(plan: GrowthPlan) -> dict[str, Any]:
    """Everything about a growth plan as plain data. Unknown numbers and limits that are never hit are ``null``."""
    return {
        "kind": "growth plan",
        "tool_version": __version__,
        "growth": plan.growth.model_dump(mode="json"),
        "years_covered": plan.n_years,
        "stops": plan.stops or None,
        "asked": [
            {
                "year": year,
                "workloads": [
                    {
                        "name": work.request.name,
                        "target": work.request.target.model_dump(mode="json", exclude_none=True),
                        "sample_bytes": work.sample_bytes,
                        "dataset_bytes": work.dataset_bytes,
                        "forward_flop": work.dnn.forward_flop.value,
                        "parameters": work.dnn.parameters.value,
                    }
                    for work in works
                ],
            }
            for year, works in enumerate(plan.works, start=1)
        ],
        "platforms": [_platform(found) for found in plan.platforms],
        "deciding_prices": list(plan.deciding_prices),
    }


def _platform(found: PlatformGrowth) -> dict[str, Any]:
    platform = found.platform
    return {
        "server": platform.server.id,
        "gpu": platform.gpu.id,
        "gpus_per_server": platform.gpus_per_server,
        "storage": platform.storage.id,
        "fabric": platform.fabric,
        "needs": [_size(need) for need in found.needs],
        "chosen_by": found.basis,
        "best": _purchases(found.best),
        "others": [_purchases(way) for way in found.others],
        "deciding_prices": list(found.deciding_prices),
        "power_is_lower_bound": found.has_unknown_power,
        "limits": [_limit(limit) for limit in found.limits],
    }


def _size(size: Size) -> dict[str, int]:
    return {"servers": size.n_servers, "storage_nodes": size.storage_nodes}


def _purchases(way: Purchases) -> dict[str, Any]:
    return {
        "way": way.way,
        "network_is_prepared": way.is_prepared,
        "cost": _sum(way.cost),
        "energy_cost": None if way.energy_cost is None else str(way.energy_cost),
        "energy_kwh": way.energy_kwh,
        "server_years": way.server_years,
        "moved_links": way.moved_links,
        "years": [_purchase(purchase) for purchase in way.purchases],
    }


def _purchase(purchase: Purchase) -> dict[str, Any]:
    return {
        "year": purchase.year,
        "need": _size(purchase.need),
        "owned": _size(purchase.owned),
        "bought": dict(purchase.bought),
        "taken_out": dict(purchase.taken_out),
        "cost": _sum(purchase.cost),
        "unpriced": list(purchase.unpriced),
        "energy_kwh": purchase.energy_kwh,
        "power_max_w": purchase.power_max_w,
        "racks": purchase.racks,
        "rack_units": purchase.rack_units,
        "moved_links": purchase.moved_links,
    }


def _sum(amount: Sum) -> dict[str, Any]:
    return {"amount": None if amount.is_unknown else str(amount.amount), "items_to_be_quoted": amount.n_open}


def _limit(limit: Limit) -> dict[str, Any]:
    return {
        "name": limit.name,
        "loads": [load if math.isfinite(load) else None for load in limit.loads],
        "used_up_after_years": limit.year,
        "is_gradual": limit.is_gradual,
        "is_of_request": limit.is_of_request,
    }
