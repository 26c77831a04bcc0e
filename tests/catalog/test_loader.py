"""Loading: faults of broken files and overlays, each named with file, key, value and what is allowed."""

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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            'id = "v100-sxm2-16gb"\nmemory_bytes = { value = 16, basis = "datasheet", source = "nbx", where = "x" }',
            ["memory_bytes.value = 16 must be at least 1e9", "bytes: 16 GB of memory is 17_179_869_184"],
        ),
        (
            'id = "v100-sxm2-16gb"\ntdp_w = { value = nan, basis = "datasheet", source = "nbx", where = "x" }',
            ["tdp_w.value = nan must be a number", "watts"],
        ),
        (
            'id = "v100-sxm2-16gb"\nmemory_byte = 3',
            ["unknown key 'memory_byte'; did you mean 'memory_bytes'?", "known are id, name, description, vendor"],
        ),
        (
            'id = "v100-sxm2-16gb"\nform_factor = { value = "S 2", basis = "datasheet", source = "nbx", where = "x" }',
            ["form_factor.value = 'S 2'"],
        ),
        (
            'id = "v100-sxm2-16gb"\ntdp_w = { value = 300, basis = "datasheet", where = "x" }',
            ["key 'tdp_w.source' is missing"],
        ),
        (
            'id = "v100-sxm2-16gb"\ntdp_w = { value = 300, basis = "datasheet", source = "nbx-frok", where = "x" }',
            ["tdp_w: source 'nbx-frok' is not in sources.toml; did you mean 'nbx-fork'?"],
        ),
        (
            'id = "v100-sxm2-16gb"\ntdp_w = { value = 300, basis = "assumed", source = "nbx", where = "x" }',
            ["tdp_w: an assumed value needs a note"],
        ),
        ('id = "v100"\n', ["id = 'v100' differs from the file's name 'v100-sxm2-16gb'"]),
        ("id = 'v100-sxm2-16gb'\nname = ", ["is not valid TOML", "line 2"]),
        ("id = " + "1" * 9000, ["is not valid TOML"]),
        ("x = " + "[" * 5000, ["is not valid TOML"]),
        (b"id = 'v100-sxm2-16gb'\nname = '\xff'", ["line 2: is not UTF-8 text (byte 30)"]),
        (b"#" * (MAX_FILE_BYTES + 1), ["is larger than 1000000 B"]),
    ],
)
def test_a_fault_of_a_file_names_file_key_value_and_what_is_allowed(
    overlay: Overlay, content: str | bytes, expected: list[str]
) -> None:
    (fault,) = faults(overlay(GPU, content))
    assert GPU in fault
    for part in expected:
        assert part in fault


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("servers/v100-sxm2-16gb.toml", 'id = "v100-sxm2-16gb"\n', "id 'v100-sxm2-16gb' is in gpus/ already"),
        ("server/dgx-1.toml", 'id = "dgx-1"\n', "server: unknown name; did you mean 'servers'?"),
        (
            "servers/dgx-1.toml",
            'id = "dgx-1"\ngpus = ["v100-smx2-16gb"]\n',
            "is not in gpus/; did you mean 'v100-sxm2-16gb'?",
        ),
        ("servers/dgx-1.toml", 'id = "dgx-1"\ngpus = ["v100-pcie-16gb"]\n', "nvlink2 connects sxm2 parts"),
        ("servers/dgx-1.json", "{}", "is not a .toml file"),
        ("gpus/v100-new.toml", 'id = "v100-new"\nname = "New"\nvendor = "NVIDIA"\n', "key 'form_factor' is missing"),
        ("benchmarks/own.csv", "id\n", "an overlay cannot replace benchmarks"),
        (
            "prices/book.csv",
            "item,price,currency,date,source\n",
            "line 1: unknown column 'price'; did you mean 'amount'?",
        ),
        ("prices/book.csv", "item,amount,currency,date,source\ndxg-1,1,USD,2019,q\n", "did you mean 'dgx-1'?"),
        ("sources.toml", "[acme]\ntitle = 'x'\n", "holds [[source]] tables only"),
        ("sources.toml", ACME + ACME, "is used twice"),
        ("sources.toml", ACME.replace('"D"', '"E"'), "grade = 'E' is not one of"),
    ],
)
def test_an_overlay_that_contradicts_is_refused(overlay: Overlay, name: str, content: str, expected: str) -> None:
    found = faults(overlay(name, content))
    assert any(expected in fault for fault in found), found


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
    assert copy == catalog
    assert list(copy.items()) == list(catalog.items())
    error = pickle.loads(pickle.dumps(UnknownItemError(["one", "two"])))
    assert str(error) == "one\ntwo"


def test_a_catalogue_cannot_be_changed(catalog: Catalog) -> None:
    with pytest.raises(TypeError):
        catalog.gpus["x"] = catalog.gpus["v100-sxm2-16gb"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        catalog.digest = ""  # type: ignore[misc]
