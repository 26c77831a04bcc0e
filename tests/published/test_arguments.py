"""Published arguments for sizes and verdicts, recomputed."""

import math
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from sizer.base.estimate import Estimate
from sizer.base.resources import data_dir
from sizer.questions.scale.analysis import ArrangementPair, EqualGpuComparison, scale_comparison
from sizer.questions.verdict.analysis import Claim, claims
from sizer.questions.verdict.simplest_design import simplest_design
from sizer.sizing.design.decisions import consumption, first_read_s, smallest_link
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.project import project
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized
from tests.factories.requests import CATALOG

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
    for pair in (ArrangementPair(same.first, way) for way in same.designs[1:3]):
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
    other = next(way for way in same.designs[1:] if way.arrangement.platform.server.id == "c4140")
    pair = ArrangementPair(same.first, other)
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


IMAGENET = 148e9  # bytes, as the Isilon paper states the set


@cache
def claims_of(name: str) -> dict[str, Claim]:
    return {claim.key: claim for claim in claims(EvaluatedDesign(sized(name), catalog()))}


@cache
def question(name: str) -> SizingResult:
    return size(SizingRequest.from_file(data_dir("examples") / "questions" / f"{name}.toml"), catalog())


def resnet50(**more: object) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 1}, **more}
    return SizingRequest.from_dict({"workload": [work]})


# --- Hitachi: the data are read once


@pytest.mark.parametrize(("kind", "seconds"), [("10gbe", 118), ("25gbe", 47)])
def test_the_data_set_is_read_once_in_a_minute_or_two(kind: str, seconds: float) -> None:
    """Derived from Pascuzzi: 148 GB over 10 and 25 Gb/s. To the second printed."""
    assert round(first_read_s(IMAGENET, catalog().links[kind])) == seconds


def test_a_set_that_fits_the_memory_is_hardly_read() -> None:
    """Pascuzzi: what is read once costs a few minutes beside hours or days of training."""
    claim = claims_of("small-team")["fits-memory"]
    assert claim.holds
    time = sized("small-team").design.workloads[0].time
    assert time is not None
    assert first_read_s(claim.value, catalog().links["10gbe"]) < 0.01 * float(time.total_s.value)


# --- Hitachi: 10 or 25 GbE is nearly always enough


def one_server(stack: str, server: str, batch: int) -> float:
    """Bytes that one server takes in a second while nothing holds it up."""
    asked = resnet50(stack=stack, batch_per_gpu=batch, cache="none", target={"gpus_busy": 4 if "c41" in server else 8})
    data = asked.model_dump(exclude_none=True)
    data["platforms"] = {"servers": [server], "storage": ["isilon-f800"]}
    found = EvaluatedDesign(recommended(SizingRequest.from_dict(data)), catalog()).workloads[0]
    assert found is not None
    return consumption(found).later_bytes_per_s


def test_four_gpus_of_2018_need_a_third_of_10_gbe() -> None:
    """Dell guide, table 6: 2,940 images/s of 113 kB on four V100, 0.33 to 0.34 GB/s; 5 % is the accuracy claimed."""
    rate = one_server("dell-ready-2018", "c4140", 256)
    assert rate == pytest.approx(0.335e9, rel=0.05)
    assert smallest_link(rate, catalog()) == catalog().links["10gbe"]


def test_eight_gpus_of_2019_need_just_more_than_10_gbe() -> None:
    """MLPerf v0.6, DGX-1: 11,220 images/s of 114,660 B, 1.29 GB/s; 10 Gbit/s are 1.25. 5 % is the accuracy claimed.

    The line between is thinner than the accuracy: what must come out is that 10 GbE leaves nothing over, and 25 does.
    """
    rate = one_server("mxnet-ngc19.05-dali", "dgx-1", 208)
    assert rate == pytest.approx(11_220 * 114_660, rel=0.05)
    assert 0.95 * catalog().links["10gbe"].bytes_per_s < rate < 0.5 * catalog().links["25gbe"].bytes_per_s


def test_the_processors_limit_before_the_network() -> None:
    """Pascuzzi: unless the data are pre-formatted, preparation limits first; here on a C4140 behind 100 Gbit/s."""
    claim = claims_of("c4140-f800")["hosts-first"]
    assert claim.holds
    assert claim.value < catalog().links["10gbe"].bytes_per_s  # even 10 GbE would carry what they prepare


# --- Hitachi: images/s are not time to accuracy


def trained(stack: str, recipe: str, batch: int, servers: int) -> DesignAnswer:
    asked = resnet50(stack=stack, batch_per_gpu=batch, recipe=recipe, target={"time_to_train_s": "200 h"})
    return project(asked, catalog(), server="dgx-1", servers=servers, storage="dgx1-ssd")


