"""Subnets and addresses of a building plan."""

from ipaddress import IPv4Address, IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError
from sizer.physical.networks.addresses import PRIVATE_SPACE, AddressPlan, address_plan, allocated
from sizer.physical.notes import PlanNote, PlanNoteKind
from tests.factories.plans import DESIGNS, answer, laid_out


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
        # Their ten controllers, eight storage nodes, four leaves, two spines, two back-end and one management switch.
        "Out-of-band management": 27,
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
