"""The data of a design: ingest routes, checkpoints, preprocessing, validation and local copies, by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sizer import EvaluatedDesign, SizingRequest, SizingResult, data_plan, size
from sizer.physical.roles import NetworkRole
from sizer.questions.data.analysis import DataPlan, IngestLinkRole, StorageQuestion
from sizer.questions.data.text import data_document
from tests.factories.answers import recommended
from tests.factories.requests import CATALOG

WORK = {"dnn": "resnet50", "stack": "mxnet-ngc19.05-dali", "dataset": "imagenet-tfrecord", "target": {"gpus_busy": 16}}


def sized(platforms: dict[str, Any], data: dict[str, Any] | None = None, *works: dict[str, Any]) -> SizingResult:
    request = {"workload": list(works) or [WORK], "confidence": 0.5, "platforms": platforms, "data": data or {}}
    return recommended(SizingRequest.from_dict(request))


def plan(platforms: dict[str, Any], data: dict[str, Any] | None = None, *works: dict[str, Any]) -> DataPlan:
    return data_plan(EvaluatedDesign(sized(platforms, data, *works), CATALOG))


BEHIND_GATEWAY = {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]}
TWENTY_TB = {**WORK, "dataset_bytes": "20 TB"}


def test_routes_into_storage_behind_a_gateway():
    """Four nodes, one 40 GbE port each in use and one free; 36 ports less 4 and 3 uplinks; a head node at 10 GbE."""
    found = plan(BEHIND_GATEWAY, {}, TWENTY_TB).ingest
    by_key = {route.key: route for route in found.routes}
    assert by_key["gateway"].least_s == pytest.approx(20e12 / 20e9)
    assert [link.bytes_per_s for link in by_key["gateway"].links] == pytest.approx([29 * 5e9, 20e9])
    assert by_key["front-end"].least_s == pytest.approx(20e12 / 20e9)
    assert by_key["head-node"].least_s == pytest.approx(20e12 / 1.25e9)
    # About 1 GB/s was written to a shared file (dell-f800-h600-io): slower than every route.
    assert {route.published_s for route in found.routes} == {20e12 / 1e9}
    assert found.chosen is by_key["gateway"]


def test_the_requested_route_is_chosen_and_a_slow_source_bounds_every_route():
    found = plan(BEHIND_GATEWAY, {"ingest": "head-node", "source_bytes_per_s": "1 Gbit/s"}, TWENTY_TB).ingest
    assert found.chosen.key == "head-node"
    assert found.missing is None
    for route in found.routes:
        assert route.least_s == pytest.approx(20e12 / 0.125e9)
        assert route.slowest is route.source


def test_a_route_that_the_design_lacks_is_named():
    """WekaIO joins InfiniBand: no gateway, no Ethernet front end; the head node is the route."""
    found = plan({"servers": ["apollo-6500"], "storage": ["wekaio"]}, {"ingest": "gateway"}).ingest
    assert found.missing == "gateway"
    assert [route.key for route in found.routes] == ["head-node"]


def test_every_server_with_drives_of_its_own_gets_a_copy():
    """Two DGX-1 with SSDs, 6 TB from a source of 1 GB/s: 12 TB leave the source, each port of 10 GbE carries 6."""
    asked = {"servers": ["dgx-1"], "storage": ["dgx1-ssd"]}
    found = plan(asked, {"source_bytes_per_s": "1 GB/s"}, {**WORK, "dataset_bytes": "6 TB"})
    assert data_document("", found)["capacity"]["is_per_server"]
    (route,) = found.ingest.routes
    assert route.published_s is None
    assert route.least_s == pytest.approx(12e12 / 1e9)


def test_no_link_of_the_customers_own_storage_is_known():
    found = plan({"servers": ["dgx-1"], "storage": ["nfs-generic"]}).ingest
    lan = next(route for route in found.routes if route.key == "front-end")
    assert lan.least_s is None
    assert lan.published_s is None
    assert lan.slowest is None


def test_checkpoints_by_hand():
    """25.6 million parameters at 8 B are 204.8 MB; at 1 GB/s 0.2048 s of every 600 s; 1 % of 600 s are 6 s."""
    found = plan(BEHIND_GATEWAY, {"checkpoint_every_s": "10 min", "checkpoints_kept": 5})
    (one,) = data_document("", found)["checkpoints"]
    size_bytes = 8 * CATALOG.dnns["resnet50"].parameters.value
    rate = one["write_bytes_per_s"]
    assert one["size_bytes"] == size_bytes
    assert one["write_s"] == pytest.approx(size_bytes / rate)
    assert one["lost_fraction"] == pytest.approx(size_bytes / rate / 600, rel=0.01)
    assert one["little_lost_bytes_per_s"] == pytest.approx(size_bytes / 6, rel=0.01)
    assert one["rate_is_bound"]
    assert (one["kept"], found.required.checkpoints_bytes) == (5, 5 * size_bytes)


def test_checkpoints_on_drives_whose_write_rate_nobody_states():
    found = plan({"servers": ["dgx-1"], "storage": ["dgx1-ssd"]}, {"checkpoint_every_s": "1 h"})
    (one,) = data_document("", found)["checkpoints"]
    assert one["rate_is_bound"]
    assert found.questions == (StorageQuestion.DRIVE_WRITE_RATE,)


def test_transforming_by_hand():
    """1,281,167 samples of 20 core-ms are 25,623 core-s; 40 cores of a DGX-1 take 1/40 of that, per server."""
    result = sized({"servers": ["dgx-1"], "storage": ["isilon-f800"]}, {"transform_core_s": 0.02})
    found = data_plan(EvaluatedDesign(result, CATALOG)).transform
    assert found.core_hours == pytest.approx(1_281_167 * 0.02 / 3600)
    assert found.cores == 40 * result.design.n_servers
    assert found.cpu_s == pytest.approx(1_281_167 * 0.02 / found.cores)
    assert not found.cost_is_assumed


def test_a_transform_without_a_cost_takes_that_of_decoding():
    """The line of the DGX-1 test: 1.6 core-ms and 14.0 core-ms a megabyte make 7.2 at 400 kB; fitted, so near it."""
    found = plan({"servers": ["dgx-1"], "storage": ["isilon-f800"]}, {"raw_sample_bytes": "400 kB"})
    assert found.transform.cost_is_assumed
    assert found.transform.core_s_per_sample == pytest.approx(7.2e-3, rel=0.25)  # C4140 points lie 40 % above the line
    assert found.required.raw_bytes == pytest.approx(1_281_167 * 400e3)
    assert not found.transform.raw_size_is_assumed


def test_a_pass_over_held_back_samples_runs_at_three_times_the_training_rate_unless_something_else_bounds_it():
    result = sized({"servers": ["dgx-1"], "storage": ["isilon-f800"]}, {}, {**WORK, "recipe": "resnet50-mlperf-v0.6"})
    (one,) = data_plan(EvaluatedDesign(result, CATALOG)).validations
    answer = result.design.workloads[0]
    others = [float(stage.capacity.value) for stage in answer.stages if stage.key in ("decode", "network")]
    gpu = next(float(stage.capacity.value) for stage in answer.stages if stage.key == "gpu")
    assert one.samples_per_s <= min(3 * gpu, *others) * (1 + 1e-9)
    assert one.pass_s == pytest.approx(50_000 / one.samples_per_s)
    assert one.every_epochs == CATALOG.recipes["resnet50-mlperf-v0.6"].evaluate_every_epochs.value
    assert one.per_epoch_s == pytest.approx(one.pass_s / one.every_epochs)
    epoch_s = float(answer.time.epoch_s.value)
    assert one.share == pytest.approx(one.per_epoch_s / (epoch_s + one.per_epoch_s), rel=0.05)  # median of the chain


def test_a_copy_to_local_drives_by_hand():
    """6 TB to each of five DGX-1 over the four 10 GbE ports of two HNAS nodes: 30 TB at 5 GB/s."""
    work = {**WORK, "dataset_bytes": "6 TB", "epochs": 90, "target": {"time_to_train_s": "30 h"}}
    result = sized({"servers": ["dgx-1"], "storage": ["hnas"]}, {"copy_to_local": True}, work)
    (one,) = data_plan(EvaluatedDesign(result, CATALOG)).copies
    assert one.fits is True
    assert one.storage_is_bound
    assert one.copy_s == pytest.approx(result.design.n_servers * 6e12 / (result.design.storage_nodes * 2.5e9), rel=1e-3)
    # The drives of a DGX-1 read 1.28 GB/s, which bounds the first epoch: nothing is in memory yet.
    assert one.first_local_s >= 6e12 / (result.design.n_servers * 1.28e9) * (1 - 1e-6)
    epochs = np.arange(1, 200.0)
    from_drives = one.copy_s + one.first_local_s + (epochs - 1) * one.local_s
    ahead = from_drives < one.first_shared_s + (epochs - 1) * one.shared_s
    assert epochs[np.argmax(ahead)] == one.break_even_epoch
    assert one.pays is (one.break_even_epoch <= 90)


def test_fixed_shards_need_a_share_of_the_copy():
    work = {**WORK, "dataset_bytes": "6 TB", "target": {"gpus_busy": 32}}
    platforms = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    whole, shard = (plan(platforms, {}, {**work, "access": access}).copies[0] for access in ("random", "sharded"))
    assert whole.copy_bytes == 6e12
    assert shard.copy_bytes == pytest.approx(6e12 / 4)
    assert shard.copy_s == pytest.approx(whole.copy_s / 4)


def test_drives_whose_rate_no_source_gives_are_a_bound():
    """Without the assumed ends of its rate, nothing says how fast a C4140's NVMe drive reads."""
    no_rate = {"node_read_low_bytes_per_s": None, "node_read_high_bytes_per_s": None}
    drives = CATALOG.storage["c4140-nvme"].model_copy(update=no_rate)
    unknown = replace(CATALOG, storage={**CATALOG.storage, drives.id: drives})
    request = {"workload": [TWENTY_TB], "confidence": 0.5, "platforms": BEHIND_GATEWAY}
    result = size(SizingRequest.from_dict(request), unknown)
    (one,) = data_plan(EvaluatedDesign(result, unknown)).copies
    assert one.drives_are_bound


