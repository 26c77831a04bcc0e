"""Designs of today's systems from the catalogue, against the published H100 SuperPOD (NVIDIA RA-11333-001 V11)."""

import datetime
import math

import pytest

from sizer import InfeasibleError, SizingRequest, project
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.sale import era_of
from sizer.physical.allowed_parts import gpus_fitted
from sizer.physical.platforms import platforms
from sizer.physical.roles import NetworkRole, Role
from sizer.workload.eras import EquipmentBasis, eras_asked, extended_by_what_is_sold, most_nodes_of_kind, most_of_kind
from sizer.workload.request import Target
from tests.factories import examples


def request(**parts):
    workload = {"dnn": "resnet50", "dataset": "imagenet-tensors-uint8", "target": {"gpus_busy": 8}}
    return SizingRequest.from_dict({"workload": [workload], **parts})


@pytest.fixture(scope="module")
def unit():
    asked = request(platforms={"fabrics": ["ndr"]}, limits={"rack_power_w": 41_000})
    return project(asked, examples.catalog(), server="dgx-h100", servers=31, storage="ai400x2-turbo", storage_nodes=1)


def network(design, role):
    return next(net for net in design.quantities.networks if net.role is role)


def test_storage_has_a_fabric_of_its_own(unit):
    found = network(unit, NetworkRole.STORAGE)
    assert found.kind.id == "ndr"
    # Two ports of each server, four of the appliance, two of each of the two management servers that load the data.
    assert int(found.end_points[0]) == 2 * 31 + 4 + 2 * 2
    assert unit.platform.attachment == "own network"


def test_four_servers_fill_a_rack_of_41_kw(unit):
    """The SuperPOD's racks hold four DGX H100 of 10.2 kW: 40.8 kW."""
    servers = [sum(device.role is Role.GPU_SERVER for device in rack.devices) for rack in unit.plan.racks]
    assert max(servers) == 4
    heaviest = max(rack.max_w for rack in unit.plan.racks)
    assert heaviest == pytest.approx(40_800)


@pytest.mark.parametrize(
    ("date", "generations"),
    [
        ("2019-03-01", {"volta", "turing"}),
        ("2021-06-01", {"volta", "turing", "ampere"}),
        ("2023-10-01", {"ampere", "hopper", "ada", "cdna2"}),
        ("2026-11-28", {"hopper", "ada", "blackwell", "cdna3", "cdna4"}),
        (None, {"hopper", "ada", "blackwell", "cdna3", "cdna4"}),
    ],
)
def test_a_request_that_names_nothing_gets_what_can_be_ordered_on_its_date(date, generations):
    found = platforms(examples.catalog(), request(date=date and datetime.date.fromisoformat(date)))
    assert {platform.gpu.generation for platform in found} == generations


def test_a_server_whose_sale_ended_is_proposed_only_where_it_is_named():
    """ "rackula", source 17: the sale of the DGX H100 ended on 25 January 2025; of the DGX H200 no end is published."""
    catalog = examples.catalog()
    unasked = {p.server.id for p in platforms(catalog, request(date=datetime.date(2026, 11, 28)))}
    assert "dgx-h100" not in unasked
    assert "dgx-h200" in unasked
    before = {p.server.id for p in platforms(catalog, request(date=datetime.date(2025, 1, 25)))}
    assert "dgx-h100" in before
    named = platforms(catalog, request(date=datetime.date(2026, 11, 28), platforms={"servers": ["dgx-h100"]}))
    assert {p.server.id for p in named} == {"dgx-h100"}


@pytest.mark.parametrize(
    ("parts", "eras", "basis"),
    [
        ({"platforms": {"storage": ["isilon-f800"]}}, {"today"}, EquipmentBasis.ON_SALE),
        ({"platforms": {"fabrics": ["edr"]}}, {"today"}, EquipmentBasis.ON_SALE),
        ({"platforms": {"fabrics": ["100gbe"]}}, {"today"}, EquipmentBasis.ON_SALE),
        ({"platforms": {"prefer_vendors": ["HPE"]}}, {"today"}, EquipmentBasis.ON_SALE),
        ({"existing": {"storage_nodes": {"isilon-f800": 4}}}, {"today"}, EquipmentBasis.ON_SALE),
        ({"platforms": {"servers": ["dgx-1"]}}, {"v100"}, EquipmentBasis.NAMED),
        ({"platforms": {"gpus": ["v100-sxm2-16gb"]}}, {"v100"}, EquipmentBasis.NAMED),
        ({"platforms": {"generations": ["volta"]}}, {"v100"}, EquipmentBasis.NAMED),
    ],
)
def test_servers_gpus_and_generations_that_are_named_choose_an_era_and_nothing_else_does(parts, eras, basis):
    asked = eras_asked(examples.catalog(), request(date=datetime.date(2026, 11, 28), **parts))
    assert (asked.eras, asked.basis) == (eras, basis)


