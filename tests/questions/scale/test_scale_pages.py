"""The same GPUs in other servers as tables, charts, a section of the engineer's file, text and plain data."""

import json
import re

import pytest

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from sizer.guide.engineer import performance
from sizer.guide.pdf.render import guide_html
from sizer.questions.scale.analysis import ArrangementPair, scale_comparison
from sizer.questions.scale.arrangement_run import StepBreakdown
from sizer.questions.scale.charts import rates_finding, steps_chart, steps_finding
from sizer.questions.scale.comparison_text import rate_comparison_text
from sizer.questions.scale.tables import hardware_table, per_gpu_table, rates_table, steps_table
from sizer.questions.scale.text import scale_document
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized

QUESTION = SizingRequest.from_file("examples/questions/scale-up-or-out.toml")


@pytest.fixture(scope="module")
def result():
    return size(QUESTION, catalog())


@pytest.fixture(scope="module")
def found(result):
    return scale_comparison(EvaluatedDesign(result, catalog()), n_gpus=[16, 32])


@pytest.fixture(scope="module")
def same(found):
    return found.comparisons[-1]


def scale(result):
    return performance.content(GuideContext(result, catalog(), Edition("engineer")))["scale"]


def texts(table):
    return [[cell.text for cell in row.cells] for row in table.rows]


def drawn(chart, key):
    """Rows that a chart carries, the first that have ``key``."""

    def found(part):
        if isinstance(part, dict):
            for value in part.values():
                yield from found(value)
        elif isinstance(part, list) and part and isinstance(part[0], dict) and key in part[0]:
            yield part
        elif isinstance(part, list):
            for value in part:
                yield from found(value)

    return next(found(chart.to_dict(validate=False)))


# --- tables


def test_unknown_prices_are_never_zero(same):
    prices = {row[0]: row[-1] for row in texts(hardware_table(same.designs, catalog()))}
    low = {name: float(price.split()[1]) for name, price in prices.items() if price.endswith("million")}
    assert low["8 × C4140"] > 0.2  # 32 V100 at the low end of their band alone
    assert low["4 × DGX-1"] >= 0.596  # 4 x 149,000 USD
    note = hardware_table(same.designs, catalog()).note
    assert "Without a published price: " in note
    assert "Dell EMC C4140" in note


def test_a_customers_copy_says_nothing_of_published_prices(result):
    ways = scale_comparison(EvaluatedDesign(customer_copy(result), catalog())).comparisons[0].designs
    table = hardware_table(ways, catalog())
    assert "published price" not in table.note
    assert [row[-1] for row in texts(table)][1:] == ["to be quoted"] * (len(ways) - 1)


def test_figures_a_gpu_are_those_of_the_design_shared_out(same):
    row = next(row for row in texts(per_gpu_table(same.designs)) if row[0] == "4 × DGX-1")
    assert row[2] == f"{22 / 32:.2f}"
    low = float(row[4].replace(NARROW_SPACE, "").split()[1])
    assert 18_625 <= low <= 2 * 18_625  # 596,000 / 32, and what else the design takes


def test_inference_has_no_table_of_steps():
    ways = scale_comparison(EvaluatedDesign(sized("apollo-googlenet-inference"), catalog())).comparisons[0].designs
    assert steps_table(ways) is None
    assert steps_chart(ways) is None
    assert len(rates_table(ways).rows) == len(ways)


# --- charts


def test_bars_of_a_step_add_up_to_it(same):
    parts, totals = (drawn(steps_chart(same.designs), key) for key in ("part", "text"))
    for total in totals:
        own = [part for part in parts if part["name"] == total["name"]]
        assert own[-1]["to"] == pytest.approx(total["to"])
        assert [part["from"] for part in own[1:]] == [part["to"] for part in own[:-1]]


def test_finding_of_the_steps_by_hand():
    one = StepBreakdown(compute_s=0.08, inside_s=0.01, between_s=0.01, exposed_s=0.005, waiting_s=0.015, data_s=0.0)
    two = StepBreakdown(compute_s=0.06, inside_s=0.01, between_s=0.01, exposed_s=0.01, waiting_s=0.02, data_s=0.01)
    said = steps_finding([one, two]).replace(NARROW_SPACE, " ")
    assert said == "Communication and waiting take 20 % to 30 % of a step; waiting for data up to 10 %"


# --- the engineer's file


@pytest.mark.guides
@pytest.mark.parametrize("name", ["dgx1-f800-resnet50", "c4140-f800", "apollo-googlenet-inference"])
def test_a_request_for_one_kind_of_server_has_no_section(name):
    assert scale(sized(name)) is None


@pytest.mark.guides
def test_two_workloads_have_tables_of_their_own():
    data = QUESTION.model_dump(exclude_none=True)
    vgg = {
        **data["workload"][0],
        "name": "<b>VGG</b>",
        "dnn": "vgg16",
        "batch_per_gpu": 128,
        "stack": "dell-ready-2018",
    }
    request = SizingRequest.from_dict({**data, "workload": [data["workload"][0], vgg], "confidence": 0.5})
    answer = size(request, catalog())
    tables = scale(answer).tables
    assert len({table.id for table in tables}) == len(tables) == 6
    html = guide_html(answer, catalog(), Edition("engineer"))
    assert "<b>VGG</b>" not in html
    assert "&lt;b&gt;VGG&lt;/b&gt;: 32 GPUs in several arrangements" in html


# --- text and data


def test_plain_data_holds_every_number(found):
    document = json.loads(json.dumps(scale_document(found, catalog()), allow_nan=False))
    last = document["comparisons"][-1]
    first = last["arrangements"][0]
    assert (first["server"], first["n_servers"], first["rack_units"], first["total"]) == ("dgx-1", 4, 22, "596000.00")
    assert first["workloads"][0]["rate_ratio"] == {"value": 1, "low": 1, "high": 1}
    parts = first["workloads"][0]["step"]
    sum_s = sum(parts[name] for name in ("compute_s", "exposed_s", "waiting_s", "data_s"))
    assert parts["step_s"] == pytest.approx(sum_s)
    c4140 = next(one for one in last["arrangements"] if one["server"] == "c4140")
    assert c4140["total"] is None
    assert "c4140" in c4140["unpriced"]
    assert re.search("over EDR InfiniBand", c4140["difference"])
    assert document["kept"][0]["to_gpus"] == 32


def test_rates_that_are_as_good_as_equal_are_not_called_faster_or_slower(same, monkeypatch):
    """A rate 0.1 % lower in every draw is as fast, as the summary of the differences says; 2 % lower is slower."""
    first, second = same.designs[:2]
    name = second.arrangement.name

    def finding(low, value, high):
        ratio = Estimate(value, low, high)
        monkeypatch.setattr(ArrangementPair, "rate_ratios", property(lambda _: (ratio,)))
        return rates_finding([second], first=first), rate_comparison_text(ratio, name, "the first")

    title, summary = finding(0.9985, 0.999, 0.9995)
    assert "no arrangement is certainly faster or slower" in title
    assert "is as fast as" in summary
    title, summary = finding(0.97, 0.98, 0.99)
    assert f"only {name} is certainly slower" in title
    assert "2.0" in summary
