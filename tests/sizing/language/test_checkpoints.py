"""Checkpoints of language models: goodput in rates and times, storage sized for writing and restarts, bad input."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizerError, SizingRequest, project
from sizer.base.errors import RequestError
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.reasons import RateNeed, StorageDecision
from sizer.sizing.stages.checkpoints import goodput_of, plan_of
from sizer.workload.checkpoints import Checkpoints
from tests.factories.answers import recommended
from tests.factories.requests import CATALOG

DAY_S, MINUTE, TB = 86_400, 60, 1e12
# Llama 3 70B: 70.55 G parameters, 14 bytes each (README of NVIDIA's recipes: 0.75 TB; MLPerf Storage: 0.91 TB).
PARAMETERS = 70.55e9


def sized(data=None, resilience=None, platforms=None, **work):
    asked = {"dnn": "llama-3-70b", "tokens": 1e12, "target": {"gpus_busy": 512}, **work}
    platforms = {"servers": ["dgx-h100"], **(platforms or {})}
    stored = {"storage_level": "none", **(data or {})}
    request = {"workload": [asked], "platforms": platforms, "data": stored, "resilience": resilience or {}}
    return recommended(SizingRequest.from_dict(request))


@pytest.fixture(scope="module")
def seventy():
    return sized()


def test_goodput_of_64_servers_by_hand(seventy):
    """Rate 4: a failure every 1000 d / (4 x 64) = 3.9 d. Young: sqrt(2 x 5 s x 337 500 s) = 1 837 s.

    Lost: 5 / 1 837 for copies, and (1 837 / 2 + 337.5 writing + 520 + 337.5 loading + 365) / 337 500 for failures.
    """
    found = seventy.design.workloads[0].language
    plan = found.plan
    assert plan.between_s[0] == pytest.approx(1000 * DAY_S / 256)
    assert plan.interval_s == pytest.approx(1837, rel=0.01)
    expected = (1 - 5 / 1837) * (1 - (918 + 337.5 + 520 + 337.5 + 365) / 337_500)
    assert plan.goodput[0] == pytest.approx(expected, abs=3e-4)
    assert plan.goodput[1] < plan.goodput[0] < plan.goodput[2]
    rate = float(seventy.design.workloads[0].throughput.value)
    assert rate == pytest.approx(float(found.layout.tokens_per_s.value) * plan.goodput[0], rel=1e-3)


def test_a_thousand_servers_fail_several_times_a_day():
    """Llama 3 405B on 16,384 GPUs: one interruption in 3.1 h, over 90 % effective; at the median rate of 4 as much."""
    kept = Checkpoints(5.7 * TB, 5.7 * TB, None, waits=False, interruptions=3.79)
    assert plan_of(kept, 16_384).between_s[0] / 3600 == pytest.approx(3.09, abs=0.01)
    # Restarts of that run took minutes; ours are the middles of what others report.
    assert 0.82 < goodput_of(kept, 16_384)[0] < 0.92


def test_slow_writing_costs_a_thousandth_of_the_time_at_most():
    """Few GPUs write until the next checkpoint: 32 fail once in 62.5 d, their interval is sqrt(2 x 5 s x 5.4e6 s)."""
    for gpus in (8, 32, 128, 512, 4096, 16_384):
        kept = Checkpoints(TB, TB, None, waits=False, interruptions=None)
        plan = plan_of(kept, gpus)
        fails_s = 1000 * DAY_S * 8 / (4 * gpus)
        assert plan.write_s == pytest.approx(min(max(300, fails_s / 1000), math.sqrt(10 * fails_s)), rel=0.02)
        assert plan.load_s == plan.write_s
        waiting = plan_of(Checkpoints(TB, TB, None, waits=True, interruptions=None), gpus)
        assert waiting.write_s == pytest.approx(max(60, math.sqrt(120 * fails_s) / 100), rel=0.02)
        assert waiting.goodput[0] > 1 - 3 * math.sqrt(120 / fails_s) - (520 + 365 + plan.load_s) / fails_s - 0.01


def test_storage_is_sized_for_writing_and_loading(seventy):
    """0.99 TB in a thousandth of 3.9 d is 2.9 GB/s both ways; AI400X2 writes 65 GB/s and reads at least 45."""
    design = seventy.design
    found = design.workloads[0].language
    kept = checkpoint_storage(design, found.job)
    assert kept.written_bytes == pytest.approx(14 * PARAMETERS, rel=0.01)
    assert kept.write_need_bytes_per_s == pytest.approx(14 * PARAMETERS / 337.5, rel=0.01)
    assert kept.write_s <= kept.write_allowed_s
    assert kept.restart_s <= kept.restart_allowed_s
    # Every replica reads 2 bytes a parameter for itself, one of them the whole state.
    replicas = found.layout.data
    assert kept.storm_bytes == pytest.approx((14 + 2 * (replicas - 1)) * PARAMETERS, rel=0.01)


def test_writing_can_decide_the_number_of_nodes():
    """Every minute 0.99 TB: 16.5 GB/s. A node of F210 reads 2.5 to 8 GB/s; it writes a quarter to a half of that."""
    design = sized({"checkpoint_every_s": 60}, platforms={"storage": ["powerscale-f210"]}).design
    assert 14 * PARAMETERS / 60 / (0.5 * 8e9) <= design.storage_nodes <= 14 * PARAMETERS / 60 / (0.25 * 2.5e9) + 1
    need = design.storage_need
    assert need.decision is StorageDecision.RATE
    assert need.rate_need is RateNeed.CHECKPOINTS
    relaxed = sized({"checkpoint_every_s": 3600}, platforms={"storage": ["powerscale-f210"]}).design
    assert relaxed.storage_nodes < design.storage_nodes


def test_adapters_write_little_and_load_the_model():
    """LoRA trains at most 1 % of the weights; a restart loads the model in BF16: 2 bytes a parameter."""
    result = sized(method="lora", target={"gpus_busy": 8}, tokens=2e8)
    kept = result.design.workloads[0].language.work.checkpoints
    assert kept.written_bytes == pytest.approx(0.14 * PARAMETERS, rel=0.01)
    assert kept.restart_bytes == pytest.approx(2.14 * PARAMETERS, rel=0.01)
    stored = storage_demand(result.design.workloads, result.request.data)
    assert stored.n_retained == 2  # of the adapters; the frozen weights are kept once
    assert stored.checkpoints_bytes == pytest.approx((2 * 0.14 + 2) * PARAMETERS, rel=0.01)


@given(
    gpus=st.integers(1, 131_072),
    size_bytes=st.floats(1e9, 1e14),
    every=st.floats(60, 1e6),
    more=st.floats(1, 100),
    waits=st.booleans(),
)
def test_a_longer_interval_never_raises_the_write_need(gpus, size_bytes, every, more, waits):
    def need(interval):
        kept = Checkpoints(size_bytes, size_bytes, interval, waits=waits, interruptions=None)
        plan = plan_of(kept, gpus)
        assert 0 <= plan.goodput[1] <= plan.goodput[0] <= plan.goodput[2] <= 1
        assert plan.write_s <= plan.interval_s * (1 + 1e-9) or waits
        return plan.checkpoint_bytes / plan.write_s

    assert need(every * more) <= need(every) * (1 + 1e-9)


@given(st.integers(1, 65_536), st.floats(1, 8))
def test_more_gpus_are_interrupted_more_often(gpus, more):
    kept = Checkpoints(TB, TB, None, waits=False, interruptions=None)
    few, many = (goodput_of(kept, count)[0] for count in (gpus, math.ceil(gpus * more)))
    assert many <= few + 1e-12


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"data": {"checkpoint_every_s": 10}}, "data.checkpoint_every_s = 10.0 s is shorter than a checkpoint"),
        ({"data": {"checkpoint_every_s": -5}}, "checkpoint_every_s"),
        ({"data": {"checkpoint_waits": "yes"}}, "checkpoint_waits"),
        ({"resilience": {"interruptions": 0}}, "interruptions"),
        ({"resilience": {"interruptions": float("nan")}}, "interruptions"),
        ({"resilience": {"interruptions": -4}}, "interruptions"),
    ],
)
def test_what_makes_no_sense_is_refused(table, says):
    with pytest.raises(RequestError) as refused:
        sized(**table)
    assert says in str(refused.value).replace("\u202f", " ")


def test_storage_that_cannot_write_so_fast_is_refused_with_the_reason():
    with pytest.raises(SizerError) as refused:
        sized(
            {"checkpoint_every_s": 60, "checkpoint_bytes_per_parameter": 64},
            platforms={"storage": ["powerscale-f210"]},
            dnn="llama-3.1-405b",
            tokens=1e11,
            target={"gpus_busy": 1024},
        )
    assert "storage" in str(refused.value).lower()


def test_few_clients_bound_what_the_storage_writes():
    """One DGX H100 and an AI400X2, 65 GB/s by its vendor: one client passes less.

    NVIDIA's reference architecture (RA-11333-001 V11): at least 40 GB/s for one node. DDN with DGX B200: 96 % of two
    ports of 400 Gbit/s, 96 GB/s, more than this storage has.
    """
    work = {"dnn": "llama-3-8b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"fabrics": ["ndr"]}})
    design = project(request, CATALOG, server="dgx-h100", servers=1, storage="ai400x2", storage_nodes=1)
    kept = checkpoint_storage(design, design.workloads[0].job)
    assert kept.write_bytes_per_s == pytest.approx((40e9, 65e9))
    assert kept.write_s == pytest.approx(kept.written_bytes / 40e9)
    assert kept.read_bytes_per_s[0] == pytest.approx(40e9)
