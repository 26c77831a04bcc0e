"""Cables and addresses by groups: nothing is lost, and ranges read as an installer writes them."""

import pytest

from sizer.guide.engineer.appendices import address_table, name_ranges, schedule_table
from sizer.physical.networks.addresses import address_plan
from tests.factories.examples import sized

EXAMPLES = ("dgx1-f800-resnet50", "superpod-h100-su", "small-team")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["gpu-001", "gpu-002", "gpu-003"], "gpu-001 to gpu-003"),
        (["gpu-002", "gpu-001", "gpu-001"], "gpu-001 to gpu-002"),
        (["gpu-001", "gpu-003"], "gpu-001, gpu-003"),
        (["9", "10", "11"], "9 to 11"),  # as numbers, not as letters
        (["1", "3", "5", "7"], "1 to 7 (4 of them)"),
        (["bmc", ""], "bmc"),
        ([], ""),
    ],
)
def test_names_with_consecutive_numbers_read_as_ranges(names, text):
    assert name_ranges(names) == text


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_cable_and_every_address_is_counted_once(name):
    """The counts of the lines add up to the lists that come with the file."""
    plan = sized(name).design.plan
    table = schedule_table(plan)
    counted = 0 if table is None else sum(int(row.cells[-1].text) for row in table.rows if row.kind != "group")
    assert counted == plan.n_links
    found = address_plan(plan)
    rows = address_table(found).rows
    assert sum(int(row.cells[-1].text) for row in rows) == len(found.addresses)
    for row in rows:
        first, _, last = str(row.cells[3].text).partition(" to ")
        size = int((last or first).rsplit(".", 1)[1]) - int(first.rsplit(".", 1)[1])
        assert (size + 1) % 256 == int(row.cells[-1].text) % 256  # consecutive: the last octets differ by the count
