"""Degrees that a source does not state: the least with which the state of the training fits, by hand."""

import pytest

from sizer.calibrate.language.layout import usual_degrees
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.language.shapes import shape_values
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