@pytest.mark.parametrize("owned", ["dgx-1", "dgx-a100", "dss-8440-t4", "cray-ex235a"])
def test_of_owned_servers_that_are_no_longer_sold_no_more_are_bought_and_newer_ones_stand_beside_them(owned):
    """The end of sale of Volta, Ampere, Turing and CDNA 2 is judged by the generation after their successors'."""
    asked = request(date=datetime.date(2026, 11, 28), existing={"servers": {owned: 2}})
    catalog = examples.catalog()
    eras = eras_asked(catalog, asked)
    assert (eras.basis, "today" in eras.eras) == (EquipmentBasis.ON_SALE, True)
    assert most_of_kind(catalog, asked, catalog.servers[owned]) == 2
    assert most_of_kind(catalog, asked, catalog.servers["dgx-b200"]) == math.inf
    found = {one.server.id for one in platforms(catalog, asked)}
    assert {owned, "dgx-b200"} <= found
    named = request(date=datetime.date(2026, 11, 28), existing={"servers": {owned: 2}}, platforms={"servers": [owned]})
    assert most_of_kind(catalog, named, catalog.servers[owned]) == 2


TODAY = datetime.date(2026, 11, 28)


@pytest.mark.parametrize("named", [{"gpus": ["h100-sxm-80gb"]}, {"generations": ["hopper"]}], ids=["GPU", "generation"])
def test_a_gpu_that_is_still_sold_comes_in_servers_that_are(named):
    """The DGX H100 ended on 25 January 2025, others with its GPU did not."""
    found = {one.server.id for one in platforms(examples.catalog(), request(date=TODAY, platforms=named))}
    assert "as-8125gs-tnhr" in found
    assert "dgx-h100" not in found


@pytest.mark.parametrize(
    "named",
    [{"servers": ["dgx-a100"]}, {"gpus": ["a100-sxm-80gb"]}, {"generations": ["ampere"]}],
    ids=["server", "GPU", "generation"],
)
def test_what_is_named_and_no_longer_sold_is_planned_and_owned_it_is_extended_by_what_is_sold(named):
    asked, catalog = request(date=TODAY, platforms=named), examples.catalog()
    assert "dgx-a100" in {one.server.id for one in platforms(catalog, asked)}
    assert most_of_kind(catalog, asked, catalog.servers["dgx-a100"]) == math.inf
    assert extended_by_what_is_sold(catalog, asked) is None
    owned = request(date=TODAY, platforms=named, existing={"servers": {"dgx-a100": 4}})
    assert most_of_kind(catalog, owned, catalog.servers["dgx-a100"]) == 4
    extended = extended_by_what_is_sold(catalog, owned)
    assert {"dgx-a100", "dgx-b200"} <= {one.server.id for one in platforms(catalog, extended)}
    work = owned.workload[0].model_copy(update={"target": Target(maximum="rate")})
    assert extended_by_what_is_sold(catalog, owned.model_copy(update={"workload": (work,)})) is None


def test_owned_storage_that_is_no_longer_sold_is_not_extended():
    """The AFF A800 has no order number; the AFF A1K has one."""
    catalog, owned = examples.catalog(), {"storage_nodes": {"netapp-a800": 2, "netapp-a1k": 2}}
    named = {"servers": ["dgx-a100"], "storage": ["netapp-a800"]}
    asked = request(date=TODAY, platforms=named, existing=owned | {"servers": {"dgx-a100": 4}})
    most = {key: most_nodes_of_kind(catalog, asked, catalog.storage[key]) for key in ("netapp-a800", "netapp-a1k")}
    assert most == {"netapp-a800": 2, "netapp-a1k": math.inf}
    # What is named and not owned is meant.
    assert most_nodes_of_kind(catalog, request(date=TODAY), catalog.storage["netapp-a800"]) == math.inf
    assert extended_by_what_is_sold(catalog, asked).platforms.storage == ()


