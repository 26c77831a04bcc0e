"""Published fabrics."""

import numpy as np
import pytest

from sizer.physical.capacity import onefs_overhead_fraction, usable_bytes, weka_usable_bytes
from sizer.physical.networks.fat_tree import fat_tree, gateway_uplinks, gateways
from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.placement import RackClass, count_racks, device_needs, fit_per_rack, place, rack_limits
from sizer.physical.racks.power import heat_btu_per_h
from sizer.workload.request import SizingRequest


def fabric(**asked):
    return single_fabric(FabricAsked(**asked))


def counts(found):
    cables = (found.end_point_cables, found.leaf_spine_cables, found.spine_core_cables)
    return (found.leaves, found.spines, found.cores, *cables)


@pytest.mark.parametrize(
    ("units", "nodes", "leaves", "spines", "to_nodes_and_ufm", "between"),
    [(1, 31, 8, 4, 252, 256), (2, 63, 16, 8, 508, 512), (3, 95, 24, 16, 764, 768), (4, 127, 32, 16, 1020, 1024)],
)
def test_compute_fabric_with_ufm(units, nodes, leaves, spines, to_nodes_and_ufm, between):
    """DGX H100 SuperPOD RA-11333-001 V11 (2023), table 4; the same rows in the DGX B200 one (RA-11334-001), table 4.

    The last unit has one node fewer, so that its leaves have ports for two appliances of two ports each.
    """
    found = fabric(nodes=nodes, links_per_node=8, unit=32, other_ports=4, ports=64)
    assert counts(found) == (leaves, spines, 0, to_nodes_and_ufm, between, 0)
    assert found.leaves == 8 * units
    assert found.oversubscription == 1


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines", "cores"),
    [
        (64, 16, 8, 0),  # B200 table only
        (128, 32, 16, 0),
        (256, 64, 32, 0),
        (512, 128, 128, 64),
        (1024, 256, 256, 128),
        (2048, 512, 512, 256),
    ],
)
def test_larger_pods(nodes, leaves, spines, cores):
    """RA-11333-001 V11, table 3, and the DGX B200 SuperPOD (RA-11334-001), component counts up to 64 units."""
    found = fabric(nodes=nodes, ports=64)
    links = 8 * nodes
    assert counts(found) == (leaves, spines, cores, links, links, links if cores else 0)


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines"), [(72, 8, 4), (144, 16, 8), (288, 32, 18), (576, 64, 36), (1296, 144, 72)]
)
def test_units_of_72_on_144_port_xdr_switches(nodes, leaves, spines):
    """DGX B300 SuperPOD with Quantum-X800 (RA-11339-001), table 3. Its last row prints 9,216 GPUs; 1,296 x 8 = 10,368.

    Four and eight units call for 16 and 32 spines; 18 and 36 are the next divisors of 72 uplinks, for an even spread.
    """
    assert counts(fabric(nodes=nodes, ports=144)) == (leaves, spines, 0, 8 * nodes, 8 * nodes, 0)


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines"), [(64, 16, 8), (128, 32, 16), (256, 64, 32), (512, 128, 64), (1024, 256, 128)]
)
def test_two_planes_of_400_gbe_on_64_switch_ports_of_800_gbe(nodes, leaves, spines):
    """DGX B300 SuperPOD with Spectrum-4 (RA-11337-001), table 3: units of 64, each GPU with 400 GbE on either plane.

    A switch runs its 64 cages as 128 ports of 400 GbE. The table counts cables of two links, one for each GPU.
    """
    found = fabric(nodes=nodes, links_per_node=16, rails=2, ports=128, links_per_cable=2)
    assert counts(found) == (leaves, spines, 0, 8 * nodes, 8 * nodes, 0)


