"""Networks and their addresses."""

from collections import Counter
from ipaddress import IPv4Address, IPv4Network

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, project
from sizer.physical.losses import Losses
from sizer.physical.networks.addresses import PRIVATE_SPACE, AddressPlan, address_plan, allocated
from sizer.physical.networks.fat_tree import fat_tree, gateways, uplinked_leaves
from sizer.physical.networks.rails import rail_cores
from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.growth.purchase_planner import moved_links
from tests.factories import examples
from tests.factories.plans import DESIGNS, answer, laid_out
from tests.published.test_designs import superpod


def test_no_end_points_need_no_switch():
    tree = fat_tree(0, 36)
    assert (tree.leaves, tree.spines, tree.ports_used, tree.ports_free) == (0, 0, 0, 0)


def test_arrays_of_any_shape():
    """Three levels of 4-port switches join 4^3 / 4 = 16 end points (Al-Fares et al., 2008)."""
    assert fat_tree(np.array([[1, 16], [17, 0]]), 4).fits.tolist() == [[True, True], [False, True]]


def test_flat_limit_below_the_ports():
    """A back end stays flat up to 32 nodes; the 33rd takes two leaves of 24 + 24 and a spine of 48."""
    tree = fat_tree([32, 33], 48, flat_ports=32)
    assert tree.leaves.tolist() == [1, 2]
    assert tree.spines.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 36), "end_points must be at least 0, got -1"),
        ((1, 1), "ports_per_switch must be at least 2, got 1"),
        ((1, 36, 0.5), "oversubscription must be at least 1, got 0.5"),
        ((1, 36, float("nan")), "oversubscription must be at least 1, got nan"),
        ((1, 36, 1.0), "uplink_ratio must be at least 1, got 0.5"),
    ],
)
def test_refuses(arguments, message):
    more = {"uplink_ratio": 0.5} if "uplink_ratio" in message else {}
    with pytest.raises(ValueError, match=message):
        fat_tree(*arguments, **more)


def test_leaves_with_uplinks():
    """48 x 10GbE with 6 x 40GbE: one leaf for 48; beyond, 24 a leaf at 1:1 (24 x 10 = 6 x 40)."""
    tree = uplinked_leaves([48, 49, 97], 48, 6, 4.0, 32)
    assert tree.leaves.tolist() == [1, 3, 5]
    assert tree.spines.tolist() == [0, 1, 1]  # 5 leaves x 6 uplinks = 30 of 32 ports
    assert tree.leaf_spine_cables.tolist() == [0, 18, 30]


def test_storage_on_the_spine():
    """Two leaves bring 12 uplinks; 20 storage ports fill one spine of 32, the 21st takes a second."""
    tree = uplinked_leaves([49, 49], 48, 6, 4.0, 32, [20, 21], oversubscription=2)
    assert tree.leaves.tolist() == [2, 2]
    assert tree.spines.tolist() == [1, 2]


def test_gateways_share_evenly():
    held = gateways([0, 40], [0, 30], 36)
    assert held.gateways.tolist() == [0, 2]  # 20 + 15 = 35 on each


@pytest.mark.parametrize(
    ("servers", "nodes", "leaves", "most"),
    [
        (10, 8, 4, 1),  # four ports on four leaves
        (9, 4, 3, 2),  # four ports on three leaves: two of them share one
        (60, 32, 20, 1),  # 60 x 4 + 32 x 2 + a head node = 305 end points, 16 on a leaf
    ],
)
def test_no_leaf_has_more_ports_of_a_server_than_an_even_share(servers, nodes, leaves, most):
    """DGX-1: four 100 Gbit/s ports (data sheet). Pigeonhole: four ports on L leaves put ceil(4 / L) on some leaf."""
    plan = laid_out("dgx-1", "isilon-f800", "100gbe", servers, nodes)
    losses = Losses(plan)
    names = losses.named(Role.COMPUTE_LEAF)
    assert len(names) == leaves
    ports = Counter((link.a.device, link.z.device) for link in losses.links(Role.GPU_SERVER))
    assert max(ports.values()) == most
    for leaf in names:
        remaining = losses.without([leaf])
        assert remaining.n_servers == servers
        assert remaining.exchange_share == pytest.approx((4 - most) / 4)


