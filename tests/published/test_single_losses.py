"""What published documents say about lost parts, and what this program derives from it."""

import pytest

from sizer import SizingRequest, failure_cases
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.perf.storage import read_capacity
from sizer.physical.losses import Losses, on_one_side
from sizer.questions.failures.scenarios import FeedLost, NodeLost
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.stages.storage_rates import node_rates
from tests.factories.answers import recommended

CATALOG = shipped_catalog()


def sized(name, *losses, **platforms):
    data = SizingRequest.from_file(data_dir("examples") / f"{name}.toml").model_dump(exclude_none=True)
    data["resilience"] = {"keeps_targets_without": list(losses)}
    data["platforms"] = {**data.get("platforms", {}), **platforms}
    return recommended(SizingRequest.from_dict(data))


def cases(result):
    return {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}


def test_six_wekaio_servers_leave_no_room_for_a_rebuild():
    """Micron and WekaIO, proof of concept, 2020: six hosts leave no room for a rebuild, eight are typical.

    WekaIO 3.1.9 documentation: six hosts at least. The example runs on six; its reads survive a loss, its data cannot
    be restored on the remaining five.
    """
    six = sized("apollo-weka-resnet50")
    lost = cases(six)["storage-node"]
    assert (six.design.storage_nodes, lost.keeps_targets) == (6, True)
    assert isinstance(lost.effect, NodeLost)
    assert lost.effect.min_nodes == 6  # no room for a rebuild on fewer
    assert CATALOG.storage["wekaio"].min_nodes.alternates[0].value == 8


def test_eight_wekaio_servers_have_that_room():
    """The same source: eight hosts. One lost leaves seven, of at least six."""
    data = SizingRequest.from_file(data_dir("examples") / "apollo-weka-resnet50.toml").model_dump(exclude_none=True)
    data["workload"][0].update({"dataset_bytes": 150e12})
    eight = recommended(SizingRequest.from_dict(data))
    assert eight.design.storage_nodes >= 7
    lost = cases(eight)["storage-node"].effect
    assert isinstance(lost, NodeLost)
    assert lost.min_nodes is None


@pytest.mark.parametrize("nodes", [6, 8, 20])
def test_one_of_n_wekaio_servers_costs_an_nth_of_the_read_rate(nodes):
    """WekaIO documentation: losing one of n back ends costs 1/n of the read rate, more during a rebuild.

    The rebuild is not counted, as no document says how much more.
    """
    low, high, line = node_rates(sized("apollo-weka-resnet50").design.platform)
    whole, rest = (float(read_capacity(n, low, high, line).median) for n in (nodes, nodes - 1))
    assert 1 - rest / whole == pytest.approx(1 / nodes)


def test_the_management_switch_cannot_sit_on_both_feeds():
    """NetBox device library, S3048-ON: one power inlet. It is single-corded; no target depends on it.

    Whether the targets are kept is open all the same: a chassis of F800 has four supplies, two on either feed, and no
    source says how many of them carry it.
    """
    result = sized("c4140-f800", "feed")
    dark = [name for names in on_one_side(result.design.plan).values() for name in names]
    assert dark == ["mgmt-01"]
    feed = cases(result)["power-feed"]
    assert feed.keeps_targets is None
    assert isinstance(feed.effect, FeedLost)
    assert [(few.name, few.supplies, few.remaining, few.needed) for few in feed.effect.few_supplies] == [
        ("Isilon F800", 4, 2, None)
    ]
    assert feed.effect.unpowered == ("mgmt-01",)


def test_the_back_end_of_an_f800_is_two_networks():
    """Dell EMC, Isilon OneFS technical overview (h16346): int-a and int-b, each on a switch of its own.

    One of the two switches may be lost: the nodes go on over the other.
    """
    result = sized("c4140-f800", "switch")
    back_end = Losses(result.design.plan).named("back-end switch")
    assert len(back_end) == 2
    assert cases(result)["back-end-switch"].share == (1.0, 1.0, 1.0)


def test_the_dell_guide_has_one_gateway_and_one_switch_that_stop_all():
    """Ready Solutions for AI, Deep Learning with NVIDIA, 2018, pages 25 to 27: one SB7800, one SX6036 for four F800.

    As published, the loss of either stops the training from the Isilon. With redundancy, there are two
    gateways of three uplinks each, and two leaves below two spines, and a second C4140 takes over.
    """
    published = sized("c4140-f800")
    stopped = cases(published)
    assert stopped["gateway"].share == stopped["leaf"].share == (0, 0, 0)
    spare = sized("c4140-f800", "switch", "gateway")
    tolerated = cases(spare)
    assert tolerated["gateway"].keeps_targets
    assert tolerated["leaf"].keeps_targets
    assert len(Losses(spare.design.plan).named("gateway")) == 2


def test_an_f800_survives_one_node_by_its_protection():
    """OneFS data protection chart: +2d:1n survives two drives or one node. Four nodes serve nine DGX-1 on three."""
    result = sized("dgx1-f800-resnet50", "storage-node")
    assert result.design.storage_nodes == 4
    lost = cases(result)["storage-node"]
    assert lost.keeps_targets
    assert isinstance(lost.effect, NodeLost)
    assert (lost.effect.remaining_nodes, lost.effect.n_survived) == (3, 1)
