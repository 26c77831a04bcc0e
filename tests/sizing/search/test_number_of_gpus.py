"""A number of GPUs: what their rate costs ranks the kinds of GPUs, and the number gives the size of each."""

import numpy as np
import pytest

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking, rank_key
from tests.factories.examples import catalog

# Images/s of ResNet-50 by MLPerf on one L4, H100 NVL and H200: about 450, 5,000 and 6,900.
SERVERS = ["xe7745-l4", "xe7745", "as-8125gs-tnhr", "gb200-nvl72"]


def ranked(target, **more):
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": target}
    platforms = {"servers": SERVERS, "storage": ["xe7745-nvme", "as-8125gs-tnhr-nvme", "gb200-nvl72-nvme"]}
    asked = SizingRequest.from_dict({"date": "2026-11-28", "workload": [work], "platforms": platforms, **more})
    counts = search(asked, catalog(), stored_calibration())
    return counts, Ranking(counts).all()


def parts(counts, row):
    space = counts.evaluated.space
    platform = counts.evaluated.platforms[int(space.platform[row])]
    return platform.gpu.id, int(space.n_servers[row]) * platform.gpus_per_server


@pytest.mark.parametrize("n_gpus", [8, 16])
def test_the_slowest_gpus_do_not_win_by_their_price(n_gpus):
    """Eight L4 cost a fifth of eight H100 and deliver a fifteenth. Eight are not got by a rack of 72."""
    counts, order = ranked({"gpus_busy": n_gpus})
    gpu, count = parts(counts, order[0])
    assert gpu.startswith(("h100", "h200", "b200"))
    assert count == n_gpus
    assert np.all(np.diff(rank_key(counts, np.array(order))) >= 0)


def test_the_cheapest_leads_where_cost_is_asked_for():
    counts, order = ranked({"gpus_busy": 8}, rank_by="cost")
    costs = counts.ranking_cost[np.array(order)]
    assert costs[0] == costs.min()
    assert parts(counts, order[0])[0] == "l4-24gb"
