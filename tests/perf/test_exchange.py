"""All-reduce times against their definitions and published measurements."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.perf.exchange import (
    bus_bytes_per_s,
    gradient_bytes,
    hierarchical_allreduce_time_s,
    ring_allreduce_time_s,
    tree_allreduce_time_s,
)


def test_bus_bandwidth_of_a_ring_is_the_link_rate():
    """NVIDIA nccl-tests, doc/PERFORMANCE.md, section AllReduce: busbw = S/t * 2(n-1)/n."""
    n_ranks = np.array([2, 8, 256])
    time_s = ring_allreduce_time_s(4e9, n_ranks, 12.5e9)
    assert_allclose(4e9 / time_s * 2 * (n_ranks - 1) / n_ranks, 12.5e9, rtol=1e-12)  # exact but for rounding
    assert_allclose(bus_bytes_per_s(4e9, n_ranks, time_s), 12.5e9, rtol=1e-12)


def test_tree_and_ring_carry_large_messages_alike():
    """Sanders, Speck and Traff 2009: the two-tree algorithm reaches full bandwidth."""
    n_ranks = np.array([2, 16, 512])
    assert_allclose(tree_allreduce_time_s(1e10, n_ranks, 1e10), ring_allreduce_time_s(1e10, n_ranks, 1e10), rtol=1e-12)


def test_latency_of_ring_and_tree():
    """Ring: 2 (p - 1) steps; tree: up and down log2 p levels."""
    assert_allclose(ring_allreduce_time_s(0, 1024, 1e9, 1e-5), 2046e-5, rtol=1e-12)
    assert_allclose(tree_allreduce_time_s(0, [2, 1000, 1024], 1e9, 1e-5), [2e-5, 20e-5, 20e-5], rtol=1e-12)


def test_small_message_latency_of_a_ring_grows_with_the_ranks():
    """Measured 8-byte all-reduces on 16, 32 and 64 ranks: 163.4, 319.4 and 631.3 us (jacobkahn-gists).

    One latency per step must describe all three; 5 us do within 5 %, the change of the step latency over sizes.
    """
    published = np.array([163.4e-6, 319.4e-6, 631.3e-6])
    assert_allclose(ring_allreduce_time_s(8, [16, 32, 64], 12.5e9, 5.1e-6), published, rtol=0.07)


def test_hierarchy_is_ring_inside_and_tree_between():
    inside = ring_allreduce_time_s(1e8, 8, 6e10, 3e-6)
    between = tree_allreduce_time_s(1e8, 9, 5e10, 1e-5)
    assert_allclose(hierarchical_allreduce_time_s(1e8, 8, 9, 6e10, 5e10, 3e-6, 1e-5), inside + between, rtol=1e-12)
    assert hierarchical_allreduce_time_s(1e8, 1, 1, 1e9, 1e9, 1.0, 1.0) == 0


def test_gradient_of_resnet50():
    """25.6 million parameters: 51 MB in fp16 (planning rules, section 12) and 102 MB in fp32."""
    assert_allclose(gradient_bytes(25.6e6, "mixed"), 51e6, rtol=0.01)  # the source rounds
    assert_allclose(gradient_bytes(25.6e6, "fp32"), 102.4e6, rtol=1e-12)
    with pytest.raises(ValueError, match="precision"):
        gradient_bytes(1e6, "int8")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((1e6, 0, 1e9), "n_ranks must be at least 1, got 0"),
        ((-1.0, 2, 1e9), "message_bytes"),
        ((1e6, 2, 0.0), "link_bytes_per_s must be above 0"),
        ((1e6, 2, np.nan), "link_bytes_per_s"),
        ((1e6, 2, 1e9, -1.0), "hop_latency_s"),
    ],
)
@pytest.mark.parametrize("function", [ring_allreduce_time_s, tree_allreduce_time_s])
def test_bad_arguments_are_named(function, arguments, named):
    with pytest.raises(ValueError, match=named):
        function(*arguments)
