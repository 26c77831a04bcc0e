"""Growth of a laid-out design: what stands, what is added, what moves."""

import pytest

from sizer.physical.expansion import grown, growth
from tests.factories.plans import laid_out


def test_a_switch_with_free_ports_takes_the_next_sizes_without_a_move():
    """Dell guide: one SB7800 joins up to 32 C4140 beside head node and three gateway links (facts 3.4)."""
    plan = laid_out("c4140", "isilon-f800", "edr", 8, 4)
    steps = growth(plan)
    assert [(step.n_servers, step.storage_nodes) for step in steps] == [(12, 8), (16, 8)]
    for step in steps:
        assert step.moved == ()
        assert not any("switch" in role and "management" not in role for role, _, _ in step.added)
    added = {role: number for role, _, number in steps[0].added}
    assert added["GPU server"] == 4
    assert added["storage chassis"] == 1


def test_leaving_one_switch_moves_what_hangs_on_its_uplink_ports():
    """36 ports, 18 of them uplinks in a tree: of 30 + 1 links those beyond the first 18 ports move, and no other."""
    plan = laid_out("c4140", "nfs-generic", "edr", 30, 0)
    steps = growth(plan)
    step = steps[0]
    assert step.n_servers == 45
    used = [link for link in plan.connections if link.network.network == "compute fabric"]
    beyond = {f"{link.a.device} {link.a.port}" for link in used if int(link.z.port) > 18}
    assert len(beyond) == 30 + 1 - 18  # servers and head node
    assert {link.device for link in step.moved if link.network.network == "compute fabric"} == beyond
    assert {role: number for role, _, number in step.added if role.startswith("compute")} == {
        "compute leaf switch": 2,  # 46 end points on three leaves of 18
        "compute spine switch": 2,
    }


def test_room_kept_for_servers_is_used_without_a_new_switch_rack_or_move():
    plan = laid_out("dgx-1", "dgx1-ssd", "edr", 8, 0, spare_servers=4)
    steps = growth(plan)
    assert sum(device.status == "reserved" for device in plan.devices) == 4
    step = steps[0]
    assert step.n_servers == 12
    assert step.new_racks == 0
    assert step.moved == ()
    assert [(role, number) for role, _, number in step.added] == [("GPU server", 4)]


def test_a_size_beyond_the_platform_is_said():
    plan = laid_out("c4140", "isilon-f800", "edr", 2, 252)
    steps = growth(plan)
    assert all(step.limit.values[-1] == 252 and not step.added for step in steps)


@pytest.mark.parametrize("n", [1, 5, 20, 60])
def test_added_links_and_moves_add_up(n):
    plan = laid_out("dgx-1", "isilon-f800", "100gbe", n, 4)
    steps = growth(plan)
    before = {(link.a.device, link.a.port) for link in plan.connections}
    for step in steps:
        gone = sum(not move.becomes for move in step.moved)
        assert len(before) == plan.n_links
        assert gone == 0
        assert step.added_links > 0
        assert step.added_max_w > 0


def test_a_second_liquid_cooled_rack_takes_a_second_coolant_unit_and_its_switches_a_place_to_stand():
    """GB200 NVL72: 85 % of 120 kW are 102 kW in the coolant; one CoolChip takes 121 kW, two racks take two units.

    Added draw: 120 kW + 0.875 kW of the unit + that of the switches, and each added device has a rack.
    """
    plan = laid_out("gb200-nvl72", "ai400x2", "ndr", 1, 1)
    step = growth(plan)[0]
    assert step.n_servers == 2
    added = {role: (item, number) for role, item, number in step.added}
    assert added["GPU server"] == ("gb200-nvl72", 1)
    assert added["coolant distribution unit"] == ("coolchip-cdu-121", 1)
    assert step.added_max_w > 120_875


def test_switches_of_a_new_level_need_racks_too():
    """Spines that the standing design does not have count when the racks of the next size are counted.

    Standing: 30 C4140 and a head node on one switch. Next size: 45 servers; one rack of 42 U takes at most 16.6 kW.
    """
    plan = laid_out("c4140", "nfs-generic", "edr", 30, 0)
    step, larger = grown(plan, 45, 0)
    draw_w = {device.name: device.power.max_w for device in larger.devices}
    standing_w = sum(device.power.max_w for device in plan.devices)
    capacity_w = plan.racks[0].feed_capacity_w
    fewest = -(-sum(draw_w.values()) // capacity_w)
    assert standing_w + step.added_max_w == pytest.approx(sum(draw_w.values()))
    assert len(plan.racks) + step.new_racks >= fewest
