"""Language-model measurements: reading them, the fit, predictions and their accuracy."""

import dataclasses
from functools import lru_cache

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import digest_of, fits_path, load_fits
from sizer.calibrate.language.calibration import (
    accuracy_by_generation,
    basis_of,
    calibrate,
    language_calibration,
    newest_round,
)
from sizer.calibrate.language.cases import (
    LanguageCase,
    LanguageRow,
    arrays,
    cases_of,
    load_language_rows,
    number_format,
)
from sizer.calibrate.notes import FitNote, RowUse
from sizer.calibrate.reports import MEMORY, RATE, TIME, validate_language
from tests.factories import examples


def test_runs_that_share_model_machine_and_software_are_counted():
    calibration = language_calibration()
    cases = calibration.cases
    case = next(one for one in cases if one.row.model == "Llama3-70B" and one.levels.gpu_precision.endswith("/bf16"))
    mine = [
        one
        for one in cases
        if (one.row.model, one.levels.gpu_precision, one.levels.stack)
        == (case.row.model, case.levels.gpu_precision, case.levels.stack)
    ]
    basis = basis_of(case, calibration)
    assert basis.all_three == len(mine) >= 1
    assert basis.most_gpus == max(one.row.gpus for one in mine)
    assert basis.all_three <= min(basis.model, basis.gpu_precision, basis.stack)


def test_runs_of_some_layers_of_a_model_are_no_runs_of_it():
    calibration = language_calibration()
    named = [one for one in calibration.cases if one.row.model == "Llama3.1-405B"]
    whole = [one for one in named if one.row.layers in (None, 126)]  # Llama 3.1 405B: arXiv:2407.21783, table 3
    assert len(whole) < len(named)
    basis = basis_of(next(one for one in whole if one.levels.gpu_precision.startswith("h100")), calibration)
    assert basis.model == len(whole)


def test_every_fitted_run_is_in_one_group():
    calibration, catalog = language_calibration(), examples.catalog()
    groups = accuracy_by_generation(calibration, catalog)
    assert sum(one.errors.rows for one in groups) == len(calibration.cases)
    assert len({(one.generation, one.stack) for one in groups}) == len(groups)
    nemo = next(one for one in groups if (one.generation, one.stack) == ("blackwell", "nemo"))
    errors = [
        abs(error)
        for case, error in zip(calibration.cases, calibration.steps.errors()[0], strict=True)
        if catalog.gpus[case.gpu_id].generation == "blackwell" and case.levels.stack == "nemo"
    ]
    assert nemo.errors.median == pytest.approx(float(np.median(errors)))
    assert nemo.errors.rows == len(errors)


def test_the_stored_fits_are_those_of_the_shipped_rows():
    again, stored = calibrate(load_language_rows(), examples.catalog()).stored(), language_calibration().stored()
    assert (again.digest, list(again.fits)) == (stored.digest, list(stored.fits))
    for name, fit in again.fits.items():
        # Both come from the same arithmetic; processors differ in the last digits, and the fit stops at 1e-8.
        assert fit.names == stored.fits[name].names
        np.testing.assert_allclose(stored.fits[name].values, fit.values, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            stored.fits[name].covariance(fit.names), fit.covariance(fit.names), rtol=1e-5, atol=1e-8
        )


def test_fits_to_other_numbers_are_refused():
    """A part in a hundred of one number is another catalogue; the last digits, which processors differ in, are not."""
    column = np.array([80e9, 141e9])
    assert digest_of("rows", [column]) == digest_of("rows", [column * (1 + 1e-9)])
    assert digest_of("rows", [column]) != digest_of("rows", [column * 1.01])
    with pytest.raises(CalibrationError, match="run 'sizer calibrate'"):
        load_fits(fits_path("language"), {}, digest_of("rows", [column]))


HEADER = "row_id,source,model,gpu,gpus,precision,seq,global_batch,micro_batch,tp,pp,cp,sharding,software,step_time_s\n"
ROW = "a,lab-2026,Llama3-8B,H100,8,BF16,8192,128,1,1,1,2,dist_optimizer,NeMo,12.27\n"


