"""Language models in use on designs: memory and load by hand, laws of loads and limits, and what is refused."""

import math
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.serving.calibration import Bound, LatencyLimits, serving_calibration
from sizer.calibrate.serving.deployment import layouts_inside, points_of
from sizer.catalog.model import Items
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities
from sizer.physical.roles import Role
from sizer.present.serving_charts import serving_charts
from sizer.present.text.serving import replicas_text, serving_cautions, users_text
from sizer.sizing.checks import CheckResult
from sizer.sizing.customer_copy import not_offered
from sizer.sizing.recommend import search
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.feasibility import _is_late
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.size import size
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.platform_columns import LaidOutRun, ServerRows, columns
from sizer.sizing.stages.serving_rates import (
    ServingAnswer,
    exceeded_run,
    highest_run,
    nearest_run,
    output_of_gpu,
    serving_answer,
    serving_curve,
    serving_error_text,
    serving_run,
)
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.optional_tables import Rental
from sizer.workload.request import Resilience, SizingRequest
from tests.factories.examples import catalog


def request(
    target: dict[str, Any] | None = None, server: str = "dgx-h200", only: dict[str, Any] | None = None, **work: Any
) -> SizingRequest:
    usual = {"dnn": "llama-3-70b", "input_tokens": 1000, "output_tokens": 500, "precision": "fp8"}
    asked = {"name": "Answers", "task": "serving", "target": target or {"requests_per_s": 5}, **usual, **work}
    return SizingRequest.from_dict({"workload": [asked], "platforms": {"servers": [server]} | (only or {})})


def on(asked: SizingRequest) -> tuple[Any, Any]:
    (work,) = resolved(asked, catalog(), stored_calibration())
    return work, platforms(catalog(), asked)[0]


def run(servers: list[int], server: str = "dgx-h200", target: dict[str, Any] | None = None, **work: Any) -> LaidOutRun:
    found, platform = on(request(target, server, **work))
    cols = columns([platform], catalog()).take(np.zeros(len(servers), dtype=np.int64))
    return serving_run(found, ServerRows([platform], cols, np.array(servers), catalog(), stored_calibration()))


def rate(**work: Any) -> float:
    return float(run([1], **work).median_samples_per_s[0])


def test_memory_of_a_replica_is_that_of_hand_arithmetic():
    """Llama 3 70B in FP8 on one H200: 68.45 G inner weights of 1 B, 2 x 1.05 G of embedding and head in BF16.

    Keys and values: 80 layers x 2 x 8 heads x 128 x 1 B = 163,840 B a token; engines fill 0.88 of the memory and keep
    3 GB; a mixture of engines keeps room for 0.7 of the answer.
    """
    work, platform = on(request(output_tokens=1000))
    head = 128_256 * 8_192
    weights = 7.0552e10 - 2 * head + 2 * 2 * head
    found = serving_answer(work, platform, 1, 8, catalog())
    assert found is not None
    assert found.weight_bytes * found.tensor == pytest.approx(weights, rel=2e-3)
    free = 0.88 * 141 * 2**30 - weights / found.tensor - 3e9
    each = 163_840 * (1000 + 0.7 * 1000) / found.tensor
    assert found.most_concurrent == pytest.approx(free / each, rel=5e-3)


@settings(deadline=None, max_examples=10)
@given(
    model=st.sampled_from(["llama-3-8b", "llama-3-70b", "deepseek-v3", "gpt-oss-120b"]),
    first=st.sampled_from(["500 ms", "2 s"]),
    token=st.sampled_from(["20 ms", "50 ms"]),
)
def test_a_tighter_limit_or_a_longer_request_never_serves_more(model, first, token):
    # Of an asked load layouts lead that carry it with one replica fewer, whatever they serve at the most.
    asked = {"dnn": model, "precision": "mixed", "target": {"gpus_busy": 8}}
    most = rate(**asked, first_token_s="4 s", token_s="100 ms")
    tails = [
        rate(**asked, first_token_s=first, token_s=token, input_tokens_p95=1000 * tail, output_tokens_p95=500 * tail)
        for tail in (1, 2, 4)
    ]
    assert all(before * 1.001 >= after for before, after in pairwise(tails))
    limited = rate(**asked, first_token_s=first, token_s=token)
    longer = rate(**asked, first_token_s=first, token_s=token, output_tokens=1000)
    stricter = rate(**asked, first_token_s=first, token_s=token, latency_percentile=99)
    assert most * 1.001 >= limited >= 0
    assert limited * 1.001 >= longer
    assert limited * 1.001 >= stricter


@settings(deadline=None, max_examples=10)
@given(
    model=st.sampled_from(["llama-3-8b", "llama-3-70b", "deepseek-v3", "gpt-oss-120b"]),
    counted=st.sampled_from(["requests_per_s", "concurrent_requests", "active_users", "users"]),
    number=st.sampled_from([1, 30, 1_000, 1_000_000_000]),
)
def test_more_servers_never_serve_fewer_and_add_where_none_is_enough(model, counted, number):
    servers = np.array([1, 2, 3, 4, 8])
    rates = run(
        servers.tolist(), target={counted: number}, dnn=model, precision="mixed", use="chat"
    ).median_samples_per_s
    assert (np.diff(rates) >= -1e-9 * rates[1:]).all()
    if number == 1_000_000_000:
        assert rates == pytest.approx(servers * rates[0])


@settings(deadline=None, max_examples=10)
@given(
    model=st.sampled_from(["llama-3-8b", "llama-3-70b", "gpt-oss-120b"]),
    per_s=st.sampled_from([0.3, 3, 30]),
    hours=st.lists(st.integers(0, 9), min_size=24, max_size=24).filter(any),
)
def test_a_day_a_failure_and_carbon_keep_their_laws(model, per_s, hours):
    """At an equal mean a peakier day takes no fewer replicas; a flat one is none; a loss leaves no more."""
    asked = {"dnn": model, "precision": "mixed", "use": "chat"}
    a_day = {"requests_per_day": 86_400 * per_s}
    flat, peaky = (answer_of(4, a_day, **asked, load_by_hour=one) for one in ([1] * 24, hours))
    none = answer_of(4, {"requests_per_s": per_s}, **asked)
    assert (flat.replicas_needed, flat.served_per_s) == (none.replicas_needed, pytest.approx(none.served_per_s))
    if flat.gpus_of_replica == peaky.gpus_of_replica:
        assert (peaky.replicas_needed or math.inf) >= (flat.replicas_needed or math.inf)
    for found in (flat, peaky):
        one, server = found.after_replica, found.after_server
        assert found.requests_per_s.value >= one.rate.value >= server.rate.value >= 0
        assert (one.probability or 0.0) >= (server.probability or 0.0)


