"""Shapes of published models, the memory of their trainings, and the time of a step."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.perf.language.step import (
    GIB,
    Efficiencies,
    Layouts,
    Machines,
    MemoryFactors,
    Runtime,
    Shapes,
    memory_use,
    step_time,
)


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
    # adapters: 4 x the same, without gradients of the frozen weights; attention has none
    by_hand = np.array([6.0, 4.0]) * (linear + 4096 * 128256) + 6 * 32 * 8192 * 4096
    assert LLAMA_8B.model_flop(np.array([8192.0]), np.array([False, True])) == pytest.approx(by_hand, rel=1e-12)


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


ONE = np.ones(1)
BF16 = Runtime(
    element_bytes=2 * ONE,
    gradient_bytes=4 * ONE,
    shared_gradient_bytes=4 * ONE,
    optimizer_bytes=12 * ONE,
    logit_bytes=10 * ONE,
    is_allocated=ONE > 0,
)
PLAIN = MemoryFactors()


def test_state_of_a_sharded_optimizer_by_hand():
    """ZeRO stage 1 (Rajbhandari et al. 2020, section 5): 2 bytes of weights, 4 of gradients, 12 / N of optimizer."""
    use = memory_use(LLAMA_8B, layout(gpus=8, batch=8, is_optimizer_sharded=True), BF16, PLAIN)
    assert float(use.state[0]) == pytest.approx(8.03e9 * (2 + 4 + 12 / 8), rel=2e-3)


def test_state_of_full_sharding_by_hand():
    # 16 bytes a parameter over 8 GPUs, and two layers of 218 M parameters (with their part of the ends) in BF16
    use = memory_use(LLAMA_8B, layout(gpus=8, batch=8, is_fully_sharded=True), BF16, PLAIN)
    assert float(use.state[0]) == pytest.approx(8.03e9 * 16 / 8 + 2 * 2 * 8.03e9 / 32, rel=2e-3)


def test_state_of_a_framework_that_trains_its_bf16_weights():
    # 2 bytes each of weights, gradients and two moments: 8 of a parameter in place of 16, over 8 GPUs; two layers more
    plain = dataclasses.replace(BF16, shared_gradient_bytes=2 * ONE, optimizer_bytes=6 * ONE)
    use = memory_use(LLAMA_8B, layout(gpus=8, batch=8, is_fully_sharded=True), plain, PLAIN)
    assert float(use.state[0]) == pytest.approx(8.03e9 * 8 / 8 + 2 * 2 * 8.03e9 / 32, rel=2e-3)


def test_experts_of_few_replicas_divide_their_optimizer_less():
    # 256 GPUs, 64-way expert parallelism: 256 of the dense part are alike, 4 of each expert.
    way = layout(gpus=256, batch=256, expert=64, is_optimizer_sharded=True)
    dense = float((DEEPSEEK_V3.dense_parameters_used + 2 * DEEPSEEK_V3.vocabulary * DEEPSEEK_V3.hidden)[0])
    experts = float(DEEPSEEK_V3.expert_parameters[0]) / 64
    by_hand = 6 * (dense + experts) + 12 * (dense / 256 + experts / 4)
    assert float(memory_use(DEEPSEEK_V3, way, BF16, PLAIN).state[0]) == pytest.approx(by_hand, rel=1e-6)


def test_a_plain_pipeline_holds_as_many_micro_batches_as_it_has_stages():
    """1F1B (Narayanan et al. 2021, section 2.2): p micro batches of L / p layers are as much as one of all layers."""
    whole = memory_use(LLAMA_70B, layout(gpus=8, batch=64, tensor=8, is_optimizer_sharded=True), BF16, PLAIN)
    staged = memory_use(
        LLAMA_70B, layout(gpus=32, batch=64, tensor=8, pipeline=4, is_optimizer_sharded=True), BF16, PLAIN
    )
    assert float(staged.activations[0]) == pytest.approx(float(whole.activations[0]), rel=1e-9)
    # With v chunks a part of (p - 1) / (p v) more, the same source.
    chunks = layout(gpus=32, batch=64, tensor=8, pipeline=4, virtual=5, is_optimizer_sharded=True)
    more = memory_use(LLAMA_70B, chunks, BF16, PLAIN).activations / staged.activations
    assert float(more[0]) == pytest.approx(1 + 3 / 20, rel=1e-9)


def test_logits_of_a_long_sequence_are_the_largest_part():
    # 32,768 tokens x 128,256 words x 10 bytes are 42 GB.
    use = memory_use(LLAMA_8B, layout(gpus=8, batch=8, sequence=32768, is_fully_sharded=True), BF16, PLAIN)
    assert float(use.logits[0]) == pytest.approx(42.03e9, rel=1e-3)


def test_what_is_reserved_is_more_than_what_is_allocated():
    way = layout(gpus=8, batch=8, is_fully_sharded=True)
    allocated = memory_use(LLAMA_8B, way, BF16, PLAIN)
    reserved = memory_use(LLAMA_8B, way, dataclasses.replace(BF16, is_allocated=ONE < 0), PLAIN)
    more = float((reserved.total - allocated.total)[0])
    assert more == pytest.approx(0.1 * float(allocated.total[0]) + 3 * GIB, rel=1e-9)


def test_recomputing_keeps_the_input_of_each_layer():
    # 32 layers x 8,192 tokens x 4,096 x 2 bytes, and one layer in full
    use = memory_use(LLAMA_8B, layout(gpus=8, batch=8, is_fully_sharded=True, recompute=1.0), BF16, PLAIN)
    inputs = 32 * 8192 * 4096 * 2
    assert inputs < float(use.activations[0]) < 1.6 * inputs


def test_parameters_of_the_schema_are_those_of_the_physics():
    from sizer.calibrate.language.cases import shape_values
    from sizer.perf.language.step import Shapes
    from tests.factories import examples

    for dnn in examples.catalog().dnns.values():
        if dnn.transformer is not None:
            shapes = Shapes(**{key: np.array([value]) for key, value in shape_values(dnn.transformer).items()})
            assert float(shapes.parameters[0]) == pytest.approx(dnn.transformer.total_parameters, rel=1e-9)
            used = float((shapes.linear_parameters_used + shapes.vocabulary * shapes.hidden)[0])
            assert used == pytest.approx(dnn.transformer.used_parameters, rel=1e-9)


H100 = Machines(
    matmul_flop_per_s=794e12 * ONE,
    attention_flop_per_s=794e12 * ONE,
    memory_bytes=80 * 2**30 * ONE,
    memory_bytes_per_s=3.35e12 * ONE,
    domain_gpus=8 * ONE,
    domain_bytes_per_s=450e9 * ONE,
    nic_bytes_per_s=50e9 * ONE,
)
BY = Efficiencies()


def layout(**given: float) -> Layouts:
    usual = {one.name: 1.0 for one in dataclasses.fields(Layouts)} | {"sequence": 8192.0, "recompute": 0.0}
    numbers = {name: np.array([float(value)]) for name, value in (usual | given).items()}
    for name in usual:
        if name.startswith("is_"):
            numbers[name] = np.array([bool(given.get(name, False))])
    return Layouts(**numbers)


def test_linear_time_by_hand():
    # One sequence of 8,192 tokens on one GPU: 6 FLOP for each of 6.98 G linear and 0.525 G head parameters.
    free = dataclasses.replace(BY, linear=1.0, half_width=1e-9, half_tokens=1e-9)
    found = step_time(LLAMA_8B, layout(gpus=1, batch=1), H100, free)
    linear = 32 * (4096 * 128 * 80 + 3 * 4096 * 14336) + 4096 * 128256
    assert float(found.linear[0]) == pytest.approx(6 * linear * 8192 / 794e12, rel=1e-6)
    assert found.tensor[0] == found.context[0] == found.expert[0] == found.bubble[0] == found.data[0] == 0


def test_unfused_attention_moves_its_scores_by_hand():
    # 8,192 x 8,192 scores of 32 heads in 32 layers, 39 bytes each, at 3.35 TB/s: 0.80 s
    way = layout(gpus=1, batch=1)
    fused = step_time(LLAMA_8B, way, H100, BY)
    unfused = step_time(LLAMA_8B, dataclasses.replace(way, is_unfused=ONE > 0), H100, BY)
    assert float((unfused.attention - fused.attention)[0]) == pytest.approx(39 * 32 * 32 * 8192**2 / 3.35e12, rel=1e-9)


def test_old_megatron_waits_for_its_exchanges_and_repeats_norms_by_hand():
    # 80 layers, 8 passes of 8,192 x 8,192 x 2 bytes, 4 more where all is recomputed, 7/8 of each at 77 % of 450 GB/s;
    # norms and dropouts, 10 of 34 bytes, on each of 8 ranks: 1 + 7 x 10 / 34 times the elementwise traffic
    old = {"gpus": 8, "batch": 1, "tensor": 8, "is_unfused": True}
    modern = step_time(LLAMA_70B, layout(**old | {"is_unfused": False}), H100, BY)
    for passes, recompute in ((8, 0.0), (12, 1.0)):
        found = step_time(LLAMA_70B, layout(**old, recompute=recompute), H100, BY)
        exchanged = passes * 80 * 8192 * 8192 * 2 * 7 / 8
        assert float(found.tensor[0]) == pytest.approx(exchanged / (0.77 * 450e9), rel=1e-9)
        repeated = (1 + 7 * 10 / 34) * (1 + 0.3 * recompute)
        assert float((found.elementwise / modern.elementwise)[0]) == pytest.approx(repeated, rel=1e-9)


def test_gradients_of_16_bits_save_a_third_of_the_exchange():
    way = layout(gpus=64, batch=64)
    wide, narrow = (
        step_time(LLAMA_8B, dataclasses.replace(way, is_reduced_narrow=np.array([narrow])), H100, BY)
        for narrow in (False, True)
    )
    assert float((narrow.data / wide.data)[0]) == pytest.approx(2 / 3, rel=1e-9)


def test_the_bubble_is_that_of_interleaved_stages():
    # 16 micro batches on 4 stages of 2 chunks: 3 / (16 x 2) of the busy time
    found = step_time(LLAMA_70B, layout(gpus=32, batch=16, tensor=8, pipeline=4, virtual=2), H100, BY)
    busy = found.linear + found.attention + found.elementwise + found.tensor
    assert float(found.bubble[0] / busy[0]) == pytest.approx(3 / 32, rel=0.05)


def test_tensor_parallelism_over_the_edge_of_the_domain_costs_more():
    near = step_time(LLAMA_70B, layout(gpus=16, batch=16, tensor=8), H100, BY)
    far = step_time(LLAMA_70B, layout(gpus=16, batch=16, tensor=16), H100, BY)
    assert far.tensor[0] > 5 * near.tensor[0]
    rack = dataclasses.replace(H100, domain_gpus=72 * ONE)
    assert step_time(LLAMA_70B, layout(gpus=16, batch=16, tensor=16), rack, BY).tensor[0] < far.tensor[0] / 5


def test_tensor_parallelism_over_pcie_waits_for_every_byte():
    """Eight layers of 4,096 wide on four cards, 8,192 tokens: an all-reduce of 67 MB moves 2 x 3/4 of it, six a layer.

    That is 4.8 GB a micro batch; 32 of them over 17.5 GB/s take 8.8 s. Without recompute four a layer do: 5.9 s.
    """
    cards = dataclasses.replace(H100, domain_bytes_per_s=17.5e9 * ONE)
    even = dataclasses.replace(BY, straggler=1e-12)
    way = layout(gpus=16, batch=64, micro_batch=2, sequence=4096, tensor=4, pipeline=4, recompute=1)
    less = dataclasses.replace(way, recompute=0 * ONE)
    full, none = (step_time(LLAMA_8B, one, cards, even, is_through_host=True).tensor[0] for one in (way, less))
    moved = 2 * 3 / 4 * 8192 * 4096 * 2 * 8
    assert float(full) == pytest.approx(32 * 6 * moved / 17.5e9, rel=1e-6)
    assert float(none) == pytest.approx(32 * 4 * moved / 17.5e9, rel=1e-6)


@given(
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    faster=st.floats(1.01, 4),
    micro=st.sampled_from([1, 2, 4]),
)
def test_a_faster_machine_is_never_slower(tensor, pipeline, faster, micro):
    way = layout(gpus=256, batch=1024, tensor=tensor, pipeline=pipeline, micro_batch=micro, expert=8)
    for model in (LLAMA_70B, DEEPSEEK_V3):
        before = step_time(model, way, H100, BY).total[0]
        for field in dataclasses.fields(Machines):
            if field.name == "domain_gpus":
                continue
            better = dataclasses.replace(H100, **{field.name: getattr(H100, field.name) * faster})
            assert step_time(model, way, better, BY).total[0] <= before * (1 + 1e-12)


def test_recomputing_and_more_tokens_take_longer():
    plain = step_time(LLAMA_8B, layout(gpus=8, batch=64), H100, BY).total[0]
    assert step_time(LLAMA_8B, layout(gpus=8, batch=64, recompute=1), H100, BY).total[0] > plain
    assert step_time(LLAMA_8B, layout(gpus=8, batch=128), H100, BY).total[0] > 1.9 * plain
    adapters = step_time(LLAMA_8B, layout(gpus=8, batch=64, is_lora=1), H100, BY).total[0]
    assert 0.6 * plain < adapters < 0.9 * plain
