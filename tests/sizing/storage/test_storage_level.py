"""Storage of clusters that are asked for by their number of GPUs: the level that NVIDIA names for their data."""

import pytest

from sizer import SizingRequest, size
from sizer.sizing.assumptions import StorageLevelTaken
from sizer.sizing.reasons import RateNeed
from tests.factories import examples


def sized(gpus, server="dgx-h100", storage="ai400x2", data=None, target=None, **workload):
    asked = {"name": "p", "dnn": "llama-3-70b", "tokens": 1e12, "target": target or {"gpus_busy": gpus}, **workload}
    request = {"workload": [asked], "platforms": {"servers": [server], "storage": [storage]}}
    request["data"] = {"minimum_capacity_bytes": 1e12} | (data or {})  # rates decide, not the capacity of so many GPUs
    return size(SizingRequest.from_dict(request), examples.catalog())


def level_of(result):
    return next((one for one in result.assumptions if isinstance(one, StorageLevelTaken)), None)


@pytest.mark.parametrize(("gpus", "nodes", "read", "write"), [(256, 1, 15e9, 7e9), (1024, 2, 60e9, 28e9)])
def test_gpus_asked_for_by_number_get_the_level_of_their_data(gpus, nodes, read, write):
    """RA-11333-001 V11, table 6: "good" is for language models: 15 GB/s read, 7 GB/s written for a unit of 32 servers.

    The table's row of four units prints 60 and 30: its write rates are rounded. An AI400X2 reads at least 45 GB/s:
    ceil(15 / 45) = 1, ceil(60 / 45) = 2.
    """
    result = sized(gpus)
    assert result.design.storage_nodes == nodes
    taken = level_of(result)
    assert (taken.level, taken.read_bytes_per_s, taken.write_bytes_per_s) == ("good", read, write)


def test_a_large_cluster_does_not_run_on_one_appliance():
    """16 units: 16 x 15 = 240 GB/s, 6 appliances of 45 GB/s (5.3). The tokens of the training are 10 MB/s."""
    result = sized(4_096)
    assert result.design.storage_nodes == 6
    assert result.design.storage_need.rate_need is RateNeed.LEVEL


def test_a_rack_of_72_counts_as_nine_servers():
    """Eight NVL72 are 576 GPUs, as 72 servers of 8: 2.25 units, 33.75 GB/s read."""
    taken = level_of(sized(576, "gb200-nvl72", "ai400x2-turbo"))
    assert taken.read_bytes_per_s == pytest.approx(33.75e9)


def test_compressed_images_ask_for_more():
    """Table 6: "better" for compressed images such as ImageNet: 40 GB/s a unit."""
    taken = level_of(sized(256, dnn="resnet50", tokens=None))
    assert (taken.level, taken.read_bytes_per_s) == ("better", 40e9)


def test_the_level_can_be_refused_or_chosen():
    result = sized(1_024, data={"storage_level": "none"})
    assert result.design.storage_nodes == 1
    assert level_of(result) is None
    stated = sized(256, data={"storage_level": "best"})
    assert stated.design.storage_nodes == 3  # 125 / 45 = 2.8
    assert level_of(stated) is None


def test_other_targets_have_the_level_from_a_unit_of_32_servers_on():
    """One training reads 4 B a token; 400 people will run other jobs on so many servers."""
    assert level_of(sized(0, target={"tokens_per_s": 1e5})) is None
    large = sized(0, target={"tokens_per_s": 3e6})
    n_units = large.design.n_servers / 32
    assert n_units > 1
    assert level_of(large).read_bytes_per_s == pytest.approx(n_units * 15e9)
    assert large.design.storage_nodes == -(-n_units * 15 // 45)


def test_earlier_gpus_have_no_level():
    assert level_of(sized(16, "dgx-1", "isilon-f800", dnn="resnet50", tokens=None)) is None
