"""What a request may ask of the fabric, and what it does to the rates."""

import datetime

import numpy as np
import pytest

from sizer import InfeasibleError, SizingRequest, project
from sizer.catalog.loader import shipped_catalog
from sizer.physical.networks.counts import fabric_share
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.stages.platform_columns import columns, narrowed
from sizer.workload.request import Existing, ExistingRack, Fabric, Limits
from tests.factories import examples

CATALOG = shipped_catalog()


def request_of(server, storage, fabric_kind, **more):
    return SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
            "platforms": {"servers": [server], "storage": [storage], "fabrics": [fabric_kind]},
            **more,
        }
    )


def platform_of(*parts, **more):
    return platforms(CATALOG, request_of(*parts, **more))[0]


def test_an_oversubscribed_tree_halves_the_rates_and_a_single_switch_does_not():
    """Nine DGX-1 fill one 36-port switch but for the head node's port: eight fit, sixteen take a tree of 2 : 1."""
    platform = platform_of("dgx-1", "wekaio", "edr")
    asked = Fabric(oversubscription=2)
    servers, nodes = np.array([6, 16]), np.array([6, 6])
    assert fabric_share(platform, servers, nodes, asked).tolist() == [1.0, 0.5]
    cols = columns([platform], CATALOG).take([0, 0])
    less = narrowed(cols, [platform], np.zeros(2, dtype=int), servers, nodes, asked)
    for name in ("exchange_bytes_per_s", "storage_nic_bytes_per_s"):
        assert (getattr(less, name) / getattr(cols, name)).tolist() == [1.0, 0.5]


def test_rails_apart_leave_one_port_of_four_for_storage():
    """Four EDR ports a DGX-1 (mlperf-v0.6); storage joins the first rail."""
    platform = platform_of("dgx-1", "wekaio", "edr")
    cols = columns([platform], CATALOG).take([0])
    apart = narrowed(cols, [platform], np.zeros(1, dtype=int), np.array([9]), np.array([6]), Fabric(rails_apart=True))
    assert apart.storage_nic_bytes_per_s[0] == 12.5e9
    assert apart.exchange_bytes_per_s[0] == 50e9


def test_storage_apart_from_the_fabric_keeps_its_rate():
    platform = platform_of("v225g", "nfs-generic", "edr")
    cols = columns([platform], CATALOG).take([0])
    asked = Fabric(rails_apart=True, oversubscription=4)
    less = narrowed(cols, [platform], np.zeros(1, dtype=int), np.array([100]), np.array([0]), asked)
    assert less.storage_nic_bytes_per_s[0] == cols.storage_nic_bytes_per_s[0]


def test_nine_dgx1_on_four_rails_take_four_switches_of_nine_ports():
    platform = platform_of("dgx-1", "dgx1-ssd", "edr")
    counted = quantities(platform, [9], [0], catalog=CATALOG, fabric=Fabric(rails_apart=True))
    network = counted.networks[0]
    assert network.rails == 4
    assert network.leaves[0] == 4
    assert network.ports_free[0] == 4 * 36 - 9 * 4 - 1  # and the head node


def test_ports_of_servers_to_come_are_free_and_counted():
    """Facts 3.4: 32 C4140 beside head node and three gateway links fill the switch; room for four calls for a tree."""
    platform = platform_of("c4140", "isilon-f800", "edr")
    full = quantities(platform, [32], [4], catalog=CATALOG).networks[0]
    room = quantities(platform, [28, 32], [4, 4], catalog=CATALOG, fabric=Fabric(spare_servers=4)).networks[0]
    assert (full.leaves[0], full.ports_free[0]) == (1, 0)
    assert room.leaves.tolist() == [1, 3]
    assert room.ports_free[0] == 4


@pytest.mark.parametrize(("n", "leaves", "spines"), [(8, 1, 0), (9, 0, 1), (161, 0, 1), (162, 37, 2)])
def test_directors_take_what_one_switch_cannot(n, leaves, spines):
    """CS7500: 648 ports (cs7500-man). 161 x 4 + 1 = 645 end points on one; 649 on 37 leaves of 18 and two spines."""
    platform = platform_of("dgx-1", "dgx1-ssd", "edr", fabric={"directors": True})
    network = quantities(platform, [n], [0], catalog=CATALOG).networks[0]
    assert (network.leaves[0], network.spines[0], network.cores[0]) == (leaves, spines, 0)


def test_a_fabric_has_a_subnet_manager():
    """ "tw-switch-cat": one running subnet manager a fabric, in a managed switch or on a host."""
    infiniband = quantities(platform_of("c4140", "wekaio", "edr"), [4], [6], catalog=CATALOG)
    assert infiniband.networks[0].subnet_manager == PlanNote(PlanNoteKind.MANAGER_IN_LEAF, ("SB7800", 1))
    ethernet = quantities(platform_of("c4140", "wekaio", "100gbe"), [4], [6], catalog=CATALOG)
    assert ethernet.networks[0].subnet_manager is None


