"""A row of a batch is refused with what ``sizer size`` says: also with what its budget buys."""

import pytest

from sizer import InfeasibleError, SizingRequest, size
from sizer.sizing.best_design import best_design
from tests.factories.examples import catalog


def test_what_a_budget_buys_stands_in_both_refusals():
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "dataset": "imagenet", "target": {"samples_per_s": 150_000}}],
            "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
            "limits": {"budget": 2_000_000},
        }
    )
    said = []
    for answer in (size, best_design):
        with pytest.raises(InfeasibleError) as refused:
            answer(request, catalog())
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert said[0].count("DGX-1") == 2  # the nearest design, and the most that the budget buys
