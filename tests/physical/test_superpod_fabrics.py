"""Compute fabrics of the DGX H100 SuperPOD guide (NVIDIA RA-11333-001 V11, 2023): 64-port switches, 8 links a server.

Every server has one link to the leaf of each GPU index; the leaves of a unit of 32 servers are the tree's leaves in
their order, so that counting the tree counts the rails.
"""

import pytest

from sizer.physical.networks.single_fabric import single_fabric

RAILS, PORTS, UNIT = 8, 64, 32
# Table 4: servers, leaves, spines, cables to servers and the two subnet managers, cables between leaves and spines.
WITH_SUBNET_MANAGERS = [(31, 8, 4, 252, 256), (63, 16, 8, 508, 512), (95, 24, 16, 764, 768), (127, 32, 16, 1020, 1024)]
# Table 3: servers, leaves, spines, cores, and cables of each tier.
WITHOUT = [
    (128, 32, 16, 0, 1024, 1024, 0),
    (256, 64, 32, 0, 2048, 2048, 0),
    (512, 128, 128, 64, 4096, 4096, 4096),
    (1024, 256, 256, 128, 8192, 8192, 8192),
    (2048, 512, 512, 256, 16384, 16384, 16384),
]


@pytest.mark.parametrize(("servers", "leaves", "spines", "to_servers", "between"), WITH_SUBNET_MANAGERS)
def test_units_with_their_subnet_managers(servers, leaves, spines, to_servers, between):
    # A full unit has no port left: each pod gives up one server for the four ports of two subnet managers.
    found = single_fabric(RAILS * servers + 4, ports=PORTS)
    assert (found.leaves, found.spines, found.cores) == (leaves, spines, 0)
    assert (found.end_point_cables, found.leaf_spine_cables) == (to_servers, between)
    assert found.oversubscription == 1


@pytest.mark.parametrize(("servers", "leaves", "spines", "cores", "to_servers", "between", "above"), WITHOUT)
def test_larger_pods_up_to_three_tiers(servers, leaves, spines, cores, to_servers, between, above):
    found = single_fabric(RAILS * servers, ports=PORTS)
    assert (found.leaves, found.spines, found.cores) == (leaves, spines, cores)
    assert (found.end_point_cables, found.leaf_spine_cables, found.spine_core_cables) == (to_servers, between, above)
    # One leaf for each of the eight rails of a unit.
    assert found.leaves == RAILS * servers // UNIT


def test_the_bill_of_127_servers():
    """Tables 7 and 8: 48 compute switches, 2,040 fibres, and a module in each of the 32 cages of every switch."""
    found = single_fabric(RAILS * 127 + 4, ports=PORTS)
    switches = found.leaves + found.spines
    assert switches == 48
    # The four ports of the subnet managers have cables of their own.
    assert found.end_point_cables - 4 + found.leaf_spine_cables == 2040
    assert switches * PORTS // 2 == 1536
    # Two ports share a module in a server, too.
    assert RAILS * 127 // 2 == 508
