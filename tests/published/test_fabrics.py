"""Switch and link counts that documents print, against the fabric functions and whole platforms."""

import numpy as np
import pytest

from sizer.physical.capacity import onefs_overhead_fraction, usable_bytes, weka_usable_bytes
from sizer.physical.networks.fat_tree import fat_tree, gateway_uplinks, gateways
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.limits import RackClass, device_needs, rack_limits
from sizer.physical.racks.placement import count_racks, fit_per_rack, place
from sizer.physical.racks.power import heat_btu_per_h
from sizer.workload.request import SizingRequest


def platform_of(catalog, server, storage, fabric):
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": [server], "storage": [storage], "fabrics": [fabric]},
        }
    )
    return platforms(catalog, request)[0]


@pytest.mark.parametrize(
    ("end_points", "leaves", "spines", "cables"),
    [
        (1, 1, 0, 0),
        (36, 1, 0, 0),
        (37, 3, 2, 54),
        (54, 3, 2, 54),
        (72, 4, 2, 72),
        (108, 6, 3, 108),
        (144, 8, 6, 144),  # 4 would do by count; 6 is the next divisor of 18, for an even spread
        (324, 18, 9, 324),
        (648, 36, 18, 648),
    ],
)
def test_non_blocking_tree_of_36_port_switches(end_points, leaves, spines, cables):
    """Switch catalogue "tw-switch-cat", topology section (18 down, 18 up), counted out for the published sizes."""
    tree = fat_tree(end_points, 36)
    assert (tree.leaves, tree.spines, tree.leaf_spine_cables) == (leaves, spines, cables)
    assert tree.fits


def test_648_ports_are_the_two_level_limit():
    """648 ports: size of the CS7500 director ("cs7500-man", title), inside 36 leaves of 18 ("reg-648")."""
    assert fat_tree([648, 649], 36).levels.tolist() == [2, 3]


def test_4096_end_points_on_36_port_switches():
    """Three levels, or directors as spines: 228 leaves of 18, 4,104 uplinks over 648-port spines, of which 7 would
    hold them and 9 is the next divisor of 18."""
    deep, wide = fat_tree(4096, 36), fat_tree(4096, 36, director_ports=648)
    assert (deep.levels, deep.leaves, deep.leaf_spine_cables) == (3, 228, 4104)
    assert deep.cores * 36 >= deep.spine_core_cables == 13 * 18 * 18  # 13 pods of 18 spines with 18 links up
    assert (wide.levels, wide.leaves, wide.spines, wide.cores) == (2, 228, 9, 0)