@pytest.mark.parametrize("grams", [0.0, 190.0, 380.0])
def test_a_day_is_what_hand_arithmetic_makes_of_it(grams):
    """365 tokens of a million requests; 24 hours at the typical power, 1.3 as much with cooling."""
    hours = [3] * 8 + [1] * 16  # the mean is (8 + 16 / 3) / 24 of the peak
    asked = request({"requests_per_day": 1e6}, output_tokens=365, load_by_hour=hours)
    asked = asked.model_copy(
        update={
            "site": asked.site.model_copy(update={"carbon_g_per_kwh": grams, "pue_ratio": 1.3}),
            "rental": Rental(per_gpu_hour=Decimal("2.5")),
        }
    )
    design = size(asked, catalog()).design
    (answer,), kw = design.workloads, float(design.quantities.power_typical_w[0]) / 1e3
    day, cost = answer.day, design.cost
    assert day is not None
    assert cost is not None
    assert answer.served.work.asked_rate == pytest.approx(1e6 / 86_400 * 24 / (8 + 16 / 3), rel=1e-6)
    assert day.tokens == pytest.approx(365e6, rel=1e-3)
    assert day.idle_share == pytest.approx(1 - 1e6 / 86_400 / float(answer.served.requests_per_s.value), rel=1e-3)
    assert day.kwh_per_million == pytest.approx(24 * kw / 365, rel=1e-3)
    assert day.kg_co2_per_million == pytest.approx(24 * kw / 365 * 1.3 * grams / 1e3, rel=1e-3)
    assert day.rented_per_million is not None
    assert day.rented_per_million.expected == pytest.approx(answer.served.gpus_used * 24 * 2.5 / 365, rel=1e-3)
    assert day.bought_per_million is not None
    assert day.bought_per_million.expected == pytest.approx(cost.expected / (4 * 365.25 * 365), rel=1e-3)
    # What a customer's copy compares has no price, in whatever unit.
    hidden = not_offered(design).workloads[0].day
    assert hidden == replace(day, bought_per_million=None, rented_per_million=None)


@pytest.mark.parametrize("hours", [6, 12])
def test_a_night_has_what_the_day_leaves(hours):
    """Eight hours of three with a third of the load of the others: the hours of the night lie in these sixteen."""
    works = [
        {"name": "Chat", "task": "serving", "dnn": "llama-3-70b", "input_tokens": 1000, "output_tokens": 500}
        | {"precision": "fp8", "load_by_hour": [3] * 8 + [1] * 16, "target": {"requests_per_s": 30}},
        {"name": "Tuning", "dnn": "llama-3-8b", "method": "lora", "tokens": 1e9, "sequence_tokens": 4096}
        | {"night_hours": hours, "target": {"time_to_train_s": "4 d"}},
    ]
    asked = SizingRequest.from_dict({"workload": works, "platforms": {"servers": ["dgx-h200"]}})
    design = size(asked, catalog()).design
    chat, tuning = design.workloads
    assert tuning.workload.target.time_to_train_s == pytest.approx(4 * hours * 3600)
    assert tuning.night is not None
    assert (tuning.night.hours, 8 <= tuning.night.first_hour <= 24 - hours) == (hours, True)
    # A third of the load takes a third of the replicas, in whole ones.
    needed = chat.served.replicas_needed or 0
    taken = design.n_gpus - tuning.night.gpus
    assert needed / 3 <= taken / chat.served.gpus_of_replica + 1e-6 <= needed / 3 + 1
    batch = {"name": "Batch", "task": "generation", "dnn": "llama-3-8b", "input_tokens": 800, "output_tokens": 200}
    batch |= {"precision": "fp8", "night_hours": hours, "target": {"tokens_per_s": 5_000}}
    both = SizingRequest.from_dict({"workload": [works[0], batch], "platforms": {"servers": ["dgx-h200"]}})
    by_day, by_night = size(both, catalog()).design.workloads
    assert by_day.served.work.shares_with == ()
    assert by_night.served.work.asked_rate == pytest.approx(5_000 / 200 * 24 / hours)
    assert by_night.day is not None
    assert by_night.day.tokens == pytest.approx(5_000 * 86_400, rel=1e-3)
    works[1] = works[1] | {"target": {"time_to_train_s": "8 h"}}
    (_, short) = size(SizingRequest.from_dict({"workload": works}), catalog()).design.workloads
    assert short.workload.target.time_to_train_s == pytest.approx(min(8, hours) * 3600)


def test_requests_in_flight_must_find_room():
    """Ten thousand long contexts at once are bounded by memory, and by Little's law at the slowest pace allowed."""
    target = {"concurrent_requests": 10_000}
    long = {"input_tokens": 30_000, "output_tokens": 100, "token_s": "1 s", "first_token_s": "100 s"}
    found = run([1], target=target, **long)
    work, platform = on(request(target, **long))
    answer = serving_answer(work, platform, 1, 8, catalog())
    assert answer is not None
    room = answer.most_concurrent * answer.replicas
    assert found.median_samples_per_s[0] <= room * 1.001
    assert found.median_samples_per_s[0] <= float(answer.requests_per_s.value) * (100 + 100 * 1.0) * 1.001


