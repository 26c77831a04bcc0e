"""Share of reads that a server's cache serves, by access pattern and kind of cache.

The laws of a pure least-recently-used cache stand beside the fitted hit fraction, which describes real page caches.
"""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_at_least, require_within

# Beyond this many epochs back the terms of the shared-order law are cut off; they fall like (1 - q)^k.
_MAX_EPOCHS_BACK = 4000
# Epochs of which the terms are added in one pass.
_EPOCHS_AT_ONCE = 16
# The law is a sum of about m ln(1/(1 - c)) terms. With 64 servers it lies within 1 % of c, its limit, from c = 0.5 on
# and within 7 % at 0.1; more servers, and shares beyond these, change the fitted hits by less than their spread.
_MANY_SERVERS = 64
_INNER_SHARES = (1e-6, 0.999)


def cached_fraction(cache_bytes: ArrayLike, dataset_bytes: ArrayLike) -> Floats:
    """Share c of the shuffled data set that one cache holds, at most 1.

    ``cache_bytes``, ``dataset_bytes`` (...): memory free for caching in one server, and the data set (or the shard of
        that server) [B].
    Returns (...): min(1, cache / data set).
    Raises ValueError if the cache is below 0 or the data set below 1 B.

    Examples
    --------
    >>> cached_fraction(512e9, [148e9, 22.2e12]).round(3)   # a DGX-1 and two sets
    array([1.   , 0.023])
    """
    require_at_least(0, cache_bytes=cache_bytes)
    require_at_least(1, dataset_bytes=dataset_bytes)
    cache, data = np.asarray(cache_bytes, dtype=float), np.asarray(dataset_bytes, dtype=float)
    return np.asarray(np.minimum(1.0, cache / data))


def lru_hit_fraction(c: ArrayLike) -> Floats:
    """Hits of a least-recently-used cache when one server reads the set in a fresh random order every epoch.

    ``c`` (...): share of the set that the cache holds, 0..1.
    Returns (...): h = c + (1 - c) ln(1 - c), from the second epoch on; the first hits nothing.
    Raises ValueError if the share is outside 0..1.

    A sample at position u of one epoch and v of the next is separated from its last use by the (1 - u) N samples
    after it and those of the v N before it that are new; the number of different samples is N (1 - (1 - v) u'), and a
    hit needs (1 - u)(1 - v) >= 1 - c with both positions uniform; the area of that region is the formula.

    Examples
    --------
    >>> lru_hit_fraction([0.0, 0.5, 1.0]).round(3)
    array([0.   , 0.153, 1.   ])
    """
    require_within(0, 1, c=c)
    share = np.asarray(c, dtype=float)
    left = 1 - share
    return np.asarray(share + left * np.log(np.where(left > 0, left, 1.0)))


def lru_shared_order_hit_fraction(c: ArrayLike, n_servers: ArrayLike) -> Floats:
    """Hits of a least-recently-used cache when m servers share one global order, fresh every epoch.

    ``c`` (...): share of the whole set that the cache of one server holds, 0..1.
    ``n_servers`` (...): servers, each reading a fresh random 1/m of the order every epoch.
    Returns (...): h = sum over k >= 1 of q (1 - q)^(k - 1) P[(1 - qX)(1 - qY)(1 - q)^(k - 1) >= 1 - c], q = 1/m.
    Raises ValueError if the share is outside 0..1 or the number of servers below 1.

    A sample was last on this server k epochs ago with probability q (1 - q)^(k - 1); of the set, (1 - qX) was not read
    in the rest of that epoch, (1 - q)^(k - 1) not in the epochs between and (1 - qY) not yet in this one. It is still
    cached if the share read since then is at most c. One server gives :func:`lru_hit_fraction`.

    Examples
    --------
    >>> lru_shared_order_hit_fraction(0.5, [1, 2, 4, 9]).round(2)
    array([0.15, 0.31, 0.42, 0.47])
    """
    require_within(0, 1, c=c)
    require_at_least(1, n_servers=n_servers)
    share, m = np.broadcast_arrays(np.asarray(c, dtype=float), np.asarray(n_servers, dtype=float))
    # Designs repeat few pairs of share and servers many times. Complex numbers are sorted faster than columns.
    pairs, where = np.unique(share.ravel() + 1j * m.ravel(), return_inverse=True)
    return _shared_order(pairs.real, 1 / pairs.imag)[where].reshape(share.shape)


