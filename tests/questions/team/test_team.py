"""The team on a design: against Erlang, brute force, the sizing of single jobs, and its own laws."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.perf.levels_over_time import level_at_percentile
from sizer.perf.scheduling import WEEK_S
from sizer.questions.alternatives.targets import _sizes
from sizer.questions.team.analysis import TeamAnswer, TeamModel, team_answer, team_model
from sizer.questions.team.text import assumptions
from sizer.sizing.constraints import job_mix, team_reads
from sizer.sizing.constraints import team_simulation as team_runs
from sizer.sizing.constraints.job_mix import JobMix, PermanentJobs, QueuedJobs
from sizer.sizing.constraints.team_reads import Reads, added, standing_demand, worst_bytes_per_s
from sizer.sizing.constraints.team_simulation import Simulated, fewest_servers, simulated
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.limits import Limit
from sizer.sizing.project import project
from sizer.sizing.recommend import best_design
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog

NOTEBOOK = {"name": "Notebook", "gpus": 1, "jobs_a_day": 12, "duration_s": "3 h"}


def request(*jobs, team=None, limits=None, **work):
    """A request for ResNet-50 on C4140 and F800, with a team."""
    data = {
        "workload": [
            {
                "name": "ResNet-50",
                "dnn": "resnet50",
                "stack": "mxnet-ngc19.07-dali",
                "batch_per_gpu": 192,
                "dataset": "imagenet-x10",
                "epochs": 4,
                "target": {"samples_per_s": 3000},
                **work,
            }
        ],
        "platforms": {
            "servers": ["c4140"],
            "gpus": ["v100-sxm2-16gb"],
            "storage": ["isilon-f800"],
            "fabrics": ["edr"],
        },
        "limits": limits or {},
        "team": {"wait_s": "15 min", **(team or {}), "job": list(jobs)},
    }
    return SizingRequest.from_dict(data)


TRAINING = {"name": "Training", "gpus": 2, "jobs_a_day": 6, "workload": "ResNet-50"}


@cache
def sized():
    return size(request(TRAINING, NOTEBOOK), catalog())


@cache
def model() -> TeamModel:
    found = team_model(EvaluatedDesign(sized(), catalog()))
    assert found is not None
    return found


@cache
def answer() -> TeamAnswer:
    found = team_answer(EvaluatedDesign(sized(), catalog()))
    assert found is not None
    return found


def one_kind(gpus=1, jobs_a_day=60.0, hours=2.0, fitted=4, hours_a_day=24.0, days=7, **other):
    kind = QueuedJobs(gpus, other.get("whole", False), jobs_a_day, hours * 3600, other.get("fixed", False))
    return JobMix(fitted, (kind,), (), hours_a_day, days, other.get("order", "first-come"))


def test_without_a_team_there_is_no_answer():
    asked = request(TRAINING).model_copy(update={"team": None})
    result = size(asked, catalog())
    assert team_model(EvaluatedDesign(result, catalog())) is None
    assert team_answer(EvaluatedDesign(result, catalog())) is None


def test_around_the_clock_one_kind_waits_as_erlang_says():
    """24 hours, 7 days, exponential durations: nothing differs from M/M/c."""
    asked = request({**NOTEBOOK, "gpus": 2, "jobs_a_day": 40}, team={"hours_a_day": 24, "days_a_week": 7})
    found = team_answer(EvaluatedDesign(size(asked, catalog()), catalog()))
    assert found is not None
    erlang = found.erlang
    assert erlang is not None
    assert erlang.is_exact
    assert erlang.load == pytest.approx(5.0)  # 40 a day of 3 h
    kind = found.run.kinds[0]
    assert abs(kind.share_within - erlang.share_within) < 4 * kind.share_error + 1e-3
    # Servers are whole; both find the same number.
    assert found.n_servers_for_waits == erlang.n_servers == sized_servers(asked)


def sized_servers(asked):
    return size(asked, catalog()).design.n_servers


@pytest.mark.parametrize("hours", [0.5, 3.0, 30.0])
def test_erlang_at_the_working_hour_rate_is_an_upper_reading(hours):
    """Arrivals that stop at night are a part of those that never stop: nobody waits longer for them."""
    asked = request({**NOTEBOOK, "duration_s": hours * 3600, "jobs_a_day": 24 / hours})
    found = team_answer(EvaluatedDesign(size(asked, catalog()), catalog()))
    assert found is not None
    assert found.erlang is not None
    assert not found.erlang.is_exact
    kind = found.run.kinds[0]
    assert kind.share_within >= found.erlang.share_within - 4 * kind.share_error - 1e-3
    assert found.n_servers_for_waits <= found.erlang.n_servers


def test_two_kinds_have_no_erlang():
    assert answer().erlang is None


def test_the_search_finds_the_fewest_servers():
    """No size below the design's meets the waits, and the design does."""
    found = answer()
    assert found.n_servers_for_waits == sized().design.n_servers
    assert found.run.meets
    assert not model().on(sized().design.n_servers - 1).meets
    assert sized().design.binding.limit is Limit.TEAM_WAITS


