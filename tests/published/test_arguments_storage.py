"""Arguments about storage and data that published documents make: each is reproduced, or shown where numbers disagree.

Sources: Dell EMC, "Ready Solutions for AI: Deep Learning with NVIDIA", architecture guide, August 2018; Dell EMC and
NVIDIA, "Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs", 2018; WekaIO, "How to shorten deep
learning training times", July 2018, and documentation 3.1.9; HPE, Deep Learning Benchmarking Suite ("hpe-dlbs");
D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara, November 2019.
"""

import numpy as np
import pytest

from sizer import EvaluatedDesign, SizingRequest, SizingResult, data_plan, size
from sizer.base.resources import data_dir
from sizer.physical.capacity import smallest_nodes, usable_bytes
from sizer.questions.data.analysis import DataPlan
from tests.factories.requests import CATALOG


def sized(name: str) -> SizingResult:
    return size(SizingRequest.from_file(data_dir("examples") / f"{name}.toml"), CATALOG)


@pytest.fixture(scope="module")
def filled() -> DataPlan:
    return data_plan(EvaluatedDesign(sized("questions/how-long-to-fill"), CATALOG))


def test_data_from_outside_pass_the_gateway_and_not_the_head_node(filled):
    """Dell guide, section Network: data from outside may be loaded through the gateway, past the head node.

    The argument holds for the links: from a source of 40 Gbit/s it is four times as fast as one 10 GbE port of the head
    node. It does not for the published write rate of 1 GB/s, which is below both: ask for the rate of many files.
    """
    by_key = {route.key: route for route in filled.ingest.routes}
    assert filled.ingest.chosen is by_key["gateway"]
    assert by_key["head-node"].least_s / by_key["gateway"].least_s == pytest.approx(4)
    assert by_key["head-node"].published_s == by_key["gateway"].published_s == pytest.approx(22_200)


def test_150_copies_exceed_the_memory_of_clients_and_storage():
    """Isilon and DGX-1 paper, methodology: 22.2 TB, so that neither 512 GB a client nor 256 GB a node serve it."""
    dataset = CATALOG.datasets["imagenet-x150"]
    whole = dataset.n_samples.value * dataset.sample_bytes.value
    assert whole == pytest.approx(22.2e12, rel=5e-3)  # printed to three digits
    assert whole > 40 * CATALOG.servers["dgx-1"].memory_bytes.value
    assert whole > 10 * 8 * CATALOG.storage["isilon-f800"].cache_bytes_per_node.value
    # The example of the paper reads nearly all of it from the storage in every epoch.
    answer = sized("dgx1-f800-resnet50").design.workloads[0]
    assert answer.cache_hit_fraction < 0.01


def test_one_or_two_chassis_of_f800():
    """Derived from EMC's chart of protection overhead (2015): 96 TB leave 72, 192 TB leave 144, two of them 336."""
    storage = CATALOG.storage["isilon-f800"]
    assert usable_bytes(storage, 0, [4, 8]).tolist() == pytest.approx([72e12, 168e12])
    assert usable_bytes(storage, 1, [4, 8]).tolist() == pytest.approx([144e12, 336e12])
    # 22.2 TB with a fifth for snapshots and half as much again to come fit the smallest chassis.
    assert smallest_nodes(storage, 0, 22.2e12 * 1.7).nodes == 4


def test_local_drives_hold_validation_back():
    """WekaIO 2018: GoogLeNet validates just under 42,000 images/s from shared storage, about 17,000 from local NVMe.

    At 150,528 B an image that is 6.3 and 2.56 GB/s. Copying to such drives first never pays, however many passes.
    """
    plan = data_plan(EvaluatedDesign(sized("apollo-googlenet-inference"), CATALOG))
    (one,) = plan.validations
    assert one.local_samples_per_s == pytest.approx(17_000, rel=5e-3)  # printed as "around 17,000"
    assert one.local_samples_per_s * 150_528 == pytest.approx(2.56e9, rel=5e-3)
    assert one.samples_per_s == pytest.approx(42_000, rel=0.05)  # "just under"; the rate calibrates the model
    assert one.reads_bytes_per_s == pytest.approx(6.3e9, rel=0.05)
    # The paper's ResNet-50 stops at 41,300 with four times the work: 602 kB an image fill two x16 links at 25 GB/s.
    assert one.limiting == "host_link"
    assert np.isinf(plan.copies[0].break_even_epoch)


def test_validation_adds_little_time_where_storage_does_not_hold_it_back():
    """WekaIO 2018: validation can add significant wall-clock time to training.

    Not for ImageNet: 50,000 forward passes beside 1.28 million training steps are 1.3 % with a pass after every epoch,
    and MLPerf runs evaluate every four epochs. The argument needs a larger held-back set or slower reads.
    """
    samples = CATALOG.datasets["imagenet-tfrecord"].n_samples.value
    assert 50_000 / 3 / samples == pytest.approx(0.013, rel=0.01)
    result = sized("workloads/images-in-an-hour")
    for one in data_plan(EvaluatedDesign(result, CATALOG)).validations:
        assert one.share < 0.013
