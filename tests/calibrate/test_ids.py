"""Files of observations: ids, validation of one's own files, and rows that are refused."""

import csv
import dataclasses
from dataclasses import dataclass

import pytest

from sizer.base.errors import CalibrationError
from sizer.base.formats.csv_rows import bounded, rows_of_file, typed_row
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.cases import LINES, files_with_ids, release_year, unknown_names, with_ids
from sizer.calibrate.notes import RowUse
from sizer.calibrate.observations import (
    COLUMNS,
    ID_COLUMNS,
    Observation,
    load_observations,
    observation_texts,
    read_rows,
)
from sizer.calibrate.validate import predict
from sizer.evidence.tables import report_text
from sizer.present.text.calibration import status_text
from tests.factories.observations import observation_text
from tests.factories.requests import CATALOG, report_on

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


SYNTHETIC = {
    "software": "MXNet NGC 20.06",
    "batch_per_gpu": "208",
    "data": "synthetic",
    "loader": "none",
    "value": "10900",
}


def written(**changes):
    return observation_text(**SYNTHETIC | changes)


def predicted(**changes):
    [row] = read_rows(written(**changes), "x.csv")
    return predict(row, CATALOG, stored_calibration())


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"quantity": "furlongs"}, "not modelled: furlongs"),
        ({"quantity": "scaling_efficiency", "value": "0.9"}, "not modelled: scaling_efficiency"),
        ({"task": "knitting"}, "not modelled: rate of task knitting"),
        ({"precision": "FP64"}, "not predicted: the catalogue has no peak for fp64"),
        (
            {"task": "preprocess", "loader": "ffcv", "extra": '{"cpu_cores": 40}'},
            "not predicted: loader 'ffcv' is not known",
        ),
        (
            {"quantity": "cpu_utilization_fraction", "loader": "ffcv", "value": "0.5"},
            "not predicted: loader 'ffcv' is not known",
        ),
        ({"quantity": "cores_per_gpu", "loader": "ffcv", "value": "5"}, "not predicted: loader 'ffcv' is not known"),
    ],
)
def test_a_word_that_means_nothing_known_is_the_status_of_its_row(changes, status):
    assert status_text(predicted(**changes).status) == status


@pytest.mark.parametrize(
    "changes",
    [
        {"where": ""},
        {"basis": ""},
        {"basis": "image"},
        {"nics_per_server": "0"},
        {"nics_per_server": "N/A", "sample_bytes": "-", "extra": "none"},
        {"storage_nodes": "0"},
        {"extra": '{"a": [1, 2], "b": {"c": 1}}'},
        {"loader": "ffcv"},
    ],
)
def test_what_does_not_set_a_rate_does_not_change_it(changes):
    whole, found = predicted(), predicted(**changes)
    assert float(found.estimate.value) == float(whole.estimate.value)


@pytest.mark.parametrize("header", [",".join(COLUMNS), "row_id,source,model,gpu,gpus,precision"])
def test_a_file_without_rows_is_said_to_have_none(header, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(header + "\n", encoding="utf-8")
    assert report_text(report_on(path), CATALOG.sources).startswith("0 rows: ")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("id,round,benchmark,accel,rate_train_s,ttt_raw_min", "column global_batch is missing; a file of MLPerf Tr"),
        ("id,workload,accelerator_emulated,samples_per_s", "column accelerators is missing; a file of MLPerf Storage"),
        ("source,model,gpu,gpus,precision,tokens_s_gpu", "column row_id is missing; a file of language-model runs"),
        (";".join(COLUMNS), "separated by semicolons; separate them by commas"),
        ("id\tround\tbenchmark", "separated by tabs; separate them by commas"),
        (",".join(COLUMNS[:-1]), "column 'notes' is missing"),
        ("a,b", "column 'id' is missing"),
    ],
)
def test_a_header_is_told_what_it_lacks_of_the_nearest_kind(header, says, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(header + "\n1,2\n", encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"rows\.csv:1: ") as refused:
        report_on(path)
    assert says in str(refused.value)


def test_only_a_printed_point_of_a_recipe_is_calibrated_on():
    row = next(row for row in load_observations() if row.id == "mlperf-v05-nvidia-dgx1_ngc18.11_mxnet-resnet/epochs")
    base = {name: "" if (value := getattr(row, name)) is None else str(value) for name in COLUMNS} | {"extra": ""}
    uses = [
        predict(read_rows(written(**(base | changes)), "x.csv")[0], CATALOG, stored_calibration()).status.use
        # NVIDIA, DGX-1 with MXNet 18.11: 63 epochs at a batch of 8 x 208.
        for changes in ({}, {"value": "70"}, {"batch_per_gpu": "416"})
    ]
    assert uses == [RowUse.CALIBRATED, RowUse.PREDICTED, RowUse.PREDICTED]


@pytest.mark.parametrize(
    ("text", "unknown", "near"),
    [
        (written(gpu="v100-sxm2-16g"), ("rows.csv:2", "gpu", "'v100-sxm2-16g'"), "v100-sxm2-16gb"),
        (
            "row_id,source,model,gpu,gpus,precision,seq,tokens_s_gpu\nL1,lab,Llama3-8B,Hopper H100,8,BF16,8192,9000\n",
            ("row L1", "gpu", "'Hopper H100'"),
            "H100",
        ),
        (
            "id,round,benchmark,nodes,accels,accel,global_batch,rate_train_s,ttt_raw_min\n"
            "m1,v5.1,resnett,1,8,h100-sxm5-80gb,3264,25000,\n",
            ("row m1", "dnn", "'resnett'"),
            "resnet",
        ),
    ],
)
def test_names_that_are_not_known_are_told_with_their_row_and_the_nearest(text, unknown, near, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    report = report_on(path)
    [name] = report.unknown
    assert (name.place, name.column, name.name) == unknown
    assert near in name.suggestion
    assert name.suggestion in report_text(report, CATALOG.sources)


@pytest.mark.parametrize("character", ["\x07", "\x1b", "\u202e", "\ufffe"])
def test_a_character_that_ends_the_renderer_is_refused_with_its_place(character, tmp_path):
    (name, text), *_ = observation_texts().items()
    head, row, *_ = text.splitlines()
    file = tmp_path / name
    cells = row.split(",")
    cells[1] = cells[1][:3] + character + cells[1][3:]
    file.write_text(f"{head}\n{','.join(cells)}\n", encoding="utf-8")
    with pytest.raises(CalibrationError, match=rf":2: source: .*U\+{ord(character):04X}"):
        load_observations(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a,b\n1,x\n2,bell\x07\n", r"rows\.csv:3: b: .*U\+0007"),
        (b"a,b,a\n1,2,3\n", r"rows\.csv:1: column 'a' is there twice"),
        (b"a,b\n1,\xff\n", "is not UTF-8 text"),
    ],
)
def test_what_is_no_table_of_measurements_is_refused_with_its_place(tmp_path, content, says):
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    with pytest.raises(CalibrationError, match=says):
        rows_of_file(file, "rows", lambda cells, _: cells)


def test_a_device_is_no_file_of_measurements():
    with pytest.raises(CalibrationError, match="a device or a pipe; give a file"):
        load_observations("/dev/zero")


@dataclass(frozen=True)
class Run:
    name: str
    gpus: int
    rate: float
    batch: float | None = None
    notes: str = ""


def test_every_wrong_cell_of_a_row_is_named():
    with pytest.raises(ValueError, match="gpus") as refused:
        typed_row(Run, {"name": "a", "gpus": "8.5", "rate": "", "batch": "fast"}, bounded)
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["gpus", "batch", "rate"]
