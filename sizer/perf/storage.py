"""What a storage system gives to the servers that read from it."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.stage_capacity import Capacity


def read_capacity(
    n_nodes: ArrayLike,
    node_low_bytes_per_s: ArrayLike,
    node_high_bytes_per_s: ArrayLike,
    node_line_bytes_per_s: ArrayLike,
) -> Capacity:
    """Rate at which a system of ``n_nodes`` serves reads.

    ``n_nodes`` (...): nodes of a shared system; for local drives the number of servers.
    ``node_low_bytes_per_s``, ``node_high_bytes_per_s`` (...): demonstrated lower and published upper rate of one node;
        equal when one number is known [B/s].
    ``node_line_bytes_per_s`` (...): line rate of the node's front-end ports in use; caps both ends [B/s].
    Returns (...): log-uniform between the two ends [B/s].

    The demonstrated rate of a system that was not driven to its limit is a lower bound (a censored observation): the
    Isilon F800 served 2.49 GB/s a node because 72 GPUs asked for no more [1]_, the vendor's maximum is 3.75 GB/s.

    References
    ----------
    .. [1] Dell EMC and NVIDIA, "Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs", 2018.
    """
    nodes = np.asarray(n_nodes, float)
    low = np.minimum(node_low_bytes_per_s, node_line_bytes_per_s)
    high = np.minimum(node_high_bytes_per_s, node_line_bytes_per_s)
    return Capacity.between(nodes * low, nodes * high)


def mount_capacity(
    n_servers: ArrayLike,
    mounts_per_server: ArrayLike,
    mount_low_bytes_per_s: ArrayLike,
    mount_high_bytes_per_s: ArrayLike,
) -> Capacity:
    """Rate that the clients' mounts let through: servers x mounts x rate of one mount. [B/s]

    NFS over TCP saturates at about 1 to 1.5 GB/s a mount (WekaIO, "How to shorten deep learning training times",
    2018, a competitor's claim); several mounts add up, as the 16 mounts of each DGX-1 in the Isilon test did.

    ``n_servers`` (...): servers that read.
    ``mounts_per_server`` (...): mounts of one server.
    ``mount_low_bytes_per_s``, ``mount_high_bytes_per_s`` (...): published lower and upper rate of one mount [B/s].
    """
    mounts = np.asarray(n_servers, float) * np.asarray(mounts_per_server, float)
    return Capacity.between(mounts * np.asarray(mount_low_bytes_per_s), mounts * np.asarray(mount_high_bytes_per_s))


def nodes_for_both(
    read_bytes_per_s: ArrayLike,
    write_bytes_per_s: ArrayLike,
    probability: ArrayLike,
    read_rates: tuple[ArrayLike, ArrayLike],
    write_rates: tuple[ArrayLike, ArrayLike],
    node_line_bytes_per_s: ArrayLike,
) -> Floats:
    """Smallest node count that reads and writes at the same time, as :func:`nodes_needed`.

    A node that reads at a share of its read rate writes at the rest of its write rate: published rates are those of
    reading alone and of writing alone.

    ``read_bytes_per_s``, ``write_bytes_per_s`` (...): rates at the same time [B/s].
    ``probability`` (...): with which the nodes deliver both; above 1 no count does.
    ``read_rates``, ``write_rates``: lower and upper rate of one node [B/s].
    ``node_line_bytes_per_s`` (...): line rate of the node's front-end ports in use [B/s].
    Returns (...): nodes, a whole number or inf.
    """
    p = np.asarray(probability, float)
    slow = 1 - np.clip(p, 0.0, 1.0)
    taken = np.zeros(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for rate, (low, high) in ((read_bytes_per_s, read_rates), (write_bytes_per_s, write_rates)):
            node = read_capacity(1.0, low, high, node_line_bytes_per_s)
            taken = taken + np.asarray(rate, float) / node.quantile(slow)
        count = np.ceil(taken - 1e-9)
    return np.where(p > 1, np.inf, np.maximum(count, 0.0))


def nodes_needed(
    bytes_per_s: ArrayLike,
    probability: ArrayLike,
    node_low_bytes_per_s: ArrayLike,
    node_high_bytes_per_s: ArrayLike,
    node_line_bytes_per_s: ArrayLike,
) -> Floats:
    """Smallest node count that reads ``bytes_per_s`` with at least ``probability``; inf where none does.

    Closed form: the rate of a node at that confidence lies between its two published ends (log-uniform), and the
    system's rate is proportional to its nodes.

    ``bytes_per_s`` (...): rate that is read [B/s].
    ``probability`` (...): with which the nodes deliver it; above 1 no count does.
    ``node_low_bytes_per_s``, ``node_high_bytes_per_s`` (...): demonstrated lower and published upper rate of one node;
        equal when one number is known [B/s].
    ``node_line_bytes_per_s`` (...): line rate of the node's front-end ports in use; caps both ends [B/s].
    Returns (...): nodes, a whole number or inf.
    """
    node = read_capacity(1.0, node_low_bytes_per_s, node_high_bytes_per_s, node_line_bytes_per_s)
    p = np.asarray(probability, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.ceil(np.asarray(bytes_per_s, float) / node.quantile(1 - np.clip(p, 0.0, 1.0)) - 1e-9)
    return np.where(p > 1, np.inf, np.maximum(count, 0.0))
