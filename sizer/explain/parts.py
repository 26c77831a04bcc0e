"""Explanations of GPUs, capacity, power, rack units and price: sums over the parts of a design."""

from collections.abc import Iterator

from sizer.base.quantities import NARROW_SPACE, grouped, plain, si
from sizer.bom.bill import Bill, BillLine
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Storage
from sizer.explain.inputs import Explanation, assumed, in_unit, input_row, inputs_table, number
from sizer.physical.capacity import capacity_ladder
from sizer.physical.components import Component
from sizer.physical.racks.power import device_power
from sizer.present import words
from sizer.present.facts.storage_tiers import system_name, tier_label
from sizer.present.tables import Cell, Row, row
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.design_size import binding_text
from sizer.present.text.money import price_basis_text, price_range_text
from sizer.present.text.plan import note_text
from sizer.sizing.constraints.stored_data import StorageDemand, storage_demand
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.target_text import target_text

# Lines of a bill that are listed one by one; a longer one is summed by category.
_MOST_LINES = 12
_EXACT = "An exact count."


def gpus(result: SizingResult, catalog: Catalog) -> Explanation:
    """Number of GPUs."""
    del catalog
    design = result.design
    server = design.platform.server
    rows = [
        input_row(
            "servers, the smallest number that meets every target",
            grouped(design.n_servers),
            note="search over all sizes",
        ),
        input_row(f"GPUs of a server ({server.name})", grouped(design.platform.gpus_per_server), server.n_gpus),
    ]
    targets = [f"{answer.workload.name}: {target_text(answer.workload, answer.dnn)}." for answer in design.workloads]
    asked = words.percent(result.request.confidence)
    chance = words.chance(design.probability)
    return Explanation(
        "GPUs",
        words.plural(design.n_gpus, "GPU"),
        "GPUs = servers × GPUs of a server",
        inputs_table("gpus", rows),
        tuple(text for text in (*targets, binding_text(design) and words.sentence(binding_text(design))) if text),
        (f"{_EXACT} The probability of meeting the target is {chance}; {asked} was requested.",),
        assumed(result, [server.name], ("gpus",)),
    )


def capacity(result: SizingResult, catalog: Catalog) -> Explanation:
    """Usable capacity, step by step from the raw capacity."""
    del catalog
    design = result.design
    usable = design.usable_bytes
    rows = [one for tier in design.tiers if tier.storage is not None for one in _ladder_rows(tier, tier.storage)]
    names = [system_name(tier) for tier in design.tiers]
    demand = storage_demand(design.workloads, result.request.data)
    answer = si(usable, "B") if usable > 0 else words.NOT_PUBLISHED
    return Explanation(
        "Usable capacity",
        answer,
        "usable = raw × share after spare nodes × share after protection × share after the reserve",
        inputs_table("capacity", rows),
        (f"{_demand_text(demand)}; {_room(design)}.",),
        ("An exact sum of published capacities." if usable > 0 else "No published value: confirm that the data fit.",),
        assumed(result, names, ("raw", "usable", "nodes", "protection", "spare", "stripe")),
    )


def _ladder_rows(tier: StorageTier, storage: Storage) -> Iterator[Row]:
    """Steps from the raw to the usable capacity of one tier."""
    before = 0.0
    for step in capacity_ladder(storage, tier.capacity_option, tier.nodes):
        left = step.capacity_bytes
        share = f"× {number(left / before)}, gives " if before and step.label != "usable" else ""
        yield row(
            f"{words.capital(tier_label(tier, step.label))}: {note_text(step.how)}",
            share + in_unit(left, "B"),
            Cell("", (step.source,) if step.source else ()),
        )
        before = left
    if not tier.usable_bytes > 0:
        yield input_row(f"usable capacity of {storage.name}", words.NOT_PUBLISHED)


def _demand_text(demand: StorageDemand) -> str:
    """Required capacity and its parts."""
    sets = ", ".join(f"{one.name} with {si(one.size_bytes, 'B')}" for one in demand.sets)
    other = demand.stored_bytes - demand.sets_bytes
    held = f"It must hold {sets}"
    if other:
        held = f"It must hold {si(demand.stored_bytes, 'B')}: {sets}, and {si(other, 'B')} of other data"
    return f"{held}; the request asks for at least {si(demand.minimum_bytes, 'B')}" if demand.is_minimum else held


def _room(design: DesignAnswer) -> str:
    nodes = design.storage_nodes
    if not nodes:
        return f"it is stored on {design.platform.storage.name}"
    return f"data, reads and the smallest system require {words.plural(nodes, 'storage node')}"


def _devices(design: DesignAnswer, catalog: Catalog) -> Iterator[tuple[Component, Device]]:
    """What takes rack units and watts, bought or existing; racks, PDUs and cables do not count."""
    for part in design.quantities.components:
        if part.category not in ("compute", "head node", "storage", "network", "cooling"):
            continue
        item = catalog.item(part.item)
        if isinstance(item, Device):
            yield part, item


