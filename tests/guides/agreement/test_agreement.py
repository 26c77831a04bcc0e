"""Every figure that finished documents repeat is the same in all of them, and planted contradictions are found."""

from collections import defaultdict

import pytest

from tests.guides.agreement.check import contradictions, statements
from tests.guides.agreement.figures import read_by
from tests.guides.agreement.finished import Finished
from tests.guides.agreement.planted import Planted, add, cell, drop_row, first_row, key, planted, text
from tests.guides.agreement.rules import RULES
from tests.guides.agreement.sample import SETS, finished
from tests.guides.agreement.sentences import SENTENCES, Sentence
from tests.guides.cases import TOGETHER, grouped

pytestmark = pytest.mark.guides

SAMPLE = TOGETHER[0]
together = pytest.mark.xdist_group(SAMPLE)
# Number of documents in which each figure of the sample must be found.
PLACES = {
    "GPU servers": 6,
    "GPUs": 4,
    "racks": 4,
    "rack units": 4,
    "maximum power": 5,
    "typical power": 5,
    "power is a lower bound": 4,
    "storage nodes": 5,
    "usable capacity": 5,
    "switches and gateways": 4,
    "rate": 5,
    "rate, lower end": 4,
    "rate, upper end": 4,
    "bottleneck": 5,
    "capacity": 3,
    "utilization": 3,
    "confidence": 4,
    "confidence of a workload": 3,
    "requested confidence": 3,
    "ports used": 3,
    "ports free": 3,
    "end points": 3,
    "cables": 3,
    "lines to be quoted": 4,
    "assumptions": 2,
}


@pytest.fixture(scope="module")
def sample() -> Finished:
    return finished(SAMPLE)


@pytest.mark.parametrize("case", [grouped(case) for case in SETS])
def test_the_documents_of_an_answer_agree(case: str) -> None:
    found = contradictions(finished(case))
    if found:
        pytest.fail("\n".join([f"{len(found)} contradictions in {case}:", *found[:40]]), pytrace=False)


@together
@pytest.mark.parametrize("rule", RULES)
def test_each_rule_judges_something(rule: str) -> None:
    assert sum(len(list(RULES[rule](finished(case)))) for case in TOGETHER) > 0


@together
@pytest.mark.parametrize("sentence", [pytest.param(one, id=f"{one.figure}: {one.pattern}") for one in SENTENCES])
def test_each_sentence_is_found(sentence: Sentence) -> None:
    """A sentence that was worded anew is read no longer."""
    assert any(next(read_by(sentence, finished(case)), None) for case in TOGETHER)


@together
def test_each_figure_is_read_in_as_many_documents_as_state_it(sample):
    read_in = defaultdict(set)
    for one in statements(sample):
        read_in[one.figure].add(one.document)
    assert {figure: len(read_in[figure]) for figure in PLACES if len(read_in[figure]) < PLACES[figure]} == {}


