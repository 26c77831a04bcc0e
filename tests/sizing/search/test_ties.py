"""Costs within a twentieth are equal where price bands decide: newer GPUs of the same vendor lead."""

from sizer import SizingRequest, size
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.reasons import RunnerUpKind
from sizer.sizing.search.ranking import NEAR_COST, introduced

WORK = {
    "name": "tracks",
    "epochs": 100,
    "dnn": {
        "name": "tracks",
        "forward_flop": 2.5e12,
        "parameters": 186e6,
        "input_bytes": 8.4e6,
        "kind": "transformer",
    },
    "dataset": {"name": "sequences", "n_samples": 1.5e6, "sample_bytes": "10 MB", "format": "records"},
    "target": {"time_to_train_s": "7 d"},
}


def test_of_designs_that_cost_the_same_the_newer_gpus_lead():
    """Three servers with eight H100 and two with eight B200 cost as much within the bands."""
    catalog = shipped_catalog()
    platforms = {"servers": ["as-8125gs-tnhr", "as-a126gs-tnbr"], "storage": ["ai400x2-turbo"], "fabrics": ["ndr"]}
    data = {"minimum_capacity_bytes": "200 TB"}
    result = size(SizingRequest.from_dict({"workload": [WORK], "platforms": platforms, "data": data}), catalog)
    # Servers of one kind with other GPUs are designs of their own.
    assert {one.platform.gpu.id for one in result.platforms} == {"b200-sxm-180gb", "h100-sxm-80gb", "h200-sxm-141gb"}
    first, second = result.platforms[:2]
    costs = [float(one.cost.at_confidence) for one in (first, second)]
    assert abs(costs[1] - costs[0]) <= NEAR_COST * costs[1]
    assert introduced(first.platform.gpu, catalog) > introduced(second.platform.gpu, catalog)
    assert result.runner_up_reason.kind is RunnerUpKind.TIED
    assert result.runner_up_reason.difference is None
