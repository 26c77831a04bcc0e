"""The team that shares the cluster: its fields on the page Requirements and its question on the page What-if."""

from copy import deepcopy

import pytest

from sizer.workload.request import SizingRequest
from sizer.workload.team import Team
from tests.ui.pages import asked, figures, opened, run_healthy, unfold, widget

FORTY = "questions/forty-data-scientists"


def with_team():
    """The page Requirements with the team that its button enters."""
    app = unfold(opened(), "team")
    run_healthy(widget(app.button, "Enter a team").click())
    assert not app.error
    return unfold(app, "team")


def team_of(app) -> Team:
    team = SizingRequest.from_dict(app.session_state.draft).team
    assert team is not None
    return team


def test_a_team_is_entered_and_said_to_be_assumed():
    app = unfold(opened(), "team")
    widget(app.button, "Enter a team").click().run()
    assert any("Assumed" in one.value and "data scientists 10" in one.value for one in (*app.info, *app.toast))
    team = team_of(app)
    assert team.data_scientists == 10
    assert [job.kind for job in team.job] == ["training", "notebook"]


def test_people_queue_and_promises_are_written():
    app = with_team()
    widget(app.text_input, "Data scientists").set_value("40").run()
    unfold(app, "team")
    widget(app.text_input, "Maximum queue wait").set_value("30 min").run()
    unfold(app, "team")
    widget(app.selectbox, "Queue order").set_value("backfill").run()
    unfold(app, "team")
    widget(app.selectbox, "Share of jobs within the maximum wait").set_value(0.95).run()
    unfold(app, "team")
    run_healthy(widget(app.selectbox, "Demand percentile").set_value(1.0))
    team = team_of(app)
    assert (team.data_scientists, team.wait_s, team.order) == (40, 1800.0, "backfill")
    assert (team.wait_probability, team.demand_percentile) == (0.95, 1.0)


def test_jobs_are_added_and_removed():
    app = with_team()
    widget(app.button, "Add a job type").click().run()
    assert [job.name for job in team_of(app).job] == ["training", "notebook", "Job 1"]
    unfold(app, "team")
    next(one for one in app.button if one.key == "remove-job-1").click().run()
    assert [job.name for job in team_of(app).job] == ["training", "Job 1"]
    unfold(app, "team")
    widget(app.button, "Undo").click().run()
    assert len(team_of(app).job) == 3
    unfold(app, "team")
    run_healthy(widget(app.button, "Remove team").click())
    assert "team" not in app.session_state.draft


@pytest.mark.parametrize("often", ["jobs_a_day", "always_running"])
def test_a_job_is_counted_otherwise_and_the_request_stays_complete(often):
    app = with_team()
    run_healthy(widget(app.selectbox, "Frequency").set_value(often))
    assert not app.error
    assert getattr(team_of(app).job[0], often) == 1
    unfold(app, "team")
    widget(app.selectbox, "Frequency").set_value("jobs_a_day_each").run()
    assert not app.error
    assert team_of(app).job[0].jobs_a_day_each == 1


def test_a_job_without_workload_gets_a_length():
    app = with_team()
    app.session_state.draft["team"]["job"][0].pop("duration_s", None)
    widget(app.selectbox, "Workload of the job").set_value("").run()
    job = team_of(app).job[0]
    assert job.workload is None
    assert job.duration_s == 8 * 3600


def test_what_may_fail_is_written():
    app = unfold(opened(), "may-fail")
    widget(app.multiselect, "Tolerate the loss of any one").set_value(["storage-node"])
    run_healthy(widget(app.button, "Apply redundancy").click())
    assert SizingRequest.from_dict(app.session_state.draft).resilience.keeps_targets_without == ("storage-node",)


# --- the question of the page What-if


def metric(app, label):
    one = next(one for one in app.metric if one.label == label)
    return one.value, one.delta


def move(app, kind, label, value):
    widget(kind, label).set_value(value).run()
    assert not app.exception, [one.message for one in app.exception]
    assert not app.warning


def test_a_team_of_a_request_without_any_is_tried_and_changes_nothing_until_it_is_applied():
    app = asked("Team")
    before, request = figures(app), deepcopy(app.session_state.draft)
    assert app.info
    assert metric(app, "Servers needed for the waits")[0]
    move(app, app.slider, "Data scientists", 15)
    assert "team" not in app.session_state.draft
    assert (figures(app), app.session_state.draft) == (before, request)
    widget(app.button, "Apply to the request").click().run()
    assert not app.exception
    assert app.session_state.draft["team"]["data_scientists"] == 15
    assert [job["kind"] for job in app.session_state.draft["team"]["job"][1:]] == ["notebook"]
    assert metric(app, "Servers needed for the waits")[0]


def test_more_people_need_more_servers_and_the_values_can_be_taken():
    app = asked("Team", FORTY)
    assert metric(app, "Servers needed for the waits") == ("7", "unchanged")
    move(app, app.slider, "Data scientists", 80)
    needed, under = metric(app, "Servers needed for the waits")
    assert int(needed) > 7
    assert under == "before: 7"
    widget(app.button, "Apply to the request").click().run()
    assert app.session_state.draft["team"]["data_scientists"] == 80
    # The request is sized anew; another server may cost less for so many people.
    needed, under = metric(app, "Servers needed for the waits")
    assert int(needed) > 7
    assert under == "unchanged"


def test_fewer_servers_start_fewer_jobs_in_time_and_reset_brings_them_back():
    app = asked("Team", FORTY)
    before = metric(app, "Start within the target, at least")[0]
    move(app, app.slider, "GPU servers", 5)
    assert metric(app, "Start within the target, at least")[1] == f"before: {before}"
    assert widget(app.button, "Apply to the request").disabled
    widget(app.button, "Reset the sliders").click().run()
    assert metric(app, "Start within the target, at least") == (before, "unchanged")
    assert widget(app.slider, "GPU servers").value == 7


def test_jobs_wait_and_order_are_written_as_a_person_would():
    app = asked("Team", FORTY)
    move(app, app.select_slider, "Jobs per day", 2.0)
    move(app, app.select_slider, "Maximum queue wait", 3600.0)
    move(app, app.segmented_control, "Queue order", "first-come")
    widget(app.button, "Apply to the request").click().run()
    assert not app.exception
    team = app.session_state.draft["team"]
    assert (team["wait_s"], team["order"]) == ("1 h", "first-come")
    assert [job.get("jobs_a_day_each", job.get("jobs_a_day")) for job in team["job"]] == [0.4, 4, 0.6, 1, 60]
