"""The address plan as a file: every port with its subnet and address."""

from sizer.export.tables.csv_text import csv_bytes
from sizer.export.tables.table import Number, SheetColumn, record_sheet
from sizer.physical.networks.addresses import Address, address_plan
from sizer.sizing.result import SizingResult


def addresses_csv(result: SizingResult) -> bytes:
    """Proposed address of every port of the documented design as a CSV file.

    Returns
    -------
    bytes
        UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    plan = address_plan(result.design.plan)
    subnets = {subnet.name: subnet for subnet in plan.subnets}
    columns: tuple[SheetColumn[Address], ...] = (
        SheetColumn("Device", lambda address: address.device),
        SheetColumn("Port", lambda address: address.port),
        SheetColumn("Network", lambda address: address.subnet),
        Number("VLAN", lambda address: subnets[address.subnet].vlan),
        SheetColumn("Address", lambda address: str(address.address)),
        Number("Prefix length", lambda address: subnets[address.subnet].network.prefixlen),
    )
    sheet = record_sheet("Addresses", plan.addresses, columns)
    return csv_bytes(sheet.heads, sheet.rows)
