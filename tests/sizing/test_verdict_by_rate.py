"""The verdict: rates, limits of GPUs, and whether a cluster is needed."""

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.checks import Limit
from sizer.sizing.design.decisions import (
    MAX_SERVERS,
    delivers_as_much,
    exchange_loss,
    first_read_s,
    smallest_link,
    times_the_gpus,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.project import project
from sizer.sizing.recommend import search
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages.own_networks import operators_are_unknown
from sizer.sizing.stages.sharding import Sharding
from sizer.workload.request import SizingRequest
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized


def work(kind: str | None, *measured_on: str) -> Any:
    """A training of a network of one's own of a kind, or of one of MLPerf."""
    rates = tuple(SimpleNamespace(gpu=gpu) for gpu in measured_on)
    dnn = shipped_catalog().dnns.get(kind or "")
    return SimpleNamespace(
        own_kind=kind if dnn is None else dnn.kind,
        mlperf="" if dnn is None else dnn.mlperf,
        is_laid_out=False,
        serving=None,
        request=SimpleNamespace(measured=rates),
    )


@pytest.mark.parametrize(
    ("kind", "measured_on", "gpu", "unknown"),
    [
        ("point-cloud", (), "mi300x-192gb", True),
        ("point-cloud", ("a100-sxm-80gb",), "mi300x-192gb", True),
        ("point-cloud", ("mi325x-256gb",), "mi300x-192gb", False),
        ("point-cloud", (), "h100-sxm-80gb", False),
        ("transformer", (), "mi300x-192gb", True),
        ("transformer", (), "h200-sxm-141gb", False),
        ("dlrm-dcnv2", (), "mi350x-288gb", True),
        ("dlrm-dcnv2", ("mi325x-256gb",), "mi350x-288gb", False),
        ("r-gat", (), "gaudi3-128gb", True),
        ("dlrm-dcnv2", (), "b200-sxm-180gb", False),
        ("resnet50", (), "mi350x-288gb", True),
        ("bert-large", (), "mi350x-288gb", False),  # tinybox of MLPerf v5.0
    ],
)
def test_what_nobody_ran_on_gpus_of_a_vendor_is_unknown(
    kind: str | None, measured_on: tuple[str, ...], gpu: str, unknown: bool
) -> None:
    catalog = shipped_catalog()
    assert operators_are_unknown(work(kind, *measured_on), catalog.gpus[gpu], catalog) is unknown


def design(rate: float, gpus_busy: int | None = 16, **more: object) -> SimpleNamespace:
    """What the rules read of a design with one workload."""
    answer = SimpleNamespace(
        workload=SimpleNamespace(target=SimpleNamespace(gpus_busy=gpus_busy)),
        throughput=SimpleNamespace(value=rate),
        stages=[SimpleNamespace(key="gpu", capacity=SimpleNamespace(low=0.8 * rate))],
        **more,
    )
    return SimpleNamespace(workloads=[answer])


def test_sixteen_l4_are_no_sixteen_a100():
    """ResNet-50 by MLPerf: 16 A100 train 58,000 images/s, 16 L4 11,000."""
    assert not delivers_as_much(design(11e3), design(58e3))
    assert delivers_as_much(design(58e3), design(58e3))
    assert delivers_as_much(design(11e3, None), design(58e3, None))  # a rate is the target: both meet it


@pytest.mark.parametrize(
    ("required", "state_gb", "share"), [(80.0, 10, 0.2), (400.0, 10, 1.0), (None, 10, None), (80.0, 30, None)]
)
def test_share_of_one_card(required, state_gb, share):
    """Two cards that do at least 800 together, 400 each: 80 take a fifth of one; tables of 60 GB do not fit one."""
    memory = SimpleNamespace(state_bytes=state_gb * 1e9, memory_bytes=48e9, sharding=Sharding.EMBEDDINGS)
    kind = SimpleNamespace(is_laid_out=False)
    two = design(1000.0, None, required_samples_per_s=required, kind=kind, memory=memory)
    two.n_gpus = 2
    assert DesignAnswer.share_of_one_gpu.fget(two) == (share if share is None else pytest.approx(share))


MOST = 20  # of servers with 8 GPUs two are within it, of those with 4 five


@cache
def counts() -> PartCounts:
    work = {"dnn": "resnet50", "target": {"samples_per_s": 1_000}}
    platforms = {"servers": ["dgx-1", "c4140"], "storage": ["isilon-f800"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, "limits": {"gpus": MOST}})
    return search(request, catalog(), stored_calibration(), most=8)


def test_no_design_has_more_gpus() -> None:
    space = counts().evaluated.space
    per_server = np.array([platform.server.n_gpus.value for platform in counts().evaluated.platforms])
    gpus = space.n_servers * per_server[space.platform]
    assert gpus[counts().feasible].max() == MOST
    assert (gpus > MOST).any()


def test_a_design_with_more_gpus_breaks_this_limit_alone() -> None:
    found = counts()
    row = int(np.flatnonzero(found.evaluated.space.n_servers == 6)[0])
    assert Limit.GPUS in found.broken(row)


def test_a_refusal_names_the_memory_where_the_gpus_within_the_limit_do_not_hold_the_model() -> None:
    """Full fine-tuning takes 16 bytes for each of 70.6e9 parameters, 1.13 TB, and two cards of 48 GiB have 103 GB."""
    work = {"dnn": "llama-3-70b", "method": "fine-tuning", "tokens": 5e7, "target": {"gpus_busy": 2}}
    platforms = {"servers": ["r760xa"], "gpus": ["l40s-48gb"], "storage": ["r760xa-nvme"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, "limits": {"gpus": 2}})
    text = str(infeasible_error(search(request, catalog(), stored_calibration())))
    needed, there = re.findall(r"alone ([\d.]+)\sTB of the ([\d.]+)\sGB", text)[0]
    assert float(needed) == pytest.approx(70.6e9 * 16 / 1e12, rel=0.1)
    assert float(there) == pytest.approx(2 * 48 * 2**30 / 1e9, rel=0.01)


def model_of(name: str) -> WorkloadOnDesign:
    found = EvaluatedDesign(sized(name), catalog()).workloads[0]
    assert found is not None
    return found


def gpu_rate(design: DesignAnswer) -> float:
    return next(float(stage.capacity.value) for stage in design.workloads[0].stages if stage.key == "gpu")


@pytest.mark.parametrize("servers", [2, 3, 8])
def test_what_a_slower_network_loses_is_what_two_clusters_differ_by(servers: int) -> None:
    """A server that has ports for both networks, projected over each of them."""
    model, request = model_of("small-team"), sized("small-team").request
    parts = {"server": "v225g", "storage": "hnas", "storage_nodes": 2}
    rates = [
        gpu_rate(project(request, catalog(), servers=servers, fabric=kind, **parts)) for kind in ("25gbe", "100gbe")
    ]
    losses = exchange_loss(model, catalog().links["25gbe"], catalog().links["100gbe"])
    assert losses[servers - 1] == pytest.approx(max(1 - rates[0] / rates[1], 0.0), abs=1e-9)


def test_nothing_is_lost_on_one_server_or_over_the_same_network() -> None:
    model = model_of("dgx1-f800-resnet50")
    slowest, slow, fast = (catalog().links[name] for name in ("10gbe", "25gbe", "edr"))
    assert exchange_loss(model, slow, fast)[0] == 0
    assert not np.any(exchange_loss(model, fast, fast))
    assert exchange_loss(model, slowest, fast).shape == (MAX_SERVERS,)
    assert np.all(exchange_loss(model, slowest, fast) >= exchange_loss(model, slow, fast) - 1e-12)


@pytest.mark.parametrize(("few", "many"), [(1, 2), (4, 8), (16, 32)])
def test_more_gpus_bring_what_the_larger_design_brings(few: int, many: int) -> None:
    """Both sizes projected with drives that grow with them; 3 %: the first, cold epoch is left out of the argument."""
    work = {
        "dnn": "resnet50",
        "stack": "mxnet-ngc19.05-dali",
        "batch_per_gpu": 208,
        "dataset": "imagenet",
        "recipe": "resnet50-mlperf-v0.6",
        "target": {"time_to_train_s": "12 h"},
    }
    platforms = {"servers": ["dgx-1"], "storage": ["dgx1-ssd"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
    model = EvaluatedDesign(recommended(request), catalog()).workloads[0]
    assert model is not None
    found = times_the_gpus(model, few, many)
    small, large = (
        project(request, catalog(), server="dgx-1", servers=count, storage="dgx1-ssd").workloads[0]
        for count in (few, many)
    )
    assert found.rate_ratio == pytest.approx(float(large.throughput.value / small.throughput.value), rel=0.03)
    assert found.speed_ratio == pytest.approx(float(small.time.total_s.value / large.time.total_s.value), rel=0.03)
    assert found.epochs == pytest.approx((float(small.time.epochs.value), float(large.time.epochs.value)))


def test_the_slowest_link_that_is_enough_is_taken() -> None:
    """10 Gbit/s are 1.25 GB/s, 25 are 3.125."""
    slower, faster = (catalog().links[name] for name in ("10gbe", "25gbe"))
    assert [smallest_link(rate, catalog()) for rate in (0.0, 1.25e9, 1.26e9, 3.125e9, 3.13e9)] == [
        slower,
        slower,
        faster,
        faster,
        None,
    ]
    assert first_read_s(1.25e9, slower) == pytest.approx(1.0)
