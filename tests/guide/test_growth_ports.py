"""Headroom of the storage front end: free ports of storage leaves take no server."""

import pytest

from sizer.guide.chapters.growth import limits_table
from tests.factories import examples


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 210 of the 6 x 36 = 216 ports for servers are in use; the other 6 take 3 servers of two ports.
        ("llama-70b-dgx-h100", "enough for 3 servers more: the storage has leaves of its own"),
        # 288 of 8 x 36 = 288.
        ("llama-405b-gb200-nvl72", "no further server: the storage has leaves of its own"),
    ],
)
def test_ports_of_the_storage_front_end(name: str, expected: str) -> None:
    table = limits_table(examples.sized(name).design)
    (row,) = [one for one in table.rows if one.cells[0].text.startswith("Ports of the storage front end")]
    assert expected in row.cells[1].text.replace("\xa0", " ")
