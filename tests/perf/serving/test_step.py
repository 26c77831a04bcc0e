"""Seconds of steps by hand, and derivatives compared with differences."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.perf.serving.loop import Load, closed_loop
from sizer.perf.serving.percentiles import TPOT_RATIOS, TTFT_RATIOS, queue_wait
from sizer.perf.serving.step import FACTORS, Graded, ServingFactors, Terms, decode_step, least, prefill, smooth_max
from tests.perf.serving.test_replica import DEEPSEEK_V3, GPT_OSS, LLAMA_70B, QWEN_35, replica

# Rates of the data sheet and no time for anything that is not in it.
IDEAL = ServingFactors(
    **dict.fromkeys(FACTORS, 1e-30)
    | dict.fromkeys(
        (
            "bandwidth",
            "expert_bandwidth",
            "cache_bandwidth",
            "decode_rate",
            "attention_rate",
            "prefill_rate",
            "prefill_attention_rate",
            "spread",
            "accepted",
        ),
        1.0,
    )
)
USUAL = ServingFactors(
    bandwidth=0.9,
    expert_bandwidth=0.75,
    cache_bandwidth=0.6,
    decode_rate=0.7,
    attention_rate=0.5,
    prefill_rate=0.5,
    prefill_attention_rate=0.3,
    half_width=300.0,
    half_rows=40.0,
    spread=0.6,
    mix=0.5,
    interference=0.9,
    unbalanced=0.4,
    lockstep=0.3,
    queue=0.2,
    token_bytes=16.0,
    routing_bytes=10.0,
    layer_s=45e-6,
    expert_layer_s=40e-6,
    expert_s=1e-7,
    latent_layer_s=20e-6,
    linear_layer_s=20e-6,
    step_s=5e-4,
    sequence_s=15e-6,
    reduce_s=1e-6,
    reduce_traffic=2.0,
    expert_traffic=1.5,
    prefill_layer_s=1e-4,
    first_s=0.03,
    transfer_s=0.06,
    transfer_traffic=2.0,
    accepted=2.2,
    speculative_host=1.5,
)


def load(**given: float) -> Load:
    usual = {
        "concurrency": 16.0,
        "most_concurrent": 1e6,
        "input_tokens": 1000.0,
        "output_tokens": 500.0,
        "cached_share": 0.0,
        "input_variation": 0.0,
        "output_variation": 0.0,
        "verified": 1.0,
        "is_guessed": 0.0,
        "buffered_tokens": 1.0,
        "burst_share": 0.0,
        "is_lockstep": 0.0,
        "decode_replicas": 0.0,
        "prefill_replicas": 0.0,
    }
    return Load(**{name: np.array([value]) for name, value in (usual | given).items()})


def test_one_request_reads_the_weights_once():
    """68.45 GB of layers and 2.1 GB of head at 3.35 TB/s, two GPUs: 10.5 ms, the decode bound."""
    step = decode_step(replica(LLAMA_70B, tensor=2), Terms(IDEAL, graded=False), np.zeros(1), np.ones(1), np.zeros(1))
    assert float(step.seconds(np.ones(1)).value[0]) == pytest.approx((68.45e9 + 2 * 1.0507e9) / 2 / 3.35e12, rel=0.01)


def test_a_long_prompt_is_bound_by_its_products():
    """2 FLOP a parameter and token, and causal attention: 2 a d I a layer and token, at half the BF16 rate of FP8."""
    found = prefill(replica(LLAMA_70B), Terms(IDEAL, graded=False), np.array([8000.0]), np.zeros(1))
    products, scores = 2 * 8000 * 68.45e9 / 1.979e15, 2 * 64 * 128 * 8000**2 * 80 / 0.989e15
    assert float(found.alone.value[0]) == pytest.approx(products + scores, rel=0.01)


def test_a_cached_prefix_is_not_computed_again():
    whole, rest = (
        prefill(replica(LLAMA_70B), Terms(USUAL, graded=False), np.array([8000.0]), np.array([share])).work.value[0]
        for share in (0.0, 0.9)
    )
    assert 0.09 * whole < rest < 0.2 * whole  # a tenth of the tokens, which attend to all before them


def test_experts_that_tokens_touch():
    """256 experts, 8 a token: 1 - (1 - 8/256)^32 = 64 % of them are touched by 32 tokens that choose alone."""
    step = decode_step(replica(DEEPSEEK_V3, tensor=8), Terms(IDEAL, graded=False), np.zeros(1), np.ones(1), np.zeros(1))
    seconds = [float(step.seconds(np.array([n])).value[0]) for n in (32.0, 1e4)]
    read = 653.9e9 / 8 / 3.35e12
    assert seconds[0] == pytest.approx(float(step.dense_reads.value[0]) + 0.638 * read, rel=0.01)
    assert seconds[1] > read


def test_stages_of_a_pipeline_sum_in_their_own_layers():
    """Eight ranks pass 7/8 of each vector to each other in every layer; two stages of four pass 3/4 in half of them."""
    spared = {}
    for stages in (1, 2, 8):
        one = replica(LLAMA_70B, tensor=8, pipeline=stages)
        with_sums, without = (
            prefill(one, Terms(by, graded=False), np.array([1000.0]), np.zeros(1)).work.value[0]
            for by in (dataclasses.replace(IDEAL, reduce_traffic=np.array(1.0)), IDEAL)
        )
        spared[stages] = float(with_sums - without)
    whole = 2 * 80 * 2 * 8192 * 1000 * 7 / 8 / 450e9
    assert spared == pytest.approx({1: whole, 2: whole * (3 / 4) / (7 / 8) / 2, 8: 0.0}, rel=0.01)


def test_beams_multiply_work_and_are_not_guesses():
    """Four beams are four rows of each product; a token of each counts, where of guesses some are dropped."""
    one = replica(LLAMA_70B)
    plain, beams, guesses = (
        closed_loop(one, one, load(concurrency=400.0, verified=n, is_guessed=g), USUAL)
        for n, g in ((1.0, 0.0), (4.0, 0.0), (4.0, 1.0))
    )
    assert plain.tpot.value[0] < beams.tpot.value[0] < 4 * plain.tpot.value[0]
    assert guesses.tpot.value[0] < beams.tpot.value[0]


def test_small_shares_of_experts_are_slow():
    """The same experts on eight GPUs: cut in eight each, or whole on one of them."""
    cut, whole = replica(DEEPSEEK_V3, tensor=8), replica(DEEPSEEK_V3, tensor=8, expert=8)
    times = [
        prefill(one, Terms(USUAL, graded=False), np.array([2000.0]), np.zeros(1)).work.value for one in (cut, whole)
    ]
    assert times[0] > times[1]


@pytest.mark.parametrize("shape", [LLAMA_70B, DEEPSEEK_V3, GPT_OSS, QWEN_35])
@pytest.mark.parametrize(
    "given",
    [
        {"concurrency": 2.0},
        {"concurrency": 300.0, "most_concurrent": 100.0, "burst_share": 0.05},
        {"concurrency": 64.0, "verified": 4.0, "is_guessed": 1.0, "buffered_tokens": 20.0},
        {"concurrency": 64.0, "is_lockstep": 1.0},
        {"concurrency": 200.0, "decode_replicas": 3.0, "prefill_replicas": 2.0},
    ],
)
def test_derivatives_are_those_of_differences(shape, given):
    one, what = replica(shape, tensor=4, data=2, expert=8), load(**given)
    exact = closed_loop(one, one, what, USUAL, graded=True)
    for name in FACTORS:
        moved = [
            closed_loop(one, one, what, dataclasses.replace(USUAL, **{name: getattr(USUAL, name) * np.exp(by)}))
            for by in (-1e-4, 1e-4)
        ]
        for part in ("tpot", "ttft", "request"):
            low, high = (np.log(getattr(found, part).value[0]) for found in moved)
            slope = getattr(exact, part).log_slopes.get(name, np.zeros(1))[0]
            assert slope == pytest.approx((high - low) / 2e-4, abs=2e-4), (name, part)  # of the difference itself


def test_arithmetic_of_derivatives():
    a, b = Graded(np.array([2.0]), {"x": np.array([2.0])}), Graded(np.array([3.0]), {"y": np.array([3.0])})
    assert (a * b).log_slopes == {"x": np.array([1.0]), "y": np.array([1.0])}
    assert least(a, b).value == 2.0
    top = smooth_max(a, b)
    assert top.value[0] == pytest.approx(35 ** (1 / 3))
    assert sum(top.log_slopes.values())[0] == pytest.approx(1.0)  # both longer by a factor: so is the larger


def test_published_ratios():
    """183 runs of MLPerf Inference: first token 0.93, 1.55 and 2.3 at 50, 90 and 99 %; time per token 1.09 and 1.17."""
    assert_allclose(TTFT_RATIOS.at([50, 90, 99])[0], [0.93, 1.55, 2.3], rtol=1e-6)
    assert_allclose(TPOT_RATIOS.at([90, 99])[0], [1.09, 1.17], rtol=1e-6)


@pytest.mark.parametrize("ratios", [TTFT_RATIOS, TPOT_RATIOS])
def test_higher_percentiles_are_longer_and_less_certain(ratios):
    ratio, log_sd = ratios.at(np.linspace(50, 99.9, 40))
    assert (np.diff(ratio) > 0).all()
    assert (np.diff(log_sd) >= 0).all()


@pytest.mark.parametrize("percentile", [0, 49, 100, np.nan])
def test_percentiles_that_are_none(percentile):
    with pytest.raises(ValueError, match="percentile"):
        TTFT_RATIOS.at(percentile)


@pytest.mark.parametrize("busy", [0.1, 0.432, 0.7])
def test_waits_are_those_of_simulated_arrivals(busy):
    """Lindley's recursion with services of 1 and arrivals at random."""
    gaps = np.random.default_rng(1).exponential(1 / busy, 300_000)
    moved = np.cumsum(1 - gaps)
    waits = moved - np.minimum.accumulate(np.minimum(moved, 0))
    mean, tail = queue_wait([90, 95, 99], busy)
    assert_allclose(mean, waits.mean(), rtol=0.05)
    assert_allclose(tail, np.percentile(waits, [90, 95, 99]), rtol=0.05, atol=0.06)


