"""Questions on failures and data."""

from streamlit.testing.v1 import AppTest

from sizer.workload.data import DataRequest
from sizer.workload.request import SizingRequest
from tests.ui.pages import asked, assert_well, opened, run_healthy, run_well, to_page, unfold, widget
from tests.ui.questions.test_what_if import figure


def fails(app: AppTest, key: str) -> AppTest:
    run_well(widget(app.selectbox, "Failed part").set_value(key))
    return app


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_each_loss_shows_before_and_after() -> None:
    app = asked("Failures", "questions/one-server-may-fail")
    assert plain(figure(app, "Throughput")[1]).startswith("90 % of 58")
    assert figure(app, "Target")[0] == "met"
    app = fails(app, "leaf")
    # Its ports go to different leaves, so every server keeps at least two of four links, and the rate stays.
    assert figure(app, "Target")[0] == "met"
    assert plain(figure(app, "Longest outage in a run")[0]) == "any time"
    assert {one.label for one in app.expander} >= {
        "Single failures and what each costs",
        "Maintenance during operation",
    }
    # Left and opened again, the page is as it was.
    app = to_page(to_page(app, "bill"), "what-if")
    assert widget(app.selectbox, "Failed part").value == "leaf"


def test_a_button_asks_for_a_reserve_and_one_takes_it_back() -> None:
    app = asked("Failures", "questions/one-server-may-fail", resilience={})
    assert figure(app, "Target")[0] == "missed"
    run_well(widget(app.button, "Tolerate the loss of one server").click())
    assert app.session_state.draft["resilience"] == {"keeps_targets_without": ["server"]}
    assert figure(app, "Target")[0] == "met"
    assert widget(app.button, "Tolerate the loss of one server").disabled
    app = fails(app, "power-feed")
    widget(app.button, "Tolerate the loss of one power feed").click().run()
    assert app.session_state.draft["resilience"] == {"keeps_targets_without": ["server", "feed"]}
    run_well(widget(app.button, "Without redundancy").click())
    assert "resilience" not in app.session_state.draft


def test_the_share_of_jobs_within_the_wait_is_shown() -> None:
    app = asked("Failures", "questions/forty-data-scientists")
    share, under = figure(app, "Jobs that start within their wait")
    assert plain(share) == "89 %"  # of six servers; see the table of sizes of the team
    assert plain(under).startswith("90 %")


def test_the_checkpoints_of_a_language_model() -> None:
    """Worse hardware and a fixed interval, both stated in the request, leave less."""
    app = asked("Failures", "llama-70b-dgx-h100")
    # The storage writes and reads faster than what the design is sized for: 98.6 % in the guide.
    assert plain(figure(app, "Goodput")[0]) == "98.9 %"
    # Sized for the capacity that is usual for 840 GPUs it writes and reads faster than what NVIDIA calls good.
    assert figure(app, "Storage level")[0] == "better"
    app.session_state.draft |= {"resilience": {"interruptions": 16}, "data": {"checkpoint_every_s": "8 h"}}
    app.run()
    assert_well(app)
    assert float(plain(figure(app, "Goodput")[0]).split()[0]) < 98
    assert plain(figure(app, "A checkpoint every")[0]) == "8.00 h"


def test_other_networks_have_no_such_part() -> None:
    app = asked("Failures", "dgx1-f800-resnet50")
    assert not [one for one in app.metric if one.label == "Goodput"]


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
    run_healthy(widget(app.button, SEND).click())
    assert not app.error
    data = data_request_of(app)
    assert (data.ingest, data.source_bytes_per_s, data.reserve_share) == ("head-node", 1.25e9, 0.5)
    assert (data.checkpoint_every_s, data.checkpoints_kept, data.copy_to_local) == (1800.0, 5, True)


def test_no_period_of_checkpoints_leaves_nothing_of_them_behind():
    app = unfold(opened(), "data")
    widget(app.text_input, "Checkpoints retained").set_value("5")
    run_healthy(widget(app.button, SEND).click())
    assert not app.error
    assert data_request_of(app) == DataRequest()


def test_two_tiers_and_daily_streams_are_typed():
    app = unfold(opened(), "data")
    widget(app.text_input, "Working set").set_value("400 TB")
    widget(app.selectbox, "Capacity tier").set_value("isilon-h5600")
    widget(app.text_input, "New data a day").set_value("20 TB")
    widget(app.text_input, "Daily window").set_value("8 h")
    widget(app.multiselect, "Never at the same time").set_value(["ingest", "training"])
    run_healthy(widget(app.button, SEND).click())
    found = data_request_of(app)
    assert (found.working_set_bytes, found.capacity_tier) == (400e12, "isilon-h5600")
    assert (found.daily_ingest_bytes, found.daily_window_s) == (20e12, 8 * 3600)
    assert found.never_together == ("ingest", "training")
