"""The team on a design: against Erlang, brute force, the sizing of single jobs, and its own laws."""

from functools import cache
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import EvaluatedDesign, InfeasibleError, SizingRequest, TeamAnswer, project, size, team_answer
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.perf.scheduling import WEEK_S
from sizer.questions.team.analysis import TeamChange, TeamModel, changed_answer, changed_team, team_model
from sizer.questions.team.text import change_figures
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import Limit
from sizer.sizing.servers_needed import fewest_servers
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.team import Team
from tests.factories.answers import recommended
from tests.factories.erlang import waits_longer_probability
from tests.factories.examples import catalog

TEAM = Team.model_validate(
    {
        "data_scientists": 10,
        "wait_s": "1 h",
        "job": [
            {"name": "a", "gpus": 1, "jobs_a_day_each": 0.5, "duration_s": "1 h"},
            {"name": "b", "gpus": 2, "jobs_a_day": 4, "duration_s": "2 h", "wait_s": "5 min"},
            {"name": "c", "gpus": 4, "always_running": 2},
        ],
    }
)


def rates(team: Team) -> list[float]:
    return [team.jobs_a_day(job) for job in team.job]


def test_people_count_for_jobs_stated_by_person_alone():
    assert rates(changed_team(TEAM, TeamChange(data_scientists=30))) == [15.0, 4.0, 0.0]


def test_a_ratio_counts_for_all_that_come_and_go():
    team = changed_team(TEAM, TeamChange(jobs_ratio=1.5))
    assert rates(team) == [7.5, 6.0, 0.0]
    assert team.job[2].always_running == 2


def test_kinds_with_their_own_wait_keep_it():
    team = changed_team(TEAM, TeamChange(wait_s=60.0, order="backfill"))
    assert (team.wait_s, team.job[1].wait_s, team.order) == (60.0, 300.0, "backfill")


@given(people=st.integers(1, 1000), ratio=st.floats(0.1, 10))
def test_changes_multiply(people, ratio):
    both = changed_team(TEAM, TeamChange(data_scientists=people, jobs_ratio=ratio))
    assert rates(both)[0] == pytest.approx(0.5 * people * ratio, rel=1e-5)  # rates keep six digits


def test_more_jobs_than_a_request_holds_are_refused():
    with pytest.raises(ValueError, match="jobs_a_day"):
        changed_team(TEAM, TeamChange(jobs_ratio=1e6))


