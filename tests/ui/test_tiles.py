"""The three tiles at the head of the pages: judgements are green only where everything that decides is known."""

from dataclasses import replace
from decimal import Decimal

from sizer.bom.bill import BillLine
from sizer.calibrate.notes import FitNote, note
from sizer.questions.compare.designs import card_figures
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck, FactKind, MissingFact
from sizer.ui import tiles
from tests.factories.examples import sized

RESNET = "dgx1-f800-resnet50"


def priced(line: BillLine) -> BillLine:
    return line if line.unit_price is not None else replace(line, unit_price=Decimal(1))


def test_a_main_item_to_be_quoted_is_never_green():
    """The storage of the example has no price; with all lines priced the tile is green."""
    result = sized(RESNET)
    _, _, cost = tiles.tiles(result, is_customer_mode=False)
    assert cost.badge.colour == "orange"
    assert "main item" in cost.badge.text
    bill = replace(result.design.bill, lines=tuple(map(priced, result.design.bill.lines)))
    complete = replace(result, design=replace(result.design, bill=bill))
    assert tiles.tiles(complete, is_customer_mode=False)[2].badge.colour == "green"


def test_a_budget_with_a_main_item_to_be_quoted_is_orange_and_says_what_the_check_says():
    result = sized(RESNET)
    met = DesignCheck(CheckKind.BUDGET, CheckResult.MET, 5e6, 1_341_000.0, unpriced=("isilon-f800",), probability=1.0)
    _, _, cost = tiles.tiles(replace(result, design=replace(result.design, checks=(met,))), is_customer_mode=False)
    assert cost.badge.colour == "orange"
    assert "Within" in cost.badge.text
    unknown = replace(met, result=CheckResult.OPEN, probability=None)
    _, _, cost = tiles.tiles(replace(result, design=replace(result.design, checks=(unknown,))), is_customer_mode=False)
    assert cost.badge.colour == "orange"
    assert "open" in cost.badge.text
    over = replace(met, result=CheckResult.NOT_MET, asked=1e6)
    _, _, cost = tiles.tiles(replace(result, design=replace(result.design, checks=(over,))), is_customer_mode=False)
    assert cost.badge.colour == "red"


def test_a_conditional_design_names_the_missing_fact_in_orange():
    result = sized(RESNET)
    fact = MissingFact(FactKind.READ_RATE, "isilon-f800", "Isilon F800")
    design = replace(result.design, conditional_on=(fact,), probability=None)
    _, performance, _ = tiles.tiles(replace(result, design=design), is_customer_mode=False)
    assert performance.badge.colour == "orange"
    assert performance.badge.text == "Not known: read rate of Isilon F800"


def test_even_odds_are_not_green():
    """The example's rate equals its target within 1 %: a miss is as likely as a hit."""
    result = sized(RESNET)
    _, performance, _ = tiles.tiles(result, is_customer_mode=False)
    assert performance.badge.colour == "orange"
    surer = replace(result, design=replace(result.design, probability=0.9))
    _, performance, _ = tiles.tiles(surer, is_customer_mode=False)
    assert (performance.badge.colour, performance.badge.text.split(",")[0]) == ("green", "Met")


def test_a_gpu_that_nobody_measured_is_not_green_and_its_cards_claim_no_rate():
    """No rate of such a GPU is claimed anywhere, and so no probability that it is reached."""
    result = sized(RESNET)
    (answer,) = result.design.workloads
    unmeasured = (note(FitNote.GENERATION_NOT_MEASURED, "Tesla V100 SXM2 16 GB"),)
    design = replace(result.design, workloads=(replace(answer, unmeasured=unmeasured),), probability=0.9)
    _, performance, _ = tiles.tiles(replace(result, design=design), is_customer_mode=False)
    assert performance.figure.value == "not predicted"
    assert performance.badge.colour == "orange"
    shown = {figure.label: figure.value for figure in card_figures(design, result.design, probability=0.9)}
    assert (shown["Rate"], shown["Probability"]) == ("not predicted", "not known")
