"""Rows of others: spellings of models, tasks, GPUs, sharding and recomputation are those of the shipped rows."""

import dataclasses
from functools import lru_cache

import pytest

from sizer.calibrate.language.cases import LanguageCase, cases_of
from sizer.calibrate.language.rows import LanguageRow, load_language_rows, number_format
from sizer.calibrate.notes import FitNote
from tests.factories import examples


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
