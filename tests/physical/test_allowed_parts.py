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


@pytest.mark.parametrize(
    ("server", "fabric", "front"), [("as-8125gs-tnmr2", "400gbe", "400gbe"), ("dgx-h100", "ndr", "ndr")]
)
def test_storage_whose_ports_run_either_technology_joins_servers_of_either(
    server: str, fabric: str, front: str
) -> None:
    """A WEKApod's ConnectX-7 runs NDR or 400 GbE; the MI300X server has Ethernet alone."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    asked = {"servers": [server], "storage": ["wekapod-nitro"], "fabrics": [fabric]}
    found = platforms(shipped_catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))
    links = {one.storage.front_end_kind.value.id for one in found if one.storage.front_end_kind is not None}
    assert links == {front}


def test_a_refusal_names_only_servers_that_take_what_is_asked() -> None:
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}
    asked = {"gpus": ["mi300x-192gb"], "storage": ["wekaio"], "fabrics": ["400gbe"]}
    with pytest.raises(InfeasibleError) as refused:
        platforms(shipped_catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))
    assert "as-8125gs-tnmr2" in str(refused.value)
    assert "dgx-b200" not in str(refused.value)
