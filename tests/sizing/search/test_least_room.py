"""What servers and storage take alone is never more than what the whole design takes."""

from typing import Any

import numpy as np
import pytest

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.recommend import search
from sizer.sizing.search.feasibility import Space, evaluate_space
from sizer.workload.request import SizingRequest

WORK = {"dnn": "resnet50", "target": {"samples_per_s": 60_000.0}, "dataset_bytes": 8e12}
SERVING = {"dnn": "llama-3-8b", "task": "serving", "use": "chat", "target": {"requests_per_s": 40.0}}
RACK = {"name": "A1", "free_u": 20, "power_w": 16_000.0}


@pytest.mark.parametrize(
    "asked",
    [
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800", "wekaio"]}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "limits": {"rack_power_w": 9_000.0}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "limits": {"rack_power_w": 40_000.0}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "site": {"floor_kg_per_m2": 800.0}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "site": {"network_racks": True}},
        {"platforms": {"generations": ["hopper"]}},
        {"platforms": {"generations": ["hopper"]}, "existing": {"racks": [RACK]}},
        {"platforms": {"servers": ["c4140"]}, "existing": {"racks": [RACK, {**RACK, "name": "A2", "load_kg": 90.0}]}},
        {"platforms": {"generations": ["hopper"]}, "workload": [SERVING]},
        {"platforms": {"generations": ["blackwell"]}, "workload": [SERVING]},
        {"platforms": {"generations": ["blackwell"]}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "rank_by": "ownership", "ownership": {}},
        {"platforms": {"generations": ["volta"], "storage": ["isilon-f800"]}, "quote": {"discount_percent": 30}},
        {"platforms": {"storage": ["isilon-f800"]}, "existing": {"servers": {"dgx-1": 2}, "storage_nodes": {}}},
        {
            "platforms": {"generations": ["volta"], "storage": ["head-node-nfs", "hnas"]},
            "resilience": {"keeps_targets_without": ["server"]},
        },
    ],
)
def test_servers_and_storage_never_take_more_than_the_design(asked: dict[str, Any]) -> None:
    counts = search(
        SizingRequest.from_dict({"workload": [WORK], **asked}), shipped_catalog(), stored_calibration(), most=40
    )
    sizes = np.array([0, 1, 2, 4, 8, 15, 31, 39])
    platforms = np.linspace(0, len(counts.evaluated.platforms) - 1, 24).astype(int)
    for index in np.unique(platforms):
        rows = counts.count(int(index), sizes)
        for name, total in (("racks", counts.racks), ("units", counts.rack_units)):
            assert (counts.at_least[name][index, sizes] <= total[rows] + 1e-9).all(), (
                counts.evaluated.platforms[index].key,
                name,
            )
        watts = counts.at_least["watts"][index, sizes]
        assert (watts <= counts.power_w[rows] + 1e-6).all()
        assert (counts.expected_main_cost[index, sizes] <= counts.expected_cost[rows]).all()
        assert (counts.main_cost.cost[index, sizes] <= counts.ranking_cost[rows]).all()
        assert (counts.likely_main_cost[index, sizes] <= counts.likely_cost[rows]).all()


@pytest.mark.parametrize("target", [{"samples_per_s": 60_000.0}, {"gpus_busy": 40}, {"time_to_train_s": 20_000.0}])
def test_no_platform_runs_with_fewer_servers_than_a_few_sizes_say(target: dict[str, Any]) -> None:
    work = {**WORK, "target": target, "epochs": 90}
    request, fitted = SizingRequest.from_dict({"workload": [work]}), stored_calibration()
    dense = search(request, shipped_catalog(), fitted, most=64).evaluated
    few = Space(len(dense.platforms), 2 ** np.arange(5))
    coarse = evaluate_space(request, dense.works, dense.platforms, few, shipped_catalog(), fitted)
    does, first = dense.runs.any(axis=1), dense.space.sizes[dense.runs.argmax(axis=1)]
    assert np.unique(first[does]).size > 10
    assert (coarse.fewest[does] <= first[does]).all()


def test_racks_follow_the_watts_of_a_rack() -> None:
    # By hand: a DGX-1 draws 3.5 kW at most; 7 kW of a rack feed two of them, so that 9 take 5 racks.
    asked = {"workload": [WORK], "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]}}
    request = SizingRequest.from_dict({**asked, "limits": {"rack_power_w": 7_000.0}})
    counts = search(request, shipped_catalog(), stored_calibration(), most=9)
    assert counts.at_least["racks"][0, 8] >= 5