def test_nodes_that_are_there_for_reads_alone_are_told():
    """20,000 images/s of 1.3 MB are 26 GB/s: more than four nodes at 3.75 GB/s read; 3 TB of data need four."""
    work = {**WORK, "sample_bytes": "1.3 MB", "dataset_bytes": "3 TB", "target": {"samples_per_s": 20_000}}
    result = sized({"servers": ["dgx-1"], "storage": ["isilon-f800"]}, {}, work)
    (one,) = data_plan(EvaluatedDesign(result, CATALOG)).copies
    assert one.nodes_for_data == 4
    assert one.saved_nodes == result.design.storage_nodes - 4
    assert one.copy_with_fewer_s >= one.copy_s


def test_infiniband_storage_is_filled_through_ports_that_are_cabled():
    """Two DGX H100 with an AI400X2 on a storage fabric of its own: no Ethernet port leads to the storage.

    Table 7 of RA-11333-001: the management server has four 200 Gbit/s ports. Two join the in-band network, whose
    SN4600C runs 100 GbE, two the storage fabric. 20 TB / 12.5 GB/s = 1,600 s by the in-band port, the slower one.
    """
    work = {**WORK, "dataset_bytes": "20 TB", "stack": None}
    result = sized({"servers": ["dgx-h100"], "storage": ["ai400x2"], "fabrics": ["ndr"]}, {}, work)
    found = data_plan(EvaluatedDesign(result, CATALOG)).ingest
    assert [route.key for route in found.routes] == ["head-node"]
    (route,) = found.routes
    kinds = {link.role: link.port_kind.id for link in route.links if link.port_kind is not None}
    assert kinds == {IngestLinkRole.HOST_PORT: "100gbe", IngestLinkRole.STORAGE_NETWORK_PORT: "hdr"}
    assert not any(link.is_by_others for link in route.links)
    assert route.least_s == pytest.approx(1_600)
    ends = [
        (link.a.port, link.kind.id)
        for link in result.design.plan.connections
        if link.a.device == "head-01" and link.network.network is NetworkRole.STORAGE
    ]
    assert len(ends) == 2
    assert {kind for _, kind in ends} == {"hdr"}


def test_a_free_port_is_filled_by_a_cable_of_the_customer():
    """DGX-1: two 10 GbE host ports, one of them on the 1 GbE network; the free one takes the customer's cable."""
    found = plan({"servers": ["dgx-1"], "storage": ["dgx1-ssd"]}, {}, {**WORK, "dataset_bytes": "6 TB"}).ingest
    (link,) = found.chosen.links
    assert link.port_kind.id == "10gbe"
    assert link.is_by_others
