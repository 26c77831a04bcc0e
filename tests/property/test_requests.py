"""Whatever is typed or uploaded as a request is read or refused in words; nothing else happens."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.base.errors import RequestError
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.checks import CheckResult
from tests.property.law_examples import law

CATALOG = shipped_catalog()
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["22.2 TB", "52274 images/s", "12 h", "resnet50", "dgx-1", "mixed", "../..", "=cmd()", "<script>"]),
)
KEYS = st.sampled_from(
    [
        "workload",
        "dnn",
        "target",
        "samples_per_s",
        "gpus_busy",
        "dataset",
        "limits",
        "platforms",
        "servers",
        "x",
        "racks",
    ]
)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(data=TREES)
def test_any_tree_is_read_or_refused(data: object) -> None:
    with contextlib.suppress(RequestError):
        SizingRequest.from_dict(data)


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for kind in ("toml", "json"):
        with pytest.raises(RequestError):
            SizingRequest.from_text(text, kind)  # type: ignore[arg-type]


@law()
@given(
    rate=st.floats(1e-3, 1e9),
    batch=st.integers(1, 65_536),
    data_bytes=st.floats(1e6, 1e18),
    confidence=st.floats(0.5, 0.99),
    cache=st.sampled_from(["page-cache", "pinned", "none"]),
    access=st.sampled_from(["random", "sharded"]),
)
def test_any_size_is_answered_or_said_to_be_impossible(
    rate: float, batch: int, data_bytes: float, confidence: float, cache: str, access: str
) -> None:
    work = {
        "dnn": "resnet50",
        "stack": "mxnet-ngc19.05-dali",
        "target": {"samples_per_s": rate},
        "batch_per_gpu": batch,
        "dataset_bytes": data_bytes,
        "cache": cache,
        "access": access,
    }
    platforms = {"servers": ["dgx-1", "c4140"], "storage": ["isilon-f800", "wekaio", "hnas"]}
    request = SizingRequest.from_dict({"confidence": confidence, "workload": [work], "platforms": platforms})
    try:
        result = size(request, CATALOG)
    except InfeasibleError:
        return
    assert all(answer.target_check is CheckResult.MET for answer in result.design.workloads)
