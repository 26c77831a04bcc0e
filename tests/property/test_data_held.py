"""Laws of requests that grow and of what they hold."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.calibrate.calibration import stored_calibration
from sizer.physical.capacity import counts_nodes
from sizer.physical.platforms import platforms
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.growth.purchase_planner import cheapest_sequence
from sizer.sizing.search.feasibility import StorageUnits
from sizer.workload.resolve import resolve
from tests.factories.requests import CATALOG
from tests.property.law_examples import law

YEARS, SIZES = st.integers(1, 4), st.integers(1, 4)


@st.composite
def cases(draw):
    years, sizes = draw(YEARS), draw(SIZES)
    meets = np.array(draw(st.lists(st.booleans(), min_size=years * sizes, max_size=years * sizes))).reshape(
        years, sizes
    )
    number = st.integers(0, 5)  # few values, so that ties are common
    steps = {
        (year, before, after): draw(st.one_of(st.none(), st.tuples(number, number)))
        for year in range(years)
        for before in ((None,) if year == 0 else range(sizes))
        for after in range(sizes)
    }
    return meets, steps


def total(path, steps):
    """Cost of a path, step by step; None where one is not open."""
    costs = [steps[year, path[year - 1] if year else None, after] for year, after in enumerate(path)]
    return None if None in costs else tuple(map(sum, zip(*costs, strict=True)))


@pytest.mark.laws
@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_sequence_is_the_best_of_all(case):
    meets, steps = case
    years, sizes = meets.shape
    open_paths = [
        (total(path, steps), path)
        for path in product(range(sizes), repeat=years)
        if all(meets[year, place] for year, place in enumerate(path)) and total(path, steps) is not None
    ]
    found = cheapest_sequence(meets, lambda year, before, after: steps[year, before, after])
    if not open_paths:
        assert found is None
    else:
        assert found is not None
        assert all(meets[year, place] for year, place in enumerate(found))
        assert total(found, steps) == min(open_paths)[0]


def test_buying_ahead_pays_where_a_step_loses_parts():
    """By hand: 10 now and 5 more with 4 lost is 19; the larger size for 14 at once is less."""
    first = {None: {0: 10, 1: 14}, 0: {0: 0, 1: 9}, 1: {1: 0, 0: None}}
    meets = np.array([[True, True], [False, True]])

    def cost(year, before, after):
        value = first[before][after]
        return None if value is None else (value,)

    assert cheapest_sequence(meets, cost) == (1, 1)


SETS = st.sampled_from(["imagenet", "imagenet-tfrecord", "coco", "imagenet-tensors-uint8"])
CARES = st.fixed_dictionaries(
    {
        "snapshot_share": st.floats(0, 1),
        "reserve_share": st.floats(0, 20),
        "checkpoint_every_s": st.sampled_from([600, 3600]),
        "checkpoints_kept": st.integers(1, 100_000),
    },
    optional={"raw_sample_bytes": st.floats(1e3, 1e7)},
)


def asked(works: list[tuple[str, float]], care: dict[str, Any]) -> SizingRequest:
    each = [
        {"name": f"W{number}", "dnn": "resnet50", "dataset": name, "dataset_bytes": held, "target": {"gpus_busy": 8}}
        for number, (name, held) in enumerate(works)
    ]
    allowed = {"servers": ["dgx-1"], "storage": ["isilon-f800", "wekaio", "isilon-h500"]}
    return SizingRequest.from_dict({"workload": each, "platforms": allowed, "confidence": 0.5, "data": care})


@law()
@given(works=st.lists(st.tuples(SETS, st.floats(1e9, 1e15)), min_size=1, max_size=3), care=CARES)
def test_every_sized_design_holds_what_must_fit(works, care):
    request = asked(works, care)
    try:
        result = size(request, CATALOG)
    except InfeasibleError:
        return
    for design in result.platforms:
        needed = storage_demand(design.workloads, request.data).total_bytes
        usable = design.usable_bytes
        assert not usable < needed  # NaN: no source gives a capacity
        if not np.isnan(usable):
            assert usable >= sum(
                {name: max(held for other, held in works if other == name) for name, _ in works}.values()
            )


@given(works=st.lists(st.tuples(SETS, st.floats(1e9, 1e15)), min_size=1, max_size=3), care=CARES, more=st.floats(0, 5))
def test_more_reserve_never_lowers_the_nodes(works, care, more):
    request = asked(works, care)
    readers = resolve(request, CATALOG, stored_calibration().measured)
    greater = request.data.model_copy(update={"reserve_share": request.data.reserve_share + more})
    options = platforms(CATALOG, request)
    before, after = (StorageUnits.of(readers, options, one) for one in (request.data, greater))
    counted = np.array([counts_nodes(option.storage) for option in options])
    assert (after.least >= before.least)[counted].all()
    assert (before.holds_data | ~after.holds_data).all()
