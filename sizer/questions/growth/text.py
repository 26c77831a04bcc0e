"""The growth plan in sentences, and as plain text for a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.dates import days_of, years_after
from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import by_count, grouped
from sizer.bom.bill import Sum
from sizer.bom.remarks import SERVICE_YEARS, ends_in_service
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.present.plain_table import table_text
from sizer.present.text.money import quotes_for
from sizer.present.words import inside_sentence, listed, plural
from sizer.questions.growth.tables import (
    LIMIT_NAMES,
    demand_cells,
    demand_table,
    exhausted_text,
    limits_table,
    percent_of,
    platform_text,
    platforms_table,
    purchases_table,
    sequences_table,
    size_text,
)
from sizer.sizing.growth.result import ClusterSize, GrowthPlan, PlatformGrowth, Purchase, PurchaseSequence
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# A load that is worth a sentence.
_NOTABLE = 0.5


@dataclass(frozen=True)
class LatePurchase:
    """A part that the plan buys late in its life."""

    item: str
    year: int
    month: str  # of the purchase, "2027-11"
    end: str  # published date of the end
    is_sale: bool  # of sale, before the purchase; else of service, within ``SERVICE_YEARS`` after it


def late_purchases(plan: GrowthPlan, growth: PlatformGrowth, catalog: Catalog) -> Iterator[LatePurchase]:
    """Purchases after the first year, whose parts the bill's own warnings do not date; none without a date."""
    request = plan.requests[0]
    start = request.needed_by or request.date
    if start is None:
        return
    for purchase in growth.recommended.purchases[1:]:
        day = years_after(start, purchase.year - 1)
        for item in (catalog.item(id_) for id_, _ in purchase.bought):
            sale, service = item.end_of_sale, item.end_of_service
            late = (item.name, purchase.year, f"{day:%Y-%m}")
            if sale is not None and days_of(sale.value)[1] < day:
                yield LatePurchase(*late, sale.value, is_sale=True)
            elif service is not None and ends_in_service(service.value, day):
                yield LatePurchase(*late, service.value, is_sale=False)


def late_purchase_text(late: LatePurchase) -> str:
    """When it is bought and what ends, without a full stop."""
    bought = f"{late.item} in year {late.year} ({late.month})"
    if late.is_sale:
        return f"{bought}: end of sale is {late.end}, before the purchase"
    return f"{bought}: end of service is {late.end}, less than {plural(SERVICE_YEARS, 'year')} after the purchase"


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
        price_range=purchase.interval,
    )


def _sum(amount: Sum) -> dict[str, object]:
    return {"amount": None if amount.is_unknown else amount.amount, "items_to_be_quoted": amount.n_open}


def growth_text(plan: GrowthPlan, catalog: Catalog, request: SizingRequest) -> str:
    """Findings and tables of the first platform, then a table of all platforms."""
    growth, currency = plan.platforms[0], request.currency
    tables = [
        purchases_table(growth, catalog, currency),
        sequences_table(growth, plan, currency),
        limits_table(growth.limits, plan.n_years),
        demand_table(plan),
    ]
    if len(plan.platforms) > 1:
        tables.append(platforms_table(plan, currency))
    lines = [request.title, "=" * len(request.title), *findings(plan, growth, catalog)]
    return "\n\n".join(["\n".join(lines), *map(table_text, tables)])


def findings(plan: GrowthPlan, growth: PlatformGrowth, catalog: Catalog) -> list[str]:
    """The plan on one platform in sentences: purchases, alternatives, limits, cautions."""
    return [
        recommendation(growth),
        *(
            f"The plan buys {late_purchase_text(late)}. Agree on the service, or plan its successor."
            for late in late_purchases(plan, growth, catalog)
        ),
        *_alternatives(growth),
        *limit_texts(plan, growth),
        *_triggers(plan, growth),
        *_missing_prices(growth, catalog),
    ]


def recommendation(growth: PlatformGrowth) -> str:
    """The recommended purchases in one sentence."""
    sizes, name = growth.recommended.sizes, platform_text(growth)
    first, last = size_text(sizes[0]), size_text(sizes[-1])
    if sizes[0] == sizes[-1]:
        if growth.needs[0] == growth.needs[-1]:
            years = f"all {len(sizes)} years" if len(sizes) > 1 else "that year"
            return f"Buy {first} of {name} in year 1; they meet {years}."
        return f"Buy {first} of {name} in year 1: buying in steps costs more."
    later = [str(purchase.year) for purchase in growth.recommended.purchases if purchase.bought and purchase.year > 1]
    steps = by_count(len(later), f"a purchase in year {listed(later)}", f"purchases in years {listed(later)}")
    return f"Buy {first} of {name} now; grow to {last} with {steps}."


