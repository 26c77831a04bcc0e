"""The growth plan year by year, as tables, in sentences and as plain text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any

from sizer.base.dates import days_of, years_after
from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import by_count, duration, grouped, plain, si, significant
from sizer.bom.bill import Sum
from sizer.bom.lines import SERVICE_YEARS, ends_in_service
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.drawings.racks import at_least
from sizer.physical.capacity import nodes_per_unit
from sizer.present.bill_tables import sum_text
from sizer.present.tables import Column, Field, Row, Table, record_table, row, table_text
from sizer.present.text.checks import ONE_LOST
from sizer.present.text.money import quotes_for, range_text
from sizer.present.words import NO_BREAK, inside_sentence, listed, percent, plural, sample_unit, whole
from sizer.sizing.constraints.stored_data import MOST_FILL
from sizer.sizing.growth.result import (
    CapacityLimit,
    ClusterSize,
    GrowthPlan,
    LimitKind,
    PlatformGrowth,
    Purchase,
    PurchaseSequence,
)
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

SEQUENCE_NAMES = {
    "best": "The plan",
    "at-once": "All in the first year",
    "prepared": "Each year's need, network prepared",
    "as-it-grows": "Each year's need, network grows",
}
LIMIT_NAMES = {
    LimitKind.GPU_RATE: "GPU rate",
    LimitKind.HOST_DECODE: "Host data path",
    LimitKind.HOST_LINK: "Host-to-GPU link",
    LimitKind.STORAGE_READS: "Storage read rate",
    LimitKind.STORAGE_CAPACITY: "Storage capacity",
    LimitKind.GATEWAY_UPLINKS: "Gateway uplinks",
    LimitKind.SERVER_PORTS: "Server network ports",
    LimitKind.SWITCH_PORTS: "Switch ports",
    LimitKind.RACK_UNITS: "Rack units",
    LimitKind.POWER_FEEDS: "Power feeds of all racks",
    LimitKind.QUEUE_WAIT: "Servers for the queue-wait target",
    LimitKind.REQUESTED_RACKS: "Requested limit of racks",
    LimitKind.REQUESTED_POWER: "Requested limit of power",
    LimitKind.REQUESTED_RACK_UNITS: "Requested limit of rack units",
    LimitKind.REQUESTED_SERVERS: "Requested limit of servers",
}
# Kinds of device named among the purchases of a year.
_MOST_NAMED = 6
_NOTHING = "–"


def size_text(size: ClusterSize, bare: bool = False) -> str:
    """Servers and storage nodes in words: '9 servers and 8 storage nodes'; ``bare`` as in a table: '9 + 8'."""
    if bare:
        return (
            f"{grouped(size.n_servers)} + {grouped(size.storage_nodes)}"
            if size.storage_nodes
            else grouped(size.n_servers)
        )
    nodes = [plural(size.storage_nodes, "storage node")] if size.storage_nodes else []
    return listed([plural(size.n_servers, "server"), *nodes])


def platform_text(growth: PlatformGrowth) -> str:
    """Server and storage of a platform."""
    return f"{growth.platform.server.name} + {growth.platform.storage.name}"


def demand_table(plan: GrowthPlan) -> Table:
    """Demand of every workload in every year."""
    rows: list[Row] = []
    for number, workload in enumerate(plan.requests[0].workload):
        if len(plan.requests[0].workload) > 1:
            rows.append(row(workload.name, kind="group"))
        cells = (demand_cells(plan, number, year).values() for year in range(plan.n_years))
        rows += [row(str(year), *texts) for year, texts in enumerate(cells, start=1)]
    titles = zip(demand_cells(plan, 0, 0), (24, 20, 20, 26), strict=True)
    return Table(
        "purchases-asked",
        "Demand in each year",
        (Column("Year", "left", 10), *(Column(title, "right", width) for title, width in titles)),
        tuple(rows),
        "Each factor applies once a year; values without a factor stay constant.",
    )


def demand_cells(plan: GrowthPlan, workload: int, year: int) -> dict[str, str]:
    """Demand of one workload in one year, by the titles of the table's columns; ``year`` from 0, -1 is the last."""
    asked = plan.workloads[range(plan.n_years)[year]][workload]
    return {
        "Target": _target(asked),
        "Stored sample": si(asked.sample_bytes, "B"),
        "Data set": si(asked.dataset_bytes, "B"),
        "Operations per sample": si(asked.dnn.forward_flop.value, "FLOP"),
    }


