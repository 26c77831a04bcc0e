"""The growth plan in tables and sentences, for the guide, the app and the terminal."""

from collections.abc import Sequence

from sizer.base.quantities import by_count, duration, grouped, si, significant
from sizer.catalog.labels import item_name
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.drawings.racks import at_least
from sizer.physical.capacity import nodes_per_unit
from sizer.present.bill_tables import sum_text
from sizer.present.tables import Align, Cell, Row, Table, columns, row
from sizer.present.words import NO_BREAK, inside_sentence, listed, money, percent, plural, sample_unit
from sizer.questions.growth.limits_over_time import Limit
from sizer.questions.growth.result import WAYS, GrowthPlan, PlatformGrowth, Purchase, Purchases
from sizer.questions.growth.size import Size
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest, Target
from sizer.workload.resolve import ResolvedWorkload

# Of what is bought in a year, so many kinds of device are named.
_MOST_NAMED = 6
_NOTHING = "–"


def size_text(size: Size, bare: bool = False) -> str:
    """Servers and storage nodes in words: '9 servers and 8 storage nodes'; ``bare`` in the fewest letters: '9 + 8'."""
    if bare:
        return (
            f"{grouped(size.n_servers)} + {grouped(size.storage_nodes)}"
            if size.storage_nodes
            else grouped(size.n_servers)
        )
    nodes = [plural(size.storage_nodes, "storage node")] if size.storage_nodes else []
    return listed([plural(size.n_servers, "server"), *nodes])


def platform_text(found: PlatformGrowth) -> str:
    """Server and storage of a platform."""
    return f"{found.platform.server.name} + {found.platform.storage.name}"


def asked_table(plan: GrowthPlan) -> Table:
    """What every workload asks in every year."""
    rows: list[Row] = []
    first = plan.requests[0]
    for number, work in enumerate(first.workload):
        if len(first.workload) > 1:
            rows.append(row(work.name, kind="group"))
        rows += [_asked_row(year, request, number, plan) for year, request in enumerate(plan.requests, start=1)]
    heads = columns(
        ("Year", "left", 10),
        ("Target", "right", 24),
        ("Sample as stored", "right", 20),
        ("Data set", "right", 20),
        ("Operations of a sample", "right", 26),
    )
    note = "Every factor is that of one year; what has none stays as it is."
    return Table("purchases-asked", "What is asked in each year", heads, tuple(rows), note)


def _asked_row(year: int, request: SizingRequest, number: int, plan: GrowthPlan) -> Row:
    work = plan.works[year - 1][number]
    return row(
        str(year),
        _target(request.workload[number].target, work),
        si(work.sample_bytes, "B"),
        si(work.dataset_bytes, "B"),
        si(work.dnn.forward_flop.value, "FLOP"),
    )


def _target(target: Target, work: ResolvedWorkload) -> str:
    if target.samples_per_s is not None:
        return si(target.samples_per_s, sample_unit(work.dnn))
    if target.gpus_busy is not None:
        return f"{plural(target.gpus_busy, 'GPU')} kept busy"
    assert target.time_to_train_s is not None  # a target is one of the three
    return f"within {duration(target.time_to_train_s)}"


def purchases_table(found: PlatformGrowth, catalog: Catalog, currency: str) -> Table:
    """Need, owned, bought, cost, watts and racks of every year of the plan."""
    rows = [_purchase_row(purchase, found, catalog) for purchase in found.best.purchases]
    rows.append(row("All years", "", "", "", sum_text(found.best.cost), "", "", kind="total"))
    heads = columns(
        ("Year", "left", 10),
        ("Needed", "right", 9),
        ("Owned", "right", 9),
        ("Bought", "left", 33),
        (f"Cost, {currency}", "right", 16),
        ("Maximum draw", "right", 16),
        ("Racks", "right", 7),
    )
    note = f"Sizes are servers + storage nodes of {platform_text(found)}."
    if found.best.is_prepared and len(set(found.best.sizes)) > 1:
        note += " " + (
            "Network, racks and power feeds of the last year stand from the first; every device is "
            "plugged as in the last year's port map, so that no link moves."
        )
    return Table("purchases-years", "The purchases of each year", heads, tuple(rows), note)


def _purchase_row(purchase: Purchase, found: PlatformGrowth, catalog: Catalog) -> Row:
    return row(
        str(purchase.year),
        size_text(purchase.need, bare=True),
        size_text(purchase.owned, bare=True),
        _bought(purchase, catalog),
        sum_text(purchase.cost) if purchase.bought else _NOTHING,
        at_least(found.has_unknown_power, si(purchase.power_max_w, "W")),
        grouped(purchase.racks),
    )