def _alternatives(growth: PlatformGrowth) -> Iterator[str]:
    recommended, (at_once, _, grows) = growth.recommended, growth.alternatives
    if at_once.sizes != recommended.sizes and recommended.energy_kwh:
        share = percent_of(at_once.energy_kwh / recommended.energy_kwh - 1)
        idle = at_once.server_years - recommended.server_years
        idle_text = f"adds {grouped(idle)} idle server-years and " if idle else ""
        yield f"Buying everything in the first year {idle_text}takes {share} more energy."
    if grows.moved_links:
        links = by_count(grows.moved_links, "link", "links")
        yield f"Buying only each year's network would move {grouped(grows.moved_links)} installed {links}."


def limit_texts(plan: GrowthPlan, growth: PlatformGrowth) -> Iterator[str]:
    """What the cluster of the first year runs out of first, and the first year that no plan covers."""
    exhausted = [limit for limit in growth.limits if limit.year is not None]
    if exhausted:
        named = (f"{inside_sentence(LIMIT_NAMES[limit.kind])} ({exhausted_text(limit)})" for limit in exhausted[:3])
        yield f"Capacity of the year-1 cluster exhausted first: {listed(named)}."
    if plan.unmet is not None:
        reason = plan.unmet.reason or "no platform that meets it also meets every earlier year"
        yield f"No plan covers year {plan.unmet.year}: {reason}"


def _triggers(plan: GrowthPlan, growth: PlatformGrowth) -> Iterator[str]:
    """When the next purchase is to be ordered, and how loaded the parts that last are."""
    gradual = [limit for limit in growth.limits if limit.is_gradual and not limit.is_of_request]
    exhausted = [limit for limit in gradual if limit.year is not None]
    if exhausted and growth.recommended.sizes[0] != growth.recommended.sizes[-1]:
        first = min(exhausted, key=lambda limit: limit.year or 0.0)
        yield (
            f"Have the next purchase installed before that: the {inside_sentence(LIMIT_NAMES[first.kind])} of the "
            f"year-1 cluster is exhausted {exhausted_text(first)}. Ask for delivery times with the quotes."
        )
    lasting = [limit for limit in gradual if limit.year is None and limit.loads[-1] > limit.loads[0]]
    if lasting and max(limit.loads[-1] for limit in lasting) > _NOTABLE:
        most = max(lasting, key=lambda limit: limit.loads[-1])
        yield (
            f"Of the other parts, the {inside_sentence(LIMIT_NAMES[most.kind])} is loaded most in year {plan.n_years}: "
            f"{percent_of(most.loads[-1])}."
        )


def demand_text(plan: GrowthPlan) -> str:
    """What grows between the first and the last year: 'stored sample 113 kB to 1.30 MB, data set 2 TB to 22.5 TB'."""
    several = len(plan.requests[0].workload) > 1
    changes = []
    for number, workload in enumerate(plan.requests[0].workload):
        first, last = demand_cells(plan, number, 0), demand_cells(plan, number, -1)
        changed = [
            f"{inside_sentence(name)} {before} to {after}"
            for (name, before), (_, after) in zip(first.items(), last.items(), strict=True)
            if before != after
        ]
        if changed:
            changes.append(f"{workload.name}: {listed(changed)}" if several else listed(changed))
    return "; ".join(changes)


def _missing_prices(growth: PlatformGrowth, catalog: Catalog) -> Iterator[str]:
    if growth.deciding_prices:
        quotes = quotes_for([item_name(item, catalog) for item in growth.deciding_prices])
        yield f"{quotes} would settle which sequence costs less."


def differences_from_design(growth: PlatformGrowth, design: DesignAnswer) -> str:
    """How the plan's first year differs from a design; "" where it does not."""
    planned, described = growth.platform, design.platform
    differences = []
    if planned.key != described.key:
        differences.append(platform_text(growth))
    elif planned.gpu.id != described.gpu.id or planned.gpus_per_server != described.gpus_per_server:
        differences.append(f"{planned.gpus_per_server} × {planned.gpu.name}")
    if planned.fabric != described.fabric:
        differences.append(planned.fabric.name)
    if planned.key == described.key and planned.capacity_option != described.capacity_option:
        differences.append(planned.storage.capacity_options[planned.capacity_option].name)
    first = growth.recommended.sizes[0]
    if first != ClusterSize(design.n_servers, design.storage_nodes):
        differences.append(size_text(first))
    if not differences:
        return ""
    return (
        "The design of this document meets the first year alone. To meet the later years, buy instead: "
        f"{listed(differences)}."
    )
