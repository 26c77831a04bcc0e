"""Loss of a coolant distribution unit: as many servers go on as the other units cool."""

from sizer.catalog.loader import shipped_catalog
from sizer.questions.failures.analysis import failure_cases
from sizer.questions.failures.scenarios import CoolantLost
from sizer.questions.failures.tables import single_failures_table
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories import examples

CATALOG = shipped_catalog()


def test_one_unit_is_a_single_point_of_failure() -> None:
    """102 kW of a GB200 NVL72 on one CDU of 121 kW: without it no server runs."""
    result = examples.sized("gb200-nvl72")
    cases = {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}
    case = cases["coolant-unit"]
    assert isinstance(case.effect, CoolantLost)
    assert case.is_only
    assert (case.effect.remaining_w, case.effect.n_cooled) == (0, 0)
    assert case.share == (0,)
    table = single_failures_table(list(cases.values()), ())
    assert any("coolant" in str(row).lower() for row in table.rows)


def test_air_cooled_servers_have_none() -> None:
    result = examples.sized("c4140-f800")
    assert "coolant-unit" not in {case.key for case in failure_cases(EvaluatedDesign(result, CATALOG))}
