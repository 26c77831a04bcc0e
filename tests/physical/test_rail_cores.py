"""Third level of rail-optimised fabrics: counts by hand, ports by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.physical.networks.rails import rail_cores
from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories import examples
from tests.published.test_superpod_designs import pod


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
    design = pod(nodes, managers=False)
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
