"""What published documents say of scaling up against scaling out, beside what the model says.

Most of these runs helped to calibrate the model, so agreement shows that it can express them, not that it foresaw them.
Intervals are those of a ratio in which both sides share every parameter; what two runs of the same thing differ by is
not in them. Where model and document disagree, the test says so and holds the model to what it says today.

Sources: WekaIO, "Scaling production AI", 2019, figure 4 and its text; Dell EMC, "Ready Solutions for AI: Deep Learning
with NVIDIA", architecture guide, August 2018, pages 16 to 20; Dell EMC, "Deep Learning Performance: Scale-up vs
Scale-out", February 2019, section 8; DLPerf report v1.0, October 2020, ResNet-50 v1.5 tables.
"""

from itertools import pairwise
from typing import Any

import pytest

from sizer import Estimate, SizingRequest, project, scale_comparison
from sizer.catalog.loader import shipped_catalog
from sizer.questions.scale.analysis import EqualGpuComparison
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories.answers import recommended

CATALOG = shipped_catalog()
CHIEF = "tf-cnn-benchmarks-ngc18.09"


def request(
    server: str, stack: str, batch: int = 256, precision: str = "mixed", dnn: str = "resnet50"
) -> SizingRequest:
    data: dict[str, Any] = {
        # The median is asked for: a published run was made once.
        "confidence": 0.5,
        "workload": [
            {
                "dnn": dnn,
                "stack": stack,
                "precision": precision,
                "batch_per_gpu": batch,
                "dataset": "imagenet-tfrecord",
                "target": {"gpus_busy": 4},
            }
        ],
        "platforms": {"servers": [server], "gpus": ["v100-sxm2-16gb"], "storage": ["wekaio"], "fabrics": ["edr"]},
    }
    return SizingRequest.from_dict(data)


def same_gpus(asked: SizingRequest, n_gpus: int) -> EqualGpuComparison:
    return scale_comparison(EvaluatedDesign(recommended(asked), CATALOG), n_gpus=n_gpus).comparisons[0]


def holds(interval: Estimate, published: float) -> bool:
    return bool(interval.low <= published <= interval.high)


@pytest.mark.parametrize("dnn", ["resnet50", "resnet152", "vgg16", "inception-v4"])
def test_one_server_two_or_four_are_comparable(dnn: str) -> None:
    """weka-scaling-2019: one server with eight GPUs performs comparably to two with four and to four with two.

    No number is printed; comparable is read as within 10 %.
    """
    batch = 256 if dnn == "resnet50" else 128  # table 1 of the source
    same = same_gpus(request("apollo-6500", CHIEF, batch, dnn=dnn), 8)
    assert [(way.arrangement.n_servers, way.arrangement.gpus_used) for way in same.designs[:3]] == [
        (1, 8),
        (2, 4),
        (4, 2),
    ]
    for pair in same.pairs[:2]:
        assert 0.9 <= float(pair.rate_ratios[0].value) <= 1.1
        assert float(pair.rate_ratios[0].low) < 1.01  # that they are equal is not ruled out, to a percent


def test_external_storage_holds_none_of_them_back() -> None:
    """weka-scaling-2019: the storage can handle a scale-out as well as a scale-up deployment."""
    same = same_gpus(request("apollo-6500", CHIEF), 32)
    own = [way for way in same.designs if way.arrangement.platform.server.id == "apollo-6500"]
    assert len(own) == 3
    assert all(way.runs[0].answer.bottleneck == "gpu" for way in own)


STACKS = [("mxnet-dell-2018", 128), ("tensorflow-dell-2018", 256), ("caffe2-dell-2018", 128)]


@pytest.mark.parametrize(("stack", "batch"), STACKS)
def test_modules_train_faster_than_cards_in_the_same_host(stack: str, batch: int) -> None:
    """dell-ready-ai-nvidia-2018, page 18: SXM2 is 5 to 20 % faster than PCIe in a C4140."""
    (pair,) = same_gpus(request("c4140", stack, batch), 4).form_pairs
    modules, cards = pair.first, pair.second
    assert (modules.arrangement.platform.gpu.id, cards.arrangement.platform.gpu.id) == (
        "v100-sxm2-16gb",
        "v100-pcie-16gb",
    )
    gain = 1 / float(pair.rate_ratios[0].value)
    assert 1.05 <= gain <= 1.20


