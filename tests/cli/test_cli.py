"""The command line: answers, exit statuses, and one clear sentence for every kind of bad input."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sizer.base.resources import data_dir
from tests.cli.running import Done, refused, run

EXAMPLE = data_dir("examples") / "dgx1-f800-resnet50.toml"


def test_size_prints_the_answer_and_writes_the_documents(tmp_path: Path) -> None:
    done = run("size", EXAMPLE, "--out", tmp_path / "out", "--formats", "design,xlsx,csv,html")
    assert done.returncode == 0, done.stderr
    assert "DGX-1" in done.stdout
    assert "Isilon F800" in done.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"design.json", "bom.xlsx", "bom.csv", "guide.html"} <= names
    # Sizing the written design again gives the same design.
    again = run("size", tmp_path / "out" / "design.json", "--json")
    design = json.loads((tmp_path / "out" / "design.json").read_text())
    assert json.loads(again.stdout) == design
    assert (design["kind"], design["schema_version"]) == ("design", 1)


def test_project_json_has_the_promised_keys() -> None:
    done = run(
        *("project", EXAMPLE, "--server", "dgx-1", "--servers", 9, "--storage", "isilon-f800", "--storage-nodes", 8),
        *("--fabric", "100gbe", "--json"),
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer["samples_per_s"]) == {"value", "low", "high"}
    assert set(answer["storage_bytes_per_s"]) == {"value", "low", "high"}
    assert 0 < answer["cpu_utilization_fraction"]["value"] < 1
    assert answer["bottleneck"] == "gpu"
    assert set(answer["stages"]) == {"storage", "network", "decode", "host_link", "gpu", "exchange"}


def test_catalog_check_and_show() -> None:
    assert "no errors" in run("catalog", "check").stdout
    shown = run("catalog", "show", "isilon-f800", "--json")
    assert json.loads(shown.stdout)["item"]["id"] == "isilon-f800"
    refused(run("catalog", "show", "dgx1"), 3, "dgx1", "dgx-1")


def test_validate_reads_a_file_of_the_observation_format(tmp_path: Path) -> None:
    source = data_dir("catalog") / "benchmarks" / "storage.csv"
    done = run("validate", source, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {"id", "task", "quantity", "published", "predicted", "low", "high", "status"} <= set(report["rows"][0])
    assert "summary" in report
    broken = tmp_path / "broken.csv"
    broken.write_text(source.read_text().replace("5.907e+09", "fast"))
    refused(run("validate", broken), 6, "broken.csv", "value")


REQUEST = """
[[workload]]
dnn = "resnet50"
stack = "tf-cnn-benchmarks-ngc18.09"
target = {{ samples_per_s = "{rate}" }}
{workload}
[platforms]
servers = ["{server}"]
storage = ["isilon-f800"]
"""


@pytest.mark.parametrize(
    ("rate", "workload", "server", "status", "words"),
    [
        ("5000 images", "", "dgx-1", 2, ["samples_per_s", "5000 images", "images/s"]),
        ("nan", "", "dgx-1", 2, ["samples_per_s", "nan"]),
        ("0 images/s", "", "dgx-1", 2, ["samples_per_s", "must be greater than 0"]),
        ("-5 images/s", "", "dgx-1", 2, ["samples_per_s", "must be greater than 0"]),
        ("1e400", "", "dgx-1", 2, ["samples_per_s", "must be at most"]),
        ("5000", 'dataset_bytes = "400Gb"', "dgx-1", 2, ["dataset_bytes", "400Gb", "GB"]),
        ("5000", 'dataset_bytes = "1.230 GB"', "dgx-1", 2, ["ambiguous", "1230", "1.23"]),
        ("5000", 'datset = "imagenet"', "dgx-1", 2, ["datset", "dataset"]),
        ("5000", 'dataset = "imagenett"', "dgx-1", 2, ["imagenett", "imagenet"]),
        ("5000", 'task = "production-inference"', "dgx-1", 2, ["language models alone", "serving"]),
        ("5000", "", "dgx1", 2, ["dgx1", "dgx-1"]),
        ("900 M images/s", "", "dgx-1", 2, ["samples_per_s"]),
        ("900 Mimages/s", "", "dgx-1", 4, ["rate of the GPUs", "nearest"]),
    ],
)
def test_a_bad_request_gets_one_clear_sentence(
    tmp_path: Path, rate: str, workload: str, server: str, status: int, words: list[str]
) -> None:
    path = tmp_path / "request.toml"
    path.write_text(REQUEST.format(rate=rate, workload=workload, server=server))
    refused(run("size", path), status, *words)


def test_a_broken_overlay_lists_its_faults(tmp_path: Path) -> None:
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "v100-sxm2-16gb.toml").write_text(
        'id = "v100-sxm2-16gb"\n[memory_bytes]\nvalue = 16\nbasis = "guess"\n'
    )
    refused(
        run("size", EXAMPLE, "--catalog", tmp_path),
        3,
        "v100-sxm2-16gb.toml",
        "memory_bytes",
        "must be at least",
        "basis",
    )
    refused(run("size", EXAMPLE, "--catalog", tmp_path / "nowhere"), 3, "nowhere")


def test_an_output_folder_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("here first")
    refused(run("size", EXAMPLE, "--out", blocked), 7, "file")
    assert blocked.read_text() == "here first"


def test_the_module_runs_as_a_program() -> None:
    """A fresh process: entry point and exit status as a shell sees them."""
    command = [sys.executable, "-m", "sizer.cli", "catalog", "show", "dgx1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    refused(Done(done.returncode, done.stdout, done.stderr), 3, "dgx-1")


def test_usage_errors_end_with_two() -> None:
    refused(run("size"), 2)
    refused(run("project", EXAMPLE, "--server", "dgx-1", "--servers", 0, "--storage", "isilon-f800"), 2, "servers = 0")
    refused(
        run("project", EXAMPLE, "--server", "dgx-1", "--servers", 1, "--storage", "isilon-f800", "--storage-nodes", 3),
        *(2, "storage_nodes = 3"),
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # Three levels of switches, and directors as spines; the counts themselves are those of tests/published.
        (("4096", "--ports", "36"), {"levels": 3, "leaves": 228, "end_point_cables": 4096}),
        (("4096", "--switch", "cs7500"), {"levels": 2, "leaves": 228, "spines": 9, "cores": 0}),
        # Nine DGX-1 with four ports each on four rails: nine ports of a switch a rail.
        (("36", "--switch", "sb7800", "--rails", "4"), {"leaves": 4, "spines": 0, "spare_ports": 4 * 27}),
        (("288", "--ports", "36", "--oversubscription", "2"), {"leaves": 12, "leaf_spine_cables": 144}),
    ],
)
def test_fabric_alone(arguments: tuple[str, ...], expected: dict[str, float]) -> None:
    done = run("fabric", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {key: found[key] for key in expected} == expected
    assert found["kind"] == "fabric"
    assert {"schema_version", "switches", "spine_core_cables", "peer_cables", "node_modules"} <= set(found)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("0", "--ports", "36"), 2, ("END_POINTS = 0", "must be at least 1")),
        (("5",), 2, ("--switch or --ports",)),
        (("5", "--ports", "36", "--switch", "sb7800"), 2, ("--switch or --ports",)),
        (("5", "--switch", "sb780"), 2, ("'sb780'", "not a switch of the catalogue")),
        (("5", "--ports", "36", "--rails", "6"), 2, ("--rails = 6", "between 1 and 5")),
        (("5", "--ports", "36", "--oversubscription", "nan"), 2, ("--oversubscription", "nan")),
        (("11665", "--ports", "36"), 4, ("11665 end points", "36-port")),
    ],
)
def test_fabric_refusals(arguments: tuple[str, ...], status: int, words: tuple[str, ...]) -> None:
    refused(run("fabric", *arguments), status, *words)


def test_import_of_a_device_type(tmp_path: Path) -> None:
    file = tmp_path / "switch.yaml"
    file.write_text(
        "manufacturer: Mellanox\nmodel: SN2010\nslug: mellanox-sn2010\nu_height: 1\nis_full_depth: true\n"
        "interfaces:\n  - {name: swp1, type: 100gbase-x-qsfp28}\n"
    )
    done = run("catalog", "import-netbox", file)
    assert done.returncode == 0, done.stderr
    assert 'id = "sn2010"' in done.stdout
    assert "save as switches/sn2010.toml" in done.stderr
    file.write_text("manufacturer: [")
    refused(run("catalog", "import-netbox", file), 2, "switch.yaml:2:1", "YAML")


def test_a_folder_in_place_of_a_file_and_a_file_in_place_of_a_folder_are_told_apart(tmp_path: Path) -> None:
    refused(run("size", tmp_path), 2, f"{tmp_path}: is a folder; give a file")
    file = tmp_path / "taken"
    file.touch()
    refused(run("size", EXAMPLE, "--out", file), 7, f"{file}: cannot be written: is a file; name a folder")


def test_what_is_neither_a_number_nor_a_request_is_told_what_is_expected(tmp_path: Path) -> None:
    refused(run("goodput", "1e400"), 2, "'1e400' is neither a number of GPUs, such as 512, nor a request file")
    table = tmp_path / "requests.xlsx"
    table.touch()
    refused(run("size", table), 2, "'.xlsx'; give a .toml or .json file, or a table (.csv or .parquet)")


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("failures", "questions/one-server-may-fail"),
        ("grow", "questions/images-grow-tenfold"),
        ("ingest", "apollo-googlenet-inference"),
        ("ingest", "questions/copy-to-local-drives"),
        ("ingest", "questions/how-long-to-fill"),
        ("scale", "questions/scale-up-or-out"),
        ("team", "questions/a-mix-on-one-cluster"),
        pytest.param("team", "questions/forty-data-scientists", marks=pytest.mark.laws),
        pytest.param("verdict", "questions/do-we-need-a-cluster", marks=pytest.mark.laws),
    ],
)
def test_an_answer_is_printed_for_people(verb: str, name: str) -> None:
    done = run(verb, data_dir("examples") / f"{name}.toml")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 5
    assert re.findall(r"\b(?:None|nan|inf|True|False)\b|\d[eE][+-]?\d", done.stdout) == []
