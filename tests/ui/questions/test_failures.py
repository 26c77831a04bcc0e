"""The question What if it fails? of the page What-if."""

from streamlit.testing.v1 import AppTest

from tests.ui.pages import asked, to_page, widget
from tests.ui.questions.test_what_if import assert_well, figure


def fails(app: AppTest, key: str) -> AppTest:
    widget(app.selectbox, "Failed part").set_value(key).run()
    assert_well(app)
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
    widget(app.button, "Tolerate the loss of one server").click().run()
    assert_well(app)
    assert app.session_state.draft["resilience"] == {"keeps_targets_without": ["server"]}
    assert figure(app, "Target")[0] == "met"
    assert widget(app.button, "Tolerate the loss of one server").disabled
    app = fails(app, "power-feed")
    widget(app.button, "Tolerate the loss of one power feed").click().run()
    assert app.session_state.draft["resilience"] == {"keeps_targets_without": ["server", "feed"]}
    widget(app.button, "Without redundancy").click().run()
    assert_well(app)
    assert "resilience" not in app.session_state.draft


def test_the_share_of_jobs_within_the_wait_is_shown() -> None:
    app = asked("Failures", "questions/forty-data-scientists")
    share, under = figure(app, "Jobs that start within their wait")
    assert plain(share) == "89 %"  # of six servers; see the table of sizes of the team
    assert plain(under).startswith("90 %")


def test_the_checkpoints_of_a_language_model() -> None:
    """Worse hardware, a longer repair and a fixed interval change the goodput, and an impossible interval says why."""
    app = asked("Failures", "llama-70b-dgx-h100")
    best = plain(figure(app, "Goodput")[0])
    # The storage writes and reads faster than what the design is sized for: 98.6 % in the guide.
    assert best == "98.9 %"
    # 105 servers are three units of 32: the storage is sized for what NVIDIA calls good.
    assert figure(app, "Storage level")[0] == "good"
    slider = widget(app.select_slider, "Interruptions per 1,000 server-days")
    slider.set_value(16.0).run()
    assert_well(app)
    assert float(plain(figure(app, "Goodput")[0]).split()[0]) < 99
    widget(app.select_slider, "Checkpoint interval").set_value(8 * 3600.0).run()
    assert_well(app)
    assert plain(figure(app, "A checkpoint every")[0]) == "8.00 h"
    # Writing at an eighth of the rate and no spare server leave less.
    before = float(plain(figure(app, "Goodput")[0]).split()[0])
    slower = widget(app.select_slider, "Write rate of the storage")
    slower.set_value(slower.value / 8).run()
    widget(app.select_slider, "Spare servers").set_value(0).run()
    assert_well(app)
    assert float(plain(figure(app, "Goodput")[0]).split()[0]) < before
    # The request is as it was: these are questions.
    assert "data" not in app.session_state.draft


def test_other_networks_have_no_such_part() -> None:
    app = asked("Failures", "dgx1-f800-resnet50")
    assert not [one for one in app.select_slider if one.label == "Checkpoint interval"]