FAULTS = {
    "GPU servers": Planted(
        text("guide.pdf", r"GPU servers 4 ", "GPU servers 5 "), "design.n_servers", "“GPU servers 5"
    ),
    "GPUs on the cover": Planted(
        text("summary.pdf", r"\n32\nGPUs", "\n36\nGPUs"), "design.n_gpus", "summary.pdf, page 1"
    ),
    "GPUs in the workbook": Planted(cell("Summary", "GPUs", 1, "40"), "design.n_gpus", "sheet Summary, cell B"),
    "GPUs on a slide": Planted(
        text("slides.pptx", "32 GPUs? 2 rack", "33\nGPUs\n2\nrack"), "n_gpus", "slides.pptx, slide 1"
    ),
    "racks": Planted(key("design.racks", 4), "design.racks", "plan.racks"),
    "maximum power": Planted(
        text("guide.pdf", r"Maximum draw 32\.6", "Maximum draw 33.1"), "power_max_w", "Maximum draw 33.1"
    ),
    "typical power": Planted(cell("Summary", "Power, typical", 1, 42.9), "design.power_typical_w", "cell B"),
    "rack units": Planted(
        text("engineers-file.pdf", r"Rack space 25", "Rack space 26"), "design.rack_units", "Rack space 26"
    ),
    "rate": Planted(
        text("engineers-file.pdf", "23\u202f500 images", "24\u202f900 images"), "samples_per_s.value", "24 900"
    ),
    "end of the interval": Planted(
        key("design.workloads.0.samples_per_s.low", 19000.0), "samples_per_s.low", "interval 20 500"
    ),
    "confidence": Planted(
        text("summary.pdf", r"confidence is over 99", "confidence is 93"), "design.probability", "is 93"
    ),
    "bottleneck": Planted(
        text("engineers-file.pdf", r"Bottleneck GPU compute", "Bottleneck Storage"),
        "workloads.ResNet-50 training.bottleneck",
        "Storage",
    ),
    "utilization": Planted(
        key("design.workloads.0.stages.storage.load_fraction", 0.34), "stages.storage.load_fraction", "guide.pdf"
    ),
    "ports": Planted(text("guide.pdf", r"11 ports in use; 25", "13 ports in use; 25"), "ports_used", "13 ports in use"),
    "free ports": Planted(cell("Networks", "Compute fabric", 11, 2), "ports_free", "sheet Networks, row"),
    "cables": Planted(drop_row("cables.csv"), "plan.links", "cables.csv, all rows"),
    "cables of a kind": Planted(
        key("plan.cable_items", lambda items: {name: count + 1 for name, count in items.items()}),
        "plan.cable_items",
        "bill line",
    ),
    "switches": Planted(text("summary.pdf", r"Switches\s2", "Switches 3"), "sheet Networks", "Switches 3"),
    "storage nodes": Planted(
        text("guide.pdf", r"Storage 6 nodes", "Storage 8 nodes"), "design.storage_nodes", "8 nodes"
    ),
    "capacity": Planted(text("guide.pdf", "Usable 23.0", "Usable 24.0"), "design.usable_bytes", "Usable 24.0"),
    "open lines": Planted(text("summary.pdf", "19 lines of", "17 lines of"), "bill.unpriced", "17 lines of"),
    "assumptions": Planted(key("assumptions", []), "assumptions", "engineers-file.pdf"),
    # What must hold between figures.
    "more ports than there are": Planted(add("guide.pdf", "It takes 181 leaf ports of 128 ports."), "181", "128"),
    "a price that is a bound": Planted(
        add("guide.pdf", "Price USD 500\u202f000"),
        "design.cost",
        "is no such range",
    ),
    "end of sale": Planted(
        add("guide.pdf", "SB7800 has an end of service. No end of sale is published: SB7800, C4140."),
        "no end of sale is published",
        "SB7800 has an end of service",
    ),
    "a link of another network": Planted(
        first_row("cables.csv", Speed="100 GbE"), "at 100 GbE", "compute fabric is of EDR InfiniBand"
    ),
    "a chapter that is missing": Planted(add("guide.pdf", "See chapter 47."), "chapter 47", "no chapter 47"),
    "a workload not drawn": Planted(text("guide.pdf", "Data path of", "A path of"), "data paths: 0", "there are 1"),
    "measured": Planted(
        add("guide.pdf", "The measured 15\u202f300 images/s were reached."), "15 300", "no published run"
    ),
}


@together
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_contradiction_names_both_places(sample, fault):
    one = FAULTS[fault]
    found = contradictions(planted(sample, one.change))
    assert any(one.first in finding and one.second in finding for finding in found), found


@together
def test_every_rule_has_a_planted_contradiction(sample):
    faulty = [planted(sample, one.change) for one in FAULTS.values()]
    broken = {name for name, rule in RULES.items() if any(not holds for found in faulty for holds, _ in rule(found))}
    assert broken == set(RULES)
