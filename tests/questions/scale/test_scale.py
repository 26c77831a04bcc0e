"""The same GPUs in fewer or in more servers: what is built, that totals are those of the plan, and what is said."""

import pytest
from numpy.testing import assert_allclose

from sizer.base.errors import RequestError
from sizer.questions.scale.analysis import MAX_GPUS, ArrangementPair, is_same_host, scale_comparison
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories.answers import recommended
from tests.factories.examples import catalog, sized

QUESTION = SizingRequest.from_file("examples/questions/scale-up-or-out.toml")
# Latency of a step between servers (NCCL's tuning constant, perf/training_step.py).
HOP_S = 9.6e-6


def asked(servers=("dgx-1",), n_gpus=8, **more):
    platforms = {"servers": servers, "storage": ["wekaio"], "fabrics": ["edr"], **more.pop("platforms", {})}
    work = {
        "dnn": "resnet50",
        "stack": "tf-cnn-benchmarks-ngc18.09",
        "batch_per_gpu": 256,
        "dataset": "imagenet-tfrecord",
        "target": {"gpus_busy": n_gpus},
        **more.pop("work", {}),
    }
    return SizingRequest.from_dict({"workload": [work], "platforms": platforms, **more})


@pytest.fixture(scope="module")
def result():
    return size(QUESTION, catalog())


@pytest.fixture(scope="module")
def found(result):
    return scale_comparison(EvaluatedDesign(result, catalog()), n_gpus=[8, 16, 32])


# --- what is compared


@pytest.mark.laws
def test_every_arrangement_has_the_same_gpus(found):
    for same in found.comparisons:
        for way in same.designs:
            assert way.arrangement.n_servers * way.arrangement.gpus_used == way.n_gpus == same.n_gpus
            assert way.design.n_servers == way.arrangement.n_servers


def test_one_server_two_and_four():
    """The published test: 1 x 8, 2 x 4 and 4 x 2 GPUs."""
    same = scale_comparison(EvaluatedDesign(recommended(asked()), catalog()), n_gpus=8).comparisons[0]
    own = [way.arrangement for way in same.designs if way.arrangement.kind != "other"]
    assert [(one.n_servers, one.gpus_used) for one in own] == [(1, 8), (2, 4), (4, 2)]
    assert [one.is_full for one in own] == [True, False, False]
    assert own[1].name == "2 × NVIDIA DGX-1 (4 of 8 GPUs used)"


def test_default_is_what_the_design_uses(result):
    assert [same.n_gpus for same in scale_comparison(EvaluatedDesign(result, catalog())).comparisons] == [32]
    used = recommended(asked(platforms={"gpus_per_server": 6}, n_gpus=12))
    same = scale_comparison(EvaluatedDesign(used, catalog())).comparisons[0]
    assert (same.n_gpus, same.first.arrangement.gpus_used, same.first.design) == (12, 6, used.design)


def test_a_gpu_stands_only_in_servers_of_its_form(found):
    for same in found.comparisons:
        for way in same.designs:
            platform = way.arrangement.platform
            assert platform.gpu.id in platform.server.gpus
    names = [way.arrangement.name for way in found.comparisons[-1].designs]
    assert "8 × Dell EMC C4140 PCIe" in names  # has cards of its own form, not the modules that the request names


def test_servers_that_are_not_filled_are_named_with_the_reason(found):
    left = {one.name: one.reason for one in found.comparisons[0].excluded}
    for name in ("Dell EMC DSS 8440 T4", "RTX 2080 Ti server"):
        assert "no GPU of the class" in left.pop(name)
    assert set(left) == {"NVIDIA DGX-2", "NVIDIA DGX-2H"}
    assert all("do not fill servers of 16" in reason for reason in left.values())


def test_the_same_host_with_another_form_of_gpu(found):
    (pair,) = found.comparisons[-1].form_pairs
    assert (pair.first.arrangement.name, pair.second.arrangement.name) == (
        "8 × Dell EMC C4140",
        "8 × Dell EMC C4140 PCIe",
    )
    servers = catalog().servers
    assert is_same_host(servers["c4140"], servers["c4140-pcie"])
    assert not is_same_host(servers["dgx-1"], servers["apollo-6500"])


