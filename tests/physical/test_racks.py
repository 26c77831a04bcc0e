"""Racks: feeds, supplies of devices, packing, load on the floor."""

import pytest

from sizer import SizingRequest
from sizer.physical.layout import packed_racks
from sizer.physical.notes import PlanNoteKind
from sizer.physical.racks.power import device_power, with_fitted_power
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from tests.factories.examples import catalog
from tests.factories.plans import CATALOG, laid_out
from tests.published.test_reference_architectures import plan_of, platform_of


def test_a_device_without_known_inlets_loads_both_feeds_with_its_full_draw():
    """2 DGX-1, fabric switch, management switch, AFF A800, head node: 2 x 3,500 + 450 + 150 + 2,468 + 1,100 W.

    Feed A carries all of it alone, feed B all but the single-corded management switch. The data sheet of the AFF A800
    gives its draw and no inlets.
    """
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 16}}
    only = {"servers": ["dgx-1"], "storage": ["netapp-a800"], "fabrics": ["100gbe"]}
    plan = best_design(SizingRequest.from_dict({"workload": [work], "platforms": only}), catalog()).design.plan
    assert catalog().storage["netapp-a800"].power_inlets is None
    (rack,) = plan.racks
    assert {feed.side: feed.alone_w for feed in rack.feeds} == {"A": 11_168, "B": 11_018}
    assert [note.values for note in plan.warnings if note.kind is PlanNoteKind.INLETS_UNKNOWN] == [("AFF A800",)]


@pytest.mark.parametrize(
    ("server", "feeds", "expected"),
    [
        # DGX H100, user guide: six supplies, 4+2. Three remain on one of two feeds; four on two of three.
        # Three supplies of 3,300 W carry 9.9 kW of its 10.2 kW.
        ("dgx-h100", "2N", [("DGX H100", 6, 3, 4, 3, 9900.0)]),
        # DGX B200: 5+1 of 3,300 W. Of three to five feeds the worst loss takes two, so that six are needed.
        ("dgx-b200", "2N", [("DGX B200", 6, 3, 5, 6, 9900.0)]),
        # No feed may be lost: nothing is promised.
        ("dgx-h100", "N", []),
        # XE9680: 3+3, but the GPUs are throttled when two or more of six fail, so its full draw takes five. Three
        # carry three fifths of 11.5 kW: 6.9 kW.
        ("xe9680", "2N", [("XE9680", 6, 3, 5, 6, 6900.0)]),
        # Six supplies, of which nobody says how many carry the server: 0.
        ("sys-a21ge-nbrt", "2N", [("SYS-A21GE-NBRT", 6, 3, 0, 0, 0.0)]),
        # Two supplies, 1+1.
        ("r760xa", "2N", []),
    ],
)
def test_supplies_after_the_loss_of_a_feed(server, feeds, expected):
    storage = f"{server}-nvme" if server.startswith("dgx") else "ai400x2-turbo"
    rack = {"rack": "ar3357", "network_racks": True, "feeds": feeds}
    platform, nodes = platform_of(server, storage, rack, ["ndr"]), 0 if server.startswith("dgx") else 1
    _, plan = plan_of(platform, 2, nodes, rack_power_w="41 kW")
    assert [note.values for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES] == expected


def test_three_feeds_leave_enough():
    """Four DGX H100 on three circuits, the published rack: each of them keeps four of its six supplies."""
    rack = {"rack": "ar3357", "network_racks": True, "feeds": "N+1"}
    _, plan = plan_of(platform_of("dgx-h100", "dgx-h100-nvme", rack, ["ndr"]), 4, rack_power_w="41 kW")
    assert not [note for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES]


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


@pytest.mark.parametrize(("n_gpus", "floor_w"), [(4, 1_300), (8, 2_300), (10, 2_800)])
def test_floor_of_a_dss_8440_follows_its_gpus(n_gpus, floor_w):
    """250 W each of the V100S, 150 W each of the two Xeon Gold 6248 (data sheets): n x 250 + 2 x 150 W."""
    server = CATALOG.servers["dss-8440"]
    fitted = with_fitted_power(server, CATALOG.gpus["v100s-pcie-32gb"], n_gpus, CATALOG.cpus["xeon-gold-6248"], CATALOG)
    draw = device_power(fitted)
    assert draw.max_w == floor_w
    assert not draw.is_known


def test_a_published_maximum_stays_and_the_typical_draw_is_between_it_and_that_of_the_cards():
    server = with_fitted_power(CATALOG.servers["dgx-1"], CATALOG.gpus["v100-sxm2-32gb"], 8, None, CATALOG)
    drawn = device_power(server)
    assert (drawn.max_w, drawn.typical_w) == (3_500, (8 * 300 + 3_500) / 2)
    # MLPerf Inference v5.1, eight B200 with large language models: 9.0 to 10.4 kW; the DGX B200 is rated at 14.3 kW.
    b200 = device_power(
        with_fitted_power(CATALOG.servers["dgx-b200"], CATALOG.gpus["b200-sxm-180gb"], 8, None, CATALOG)
    )
    assert 9_000 < b200.typical_w < 0.85 * b200.max_w


def test_racks_are_planned_with_the_floor_of_ten_gpus():
    """Six servers of 2.8 kW are 16.8 kW: more than the 16.6 kW that one feed carries, so one rack does not take six."""
    plan = laid_out("dss-8440", "wekaio", "edr", 16, 6, gpus_per_server=10)
    in_one = max(sum(device.item == "dss-8440" for device in rack.devices) for rack in plan.racks)
    assert in_one == 5
    servers = [device for device in plan.devices if device.item == "dss-8440"]
    assert {device.power.max_w for device in servers} == {2_800}


@pytest.mark.parametrize(
    ("server", "cpu", "gpu", "n_gpus", "low_w", "high_w"),
    [
        ("xe7745", "epyc-9655", "l40s-48gb", 4, 2_200, 3_300),
        ("xe7745", "epyc-9655", "l40s-48gb", 8, 3_600, 5_400),
        ("xe7745", "epyc-9655", "h200-nvl-141gb", 8, 5_600, 8_400),
        ("dell-xe7740", "xeon-6787p", "l40s-48gb", 8, 3_500, 5_250),
    ],
)
def test_bracket_follows_what_is_in_the_server(server, cpu, gpu, n_gpus, low_w, high_w):
    """350 W an L40S, 600 W an H200 NVL, 400 W a processor of the XE7745, 350 W one of the XE7740.

    The supplies' 12,800 W are for the heaviest cards with half of the supplies lost. By hand four L40S take 2.7 kW:
    1,400 + 800 + 500 W of memory, drives, adapters and fans.
    """
    draw = device_power(
        with_fitted_power(CATALOG.servers[server], CATALOG.gpus[gpu], n_gpus, CATALOG.cpus[cpu], CATALOG)
    )
    assert (draw.low_w, draw.max_w) == (low_w, high_w)
    assert draw.is_known
