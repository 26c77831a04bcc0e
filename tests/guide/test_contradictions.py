"""No document is written of an answer that contradicts itself: each planted contradiction is found."""

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from sizer.base.errors import ReportError
from sizer.base.estimate import Estimate, Spread
from sizer.bom.bill import Bill
from sizer.bom.ownership import rates_of
from sizer.documents import as_handed_over
from sizer.guide import contradictions as gate
from sizer.guide.acceptance.tests import AcceptanceTest, Criterion
from sizer.guide.contradictions import contradictions
from sizer.questions.ownership import analysis
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.result import DesignAnswer, PlannedYear, SizingResult, WorkloadAnswer
from sizer.workload.growth import Growth
from sizer.workload.ownership import Ownership
from sizer.workload.quote import Quote
from tests.factories.examples import EXAMPLES, most_in, sized

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

NAME = "dgx1-f800-resnet50"


@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_no_example_contradicts_itself(name: str) -> None:
    assert contradictions(sized(name)) == []


def design(change: Callable[[DesignAnswer], dict[str, object]]) -> SizingResult:
    result = sized(NAME)
    return replace(result, design=replace(result.design, **change(result.design)))


def first(change: Callable[[WorkloadAnswer], dict[str, object]]) -> SizingResult:
    return design(lambda one: {"workloads": (replace(one.workloads[0], **change(one.workloads[0])),)})


# Made in the test: a module is imported by every process that collects.
PLANTED = {
    "capacity": lambda: design(
        lambda _: {"checks": (DesignCheck(CheckKind.CAPACITY, CheckResult.MET, asked=5.1e15, known=5.12e14),)}
    ),
    "power": lambda: design(
        lambda _: {"checks": (DesignCheck(CheckKind.RACK_POWER, CheckResult.MET, asked=16e3, known=17e3),)}
    ),
    "headroom": lambda: design(lambda one: {"tiers": (replace(one.tiers[0], required_bytes=1e18),)}),
    "range": lambda: design(lambda one: {"cost": replace(one.cost, low=1.0, expected=0.5)}),
    "typical": lambda: design(lambda one: {"quantities": replace(one.quantities, power_typical_w=np.array([1e6]))}),
    "confidence": lambda: first(lambda _: {"probability": 0.3, "target_check": CheckResult.MET}),
    "tiers": lambda: replace(
        sized(NAME), platforms=(sized(NAME).design, replace(sized(NAME).design, tiers=sized(NAME).design.tiers * 2))
    ),
    "part number": lambda: design(
        lambda one: {
            "platform": sized("llama-70b-dgx-h100").design.platform,
            "bill": replace(
                one.bill,
                lines=(*one.bill.lines, replace(one.bill.lines[-1], item="px3-5878i2r", sku="PX3", quantity=0)),
            ),
        }
    ),
    "first year": lambda: replace(sized(NAME), planned_years=(PlannedYear(1, 9, 9, 4, None),)),
    "date": lambda: design(lambda one: {"bill": replace(one.bill, valid_until=datetime.date(2020, 1, 1))}),
    "price": lambda: design(lambda _: {"cost": None}),
    "interval": lambda: first(lambda _: {"gpu_spread": Spread(0.001, 0.001, 0.001)}),
    "rate": lambda: first(lambda _: {"throughput": Estimate(*map(np.asarray, (1e-9, 1e-9, 1e-9)))}),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_contradiction_is_found_and_nothing_is_written(planted: str) -> None:
    result = PLANTED[planted]()
    assert len(contradictions(result)) == 1
    with pytest.raises(ReportError, match="contradicts itself"):
        as_handed_over(result)


@pytest.mark.parametrize(
    ("value", "required", "bound"),
    [(11.9e9, None, 11.55e9), (47_800.0, 52_000.0, math.inf), (float("nan"), 1.0, math.inf)],
    ids=["above the link", "below the target", "no number"],
)
def test_planted_criteria_of_acceptance_are_found(
    value: float, required: float | None, bound: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = Criterion(value, "B/s", True, required, bound)
    test = AcceptanceTest("planted", "network", "Run it.", "", limit.text, "", criterion=limit)
    monkeypatch.setattr(gate, "acceptance_tests", lambda _: [test])
    assert len(contradictions(sized(NAME))) == 1


def test_a_bill_with_an_open_line_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    result = sized(NAME)
    assert any(line.extended_net is None for line in result.design.bill.bought)
    monkeypatch.setattr(Bill, "is_complete", True)
    assert len(contradictions(result)) == 1


def test_planted_costs_of_ownership_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Purchases of later years that are left out without a word, and a purchase without the discount of the deal."""
    result = sized(NAME)
    asked = {"ownership": Ownership(years=4), "growth": Growth(years=3, data=1.5), "quote": Quote(discount_percent=2)}
    bill = replace(result.design.bill, deal_discount_percent=Decimal(2))
    result = replace(
        result,
        request=result.request.model_copy(update=asked),
        design=replace(result.design, bill=bill),
    )
    assert contradictions(result) == []
    with monkeypatch.context() as planted:
        planted.setattr(analysis, "rates_of", lambda request: replace(rates_of(request), grows=False))
        assert len(contradictions(result)) == 1
    whole = replace(bill, deal_discount_percent=Decimal(0))
    monkeypatch.setattr(analysis, "customer_bill", lambda _: whole)
    assert len(contradictions(result)) == (1 if whole.total else 0)
