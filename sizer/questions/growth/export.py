"""The growth plan as one JSON document."""

from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.bom.bill import Sum
from sizer.sizing.growth.result import ClusterSize, GrowthPlan, PlatformGrowth, Purchase, PurchaseSequence
from sizer.workload.resolve import ResolvedWorkload


def growth_document(plan: GrowthPlan) -> dict[str, Any]:
    """Everything about a growth plan; the year of a limit that is not reached is null."""
    return json_document(
        "growth plan",
        **fields_of(plan, "growth", "deciding_prices"),
        years_covered=plan.n_years,
        stops=None if plan.unmet is None else {"year": plan.unmet.year, "reason": plan.unmet.reason or None},
        asked=[
            {"year": year, "workloads": [_workload(work) for work in works]}
            for year, works in enumerate(plan.workloads, start=1)
        ],
        platforms=[_platform(growth) for growth in plan.platforms],
    )


def _workload(work: ResolvedWorkload) -> dict[str, object]:
    return fields_of(
        work,
        *("sample_bytes", "dataset_bytes"),
        name=work.request.name,
        target=work.request.target.model_dump(mode="json", exclude_none=True),
        forward_flop=work.dnn.forward_flop.value,
        parameters=work.dnn.parameters.value,
    )


def _platform(growth: PlatformGrowth) -> dict[str, object]:
    platform = growth.platform
    return {
        "server": platform.server.id,
        "gpu": platform.gpu.id,
        "storage": platform.storage.id,
        **fields_of(platform, "gpus_per_server", "fabric"),
        "needs": [_size(need) for need in growth.needs],
        "chosen_by": growth.criterion,
        "best": _purchases(growth.recommended),
        "others": [_purchases(purchases) for purchases in growth.alternatives],
        "deciding_prices": growth.deciding_prices,
        "power_is_lower_bound": growth.has_unknown_power,
        "limits": [
            fields_of(
                limit,
                *("loads", "is_gradual", "is_of_request"),
                name=limit.kind.value,
                used_up_after_years=limit.year,
            )
            for limit in growth.limits
        ],
    }


def _size(size: ClusterSize) -> dict[str, object]:
    return {"servers": size.n_servers, "storage_nodes": size.storage_nodes}


def _purchases(purchases: PurchaseSequence) -> dict[str, object]:
    return fields_of(
        purchases,
        *("energy_cost", "energy_kwh", "server_years", "moved_links"),
        way=purchases.name,
        network_is_prepared=purchases.is_prepared,
        cost=_sum(purchases.cost),
        years=[_purchase(purchase) for purchase in purchases.purchases],
    )


def _purchase(purchase: Purchase) -> dict[str, object]:
    return fields_of(
        purchase,
        *("year", "unpriced", "energy_kwh", "power_max_w", "racks", "rack_units", "moved_links"),
        need=_size(purchase.need),
        owned=_size(purchase.owned),
        bought=dict(purchase.bought),
        taken_out=dict(purchase.taken_out),
        cost=_sum(purchase.cost),
    )


def _sum(amount: Sum) -> dict[str, object]:
    return {"amount": None if amount.is_unknown else amount.amount, "items_to_be_quoted": amount.n_open}
