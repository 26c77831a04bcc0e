"""Ids of observation rows of files without id columns."""

import csv
import dataclasses

import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.ids import LINES, files_with_ids, release_year, unknown_names, with_ids
from sizer.calibrate.observations import COLUMNS, ID_COLUMNS, Observation, load_observations
from sizer.catalog.loader import shipped_catalog

CATALOG = shipped_catalog()
WITHOUT_IDS = dict.fromkeys(ID_COLUMNS, "") | {"has_ids": False}


def row_of(**cells: object) -> Observation:
    empty = {field.name: "" for field in dataclasses.fields(Observation) if field.type in ("str", str)}
    counts = ("batch_per_gpu", "servers", "gpus", "nics_per_server", "storage_nodes", "sample_bytes", "dataset_bytes")
    stated = {"id": "mine-1", "source": "mine", "task": "training", "quantity": "samples_per_s", "value": 1.0}
    return Observation(**(empty | dict.fromkeys(counts) | stated | cells))


def identified(**cells: object) -> Observation:
    (row,) = with_ids([row_of(**cells)], CATALOG)
    return row


def test_shipped_rows_without_their_ids_have_the_same_again():
    """The ids of the files were checked by hand. Stacks that the catalogue lacks are described, which may differ."""
    shipped = load_observations()
    again = with_ids([dataclasses.replace(row, **WITHOUT_IDS) for row in shipped], CATALOG)

    def ids(row: Observation) -> tuple[str, ...]:
        return row.id, row.gpu_id, row.server_id, row.stack if row.stack in CATALOG.stacks else ""

    assert [ids(row) for row in again] == [ids(row) for row in shipped]


def test_every_stack_has_a_line_and_a_year():
    for stack in CATALOG.stacks.values():
        if stack.trains_language or stack.serves_language or stack.runs_mlperf or stack.trains_own:
            continue  # their rows have files and fits of their own
        year = release_year(stack)
        assert stack.line in LINES
        assert year is not None
        assert 2016 <= year < 2024
        assert stack.xla == ("xla" in stack.id)
        assert (stack.line == "ngc") == ("ngc" in stack.id.lower() or stack.id == "pytorch-0.3")


@pytest.mark.parametrize(
    ("cells", "gpu_id"),
    [
        ({"gpu": "v100-pcie-32gb"}, ""),
        ({"gpu": "v100"}, "v100-sxm2-16gb"),
        ({"gpu": "v100", "intra_link": "pcie3"}, "v100-pcie-16gb"),
        ({"gpu": "v100", "intra_link": "nvswitch"}, "v100-sxm3-32gb"),
        ({"gpu": "v100", "server": "c4140-pcie"}, "v100-pcie-16gb"),
        ({"gpu": "p100", "server": "dgx-1-p100"}, "p100-sxm2-16gb"),
        ({"gpu": "k80"}, ""),
        ({"gpu": ""}, ""),
    ],
)
def test_a_gpu_whose_board_is_open_is_that_of_its_server_or_link(cells, gpu_id):
    row = identified(**cells)
    assert row.gpu_id == gpu_id
    assert bool(row.assumed) is bool(gpu_id)


@pytest.mark.parametrize(
    ("cells", "stack"),
    [
        ({"software": "tf-ngc19.07-xla"}, "tf-ngc19.07-xla"),
        ({"framework": "pytorch", "software": "PyTorch NGC 20.10"}, "pytorch:ngc:2020-10"),
        ({"framework": "tensorflow", "software": "NGC 21.03 + XLA"}, "tensorflow:ngc:2021-03:xla"),
        ({"framework": "tensorflow", "software": "tf-cnn-benchmarks, 2019-08"}, "tensorflow:cnn-benchmarks:2019-08"),
        ({"framework": "PyTorch", "software": "own build, CUDA 10.2"}, "pytorch:upstream:undated"),
        ({"framework": "mxnet", "source": "mlperf-v0.6", "software": "own"}, "mxnet:upstream:2019-06"),
        ({"framework": "", "software": "torchvision 0.9"}, "pytorch:upstream:undated"),
        ({"framework": "", "software": "my scripts"}, ""),
    ],
)
def test_software_is_a_stack_of_the_catalogue_or_described(cells, stack):
    row = identified(**cells)
    assert row.stack == stack
    assert bool(row.assumed) is (stack not in CATALOG.stacks and bool(stack))


def test_unknown_names_are_told_once_with_their_place_and_the_nearest_known():
    rows = [
        row_of(place="a.csv line 2", dnn="resnet-50", gpu="v100-sxm2-16g", precision="mixed", inter_link="100gbe-roce"),
        row_of(place="a.csv line 3", dnn="resnet-50", gpu="p100", loader="dally", quantity="samples_per_second"),
    ]
    found = [(name.place, name.column, name.name) for name in unknown_names(rows, CATALOG)]
    assert found == [
        ("a.csv line 2", "dnn", "'resnet-50'"),
        ("a.csv line 2", "gpu", "'v100-sxm2-16g'"),
        ("a.csv line 3", "loader", "'dally'"),
        ("a.csv line 3", "quantity", "'samples_per_second'"),
    ]
    nearest = ["'resnet50'", "'v100-sxm2-16gb'", "'dali'", "'samples_per_s'"]
    assert all(id_ in name.suggestion for id_, name in zip(nearest, unknown_names(rows, CATALOG), strict=True))
    assert not unknown_names([row for row in load_observations() if row.gpu not in ("p40", "m40")], CATALOG)


def test_files_get_their_ids_and_keep_their_other_cells(tmp_path):
    shipped = load_observations()[:5]
    (tmp_path / "in").mkdir()
    with (tmp_path / "in" / "mine.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for row in shipped:
            writer.writerow({**vars(row), "extra": "", **{k: "" for k, v in vars(row).items() if v is None}})
    ((name, content),) = files_with_ids([tmp_path / "in"], CATALOG).items()
    (tmp_path / name).write_bytes(content)
    assert [dataclasses.replace(row, place="", extra={}) for row in load_observations(tmp_path / name)] == [
        dataclasses.replace(row, place="", extra={}) for row in shipped
    ]
    with pytest.raises(CalibrationError, match=r"mine\.csv: two files"):
        files_with_ids([tmp_path / "in", tmp_path / "mine.csv"], CATALOG)
