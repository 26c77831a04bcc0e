"""Rules that every answer to an example keeps, checked on typed data before anything is written."""

import datetime
import io
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import openpyxl
import pytest

from sizer.base.errors import ReportError, RequestError
from sizer.base.estimate import Estimate, Spread
from sizer.batch.work import cells_of_design
from sizer.bom.bill import Bill, Sum
from sizer.bom.ownership import Footprint, footprint_of, ownership_cost, rates_of
from sizer.deck import outline
from sizer.documents import as_handed_over
from sizer.export.design_json import design_document
from sizer.export.workbook.book import workbook
from sizer.guide import contradictions as gate
from sizer.guide.acceptance.tests import AcceptanceTest, Criterion, acceptance_tests
from sizer.guide.chapters.compliance import requirements
from sizer.guide.chapters.risks import risk_table
from sizer.guide.context import guide_context
from sizer.guide.contradictions import beyond_purchases, contradictions, overstatements
from sizer.guide.further_answers import cautions
from sizer.guide.pdf.render import guide_html, guide_page
from sizer.guide.plain_text import answer_text
from sizer.guide.profile import Edition
from sizer.physical.racks.site_rules import coolant_parts
from sizer.present.page import Citations
from sizer.present.performance_tables import scaling_rows
from sizer.present.text.result_text import doubt
from sizer.present.text.verdict import verdict_text
from sizer.present.words import is_even
from sizer.questions.growth.text import criterion_text
from sizer.questions.ownership import analysis
from sizer.questions.scale.analysis import arrangements
from sizer.sizing.assumptions import AssumedFact
from sizer.sizing.best_design import BestDesign
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.spares import WaitForRepairs, wait_for_repairs
from sizer.sizing.growth.growth_plan import growth_plan
from sizer.sizing.growth.result import offered
from sizer.sizing.result import DesignAnswer, PlannedYear, SizingResult, WorkloadAnswer
from sizer.sizing.size import size
from sizer.ui.headline import tiles
from sizer.workload.optional_tables import Growth, Ownership
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest
from tests.factories.examples import EXAMPLES, ROOT, catalog, most_in, sized

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

FIRST_YEAR = PlannedYear(1, 9, 9, 4, None, Sum(Decimal(0)), Footprint(0.0))
# One published raw test reached 92.4 % of a line (deepops-roce).
PASSED_SHARE = 0.924
# A printed probability, before or behind the word for it.
_PROBABILITY = re.compile(r"probability[^%.;]*?(\d+)\u202f%|(\d+)\u202f% confidence")


@pytest.fixture(scope="module", params=most_in("guides", EXAMPLES))
def result(request: pytest.FixtureRequest) -> SizingResult:
    return sized(request.param)


def test_what_is_met_has_what_is_required(result):
    """Data, snapshots and checkpoints fit on the tiers together, and every tier holds what lies on it."""
    demand = storage_demand(result.design.workloads, result.request.data)
    for tier in result.design.tiers:
        assert not tier.free_bytes < 0
    assert not result.design.usable_bytes < demand.stored_bytes - demand.checkpoints_bytes
    for check in result.design.checks:
        if check.kind in (CheckKind.CAPACITY, CheckKind.WORKING_SET) and check.result is CheckResult.MET:
            assert check.known >= check.asked


def test_a_pass_criterion_lies_between_the_requirement_and_the_link(result):
    design = result.design
    line = design.platform.fabric.bytes_per_s
    ports = line * sum(port.count for port in design.platform.server.ports)
    targets = {answer.workload.target.samples_per_s for answer in design.workloads} - {None}
    for test in acceptance_tests(EvaluatedDesign(result, catalog())):
        limit = test.criterion
        if limit is None:
            continue
        assert math.isfinite(limit.value), test.key
        if limit.required is not None:
            assert limit.value >= limit.required * (1 - 1e-9) if limit.is_least else limit.value <= limit.required
        assert limit.value <= limit.bound, test.key
        if test.key in ("read-all", "read-one") and design.platform.attachment in ("fabric", "gateway", "spine"):
            servers = design.n_servers if test.key == "read-all" else 1
            assert limit.value <= PASSED_SHARE * servers * ports * (1 + 1e-9), test.key
        if test.key == "link-rate":
            assert limit.value <= PASSED_SHARE * line * (1 + 1e-9)
        if test.key == "all-reduce":
            assert limit.value <= PASSED_SHARE * ports * (1 + 1e-9)
        if test.key == "cluster-warm" and len(targets) == 1 and design.workloads[0].language is None:
            assert limit.value >= min(targets) * (1 - 1e-9)


