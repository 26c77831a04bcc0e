"""The six published reference architectures: what was measured there must come out here.

Sources: Dell EMC and NVIDIA, "Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs", 2018 (DGX-1);
Dell EMC, "Ready Solutions for AI: Deep Learning with NVIDIA", architecture guide, August 2018, tables 6 and 7 (C4140);
WekaIO, "How to shorten deep learning training times", July 2018 and "Scaling production AI", 2019 (Apollo 6500);
D. Pascuzzi, "GPU deep learning cluster considerations", Hitachi Vantara, November 2019 (V225G).
The tolerances are those of the issue that asked for these cases; the rates calibrate the model, so this shows that
the model can express them, not that it foresaw them.
"""

import pytest

from sizer import SizingRequest, project
from sizer.base.resources import data_dir
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult
from sizer.sizing.reasons import DataInMemory, NoClusterFileSystem
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from tests.factories.examples import sized
from tests.factories.requests import CATALOG


def request(name: str) -> SizingRequest:
    return SizingRequest.from_file(data_dir("examples") / f"{name}.toml")


def value(answer: WorkloadAnswer) -> float:
    return float(answer.throughput.value)


def nine_dgx1(name: str) -> DesignAnswer:
    parts = {"server": "dgx-1", "servers": 9, "storage": "isilon-f800", "storage_nodes": 8, "fabric": "100gbe"}
    return project(request(name), CATALOG, **parts)


@pytest.fixture(scope="module")
def small_images() -> DesignAnswer:
    return nine_dgx1("dgx1-f800-resnet50")


@pytest.fixture(scope="module")
def large_images() -> DesignAnswer:
    return nine_dgx1("dgx1-f800-inception-v4")


def networks(design: DesignAnswer, field: str) -> int:
    return sum(int(getattr(net, field)[0]) for net in design.quantities.networks)


def test_resnet50_on_nine_dgx1_is_gpu_bound(small_images: DesignAnswer) -> None:
    """5,907 MB/s from storage, GPUs at 97 % or more, CPUs at most 46 % (blog, figure 5 and its conclusions)."""
    (answer,) = small_images.workloads
    assert answer.bottleneck == "gpu"
    assert answer.gpu_busy_fraction >= 0.97
    assert value(answer) == pytest.approx(5907e6 / 113e3, rel=0.10)
    assert float(answer.storage_bytes_per_s.value) == pytest.approx(5907e6, rel=0.10)
    assert float(answer.cpu_utilization_fraction.value) == pytest.approx(0.46, abs=0.10)


def test_inception_v4_on_large_images_comes_near_the_processors(large_images: DesignAnswer) -> None:
    """19,895 MB/s, GPUs at 98 %, CPUs at 84 %: the processors are the next bottleneck (blog, figure 6)."""
    (answer,) = large_images.workloads
    assert answer.bottleneck == "gpu"
    assert answer.next_bottleneck == "decode"
    assert answer.gpu_busy_fraction >= 0.97
    assert value(answer) == pytest.approx(19895e6 / 1.3e6, rel=0.10)
    assert float(answer.storage_bytes_per_s.value) == pytest.approx(19895e6, rel=0.10)
    assert float(answer.cpu_utilization_fraction.value) == pytest.approx(0.84, abs=0.10)


def test_waiting_for_isilon_is_not_reproduced_but_lies_inside_the_interval(
    small_images: DesignAnswer, large_images: DesignAnswer
) -> None:
    """The counters read 97 and 98 %, and Isilon reached 96 % of the rate from local memory; the model says 100 %.

    It has GPUs that limit never wait, so it is 2 to 4 points high; the 90 % interval of the rate covers the loss.
    """
    for design, published in ((small_images, 0.97), (large_images, 0.98)):
        (answer,) = design.workloads
        assert published <= answer.gpu_busy_fraction <= published + 0.04
        assert 0.96 * value(answer) >= float(answer.throughput.low)


@pytest.mark.parametrize("name", ["dgx1-f800-resnet50", "dgx1-f800-inception-v4"])
def test_the_published_cluster_is_enough(name: str) -> None:
    """9 DGX-1 with 8 F800 nodes reached the target: the recommendation needs no more."""
    design = best_design(request(name), CATALOG).design
    assert all(answer.target_check is CheckResult.MET for answer in design.workloads)
    assert design.n_servers <= 9
    assert design.storage_nodes <= 8


