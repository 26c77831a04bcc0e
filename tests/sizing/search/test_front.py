"""The Pareto front that counts only what could be on it is that of all designs."""

import numpy as np
import pytest

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.recommend import search
from sizer.sizing.search.front import front_rows
from sizer.sizing.search.ranking import Ranking, uncertainty
from tests.factories.examples import catalog


@pytest.mark.parametrize("samples_per_s", [2_000, 30_000])
@pytest.mark.parametrize("more", [{}, {"confidence": 0.9}, {"limits": {"power_w": "60 kW"}}])
def test_the_cheapest_points_are_those_of_brute_force(samples_per_s, more):
    """Every design is counted, and every pair of designs compared; no lower bound is used."""
    work = {"dnn": "resnet50", "dataset": "imagenet-x10", "target": {"samples_per_s": samples_per_s}}
    platforms = {"servers": ["dgx-1", "c4140", "apollo-6500"], "storage": ["isilon-f800", "isilon-h600", "wekaio"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms, **more})
    counts = search(request, catalog(), stored_calibration(), most=40)
    chosen = Ranking(counts).first(1)[0]
    found = front_rows(counts, chosen, 12)
    n_counted = int(counts.has_parts.sum())
    everything = search(request, catalog(), stored_calibration(), most=40)
    rows = np.arange(everything.evaluated.space.n_rows)
    feasible = everything.feasible & (uncertainty(everything, rows) <= uncertainty(everything, np.array([chosen])))
    cost = everything.ranking_cost
    values = [cost, everything.evaluated.time_at(rows), everything.power_w, everything.rack_units]
    designs = np.unique(np.column_stack(values)[feasible], axis=0)
    is_no_worse = (designs[:, None] <= designs).all(axis=2)  # the first than the second
    np.fill_diagonal(is_no_worse, val=False)
    unbeaten = designs[~is_no_worse.any(axis=0)]
    assert [tuple(value[row] for value in values) for row in found] == sorted(map(tuple, unbeaten))[:12]
    assert n_counted <= int(everything.has_parts.sum())