@lru_cache
def shipped() -> tuple[LanguageRow, ...]:
    return load_language_rows()


def written(folder, text):
    path = folder / "rows.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_of_a_stranger_is_predicted(tmp_path):
    # NVIDIA's recipes print 12.27 s for 128 sequences of 8,192 tokens of Llama 3 8B on 8 H100 with BF16, TP 1, CP 2.
    rows = load_language_rows(written(tmp_path, HEADER + ROW))
    [found] = validate_language(rows, examples.catalog(), language_calibration())
    assert (found.id, found.quantity, found.status.use) == ("a", RATE, RowUse.PREDICTED)
    assert found.published == pytest.approx(128 * 8192 / 12.27 / 8)
    assert found.predicted == pytest.approx(found.published, rel=0.12)
    assert found.low < found.predicted < found.high


@pytest.mark.parametrize(
    ("cell", "by", "says"),
    [
        ("12.27", "nan", "step_time_s: nan must be"),
        ("12.27", "-1", "step_time_s: -1 must be"),
        ("8192", "many", "seq: 'many' is not a number"),
        (",8,BF16", ",0,BF16", "gpus: 0 must be 1 to"),
        ("8192,128,1,1", "8192,128,1,0.5", "tp: 0.5 must be 0 or 1 to"),
    ],
)
def test_a_bad_cell_is_named_with_its_line(tmp_path, cell, by, says):
    with pytest.raises(CalibrationError, match="csv:2: ") as refused:
        load_language_rows(written(tmp_path, HEADER + ROW.replace(cell, by, 1)))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"gpu": "TPU v5"}, FitNote.GPU_NOT_IN_CATALOGUE),
        ({"seq": None, "tokens_s_gpu": None, "ttt_min": 60.0}, FitNote.SEQUENCE_NOT_STATED),
        ({"model": "New-MoE", "arch": "moe"}, FitNote.SHAPE_NOT_STATED),
        ({"model": ""}, FitNote.SHAPE_NOT_STATED),
        ({"gpu": ""}, FitNote.GPU_NOT_NAMED),
        ({"gpus": 0.0}, FitNote.COUNTS_NOT_STATED),
    ],
)
def test_a_row_that_cannot_be_predicted_says_why(change, kind):
    row = dataclasses.replace(
        LanguageRow("a", "s", "Llama3-8B", "H100", "BF16", 8, seq=8192.0, tokens_s_gpu=1e4), **change
    )
    [found] = validate_language([row], examples.catalog(), language_calibration())
    assert found.predicted is None
    assert found.status.reason.kind is kind


def test_cells_that_are_not_stated_leave_a_row_that_is_predicted_or_has_its_reason(tmp_path):
    """A row without its id has its place; GPUs follow from nodes, or from the degrees; formats are BF16."""
    header = HEADER.rstrip("\n") + ",gpus_per_node,nodes,colour\n"
    cells = dict(zip(HEADER.rstrip("\n").split(","), ROW.rstrip("\n").split(","), strict=True))
    for left_out, gpus in (("row_id", 8.0), ("precision", 8.0), ("gpus", 16.0)):
        text = ",".join("" if name == left_out else value for name, value in cells.items())
        [row] = load_language_rows(written(tmp_path, f"{header}{text},8,2,blue\n"))
        [found] = validate_language([row], examples.catalog(), language_calibration())
        assert row.gpus == gpus
        assert found.predicted is not None
        assert row.row_id == ("rows.csv:2" if left_out == "row_id" else "a")


def test_a_count_of_zero_is_one_that_is_not_stated(tmp_path):
    [row] = load_language_rows(written(tmp_path, HEADER + ROW.replace("8192,128,1,1,1,2", "8192,128,1,1,0,2")))
    assert row.pp is None


