"""Queues with and without priorities."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.availability.goodput import erlang_b
from sizer.perf.scheduling import ServerPool, schedule, servers_of
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


@st.composite
def queues(draw):
    """Jobs with priorities on a small cluster on which each fits."""
    n_servers, fitted, n = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 12))
    gaps = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    lengths = draw(st.lists(st.integers(1, 8), min_size=n, max_size=n))
    gpus = draw(st.lists(st.integers(1, n_servers * fitted), min_size=n, max_size=n))
    ranks = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return np.cumsum(gaps).tolist(), lengths, gpus, ranks, n_servers, fitted


def by_steps(queue):
    """Starts told step by step of whole time; servers of equally many free GPUs: whose GPUs were free for longest."""
    arrivals, lengths, gpus, ranks, n_servers, fitted = queue
    free, changed = [fitted] * n_servers, list(range(n_servers))
    running, starts, waiting = [], [None] * len(arrivals), set(range(len(arrivals)))

    def change(server, amount):
        free[server] += amount
        changed[server] = max(changed) + 1

    now = 0
    while waiting:
        for one in sorted(one for one in running if one[0] <= now):
            for server, taken in one[2]:
                change(server, taken)
            running.remove(one)
        for job in sorted((job for job in waiting if arrivals[job] <= now), key=lambda job: (ranks[job], job)):
            count = servers_of(gpus[job], fitted, False)
            asked = fitted if count else gpus[job]
            room = sorted((free[s], changed[s], s) for s in range(n_servers) if free[s] >= asked)[: max(count, 1)]
            if len(room) < max(count, 1):
                break
            for _, _, server in room:
                change(server, -asked)
            starts[job] = now
            running.append((now + lengths[job], job, [(server, asked) for _, _, server in room]))
            waiting.remove(job)
        now += 1
    return starts


@given(queues())
@settings(max_examples=200)
def test_the_line_agrees_with_a_clock_that_ticks(queue):
    arrivals, lengths, gpus, ranks, n_servers, fitted = queue
    whole = np.zeros(len(gpus), dtype=bool)
    found = schedule(arrivals, lengths, gpus, whole, ServerPool.of(n_servers, fitted), priority=ranks)
    assert_allclose(found.start_s, by_steps(queue))


@given(queues(), st.booleans(), st.integers(0, 2))
@settings(max_examples=100)
def test_equal_priorities_change_nothing(queue, backfill, rank):
    arrivals, lengths, gpus, _, n_servers, fitted = queue
    whole, cluster = np.zeros(len(gpus), dtype=bool), ServerPool.of(n_servers, fitted)
    plain = schedule(arrivals, lengths, gpus, whole, cluster, backfill=backfill)
    equal = schedule(arrivals, lengths, gpus, whole, cluster, backfill=backfill, priority=[rank] * len(gpus))
    assert plain.start_s.tolist() == equal.start_s.tolist()
    assert plain.servers == equal.servers
    assert plain.waiting.tolist() == equal.waiting.tolist()


@given(queues())
@settings(max_examples=100)
def test_backfill_with_priorities_gives_no_gpu_twice_and_starts_every_job(queue):
    arrivals, lengths, gpus, ranks, n_servers, fitted = queue
    whole, cluster = np.zeros(len(gpus), dtype=bool), ServerPool.of(n_servers, fitted)
    found = schedule(arrivals, lengths, gpus, whole, cluster, backfill=True, priority=ranks)
    assert np.isfinite(found.start_s).all()
    assert (found.start_s >= found.arrival_s).all()
    ends = found.start_s + found.duration_s
    for now in found.start_s:
        taken = np.zeros(n_servers)
        for job in np.flatnonzero((found.start_s <= now) & (now < ends)):
            taken[list(found.servers[job])] += fitted if gpus[job] > fitted else gpus[job]
        assert (taken <= fitted).all()


@given(queues(), st.integers(2, 4), st.booleans())
@settings(max_examples=100)
def test_sessions_alone_find_as_many_places_as_gpus_times_sessions(queue, per_gpu, backfill):
    """n GPUs for k sessions each are n x k places: the schedule of jobs of one GPU on n x k GPUs."""
    arrivals, lengths, _, ranks, n_servers, fitted = queue
    one, whole = np.ones(len(lengths), dtype=int), np.zeros(len(lengths), dtype=bool)
    shared = schedule(
        arrivals,
        lengths,
        one,
        whole,
        ServerPool.of(n_servers, fitted),
        backfill=backfill,
        priority=ranks,
        sessions_per_gpu=per_gpu,
    )
    places = ServerPool.of(n_servers, fitted * per_gpu)
    alone = schedule(arrivals, lengths, one, whole, places, backfill=backfill, priority=ranks)
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
