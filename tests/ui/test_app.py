"""The app: every page, every example, and what a careless or hostile user may type or upload."""

import math
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.formats.json_document import json_text
from sizer.base.quantities import BYTES, SAMPLES_PER_S, SECONDS, WATTS, parse
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.sale import is_sold
from sizer.export.design_json import design_document
from sizer.present.tables import Table, columns, row
from sizer.sizing.checks import CheckResult
from sizer.sizing.size import size
from sizer.ui import error_messages as faults
from sizer.ui import look
from sizer.ui.state import FIRST_EXAMPLE as OPENING
from sizer.ui.typed import plain, understood, written
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest
from tests.factories.examples import catalog, sized
from tests.ui.designs.library_pages import save
from tests.ui.pages import (
    BESIDE,
    PATH,
    assert_healthy,
    figures,
    html_of,
    opened,
    run_healthy,
    said,
    to_page,
    unfold,
    widget,
)

EXAMPLES = sorted(data_dir("examples").glob("*.toml"))
SCRIPT = "<script>alert(1)</script>"
# Keys of the folds of the page Requirements.
FOLDS = ("expert", "may-be-used", "not-exceeded", "existing", "fabric-and-room", "printed")


@pytest.mark.parametrize("name", [file.stem for file in EXAMPLES])
def test_every_example_can_be_chosen_by_its_title(name):
    app = opened()
    title = SizingRequest.from_file(data_dir("examples") / f"{name}.toml").title
    choice = widget(app.selectbox, "Start from")
    assert f"Published: {title}" in choice.options
    choice.set_value(name).run()
    assert_healthy(app)
    assert not app.error
    assert app.title[0].value.replace("\\", "") == title
    for page in PATH[1:]:
        assert_healthy(to_page(app, page))
        for one in app.get("html"):
            remarks = re.findall("<li>(.*?)</li>", one.proto.body)
            assert len(remarks) == len(set(remarks)), page


def test_choices_are_names_and_never_ids():
    app = unfold(opened(), *FOLDS)
    ids = {item.id for _, item in shipped_catalog().items() if item.id != item.name}
    for one in (*app.selectbox, *app.multiselect):
        assert not ids & set(one.options), one.label
    for one in (*app.selectbox, *app.multiselect, *app.text_input, *app.number_input):
        assert "_" not in one.label


@pytest.mark.parametrize(
    "text",
    [SCRIPT, "1e999 TB", "NaN", "inf B", "22.2 Tb", "1.230 GB", "-5 TB", "0", "22.2 TB; DROP TABLE", "$(rm)", "9" * 60],
)
def test_a_bad_size_is_named_and_the_last_answer_stays(text):
    app = opened()
    before = figures(app)
    run_healthy(widget(app.text_input, "Data set size").set_value(text))
    assert figures(app) == before
    assert "Data set size" in said(app)
    assert "Showing the previous result" in said(app)
    assert not any("<script>" in one.value for one in (*app.error, *app.caption, *app.markdown, *app.title))
    for page in PATH[1:]:
        assert figures(to_page(app, page)) == before
    to_page(app, "requirements")
    widget(app.text_input, "Data set size").set_value("22,2 TB").run()
    assert not app.error
    assert figures(app) == before


def test_an_impossible_limit_says_what_would_be_enough():
    app = unfold(opened(), "not-exceeded")
    before = figures(app)
    widget(app.text_input, "Racks").set_value("1")
    run_healthy(widget(app.button, "Apply limits").click())
    assert not figures(app)  # of another request, which does not stand under the refusal
    assert "No design meets" in said(app)
    assert "The nearest" in said(app)
    unfold(app, "not-exceeded")
    widget(app.text_input, "Racks").set_value("")
    widget(app.button, "Apply limits").click().run()
    assert figures(app) == before


@pytest.mark.parametrize("kind", ["samples_per_s", "time_to_train_s", "gpus_busy"])
def test_every_kind_of_target_starts_out_complete(kind):
    app = opened()
    widget(app.selectbox, "Target").set_value("gpus_busy" if kind != "gpus_busy" else "samples_per_s").run()
    run_healthy(widget(app.selectbox, "Target").set_value(kind))
    assert not [one for one in app.error if "not understood" in one.value]


