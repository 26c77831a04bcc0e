"""What else is enough, and how small a load is: compared by rates, never by counts of unlike GPUs."""

from types import SimpleNamespace

import pytest

from sizer.sizing.design.verdict import delivers_as_much
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.sharding import Sharding


def design(rate: float, gpus_busy: int | None = 16, **more: object) -> SimpleNamespace:
    """What the rules read of a design with one workload."""
    answer = SimpleNamespace(
        workload=SimpleNamespace(target=SimpleNamespace(gpus_busy=gpus_busy)),
        throughput=SimpleNamespace(value=rate),
        stages=[SimpleNamespace(key="gpu", capacity=SimpleNamespace(low=0.8 * rate))],
        **more,
    )
    return SimpleNamespace(workloads=[answer])


def test_sixteen_l4_are_no_sixteen_a100():
    """ResNet-50 by MLPerf: 16 A100 train 58,000 images/s, 16 L4 11,000."""
    assert not delivers_as_much(design(11e3), design(58e3))
    assert delivers_as_much(design(58e3), design(58e3))
    assert delivers_as_much(design(11e3, None), design(58e3, None))  # a rate is the target: both meet it


@pytest.mark.parametrize(
    ("required", "state_gb", "share"), [(80.0, 10, 0.2), (400.0, 10, 1.0), (None, 10, None), (80.0, 30, None)]
)
def test_share_of_one_card(required, state_gb, share):
    """Two cards that do at least 800 together, 400 each: 80 take a fifth of one; tables of 60 GB do not fit one."""
    memory = SimpleNamespace(state_bytes=state_gb * 1e9, memory_bytes=48e9, sharding=Sharding.EMBEDDINGS)
    two = design(1000.0, None, required_samples_per_s=required, language=None, serving=None, memory=memory)
    two.n_gpus = 2
    assert DesignAnswer.share_of_one_gpu.fget(two) == (share if share is None else pytest.approx(share))