@pytest.fixture(scope="module")
def ready_solution() -> DesignAnswer:
    return project(
        request("c4140-f800"), CATALOG, server="c4140", servers=1, storage="isilon-f800", storage_nodes=4, fabric="edr"
    )


@pytest.mark.parametrize(
    ("workload", "images_per_s", "bytes_per_s"), [(0, 2940, 335e6), (1, 1590, 180e6), (2, 7095, 796.25e6)]
)
def test_one_c4140_reads_from_f800(
    ready_solution: DesignAnswer, workload: int, images_per_s: float, bytes_per_s: float
) -> None:
    """Guide, table 7: 2,680, 1,440 and 6,370 Mbit/s for ResNet-50, VGG-16 and AlexNet at 113 kB an image."""
    answer = ready_solution.workloads[workload]
    assert value(answer) == pytest.approx(images_per_s, rel=0.15)
    assert float(answer.storage_bytes_per_s.value) == pytest.approx(bytes_per_s, rel=0.15)


def test_googlenet_validation_is_bound_by_the_links_into_the_gpus_on_wekaio() -> None:
    """Just under 42,000 images/s on eight GPUs from WekaIO (2018 article, figure 3).

    An image enters a GPU as 224 x 224 x 3 numbers of 4 B, 602 kB: 25.3 GB/s of 26.4 GB/s on two x16 links.
    """
    design = project(
        request("apollo-googlenet-inference"),
        CATALOG,
        server="apollo-6500",
        servers=1,
        storage="wekaio",
        storage_nodes=8,
    )
    (answer,) = design.workloads
    assert answer.bottleneck == "host_link"
    assert value(answer) == pytest.approx(42_000, rel=0.15)


def test_googlenet_validation_is_bound_by_local_drives() -> None:
    """About 17,000 images/s from local NVMe, I/O-bound (2018 article, figure 3)."""
    design = project(
        request("apollo-googlenet-inference"), CATALOG, server="apollo-6500", servers=1, storage="apollo-nvme"
    )
    (answer,) = design.workloads
    assert answer.bottleneck == "storage"
    assert value(answer) == pytest.approx(17_000, rel=0.15)


def test_a_small_team_needs_no_cluster() -> None:
    """Pascuzzi: data that fit in memory are read once; 10 or 25 GbE is enough; no clustered file system."""
    small_team = sized("small-team")
    assert small_team.needs_cluster is False
    assert small_team.design.n_servers == 1
    assert small_team.design.platform.storage.kind != "parallel-file-system"
    assert small_team.design.platform.fabric.id in ("10gbe", "25gbe")
    assert small_team.design.workloads[0].cache_hit_fraction == 1.0
    kinds = {type(reason) for reason in small_team.verdict.reasons}
    assert {DataInMemory, NoClusterFileSystem} <= kinds


def test_a_rate_that_drives_limited_is_no_evidence_for_shared_storage():
    """WekaIO's article of 2018, figure 3: just under 42,000 images/s from shared storage; 17,000 from local NVMe is the
    rate of the drives."""
    (answer,) = sized("apollo-googlenet-inference").design.workloads
    (run,) = answer.evidence
    assert (run.published, run.source, run.calibrates) == (42_000, "weka-blog-2018", True)


def test_gateway_uplinks_carry_what_the_nodes_deliver() -> None:
    """Four Isilon H600 nodes delivered 6 GB/s (Dell EMC, F800 and H600 I/O performance, page 10).

    1.5 GB/s x 8 x 1.25 = 15 Gbit/s of the 40 of its port: eight nodes take 120 / 54.5 = 2.2, three uplinks. Eight F800
    nodes, 3.75 GB/s each, take 37.5 Gbit/s x 8 / 54.5 = 5.5, the six that the Dell EMC guide's rule gives.
    """
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    asked = SizingRequest.from_dict({"workload": [work]})
    for storage, uplinks in (("isilon-h600", 3), ("isilon-f800", 6)):
        design = project(asked, CATALOG, server="c4140", servers=2, storage=storage, storage_nodes=8)
        assert networks(design, "gateway_uplinks") == uplinks