def test_own_numbers_start_from_the_network_chosen():
    app = opened()
    run_healthy(widget(app.selectbox, "Neural network").set_value("own numbers"))
    assert not app.error
    assert "batch_per_gpu" not in app.session_state.draft["workload"][0]
    assert widget(app.text_input, "Forward operations per sample").value.endswith("FLOP")
    widget(app.text_input, "Name").set_value(SCRIPT).run()
    for page in PATH:
        assert_healthy(to_page(app, page))


def test_changing_the_task_drops_what_does_not_go_with_it():
    app = unfold(opened(), "expert")
    run_healthy(widget(app.selectbox, "Task").set_value("validation-inference"))
    assert not [one for one in app.error if "not understood" in one.value]
    unfold(app, "expert")
    assert widget(app.selectbox, "Software stack").value == ""
    assert all(one.label != "Training length" for one in app.selectbox)


def test_another_platform_can_be_described_in_full():
    app = unfold(opened(), "may-be-used")
    widget(app.multiselect, "Servers").set_value(["dgx-1", "c4140"])
    widget(app.button, "Apply allowed equipment").click().run()
    app = to_page(app, "architecture")
    app.session_state["architecture-tabs"] = "Alternatives"
    assert_healthy(unfold(app, "platforms"))
    choice = widget(app.selectbox, "Show another platform on all pages")
    other = choice.options[0]
    run_healthy(next(one for one in app.button if one.key == "use-platform").click())
    assert int(dict(figures(app))["GPUs"]) > 0
    name = other.split(" + ")[0]
    assert name in [value for _, value in figures(app)]


def test_several_workloads_are_edited_one_at_a_time():
    app = opened()
    widget(app.selectbox, "Start from").set_value("c4140-f800").run()
    labels = [one.label for one in app.segmented_control]
    which = next(one for one in app.segmented_control if one.label.endswith("on this cluster; edit"))
    assert labels
    which.set_value(1).run()
    assert widget(app.selectbox, "Neural network").value == "vgg16"
    run_healthy(widget(app.button, "Remove this workload").click())
    assert len(app.session_state.draft["workload"]) == 2


# --- uploads

ANY_WORKLOAD = b'{"dnn": "resnet50", "target": {"gpus_busy": 8}}'


def upload(name: str, content: bytes):
    """The app after a file was opened in it."""
    app = opened()
    run_healthy(app.file_uploader[0].set_value((name, content, "text/plain")))
    return app


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("big.toml", b"#" * (MAX_REQUEST_BYTES - 10) + b"\nx = 1\n" * 10, "too large"),
        ("latin.toml", b'title = "\xe9"', "not UTF-8"),
        ("broken.toml", b"title = ", "not valid TOML"),
        ("empty.toml", b"", "empty"),
        ("list.json", b"[1, 2]", "contains no request"),
        ("deep.json", b"[" * 20_000, "not valid JSON"),
        ("long.json", b'{"schema_version": ' + b"9" * 6_000 + b"}", "not valid JSON"),
        ("nan.json", b'{"confidence": NaN, "workload": [' + ANY_WORKLOAD + b"]}", "Confidence = nan must be a number"),
        ("huge.json", b'{"workload": [{"dnn": "resnet50", "target": {"samples_per_s": 1e999}}]}', "must be at most"),
        ("typo.toml", b'[[workload]]\ndnn = "resnet5"\ntarget = { gpus_busy = 8 }', "ResNet-50"),
        ("key.toml", b'[[workload]]\ndnn = "resnet50"\ntargte = { gpus_busy = 8 }', "target"),
        (f"{SCRIPT}.toml", b"x = 1", "nknown key"),
        ("null.json", b"null", "contains no request"),
        ("day.json", b'{"date": "1732233600", "workload": [' + ANY_WORKLOAD + b"]}", "is not a date"),
        ("time.toml", b'date = 2026-11-21T00:00:00\n[[workload]]\ndnn = "resnet50"', "is not a date"),
    ],
)
def test_a_bad_upload_is_refused_in_a_sentence(name, content, words):
    before = figures(opened())
    app = upload(name, content)
    assert "The file was not loaded" in said(app)
    assert words in said(app)
    assert figures(app) == before
    assert not any("<script>" in one.value for one in app.error)


