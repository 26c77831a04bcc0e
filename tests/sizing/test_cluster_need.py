"""The arithmetic of the arguments, against whole designs that are run with and without what is argued about."""

import numpy as np
import pytest

from sizer.sizing.design.cluster_need import MAX_SERVERS, exchange_loss, first_read_s, smallest_link, times_the_gpus
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.project import project
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized


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