def test_every_place_gives_the_probability_and_the_check_of_the_sizing(result):
    """Sentences, tile, plain text, workbook, slide and requirements print what the search chose the design by."""
    design = result.design
    if result.maximum is not None or design.probability is None or len(design.workloads) > 1 or result.request.team:
        return  # their sentences say more than one probability
    (answer,) = design.workloads
    context = guide_context(result, catalog(), Edition("guide"))
    (target, *_) = requirements(context)
    badge = tiles(result, is_customer_mode=False)[1].badge
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(result, catalog())), read_only=True).worksheets[0]
    notes = (str(row[3]) for row in sheet.values if str(row[0]).startswith("Target, "))
    said = {
        "doubt": doubt(result)[0],
        "requirement": target.design,
        "plain text": next(line for line in answer_text(result).splitlines() if line.startswith("  target")),
        "workbook": next(notes),
    }
    if not is_even(answer.probability):  # even odds are said in words
        said["slide"] = outline.verdict(context).title
    if answer.rate_is_predicted:
        said["tile"] = badge.text
    if result.needs_cluster:
        said["verdict"] = verdict_text(result)
    printed = {place: {*filter(None, itertools.chain(*_PROBABILITY.findall(text)))} for place, text in said.items()}
    percent = min(max(math.floor(100 * answer.probability + 1e-7), 1), 99)
    assert printed == {place: {str(percent)} for place in said}, said
    assert design_document(result)["design"]["probability"] == pytest.approx(design.probability, rel=1e-11)
    assert design.probability == answer.probability
    batch = cells_of_design(BestDesign(design, result.needs_cluster))
    assert batch["answer.probability"] == pytest.approx(design.probability, rel=1e-11)
    listed = [one.probability for one in result.platforms if one.name == design.name]
    assert listed == [design.probability] * len(listed)
    assert answer.target_check.is_met == target.is_met
    is_missed = answer.target_check is CheckResult.NOT_MET
    assert is_missed == ("below" in said["doubt"]) == badge.text.startswith("Below")


def test_a_design_that_lacks_spares_is_met_as_it_was_chosen():
    """What whole trainings last beyond their steps holds the repairs: no caution counts them again."""
    result = sized("llama-70b-dgx-h100")
    (answer,) = result.design.workloads
    waits = wait_for_repairs(answer)
    assert waits.total_s <= answer.time.total_s.value
    assert answer.probability >= 0.9
    context = guide_context(result, catalog(), Edition("guide"))
    told = [text for text in cautions(context) if "not in the bill" in text]
    assert not told
    assert next(iter(requirements(context))).is_met
    risks = risk_table(context)
    assert risks is None or "Missed target" not in {row.cells[0].text for row in risks.rows}


def test_figures_of_one_answer_follow_from_each_other(result):
    """No stage is slower than the bottleneck, nothing draws typically more than at most, no bound meets a limit."""
    design = result.design
    for answer in design.workloads:
        capacity = {stage.key: float(stage.capacity.value) for stage in answer.stages}
        assert capacity[answer.bottleneck] <= min(capacity.values()) * (1 + 1e-6)
        limited = [stage for stage in answer.stages if math.isfinite(capacity[stage.key])]
        passed = [stage.load_fraction * capacity[stage.key] for stage in limited]
        # A training runs as fast as it can; what is served is asked for.
        rate = float(answer.throughput.value) if answer.serving is None else min(passed)
        assert passed == pytest.approx([rate] * len(passed), rel=0.02)
        assert rate <= float(answer.throughput.value) * (1 + 1e-6)
    assert (design.quantities.power_typical_w <= design.quantities.power_max_w).all()
    assert not [check.kind for check in design.checks if check.missing and check.result is CheckResult.MET]