def _target(workload: ResolvedWorkload) -> str:
    target = workload.request.target
    if target.samples_per_s is not None:
        return si(target.samples_per_s, sample_unit(workload.dnn))
    if target.gpus_busy is not None:
        return f"{plural(target.gpus_busy, 'GPU')} in use"
    assert target.time_to_train_s is not None  # a target is one of the three
    return f"within {duration(target.time_to_train_s)}"


def purchases_table(growth: PlatformGrowth, catalog: Catalog, currency: str) -> Table:
    """Need, owned, bought, cost, power and racks of every year of the recommended sequence."""
    recommended = growth.recommended
    has_nodes = any(size.storage_nodes for size in recommended.sizes)
    note = f"Sizes are servers{' + storage nodes' if has_nodes else ''} of {platform_text(growth)}."
    tier = growth.platform.capacity_storage
    if tier is not None and not any(item == tier.id for one in recommended.purchases[1:] for item, _ in one.bought):
        note += f" The {tier.name} of the last year is bought in year 1."
    if recommended.is_prepared and len(set(recommended.sizes)) > 1:
        note += (
            " The network of the last year is installed in year 1: every device uses its port of the last year's port "
            "map, so no link moves. Racks and their feeds come with the devices that they carry."
        )
    # A column that says "to be quoted" in every row says nothing.
    cost = Field[Purchase](
        _parts_title(recommended, currency),
        lambda purchase: _cost_text(purchase) if purchase.bought else _NOTHING,
        "right",
        16,
    )
    costs = [cost] if _has_costs(recommended) else []
    table = record_table(
        "purchases-years",
        "Purchases of each year",
        recommended.purchases,
        [
            Field("Year", lambda purchase: str(purchase.year), "left", 10),
            Field("Needed", lambda purchase: size_text(purchase.need, bare=True), "right", 9),
            Field("Owned", lambda purchase: size_text(purchase.owned, bare=True), "right", 9),
            Field("Bought", lambda purchase: _bought(purchase, catalog), "left", 33 if costs else 49),
            *costs,
            Field(
                "Maximum draw",
                lambda purchase: at_least(growth.has_unknown_power, si(purchase.power_max_w, "W")),
                "right",
                16,
            ),
            Field("Racks", lambda purchase: grouped(purchase.footprint.racks), "right", 7),
        ],
        note=note,
    )
    if not costs:
        return table
    total = row("All years", "", "", "", _cost_text(recommended), "", "", kind="total")
    return replace(table, rows=(*table.rows, total))


def _parts_title(bought: Purchase | PurchaseSequence, currency: str) -> str:
    """Head of a column of costs: of the parts with a price where others await a quote and have no band."""
    if bought.cost.n_open and bought.interval is not None:
        return f"Price range, {currency}"
    return f"{'Parts with a price' if bought.cost.n_open else 'Parts'}, {currency}"


def _has_costs(bought: PurchaseSequence) -> bool:
    return not bought.cost.is_unknown or bought.interval is not None


def _cost_text(bought: Purchase | PurchaseSequence) -> str:
    """What is bought costs: exact, or in the range of the market where parts await a quote."""
    if bought.cost.n_open and bought.interval is not None and isfinite(bought.interval.high):
        return range_text("", bought.interval.low, bought.interval.high)
    return sum_text(replace(bought.cost, amount=bought.cost.amount.quantize(Decimal(1))))


def _compared_cost(recommended: PurchaseSequence, sequence: PurchaseSequence) -> str:
    """What a sequence costs; where quotes are open how much more or less than the recommended one is expected."""
    ends, plan = sequence.interval, recommended.interval
    if sequence is recommended or ends is None or plan is None or not sequence.cost.n_open:
        return _cost_text(sequence)
    more = ends.expected - plan.expected
    if abs(more) < 1:  # sums of the same amounts in another order
        return "as the plan"
    return f"{range_text('', abs(more), abs(more))} {'more' if more > 0 else 'less'} expected"


def _bought(purchase: Purchase, catalog: Catalog) -> str:
    """Devices bought, all else as a count of items."""
    devices = [(item, count) for item, count in purchase.bought if hasattr(catalog.item(item), "power_inlets")]
    named = [_pieces(item, count, catalog) for item, count in devices]
    shown, more = named[:_MOST_NAMED], len(purchase.bought) - min(len(named), _MOST_NAMED)
    if more and shown:
        shown.append(by_count(more, f"{more} further item", f"{more} further items"))
    text = listed(shown) or (by_count(more, f"{more} item", f"{more} items") if more else _NOTHING)
    if purchase.taken_out:
        text += f"; taken out: {listed(_times(item, count, catalog) for item, count in purchase.taken_out)}"
    return text


