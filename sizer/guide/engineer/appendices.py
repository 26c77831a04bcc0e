"""Appendices: formulas, addresses, cable schedule, calibrated values, component data."""

from typing import Any

from sizer.base.quantities import by_count, grouped, plain
from sizer.guide.context import GuideContext
from sizer.guide.engineer.calibration_table import calibration_table
from sizer.physical.networks.addresses import Address, AddressPlan
from sizer.physical.plan import End, Plan
from sizer.physical.roles import NetworkPlane
from sizer.present import words
from sizer.present.component_tables import components
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row

# Longer lists are only in the cable list and the address list that come with the file.
MOST_ROWS = 200


def formulas(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/formulas.html`` prints."""
    return {
        "is_training": any(answer.workload.task == "training" for answer in context.answers),
        "is_inference": any(answer.workload.task != "training" for answer in context.answers),
        "has_time": any(answer.time is not None for answer in context.answers),
        "is_single": context.is_single,
        "has_gateway": context.design.platform.gateway is not None,
    }


def addresses(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/addresses.html`` prints."""
    return {"addresses": address_table(context.addresses)}


def schedule(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/schedule.html`` prints."""
    return {"schedule": schedule_table(context.design.plan)}


def calibration(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calibration.html`` prints."""
    numbers = range(1, len(context.answers) + 1)
    return {"tables": [calibration_table(context.evaluated, number) for number in numbers]}


def parts(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/parts.html`` prints."""
    return {"components": components(context.design, context.catalog)}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}


def address_table(plan: AddressPlan) -> Table:
    """Address of every port, up to the longest printed list."""
    fields = (
        Field[Address]("Device", lambda address: address.device, "left", 28),
        Field[Address]("Port", lambda address: address.port, "left", 22),
        Field[Address]("Network", lambda address: address.subnet, "left", 28),
        Field[Address]("Address", lambda address: str(address.address), "left", 22),
    )
    note = _more_in(len(plan.addresses), "addresses.csv")
    printed = plan.addresses[:MOST_ROWS]
    return record_table("addresses", "Address of every port", printed, fields, note=note, style="dense")


def schedule_table(plan: Plan) -> Table | None:
    """Every cable with both ends, up to the longest printed list; None where there is none."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    network: NetworkPlane | None = None
    for link in plan.connections[:MOST_ROWS]:
        if link.network != network:
            network = link.network
            rows.append(row(words.capital(str(network)), kind="group"))
        stock_m = link.stock_length_m
        cable = Cell("to length", is_muted=True) if stock_m is None else plain(stock_m)
        kind, length = link.kind.name, grouped(link.length_m, 1)
        rows.append(row(link.id, _end(link.a), _end(link.z), kind, length, cable))
    note = f"Each end: rack and lowest unit of the device, device, port. {_more_in(plan.n_links, 'cables.csv')}"
    return fact_table(
        "schedule",
        "Cable schedule and port map",
        rows,
        titles=("Cable", "From", "To", "Link", "Route, m", "Cable, m"),
        widths=(9, 29, 29, 17, 7, 9),
        aligns=("left", "left", "left", "left", "right", "right"),
        note=note.strip(),
        style="dense",
    )


def _end(end: End) -> str:
    place = f"{end.rack} U{end.unit}" if end.unit else ""
    return ", ".join(part for part in (place, end.device, end.port) if part)


def _more_in(total: int, file: str) -> str:
    n_more = total - MOST_ROWS
    if n_more <= 0:
        return ""
    return by_count(n_more, f"{grouped(n_more)} more line in {file}.", f"{grouped(n_more)} more lines in {file}.")
