"""The simulated week of a team: draws, waits and read demand, compared with brute force and its own laws."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.base.errors import RequestError
from sizer.perf.scheduling import level_at_percentile
from sizer.sizing.constraints import job_mix, team_limits
from sizer.sizing.constraints.job_mix import JobMix, PermanentJobs, QueuedJobs
from sizer.sizing.constraints.team_limits import (
    Reads,
    Simulated,
    added,
    fewest_servers,
    simulated,
    standing_demand,
    worst_bytes_per_s,
)
from tests.factories.erlang import waits_longer_probability

HOUR_S = 3600.0


def mix(*kinds: QueuedJobs, hours: float = 24.0, days: int = 7, order: str = "first-come") -> JobMix:
    return JobMix(4, kinds, (), hours, days, order)  # type: ignore[arg-type]


def waits(case: JobMix, n_servers: int) -> list[float]:
    run = simulated(case, n_servers)
    return [float(run.waits_s(kind).mean()) for kind in range(len(case.kinds))]


@pytest.mark.laws
@pytest.mark.parametrize("order", ["first-come", "backfill"])
def test_a_priority_moves_the_wait_to_the_others(order: str) -> None:
    """Kleinrock's conservation law: for jobs of one size and mean duration the mean wait over all stays as it is.

    Two kinds of 40 jobs a day of an hour on 4 GPUs, 3.33 erlang; half of the jobs each, so the sum of both means stays.
    The order of equal jobs of unknown length cannot change their mean; tolerance for the drawn durations, 15 %.
    """
    kind = QueuedJobs(1, False, 40.0, HOUR_S, False)
    equal = waits(mix(kind, kind, order=order), 1)
    high, low = waits(mix(kind, kind._replace(priority=2), order=order), 1)
    assert high < 0.5 * low
    assert high + low == pytest.approx(sum(equal), rel=0.15)


def test_equal_priorities_give_the_same_runs() -> None:
    kinds = (QueuedJobs(1, False, 30.0, HOUR_S, False), QueuedJobs(4, False, 4.0, 2 * HOUR_S, False))
    plain, high = (
        simulated(mix(*(kind._replace(priority=rank) for kind in kinds), hours=10, days=5), 2) for rank in (1, 0)
    )
    assert plain.start_s.tolist() == high.start_s.tolist()


def test_sessions_that_share_wait_as_erlang_says_of_so_many_places() -> None:
    """Sessions alone, arriving at all hours: 4 GPUs for 3 sessions each are 12 places, 10 erlang.

    240 sessions a day of an hour: 10 erlang. Tolerance: four standard errors of the simulation.
    """
    case = mix(QueuedJobs(1, False, 240.0, HOUR_S, False, 0, 3))
    run = simulated(case, 1)
    late = float(waits_longer_probability(12, 10.0, HOUR_S, 900.0))
    assert run.share_within(0, 900.0) == pytest.approx(1 - late, abs=4 * run.share_error(0, 900.0))
    assert 0 < run.shared_gpus <= 4
    assert case.mean_gpus_taken == pytest.approx(10 / 3)
    assert case.least_servers == 1


def test_sessions_that_share_need_fewer_servers() -> None:
    """100 sessions a day of three hours at all hours: 12.5 erlang, 12.5 GPUs or 3.1 shared by four."""
    own, shared = (mix(QueuedJobs(1, False, 100.0, 3 * HOUR_S, False, 0, n)) for n in (1, 4))
    found = [fewest_servers(case, (60.0,), 0.9, 20) for case in (own, shared)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] >= 4  # 12.5 GPUs at least
    assert found[1] == 2  # one server has 16 places; Erlang: 74 % start within a minute


def test_sessions_that_always_run_take_a_gpu_for_so_many() -> None:
    """Ten sessions, four a GPU: 3 GPUs."""
    case = JobMix(4, (), (PermanentJobs(1, False, 10, 4),), 10.0, 5, "first-come")
    assert case.mean_gpus_taken == 3
    assert case.cluster(1).all_placed
    assert case.cluster(1).free.tolist() == [1]


def one_kind(gpus=1, jobs_a_day=60.0, hours=2.0, fitted=4, hours_a_day=24.0, days=7, **other):
    kind = QueuedJobs(gpus, other.get("whole", False), jobs_a_day, hours * 3600, other.get("fixed", False))
    return JobMix(fitted, (kind,), (), hours_a_day, days, other.get("order", "first-come"))


@pytest.mark.laws
def test_more_jobs_need_no_fewer_servers():
    needed = [
        fewest_servers(one_kind(gpus=2, jobs_a_day=jobs, hours=3.0, hours_a_day=10.0, days=5), (900.0,), 0.9, 400)
        for jobs in (5, 10, 20, 40, 80, 160)
    ]
    assert needed == sorted(needed)


def test_another_kind_does_not_change_the_luck_of_the_first():
    """Jobs a day of a further kind, on a cluster where nobody waits, leave the draws of the first as they are."""
    alone = simulated(one_kind(jobs_a_day=30.0), 500)
    both = simulated(replace(alone.case, kinds=(*alone.case.kinds, QueuedJobs(1, False, 30.0, 60.0, False))), 500)
    n = min(len(alone.jobs.arrival_s), int((both.jobs.kind == 0).sum()))
    assert n > 1000
    assert_allclose(both.jobs.arrival_s[both.jobs.kind == 0][:n], alone.jobs.arrival_s[:n])


@pytest.mark.laws
def test_the_standard_error_is_that_of_repetitions():
    """Shares of 40 runs with other seeds scatter as one run says of itself, within a factor that chance allows."""
    case, wait_s = one_kind(jobs_a_day=30.0, hours=4.0, hours_a_day=10.0, days=5), 600.0
    shares, errors = [], []
    try:
        for seed in range(40):
            job_mix.draw_jobs.cache_clear()
            job_mix.SEED = 1000 + seed
            run = simulated.__wrapped__(case, 3)
            shares.append(run.share_within(0, wait_s))
            errors.append(run.share_error(0, wait_s))
    finally:
        job_mix.SEED = 20190401
        job_mix.draw_jobs.cache_clear()
    assert 0.6 < np.std(shares, ddof=1) / np.sqrt(np.mean(np.square(errors))) < 1.5
    assert 0.5 < np.mean(shares) < 0.99


def test_rare_and_frequent_kinds_are_both_seen_often_enough():
    rare = JobMix(
        4,
        (QueuedJobs(1, False, 0.5, 3600.0, False), QueuedJobs(1, False, 20.0, 3600.0, False)),
        (),
        10.0,
        5,
        "backfill",
    )
    run = simulated(rare, 10)
    assert (run.is_in_window & (run.jobs.kind == 0)).sum() > 150
    assert run.is_in_window.sum() < 1.1 * job_mix.MOST_JOBS


@pytest.mark.parametrize("order", ["first-come", "backfill"])
def test_giving_up_early_changes_no_verdict(order):
    """The quick look, which stops once too many jobs are late, agrees with the whole simulation on every size."""
    kinds = (QueuedJobs(4, False, 4.0, 4 * 3600.0, False), QueuedJobs(1, False, 30.0, 1800.0, False))
    case = JobMix(4, kinds, (), 10.0, 5, order)
    seen = []
    for n_servers in range(1, 7):
        run = simulated(case, n_servers)
        whole = all(run.share_within(kind, wait) >= 0.9 for kind, wait in enumerate((3600.0, 600.0)))
        assert team_limits.meets(case, n_servers, (3600.0, 600.0), 0.9) == whole
        seen.append(whole)
    assert {True, False} == set(seen)


def test_short_jobs_beside_one_that_fills_the_cluster_for_months_are_refused() -> None:
    kinds = (QueuedJobs(1, False, 3900.0, 60.0, False), QueuedJobs(8, False, 0.01, 100 * 86_400.0, False))
    with pytest.raises(RequestError, match="more than are simulated"):
        _ = JobMix(4, kinds, (), 10.0, 5, "first-come").weeks


READS = [Reads(0.0, 0.1, 10.0, 4.0), Reads(0.0, 0.5, 6.0, 0.0), Reads(0.0, 1.0, 3.0, 1.0)]


@given(counts=st.lists(st.integers(1, 3), min_size=1, max_size=3), percentile=st.floats(0, 1))
def test_standing_demand_agrees_with_all_that_can_happen(counts, percentile):
    reads = READS[: len(counts)]
    levels, shares = standing_demand(counts, reads)
    chance: dict[float, float] = {}
    for cold in product(*(range(count + 1) for count in counts)):
        probability = np.prod(
            [
                comb(n, k) * one.cold_share**k * (1 - one.cold_share) ** (n - k)
                for n, k, one in zip(counts, cold, reads, strict=True)
            ]
        )
        level = sum(
            k * one.cold_bytes_per_s + (n - k) * one.warm_bytes_per_s
            for n, k, one in zip(counts, cold, reads, strict=True)
        )
        chance[level] = chance.get(level, 0.0) + float(probability)
    assert float(levels @ shares) == pytest.approx(sum(level * share for level, share in chance.items()))
    kept = level_at_percentile(levels, shares, percentile)
    assert sum(share for level, share in chance.items() if level <= kept + 1e-9) >= percentile - 1e-9


def test_many_levels_are_joined_upwards():
    levels, shares = np.arange(5000.0), np.full(5000, 1 / 5000)
    both, there = added((levels, shares), (np.array([0.0, 1.0]), np.array([0.5, 0.5])))
    assert len(both) <= 2 * team_limits._MOST_LEVELS
    assert float(there.sum()) == pytest.approx(1.0)
    assert 0 <= float(both @ there) - (2499.5 + 0.5) <= 5000 / team_limits._MOST_LEVELS


@given(
    sizes=st.lists(st.tuples(st.integers(1, 7), st.booleans()), min_size=1, max_size=3),
    reads=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    standing=st.lists(st.integers(1, 3), max_size=2),
    n_servers=st.integers(2, 3),
)
@settings(max_examples=60)
def test_the_worst_demand_agrees_with_every_way_to_fill_the_servers(sizes, reads, standing, n_servers):
    fitted = 3
    kinds = tuple(QueuedJobs(gpus, whole, 1.0, 3600.0, False) for gpus, whole in sizes)
    queue = [Reads(0.0, 1.0, float(read), 0.0) for read, _ in zip(reads, sizes, strict=False)]
    case = JobMix(fitted, kinds, tuple(PermanentJobs(gpus, False, 1) for gpus in standing), 10.0, 5, "first-come")
    cluster = case.cluster(n_servers)
    if not cluster.all_placed:
        return
    there = [Reads(0.0, 1.0, 2.0, 0.0)] * len(standing)
    found = float(worst_bytes_per_s(case, np.array([n_servers]), queue, there)[0])

    def whole_of(kind):
        return -(-kind.gpus // fitted) if kind.whole_servers or kind.gpus > fitted else 0

    @cache
    def fill(free):
        """Most that jobs read which start one after the other on what is free."""
        best = 0.0
        for kind, read in zip(kinds, queue, strict=True):
            count = whole_of(kind)
            if count:
                empty = [place for place, left in enumerate(free) if left == fitted][:count]
                taken = [(empty, fitted)] if len(empty) == count else []
            else:
                taken = [([place], kind.gpus) for place, left in enumerate(free) if left >= kind.gpus]
            for places, gpus in taken:
                left = tuple(sorted(one - gpus * (place in places) for place, one in enumerate(free)))
                best = max(best, read.most_bytes_per_s + fill(left))
        return best

    assert found == pytest.approx(2.0 * len(standing) + fill(tuple(sorted(cluster.free.tolist()))))


def test_backfill_starts_more_jobs_in_time_where_large_and_small_ones_mix():
    kinds = (QueuedJobs(4, False, 4.0, 4 * 3600.0, False), QueuedJobs(1, False, 30.0, 1800.0, False))
    shares = {}
    for order in ("first-come", "backfill"):
        run = simulated(JobMix(4, kinds, (), 10.0, 5, order), 2)
        shares[order] = run.share_within(1, 600.0)
        assert run.idle_gpus >= run.fragment_gpus >= 0
    assert shares["backfill"] > shares["first-come"] + 0.05


def test_a_kind_that_never_fits_is_late_for_good():
    case = one_kind(gpus=12)
    run = simulated(case, 2)
    assert isinstance(run, Simulated)
    assert run.share_within(0, 1e9) == 0.0
    assert fewest_servers(case, (900.0,), 0.9, 2) is None
