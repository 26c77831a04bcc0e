"""The page Performance: what limits, how it grows, and what happens when inputs change."""

from tests.ui.pages import load, opened, to_page, widget
from tests.ui.questions.test_what_if import assert_well, charts, page_text


def looked_at(name: str):
    """The page of an example, in a new session."""
    app = opened()
    load(app, name)
    to_page(app, "performance")
    assert_well(app)
    return app


def test_each_of_several_workloads_is_shown():
    app = looked_at("c4140-f800")
    which = next(one for one in app.segmented_control if one.label.endswith("on this cluster; show"))
    before = charts(app)
    which.set_value(1).run()
    assert_well(app)
    assert charts(app) != before
    to_page(app, "what-if")
    assert_well(app)
    assert next(one for one in app.segmented_control if one.label.endswith("on this cluster; show")).value == 1


def test_the_most_that_limits_give_is_a_target_with_the_next_step():
    """Three DGX-1 and no more are allowed: they are the answer, and one more is what lies beyond."""
    app = opened()
    draft = app.session_state.draft
    draft["workload"][0]["target"] = {"maximum": "rate"}
    draft["limits"] = {"servers": 3}
    app.run()
    to_page(app, "performance")
    assert_well(app)
    assert "What the limits allow" in [one.value for one in app.header]
    assert "4 × DGX-1" in page_text(app)


def test_choosing_the_maximum_adds_a_limit():
    app = opened()
    widget(app.selectbox, "Target").set_value("maximum").run()
    assert_well(app)
    assert app.session_state.draft["workload"][0]["target"] == {"maximum": "rate"}
    assert app.session_state.draft["limits"]["servers"] >= 1