def test_what_mlperf_served_within_its_limits_is_no_matter_of_more_servers():
    """Llama 3.1 405B in MLPerf Inference v5.0, server: eight H200 gave 0.43 requests/s within 6 s and 175 ms at p99."""
    asked = {"dnn": "llama-3.1-405b", "input_tokens": 9_400, "output_tokens": 680, "latency_percentile": 99}
    limits = {"first_token_s": "6 s", "token_s": "175 ms", "engine": "tensorrt-llm"}
    found = answer_of(4, {"requests_per_s": 1}, **asked, **limits)
    assert found.replicas_needed in (2, 3, 4)
    assert found.first_token_chance is not None
    assert 0.5 < found.first_token_chance < 0.9


def test_random_arrivals_queue_for_few_long_prefills():
    """And a load of less than one request in flight stays the one that is asked."""
    long = {"input_tokens": 60_000, "output_tokens": 500, "token_s": "60 ms", "first_token_s": "100 s"}
    alone, busy = (answer_of(target={"requests_per_s": rate}, **long) for rate in (0.001, 0.12))
    assert busy.served_per_s == pytest.approx(0.12, rel=0.02)
    assert alone.served_per_s == pytest.approx(0.001, rel=0.02)
    assert busy.concurrency < 2
    assert float(busy.ttft_s.value) > 1.1 * float(alone.ttft_s.value)
    assert float(busy.ttft_percentile_s.value) > 1.3 * float(alone.ttft_percentile_s.value)


def both(server: str, servers: int) -> list[ServingAnswer]:
    """Llama 3 70B for 8 requests/s beside an 8B that generates 34,722 tokens/s."""
    limits = {"first_token_s": "2 s", "token_s": "40 ms", "input_tokens": 2_000, "output_tokens": 400}
    batch = {"input_tokens": 800, "output_tokens": 200, "target": {"tokens_per_s": 34_722}}
    works = [
        {"name": "a", "task": "serving", "dnn": "llama-3-70b", "target": {"requests_per_s": 8}, **limits},
        {"name": "b", "task": "generation", "dnn": "llama-3-8b", **batch},
    ]
    asked = SizingRequest.from_dict(
        {"workload": [{"precision": "fp8", **work} for work in works], "platforms": {"servers": [server]}}
    )
    platform = platforms(catalog(), asked)[0]
    found = [
        serving_answer(work, platform, servers, 8, catalog())
        for work in resolved(asked, catalog(), stored_calibration())
    ]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_models_in_use_share_the_gpus(servers):
    found = both("dgx-h100", servers)
    assert sum(one.gpus_used for one in found) <= 8 * servers
    enough = [one.replicas >= (one.replicas_needed or 0) for one in found]
    assert all(enough) == (servers >= 2)


def fleet(servers: int, server: str = "xe7745") -> list[ServingAnswer]:
    """A chat of 70B, completion of 7B and reasoning of gpt-oss-120b on servers of four RTX PRO 6000."""
    limits = {"task": "serving", "first_token_s": "2 s", "token_s": "30 ms"}
    works = [
        {"name": "a", "dnn": "llama-3-70b", "use": "chat", "target": {"users": 1000}, **limits, "token_s": "50 ms"}
        | {"input_tokens": 1_000, "output_tokens": 300},
        {"name": "b", "dnn": "qwen2.5-7b", "use": "code", "target": {"users": 300}, **limits, "first_token_s": "1 s"},
        {"name": "c", "dnn": "gpt-oss-120b", "use": "reasoning", "target": {"users": 200}, **limits},
    ]
    asked = SizingRequest.from_dict(
        {
            "workload": [{"precision": "mixed" if work["name"] == "c" else "fp8", **work} for work in works],
            "platforms": {"servers": [server], "gpus": ["rtx-pro-6000-96gb"], "gpus_per_server": 4},
        }
    )
    platform = platforms(catalog(), asked)[0]
    found = [
        serving_answer(work, platform, servers, 4, catalog())
        for work in resolved(asked, catalog(), stored_calibration())
    ]
    return [one for one in found if one is not None]


def test_models_that_share_a_fleet_take_the_layouts_of_their_loads():
    """By hand: 70.6 GB over two cards of 1.6 TB/s are read in 22 ms of 50; 8 and 63 GB lie in one card each."""
    few = fleet(1)
    assert [one.gpus_of_replica for one in few] == [2, 1, 1]
    assert [one.replicas for one in few] == [1, 1, 1]
    # The second server stands in for the first.
    assert [one.replicas for one in fleet(2)] == [2, 2, 2]


def test_too_few_gpus_for_several_models_are_told_by_model():
    """In BF16: 141 and 145 GB take two cards of 96 GB each, 65 GB one; a server has four."""
    limits = {"task": "serving", "precision": "bf16", "first_token_s": "4 s", "token_s": "90 ms"}
    lengths = {"input_tokens": 500, "output_tokens": 200, "target": {"requests_per_s": 0.1}}
    models = ("llama-3-70b", "qwen2.5-72b", "qwen3-32b")
    asked = SizingRequest.from_dict(
        {
            "workload": [{"name": model, "dnn": model, **limits, **lengths} for model in models],
            "platforms": {"servers": ["xe7745"], "gpus": ["rtx-pro-6000-96gb"], "gpus_per_server": 4},
        }
    )
    work, platform = resolved(asked, catalog(), stored_calibration())[0], platforms(catalog(), asked)[0]
    assert work.serving is not None
    why, enough = (serving_error_text(work.serving, platform, 4, servers, catalog()) for servers in (1, 2))
    assert all(part in why for part in ("4 ×", "Llama 3 70B 2", "Qwen2.5 72B 2", "Qwen3 32B 1"))
    assert not enough


def test_a_number_of_gpus_counts_no_more_of_them():
    """Two of eight GPUs serve what the one replica on them does, and not what the server could."""
    two, eight = (run([1], target={"gpus_busy": count}).median_samples_per_s[0] for count in (2, 8))
    assert answer_of(target={"gpus_busy": 2}).gpus_used == 2
    assert 4 * two == pytest.approx(eight, rel=0.1)