def _shared_order(c: Floats, q: Floats) -> Floats:
    need = 1 - c
    hits = np.zeros_like(c)
    # Rows of which an older use could still hit, and (1 - q)^(k - 1) of each in the first epoch of a block.
    alive = np.flatnonzero(need > 0)
    unread = np.ones(alive.size)
    for _ in range(0, _MAX_EPOCHS_BACK, _EPOCHS_AT_ONCE):
        # Where the epochs between alone read more than the cache holds, no older use can hit.
        is_open = unread > need[alive]
        alive, unread = alive[is_open], unread[is_open]
        if not alive.size:
            break
        share, least = q[alive], need[alive]
        factors = np.broadcast_to(1 - share, (_EPOCHS_AT_ONCE, alive.size))
        epochs = np.cumprod(np.concatenate([unread[None], factors]), axis=0)
        unread = epochs[-1]
        could = epochs[:-1] > least
        t = np.where(could, least / np.where(could, epochs[:-1], 1.0), 1.0)
        terms = np.where(could, share * epochs[:-1] * _product_probability(t, share), 0.0)
        hits[alive] = np.cumsum(np.concatenate([hits[None, alive], terms]), axis=0)[-1]
    # All cached: the cut-off sum leaves a rest that is a hit, too.
    return np.asarray(np.where(need <= 0, 1.0, np.minimum(hits, c)))


def _product_probability(t: Floats, q: Floats) -> Floats:
    """P[(1 - qX)(1 - qY) >= t] for X, Y uniform on 0..1."""
    a = 1 - q
    safe = np.where(t > 0, t, 1.0)
    high = 1 - t + t * np.log(safe)  # t >= a
    edge = np.minimum(1.0, t / np.where(a > 0, a, 1.0))
    log_ratio = np.log(np.where(a > 0, safe / np.where(a > 0, a, 1.0) ** 2, 1.0))
    middle = (edge - a) - t * log_ratio + (1 - a) * (1 - edge)  # a^2 < t < a
    area = np.where(t >= a, high, np.where(t > a**2, middle, q**2))
    return np.asarray(np.clip(area / q**2, 0.0, 1.0))


def hit_fraction(c: ArrayLike, position: ArrayLike, n_servers: ArrayLike = 1, access: str = "random") -> Floats:
    """Hits of a real cache, at a fitted position between no hits and a cache that never evicts.

    ``c`` (...): share of the whole set that the cache of one server holds, 0..1.
    ``position`` (...): 0: nothing is ever hit; 1: never evicts, hits c.
    ``n_servers`` (...): servers that read the set together.
    ``access``: {"random", "sharded"}, ``random``: one global order, of which each server reads a fresh random part.
        ``sharded``: a fixed shard per server, read file by file.
    Returns (...): h = c^(1/position), in 0..c, from the second epoch on.
    Raises ValueError if a share or position is outside 0..1, the number of servers below 1 or the access unknown.

    The power keeps what must hold at both ends (nothing cached: no hits; all cached: all hits) and describes the
    published pair at random access with one exponent: 15 % at c = 0.35 and 47 % at 0.65 give 1/1.81 and 1/1.75. A pure
    least-recently-used cache lies at 1/2.5 to 1/2.9. With m servers that share one order the exponent shrinks as it
    does in the least-recently-used law; with fixed shards the cache stands against the shard.

    Examples
    --------
    >>> hit_fraction([0.35, 0.65, 1.0], 0.56).round(2)
    array([0.15, 0.46, 1.  ])
    """
    require_within(0, 1, c=c, position=position)
    return hits_at(position, *share_and_exponent(c, n_servers, access))


def hits_at(position: ArrayLike, share: Floats, exponent: Floats) -> Floats:
    """:func:`hit_fraction` where :func:`share_and_exponent` are known: share^max(1, exponent/position).

    ``position`` (...): as for :func:`hit_fraction`.
    ``share``, ``exponent`` (...): cached share and power, both from :func:`share_and_exponent`.
    Returns (...): share of the reads that hit; 0 where nothing is cached or the position is 0.
    """
    p = np.asarray(position, dtype=float)
    # Never above the share: a cache cannot hit more than it holds when the order is fresh.
    hits = share ** np.maximum(1.0, exponent / np.where(p > 0, p, 1.0))
    return np.asarray(np.where((share > 0) & (p > 0), hits, 0.0))


def share_and_exponent(c: ArrayLike, n_servers: ArrayLike, access: str) -> tuple[Floats, Floats]:
    """What :func:`hits_at` needs besides the position; it takes long and does not depend on it.

    ``c`` (...): share of the data that one server's cache holds.
    ``n_servers`` (...): servers that read the data, 1 or more.
    ``access``: ``random`` or ``sharded``.
    Returns (...): share of a server's reads that its cache can hold, and the power.
    Raises ValueError if a share is outside 0..1, the number of servers below 1 or the access unknown.
    """
    require_within(0, 1, c=c)
    require_at_least(1, n_servers=n_servers)
    if access not in ("random", "sharded"):
        raise ValueError(f"access must be random or sharded, got {access!r}")
    share, m = np.broadcast_arrays(np.asarray(c, dtype=float), np.asarray(n_servers, dtype=float))
    if access == "sharded":
        return np.minimum(1.0, share * m), np.ones_like(share)
    exponent = np.ones_like(share)
    if (m > 1).any():
        inner = np.clip(share, *_INNER_SHARES)
        several = lru_shared_order_hit_fraction(inner, np.minimum(m, _MANY_SERVERS))
        exponent = np.log(several) / np.log(lru_hit_fraction(inner))
    return share, exponent
