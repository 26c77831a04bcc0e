"""What the default software stack is worth, and requests that rest on it, compared with published rates."""

from typing import Any

import pytest

from sizer import SizingRequest, size
from sizer.export.design_json import design_document
from sizer.questions.what_if.sensitivity import sensitivities
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.workload_figures import software_on
from sizer.sizing.result import SizingResult
from sizer.workload.stack_choice import StackChoice, StackEvidence
from tests.factories.requests import CATALOG


def sized(work: dict[str, Any], **more: Any) -> SizingResult:
    return size(
        SizingRequest.from_dict(
            {"workload": [work], "confidence": 0.9, "platforms": {"generations": ["volta"]}, **more}
        ),
        CATALOG,
    )


@pytest.mark.parametrize(
    ("stack", "gpu", "evidence", "runs"),
    [
        # CUDA 11.0 of June 2020 knows compute capability 7.0 (V100) and 8.0 (A100), not 8.9 (L40S, CUDA 11.8).
        ("pytorch-ngc20.06", "l40s-48gb", StackEvidence.SEVERAL_FAMILIES, False),
        ("pytorch-ngc20.06", "l40s-48gb", None, False),
        ("pytorch-ngc20.06", "v100-sxm2-16gb", StackEvidence.NETWORK, True),
        ("pytorch-ngc20.06", "a100-sxm-80gb", StackEvidence.FAMILY, True),
        # Scripts of image classification on T4: of its own networks, not of a detector.
        ("tf-cnn-benchmarks-2.2", "t4-16gb", StackEvidence.NETWORK, True),
        ("tf-cnn-benchmarks-2.2", "t4-16gb", StackEvidence.SEVERAL_FAMILIES, False),
        ("mlperf-training", "b200-sxm-180gb", StackEvidence.NETWORK, True),
    ],
)
def test_software_runs_on_the_gpu_and_has_the_network(stack, gpu, evidence, runs):
    taken = CATALOG.stacks[stack]
    choice = None if evidence is None else StackChoice(taken, evidence, ())
    found = software_on(taken, choice, CATALOG.gpus[gpu], CATALOG)
    assert (found is taken) == runs
    assert runs or "current" in found.name


def test_bert_takes_24_to_64_gpus_by_the_rates_of_mlperf_v07() -> None:
    """One DGX-1 trained 379 sequences/s (47 a GPU), one DGX-2H 1,092 (68): 1,360 / 68 = 20, 1,360 / 47 = 29 GPUs.

    Whole servers of 8 and 16 GPUs and a confidence of 90 % make 24 to 64 of it.
    """
    work = {"dnn": "bert-large", "dataset": "wikipedia-bert", "target": {"samples_per_s": 1360}}
    result = sized(work)
    (answer,) = result.design.workloads
    assert answer.stack.id == "pytorch-ngc20.06"
    assert 24 <= result.design.n_gpus <= 64


def test_the_answer_says_what_the_newest_stack_is_worth() -> None:
    """ResNet-50 at 20,000 images/s: eight V100 print 10,800 with MXNet 20.12 and 5,000 with TensorFlow of 2018.

    20,000 / 10,800 = 1.9 and 20,000 / 5,000 = 4: at least two servers of eight GPUs, and four with the oldest stack.
    """
    work = {"dnn": "resnet50", "batch_per_gpu": 128, "dataset": "imagenet", "target": {"samples_per_s": 20_000}}
    result = sized(work, platforms={"servers": ["dgx-1"]})
    (answer,) = result.design.workloads
    default = answer.stack_default
    assert default.evidence is StackEvidence.NETWORK
    assert default.n_servers == result.design.n_servers
    oldest = default.alternatives[0]
    assert oldest.stack.released.value < "2019"
    assert oldest.samples_per_s < 0.6 * answer.throughput.value
    assert oldest.n_servers is not None
    assert oldest.n_servers >= 4
    assert 2 <= result.design.n_servers < oldest.n_servers
    (shown,) = design_document(result)["design"]["workloads"]
    assert shown["stack_default"]["alternatives"][0]["n_servers"] == oldest.n_servers
    (tornado,) = sensitivities(EvaluatedDesign(result, CATALOG))
    (bar,) = (influence for influence in tornado.influences if influence.key == "stack")
    assert bar.low_servers == oldest.n_servers
    assert bar.low == pytest.approx(oldest.samples_per_s, rel=1e-6)