def test_other_wordings_of_a_gpu_are_the_same_gpu():
    row = LanguageRow("a", "s", "Llama3-8B", "H100", "BF16", 8, seq=8192.0, tokens_s_gpu=1e4, params_b=8.0)
    words = [dataclasses.replace(row, gpu=gpu) for gpu in ("H100", "NVIDIA H100 SXM", "H100-96GB-HBM2e-500W")]
    groups = [case.levels.gpu_precision for case in cases_of(words, examples.catalog())]
    assert groups[0] == groups[1] != groups[2]


def test_experts_without_their_width_have_that_of_the_same_model():
    """DeepSeek-V3: 2,048 wide (its configuration file); the 18,432 of its dense layers would be nine times that."""
    known = next(one for one in shipped() if one.model == "DeepSeek-V3" and one.role == "calibration")
    row = dataclasses.replace(known, moe_ffn=None)
    [case], [alone] = cases_of([row], examples.catalog(), shipped()), cases_of([row], examples.catalog())
    assert case.shape["expert_ffn"] == alone.shape["expert_ffn"] == 2048
    [other] = cases_of([dataclasses.replace(row, model="Nobody's mixture")], examples.catalog())
    assert other.kind is FitNote.SHAPE_NOT_STATED


def test_names_of_formats():
    assert [number_format(text) for text in ("MXFP8", "NVFP4", "FP8-CS", "BF16", "FP16")] == [
        "fp8",
        "fp4",
        "fp8",
        "bf16",
        "fp16",
    ]


def test_the_fit_reproduces_what_it_has_seen():
    errors = np.abs(language_calibration().steps.errors()[0])
    assert len(errors) > 900
    assert np.median(errors) <= 0.04
    assert np.quantile(errors, 0.9) <= 0.15


def test_a_layout_has_the_interval_of_a_run_with_it():
    fitted = language_calibration()
    cases = [one for one in fitted.cases if not one.guessed][::40]
    rates = fitted.step_seconds(cases)
    steps = [fitted.step_of_layouts(one, arrays([one])) for one in cases]
    assert len(cases) > 5
    assert [float(log_sd[0]) for _, log_sd in steps] == pytest.approx(rates.log_sd, rel=1e-6)


def test_factors_stay_physical():
    """Matrix products never beat the measured rate, and no traffic is faster than its line for nothing."""
    fit = language_calibration().fit
    values = dict(zip(fit.names, np.exp(fit.values), strict=True))
    assert values["linear"] >= 1
    assert values["experts"] >= 1
    for exposed in ("tensor", "context", "data", "expert_traffic"):
        assert 0 < values[exposed] < 1.5


def test_the_stored_accuracy_is_that_of_the_fit():
    """The newest round, left out again here, has the stored figures; the others take half a minute to measure."""
    stored = {one.measure: one for one in language_calibration().figures}
    rates, times = newest_round(language_calibration().steps)
    assert stored["language-newest-round-rates"].value == pytest.approx(np.median(np.abs(rates)), rel=0.02)
    assert stored["language-newest-round-times"].value == pytest.approx(np.median(np.abs(times)), rel=0.02)
    assert stored["language-newest-round-rates"].rows == len(rates)


def test_times_to_train_of_benchmarks_are_predicted():
    rows = [row for row in shipped() if row.ttt_min and row.role == "calibration"]
    found = validate_language(rows, examples.catalog(), language_calibration())
    errors = [abs(row.log_error) for row in found if row.quantity == TIME and row.log_error is not None]
    assert len(errors) > 100
    assert np.median(errors) < 0.10


def test_every_source_of_the_rows_is_in_the_catalogue():
    assert {row.source for row in shipped()} <= set(examples.catalog().sources)


def test_shapes_of_unknown_layers_follow_from_the_parameters():
    row = LanguageRow(
        "a", "s", "Other-70B", "H100", "BF16", 64, seq=4096.0, params_b=70.0, global_batch=64.0, step_time_s=9.0
    )
    [case] = cases_of([row], examples.catalog())
    assert isinstance(case, LanguageCase)
    assert set(case.guessed) >= {"shape", "layers"}
    assert case.shape["layers"] == pytest.approx(80, rel=0.15)


