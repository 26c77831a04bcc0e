"""The page Requirements and the tools above every page: sentence, workloads, surroundings, undo, links, reload."""

import json
import zlib
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.sizing.size import size
from sizer.ui import sharing, state
from sizer.ui.request_form import forms
from sizer.workload.request import MAX_REQUEST_BYTES, Limits, Site, SizingRequest
from tests.factories.examples import catalog
from tests.ui.pages import assert_healthy, figures, opened, run_healthy, said, unfold, widget

SCRIPT = "<script>alert(1)</script>"
OVERNIGHT = {
    "title": "Overnight",
    "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
    "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
}


def gpus(app) -> int:
    """GPUs of the headline."""
    return int(dict(figures(app))["GPUs"])


# --- several workloads


def test_a_second_workload_is_added_changed_and_removed():
    app = opened()
    before = gpus(app)
    run_healthy(widget(app.button, "Add a workload").click())
    assert len(app.session_state.draft["workload"]) == 2
    run_healthy(widget(app.text_input, "Minimum rate").set_value("60000 images/s"))
    assert gpus(app) > before
    assert len([label for label, _ in figures(app) if "rate" in label]) == 2
    widget(app.button, "Remove this workload").click().run()
    assert gpus(app) == before


# --- what is there already, fabric and room


def test_equipment_at_hand_is_used_and_not_bought():
    app = unfold(opened(), "existing")
    servers = widget(app.multiselect, "Existing servers")
    servers.set_value(["dgx-1"]).run()
    unfold(app, "existing")
    run_healthy(widget(app.text_input, "Quantity: DGX-1").set_value("4"))
    assert app.session_state.draft["existing"] == {"servers": {"dgx-1": 4}}
    result = size(SizingRequest.from_dict(app.session_state.draft), catalog())
    bought = {line.item: line.quantity for line in result.design.bill.lines if line.status == "computed"}
    assert bought["dgx-1"] == result.design.n_servers - 4


def test_a_rack_with_room_is_added_filled_and_removed():
    app = unfold(opened(), "existing")
    widget(app.button, "Add a rack with free space").click().run()
    assert_healthy(unfold(app, "existing"))
    widget(app.text_input, "Free power per feed").set_value("12 kW").run()
    assert app.session_state.draft["existing"]["racks"][0]["power_w"] == "12 kW"
    unfold(app, "existing")
    widget(app.text_input, "Free power per feed").set_value("12 kg").run()
    assert "12 kg" in said(app)
    unfold(app, "existing")
    widget(app.button, "Remove this rack").click().run()
    assert "existing" not in app.session_state.draft
    assert not app.error


def test_stated_values_of_a_storage_system_are_added_used_and_removed():
    app = unfold(opened(), "stated-storage")
    widget(app.button, "State values of a storage system").click().run()
    assert "node_read_bytes_per_s" in said(app) or "read rate" in said(app).lower()  # one of the two is missing
    unfold(app, "stated-storage")
    widget(app.selectbox, "Storage system").set_value("isilon-f800").run()
    unfold(app, "stated-storage")
    run_healthy(widget(app.text_input, "Stated read rate").set_value("1.2 GB/s"))
    assert not app.error
    stated = {"storage": "isilon-f800", "node_read_bytes_per_s": "1.2 GB/s"}
    assert app.session_state.draft["stated_storage"] == [stated]
    result = size(SizingRequest.from_dict(app.session_state.draft), catalog())
    assert result.design.platform.storage.node_read_low_bytes_per_s.value == 1.2e9
    unfold(app, "stated-storage")
    widget(app.button, "Remove these values").click().run()
    assert "stated_storage" not in app.session_state.draft


def test_embedding_parameters_of_an_own_network_are_typed():
    app = opened()
    widget(app.selectbox, "Neural network").set_value("own numbers").run()
    run_healthy(widget(app.text_input, "Embedding parameters").set_value("1e6"))
    assert app.session_state.draft["workload"][0]["dnn"]["embedding_parameters"] == 1e6


def test_fabric_and_room_are_applied_together():
    app = unfold(opened(), "fabric-and-room")
    widget(app.text_input, "Servers to add later").set_value("3")
    widget(app.checkbox, "Separate network for each rail").check()
    widget(app.text_input, "PUE of the room").set_value("1.4")
    run_healthy(next(one for one in app.button if one.key and "fabric-and-room" in one.key).click())
    assert app.session_state.draft["fabric"] == {"spare_servers": 3, "rails_apart": True}
    assert app.session_state.draft["site"]["pue_ratio"] == 1.4


def test_a_budget_is_typed_as_people_write_it_and_two_readings_are_refused():
    app = unfold(opened(), "not-exceeded")
    widget(app.text_input, "Budget").set_value("1.5M")
    widget(app.button, "Apply limits").click().run()
    assert app.session_state.draft["limits"] == {"budget": 1_500_000.0}
    unfold(app, "not-exceeded")
    assert widget(app.text_input, "Budget").value == "1,500,000"
    widget(app.text_input, "Budget").set_value("500.000")
    widget(app.button, "Apply limits").click().run()
    assert "write 500000 or 500.0" in said(app)
    assert "Showing the previous result" in said(app)


def test_every_limit_and_every_choice_of_the_room_has_a_field():
    """What no field shows cannot be lifted where it rules every design out."""
    drawn = {
        ".".join(field.keys) for columns in (forms.LIMITS, forms.FABRIC_AND_ROOM) for one in columns for field in one
    }
    assert {f"limits.{name}" for name in Limits.model_fields} <= drawn
    assert {f"site.{name}" for name in Site.model_fields} <= drawn


