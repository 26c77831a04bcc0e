"""Priorities and shared GPUs of a team: who waits, how many servers, and Erlang's formula for sessions."""

import pytest

from sizer.sizing.constraints.job_mix import JobMix, PermanentJobs, QueuedJobs
from sizer.sizing.constraints.team_limits import fewest_servers, simulated
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