@pytest.mark.laws
def test_a_changed_answer_is_that_of_the_changed_design():
    request = SizingRequest.from_file(data_dir("examples") / "questions" / "forty-data-scientists.toml")
    result = size(request, catalog())
    base = team_answer(EvaluatedDesign(result, catalog()))
    same = changed_answer(EvaluatedDesign(result, catalog()), TeamChange())
    more = changed_answer(EvaluatedDesign(result, catalog()), TeamChange(n_servers=9, data_scientists=80))
    assert same.run.kinds == base.run.kinds
    assert (more.run.n_servers, more.run.n_gpus) == (9, 72)
    assert more.n_servers_for_waits > base.n_servers_for_waits
    assert more.read_capacity.storage_bytes_per_s == base.read_capacity.storage_bytes_per_s  # the storage stays
    assert more.read_capacity.mounts_bytes_per_s > base.read_capacity.mounts_bytes_per_s
    assert {one.under for one in change_figures(same, base)} == {"unchanged"}
    assert (
        changed_answer(EvaluatedDesign(recommended(request.model_copy(update={"team": None})), catalog()), TeamChange())
        is None
    )


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
        "platforms": {"servers": ["c4140"], "gpus": ["v100-sxm2-16gb"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
        "limits": limits or {},
        "team": {"wait_s": "15 min", **(team or {}), "job": list(jobs)},
    }
    return SizingRequest.from_dict(data)


TRAINING = {"name": "Training", "gpus": 2, "jobs_a_day": 6, "workload": "ResNet-50"}


@cache
def sized():
    return recommended(request(TRAINING, NOTEBOOK))


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


def test_without_a_team_there_is_no_answer():
    asked = request(TRAINING).model_copy(update={"team": None})
    result = recommended(asked)
    assert team_model(EvaluatedDesign(result, catalog())) is None
    assert team_answer(EvaluatedDesign(result, catalog())) is None


def erlang_share(asked: SizingRequest, servers: int) -> float:
    """Share of one kind of job that starts within the wait at the rate of the working hours; servers of 4 GPUs."""
    team = asked.team
    (job,) = team.job
    load = job.jobs_a_day / (team.hours_a_day * 3600) * job.duration_s
    places = servers * 4 // job.gpus
    return 1 - waits_longer_probability(places, load, job.duration_s, team.wait_s) if load < places else 0.0


def test_around_the_clock_one_kind_waits_as_erlang_says():
    """24 hours, 7 days, exponential durations: nothing differs from M/M/c, at 5 erlang (40 a day of 3 h)."""
    asked = request({**NOTEBOOK, "gpus": 2, "jobs_a_day": 40}, team={"hours_a_day": 24, "days_a_week": 7})
    found = team_answer(EvaluatedDesign(recommended(asked), catalog()))
    kind = found.run.kinds[0]
    assert abs(kind.share_within - erlang_share(asked, found.run.n_servers)) < 4 * kind.share_error + 1e-3
    # Servers are whole; both find the same number.
    needed = next(n for n in range(1, 40) if erlang_share(asked, n) >= asked.team.wait_probability)
    assert found.n_servers_for_waits == needed == best_design(asked, catalog()).design.n_servers


@pytest.mark.parametrize("hours", [0.5, 3.0, 30.0])
def test_erlang_at_the_working_hour_rate_is_an_upper_reading(hours):
    """Arrivals that stop at night are a part of those that never stop: nobody waits longer for them."""
    asked = request({**NOTEBOOK, "duration_s": hours * 3600, "jobs_a_day": 24 / hours})
    found = team_answer(EvaluatedDesign(recommended(asked), catalog()))
    kind = found.run.kinds[0]
    assert kind.share_within >= erlang_share(asked, found.run.n_servers) - 4 * kind.share_error - 1e-3
    needed = next(n for n in range(1, 40) if erlang_share(asked, n) >= asked.team.wait_probability)
    assert found.n_servers_for_waits <= needed


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
    servers = fewest_servers(
        asked,
        resolved(asked, catalog(), stored_calibration()),
        sized().design.platform,
        40,
        catalog(),
        stored_calibration(),
    )
    assert servers == sized().design.n_servers


def test_storage_carries_the_share_of_the_time_asked_for():
    """A team that reads more than one workload alone needs more nodes; its demand rules."""
    many = [{**TRAINING, "name": f"Training {n}", "gpus": 4, "jobs_a_day": 30} for n in range(2)]
    asked = request(*many, NOTEBOOK, sample_bytes="800 kB")
    alone = best_design(asked.model_copy(update={"team": None}), catalog()).design.storage_nodes
    result = recommended(asked)
    found = team_answer(EvaluatedDesign(result, catalog()))
    assert result.design.storage_nodes > alone
    capacity = found.read_capacity
    assert capacity.bytes_per_s >= capacity.asked_bytes_per_s == found.run.demand.asked_bytes_per_s
    # A unit of nodes fewer would not do: an F800 chassis holds four.
    fewer = capacity.storage_bytes_per_s * (result.design.storage_nodes - 4) / result.design.storage_nodes
    assert fewer < capacity.asked_bytes_per_s
    assert 0 < capacity.load_fraction <= 1


def test_a_job_takes_as_long_as_its_workload_on_a_cluster_of_its_gpus():
    """Four GPUs are one C4140: the time to train is that of one server with more storage than it can use."""
    asked = request({**TRAINING, "gpus": 4})
    job = team_model(EvaluatedDesign(recommended(asked), catalog())).jobs[0]
    alone = project(asked, catalog(), server="c4140", servers=1, storage="isilon-f800", storage_nodes=40)
    time = alone.workloads[0].time
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


def test_more_servers_start_no_fewer_jobs_in_time():
    """Same luck on every size (common random numbers): only scattered jobs could lower a share, within its error."""
    for small, large in zip(answer().runs, answer().runs[1:], strict=False):
        for before, after in zip(small.kinds, large.kinds, strict=True):
            assert after.share_within >= before.share_within - before.share_error - 1e-9


def test_too_many_jobs_are_refused_with_the_way_out():
    with pytest.raises(RequestError, match="together as one"):
        best_design(request({**NOTEBOOK, "jobs_a_day": 90_000}), catalog())


def test_a_wait_that_no_allowed_cluster_keeps_names_what_it_reaches():
    asked = request({**NOTEBOOK, "jobs_a_day": 200}, limits={"servers": 6})
    with pytest.raises(InfeasibleError, match=r"6 × Dell EMC C4140 .* jobs Notebook"):
        best_design(asked, catalog())


def test_jobs_that_always_run_are_all_placed():
    """2 jobs of 6 GPUs take two C4140 each; 3 of 2 GPUs fill one and a half more: 6 servers of 4."""
    standing = [
        {"name": "Large", "gpus": 6, "always_running": 2, "workload": "ResNet-50"},
        {"name": "Small", "gpus": 2, "always_running": 3},
    ]
    result = recommended(request(*standing))
    found = team_answer(EvaluatedDesign(result, catalog()))
    assert result.design.n_servers == found.n_servers_for_waits == 6
    assert [kind.n_jobs for kind in found.run.kinds] == [2, 3]
    assert found.run.gpus_busy_fraction == pytest.approx(18 / 24)
    assert found.run.gpus_reserved_fraction == pytest.approx(4 / 24)
    with pytest.raises(InfeasibleError, match="no room for all jobs that always run"):
        best_design(request(*standing, limits={"servers": 5}), catalog())


def test_a_job_of_unknown_length_reads_as_in_its_first_epoch():
    asked = request({"name": "Always", "gpus": 4, "always_running": 2, "workload": "ResNet-50"}, epochs=None)
    job = team_model(EvaluatedDesign(recommended(asked), catalog())).jobs[0]
    assert job.duration_s == inf
    assert job.mean_bytes_per_s == job.cold_bytes_per_s > 0


def test_gpus_that_whole_servers_leave_unused_are_told():
    """Jobs of 1 GPU that take a whole C4140: three of four GPUs are held and idle."""
    result = recommended(request({**NOTEBOOK, "whole_servers": True}))
    run = team_answer(EvaluatedDesign(result, catalog())).run
    assert run.gpus_reserved_fraction == pytest.approx(3 * run.gpus_busy_fraction)
    # 12 jobs a day of 3 h on 5 of 7 days, a GPU each; 20,000 exponential durations: 1 %, three of these.
    assert run.gpus_busy_fraction * run.n_gpus == pytest.approx(12 * 3 * 5 / 168, rel=0.03)
