"""The address plan as a file: every port with its subnet and address."""

from sizer.export.tables.csv_text import csv_bytes
from sizer.physical.networks.addresses import address_plan
from sizer.sizing.result import SizingResult


def addresses_csv(result: SizingResult) -> bytes:
    """Proposed address of every port of the documented design as a CSV file.

    Returns
    -------
    bytes
        UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    plan = address_plan(result.design.plan)
    subnets = {one.name: one for one in plan.subnets}
    heads = ("Device", "Port", "Network", "VLAN", "Address", "Prefix length")
    rows = (
        (
            one.device,
            one.port,
            one.subnet,
            subnets[one.subnet].vlan,
            str(one.address),
            subnets[one.subnet].network.prefixlen,
        )
        for one in plan.addresses
    )
    return csv_bytes(heads, rows)