def test_the_compute_bill_of_127_nodes():
    """RA-11333-001 V11, tables 7 and 8: 48 switches, 2,040 fibres, 1,536 and 508 modules.

    The four ports of the UFM appliances have two cables of their own (one splits in two) and four modules.
    """
    found = fabric(nodes=127, other_ports=4, ports=64, ports_per_module=2)
    assert found.switches == 48
    assert found.end_point_cables - 4 + found.leaf_spine_cables == 2040
    assert found.switch_modules == 1536  # every cage: a leaf of 31 links still takes 16 modules
    assert found.node_modules == 508


def test_the_storage_fabric_of_127_nodes():
    """RA-11333-001 V11, tables 7 and 8: 16 switches, 494 fibres, 369 switch modules, 254 modules in the nodes.

    48 cables of 2 x 200 Gbit/s bring 96 storage ports with modules of their own; nodes are oversubscribed "near 4:3",
    storage has a port up for a port down. 494 = 254 to nodes + 240 between switches.
    """
    found = fabric(
        network="storage",
        nodes=127,
        links_per_node=2,
        storage_ports=96,
        storage_link_share=0.5,
        other_ports=4,
        ports=64,
        ports_per_module=2,
    )
    assert found.switches == 16
    assert (found.leaves, found.spines) == (12, 4)
    assert 254 + found.leaf_spine_cables == 494
    assert found.oversubscription == pytest.approx(4 / 3, rel=0.01)
    # Both ends between switches, the links to nodes and four ports of the UFM appliances, two to a module.
    assert (254 + 2 * found.leaf_spine_cables + 4) // 2 == 369


def test_the_in_band_network_of_127_nodes():
    """RA-11333-001 V11, tables 7 and 8: 8 switches, 254 + 8 + 8 + 16 links, 24 leaf to core, 6 between leaves.

    Further links: 8 of management nodes, 8 of NFS storage, 2 of each of 8 out-of-band switches.
    """
    found = fabric(network="in-band", nodes=127, links_per_node=2, other_ports=8 + 8 + 2 * 8, ports=64)
    assert found.switches == 8
    assert (found.leaf_spine_cables, found.peer_cables) == (24, 6)
    assert found.end_point_cables == 254 + 8 + 8 + 16


@pytest.mark.parametrize(("nodes", "links", "modules", "peers"), [(4, 32, 16, 16), (8, 64, 32, 32)])
def test_base_pod_of_two_switches(nodes, links, modules, peers):
    """DGX BasePOD RA-11127-001 V5 (2025), table 4.2, for 4 and 8 nodes: two QM9700 connected with each other.

    Modules: 16 and 32 in the nodes, the same in the switches for these links; copper of two links between the switches:
    8 and 16. The printed count of fibres, 16 and 32, is that of modules: a fibre carries one link.
    """
    found = fabric(nodes=nodes, ports=64, pair=True, ports_per_module=2)
    assert (found.switches, found.end_point_cables, found.peer_cables) == (2, links, peers)
    assert found.node_modules == modules
    copper = fabric(nodes=nodes, ports=64, pair=True, links_per_cable=2)
    assert copper.peer_cables == modules // 2


@pytest.mark.parametrize(("nodes", "out_of_band", "management"), [(4, 1, 5), (8, 2, 5)])
def test_base_pod_in_band(nodes, out_of_band, management):
    """RA-11127-001 V5, table 4.2: two SN4600C, 2 cables between them; 2 links of each node, server, SN2201."""
    further = 2 * (out_of_band + management)
    found = fabric(network="in-band", nodes=nodes, links_per_node=2, other_ports=further, ports=64)
    assert (found.switches, found.peer_cables, found.leaf_spine_cables) == (2, 2, 0)


def test_a_partly_filled_unit():
    """RA-11333-001 V11, network fabrics: other counts of nodes get the leaves of the full unit."""
    assert fabric(nodes=40, ports=64, full_units=True).leaves == 16
    # Without it, eight nodes of a second unit share leaves by fours of their rails.
    assert fabric(nodes=40, ports=64).leaves == 8 + 2


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
