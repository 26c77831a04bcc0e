"""At most so many GPUs: what a request excludes, against a count of the GPUs of each design."""

from functools import cache

import numpy as np

from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.checks import Limit
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog

MOST = 20  # of servers with 8 GPUs two are within it, of those with 4 five


@cache
def counts() -> PartCounts:
    work = {"dnn": "resnet50", "target": {"samples_per_s": 1_000}}
    platforms = {"servers": ["dgx-1", "c4140"], "storage": ["isilon-f800"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, "limits": {"gpus": MOST}})
    return search(request, catalog(), stored_calibration(), most=8)


def test_no_design_has_more_gpus() -> None:
    space = counts().evaluated.space
    per_server = np.array([platform.server.n_gpus.value for platform in counts().evaluated.platforms])
    gpus = space.n_servers * per_server[space.platform]
    assert gpus[counts().feasible].max() == MOST
    assert (gpus > MOST).any()


def test_a_design_with_more_gpus_breaks_this_limit_alone() -> None:
    found = counts()
    row = int(np.flatnonzero(found.evaluated.space.n_servers == 6)[0])
    assert Limit.GPUS in found.broken(row)
