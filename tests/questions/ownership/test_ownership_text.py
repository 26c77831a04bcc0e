"""Cost of ownership in words and pictures: the table adds up, and no total stands where a price is missing."""

import dataclasses
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from sizer import SizingRequest, ownership, size
from sizer.base.estimate import Estimate
from sizer.base.resources import data_dir
from sizer.bom.cost import CostInterval
from sizer.guide.edition import Edition
from sizer.guide.pdf.render import guide_html
from sizer.present.charting import chart_svg
from sizer.questions.ownership.analysis import OwnershipAnswer, RunCost
from sizer.questions.ownership.charts import ownership_chart
from sizer.questions.ownership.tables import ownership_table, runs_table, total_text
from sizer.questions.ownership.text import finding
from tests.bom.test_ownership import owned
from tests.bom.test_rental import line
from tests.factories.examples import catalog

KNOWN = {"electricity_per_kwh": "0.20", "pue_ratio": 1.5, "watts": 7000.0}


def answered(*lines: Any, **rates: Any) -> OwnershipAnswer:
    run = RunCost(
        workload="ResNet-50",
        is_training_run=True,
        sample_unit="image",
        duration_s=Estimate(np.array(7200.0), np.array(6000.0), np.array(9000.0)),
        cost=Decimal("24.00"),
        low=Decimal("20.00"),
        high=Decimal("30.00"),
        energy_kwh=21.0,
        electricity=Decimal("4.20"),
        runs=13140.0,
    )
    return OwnershipAnswer(owned(*lines, **rates), None, (run,), None)


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\xa0", " ").replace(",", " ")


def test_the_rows_of_the_table_add_up() -> None:
    table = ownership_table(answered(line("298000"), **KNOWN))
    rows = [[plain(cell.text).replace(" ", "") for cell in row.cells] for row in table.rows]
    amounts = np.array([[float(text) for text in row[1:]] for row in rows])
    assert amounts[:-1].sum(axis=0) == pytest.approx(amounts[-1])
    assert amounts[:, :-1].sum(axis=1) == pytest.approx(amounts[:, -1])
    assert amounts[-1].tolist() == [298000.0, 55188.0, 353188.0]


@pytest.mark.parametrize("lines", [("298000", None), (None,)])
def test_no_total_stands_while_a_line_has_no_price(lines: tuple[str | None, ...]) -> None:
    """Energy is known: 7 kW x 1.5 for three years at 0.20; everything else is a range, or to be quoted."""
    answer = answered(*map(line, lines), **KNOWN)
    assert [cell.text for cell in ownership_table(answer).rows[-1].cells[1:]][::2] == ["to be quoted"] * 2
    assert plain(ownership_table(answer).rows[-1].cells[2].text) == "55 188.00"
    assert total_text(answer) == runs_table(answer).rows[0].cells[-1].text == "to be quoted"
    told = dataclasses.replace(answer, interval=CostInterval("USD", 3e5, 4e5, 5e5, 6e5))
    assert plain(total_text(told)) == "USD 300 000 to 600 000"
    assert plain(ownership_table(told).rows[-1].cells[-1].text) == "300 000 to 600 000"
    assert not any("at least" in text for text in (finding(answer), finding(told)))


def test_the_chart_is_drawn_of_known_prices_and_names_the_last_total() -> None:
    chart = ownership_chart(answered(line("298000"), **KNOWN))
    assert chart is not None
    assert "353" in chart_svg(chart)
    assert ownership_chart(answered(line("298000"), line(None), **KNOWN)) is None


def test_nothing_known_draws_nothing() -> None:
    assert ownership_chart(answered(line(None))) is None


@pytest.mark.guides
def test_the_customers_guide_has_the_section_only_where_it_is_asked_for() -> None:
    """The total of the section is the one of the analysis."""
    asked = SizingRequest.from_file(data_dir("examples") / "questions" / "cost-of-ownership.toml")
    result = size(asked, catalog())
    answer = ownership(result)
    text = plain(guide_html(result, catalog(), Edition("customer")))
    assert "Cost of ownership" in text
    assert plain(f"{answer.cost.total:,.2f}") in text
    without = dataclasses.replace(result, request=asked.model_copy(update={"ownership": None}))
    assert "Cost of ownership" not in guide_html(without, catalog(), Edition("customer"))