def power(result: SizingResult, catalog: Catalog) -> Explanation:
    """Maximum power, device by device."""
    design = result.design
    rows, names, brackets = [], [], []
    for part, device in _devices(design, catalog):
        draw = device_power(design.platform.device(catalog, part.item))
        fact = next(
            (
                one
                for one in (device.power_max_w, device.power_high_w, device.power_typical_w, device.power_low_w)
                if one is not None
            ),
            None,
        )
        each = in_unit(draw.max_w, "W") if fact is not None else words.NOT_PUBLISHED
        label = f"{grouped(int(part.quantity[0]))} × {device.name}, {part.role}"
        rows.append(input_row(label, each, fact))
        names.append(device.name)
        if device.power_max_w is None and device.power_high_w is not None:
            brackets.append(device.name)
    counts = design.quantities
    cautions = [
        f"Between {si(float(counts.power_low_w[0]), 'W')} and {si(float(counts.power_max_w[0]), 'W')}; "
        f"typical {si(float(counts.power_typical_w[0]), 'W')}."
    ]
    if brackets:
        cautions.append(f"Only a range is known for {words.listed(dict.fromkeys(brackets))}; its upper end is used.")
    if counts.unknown_power:
        unknown = words.listed(item_name(item, catalog) for item in counts.unknown_power)
        cautions.append(f"The maximum of {unknown} is not published, so the sum is a lower bound.")
    return Explanation(
        "Power",
        result_text.power(design),
        "power = Σ number × largest draw of one",
        inputs_table("power", rows),
        ("The basis for feeds, racks and cooling. Devices only: losses of PDUs and of the room are not included.",),
        tuple(cautions),
        assumed(result, names, ("power",)),
    )


def rack_units(result: SizingResult, catalog: Catalog) -> Explanation:
    """Rack units, device by device."""
    design = result.design
    rows, names = [], []
    for part, device in _devices(design, catalog):
        height = (
            "not published, counted as 0"
            if device.height_u is None
            else f"{plain(device.height_u.value)}{NARROW_SPACE}U"
        )
        rows.append(
            input_row(f"{grouped(int(part.quantity[0]))} × {device.name}, {part.role}", height, device.height_u)
        )
        names.append(device.name)
    racks = words.plural(int(design.quantities.racks[0]), "rack")
    return Explanation(
        "Rack units",
        f"{float(design.quantities.rack_units[0]):g}{NARROW_SPACE}U",
        "rack units = Σ number × height of one",
        inputs_table("rack-units", rows),
        (f"{words.capital(racks)}, limited by rack units, weight and power per rack.",),
        (_EXACT,),
        assumed(result, names, ("height",)),
    )


def price(result: SizingResult, catalog: Catalog) -> Explanation:
    """Price, line by line, and what is not included."""
    del catalog
    bill = result.design.bill
    priced = [line for line in bill.bought if line.extended_net is not None]
    paid = [line for line in priced if line.extended_net]
    rows = [_bill_row(line, bill) for line in paid] if len(paid) <= _MOST_LINES else list(_category_rows(bill))
    free = len(priced) - len(paid)
    if free:
        rows.append(row(words.plural(free, "line") + " free of charge", words.money(bill.total * 0, bill.currency), ""))
    if bill.deal_discount_percent:
        rows.append(
            row(
                "discount on the deal",
                f"−{words.money(bill.deal_reduction, bill.currency)}",
                f"{plain(float(bill.deal_discount_percent))}{NARROW_SPACE}%",
            )
        )
    formula = (
        "price = Σ number × price of one"
        if not bill.has_discount
        else ("price = Σ number × list price of one × (1 − discount of the line) − discount on the deal")
    )
    return Explanation(
        "Price",
        price_range_text(result.design),
        formula,
        inputs_table("price", rows or [row("lines with a price", "none", "")]),
        (f"{words.capital(price_basis_text(result.design))}.", result_text.open_prices(bill)),
        (
            "Taxes, freight and duties are not included.",
            *bill_warning_sentences(warning for _, warning in bill.price_warnings),
        ),
        (),
    )


def _bill_row(line: BillLine, bill: Bill) -> Row:
    assert line.extended_net is not None  # only priced lines are listed
    each = f" at {words.money(line.unit_price, bill.currency)}" if line.unit_price is not None else ""
    less = f", less {plain(float(line.discount_percent))}{NARROW_SPACE}%" if line.discount_percent else ""
    cites = (line.price_source,) if line.price_source else ()
    where = f"price of {line.price_date}" if line.price_date else ""
    return row(
        f"{grouped(line.quantity)} × {line.description}{each}{less}",
        words.money(line.extended_net, bill.currency),
        Cell("", cites, where),
    )


def _category_rows(bill: Bill) -> Iterator[Row]:
    for category in dict.fromkeys(line.category for line in bill.bought):
        total = bill.part(category).net_total
        if total.amount:
            yield row(
                words.sentence(category).rstrip("."),
                words.money(total.amount, bill.currency),
                "sum of its lines in the bill",
            )
