"""Whatever is asked of a few platforms is answered as asked or said to be impossible; nothing else happens."""

from hypothesis import given
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.sizing.checks import CheckResult
from tests.factories.requests import CATALOG
from tests.property.law_examples import law


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