def _bought(purchase: Purchase, catalog: Catalog) -> str:
    """Devices bought, the rest as a count of kinds."""
    devices = [(item, count) for item, count in purchase.bought if hasattr(catalog.item(item), "power_inlets")]
    named = [_pieces(item, count, catalog) for item, count in devices]
    shown, more = named[:_MOST_NAMED], len(purchase.bought) - min(len(named), _MOST_NAMED)
    if more and shown:
        shown.append(by_count(more, f"{more} further item", f"{more} further items"))
    text = listed(shown) or (by_count(more, f"{more} item", f"{more} items") if more else _NOTHING)
    if purchase.taken_out:
        out = listed(
            f"{grouped(count)}{NO_BREAK}×{NO_BREAK}{item_name(item, catalog)}" for item, count in purchase.taken_out
        )
        text += "; " + f"taken out: {out}"
    return text


def _pieces(item: str, count: int, catalog: Catalog) -> str:
    text, found = f"{grouped(count)}{NO_BREAK}×{NO_BREAK}{item_name(item, catalog)}", catalog.item(item)
    per_unit = nodes_per_unit(found) if isinstance(found, Storage) else 1
    return f"{text} ({plural(count * per_unit, 'node')})" if per_unit > 1 else text


def ways_table(found: PlatformGrowth, plan: GrowthPlan, currency: str) -> Table:
    """The plan beside the other ways to buy."""
    ways = (found.best, *found.others)
    has_rate = found.best.energy_cost is not None
    paid: list[tuple[str, Align, int]] = [(f"Energy, {currency}", "right", 12)]
    heads = columns(
        ("Way", "left", 30),
        (f"Parts, {currency}", "right", 19),
        ("Energy", "right", 18),
        *(paid if has_rate else []),
        ("Server-years", "right", 12),
        ("Links moved", "right", 11),
    )
    rows = tuple(_way_row(way, found, has_rate) for way in ways)
    note = "Prices stay as they are." if plan.growth.price == 1 else "Parts are paid at the prices of their year."
    return Table("purchases-ways", "At once or in steps", heads, rows, f"{basis_text(found)} {note}")


def _way_row(way: Purchases, found: PlatformGrowth, has_rate: bool) -> Row:
    energy = at_least(found.has_unknown_power, si(1e3 * way.energy_kwh, "Wh"))
    cells: list[str | Cell] = [WAYS[way.way], sum_text(way.cost), energy]
    if has_rate and way.energy_cost is not None:
        cells.append(money(way.energy_cost, "").strip())
    return row(*cells, grouped(way.server_years), grouped(way.moved_links), kind="strong" if way.way == "best" else "")


def limits_table(limits: Sequence[Limit], n_years: int) -> Table:
    """When each part of the first year's cluster is used up."""
    shown = [1, *([2] if n_years > 2 else []), n_years]
    heads = columns(
        ("Part", "left", 40),
        *((f"Year {year}", "right", 13) for year in shown),
        ("Used up", "right", 21),
    )
    rows = tuple(
        row(limit.name, *(_load(limit.loads[year - 1]) for year in shown), used_up_text(limit)) for limit in limits
    )
    note = (
        "The first year's cluster stays as it is; a year's target is what it asks at its end, "
        "and between two ends a load grows by the same factor every month. Rates are those "
        "reached with the confidence asked. Ports, rack units and feeds are what the cluster of "
        "each year needs, over what the first one's switches, racks and PDUs hold."
    )
    return Table("purchases-limits", "Load of the first year's cluster, and when it is used up", heads, rows, note)


def _load(load: float) -> str:
    return "no time left" if load == float("inf") else percent_of(load)


def percent_of(load: float) -> str:
    """A load in percent, which may pass 100 %."""
    return percent(load) if load < 1 else f"{grouped(100 * load)}\u202f%"


def used_up_text(limit: Limit) -> str:
    """When: 'after 1.5 years', 'in year 2', or that it lasts."""
    year = limit.year
    if year is None:
        return "lasts"
    if not limit.is_gradual or year <= 1:
        return f"in year {grouped(year)}"
    return f"after {significant(year, 2)} years"


