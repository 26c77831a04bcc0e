"""Step time of a transformer: arithmetic by hand, and what may never happen."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.perf.language.step import Efficiencies, Layouts, Machines, step_time
from tests.perf.language.test_shape import DEEPSEEK_V3, LLAMA_8B, LLAMA_70B

ONE = np.ones(1)
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
    for name in (
        "is_fully_sharded",
        "is_optimizer_sharded",
        "is_lora",
        "is_tuned",
        "is_unfused",
        "is_early",
        "is_ported",
    ):
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
