"""Room for further servers: leaf ports, rack units and power, each by hand."""

import pytest

from sizer.physical.roles import NetworkRole
from sizer.physical.server_room import server_room, servers_by_ports
from tests.factories import examples
from tests.factories.plans import laid_out


def test_free_ports_of_spines_take_no_server():
    """Nine DGX-1 (four 100 GbE ports each) with four F800 nodes (two ports each) and a head node.

    36 + 8 + 1 = 45 end points on leaves of 32 ports, 16 of them uplinks: three leaves have 48 ports for end points,
    3 of them free, less than the 4 ports of one DGX-1. The spines have 2 x 32 - 48 = 16 free ports besides.
    """
    plan = laid_out("dgx-1", "isilon-f800", "100gbe", 9, 4)
    room = server_room(plan)
    assert room.leaf_ports_free == 3
    assert room.by_ports == 0
    assert room.servers == 0


def test_a_single_switch_takes_servers_until_it_is_full():
    """SB7800 of 36 ports: 8 C4140 of one port, one head node and three gateway links leave 24."""
    room = server_room(laid_out("c4140", "isilon-f800", "edr", 8, 4))
    assert room.leaf_ports_free == 36 - 8 - 1 - 3
    assert room.by_ports == 24


def test_a_full_leaf_of_a_tree_takes_none():
    """18 ports down on each leaf of 36: 53 C4140 and one head node fill three leaves; the next takes a fourth."""
    room = server_room(laid_out("c4140", "nfs-generic", "edr", 53, 0))
    assert room.leaf_ports_free == 0
    assert room.by_ports == 0


@pytest.mark.parametrize(
    ("name", "ports_each", "servers"),
    [
        # 105 DGX H100 with two storage ports each are 210 on six leaves of 36 ports down and 28 up: (216 - 210) / 2.
        # The two leaves of the storage have free ports too, which no server takes.
        ("llama-70b-dgx-h100", 2, 3),
        # 8 NVL72 of 18 trays with two ports each are 288 on eight leaves of 36: full, whatever the storage leaves have.
        ("llama-405b-gb200-nvl72", 36, 0),
    ],
)
def test_ports_of_storage_leaves_take_no_server(name: str, ports_each: int, servers: int) -> None:
    plan = examples.sized(name).design.plan
    assert servers_by_ports(plan, NetworkRole.STORAGE, ports_each) == servers