def test_memory_of_a_published_run_is_predicted():
    """BLOOM's 176 G parameters on 384 A100 took 60 GB a GPU with TP 4 and PP 12: BigScience's experiments."""
    rows = [row for row in shipped() if row.source == "bigscience-bloom" and row.mem_gib]
    found = [
        one for one in validate_language(rows, examples.catalog(), language_calibration()) if one.quantity == MEMORY
    ]
    assert len(found) == len(rows)
    errors = np.abs([one.log_error for one in found])
    assert np.median(errors) < 0.08
    assert np.mean([one.is_covered for one in found]) > 0.8


def test_more_sharding_and_recomputing_take_less_memory():
    row = LanguageRow(
        "a",
        "s",
        "Llama3-8B",
        "H100",
        "BF16",
        8,
        kind="pretrain",
        layers=32.0,
        hidden=4096.0,
        ffn=14336.0,
        heads=32.0,
        kv_heads=8.0,
        head_dim=128.0,
        seq=8192.0,
        global_batch=128.0,
        micro_batch=1.0,
        tp=1.0,
        pp=1.0,
        cp=1.0,
        sharding="ddp",
        recompute="none",
        software="NeMo",
    )

    def peak(**change):
        cases = cases_of([dataclasses.replace(row, **change)], examples.catalog())
        return float(language_calibration().memory.estimate(cases).value[0])

    whole, optimizer, full = peak(), peak(sharding="dist_optimizer"), peak(sharding="fsdp")
    # 8 G parameters x 12 bytes of optimizer state, of which seven eighths move to other GPUs
    assert whole - optimizer > 0.9 * 8e9 * 12 * 7 / 8
    assert full < optimizer
    assert peak(recompute="full") < peak(recompute="selective") < whole
    assert peak(tp=2.0) < whole


@pytest.mark.parametrize(
    ("model", "arch", "size", "active"),
    [
        # NVIDIA, "Nemotron 3" (2025): Nano has 31.6 G parameters, 3.2 G of them for a token.
        ("Nemotron-3-Nano", "hybrid_moe", 30e9, 3.2e9),
        # Qwen team, "Qwen3" (2025): 30 G parameters, 3 G of them for a token, as the name says.
        ("Other-30B-A3B", "moe", 30e9, 3e9),
        ("Some-13B", "hybrid", 13e9, 13e9),
    ],
)
def test_models_without_a_shape_have_a_usual_one_of_their_size(model, arch, size, active):
    row = LanguageRow("a", "s", model, "H100", "BF16", 8, arch=arch, params_b=size / 1e9, seq=8192.0, tokens_s_gpu=1e4)
    [case] = cases_of([row], examples.catalog())
    shapes, _, _ = arrays([case])
    assert float(shapes.parameters[0]) == pytest.approx(size, rel=0.12)
    used = float((shapes.linear_parameters_used + 2 * shapes.vocabulary * shapes.hidden)[0])
    assert used == pytest.approx(active, rel=0.12)
    assert ("hybrid layers" in case.guessed) == arch.startswith("hybrid")


def test_a_sharding_that_cannot_have_run_is_read_as_full():
    # 70.6 G parameters in BF16 with BF16 gradients are 282 GB, 12 / 64 of the optimizer 13 GB: 295 of 309 GB of a GB300
    # are taken before any activation.
    row = LanguageRow("a", "s", "Llama3-70B", "GB300", "NVFP4", 64, seq=8192.0, global_batch=256.0, micro_batch=2.0)
    row = dataclasses.replace(row, tp=1.0, pp=1.0, cp=1.0, sharding="dist_optimizer", software="Megatron-Bridge")
    [case] = cases_of([dataclasses.replace(row, tokens_s_gpu=7000.0)], examples.catalog())
    assert case.layout["is_fully_sharded"] == 1.0
    assert case.guessed == ("sharding",)
