"""What the first lines say of servers that stand for doubt, and of workloads that the GPUs do not hold together."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sizer.base.quantities import grouped
from sizer.present.text.verdict import _is_for_confidence, verdict_text
from sizer.sizing.checks import Limit
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import SmallerSize
from tests.factories import examples


def test_servers_for_doubt_are_told_where_a_measurement_would_settle_them() -> None:
    result = examples.sized("llama-70b-dgx-h100")
    (answer,) = result.design.workloads
    n_servers = result.design.n_servers
    binding = replace(result.design.binding, limit=Limit.CONFIDENCE)

    def text(least: int) -> str:
        workloads = (replace(answer, servers_at_even_odds=least),)
        return verdict_text(replace(result, design=replace(result.design, workloads=workloads, binding=binding)))

    for least in (n_servers // 2, n_servers - 1):
        assert "[[workload.measured]]" in text(least)
        assert f"{grouped(n_servers - least)} of the {grouped(n_servers)} servers" in text(least)
    assert "million for the servers alone" in text(n_servers // 2)
    assert "[[workload.measured]]" not in text(n_servers)


def test_servers_of_a_later_year_are_not_for_doubt() -> None:
    result = examples.sized("llama-70b-dgx-h100")
    (answer,) = result.design.workloads
    n_servers = result.design.n_servers
    fewer = replace(answer.smaller[0], probability=0.8)
    workloads = (replace(answer, servers_at_even_odds=n_servers // 2, smaller=(fewer,)),)

    def text(first_year: int) -> str:
        binding = Binding(BindingKind.GROWTH, first_year)
        return verdict_text(replace(result, design=replace(result.design, workloads=workloads, binding=binding)))

    assert "[[workload.measured]]" in text(n_servers)
    assert "[[workload.measured]]" not in text(n_servers - 1)


def test_workloads_that_the_gpus_do_not_hold_together_take_turns() -> None:
    result = examples.sized("llama-70b-dgx-h100")
    (answer,) = result.design.workloads
    need = 0.6 * result.design.platform.gpu.memory_bytes.value

    def text(need_bytes: float) -> str:
        one = replace(answer, memory=replace(answer.memory, need_bytes=need_bytes))
        return verdict_text(replace(result, design=replace(result.design, workloads=(one, one))))

    assert "take turns" in text(need)
    assert "take turns" not in text(need / 2)


def test_replicas_for_doubt_are_offered_as_fewer_to_measure_first() -> None:
    result = examples.sized("office-chat-70b-h200")
    (answer,) = result.design.workloads
    binding = replace(result.design.binding, limit=Limit.GPU_RATE)

    def text(least: int) -> str:
        workloads = (replace(answer, servers_at_even_odds=least, chance_at_even_odds=0.78),)
        return verdict_text(
            replace(result, design=replace(result.design, n_servers=3, workloads=workloads, binding=binding))
        )

    assert "78" in text(2)
    assert "78" not in text(3)


@pytest.mark.parametrize(("with_one_fewer", "is_for_rate"), [(0.99, False), (0.8, True), (None, False)])
def test_servers_of_a_plan_are_for_the_rate_only_where_one_fewer_misses_it(with_one_fewer, is_for_rate):
    """Twelve servers whose team would wait on eleven, which reach the rate all the same."""
    smaller = (SmallerSize(11, 88, 1.0, None, with_one_fewer),)
    design = SimpleNamespace(
        binding=Binding(BindingKind.GROWTH, 12), n_servers=12, workloads=[SimpleNamespace(smaller=smaller)]
    )
    result = SimpleNamespace(design=design, request=SimpleNamespace(confidence=0.9))
    assert _is_for_confidence(result) is is_for_rate
