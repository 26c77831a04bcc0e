"""Bytes of served models by hand, from their published shapes."""

import numpy as np
import pytest

from sizer.perf.serving.replica import ServedModels, ServingGpus, most_concurrent, replicas, weight_bytes_of

# Layers, hidden, heads, KV heads, head size, vocabulary and parameters as the models' configurations print them.
LLAMA_70B = {
    "layers": 80,
    "hidden": 8192,
    "heads": 64,
    "kv_heads": 8,
    "head_size": 128,
    "vocabulary": 128256,
    "total_parameters": 70.552e9,
}
DEEPSEEK_V3 = {
    "layers": 61,
    "hidden": 7168,
    "heads": 128,
    "kv_heads": 128,
    "head_size": 128,
    "vocabulary": 129280,
    "total_parameters": 670.92e9,
    "experts": 256,
    "active_experts": 8,
    "mixture_layers": 58,
    "expert_width": 2048,
    "routed_parameters": 653.9e9,
    "kv_rank": 512,
    "rope": 64,
}
GPT_OSS = {
    "layers": 36,
    "hidden": 2880,
    "heads": 64,
    "kv_heads": 8,
    "head_size": 64,
    "vocabulary": 201088,
    "total_parameters": 116.8e9,
    "experts": 128,
    "active_experts": 4,
    "mixture_layers": 36,
    "expert_width": 2880,
    "routed_parameters": 114.66e9,
    "full_layers": 18,
    "window_layers": 18,
    "window": 128,
}
QWEN_35 = {
    "layers": 60,
    "hidden": 4096,
    "heads": 32,
    "kv_heads": 2,
    "head_size": 256,
    "vocabulary": 248320,
    "total_parameters": 397e9,
    "experts": 512,
    "active_experts": 10,
    "mixture_layers": 60,
    "expert_width": 1024,
    "routed_parameters": 386.5e9,
    "full_layers": 15,
    "linear_layers": 45,
    "state_elements": 64 * 128 * 128,
}
_ZERO = (
    "mixture_layers",
    "expert_width",
    "routed_parameters",
    "window_layers",
    "window",
    "linear_layers",
    "state_elements",
    "kv_rank",
    "rope",
    "adapted",
)


def model(**given: float) -> ServedModels:
    """A dense model with full attention unless told otherwise."""
    usual = dict.fromkeys(_ZERO, 0.0) | {"experts": 1.0, "active_experts": 1.0, "full_layers": given["layers"]}
    return ServedModels(**{name: np.array([float(value)]) for name, value in (usual | given).items()})


H100 = ServingGpus(*(np.array([value]) for value in (85.899e9, 3.35e12, 1.979e15, 0.989e15, 450e9, 450e9)))


def replica(shape, tensor=1, data=1, expert=1, precision="fp8", element=1.0, gpu=H100, pipeline=1):
    one = model(**shape)
    narrow, wide = weight_bytes_of(precision, bool(one.is_mixture[0]))
    return replicas(one, gpu, [tensor], [data], [expert], [narrow], [wide], [element], [pipeline])


def test_concurrency_of_70b_on_two_h100_by_hand():
    """0.88 x 85.9 - (68.45 + 4 x 1.051) / 2 - 3 GB over 5,500 tokens of 81,920 bytes: 80; NIM's table shows 85."""
    found = most_concurrent(replica(LLAMA_70B, tensor=2), 5000, 500, 1.0, 0.88)
    assert float(found[0]) == pytest.approx(80.4, abs=0.5)


def test_tensor_ranks_divide_keys_and_values_by_their_heads_only():
    # 2 x 8 heads x 128 x 80 layers of one byte; with 16 ranks each head is there twice
    for ranks, each in ((1, 163_840), (8, 20_480), (16, 20_480)):
        assert replica(LLAMA_70B, tensor=ranks).cache_bytes(1.0)[0] == each


def test_latent_attention_is_whole_on_every_rank():
    # (512 + 64) x 61 layers of one byte (DeepSeek-V3, section 2.1.1)
    assert replica(DEEPSEEK_V3, tensor=8).cache_bytes(1.0)[0] == 35_136
    assert replica(DEEPSEEK_V3, data=8, expert=8).cache_bytes(1.0)[0] == 35_136


def test_a_window_bounds_the_cache():
    # 2 x 8 x 64 elements: 18 layers see all tokens, 18 the last 128
    assert replica(GPT_OSS).cache_bytes(10_000.0)[0] == 1024 * 18 * (10_000 + 128)


def test_state_of_linear_attention():
    # 64 heads of 128 x 128 numbers of four bytes in 45 layers: 189 MB, whatever the length
    assert replica(QWEN_35).state_bytes[0] == pytest.approx(189e6, rel=0.01)


def test_four_bit_mixtures_keep_their_dense_layers_in_bf16():
    """NVFP4: half a byte and one byte of scale for 16. DeepSeek: 653.9 GB x 0.5625, 15.16 and 2 x 0.927 G x 2 bytes."""
    expected = 653.9e9 * 0.5625 / 4 + (2 * (670.92e9 - 653.9e9 - 2 * 129280 * 7168) + 4 * 129280 * 7168) / 4
    assert replica(DEEPSEEK_V3, tensor=4, precision="nvfp4").weight_bytes[0] == pytest.approx(expected, rel=1e-9)


def test_data_ranks_hold_the_dense_layers_each():
    divided, whole = (replica(DEEPSEEK_V3, **way) for way in ({"tensor": 8}, {"data": 8, "expert": 8}))
    assert whole.dense_bytes[0] == pytest.approx(8 * divided.dense_bytes[0])
    assert whole.expert_bytes[0] == divided.expert_bytes[0]
