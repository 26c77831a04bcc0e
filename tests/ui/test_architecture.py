"""Page Architecture: neighbours, pins, comparison, the front and why-popovers, and what a customer may see."""

import json
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from sizer.explain.figure import GPUS, POWER, explanation
from sizer.questions.compare.designs import MOST
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.size import size
from sizer.ui.designs import compare
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized
from tests.ui.pages import assert_healthy, figures, html_of, opened, run_healthy, said, to_page, unfold, widget

RESNET = "dgx1-f800-resnet50"


def button(app: AppTest, key: str):
    """Button by its key."""
    return next(one for one in app.button if one.key == key)


def keys(app: AppTest) -> list[str]:
    return [one.key for one in app.button if one.key]


def written(app: AppTest) -> str:
    """All text of the page, tables included."""
    html = [one.proto.body for one in app.get("html")]
    shown = [one.value for one in (*app.markdown, *app.caption, *app.warning, *app.error, *app.info)]
    return " ".join((*html, *shown)).replace("\\", "")


def request_json(name: str, **changes: object) -> str:
    return sized(name).request.model_copy(update=changes).model_dump_json()


def alternatives() -> AppTest:
    """The page Architecture on the tab of the alternatives."""
    app = opened("architecture")
    app.session_state["architecture-tabs"] = "Alternatives"
    return app.run()


def pinned(app: AppTest, *names: str) -> AppTest:
    """The page with some examples pinned."""
    app.session_state.pins = [{"name": name, "request_json": request_json(name)} for name in names]
    return app.run()


def test_other_vendors_are_sized_when_asked_for():
    app = alternatives()
    assert "Other server vendor" not in written(app)
    run_healthy(button(app, "other-vendors").click())
    text = written(app)
    assert "Other server vendor" in text
    assert "Other storage vendor" in text
    assert "Only Dell EMC C4140" in text
    assert "other-vendors" not in keys(app)


def test_other_sizes_are_drawn_in_a_fold():
    app = alternatives()
    assert not [key for key in keys(app) if key.endswith(("-smaller", "-faster"))]
    unfold(app, "front")
    assert {key.rpartition("-")[2] for key in keys(app) if key.startswith("take-")} >= {"smaller", "faster"}


def test_describing_a_neighbour_leads_to_it_and_undo_comes_back():
    app = unfold(alternatives(), "front")
    before = figures(app)
    (key,) = [one for one in keys(app) if one.startswith("take-") and one.endswith("-faster")]
    run_healthy(button(app, key).click())
    assert dict(figures(app))["GPUs"] == "80"
    assert not app.error
    widget(app.button, "Undo").click().run()
    assert figures(app) == before


def test_pins_survive_page_switches_and_stand_side_by_side():
    app = unfold(alternatives(), "front")
    button(app, "pin-described").click().run()
    (key,) = [one for one in keys(app) if one.startswith("pin-") and one.endswith("-faster")]
    button(app, key).click().run()
    to_page(app, "performance")
    to_page(app, "compare")
    assert [pin["name"] for pin in app.session_state.pins] == [
        f"{count} × NVIDIA DGX-1 + 4 × Dell EMC Isilon F800 nodes (8 × Tesla V100 SXM2 16 GB each)" for count in (9, 10)
    ]
    text = written(app)
    assert "80 (+8)" in text
    assert "(within the interval)" in text
    button(app, "unpin-0").click().run()
    assert len(app.session_state.pins) == 1


def test_the_baseline_is_chosen_and_survives_page_switches():
    app = pinned(opened("compare"), RESNET, "dgx1-f800-inception-v4")
    assert "8 (+4)" in written(app)
    widget(app.selectbox, "Baseline of the comparison").set_value("dgx1-f800-inception-v4").run()
    assert "4 (−4)" in written(app)
    to_page(app, "bill")
    assert_healthy(to_page(app, "compare"))
    assert "4 (−4)" in written(app)


def test_a_pinned_design_can_be_described_again():
    app = pinned(opened("compare"), RESNET, "dgx1-f800-inception-v4")
    run_healthy(button(app, "take-pin-1").click())
    assert dict(figures(app))["Usable capacity"] == "168\u202fTB"
    assert "take-pin-0" in keys(app)
    assert "take-pin-1" not in keys(app)


def test_a_fifth_pin_is_refused_in_a_sentence():
    names = (RESNET, "dgx1-f800-inception-v4", "apollo-weka-resnet50", "c4140-f800")
    app = opened("compare")
    app.session_state.pins = [
        {"name": name, "request_json": request_json(name, title="another title")} for name in names
    ]
    app.run()
    run_healthy(button(app, "pin-present").click())
    assert len(app.session_state.pins) == MOST == 4
    assert any("unpin one first" in one.value.replace("\\", "") for one in app.toast)


