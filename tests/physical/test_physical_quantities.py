"""Platforms and quantities: what is offered, what is refused, and special cases of counting."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from sizer import Catalog, InfeasibleError, SizingRequest, project
from sizer.base.errors import RequestError
from sizer.catalog.sale import era_of
from sizer.physical import quantities as module
from sizer.physical.capacity import (
    capacity_ladder,
    changing_steps,
    is_extrapolated,
    nodes_there,
    smallest_nodes,
    usable_bytes,
)
from sizer.physical.components import Component, DesignParts
from sizer.physical.notes import PlanNote, PlanNoteKind, Violation, ViolationKind
from sizer.physical.platforms import platforms
from sizer.physical.quantities import PartTable, _new_share, quantities, slice_row
from sizer.physical.roles import Role
from sizer.present.text.plan import feeds_sentence
from sizer.sizing.design.evaluate_design import built_design
from sizer.sizing.stages.platform_columns import capacity_is_unknown
from sizer.workload.request import Existing, Limits
from tests.factories.examples import catalog


def request_of(**tables):
    return SizingRequest.from_dict({"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}], **tables})


def offered(catalog, **asked):
    return platforms(catalog, request_of(platforms=asked))


def one(catalog, server, storage, fabric):
    return offered(catalog, servers=[server], storage=[storage], fabrics=[fabric])[0]


def counts(counted):
    return {(part.role, part.status): int(part.quantity[0]) for part in counted.components}


def test_every_orderable_gpu_server_is_offered(catalog):
    """Those that are still sold unasked, the others by their names."""
    unasked = {p.server.id for p in offered(catalog)}
    orderable = {s.id for s in catalog.servers.values() if s.role == "gpu" and s.orderable}
    of_v100 = {name for name in orderable if era_of(catalog, catalog.servers[name]) == "v100"}
    ended = {"dgx-a100", "dgx-h100", "r750xa", "cray-ex235a", "h20-server", "h800-server"}
    ended |= {"rtx-3090-server", "rtx-4090-server"}
    assert unasked == orderable - of_v100 - ended
    for name in orderable - unasked:
        assert {p.server.id for p in offered(catalog, servers=[name])} == {name}


def test_gpus_asked_are_the_fewest_that_the_server_is_sold_with(catalog):
    asked = offered(catalog, servers=["dss-8440"], gpus_per_server=5)
    assert {p.gpus_per_server for p in asked} == {8}


@pytest.mark.parametrize(
    ("tables", "error", "words"),
    [
        ({"platforms": {"servers": ["dgx1"]}}, RequestError, ["platforms.servers", "'dgx1'", "'dgx-1'"]),
        ({"platforms": {"storage": ["isilon-f80"]}}, RequestError, ["platforms.storage", "isilon-f800"]),
        ({"platforms": {"gpus": ["v100"]}}, RequestError, ["platforms.gpus", "'v100'"]),
        ({"site": {"rack": "ar33"}}, RequestError, ["site.rack", "ar3300"]),
        ({"existing": {"switches": {"sb78": 1}}}, RequestError, ["existing.switches", "sb7800"]),
        ({"platforms": {"servers": ["r740xd"]}}, InfeasibleError, ["no GPU server", "dgx-1"]),
        ({"platforms": {"servers": ["dgx-1"], "gpus": ["v100-pcie-16gb"]}}, InfeasibleError, ["v100-sxm2-16gb"]),
        ({"platforms": {"servers": ["dgx-1"], "storage": ["apollo-nvme"]}}, InfeasibleError, ["local storage"]),
        ({"platforms": {"servers": ["c4140"], "gpus_per_server": 5}}, InfeasibleError, ["at most 4"]),
        ({"platforms": {"servers": ["dgx-1"], "fabrics": ["ndr"]}}, InfeasibleError, ["ndr", "do not join"]),
    ],
)
def test_refusals_name_place_value_and_what_is_allowed(catalog, tables, error, words):
    with pytest.raises(error) as caught:
        platforms(catalog, request_of(**tables))
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_class_of_storage_serves_what_it_is_made_for(catalog):
    """RA-11333 table 6, "good": 15 GB/s for 32 servers, 0.47 GB/s each; the pair reads 2 to 6 GB/s."""
    platform = one(catalog, "dgx-b200", "small-nas", "ndr")
    most = ViolationKind.TOO_MANY_GPUS
    broken = quantities(platform, [1, 4, 5], [2, 2, 2], catalog=catalog).violations
    assert [rows.tolist() for rule, rows in broken.items() if rule.kind is most] == [[False, False, True]]
    owned = Existing(storage_nodes={"small-nas": 2})
    assert most not in {
        rule.kind for rule in quantities(platform, [5], [2], catalog=catalog, existing=owned).violations
    }


def test_one_server_with_local_drives_is_only_a_server(catalog):
    counted = slice_row(quantities(one(catalog, "dgx-1", "dgx1-ssd", "edr"), [1], [0], catalog=catalog), 0)
    hardware = {part.role for part in counted.components if part.category not in ("software", "support")}
    assert hardware == {"GPU server", "rack", "rack PDU", "blanking panel", "power cord"}
    assert PlanNote(PlanNoteKind.SINGLE_SERVER) in counted.notes


@pytest.mark.parametrize(
    ("server", "storage", "fabric", "heads"),
    [
        # Dell's design of 2018 has one head node for up to 32 servers.
        ("dgx-1", "isilon-f800", "edr", [1, 1, 1]),
        # Today's have a standby one from eight hosts on; a rack of 18 trays is 18 hosts.
        ("dgx-h100", "ai400x2", "ndr", [1, 2, 2]),
        ("gb200-nvl72", "ai400x2", "ndr", [2, 2, 2]),
    ],
)
def test_head_nodes_grow_with_the_hosts(catalog, server, storage, fabric, heads):
    counted = quantities(one(catalog, server, storage, fabric), [7, 8, 40], [4, 4, 4], catalog=catalog)
    parts = [part for part in counted.components if part.role == "head node"]
    assert sum(part.quantity for part in parts).tolist() == heads
    told = next((rows for note, rows in counted.row_notes.items() if note.kind is PlanNoteKind.STANDBY_HEAD), None)
    assert [count > 1 for count in heads] == ([False] * 3 if told is None else told.tolist())


def test_what_manages_owned_servers_is_there_whatever_switches_are_stated(catalog):
    platform = one(catalog, "dgx-1", "isilon-f800", "edr")
    stated = Existing(servers={"dgx-1": 4}, storage_nodes={"isilon-f800": 4}, switches={"sb7800": 1})
    found = counts(quantities(platform, [4], [4], catalog=catalog, existing=stated))
    assert not {"head node", "management switch", "management cable"} & {role for role, at in found if at == "computed"}
    # A management switch that is stated is the one that is there: 60 ports of 30 servers take a second one of 48.
    listed = Existing(servers={"dgx-1": 30}, switches={"s3048-on": 1})
    platform = one(catalog, "dgx-1", "dgx1-ssd", "edr")
    found = counts(quantities(platform, [30], [0], catalog=catalog, existing=listed))
    assert found["management switch", "existing"] == found["management switch", "computed"] == 1


def test_a_cluster_has_one_head_node(catalog):
    counted = quantities(one(catalog, "dgx-1", "dgx1-ssd", "edr"), [1, 2, 40], [0, 0, 0], catalog=catalog)
    head = next(part for part in counted.components if part.role == "head node")
    assert head.quantity.tolist() == [0, 1, 1]


def test_existing_equipment_is_listed_and_not_bought(catalog):
    platform = one(catalog, "c4140", "isilon-f800", "edr")
    existing = Existing(servers={"c4140": 3}, storage_nodes={"isilon-f800": 4}, switches={"sb7800": 2, "s5232f-on": 1})
    counted = slice_row(quantities(platform, [5], [8], catalog=catalog, existing=existing), 0)
    count = counts(counted)
    assert count["GPU server", "computed"] == 2
    assert count["GPU server", "existing"] == 3
    assert count["storage chassis", "computed"] == count["storage chassis", "existing"] == 1
    assert ("compute leaf switch", "computed") not in count  # one of the two is enough
    assert count["compute leaf switch", "existing"] == 1
    assert count["back-end switch", "existing"] == count["back-end switch", "computed"] == 1
    without = slice_row(quantities(platform, [5], [8], catalog=catalog), 0)
    assert counted.power_max_w == without.power_max_w
    assert counted.racks == without.racks


def test_storage_is_counted_in_whole_chassis(catalog):
    counted = quantities(one(catalog, "c4140", "isilon-f800", "edr"), [2, 2], [5, 8], catalog=catalog)
    assert next(p for p in counted.components if p.role == "storage chassis").quantity.tolist() == [2, 2]
    assert counted.front_end_bytes_per_s.tolist() == [40e9, 40e9]


def test_limits_of_systems_are_violations(catalog):
    """32-port switches, 16 down and 16 up: three levels join 32 x 16 x 16 = 8,192 ports.

    2,045 DGX-1 with four ports, eight ports of storage and the head node take 8,189 of them, 2,046 take 8,193.
    """
    servers = [2_045, 2_046, 2_048, 2]
    counted = quantities(one(catalog, "dgx-1", "isilon-f800", "100gbe"), servers, [4, 4, 4, 256], catalog=catalog)
    assert len(counted.violations) == 2
    assert np.array(list(counted.violations.values())).any(axis=0).tolist() == [False, True, True, True]


def test_a_rack_too_weak_for_one_server(catalog):
    platform = one(catalog, "dgx-2", "dgx2-nvme", "edr")
    counted = quantities(platform, [1], [0], catalog=catalog, limits=Limits(rack_power_w="5 kW"))
    assert list(counted.violations) == [Violation(ViolationKind.RACK_POWER, ("DGX-2", 10_000.0, 5_000.0))]


def test_a_rack_is_held_against_the_cards_that_are_fitted(catalog):
    """Eight L40S of 350 W, two processors of at most 500 W: 3.8 kW, half as much again 5.7 kW; rated 12.8 kW."""
    asked = {"servers": ["xe7745"], "gpus": ["l40s-48gb"], "gpus_per_server": 8, "storage": ["xe7745-nvme"]}
    platform = offered(catalog, **asked)[0]
    counted = quantities(platform, [1], [0], catalog=catalog, limits=Limits(rack_power_w="8 kW"))
    assert 3_800 < counted.rack_power_max_w[0] < 5_900
    assert not counted.violations


def test_nothing_is_bought_around_servers_that_all_stand(catalog):
    """Two owned servers are connected and powered today; a third takes ports and a rack, storage a rack."""
    platform = one(catalog, "dgx-a100", "dgx-a100-nvme", "hdr")
    counted = quantities(platform, [2, 3], [0, 0], catalog=catalog, existing=Existing(servers={"dgx-a100": 2}))
    bought = [part for part in counted.components if part.status == "computed" and part.category != "software"]
    assert [part.item for part in bought if part.quantity[0]] == []
    assert {"GPU server", "compute cable", "rack"} <= {p.role for p in bought if p.quantity[1]}
    assert not {"compute leaf switch", "head node"} & {p.role for p in bought if p.quantity[1]}  # 24 of 40 ports
    storage = one(catalog, "dgx-a100", "ai400x2", "hdr")
    counted = quantities(storage, [2], [1], catalog=catalog, existing=Existing(servers={"dgx-a100": 2}))
    bought = {part.role: int(part.quantity[0]) for part in counted.components if part.status == "computed"}
    assert bought["rack"] == 1
    assert "GPU server" not in bought
    assert "compute leaf switch" not in bought


@pytest.mark.parametrize("there", [2, 16, 100])
def test_eight_servers_beside_many_buy_their_own_leaves_and_racks(catalog, there):
    """Eight servers of eight ports: 64 ports are two leaves of 32 ports down, and at most a unit of eight with the
    spines that a second level takes. A rack of 41 U holds four of 8 U by room, three by power.
    """
    platform = one(catalog, "dgx-h100", "dgx-h100-nvme", "ndr")
    counted = quantities(platform, [there + 8], [0], catalog=catalog, existing=Existing(servers={"dgx-h100": there}))
    found = counts(counted)
    assert found["GPU server", "computed"] == 8
    assert ("head node", "computed") not in found
    assert found.get(("compute leaf switch", "computed"), 0) <= 8
    assert found.get(("compute spine switch", "computed"), 0) <= 4
    assert 2 <= found["rack", "computed"] <= 4
    assert found["power cord", "computed"] < 8 * 6 + 20


def test_eight_newer_servers_join_storage_that_is_there(catalog):
    """Their own fabric is bought; head node and racks of the 16 older servers stay."""
    platform = one(catalog, "dgx-b200", "ai400x2", "ndr")
    existing = Existing(servers={"dgx-a100": 16}, storage_nodes={"ai400x2": 1})
    found = counts(quantities(platform, [8], [1], catalog=catalog, existing=existing))
    assert found["GPU server", "computed"] == 8
    assert found["compute leaf switch", "computed"] >= 1
    assert ("storage node", "computed") not in found
    assert ("head node", "computed") not in found
    assert found["head node", "existing"] == 2
    assert found["rack", "computed"] <= 5


def test_a_design_that_uses_nothing_of_what_is_there_buys_everything(catalog):
    """Two DGX H200 stay idle beside new servers and new storage: no head node, PDU or panel of theirs is counted."""
    platform = one(catalog, "xe9680", "ai400x2", "ndr")
    owned = counts(quantities(platform, [7], [1], catalog=catalog, existing=Existing(servers={"dgx-h200": 2})))
    assert owned == counts(quantities(platform, [7], [1], catalog=catalog))


def test_a_rack_that_is_there_has_its_pdus():
    """3 of 25 U are new: of two racks one is there, and with it its two PDUs, not three of the four."""
    racks = [Component(role, "rack and power", role, np.array([n])) for role, n in ((Role.RACK, 2), (Role.RACK_PDU, 4))]
    new = [Component(Role.STORAGE_NODE, "storage", "new", np.array([1]))]
    parts = _new_share(racks, new, {"new": 3.0}, np.array([25.0]))
    found = {(part.role, part.status): int(part.quantity[0]) for part in parts}
    assert set(found.values()) == {1, 2}
    assert found[Role.RACK_PDU, "existing"] == found[Role.RACK_PDU, "computed"] == 2


def test_watts_of_a_bracket(catalog):
    """C4140: 1,500 W of GPUs and CPUs to 2,000 W of one supply; energy is counted at the middle."""
    counted = quantities(one(catalog, "c4140", "nfs-generic", "edr"), [1], [0], catalog=catalog)
    watts = (counted.power_low_w[0], counted.power_typical_w[0], counted.power_max_w[0])
    assert watts == (1500, 1750, 2000)


def test_unknown_watts_are_named(catalog):
    counted = quantities(one(catalog, "v225g", "nfs-generic", "edr"), [1], [0], catalog=catalog)
    assert counted.unknown_power == ("v225g",)


def test_negative_counts_are_refused(catalog):
    with pytest.raises(ValueError, match="n_servers must be at least 0, got -1"):
        quantities(one(catalog, "dgx-1", "dgx1-ssd", "edr"), [-1], [0], catalog=catalog)


@pytest.mark.parametrize(
    ("storage", "option", "needed", "nodes", "fits"),
    [
        # 96 TB chassis: 72 TB on 4 nodes; 8 nodes 192 x 0.875 = 168 TB, which the table's 1/n gives.
        ("isilon-f800", 0, [1.0, 72e12, 72.1e12, 168e12, 169e12], [4, 4, 8, 8, 12], [True] * 5),
        ("isilon-f800", 1, [1e17], [252], [False]),
        ("head-node-nfs", 0, [119e12, 121e12], [0, 0], [True, False]),  # a fixed system has no nodes
    ],
)
def test_smallest_nodes(catalog, storage, option, needed, nodes, fits):
    found = smallest_nodes(catalog.storage[storage], option, needed)
    assert (found.nodes.tolist(), found.fits.tolist()) == (nodes, fits)


def test_unknown_capacity_is_not_zero(catalog):
    assert np.isnan(usable_bytes(catalog.storage["nfs-generic"], 0, 0))
    assert smallest_nodes(catalog.storage["nfs-generic"], 0, 1e15).fits


def test_weka_needs_its_minimum(catalog):
    """Six hosts: one spare, 3 + 2 on the rest; the stripe grows to 16 + 2 from 20 hosts on (16 + 2 + 2 spares)."""
    weka = catalog.storage["wekaio"]
    raw = weka.capacity_options[0].raw_bytes.value
    assert usable_bytes(weka, 0, [5, 6, 20]) == pytest.approx([0, raw * 5 * 3 / 5 * 0.8, raw * 18 * 16 / 18 * 0.8])


@pytest.mark.parametrize(
    ("storage", "nodes"), [("isilon-f800", 8), ("wekaio", 8), ("head-node-nfs", 0), ("dgx1-ssd", 0)]
)
def test_ladder_goes_down_to_usable(catalog, storage, nodes):
    item = catalog.storage[storage]
    steps = capacity_ladder(item, 0, nodes)
    sizes = [step.capacity_bytes for step in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert steps[-1].label == "usable"
    assert steps[-1].capacity_bytes == usable_bytes(item, 0, nodes)
    assert all(step.source in catalog.sources for step in steps if step.source)


def test_extrapolation_is_flagged(catalog):
    f800 = catalog.storage["isilon-f800"]
    assert not is_extrapolated(f800, 4)
    assert is_extrapolated(f800, 8)
    assert capacity_ladder(f800, 0, 8)[1].how.kind is PlanNoteKind.ONEFS_EXTRAPOLATED


def test_steps_that_take_nothing_are_not_listed(catalog):
    """One AI400X2 has no hot spare and no parity of its own: 250 TB raw, 71 % of it usable."""
    steps = changing_steps(capacity_ladder(catalog.storage["ai400x2"], 0, 1))
    assert [step.label for step in steps] == ["raw", "reserve", "usable"]
    assert steps[0].capacity_bytes > steps[1].capacity_bytes == steps[2].capacity_bytes


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
    """Of three DGX-1 one is new, of eight F800 nodes four: so many supports, and one licence of the cluster manager:
    the two servers and their head node have theirs.
    """
    there = {"servers": {"dgx-1": 2}, "storage_nodes": {"isilon-f800": 4}}
    found = lines(catalog, "dgx-1", 3, "isilon-f800", 8, existing=there)
    assert found["dgx-1"] == 1
    assert found["dgx-support"] == 1
    assert found["isilon-support"] == 4
    assert found["bright-cluster-manager"] == 1


def test_every_line_has_what_it_requires(catalog):
    known = {"head node", *catalog.software}
    for item in (*catalog.software.values(), *catalog.support.values()):
        assert set(item.requires) <= known


def test_cluster_manager_counts_where_a_pair_of_head_nodes_runs_it(catalog):
    """NVIDIA's SuperPOD runs Base Command Manager on an active and a standby head node; it is licensed by the GPU.

    Four DGX H100 have 32 GPUs. With a pair, which free managers run as well, it is an option, outside the total.
    Ubuntu is on every host.
    """
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 32}}
    for heads, status in ((1, "optional"), (2, "optional"), (4, "computed")):
        asked = SizingRequest.from_dict(
            {"workload": [work], "platforms": {"fabrics": ["ndr"]}, "fabric": {"management_servers": heads}}
        )
        design = project(asked, catalog, server="dgx-h100", servers=4, storage="ai400x2", storage_nodes=1)
        found = [(line.quantity, line.status) for line in design.bill.lines if line.item == "base-command-manager"]
        assert found == [(32, status)]
        assert any(line.item == "ubuntu-server" for line in design.bill.bought)


def test_drives_bound_what_no_vendor_prints_from_below(catalog):
    """A pair of 24 drives of 15.36 TB keeps half of 369 TB at least: 0.15 PB take one pair, 1.2 PB seven."""
    system = catalog.storage["netapp-a90"]
    found = smallest_nodes(system, 0, [1.5e14, 1.2e15])
    assert found.nodes.tolist() == [2, 14]
    assert found.fits.all()
    assert not capacity_is_unknown(system, 0)
    assert [step.label for step in capacity_ladder(system, 0, 2)] == ["raw", "protection", "usable"]
    pair = catalog.storage["netapp-a800"]
    assert [nodes_there(pair, n) for n in (0, 1, 2, 3)] == [0, 2, 2, 4]


@pytest.mark.parametrize(
    ("tables", "pdu"),
    [
        ({}, "px3-5878i2r"),
        ({"currency": "EUR"}, "ap8886-32a"),
        ({"currency": "EUR", "limits": {"rack_power_w": "8 kW"}}, "ap8881"),
        ({"limits": {"rack_power_w": "6 kW"}}, "ap8853"),
        ({"limits": {"rack_power_w": "30 kW"}}, "px3-5878i2r"),
        ({"currency": "CHF", "limits": {"rack_power_w": "40 kW"}}, "ap8886-32a"),
        ({"currency": "EUR", "site": {"pdu": "px3-5878i2r"}}, "px3-5878i2r"),
    ],
)
def test_pdus_follow_the_grid_and_what_a_rack_gets(catalog, tables, pdu):
    """230 V x 32 A = 7.4 kW, 3 x 230 V x 16 A = 11 kW, x 32 A = 22 kW; 415 V x 60 A where nothing speaks for these."""
    assert {one.pdu.id for one in platforms(catalog, request_of(platforms={"servers": ["xe7745"]}, **tables))} == {pdu}


def test_a_workstation_has_nothing_of_a_rack_and_a_server_the_port_that_its_lan_has(catalog):
    asked = request_of(platforms={"servers": ["thinkstation-p8"]})
    desk, plan = built_design(asked, platforms(catalog, asked)[0], 1, 0, catalog)
    assert not [part for part in desk.components if "rack" in part.category]
    assert PlanNoteKind.SINGLE_CORDED not in {note.kind for note in plan.warnings}
    assert "rack" not in feeds_sentence(plan)
    server = offered(catalog, servers=["xe7745"], storage=["xe7745-nvme"], fabrics=["25gbe"])[0]
    assert "25 GbE" in quantities(server, [1], [0], catalog=catalog).components[0].contents


@pytest.mark.parametrize("fabric", ["25gbe", "100gbe"])
def test_networks_of_few_servers_have_small_switches_within_the_allowed_fabrics(catalog, fabric):
    """Four servers and three nodes: 4 x 2 + 3 x 2 links are half of 32 ports, and the back end has six of them."""
    asked = request_of(platforms={"servers": ["xe7745"], "storage": ["powerscale-f210"], "fabrics": [fabric, "100gbe"]})
    for platform in platforms(catalog, asked):
        few, many = (slice_row(quantities(platform, [n, 12], [3, 3], catalog=catalog), 0) for n in (4, 12))
        ports = {net.switch: sum(port.count for port in catalog.switches[net.switch].ports) for net in few.networks}
        assert all(n <= 55 for n in ports.values())  # 48 ports of 1 GbE with uplinks at most
        assert all(net.kind.gbit_per_s.value <= 100 for net in few.networks)
        assert few.n_switches <= 5
        assert {net.role for net in many.networks} > {net.role for net in few.networks}
        both = quantities(platform, [4, 12], [3, 3], catalog=catalog)
        assert counts(slice_row(both, 0)) == counts(few)
        assert counts(slice_row(both, 1)) == counts(many)


# Every platform of the catalogue, of V100 and of today.
PLATFORMS = [
    platform
    for era in (["volta"], ["hopper", "blackwell"])
    for platform in platforms(
        catalog(),
        SizingRequest.from_dict(
            {
                "workload": [{"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"gpus_busy": 16}}],
                "platforms": {"generations": era},
            }
        ),
    )
]


def pieces(components: tuple[Component, ...], design: int = 0) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for part in components:
        key = part.role, part.item, part.status
        found[key] = found.get(key, 0) + int(part.quantity[design])
    return {key: count for key, count in found.items() if count}


def test_a_design_is_counted_once() -> None:
    counted: list[tuple[int, int]] = []

    def count(servers, nodes):
        counted.extend(zip(servers.tolist(), nodes.tolist(), strict=True))
        return quantities(PLATFORMS[0], servers, nodes, catalog=catalog())

    table = PartTable(count, unit=4)
    for sizes, nodes in (([1, 2, 3], 4), ([2, 3, 30], 16), ([1, 2, 3, 30], 6), ([30, 1], 20), ([3, 30], 8)):
        found = table.designs(np.array(sizes), np.full(len(sizes), nodes))
        assert pieces(found.components, 1) == pieces(
            quantities(PLATFORMS[0], sizes, nodes, catalog=catalog()).components, 1
        )
    assert len(counted) == len(set(counted)) > 4


def test_a_full_table_starts_anew(monkeypatch) -> None:
    """Three blocks of 8 sizes do not fit 16 designs; what is asked for again is counted again, and right."""
    monkeypatch.setattr(module, "_MOST_DESIGNS", 16)
    count = partial(quantities, PLATFORMS[0], catalog=catalog())
    table = PartTable(count)
    for servers in (1, 17, 33, 1):
        found: DesignParts = table.designs(np.array([servers]), np.array([4]))
        assert pieces(found.components) == pieces(count([servers], [4]).components)
