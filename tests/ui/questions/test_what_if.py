"""The page What-if: every control, and what it writes into the request."""

import html
import re

import pytest
from streamlit.testing.v1 import AppTest

from sizer.base.quantities import BYTES, SAMPLES_PER_S, parse
from tests.ui.pages import assert_well, load, opened, run_well, to_page, unfold, widget

SERVING = ("code-8b-l40s", "office-chat-70b-h200")


def looked_at(name: str = "dgx1-f800-resnet50") -> AppTest:
    """The page of an example, in a new session."""
    app = opened()
    if name != "dgx1-f800-resnet50":
        load(app, name)
    app = to_page(app, "what-if")
    assert_well(app)
    return app


def choose(app: AppTest, position: str, key: str) -> AppTest:
    run_well(widget(app.selectbox, f"{position} input").set_value(key))
    return app


def move(app: AppTest, label: str, steps: int) -> AppTest:
    slider = widget(app.select_slider, label)
    slider.set_value(slider.value + steps).run()
    assert_well(app)
    return app


def figure(app: AppTest, label: str) -> tuple[str, str]:
    one = next(one for one in app.metric if one.label == label)
    return one.value, one.delta


def page_text(app: AppTest) -> str:
    """Everything in tables and notes, without markup."""
    bodies = [one.proto.body for one in app.get("html")]
    said = [one.value for kind in (app.warning, app.info, app.caption) for one in kind]
    return html.unescape(re.sub(r"<[^>]*>", " ", " ".join((*bodies, *said)))).replace("\\", "")


def charts(app: AppTest) -> list[str]:
    return [one.proto.alt for one in app.get("vega_lite_chart")]


def test_every_input_can_be_chosen_and_moved():
    app = looked_at()
    before = [(one.label, one.value) for one in app.metric]
    names = {name for position in ("First", "Second") for name in widget(app.selectbox, f"{position} input").options}
    assert len(names) >= 7
    for name in sorted(names):
        offered = widget(app.selectbox, "First input").options
        choose(app, "First" if name in offered else "Second", name)
        slider = widget(app.select_slider, name)
        move(app, name, -1 if slider.value else 1)
        assert not widget(app.button, "Reset the sliders").disabled
        run_well(widget(app.button, "Reset the sliders").click())
        assert widget(app.button, "Reset the sliders").disabled
        assert [(one.label, one.value) for one in app.metric] == before


def test_larger_images_lower_the_rate_and_storage_limits():
    app = looked_at()
    move(app, "Image size", 12)
    value, under = figure(app, "Bottleneck")
    assert value == "Storage"
    assert under == "instead of GPU compute"
    assert figure(app, "Training rate")[1].startswith("\u2212")
    assert figure(app, "Target")[0].startswith("missed")
    assert "with image size at 904\u202fkB" in page_text(unfold(app, "break-evens"))


def test_sliders_stand_where_they_were_after_another_page():
    app = looked_at()
    move(app, "Image size", 4)
    before = [(one.label, one.value) for one in app.metric]
    to_page(app, "bill")
    to_page(app, "what-if")
    assert_well(app)
    assert [(one.label, one.value) for one in app.metric] == before


def test_the_values_taken_are_in_the_request():
    app = looked_at()
    assert widget(app.button, "Apply to the request").disabled
    move(choose(app, "Second", "Target rate"), "Target rate", -4)  # half of it: four steps a doubling
    move(app, "Image size", 4)
    assert "image size 226\u202fkB and target rate 26\u202f000 images/s" in page_text(app).replace(
        "26\u202f000\u202fimages", "26\u202f000 images"
    )
    run_well(widget(app.button, "Apply to the request").click())
    work = app.session_state.draft["workload"][0]
    assert parse(SAMPLES_PER_S, work["target"]["samples_per_s"]) == pytest.approx(52_000 / 2, rel=2e-3)
    assert parse(BYTES, work["sample_bytes"]) == pytest.approx(226e3, rel=1e-6)
    # As many samples as before: a data set of twice the size.
    assert parse(BYTES, work["dataset_bytes"]) == pytest.approx(22.2e12 * 2, rel=1e-6)
    # The sliders stand on the new request.
    assert widget(app.button, "Apply to the request").disabled