@pytest.mark.parametrize("model", ["qwen3-235b-a22b", "gpt-oss-120b", "llama-3-70b", "deepseek-v3"])
def test_more_memory_at_the_same_rates_never_serves_less(model):
    """B200 with 180 GB, and with the memory of two, three and more: the layouts that runs bear out are the same."""
    gpu, served = catalog().gpus["b200-sxm-180gb"], []
    work, _ = on(request(dnn=model, precision="fp8" if model == "qwen3-235b-a22b" else "mixed"))
    assert work.serving is not None
    for factor in (0.5, 0.8, 1.0, 1.5, 2.0):
        memory = gpu.memory_bytes.model_copy(update={"value": factor * gpu.memory_bytes.value})
        larger = Items("gpus", {**catalog().gpus, gpu.id: gpu.model_copy(update={"memory_bytes": memory})})
        here = replace(catalog(), gpus=larger)
        layouts = list(layouts_inside(work.serving, here.gpus[gpu.id], 8, here))
        load = serving_calibration().largest_load(points_of(work.serving, layouts, 1.0), LatencyLimits(2.0, 0.05, 95))
        served.append(max(load.requests_per_s * load.fits * 8 / np.array([one.gpus for one in layouts])))
    # Loads are tried in steps that depend on the room: two in a hundred.
    assert all(after >= before * 0.98 for before, after in pairwise(served))
    assert served[-1] > 0


def test_a_cached_share_of_a_rate_lasts_as_long_as_the_memory_has_room():
    """9,600 tokens of 163,840 B are 1.57 GB; what is free of all GPUs over that, over the requests a second."""
    cached = {"input_tokens": 32_000, "prefix_cached": 0.3, "first_token_s": "20 s"}
    found = answer_of(2, {"requests_per_s": 1.0}, **cached)
    free = (found.room_bytes - found.cache_bytes) * found.gpus_of_replica * found.replicas
    assert found.prefix_stay_s == pytest.approx(free / (9_600 * 163_840) / 1.0, rel=0.03)
    assert not found.depends_on_cache
    assert answer_of(1, {"requests_per_s": 30.0}, input_tokens=1000, prefix_cached=0.9).depends_on_cache
    assert answer_of(2, {"active_users": 300}, use="rag", **cached).prefix_stay_s is None


AGENTS = {"dnn": "minimax-m2.5", "precision": "mixed", "engine": "vllm", "input_tokens": 30_000, "token_s": "30 ms"}


def agents(per_s: float, cached: float) -> tuple[Any, Any]:
    """Turns of coding agents on 24 MI355X: the answer, and the run of one to eight servers."""
    asked = request({"requests_per_s": per_s}, "xe9785l", first_token_s="3 s", prefix_cached=cached, **AGENTS)
    work, platform = on(asked)
    cols = columns([platform], catalog()).take(np.zeros(8, dtype=np.int64))
    ran = serving_run(work, ServerRows([platform], cols, np.arange(1, 9), catalog(), stored_calibration()))
    return serving_answer(work, platform, 3, 8, catalog()), ran


def test_a_layout_keeps_the_cache_that_the_answer_depends_on():
    """24 copies of 214 GiB leave 131 sessions; one copy a server leaves about (24 x 288 - 3 x 230) GB x 0.88 / 6.48."""
    found, _ = agents(3.0, 0.85)
    assert found.prefix_bytes == pytest.approx(6.48e9, rel=0.01)
    assert found.sessions_stored > 0.85 * (24 * 288 - 3 * 230) * 0.88 / 6.48
    # Where only the fastest layout carries the load it stays.
    busy, _ = agents(8.0, 0.85)
    assert float(busy.requests_per_s.value) > 8.0


def test_without_its_cache_a_design_serves_what_one_without_any_does():
    found, _ = agents(6.0, 0.85)
    bare, ran = agents(6.0, 0.0)
    assert found.without_cache.rate < float(found.requests_per_s.value)
    assert found.without_cache.probability < 0.9
    sure = [
        NormalDist().cdf(math.log(rate / 6.0) / sd)
        for rate, sd in zip(ran.median_samples_per_s, ran.log_sd, strict=True)
    ]
    of_rate, of_both = (
        1 + next(place for place, chance in enumerate(chances) if chance >= 0.9)
        for chances in (sure, [chance * timely for chance, timely in zip(sure, ran.timely, strict=True)])
    )
    # First tokens in time take no more than half as many servers again.
    assert found.without_cache.servers == (of_both if of_both <= 1.5 * of_rate else of_rate)
    assert bare.without_cache is None
    harmless = answer_of(1, {"requests_per_s": 8.0}, input_tokens=1000, prefix_cached=0.9)
    assert harmless.without_cache is not None
    assert harmless.without_cache.probability > 0.9
    assert harmless.prefix_stay_s is not None
    assert harmless.prefix_stay_s < 600
    assert not harmless.depends_on_cache


@pytest.mark.parametrize(
    ("chance", "timely", "late"),
    [
        # Three servers make sure what two keep with 0.92: half as many again are asked for.
        ([0.5, 0.92, 0.99, 0.99], [0.8, 0.8, 0.95, 0.95], [False, True, False, False]),
        # A second one for the spread of a prefill is not.
        ([0.92, 0.99, 0.99, 0.99], [0.8, 0.95, 0.95, 0.95], [True, True, True, True]),
        # None does: what one replica shows decides, whatever the number.
        ([0.92, 0.99, 0.99, 0.99], [0.8, 0.82, 0.84, 0.86], [True, True, True, True]),
        # Two more than two are too many for that.
        ([0.5, 0.92, 0.99, 0.99], [0.8, 0.8, 0.85, 0.95], [False, True, True, True]),
        # A rate that is missed is no matter of first tokens.
        ([0.5, 0.92, 0.99, 0.99], [0.99, 0.995, 1, 1], [False, False, False, False]),
    ],
)
def test_first_tokens_call_for_servers_where_few_make_them_sure(chance, timely, late):
    found = _is_late(np.array([chance]), np.array([timely]), np.arange(1, 5), 0.9)
    assert found.tolist() == [late]


