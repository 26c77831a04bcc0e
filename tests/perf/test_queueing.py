"""Queues with and without priorities: formulas, the schedule of jobs, working time."""

from itertools import pairwise
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.availability.goodput import erlang_b
from sizer.perf.scheduling import (
    DAY_S,
    WEEK_S,
    ServerPool,
    level_at_percentile,
    schedule,
    servers_of,
    shares_of_time,
    working_times_s,
)
from tests.factories.erlang import erlang_c, mean_wait_s, waits_longer_probability

# Load that so many channels carry with 2 % blocked.
CHANNELS = (3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 47, 49, 51, 53, 55, 57, 59)
LOAD_2_PERCENT = (
    *(0.602, 1.657, 2.935, 4.345, 5.842, 7.402, 9.010, 10.656, 12.333, 14.036, 15.761, 17.505, 19.265, 21.039),
    *(22.827, 24.628, 26.435, 28.254, 30.081, 31.915, 33.758, 37.462, 39.323, 41.189, 43.060, 44.938, 46.816, 48.700),
)


def test_blocking_agrees_with_a_printed_table():
    """WirelessU, "Read an Erlang Table", Erlang B capacity table for 2 % blocking (garywagoner.tripod.com/traffic)."""
    # The loads are printed to 0.001 erlang; the steepest entry (3 channels) then stands for 2e-5 of blocking.
    assert_allclose(erlang_b(CHANNELS, LOAD_2_PERCENT), 0.02, atol=2.5e-5)


def test_blocking_agrees_with_a_printed_example():
    """Westbay Engineers, Erlang B manual (erlang.com): 15 lines carry 8.108 erlangs at 1 % blocked."""
    assert float(erlang_b(15, 8.108)) == pytest.approx(0.01, abs=2e-6)  # 8.108 has four digits


def test_waiting_agrees_with_the_textbook_hospital():
    """Hillier and Lieberman, "Introduction to Operations Research", county hospital: 2 patients and 3 cures an hour.

    One doctor: P(W > 0, 1/2, 1 h) = 0.667, 0.404, 0.245 and 2/3 h mean wait; two: 0.167, 0.022 (0.0226), 0.003, 1/24 h.
    """
    stay_s = 3600 / 3
    for doctors, late in ((1, [0.667, 0.404, 0.245]), (2, [0.167, 0.0226, 0.003])):
        found = [waits_longer_probability(doctors, 2 / 3, stay_s, wait_s) for wait_s in (0.0, 1800.0, 3600.0)]
        assert_allclose(found, late, atol=5e-4)
    assert_allclose([mean_wait_s(n, 2 / 3, stay_s) for n in (1, 2)], [2400.0, 150.0], rtol=1e-12)


def test_waiting_agrees_with_a_printed_call_centre():
    """I. Tanner, "The Erlang-C formula" (mitan.co.uk): 360 calls in half an hour, 4 minutes each, 55 agents.

    23.9 % wait, 8.2 s on average.
    """
    assert float(erlang_c(55, 48.0)) == pytest.approx(0.239, abs=5e-4)
    assert float(mean_wait_s(55, 48.0, 240.0)) == pytest.approx(8.2, abs=0.05)


@pytest.mark.parametrize(
    ("places", "load", "share"), [(1, 0.3, 0.3), (2, 1.0, 1 / 3), (3, 2.0, 4 / 9), (3, 1.0, 1 / 11)]
)
def test_waiting_by_hand(places, load, share):
    assert float(erlang_c(places, load)) == pytest.approx(share, rel=1e-12)


@given(places=st.integers(1, 25), busy=st.floats(0.01, 0.99))
def test_blocking_agrees_with_its_definition(places, busy):
    load = busy * places
    terms = [load**n / factorial(n) for n in range(places + 1)]
    assert float(erlang_b(places, load)) == pytest.approx(terms[-1] / sum(terms), rel=1e-9)


def test_blocking_at_the_ends():
    assert float(erlang_b(20_000, 1.0)) == 0.0
    assert_allclose(erlang_b([0, 1], 0.0), [1.0, 0.0])


@pytest.mark.parametrize(("places", "load"), [(3, 50.0), (1, 1e6), (400, 9_000.0), (9_000, 8_000.0), (5_000, 20_000.0)])
def test_blocking_agrees_with_the_recursion_also_where_the_closed_form_is_too_small(places, load):
    """Jagerman 1974: 1/B(c, a) = 1 + c/a * 1/B(c - 1, a), of positive terms only."""
    inverse = 1.0
    for count in range(1, places + 1):
        inverse = 1 + count / load * inverse
    assert float(erlang_b(places, load)) == pytest.approx(1 / inverse, rel=1e-10)  # logarithms of 1e4 to 1e5 cancel


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: erlang_b(-1, 1.0), "n_places"),
        (lambda: erlang_b(1, -1.0), "load"),
    ],
)
def test_an_argument_out_of_range_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


