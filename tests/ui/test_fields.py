"""Fields of the forms: help with range and default, and numbers as people type them."""

import re
from pathlib import Path

import pytest

from sizer.ui.fields import help_text
from sizer.ui.request_form.forms import FIELDS, Text, Typed, in_labels
from sizer.workload.request import SizingRequest
from tests.ui.pages import opened, said, unfold, widget

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_help_gives_range_and_default_once(field):
    text = help_text(field)
    ends = [text.count(mark) for mark in ("Default: ", "Required.")]
    assert sum(ends) == 1, text
    assert text.endswith((".", "!")), text
    assert ".." not in text.replace("...", ""), text
    if isinstance(field.widget, Typed | Text):
        ranges = [text.count(mark) for mark in ("From ", "at most ", "At most ")]
        assert sum(ranges) - text.count("From the start") - text.count("From submission") == 1, text


def test_every_value_that_the_model_knows_has_a_field_or_a_form_of_its_own():
    """By the model's own schema; a table, a list of items or a field that several widgets edit is none."""
    schema = SizingRequest.model_json_schema()
    tables = {name: set(table.get("properties", ())) for name, table in schema["$defs"].items()}
    for key, table in {"limits": "Limits", "fabric": "Fabric", "site": "Site", "data": "DataRequest"}.items():
        assert {one.rpartition(".")[2] for one in FIELDS if one.startswith(f"{key}.")} == tables[table]


def helps(*keys: str) -> str:
    return help_text(FIELDS[".".join(keys)])


def test_ranges_of_the_request_read_as_people_write_them():
    assert "From 1\u202fGB to 100\u202fTB. Default: the standard memory" in helps("platforms", "host_memory_bytes")
    assert "From 1 to 65\u202f536. Default: 128" in helps("workload", "batch_per_gpu")
    assert helps("growth", "years").endswith("From 2 to 10. Default: 3.")
    assert helps("team", "job", "gpus").endswith("From 1 to 100\u202f000. Required.")


@pytest.mark.app
def test_a_number_in_two_readings_is_refused_in_the_field_and_one_is_rewritten():
    app = unfold(opened(), "expert")
    widget(app.text_input, "Batch per GPU").set_value("1.024").run()
    assert not app.exception
    assert "is ambiguous" in said(app)
    assert "write 1024 or 1.0240" in said(app)
    unfold(app, "expert")
    widget(app.text_input, "Batch per GPU").set_value("1 024").run()
    assert app.session_state.draft["workload"][0]["batch_per_gpu"] == 1024
    assert widget(unfold(app, "expert").text_input, "Batch per GPU").value == "1,024"


def test_every_change_is_taken_only_of_a_widget_that_the_session_holds():
    sources = {path: path.read_text(encoding="utf-8") for path in (CHECKOUT / "sizer" / "ui").rglob("*.py")}
    called = [
        (path.name, match)
        for path, source in sources.items()
        for match in re.findall(r'on_change["\']?\s*[=:]\s*([\w."]+)', source)
    ]
    assert len(called) > 20
    assert [one for one in called if one[1] not in ('"rerun"', "state.if_stored", "state.stores")] == []


def test_fields_that_a_text_names_stand_by_their_labels():
    text = in_labels("Keep ports free with fabric.spare_servers, stated as [[workload.measured]] in racks.")
    assert text.count("“") == 2
    assert FIELDS["fabric.spare_servers"].label in text
    assert "_" not in text
    assert "[" not in text
    assert "in racks." in text