def test_the_probability_is_that_of_all_limits():
    """Llama 3.1 405B within 6 s at the 99th percentile: eight MI325X keep the rate, and first tokens less surely."""
    limits = {"first_token_s": "6 s", "token_s": "175 ms", "latency_percentile": 99}
    lengths = {"dnn": "llama-3.1-405b", "input_tokens": 4_000, "output_tokens": 400}
    asked = request({"requests_per_s": 0.9}, "as-8125gs-tnmr2", {"gpus": ["mi325x-256gb"]}, **limits, **lengths)
    counts = search(asked, catalog(), stored_calibration(), most=4)
    (work,), places = counts.evaluated.works, counts.evaluated.space.of_platform(0)
    one = run_on(asked, work, counts.evaluated.platforms[0], [1], 0, math.inf, catalog(), stored_calibration())
    answer = serving_answer(work, counts.evaluated.platforms[0], 1, 8, catalog())
    assert answer is not None
    of_rate = NormalDist().cdf(math.log(float(answer.requests_per_s.value) / 0.9) / answer.requests_per_s.log_sd)
    assert of_rate > 0.9 > (answer.first_token_chance or 0.0)
    assert one.probability[0] == pytest.approx(of_rate * (answer.first_token_chance or 0.0), rel=1e-6)
    assert counts.evaluated.probability[places][0] == pytest.approx(one.probability[0], rel=1e-6)
    assert counts.evaluated.is_late[places].tolist() == [True, True, True, True]
    assert counts.evaluated.space.n_servers[Ranking(counts).first(1)[0]] == 1
    assert answer.replicas_needed == answer.replicas


@pytest.mark.parametrize("target", [{"requests_per_s": 80}, {"concurrent_requests": 64}, {"users": 240_000}])
def test_replicas_that_are_needed_are_those_that_are_bought_for(target):
    """Whatever a target counts: one server keeps the rate, and first tokens within 200 ms with less than 0.9."""
    voice = {"dnn": "llama-3-8b", "input_tokens": 800, "output_tokens": 60, "use": "chat"}
    found = answer_of(1, target, **voice, first_token_s="120 ms", token_s="10 ms")
    assert (found.first_token_chance or 1.0) < 0.9
    assert found.servers_timely != 1
    assert found.replicas_needed is not None
    assert found.replicas_needed <= found.replicas


def test_other_numbers_of_people_are_sized_as_the_request_is():
    """Twice the developers take no second server where the same one holds more cards."""
    work = {"dnn": "qwen3-30b-a3b", "use": "code", "engine": "vllm", "input_tokens": 2_000, "output_tokens": 60}
    only = {"gpus": ["rtx-pro-6000-96gb"]}
    asked = request({"users": 1_200}, "xe7745", only, first_token_s="500 ms", token_s="25 ms", **work)
    loads = size(asked, catalog()).design.workloads[0].other_loads
    assert loads is not None
    assert [(one.factor, one.n_servers, one.gpus_per_server) for one in loads.value] == [(0.5, 1, 2), (2.0, 1, 5)]


def test_a_card_may_fail_where_each_replica_carries_the_load():
    """gpt-oss-120b has 65 GB and fits one card of 96 GB: two replicas of one come before one of two."""
    work = {"dnn": "gpt-oss-120b", "precision": "mixed", "output_tokens": 800}
    only = {"gpus": ["rtx-pro-6000-96gb"], "gpus_per_server": 2}
    resolved_work, platform = on(request({"requests_per_s": 0.33}, "xe7745", only, **work))
    found = serving_answer(resolved_work, platform, 1, 2, catalog())
    assert found is not None
    assert (found.replicas, found.gpus_of_replica, found.replicas_needed) == (2, 1, 1)


def test_cards_reach_each_other_through_the_host():
    """No bill has a bridge: two H200 NVL are joined by PCIe 5.0, whose 16 lanes carry at most 64 GB/s."""
    only = {"gpus": ["h200-nvl-141gb"], "gpus_per_server": 2}
    work, platform = on(request({"requests_per_s": 0.1}, "xe7745", only, dnn="llama-3-70b", precision="bf16"))
    found = serving_answer(work, platform, 1, 2, catalog())
    assert found is not None
    assert found.deployment.tensor == 2
    assert 20e9 < (found.deployment.link_bytes_per_s or 0.0) < 64e9
    assert "PCIe" in found.link
    assert found.link in replicas_text(found)


def test_the_nearest_run_has_the_format_lengths_and_load_of_the_answer():
    """TensorRT-LLM's table has offline runs of 1,000 and 1,000 tokens; InferenceX closed loops of as many."""
    lengths = {"input_tokens": 1000, "output_tokens": 1000}
    waits, batch = answer_of(**lengths, token_s="30 ms"), answer_of(**lengths, task="generation")
    near, offline = nearest_run(waits), nearest_run(batch)
    assert near is not None
    assert offline is not None
    assert near.tpot_s is not None
    assert 0.5 < near.tpot_s / float(waits.tpot_s.value) < 2
    assert (offline.has_limits, offline.computed_in, offline.source) == (False, "fp8", "trtllm-perf-overview")


def test_a_measured_replica_moves_and_narrows_the_rate_of_its_design():
    """A rate a fifth above the prediction, within 3 %: most of it is believed, as the effects spread by 0.1."""
    load, asked = 32, {"target": {"requests_per_s": 5}, "token_s": 0.03}
    work, _ = on(request(**asked))
    (layout,) = layouts_inside(work.served, catalog().gpus["h200-sxm-141gb"], 1, catalog())
    alone = float(serving_calibration().rates(points_of(work.served, [layout], load)).requests_per_s[0])
    rates = [{"samples_per_s": 1.2 * alone, "gpu": "h200-sxm-141gb", "concurrent_requests": load, "within_percent": 3}]
    before, after = run([1], **asked), run([1], **asked, measured=rates)
    moved = float(after.median_samples_per_s[0] / before.median_samples_per_s[0])
    assert 1.1 < moved < 1.5  # limits let more in flight
    assert after.log_sd[0] < 0.6 * before.log_sd[0]
    with pytest.raises(RequestError, match="does not fit on 1 H100"):
        run([1], **asked, measured=[rates[0] | {"gpu": "h100-sxm-80gb"}])


