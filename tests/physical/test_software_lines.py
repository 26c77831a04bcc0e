"""Software and support lines: what they require, and what existing devices have already."""

from typing import Any

from sizer import Catalog, SizingRequest, project

NEEDS_A_CLUSTER = ("data-scientist-portal", "dell-ready-services")


def lines(catalog: Catalog, server: str, servers: int, storage: str, nodes: int, **tables: Any) -> dict[str, int]:
    """Bill of a given cluster: item -> bought."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"samples_per_s": 1_000}}
    asked = SizingRequest.from_dict({"workload": [work], **tables})
    design = project(asked, catalog, server=server, servers=servers, storage=storage, storage_nodes=nodes)
    found: dict[str, int] = {}
    for line in design.bill.lines:
        if line.status == "computed":
            found[line.item] = found.get(line.item, 0) + line.quantity
    return found


def test_portal_and_ready_services_come_with_head_node_manager_and_scheduler(catalog):
    """Dell's Ready solution is head node, cluster manager, scheduler and portal; one server alone has none of them."""
    one = lines(catalog, "c4140", 1, "c4140-nvme", 0)
    assert not set(NEEDS_A_CLUSTER) & set(one)
    assert not {"bright-cluster-manager", "slurm", "r740xd"} & set(one)
    four = lines(catalog, "c4140", 4, "c4140-nvme", 0)
    for item in (*NEEDS_A_CLUSTER, "bright-cluster-manager", "slurm", "r740xd"):
        assert four[item] > 0


def test_support_of_existing_devices_is_not_bought_again(catalog):
    """Of three DGX-1 one is new, of eight F800 nodes four: so many supports, and the cluster manager for all four."""
    there = {"servers": {"dgx-1": 2}, "storage_nodes": {"isilon-f800": 4}}
    found = lines(catalog, "dgx-1", 3, "isilon-f800", 8, existing=there)
    assert found["dgx-1"] == 1
    assert found["dgx-support"] == 1
    assert found["isilon-support"] == 4
    assert found["bright-cluster-manager"] == 3 + 1


def test_every_line_has_what_it_requires(catalog):
    known = {"head node", *catalog.software}
    for item in (*catalog.software.values(), *catalog.support.values()):
        assert set(item.requires) <= known


def test_cluster_manager_counts_where_a_pair_of_head_nodes_runs_it(catalog):
    """NVIDIA's SuperPOD runs Base Command Manager on an active and a standby head node; it is licensed by the GPU.

    Four DGX H100 have 32 GPUs. With one head node it is an option, outside the total. Ubuntu is on every host.
    """
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 32}}
    for heads, status in ((1, "optional"), (2, "computed")):
        asked = SizingRequest.from_dict(
            {"workload": [work], "platforms": {"fabrics": ["ndr"]}, "fabric": {"management_servers": heads}}
        )
        design = project(asked, catalog, server="dgx-h100", servers=4, storage="ai400x2", storage_nodes=1)
        found = [(line.quantity, line.status) for line in design.bill.lines if line.item == "base-command-manager"]
        assert found == [(32, status)]
        assert any(line.item == "ubuntu-server" for line in design.bill.bought)