def test_the_cost_of_ownership_starts_from_the_total_of_the_bill(result):
    bill = result.design.bill
    cost = ownership_cost(bill, rates_of(result.request), footprint_of(result.design.plan, result.design.quantities))
    assert cost.purchase == bill.total


def test_a_copy_tells_the_same_costs_of_the_same_parts():
    """A sequence of the same parts for one more euro: no copy may call them equal."""
    plan = growth_plan(SizingRequest.from_file(ROOT / "examples/questions/images-grow-tenfold.toml"), catalog())
    growth = plan.platforms[0]
    first, *later = growth.recommended.purchases
    dearer = replace(first, cost=replace(first.cost, amount=first.cost.amount + 1))
    other = replace(growth.recommended, purchases=(dearer, *later))
    known = replace(plan, platforms=(replace(growth, criterion="cost", alternatives=(other,)),))
    (told,) = offered(known, replace(sized("dgx1-f800-resnet50").design, platform=growth.platform)).platforms
    assert told.recommended.cost == growth.recommended.cost
    assert "same cost" not in criterion_text(told)


def test_no_efficiency_above_one_is_called_so(result):
    """Over several layouts of a language model the rate a GPU may rise; of other networks it cannot."""
    for answer in result.design.workloads:
        shares = [row for row in scaling_rows(answer) if "efficiency" in row[0].lower()]
        assert all(float(value.split("\u202f")[0]) <= 100 for _, value in shares), shares


def test_arrangements_of_the_same_gpus_have_the_storage_of_the_design():
    """The 32 nodes behind the fast tier stand behind every server that is compared: 8 chassis of 4 U."""
    result = sized("driving-two-tiers")
    n_gpus = 560  # servers of 8, 10 and 16 GPUs hold as many
    found, _ = arrangements(result.request, result.design, n_gpus, catalog())
    assert len({one.platform.server.id for one in found}) > 1
    assert {one.platform.tier_key for one in found} == {"isilon-h5600"}
    assert {one.platform.second_tier.nodes for one in found} == {32}


NAME = "dgx1-f800-resnet50"


@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_no_example_contradicts_itself(name: str) -> None:
    assert contradictions(sized(name)) == []


