"""Loss of a coolant distribution unit: the spare one takes over."""

from sizer.questions.failures.analysis import CoolantLost, failure_cases
from sizer.questions.failures.text import single_failures_table
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories import examples
from tests.factories.requests import CATALOG


def test_the_spare_unit_takes_over() -> None:
    """102 kW of a GB200 NVL72 on two CDU of 121 kW: either one cools it."""
    result = examples.sized("gb200-nvl72")
    cases = {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}
    case = cases["coolant-unit"]
    assert isinstance(case.effect, CoolantLost)
    assert not case.is_only
    assert (case.effect.needed_w, case.effect.remaining_w) == (102_000, 121_000)
    assert case.share == (1,)
    table = single_failures_table(list(cases.values()), ())
    assert any("coolant" in str(row).lower() for row in table.rows)


def test_air_cooled_servers_have_none() -> None:
    result = examples.sized("c4140-f800")
    assert "coolant-unit" not in {case.key for case in failure_cases(EvaluatedDesign(result, CATALOG))}
