"""Costs are equal where neither is likely to be the lower: the faster design leads, on the software that most run."""

import numpy as np

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import MOST_TIED, SETTLED, Ranking, is_tied, row_difference

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


def test_of_designs_that_cost_the_same_the_faster_leads():
    """Three servers with eight H100 and two with eight B200 cost as much within the bands."""
    catalog = shipped_catalog()
    platforms = {"servers": ["as-8125gs-tnhr", "as-a126gs-tnbr"], "storage": ["ai400x2-turbo"], "fabrics": ["ndr"]}
    data = {"minimum_capacity_bytes": "200 TB"}
    asked = SizingRequest.from_dict({"workload": [WORK], "platforms": platforms, "data": data})
    counts = search(asked, catalog, stored_calibration())
    first, second = Ranking(counts).first(2)
    assert 1 - SETTLED < row_difference(counts, second, first).p_more < SETTLED
    assert is_tied(counts, first, second)
    assert is_tied(counts, second, first)
    times = counts.evaluated.time_at(np.array([first, second]))
    assert times[0] <= times[1]


def test_of_designs_that_cost_the_same_the_one_for_x86_and_cuda_leads():
    """Two GH200 in an Arm server and eight L40S in an x86 one: a tenth of the price decides nothing."""
    work = WORK | {"dataset": WORK["dataset"] | {"n_samples": 1e5}, "target": {"time_to_train_s": "7 d"}}
    platforms = {"servers": ["hpe-dl384", "xe7745"], "gpus": ["gh200-144gb", "l40s-48gb"]}
    local = {"storage": ["nvme-to-confirm", "xe7745-nvme"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms | local})
    counts = search(asked, shipped_catalog(), stored_calibration())
    leader, *others = Ranking(counts).all()
    platform = counts.evaluated.platforms[int(counts.evaluated.space.platform[leader])]
    assert (platform.server.id, platform.other_software) == ("xe7745", None)
    assert [is_tied(counts, leader, row) for row in others] == [True]
    assert counts.ranking_cost[leader] > counts.ranking_cost[others[0]]


def test_what_cannot_cost_as_little_as_the_leader_is_not_counted():
    """A platform whose servers and storage alone cost more than a tie with the leader may is left alone."""
    work = {"dnn": "resnet50", "dataset": "imagenet-x10", "target": {"samples_per_s": 2_000}}
    platforms = {"servers": ["dgx-1", "dgx-2"], "storage": ["isilon-f800"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
    counts = search(asked, shipped_catalog(), stored_calibration(), most=24)
    leader = Ranking(counts).first(1)[0]
    least = np.where(counts.candidates, counts.main_cost.cost, np.inf).min(axis=1)
    counted = counts.has_parts.reshape(counts.candidates.shape).any(axis=1)
    assert least[counted].max() <= MOST_TIED * counts.ranking_cost[leader]
