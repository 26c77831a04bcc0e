"""Laws that every sized design must keep, searched for counterexamples."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import DesignAnswer, InfeasibleError, SizingRequest, project, size
from sizer.sizing.checks import CheckResult
from tests.factories.requests import CATALOG
from tests.property.law_examples import law

PLATFORMS = st.sampled_from(
    [
        {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]},
        {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
        {"servers": ["apollo-6500"], "storage": ["wekaio"], "fabrics": ["edr"]},
        {"servers": ["dgx-1"], "storage": ["nfs-generic"], "fabrics": ["edr"]},
    ]
)


def asked(platforms: dict[str, Any], rate: float, confidence: float = 0.9, **more: Any) -> SizingRequest:
    work = {
        "dnn": "resnet50",
        "stack": "tf-cnn-benchmarks-ngc18.09",
        "batch_per_gpu": 256,
        "dataset_bytes": 20e12,
        "target": {"samples_per_s": rate},
        **more,
    }
    return SizingRequest.from_dict({"confidence": confidence, "workload": [work], "platforms": platforms})


def sized(request: SizingRequest) -> DesignAnswer | None:
    try:
        return size(request, CATALOG).design
    except InfeasibleError:
        return None


def promises(design: DesignAnswer) -> bool:
    """Whether the design says that it meets the request: no fact that this depends on is missing.

    Nobody publishes what the customer's own NFS server reads or holds, so that a design with it promises nothing; its
    probability is not known, and it is given only because the request allows no other storage.
    """
    assert (design.probability is None) == bool(design.conditional_on)
    unknown = {fact.item for fact in design.conditional_on}
    assert unknown == ({"nfs-generic"} if design.platform.storage.id == "nfs-generic" else set())
    return not unknown


def objective(design: DesignAnswer) -> float:
    """What the search minimises: the cost that the design keeps with the confidence of the request.

    Only its least value is a law: what meets the larger demand meets the smaller one as well. A larger demand can do
    with fewer servers, where a server more had saved storage nodes that are then needed anyway. Six digits
    leave the rounding of sums out.
    """
    assert design.cost is not None
    assert math.isfinite(design.cost.at_confidence)
    return float(f"{design.cost.at_confidence:.6g}")


@law()
@given(platforms=PLATFORMS, rate=st.floats(500, 100_000), low=st.floats(0.5, 0.95), more=st.floats(0.0, 0.04))
def test_more_confidence_never_takes_less(platforms: dict[str, Any], rate: float, low: float, more: float) -> None:
    lax, strict = sized(asked(platforms, rate, low)), sized(asked(platforms, rate, low + more))
    if lax is None:
        assert strict is None
    elif strict is not None:
        assert objective(lax) <= objective(strict)


@law()
@given(
    platforms=PLATFORMS,
    hours=st.floats(0.1, 200),
    factor=st.floats(1.0, 4.0),
    confidence=st.sampled_from([0.5, 0.8, 0.95]),
    cache=st.sampled_from(["page-cache", "pinned", "none"]),
    length=st.sampled_from([{"epochs": 1.0}, {"epochs": 90.0}, {"recipe": "resnet50-mlperf-v0.6"}]),
)
def test_a_deadline_is_kept_and_a_tighter_one_never_takes_less(
    platforms: dict[str, Any], hours: float, factor: float, confidence: float, cache: str, length: dict[str, Any]
) -> None:
    def design(deadline_s: float) -> DesignAnswer | None:
        more = {"dataset": "imagenet", "dataset_bytes": None, "cache": cache, **length}
        return sized(asked(platforms, 1.0, confidence, target={"time_to_train_s": deadline_s}, **more))

    tight, lax = design(3600 * hours), design(3600 * hours * factor)
    for found, deadline_s in ((tight, 3600 * hours), (lax, 3600 * hours * factor)):
        if found is not None:
            (answer,) = found.workloads
            assert answer.target_check is (CheckResult.MET if promises(found) else CheckResult.OPEN)
            assert answer.time is not None
            assert float(answer.time.total_s.value) <= deadline_s * 1.005  # half a percent of confidence at the median
    if lax is None:
        assert tight is None
    elif tight is not None:
        assert objective(lax) <= objective(tight)


def test_all_in_cache_reads_nothing_after_the_first_epoch() -> None:
    """Limit: a set that fits is read once (Hitachi 2019; MLPerf: storage must only be tolerable in epoch one)."""
    request = asked({}, 1000.0, dataset_bytes=None, dataset="imagenet", cache="pinned")
    design = project(
        request, CATALOG, server="dgx-1", servers=2, storage="isilon-f800", storage_nodes=4, fabric="100gbe"
    )
    (answer,) = design.workloads
    assert answer.cache_hit_fraction == 1.0
    assert float(answer.storage_bytes_per_s.value) == 0.0
    assert float(answer.cold_storage_bytes_per_s.value) > 0


def test_one_gpu_exchanges_nothing() -> None:
    design = project(
        asked({}, 10.0), CATALOG, server="dgx-1", servers=1, storage="isilon-f800", storage_nodes=4, gpus_per_server=1
    )
    (answer,) = design.workloads
    exchange = next(stage for stage in answer.stages if stage.key == "exchange")
    assert np.isinf(exchange.capacity.value)
    assert answer.scaling_efficiency == pytest.approx(1.0, abs=1e-9)
