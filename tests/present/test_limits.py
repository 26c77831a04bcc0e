"""Limits that are kept: each once, as it was stated, and the budget only where the verdict does not tell it."""

from types import SimpleNamespace
from typing import Any

import pytest

from sizer.base.quantities import NARROW_SPACE
from sizer.bom.cost import CostInterval
from sizer.present.text.limits import limit_requirements, limits_text
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.workload.request import Limits


def answer(chance: float, power_w: float) -> Any:
    """A design of USD 74,000 to 150,000 that is asked to cost 250,000, draw 32.55 kW and take one rack."""
    met = CheckResult.MET if power_w <= 32_550 else CheckResult.NOT_MET
    budget = DesignCheck(CheckKind.BUDGET, CheckResult.MET, 250_000, 74_000, (), ("xe7745",), chance)
    return SimpleNamespace(
        request=SimpleNamespace(currency="USD", limits=Limits(budget=250_000, power_w="32.55 kW", racks=1)),
        planned_years=(),
        design=SimpleNamespace(
            checks=(budget, DesignCheck(CheckKind.POWER, met, 32_550, power_w)),
            budget_check=budget,
            quantities=SimpleNamespace(racks=[1], existing_racks=[0], rack_units=[4.0]),
            n_servers=1,
            n_gpus=2,
            bill=SimpleNamespace(is_complete=False),
            cost=CostInterval("USD", 74e3, 1e5, 1.2e5, 1.5e5),
        ),
    )


@pytest.mark.parametrize(
    ("chance", "power_w", "told"), [(1.0, 3_000, 3), (0.95, 3_000, 2), (1.0, 40_000, 2), (0.95, 40_000, 1)]
)
def test_kept_limits_are_told_once(chance, power_w, told):
    result = answer(chance, power_w)
    assert len(list(limit_requirements(result))) == 3
    text = limits_text(result)
    assert text.count(";") + 1 - ("items" in text or "item " in text) == told
    assert ("250" in text) == (chance == 1)
    assert (f"32.55{NARROW_SPACE}kW" in text) == (power_w <= 32_550)
