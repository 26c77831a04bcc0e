"""Goodput compared with published runs, with arithmetic by hand, and with a simulation of every failure."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.perf.availability.goodput import (
    best_interval,
    checkpoint_plan,
    goodput,
    spare_wait_s,
    spares_that_suffice,
    storage_level,
    time_between_interruptions,
)
from sizer.questions.failures.goodput import GoodputQuestion, goodput_answer, goodput_text

HOUR, MINUTE, TB = 3600.0, 60.0, 1e12


def simulated(interval, blocked, restart, between, pieces, seed):
    """Useful share of a run of so many pieces, failure by failure."""
    random = np.random.default_rng(seed)
    now, done, fails = 0.0, 0, random.exponential(between)
    while done < pieces:
        if now + interval + blocked <= fails:
            now, done = now + interval + blocked, done + 1
            continue
        now = fails
        while True:  # a restart may fail, too
            fails = now + random.exponential(between)
            if now + restart <= fails:
                now += restart
                break
            now = fails
    return pieces * interval / now


@pytest.mark.parametrize("gpus", [64, 512, 4096, 16384])
@pytest.mark.parametrize("blocked", [5.0, 120.0])
def test_formula_and_simulation_agree_within_two_points(gpus, blocked):
    between = float(time_between_interruptions(4.0, gpus))
    interval = float(best_interval(blocked, between))
    restart = 15 * MINUTE
    runs = [simulated(interval, blocked, restart, between, 3000, seed) for seed in range(3)]
    assert float(goodput(interval, blocked, restart, between)) == pytest.approx(np.mean(runs), abs=0.02)


def test_llama_3_405b():
    """419 unexpected interruptions in 54 days of 16,384 GPUs, 3.09 h apart, over 90 % effective (Meta, 2024)."""
    rate = 419 / (16384 / 8) / 54 * 1000
    assert float(time_between_interruptions(rate, 16384)) / HOUR == pytest.approx(3.09, abs=0.01)
    # 5.5 TB written at 2 TB/s while the job goes on; ten minutes to be back, of which the run reports few by hand.
    plan = checkpoint_plan(
        16384, 5.5 * TB, 2e12, 2e12, copy_s=2.0, rates=(rate, rate, rate), notice_s=240, warm_up_s=360
    )
    assert plan.goodput[0] > 0.90


def test_bloom_176b():
    """2.3 TB in 40 s, every 3 hours of 384 A100: writing costs 0.37 %, and about one GPU failed a week."""
    plan = checkpoint_plan(384, 2.3 * TB, 57.5e9, 57.5e9, interval_s=3 * HOUR, rates=(3.0, 3.0, 3.0))
    assert plan.write_s == pytest.approx(40, abs=0.1)
    assert plan.blocked_s / (plan.interval_s + plan.blocked_s) == pytest.approx(0.0037, abs=0.0001)
    assert 7 * plan.interruptions_per_day == pytest.approx(1.0, abs=0.02)
    assert plan.goodput[0] > 0.97


def test_opt_175b_lost_more():
    """About 90 restarts in two months on 124 servers, 1.6 TB of checkpoints, by hand: far below the others."""
    rate = 16.0
    plan = checkpoint_plan(992, 1.6 * TB, 10e9, 10e9, interval_s=3 * HOUR, rates=(rate, rate, rate), notice_s=2 * HOUR)
    assert 0.5 < plan.goodput[0] < 0.8


def test_the_best_interval_by_hand():
    # Young: sqrt(2 x 10 s x 11,124 s) = 472 s; Daly adds 3 s and takes the 10 s off
    assert float(best_interval(10.0, 3.09 * HOUR)) == pytest.approx(472 + 3 - 10, abs=1)


times = st.floats(1, 1e5)


@given(blocked=st.floats(0.1, 600), restart=times, between=st.floats(3600, 1e8), more=st.floats(1.01, 100))
def test_laws(blocked, restart, between, more):
    at = float(best_interval(blocked, between))
    here = float(goodput(at, blocked, restart, between))
    assert 0 <= here <= 1
    # Faster writing, rarer failures and quicker restarts never cost; the best interval is the best but for a hair.
    assert float(goodput(at, blocked / more, restart, between)) >= here
    assert float(goodput(at, blocked, restart, between * more)) >= here
    assert float(goodput(at, blocked, restart / more, between)) >= here
    assert max(float(goodput(at * f, blocked, restart, between)) for f in (0.5, 2.0)) <= here + 1e-3


@given(st.floats(1e9, 1e12), st.floats(1.0, 10))
def test_more_write_bandwidth_never_lowers_goodput(write, more):
    plans = [checkpoint_plan(4096, 5.5 * TB, rate, 1e12) for rate in (write, write * more)]
    assert plans[1].goodput[0] >= plans[0].goodput[0] - 1e-3
    copied = [checkpoint_plan(4096, 5.5 * TB, rate, 1e12, copy_s=2.0) for rate in (write, write * more)]
    assert copied[1].goodput[0] >= copied[0].goodput[0] - 1e-9


def test_published_storage_levels():
    """Table 6 of the DGX H100 SuperPOD guide: good, better and best for one unit and for four."""
    for units in (1, 4):
        for name, read, write in (("good", 15e9, 7e9), ("better", 40e9, 20e9), ("best", 125e9, 62e9)):
            assert storage_level(units * read, units * write, 32 * units) == name
    assert storage_level(8e9, 4e9, 1) == "better"
    assert storage_level(14e9, 7e9, 32) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"write_bytes_per_s": 0.0}, "the write rate is 0 B/s; allowed are 1.00 MB/s to 100 TB/s"),
        ({"write_bytes_per_s": float("nan")}, "the write rate is nan B/s"),
        ({"read_bytes_per_s": -1e9}, "the read rate is -1.00 GB/s"),
        ({"gpus": 0}, "the number of GPUs is 0; allowed are 1 to"),
        ({"interval_s": 10.0}, "the checkpoint interval is 10.0 s, but a checkpoint of 980 GB takes 24.5 s to write"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_one_sentence(change, says):
    asked = GoodputQuestion(gpus=512, parameters=70e9, write_bytes_per_s=40e9, read_bytes_per_s=40e9)
    with pytest.raises(RequestError) as refused:
        goodput_answer(dataclasses.replace(asked, **change))
    assert says in str(refused.value).replace("\u202f", " ")
    assert "\n" not in str(refused.value)


def test_a_checkpoint_stops_the_job_as_long_as_it_is_written():
    """980 GB at 40 GB/s stop 512 GPUs for 24.5 s."""
    found = goodput_answer(GoodputQuestion(512, 70e9, 40e9, 40e9))
    assert found.plan.write_s == pytest.approx(24.5)
    assert "checkpoints of 0.980 TB" in goodput_text(found).replace("\u202f", " ")


def test_spares():
    # 2,048 servers, 4 failures for 1,000 server-days, a day of repair: 8.2 in repair, at most 15 in 99 % of all cases
    # (table of the Poisson distribution), and one is free
    assert spares_that_suffice(2048, 86400) == 16
    assert spares_that_suffice(1, 0) == 0
    # From a mean of 745 on exp(-mean) is 0 in a float. 1,000: 1,000 + 2.326 sqrt(1,000) + (2.326^2 - 1) / 6 = 1,074.3.
    assert spares_that_suffice(1000, 86_400e3, rate=1.0) == pytest.approx(1074, abs=1)


def test_a_job_without_spares_waits_for_the_repair():
    """No spare: a repair of a day. One spare, mean 0.004 in repair: 0.004 / 1.004 of half a day (Erlang's formula)."""
    assert spare_wait_s(1, 86_400, 0) == pytest.approx(86_400)
    assert spare_wait_s(1, 86_400, 1, rate=4.0) == pytest.approx(0.004 / 1.004 * 43_200)


@given(st.integers(1, 4096), st.integers(0, 40), st.floats(60, 1e6))
def test_more_spares_never_wait_longer(servers, spares, repair_s):
    assert spare_wait_s(servers, repair_s, spares + 1) <= spare_wait_s(servers, repair_s, spares) * (1 + 1e-9)


def test_spares_change_goodput():
    asked = GoodputQuestion(8192, 405e9, 1e12, 1e12, copy_s=5.0, repair_s=86_400)
    none, enough = (goodput_answer(dataclasses.replace(asked, spares=count)).plan.goodput[0] for count in (0, 40))
    assert none < enough
    assert enough == pytest.approx(goodput_answer(asked).plan.goodput[0], abs=1e-6)
