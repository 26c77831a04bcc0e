"""Money, racks, watts and people: the limits that a design must keep, or be refused."""

import pytest

from sizer import InfeasibleError, size
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult, Limit
from sizer.sizing.recommend import search
from sizer.sizing.search.infeasible_error import nearest_design
from tests.cases.case_book import NAMES, budget_of, catalog, designed, expect, request

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes cases and examples

REFUSED = ("small-change", "video-archive")


def test_half_a_million_buys_two_dgx1():
    """20,000 images/s: two DGX-1 at 10,500 each. 2 x 149,000 published against 399,000 USD for one DGX-2."""
    design = expect("half-a-million", servers=(2, 2))
    assert design.platform.server.id == "dgx-1"
    assert budget_of(design).result is CheckResult.MET


def test_two_racks_of_ten_kilowatts_are_enough_for_fourteen_thousand():
    """14,000 images/s at the published 1,370 of one V100: 10.2 GPUs, with a margin 12 to 16.

    Two DGX-1 draw 7 kW, three or four C4140 6 to 8 kW; storage and switches at most 3 kW more: two racks of 10 kW.
    """
    design = expect("two-racks", gpus=(12, 16), servers=(1, 4))
    assert int(design.quantities.racks[0]) <= 2
    assert float(design.quantities.power_max_w[0]) <= 20_000
    assert all(check.result is not CheckResult.NOT_MET for check in design.checks)


def test_a_budget_far_too_small_is_refused_with_the_budget_as_the_reason():
    """90 epochs in 4 h: 8,008 images/s, 5.8 GPUs at the published 1,370, so 8.

    Two servers of four GPUs cost 2 x sqrt(29,000 x 81,000) = 97,000 USD in the middle of their band, four times the
    25,000 USD; eight cards alone cost 50,000 USD.
    """
    with pytest.raises(InfeasibleError):
        designed("small-change")
    counts = search(request("small-change"), catalog(), stored_calibration())
    row, broken = nearest_design(counts)
    assert broken == (Limit.BUDGET,)
    assert 58_000 <= float(counts.expected_cost[row]) <= 160_000


def test_forty_students_share_twelve_to_twenty_gpus():
    """20 jobs of 8 h a day, submitted within 10 h: two an hour.

    With n jobs running dn/dt = 2 - n/8 by day, and n falls to 0.174 overnight: 2.1 in the morning, 12.0 in the evening,
    8 on average over the submissions. Twelve GPUs would be full in the evening; with 16 nine of ten jobs start within
    30 min (Poisson of 12.0: 87 % at most 15, and a GPU falls free every half hour).
    """
    expect("teaching-lab", gpus=(12, 20))


@pytest.mark.laws
@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_the_whole_answer_describes_the_design_of_the_case(name):
    """One answer everywhere: what ``size`` describes is what the case was judged by."""
    whole, lean = size(request(name), catalog()).design, designed(name)
    assert whole.name == lean.name
    assert (whole.n_gpus, whole.probability) == (lean.n_gpus, lean.probability)
    assert [tuple(work.throughput) for work in whole.workloads] == [tuple(work.throughput) for work in lean.workloads]
    assert whole.bill.total == lean.bill.total


@pytest.mark.laws
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_the_same_in_the_whole_answer(name):
    with pytest.raises(InfeasibleError) as lean:
        best_design(request(name), catalog())
    with pytest.raises(InfeasibleError) as whole:
        size(request(name), catalog())
    assert str(whole.value) == str(lean.value)
