"""The data on the storage: its fields on the page Requirements and its question on the page What-if."""

from copy import deepcopy

from streamlit.testing.v1 import AppTest

from sizer.workload.data import DataRequest
from sizer.workload.request import SizingRequest
from tests.ui.pages import asked, assert_healthy, figures, html_of, opened, said, unfold, widget
from tests.ui.questions.test_what_if import assert_well, page_text

SEND = "Apply data on the storage"


def data_request_of(app: AppTest) -> DataRequest:
    return SizingRequest.from_dict(app.session_state.draft).data


def test_what_is_kept_beside_the_data_is_written():
    app = unfold(opened(), "data")
    widget(app.selectbox, "Ingest path").set_value("head-node")
    widget(app.text_input, "Source rate").set_value("10 Gbit/s")
    widget(app.text_input, "Capacity reserve, share of the data").set_value("0.5")
    widget(app.text_input, "Checkpoint interval").set_value("30 min")
    widget(app.text_input, "Checkpoints retained").set_value("5")
    widget(app.checkbox, "Copy to local drives first").set_value(True)
    widget(app.button, SEND).click().run()
    assert_healthy(app)
    assert not app.error
    data = data_request_of(app)
    assert (data.ingest, data.source_bytes_per_s, data.reserve_share) == ("head-node", 1.25e9, 0.5)
    assert (data.checkpoint_every_s, data.checkpoints_kept, data.copy_to_local) == (1800.0, 5, True)


def test_no_period_of_checkpoints_leaves_nothing_of_them_behind():
    app = unfold(opened(), "data")
    widget(app.text_input, "Checkpoints retained").set_value("5")
    widget(app.button, SEND).click().run()
    assert_healthy(app)
    assert not app.error
    assert data_request_of(app) == DataRequest()


def test_a_size_with_a_wrong_unit_is_said_beside_its_field():
    app = unfold(opened(), "data")
    widget(app.text_input, "Raw sample size").set_value("3 h")
    widget(app.button, SEND).click().run()
    text = said(app)
    assert "3 h" in text
    assert "raw_sample_bytes" not in text


def test_data_of_a_silent_request_are_tried_and_change_nothing_until_they_are_applied():
    app = asked("Data and ingest", "dgx1-f800-resnet50")
    assert "Required capacity" in page_text(app)
    before, request = figures(app), deepcopy(app.session_state.draft)
    assert "Snapshots" not in page_text(app)
    widget(app.toggle, "Try assumed snapshots, reserve and checkpoints").set_value(True).run()
    assert_well(app)
    assert "Snapshots" in page_text(app)
    assert (figures(app), app.session_state.draft) == (before, request)
    assert data_request_of(app) == DataRequest()
    widget(app.button, "Apply to the request").click().run()
    assert_well(app)
    data = data_request_of(app)
    assert (data.snapshot_share, data.reserve_share, data.checkpoints_kept) == (0.2, 0.5, 10)
    assert any("Assumed" in one.value for one in (*app.info, *app.toast))
    assert "Snapshots" in page_text(app)


def test_hostile_names_stay_text():
    app = asked("Data and ingest", "questions/copy-to-local-drives")
    app.session_state.draft["workload"][0]["name"] = "<script>alert(1)</script>"
    app.session_state.generation += 1
    app.run()
    assert_well(app)
    assert all("<script>" not in one for one in html_of(app))


def test_two_tiers_and_daily_streams_are_typed():
    app = unfold(opened(), "data")
    widget(app.text_input, "Working set").set_value("400 TB")
    widget(app.selectbox, "Capacity tier").set_value("isilon-h5600")
    widget(app.text_input, "New data a day").set_value("20 TB")
    widget(app.text_input, "Daily window").set_value("8 h")
    widget(app.multiselect, "Never at the same time").set_value(["ingest", "training"])
    widget(app.button, SEND).click().run()
    assert_healthy(app)
    found = data_request_of(app)
    assert (found.working_set_bytes, found.capacity_tier) == (400e12, "isilon-h5600")
    assert (found.daily_ingest_bytes, found.daily_window_s) == (20e12, 8 * 3600)
    assert found.never_together == ("ingest", "training")