N_JOBS = 60_000


def mean_waits(n_gpus: int, rates: tuple[float, ...], seed: int) -> tuple[list[float], list[float]]:
    """Mean wait of each priority with Poisson arrivals and exponential durations of mean 1, and its standard error."""
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.exponential(1 / sum(rates), N_JOBS))
    rank = rng.choice(len(rates), size=N_JOBS, p=np.array(rates) / sum(rates))
    one = np.ones(N_JOBS, dtype=int)
    cluster = ServerPool.of(1, n_gpus)
    found = schedule(arrival, rng.exponential(size=N_JOBS), one, one < 0, cluster, priority=rank)
    batches = np.array_split(np.arange(N_JOBS // 20, N_JOBS), 20)  # after a warm-up
    each = [[found.wait_s[batch][rank[batch] == kind].mean() for batch in batches] for kind in range(len(rates))]
    return [float(np.mean(part)) for part in each], [float(np.std(part) / np.sqrt(len(batches))) for part in each]


@pytest.mark.parametrize(
    ("n_gpus", "rates", "expected"),
    [
        # M/M/1, load 0.3 and 0.4: W0 = 0.3 + 0.4 = 0.7, the mean rest of the job that runs (rho / mu).
        # High: 0.7 / (1 - 0.3) = 1. Low: 0.7 / ((1 - 0.3)(1 - 0.7)) = 3.333.
        (1, (0.3, 0.4), (1.0, 3.3333)),
        # M/M/3, 0.9 and 1.2 erlang: B(1) = 2.1/3.1 = 0.67742, B(2) = 1.42258/3.42258 = 0.41565,
        # B(3) = 0.87286/3.87286 = 0.22538; C = 0.22538 / (1 - 0.7 x 0.77462) = 0.49234; W0 = C/3 = 0.16411.
        # High: 0.16411 / 0.7 = 0.23445. Low: 0.16411 / (0.7 x 0.3) = 0.78150.
        (3, (0.9, 1.2), (0.23445, 0.78150)),
        # M/M/1 with three priorities of 0.2 each: W0 = 0.6; 0.6/0.8, 0.6/(0.8 x 0.6), 0.6/(0.6 x 0.4).
        (1, (0.2, 0.2, 0.2), (0.75, 1.25, 2.5)),
    ],
)
def test_waits_are_those_of_cobham(n_gpus: int, rates: tuple[float, ...], expected: tuple[float, ...]) -> None:
    """A. Cobham, "Priority assignment in waiting line problems," Oper. Res. 2(1):70-76, 1954.

    Without preemption W(k) = W0 / ((1 - s(k-1)) (1 - s(k))), s(k) the load of the first k priorities on each server;
    for several servers of one mean duration W0 = C(c, a) h / c. Tolerance: four standard errors of the simulation.
    """
    found, errors = mean_waits(n_gpus, rates, seed=7)
    for wait, error, right in zip(found, errors, expected, strict=True):
        assert error < 0.1 * right
        assert wait == pytest.approx(right, abs=4 * error)


def run(jobs, n_servers, gpus_per_server, *, standing=(), **more):
    """Schedule of (arrival, duration, GPUs, whole servers)."""
    arrival, duration, gpus, whole = (np.array(column) for column in zip(*jobs, strict=True))
    cluster = ServerPool.of(n_servers, gpus_per_server, [job[0] for job in standing], [job[1] for job in standing])
    return schedule(arrival, duration, gpus, whole, cluster, **more)


@st.composite
def queues(draw, least=1, most=14):
    """Jobs in the order of their arrival with their priorities, on a small cluster on which each fits."""
    n_servers, fitted = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n = draw(st.integers(least, most))
    gaps = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    lengths = draw(st.lists(st.integers(1, 8), min_size=n, max_size=n))
    gpus = draw(st.lists(st.integers(1, n_servers * fitted), min_size=n, max_size=n))
    whole = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    ranks = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    jobs = list(zip(np.cumsum(gaps).tolist(), lengths, gpus, whole, strict=True))
    return jobs, ranks, n_servers, fitted


def by_steps(jobs, ranks, n_servers, fitted):
    """Starts told step by step of whole time: in order of priority, then of arrival.

    Of servers with equally many free GPUs the one is taken whose GPUs have been so for longest.
    """
    free, changed = [fitted] * n_servers, list(range(n_servers))
    running, starts, waiting = [], [None] * len(jobs), set(range(len(jobs)))

    def change(server, gpus):
        free[server] += gpus
        changed[server] = max(changed) + 1

    now = 0
    while waiting:
        for one in sorted(one for one in running if one[0] <= now):
            for server, taken in one[2]:
                change(server, taken)
            running.remove(one)
        for job in sorted((job for job in waiting if jobs[job][0] <= now), key=lambda job: (ranks[job], job)):
            _, length, gpus, whole = jobs[job]
            count = servers_of(gpus, fitted, whole)
            asked = fitted if count else gpus
            room = sorted((free[s], changed[s], s) for s in range(n_servers) if free[s] >= asked)[: max(count, 1)]
            if len(room) < max(count, 1):
                break
            for _, _, server in room:
                change(server, -asked)
            starts[job] = now
            running.append((now + length, job, [(server, asked) for _, _, server in room]))
            waiting.remove(job)
        now += 1
    return starts


@given(queues())
@settings(max_examples=300)
def test_the_line_agrees_with_a_clock_that_ticks(queue):
    jobs, ranks, n_servers, fitted = queue
    assert_allclose(run(jobs, n_servers, fitted, priority=ranks).start_s, by_steps(*queue))


@given(queues(), st.booleans(), st.integers(0, 2))
@settings(max_examples=100)
def test_equal_priorities_change_nothing(queue, backfill, rank):
    jobs, _, n_servers, fitted = queue
    plain = run(jobs, n_servers, fitted, backfill=backfill)
    equal = run(jobs, n_servers, fitted, backfill=backfill, priority=[rank] * len(jobs))
    assert plain.start_s.tolist() == equal.start_s.tolist()
    assert plain.servers == equal.servers
    assert plain.waiting.tolist() == equal.waiting.tolist()


@given(queues(), st.booleans())
@settings(max_examples=200)
def test_no_gpu_is_given_twice_and_all_gpu_hours_are_worked(queue, backfill):
    jobs, ranks, n_servers, fitted = queue
    found = run(jobs, n_servers, fitted, backfill=backfill, priority=ranks)
    assert np.isfinite(found.start_s).all()
    assert (found.start_s >= found.arrival_s).all()
    ends = found.start_s + found.duration_s
    for now in found.start_s:
        taken = np.zeros(n_servers)
        for index in np.flatnonzero((found.start_s <= now) & (now < ends)):
            _, _, gpus, whole = jobs[index]
            count = servers_of(gpus, fitted, whole)
            assert len(set(found.servers[index])) == max(count, 1)
            taken[list(found.servers[index])] += fitted if count else gpus
        assert (taken <= fitted).all()
    levels, shares = shares_of_time(found.start_s, ends, [job[2] for job in jobs], 0.0, 1000.0)
    assert float(levels @ shares) * 1000 == pytest.approx(sum(job[1] * job[2] for job in jobs))


@given(queues(least=2))
@settings(max_examples=300)
def test_backfill_delays_nobody_beyond_what_was_sure_when_he_came_first(queue):
    """Whoever is first in line is promised a start from the jobs that run; without later jobs it would start then.

    What does not hold for EASY backfill: that nobody starts later than first come, first served would start him.
    """
    jobs, _, n_servers, fitted = queue
    found = run(jobs, n_servers, fitted, backfill=True)
    for index in range(len(jobs)):
        # First in line from the moment that all before it have started.
        came_first = max([jobs[index][0], *found.start_s[:index]])
        before = [other for other in range(len(jobs)) if found.start_s[other] < came_first or other < index]
        kept = [jobs[other] for other in sorted(before)]
        starts = found.start_s[sorted(before)]
        assert found.start_s[index] <= earliest(
            jobs[index], came_first, kept, starts, found, sorted(before), (n_servers, fitted)
        )


def earliest(job, now, others, starts, found, indexes, cluster):
    """First time at which a job finds room beside others that run as they did and after which none starts."""
    ends = [start + other[1] for start, other in zip(starts, others, strict=True)]
    n_servers, fitted = cluster
    for time in sorted({now, *(end for end in ends if end > now)}):
        free = np.full(n_servers, fitted)
        for start, end, other, index in zip(starts, ends, others, indexes, strict=True):
            if start <= time < end:
                free[list(found.servers[index])] -= fitted if servers_of(other[2], fitted, other[3]) else other[2]
        count = servers_of(job[2], fitted, job[3])
        if (free == fitted).sum() >= count if count else free.max() >= job[2]:
            return time
    return np.inf


@given(queues(), st.integers(0, 13))
def test_a_further_job_of_one_size_lets_nobody_start_earlier(queue, place):
    """More jobs never wait less: in order of arrival and all of one size, each start is a minimum over later places."""
    jobs, _, n_servers, fitted = queue
    same = [(arrival, length, 1, False) for arrival, length, _, _ in jobs]
    further = min(place, len(same) - 1)
    more = run(same, n_servers, fitted).start_s
    fewer = run(same[:further] + same[further + 1 :], n_servers, fitted).start_s if len(same) > 1 else np.zeros(0)
    assert (np.delete(more, further) >= fewer).all()


@given(queues())
def test_a_further_server_lets_nobody_of_one_size_start_later(queue):
    jobs, _, n_servers, fitted = queue
    same = [(arrival, length, fitted, False) for arrival, length, _, _ in jobs]
    assert (run(same, n_servers + 1, fitted).start_s <= run(same, n_servers, fitted).start_s).all()


def test_backfill_fills_the_gap_by_hand():
    """4 GPUs: a takes 3 for 10 s; b wants 4 and waits; c wants 1 for 10 s and fits before b; d wants 1 for 11 s."""
    jobs = [(0, 10, 3, False), (1, 5, 4, False), (2, 8, 1, False), (3, 11, 1, False)]
    assert_allclose(run(jobs, 1, 4).start_s, [0, 10, 15, 15])
    assert_allclose(run(jobs, 1, 4, backfill=True).start_s, [0, 10, 2, 15])


def test_scattered_gpus_are_told_from_taken_ones():
    """Two servers of 2: each runs a job of 1 GPU, so that a job of 2 waits although 2 GPUs are free.

    Best fit packs the first two jobs together; the third goes elsewhere, and the second ends first.
    """
    jobs = [(0, 10, 1, False), (0, 4, 1, False), (0, 10, 1, False), (5, 3, 2, False)]
    found = run(jobs, 2, 2)
    assert found.servers[0] == found.servers[1] != found.servers[2]
    assert_allclose(found.start_s, [0, 0, 0, 10])
    # 2 of 4 GPUs stand idle for the 5 s in which the last job waits, and would do for it.
    assert found.idle_gpus(0.0, 10.0) == (1.0, 1.0)
    assert found.idle_gpus(0.0, 5.0) == (0.0, 0.0)


def test_a_job_that_never_fits_does_not_hold_up_the_others():
    found = run([(0, 5, 9, False), (1, 5, 1, False), (1, 5, 1, True)], 2, 4, standing=[(1, False)])
    assert_allclose(found.start_s, [np.inf, 1, 1])
    assert found.servers[0] == ()


def test_jobs_that_always_run_are_placed_largest_first():
    """3 servers of 4: 6 GPUs take two servers; 3 and 1 share the third."""
    cluster = ServerPool.of(3, 4, [1, 6, 3], [False, False, False])
    assert cluster.all_placed
    assert_allclose(np.sort(cluster.free), [0, 0, 0])
    assert not ServerPool.of(2, 4, [1, 6, 3], [False, False, False]).all_placed
    assert ServerPool.of(2, 4, [1], [True]).free.tolist() == [0, 4]


@pytest.mark.parametrize(("n_servers", "fitted", "gpus", "places"), [(5, 1, 1, 5), (3, 4, 2, 6), (8, 4, 8, 4)])
def test_one_kind_of_job_waits_as_erlang_says(n_servers, fitted, gpus, places):
    """Poisson arrivals at a steady rate, exponential stays: M/M/c with the places of the cluster."""
    random, n, load = np.random.default_rng(7), 60_000, 0.7 * places
    arrival = np.cumsum(random.exponential(1 / load, n))
    one = np.ones(n)
    found = schedule(
        arrival, random.exponential(1.0, n), gpus * one, one > 1, ServerPool.of(n_servers, fitted), backfill=False
    )
    waits = found.wait_s[n // 10 :]
    # Standard errors of correlated waits, from batches; four of them.
    for seen, expected in (
        (waits > 0, erlang_c(places, load)),
        (waits > 0.5, waits_longer_probability(places, load, 1.0, 0.5)),
        (waits, mean_wait_s(places, load, 1.0)),
    ):
        batches = np.array([part.mean() for part in np.array_split(seen, 30)])
        assert abs(seen.mean() - float(expected)) < 4 * batches.std(ddof=1) / np.sqrt(30)


def test_working_time_skips_nights_and_weekends():
    hours = 3600.0
    worked = np.array([0.0, 9.5, 10.5, 49.5, 50.5]) * hours
    assert_allclose(working_times_s(worked, 10, 5) / hours, [0, 9.5, 24.5, 4 * 24 + 9.5, 7 * 24 + 0.5])
    assert_allclose(working_times_s(worked, 24, 7), worked)


@given(st.floats(0, 1e7), st.floats(0.5, 24), st.integers(1, 7))
def test_working_times_lie_in_working_hours(worked, hours, days):
    found = float(working_times_s(worked, hours, days))
    assert found >= worked * (1 - 1e-12)
    in_week = found % WEEK_S
    assert in_week // DAY_S < days + 1e-9
    assert in_week % DAY_S <= hours * 3600 + 1e-3 or in_week % DAY_S > DAY_S - 1e-3


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_levels_of_a_sum_agree_with_looking_at_every_second(pieces, percentile):
    starts, lengths, amounts = (np.array(column, float) for column in zip(*pieces, strict=True))
    levels, shares = shares_of_time(starts, starts + lengths, amounts, 5.0, 25.0)
    seconds = np.arange(5, 25) + 0.5
    there = (starts <= seconds[:, None]) & (seconds[:, None] < starts + lengths)
    seen = there @ amounts
    assert float(shares.sum()) == pytest.approx(1.0)
    assert float(levels @ shares) == pytest.approx(seen.mean())
    kept = level_at_percentile(levels, shares, percentile)
    assert (seen <= kept + 1e-9).mean() >= percentile - 1e-9
    below = levels[levels < kept]
    assert all((seen <= level + 1e-9).mean() < percentile for level in below)


def test_percentiles_rise():
    levels, shares = shares_of_time([0.0, 2.0], [6.0, 4.0], [1.0, 2.0], 0.0, 10.0)
    kept = [level_at_percentile(levels, shares, share) for share in (0.0, 0.4, 0.41, 0.8, 0.9, 1.0)]
    assert kept == [0.0, 0.0, 1.0, 1.0, 3.0, 3.0]
    assert all(one <= other for one, other in pairwise(kept))


@pytest.mark.parametrize(
    ("jobs", "named"),
    [
        ([(1, 1, 1, False), (0, 1, 1, False)], "arrival_steps_s"),
        ([(0, -1, 1, False)], "duration_s"),
        ([(0, 1, 0, False)], "gpus"),
    ],
)
def test_an_impossible_job_is_named(jobs, named):
    with pytest.raises(ValueError, match=named):
        run(jobs, 1, 1)


@given(queues(), st.integers(2, 4), st.booleans())
@settings(max_examples=100)
def test_sessions_alone_find_as_many_places_as_gpus_times_sessions(queue, per_gpu, backfill):
    """n GPUs for k sessions each are n x k places: the schedule of jobs of one GPU on n x k GPUs."""
    jobs, ranks, n_servers, fitted = queue
    ones = [(arrival, length, 1, False) for arrival, length, _, _ in jobs]
    shared = run(ones, n_servers, fitted, backfill=backfill, priority=ranks, sessions_per_gpu=per_gpu)
    alone = run(ones, n_servers, fitted * per_gpu, backfill=backfill, priority=ranks)
    assert shared.start_s.tolist() == alone.start_s.tolist()


@pytest.mark.parametrize("backfill", [False, True])
def test_a_shared_gpu_is_free_when_its_last_session_ends(backfill: bool) -> None:
    """Two GPUs, two sessions a GPU, by hand.

    Session 1 (0 to 10) and job A (0 to 10) take the two GPUs; session 2 (1 to 11) joins session 1. Job B comes at 2 and
    takes the GPU of A at 10; the shared one is free at 11 only. Session 3 comes at 3, behind B, and joins session 2 at
    10, when session 1 has left: until then both places were taken. The GPU is shared from 0 to 14.
    """
    found = schedule(
        [0, 0, 1, 2, 3],
        [10, 10, 10, 5, 4],
        [1, 1, 1, 1, 1],
        [False] * 5,
        ServerPool.of(1, 2),
        backfill=backfill,
        sessions_per_gpu=[2, 1, 2, 1, 2],
    )
    assert found.start_s.tolist() == [0, 0, 1, 10, 10]
    assert found.shared.tolist() == [[0, 14]]
    assert found.shared_gpus(0, 28) == 0.5
