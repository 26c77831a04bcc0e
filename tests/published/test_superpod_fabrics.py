"""Fabrics that NVIDIA's reference architectures print, from the rules that ``sizer fabric`` uses."""

import json

import pytest
from typer.testing import CliRunner

from sizer.cli import app
from sizer.physical.networks.single_fabric import FabricAsked, single_fabric


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


def test_the_command_answers_in_json():
    run = CliRunner().invoke(app, ["fabric", "--nodes", "31", "--ufm-ports", "4", "--ports", "64", "--json"])
    assert run.exit_code == 0
    said = json.loads(run.stdout)
    assert (said["kind"], said["leaves"], said["spines"], said["end_point_cables"]) == ("fabric", 8, 4, 252)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "state either END_POINTS or --nodes"),
        (["10", "--nodes", "4", "--ports", "64"], "state either END_POINTS or --nodes"),
        (["--nodes", "40", "--unit", "33", "--ports", "64"], "--unit = 33"),
        (["--nodes", "4", "--links-per-node", "8", "--rails", "3", "--ports", "64"], "must divide"),
        (["--nodes", "4", "--storage-ports", "4", "--ports", "64"], "--network storage"),
    ],
)
def test_what_cannot_be_meant_is_named(asked, words):
    run = CliRunner().invoke(app, ["fabric", *asked])
    assert run.exit_code != 0
    assert words in (run.stderr + str(run.exception))