def test_groups_of_leaves_keep_the_same_port_of_near_servers_together():
    """Twelve leaves for 40 DGX-1: within a group of four, leaf k has port k of each server, as rails have."""
    plan = laid_out("dgx-1", "dgx1-ssd", "100gbe", 40, 0)
    links = Losses(plan).links(Role.GPU_SERVER)
    first = [link for link in links if link.a.device in {"gpu-001", "gpu-002", "gpu-003"}]
    by_port = {}
    for link in first:
        by_port.setdefault(link.a.port, set()).add(link.z.device)
    assert len(by_port) == 4
    assert all(len(switches) == 1 for switches in by_port.values())


def test_servers_of_one_port_fill_leaf_after_leaf():
    """C4140 with one EDR port: 31 ends on two leaves of 18; a leaf full of neighbours keeps cables short."""
    plan = laid_out("c4140", "nfs-generic", "edr", 40, 0)
    on = {link.a.device: link.z.device for link in Losses(plan).links(Role.GPU_SERVER)}
    assert len({on[f"gpu-{n:03d}"] for n in range(1, 17)}) == 1


def test_growth_moves_no_link_of_a_standing_server():
    """Further leaves take the ports of further servers; only links between switches are laid anew."""
    plan = laid_out("dgx-1", "isilon-f800", "100gbe", 9, 4)
    moved = [link.a.device for link in moved_links(plan, 14, 8)]
    assert moved
    assert all(device.startswith("leaf-") for device in moved)


def test_only_the_storage_runs_at_the_rate_of_its_ports():
    """AI400X2 has ports of HDR, DGX H100 and QM9700 of NDR in OSFP cages, into which no HDR cable of two QSFP56 fits.

    A splitter joins the storage; servers and switches are joined at 400 Gbit/s.
    """
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["ndr"]},
            "resilience": {"keeps_targets_without": ["switch"]},
        }
    )
    design = project(asked, examples.catalog(), server="dgx-h100", servers=20, storage="ai400x2", storage_nodes=1)
    kinds = {run.role: run.kind.id for run in (cable.run for cable in design.plan.cables)}
    assert kinds[Role.STORAGE_CABLE] == "hdr"
    assert kinds[Role.SERVER_STORAGE_CABLE] == kinds[Role.STORAGE_UPLINK] == "ndr"
    assert not [line.item for line in design.bill.lines if line.item.startswith("hdr-")]


@pytest.mark.parametrize(("units", "leaves", "spines", "cores"), [(6, 48, 80, 24), (7, 56, 80, 28)])
def test_three_levels_of_40_port_switches(units, leaves, spines, cores):
    """Units of 20 servers with eight 200 Gbit/s ports, as DGX A100 has them, on 40-port switches. By hand:

    A rail has one leaf a unit, with 20 links up. Its spines take 20 links each, so 6 or 7 would hold them; a leaf's 20
    links divide evenly over 10. 8 rails x 10 = 80 spines; 48 and 56 x 20 links up fill 960 / 40 = 24 and 28 cores.
    """
    found = single_fabric(FabricAsked(nodes=20 * units, ports=40))
    assert (found.leaves, found.spines, found.cores) == (leaves, spines, cores)
    assert found.spine_core_cables == found.leaf_spine_cables == 20 * leaves