def test_a_workstation_contradicts_nothing():
    """It stands in no rack, whose PDU and cords nobody buys."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "epochs": 90, "target": {"time_to_train_s": "1 d"}}
    result = size(
        SizingRequest.from_dict({"workload": [work], "platforms": {"servers": ["thinkstation-p8"]}}), catalog()
    )
    assert contradictions(result) == []


def design(change: Callable[[DesignAnswer], dict[str, object]]) -> SizingResult:
    result = sized(NAME)
    return replace(result, design=replace(result.design, **change(result.design)))


def first(change: Callable[[WorkloadAnswer], dict[str, object]]) -> SizingResult:
    return design(lambda one: {"workloads": (replace(one.workloads[0], **change(one.workloads[0])),)})


def assumed_device(result: SizingResult) -> str:
    """Name of a device of which a fact is assumed."""
    devices = {catalog().item(one.item).name for one in result.design.plan.devices}
    return next(
        one.item.name for one in result.assumptions if isinstance(one, AssumedFact) and one.item.name in devices
    )


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
    "weight": lambda: design(lambda one: {"quantities": replace(one.quantities, weight_kg=np.array([1.0]))}),
    "coolant": lambda: design(
        lambda one: {
            "quantities": replace(
                one.quantities,
                liquid_heat_w=np.array([2e6]),
                components=(*one.quantities.components, *coolant_parts(sized("gb200-nvl72").design.quantities)),
            )
        }
    ),
    "transfer switch": lambda: design(
        lambda one: {
            "bill": replace(one.bill, lines=tuple(two for two in one.bill.lines if two.unit_price or two.item))
        }
    ),
    "first year": lambda: replace(sized(NAME), planned_years=(FIRST_YEAR,)),
    "date": lambda: design(lambda one: {"bill": replace(one.bill, valid_until=datetime.date(2020, 1, 1))}),
    "price": lambda: design(lambda _: {"cost": None}),
    # A9 of the review: watts of the switches and outlets of the PDU, printed as facts.
    "assumed": lambda: replace(
        sized(NAME),
        assumptions=tuple(
            one
            for one in sized(NAME).assumptions
            if getattr(getattr(one, "item", None), "name", "") != assumed_device(sized(NAME))
        ),
    ),
    "interval": lambda: first(lambda _: {"gpu_spread": Spread(0.001, 0.001, 0.001)}),
    "rate": lambda: first(lambda _: {"throughput": Estimate(*map(np.asarray, (1e-9, 1e-9, 1e-9)))}),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_contradiction_is_found_and_nothing_is_written(planted: str) -> None:
    result = PLANTED[planted]()
    found = contradictions(result) or beyond_purchases(result)
    assert len(found) == 1
    with pytest.raises((ReportError, RequestError), match=f"^no document is written.*{re.escape(found[0])}"):
        as_handed_over(result)


@pytest.mark.parametrize(
    ("value", "required", "bound", "expected"),
    [
        (11.9e9, None, 11.55e9, math.inf),
        (47_800.0, 52_000.0, math.inf, math.inf),
        (float("nan"), 1.0, math.inf, math.inf),
        (83.2e9, 18.9e9, math.inf, 63.6e9),
    ],
    ids=["above the link", "below the target", "no number", "above what is expected"],
)
def test_planted_criteria_of_acceptance_are_found(
    value: float, required: float | None, bound: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = Criterion(value, "B/s", True, required, bound, expected)
    test = AcceptanceTest("planted", "network", "Run it.", "", limit.text, "", criterion=limit)
    monkeypatch.setattr(gate, "acceptance_tests", lambda _: [test])
    assert len(contradictions(sized(NAME))) == 1


@pytest.mark.parametrize(
    ("name", "place", "found"),
    [
        ("llama-70b-dgx-h100", "wait_for_repairs", WaitForRepairs(9.0, 1e9, 0.5)),
        (NAME, "proposal_text", ""),
    ],
    ids=["spares that are not bought", "what is sold in place of servers that are not"],
)
def test_what_the_first_page_must_say_is_missed(
    name: str, place: str, found: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, place, lambda *_: found)
    assert len(contradictions(sized(name))) == 1


def test_no_page_of_a_customer_cites_press_or_says_that_nobody_published(monkeypatch: pytest.MonkeyPatch) -> None:
    result = sized(NAME)
    edition = Edition("guide")
    page = guide_page(result, catalog(), edition)
    assert (
        overstatements(page + "<td>NVIDIA DGX-2</td>", catalog()) == []
    )  # a part, and the title of an article about it
    assert len(overstatements(page + "<p>No source states it.</p>", catalog())) == 1
    monkeypatch.setattr(Citations, "is_weak", lambda *_: False)
    with pytest.raises(ReportError, match="cites"):
        guide_html(replace(result, quotes_to_settle=()), catalog(), edition)


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
    later = replace(FIRST_YEAR, year=2, purchase=Sum(Decimal(9)))
    planned = replace(
        result, planned_years=(replace(FIRST_YEAR, n_servers=result.design.n_servers, cost=result.design.cost), later)
    )
    assert contradictions(planned) == []
    with monkeypatch.context() as without:  # the sum leaves out what the plan buys
        without.setattr(analysis, "ownership_cost", lambda *arguments: ownership_cost(*arguments[:3]))
        assert len(contradictions(planned)) == 1
    whole = replace(bill, deal_discount_percent=Decimal(0))
    monkeypatch.setattr(analysis, "customer_bill", lambda _: whole)
    assert len(contradictions(result)) == (1 if whole.total else 0)