@pytest.mark.parametrize(
    ("stack", "recipe", "batches", "servers", "rate", "time"),
    [
        ("mxnet-ngc18.11-dali", "resnet50-mlperf-v0.5", (208, 26), 80, 29.4, 21.6),
        ("mxnet-ngc19.05-dali", "resnet50-mlperf-v0.6", (208, 52), 130, 102.0, 68.0),
    ],
)
def test_images_a_second_do_not_carry_over_to_time(
    stack: str, recipe: str, batches: tuple[int, int], servers: int, rate: float, time: float
) -> None:
    """MLPerf: 8 to 640 GPUs 29.4 times the rate and 21.6 times the speed (v0.5); to 1,040 GPUs 102 and 68 (v0.6).

    10 %: the error of a ratio of two rates or times that are each within 5 to 7 %.
    """
    one, many = trained(stack, recipe, batches[0], 1), trained(stack, recipe, batches[1], servers)
    first, last = one.workloads[0], many.workloads[0]
    assert first.time is not None
    assert last.time is not None
    rates = float(last.throughput.value / first.throughput.value)
    times = float(first.time.total_s.value / last.time.total_s.value)
    assert rates == pytest.approx(rate, rel=0.10)
    assert times == pytest.approx(time, rel=0.10)
    assert times < 0.8 * rates


# --- Dell: how many nodes a gateway serves


def test_the_gateway_serves_fewer_nodes_than_the_guide_says() -> None:
    """Dell guide, section 2.4: three links of 7 GB/s serve 70 nodes at 0.3 GB/s each.

    Where it disagrees, and why: the guide's own table 6 has 0.335 GB/s a node (2,940 images/s x 113.04 kB plus reading
    overhead), and FDR carries 54.5 of its 56 Gbit/s, which leaves 59 to 61 nodes; with the software of 2019 (1,403
    images/s a GPU) half as many. The EDR switch has ports for 32 anyway.
    """
    asked = resnet50(stack="dell-ready-2018", batch_per_gpu=256, cache="none", target={"gpus_busy": 4})
    design = project(asked, catalog(), server="c4140", servers=1, storage="isilon-f800", storage_nodes=4, fabric="edr")
    assert design.platform.gateway is not None
    through = float(design.quantities.gateway_bytes_per_s[0])
    assert through == pytest.approx(3 * 54.5e9 / 8)
    ours = consumption_of(design)
    assert pytest.approx(70) == 3 * 7e9 / 0.3e9
    assert math.floor(through / ours) in range(57, 65)  # 5 % of 61
    newer = 4 * 1403 * 113_040
    assert math.floor(through / newer) in range(31, 34)


def consumption_of(design: DesignAnswer) -> float:
    answer = design.workloads[0]
    return float(answer.throughput.value) * answer.sample_bytes / design.n_servers


# --- Isilon: caching, and GPUs as the bottleneck


def test_the_small_set_vanishes_in_the_memory_of_a_dgx1() -> None:
    """Isilon paper: traffic of the 148 GB set fell to nearly nothing, as 512 GB of memory held it; 22.2 TB stayed."""
    asked = SizingRequest.from_file(data_dir("examples") / "dgx1-f800-resnet50.toml")
    work = asked.workload[0].model_copy(update={"dataset_bytes": IMAGENET})
    found = {
        one.key: one
        for one in claims(EvaluatedDesign(recommended(asked.model_copy(update={"workload": (work,)})), catalog()))
    }
    assert found["fits-memory"].holds
    assert found["storage-idles"].value == 0
    assert not claims_of("dgx1-f800-resnet50")["fits-memory"].holds
    # The test had to use more than this to reach the storage.
    assert claims_of("dgx1-f800-resnet50")["fits-memory"].threshold > IMAGENET


# --- the questions of the examples


def test_a_small_team_that_asks_for_a_cluster_gets_one_server() -> None:
    """Pascuzzi's counter-advice on a request for DGX-1 with an F800: one server, and its own drives are enough."""
    result = question("do-we-need-a-cluster")
    assert result.design.n_servers == 1
    assert not result.needs_cluster
    found = simplest_design(EvaluatedDesign(result, catalog()))
    assert found.unrestricted is not None
    assert found.unrestricted.design.platform.storage.kind == "local"
    assert found.excluding_choices == ("platforms.storage",)


def test_a_fast_fabric_pays_where_gradients_are_large() -> None:
    """Horovod, arXiv:1802.05799, figure 6: networks of many parameters gain most from the faster network."""
    found = {claim.key: claim for claim in claims(EvaluatedDesign(question("does-a-faster-fabric-pay"), catalog()))}
    assert not found["slow-fabric"].holds
    assert found["usual-link"].holds  # the same network is not needed for the data