def test_more_than_was_published_is_cautioned():
    """MLPerf v5.1, offline: eight B200 gave 30,493 to 33,379 output tokens/s of DeepSeek, 800 in and 3,736 out."""
    most = {"dnn": "deepseek-v3", "precision": "nvfp4", "task": "generation", "input_tokens": 800}
    found = answer_of(target={"gpus_busy": 8}, server="dgx-b200", **most, output_tokens=3736)
    row = highest_run(found)
    assert row is not None
    assert 3_800 < output_of_gpu(row) < 4_300
    above = replace(found, tokens_per_s=Estimate.log_normal(8 * 2 * output_of_gpu(row), 0.1))
    below = replace(found, tokens_per_s=Estimate.log_normal(8 * output_of_gpu(row), 0.1))
    assert exceeded_run(above) == row
    assert exceeded_run(below) is None
    assert len(serving_cautions(above)) == len(serving_cautions(below)) + 1


@pytest.mark.parametrize(("joint", "late"), [(0.94, 0), (0.88, 1)])
def test_a_condition_stands_only_where_all_targets_together_miss_the_confidence(joint, late):
    """Three workloads at 0.9 take 0.965 each: 0.94 of one with two that are sure is no condition."""
    work = SimpleNamespace(work=SimpleNamespace(confidence=0.9 ** (1 / 3)))
    answers = [
        SimpleNamespace(serving=work, served=work, target_check=CheckResult.MET, probability=chance)
        for chance in (joint, 0.9999, 0.9999)
    ]
    design = SimpleNamespace(workloads=answers, probability=joint)
    assert len(DesignAnswer.late.fget(design)) == late  # type: ignore[attr-defined]


def test_people_of_given_gpus_are_counted_by_the_use():
    """An active user of a chat asks 12 times an hour: 300 for each request a second, and ten times as many in all."""
    found = answer_of(target={"gpus_busy": 8}, use="chat")
    assert found.active_users == pytest.approx(300 * found.served_per_s)
    assert f"{float(f'{3000 * found.served_per_s:.2g}'):,.0f}" in users_text(found).replace("\u202f", ",")
    assert not users_text(answer_of(target={"requests_per_s": 2}))


LONG = {"input_tokens": 60_000, "output_tokens": 500, "token_s": "60 ms"}


def answer_of(
    servers: int = 1, target: dict[str, Any] | None = None, server: str = "dgx-h200", **work: Any
) -> ServingAnswer:
    asked, platform = on(request(target, server, **work))
    found = serving_answer(asked, platform, servers, 8, catalog())
    assert found is not None
    return found


@pytest.mark.parametrize("first", ["6 s", "12 s", "30 s"])
def test_first_tokens_are_as_sure_as_their_printed_interval(first):
    """The 90 % interval of the percentile is 2 x 1.645 standard deviations wide: the limit in it has a chance."""
    target = {"requests_per_s": 0.05}
    found = answer_of(target=target, first_token_s=first, **LONG)
    printed, limit = found.ttft_percentile_s, float(first.removesuffix(" s"))
    sd = math.log(float(printed.high) / float(printed.low)) / (2 * 1.645)
    by_hand = NormalDist().cdf(math.log(limit / float(printed.value)) / sd)
    assert found.first_token_chance == pytest.approx(by_hand, abs=0.01)


def test_long_prompts_take_more_ranks_where_few_are_too_late():
    """Eight ranks prefill about four times as fast as two, which the search takes where nobody waits."""
    assert answer_of(target={"requests_per_s": 0.05}, first_token_s="9 s", **LONG).tensor == 8
    assert answer_of(target={"requests_per_s": 0.05}, first_token_s="300 s", **LONG).tensor <= 4


@settings(deadline=None, max_examples=6)
@given(
    model=st.sampled_from(["llama-3-70b", "qwen3-235b-a22b", "gpt-oss-120b"]),
    first=st.sampled_from([0.3, 1.0, 4.0]),
    tokens=st.sampled_from([1_000, 8_000]),
)
def test_a_tighter_first_token_or_more_requests_are_never_surer(model, first, tokens):
    def chance(first_s: float, per_s: float) -> float:
        work = {"dnn": model, "first_token_s": f"{first_s} s", "input_tokens": tokens, "precision": "mixed"}
        found, ran = answer_of(target={"requests_per_s": per_s}, **work), run([1], **work)
        if not ran.median_samples_per_s[0]:
            return 0.0
        assert found.first_token_chance is not None
        return (
            NormalDist().cdf(math.log(ran.median_samples_per_s[0] / per_s) / ran.log_sd[0]) * found.first_token_chance
        )

    assert chance(2 * first, 1.0) >= chance(first, 1.0) - 0.02
    assert chance(first, 1.0) >= chance(first, 2.0)


@pytest.mark.parametrize("first", ["15 s", "60 s"])
def test_requests_in_flight_stay_as_many_as_are_stated(first):
    found = answer_of(3, {"concurrent_requests": 12}, first_token_s=first, **LONG)
    assert found.load == "asked"
    assert found.concurrency * found.replicas == pytest.approx(12, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "data"),
    [("qwen3-235b-a22b", True), ("llama-4-maverick", True), ("gpt-oss-120b", False), ("llama-3-70b", False)],
)
def test_groups_of_ranks_are_for_mixtures_as_large_as_runs_bear_out(model, data):
    """As in published runs: MiniMax M2.5, TensorRT-LLM's tables of Qwen3 235B and Llama 4 Maverick."""
    assert (answer_of(dnn=model, precision="mixed").data > 1) == data


@pytest.mark.parametrize(
    ("gpu", "guesses"), [("h200-sxm-141gb", True), ("b200-sxm-180gb", True), ("mi300x-192gb", False)]
)
def test_tokens_are_guessed_ahead_on_generations_with_published_runs(gpu, guesses):
    """InferenceX shows them of DeepSeek-R1 on Hopper and Blackwell; on MI325X they gain nothing."""
    work, _ = on(request(dnn="deepseek-v3"))
    assert work.serving is not None
    layouts = layouts_inside(work.serving, catalog().gpus[gpu], 8, catalog())
    assert any(one.is_speculative for one in layouts) is guesses


