"""Laws of a closed loop: Little's, interference, and memory that is full."""

import numpy as np
import pytest

from sizer.perf.serving.loop import closed_loop
from tests.perf.serving.test_replica import LLAMA_70B, replica
from tests.perf.serving.test_step import USUAL, load

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