def _pieces(item: str, count: int, catalog: Catalog) -> str:
    device = catalog.item(item)
    per_unit = nodes_per_unit(device) if isinstance(device, Storage) else 1
    text = _times(item, count, catalog)
    return f"{text} ({plural(count * per_unit, 'node')})" if per_unit > 1 else text


def _times(item: str, count: int, catalog: Catalog) -> str:
    return f"{grouped(count)}{NO_BREAK}×{NO_BREAK}{item_name(item, catalog)}"


def sequences_table(growth: PlatformGrowth, plan: GrowthPlan, currency: str) -> Table | None:
    """The recommended sequence compared with the other ways to buy; None where they buy the same."""
    recommended = growth.recommended
    others = [alternative for alternative in growth.alternatives if _way(alternative) != _way(recommended)]
    if not others:
        return None
    energy_cost = Field[PurchaseSequence](
        f"Energy, {currency}", lambda sequence: grouped(whole(sequence.energy_cost or 0)), "right", 19
    )
    head = _parts_title(recommended, currency)
    parts_cost = Field[PurchaseSequence](head, partial(_compared_cost, recommended), "right", 19)
    prices = "Prices stay constant." if plan.growth.price == 1 else "Parts cost what their year's price factor gives."
    return record_table(
        "purchases-ways",
        f"All at once or in steps, {plural(plan.n_years, 'year')}",
        (recommended, *others),
        [
            Field("Sequence", lambda sequence: SEQUENCE_NAMES[sequence.name], "left", 24),
            *([parts_cost] if _has_costs(recommended) else []),
            Field("Energy", lambda sequence: _energy_text(growth, sequence), "right", 15),
            *([] if recommended.energy_cost is None else [energy_cost]),
            Field("Server-years", lambda sequence: grouped(sequence.server_years), "right", 12),
            Field("Links moved", lambda sequence: grouped(sequence.moved_links), "right", 11),
        ],
        kind=lambda sequence: "strong" if sequence is recommended else "",
        note=f"{criterion_text(growth)} {prices}",
    )


def _way(sequence: PurchaseSequence) -> tuple[object, ...]:
    return sequence.cost, sequence.energy_kwh, sequence.server_years, sequence.moved_links


def _energy_text(growth: PlatformGrowth, sequence: PurchaseSequence) -> str:
    return at_least(growth.has_unknown_power, si(1e3 * sequence.energy_kwh, "Wh"))


_MOST_YEARS = 4  # that have a column each


def limits_table(limits: Sequence[CapacityLimit], n_years: int) -> Table:
    """Loads of the year-1 cluster in every year, of many in the first, second and last, and when each is exhausted."""
    years = range(1, n_years + 1) if n_years <= _MOST_YEARS else (1, 2, n_years)
    return record_table(
        "purchases-limits",
        "Load on the year-1 cluster, and when its capacity is exhausted",
        limits,
        [
            Field("Limit", _limit_name, "left", 40),
            *(Field(f"Year {year}", partial(_load, year=year), "right", 13) for year in years),
            Field("Exhausted", exhausted_text, "right", 21),
        ],
        note=(
            "Nothing is added to the year-1 cluster. Each year's target applies at the end of the year. Rates are "
            f"those reached with the requested confidence; of the storage {percent(MOST_FILL)} is to be filled."
        ),
    )


def _limit_name(limit: CapacityLimit) -> str:
    """What is loaded; of switch ports the network, too."""
    return LIMIT_NAMES[limit.kind] + (f" of {limit.network}" if limit.network else "")


def _load(limit: CapacityLimit, year: int) -> str:
    load = limit.loads[year - 1]
    return "cannot be met" if load == float("inf") else percent_of(load)


def percent_of(load: float) -> str:
    """A load in percent, which may pass 100 %."""
    return percent(load) if load < 1 else f"{grouped(100 * load)}\u202f%"


def exhausted_text(limit: CapacityLimit) -> str:
    """When a load exceeds the capacity: 'after 1.5 years', 'in year 2', or not within the plan."""
    year = limit.year
    if year is None:
        return "not exhausted"
    if not limit.is_gradual or year <= 1:
        return f"in year {grouped(year)}"
    return f"after {significant(year, 2)} years"


