"""Layouts of rows: degrees that are left out, layouts that cannot be, and what a row leaves open."""

import dataclasses
import math

import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import CONTRADICTION, LanguageRow, load_language_rows, shape_values, usual_degrees
from sizer.calibrate.notes import FitNote, RowUse
from sizer.calibrate.reports import FLOP, MEMORY, RATE, TIME, validate_language
from tests.calibrate.language.test_wordings import case_of, first, shipped
from tests.factories import examples

GPU = 80e9


def degrees(model: str, gpus: float, **stated: float) -> tuple[float, float, float]:
    shape = examples.catalog().dnns[model].transformer
    row = LanguageRow("a", "s", model, "H100", "BF16", gpus, **stated)
    return usual_degrees(row, shape_values(shape), GPU, 8.0)


def test_a_model_that_fits_is_not_divided():
    # 8.03 G parameters: 4 bytes each and 12 / 8 of the optimizer are 44 GB of the 48 GB that state may take.
    assert degrees("llama-3-8b", 8) == (1.0, 1.0, 1.0)


def test_a_larger_model_is_divided_by_the_least_that_fits():
    # 70.6 G parameters on 64 GPUs: 4 / 8 + 12 / 64 bytes are 48.5 GB, just too much; 4 / 16 + 12 / 64 are 31 GB.
    tensor, pipeline, expert = degrees("llama-3-70b", 64)
    assert (tensor * pipeline, expert) == (16, 1)
    # On twice as many GPUs 4 / 8 + 12 / 128 bytes are 42 GB.
    tensor, pipeline, _ = degrees("llama-3-70b", 128)
    assert tensor * pipeline == 8


def test_what_is_stated_stays():
    assert degrees("llama-3-70b", 64, tp=4.0, pp=4.0) == (4.0, 4.0, 1.0)
    tensor, pipeline, _ = degrees("llama-3-70b", 64, tp=2.0)
    assert (tensor, pipeline) == (2.0, 8.0)


def test_replicas_that_are_stated_leave_so_many_gpus_each():
    tensor, pipeline, _ = degrees("llama-3-70b", 64, dp=2.0)
    assert tensor * pipeline == 32


@pytest.mark.parametrize("gpus", [64, 256, 1024])
def test_degrees_divide_heads_layers_experts_and_gpus(gpus):
    shape = examples.catalog().dnns["qwen3-235b-a22b"].transformer
    tensor, pipeline, expert = degrees("qwen3-235b-a22b", gpus)
    assert shape.heads % tensor == shape.layers % pipeline == shape.experts % expert == 0
    assert gpus % (tensor * pipeline) == 0
    assert expert * pipeline <= gpus


def test_what_fits_nowhere_has_the_smallest_state():
    # 405 G parameters on one server: everything is divided as far as eight GPUs go.
    tensor, pipeline, _ = degrees("llama-3.1-405b", 8)
    assert tensor * pipeline == 8


def test_with_stated_replicas_stages_are_what_is_left():
    """GPT of 530 G in 105 layers on 2,520 GPUs with 9 replicas: 280 GPUs each, TP 8 and 35 stages of 3 layers."""
    shape = shape_values(examples.catalog().dnns["gpt-3-175b"].transformer) | {
        "layers": 105.0,
        "hidden": 20480.0,
        "ffn": 81920.0,
        "heads": 128.0,
    }
    row = LanguageRow("a", "s", "GPT-529.6B", "A100", "FP16", 2520.0, dp=9.0)
    assert usual_degrees(row, shape, GPU, 8.0) == (8.0, 35.0, 1.0)


HEADER = "row_id,source,model,gpu,gpus,precision,seq,global_batch,tp,tflops_gpu,tokens_s_gpu\n"
ROW = "a,lab,Llama3-8B,H100,8,BF16,8192,128,1,400,\n"


def validated(row, **change):
    return validate_language([dataclasses.replace(row, **change)], examples.catalog(), language_calibration())


def log_width(row, quantity, **change):
    [found] = [one for one in validated(row, **change) if one.quantity == quantity]
    return math.log(found.high / found.low)


