"""Rows of others: spellings of models, tasks, GPUs, sharding and recomputation are those of the shipped rows."""

import dataclasses
from functools import lru_cache

import pytest

from sizer.base.errors import RequestError
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import (
    LanguageCase,
    LanguageRow,
    cases_of,
    check_software,
    gpu_asked,
    load_language_rows,
    number_format,
    stack_named,
)
from sizer.calibrate.notes import FitNote
from sizer.sizing.stages.language_rates import LayoutQuestion, search_layouts
from sizer.workload.transformer.number_formats import formats_of
from tests.factories import examples

LLAMA_8B = LayoutQuestion("Llama 3 8B", "H100", gpus=64, sequence=8192, batch=128)


def refusal(**changed):
    with pytest.raises(RequestError) as refused:
        search_layouts(dataclasses.replace(LLAMA_8B, **changed), examples.catalog(), language_calibration(), 1)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"precision": "int3"}, "'int3' is no number format. Allowed are fp16, bf16, fp8, mxfp8, fp4 and nvfp4"),
        ({"precision": "mxfp9"}, "did you mean 'mxfp8'?"),
        ({"software": "nonsense"}, "software 'nonsense' is not known. Known are"),
        ({"software": "torchtittan"}, "did you mean 'torchtitan'?"),
        ({"gpu": "B2000"}, "GPU 'B2000' is not in the catalogue. Known are"),
        ({"gpu": "H100X"}, "GPU 'H100X' is not in the catalogue. Known are"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_the_nearest(changed, says):
    assert says in refusal(**changed)


@pytest.mark.parametrize(
    ("gpu", "precision", "has"),
    [
        # NVIDIA, Transformer Engine, support matrix: FP8 from compute capability 8.9 (A100 has 8.0), MXFP8 and NVFP4
        # from 10.0 (H100 has 9.0), BF16 from 8.0 (V100 has 7.0). AMD prints no peak of FP4 for MI300X.
        ("H100", "fp4", "FP16, BF16 and FP8"),
        ("H100", "mxfp8", "FP16, BF16 and FP8"),
        ("MI300X", "fp4", "FP16, BF16 and FP8"),
        ("A100", "fp8", "FP16 and BF16"),
        ("V100", "bf16", "its number format is FP16"),
    ],
)
def test_a_format_that_the_gpu_does_not_have_is_refused_with_those_that_it_has(gpu, precision, has):
    text = refusal(gpu=gpu, precision=precision)
    assert f"does not compute in {precision.upper()}" in text
    assert text.endswith(has)


def test_every_peak_of_the_catalogue_is_of_a_format_that_the_gpu_has():
    catalog = examples.catalog()
    for gpu in catalog.gpus.values():
        known = formats_of(gpu, catalog)
        assert {name for name in (*gpu.peak_flop_per_s, *gpu.matmul_flop_per_s) if name != "tf32"} <= set(known), gpu.id


@pytest.mark.parametrize(
    ("text", "gpu"),
    [
        ("H100", "h100-sxm-80gb"),
        ("NVIDIA H100 SXM", "h100-sxm-80gb"),
        ("h100-pcie", "h100-pcie-80gb"),
        ("A100-40GB", "a100-sxm-40gb"),
        ("b200-sxm-180gb", "b200-sxm-180gb"),
        ("V100", "v100-sxm2-16gb"),
        ("Instinct MI355X", "mi355x-288gb"),
    ],
)
def test_gpus_are_known_by_the_names_that_people_use(text, gpu):
    assert gpu_asked(text, examples.catalog()).id == gpu


@pytest.mark.parametrize(
    ("text", "stack"),
    [
        ("NeMo", "nemo"),
        ("NeMo 25.04", "nemo"),
        ("Megatron-Bridge", "nemo"),
        ("nemo-automodel", "nemo-automodel"),
        ("MaxText", "maxtext"),
        ("MLPerf-tuned", "mlperf"),
        ("DeepSpeed", "deepspeed"),
        ("Megatron-DeepSpeed", "megatron-deepspeed"),
    ],
)
def test_software_is_known_by_its_names(text, stack):
    check_software(text, examples.catalog())
    assert stack_named(LanguageRow("", "", "", "h100-sxm-80gb", "", 1.0, software=text)) == stack


def test_kinds_of_fp8_have_one_rate_and_fp16_its_own():
    """No published run tells MXFP8 from FP8 on the same GPU; 64 runs with FP16 on A100 have an effect of their own."""

    def rate(gpu, precision):
        question = dataclasses.replace(LLAMA_8B, gpu=gpu, precision=precision)
        found = search_layouts(question, examples.catalog(), language_calibration(), 1)
        return float(found.answers[0].tokens_per_s.value)

    assert rate("B200", "mxfp8") == rate("B200", "fp8")
    assert rate("B200", "nvfp4") == rate("B200", "fp4") > rate("B200", "fp8")
    assert rate("A100", "fp16") != rate("A100", "bf16")


@lru_cache
def shipped() -> tuple[LanguageRow, ...]:
    return load_language_rows()


def first(**wanted) -> LanguageRow:
    return next(
        row
        for row in shipped()
        if row.role == "calibration" and all(getattr(row, name) == value for name, value in wanted.items())
    )


def case_of(row: LanguageRow, **change) -> LanguageCase:
    [case] = cases_of([dataclasses.replace(row, **change)], examples.catalog(), shipped())
    assert isinstance(case, LanguageCase), case
    return case


@pytest.mark.parametrize(
    ("model", "spellings"),
    [
        ("Llama2-70B", ("Llama 2 70B", "Llama-2-70B")),
        ("GPT-OSS-120B", ("gpt-oss 120b", "gpt_oss_120b", "openai/gpt-oss-120b")),
        ("DeepSeek-V3", ("DeepSeekV3", "deepseek-ai/DeepSeek-V3")),
        ("Qwen3-235B-A22B", ("Qwen/Qwen3-235B-A22B",)),
    ],
)
def test_spellings_of_a_model_are_one_model(model, spellings):
    row = dataclasses.replace(first(model=model), layers=None, hidden=None, heads=None)
    known = case_of(row)
    for spelling in spellings:
        case = case_of(row, model=spelling)
        assert (case.row.model, case.levels, case.shape) == (model, known.levels, known.shape), spelling


@pytest.mark.parametrize("model", ["GPT-NeoX-20B", "Qwen3-14B", "Llama-3.2-90B", "MPT-2b", "Foo-70B", "Nemotron-5-15B"])
def test_another_model_is_not_taken_for_a_measured_one(model):
    measured = {row.model for row in shipped()}
    assert case_of(first(model="Llama3-70B"), model=model, params_b=None).row.model not in measured


def test_every_shipped_row_keeps_its_words():
    """Names of effects are those of the rows as they are: the stored fit knows no others."""
    cases = [one for one in cases_of(shipped(), examples.catalog(), shipped()) if isinstance(one, LanguageCase)]
    words = {one.row_id: (one.model, one.kind, one.recompute) for one in shipped()}
    assert [words[one.row.row_id] for one in cases] == [
        (one.row.model, one.row.kind, one.row.recompute) for one in cases
    ]


def test_sharding_and_recomputation_are_read_in_any_case():
    row = first(kind="pretrain", recompute="full")
    for word in ("FSDP", "ZeRO-3", "HSDP", "full_shard"):
        assert case_of(row, sharding=word).layout["is_fully_sharded"] == 1.0, word
    assert case_of(row, recompute="Full").layout["recompute"] == 1.0
    assert case_of(row, recompute="Selective").layout["recompute"] == 0.15
    # An unknown word is no statement: what does not fit a GPU without recomputation has it.
    assert case_of(row, recompute="as usual").layout == case_of(row, recompute="").layout


@pytest.mark.parametrize(
    ("text", "gpu"),
    [
        ("H100 PCIe", "h100-pcie-80gb"),
        ("NVIDIA H100 PCIe", "h100-pcie-80gb"),
        ("H100 NVL", "h100-nvl-94gb"),
        ("H200 NVL", "h200-nvl-141gb"),
        ("A100-PCIe-80GB", "a100-pcie-80gb"),
        ("AMD Instinct MI300X", "mi300x-192gb"),
    ],
)
def test_the_board_in_the_wording_of_a_gpu_counts(text, gpu):
    assert case_of(first(model="Llama3-8B"), gpu=text).gpu_id == gpu


@pytest.mark.parametrize("text", ["L20", "GB10", "H100 NVL2", "MI210", "B40"])
def test_a_gpu_that_the_catalogue_does_not_have_is_no_other_one(text):
    [found] = cases_of([dataclasses.replace(first(model="Llama3-8B"), gpu=text)], examples.catalog(), shipped())
    assert found.kind is FitNote.GPU_NOT_IN_CATALOGUE


def test_a_row_without_its_format_has_the_usual_one_of_its_gpus_and_stack():
    """Most runs with MLPerf's stack on Hopper are FP8; of llm-foundry on A100 all are BF16."""
    tuned = first(model="Llama2-70B", gpu="H100", kind="lora")
    assert number_format(case_of(tuned, precision="").row.precision) == "fp8"
    plain = first(model="MPT-7b", gpu="A100-40GB")
    case = case_of(plain, precision="")
    assert number_format(case.row.precision) == "bf16"
    assert "precision" in case.guessed