def test_the_quick_searches_agree_with_the_full_one():
    asked = sized().request
    best = best_design(asked, catalog()).design
    assert (best.n_servers, best.storage_nodes) == (sized().design.n_servers, sized().design.storage_nodes)
    sizes = _sizes(asked, sized().design.platform, catalog(), stored_calibration())
    assert sizes.fewest() == sized().design.n_servers


def test_storage_carries_the_share_of_the_time_asked_for():
    """A team that reads more than one workload alone needs more nodes; its demand rules."""
    many = [{**TRAINING, "name": f"Training {n}", "gpus": 4, "jobs_a_day": 30} for n in range(2)]
    asked = request(*many, NOTEBOOK, sample_bytes="800 kB")
    alone = size(asked.model_copy(update={"team": None}), catalog()).design.storage_nodes
    result = size(asked, catalog())
    found = team_answer(EvaluatedDesign(result, catalog()))
    assert found is not None
    assert result.design.storage_nodes > alone
    capacity = found.read_capacity
    assert capacity.bytes_per_s >= capacity.asked_bytes_per_s == found.run.demand.asked_bytes_per_s
    # A unit of nodes fewer would not do: an F800 chassis holds four.
    fewer = capacity.storage_bytes_per_s * (result.design.storage_nodes - 4) / result.design.storage_nodes
    assert fewer < capacity.asked_bytes_per_s
    assert 0 < capacity.load_fraction <= 1


def test_the_worst_demand_needs_the_most_storage():
    training = {**TRAINING, "gpus": 4, "jobs_a_day": 40}
    asked = [request(training, team={"demand_percentile": share}, sample_bytes="800 kB") for share in (0.5, 0.95, 1.0)]
    nodes = [size(one, catalog()).design.storage_nodes for one in asked]
    assert nodes == sorted(nodes)
    assert nodes[-1] > nodes[0]


def test_a_job_takes_as_long_as_its_workload_on_a_cluster_of_its_gpus():
    """Four GPUs are one C4140: the time to train is that of one server with more storage than it can use."""
    asked = request({**TRAINING, "gpus": 4})
    job = team_model(EvaluatedDesign(size(asked, catalog()), catalog())).jobs[0]
    alone = project(asked, catalog(), server="c4140", servers=1, storage="isilon-f800", storage_nodes=40)
    time = alone.workloads[0].time
    assert time is not None
    # The projection's first epoch is slower by what storage may take from it, here within its rounding.
    assert job.duration_s == pytest.approx(float(time.total_s.value), rel=0.01)
    assert job.cold_bytes_per_s == pytest.approx(float(alone.workloads[0].cold_storage_bytes_per_s.value), rel=0.01)
    assert job.warm_bytes_per_s == pytest.approx(float(alone.workloads[0].storage_bytes_per_s.value), rel=0.01)


def test_a_stated_duration_stands():
    job = model().jobs[1]
    assert (job.duration_s, job.mean_bytes_per_s, job.wait_s) == (3 * 3600, 0.0, 900.0)


def test_average_demand_is_offered_load_times_reads():
    """All that is started is read: jobs a day x days a week x duration x what one reads on average."""
    job, run = model().jobs[0], model().on(40)
    expected = 6 * 5 * job.duration_s / WEEK_S * job.mean_bytes_per_s
    # 7,500 drawn jobs with exponential durations: 1/sqrt(7500) x sqrt(2) is 1.6 %; three of these.
    assert run.demand.average_bytes_per_s == pytest.approx(expected, rel=0.05)


def test_demand_lies_between_nothing_and_the_worst_and_rises():
    for run in answer().runs:
        demand = run.demand
        assert 0 <= demand.asked_bytes_per_s <= demand.worst_bytes_per_s
        assert demand.average_bytes_per_s <= demand.worst_bytes_per_s
        assert (np.diff(demand.levels_bytes_per_s) >= 0).all()
        assert (demand.levels_bytes_per_s <= demand.worst_bytes_per_s).all()
    worst = [run.demand.worst_bytes_per_s for run in answer().runs]
    assert worst == sorted(worst)


def test_more_servers_start_no_fewer_jobs_in_time():
    """Same luck on every size (common random numbers): only scattered jobs could lower a share, within its error."""
    for small, large in zip(answer().runs, answer().runs[1:], strict=False):
        for before, after in zip(small.kinds, large.kinds, strict=True):
            assert after.share_within >= before.share_within - before.share_error - 1e-9


def test_more_jobs_need_no_fewer_servers():
    needed = [
        fewest_servers(one_kind(gpus=2, jobs_a_day=jobs, hours=3.0, hours_a_day=10.0, days=5), (900.0,), 0.9, 400)
        for jobs in (5, 10, 20, 40, 80, 160)
    ]
    assert needed == sorted(needed)


