"""The growth plan in sentences, and as plain text for a terminal."""

from collections.abc import Iterator

from sizer.base.quantities import by_count, grouped
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.present.plain_table import table_text
from sizer.present.text.money import quotes_for
from sizer.present.words import inside_sentence, listed
from sizer.questions.growth.life_cycle import late_purchase_text, late_purchases
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
from sizer.sizing.growth.result import ClusterSize, GrowthPlan, PlatformGrowth
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest

# A load that is worth a sentence.
_NOTABLE = 0.5


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
            return f"Buy {first} of {name} in year 1; they meet all {len(sizes)} years."
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