def test_servers_whose_drives_no_source_prints_have_local_drives_as_others_have():
    """The XD670 and the UCS C885A are sold with H200 as the AS-8125GS-TNHR is, whose drives are printed."""
    found = platforms(examples.catalog(), request(date=TODAY, platforms={"gpus": ["h200-sxm-141gb"]}))
    assert {"as-8125gs-tnhr", "cray-xd670", "cisco-c885a"} <= {
        one.server.id for one in found if one.storage.kind == "local"
    }


def test_pcie_servers_come_with_the_cards_that_are_asked_for_and_draw_and_cost_less():
    named = {"servers": ["xe7745"], "gpus": ["l40s-48gb"], "storage": ["xe7745-nvme"], "fabrics": ["400gbe"]}
    found = {one.gpus_per_server: one for one in platforms(examples.catalog(), request(date=TODAY, platforms=named))}
    assert sorted(found) == gpus_fitted(examples.catalog().servers["xe7745"], None) == [2, 4, 8]
    watts = {n: one.server.power_low_w.value for n, one in found.items()}
    # 350 W a card, by its data sheet.
    assert (watts[4] - watts[2], watts[8] - watts[4]) == (700, 1400)


def test_owned_servers_that_are_still_sold_are_extended_by_more_of_them():
    asked = request(date=datetime.date(2026, 11, 28), existing={"servers": {"dgx-h200": 2}})
    assert most_of_kind(examples.catalog(), asked, examples.catalog().servers["dgx-h200"]) == math.inf


def test_a_network_without_a_model_on_what_can_be_ordered_gets_what_it_was_measured_on():
    """RetinaNet has runs on A100 and later alone, which nobody could order in 2019."""
    catalog = examples.catalog()
    work = {"dnn": "retinanet", "target": {"samples_per_s": 100.0}}
    then = eras_asked(catalog, request(date=datetime.date(2019, 3, 1), workload=[work]))
    assert (then.eras, then.basis) == ({"today"}, EquipmentBasis.NOT_ON_SALE)
    now = eras_asked(catalog, request(date=datetime.date(2026, 11, 28), workload=[work]))
    assert (now.eras, now.basis) == ({"today"}, EquipmentBasis.ON_SALE)
    before = eras_asked(catalog, request(date=datetime.date(2012, 1, 1)))
    assert (before.eras, before.basis) == ({"v100"}, EquipmentBasis.NOT_ON_SALE)


def test_a_fabric_that_nothing_on_sale_has_is_refused_with_the_parts_that_do_not_join():
    with pytest.raises(InfeasibleError, match=r"2026-11-28 and fdr do not join") as refused:
        platforms(examples.catalog(), request(date=datetime.date(2026, 11, 28), platforms={"fabrics": ["fdr"]}))
    assert 'platforms.generations = ["turing", "volta"]' in str(refused.value)


@pytest.mark.parametrize(
    ("server", "fabric", "ports"),
    # Speeds of ConnectX-4 to ConnectX-7 as NVIDIA's driver notes list them.
    [("dgx-1", "40gbe", 4), ("dgx-a100", "100gbe", 8)]
    + [("dgx-h100", link, 8) for link in ("10gbe", "25gbe", "40gbe", "100gbe", "400gbe", "edr", "hdr")],
)
def test_adapters_run_slower_links_where_a_request_names_them(server, fabric, ports):
    catalog = examples.catalog()
    named = platforms(catalog, request(platforms={"servers": [server], "fabrics": [fabric]}))
    assert {(one.fabric.id, fabric_ports(one.server.ports, one.fabric)) for one in named} == {(fabric, ports)}
    assert fabric not in {one.fabric.id for one in platforms(catalog, request(platforms={"servers": [server]}))}


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


def test_storage_that_is_there_joins_servers_of_any_age():
    """Dell paired the F800, 40 GbE, with the DGX A100 (H18597): by its storage ports on a switch that runs both."""
    asked = {"platforms": {"servers": ["dgx-a100"]}, "existing": {"storage_nodes": {"isilon-f800": 8}}}
    found = [one for one in platforms(examples.catalog(), request(**asked)) if one.storage.id == "isilon-f800"]
    assert found
    assert {platform.attachment for platform in found} == {"own network"}
    without = platforms(examples.catalog(), request(platforms=asked["platforms"]))
    assert "isilon-f800" not in {platform.storage.id for platform in without}
