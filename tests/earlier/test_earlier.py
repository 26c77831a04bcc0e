"""Users' files of every version so far open in this one, and a form changes with a conversion only."""

import hashlib
import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from sizer import __version__
from sizer.base.errors import RequestError
from sizer.base.faults import SUCCESSORS
from sizer.base.formats.json_document import SCHEMA_VERSION
from sizer.batch.columns import COLUMNS_VERSION, schema
from sizer.catalog.price_books import COLUMNS, Price
from sizer.export.price_book import read_book
from sizer.guide.profile import Profile
from sizer.library.compare import (
    SNAPSHOT_VERSION,
    Snapshot,
    _File,
    answer_in_file,
    differences,
    figure_pairs,
    sized_today,
)
from sizer.library.library import Library, answer_of_revision
from sizer.library.opening import DATABASE_VERSION, metadata
from sizer.ui.sharing import PARAMETER, unpacked
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog

FOLDER = Path(__file__).parent
VERSIONS = sorted(path for path in FOLDER.iterdir() if (path / "requests").is_dir())


def files(kind: str) -> list[object]:
    found = [path for version in VERSIONS for path in sorted(version.glob(kind))]
    return [pytest.param(path, id=str(path.relative_to(FOLDER))) for path in found]


def test_files_of_this_version_are_stored():
    assert ".".join(__version__.split(".")[:2]) in {version.name for version in VERSIONS}


@pytest.mark.parametrize("path", files("requests/*"))
def test_requests_open(path):
    assert SizingRequest.from_file(path).workload


def test_the_customer_of_an_earlier_quote_is_that_of_the_request():
    assert SizingRequest.from_file(FOLDER / "0.1/requests/quote.toml").customer == "Example Motors"


@pytest.mark.parametrize("path", files("links.txt"))
def test_links_open(path):
    requests = [
        SizingRequest.from_dict(unpacked(parse_qs(urlsplit(link).query)[PARAMETER][0]))
        for link in path.read_text("utf-8").splitlines()
    ]
    stored = {SizingRequest.from_file(one).title for one in sorted(path.parent.glob("requests/*.toml"))}
    assert {request.title for request in requests} == stored


@pytest.mark.parametrize("path", files("designs/*"))
def test_designs_show_what_was_saved(path):
    """The figures of the file itself, read without the program."""
    saved = answer_in_file(path, catalog())
    written = json.loads(path.read_text("utf-8"))
    assert saved.is_stored
    figures = {key: saved.snapshot.figure(key).value for key in ("gpus", "storage-nodes", "rate-0")}
    work = written["design"]["workloads"][0]
    design = written["design"]
    assert figures == {
        "gpus": design["n_gpus"],
        "storage-nodes": design["storage_nodes"],
        "rate-0": work["samples_per_s"]["value"],
    }
    assert len(saved.snapshot.lines) == len(written["bill"]["lines"])


@pytest.mark.parametrize("path", files("designs.sqlite"))
def test_libraries_show_what_was_saved_and_beside_it_sized_today(path, tmp_path):
    library = Library(str(shutil.copy(path, tmp_path / "designs.sqlite")))
    (design,) = library.search("small", page=0, per_page=10).designs
    first, saved = (answer_of_revision(f"{design.id}@{number}", library) for number in (1, 2))
    assert {one.snapshot.tool_version.rpartition(".")[0] for one in (first, saved)} == {path.parent.name}
    assert first.snapshot.figure("gpus").value == 4  # one UCP RS V225G
    today = sized_today(saved, catalog())
    pairs = {pair.before.key: pair for pair in figure_pairs(saved.snapshot, today.snapshot) if pair.before}
    assert pairs["gpus"].before.value == 4
    assert pairs["gpus"].now.value > 0
    assert differences(saved, today).is_other_version == (saved.snapshot.tool_version != __version__)
    assert saved.price_book.startswith("item,amount")
    library.close()


@pytest.mark.parametrize("path", files("prices/*"))
def test_price_books_open(path):
    reading = read_book(path.read_bytes(), catalog())
    assert (reading.faults, reading.unknown) == ((), ())
    assert reading.text


@pytest.mark.parametrize("path", files("profiles/*.toml"))
def test_profiles_open_or_name_the_successor_of_a_field(path):
    if 'customer = "' not in path.read_text("utf-8"):
        assert Profile.from_file(path).company == "Example Systems"
        return
    with pytest.raises(RequestError, match=SUCCESSORS["customer"]):
        Profile.from_file(path)


@pytest.mark.parametrize("path", files("api.md"))
def test_what_an_earlier_page_promises_is_there_or_has_a_successor(path):
    earlier, now = (
        set(re.findall(r"`([^`]+)`", one.read_text("utf-8"))) for one in (path, FOLDER.parents[1] / "docs" / "api.md")
    )
    assert earlier - now - set(SUCCESSORS) == set()


def _undescribed(form: object) -> object:
    """A form without the texts about its fields."""
    if isinstance(form, dict):
        return {key: _undescribed(part) for key, part in form.items() if key != "description" or isinstance(part, dict)}
    return [_undescribed(part) for part in form] if isinstance(form, list | tuple) else form


def _digest(form: object) -> str:
    return hashlib.sha256(json.dumps(_undescribed(form), sort_keys=True, default=str).encode()).hexdigest()[:16]


def forms() -> dict[str, tuple[int, str]]:
    """Version and digest of every form that this program stores or reads back."""
    tables = {name: [str(column.type) for column in table.columns] for name, table in metadata.tables.items()}
    return {
        "request": (1, _digest(SizingRequest.model_json_schema())),
        "design": (SCHEMA_VERSION, _digest(_File.model_json_schema())),
        "snapshot": (SNAPSHOT_VERSION, _digest(Snapshot.model_json_schema())),
        "library": (DATABASE_VERSION, _digest(tables)),
        "price book": (1, _digest([COLUMNS, Price.model_json_schema()])),
        "profile": (1, _digest(Profile.model_json_schema())),
        "batch": (COLUMNS_VERSION, _digest(str(schema([], {})))),
    }


def test_a_form_changes_with_its_version_or_a_note():
    """Add a line to forms.json: the new digest, and how earlier files open (or the new version and its conversion)."""
    noted = {name: lines[-1] for name, lines in json.loads((FOLDER / "forms.json").read_text("utf-8")).items()}
    assert {name: (line["version"], line["digest"]) for name, line in noted.items()} == forms()
    assert all(line["note"] for line in noted.values())
