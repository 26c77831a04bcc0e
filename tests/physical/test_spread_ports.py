"""The ports of one server spread over leaves: what the loss of a leaf takes."""

from collections import Counter

import pytest

from sizer.physical.expansion import growth
from sizer.physical.losses import Losses
from sizer.physical.roles import Role
from tests.factories.plans import laid_out


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
    moved = [link.device for step in growth(plan) for link in step.moved]
    assert moved
    assert all(device.startswith("leaf-") for device in moved)
