"""The arguments of published documents for and against a cluster, computed by the models and compared with them.

Sources: D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara, November 2019 (read once, link speed,
preparation on the processors, images/s against time to accuracy); Dell EMC, "Ready Solutions for AI: Deep Learning with
NVIDIA", architecture guide v1.0, August 2018, section 2.4 and table 6 (gateway links); Dell EMC and NVIDIA,
"Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs", 2018 (caching, GPU utilisation); MLPerf
Training v0.5 and v0.6, closed division, ResNet-50 (DGX-1, 80 and 130 DGX-1).
"""

import math
from functools import cache

import pytest

from sizer import SizingRequest, claims, project, simplest_design, size
from sizer.base.resources import data_dir
from sizer.questions.verdict.claim import Claim
from sizer.sizing.design.cluster_need import consumption, first_read_s, smallest_link
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer, SizingResult
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized

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
    reversal = claims_of("dgx1-f800-resnet50")["fits-memory"].reversal
    assert reversal is not None
    assert reversal.after > IMAGENET  # the test had to use more than this to reach the storage


def test_gpus_are_the_bottleneck_of_the_isilon_tests() -> None:
    """Isilon paper: each GPU had 97 % utilisation or higher, which indicates that the GPU was the bottleneck."""
    claim = claims_of("dgx1-f800-resnet50")["gpus-wait"]
    assert claim.holds
    assert claim.value <= 1 - 0.97


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