def test_half_used_racks_are_filled_first():
    platform = platform_of("c4140", "nfs-generic", "edr")
    room = ExistingRack(name="A07", free_u=6, first_free_u=20, power_w="5 kW")
    counted = slice_row(
        quantities(platform, [4], [0], catalog=CATALOG, existing=Existing(racks=(room,)), limits=Limits(racks=1)), 0
    )
    assert (counted.racks[0], counted.existing_racks[0]) == (1, 1)
    parts = {(part.role, part.status): int(part.quantity[0]) for part in counted.components}
    assert parts["rack", "existing"] == 1
    assert parts["rack", "computed"] == 1


def test_an_oversubscribed_fabric_is_never_faster():
    plain = request_of("c4140", "wekaio", "edr")
    rates = []
    for ratio in (1.0, 2.0, 4.0):
        asked = plain.model_copy(update={"fabric": Fabric(oversubscription=ratio)})
        answer = project(asked, CATALOG, server="c4140", servers=60, storage="wekaio", storage_nodes=8, fabric="edr")
        rates.append(float(answer.workloads[0].throughput.value))
    assert rates[0] > rates[1] > rates[2]


def design(servers=8, nodes=4, **fabric):
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["400gbe"]},
            "fabric": fabric,
            "data": {"storage_level": "none"},
        }
    )
    return project(
        asked,
        examples.catalog(),
        server="sys-a21ge-nbrt",
        servers=servers,
        storage="powerscale-f710",
        storage_nodes=nodes,
    )


def network(found, role):
    return next((net for net in found.quantities.networks if net.role is role), None)


def test_storage_joins_the_compute_fabric():
    """Eight servers with eight ports of 400 GbE and four nodes with two of 100 GbE: 64 + 8 links."""
    apart, converged = design(), design(converged=True)
    assert int(network(apart, NetworkRole.COMPUTE).end_points[0]) == 64
    assert network(apart, NetworkRole.STORAGE) is not None
    assert network(converged, NetworkRole.STORAGE) is None
    roles = {}
    for cable in converged.plan.cables:
        if cable.run.network.network is NetworkRole.COMPUTE:
            roles[cable.run.role] = roles.get(cable.run.role, 0) + cable.run.a_device.size
    assert roles[Role.COMPUTE_CABLE] == 64
    assert roles[Role.STORAGE_CABLE] == 8
    # The ports that served the storage fabric stay free, and its switches are not bought.
    assert sum(int(net.leaves[0]) for net in converged.quantities.networks) < sum(
        int(net.leaves[0]) for net in apart.quantities.networks
    )


def test_storage_spreads_over_the_leaves_of_a_larger_one():
    converged = design(64, 16, converged=True)
    runs = [cable.run for cable in converged.plan.cables if cable.run.role is Role.STORAGE_CABLE]
    per_leaf = np.unique(np.concatenate([run.b_device for run in runs]), return_counts=True)[1]
    assert per_leaf.max() - per_leaf.min() <= 1


def test_infiniband_is_refused_in_one_sentence():
    asked = {
        "workload": [{"dnn": "llama-3-70b", "tokens": 1e10, "target": {"gpus_busy": 64}}],
        "platforms": {"servers": ["dgx-h100"], "fabrics": ["ndr"]},
        "fabric": {"converged": True},
    }
    with pytest.raises(InfeasibleError, match="needs an Ethernet fabric"):
        platforms(examples.catalog(), SizingRequest.from_dict(asked))


@pytest.mark.parametrize(
    ("gpu", "says"),
    [("rubin-288gb", "Rubin 288 GB: announced"), ("gaudi3-128gb", "Gaudi 3 128 GB: no published rates")],
)
def test_a_gpu_without_a_server_is_refused_by_name(gpu: str, says: str) -> None:
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict(
        {"workload": [work], "platforms": {"gpus": [gpu]}, "date": datetime.date(2026, 11, 28)}
    )
    with pytest.raises(InfeasibleError, match=says):
        platforms(shipped_catalog(), request)


@pytest.mark.parametrize(
    ("server", "fabric", "front"), [("as-8125gs-tnmr2", "400gbe", "400gbe"), ("dgx-h100", "ndr", "ndr")]
)
def test_storage_whose_ports_run_either_technology_joins_servers_of_either(
    server: str, fabric: str, front: str
) -> None:
    """A WEKApod's ConnectX-7 runs NDR or 400 GbE; the MI300X server has Ethernet alone."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    asked = {"servers": [server], "storage": ["wekapod-nitro"], "fabrics": [fabric]}
    found = platforms(shipped_catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))
    links = {one.storage.front_end_kind.value.id for one in found if one.storage.front_end_kind is not None}
    assert links == {front}


def test_a_refusal_names_only_servers_that_take_what_is_asked() -> None:
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    asked = {"gpus": ["mi300x-192gb"], "storage": ["wekaio"], "fabrics": ["400gbe"]}
    with pytest.raises(InfeasibleError) as refused:
        platforms(shipped_catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))
    assert "as-8125gs-tnmr2" in str(refused.value)
    assert "dgx-b200" not in str(refused.value)