def test_hardly_any_load_waits_for_nothing():
    with np.errstate(all="raise"):
        mean, tail = queue_wait([50, 95, 99.9], [0.0, 1e-7, 1e-5])
    assert_allclose([mean, tail], 0, atol=1e-4)


ONE = replica(LLAMA_70B, tensor=4)


@pytest.mark.parametrize("concurrency", [1.0, 16.0, 200.0])
def test_little_s_law(concurrency):
    """Requests in flight are the rate times their seconds, and those that decode the rate times the decode seconds."""
    what = load(concurrency=concurrency)
    found = closed_loop(ONE, ONE, what, USUAL)
    rate = found.requests_per_s(what)[0]
    seconds = found.ttft.value[0] + 499 * found.tpot.value[0]
    assert rate * seconds == pytest.approx(concurrency, rel=1e-6)
    # A request decodes all its tokens, the first among them.
    assert rate * 500 * found.tpot.value[0] == pytest.approx(found.decoding[0], rel=5e-3)


def test_one_request_waits_for_no_other():
    found = closed_loop(ONE, ONE, load(concurrency=1.0), USUAL)
    more = closed_loop(ONE, ONE, load(concurrency=2.0), USUAL)
    assert found.tpot.value[0] < more.tpot.value[0]
    assert found.busy_share[0] < 0.1