def test_the_cache_has_the_format_of_its_engine_unless_it_is_asked_for():
    """vLLM keeps keys and values as the activations are: 2 bytes an element, so half as many requests find room."""
    narrow, wide, asked = (answer_of(engine="vllm", cache_precision=one) for one in ("fp8", None, "bf16"))
    assert (narrow.cache, wide.cache, asked.cache) == ("fp8", "bf16", "bf16")
    assert (wide.cache_is_assumed, asked.cache_is_assumed) == (True, False)
    assert narrow.tensor == wide.tensor
    assert narrow.most_concurrent == pytest.approx(2 * wide.most_concurrent)


def test_a_mixture_holds_the_engines_that_run_on_the_gpus():
    """TensorRT-LLM runs on NVIDIA's GPUs only (its documentation); the others keep keys and values wide by default."""
    found = {}
    for server in ("dgx-h200", "xe9680-mi300x"):
        work, platform = on(request(server=server))
        found[server] = serving_answer(work, platform, 1, 8, catalog())
    assert {name: set(one.engines) for name, one in found.items()} == {
        "dgx-h200": {"vLLM", "SGLang", "TensorRT-LLM"},
        "xe9680-mi300x": {"vLLM", "SGLang"},
    }
    assert (found["dgx-h200"].cache, found["xe9680-mi300x"].cache) == ("fp8", "bf16")


def test_sessions_keep_their_prefixes_in_memory():
    """25,500 tokens of Qwen3 30B: 48 layers x 2 x 4 heads x 128 x 1 B = 49,152 B each are 1.25 GB a session."""
    work = {"dnn": "qwen3-30b-a3b", "input_tokens": 30_000, "output_tokens": 400, "prefix_cached": 0.85, "use": "chat"}
    few, many = (answer_of(4, {"active_users": users}, **work) for users in (100, 20_000))
    assert few.prefix_bytes == pytest.approx(25_500 * 49_152, rel=1e-3)
    assert many.replicas_needed is not None
    assert many.replicas_needed * many.room_bytes * many.gpus_of_replica >= 20_000 * few.prefix_bytes


def test_given_gpus_are_told_and_tested_at_what_they_keep():
    found = answer_of(target={"gpus_busy": 8}, token_s="40 ms")
    assert found.load == "sure"
    assert found.served_per_s < float(found.requests_per_s.value)
    within = math.log(0.040 / float(found.tpot_percentile_s.value)) / found.tpot_percentile_s.log_sd
    assert NormalDist().cdf(within) >= 0.85


def parts(server: str, servers: int, **work: Any) -> dict[Role, int]:
    """Equipment of some servers with drives of their own, by role."""
    platform = next(one for one in platforms(catalog(), request(server=server, **work)) if one.storage.kind == "local")
    counted = quantities(platform, servers, 0, catalog=catalog())
    found: dict[Role, int] = {}
    for one in counted.components:
        found[one.role] = found.get(one.role, 0) + int(one.quantity[0])
    return found


def test_replicas_inside_servers_take_no_fabric_and_no_head_node():
    """Two servers join the customer's network as one does; many have the network of their users, and no other."""
    few, many = parts("dgx-h200", 2), parts("dgx-h200", 12)
    spanning = parts("dgx-h100", 2, dnn="kimi-k2", token_s="200 ms", first_token_s="20 s")
    of_jobs = {Role.HEAD_NODE, Role.COMPUTE_LEAF, Role.COMPUTE_CABLE}
    assert not of_jobs & (few.keys() | many.keys())
    assert Role.IN_BAND_LEAF not in few
    assert many[Role.IN_BAND_LEAF] == 2
    assert of_jobs <= spanning.keys()


@pytest.mark.parametrize("server", ["dell-xe8640", "as-8125gs-tnmr2", "xe9680", "dgx-b300", "hpe-dl380a"])
def test_a_server_whose_drives_no_source_prints_has_some_to_confirm(server):
    (storage,) = {one.storage.id for one in platforms(catalog(), request(server=server)) if one.storage.kind == "local"}
    usable = catalog().storage[storage].usable_bytes
    assert usable is not None
    assert usable.basis == "assumed"


@pytest.mark.parametrize(
    ("model", "precision", "copy"),
    [("llama-3-70b", "fp8", 70.6e9), ("llama-3-70b", "bf16", 141e9), ("gpt-oss-120b", "mixed", 65e9)],
)
def test_the_store_holds_the_weights_as_they_are_served(model, precision, copy):
    """gpt-oss-120b: its checkpoint has 65 GB (model card)."""
    work, _ = on(request(dnn=model, precision=precision))
    assert work.dataset_bytes == pytest.approx(3 * copy, rel=0.05)


def test_the_most_is_bounded_by_what_is_tightened():
    assert answer_of(token_s="15 ms", first_token_s="4 s").bound is Bound.LATER_TOKENS
    assert answer_of(first_token_s="7 s", target={"requests_per_s": 0.01}, **LONG).bound is Bound.FIRST_TOKEN


def test_the_curve_passes_the_design_and_has_runs_of_the_model():
    found = answer_of(dnn="llama-3-70b", output_tokens=1000)
    curve = serving_curve(found)
    assert np.all(np.diff(curve.token_s) >= 0)
    at = np.interp(curve.at[0], curve.token_s, curve.tokens_per_s.value)
    assert at == pytest.approx(curve.at[1], rel=0.03)
    assert len(curve.published) > 10


def test_charts_pass_the_design_by_the_arithmetic_of_its_users_and_years():
    """12 requests an hour of a tenth of all users; a year has 31,557,600 seconds; half the load costs twice as much."""
    asked = request({"users": 3_000}, use="chat")
    owned = {"years": 4, "electricity_per_kwh": 0.2, "cost_per_million_tokens": 2}
    asked = SizingRequest.from_dict(asked.model_dump(mode="json", exclude_none=True) | {"ownership": owned})
    result = size(asked, catalog())
    design, (answer,) = result.design, result.design.workloads
    charts = {one.id: one for one in serving_charts(design, answer, asked.ownership)}
    found = answer.served
    assert charts["capacity"].design[1] == pytest.approx(float(found.requests_per_s.value) * 3600 / 12 / 0.1)
    assert charts["capacity"].level[0] == 3_000
    million = design.ownership.expected / (1.0 * 500 * 4 * 31_557_600 / 1e6)
    assert charts["cost"].design == pytest.approx((1.0, million))
    assert charts["cost"].level[0] == 2
    spent = [row["x"] * row["value"] for row in charts["cost"].rows]
    assert spent == pytest.approx([million] * len(spent))


