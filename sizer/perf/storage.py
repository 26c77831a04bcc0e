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


def nodes_needed(
    probability: ArrayLike, node_line_bytes_per_s: ArrayLike, *loads: tuple[ArrayLike, ArrayLike, ArrayLike]
) -> Floats:
    """Smallest node count that delivers all loads at the same time with at least ``probability``; inf where none does.

    Closed form: the rate of a node at that confidence lies between its two published ends (log-uniform), and the
    system's rate is proportional to its nodes. A node that reads at a share of its read rate writes at the rest of its
    write rate: published rates are those of reading alone and of writing alone.

    ``probability`` (...): with which the nodes deliver each load; above 1 no count does.
    ``node_line_bytes_per_s`` (...): line rate of the node's front-end ports in use; caps both ends [B/s].
    ``*loads`` (...): rate that is read or written, demonstrated lower and published upper rate of one node; equal when
        one number is known [B/s].
    Returns (...): nodes, a whole number or inf.
    """
    p = np.asarray(probability, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        taken = [
            np.asarray(rate, float)
            / read_capacity(1.0, low, high, node_line_bytes_per_s).quantile(1 - np.clip(p, 0.0, 1.0))
            for rate, low, high in loads
        ]
        count = np.ceil(sum(taken) - 1e-9)
    return np.where(p > 1, np.inf, np.maximum(count, 0.0))
