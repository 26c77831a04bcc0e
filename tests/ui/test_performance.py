"""The page Performance: what limits, how it grows, and what happens when inputs change."""

import pytest

from tests.factories.examples import EXAMPLES, catalog, sized
from tests.ui.pages import opened, to_page, widget
from tests.ui.questions.test_what_if import assert_well, charts, load, page_text


def looked_at(name: str):
    """The page of an example, in a new session."""
    app = opened()
    load(app, name)
    to_page(app, "performance")
    assert_well(app)
    return app


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_shows_its_charts(name):
    app, answer = looked_at(name), sized(name).design.workloads[0]
    heads = [one.value for one in app.header]
    for wanted in ("Bottleneck", "Scaling", "Effect of other inputs", "Published measurements of similar systems"):
        assert wanted in heads
    found = charts(app)
    assert all(found)
    noun = answer.dnn.sample.capitalize()
    # Tokens have one size, and the layouts of a language model are judged by the rates measured on its GPUs.
    varies = answer.language is None
    assert varies == any(text.startswith(f"{noun}s of ") for text in found)
    assert varies == any(text.startswith("GPUs 4\u202f× as fast") for text in found)
    has_cache = answer.cache_hit_fraction >= 0.01
    assert has_cache == any(text.startswith("Cold caches") for text in found)
    assert has_cache != ("colder caches would change nothing" in page_text(app))
    has_length = answer.time is not None
    assert has_length == any(head.startswith("Time to") for head in heads)


def test_time_is_shown_for_a_rate_target_with_a_length():
    app = opened()
    app.session_state.draft["workload"][0]["epochs"] = 90
    app.run()
    to_page(app, "performance")
    assert_well(app)
    assert "Time to train" in [one.value for one in app.header]
    assert any("train in" in text for text in charts(app))


def test_a_recipe_gives_the_time_to_accuracy():
    app = opened()
    recipes = [key for key, one in catalog().recipes.items() if one.dnn == "resnet50"]
    app.session_state.draft["workload"][0]["recipe"] = recipes[0]
    app.run()
    to_page(app, "performance")
    assert_well(app)
    assert "Time to accuracy" in [one.value for one in app.header]


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


def test_a_customer_sees_the_same_performance():
    app = opened()
    mine = charts(to_page(app, "performance"))
    app.session_state.customer_mode = True
    app.run()
    assert_well(app)
    assert charts(app)[:3] == mine[:3]


def test_the_most_that_limits_give_is_a_target_with_its_front():
    """Three DGX-1 and no more are allowed: they are the answer, and one more is what lies beyond."""
    app = opened()
    draft = app.session_state.draft
    draft["workload"][0]["target"] = {"maximum": "rate"}
    draft["limits"] = {"servers": 3}
    app.run()
    to_page(app, "performance")
    assert_well(app)
    assert "What the limits allow" in [one.value for one in app.header]
    assert any(text.startswith("3 servers gives") for text in charts(app))
    assert "4 × DGX-1" in page_text(app)


def test_choosing_the_maximum_adds_a_limit():
    app = opened()
    widget(app.selectbox, "Target").set_value("maximum").run()
    assert_well(app)
    assert app.session_state.draft["workload"][0]["target"] == {"maximum": "rate"}
    assert app.session_state.draft["limits"]["servers"] >= 1
