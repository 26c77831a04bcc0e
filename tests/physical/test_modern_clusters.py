"""Designs of today's systems from the catalogue, against the published H100 SuperPOD (NVIDIA RA-11333-001 V11)."""

from collections import Counter

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.catalog.generations import default_eras, era_of
from sizer.physical.platforms import platforms
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.project import project
from tests.factories import examples


def request(**parts):
    workload = {"dnn": "resnet50", "dataset": "imagenet-tensors-uint8", "target": {"gpus_busy": 8}}
    return SizingRequest.from_dict({"workload": [workload], **parts})


def pod(servers):
    asked = request(platforms={"fabrics": ["ndr"]}, limits={"rack_power_w": 41_000})
    return project(
        asked, examples.catalog(), server="dgx-h100", servers=servers, storage="ai400x2-turbo", storage_nodes=1
    )


@pytest.fixture(scope="module")
def unit():
    return pod(31)


def network(design, role):
    return next(net for net in design.quantities.networks if net.role is role)


@pytest.mark.parametrize(
    ("servers", "leaves", "spines", "between"), [(31, 8, 4, 256), (63, 16, 8, 512), (127, 32, 16, 1024)]
)
def test_compute_fabric_of_one_two_and_four_units(servers, leaves, spines, between):
    """Table 4, without the four ports of the subnet managers: none is in these designs."""
    found = network(pod(servers), NetworkRole.COMPUTE)
    assert (int(found.leaves[0]), int(found.spines[0])) == (leaves, spines)
    assert (int(found.end_points[0]), int(found.leaf_spine_cables[0])) == (8 * servers, between)


def test_modules_and_fibres_of_the_bill(unit):
    """Table 8: a fibre a link; a flat-top module for two ports of a server; a finned one in every switch cage."""
    pieces = Counter()
    for part in unit.quantities.components:
        if part.role in (Role.COMPUTE_CABLE, Role.COMPUTE_UPLINK):
            pieces[part.item] += int(part.quantity[0])
    links = 8 * 31 + 256
    assert sum(count for item, count in pieces.items() if item.startswith("mfp7e10")) == links
    assert pieces["mma4z00-ns-flt"] == 4 * 31
    # 12 switches of 32 cages: a leaf's 31 links to servers take 16.
    assert pieces["mma4z00-ns"] == 12 * 32


def test_each_leaf_takes_one_port_of_every_server(unit):
    ports = {}
    for link in unit.plan.connections:
        if link.role is Role.COMPUTE_CABLE:
            ports.setdefault(link.z.device, []).append(link.a.port)
    assert len(ports) == 8
    # 31 servers fill 31 of a leaf's 32 ports; the next rail takes the last one.
    for names in ports.values():
        assert Counter(names).most_common(1)[0][1] >= 31 - 7


def test_storage_has_a_fabric_of_its_own(unit):
    found = network(unit, NetworkRole.STORAGE)
    assert found.kind.id == "ndr"
    # Two ports of each server, four of the appliance, two of the management server that loads the data.
    assert int(found.end_points[0]) == 2 * 31 + 4 + 2
    assert unit.platform.attachment == "own network"


def test_four_servers_fill_a_rack_of_41_kw(unit):
    """The SuperPOD's racks hold four DGX H100 of 10.2 kW: 40.8 kW."""
    servers = [sum(device.role is Role.GPU_SERVER for device in rack.present) for rack in unit.plan.racks]
    assert max(servers) == 4
    heaviest = max(rack.max_w for rack in unit.plan.racks)
    assert heaviest == pytest.approx(40_800)


def test_a_request_that_names_nothing_keeps_the_systems_of_the_source_documents():
    catalog = examples.catalog()
    found = platforms(catalog, request())
    assert {era_of(catalog, platform.server) for platform in found} == default_eras(catalog) == {"v100"}


@pytest.mark.parametrize(
    "asked", [{"servers": ["dgx-b200"]}, {"gpus": ["mi300x-192gb"]}, {"generations": ["hopper"]}, {"fabrics": ["xdr"]}]
)
def test_equipment_of_one_era_stays_together(asked):
    catalog = examples.catalog()
    found = platforms(catalog, request(platforms=asked))
    assert found
    for platform in found:
        assert era_of(catalog, platform.server) == "today"
        for device in (platform.storage, platform.fabric_switch, platform.management_switch, platform.head_node):
            assert device.era in (None, "today"), device.id


def test_generations_filter_gpus():
    catalog = examples.catalog()
    found = platforms(catalog, request(platforms={"generations": ["blackwell"]}))
    assert {platform.gpu.generation for platform in found} == {"blackwell"}


def test_other_fabrics_are_planned_on_request_only():
    catalog = examples.catalog()
    kinds = {platform.fabric.id for platform in platforms(catalog, request(platforms={"servers": ["dgx-h100"]}))}
    assert kinds == {"ndr"}
    asked = {"servers": ["dgx-h100"], "fabrics": ["400gbe"]}
    assert {platform.fabric.id for platform in platforms(catalog, request(platforms=asked))} == {"400gbe"}


@pytest.mark.parametrize("server", ["dgx-a100", "dgx-b200", "dgx-b300", "xe9680", "as-8125gs-tnmr2", "xe7745"])
def test_every_modern_server_is_placed_cabled_and_powered(server):
    """Every link has two ends on ports of its own, every inlet a feed below its rating."""
    asked = request(platforms={"servers": [server]})
    design = size(asked, examples.catalog()).design
    ends = [(link.a.device, link.a.port) for link in design.plan.connections]
    ends += [(link.z.device, link.z.port) for link in design.plan.connections]
    assert len(ends) == len(set(ends))
    for rack in design.plan.racks:
        for feed in rack.feeds:
            assert feed.alone_w <= feed.capacity_w + 1e-6
    assert np.isfinite(design.quantities.power_max_w).all()