def test_a_request_that_no_design_meets_is_led_on_by_buttons():
    app = unfold(opened(), "not-exceeded")
    widget(app.text_input, "Budget").set_value("600,000")
    widget(app.button, "Apply limits").click().run()
    for label, left in (("Most within the limits", {"budget": 600_000.0}), ("Without: Budget", None)):
        assert "Excluded by: budget" in said(app)
        run_healthy(widget(app.button, label).click())
        assert not app.error
        assert app.session_state.draft.get("limits") == left
        widget(app.button, "Undo").click().run()


# --- undo


def test_changes_are_undone_and_redone():
    app = opened()
    before = figures(app)
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    widget(app.selectbox, "Neural network").set_value("vgg16").run()
    changed = figures(app)
    widget(app.button, "Undo").click().run()
    assert widget(app.selectbox, "Neural network").value == "resnet50"
    widget(app.button, "Redo").click().run()
    assert figures(app) == changed
    widget(app.button, "Undo").click().run()
    widget(app.button, "Undo").click().run()
    assert figures(app) == before


# --- links


def test_a_shared_link_opens_the_same_design():
    app = opened()
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    shown = figures(app)
    other = opened(d=sharing.packed(app.session_state.draft))
    assert_healthy(other)
    assert figures(other) == shown
    assert not other.error


def bomb() -> str:
    """A link that unpacks to a hundred times more than a request has."""
    return urlsafe_b64encode(zlib.compress(b"[" * (100 * MAX_REQUEST_BYTES), 9)).decode()


def test_a_link_carries_no_discount_and_names_the_price_book():
    quote = {
        "discount_percent": "5",
        "number": "Q-1",
        "override": [
            {"item": "dgx-1", "discount_percent": "12"},
            {"item": "isilon-f800", "discount_percent": "12", "quantity": 2},
        ],
        "line": [{"description": "Training", "category": "service", "quantity": 1, "discount_percent": "7"}],
    }
    shared = state.without_discounts({**OVERNIGHT, "quote": quote})
    assert "discount" not in str(shared)
    assert shared["quote"]["override"] == [{"item": "isilon-f800", "quantity": 2}]
    assert shared["quote"]["number"] == "Q-1"
    assert quote["discount_percent"] == "5"
    address = sharing.link("http://host/", OVERNIGHT, "offer 17.csv")
    assert address is not None
    assert "book=offer+17.csv" in address
    app = opened(d=sharing.packed(OVERNIGHT), book="offer 17.csv")
    assert any("offer 17" in one.value.replace("\\", "") for one in app.toast)
    assert "book" not in app.query_params


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "%00",
        SCRIPT,
        "eJw",
        "A" * 9_000,
        sharing.packed({"workload": []}),
        sharing.packed({**OVERNIGHT, "date": "2026-11-21T00:00:00"}),
        sharing.packed({**OVERNIGHT, "date": "9999-12-02"}),
        sharing.packed({**OVERNIGHT, "needed_by": "1732233600"}),
        sharing.packed({"workload": [{"dnn": SCRIPT, "target": {"gpus_busy": 1}}]}),
        sharing.packed({"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 10**400}}]}),
        urlsafe_b64encode(zlib.compress(b"[" * 200_000)).decode(),
        urlsafe_b64encode(zlib.compress(b"[1, 2]")).decode(),
        sharing.packed(OVERNIGHT)[:-8],
    ],
)
def test_a_bad_link_is_one_sentence_and_the_example_stays(text):
    app = opened(d=text)
    assert_healthy(app)
    (error,) = app.error
    assert error.value.startswith("**The link was not opened.**")
    assert "<script>" not in error.value
    assert dict(figures(app))["GPUs"] == "72"


def test_a_link_cannot_fill_the_memory():
    with pytest.raises(RequestError):
        sharing.unpacked(bomb()[: sharing.MAX_LINK_CHARACTERS])


@given(
    st.recursive(
        st.text(max_size=20) | st.integers(-(10**6), 10**6) | st.booleans(),
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3)
            | st.dictionaries(st.text(max_size=8), inner, min_size=1, max_size=3)
        ),
        max_leaves=12,
    ).map(lambda value: {"title": value})
)
def test_what_is_packed_is_unpacked(data):
    text = json.dumps(data)
    if "[]" not in text and "{}" not in text and '"kind": "design"' not in text:
        assert sharing.unpacked(sharing.packed(data)) == data


# --- a reload of the window


@pytest.fixture
def browser(monkeypatch):
    """Sets which browser opens the next window."""
    return lambda name: monkeypatch.setattr("sizer.ui.session_store._browser", lambda: name)


def test_a_reload_keeps_request_and_customer_mode(browser):
    browser("mine")
    app = opened()
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    widget(app.toggle, "Customer view").set_value(True).run()
    shown = figures(app)
    again = opened(s=app.session_state.stored_as)
    assert figures(again) == shown
    assert widget(again.toggle, "Customer view").value is True
    assert again.session_state.stored_as != app.session_state.stored_as
    widget(again.text_input, "Minimum rate").set_value("20000 images/s").run()
    assert figures(app.run()) == shown


def test_without_a_cookie_no_state_is_stored(browser):
    browser("")
    assert "s" not in opened().query_params
