"""What the storage must hold: every set once, what is kept beside them, and that the search sizes for it."""

from dataclasses import replace
from typing import Any

import pytest

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.questions.what_if.input_grid import changed_works, fixed_design_rates
from sizer.questions.what_if.varied_input import DATASET_SIZE
from sizer.sizing.best_design import best_design
from sizer.sizing.constraints.stored_data import data_sets, lacks_shared_storage, storage_demand
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.resolve import resolve
from tests.factories.answers import recommended

CATALOG = shipped_catalog()


def request(*works: dict[str, Any], **tables: Any) -> SizingRequest:
    each = [
        {"name": f"W{number}", "dnn": "resnet50", "target": {"gpus_busy": 8}, **work}
        for number, work in enumerate(works)
    ]
    return SizingRequest.from_dict(
        {"workload": each, "confidence": 0.5, "platforms": {"generations": ["volta"]}, **tables}
    )


def readers(asked: SizingRequest) -> Any:
    return resolve(asked, CATALOG, stored_calibration().measured)


ON_F800 = {"platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]}}


@pytest.mark.parametrize(
    ("tables", "is_shared"),
    [
        ({}, False),
        ({"data": {"minimum_capacity_bytes": "60 TB"}}, True),
        ({"resilience": {"keeps_targets_without": ["storage-node"]}}, True),
        ({"data": {"minimum_capacity_bytes": "60 TB"}, "platforms": {"storage_tier": "local"}}, False),
    ],
    ids=["data", "capacity", "node", "local"],
)
def test_copies_in_several_servers_are_no_shared_storage(tables, is_shared):
    """A capacity that is demanded, and the loss of a storage node, take storage that all servers reach."""
    asked = request({}, **tables)
    lacks = lacks_shared_storage(readers(asked), asked, CATALOG, [1, 1, 0], [1, 4, 4])
    assert lacks.tolist() == [False, is_shared, False]


def test_a_set_that_two_workloads_read_counts_once_and_two_sets_add_up():
    asked = request(
        {"dataset": "imagenet", "dataset_bytes": "20 TB"},
        {"dataset": "imagenet", "dataset_bytes": "12 TB"},  # a part of the same set
        {
            "dataset": "imagenet-tensors-uint8",
            "dataset_bytes": "30 TB",
            "dnn": "googlenet",
            "task": "validation-inference",
        },
    )
    sets = data_sets(readers(asked))
    assert [(one.readers, one.size_bytes) for one in sets] == [((0, 1), 20e12), ((2,), 30e12)]
    assert storage_demand(readers(asked), asked.data).total_bytes == 50e12


def test_samples_of_another_size_are_another_set():
    """ImageNet enlarged to 1.3 MB an image does not hold the 113 kB originals."""
    asked = request({"dataset": "imagenet"}, {"dataset": "imagenet", "sample_bytes": "1.3 MB"})
    assert len(data_sets(readers(asked))) == 2


def test_custom_sets_are_told_apart_by_their_numbers():
    one = {"n_samples": 1e6, "sample_bytes": "1 MB"}
    other = {"n_samples": 2e6, "sample_bytes": "1 MB"}
    asked = request({"dataset": one}, {"dataset": dict(one)}, {"dataset": other})
    assert storage_demand(readers(asked), asked.data).total_bytes == pytest.approx(3e12)


def test_the_account_by_hand():
    """10 TB x 1.7, 40 TB raw x 1.7, and 24 checkpoints of 25.6 million parameters at 12 B."""
    asked = request(
        {"dataset": {"n_samples": 1e8, "sample_bytes": "100 kB"}},
        data={
            "snapshot_share": 0.2,
            "reserve_share": 0.5,
            "raw_sample_bytes": "400 kB",
            "checkpoint_every_s": "1 h",
            "checkpoints_kept": 24,
            "checkpoint_bytes_per_parameter": 12,
        },
    )
    account = storage_demand(readers(asked), asked.data)
    parameters = CATALOG.dnns["resnet50"].parameters.value
    assert account.sets_bytes == 10e12
    assert account.raw_bytes == pytest.approx(40e12)
    assert account.snapshots_bytes == pytest.approx(10e12)
    assert account.reserve_bytes == pytest.approx(25e12)
    assert account.checkpoint_bytes == 12 * parameters
    assert account.total_bytes == pytest.approx(85e12 + 24 * 12 * parameters)


def test_validation_keeps_no_checkpoint_and_a_silent_request_keeps_the_data_alone():
    asked = request({"task": "validation-inference", "dnn": "googlenet"}, data={"checkpoint_every_s": "1 h"})
    account = storage_demand(readers(asked), asked.data)
    assert account.checkpoints_bytes == 0
    assert account.total_bytes == account.sets_bytes


def test_a_raw_size_that_is_left_out_is_that_of_the_prepared_sample():
    asked = request({"dataset_bytes": "10 TB"}, data={"transform_core_s": 0.02})
    assert storage_demand(readers(asked), asked.data).raw_bytes == pytest.approx(10e12)


def test_the_search_buys_storage_for_two_sets_together():
    """Two sets of 600 TB: each alone fits the 691.2 TB of one chassis with 15.36 TB drives, both need a second one.

    60 x 15.36 TB less a quarter (6 + 2 units on four nodes) is 691.2 TB.
    """
    first = {"dataset": "imagenet", "dataset_bytes": "600 TB"}
    second = {"dataset": "coco", "dataset_bytes": "600 TB"}
    alone, both = (best_design(request(*works, **ON_F800), CATALOG).design for works in ((first,), (first, second)))
    assert (alone.storage_nodes, both.storage_nodes) == (4, 8)
    assert both.usable_bytes >= 1200e12


def test_the_search_buys_storage_for_snapshots_and_reserve():
    """60 TB fit 90 % of a chassis of 72 TB; with 20 % snapshots and 50 % reserve 102 TB do not fit that drive."""
    work = {"dataset_bytes": "60 TB"}
    plain, kept = (
        best_design(request(work, **ON_F800, data=care), CATALOG).design
        for care in ({}, {"snapshot_share": 0.2, "reserve_share": 0.5})
    )
    assert plain.usable_bytes == pytest.approx(72e12)
    assert kept.usable_bytes >= 102e12


def test_a_data_set_that_varies_is_judged_by_the_same_account():
    """One chassis of 144 TB: at 50 % reserve, 96 TB of data is the most that fits."""
    asked = request({"dataset_bytes": "90 TB"}, **ON_F800, data={"reserve_share": 0.5})
    result = recommended(asked)
    model = EvaluatedDesign(result, CATALOG).workloads[0]
    usable = result.design.usable_bytes
    assert usable == pytest.approx(144e12)
    along = fixed_design_rates(model, {DATASET_SIZE: [95e12, 97e12]})
    assert along.holds_data.tolist() == [True, False]


def test_who_shares_the_varied_set_goes_on_sharing_it():
    asked = request(
        {"dataset_bytes": "20 TB"}, {"dataset_bytes": "12 TB"}, {"dataset": "coco", "dataset_bytes": "1 TB"}
    )
    works = readers(asked)
    for size_bytes, needed in ((5e12, 13e12), (20e12, 21e12), (40e12, 41e12)):
        changed = replace(works[0], dataset_bytes=size_bytes, sample_bytes=2 * works[0].sample_bytes)
        assert storage_demand(changed_works(works, 0, changed), asked.data).total_bytes == needed
