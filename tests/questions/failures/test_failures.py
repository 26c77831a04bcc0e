"""What fails and what it costs: on the plan and on the rate."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import SizingRequest, failure_cases, size
from sizer.physical.losses import Losses, Remaining, drives_survived, nodes_survived, on_one_side
from sizer.questions.failures.analysis import (
    CapacityReduced,
    CoolantLost,
    FailureCase,
    FeedLost,
    HardwareAfterLoss,
    JobsRestart,
    NodeLost,
    rate_shares,
)
from sizer.questions.failures.text import effect_text, failure_title, remedy_text, single_failures_table
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories import examples
from tests.factories.answers import recommended
from tests.factories.plans import CATALOG, DESIGNS, answer, asked, laid_out


def resnet():
    return examples.sized("dgx1-f800-resnet50")


def cases(result):
    return {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}


@pytest.mark.parametrize(("key", "restarts"), [("leaf", True), ("spine", False)])
def test_jobs_restart_where_ports_of_their_servers_go(key, restarts):
    """NCCL ends a job whose link goes down; a spine is routed around, and the ports of the servers stay up."""
    whole = Remaining(2, 1.0, True, 1.0, 1, 1.0, 1.0)
    effect = CapacityReduced(whole, replace(whole, exchange_share=7 / 8), False)
    assert ("restart" in effect_text(FailureCase(key, effect, (1.0,), (1.0,)))) == restarts


# --- what is left of a plan -------------------------------------------------------------------------------------------


def test_spine_and_cable_take_their_share_of_the_uplinks():
    """Leaves of 32 ports have 16 uplinks on two spines: a spine takes eight of them, a cable one."""
    losses = Losses(resnet().design.plan)
    assert losses.whole.exchange_share == 1
    assert losses.without(["spine-01"]).exchange_share == 8 / 16
    cable = losses.links_between_switches()[0].id
    assert losses.without(cables=[cable]).exchange_share == 15 / 16


def test_a_leaf_takes_a_share_of_every_server():
    """Counted from the cable list: ports of every server on other leaves than the one that is lost.

    Four ports on three leaves: two of them share one (pigeonhole), so the worst server keeps two of four.
    """
    plan = resnet().design.plan
    lost = Losses(plan).without(["leaf-02"])
    ports = {}
    for link in plan.connections:
        if link.role == "compute cable":
            ports.setdefault(link.a.device, []).append(link.z.device != "leaf-02")
    kept = [sum(has) / len(has) for has in ports.values() if any(has)]
    assert lost.n_servers == len(kept) == 9
    assert lost.exchange_share == min(kept) == 0.5
    nodes = {}
    for link in plan.connections:
        if link.role == "storage cable":
            nodes.setdefault(link.a.port.split("/")[0], []).append(link.z.device != "leaf-02")
    assert lost.storage_nodes == sum(any(has) for has in nodes.values()) == 4
    assert lost.node_port_share == sum(map(sum, nodes.values())) / 8  # four nodes with two ports each


def test_leaving_out_servers_that_lost_most_ports_frees_the_others():
    """Nine servers take turns in which of three leaves has two of their ports: a third of them loses two."""
    losses = Losses(resnet().design.plan)
    some, whole = losses.without(["leaf-01"]), losses.without(["leaf-01"], only_whole=True)
    assert (some.n_servers, some.exchange_share) == (9, 0.5)
    assert (whole.n_servers, whole.exchange_share) == (6, 0.75)


def test_a_gateway_alone_holds_the_storage_and_its_uplinks_share_the_rate():
    """Three FDR uplinks carry four F800 nodes (dell-ready-ai-nvidia-2018, page 27)."""
    losses = Losses(answer("dell").design.plan)
    gone = losses.without(["gateway-01"])
    assert (gone.n_servers, gone.reaches_storage, gone.storage_nodes) == (4, False, 0)
    uplink = losses.links("gateway")[0].id
    assert losses.without(cables=[uplink]).gateway_share == pytest.approx(2 / 3)


def test_a_rail_is_an_eighth_of_the_exchange_and_the_first_one_holds_the_storage():
    losses = Losses(answer("rails").design.plan)
    second, first = losses.without(["leaf-r2-01"]), losses.without(["leaf-r1-01"])
    assert (second.exchange_share, second.reaches_storage) == (7 / 8, True)
    assert (first.exchange_share, first.reaches_storage) == (7 / 8, False)


def test_one_server_needs_the_switch_for_its_storage_only():
    lost = Losses(answer("unweighed").design.plan).without(["leaf-01"])
    assert (lost.n_servers, lost.reaches_storage) == (1, False)


def test_storage_servers_beyond_the_parity_of_a_stripe_take_the_data_with_them():
    """WekaIO stripes have two parity blocks (weka-319); a leaf of four with 24 storage servers cuts off six of them."""
    losses = Losses(laid_out("apollo-6500", "wekaio", "edr", 40, 24))
    lost = losses.without(["leaf-01"])
    assert 24 - lost.storage_nodes > 2
    assert not lost.reaches_storage
    # Fewer than the parity: reads go on.
    assert losses.without(losses.named("storage server")[:2]).reaches_storage


@settings(max_examples=15)
@given(
    st.sampled_from(
        [("dgx-1", "isilon-f800", "100gbe"), ("c4140", "isilon-f800", "edr"), ("apollo-6500", "wekaio", "edr")]
    ),
    st.integers(1, 60),
    st.lists(st.integers(0, 10_000), max_size=4),
)
def test_a_loss_adds_nothing(parts, servers, picks):
    plan = laid_out(*parts, servers, 8)
    losses = Losses(plan)
    names = [device.name for device in plan.devices]
    left, whole = losses.without([names[pick % len(names)] for pick in picks]), losses.whole
    assert (whole.n_servers, whole.storage_nodes, whole.reaches_storage) == (servers, 8, True)
    assert left.n_servers <= servers
    assert left.storage_nodes <= 8
    for share in (left.exchange_share, left.file_share, left.node_port_share, left.gateway_share):
        assert 0 <= share <= 1


def test_only_the_management_switch_has_one_inlet():
    """S3048-ON has a single inlet (nbx-fork); every other device of the Dell design has two or more."""
    assert on_one_side(answer("dell").design.plan) == {"A": ("mgmt-01",), "B": ()}


@pytest.mark.parametrize(
    ("item", "drives", "nodes"),
    [
        ("isilon-f800", 2, 1),  # +2d:1n: two drives or one node (udt-overhead)
        ("wekaio", 2, 2),  # two parity blocks a stripe, each on another server (weka-319)
        ("head-node-nfs", 1, None),  # RAID 50: one loss in each group (dell-ready-ai-nvidia-2018)
        ("hnas", None, None),  # no source
    ],
)
def test_what_a_storage_system_survives(item, drives, nodes):
    storage = CATALOG.storage[item]
    assert (drives_survived(storage), nodes_survived(storage)) == (drives, nodes)


@pytest.mark.parametrize(
    ("words", "drives", "nodes"),
    [("+2n", 2, 2), ("+3d:1n1d", 3, 1), ("RAID 6", 2, None), ("RAID 0", 0, None), ("mirrored", None, None)],
)
def test_protection_is_read_from_its_words(words, drives, nodes):
    f800 = CATALOG.storage["isilon-f800"]
    storage = f800.model_copy(update={"protection": f800.protection.model_copy(update={"value": words})})
    assert (drives_survived(storage), nodes_survived(storage)) == (drives, nodes)


# --- what it costs ----------------------------------------------------------------------------------------------------


def share_of(result, **changed):
    """Share of the rate on the whole design with something less."""
    left = Losses(result.design.plan).whole
    model = EvaluatedDesign(result, CATALOG).workloads[0]
    options = [HardwareAfterLoss(replace(left, **changed))]
    return float(rate_shares(model, left, options)[0])


def test_one_storage_node_of_four_holds_the_gpus():
    """One F800 node reads 2.487 to 3.75 GB/s, in the middle 3.054; over 113 kB that is 27,026 images/s.

    Half a per cent of the reads ends in the servers' memory.
    """
    work = resnet().design.workloads[0]
    expected = math.sqrt(2.487e9 * 3.75e9) / (113e3 * (1 - work.cache_hit_fraction)) / float(work.throughput.value)
    assert share_of(resnet(), storage_nodes=1) == pytest.approx(expected, rel=1e-3)


def test_fewer_ports_to_the_storage_hold_large_samples():
    """A hundredth of 4 x 100 Gbit/s a server is 0.5 GB/s; nine servers read 4.5 GB/s less what the exchange takes."""
    rate = float(resnet().design.workloads[0].throughput.value)
    # 2 (m - 1)/m x 51.1 MB of gradient over 8 x 256 samples: 44 kB beside the 113 kB of a sample.
    expected = 9 * 0.5e9 / (113e3 + 2 * 8 / 9 * 51.1e6 / 2048) / rate
    assert share_of(resnet(), file_share=0.01) == pytest.approx(expected, rel=5e-3)


def test_gateway_uplinks_hold_the_reads():
    """Two of three uplinks of 54.5 Gbit/s carry 13.6 GB/s, far more than one C4140 reads; a thousandth 20 MB/s."""
    result = examples.sized("c4140-f800")
    work = result.design.workloads[0]
    assert share_of(result, gateway_share=2 / 3) == 1
    rate = 3 * 54.5e9 / 8 * 0.001 / (113_040 * (1 - work.cache_hit_fraction))
    assert share_of(result, gateway_share=0.001) == pytest.approx(rate / float(work.throughput.value), rel=1e-3)


def test_data_in_memory_outlive_the_switch():
    """ImageNet stays in the memory of one V225G, so a job past its first epoch needs no storage (hitachi-dl-2019)."""
    result = examples.sized("small-team")
    leaf = cases(result)["leaf"]
    assert leaf.share == (1.0,)
    assert isinstance(leaf.effect, CapacityReduced)
    assert leaf.effect.is_cached
    assert not leaf.effect.remaining.reaches_storage


def test_without_memory_and_way_to_the_storage_a_job_stops():
    result = examples.sized("c4140-f800")
    found = cases(result)
    assert found["gateway"].share == (0, 0, 0)
    assert found["leaf"].share == (0, 0, 0)
    assert found["server"].share == (0, 0, 0)
    assert all(0.6 < share < 1 for share in found["gpu"].share)  # three GPUs of four, or the hosts that decode
    assert found["gpu"].effect == JobsRestart("GPUs", 3, has_training=True)


def test_a_spare_gpu_in_the_server_takes_over():
    result = recommended(SizingRequest.from_dict(asked(4, "dgx-1", "dgx1-ssd", platforms={"gpus_per_server": 4})))
    found = cases(result)
    assert found["gpu"].share == (1.0,)
    assert found["gpu"].effect == JobsRestart("another GPU", 1, has_training=True)


def test_the_head_node_stops_jobs_only_where_it_serves_the_files():
    result = recommended(SizingRequest.from_dict(asked(8, "c4140", "head-node-nfs", platforms={"fabrics": ["edr"]})))
    head = cases(result)["head"]
    assert isinstance(head.effect, CapacityReduced)
    assert (head.effect.remaining.reaches_storage, head.effect.is_cached) == (False, True)
    assert head.share == (1.0,)  # ImageNet stays in the memory of a C4140
    assert cases(answer("dell"))["head"].share == (1.0,)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_has_its_cases_and_none_is_faster_than_the_whole(name):
    result = answer(name)
    found = failure_cases(EvaluatedDesign(result, CATALOG))
    keys = [case.key for case in found]
    assert len(set(keys)) == len(keys)
    normal = float(result.design.workloads[0].throughput.value)
    for case in found:
        assert len(case.share) == len(case.throughput) == len(result.design.workloads)
        assert 0 <= case.share[0] <= 1
        assert case.throughput[0] == pytest.approx(case.share[0] * normal)
        assert failure_title(case)
        for text in (effect_text(case), remedy_text(case)):
            assert text.endswith(".")
            assert text[0].isupper()
    networks = {net.role: net for net in result.design.quantities.networks}
    has = {
        "spine": networks["compute fabric"].spines[0] > 0,
        "switch-cable": networks["compute fabric"].leaf_spine_cables[0] > 0,
        "gateway": result.design.platform.gateway is not None,
        "back-end-switch": result.design.platform.back_end_switch is not None,
        "management-switch": networks["management"].leaves[0] > 0,
        "subnet-manager": networks["compute fabric"].leaves[0] > 0 and bool(networks["compute fabric"].subnet_manager),
    }
    assert {key: key in keys for key in has} == has


def test_racks_that_are_there_have_feeds_that_the_plan_does_not_know():
    effect = cases(answer("hostile"))["power-feed"].effect
    assert isinstance(effect, FeedLost)
    assert effect.unknown


def test_a_failed_gpu_of_a_rack_takes_its_tray_out():
    # 18 trays of four GPUs: 68 of 72 go on.
    case = cases(examples.sized("gb200-nvl72"))["gpu"]
    assert case.effect == JobsRestart("GPUs", 68, has_training=True, has_checkpoints=True)


def test_reads_continue_from_the_other_controller_of_the_only_appliance():
    """AI400X2: eight ports on two controllers. One controller is lost: the appliance stays, with four of its ports."""
    work = {"dnn": "resnet50", "target": {"gpus_busy": 16}}
    platforms = {"servers": ["dgx-h100"], "storage": ["ai400x2"], "fabrics": ["ndr"]}
    result = size(SizingRequest.from_dict({"workload": [work], "platforms": platforms, "confidence": 0.5}), CATALOG)
    assert result.design.storage_nodes == 1
    case = {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}["storage-node"]
    assert isinstance(case.effect, NodeLost)
    assert case.effect.controllers == 2
    assert case.effect.remaining_nodes == 1
    # That the drives are behind both controllers is assumed, so nothing is promised.
    assert CATALOG.storage["ai400x2"].controllers.basis == "assumed"
    assert drives_survived(CATALOG.storage["ai400x2"]) is None


def test_the_spare_unit_takes_over() -> None:
    """102 kW of a GB200 NVL72 on two CDU of 121 kW: either one cools it."""
    result = examples.sized("gb200-nvl72")
    cases = {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}
    case = cases["coolant-unit"]
    assert isinstance(case.effect, CoolantLost)
    assert not case.is_only
    assert (case.effect.needed_w, case.effect.remaining_w) == (102_000, 121_000)
    assert case.share == (1,)
    table = single_failures_table(list(cases.values()), ())
    assert any("coolant" in str(row).lower() for row in table.rows)


def test_air_cooled_servers_have_none() -> None:
    result = examples.sized("c4140-f800")
    assert "coolant-unit" not in {case.key for case in failure_cases(EvaluatedDesign(result, CATALOG))}
