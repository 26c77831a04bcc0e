"""Every figure that finished documents repeat is the same in all of them, and planted contradictions are found."""

from collections import defaultdict
from operator import setitem

import pytest

from tests.guides.agreement.check import contradictions, statements
from tests.guides.agreement.figures import read_by
from tests.guides.agreement.finished import Finished
from tests.guides.agreement.planted import Planted, add, planted, text
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
    # One for each way to read a figure: a cell, a text, a word, keys of one document, rows of a table.
    "GPUs in the workbook": Planted(
        lambda found: setitem(next(row for row in found.sheets["Summary"] if row[0] == "GPUs"), 1, "40"),
        "design.n_gpus",
        "sheet Summary, cell B",
    ),
    "racks": Planted(lambda found: setitem(found.design["design"], "racks", 4), "design.racks", "plan.racks"),
    "rate": Planted(
        text("engineers-file.pdf", "23\u202f500 images", "24\u202f900 images"), "samples_per_s.value", "24 900"
    ),
    "bottleneck": Planted(
        text("engineers-file.pdf", r"Bottleneck GPU compute", "Bottleneck Storage"),
        "workloads.ResNet-50 training.bottleneck",
        "Storage",
    ),
    "cables": Planted(lambda found: found.tables["cables.csv"].pop(), "plan.links", "cables.csv, all rows"),
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
        lambda found: setitem(found.tables["cables.csv"][0], "Speed", "100 GbE"),
        "at 100 GbE",
        "compute fabric is of EDR InfiniBand",
    ),
    "a chapter that is missing": Planted(add("guide.pdf", "See chapter 47."), "chapter 47", "no chapter 47"),
    "a workload not drawn": Planted(text("guide.pdf", "Data path of", "A path of"), "data paths: 0", "there are 1"),
    "a training of a model in use": Planted(
        lambda found: setitem(found.design["design"]["workloads"][0], "serving", {}), "nothing is trained", "guide.pdf"
    ),
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
