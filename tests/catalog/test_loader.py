"""Loading: faults of broken files and overlays, each named with file, key, value and what is allowed."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.base.errors import CatalogError
from sizer.base.resources import data_dir
from sizer.catalog.loader import MAX_FILE_BYTES, load_catalog
from sizer.catalog.model import Catalog, UnknownItemError

Overlay = Callable[[str, str | bytes], Path]

# One file laid over the catalogue, and what its fault says.
FAULTS = json.loads(Path(__file__).with_name("faults.json").read_text("utf-8"))
GPU = "gpus/v100-sxm2-16gb.toml"
NEW_GPU = """
id = "v100-test"
name = "Test GPU"
vendor = "NVIDIA"
form_factor = { value = "sxm2", basis = "assumed", source = "acme-2020", where = "test", note = "a test" }
memory_bytes = { value = 17_179_869_184, basis = "assumed", source = "acme-2020", where = "test", note = "a test" }
peak_mixed_flop_per_s = { value = 125e12, basis = "assumed", source = "acme-2020", where = "test", note = "a test" }
peak_fp32_flop_per_s = { value = 15.7e12, basis = "assumed", source = "acme-2020", where = "test", note = "a test" }
"""
ACME = '[[source]]\nid = "acme-2020"\ntitle = "A test"\npublisher = "Acme"\ngrade = "D"\n'


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    """Writes a file of an overlay and returns the overlay's folder."""
    folder = tmp_path / "mine"

    def write(name: str, content: str | bytes) -> Path:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write


def faults(folder: Path) -> tuple[str, ...]:
    with pytest.raises(CatalogError) as caught:
        load_catalog(overlay=folder)
    return caught.value.faults


def test_an_overlay_replaces_the_top_level_keys_that_it_gives(overlay: Overlay, catalog: Catalog) -> None:
    folder = overlay(
        GPU,
        'id = "v100-sxm2-16gb"\n'
        'tdp_w = { value = 310, basis = "measured", source = "dell-ready-ai-nvidia-2018", where = "own meter" }\n',
    )
    changed = load_catalog(overlay=folder)
    before, after = catalog.gpus["v100-sxm2-16gb"], changed.gpus["v100-sxm2-16gb"]
    assert after.tdp_w is not None
    assert after.tdp_w.value == 310
    assert after.memory_bytes == before.memory_bytes
    assert changed.digest != catalog.digest
    assert changed != catalog


def test_an_overlay_adds_items_with_their_source(overlay: Overlay, catalog: Catalog) -> None:
    overlay("gpus/v100-test.toml", NEW_GPU)
    changed = load_catalog(overlay=overlay("sources.toml", ACME))
    assert changed.category_of("v100-test") == "gpus"
    assert set(changed.gpus) - set(catalog.gpus) == {"v100-test"}
    assert {said.field for said in changed.assumptions() if said.item == "v100-test"} == {
        "form_factor",
        "memory_bytes",
        "peak_mixed_flop_per_s",
        "peak_fp32_flop_per_s",
    }


def test_comments_and_order_of_keys_do_not_change_the_digest(tmp_path: Path, catalog: Catalog) -> None:
    copy = tmp_path / "catalog"
    shutil.copytree(data_dir("catalog"), copy)
    file = copy / GPU
    lines = file.read_text().splitlines()
    file.write_text("# a note\n" + "\n".join([lines[2], lines[1], lines[0], *lines[3:]]) + "\n\n")
    assert load_catalog(copy).digest == catalog.digest