@given(st.integers(1, 300), st.integers(2, 8), st.sampled_from([(8, 16), (20, 40), (32, 64), (72, 144), (22, 64)]))
def test_nothing_is_oversubscribed_and_no_switch_has_too_many_links(units, rails, split):
    up, ports = split
    found = rail_cores(units * rails, rails, up, ports)
    if found is None:
        return
    links = found.spine_links(up)
    assert up % found.spines == 0
    assert found.zones * found.zone_leaves >= units
    assert links <= ports // 2
    spines_of_a_core = found.groups * (found.spines // found.core_groups)
    assert links % found.cores_each == 0
    assert spines_of_a_core * (links // found.cores_each) <= ports
    # As many links up from the spines as down to the fullest groups of leaves.
    assert found.groups * found.spines * links >= units * rails * up


@pytest.mark.parametrize("nodes", [300, 512, 1500])
def test_links_of_a_rail_meet_below_the_cores(nodes):
    """RA-11333-001 V11: "rail-optimised to the top layer": leaves of one rail share spines, those of two rails none."""
    design = superpod(nodes, managers=False)
    leaves = next(net for net in design.quantities.networks if net.role is NetworkRole.COMPUTE).leaves[0]
    runs = [cable.run for cable in design.plan.cables if cable.run.role is Role.COMPUTE_UPLINK]
    up = next(run for run in runs if np.unique(run.a_device).size == leaves)
    rails_of_spine = {}
    first = up.a_device.min()
    for leaf, spine in zip(up.a_device.tolist(), up.b_device.tolist(), strict=True):
        rails_of_spine.setdefault(spine, set()).add((leaf - first) % 8)
    assert all(len(rails) == 1 for rails in rails_of_spine.values())
    ends = [(device, port) for run in runs for device, port in zip(run.a_device, run.a_port, strict=True)]
    ends += [(device, port) for run in runs for device, port in zip(run.b_device, run.b_port, strict=True)]
    assert len(ends) == len(set(ends))
    assert max(port for _, port in ends) < 64


def test_a_pair_of_switches_keeps_each_rail_on_one_of_them():
    """Room for six servers is 48 links, 24 and 24 cables to the peer on each of two 64-port switches: 40 ports stay
    for four rails, ten for each; the twelve of a leaf that is three to one oversubscribed would not fit."""
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["ndr"]},
            "fabric": {"oversubscription": 3.0, "spare_servers": 1},
            "resilience": {"keeps_targets_without": ["switch"]},
        }
    )
    design = project(asked, examples.catalog(), server="dgx-h100", servers=5, storage="ai400x2", storage_nodes=1)
    run = next(cable.run for cable in design.plan.cables if cable.run.role is Role.COMPUTE_CABLE)
    leaves = run.b_device.reshape(5, 8)
    assert (leaves == leaves[0]).all()


def check(found: AddressPlan) -> None:
    """What holds for every plan: no address twice, each in its subnet, none of them taken by the subnet itself."""
    subnets = {subnet.name: subnet for subnet in found.subnets}
    assert len(subnets) == len(found.subnets)
    assert len({one.address for one in found.addresses}) == len(found.addresses)
    for one in found.addresses:
        home = subnets[one.subnet]
        assert one.address in home.network
        assert one.address not in (home.network.network_address, home.network.broadcast_address, home.gateway)
    for subnet in found.subnets:
        assert subnet.network.subnet_of(PRIVATE_SPACE)
        assert subnet.n_used == sum(one.subnet == subnet.name for one in found.addresses)
        # Twice the ports of today, router, network and broadcast fit; the growth promised is at least that.
        assert subnet.n_after_growth >= 2 * subnet.n_used
        assert subnet.network.num_addresses >= subnet.n_after_growth + (subnet.gateway is not None) + 2
    for number, subnet in enumerate(found.subnets):
        assert not any(subnet.network.overlaps(other.network) for other in found.subnets[number + 1 :])


@pytest.mark.parametrize("name", DESIGNS)
def test_addresses_are_unique_inside_their_subnets_and_leave_room(name):
    plan = answer(name).design.plan
    found = address_plan(plan)
    check(found)
    assert found == address_plan(plan)
    # By the plan itself: every end of a link that is no switch, and each switch once.
    switches = {d.name for d in plan.devices if d.role.forwards}
    ends = [(k.a.device, k.a.port) for k in plan.connections if k.a.device not in {*switches, "customer LAN"}]
    have = [(one.device, one.port) for one in found.addresses]
    assert sorted(have for have in have if have[0] not in switches) == sorted(ends)
    assert sorted(device for device, _ in have if device in switches) == sorted(switches)


@settings(max_examples=12)
@given(
    st.integers(1, 1000),
    st.sampled_from(
        [("dgx-1", "isilon-f800", "100gbe"), ("c4140", "isilon-f800", "edr"), ("apollo-6500", "wekaio", "edr")]
    ),
    st.integers(1, 4),
    st.integers(0, 300),
)
def test_any_size_has_room(servers, parts, chassis, spare):
    check(address_plan(laid_out(*parts, servers, 4 * chassis + 2 * (parts[1] == "wekaio"), spare_servers=spare)))


