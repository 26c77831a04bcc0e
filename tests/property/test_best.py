"""The lean search finds the design of the whole analysis, for any request, with and without prices and losses."""

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import Catalog, InfeasibleError, SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking, is_tied, order_of, tie_break
from tests.factories.examples import catalog as shipped
from tests.factories.prices import all_priced
from tests.property.law_examples import law

SERVERS = ["dgx-1", "dgx-2", "c4140", "apollo-6500", "v225g"]
STORAGE = ["isilon-f800", "wekaio", "hnas", "head-node-nfs"]


@cache
def catalog(is_priced: bool) -> Catalog:
    """The shipped catalogue, or one in which everything has a price that follows from its name."""
    return all_priced(lambda item: 100 + sum(map(ord, item)) ** 2 % 90_000) if is_priced else shipped()


TARGETS = st.one_of(
    st.builds(lambda x: {"target": {"samples_per_s": 10**x}}, st.floats(2.5, 5.0)),
    st.builds(lambda x: {"target": {"gpus_busy": x}}, st.sampled_from([1, 4, 16, 72])),
    st.builds(lambda x: {"target": {"time_to_train_s": 10**x}, "epochs": 90.0}, st.floats(3.5, 5.5)),
    st.builds(lambda x: {"task": "validation-inference", "target": {"samples_per_s": 10**x}}, st.floats(3.0, 5.0)),
)
WORK = st.builds(
    lambda dnn, data, target: {"dnn": dnn, "dataset_bytes": data, **target},
    st.sampled_from(["resnet50", "inception-v4", "vgg16"]),
    st.sampled_from(["150 GB", "2 TB", "22 TB", "300 TB"]),
    TARGETS,
)
LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "racks": st.sampled_from([1, 3, 8]),
        "power_w": st.sampled_from([2e4, 6e4, 3e5]),
        "rack_units": st.sampled_from([10, 40]),
        "servers": st.sampled_from([4, 20, 64]),
        "budget": st.sampled_from([3e5, 3e6]),
    },
)

LOSSES = st.sampled_from(["server", "storage-node", "switch", "gateway", "feed"])


@st.composite
def requests(draw: st.DrawFn) -> SizingRequest:
    platforms = {
        "servers": draw(st.lists(st.sampled_from(SERVERS), min_size=1, max_size=3, unique=True)),
        "storage": draw(st.lists(st.sampled_from(STORAGE), max_size=2, unique=True)),
        "fabrics": draw(st.lists(st.sampled_from(["edr", "100gbe", "10gbe"]), max_size=2, unique=True)),
    }
    data = {
        "workload": draw(st.lists(WORK, min_size=1, max_size=2)),
        "confidence": draw(st.sampled_from([0.5, 0.9])),
        "platforms": platforms,
        "limits": draw(LIMITS),
        "fabric": draw(st.sampled_from([{}, {}, {"oversubscription": 3.0}])),
        # Half of them tolerate losses.
        "resilience": draw(
            st.just({}) | st.fixed_dictionaries({"keeps_targets_without": st.lists(LOSSES, min_size=1, unique=True)})
        ),
    }
    keys = [None, None, "cost", "gpus", "rack-units", "watts", *(["time"] if data["limits"] else [])]
    rank_by = draw(st.sampled_from(keys))
    return SizingRequest.from_dict(data | ({} if rank_by is None else {"rank_by": rank_by}))


@law()
@given(request=requests(), n=st.integers(1, 8), is_priced=st.booleans())
def test_the_first_of_a_ranking_are_those_of_all(request: SizingRequest, n: int, is_priced: bool) -> None:
    def ranking() -> Ranking:
        return Ranking(search(request, catalog(is_priced), stored_calibration()))

    try:
        assert ranking().first(n) == list(ranking().varied())[:n]
    except InfeasibleError:
        return


@law()
@given(request=requests(), is_priced=st.booleans())
def test_no_design_that_keeps_all_limits_comes_before_the_first(request: SizingRequest, is_priced: bool) -> None:
    """Every design is counted and put in the order, without the bounds by which the ranking leaves most uncounted.

    Of those that cost the same within the price ranges one may come first that a reason puts before the cheapest.
    """
    try:
        counts, counted = (search(request, catalog(is_priced), stored_calibration()) for _ in range(2))
    except InfeasibleError:
        return
    each = [counted.feasible_of(index) for index in range(counted.evaluated.space.n_platforms)]
    # A number of GPUs is the size: of each platform the smallest that has them.
    rows = np.concatenate([found[:1] if request.ranks_by_rate else found for found in each])
    best = [int(rows[np.lexsort(order_of(counted, rows)[::-1])[0]])] if rows.size else []
    first = Ranking(counts).first(1)
    is_put_first = first and best and is_tied(counted, *first, *best) and tie_break(counted, *first, *best)
    assert first == best or is_put_first