def test_the_same_request_gives_the_same_bytes():
    first = model().on(5)
    team_runs.simulated.cache_clear()
    job_mix.draw_jobs.cache_clear()
    again = model().on(5)
    assert first.kinds == again.kinds
    assert first.demand.levels_bytes_per_s.tobytes() == again.demand.levels_bytes_per_s.tobytes()


def test_another_kind_does_not_change_the_luck_of_the_first():
    """Jobs a day of a further kind, on a cluster where nobody waits, leave the draws of the first as they are."""
    alone = simulated(one_kind(jobs_a_day=30.0), 500)
    both = simulated(replace(alone.case, kinds=(*alone.case.kinds, QueuedJobs(1, False, 30.0, 60.0, False))), 500)
    n = min(len(alone.jobs.arrival_s), int((both.jobs.kind == 0).sum()))
    assert n > 1000
    assert_allclose(both.jobs.arrival_s[both.jobs.kind == 0][:n], alone.jobs.arrival_s[:n])


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
        assert team_runs.meets(case, n_servers, (3600.0, 600.0), 0.9) == whole
        seen.append(whole)
    assert {True, False} == set(seen)


def test_too_many_jobs_are_refused_with_the_way_out():
    with pytest.raises(RequestError, match="together as one"):
        size(request({**NOTEBOOK, "jobs_a_day": 90_000}), catalog())


def test_short_jobs_beside_one_that_fills_the_cluster_for_months_are_refused() -> None:
    kinds = (QueuedJobs(1, False, 3900.0, 60.0, False), QueuedJobs(8, False, 0.01, 100 * 86_400.0, False))
    with pytest.raises(RequestError, match="more than are simulated"):
        _ = JobMix(4, kinds, (), 10.0, 5, "first-come").weeks


def test_a_wait_that_no_allowed_cluster_keeps_names_what_it_reaches():
    asked = request({**NOTEBOOK, "jobs_a_day": 200}, limits={"servers": 6})
    with pytest.raises(InfeasibleError, match=r"6 × C4140 .* jobs Notebook"):
        size(asked, catalog())


def test_jobs_that_always_run_are_all_placed():
    """2 jobs of 6 GPUs take two C4140 each; 3 of 2 GPUs fill one and a half more: 6 servers of 4."""
    standing = [
        {"name": "Large", "gpus": 6, "always_running": 2, "workload": "ResNet-50"},
        {"name": "Small", "gpus": 2, "always_running": 3},
    ]
    result = size(request(*standing), catalog())
    found = team_answer(EvaluatedDesign(result, catalog()))
    assert found is not None
    assert result.design.n_servers == found.n_servers_for_waits == 6
    assert [kind.n_jobs for kind in found.run.kinds] == [2, 3]
    assert found.run.gpus_busy_fraction == pytest.approx(18 / 24)
    assert found.run.gpus_reserved_fraction == pytest.approx(4 / 24)
    with pytest.raises(InfeasibleError, match="no room for all jobs that always run"):
        size(request(*standing, limits={"servers": 5}), catalog())


def test_a_job_of_unknown_length_reads_as_in_its_first_epoch():
    asked = request({"name": "Always", "gpus": 4, "always_running": 2, "workload": "ResNet-50"}, epochs=None)
    job = team_model(EvaluatedDesign(size(asked, catalog()), catalog())).jobs[0]
    assert job.duration_s == inf
    assert job.mean_bytes_per_s == job.cold_bytes_per_s > 0


READS = [Reads(0.0, 0.1, 10.0, 4.0), Reads(0.0, 0.5, 6.0, 0.0), Reads(0.0, 1.0, 3.0, 1.0)]


@given(
    counts=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    percentile=st.floats(0, 1),
)
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
    assert len(both) <= 2 * team_reads._MOST_LEVELS
    assert float(there.sum()) == pytest.approx(1.0)
    assert 0 <= float(both @ there) - (2499.5 + 0.5) <= 5000 / team_reads._MOST_LEVELS


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


def test_gpus_that_whole_servers_leave_unused_are_told():
    """Jobs of 1 GPU that take a whole C4140: three of four GPUs are held and idle."""
    result = size(request({**NOTEBOOK, "whole_servers": True}), catalog())
    run = team_answer(EvaluatedDesign(result, catalog())).run
    assert run.gpus_reserved_fraction == pytest.approx(3 * run.gpus_busy_fraction)
    # 12 jobs a day of 3 h on 5 of 7 days, a GPU each; 20,000 exponential durations: 1 %, three of these.
    assert run.gpus_busy_fraction * run.n_gpus == pytest.approx(12 * 3 * 5 / 168, rel=0.03)


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


def test_assumptions_depend_on_the_jobs():
    """Arrivals, durations, simulation, no preemption, placement, storage; fixed durations have no spread."""
    assert len(list(assumptions(answer()))) == 6
    fixed = request({**NOTEBOOK, "durations": "fixed"})
    found = team_answer(EvaluatedDesign(size(fixed, catalog()), catalog()))
    assert len(list(assumptions(found))) == 4