def test_the_degree_that_is_left_out_follows_from_the_others():
    """64 GPUs: 4 x 2 x 2 leaves 4 replicas; 64 / (4 x 2 x 4) = 2; 64 / (4 x 2 x 8) = 1."""
    row = dataclasses.replace(
        first(model="Llama3-70B"), gpus=64.0, global_batch=128.0, tp=4.0, pp=2.0, cp=2.0, dp=4.0, vp=1.0, ep=None
    )
    known = case_of(row)
    for name in ("tp", "pp", "cp", "dp"):
        case = case_of(row, **{name: None})
        assert (case.layout, case.guessed) == (known.layout, known.guessed), name
    assert case_of(row, cp=None, dp=8.0).layout["context"] == 1.0


def test_gpus_without_a_sequence_divide_one():
    """64 GPUs, TP 4 and PP 2 leave 8; a batch of 2 sequences is too small for 8 replicas: 4 GPUs share each."""
    row = dataclasses.replace(
        first(model="Llama3-70B"), gpus=64.0, global_batch=2.0, tp=4.0, pp=2.0, cp=None, dp=None, vp=1.0, ep=None
    )
    case = case_of(row)
    assert case.layout["context"] == 4.0
    assert "layout" in case.guessed
    assert case_of(row, global_batch=8.0).layout["context"] == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"gpus": 1.0, "tp": 4.0, "pp": 4.0, "dp": None},
        {"pp": 200.0, "dp": None},
        {"dp": 1.0},
        {"gpus": 64.0, "tp": 3.0, "pp": 5.0, "dp": None},
        {"gpus": 100.0, "pp": 100.0, "tp": 1.0, "dp": 1.0},
        {"global_batch": 1.0},
    ],
)
def test_an_impossible_layout_is_told_and_not_taken(change):
    """Of 32 GPUs with TP 4, PP 4 and CP 1 two replicas are left; Llama 3 70B has 80 layers."""
    row = dataclasses.replace(
        first(model="Llama3-70B"), gpus=32.0, global_batch=32.0, tp=4.0, pp=4.0, cp=1.0, dp=2.0, vp=5.0, ep=None
    )
    assert CONTRADICTION not in case_of(row).guessed
    case = case_of(row, **change)
    assert CONTRADICTION in case.guessed
    degrees = math.prod(case.layout[name] for name in ("tensor", "pipeline", "context"))
    assert case.layout["gpus"] % degrees == 0
    found = next(one for one in validated(row, **change) if one.quantity == RATE)
    assert FitNote.LAYOUT_CONTRADICTS in {one.kind for one in found.notes}
    assert log_width(row, RATE, **change) > log_width(row, RATE)


def test_what_a_row_leaves_open_widens_its_interval():
    timed = next(row for row in shipped() if row.ttt_min and row.kind == "pretrain" and row.role == "calibration")
    assert log_width(timed, TIME, global_batch=None) > 2 * log_width(timed, TIME)
    peak = next(row for row in shipped() if row.mem_gib and row.micro_batch and row.tp and row.kind == "pretrain")
    usual = log_width(peak, MEMORY)
    no_micro = log_width(peak, MEMORY, micro_batch=None)
    no_layout = log_width(peak, MEMORY, tp=None, pp=None, cp=None, dp=None, ep=None, vp=None)
    assert usual < no_micro < no_layout
    assert log_width(peak, RATE, precision="", tokens_s_gpu=1.0) > log_width(peak, RATE, tokens_s_gpu=1.0)


def test_a_proxy_has_as_many_layers_as_its_parameters_say():
    """Grok-1: 314 G in 64 layers; 19.6 G are 4 of them, as the row with its shape says. Nothing stated: all."""
    row = first(model="Grok-1", kind="pretrain_proxy", params_b=19.6)
    assert row.layers == 4
    bare = dict.fromkeys(("layers", "hidden", "ffn", "heads", "kv_heads", "head_dim", "experts", "top_k", "moe_ffn"))
    assert case_of(row, **bare).shape["layers"] == 4
    assert case_of(row, **bare, params_b=None).shape["layers"] == 64
    assert case_of(row, **bare, params_b=300.0).shape["layers"] == 64


