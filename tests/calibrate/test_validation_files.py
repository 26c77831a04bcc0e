"""Files of others: spellings of parts, words outside the vocabulary, files without rows, headers that fit no kind."""

import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.notes import RowUse
from sizer.calibrate.observations import COLUMNS, load_observations, read_rows
from sizer.calibrate.predict import predict
from sizer.calibrate.reports import report_on_files
from sizer.catalog.loader import shipped_catalog
from sizer.evidence.validation_text import report_text
from sizer.present.text.calibration import status_text
from tests.factories.observations import observation_text

CATALOG = shipped_catalog()
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
    assert report_text(report_on_files([path], CATALOG)).startswith("0 rows: ")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("id,round,benchmark,accel,rate_train_s,ttt_raw_min", "column global_batch is missing; a file of MLPerf Tr"),
        ("id,workload,accelerator_emulated,samples_per_s", "column accelerators is missing; a file of MLPerf Storage"),
        ("source,model,gpu,gpus,precision,tokens_s_gpu", "column row_id is missing; a file of language-model runs"),
        (";".join(COLUMNS), "separated by semicolons; separate them by commas"),
        ("id\tround\tbenchmark", "separated by tabs; separate them by commas"),
        (",".join(COLUMNS[:-1]), "column 'notes' is missing"),
        ("a,b", "unknown column 'a'"),
    ],
)
def test_a_header_is_told_what_it_lacks_of_the_nearest_kind(header, says, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(header + "\n1,2\n", encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"rows\.csv line 1: ") as refused:
        report_on_files([path], CATALOG)
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
        (written(gpu="v100-sxm2-16g"), ("rows.csv line 2", "gpu", "'v100-sxm2-16g'"), "v100-sxm2-16gb"),
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
    report = report_on_files([path], CATALOG)
    [name] = report.unknown
    assert (name.place, name.column, name.name) == unknown
    assert near in name.suggestion
    assert name.suggestion in report_text(report)
