"""GPUs that no server of the catalogue takes: a request that names one is refused by name."""

import datetime

import pytest

from sizer.base.errors import InfeasibleError
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.workload.request import SizingRequest


@pytest.mark.parametrize(
    ("gpu", "says"),
    [("rubin-288gb", "Rubin 288 GB: announced"), ("gaudi3-128gb", "Gaudi 3 128 GB: no published rates")],
)
def test_a_gpu_without_a_server_is_refused_by_name(gpu: str, says: str) -> None:
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict(
        {"workload": [work], "platforms": {"gpus": [gpu]}, "date": datetime.date(2026, 11, 28)}
    )
    with pytest.raises(InfeasibleError, match=says):
        platforms(shipped_catalog(), request)
