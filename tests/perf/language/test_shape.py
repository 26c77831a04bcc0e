"""Parameters and work of published models, counted from their shapes."""

import math

import numpy as np
import pytest

from sizer.perf.language.step import Shapes


def shape(**given: float) -> Shapes:
    """A dense model with gated blocks unless told otherwise."""
    usual = {
        "gates": 3.0,
        "experts": 1.0,
        "active_experts": 1.0,
        "expert_ffn": 0.0,
        "shared_ffn": 0.0,
        "dense_layers": 0.0,
        "window": math.inf,
        "window_share": 0.0,
        "q_rank": 0.0,
        "kv_rank": 0.0,
    }
    return Shapes(**{name: np.array([value]) for name, value in (usual | given).items()})


LLAMA_8B = shape(layers=32, hidden=4096, ffn=14336, heads=32, kv_heads=8, head_size=128, vocabulary=128256)
LLAMA_70B = shape(layers=80, hidden=8192, ffn=28672, heads=64, kv_heads=8, head_size=128, vocabulary=128256)
LLAMA_405B = shape(layers=126, hidden=16384, ffn=53248, heads=128, kv_heads=8, head_size=128, vocabulary=128256)
GPT3 = shape(layers=96, hidden=12288, ffn=49152, heads=96, kv_heads=96, head_size=128, vocabulary=50257, gates=2.0)
QWEN3_30B = shape(
    layers=48,
    hidden=2048,
    ffn=6144,
    heads=32,
    kv_heads=4,
    head_size=128,
    vocabulary=151936,
    experts=128,
    active_experts=8,
    expert_ffn=768,
)
DEEPSEEK_V3 = shape(
    layers=61,
    hidden=7168,
    ffn=18432,
    heads=128,
    kv_heads=128,
    head_size=128,
    vocabulary=129280,
    experts=256,
    active_experts=8,
    expert_ffn=2048,
    shared_ffn=2048,
    dense_layers=3,
    q_rank=1536,
    kv_rank=512,
)


@pytest.mark.parametrize(
    ("model", "published"),
    [
        # model cards and papers: 8.03, 70.6 and 405.9 G; GPT-3 paper 175 G; model cards 30.5 G and 671 G
        (LLAMA_8B, 8.03e9),
        (LLAMA_70B, 70.6e9),
        (LLAMA_405B, 405.9e9),
        (GPT3, 175e9),
        (QWEN3_30B, 30.5e9),
        (DEEPSEEK_V3, 671e9),
    ],
)
def test_parameters_are_those_published(model, published):
    assert float(model.parameters[0]) == pytest.approx(published, rel=0.006)


@pytest.mark.parametrize(("model", "published"), [(QWEN3_30B, 3.3e9), (DEEPSEEK_V3, 37e9)])
def test_a_token_uses_the_published_share_of_a_mixture(model, published):
    # the cards count the embedding, or the head, once
    used = model.linear_parameters_used + 2 * model.vocabulary * model.hidden
    assert float(used[0]) == pytest.approx(published, rel=0.03)


def test_work_of_a_token_by_hand():
    # 6 x (6.98 G linear + 0.525 G head) + 6 x 32 x 8192 x 4096 attention
    linear = 32 * (4096 * 128 * (2 * 32 + 2 * 8) + 3 * 4096 * 14336)
    by_hand = 6 * (linear + 4096 * 128256) + 6 * 32 * 8192 * 4096
    assert float(LLAMA_8B.model_flop(np.array([8192.0]))[0]) == pytest.approx(by_hand, rel=1e-12)


def test_a_window_bounds_attention():
    windowed = shape(
        layers=32,
        hidden=4096,
        ffn=14336,
        heads=32,
        kv_heads=8,
        head_size=128,
        vocabulary=0,
        window=4096,
        window_share=1,
    )
    long, short = (float(windowed.attention_flop(np.array([s]))[0]) for s in (131072.0, 4096.0))
    assert long == short
