"""Another team on the same design: what a change writes, and what it must not touch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest, size
from sizer.base.resources import data_dir
from sizer.questions.team.analysis import TeamChange, changed_answer, changed_team, team_answer
from sizer.questions.team.text import change_figures
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.team import Team
from tests.factories.answers import recommended
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


def test_no_change_is_the_same_team():
    assert changed_team(TEAM, TeamChange()) == TEAM


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
