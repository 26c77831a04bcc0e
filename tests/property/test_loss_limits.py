"""What the search takes to be left after a loss is never more than what the walk over the laid-out plan finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.physical.layout import building_plan
from sizer.physical.losses import Losses
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import Role
from sizer.sizing.constraints.remaining_capacity import capacity_after
from sizer.workload.request import SizingRequest
from tests.factories.plans import CATALOG

PARTS = [
    ("dgx-1", "isilon-f800", "100gbe"),
    ("dgx-1", "isilon-f800", "edr"),
    ("dgx-1", "dgx1-ssd", "edr"),
    ("c4140", "isilon-f800", "edr"),
    ("c4140", "isilon-h500", "10gbe"),
    ("c4140", "isilon-f800", "10gbe"),
    ("c4140", "hnas", "edr"),
    ("apollo-6500", "wekaio", "edr"),
    ("dgx-2h", "isilon-f800", "edr"),
    ("c4140", "head-node-nfs", "edr"),
]
ROLES = {
    "switch": (
        *(f"{network} {level} switch" for network in ("compute", "storage") for level in ("leaf", "spine", "core")),
        "back-end switch",
    ),
    "gateway": (Role.GATEWAY,),
}


@pytest.mark.laws
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(PARTS),
    st.integers(1, 60),
    st.integers(4, 24),
    st.sampled_from(["switch", "gateway"]),
    st.sampled_from([{}, {"rails_apart": True}, {"oversubscription": 2}, {"directors": True}, {"spare_servers": 5}]),
)
def test_the_search_takes_no_more_to_be_left_than_the_plan_has(parts, servers, nodes, loss, fabric):
    _holds(parts, servers, nodes, loss, fabric)


def test_servers_of_several_ports_leave_room_on_every_leaf_for_what_is_dealt():
    _holds(("dgx-2h", "isilon-f800", "edr"), 28, 13, "switch", {"spare_servers": 5})


def _holds(parts, servers, nodes, loss, fabric):
    server, storage, kind = parts
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
            "platforms": {"servers": [server], "storage": [storage], "fabrics": [kind]},
            "fabric": fabric,
            "resilience": {"keeps_targets_without": [loss]},
        }
    )
    platform = platforms(CATALOG, request)[0]
    counted = slice_row(quantities(platform, [servers], [nodes], catalog=CATALOG, fabric=request.fabric), 0)
    if counted.violations:
        return
    plan = building_plan(platform, counted, servers, nodes, catalog=CATALOG, fabric=request.fabric)
    ends = [(end.device, end.port) for link in plan.connections for end in (link.a, link.z)]
    assert len(set(ends)) == len(ends)  # no port is used twice
    losses = Losses(plan)
    there = len(losses.storage_nodes)
    states = list(capacity_after(loss, platform, np.array([servers]), there, request.fabric))
    for device in losses.named(*ROLES[loss]):
        left = losses.without([device])
        # One way of losing a part is at most as good as what the walk finds for this device.
        assert any(_is_at_most(state, left, there, losses) for state in states), (device, left, states)


def _is_at_most(state, left, there, losses):
    """Whether a state of the search promises no more than a plan keeps."""
    if not state.is_running[0]:
        return True
    cut = int(state.nodes_lost[0]) + (-(-there // int(state.node_ways[0])) if state.node_ways[0] else 0)
    ways = int(state.gateway_ways[0])
    uplinks = len(losses.links(Role.GATEWAY))
    gateway = (uplinks - (-(-uplinks // ways) if ways else 0)) / uplinks if uplinks else 1.0
    # Whether the nodes that are left hold the data is asked when their number is known.
    reaches = left.reaches_storage or state.node_ways[0] > 0
    return bool(
        state.n_servers[0] <= left.n_servers
        and (left.n_servers == 1 or state.exchange[0] <= left.exchange_share + 1e-9)
        and state.file[0] <= left.file_share + 1e-9
        and there - cut <= left.storage_nodes
        and state.ports[0] * (there - cut) <= left.node_port_share * left.storage_nodes + 1e-9
        and reaches
        and min(gateway, 0.5 if uplinks and not ways else 1.0) <= left.gateway_share + 1e-9
    )
