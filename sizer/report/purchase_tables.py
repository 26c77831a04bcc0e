"""The growth plan in tables and sentences, for the guide, the app and the terminal."""

from collections.abc import Sequence

from sizer.base.language import tr, translated, trn
from sizer.base.quantities import duration, grouped, si, significant
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.catalog.wording import item_name
from sizer.drawings.racks import at_least
from sizer.physical.capacity import nodes_per_unit
from sizer.report.bill_tables import sum_text
from sizer.report.tables import Align, Cell, Row, Table, columns, row
from sizer.report.words import NO_BREAK, inside_sentence, listed, money, percent, plural, sample_unit
from sizer.sizing.growth_result import WAYS, GrowthPlan, PlatformGrowth, Purchase, Purchases
from sizer.sizing.growth_size import Size
from sizer.sizing.result import DesignAnswer
from sizer.sizing.used_up import Limit
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
        (tr("Year"), "left", 10),
        (tr("Target"), "right", 24),
        (tr("Sample as stored"), "right", 20),
        (tr("Data set"), "right", 20),
        (tr("Operations of a sample"), "right", 26),
    )
    note = tr("Every factor is that of one year; what has none stays as it is.")
    return Table("purchases-asked", tr("What is asked in each year"), heads, tuple(rows), note)


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
        return tr("{gpus} kept busy", gpus=plural(target.gpus_busy, "GPU"))
    assert target.time_to_train_s is not None  # a target is one of the three
    return tr("within {time}", time=duration(target.time_to_train_s))


def purchases_table(found: PlatformGrowth, catalog: Catalog, currency: str) -> Table:
    """Need, owned, bought, cost, watts and racks of every year of the plan."""
    rows = [_purchase_row(purchase, found, catalog) for purchase in found.best.purchases]
    rows.append(row(tr("All years"), "", "", "", sum_text(found.best.cost), "", "", kind="total"))
    heads = columns(
        (tr("Year"), "left", 10),
        (tr("Needed"), "right", 9),
        (tr("Owned"), "right", 9),
        (tr("Bought"), "left", 33),
        (tr("Cost, {currency}", currency=currency), "right", 16),
        (tr("Maximum draw"), "right", 16),
        (tr("Racks"), "right", 7),
    )
    note = tr("Sizes are servers + storage nodes of {platform}.", platform=platform_text(found))
    if found.best.is_prepared and len(set(found.best.sizes)) > 1:
        note += " " + tr(
            "Network, racks and power feeds of the last year stand from the first; every device is plugged as in the "
            "last year's port map, so that no link moves."
        )
    return Table("purchases-years", tr("The purchases of each year"), heads, tuple(rows), note)


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
        shown.append(trn("{n} further item", "{n} further items", more, n=more))
    text = listed(shown) or (trn("{n} item", "{n} items", more, n=more) if more else _NOTHING)
    if purchase.taken_out:
        out = listed(
            f"{grouped(count)}{NO_BREAK}×{NO_BREAK}{item_name(item, catalog)}" for item, count in purchase.taken_out
        )
        text += "; " + tr("taken out: {parts}", parts=out)
    return text


def _pieces(item: str, count: int, catalog: Catalog) -> str:
    text, found = f"{grouped(count)}{NO_BREAK}×{NO_BREAK}{item_name(item, catalog)}", catalog.item(item)
    per_unit = nodes_per_unit(found) if isinstance(found, Storage) else 1
    return f"{text} ({plural(count * per_unit, 'node')})" if per_unit > 1 else text


def ways_table(found: PlatformGrowth, plan: GrowthPlan, currency: str) -> Table:
    """The plan beside the other ways to buy."""
    ways = (found.best, *found.others)
    has_rate = found.best.energy_cost is not None
    paid: list[tuple[str, Align, int]] = [(tr("Energy, {currency}", currency=currency), "right", 12)]
    heads = columns(
        (tr("Way"), "left", 30),
        (tr("Parts, {currency}", currency=currency), "right", 19),
        (tr("Energy"), "right", 18),
        *(paid if has_rate else []),
        (tr("Server-years"), "right", 12),
        (tr("Links moved"), "right", 11),
    )
    rows = tuple(_way_row(way, found, has_rate) for way in ways)
    note = (
        tr("Prices stay as they are.") if plan.growth.price == 1 else tr("Parts are paid at the prices of their year.")
    )
    return Table("purchases-ways", tr("At once or in steps"), heads, rows, f"{basis_text(found)} {note}")


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
        (tr("Part"), "left", 40),
        *((tr("Year {n}", n=year), "right", 13) for year in shown),
        (tr("Used up"), "right", 21),
    )
    rows = tuple(
        row(translated(limit.name), *(_load(limit.loads[year - 1]) for year in shown), used_up_text(limit))
        for limit in limits
    )
    note = tr(
        "The first year's cluster stays as it is; a year's target is what it asks at its end, and between two ends a "
        "load grows by the same factor every month. Rates are those reached with the confidence asked. Ports, rack "
        "units and feeds are what the cluster of each year needs, over what the first one's switches, racks and PDUs "
        "hold."
    )
    return Table("purchases-limits", tr("Load of the first year's cluster, and when it is used up"), heads, rows, note)