def platforms_table(plan: GrowthPlan, currency: str) -> Table:
    """Every platform that carries the years, side by side."""
    heads = columns(
        ("Platform", "left", 32),
        ("First year", "right", 13),
        ("Last year", "right", 13),
        (f"Parts, {currency}", "right", 18),
        ("Energy", "right", 12),
        ("Racks", "right", 12),
    )
    rows = tuple(
        row(
            platform_text(found),
            size_text(found.best.sizes[0], bare=True),
            size_text(found.best.sizes[-1], bare=True),
            sum_text(found.best.cost),
            at_least(found.has_unknown_power, si(1e3 * found.best.energy_kwh, "Wh")),
            grouped(found.best.purchases[-1].racks),
        )
        for found in plan.platforms
    )
    note = "Sizes are servers + storage nodes."
    if plan.deciding_prices:
        note += " " + "Prices that would rank the platforms are missing: the order is no ranking of vendors."
    return Table("purchases-platforms", "The plan on each platform", heads, rows, note)


def basis_text(found: PlatformGrowth) -> str:
    """What the plan was chosen by."""
    if found.basis == "watts":
        return "The plan is the sequence that uses least energy."
    if found.basis == "equipment":
        return "Prices that would decide are missing, so the plan owns the fewest servers and storage nodes over time."
    if all(way.pieces == found.best.pieces for way in found.others) and found.best.cost == found.others[0].cost:
        return "Every way buys the same parts for the same money; the plan is the one that uses least energy."
    return "The plan is the sequence that costs least at the prices known; of equal ones, that with least energy."


def findings(plan: GrowthPlan, found: PlatformGrowth, catalog: Catalog) -> list[str]:
    """What the plan says, in sentences."""
    said = [finding(found)]
    at_once = found.others[0]
    if at_once.sizes != found.best.sizes and found.best.energy_kwh:
        share = percent_of(at_once.energy_kwh / found.best.energy_kwh - 1)
        idle = at_once.server_years - found.best.server_years
        said.append(
            (
                f"Bought all in the first year, servers would stand idle for {grouped(idle)} "
                f"server-years, and the energy would be {share} more."
            )
            if idle
            else f"Bought all in the first year, the energy would be {share} more."
        )
    grows = found.others[2]
    if grows.moved_links:
        said.append(
            by_count(
                grows.moved_links,
                f"Bought each year with the network of that year alone, {grouped(grows.moved_links)} "
                "standing link would move.",
                f"Bought each year with the network of that year alone, {grouped(grows.moved_links)} "
                "standing links would move.",
            )
        )
    hit = [limit for limit in found.limits if limit.year is not None]
    if hit:
        said.append(
            "Of the first year's cluster the first to be used up: {parts}.".format(
                parts=listed(f"{inside_sentence(one.name)} ({used_up_text(one)})" for one in hit[:3])
            )
        )
    if plan.stops:
        said.append(plan.stops)
    if found.deciding_prices:
        names = listed(item_name(item, catalog) for item in found.deciding_prices)
        said.append(f"Prices that would decide between the sequences: {names}.")
    return said


def finding(found: PlatformGrowth) -> str:
    """The plan in one sentence."""
    sizes, name = found.best.sizes, platform_text(found)
    first, last = size_text(sizes[0]), size_text(sizes[-1])
    steps = [purchase.year for purchase in found.best.purchases if purchase.bought]
    if sizes[0] == sizes[-1]:
        if found.needs[0] == found.needs[-1]:
            return f"{first} of the first year carry all {len(sizes)} years on {name}."
        return f"On {name} buy {first} at once: steps cost more."
    later = [str(year) for year in steps if year > 1]
    return by_count(
        len(later),
        f"On {name} buy {first} now and grow to {last}, with another purchase in year {listed(later)}.",
        f"On {name} buy {first} now and grow to {last}, with further purchases in years {listed(later)}.",
    )


def other_design(found: PlatformGrowth, design: DesignAnswer) -> str:
    """How the plan's first year differs from the design that is described; "" where it does not."""
    first, own = found.best.sizes[0], design.platform
    mine = Size(design.n_servers, design.storage_nodes)
    parts = []
    if found.platform.key != own.key:
        parts.append(platform_text(found))
    elif found.platform.gpu.id != own.gpu.id or found.platform.gpus_per_server != own.gpus_per_server:
        parts.append(f"{found.platform.gpus_per_server} × {found.platform.gpu.name}")
    if found.platform.fabric != own.fabric:
        parts.append(kind_name(found.platform.fabric))
    if found.platform.key == own.key and found.platform.capacity_option != own.capacity_option:
        parts.append(found.platform.storage.capacity_options[found.platform.capacity_option].name)
    if first != mine:
        parts.append(size_text(first))
    if not parts:
        return ""
    return (
        "The design of this document meets the first year alone. To carry the years to come, its "
        f"purchase differs: {listed(parts)}."
    )
