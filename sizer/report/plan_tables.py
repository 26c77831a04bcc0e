"""Tables that list the plan entry by entry: subnets, addresses, cables with both their ends."""

from sizer.base.language import tr, trn
from sizer.base.quantities import grouped, plain
from sizer.physical.addresses import AddressPlan
from sizer.physical.counted import network_text
from sizer.physical.plan import End, Plan
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row

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
            str(one.gateway) if one.gateway is not None else Cell(tr("none"), is_muted=True),
            grouped(one.n_used),
            grouped(one.network.num_addresses - 2),
        )
        for one in plan.subnets
    ]
    heads = columns(
        (tr("Network"), "left", 18), (tr("Used by"), "left", 28), (tr("VLAN"), "right", 8), (tr("Subnet"), "left", 17),
        (tr("Router"), "left", 13), (tr("In use"), "right", 8), (tr("Room for"), "right", 8),
    )  # fmt: skip
    note = tr(
        "Proposed numbers from private address space; each subnet holds twice the addresses in use. Put in the "
        "ones that "
        "the site assigns."
    )
    return Table("subnets", tr("Subnet plan"), heads, tuple(rows), note)


def address_table(plan: AddressPlan) -> Table:
    """Address of every port, as far as a printed list goes."""
    rows = [row(one.device, one.port, one.subnet, str(one.address)) for one in plan.addresses[:MOST_ROWS]]
    heads = columns(
        (tr("Device"), "left", 28), (tr("Port"), "left", 22), (tr("Network"), "left", 28), (tr("Address"), "left", 22)
    )
    note = _rest(len(plan.addresses), "addresses.csv")
    return Table("addresses", tr("Address of every port"), heads, tuple(rows), note, "dense")


def schedule_table(plan: Plan) -> Table | None:
    """Every cable with both its ends, as far as a printed list goes; None where there is none."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    network = ""
    for link in plan.connections[:MOST_ROWS]:
        if link.network != network:
            network = link.network
            rows.append(row(words.capital(network_text(network)), kind="group"))
        stock = link.stock_length_m
        rows.append(
            row(
                link.id,
                _end(link.a),
                _end(link.z),
                words.link_name(link.kind),
                grouped(link.length_m, 1),
                Cell(plain(stock)) if stock is not None else Cell(tr("to length"), is_muted=True),
            )
        )
    heads = columns(
        (tr("Cable"), "left", 10), (tr("From"), "left", 31), (tr("To"), "left", 31), (tr("Link"), "left", 12),
        (tr("Way, m"), "right", 7), (tr("Cable, m"), "right", 9),
    )  # fmt: skip
    note = (
        tr("An end reads rack, lowest unit of the device, device and port.") + " " + _rest(plan.n_links, "cables.csv")
    )
    return Table("schedule", tr("Cable schedule and port map"), heads, tuple(rows), note.strip(), "dense")


def _end(end: End) -> str:
    place = f"{end.rack} U{end.unit}" if end.unit else ""
    return ", ".join(part for part in (place, end.device, end.port) if part)


def _rest(total: int, file: str) -> str:
    left = total - MOST_ROWS
    if left <= 0:
        return ""
    return trn("{n} more line stands in {file}.", "{n} more lines stand in {file}.", left, n=grouped(left), file=file)
