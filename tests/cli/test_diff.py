"""``sizer diff``: requests, designs and revisions compared, and every unreadable side refused in a sentence."""

import functools
import json
import operator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sizer.base.formats.json_document import json_text, sealed
from sizer.base.resources import data_dir
from sizer.export.design_json import design_document
from sizer.library.compare import MAX_DESIGN_BYTES, snapshot_of, snapshot_of_file
from sizer.library.library import Library, content_of
from sizer.sizing.customer_copy import customer_copy
from tests.cli.running import refused, run
from tests.factories.examples import EXAMPLES, catalog, most_in, sized

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

SMALL = data_dir("examples") / "dgx1-f800-resnet50.toml"
LARGE = data_dir("examples") / "dgx1-f800-inception-v4.toml"
ID = "design-0001"
# One value of a design file replaced, and what is said of it.
TAMPERED = json.loads(Path(__file__).with_name("tampered.json").read_text("utf-8"))


def told(*arguments: object) -> dict[str, Any]:
    done = run("diff", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def design_file(tmp_path: Path) -> Path:
    path = tmp_path / "design.json"
    path.write_text(json_text(design_document(sized(SMALL.stem))), encoding="utf-8")
    return path


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "designs.sqlite"
    opened = Library(str(path))
    for number, name in enumerate((SMALL.stem, LARGE.stem)):
        result = sized(name)
        draft = result.request.model_dump(mode="json", exclude_none=True)
        content = content_of(draft, "", result, catalog())
        now = datetime(2026, 11, 22, number, tzinfo=UTC)
        if number:
            opened.save(ID, 1, content, author="", comment="", now=now)
        else:
            opened.create(ID, "Plant 4", content, author="", comment="", now=now)
    opened.close()
    return path


def test_small_against_large_images_names_the_cause() -> None:
    """dell-isilon-dgx1-blog-2018: nine DGX-1 and eight nodes both times; small images would do with four.

    1.3 MB images at the rate of the small ones take 24 nodes; no other change alone takes more or fewer.
    """
    found = told(SMALL, LARGE)
    assert found["kind"] == "difference"
    sizes = found["sized_now"]
    assert sizes["total"]["storage-nodes"] == 4
    alone = {cause["input"]: cause["alone"]["numbers"]["storage-nodes"] for cause in sizes["causes"]}
    assert {key: nodes for key, nodes in alone.items() if nodes != 4} == {"workload.sample_bytes": 24}
    nodes = next(one for one in found["figures"] if one["now"]["key"] == "storage-nodes")
    assert (nodes["before"]["value"], nodes["now"]["value"]) == (4, 8)
    chassis = next(one for one in found["bill"] if "Isilon F800" in one["now"]["name"])
    assert (chassis["before"]["quantity"], chassis["now"]["quantity"], chassis["more"]) == (1, 2, None)


def test_a_request_is_the_same_as_the_design_that_was_written_for_it(design_file: Path) -> None:
    done = run("diff", SMALL, design_file)
    assert done.returncode == 0, done.stderr
    assert "The two are the same." in done.stdout
    assert "as answered then" in done.stdout
    assert "Figure" not in done.stdout


@pytest.mark.parametrize("name", most_in("laws", EXAMPLES))
def test_a_design_file_says_what_a_library_remembers(name: str) -> None:
    remembered = snapshot_of(sized(name))
    read = snapshot_of_file(json.loads(json_text(design_document(sized(name)))), "x", catalog())
    about = {"figures", "lines", "verdict", "design", "currency", "catalog_digest", "calibration_digest"}
    assert read.model_dump(include=about) == remembered.model_dump(include=about)


def test_a_saved_answer_that_is_another_now_is_told(design_file: Path) -> None:
    data = json.loads(design_file.read_text(encoding="utf-8"))
    data["design"]["storage_nodes"], data["catalog_digest"] = 6, "of another catalogue"
    design_file.write_text(json.dumps(sealed(data)), encoding="utf-8")
    done = run("diff", design_file, SMALL)
    assert "answered with another catalogue" in done.stdout
    assert "Storage nodes 6, now 4" in done.stdout


def test_revisions_are_named_by_design_and_number(library: Path) -> None:
    here = ("--library", library)
    by_name, by_id = told("plant 4@r1", "Plant 4@", *here), told(f"{ID}@1", f"{ID}@r2", *here)
    assert by_name == by_id
    assert [side["name"] for side in by_id["sides"]] == ["Plant 4, revision 1", "Plant 4, revision 2"]
    assert by_id["sized_now"]["total"]["storage-nodes"] == 4
    assert "The two are the same." in run("diff", "Plant 4@r1", SMALL, *here).stdout


def test_revisions_that_are_not_there(library: Path, tmp_path: Path) -> None:
    here = ("--library", library)
    refused(run("diff", "Plant 4@r3", SMALL, *here), 7, "no revision 3")
    refused(run("diff", "Plant 5@r1", SMALL, *here), 7, "no design called 'Plant 5'")
    refused(run("diff", "nothing-0001@", SMALL, *here), 7, "no such design")
    refused(run("diff", f"{'x' * 300}@1", SMALL, *here), 7, "at most 120")
    refused(run("diff", "@r3", SMALL, *here), 2, "is not a revision")
    missing = tmp_path / "none.sqlite"
    refused(run("diff", "Plant 4@r1", SMALL, "--library", missing), 2, "there is no library")
    assert not missing.exists()
    opened = Library(str(library))
    content = content_of(sized("small-team").request.model_dump(mode="json"), "", sized("small-team"), catalog())
    opened.create("design-0002", "Plant 4", content, author="", comment="", now=datetime(2026, 11, 23, tzinfo=UTC))
    opened.close()
    refused(run("diff", "Plant 4@r1", SMALL, *here), 7, "2 designs are called 'Plant 4'", "design-0002")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("none.toml", None, ["cannot be read"]),
        ("x.pdf", "%PDF", ["unknown file type"]),
        ("x.json", "[1, 2", ["is not valid JSON"]),
        ("x.json", "[" * 200_000, ["is not valid JSON"]),
        ("x.json", "[1, 2]", ["expected a table"]),
        ("x.json", '{"kind": "projection"}', ["of kind 'projection'"]),
        ("x.json", '{"kind": {"a": 1}}', ["of kind"]),
        ("x.json", '{"kind": "design"}', ["expected a table"]),
        ("x.json", json.dumps({"title": "y" * 1_100_000}), ["has at most"]),
        ("x.toml", "\x00\xff", ["x.toml"]),
    ],
)
def test_files_that_are_no_side(tmp_path: Path, name: str, text: str | None, words: list[str]) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="latin-1")
    done = run("diff", SMALL, path)
    refused(done, 2, name, *words)
    assert len(done.stderr) < 600