def test_every_row_has_an_answer(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + ROW + ROW.replace("a,", "b,").replace(",400,", ",,") + "c,lab,Llama3-8B\n")
    flop, nothing, cut = validate_language(load_language_rows(path), examples.catalog(), language_calibration())
    assert (flop.id, flop.quantity, flop.published) == ("a", FLOP, 400e12)
    assert flop.status.reason.kind is FitNote.ONLY_FLOP_PUBLISHED
    assert (nothing.id, nothing.status.reason.kind) == ("b", FitNote.NOTHING_PUBLISHED)
    assert (cut.id, cut.status.reason.kind) == ("c", FitNote.GPU_NOT_NAMED)
    assert {one.status.use for one in (flop, nothing, cut)} == {RowUse.OUTSIDE}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ROW + ROW, "'a' is used by line 2 already"),
        (ROW.replace("8192", "8_192"), "seq: '8_192' is not a number"),
        (ROW.replace("8192", "\u0668\u0661\u0669\u0662"), "is not a number"),
    ],
)
def test_ids_are_unique_and_numbers_are_plain(tmp_path, text, says):
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"rows\.csv:") as refused:
        load_language_rows(path)
    assert says in str(refused.value)


def test_a_row_of_the_fit_says_so_and_a_changed_one_does_not():
    row = first(model="Llama3-70B", kind="pretrain")
    uses = [
        next(one for one in validated(row, **change) if one.quantity == RATE).status.use
        for change in ({}, {"grad_accum": 4.0, "tflops_gpu": 500.0}, {"global_batch": row.global_batch * 2})
    ]
    assert uses == [RowUse.CALIBRATED, RowUse.CALIBRATED, RowUse.PREDICTED]


@pytest.mark.parametrize(
    ("gpu", "date", "software", "is_unfused"),
    [
        ("A100-80GB", "2021-04", "Megatron-LM", True),
        ("A100-80GB", "", "Megatron-LM", True),
        ("A100-80GB", "2023-05", "Megatron-LM", False),
        ("B200", "", "Megatron-LM", False),
        ("A100-80GB", "2021-04", "NeMo", False),
    ],
)
def test_attention_is_fused_from_2023_on_and_on_younger_gpus(gpu, date, software, is_unfused):
    """FlashAttention appeared in May 2022, Hopper in the autumn after it."""
    case = case_of(first(model="GPT3-175B"), gpu=gpu, date=date, software=software, precision="BF16")
    assert bool(case.layout["is_unfused"]) is is_unfused


def test_only_kernels_of_2023_are_early_and_those_of_pytorch_ported_from_hopper_on():
    def flags(gpu, software):
        layout = case_of(first(model="MPT-7b"), gpu=gpu, software=software, precision="BF16").layout
        return bool(layout["is_early"]), bool(layout["is_ported"])

    assert flags("A100-80GB", "llm-foundry") == (True, False)
    assert flags("H100", "llm-foundry") == (True, True)
    assert flags("H100", "torchtitan") == (False, True)
    assert flags("H100", "NeMo") == (False, False)


def test_a_shortened_mixture_has_as_many_dense_layers_as_it_states():
    """DeepSeek-V3 has 3 dense layers of 61; of 4 layers 3 would be dense, where the run had one."""
    row = dataclasses.replace(first(model="DeepSeek-V3"), layers=4.0)
    assert case_of(row).shape["dense_layers"] == 3
    assert case_of(row, dense_layers=1.0).shape["dense_layers"] == 1


def test_flop_are_predicted_as_the_source_counts_them():
    """Narayanan et al. 2021, equation 3: 96 B s l h^2 (1 + s / 6h + V / 16lh) with full recomputation, GPT-3 175B.

    Causal attention counts half, and model FLOP nothing that is recomputed: 72 h^2 + 6 s h for each layer.
    """
    row = dataclasses.replace(
        first(model="GPT3-175B"),
        seq=2048.0,
        vocab=51200.0,
        recompute="full",
        tokens_s_gpu=None,
        tokens_s_gpu_adj=None,
        step_time_s=None,
        ttt_min=None,
        mem_gib=None,
        tflops_gpu=140.0,
        role="calibration",
    )
    layers, h, s, v = 96, 12288, 2048, 51200
    hardware = 96 * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h))
    model = layers * (72 * h**2 + 6 * s * h) + 6 * v * h
    rate = language_calibration().tokens_per_s_per_gpu([case_of(row)]).value[0]
    for convention, flop in (
        ("hardware incl. recompute, full attention", hardware),
        ("model, causal attention halved", model),
    ):
        [found] = validated(row, flop_convention=convention)
        assert (found.quantity, found.status.use) == (FLOP, RowUse.PREDICTED)
        assert found.predicted == pytest.approx(rate * flop, rel=1e-9)
    [found] = validated(row, flop_convention="")
    assert found.predicted is None