def test_requests_beyond_the_memory_wait_and_add_no_rate():
    few, many = (load(concurrency=c, most_concurrent=50.0) for c in (50.0, 400.0))
    at, beyond = closed_loop(ONE, ONE, few, USUAL), closed_loop(ONE, ONE, many, USUAL)
    assert beyond.requests_per_s(many)[0] == pytest.approx(at.requests_per_s(few)[0], rel=1e-6)
    assert beyond.tpot.value[0] == pytest.approx(at.tpot.value[0], rel=1e-6)
    assert beyond.ttft.value[0] == pytest.approx(at.ttft.value[0] + 350 / at.requests_per_s(few)[0], rel=1e-6)


def test_a_decode_pool_knows_no_prefills():
    # 64 requests on one replica, and on one that only decodes beside one that only prefills
    together = closed_loop(ONE, ONE, load(concurrency=64.0, input_tokens=8000.0), USUAL)
    apart = closed_loop(
        ONE, ONE, load(concurrency=64.0, input_tokens=8000.0, decode_replicas=1.0, prefill_replicas=1.0), USUAL
    )
    assert apart.tpot.value[0] < together.tpot.value[0]


def test_a_prefill_pool_that_is_too_small_is_the_limit():
    """No more requests a second than the pool prefills; batches share launches, a tenth of what one prompt takes."""
    pools = {"decode_replicas": 50.0, "prefill_replicas": 1.0}
    what = load(concurrency=2000.0, input_tokens=8000.0, output_tokens=100.0, **pools)
    found = closed_loop(ONE, ONE, what, USUAL)
    alone = closed_loop(ONE, ONE, load(concurrency=1.0, input_tokens=8000.0), USUAL)
    assert found.requests_per_s(what)[0] <= 1.1 / (alone.ttft.value[0] - 0.03 - 0.01)
    assert np.isfinite(found.ttft.value[0])


@pytest.mark.parametrize("buffered", [1, 8])
def test_answers_that_end_with_the_first_token_take_a_finite_time(buffered):
    """Without a token after the first no gap is seen: that of a token more is told."""
    tokens = np.array([1.0, buffered, buffered + 1])
    with np.errstate(divide="raise"):
        found = closed_loop(
            replica(LLAMA_70B, 8), replica(LLAMA_70B, 8), load(output_tokens=tokens, buffered_tokens=buffered), USUAL
        )
    assert (np.log(found.tpot.value) > -20).all()
    assert (np.diff(found.request.value) >= 0).all()


@pytest.mark.parametrize(("shape", "data", "waits"), [(DEEPSEEK_V3, 8, True), (DEEPSEEK_V3, 1, False)])
def test_groups_that_step_together_wait_for_each_others_prefills(shape, data, waits):
    one = replica(shape, data=data)
    apart, together = (
        float(closed_loop(one, one, load(), dataclasses.replace(USUAL, unbalanced=np.array(share))).tpot.value[0])
        for share in (1e-9, 0.5)
    )
    assert (together > 1.01 * apart) is waits