def test_a_model_that_no_server_holds_takes_groups_of_whole_servers():
    """Kimi K2 has 1.03 T parameters: in FP8 it fills no 640 GB of eight H100, but 1,280 GB of sixteen."""
    found = run([1, 2, 3, 4], server="dgx-h100", dnn="kimi-k2", token_s="200 ms", first_token_s="20 s")
    assert found.fits.tolist() == [False, True, True, True]
    assert found.median_samples_per_s[0] == 0
    assert found.median_samples_per_s[2] == found.median_samples_per_s[1]
    assert found.median_samples_per_s[3] >= 2 * found.median_samples_per_s[1]


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ({"token_s": "1 ms"}, ["not reachable at any size", "ms for each later one"]),
        ({"precision": "fp4"}, ["does not compute in FP4"]),
        ({"dnn": {"name": "Own", "parameters": 9e12}}, ["do not hold", "weights take 9.01 TB in FP8"]),
        ({"first_token_s": "500 ms", "input_tokens": 60_000}, ["not reachable at any size", "to its first token"]),
        ({"engine": "tensorrt-llm"}, ["TensorRT-LLM does not run on Instinct MI300X"]),
    ],
)
def test_what_no_size_reaches_is_told_with_what_it_reaches(work, words):
    with pytest.raises(InfeasibleError) as caught:
        size(request(server="xe9680-mi300x" if "engine" in work else "dgx-h200", **work), catalog())
    assert [word for word in words if word not in str(caught.value).replace("\u202f", " ")] == []


@pytest.mark.parametrize("output", [1, 2, 8])
@pytest.mark.parametrize("prompt", [100, 2000])
def test_short_answers_take_no_more_arithmetic_than_the_gpus_have(prompt, output):
    """2 FLOP a parameter and token, embedding and head left out: 2 x 68.45e9, on eight H200 of 1.979 PFLOP/s in FP8."""
    found = rate(input_tokens=prompt, output_tokens=output, task="generation")
    assert found * prompt * 2 * 68.45e9 < 8 * 1.979e15


def test_embeddings_are_prompts_by_hand():
    """Qwen3 Embedding 8B: 13.9 GFLOP a token in its layers; 0.989 PFLOP/s of H200 in BF16: at most 71,000 tokens/s."""
    asked = {
        "dnn": "qwen3-embedding-8b",
        "task": "generation",
        "use": "embedding",
        "precision": "mixed",
        "output_tokens": None,
    }
    found = rate(**asked, input_tokens=500) * 500 / 8
    assert 0.4 * 71_000 < found < 0.56 * 71_000
    # BGE-M3 has layers a quarter as wide: 0.303 G parameters in 24 of 12 x 1,024^2 each.
    narrow = rate(**{**asked, "dnn": "bge-m3"}, input_tokens=500) * 500 / 8
    assert narrow * 2 * 24 * 12 * 1024**2 / 0.989e15 < found * 13.9e9 / 0.989e15
    # A passage of twice the tokens takes at least about twice the time.
    assert rate(**asked, input_tokens=1000) * 1000 / 8 < 1.1 * found
    with pytest.raises(RequestError, match="makes vectors"):
        on(request(dnn="bge-m3"))


def test_adapters_take_the_memory_of_their_matrices():
    """Llama 3 8B, rank 16: 32 layers x 16 x (q and o 8,192 each, k and v 5,120, three of 18,432) are 41.9 M of 2 B."""
    work, platform = on(request(dnn="llama-3-8b", adapters=20, adapter_rank=16))
    found = serving_answer(work, platform, 1, 8, catalog())
    assert found is not None
    matrices = 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14_336)
    assert found.adapter_bytes * found.tensor == pytest.approx(20 * 32 * 16 * matrices * 2, rel=1e-6)
    fewer, more = (rate(dnn="llama-3-8b", adapters=number) for number in (1, 100))
    assert rate(dnn="llama-3-8b") > fewer > more


@pytest.mark.parametrize(
    ("asked", "losses", "counts"),
    [
        ({"use": "rag"}, (), {"Load balancer": 1, "Vector store": 1}),
        ({"use": "chat"}, ("server",), {"Load balancer": 2}),
        ({"task": "generation", "target": {"requests_per_s": 1}}, (), {}),
    ],
)
def test_what_requests_meet_first_is_on_the_bill(asked, losses, counts):
    """Retrieval: 2,000 users x 10 % x 10 an hour / 3,600 s = 0.556/s, and 1e6 x 1,024 x 4 B x 1.5 = 6.144 GB."""
    wanted = request(**({"target": {"users": 2000}} | asked))
    wanted = wanted.model_copy(update={"resilience": Resilience(keeps_targets_without=losses)})
    design = size(wanted, catalog()).design
    found = {one.description: one for one in design.bill.lines if one.description in ("Load balancer", "Vector store")}
    assert {name: one.quantity for name, one in found.items()} == counts
    if "Vector store" in found:
        (note,), (stream,) = found["Vector store"].notes, found["Load balancer"].notes
        assert note.values[:2] == pytest.approx((2000 * 0.1 * 10 / 3600, 1e6 * 1024 * 4 * 1.5))
        assert stream.values[0] == pytest.approx(note.values[0])
        (serving,) = (one.serving for one in design.workloads)
        # Little's law: as many are in flight as arrive in the time of one.
        assert stream.values[1] == pytest.approx(note.values[0] * request_s(serving), rel=0.05)


def request_s(serving: ServingAnswer) -> float:
    rates = serving.rates_at(np.array([serving.concurrency]))
    return float(rates.ttft_s[0] + (serving.work.output_tokens - 1) * rates.tpot_s[0])
