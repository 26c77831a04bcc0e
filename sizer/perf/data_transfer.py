"""Bringing a data set in, keeping checkpoints, transforming ahead, and copying to the servers' own drives."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above, require_at_least


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
