"""Platforms and quantities: what is offered, what is refused, and special cases of counting."""

import time

import numpy as np
import pytest

from sizer.base.errors import InfeasibleError, RequestError
from sizer.catalog.generations import era_of
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.violations import Violation, ViolationKind
from sizer.workload.request import Existing, Limits, SizingRequest


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
    assert unasked == orderable - of_v100 - ended
    for name in orderable - unasked:
        assert {p.server.id for p in offered(catalog, servers=[name])} == {name}


def test_gpus_fit_their_server(catalog):
    assert all(
        p.gpu.id in p.server.gpus and p.gpu.form_factor.value in p.gpu.id
        for p in offered(catalog, generations=["volta"])
    )


def test_local_drives_stay_with_their_server(catalog):
    local = [p for p in offered(catalog) if p.storage.kind == "local"]
    assert local
    assert all(p.storage.id == p.server.local_storage for p in local)


def test_reference_systems_are_not_offered(catalog):
    assert "netapp-a800" not in {p.storage.id for p in offered(catalog)}


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


def test_one_server_with_local_drives_is_only_a_server(catalog):
    counted = slice_row(quantities(one(catalog, "dgx-1", "dgx1-ssd", "edr"), [1], [0], catalog=catalog), 0)
    hardware = {part.role for part in counted.components if part.category not in ("software", "support")}
    assert hardware == {"GPU server", "rack", "rack PDU", "blanking panel", "power cord"}
    assert PlanNote(PlanNoteKind.SINGLE_SERVER) in counted.notes


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
    """Two owned servers are connected and powered today; a third one, or storage, takes parts."""
    platform = one(catalog, "dgx-a100", "dgx-a100-nvme", "hdr")
    counted = quantities(platform, [2, 3], [0, 0], catalog=catalog, existing=Existing(servers={"dgx-a100": 2}))
    bought = [part for part in counted.components if part.status == "computed" and part.category != "software"]
    assert [part.item for part in bought if part.quantity[0]] == []
    assert {"GPU server", "compute leaf switch", "rack", "head node"} <= {p.role for p in bought if p.quantity[1]}
    storage = one(catalog, "dgx-a100", "ai400x2", "hdr")
    counted = quantities(storage, [2], [1], catalog=catalog, existing=Existing(servers={"dgx-a100": 2}))
    bought = {part.role: int(part.quantity[0]) for part in counted.components if part.status == "computed"}
    assert bought["rack"] == 1
    assert "GPU server" not in bought
    assert "compute leaf switch" not in bought


def test_watts_of_a_bracket(catalog):
    """C4140: 1,500 W of GPUs and CPUs to 2,000 W of one supply; energy is counted at the middle."""
    counted = quantities(one(catalog, "c4140", "nfs-generic", "edr"), [1], [0], catalog=catalog)
    watts = (counted.power_low_w[0], counted.power_typical_w[0], counted.power_max_w[0])
    assert watts == (1500, 1750, 2000)


def test_unknown_watts_are_named(catalog):
    counted = quantities(one(catalog, "v225g", "nfs-generic", "edr"), [1], [0], catalog=catalog)
    assert counted.unknown_power == ("v225g",)


def test_slice_equals_the_row_alone(catalog):
    platform = one(catalog, "apollo-6500", "wekaio", "edr")
    rows = quantities(platform, [1, 4, 30], [6, 8, 40], catalog=catalog)
    alone = slice_row(quantities(platform, [4], [8], catalog=catalog), 0)
    sliced = slice_row(rows, 1)
    assert counts(sliced) == counts(alone)
    assert (sliced.racks, sliced.power_max_w, sliced.raw_bytes) == (alone.racks, alone.power_max_w, alone.raw_bytes)
    assert sliced.unknown_power == alone.unknown_power


def test_many_rows_are_fast(catalog):
    """The whole design space is evaluated: some 30 ms for 20,000 rows. The bound catches a loop over rows only."""
    platform = one(catalog, "dgx-1", "isilon-f800", "100gbe")
    servers, nodes = (a.ravel() for a in np.meshgrid(np.arange(1, 201), np.arange(4, 404, 4)))
    quantities(platform, servers, nodes, catalog=catalog)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        quantities(platform, servers, nodes, catalog=catalog)
        best = min(best, time.perf_counter() - start)
    assert servers.size == 20_000
    assert best < 0.5


def test_negative_counts_are_refused(catalog):
    with pytest.raises(ValueError, match="n_servers must be at least 0, got -1"):
        quantities(one(catalog, "dgx-1", "dgx1-ssd", "edr"), [-1], [0], catalog=catalog)
