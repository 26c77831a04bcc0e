"""Saving, reopening, restoring and comparing designs, with two people at it and with a library that fails."""

from streamlit.testing.v1 import AppTest

from sizer.library.library import content_of
from tests.factories.examples import catalog, sized
from tests.ui.designs.library_pages import NOON, RATE, change, fill, save, text_of
from tests.ui.pages import assert_healthy, figures, opened, run_healthy, to_page, widget


def tables(app: AppTest) -> str:
    """Tables of the page as HTML."""
    return " ".join(one.proto.body for one in app.get("html") if "<table" in one.proto.body)


def press(app: AppTest, label: str, number: int = 0) -> AppTest:
    """One of the buttons of this name."""
    found = [one for one in app.button if one.label == label]
    assert len(found) > number, f"no button {label!r}; there are {[one.label for one in app.button]}"
    found[number].click().run()
    assert_healthy(app)
    return app


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
    said += "the page Designs has both, to be pinned and compared."
    assert said in text_of(bob)
    rates = [library.revision(design.id, n).request["workload"][0]["target"]["samples_per_s"] for n in (2, 3)]
    assert rates == ["10000 images/s", "20000 images/s"]
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


def test_an_answer_that_changed_since_says_why(library, monkeypatch):
    result = sized("dgx1-f800-resnet50")
    draft = result.request.model_dump(mode="json", exclude_defaults=True)
    content = content_of(draft, "", result, catalog())
    old = content.snapshot.model_dump()
    old["catalog_digest"] = "0" * 64
    next(figure for figure in old["figures"] if figure["key"] == "gpus")["value"] = 64
    snapshot = type(content.snapshot).model_validate(old)
    content = type(content)(**{**vars(content), "snapshot": snapshot})
    library.create("design-0001", "old", content, author="", comment="", now=NOON)
    app = press(opened("designs"), "Open")
    assert "the catalogue or a price changed: GPUs 64 → 72" in text_of(app)
    assert "GPUs" in tables(app)


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


def test_a_design_is_hidden_and_found_again(library):
    fill(library, 1, "first")
    app = press(opened("designs"), "Revisions")
    press(app, "Hide")
    assert library.search().n_designs == 0
    press(app, "All designs")
    assert "first" not in text_of(app)
    app.toggle(key="designs-hidden").set_value(True).run()
    assert "first" in text_of(app)


def test_revisions_are_pinned_and_compared(library):
    save(change(save(opened(), name="x"), "10000 images/s"))
    app = press(opened("designs"), "Revisions")
    for number in (1, 2):
        run_healthy(next(one for one in app.button if one.key == f"pin-revision-{number}").click())
    assert [one["name"] for one in app.session_state.pins] == ["x, revision 1", "x, revision 2"]
    app = to_page(app, "compare")
    assert all(f"x, revision {number}" in tables(app) for number in (1, 2))


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