def test_modules_gain_with_the_gpus_of_a_node() -> None:
    """dell-ready-ai-nvidia-2018, page 18: 5 to 20 % faster, and the gain grows with the GPUs in the node.

    For VGG-16, whose gradient is large, half of the gain is the faster clock (10.4 % with one GPU), half what the
    exchange over PCIe takes beyond what the computation hides: 20.9 % with four GPUs as medians of draws. At the fitted
    coefficients it was 14.9 %, with nearly all of the exchange hidden.
    """
    asked = request("c4140", "mxnet-dell-2018", 64, "fp32", dnn="vgg16")
    gains = []
    for used in (1, 2, 4):
        rates = [
            float(
                project(
                    asked,
                    CATALOG,
                    server=server,
                    gpu=gpu,
                    servers=1,
                    gpus_per_server=used,
                    storage="wekaio",
                    storage_nodes=8,
                    fabric="edr",
                )
                .workloads[0]
                .throughput.value
            )
            for server, gpu in (("c4140", "v100-sxm2-16gb"), ("c4140-pcie", "v100-pcie-16gb"))
        ]
        gains.append(rates[0] / rates[1])
    assert gains == sorted(gains)
    assert gains[0] >= 1.05
    assert gains[-1] <= 1.21


def test_two_small_servers_against_one_large_one() -> None:
    """dell-scaleup-scaleout-2019, page 50: several C4140-K come within 7.8 % of one 8-GPU NVLink server."""
    same = same_gpus(request("dgx-1", "tf-horovod-dell-2018", 128), 8)
    pair = next(pair for pair in same.pairs if pair.second.arrangement.platform.server.id == "c4140")
    assert pair.second.arrangement.n_servers == 2
    assert float(pair.rate_ratios[0].value) >= 1 - 0.078
    assert holds(pair.rate_ratios[0], 1 - 0.078)


def test_newer_software_on_the_small_servers() -> None:
    """dell-scaleup-scaleout-2019, page 50: C4140-M at least 18 % better, with newer NCCL, TensorFlow and processors.

    The model disagrees: nothing but this sentence was measured with either stack, and it takes them to be alike. What
    it says of both together reaches from far below to far above, and the published gain lies inside.
    """
    old = same_gpus(request("dgx-1", "tf-horovod-dell-2018", 128), 8).first.runs[0].answer.throughput
    new = same_gpus(request("c4140", "tf-horovod-dell-2019", 128), 8).first.runs[0].answer.throughput
    assert float(new.value / old.value) < 1.18  # the disagreement
    assert float(new.low / old.high) < 1.18 < float(new.high / old.low)


# images/s at 8, 16 and 32 GPUs, one EDR port for each server of eight (dlperf)
MXNET_FP16 = (9_621, 16_219, 30_714)
MXNET_FP32 = (3_007, 5_758, 11_332)
PYTORCH_FP16 = (6_155, 11_992, 22_551)


@pytest.mark.parametrize(
    ("stack", "precision", "batch", "published", "agrees"),
    [
        # 84 % are kept on leaving the first server, 95 % from there on; the model keeps 93 (91 to 94) % there.
        ("mxnet-ngc20.03-dali", "mixed", 256, MXNET_FP16, (True, False)),
        ("mxnet-ngc20.03-dali", "fp32", 128, MXNET_FP32, (True, True)),
        # 97 % on leaving the first server, 94 % from there on. The model has it the other way round: 94 (91 to 100) %,
        # then 97 (96 to 100) %. All is kept where the loader on the processors (4 800 to 17 700 images/s) is slower
        # than the GPUs (6 400): hosts are not shared between servers.
        ("pytorch-ngc20.03-dali-cpu", "mixed", 256, PYTORCH_FP16, (True, False)),
    ],
)
def test_one_port_for_eight_gpus_costs(
    stack: str, precision: str, batch: int, published: tuple[int, ...], agrees: tuple[bool, ...]
) -> None:
    """dlperf, ResNet-50 v1.5 tables: the share of its rate that a GPU keeps when the servers double."""
    asked = request("apollo-6500", stack, batch, precision)  # one EDR port for eight GPUs
    kept = scale_comparison(EvaluatedDesign(recommended(asked), CATALOG), n_gpus=[8, 16, 32]).scaling_steps
    shares = [many / (2 * few) for few, many in pairwise(published)]
    for step, share, does in zip(kept, shares, agrees, strict=True):
        assert float(step.efficiency[0].value) == pytest.approx(share, abs=0.04)
        assert holds(step.efficiency[0], share) == does


def test_with_mixed_precision_the_port_costs_more_than_with_fp32() -> None:
    """dlperf: MXNet keeps 84 % from 8 to 16 GPUs with fp16 and 96 % with fp32, whose steps hide more."""
    stack = "mxnet-ngc20.03-dali"
    kept = [
        scale_comparison(
            EvaluatedDesign(recommended(request("apollo-6500", stack, batch, precision)), CATALOG), n_gpus=[8, 16]
        )
        .scaling_steps[0]
        .efficiency[0]
        for precision, batch in (("mixed", 256), ("fp32", 128))
    ]
    assert float(kept[0].high) < float(kept[1].low)
