"""What is written to the storage: which streams overlap, restarts of every replica, files, and unknown write rates."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import Catalog, DesignAnswer, EvaluatedDesign, InfeasibleError, SizingRequest, project
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.loader import shipped_catalog
from sizer.perf.storage import nodes_needed
from sizer.physical.platform import page_cache_bytes
from sizer.physical.platforms import platforms
from sizer.physical.roles import Role
from sizer.questions.failures.goodput import Pays, job_question, storage_worth
from sizer.sizing.best_design import best_design
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.design.storage_need import demand_over_time
from sizer.sizing.reasons import RateNeed
from sizer.sizing.stages.checkpoints import CheckpointRates
from sizer.workload.checkpoints import OtherStreams
from tests.factories import examples
from tests.factories.answers import recommended

GB, PARAMETERS = 1e9, 70.6e9


def sized(data=None, storage=(), stated=(), servers=("dgx-h100",), **workload):
    asked = {"name": "p", "dnn": "llama-3-70b", "tokens": 1e12, "target": {"gpus_busy": 512}, **workload}
    request = {
        "workload": [asked],
        "platforms": {"servers": list(servers), "storage": list(storage)},
        "data": {"storage_level": "none", **(data or {})},
    }
    found = SizingRequest.from_dict({**request, "stated_storage": list(stated)})
    return found, recommended(found)


def together(waits=False, **others):
    rates = {
        "ingest_bytes_per_s": 2.0,
        "snapshot_bytes_per_s": 4.0,
        "duty_fraction": 1.0,
        "never_together": frozenset(),
    }
    found = CheckpointRates(np.array([8.0]), np.array([16.0]), waits, OtherStreams(**{**rates, **others}))
    return {(float(read[0]), float(write[0])) for read, write in found.at_one_time(np.array([1.0]))}


def test_streams_that_may_overlap():
    """Training reads 1, checkpoints write 8, a restart reads 16, ingest writes 2, snapshots read 4."""
    assert together() == {(1 + 4, 8 + 2), (16 + 4, 2)}
    assert together(waits=True) == {(1 + 4, 2), (4, 8 + 2), (16 + 4, 2)}
    # Ingest never with checkpoints: one set with each; the restart may still read while data arrive.
    apart = frozenset(("ingest", "checkpoints"))
    assert together(never_together=apart) == {(1 + 4, 8), (1 + 4, 2), (16 + 4, 2)}
    assert together(never_together=frozenset(("ingest", "training"))) >= {(1 + 4, 8), (4, 8 + 2)}


@given(st.floats(1, 1e12), st.floats(1, 1e12), st.floats(1, 1e11), st.floats(1, 1e11))
def test_reading_and_writing_at_once_takes_no_fewer_nodes_than_either(read, write, of_read, of_write):
    loads = ((read, of_read, of_read), (write, of_write, of_write))
    both = float(nodes_needed(0.9, 1e15, *loads))
    assert all(both >= float(nodes_needed(0.9, 1e15, load)) for load in loads)
    assert both <= np.ceil(read / of_read + write / of_write) + 1


def test_an_unknown_write_rate_makes_a_design_conditional_until_it_is_stated():
    """0.99 TB in a thousandth of 3.9 d are 2.9 GB/s; no source gives what F210 writes."""
    _, result = sized(storage=["powerscale-f210"])
    assert [fact.kind.value for fact in result.design.conditional_on] == ["write-rate"]
    assert result.design.probability is None
    stated = {"storage": "powerscale-f210", "node_write_bytes_per_s": 2e9}
    _, known = sized(storage=["powerscale-f210"], stated=[stated])
    assert known.design.conditional_on == ()
    assert known.design.probability is not None
    # 2.9 GB/s at 2 GB/s a node take two, a cluster has three at least.
    assert known.design.storage_nodes == 3


def test_ingest_sizes_the_storage():
    """2 PB in four hours are 139 GB/s; AI400X2 writes 65 GB/s: three with or without the checkpoints of 2.9 GB/s."""
    data = {"daily_ingest_bytes": 2e15, "daily_window_s": 4 * 3600}
    request, result = sized(data, storage=["ai400x2"])
    assert result.design.storage_nodes == 3
    assert result.design.storage_need.rate_need is RateNeed.INGEST
    found = demand_over_time(result.design, request)
    assert found.peak_write_bytes_per_s == pytest.approx(2e15 / 14_400 + 14 * PARAMETERS / 337.5, rel=0.01)
    ingest = next(stream for stream in found.streams if stream.kind.value == "ingest")
    assert ingest.average_bytes_per_s == pytest.approx(2e15 / 86_400)


def test_every_replica_reads_its_weights():
    _, shared = sized(storage=["ai400x2"])
    _, storm = sized({"restart_reads": "each-replica"}, storage=["ai400x2"])
    job = storm.design.workloads[0].job
    assert job.replicas > 1
    kept = checkpoint_storage(storm.design, job)
    assert kept.restart_bytes == pytest.approx((14 + 2 * (job.replicas - 1)) * PARAMETERS, rel=0.01)
    less = checkpoint_storage(shared.design, shared.design.workloads[0].job)
    assert kept.restart_need_bytes_per_s > less.restart_need_bytes_per_s


def test_a_published_level_is_met_when_it_is_asked_for():
    """64 servers are two units: better is 80 GB/s read and 40 written. AI400X2 reads 45 at least and writes 65: two."""
    _, result = sized({"storage_level": "better", "minimum_capacity_bytes": 1e12}, storage=["ai400x2"])
    assert result.design.storage_nodes == 2
    assert checkpoint_storage(result.design, result.design.workloads[0].job).level == "better"
    # Best: 250 read and 124 written.
    _, best = sized({"storage_level": "best"}, storage=["ai400x2"])
    assert best.design.storage_nodes == 6
    assert best.design.storage_need.rate_need is RateNeed.LEVEL


def test_local_drives_as_buffer_lower_the_write_need():
    """0.99 TB until the next checkpoint in 20 minutes are 0.82 GB/s instead of 2.9 GB/s; a failure undoes more work."""
    every = {"checkpoint_every_s": 1200}
    jobs = [
        sized({**every, "checkpoint_buffer": where})[1].design.workloads[0].job
        for where in ("host-memory", "local-drives")
    ]
    memory, drives = (job.plan for job in jobs)
    assert drives.checkpoint_bytes / drives.write_s == pytest.approx(14 * PARAMETERS / 1200, rel=0.01)
    assert memory.checkpoint_bytes / memory.write_s == pytest.approx(14 * PARAMETERS / 337.5, rel=0.01)
    assert drives.goodput[0] < memory.goodput[0]


def test_small_files_take_operations():
    """20 kB files at 200,000 a second: a lookup and a read each, 0.4 M of the 3 M operations of AI400X2."""
    files = {"name": "small", "n_samples": 1e9, "sample_bytes": 20e3, "format": "raw files"}
    image = {"dnn": "resnet50", "tokens": None, "dataset": files, "batch_per_gpu": 128}
    asked = {key: value for key, value in {**image, "target": {"samples_per_s": 2e5}}.items() if value is not None}
    request = {"workload": [{"name": "p", **asked}], "platforms": {"servers": ["dgx-h100"], "storage": ["ai400x2"]}}
    request["data"] = {"minimum_capacity_bytes": 1e12}
    design = best_design(SizingRequest.from_dict(request), examples.catalog()).design
    assert design.storage_need.rate_need is RateNeed.FILES


def test_storage_that_pays_for_itself():
    """More nodes never save less; waiting for 64 GB/s instead of copying makes more of them worth while."""
    _, result = sized({"checkpoint_waits": True}, storage=["ai400x2"])
    evaluated = EvaluatedDesign(result, examples.catalog())
    found = storage_worth(evaluated, job_question(result.design, {}))
    saved = [row.gpu_hours_per_week for row in found.rows]
    assert saved == sorted(saved)
    assert found.rows[0].pays is Pays.IS_PLANNED
    assert all(row.ratio[0] <= row.ratio[1] for row in found.rows[1:])
    assert found.pays_up_to.nodes >= result.design.storage_nodes


GIB = 2**30


def _request(data: str, rate: float = 3000, cache: str = "page-cache", **allowed: object) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": data, "cache": cache, "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"generations": ["volta"], **allowed}})


def _design(data: str, rate: float = 3000, **allowed: object) -> DesignAnswer:
    return best_design(_request(data, rate, **allowed), shipped_catalog()).design


def _options(request: SizingRequest) -> set[str | None]:
    return {one.host_memory and one.host_memory.id for one in platforms(shipped_catalog(), request)}


def test_a_set_of_1400_gigabytes_is_cached_in_1536_gibibytes() -> None:
    """V225G, four V100 of 16 GiB: 1,536 - 4 x 16 - 16 = 1,456 GiB = 1.5634e12 B hold 1.4e12 B; 384 - 80 GiB do not.

    Only the first epoch reads the storage, so that the head node's NFS is enough and no scale-out storage is bought.
    """
    design = _design("1.4 TB", servers=["v225g"], gpus=["v100-pcie-16gb"])
    platform = design.platform
    assert platform.host_memory.id == "v225g-1536gib"
    assert page_cache_bytes(platform.server, 4, platform.gpu) == (1536 - 4 * 16 - 16) * GIB
    assert design.workloads[0].cache_hit_fraction == 1
    assert float(design.workloads[0].storage_bytes_per_s.value) == 0
    assert platform.storage.kind == "nfs-server"
    memory = [part for part in design.quantities.components if part.role is Role.HOST_MEMORY]
    assert [(part.item, int(part.quantity[0])) for part in memory] == [("v225g-1536gib", design.n_servers)]
    assert "v225g-1536gib" in design.bill.unpriced


def test_a_set_that_no_size_holds_leaves_the_standard_memory() -> None:
    """1.6e12 B are more than the 1.5634e12 B that 1,536 GiB cache; 300 GB are less than the 326 GB of 384 GiB."""
    for data in ("1.6 TB", "300 GB"):
        assert _options(_request(data, servers=["v225g"], gpus=["v100-pcie-16gb"])) == {None}
    assert _options(_request("1.5 TB", servers=["v225g"], gpus=["v100-pcie-16gb"])) == {None, "v225g-1536gib"}
    assert _options(_request("1.5 TB", cache="none", servers=["v225g"])) == {None}


def test_the_smallest_size_that_holds_the_set_is_considered() -> None:
    """C4140 with 4 x 16 GiB: 768 - 80 = 688 GiB = 738.7e9 B hold 700 GB; 900 GB call for 1,536 GiB."""
    assert _options(_request("700 GB", servers=["c4140"], gpus=["v100-sxm2-16gb"])) == {None, "c4140-768gib"}
    assert _options(_request("900 GB", servers=["c4140"], gpus=["v100-sxm2-16gb"])) == {None, "c4140-1536gib"}


def test_local_drives_that_are_fast_enough_save_the_memory() -> None:
    """A C4140 reads 700 GB from its own NVMe drive of 1.6 TB: a larger memory would only add to the bill."""
    design = _design("700 GB", servers=["c4140"])
    assert (design.platform.storage.kind, design.platform.host_memory) == ("local", None)


@pytest.mark.parametrize(
    ("asked", "server", "gibibytes"),
    [("512 GB", "dgx-1", 512), ("384 GB", "c4140", 384), ("512 GB", "c4140", 768), ("1 TB", "c4140", 1536)],
)
def test_the_smallest_published_size_meets_what_is_asked(asked: str, server: str, gibibytes: int) -> None:
    """Published sizes: DGX-1 512 GiB; C4140 384, 768 (24 x 32 GB) and 1,536 GiB (24 slots x 64 GB)."""
    found = platforms(shipped_catalog(), _request("140 GB", host_memory_bytes=asked, servers=[server]))
    assert {one.server.memory_bytes and one.server.memory_bytes.value for one in found} == {gibibytes * GIB}


def test_servers_without_so_much_memory_are_left_out() -> None:
    """No source gives a DGX-1 more than 512 GiB, 550 GB; 2 TB are in no server."""
    found = platforms(shipped_catalog(), _request("140 GB", host_memory_bytes="600 GB"))
    assert "dgx-1" not in {one.server.id for one in found}
    assert {"dgx-2", "c4140", "v225g"} <= {one.server.id for one in found}
    with pytest.raises(InfeasibleError, match=r"host_memory_bytes = 2\.00.TB.*1\.65.TB"):
        best_design(_request("140 GB", host_memory_bytes="2 TB"), shipped_catalog())


def test_a_given_cluster_has_the_memory_that_is_asked() -> None:
    """1,536 GiB in each of two C4140: 2 lines of memory, and 1.2 TB stay in the cache of 1,456 GiB."""
    request = _request("1.2 TB", host_memory_bytes="1.5 TB")
    design = project(request, shipped_catalog(), server="c4140", servers=2, storage="isilon-f800", storage_nodes=4)
    memory = [part for part in design.quantities.components if part.role is Role.HOST_MEMORY]
    assert [int(part.quantity[0]) for part in memory] == [2]
    assert design.workloads[0].cache_hit_fraction == 1
    standard = project(
        _request("1.2 TB"), shipped_catalog(), server="c4140", servers=2, storage="isilon-f800", storage_nodes=4
    )
    assert standard.workloads[0].cache_hit_fraction < 0.5


def test_the_band_follows_the_memory_that_is_added() -> None:
    """4 to 40 USD a GiB: 1,536 - 384 = 1,152 GiB more cost 4,608 to 46,080 USD."""
    catalog = shipped_catalog()
    prices = UnitPrices(catalog, price_book(catalog), "USD", [0.0, 1.0])
    platform = platforms(catalog, _request("140 GB", host_memory_bytes="1.5 TB", servers=["v225g"]))[0]
    assert prices.of("v225g-1536gib", platform).tolist() == [4_608, 46_080]


@pytest.mark.laws
@pytest.mark.parametrize("data", ["400 GB", "700 GB", "1 TB", "1.4 TB", "3 TB"])
def test_larger_memory_never_raises_the_cost(data: str) -> None:
    """The design without any option is among those compared, so the chosen one costs no more."""
    catalog = shipped_catalog()
    given = {one.name: getattr(catalog, one.name) for one in fields(catalog) if one.init}
    standard_only = Catalog(**given | {"memory": {}, "digest": "without memory options"})
    request = _request(data, 6000, servers=["v225g", "c4140-pcie"], forbidden_storage=["c4140-nvme"])
    costs = [best_design(request, one).design.cost for one in (catalog, standard_only)]
    assert costs[0].at_confidence <= costs[1].at_confidence + 0.01
