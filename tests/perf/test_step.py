"""GPU step, and the rates with exchange that are built on it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

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
from sizer.perf.step_terms import SCALE_OUT, TERM_NAMES, StepTerms, drawn_terms, log_slopes
from sizer.perf.training_step import (
    InferenceRun,
    TrainingRun,
)
from tests.factories.erlang import erlang_c, mean_wait_s, waits_longer_probability

K = len(TERM_NAMES)
_TYPICAL = {
    "log_efficiency": np.log(0.2),
    "log_launch_s": np.log(0.01),
    "log_intra_bytes_per_s": np.log(60e9),
    "log_inter_share": np.log(0.7),
    "overlap_logit": -1.0,
    "log_straggler": np.log(0.01),
    "log_host_link_bytes_per_s": np.log(11e9),
    "log_run_ahead": -0.5,
    "log_fill": np.log(5.0),
    "log_scale_out": np.log(0.02),
}


def named(**values):
    """Terms by name, the others as usual."""
    return np.array([{**_TYPICAL, **values}[name] for name in TERM_NAMES])


VALUES = named()
RESNET50 = {"forward_flop": 8.18e9, "gradient_bytes": 51.2e6, "peak_flop_per_s": 125e12, "nic_bytes_per_s": 12.5e9}


def terms(values=VALUES, covariance=None, scatter=0.05):
    return StepTerms(values, np.zeros((K, K)) if covariance is None else covariance, np.array(scatter))


def trained(of, **arguments):
    return TrainingRun.of(**arguments).rate(of)


def inferred(of, **arguments):
    return InferenceRun.of(**arguments).rate(of)


def spread():
    root = np.random.default_rng(3).normal(size=(K, K)) * 0.1
    return root @ root.T


def test_step_of_a_hand_calculation():
    """3 x 8 GFLOP x (100 + 20) / (100 TFLOP/s x 0.24) = 0.12 s of arithmetic and 0.05 s to launch, q = 2: 0.13 s."""
    values = named(log_efficiency=np.log(0.24), log_launch_s=np.log(0.05), log_fill=np.log(20), log_run_ahead=0.0)
    one = {"n_gpus_per_server": 1, "n_servers": 1, "gradient_bytes": 1e8, "nic_bytes_per_s": 0.0}
    rate = trained(terms(values), batch_per_gpu=100, forward_flop=8e9, peak_flop_per_s=100e12, **one)
    assert_allclose(rate.compute.value, 100 / 0.13, rtol=1e-12)


def test_launches_that_run_ahead_cost_nothing_beside_arithmetic():
    """q = 1 adds the two, a large q takes the longer: 0.12 s against 0.05 s."""
    common = {"log_efficiency": np.log(0.24), "log_launch_s": np.log(0.05), "log_fill": np.log(20)}
    arguments = {**RESNET50, "forward_flop": 8e9, "peak_flop_per_s": 100e12}
    seconds = []
    for run_ahead in (-20.0, 5.0):
        rate = trained(
            terms(named(**common, log_run_ahead=run_ahead)),
            batch_per_gpu=100,
            n_gpus_per_server=1,
            n_servers=1,
            **arguments,
        )
        seconds.append(100 / rate.compute.value)
    assert_allclose(seconds, [0.17, 0.12], rtol=1e-6)


def test_forward_pass_is_a_third_of_a_training_step():
    """Backward passes cost twice the forward one: gradients of inputs and of weights. Launch time left out."""
    values = named(log_launch_s=np.log(1e-12))
    training = trained(terms(values), batch_per_gpu=64, n_gpus_per_server=1, n_servers=1, **RESNET50)
    inference = inferred(
        terms(values),
        batch_per_gpu=64,
        n_gpus_per_server=1,
        n_servers=1,
        forward_flop=8.18e9,
        peak_flop_per_s=125e12,
        input_bytes=1.0,
    )
    assert_allclose(inference.compute.value, 3 * training.compute.value, rtol=1e-6)


def test_host_link_of_the_source():
    """HPE: 10.5 GiB/s over one x16 link are 18,000 float images/s of 227 x 227 (hpe-dlbs, rounded to thousands)."""
    rate = inferred(
        terms(named(log_host_link_bytes_per_s=np.log(10.5 * 2**30))),
        batch_per_gpu=128,
        n_gpus_per_server=1,
        n_servers=1,
        forward_flop=1e6,
        peak_flop_per_s=125e12,
        input_bytes=3 * 227 * 227,
    )
    assert_allclose(rate.exchange, 18_000, rtol=0.02)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("batch_per_gpu", 0), ("forward_flop", -1.0), ("peak_flop_per_s", 0.0), ("n_servers", 0), ("gradient_bytes", -1)],
)
def test_bad_arguments_are_named(argument, value):
    good = {"batch_per_gpu": 1, "n_gpus_per_server": 8, "n_servers": 2, **RESNET50}
    with pytest.raises(ValueError, match=argument):
        trained(terms(), **{**good, argument: value})


def test_exchange_hides_behind_the_backward_pass():
    """Far below what hides it nearly nothing is exposed, far above all but the hidden part: max(0, x - k 2/3 t)."""
    arguments = {**RESNET50, "nic_bytes_per_s": np.array([1e13, 1e7])}
    rate = trained(terms(), batch_per_gpu=256, n_gpus_per_server=1, n_servers=2, **arguments)
    gpu = 512 / rate.compute.value
    exchange = 512 / rate.exchange
    step = 512 / rate.total.value / (1 + 0.02)
    hidden = 2 / 3 * gpu / (1 + np.exp(1.0))
    assert_allclose(step - gpu, [0.0, exchange[1] - hidden[1]], rtol=0.02, atol=1e-6)  # the corner is rounded


def counted(servers, batch):
    return TrainingRun.of(batch_per_gpu=batch, n_gpus_per_server=8, n_servers=servers, **RESNET50)


def test_slopes_of_a_sum_are_the_shares_of_its_parts():
    parts = np.random.default_rng(3).normal(size=(5, 4))
    shares = np.exp(parts) / np.exp(parts).sum(axis=-1, keepdims=True)
    found = log_slopes(lambda terms: np.log(np.exp(terms).sum(axis=-1)), parts)
    assert_allclose(found, shares, rtol=1e-6)  # a step of 1e-4 leaves 1e-8 of a third derivative


@pytest.mark.parametrize("servers", [1, 2, 40])
@pytest.mark.parametrize("batch", [4, 256])
def test_median_and_interval_are_those_of_random_draws(servers, batch):
    """200,000 random draws, of terms whose waiting is known to a factor of three. At the median 4 % of a standard
    deviation is 1.6 hundredths of a probability, at the ends of the interval 15 % of one is."""
    covariance = spread()
    covariance[SCALE_OUT, SCALE_OUT] += 1.0
    run, rng = counted(servers, batch), np.random.default_rng(8)
    drawn = rng.multivariate_normal(VALUES, covariance, 200_000)
    log_rates = np.log(run.samples_per_s(drawn)) + 0.05 * rng.standard_normal(200_000)
    rate = run.rate(terms(covariance=covariance)).total
    levels = np.quantile(log_rates, [0.5, 0.05, 0.95])
    assert_allclose(np.log([rate.value, rate.low, rate.high]), levels, atol=0.15 * np.std(log_rates))
    assert abs(np.log(rate.value) - levels[0]) < 0.04 * np.std(log_rates)


def test_draws_do_not_depend_on_the_signs_that_a_library_gives_directions(monkeypatch):
    found, eigh = drawn_terms(VALUES, spread()), np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda of: (eigh(of)[0], eigh(of)[1] * (-1.0) ** np.arange(K)))
    assert_allclose(drawn_terms(VALUES, spread()), found, rtol=1e-12)


def test_the_slow_end_is_the_longer_one():
    """Waiting between servers of 0.02 x 2 (1 - 1/40) = 3.9 %, e times as much at one standard deviation: at 1.645 it is
    0.039 e^1.645 = 20.2 % of a step, at -1.645 0.75 %. With nothing else uncertain the rate lies ln(1.202/1.039) =
    14.6 % below its median and ln(1.039/1.0075) = 3.1 % above."""
    covariance = np.zeros((K, K))
    covariance[SCALE_OUT, SCALE_OUT] = 1.0
    run = TrainingRun.of(batch_per_gpu=256, n_gpus_per_server=1, n_servers=40, **RESNET50)
    rate = run.rate(terms(covariance=covariance, scatter=0.0)).total
    assert_allclose(np.log(rate.value / rate.low), 0.146, rtol=0.1)
    assert_allclose(np.log(rate.high / rate.value), 0.031, rtol=0.1)


def test_one_gpu_needs_no_exchange():
    rate = trained(terms(), batch_per_gpu=64, n_gpus_per_server=1, n_servers=1, **{**RESNET50, "nic_bytes_per_s": 0.0})
    assert_allclose(rate.total.value, rate.compute.value, rtol=1e-12)
    assert np.isinf(rate.exchange)
    assert rate.exposed_s == 0


@settings(deadline=None)
@given(
    gpus=st.integers(1, 16),
    servers=st.integers(1, 2000),
    batch=st.integers(1, 4096),
    nic=st.floats(1e8, 1e11),
)
def test_more_gpus_never_lower_the_compute_capacity(gpus, servers, batch, nic):
    counts = {
        "n_gpus_per_server": np.array([gpus, gpus + 1, gpus]),
        "n_servers": np.array([servers, servers, servers + 1]),
    }
    rate = trained(terms(), batch_per_gpu=batch, **counts, **{**RESNET50, "nic_bytes_per_s": nic})
    assert (rate.compute.value[1:] > rate.compute.value[0]).all()
    assert (rate.total.value <= rate.compute.value * (1 + 1e-12)).all()  # rounding


def test_a_slower_host_link_bounds_inference():
    """8 GPUs with 2 links of 11 GB/s: 2 x 11e9 / (4 x 150,528) = 36,538 images/s, far below what the GPUs pass."""
    rate = inferred(
        terms(),
        batch_per_gpu=128,
        n_gpus_per_server=8,
        n_servers=np.array([1, 2]),
        forward_flop=3e9,
        peak_flop_per_s=125e12,
        input_bytes=150_528,
    )
    assert_allclose(rate.total.value, [36_538, 73_076], rtol=1e-4)  # rounded to whole images
    assert (rate.compute.value > rate.total.value).all()


def test_terms_of_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="terms must be"):
        StepTerms(np.zeros(3), np.zeros((3, 3)), np.array(0.0))


def test_parts_of_a_step_by_hand():
    """ResNet-50 on 2 x 4 GPUs: 2 (4-1)/4 x 51.2 MB at 60 GB/s inside, 2 (2-1)/2 of them at 0.7 x 12.5 between."""
    run = TrainingRun.of(batch_per_gpu=16, n_gpus_per_server=4, n_servers=2, **RESNET50)
    times = run.times(VALUES)
    assert_allclose(times.inside_s, 1.5 * 51.2e6 / 60e9 + 6 * 3.4e-6, rtol=1e-12)  # six steps of a ring of four
    assert_allclose(times.between_s, 51.2e6 / 8.75e9 + 2 * 9.6e-6, rtol=1e-12)  # up and down one level of a tree
    step = times.compute_s + times.exposed_s
    assert_allclose(times.waiting_s, step * (0.01 * 2 + 0.02), rtol=1e-12)  # two doublings inside, half leaves a server
    assert_allclose(8 * 16 / (step + times.waiting_s), run.samples_per_s(VALUES), rtol=1e-12)


def test_a_step_of_one_gpu_is_computation_alone():
    run = TrainingRun.of(**{**RESNET50, "batch_per_gpu": 16, "n_gpus_per_server": 1, "n_servers": 1})
    times = run.times(VALUES)
    assert (times.inside_s, times.between_s, times.exposed_s, times.waiting_s) == (0, 0, 0, 0)


def run(jobs, n_servers, gpus_per_server, *, backfill=False, standing=()):
    """Schedule of (arrival, duration, GPUs, whole servers)."""
    arrival, duration, gpus, whole = (np.array(column) for column in zip(*jobs, strict=True))
    cluster = ServerPool.of(n_servers, gpus_per_server, [job[0] for job in standing], [job[1] for job in standing])
    return schedule(arrival, duration, gpus, whole, cluster, backfill=backfill)


@st.composite
def queues(draw, least=1, most=14):
    """Jobs in the order of their arrival, on a small cluster on which each fits."""
    n_servers, fitted = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n = draw(st.integers(least, most))
    gaps = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    lengths = draw(st.lists(st.integers(1, 8), min_size=n, max_size=n))
    gpus = draw(st.lists(st.integers(1, n_servers * fitted), min_size=n, max_size=n))
    whole = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    jobs = list(zip(np.cumsum(gaps).tolist(), lengths, gpus, whole, strict=True))
    return jobs, n_servers, fitted


def in_order_by_steps(jobs, n_servers, fitted):
    """First come, first served, told step by step of whole time: starts only.

    Of servers with equally many free GPUs the one is taken whose GPUs have been so for longest.
    """
    free, changed = [fitted] * n_servers, list(range(n_servers))
    running, starts, line = [], [None] * len(jobs), list(range(len(jobs)))

    def change(server, gpus):
        free[server] += gpus
        changed[server] = max(changed) + 1

    now = 0
    while line:
        for one in sorted(one for one in running if one[0] <= now):
            for server, taken in one[2]:
                change(server, taken)
            running.remove(one)
        while line and jobs[line[0]][0] <= now:
            _, length, gpus, whole = jobs[line[0]]
            count = servers_of(gpus, fitted, whole)
            asked = fitted if count else gpus
            room = sorted(
                (free[server], changed[server], server) for server in range(n_servers) if free[server] >= asked
            )[: max(count, 1)]
            if len(room) < max(count, 1):
                break
            for _, _, server in room:
                change(server, -asked)
            starts[line[0]] = now
            running.append((now + length, line[0], [(server, asked) for _, _, server in room]))
            del line[0]
        now += 1
    return starts


@given(queues())
@settings(max_examples=200)
def test_first_come_first_served_agrees_with_a_clock_that_ticks(queue):
    jobs, n_servers, fitted = queue
    assert_allclose(run(jobs, n_servers, fitted).start_s, in_order_by_steps(jobs, n_servers, fitted))


@given(queues(), st.booleans())
@settings(max_examples=200)
def test_no_gpu_is_given_twice_and_all_gpu_hours_are_worked(queue, backfill):
    jobs, n_servers, fitted = queue
    found = run(jobs, n_servers, fitted, backfill=backfill)
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


@given(queues())
def test_first_come_first_served_starts_in_order(queue):
    jobs, n_servers, fitted = queue
    assert (np.diff(run(jobs, n_servers, fitted).start_s) >= 0).all()


@given(queues(least=2))
@settings(max_examples=300)
def test_backfill_delays_nobody_beyond_what_was_sure_when_he_came_first(queue):
    """Whoever is first in line is promised a start from the jobs that run; without later jobs it would start then.

    What does not hold for EASY backfill: that nobody starts later than first come, first served would start him.
    """
    jobs, n_servers, fitted = queue
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
    jobs, n_servers, fitted = queue
    same = [(arrival, length, 1, False) for arrival, length, _, _ in jobs]
    further = min(place, len(same) - 1)
    more = run(same, n_servers, fitted).start_s
    fewer = run(same[:further] + same[further + 1 :], n_servers, fitted).start_s if len(same) > 1 else np.zeros(0)
    assert (np.delete(more, further) >= fewer).all()


@given(queues())
def test_a_further_server_lets_nobody_of_one_size_start_later(queue):
    jobs, n_servers, fitted = queue
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
