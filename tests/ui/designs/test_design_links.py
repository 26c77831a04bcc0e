"""Links to designs, libraries that fail, authors and the place of the library."""

import pytest

from sizer.library.opening import default_address
from sizer.ui.designs.saving import fields_table
from sizer.workload.table import FieldChange
from tests.ui.designs.library_pages import SCRIPT, change, fill, save, text_of
from tests.ui.pages import assert_healthy, figures, opened, to_page, widget


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
        ("", "1", "Not a design id"),
        ("../../etc/passwd", "1", "Not a design id"),
        ("' OR 1=1 --", None, "Not a design id"),
        (SCRIPT, None, "Not a design id"),
        ("unknown-design", None, "no such design"),
        ("x" * 5000, None, "Not a design id"),
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


@pytest.fixture(params=["file", "server"])
def broken(request, tmp_path, monkeypatch) -> str:
    """A library that cannot be opened, and what is said of it."""
    if request.param == "file":
        (tmp_path / "notes.txt").write_text("no database, and longer than the head of one\n" * 40)
        monkeypatch.setenv("SIZER_LIBRARY", str(tmp_path / "notes.txt"))
        return "The library notes.txt is not a design library"
    monkeypatch.setenv("SIZER_LIBRARY", "postgresql://ann:s3cret@127.0.0.1:1/designs")
    return "The library's database designs on 127.0.0.1 cannot be reached"


def test_a_broken_library_leaves_the_app_whole(broken):
    app = opened()
    assert_healthy(app)
    assert not app.error
    save(app, name="x")
    assert broken in text_of(app)
    assert "saved" not in app.session_state
    assert_healthy(to_page(app, "designs"))
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
    assert "has no tables" in text_of(app)
    app.run()
    save(app, "Save as a new design", name="y")
    assert "Saved as revision 1." in text_of(app)


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
    table = fields_table(changes, "Revision 1", "Revision 2")
    assert table is not None
    texts = [[cell.text for cell in one.cells] for one in table.rows]
    assert [text[0] for text in texts[:3]] == ["Workload 2: Minimum rate", "Workload 3", "Racks"]
    assert texts[1][1:] == ["not stated", "neural network ResNet-50"]
    assert texts[3][0].startswith("Racks 1: ")
    assert texts[3][1:] == ["yes", "no"]
