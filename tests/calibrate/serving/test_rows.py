"""Measurements of serving: what files say, what of them is predicted, and what is refused."""

import csv

import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.notes import CALIBRATED, PREDICTED, FitNote, RowUse
from sizer.calibrate.serving.accuracy import digest_of_rows, fitted_cases
from sizer.calibrate.serving.calibration import serving_calibration
from sizer.calibrate.serving.cases import ServingCase, cases_of
from sizer.calibrate.serving.rows import load_serving_rows
from tests.factories.requests import CATALOG, report_on

ROW = {
    "row_id": "mine",
    "source": "customer",
    "kind": "closed loop",
    "engine": "vllm",
    "model": "llama-3-70b",
    "gpu": "h200-sxm-141gb",
    "gpus": "2",
    "tp": "2",
    "weight_precision": "fp8",
    "concurrency": "32",
    "input_tokens": "1024",
    "output_tokens": "1024",
    "ttft_s": "0.35",
    "tpot_s": "0.019",
    "output_tokens_s": "1650",
}


@pytest.fixture
def file_of(tmp_path):
    def write(*rows):
        columns = list(dict.fromkeys(name for row in rows for name in row))
        with (tmp_path / "measured.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
        return tmp_path / "measured.csv"

    return write


def test_the_stored_fit_is_that_of_the_shipped_rows():
    assert digest_of_rows(fitted_cases(load_serving_rows(), CATALOG)) == serving_calibration().digest


def test_a_file_is_predicted_with_intervals(file_of):
    """Throughput, time per token and time to the first token, each with its 90 % interval."""
    report = report_on(file_of(ROW))
    assert {row.quantity for row in report.rows} == {"output_tokens_per_s", "tpot_s", "ttft_s"}
    for row in report.rows:
        assert row.status == PREDICTED
        assert row.low < row.predicted < row.high
    assert report.total.coverage is not None


def test_a_shipped_row_counts_as_fitted_only_with_its_own_numbers(file_of):
    shipped = next(row for row in load_serving_rows() if row.kind == "closed loop" and row.engine == "vllm")
    cells = {name: str(value) for name, value in vars(shipped).items() if value not in (None, "")}
    own, other = file_of(cells), {**cells, "tpot_s": "1.0"}
    assert {row.status for row in report_on(own).rows} == {CALIBRATED}
    assert {row.status for row in report_on(file_of(other)).rows} == {PREDICTED}


def test_a_model_that_the_catalogue_lacks_is_known_by_its_shape(file_of):
    shape = {
        "layers": "48",
        "hidden": "4096",
        "heads": "32",
        "kv_heads": "8",
        "head_dim": "128",
        "vocab": "151936",
        "total_params": "9.5e9",
    }
    named, bare = ROW | {"model": "ours-9b"} | shape, ROW | {"row_id": "bare", "model": "ours-9b"}
    rows = report_on(file_of(named, bare)).rows
    assert all(row.predicted for row in rows if row.id == "mine")
    (status,) = {row.status for row in rows if row.id == "bare"}
    assert (status.use, status.reason.kind) == (RowUse.OUTSIDE, FitNote.DNN_NOT_IN_CATALOGUE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"gpu": "no-such-gpu"}, FitNote.GPU_NOT_IN_CATALOGUE),
        ({"input_tokens": ""}, FitNote.LENGTHS_NOT_STATED),
        ({"weight_precision": "bf16", "tp": "1", "gpus": "1"}, FitNote.NO_ROOM),  # 141 GB of weights
        ({"split": "apart"}, FitNote.PART_GUESSED),
    ],
)
def test_what_is_not_predicted_has_its_reason(file_of, change, reason):
    (status,) = {row.status for row in report_on(file_of(ROW | change)).rows}
    assert (status.use, status.reason.kind) == (RowUse.OUTSIDE, reason)


@pytest.mark.parametrize(
    ("change", "place"),
    [({"kind": "open loop"}, "kind"), ({"concurrency": "many"}, "concurrency"), ({"tpot_s": "nan"}, "tpot_s")],
)
def test_a_bad_cell_is_named_with_its_line_and_column(file_of, change, place):
    with pytest.raises(CalibrationError, match=f"measured.csv:2: {place}"):
        load_serving_rows([file_of(ROW | change)])


def test_ids_are_unique(file_of):
    with pytest.raises(CalibrationError, match="row_id"):
        load_serving_rows([file_of(ROW, ROW)])


def test_layouts_of_mlperf_rows(file_of):
    """deepseek-r1 on eight GPUs with a batch of at most 512 has 1,235 requests in flight: each rank has its own.
    Two stages of four ranks sum in their own layers; GPT-J is decoded with four beams; one GPU has no two ranks."""
    rows = [
        {
            "model": "deepseek-v3",
            "benchmark": "deepseek-r1",
            "max_batch": "512",
            "tp": "8",
            "weight_precision": "nvfp4",
        },
        {"model": "llama-3.1-405b", "benchmark": "llama3.1-405b", "tp": "4", "pp": "2"},
        {"model": "gpt-j-6b", "benchmark": "gptj-99", "tp": "1"},
        {"model": "llama-2-70b", "benchmark": "llama2-70b-99", "tp": "2", "gpus": "1"},
    ]
    usual = {"kind": "mlperf", "engine": "trtllm", "gpus": "8", "scenario": "Offline", "gpu": "b200-sxm-180gb"}
    path = file_of(*({**ROW, **usual, **row, "row_id": str(number)} for number, row in enumerate(rows)))
    cases = cases_of(load_serving_rows([path]), CATALOG)
    found = [one.deployment for one in cases if isinstance(one, ServingCase)]
    assert [(one.tensor, one.data, one.pipeline, one.beams) for one in found] == [
        (1, 8, 1, 1),
        (8, 1, 2, 1),
        (1, 1, 1, 4),
        (1, 1, 1, 1),
    ]
    assert found[0].most_running == 8 * 512


def test_only_sglang_holds_tokens_back():
    cases = [case for case in cases_of(load_serving_rows(), CATALOG) if isinstance(case, ServingCase)]
    assert {case.deployment.engine for case in cases if case.deployment.buffered_tokens > 1} == {"sglang"}
