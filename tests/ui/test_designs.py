"""Saving, reopening, restoring and comparing designs, with two people at it and with a library that fails."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sizer.library.content import content_of
from sizer.library.library import Library
from sizer.library.opening import default_address
from sizer.sizing.size import size
from sizer.ui.designs import revision_tables
from sizer.workload.changes import FieldChange
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized
from tests.ui.pages import assert_healthy, figures, opened, to_page, widget

SCRIPT = "<script>alert(1)</script> ![x](http://localhost/x.png) :red[y]"
RATE = "Minimum rate"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def library(designs_of_the_test: Path) -> Library:
    """The library that the app writes to, opened beside it."""
    return Library(str(designs_of_the_test))


def text_of(app: AppTest) -> str:
    """What the page says in its own words, without the backslashes that keep Markdown from reading it."""
    kinds = (app.markdown, app.caption, app.info, app.success, app.warning, app.error, app.header, app.toast)
    return " ".join(one.value for kind in kinds for one in kind).replace("\\", "")


def tables(app: AppTest) -> str:
    """Tables of the page as HTML."""
    return " ".join(one.proto.body for one in app.get("html") if "<table" in one.proto.body)


def save(app: AppTest, button: str = "", **typed: str) -> AppTest:
    """Fill the form of the popover and press one of its buttons."""
    labels = {"name": "Name of the design", "comment": "Comment: what changed, and why", "author": "Your name"}
    for part, text in typed.items():
        widget(app.text_input, labels[part]).set_value(text)
    present = {one.label for one in app.button}
    first = "Save the design" if "Save the design" in present else "Save as the next revision"
    widget(app.button, button or first).click().run()
    assert_healthy(app)
    return app


def change(app: AppTest, rate: str) -> AppTest:
    """Another target on the page Requirements."""
    widget(to_page(app, "requirements").text_input, RATE).set_value(rate).run()
    assert_healthy(app)
    return app


def press(app: AppTest, label: str, number: int = 0) -> AppTest:
    """One of the buttons of this name."""
    found = [one for one in app.button if one.label == label]
    assert len(found) > number, f"no button {label!r}; there are {[one.label for one in app.button]}"
    found[number].click().run()
    assert_healthy(app)
    return app


def fill(library: Library, n: int, name: str = "Design {}", customer: str = "") -> list[str]:
    """So many designs of one revision each."""
    result = sized("small-team")
    draft = result.request.model_dump(mode="json", exclude_defaults=True) | {"customer": customer}
    content = content_of(draft, "", size(SizingRequest.from_dict(draft), catalog()), catalog())
    ids = [f"design-{number:04}" for number in range(n)]
    for number, design_id in enumerate(ids):
        library.create(design_id, name.format(number), content, author="Ann", comment="", now=NOON)
    return ids


# --- save, change, save, reopen


def test_a_design_is_saved_changed_saved_and_reopened(library):
    app = opened()
    before = figures(app)
    save(app, name="My cluster", comment="as asked", author="Ann")
    assert "Saved as revision 1." in text_of(app)
    (design,) = library.search().designs
    assert (design.name, design.newest.author, design.newest.comment) == ("My cluster", "Ann", "as asked")
    assert "unsaved changes" not in text_of(app)

    change(app, "10000 images/s")
    assert "My cluster**, revision 1, unsaved changes" in text_of(app)
    assert figures(app) != before
    assert widget(app.text_input, "Your name").value == "Ann"
    save(app, comment="less")
    assert "Saved as revision 2." in text_of(app)
    assert [entry.parent for entry in library.revisions(design.id)] == [None, 1]

    other = opened("designs")
    press(other, "Revisions")
    press(other, "Open", 1)  # the list begins with the newest revision
    assert figures(other) == before
    assert "My cluster, revision 1, is open. Its result is the same as when it was saved." in text_of(other)
    assert other.session_state.saved["revision"] == 1
    to_page(other, "requirements")
    assert figures(other) == before


def test_a_design_opens_from_the_list_at_its_newest_revision(library):
    (design_id,) = fill(library, 1)
    app = press(opened("designs"), "Open")
    assert (app.session_state.saved["id"], app.session_state.saved["revision"]) == (design_id, 1)
    assert app.title[0].value.replace("\\", "") == sized("small-team").request.title
    assert "Open:" in text_of(app)


def test_an_unchanged_design_is_not_saved_again(library):
    app = save(save(opened(), name="x"))
    assert "Nothing to save: revision 1 is the same." in text_of(app)
    (design,) = library.search().designs
    assert design.newest.number == 1


def test_a_copy_is_saved_as_a_design_of_its_own(library):
    app = save(opened(), name="x")
    save(app, "Save as a new design", name="y")
    assert {design.name for design in library.search().designs} == {"x", "y"}
    assert app.session_state.saved["name"] == "y"


def test_another_name_in_the_form_renames_the_design(library):
    app = save(opened(), name="x")
    save(app, name="y")
    (design,) = library.search().designs
    assert (design.name, design.newest.number) == ("y", 1)


def test_two_people_lose_nothing_and_the_second_is_told(library):
    ann = save(opened(), name="shared", author="Ann")
    (design,) = library.search().designs
    bob = press(opened("designs"), "Open")
    save(change(ann, "10000 images/s"), comment="Ann's")
    save(change(bob, "20000 images/s"), comment="Bob's", author="Bob")
    said = "Saved as revision 3. Meanwhile Ann saved revision 2, based on revision 1 or later; "
    said += "both revisions are in the library."
    assert said in text_of(bob)
    rates = [library.revision(design.id, n).request["workload"][0]["target"]["samples_per_s"] for n in (2, 3)]
    assert rates == ["10000 images/s", "20000 images/s"]
    press(bob, "Compare revisions 2 and 3")
    assert "10000 images/s" in tables(bob)
    assert "20000 images/s" in tables(bob)
    save(change(bob, "21000 images/s"))
    assert "Saved as revision 4." in text_of(bob)
    assert "Meanwhile" not in text_of(bob)


def test_a_request_with_faults_is_not_saved(library):
    app = opened()
    widget(app.text_input, "Data set size").set_value("many").run()
    assert app.info
    assert "Save the design" not in {one.label for one in app.button}
    assert library.search().n_designs == 0


def test_what_was_typed_comes_back_as_it_was_typed(library):
    app = save(change(opened(), "9876 images/s"), name="x")
    assert app.session_state.draft["workload"][0]["target"]["samples_per_s"] == "9876 images/s"
    other = press(opened("designs"), "Open")
    assert other.session_state.draft == app.session_state.draft
    assert widget(to_page(other, "requirements").text_input, RATE).value == "9876 images/s"


def test_the_price_book_is_saved_and_comes_back(library):
    book = "item,amount,currency,date,source\ndgx-1,100000,USD,2026-01-05,own quote\n"
    app = opened()
    before = dict(figures(app))
    app.session_state.price_book = book
    app.run()
    priced = dict(figures(app))
    assert priced != before
    save(app, name="priced")
    assert library.revision(library.search().designs[0].id, 1).price_book == book
    other = opened("designs")
    assert dict(figures(other)) == before
    press(other, "Open")
    assert other.session_state.price_book == book
    assert dict(figures(other)) == priced
    assert "Its result is the same" in text_of(other)
    other.session_state.price_book = ""
    other.run()
    assert "with unsaved changes" in text_of(other)


# --- what changed since


def test_an_answer_that_changed_since_says_why(library, monkeypatch):
    result = sized("dgx1-f800-resnet50")
    draft = result.request.model_dump(mode="json", exclude_defaults=True)
    content = content_of(draft, "", result, catalog())
    old = content.snapshot.model_dump()
    old["catalog_digest"] = "0" * 64
    old["parts"]["dgx-1"]["facts"]["power_max_w"]["value"] = 2500.0
    old["prices"]["dgx-1"]["amount"] = "100000"
    next(figure for figure in old["figures"] if figure["key"] == "gpus")["value"] = 64
    snapshot = type(content.snapshot).model_validate(old)
    content = type(content)(**{**vars(content), "snapshot": snapshot})
    library.create("design-0001", "old", content, author="", comment="", now=NOON)
    app = press(opened("designs"), "Open")
    assert "1\xa0fact and 1\xa0price of its parts changed in the catalogue: GPUs 64 → 72" in text_of(app)
    page = tables(app).replace("\u202f", " ")
    for words in ("NVIDIA DGX-1", "Power, maximum", "2 500 W", "3 500 W", "USD 100 000", "USD 149 000"):
        assert words in page, words


def test_a_saved_request_that_is_no_longer_understood_is_one_sentence(library):
    result = sized("small-team")
    content = content_of(
        {"workload": [{"dnn": "no-such-net", "target": {"gpus_busy": 8}, "oops": 1}]}, "", result, catalog()
    )
    library.create("design-0001", "odd", content, author="", comment="", now=NOON)
    app = opened("designs")
    before = figures(app)
    press(app, "Open")
    assert "Revision 1 of odd has errors" in text_of(app)
    assert figures(app) == before


# --- the page


def test_an_empty_library_says_what_fills_it():
    app = opened("designs")
    assert "No saved designs yet." in text_of(app)


def test_two_hundred_designs_are_paged_and_searched(library):
    fill(library, 200, customer="Example Motors")
    app = opened("designs")
    shown = [one.value for one in app.markdown if one.value.startswith("**Design")]
    assert len(shown) == 10
    assert "1 to 10 of 200" in text_of(app).replace("\u00a0", " ")
    press(app, "Older")
    assert "11 to 20 of 200" in text_of(app).replace("\u00a0", " ")
    widget(app.text_input, "Search designs").set_value("design 17").run()
    shown = [one.value for one in app.markdown if one.value.startswith("**Design")]
    # Every word counts: 17, 117 and 170 to 179, ten of the twelve on the first page.
    assert len(shown) == 10
    assert "1 to 10 of 12" in text_of(app).replace("\u00a0", " ")
    widget(app.text_input, "Search designs").set_value("EXAMPLE motors 199").run()
    assert [one.value for one in app.markdown if one.value.startswith("**Design")] == ["**Design 199**"]
    widget(app.text_input, "Search designs").set_value("100%_").run()
    assert "No design matches all these words" in text_of(app)
    assert_healthy(app)


def test_a_design_is_renamed_duplicated_hidden_and_found_again(library):
    (design_id,) = fill(library, 1, "first")
    app = press(opened("designs"), "Revisions")
    widget(app.text_input, "New name").set_value("second")
    press(app, "Rename")
    assert library.design(design_id).name == "second"
    assert app.header[0].value == "second"
    press(app, "Duplicate")
    assert app.header[0].value == "Copy of second"
    assert library.search().n_designs == 2
    press(app, "Hide")
    assert library.search().n_designs == 1
    press(app, "All designs")
    assert "Copy of second" not in text_of(app)
    app.toggle(key="designs-hidden").set_value(True).run()
    assert "Copy of second" in text_of(app)


def test_an_old_revision_is_restored_and_compared(library):
    app = save(change(save(opened(), name="x"), "10000 images/s"))
    (design,) = library.search().designs
    press(to_page(app, "designs"), "Revisions")
    assert "10000 images/s" in tables(app)
    press(app, "Restore")
    assert [entry.parent for entry in library.revisions(design.id)] == [None, 1, 1]
    first, last = (library.revision(design.id, number) for number in (1, 3))
    assert last.request == first.request
    assert "Revision 3 restores revision 1." in text_of(app)
    widget(app.selectbox, "From revision").set_value(1).run()
    assert "Revisions 1 and 3 are the same." in text_of(app)


def test_markup_in_names_is_shown_as_text(library):
    app = save(opened(), name=SCRIPT, comment=SCRIPT, author=SCRIPT[:80])
    press(to_page(app, "designs"), "Revisions")
    elements = (*app.markdown, *app.caption, *app.header, *app.success, *app.toast)
    for one in elements:
        assert "<script>" not in one.value
        assert "![" not in one.value
    assert SCRIPT in text_of(app).replace("\u2060", "")  # the mark that keeps an address from becoming a link
    assert not [one for one in app.get("html") if "<script>" in one.proto.body]


def test_a_customer_sees_no_saved_design(library):
    fill(library, 1, "Secret name", customer="Somebody else")
    app = opened("designs")
    assert "Secret name" in text_of(app)
    app.session_state.customer_mode = True
    app.run()
    assert app.info
    assert "Secret name" not in text_of(app)
    assert "Somebody else" not in text_of(app)
    assert "Save the design" not in {one.label for one in app.button}


# --- links


def test_a_link_opens_a_revision(library):
    app = save(change(save(opened(), name="x"), "10000 images/s"))
    design_id = app.session_state.saved["id"]
    first = opened(id=design_id, rev="1")
    assert first.session_state.saved["revision"] == 1
    assert not {"id", "rev"} & set(first.query_params)
    assert figures(opened(id=design_id)) == figures(app)
    assert figures(first) != figures(app)


@pytest.mark.parametrize(
    ("design", "revision", "words"),
    [
        ("", "1", "no id of a design"),
        ("../../etc/passwd", "1", "no id of a design"),
        ("' OR 1=1 --", None, "no id of a design"),
        (SCRIPT, None, "no id of a design"),
        ("unknown-design", None, "no such design"),
        ("x" * 5000, None, "no id of a design"),
        ("design-0000", "0", "Revision 0 does not exist"),
        ("design-0000", "-1", "not a number"),
        ("design-0000", "2", "no revision 2"),
        ("design-0000", "9" * 40, "not a number"),
        ("design-0000", "1e3", "not a number"),
        ("design-0000", "٣", "not a number"),
        ("design-0000", SCRIPT, "not a number"),
    ],
)
def test_a_bad_link_is_one_sentence_and_the_first_example_stays(library, design, revision, words):
    fill(library, 1)
    app = opened(**{"id": design} | ({} if revision is None else {"rev": revision}))
    assert_healthy(app)
    assert len(app.error) == 1
    said = app.error[0].value.replace("\\", "")
    assert "The link was not opened." in said
    assert words in said
    assert figures(app) == figures(opened())
    assert "saved" not in app.session_state


# --- a library that fails


@pytest.fixture(params=["file", "server"])
def broken(request, tmp_path, monkeypatch) -> str:
    """A library that cannot be opened, and what is said of it."""
    if request.param == "file":
        (tmp_path / "notes.txt").write_text("no database, and longer than the head of one\n" * 40)
        monkeypatch.setenv("SIZER_LIBRARY", str(tmp_path / "notes.txt"))
        return "The library notes.txt is not a library of designs"
    monkeypatch.setenv("SIZER_LIBRARY", "postgresql://ann:s3cret@127.0.0.1:1/designs")
    return "The library's database designs on 127.0.0.1 cannot be reached"


def test_a_broken_library_leaves_the_app_whole(broken):
    app = opened()
    assert_healthy(app)
    assert not app.error
    save(app, name="x")
    assert broken in text_of(app)
    assert "saved" not in app.session_state
    to_page(app, "designs")
    assert_healthy(app)
    assert broken in text_of(app)
    assert "s3cret" not in text_of(app)
    assert len(figures(to_page(app, "architecture"))) >= 7


def test_a_link_into_a_broken_library_is_one_sentence(broken):
    app = opened(id="design-0001")
    assert_healthy(app)
    assert broken in text_of(app)


def test_a_library_that_comes_back_is_used_again(designs_of_the_test):
    app = save(opened(), name="x")
    for left in designs_of_the_test.parent.iterdir():
        left.unlink()
    to_page(app, "designs")
    assert "has lost its tables" in text_of(app)
    app.run()
    save(app, "Save as a new design", name="y")
    assert "Saved as revision 1." in text_of(app)


# --- who and where


def test_the_author_is_who_the_environment_says(library, monkeypatch):
    monkeypatch.setenv("SIZER_USER", "Ann Example\n")
    app = opened()
    assert widget(app.text_input, "Your name").value == "Ann Example"
    save(app, name="x")
    assert library.search().designs[0].newest.author == "Ann Example"
    save(change(app, "10000 images/s"), author="Bob")
    assert widget(app.text_input, "Your name").value == "Bob"


def test_designs_lie_among_the_data_of_the_user_unless_the_environment_says_where(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    at_home = str(tmp_path / ".local/share/dl-cluster-configurator/designs.sqlite")
    assert default_address({}) == at_home
    assert default_address({"XDG_DATA_HOME": "relative/is/ignored"}) == at_home
    named = {"XDG_DATA_HOME": str(tmp_path / "data")}
    assert default_address(named) == str(tmp_path / "data/dl-cluster-configurator/designs.sqlite")
    assert default_address({**named, "SIZER_LIBRARY": "postgresql://team/designs"}) == "postgresql://team/designs"


def test_fields_of_the_request_are_named_in_words():
    changes = [
        FieldChange(("workload", 1, "target", "samples_per_s"), 1, 2),
        FieldChange(("workload", 2), None, {"dnn": "resnet50"}),
        FieldChange(("limits", "racks"), None, 9),
        FieldChange(("existing", "racks", 0, "free_u"), True, False),
    ]
    table = revision_tables.fields_table(changes, "Revision 1", "Revision 2")
    assert table is not None
    texts = [[cell.text for cell in one.cells] for one in table.rows]
    assert [text[0] for text in texts[:3]] == ["Workload 2: Rate", "Workload 3", "Racks"]
    assert texts[1][1:] == ["not stated", "neural network ResNet-50"]
    assert texts[3][0].startswith("Racks 1: ")
    assert texts[3][1:] == ["yes", "no"]