def platforms_table(plan: GrowthPlan, currency: str) -> Table:
    """Every platform that meets all years."""
    note = "Sizes are servers + storage nodes."
    known = max((growth.recommended for growth in plan.platforms), key=lambda bought: bought.cost.n_open)
    if plan.deciding_prices:
        note += " Quotes could change the order of the platforms."
    return record_table(
        "purchases-platforms",
        "Growth plan on each platform",
        plan.platforms,
        [
            Field("Platform", platform_text, "left", 32),
            Field("First year", lambda growth: size_text(growth.recommended.sizes[0], bare=True), "right", 13),
            Field("Last year", lambda growth: size_text(growth.recommended.sizes[-1], bare=True), "right", 13),
            Field(_parts_title(known, currency), lambda growth: _cost_text(growth.recommended), "right", 18),
            Field("Energy", lambda growth: _energy_text(growth, growth.recommended), "right", 12),
            Field("Racks", lambda growth: grouped(growth.recommended.purchases[-1].footprint.racks), "right", 12),
        ],
        note=note,
    )


def criterion_text(growth: PlatformGrowth) -> str:
    """The criterion by which the sequence was chosen."""
    recommended, alternatives = growth.recommended, growth.alternatives
    if growth.criterion == "watts":
        return "The plan is the sequence with the least energy."
    if growth.criterion == "equipment":
        return "Deciding prices are missing, so the plan owns the fewest servers and storage nodes over time."
    is_compared = not any(sequence.cost.n_open for sequence in (recommended, *alternatives))
    if is_compared and all(
        other.pieces == recommended.pieces and other.cost == recommended.cost for other in alternatives
    ):
        first = "Every sequence buys the same parts at the same cost; the plan is the one"
    else:
        first = "The plan is the sequence with the lowest known cost; on a tie, the one"
    moving = any(other.moved_links for other in alternatives)
    return f"{first} with the least energy{' of those that move no installed link' if moving else ''}."


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
        *("year", "unpriced", "energy_kwh", "power_max_w", "moved_links"),
        **fields_of(purchase.footprint, "racks", "rack_units"),
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
    sequences = sequences_table(growth, plan, currency)
    tables = [
        purchases_table(growth, catalog, currency),
        *([sequences] if sequences is not None else []),
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


def recommendation(growth: PlatformGrowth, *, in_short: bool = False) -> str:
    """The recommended purchases in one sentence; ``in_short`` as a title, without names and years."""
    sizes, name = growth.recommended.sizes, platform_text(growth)
    first, last = size_text(sizes[0]), size_text(sizes[-1])
    if in_short:
        return f"Buy {first} now; " + (f"grow to {last} by year {len(sizes)}" if sizes[0] != sizes[-1] else "add none")
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
        idle_text = f"adds {plural(idle, 'idle server-year')} and " if idle else ""
        yield f"Buying everything in the first year {idle_text}takes {share} more energy."
    if grows.moved_links:
        links = by_count(grows.moved_links, "link", "links")
        yield f"Buying only each year's network would move {grouped(grows.moved_links)} installed {links}."


def limit_texts(plan: GrowthPlan, growth: PlatformGrowth) -> Iterator[str]:
    """What the cluster of the first year runs out of first, and the first year that no plan covers."""
    exhausted = [limit for limit in growth.limits if limit.year is not None]
    if exhausted:
        named = (f"{inside_sentence(_limit_name(limit))} ({exhausted_text(limit)})" for limit in exhausted[:3])
        yield f"Capacity of the year-1 cluster exhausted first: {listed(named)}."
    elif growth.recommended.sizes[0] != growth.recommended.sizes[-1]:
        losses = listed(ONE_LOST[loss] for loss in plan.requests[0].resilience.keeps_targets_without)
        after = f" after the loss of {losses}" if losses else ""
        yield f"No limit of the year-1 cluster is exhausted: what is bought later keeps the confidence asked{after}."
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
            f"Have the next purchase installed before that: the {inside_sentence(_limit_name(first))} of the "
            f"year-1 cluster is exhausted {exhausted_text(first)}. Ask for delivery times with the quotes."
        )
    lasting = [limit for limit in gradual if limit.year is None and limit.loads[-1] > limit.loads[0]]
    if lasting and max(limit.loads[-1] for limit in lasting) > _NOTABLE:
        most = max(lasting, key=lambda limit: limit.loads[-1])
        yield (
            f"Of the other parts, the {inside_sentence(_limit_name(most))} is loaded most in year {plan.n_years}: "
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
    if plan.requests[0].team is not None and plan.growth.team != 1:
        changes.append(f"jobs of the team times {plain(plan.growth.team ** (plan.n_years - 1), 3)}")
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
