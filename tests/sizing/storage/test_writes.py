"""What is written to the storage: which streams overlap, restarts of every replica, files, and unknown write rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.perf.storage import nodes_for_both, nodes_needed
from sizer.questions.failures.goodput import job_question
from sizer.questions.failures.storage_worth import Pays, storage_worth
from sizer.sizing.best_design import best_design
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.design.storage_need import demand_over_time
from sizer.sizing.reasons import RateNeed
from sizer.sizing.stages.checkpoints import CheckpointRates
from sizer.workload.checkpoints import OtherStreams
from sizer.workload.request import SizingRequest
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
    rates = ((of_read, of_read), (of_write, of_write), 1e15)
    both = float(nodes_for_both(read, write, 0.9, *rates)[0])
    assert both >= float(nodes_needed(read, 0.9, of_read, of_read, 1e15))
    assert both >= float(nodes_needed(write, 0.9, of_write, of_write, 1e15))
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
    _, result = sized({"storage_level": "better"}, storage=["ai400x2"])
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