@pytest.mark.parametrize("ports", [4, 8, 24, 36, 48])
def test_three_levels_join_a_quarter_of_the_cube(ports):
    """Al-Fares et al., SIGCOMM 2008, section 3: k pods of k/2 + k/2 switches, (k/2)^2 cores, k^3/4 hosts."""
    tree = fat_tree([ports**3 // 4, ports**3 // 4 + 1], ports)
    assert tree.fits.tolist() == [True, False]
    assert (tree.leaves[0], tree.spines[0], tree.cores[0]) == (ports**2 // 2, ports**2 // 2, ports**2 // 4)
    assert tree.ports_free[0] == 0


def test_back_end_of_f800_is_two_switches_and_leaf_spine_above_32_nodes(catalog):
    """ "infohub-vxblock", back end: up to 32 nodes at 40GbE flat. "h16346": two separate networks."""
    platform = platform_of(catalog, "c4140", "isilon-f800", "edr")
    back = next(
        net
        for net in quantities(platform, [4, 4], [32, 36], catalog=catalog).networks
        if net.role == "storage back end"
    )
    assert back.leaves.tolist()[0] == 2
    assert back.spines.tolist()[0] == 0
    assert back.spines.tolist()[1] > 0
    assert back.leaves.tolist()[1] % 2 == 0


def test_iris_cluster_of_the_university_of_luxembourg():
    """ "ulhpc", iris interconnect: 12 leaves of 24 nodes and 12 uplinks, 6 spines. With 24 nodes a leaf that is 2:1.

    Four spines would hold the 144 uplinks; iris has six, which leaves 12 ports of each spine free.
    """
    tree = fat_tree(12 * 24, 36, oversubscription=2)
    assert (tree.leaves, tree.leaf_spine_cables) == (12, 144)
    assert tree.oversubscription == 2
    assert tree.spines == 4


@pytest.mark.parametrize(("nodes", "links"), [(4, 3), (8, 6), (12, 9), (16, 12)])
def test_gateway_uplinks(nodes, links):
    """ "dell-ready-ai-nvidia-2018", page 27: three FDR links for four nodes at 40 Gbit/s; the rest by its rule."""
    assert gateway_uplinks(nodes) == links


def test_one_gateway_holds_20_nodes():
    """36 ports of an SX6036 ("sx6036-inv"), each FDR or 40GbE: 20 + ceil(20 x 40 / 54.5) = 35, 21 + 16 = 37."""
    ports = np.array([20, 21])
    assert gateways(ports, gateway_uplinks(ports)).gateways.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("nodes", "percent"),
    [(3, 33), (4, 25), (5, 20), (6, 17)],
)
def test_onefs_overhead_of_2d1n(nodes, percent):
    """ "emc-overhead-15", column +2d:1n; printed as whole per cent."""
    assert 100 * onefs_overhead_fraction(nodes) == pytest.approx(percent, abs=0.5)


@pytest.mark.parametrize(
    ("hosts", "spare", "data", "share", "usable"),
    [(10, 1, 6, 0.9, 6.075e12), (20, 2, 16, 0.9, 14.4e12), (20, 2, 16, 0.8, 12.8e12), (10, 2, 3, 0.8, 3.84e12)],
)
def test_weka_usable_bytes(hosts, spare, data, share, usable):
    """Formula of "weka-319" and "weka-docs", capacity pages, on 1 TB a host, parity 2."""
    assert weka_usable_bytes(1e12, hosts, data, 2, spare, share) == pytest.approx(usable, rel=1e-12)


def test_head_node_nfs_holds_120_tb(catalog):
    """ "dell-ready-ai-nvidia-2018": 12 x 12 TB in RAID 50 with two parity drives."""
    assert usable_bytes(catalog.storage["head-node-nfs"], 0, 0) == 120e12


def test_nine_dgx1_fill_one_edr_switch(catalog):
    """ "mlperf-v0.6": four EDR ports a server; 36 / 4 = 9."""
    platform = platform_of(catalog, "dgx-1", "dgx1-ssd", "edr")
    counted = quantities(platform, [9], [0], catalog=catalog)
    heads = 1  # the head node takes a 37th port
    assert counted.networks[0].end_points == 36 + heads


def test_dgx1_with_f800_on_ethernet(catalog):
    """ "dell-ai-benchmark-util": nine DGX-1 with four ports, eight nodes with two addresses: 52 ports."""
    platform = platform_of(catalog, "dgx-1", "isilon-f800", "100gbe")
    fabric = quantities(platform, [9], [8], catalog=catalog).networks[0]
    assert fabric.end_points == 52 + 1  # and one port of the head node
    assert fabric.leaves > 1


def test_dell_design_with_four_nodes(catalog):
    """ "dell-ready-ai-nvidia-2018": S3048-ON, SB7800 and SX6036, three FDR links, four 40GbE links, one head node."""
    platform = platform_of(catalog, "c4140", "isilon-f800", "edr")
    counted = slice_row(quantities(platform, [4], [4], catalog=catalog), 0)
    count = {part.role: (part.item, int(part.quantity[0])) for part in counted.components}
    assert count["GPU server"] == ("c4140", 4)
    assert count["head node"] == ("r740xd", 1)
    assert count["storage chassis"] == ("isilon-f800", 1)
    assert count["compute leaf switch"] == ("sb7800", 1)
    assert count["gateway"] == ("sx6036", 1)
    assert count["gateway uplink cable"][1] == 3
    assert count["storage cable"][1] == 4
    assert count["back-end cable"][1] == 8  # h16346: one port into each of two networks
    assert count["management switch"] == ("s3048-on", 1)


def test_32_nodes_fill_the_edr_switch_of_the_dell_design(catalog):
    """Facts 3.4: 36 ports - 1 head node - 3 gateway links = 32 compute nodes."""
    platform = platform_of(catalog, "c4140", "isilon-f800", "edr")
    fabric = quantities(platform, [32, 33], [4, 4], catalog=catalog).networks[0]
    assert fabric.leaves.tolist() == [1, 3]


def test_four_dgx1_on_one_pdu(catalog):
    """Facts 14.5: four DGX-1 at 3.5 kW (14.0 kW) on a feed of 17.3 kW or of 16.56 kW (24 A at 230 V), not five."""
    pdu = catalog.pdus["ap8886"]
    for power_w in (None, 17.3e3):
        limits = rack_limits(catalog.racks["ar3300"], pdu, power_w)
        assert fit_per_rack(device_needs(catalog.servers["dgx-1"], pdu, "2N"), limits.holds) == 4


def test_a_dgx_pod_fits_one_rack_in_units_and_not_on_one_feed(catalog):
    """ "xenon-pod", "delta-pod": nine DGX-1, twelve storage servers and three switches in one 42U rack of 35 kW.

    The storage servers and switches are taken as 1U; nine DGX-1 alone draw 31.5 kW, four fit a feed of 17.3 kW.
    """
    rack, pdu = catalog.racks["ar3300"], catalog.pdus["ap8886-32a"]
    dgx1 = device_needs(catalog.servers["dgx-1"], pdu, "2N")
    small = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    pod = [
        RackClass("switch", "switch", np.array([3]), small),
        RackClass("storage server", "storage", np.array([12]), small),
        RackClass("GPU server", "dgx-1", np.array([9]), dgx1),
    ]
    (whole,) = place(pod, rack_limits(rack, pdu, 35e3, pod))
    assert sum(count for _, _, count in whole.devices) == 3 + 12 + 9
    spread = place(pod, rack_limits(rack, pdu, 17.3e3, pod))
    assert [{role: count for role, _, count in fill.devices}["GPU server"] for fill in spread] == [4, 4, 1]


def test_ten_dgx1_need_a_fat_tree():
    """ "mlperf-v0.6": four EDR ports a server; nine fill a 36-port switch to the last port, ten do not fit."""
    tree = fat_tree([9 * 4, 10 * 4], 36)
    assert tree.levels.tolist() == [1, 2]
    assert tree.ports_free[0] == 0


def test_power_of_a_dgx_pod_rack(catalog):
    """Facts 14.5: 35 kW takes more than two feeds of 17.3 kW; 31.5 kW takes two units of 22.0 kW on each side."""
    pdu = catalog.pdus["ap8886-32a"]
    dgx1 = RackClass("GPU server", "dgx-1", np.array([9]), device_needs(catalog.servers["dgx-1"], pdu, "2N"))
    strong = rack_limits(catalog.racks["ar3300"], pdu, 35e3, [dgx1])
    assert strong.pdus(31.5e3) == 2
    assert rack_limits(catalog.racks["ar3300"], catalog.pdus["ap8886"], 35e3, [dgx1]).pdus(35e3) > 2


@pytest.mark.parametrize("room", [{"load_kg": -30.0}, {"rack_power_w": 1e9}])
def test_a_rack_that_holds_nothing_is_told_so(catalog, room):
    """A floor that does not carry the rack itself, or PDUs that take more units than it has, leave 0, never less."""
    pdu = catalog.pdus["ap8886-32a"]
    pdu = pdu.model_copy(update={"height_u": catalog.servers["dgx-1"].height_u})  # one that lies in the rack
    one = RackClass("GPU server", "dgx-1", np.array([9]), device_needs(catalog.servers["dgx-1"], pdu, "2N"))
    limits = rack_limits(catalog.racks["ar3300"], pdu, classes=[one], **room)
    assert limits.holds.min() == 0
    assert not count_racks([one], limits, 1).holds_all[0]


def test_heat(catalog):
    """Facts 14.6 with the 3.41 of "hp-btu": DGX-1 11,935 BTU/h, nine 107,415, an F800 chassis 4,433 and 6,015."""
    for power_w, btu_per_h in ((3500, 11_935), (31_500, 107_415), (1300, 4433), (1764, 6015)):
        assert heat_btu_per_h(power_w) == pytest.approx(btu_per_h, rel=1e-3)  # 3.41 for 3.412
