"""Limits are monotone: a looser limit never makes the recommended design dearer, nor a request infeasible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest
from sizer.sizing.best_design import best_design
from tests.factories.requests import CATALOG
from tests.property.law_examples import law
from tests.property.test_best import WORK

LIMITS = st.one_of(
    st.tuples(st.just("racks"), st.integers(1, 6)),
    st.tuples(st.just("rack_units"), st.integers(4, 120)),
    st.tuples(st.just("servers"), st.integers(1, 40)),
    st.tuples(st.just("power_w"), st.floats(2e3, 1e5)),
    st.tuples(st.just("budget"), st.floats(5e4, 3e6)),
)
PLATFORMS = st.fixed_dictionaries(
    {
        "servers": st.lists(
            st.sampled_from(["dgx-1", "c4140", "dgx-2", "dss-8440"]), min_size=1, max_size=3, unique=True
        ),
        "storage": st.lists(
            st.sampled_from(["isilon-f800", "isilon-h600", "wekaio"]), min_size=1, max_size=2, unique=True
        ),
    }
)


def rank(request: SizingRequest) -> tuple[bool, bool, float] | None:
    """What the search minimises: unknowns, then doubts about the budget, then cost; None where there is no design."""
    try:
        design = best_design(request, CATALOG).design
    except InfeasibleError:
        return None
    assert design.cost is not None
    budget = request.limits.budget
    cost = design.cost.at_confidence
    return bool(design.conditional_on), budget is not None and cost > budget, float(f"{cost:.9g}")


@law()
@given(work=WORK, platforms=PLATFORMS, limit=LIMITS, factor=st.floats(1, 3))
def test_a_looser_limit_never_costs_more(
    work: dict[str, object], platforms: dict[str, list[str]], limit: tuple[str, float], factor: float
) -> None:
    name, tight = limit
    loose = int(tight * factor) if isinstance(tight, int) else tight * factor

    def with_limit(limits: dict[str, float]) -> SizingRequest:
        return SizingRequest.from_dict({"workload": [work], "platforms": platforms, "limits": limits})

    tightest = rank(with_limit({name: tight}))
    looser = rank(with_limit({name: loose}))
    if looser is None:
        assert tightest is None
    elif tightest is not None:
        assert looser <= tightest


@pytest.mark.parametrize(("name", "least"), [("racks", 1), ("servers", 1)])
def test_the_least_limit_leaves_a_small_request_alone(name: str, least: int) -> None:
    """One GPU's work fits one server in one rack, so that the limit changes nothing."""
    work = {"dnn": "resnet50", "target": {"samples_per_s": 500}}
    request = {"workload": [work], "platforms": {"servers": ["c4140"], "storage": ["isilon-f800", "c4140-nvme"]}}
    assert rank(SizingRequest.from_dict({**request, "limits": {name: least}})) == rank(SizingRequest.from_dict(request))
