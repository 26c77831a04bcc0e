"""What a storage system gives to the servers that read from it, and what filling, copying and stalls take."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above, require_at_least
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


def needed_bytes(
    data_bytes: ArrayLike, checkpoint_bytes: ArrayLike, snapshot_share: ArrayLike, reserve_share: ArrayLike
) -> Floats:
    """Bytes that a storage system must hold.

    ``data_bytes`` (...): all data sets, and their raw form where it is kept beside them [B].
    ``checkpoint_bytes`` (...): all checkpoints that are kept [B].
    ``snapshot_share``, ``reserve_share`` (...): space that snapshots take, and that stays free for data to come, over
        the data.
    Returns (...): data (1 + snapshots + reserve) + checkpoints [B].
    Raises ValueError if an argument is below 0.

    Examples
    --------
    >>> float(needed_bytes(22.2e12, 2e9, 0.2, 0.5) / 1e12)   # snapshots of a fifth, half as much again to come
    37.742
    """
    require_at_least(
        0,
        data_bytes=data_bytes,
        checkpoint_bytes=checkpoint_bytes,
        snapshot_share=snapshot_share,
        reserve_share=reserve_share,
    )
    data, kept, snapshots, reserve = (
        np.asarray(a, dtype=float) for a in (data_bytes, checkpoint_bytes, snapshot_share, reserve_share)
    )
    return np.asarray(data * (1 + snapshots + reserve) + kept)


def fill_time_s(data_bytes: ArrayLike, *link_bytes_per_s: ArrayLike) -> Floats:
    """Time to move data through links one behind the other: bytes over the rate of the slowest.

    ``data_bytes`` (...): what is moved [B].
    ``*link_bytes_per_s`` (...): rate of each link of the path; inf for one that does not bound it [B/s].
    Returns (...): a lower bound wherever a link of the path is left out [s].
    Raises ValueError if the data are below 0, no link is given, or a rate is not above 0.

    Examples
    --------
    >>> fill_time_s(148e9, [1.25e9, 3.125e9]).round(1)   # ImageNet over 10 and 25 Gbit/s
    array([118.4,  47.4])
    """
    if not link_bytes_per_s:
        raise ValueError("link_bytes_per_s must name one link at least")
    require_at_least(0, data_bytes=data_bytes)
    for rate in link_bytes_per_s:
        require_above(0, link_bytes_per_s=rate)
    slowest = np.minimum.reduce(np.broadcast_arrays(*(np.asarray(rate, dtype=float) for rate in link_bytes_per_s)))
    return np.asarray(np.asarray(data_bytes, dtype=float) / slowest)


def lost_fraction(write_s: ArrayLike, every_s: ArrayLike) -> Floats:
    """Share of the time that goes into checkpoints, when training waits for each.

    ``write_s``, ``every_s`` (...): time to write one, and from the start of one to the start of the next [s].
    Returns (...): write time over period, 1 where the writing never ends before the next one is due. A framework that
        writes beside training loses less.
    Raises ValueError if a write time is below 0 or a period not above 0.

    Examples
    --------
    >>> lost_fraction([36.0, 7200.0], 3600.0)
    array([0.01, 1.  ])
    """
    require_at_least(0, write_s=write_s)
    require_above(0, every_s=every_s)
    return np.asarray(np.minimum(np.asarray(write_s, dtype=float) / np.asarray(every_s, dtype=float), 1.0))


def break_even_epoch(
    copy_s: ArrayLike, first_local_s: ArrayLike, local_s: ArrayLike, first_shared_s: ArrayLike, shared_s: ArrayLike
) -> Floats:
    """First number of epochs for which copying the data and reading them locally is done sooner.

    ``copy_s`` (...): copy to the local drives, before training starts [s].
    ``first_local_s``, ``local_s`` (...): first epoch and each later one from local drives [s].
    ``first_shared_s``, ``shared_s`` (...): the same from shared storage [s].
    Returns (...): the smallest whole E of at least 1 with copy + first local + (E - 1) local < first shared + (E - 1)
        shared; inf where there is none.
    Raises ValueError if a time is below 0.

    Examples
    --------
    >>> break_even_epoch(300.0, 60.0, 60.0, 100.0, [100.0, 60.0])   # 300 s regained by 40 s an epoch; never
    array([ 8., inf])
    """
    times = {
        "copy_s": copy_s,
        "first_local_s": first_local_s,
        "local_s": local_s,
        "first_shared_s": first_shared_s,
        "shared_s": shared_s,
    }
    require_at_least(0, **times)
    copy, first_local, local, first_shared, shared = np.broadcast_arrays(
        *(np.asarray(time, dtype=float) for time in times.values())
    )
    behind = copy + first_local - first_shared  # after the first epoch
    gain = shared - local  # by each later one
    with np.errstate(divide="ignore", invalid="ignore"):
        later = np.floor(behind / gain) + 1
    return np.asarray(np.where(behind < 0, 1.0, np.where(gain > 0, 1.0 + np.maximum(later, 1.0), np.inf)))
