"""The default software stack: the newest one that was measured well for the network, precision and task."""

from itertools import product

import pytest

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.workload.resolve import resolve
from sizer.workload.stack_choice import FEW_RATES, StackEvidence, choose_stack
from tests.factories.requests import CATALOG
from tests.factories.rows import every

MEASURED = stored_calibration().measured
TASKS = ("training", "inference")
PRECISIONS = ("mixed", "fp32")


@pytest.mark.parametrize(
    ("dnn", "precision", "task", "stack"),
    [
        # NVIDIA's deep-learning examples of MXNet 20.12 print nine V100 rates of ResNet-50 with their batch; those of
        # PyTorch 21.03 print none, and TensorFlow 2.3 is older.
        ("resnet50", "mixed", "training", "mxnet-ngc20.12-dali"),
        ("resnet50", "fp32", "training", "mxnet-ngc20.12-dali"),
        # One rate of ResNet-101 is published with each of two stacks; its family was measured well with newer ones.
        ("resnet101", "mixed", "training", "mxnet-ngc20.12-dali"),
        # MLPerf v0.7 (2020): three rates of BERT, five of GNMT, Mask R-CNN and Transformer, four of SSD.
        ("bert-large", "mixed", "training", "pytorch-ngc20.06"),
        ("gnmt", "mixed", "training", "pytorch-ngc20.06"),
        ("mask-rcnn", "mixed", "training", "pytorch-ngc20.06"),
        ("transformer-big", "mixed", "training", "pytorch-ngc20.06"),
        ("ssd-resnet34", "mixed", "training", "pytorch-ngc20.06"),
        # The rates of TensorFlow 2017.05 for these networks are of P100, which no server of the catalogue takes.
        ("vgg16", "fp32", "training", "tf-cnn-benchmarks-2.2"),
        ("inception-v3", "fp32", "training", "mxnet-1.2"),
        ("resnet50", "mixed", "inference", "pytorch-ngc21.03"),
        # Nobody printed rates of BERT in inference or in fp32: newest PyTorch, which ran it in MLPerf v0.7.
        ("bert-large", "mixed", "inference", "pytorch-ngc21.03"),
        ("bert-large", "fp32", "training", "pytorch-1.6-examples"),
    ],
)
def test_newest_stack_with_published_rates(dnn: str, precision: str, task: str, stack: str) -> None:
    choice = choose_stack(dnn, precision, task, CATALOG, MEASURED)
    assert choice is not None
    assert choice.stack.id == stack


@every(list(product([*CATALOG.dnns, "never-measured"], PRECISIONS, TASKS)))
def test_every_network_gets_a_measured_stack_and_no_older_one(dnn: str, precision: str, task: str) -> None:
    """Written out as a second rule: no stack with as many rates of the network itself is newer."""
    choice = choose_stack(dnn, precision, task, CATALOG, MEASURED)
    assert choice is not None
    chosen = choice.stack
    assert chosen.task in (task, "both")
    assert precision in chosen.precisions
    rates = {
        stack: sum(count for key, count in MEASURED.items() if key[0] == stack and key[2:] == (precision, task))
        for stack in CATALOG.stacks
    }
    assert rates[chosen.id] >= FEW_RATES
    for stack in CATALOG.stacks.values():
        if MEASURED.get((stack.id, dnn, precision, task), 0) >= FEW_RATES:
            assert stack.released.value <= chosen.released.value
    assert all(other.released.value <= chosen.released.value for other in choice.others)
    assert chosen not in choice.others


@pytest.mark.parametrize(
    "dnn",
    [
        dnn.id
        for dnn in CATALOG.dnns.values()
        if dnn.transformer is None and dnn.era is None and dnn.family not in ("segmentation", "recommender")
    ],
)
def test_the_framework_has_run_the_network_or_its_family(dnn: str) -> None:
    choice = choose_stack(dnn, "mixed", "training", CATALOG, MEASURED)
    assert choice is not None
    family = CATALOG.dnns[dnn].family
    ran = {CATALOG.stacks[key[0]].framework for key in MEASURED if CATALOG.dnns[key[1]].family == family}
    assert choice.stack.framework in ran
    assert choice.evidence not in (StackEvidence.SEVERAL_FAMILIES, StackEvidence.NONE)


def test_a_stray_rate_is_no_basis_for_a_default() -> None:
    """Made-up counts: two rates of a newer stack are fewer than three of an older one."""
    measured = {
        ("mxnet-ngc19.07-dali", "resnet50", "mixed", "training"): 3,
        ("mxnet-ngc20.12-dali", "resnet50", "mixed", "training"): 2,
        ("mxnet-ngc18.12-dali", "resnet50", "mixed", "training"): 9,
    }
    choice = choose_stack("resnet50", "mixed", "training", CATALOG, measured)
    assert choice is not None
    assert choice.stack.id == "mxnet-ngc19.07-dali"
    assert [other.id for other in choice.others] == ["mxnet-ngc18.12-dali"]
    assert choice.evidence is StackEvidence.NETWORK


def test_of_one_release_date_the_stack_with_more_rates_of_the_network_leads() -> None:
    """PyTorch and MXNet 20.06 both ran SSD in MLPerf v0.7: four rates against one."""
    measured = {
        ("mxnet-ngc20.06-dali", "ssd-resnet34", "mixed", "training"): 3,
        ("pytorch-ngc20.06", "ssd-resnet34", "mixed", "training"): 4,
    }
    choice = choose_stack("ssd-resnet34", "mixed", "training", CATALOG, measured)
    assert choice is not None
    assert choice.stack.id == "pytorch-ngc20.06"


def test_a_stack_of_the_request_is_kept() -> None:
    work = {"dnn": "resnet50", "stack": "mxnet-ngc18.12-dali", "target": {"samples_per_s": "5000 images/s"}}
    (found,) = resolve(SizingRequest.from_dict({"workload": [work]}), CATALOG, MEASURED)
    assert found.stack.id == "mxnet-ngc18.12-dali"
    assert found.stack_choice is None
