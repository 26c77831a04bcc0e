"""PDUs, power shelves and inlets have ratings of their own, in the acceptance test and wherever they are counted."""

from functools import cache

from sizer.physical.racks.feed_loads import FeedLoad, feed_loads
from sizer.physical.roles import Role
from tests.factories import examples

NAME = "llama-405b-gb200-nvl72"


@cache
def design():
    return examples.sized(NAME).design


def test_eight_nvl72_have_64_shelves_and_each_coolant_unit_two_inlets():
    # NVL72: eight shelves of 33 kW a rack, half of which carry its 120 kW: 30 kW each. XDU1350: 20.5 kW of pumps on
    # either of two inlets of each unit.
    loads = feed_loads(design().plan.racks, examples.catalog())
    assert FeedLoad("power shelf", "", 64, 30_000, 33_000) in loads
    assert FeedLoad("inlet", "XDU1350", 4, 20_500, 20_500) in loads
    (pdus,) = [load for load in loads if load.kind == "PDU"]
    bought = sum(int(part.quantity[0]) for part in design().quantities.components if part.role is Role.RACK_PDU)
    assert pdus.count == bought == 6
    assert 20_500 < pdus.alone_w <= pdus.capacity_w
