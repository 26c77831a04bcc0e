"""Published racks of DGX and NVL72 systems: draw, feeds, what a feed carries after a loss, racks of a SuperPOD."""

import numpy as np
import pytest

from sizer.physical.layout import building_plan
from sizer.physical.networks.ports import device_ports
from sizer.physical.notes import ViolationKind
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.sizing.checks import CheckKind
from sizer.workload.request import Limits, SizingRequest
from tests.factories import examples
from tests.factories.requests import CATALOG


def platform_of(server, storage, site=None, fabrics=()):
    asked = {
        "workload": [{"dnn": "llama-3-70b", "tokens": 1e10, "target": {"gpus_busy": 8}}],
        "platforms": {"servers": [server], "storage": [storage], "fabrics": list(fabrics)},
        "site": site or {},
    }
    return platforms(CATALOG, SizingRequest.from_dict(asked))[0]


def plan_of(platform, servers, nodes=0, rack_power_w=None):
    limits = Limits(rack_power_w=rack_power_w)
    counted = quantities(platform, [servers], [nodes], catalog=CATALOG, limits=limits)
    assert not counted.violations
    row = slice_row(counted, 0)
    return row, building_plan(platform, row, servers, nodes, catalog=CATALOG, limits=limits)


def dgx_h100(site):
    return platform_of("dgx-h100", "dgx-h100-nvme", {"rack": "ar3357", **site}, ["ndr"])


def test_four_dgx_h100_on_three_feeds():
    """NVIDIA DGX H100 electrical guide (via "gpu-pod"): four systems draw 40.8 kW; three sources, each for half of it;
    circuits of 32.7 kW; with one source lost each survivor carries 20.4 kW. Two circuits could not bear a loss."""
    _, plan = plan_of(dgx_h100({"feeds": "N+1", "network_racks": True}), 4, rack_power_w="41 kW")
    (rack,) = [rack for rack in plan.racks if any(device.item == "dgx-h100" for device in rack.devices)]
    assert rack.max_w == 40_800
    assert [feed.capacity_w for feed in rack.feeds] == [32_700] * 3
    assert [feed.alone_w for feed in rack.feeds] == pytest.approx([20_400] * 3)
    assert [feed.live_w for feed in rack.feeds] == pytest.approx([13_600] * 3)
    assert rack.feed_capacity_w == 65_400
    # "gpu-pod", power rule: 1,700 W allocated and at most 2,550 W for each of six supplies, since four carry it.
    assert {inlet.share_w for inlet in rack.feeds[0].inlets} == {2_550}
    assert {inlet.live_w for inlet in rack.feeds[0].inlets} == {1_700}


def test_two_dgx_b200_on_two_circuits_without_a_spare():
    """NVIDIA, data centre best practices with DGX B200 ("rackula" 11): two systems draw 28.6 kW; two circuits, each for
    half of it, none spare."""
    site = {"rack": "ar3357", "feeds": "N", "network_racks": True, "pdu": "ap8886-32a"}
    _, plan = plan_of(platform_of("dgx-b200", "dgx-b200-nvme", site, ["ndr"]), 2, rack_power_w="28.6 kW")
    (rack,) = [rack for rack in plan.racks if any(device.item == "dgx-b200" for device in rack.devices)]
    assert rack.max_w == 28_600
    assert [feed.alone_w for feed in rack.feeds] == [14_300, 14_300]


def test_racks_of_a_superpod_of_four_units():
    """RA-11333-001 V11, table 7: 127 DGX H100 in 32 racks of four, three PDUs in each (96), and racks of networks and
    management with two PDUs in each (12 of another kind in six)."""
    site = {"rack": "ar3357", "feeds": "N+1", "network_racks": True, "network_pdu": "px3-5747v-v2", "racks_per_row": 16}
    row, plan = plan_of(dgx_h100(site), 127, rack_power_w="41 kW")
    servers = [rack for rack in plan.racks if any(device.item == "dgx-h100" for device in rack.devices)]
    others = [rack for rack in plan.racks if rack not in servers]
    bought = {part.item: int(part.quantity[0]) for part in row.components if part.role == "rack PDU"}
    assert (len(servers), bought["px3-5878i2r"]) == (32, 96)
    assert {len(rack.feeds) for rack in others} == {2}
    assert bought["px3-5747v-v2"] == 2 * len(others)
    # Without the storage fabric, UFM and in-band switches of the table five racks are enough; it has six.
    assert 4 <= len(others) <= 6


