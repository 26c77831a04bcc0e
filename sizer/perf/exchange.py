"""Gradient exchange of synchronous data-parallel training: bytes on the wire and time of an all-reduce."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above, require_at_least

# Bytes of one gradient element on the wire. fp32: 4. Mixed precision: 2, because the frameworks of the observations
# reduce the half-precision gradients (MXNet and PyTorch keep FP16 gradients, Horovod compresses to FP16), and the
# planning rules derive 51 MB for ResNet-50 in fp16 from its 25.6 million parameters.
GRADIENT_ELEMENT_BYTES = {"fp32": 4.0, "mixed": 2.0}


def gradient_bytes(parameters: ArrayLike, precision: str) -> Floats:
    """Bytes of gradient that one step exchanges.

    ``parameters`` (...): trainable parameters of the neural network.
    ``precision``: {"fp32", "mixed"}, arithmetic of the training; see :data:`GRADIENT_ELEMENT_BYTES`.
    Returns (...): size of the gradient on the wire [B].
    Raises ValueError if the parameter count is below 0 or the precision is unknown.

    Examples
    --------
    >>> float(gradient_bytes(25.6e6, "mixed"))   # ResNet-50
    51200000.0
    """
    require_at_least(0, parameters=parameters)
    if precision not in GRADIENT_ELEMENT_BYTES:
        raise ValueError(f"precision must be one of {', '.join(GRADIENT_ELEMENT_BYTES)}, got {precision!r}")
    return np.asarray(parameters, dtype=float) * GRADIENT_ELEMENT_BYTES[precision]


def ring_allreduce_time_s(
    message_bytes: ArrayLike,
    n_ranks: ArrayLike,
    link_bytes_per_s: ArrayLike,
    hop_latency_s: ArrayLike = 0.0,
) -> Floats:
    """Time of one ring all-reduce.

    ``message_bytes`` (...): gradient held by each rank [B].
    ``n_ranks`` (...): ranks in the ring, 1 or more.
    ``link_bytes_per_s`` (...): rate of the slowest link, one direction [B/s].
    ``hop_latency_s`` (...): latency of one neighbour-to-neighbour step [s].
    Returns (...): broadcast of the inputs; 0 where ``n_ranks`` is 1 [s].
    Raises ValueError if a rank count is below 1, a size or latency below 0, or a link rate not above 0.

    t = 2 (p - 1) a + 2 (p - 1)/p * n/B: p - 1 reduce-scatter steps, then p - 1 all-gather steps,
    each moving n/p bytes, after [1]_. Links are full duplex and uncontended.

    References
    ----------
    .. [1] P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
       workstations," J. Parallel Distrib. Comput. 69(2):117-124, 2009, doi:10.1016/j.jpdc.2008.09.002.

    Examples
    --------
    >>> ring_allreduce_time_s(100e6, [1, 2, 4], 10e9)   # 100 MB of gradient, 10 GB/s links
    array([0.   , 0.01 , 0.015])
    """
    n, p, rate, hop = _checked(message_bytes, n_ranks, link_bytes_per_s, hop_latency_s)
    return np.asarray(2 * (p - 1) * hop + 2 * (p - 1) / p * n / rate)


def tree_allreduce_time_s(
    message_bytes: ArrayLike,
    n_ranks: ArrayLike,
    link_bytes_per_s: ArrayLike,
    hop_latency_s: ArrayLike = 0.0,
) -> Floats:
    """Time of one all-reduce over a double binary tree.

    ``message_bytes`` (...): gradient held by each rank [B].
    ``n_ranks`` (...): ranks in the tree, 1 or more.
    ``link_bytes_per_s`` (...): rate of the slowest link, one direction [B/s].
    ``hop_latency_s`` (...): latency of one level of the tree [s].
    Returns (...): broadcast of the inputs; 0 where ``n_ranks`` is 1 [s].
    Raises ValueError as for :func:`ring_allreduce_time_s`.

    t = 2 ceil(log2 p) a + 2 (p - 1)/p n/B. Two complementary trees, each for half of the message, use every link in
    both directions, so that the bandwidth term is the one of the ring while latency grows with log p only [1]_.
    Between two ranks some libraries exceed the line rate in the bus-bandwidth definition; this model does not.

    References
    ----------
    .. [1] P. Sanders, J. Speck and J. L. Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
       scan," Parallel Computing 35(12):581-594, 2009, doi:10.1016/j.parco.2009.09.001.

    Examples
    --------
    >>> tree_allreduce_time_s(0.0, [1, 2, 1024], 10e9, 1e-5)   # latency alone: 0, 1 and 10 levels, up and down
    array([0.e+00, 2.e-05, 2.e-04])
    """
    n, p, rate, hop = _checked(message_bytes, n_ranks, link_bytes_per_s, hop_latency_s)
    return np.asarray(2 * np.ceil(np.log2(p)) * hop + 2 * (p - 1) / p * n / rate)


def hierarchical_allreduce_time_s(
    message_bytes: ArrayLike,
    n_gpus_per_server: ArrayLike,
    n_servers: ArrayLike,
    intra_bytes_per_s: ArrayLike,
    inter_bytes_per_s: ArrayLike,
    intra_hop_s: ArrayLike = 0.0,
    inter_hop_s: ArrayLike = 0.0,
) -> Floats:
    """Time of one all-reduce inside the servers and between them.

    ``message_bytes`` (...): gradient held by each GPU [B].
    ``n_gpus_per_server``, ``n_servers`` (...): GPUs in each server and servers, 1 or more each.
    ``intra_bytes_per_s`` (...): rate of one GPU over NVLink, NVSwitch or PCIe inside the server, one direction [B/s].
    ``inter_bytes_per_s`` (...): rate of one server to the others, one direction, summed over the NICs that it uses
        [B/s].
    ``intra_hop_s``, ``inter_hop_s`` (...): latency of one step inside a server and between servers [s].
    Returns (...): broadcast of the inputs; 0 for one GPU [s].
    Raises ValueError if a count is below 1, a size or latency below 0, or a rate not above 0.

    Reduce-scatter and all-gather inside the server move 2 (g - 1)/g G over the GPU links; what remains, G in all per
    server, is all-reduced between the servers over the NICs. Inside a server the steps form a ring. Between servers
    the bandwidth term is the one of a ring and the latency the one of a tree, which libraries choose at scale.

    Examples
    --------
    >>> t = hierarchical_allreduce_time_s(51.2e6, 8, [1, 9], 100e9, 50e9)   # ResNet-50, fp16, DGX-1
    >>> t.round(5)
    array([0.0009 , 0.00272])
    """
    require_at_least(1, n_gpus_per_server=n_gpus_per_server, n_servers=n_servers)
    inside = ring_allreduce_time_s(message_bytes, n_gpus_per_server, intra_bytes_per_s, intra_hop_s)
    between = tree_allreduce_time_s(message_bytes, n_servers, inter_bytes_per_s, inter_hop_s)
    return inside + between


def bus_bytes_per_s(message_bytes: ArrayLike, n_ranks: ArrayLike, time_s: ArrayLike) -> Floats:
    """Bus bandwidth of an all-reduce as nccl-tests defines it: S/t * 2 (n - 1)/n.

    ``message_bytes`` (...): size of the message [B].
    ``n_ranks`` (...): ranks, 1 or more.
    ``time_s`` (...): time of one all-reduce [s].
    Returns (...): bus bandwidth; the rate of the link for an ideal ring [B/s].
    Raises ValueError if a rank count is below 1, a size below 0 or a time not above 0.

    References
    ----------
    .. [1] NVIDIA nccl-tests, doc/PERFORMANCE.md, section AllReduce.

    Examples
    --------
    >>> float(bus_bytes_per_s(1e9, 8, 0.175).round())
    10000000000.0
    """
    require_at_least(0, message_bytes=message_bytes)
    require_at_least(1, n_ranks=n_ranks)
    require_above(0, time_s=time_s)
    p = np.asarray(n_ranks, dtype=float)
    size, time = np.asarray(message_bytes, dtype=float), np.asarray(time_s, dtype=float)
    return np.asarray(size / time * 2 * (p - 1) / p)


def _checked(message_bytes: ArrayLike, n_ranks: ArrayLike, rate: ArrayLike, hop: ArrayLike) -> tuple[Floats, ...]:
    inputs = (message_bytes, n_ranks, rate, hop)
    arrays = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in inputs))
    require_at_least(1, n_ranks=arrays[1])
    require_at_least(0, message_bytes=arrays[0], hop_latency_s=arrays[3])
    require_above(0, link_bytes_per_s=arrays[2])
    return arrays
