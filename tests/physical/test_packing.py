"""Racks that would do if kinds of devices were mixed freely."""

import pytest

from sizer.physical.layout import packed_racks
from sizer.physical.roles import Role
from tests.factories.plans import laid_out


@pytest.mark.parametrize(
    ("server", "storage", "fabric", "n", "m"),
    [
        ("dgx-1", "isilon-f800", "100gbe", 9, 4),
        ("c4140", "isilon-f800", "edr", 8, 4),
        ("apollo-6500", "wekaio", "edr", 4, 6),
    ],
)
def test_packing_lies_between_the_bounds_and_the_plan(server, storage, fabric, n, m):
    """At least the draw over what one feed carries and the units over those of a rack; at most the planned racks."""
    plan = laid_out(server, storage, fabric, n, m)
    watts = sum(device.power.max_w for device in plan.devices)
    units = sum(device.height_u for device in plan.devices)
    feed_w, height = max(rack.feed_capacity_w for rack in plan.racks), plan.racks[0].height_u
    least = max(-(-watts // feed_w), -(-units // height))
    assert least <= packed_racks(plan) <= len(plan.racks)


def test_two_kinds_that_fill_one_rack_together():
    """One C4140 of 2 kW, its head node, switches and storage stay far below 16.6 kW: one rack, packed or not."""
    plan = laid_out("c4140", "nfs-generic", "edr", 2, 0)
    assert packed_racks(plan) == len(plan.racks) == 1


def test_servers_share_their_racks_with_storage_where_that_saves_one():
    """Four Apollo 6500 and six WekaIO nodes, 25 U and 32.6 kW: two racks of 16.6 kW, 33.2 kW, hold them.

    A server draws 6.6 kW: two leave 3.4 kW in each rack. Storage, head node and switches, 6.2 kW, go half by half.
    """
    plan = laid_out("apollo-6500", "wekaio", "edr", 4, 6)
    assert len(plan.racks) == packed_racks(plan) == 2
    assert all(rack.max_w <= 16_600 for rack in plan.racks)
    held = [{device.role for device in rack.devices} for rack in plan.racks]
    assert all(Role.GPU_SERVER in roles for roles in held)