def nvl72(site=None):
    return platform_of("gb200-nvl72", "gb200-nvl72-nvme", site)


def test_one_nvl72():
    """RA-11338-001 and "gpu-pod": 72 GPUs in 18 trays, nine switch trays, eight shelves of 33 kW, N+N, about 120 kW."""
    _, plan = plan_of(nvl72(), 1)
    (rack,) = [rack for rack in plan.racks if rack.is_delivered]
    assert rack.max_w == 120_000
    assert len(rack.feeds) == 8
    assert {feed.capacity_w for feed in rack.feeds} == {33_000}
    # Half of the shelves carry 120 kW: 30 kW each; all of them 15 kW each.
    assert {feed.alone_w for feed in rack.feeds} == {30_000}
    assert {feed.live_w for feed in rack.feeds} == {15_000}
    contents = CATALOG.servers["gb200-nvl72"].delivered.contents
    counts = {name: sum(p.count for p in contents if p.name == name) for name in {p.name for p in contents}}
    assert counts == {"compute tray": 18, "NVLink switch tray": 9, "power shelf": 8, "management switch": 2}


def test_eight_nvl72_are_a_scalable_unit():
    """RA-11338-001: eight racks, 576 GPUs; four 400 Gbit/s ports a tray are 4 x 18 x 8 = 576 links to the leaves."""
    row, plan = plan_of(nvl72(), 8)
    assert sum(rack.item == "mgx-nvl72" for rack in plan.racks) == 8
    fabric = row.networks[0]
    assert int(fabric.end_points[0]) == 576
    names = [port.name for port in device_ports(CATALOG.servers["gb200-nvl72"])]
    assert (names[0], names[71]) == ("tray-1/ndr-1", "tray-18/ndr-4")


def test_heat_of_an_nvl72():
    """NVIDIA partition guide 1.2: about 85 % of 120 kW leaves with the coolant: 102 kW; one unit of 121 kW takes it."""
    counted = quantities(nvl72(), [1, 2, 8, 14], [0] * 4, catalog=CATALOG)
    assert counted.liquid_heat_w == pytest.approx(np.array([1, 2, 8, 14]) * 102_000)
    units = {
        part.item: part.quantity.tolist() for part in counted.components if part.role == "coolant distribution unit"
    }
    # 204 and 816 kW take one unit of 1,368 kW, 14 x 102 = 1,428 kW two; and one more of each.
    assert units == {"coolchip-cdu-121": [2, 0, 0, 0], "xdu1350": [0, 2, 2, 3]}


@pytest.mark.parametrize(
    ("site", "limits", "kind"),
    [
        ({"cooling": "air"}, {}, ViolationKind.NEEDS_LIQUID),
        ({}, {"rack_power_w": "50 kW"}, ViolationKind.RACK_POWER),
        ({"feed_volts": 208, "feed_phases": 3}, {}, ViolationKind.SHELF_FEED),
        ({"floor_kg_per_m2": 1_223}, {}, ViolationKind.FLOOR_LOAD),
    ],
)
def test_rooms_that_take_no_nvl72(site, limits, kind):
    """1,315 kg on 0.6 x 1.068 m are 2,052 kg/m², more than the 1,223 of TIA-942 rated 3; shelves take 346 to 480 V."""
    counted = quantities(nvl72(site), [1], [0], catalog=CATALOG, limits=Limits(**limits))
    assert kind in {violation.kind for violation in counted.violations}


def test_a_room_that_takes_it():
    site = {"cooling": "liquid", "feed_volts": 415, "feed_phases": 3, "floor_kg_per_m2": 2_100}
    counted = quantities(nvl72(site), [1], [0], catalog=CATALOG, limits=Limits(rack_power_w="140 kW"))
    assert not counted.violations


def test_floor_load_is_a_check_of_the_design():
    """1,315 kg on 0.6 x 1.068 m are 2,052 kg/m², of 2,500 that the room of the example carries."""
    checks = {check.kind: check for check in examples.sized("gb200-nvl72").design.checks}
    floor = checks[CheckKind.FLOOR_LOAD]
    assert floor.asked == 2_500
    assert floor.known == pytest.approx(2_052, abs=1)