def test_markup_in_every_name_is_shown_as_text_on_every_page():
    name = f"{SCRIPT} ![x](http://localhost/x.png) $x$ :red[y]"
    text = f'title = "{name}"\ncustomer = "{name}"\n[[workload]]\nname = "{name}"\ndnn = "resnet50"\n'
    app = upload("markup.toml", f"{text}target = {{ gpus_busy = 8 }}\n".encode())
    assert not app.error
    assert app.title[0].value.startswith("\\<script\\>")
    job = {"name": name, "gpus": 1, "jobs_a_day": 3, "duration_s": "2 h"}
    app.session_state.draft |= {"team": {"wait_s": "1 h", "job": [job]}}
    pinned = {"name": name, "request_json": sized("small-team").request.model_dump_json()}
    app.session_state.pins = [pinned, pinned]
    save(app.run(), name=name, comment=name, author=name[:80])
    pages = [*PATH, *BESIDE]
    for page, question in [*((page, "") for page in pages), ("what-if", "Team"), ("what-if", "Data and ingest")]:
        if question:
            app.session_state.question = question
        assert_healthy(to_page(app, page))
        shown = [one.value for one in (*app.markdown, *app.caption, *app.header, *app.title, *app.success)]
        assert not [one for one in (*html_of(app), *shown) if "<script>" in one], (page, question)
        assert not [one for one in shown if "![" in one], (page, question)


def test_a_design_file_gives_the_same_answer():
    request = SizingRequest.from_file(data_dir("examples") / "small-team.toml")
    catalog = shipped_catalog()
    app = upload("design.json", json_text(design_document(size(request, catalog))).encode())
    assert not app.error
    assert app.title[0].value == request.title
    assert SizingRequest.from_dict(app.session_state.draft) == request


# --- text


@given(st.sampled_from([BYTES, SECONDS, WATTS, SAMPLES_PER_S]), st.floats(1, 9e8))
def test_a_quantity_written_reads_back_the_same(kind, value):
    text = written(kind, value)
    assert parse(kind, text) == value
    assert understood(kind, value, text)


@given(st.text(max_size=60))
def test_plain_text_leaves_no_markup(text):
    kept = plain(text)
    for mark in "<>[]*_`$:!":
        assert kept.replace("\\" + mark, "").find(mark) == -1
    assert "\n" not in kept


@pytest.mark.parametrize("text", ["www.example.org", "http://example.org/a", "HTTPS://example.org", "a@example.org"])
def test_plain_text_never_becomes_a_link(text):
    kept = plain(f"see {text}").replace("\\", "")
    assert text not in kept
    assert kept.replace("\u2060", "") == f"see {text}"


def test_tables_show_markup_as_text():
    html = []
    table = Table("t", SCRIPT, columns("a", SCRIPT), (row(SCRIPT, SCRIPT), row(SCRIPT, kind="group")))
    look_html = look.st.html
    try:
        look.st.html = html.append
        look.table(table, {})
    finally:
        look.st.html = look_html
    assert "<script" not in "".join(html)


def test_error_sentences_name_fields_by_their_labels():
    assert faults.sentences("request: workload.0.dataset_bytes: is bad") == "Data set size: is bad."
    fault = faults.request_faults("request: workload.0.target.samples_per_s: is bad")[0]
    assert fault.path == ("workload", 0, "target", "samples_per_s")
    assert faults.request_faults("something else")[0].path == ()


def test_the_opening_design_can_be_ordered_and_meets_its_target() -> None:
    result = sized(OPENING)
    design = result.design
    assert is_sold(catalog(), design.platform.server, datetime.now(UTC).date())
    assert design.target_check is CheckResult.MET
    assert design.probability >= 0.9
    assert design.cost is not None
    assert math.isfinite(design.cost.high)
