"""Power feeds in the guide, by kind of device and in the chapter on compliance."""

from functools import cache

import pytest

from sizer import EvaluatedDesign, failure_cases
from sizer.guide.chapters.compliance import requirements
from sizer.guide.context import GuideContext
from sizer.guide.profile import Edition
from sizer.physical.notes import PlanNoteKind
from sizer.physical.racks.feed_loads import FeedLoad, feed_loads
from sizer.physical.roles import Role
from sizer.questions.failures.text import effect_text
from tests.factories import examples

NAME = "llama-405b-gb200-nvl72"


@cache
def design():
    return examples.sized(NAME).design


def test_eight_nvl72_have_64_shelves_and_coolant_units_of_racks_hang_on_pdus():
    # NVL72: eight shelves of 33 kW a rack, half of which carry its 120 kW: 30 kW each. A unit of 875 W has no feed
    # of its own: the PDUs of the other racks carry it.
    loads = feed_loads(design().plan.racks, examples.catalog())
    assert FeedLoad("power shelf", "", 64, 30_000, 33_000) in loads
    assert {load.kind for load in loads} == {"power shelf", "PDU"}
    (pdus,) = [load for load in loads if load.kind == "PDU"]
    bought = sum(int(part.quantity[0]) for part in design().quantities.components if part.role is Role.RACK_PDU)
    assert pdus.count == bought == 8
    assert 20_500 < pdus.alone_w <= pdus.capacity_w


@pytest.mark.parametrize(
    ("name", "is_met", "words"),
    [
        # DGX H100 user guide: six supplies, 4+2. One of two feeds leaves three of them.
        ("llama-70b-dgx-h100", None, "keeps 3 of 6 power supplies and needs 4"),
        # AS-8125GS-TNMR2: six supplies of 3 kW and 12 kW at most, so four of them are needed; one feed leaves three.
        ("llama-8b-continued-mi300x", None, "keeps 3 of 6 power supplies and needs 4"),
        # AS-8125GS-TNHR: six supplies, of which nobody says how many it needs.
        ("stable-diffusion-h200", None, "keeps 3 of 6 power supplies and needs a number"),
        # DGX H100 on three circuits, the published rack: four of six remain.
        ("superpod-h100-su", True, "on one PDU after the loss of a feed"),
    ],
)
def test_a_design_with_too_few_supplies_is_not_called_met_nor_told_to_run_on_one_feed(
    name: str, is_met: bool | None, words: str
) -> None:
    context = GuideContext(examples.sized(name), examples.catalog(), Edition("guide"))
    warned = any(note.kind is PlanNoteKind.FEW_SUPPLIES for note in context.design.plan.warnings)
    (line,) = [one for one in requirements(context) if "PDUs" in one.design]
    assert line.is_met is is_met
    assert words in line.design
    assert warned is (is_met is None)
    cases = failure_cases(EvaluatedDesign(examples.sized(name), examples.catalog()))
    (case,) = [one for one in cases if one.key == "power-feed"]
    assert (case.keeps_targets is None) is ("running jobs continue" not in effect_text(case)) is (is_met is None)
