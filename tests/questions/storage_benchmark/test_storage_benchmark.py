"""Emulated accelerators of MLPerf Storage on storage of the catalogue, compared with published results."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.questions.storage_benchmark.analysis import BenchmarkQuestion, benchmark_answer
from sizer.questions.storage_benchmark.text import benchmark_text
from tests.factories import examples


def asked(storage="ai400x2-turbo", nodes=1, clients=18, gbit=100.0):
    return BenchmarkQuestion(examples.catalog().storage[storage], nodes, clients, gbit / 8 * 1e9)


def carried(answer, workload, gpu):
    return next(one for one in answer.carried if (one.workload, one.accelerator) == (workload, gpu))


@pytest.mark.parametrize(
    ("workload", "gpu", "clients", "published"),
    [
        ("unet3d", "h100", 18, 36),
        ("unet3d", "a100", 18, 72),
        ("resnet50", "a100", 32, 864),
        ("resnet50", "h100", 32, 512),
        ("cosmoflow", "a100", 30, 150),
        ("cosmoflow", "h100", 16, 64),
    ],
)
def test_published_results_of_an_ai400x2_turbo(workload, gpu, clients, published):
    """MLPerf Storage v1.0, DDN, one appliance with clients of 100 Gbit/s."""
    found = carried(benchmark_answer(asked(clients=clients)), workload, gpu)
    assert 0.9 * found.low <= published <= found.high
    assert found.shown == published


def test_checkpoints_by_hand():
    """5.29 TB at 75 GB/s take 70.5 s to write; a model of 8 processes runs on one client of 12.5 GB/s: 8.4 s."""
    answer = benchmark_answer(asked(clients=64))
    times = {one.model.name: one for one in answer.checkpoints}
    assert times["405B"].write_s == pytest.approx((70.5, 70.5), abs=0.1)
    assert times["8B"].write_s[1] == pytest.approx(105 / 12.5)
    assert "AI400X2 Turbo" in benchmark_text(answer)


@pytest.mark.laws
@settings(max_examples=40)
@given(clients=st.integers(1, 500), nodes=st.integers(1, 32), more=st.integers(1, 8))
def test_more_clients_or_nodes_never_carry_less(clients, nodes, more):
    here = benchmark_answer(asked(nodes=nodes, clients=clients))
    for other in (asked(nodes=min(64, nodes * more), clients=clients), asked(nodes=nodes, clients=clients * more)):
        for one, two in zip(here.carried, benchmark_answer(other).carried, strict=True):
            assert two.low >= one.low
            assert two.high >= one.high
            assert one.low <= one.high


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"nodes": 0}, "nodes is 0; AI400X2 Turbo is sold with 1 to 64 nodes"),
        ({"nodes": -3}, "nodes is -3"),
        ({"clients": 0}, "clients is 0; allowed are 1 to 100000"),
        ({"client_bytes_per_s": -1e9}, "client_gbit is -8 Gbit/s; allowed are 0.8 to 8000"),
        ({"client_bytes_per_s": float("nan")}, "client_gbit is nan Gbit/s"),
        ({"storage": examples.catalog().storage["dgx1-ssd"]}, "is not shared storage that is bought by the node"),
        ({"storage": examples.catalog().storage["isilon-f800"], "nodes": 5}, "4 to 252 nodes in steps of 4"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_one_sentence(change, says):
    with pytest.raises(RequestError) as refused:
        benchmark_answer(dataclasses.replace(asked(), **change))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
