"""Why a design has its server, storage, fabric and racks: numbers by hand, and the words for them."""

import datetime
import math

import pytest

from sizer import EvaluatedDesign, size
from sizer.catalog.sale import is_sold
from sizer.guide import further_answers
from sizer.guide.chapters import summary
from sizer.guide.context import guide_context
from sizer.guide.profile import Edition
from sizer.physical.roles import Role
from sizer.present.text import decisions as text
from sizer.sizing.best_design import best_design
from sizer.sizing.decision_options import as_built, no_less_on_sale, on_sale_today
from sizer.sizing.design.decisions import RackLimit, decisions, rack_choice
from sizer.workload.request import Target
from tests.factories.examples import catalog, sized


@pytest.fixture(scope="module")
def resnet():
    return sized("dgx1-f800-resnet50")


@pytest.fixture(scope="module")
def even(resnet):
    """A design whose expected rate is 0.5 % above the target, at the confidence of a coin: an even chance."""
    (work,) = resnet.request.workload
    rate = 0.995 * float(resnet.design.workloads[0].throughput.value)
    asked = work.model_copy(update={"target": Target(samples_per_s=rate)})
    return size(resnet.request.model_copy(update={"workload": (asked,), "confidence": 0.5}), catalog())


@pytest.fixture(scope="module")
def found(resnet):
    return decisions(EvaluatedDesign(resnet, catalog()))


def test_one_server_fewer_misses_the_target(resnet, found):
    (step,) = found.server.steps
    target = resnet.request.workload[0].target.samples_per_s
    assert step.samples_per_s_with_one_fewer is not None
    # Eight of nine servers deliver about 8/9 of the rate, and so on; at the confidence asked that is not enough.
    n = resnet.design.n_servers
    assert step.samples_per_s_with_one_fewer == pytest.approx(step.samples_per_s * (n - 1) / n, rel=0.02)
    assert step.samples_per_s > target
    assert found.server.lost_fraction == pytest.approx(1 / n)


def test_storage_is_judged_by_its_published_rates(resnet, found):
    # Four F800 nodes: 2.487 to 3.75 GB/s each (dell-isilon-dgx1-2018; dell-ready-ai-nvidia-2018, Table 4).
    assert found.storage.low_bytes_per_s == pytest.approx(4 * 2.487e9)
    assert found.storage.high_bytes_per_s == pytest.approx(4 * 3.75e9)
    assert found.storage.nodes_per_step == 4  # nodes of one chassis
    assert found.storage.is_only_allowed


def test_gradients_decide_the_fabric_and_not_the_reads(found):
    fabric = found.fabric
    # 25.6 M parameters (resnet50), two bytes each in mixed precision.
    assert fabric.gradient_bytes == pytest.approx(51.2e6, rel=0.01)
    assert [(option.kind.id, option.n_ports) for option in fabric.slower] == [
        *(("10gbe", 1), ("25gbe", 1)),
        *((fabric.kind.id, 1), (fabric.kind.id, 2)),
    ]
    slow, fast, *fewer = fabric.slower
    # 10 and 25 Gbit/s are 1.25 and 3.125 GB/s.
    assert slow.read_fraction == pytest.approx(fabric.read_bytes_per_s / 1.25e9)
    assert fast.read_fraction == pytest.approx(fabric.read_bytes_per_s / 3.125e9)
    assert slow.read_fraction < 1
    assert slow.lost_fraction > fast.lost_fraction > max(one.lost_fraction for one in fewer)
    # Nine DGX-1 with one or two ports, eight of four F800 nodes and one of the head node: 18 and 27 of 32 ports.
    assert [one.n_switches for one in fewer] == [1, 1]
    assert fabric.n_switches == 5
    assert fewer[1].read_fraction == pytest.approx(fabric.read_bytes_per_s / 25e9)
    assert "The gradients decide, not the reads" in " ".join(text.fabric_texts(fabric))


