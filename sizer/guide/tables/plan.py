"""Tables that list the plan entry by entry: subnets, addresses, cables with both their ends."""

from sizer.base.quantities import by_count, grouped, plain
from sizer.physical.networks.addresses import AddressPlan
from sizer.physical.plan import End, Plan
from sizer.physical.roles import NetworkPlane
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row

# A longer list belongs into a file: the cable list and the address list that come with the guide.
MOST_ROWS = 200


def subnet_table(plan: AddressPlan) -> Table:
    """Subnets with their size and use."""
    rows = [
        row(
            words.capital(one.name),
            one.purpose,
            str(one.vlan),
            str(one.network),
            str(one.gateway) if one.gateway is not None else Cell("none", is_muted=True),
            grouped(one.n_used),
            grouped(one.network.num_addresses - 2),
        )
        for one in plan.subnets
    ]
    heads = columns(
        ("Network", "left", 18),
        ("Used by", "left", 28),
        ("VLAN", "right", 8),
        ("Subnet", "left", 17),
        ("Router", "left", 13),
        ("In use", "right", 8),
        ("Room for", "right", 8),
    )
    note = (
        "Proposed numbers from private address space; each subnet holds twice the addresses in "
        "use. Put in the ones that the site assigns."
    )
    return Table("subnets", "Subnet plan", heads, tuple(rows), note)


def address_table(plan: AddressPlan) -> Table:
    """Address of every port, as far as a printed list goes."""
    rows = [row(one.device, one.port, one.subnet, str(one.address)) for one in plan.addresses[:MOST_ROWS]]
    heads = columns(("Device", "left", 28), ("Port", "left", 22), ("Network", "left", 28), ("Address", "left", 22))
    note = _rest(len(plan.addresses), "addresses.csv")
    return Table("addresses", "Address of every port", heads, tuple(rows), note, "dense")


def schedule_table(plan: Plan) -> Table | None:
    """Every cable with both its ends, as far as a printed list goes; None where there is none."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    network: NetworkPlane | None = None
    for link in plan.connections[:MOST_ROWS]:
        if link.network != network:
            network = link.network
            rows.append(row(words.capital(str(network)), kind="group"))
        stock = link.stock_length_m
        rows.append(
            row(
                link.id,
                _end(link.a),
                _end(link.z),
                words.link_name(link.kind),
                grouped(link.length_m, 1),
                Cell(plain(stock)) if stock is not None else Cell("to length", is_muted=True),
            )
        )
    heads = columns(
        ("Cable", "left", 10),
        ("From", "left", 31),
        ("To", "left", 31),
        ("Link", "left", 12),
        ("Way, m", "right", 7),
        ("Cable, m", "right", 9),
    )
    note = "An end reads rack, lowest unit of the device, device and port." + " " + _rest(plan.n_links, "cables.csv")
    return Table("schedule", "Cable schedule and port map", heads, tuple(rows), note.strip(), "dense")


def _end(end: End) -> str:
    place = f"{end.rack} U{end.unit}" if end.unit else ""
    return ", ".join(part for part in (place, end.device, end.port) if part)


def _rest(total: int, file: str) -> str:
    left = total - MOST_ROWS
    if left <= 0:
        return ""
    return by_count(
        left, f"{grouped(left)} more line stands in {file}.", f"{grouped(left)} more lines stand in {file}."
    )