def test_a_second_pin_of_one_name_gets_a_number():
    app = opened("compare")
    name = compare.pin_name(sized(RESNET).design)
    app.session_state.pins = [{"name": name, "request_json": request_json(RESNET, title="another title")}]
    app.run()
    button(app, "pin-present").click().run()
    assert [pin["name"] for pin in app.session_state.pins] == [name, f"{name} (2)"]
    assert "48" in written(app)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"platforms": {"servers": ["dgx-9"]}}, "dgx-9"),
        ({"limits": {"racks": 1}}, "no design meets the request"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_pinned_design_without_an_answer_is_named_and_the_others_stay(change, words):
    broken = json.dumps({**json.loads(request_json(RESNET)), **change})
    app = opened("compare")
    app.session_state.pins = [
        {"name": "old *design*", "request_json": broken},
        {"name": "a", "request_json": request_json(RESNET)},
        {"name": "b", "request_json": request_json("small-team")},
    ]
    app.run()
    assert_healthy(app)
    (warning,) = [one.value.replace("\\", "") for one in app.warning]
    assert warning.startswith("old *design* has no result with the present catalogue:")
    assert words.lower() in warning.lower()
    assert "a, baseline" in written(app)


def test_customer_mode_hides_prices_of_neighbours_and_terms_of_pins():
    app = alternatives()
    quote = sized(RESNET).request.quote.model_copy(update={"discount_percent": Decimal(10)})
    app.session_state.pins = [
        {"name": "a", "request_json": request_json(RESNET, quote=quote)},
        {"name": "b", "request_json": request_json("dgx1-f800-inception-v4", quote=quote)},
    ]
    app.session_state.customer_mode = True
    unfold(app, "front")
    run_healthy(button(app, "other-vendors").click())
    text = written(app)
    assert "expected to cost" not in text
    assert "settle" not in text
    assert "Net price" not in text
    assert "discount" not in text.lower()
    cards = [
        one.proto.body
        for one in app.get("html")
        if 'aria-label="Smaller' in one.proto.body or 'aria-label="Faster' in one.proto.body
    ]
    assert cards
    assert not any("USD" in card or "rice" in card for card in cards)
    compared = written(to_page(app, "compare"))
    assert "Figures of the designs" in compared
    assert "USD" not in compared
    assert ">Price" not in compared


def test_describing_a_neighbour_in_customer_mode_keeps_the_terms_of_the_quote():
    app = alternatives()
    app.session_state.draft = {**app.session_state.draft, "quote": {"discount_percent": "10"}}
    app.session_state.customer_mode = True
    unfold(app, "front")
    (key,) = [one for one in keys(app) if one.startswith("take-") and one.endswith("-faster")]
    run_healthy(button(app, key).click())
    assert app.session_state.draft["quote"]["discount_percent"] == "10"


@pytest.mark.parametrize("key", [GPUS, POWER])
def test_a_number_of_the_headline_opens_to_its_explanation(key):
    app = opened("architecture")
    app.session_state["more"] = True
    app.run()
    expected = explanation(EvaluatedDesign(sized(RESNET), catalog()), key)
    assert expected.formula not in written(app)
    app.session_state[f"why-headline-{key}"] = True
    app.run()
    assert_healthy(app)
    text = written(app)
    assert expected.formula in text
    for row in expected.inputs.rows:
        assert row.cells[0].text in text


def test_closed_tabs_are_left_out_until_they_are_opened():
    app = opened("architecture")
    assert "The racks" not in written(app)
    assert "All cables" not in written(app)
    assert 'aria-label="Recommended' not in written(app)
    for tab, wanted in (
        ("Network", "All cables"),
        ("Racks", "The racks"),
        ("Power and cooling", "Power, cooling and weight"),
    ):
        app.session_state["architecture-tabs"] = tab
        app.run()
        assert_healthy(app)
        assert wanted in written(app)
        assert 'aria-label="Smaller' not in written(app)


def test_a_typed_price_settles_a_quote_and_a_bad_one_is_refused():
    app = alternatives()
    app.session_state.draft["platforms"] = {"servers": ["dgx-1", "dss-8440"]}
    unfold(app, "platforms")
    fields = [one for one in app.text_input if one.label.startswith("Price of one")]
    assert fields
    fields[0].set_value("cheap").run()
    assert "cheap is not a price" in written(app)
    field = next(one for one in app.text_input if one.label == fields[0].label)
    field.set_value("1").run()
    assert_healthy(app)
    (item,) = [row.split(",")[0] for row in app.session_state.price_book.splitlines()[1:]]
    assert f",{1},USD," in app.session_state.price_book
    assert field.key == f"quote-{item}"
    assert field.label not in [one.label for one in app.text_input]
    unfold(app, "share")
    assert "The link does not include the prices entered in the app." in " ".join(html_of(app))


def test_two_workloads_can_be_looked_at_one_by_one():
    first, second = sized(RESNET).request, sized("dgx1-f800-inception-v4").request
    both = first.model_copy(update={"workload": (*first.workload, *second.workload)})
    assert len(size(SizingRequest.model_validate(both.model_dump()), catalog()).design.workloads) == 2
    app = alternatives()
    app.session_state.draft = json.loads(both.model_dump_json(exclude_none=True, exclude_defaults=True))
    app.run()
    assert_healthy(app)
    assert not app.error, said(app)
    assert "Rate, Inception-v4 training" in written(app)