def test_power_decides_the_racks_where_either_feed_must_carry_one(resnet, found):
    racks = found.racks
    assert racks.limit is RackLimit.POWER
    # Nine or ten DGX-1 draw 3.5 kW each and the rest less than 8 kW: more than two and less than three feeds of
    # 16.56 kW carry. They take 3 U each; all fit two racks of 42 U.
    assert 3.5e3 * resnet.design.n_servers < racks.power_w < 3.5e3 * resnet.design.n_servers + 8e3
    assert racks.feed_w == pytest.approx(16.56e3)
    assert (racks.n_for_power, racks.n_racks) == (3, 3)
    assert racks.n_for_units <= 2
    assert racks.used_units + racks.free_units == 3 * 42
    assert "Power decides, not space" in text.rack_texts(racks)[0]


def test_a_lower_limit_of_the_request_decides_the_racks(resnet):
    racks = rack_choice(resnet.design, 14e3)
    assert racks.rack_w == 14e3
    assert racks.n_for_power == math.ceil(racks.power_w / 14e3)
    said = " ".join(text.rack_texts(racks)).replace("\u202f", " ")
    assert "the request allows 14.0 kW per rack" in said
    assert "feed" not in said


def test_a_single_server_has_no_fabric_and_one_rack():
    result = sized("small-team")
    found = decisions(EvaluatedDesign(result, catalog()))
    assert found.fabric is None
    assert found.racks == rack_choice(result.design)
    assert found.racks.limit is RackLimit.ONE
    assert "one point of failure" in text.server_trade_off(found.server, result.design)


def test_the_options_of_a_decision_are_designs_of_the_same_search(even):
    """A V100 design at even odds: as we would build it, and on what is sold on the day."""
    built, sold = as_built(even.request, even.design, catalog()), on_sale_today(even, catalog())
    assert built.design.platform.key == even.design.platform.key
    for option in (built, sold):
        assert option.design.probability >= 0.9
        assert option.has_spare_server
        assert sum(device.role is Role.HEAD_NODE for device in option.design.plan.devices) > 1
        assert option.design.cost.low <= option.design.cost.expected <= option.design.cost.high
        # The design is what the search gives for its request.
        assert best_design(option.request, catalog()).design.n_servers == option.design.n_servers
    platform = sold.design.platform
    assert is_sold(catalog(), platform.server, even.request.date)
    assert is_sold(catalog(), platform.gpu, even.request.date)
    assert platform.gpu.memory_bytes.value >= even.design.platform.gpu.memory_bytes.value
    assert "no headroom" in " ".join(text.confidence_texts(even))
    context = guide_context(even, catalog(), Edition("guide"))
    assert [one.design for _, one in summary.options(context)] == [
        even.design,
        context.built.design,
        context.on_sale.design,
    ]
    assert any(built.design.name in line for line in further_answers.decisions(context))


def test_one_server_has_its_options_and_a_reserve_may_take_other_storage():
    """A server that trains alone is built as we would; the small NAS of four servers takes no fifth one."""
    overnight = sized("workloads/fine-tune-overnight").request
    works = [overnight.workload[0].model_copy(update={"target": Target(time_to_train_s=5 * 3600.0)})]
    four = size(overnight.model_copy(update={"workload": tuple(works)}), catalog())
    one, two = (guide_context(each, catalog(), Edition("guide")) for each in (sized("workloads/detection"), four))
    (asked, option), *others = summary.options(one)
    assert option.design is one.design
    assert (asked, [title for title, _ in others]) == ("As asked and as we would build it", ["With other parts"])
    assert two.built.has_spare_server
    assert two.built.design.n_servers == two.design.n_servers + 1
    assert two.built.design.platform.storage.id != two.design.platform.storage.id


def test_nothing_older_or_smaller_is_proposed_as_sold_today():
    """GH200 (Hopper, 2022) is no offer beside the RTX PRO 6000 (Blackwell, 2024), nor L40S (48 GB) beside H200."""
    day = datetime.date(2026, 11, 29)
    ids = {one.id for one in no_less_on_sale(catalog(), catalog().gpus["rtx-pro-6000-96gb"], day)}
    assert "gh200-96gb" not in ids
    assert {"rtx-pro-6000-96gb", "b200-sxm-180gb"} <= ids
    assert "l40s-48gb" not in {one.id for one in no_less_on_sale(catalog(), catalog().gpus["h200-sxm-141gb"], day)}
