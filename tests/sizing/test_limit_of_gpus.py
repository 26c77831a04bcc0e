"""At most so many GPUs: what a request excludes, against a count of the GPUs of each design."""

import re
from functools import cache

import numpy as np
import pytest

from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.checks import Limit
from sizer.sizing.recommend import search
from sizer.sizing.search.infeasible_error import infeasible_error
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


def test_a_refusal_names_the_memory_where_the_gpus_within_the_limit_do_not_hold_the_model() -> None:
    """Full fine-tuning takes 16 bytes for each of 70.6e9 parameters, 1.13 TB, and two cards of 48 GiB have 103 GB."""
    work = {"dnn": "llama-3-70b", "method": "fine-tuning", "tokens": 5e7, "target": {"gpus_busy": 2}}
    platforms = {"servers": ["r760xa"], "gpus": ["l40s-48gb"], "storage": ["r760xa-nvme"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, "limits": {"gpus": 2}})
    text = str(infeasible_error(search(request, catalog(), stored_calibration())))
    needed, there = re.findall(r"alone ([\d.]+)\sTB of the ([\d.]+)\sGB", text)[0]
    assert float(needed) == pytest.approx(70.6e9 * 16 / 1e12, rel=0.1)
    assert float(there) == pytest.approx(2 * 48 * 2**30 / 1e9, rel=0.01)