@pytest.mark.parametrize("count", [0, -8, MAX_GPUS + 1, True])
def test_a_number_of_gpus_out_of_range_is_named(result, count):
    with pytest.raises(RequestError, match=f"the number of GPUs is {count}; allowed are 1 to {MAX_GPUS}"):
        scale_comparison(EvaluatedDesign(result, catalog()), n_gpus=count)


# --- numbers


def test_a_server_with_one_gpu_exchanges_nothing():
    request = asked(n_gpus=1, platforms={"gpus_per_server": 1})
    split = scale_comparison(EvaluatedDesign(recommended(request), catalog())).comparisons[0].first.runs[0].step
    assert (split.exchange_s, split.exposed_s, split.waiting_s) == (0, 0, 0)


def test_gradient_between_servers_follows_the_ring(found):
    """2 (m-1)/m G over the ports, and 2 log2 m latencies: 1 : 1.5 : 1.75 for m = 2, 4, 8; four ports take a quarter."""
    between = {
        (same.n_gpus, way.arrangement.platform.server.id): way.runs[0].step.between_s
        - 2 * HOP_S * (way.arrangement.n_servers - 1).bit_length()
        for same in found.comparisons
        for way in same.designs
        if way.arrangement.is_full and way.arrangement.platform.server.id in ("c4140", "dgx-1", "apollo-6500")
    }
    assert_allclose(between[16, "c4140"] / between[8, "c4140"], 1.5, rtol=1e-9)
    assert_allclose(between[32, "c4140"] / between[8, "c4140"], 1.75, rtol=1e-9)
    assert between[8, "dgx-1"] == 0
    assert_allclose(between[16, "apollo-6500"] / between[16, "dgx-1"], 4, rtol=1e-9)


def test_parts_of_a_step_make_up_the_rate(found):
    for same in found.comparisons:
        for way in same.designs:
            (run,) = way.runs
            rate = same.n_gpus * run.answer.batch_per_gpu / run.step.step_s
            # The median of the slowest of several stages lies a little below that of the GPUs, never above.
            assert_allclose(rate, float(run.answer.throughput.value), rtol=1e-6)


def test_shared_parameters_make_ratios_better_known_than_rates(found):
    same = found.comparisons[0]
    first, spread = same.first, same.designs[1]
    rate = spread.runs[0].answer.throughput
    ratio = ArrangementPair(first, spread).rate_ratios[0]
    assert float(ratio.high / ratio.low) < float(rate.high / rate.low)
    assert tuple(ArrangementPair(first, first).rate_ratios[0]) == (1, 1, 1)
    assert_allclose(float(ratio.value), float(rate.value) / float(first.runs[0].answer.throughput.value))


def test_storage_is_the_same_and_holds_nobody_back(found):
    for same in found.comparisons:
        assert {way.design.storage_nodes for way in same.designs} == {same.storage_nodes}
        assert all(way.runs[0].answer.bottleneck not in ("storage", "network") for way in same.designs)


# --- what is said


def test_a_customers_copy_prices_nothing_but_the_offer(result):
    same = scale_comparison(EvaluatedDesign(customer_copy(result), catalog())).comparisons[0]
    assert same.first.design.bill.total == result.design.bill.total > 0
    assert all(way.design.bill.total == 0 for way in same.designs[1:])


def test_equal_gpus_stack_and_network_are_equal_whoever_makes_the_server():
    """AS-8125GS-TNMR2 and XE9680 both hold eight MI300X: no source tells their rates apart."""
    (same,) = scale_comparison(EvaluatedDesign(sized("llama-8b-continued-mi300x"), catalog())).comparisons
    other = next(way for way in same.designs if way.arrangement.platform.server.id == "xe9680-mi300x")
    assert tuple(ArrangementPair(same.first, other).rate_ratios[0]) == (1, 1, 1)
    # Other GPUs of no measured relation stay uncertain.
    h200 = next(way for way in same.designs if way.arrangement.platform.server.id == "dgx-h200")
    low, high = list(ArrangementPair(same.first, h200).rate_ratios[0])[1:]
    assert low < 1 < high