@pytest.mark.parametrize("checked", [False, True], ids=["read", "checked"])
def test_a_fault_names_file_key_value_and_what_is_allowed(tmp_path: Path, *, checked: bool) -> None:
    """As many faults in one overlay as stand in files of different items; what is checked needs readable files."""
    waiting, wrong = [case for case in FAULTS if case.get("checked", False) is checked], []
    while waiting:
        together = {Path(case["file"]).stem: case for case in waiting}
        waiting = [case for case in waiting if case not in together.values()]
        folder = tmp_path / str(len(waiting))
        for case in together.values():
            (folder / case["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / case["file"]).write_text(case["content"])
        found = faults(folder)
        for case in together.values():
            named = [fault for fault in found if case["file"] in fault]
            is_named = any(all(words in fault for words in case["words"]) for fault in found)
            if not is_named or len(named) != case.get("faults", len(named)):
                wrong.append((case, named))
    assert wrong == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id = " + "1" * 9000, "is not valid TOML"),
        ("x = " + "[" * 5000, "is not valid TOML"),
        (b"id = 'v100-sxm2-16gb'\nname = '\xff'", "line 2: is not UTF-8 text (byte 30)"),
        (b"#" * (MAX_FILE_BYTES + 1), "is larger than 1000000 B"),
    ],
)
def test_a_hostile_file_is_one_fault(overlay: Overlay, content: str | bytes, words: str) -> None:
    (fault,) = faults(overlay(GPU, content))
    assert GPU in fault
    assert words in fault


def test_all_faults_of_all_files_are_listed(overlay: Overlay) -> None:
    overlay(GPU, 'id = "v100-sxm2-16gb"\ntdp_w = 3\nmemory_bytes = 4\n')
    overlay("servers/dgx-1.toml", "id = ")
    found = faults(overlay("prices/book.csv", "item\n"))
    assert len(found) == 4
    assert len({fault.split(":")[0] for fault in found}) == 3


@pytest.mark.parametrize("link", ["gpus/stolen.toml", "gpus"])
def test_a_link_that_leads_outside_is_not_read(overlay: Overlay, tmp_path: Path, link: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "stolen.toml").write_text(NEW_GPU)
    folder = overlay("sources.toml", ACME)
    (folder / link).parent.mkdir(exist_ok=True)
    os.symlink(secret if link == "gpus" else secret / "stolen.toml", folder / link)
    (fault,) = faults(folder)
    assert link in fault
    assert "Test GPU" not in fault


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="the overlay is not a folder"):
        load_catalog(overlay=tmp_path / "missing")
    with pytest.raises(CatalogError, match="the catalogue is not a folder"):
        load_catalog(tmp_path / "missing")


def test_an_unknown_name_tells_the_nearest_known_one(catalog: Catalog) -> None:
    with pytest.raises(UnknownItemError, match="no item 'dgx1'; did you mean 'dgx-1'"):
        catalog.item("dgx1")
    with pytest.raises(KeyError, match="gpus has no item 'v100-sxm2-16'; did you mean 'v100-sxm2-16gb'"):
        catalog.gpus["v100-sxm2-16"]
    with pytest.raises(CatalogError, match="no folder 'gpu'; did you mean 'gpus'"):
        catalog.folder("gpu")
    assert catalog.gpus.get("none") is None


def test_a_catalogue_travels_to_other_processes(catalog: Catalog) -> None:
    copy = pickle.loads(pickle.dumps(catalog))
    assert copy.digest == catalog.digest
    said, before = ([(folder, item.model_dump()) for folder, item in each.items()] for each in (copy, catalog))
    assert said == before
    error = pickle.loads(pickle.dumps(UnknownItemError(["one", "two"])))
    assert str(error) == "one\ntwo"


def test_a_catalogue_cannot_be_changed(catalog: Catalog) -> None:
    with pytest.raises(TypeError):
        catalog.gpus["x"] = catalog.gpus["v100-sxm2-16gb"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        catalog.digest = ""  # type: ignore[misc]


def test_a_disagreement_without_a_reason_is_told(overlay: Overlay) -> None:
    text = (
        'id = "v100-sxm2-16gb"\n[tdp_w]\nvalue = 300\nbasis = "published"\nsource = "nbx"\nwhere = "x"\n'
        '[[tdp_w.alternates]]\nvalue = 250\nsource = "nowhere"\nwhere = "y"\n'
    )
    found = [fault for fault in faults(overlay(GPU, text)) if GPU in fault]
    assert len(found) == 2
    assert "alternates disagree with 300" in found[1]
    assert "tdp_w.alternates[0]: source 'nowhere' is not in sources.toml" in found[0]