def test_a_number_of_servers_does_not_replace_what_the_customer_asked_for():
    app = looked_at()
    before = app.session_state.draft["workload"][0]["target"]
    assert "samples_per_s" in before
    move(app, "GPU servers", 1)
    assert "not applied: GPU servers 10" in page_text(app).replace("\u00a0", " ")
    assert widget(app.button, "Apply to the request").disabled
    move(app, "Image size", 1)
    run_well(widget(app.button, "Apply to the request").click())
    assert app.session_state.draft["workload"][0]["target"] == before


def test_servers_are_taken_where_the_target_is_a_number_of_gpus_and_nodes_are_not():
    app = looked_at()
    app.session_state.draft["workload"][0]["target"] = {"gpus_busy": 72}
    app.run()
    choose(app, "First", "Storage nodes")
    move(app, "Storage nodes", 1)
    assert widget(app.button, "Apply to the request").disabled
    assert "not applied: storage nodes 8" in page_text(app).replace("\u00a0", " ")
    move(app, "GPU servers", 1)
    assert "target of 80 GPUs at full utilization" in page_text(app).replace("\u00a0", " ")
    run_well(widget(app.button, "Apply to the request").click())
    assert app.session_state.draft["workload"][0]["target"] == {"gpus_busy": 80}


def test_a_served_model_is_resized_for_another_load():
    """Eight times the users of one L40S server take more of it; the request changes when the values are applied."""
    app = looked_at(SERVING[0])
    before = dict(app.session_state.draft["workload"][0]["target"])
    (kind, number) = next(iter(before.items()))
    slider = next(one for one in app.select_slider if one.key.endswith(f"/{kind}"))
    slider.set_value(8.0).run()
    assert_well(app)
    assert app.session_state.draft["workload"][0]["target"] == before
    servers = re.search(r"Servers\s+(\d+)\s+(\d+)", page_text(app))
    assert servers is not None
    assert int(servers[2]) > int(servers[1])
    for moved in ("first_token_s", "input_tokens"):
        run_well(next(one for one in app.select_slider if one.key.endswith(f"/{moved}")).set_value(0.75))
    run_well(widget(app.button, "Apply to the request").click())
    work = app.session_state.draft["workload"][0]
    assert work["target"] == {kind: 8 * number}
    assert {"first_token_s", "input_tokens"} <= set(work)


def test_the_workload_is_chosen_where_there_are_several():
    app = looked_at("c4140-f800")
    which = next(one for one in app.segmented_control if one.label.endswith("on this cluster; show"))
    before = figure(app, "Training rate")
    which.set_value(2).run()
    assert_well(app)
    assert figure(app, "Training rate") != before
    move(choose(app, "Second", "Target rate"), "Target rate", 2)
    run_well(widget(app.button, "Apply to the request").click())
    works = app.session_state.draft["workload"]
    assert parse(SAMPLES_PER_S, works[2]["target"]["samples_per_s"]) == pytest.approx(6000 * 2**0.5, rel=5e-3)
    assert works[0]["target"] == {"gpus_busy": 4}


def test_a_request_that_is_not_understood_is_not_written_into():
    app = looked_at()
    move(app, "Image size", 2)
    app.session_state.draft["workload"][0]["sample_bytes"] = "113 apples"
    app.run()
    assert not app.exception
    assert widget(app.button, "Apply to the request").disabled


def test_a_customer_sees_no_cost():
    app = opened()
    app.session_state.customer_mode = True
    app.run()
    to_page(app, "what-if")
    assert_well(app)
    unfold(app, "break-evens")
    assert_well(app)
    labels = [one.label for one in app.metric]
    assert "discount" not in page_text(app).lower()
    assert not [label for label in labels if "price" in label.lower() or "cost" in label.lower()]