def _load(load: float) -> str:
    return tr("no time left") if load == float("inf") else percent_of(load)


def percent_of(load: float) -> str:
    """A load in percent, which may pass 100 %."""
    return percent(load) if load < 1 else f"{grouped(100 * load)}\u202f%"


def used_up_text(limit: Limit) -> str:
    """When: 'after 1.5 years', 'in year 2', or that it lasts."""
    year = limit.year
    if year is None:
        return tr("lasts")
    if not limit.is_gradual or year <= 1:
        return tr("in year {n}", n=grouped(year))
    return tr("after {n} years", n=significant(year, 2))


def platforms_table(plan: GrowthPlan, currency: str) -> Table:
    """Every platform that carries the years, side by side."""
    heads = columns(
        (tr("Platform"), "left", 32),
        (tr("First year"), "right", 13),
        (tr("Last year"), "right", 13),
        (tr("Parts, {currency}", currency=currency), "right", 18),
        (tr("Energy"), "right", 12),
        (tr("Racks"), "right", 12),
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
    note = tr("Sizes are servers + storage nodes.")
    if plan.deciding_prices:
        note += " " + tr("Prices that would rank the platforms are missing: the order is no ranking of vendors.")
    return Table("purchases-platforms", tr("The plan on each platform"), heads, rows, note)


def basis_text(found: PlatformGrowth) -> str:
    """What the plan was chosen by."""
    if found.basis == "watts":
        return tr("The plan is the sequence that uses least energy.")
    if found.basis == "equipment":
        return tr(
            "Prices that would decide are missing, so the plan owns the fewest servers and storage nodes over time."
        )
    if all(way.pieces == found.best.pieces for way in found.others) and found.best.cost == found.others[0].cost:
        return tr("Every way buys the same parts for the same money; the plan is the one that uses least energy.")
    return tr("The plan is the sequence that costs least at the prices known; of equal ones, that with least energy.")


def findings(plan: GrowthPlan, found: PlatformGrowth, catalog: Catalog) -> list[str]:
    """What the plan says, in sentences."""
    said = [finding(found)]
    at_once = found.others[0]
    if at_once.sizes != found.best.sizes and found.best.energy_kwh:
        share = percent_of(at_once.energy_kwh / found.best.energy_kwh - 1)
        idle = at_once.server_years - found.best.server_years
        said.append(
            tr(
                "Bought all in the first year, servers would stand idle for {n} server-years, and the energy would be "
                "{share} more.",
                n=grouped(idle),
                share=share,
            )
            if idle
            else tr("Bought all in the first year, the energy would be {share} more.", share=share)
        )
    grows = found.others[2]
    if grows.moved_links:
        said.append(
            trn(
                "Bought each year with the network of that year alone, {n} standing link would move.",
                "Bought each year with the network of that year alone, {n} standing links would move.",
                grows.moved_links,
                n=grouped(grows.moved_links),
            )
        )
    hit = [limit for limit in found.limits if limit.year is not None]
    if hit:
        said.append(
            tr(
                "Of the first year's cluster the first to be used up: {parts}.",
                parts=listed(f"{inside_sentence(translated(one.name))} ({used_up_text(one)})" for one in hit[:3]),
            )
        )
    if plan.stops:
        said.append(plan.stops)
    if found.deciding_prices:
        names = listed(item_name(item, catalog) for item in found.deciding_prices)
        said.append(tr("Prices that would decide between the sequences: {items}.", items=names))
    return said


def finding(found: PlatformGrowth) -> str:
    """The plan in one sentence."""
    sizes, name = found.best.sizes, platform_text(found)
    first, last = size_text(sizes[0]), size_text(sizes[-1])
    steps = [purchase.year for purchase in found.best.purchases if purchase.bought]
    if sizes[0] == sizes[-1]:
        if found.needs[0] == found.needs[-1]:
            return tr("{first} of the first year carry all {n} years on {name}.", first=first, n=len(sizes), name=name)
        return tr("On {name} buy {first} at once: steps cost more.", first=first, name=name)
    later = [str(year) for year in steps if year > 1]
    return trn(
        "On {name} buy {first} now and grow to {last}, with another purchase in year {years}.",
        "On {name} buy {first} now and grow to {last}, with further purchases in years {years}.",
        len(later),
        name=name, first=first, last=last, years=listed(later),
    )  # fmt: skip


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
    return tr(
        "The design of this document meets the first year alone. To carry the years to come, its purchase differs: "
        "{parts}.",
        parts=listed(parts),
    )
