"""Two head nodes: what the second one adds to plan and bill, and where it does not help."""

from collections import Counter
from typing import Any

import pytest

from sizer import EvaluatedDesign, InfeasibleError, SizingRequest, SizingResult, failure_cases, size
from sizer.guide.acceptance.tests import parts_tests
from sizer.physical.roles import Role
from sizer.questions.failures.analysis import JobsContinue, StandbyTakesOver
from sizer.sizing.best_design import best_design
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog

CATALOG = catalog()


def request(rate: float, storage: str, *losses: str, **more: Any) -> SizingRequest:
    work = {"dnn": "resnet50", "target": {"samples_per_s": rate}}
    platforms = {"servers": ["dgx-1"], "storage": [storage]}
    tables = {"platforms": platforms, "resilience": {"keeps_targets_without": list(losses)}, **more}
    return SizingRequest.from_dict({"workload": [work], **tables})


@pytest.fixture(scope="module")
def pair() -> tuple[SizingResult, SizingResult]:
    """The same request with one head node and with two."""
    one, two = (size(request(40_000, "isilon-f800", *losses), CATALOG) for losses in ((), ("head-node",)))
    return one, two


def billed(result: SizingResult) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in result.design.bill.lines:
        found[line.item] += int(line.quantity)
    return found


def test_the_second_head_node_adds_its_ports_units_power_licence_and_support(
    pair: tuple[SizingResult, SizingResult],
) -> None:
    """By hand, from the data sheet of the R740xd (catalog/servers/r740xd.toml) and the Dell guide.

    One more R740xd: 2 rack units, 1,100 W at most (its supply), 2 inlets on C13 cords; one EDR port of a card of
    its own; one 1 GbE host port and one BMC port on the management switch; Bright Cluster Manager is licensed by the
    node, so 5 + 2 nodes instead of 5 + 1; support by the device.
    """
    one, two = pair
    assert two.design.n_servers == one.design.n_servers == 5
    added = billed(two) - billed(one)
    expected = {
        "r740xd": 1,
        "mcx555a-ecat": 1,
        "bright-cluster-manager": 1,
        "cord-c13-c14": 2,
        "dell-hardware-support": 1,
    }
    assert {item: added[item] for item in expected} == expected
    assert billed(two)["bright-cluster-manager"] == 7
    links = [
        Counter(cable.run.role for cable in result.design.plan.cables for _ in cable.length_m) for result in (one, two)
    ]
    assert links[1] - links[0] == Counter({Role.HEAD_NODE_CABLE: 1, Role.MANAGEMENT_CABLE: 2})
    before, after = one.design.quantities, two.design.quantities
    assert after.rack_units[0] - before.rack_units[0] == 2
    assert after.power_max_w[0] - before.power_max_w[0] == pytest.approx(1_100)
    cost = two.spare_cost
    assert (cost.head_nodes, cost.n_servers, cost.storage_nodes, cost.switches) == (1, 0, 0, 0)


def test_failures_and_acceptance_tests_know_the_standby(pair: tuple[SizingResult, SizingResult]) -> None:
    effects = []
    for result in pair:
        (case,) = (case for case in failure_cases(EvaluatedDesign(result, CATALOG)) if case.key == "head")
        assert (case.loss, case.keeps_targets) == ("head-node", True)
        effects.append(case.effect)
    assert effects == [JobsContinue(5), StandbyTakesOver(1)]
    found = [[test.key for test in parts_tests(result.design)] for result in pair]
    assert "head-failover" not in found[0]
    assert "head-failover" in found[1]


def test_a_second_head_node_does_not_hold_the_files_of_the_first() -> None:
    assert best_design(request(4_000, "head-node-nfs"), CATALOG).design.n_servers == 1
    with pytest.raises(InfeasibleError, match="second head node"):
        best_design(request(4_000, "head-node-nfs", "head-node"), CATALOG)


@pytest.mark.parametrize(
    "words",
    [
        "two head nodes",
        "a redundant head node",
        "HA head nodes",
        "head node high availability",
        "failover of the head node",
    ],
)
def test_a_sentence_asks_for_it(words: str) -> None:
    reading = read_sentence(f"Train ResNet-50 at 40000 images/s on DGX-1 with {words}", CATALOG)
    assert reading.request["resilience"] == {"keeps_targets_without": ["head-node"]}
    assert not reading.unread
