"""``size`` and ``grow`` say the same: the design of a request that grows is what the plan buys first."""

import pytest

from sizer import SizingRequest, growth_plan, size
from sizer.present.text.verdict import binding_text, runner_up_text, selection_text
from sizer.questions.growth.first_purchase import size_with_growth
from sizer.questions.growth.result import ClusterSize
from sizer.sizing.reasons import BindingKind, SelectionKind
from tests.factories.examples import catalog


def request(dataset: str, data_factor: float | None, years: int = 4) -> SizingRequest:
    work = {
        "dnn": "resnet50",
        "stack": "tf-cnn-benchmarks-ngc18.09",
        "batch_per_gpu": 256,
        "dataset": "imagenet",
        "dataset_bytes": dataset,
        "target": {"samples_per_s": 8_000},
    }
    growth = {} if data_factor is None else {"growth": {"years": years, "data": data_factor}}
    platforms = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    return SizingRequest.from_dict({"workload": [work], "platforms": platforms, **growth})


@pytest.mark.parametrize(("dataset", "factor"), [("20 TB", 1.2), ("60 TB", 2.0)])
def test_the_design_is_what_the_plan_buys_first(dataset, factor):
    asked = request(dataset, factor)
    result = size_with_growth(asked, catalog())
    first = growth_plan(asked, catalog()).platforms[0]
    assert ClusterSize(result.design.n_servers, result.design.storage_nodes) == first.recommended.sizes[0]
    assert result.design.platform == first.platform
    assert result.design in result.platforms
    assert sum(point.is_documented for point in result.pareto) == 1


def test_drives_of_the_last_year_are_bought_in_the_first():
    """60 TB fit four nodes with the smallest drives; doubled three times they are 480 TB and call for larger ones."""
    asked = request("60 TB", 2.0)
    alone, result = size(asked, catalog()), size_with_growth(asked, catalog())
    assert alone.design.platform.capacity_option < result.design.platform.capacity_option
    assert result.selection.kind is SelectionKind.GROWTH
    assert result.design.binding.kind is BindingKind.GROWTH
    assert result.runner_up is not None
    assert result.runner_up.name.startswith("2 × DGX-1")
    for text in (selection_text(result), runner_up_text(result), binding_text(result.design)):
        assert "year" in text


def test_without_growth_it_is_the_sizing():
    asked = request("60 TB", None)
    assert size_with_growth(asked, catalog()).design.name == size(asked, catalog()).design.name
