"""The link between host and GPUs is a stage of its own."""

import csv
from pathlib import Path

import numpy as np
import pytest

from sizer import Catalog, DesignAnswer, SizingRequest, project
from sizer.calibrate.calibration import stored_calibration
from sizer.perf.pipeline import host_link_stage, link_sample_bytes

INFERENCE = Path(__file__).parents[2] / "catalog" / "benchmarks" / "inference.csv"


def googlenet(catalog: Catalog, n_gpus: int) -> DesignAnswer:
    """GoogLeNet on decoded tensors on one Apollo 6500 with WekaIO storage, as published."""
    work = {
        "dnn": "googlenet",
        "task": "validation-inference",
        "stack": "dlbs-tensorrt-2018",
        "batch_per_gpu": 128,
        "dataset": "imagenet-tensors-uint8",
        "dataset_bytes": "1.5 TB",
        "target": {"samples_per_s": 30_000},
    }
    asked = SizingRequest.from_dict({"workload": [work]})
    parts = {"server": "apollo-6500", "servers": 1, "storage": "wekaio", "storage_nodes": 12}
    return project(asked, catalog, **parts, gpus_per_server=n_gpus)


def published(name: str) -> float:
    with INFERENCE.open(newline="") as rows:
        return next(float(row["value"]) for row in csv.DictReader(rows) if row["id"] == name)


def test_googlenet_stops_at_the_link_on_four_gpus_as_on_eight(catalog):
    """WekaIO (2018) publishes just under 42,000 images/s on eight GPUs, HPE 41,300 of ResNet-50 on the same server.

    Two x16 links carry both: 42,000 x 4 x 150,528 B = 25.3 GB/s. Within 10 % (the rates are printed as approximate).
    """
    four, eight = googlenet(catalog, 4).workloads[0], googlenet(catalog, 8).workloads[0]
    rates = [float(answer.throughput.value) for answer in (four, eight)]
    for answer in (four, eight):
        assert answer.bottleneck == "host_link"
        assert answer.gpu_busy_fraction < 0.8
    # The interval of four GPUs (62,000) reaches down to that of the link, which costs the median of both 1 %.
    assert rates[0] == pytest.approx(rates[1], rel=0.02)
    assert rates[1] == pytest.approx(published("weka2018-googlenet-wekaio-8g"), rel=0.1)
    assert rates[1] == pytest.approx(published("hpe-dlbs-trt-mproc-8g"), rel=0.1)
    gpu = [next(float(s.capacity.value) for s in answer.stages if s.key == "gpu") for answer in (four, eight)]
    assert gpu[1] == pytest.approx(2 * gpu[0], rel=1e-6)


def test_capacity_of_links():
    """By hand: 3 servers, 8 GPUs on 4 links of 12 GB/s, 150,528 values of 4 bytes: 3 x 4 x 12e9 / 602,112."""
    found = host_link_stage(3, 8, 4, 150_528, 12e9, 0.1)
    assert float(found.median) == pytest.approx(239_158, abs=1)
    assert link_sample_bytes(150_528) == 602_112
    # Two GPUs use two of the four links.
    assert float(host_link_stage(3, 2, 4, 150_528, 12e9, 0.1).median) == pytest.approx(119_579, abs=1)


def test_capacity_never_falls_with_more_servers():
    found = host_link_stage(np.arange(1, 50), 8, 4, 150_528, 12e9, 0.1).median
    assert (np.diff(found) > 0).all()


def test_a_link_of_x16_width_stays_below_its_line_rate():
    """PCIe 3.0 x16 has 15.75 GB/s after its 128b/130b code; HPE measures 10.5 GiB/s (11.3 GB/s) on one link."""
    rate, log_sd = stored_calibration().host_link
    assert 10.5e9 < rate < 15.75e9
    assert 0 < log_sd < 0.3