@pytest.mark.parametrize("case", TAMPERED, ids=lambda case: ".".join(map(str, case["where"])))
def test_design_files_that_were_tampered_with(design_file: Path, case: dict[str, Any]) -> None:
    data = json.loads(design_file.read_text(encoding="utf-8"))
    *above, key = case["where"]
    functools.reduce(operator.getitem, above, data)[key] = case["value"]
    design_file.write_text(json.dumps(data), encoding="utf-8")
    refused(run("diff", design_file, SMALL), 2, "design.json", *case["words"])


def test_a_copy_for_a_customer_says_that_nothing_tells_a_change(tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    document = design_document(customer_copy(sized(SMALL.stem)))
    assert "content_digest" not in document
    path.write_text(json_text(document), encoding="utf-8")
    done = run("diff", path, SMALL)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "A is a customer's copy or a file without a digest: nothing shows whether its figures were changed" in said
    assert [side["is_without_digest"] for side in told(path, SMALL)["sides"]] == [True, False]
    # What no answer can say is refused all the same.
    document["design"]["workloads"][0]["samples_per_s"]["high"] = 0.0
    path.write_text(json_text(document), encoding="utf-8")
    refused(run("diff", path, SMALL), 2, "design.json", "samples_per_s", "not in this order")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(MAX_DESIGN_BYTES + 1)
    refused(run("diff", SMALL, path), 2, "huge.json")


def test_names_from_a_file_do_not_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "evil.toml"
    path.write_text(SMALL.read_text(encoding="utf-8").replace("113 kB images", r"\u001b[2J"), encoding="utf-8")
    done = run("diff", SMALL, path)
    refused(done, 2, "evil.toml", "title", "control character")
    assert "\x1b" not in done.stdout + done.stderr