def test_nine_dgx1_have_the_subnets_counted_by_hand():
    """9 DGX-1 with 4 fabric ports, 2 F800 chassis of 4 nodes with 2 ports and one head node: 36 + 16 + 1 = 53 ends."""
    found = address_plan(laid_out("dgx-1", "isilon-f800", "100gbe", 9, 8))
    by_name = {subnet.name: subnet for subnet in found.subnets}
    assert list(by_name) == [
        "Compute fabric",
        "Storage back end, a",
        "Storage back end, b",
        "In-band management",
        "Out-of-band management",
    ]
    assert {name: subnet.n_used for name, subnet in by_name.items()} == {
        "Compute fabric": 53,
        "Storage back end, a": 8,
        "Storage back end, b": 8,
        "In-band management": 10,  # nine servers and the head node
        # Their ten controllers, eight storage nodes, four leaves, two spines, two back-end and one management switch;
        # six PDUs of three racks.
        "Out-of-band management": 27 + 6,
    }
    # 2 x 53 + router + 2 = 109 fit the 256 of a /24; they follow one another.
    assert [str(subnet.network) for subnet in found.subnets] == [f"10.0.{n}.0/24" for n in range(5)]
    assert [subnet.vlan for subnet in found.subnets] == [10, 0, 0, 40, 50]
    assert by_name["Compute fabric"].gateway == IPv4Address("10.0.0.1")
    assert by_name["Storage back end, a"].gateway is None
    first = [one for one in found.addresses if one.device == "gpu-001" and one.subnet == "Compute fabric"]
    assert [one.port for one in first] == ["fabric-1", "fabric-2", "fabric-3", "fabric-4"]
    assert [int(one.address) - int(first[0].address) for one in first] == [0, 1, 2, 3]


def test_rails_apart_are_subnets_of_their_own_and_only_the_first_has_a_router():
    found = address_plan(answer("rails").design.plan)
    rails = [subnet for subnet in found.subnets if subnet.name.startswith("Compute fabric")]
    assert len(rails) == 8  # DGX-2H: eight EDR ports for compute (mlperf-v0.7)
    assert [subnet.gateway is not None for subnet in rails] == [True, *7 * [False]]
    # Five servers, head node and four storage ports on rail 1; two more servers are planned, fewer than as many again.
    assert (rails[0].n_used, rails[0].n_after_growth, rails[1].n_used) == (10, 20, 5)


def test_infiniband_has_no_vlan_and_the_front_end_behind_the_gateway_is_a_subnet():
    found = {subnet.name: subnet for subnet in address_plan(answer("dell").design.plan).subnets}
    assert found["Compute fabric"].purpose == PlanNote(PlanNoteKind.GRADIENTS_AND_FILES_OVER_IPOIB)
    assert found["Compute fabric"].vlan == 0
    assert found["Compute fabric"].n_used == 5  # four C4140 and the head node; uplinks of the gateway have none
    assert (found["Storage front end"].n_used, found["Storage front end"].vlan) == (4, 20)


def test_servers_to_come_are_counted_where_they_are_more_than_today():
    """One port a C4140: 4 servers and a head node today, 250 servers kept room for; 255 + 3 exceed the 256 of a /24."""
    found = address_plan(laid_out("c4140", "isilon-f800", "edr", 4, 4, spare_servers=250)).subnets[0]
    assert (found.n_used, found.n_after_growth, found.network.prefixlen) == (5, 255, 23)


def test_a_server_on_the_customers_lan_has_no_subnets():
    assert address_plan(answer("alone").design.plan) == AddressPlan((), ())


def test_networks_are_aligned_and_end_with_the_space():
    assert [str(n) for n in allocated([20, 300, 20], IPv4Network("10.0.0.0/8"))] == [
        "10.0.0.0/24",
        "10.0.2.0/23",  # 300 + 2 need 512 addresses, which start at a multiple of 512
        "10.0.4.0/24",
    ]
    assert allocated([254], IPv4Network("192.168.0.0/24")) == (IPv4Network("192.168.0.0/24"),)
    for needs in ([255], [200, 10]):
        with pytest.raises(InfeasibleError, match=r"do not fit 192\.168\.0\.0/24, which holds 256"):
            allocated(needs, IPv4Network("192.168.0.0/24"))
