"""Growth of a laid-out design: which links move, and what has room."""

from types import SimpleNamespace
from typing import Any

import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.physical.layout import _by_outlets, server_room, servers_by_ports
from sizer.physical.platforms import platforms
from sizer.physical.quantities import existing_use, quantities
from sizer.physical.roles import NetworkRole
from sizer.sizing.growth.purchase_planner import moved_links
from sizer.workload.request import SizingRequest
from tests.factories import examples
from tests.factories.plans import CATALOG, laid_out


def test_a_switch_with_free_ports_takes_the_next_sizes_without_a_move():
    """Dell guide: one SB7800 joins up to 32 C4140 beside head node and three gateway links (facts 3.4)."""
    plan = laid_out("c4140", "isilon-f800", "edr", 8, 4)
    assert moved_links(plan, 12, 8) == moved_links(plan, 16, 8) == ()


def test_leaving_one_switch_moves_what_hangs_on_its_uplink_ports():
    """36 ports, 18 of them uplinks in a tree: of 30 + 1 links those beyond the first 18 ports move, and no other."""
    plan = laid_out("c4140", "nfs-generic", "edr", 30, 0)
    moved = moved_links(plan, 45, 0)
    used = [link for link in plan.connections if link.network.network == "compute fabric"]
    beyond = {f"{link.a.device} {link.a.port}" for link in used if int(link.z.port) > 18}
    assert len(beyond) == 30 + 1 - 18  # servers and head node
    fabric = [link for link in moved if link.network.network == "compute fabric"]
    assert {f"{link.a.device} {link.a.port}" for link in fabric} == beyond


def test_room_kept_for_servers_is_used_without_a_move():
    plan = laid_out("dgx-1", "dgx1-ssd", "edr", 8, 0, spare_servers=4)
    assert moved_links(plan, 12, 0) == ()


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
        # 105 DGX H100 with two storage ports each are 210 on eight leaves of 27 ports down: (216 - 210) / 2.
        # The two leaves of the storage have free ports too, which no server takes.
        ("llama-70b-dgx-h100", 2, 3),
        # 8 NVL72 of 18 trays with two ports each are 288 on eight leaves of 36: full, whatever the storage leaves have.
        ("llama-405b-gb200-nvl72", 36, 0),
    ],
)
def test_ports_of_storage_leaves_take_no_server(name: str, ports_each: int, servers: int) -> None:
    plan = examples.sized(name).design.plan
    assert servers_by_ports(plan, NetworkRole.STORAGE, ports_each) == servers


def test_free_outlets_bound_the_servers_of_a_rack():
    """Twelve C19 on each PDU, eight in use on side A: a server with two inlets on each side comes twice, by hand."""

    def feed(side: str, used: int) -> Any:
        return SimpleNamespace(side=side, outlets=(("c14", 24), ("c20", 12)), used=lambda kind: used * (kind == "c20"))

    server, pdu = CATALOG.servers["hpe-dl384"], CATALOG.pdus["px3-5878i2r"]
    rack: Any = SimpleNamespace(redundancy="2N", is_delivered=False, feeds=(feed("A", 8), feed("B", 6)))
    assert server.power_inlets.value == 4
    assert _by_outlets(rack, server, pdu) == 2


def asked(servers: list[str], fabric: str = "ndr") -> SizingRequest:
    work = {"dnn": "llama-3-8b", "method": "continued", "tokens": 1e9, "target": {"tokens_per_s": 1e5}}
    return SizingRequest.from_dict(
        {
            "workload": [work],
            "date": "2026-11-29",
            "existing": {"servers": {"dgx-h100": 16}},
            "platforms": {"servers": servers, "fabrics": [fabric], "storage": ["ai400x2-turbo"]},
        }
    )


@pytest.mark.parametrize(
    ("server", "gpu", "there"),
    [("as-8125gs-tnhr", "h100-sxm-80gb", 16), ("as-8125gs-tnhr", "h200-sxm-141gb", 0), ("as-a126gs-tnbr", "b200", 0)],
)
def test_only_the_same_gpus_are_extended(server: str, gpu: str, there: int) -> None:
    request = asked([server])
    found = [one for one in platforms(shipped_catalog(), request) if one.server.id == server and gpu in one.gpu.id]
    assert {one.servers_there(request.existing.servers) for one in found} == {there}


def test_what_is_bought_is_the_rest() -> None:
    """40 servers of which 16 are there: 24 are bought, and the 16 keep their own name."""
    catalog, request = shipped_catalog(), asked(["as-8125gs-tnhr"])
    platform = next(one for one in platforms(catalog, request) if one.extends)
    parts = quantities(platform, 40, 2, catalog=catalog, existing=request.existing)
    use = existing_use(platform, parts.components, request.existing, catalog)
    assert use is not None
    assert [(one.item, one.count) for one in use.used if one.item == "dgx-h100"] == [("dgx-h100", 16)]
    assert [(one.item, one.count) for one in use.added if one.item == "as-8125gs-tnhr"] == [("as-8125gs-tnhr", 24)]
    assert not [one for one in use.idle if one.item == "dgx-h100"]
