"""Waiting in a line before equal places: Erlang's formulas, and the places that jobs find on a cluster."""

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.perf.arguments import require_above, require_at_least, require_within

# More than any cluster serves; above it a float does not tell counts apart by a few standard deviations.
MOST_LOAD = 1e12
# A sum of a Poisson distribution this small says that the load is over 30 standard deviations above the places.
_LEAST_SUM = 1e-250
_FRACTION_TERMS = 20


def erlang_b(n_places: ArrayLike, load: ArrayLike) -> Floats:
    """Share of the arrivals that find all places taken, where they go away instead of waiting.

    Parameters
    ----------
    n_places : array_like of int, shape (...)
        Places c, 0 or more. [-]
    load : array_like, shape (...)
        Offered load a: arrivals in a mean stay. [erlang]

    Returns
    -------
    ndarray, shape (...)
        B(c, a). [-]

    Raises
    ------
    ValueError
        If a count or a load is below 0.

    Notes
    -----
    B = a^c exp(-a) / G(c + 1, a), with the upper incomplete gamma function G [1]_. Where G is too small for a float,
    the load is far above the places, and Legendre's continued fraction of G converges within a few terms.

    References
    ----------
    .. [1] D. L. Jagerman, "Some properties of the Erlang loss function," Bell Syst. Tech. J. 53(3):525-551, 1974.

    Examples
    --------
    >>> erlang_b([0, 1, 2], 1.0)
    array([1. , 0.5, 0.2])
    """
    places, a = np.broadcast_arrays(np.asarray(n_places, float), np.asarray(load, float))
    require_at_least(0, n_places=places, load=a)
    # Here, because it takes a third of a second, and few answers have a queue.
    from scipy.special import gammaincc, gammaln, xlogy

    at_most = gammaincc(places + 1, a)  # of Poisson arrivals with mean a, that c at most come
    has_sum = at_most > _LEAST_SUM
    log_share = xlogy(places, a) - a - gammaln(places + 1) - np.log(np.where(has_sum, at_most, 1.0))
    far = np.where(has_sum, places + 1, a)  # any load above the places; used where has_sum is false
    fraction = np.zeros(places.shape)
    for k in range(_FRACTION_TERMS, 0, -1):
        fraction = k * (k - places - 1) / (far + 2 * k - places - fraction)
    return np.asarray(np.where(has_sum, np.minimum(np.exp(log_share), 1.0), (far - places - fraction) / far))


def erlang_c(n_places: ArrayLike, load: ArrayLike) -> Floats:
    """Share of the arrivals that have to wait for one of c places (M/M/c).

    Parameters
    ----------
    n_places : array_like of int, shape (...)
        Places c, 1 or more. [-]
    load : array_like, shape (...)
        Offered load a: arrivals in a mean stay. [erlang]

    Returns
    -------
    ndarray, shape (...)
        C(c, a); 1 where the load reaches the places: the line never ends. [-]

    Raises
    ------
    ValueError
        If a count is below 1 or a load below 0.

    Notes
    -----
    C = B / (1 - a/c (1 - B)), B by :func:`erlang_b` [1]_. It holds for Poisson arrivals at a steady rate and
    exponential stays, served in the order of arrival.

    References
    ----------
    .. [1] L. Kleinrock, "Queueing Systems, Volume 1: Theory," Wiley 1975, section 3.5.

    Examples
    --------
    >>> erlang_c([1, 2, 3], 1.0).round(4)      # at c = 2 it is 1/3
    array([1.    , 0.3333, 0.0909])
    """
    places, a = np.broadcast_arrays(np.asarray(n_places, float), np.asarray(load, float))
    require_at_least(1, n_places=places)
    blocked = erlang_b(places, a)
    is_stable = a < places
    share = blocked / np.where(is_stable, 1 - a / places * (1 - blocked), 1.0)
    return np.asarray(np.where(is_stable, share, 1.0))


def waits_longer_probability(n_places: ArrayLike, load: ArrayLike, stay_s: ArrayLike, wait_s: ArrayLike) -> Floats:
    """Probability that an arrival waits longer than ``wait_s``, in order of arrival.

    Parameters
    ----------
    n_places : array_like of int, shape (...)
        Places c, 1 or more. [-]
    load : array_like, shape (...)
        Offered load a. [erlang]
    stay_s : array_like, shape (...)
        Mean stay h. [s]
    wait_s : array_like, shape (...)
        Wait t. [s]

    Returns
    -------
    ndarray, shape (...)
        P(W > t) = C(c, a) exp(-(c - a) t / h); 1 where the load reaches the places. [-]

    Raises
    ------
    ValueError
        If a count is below 1, a load or wait below 0, or a stay not above 0.

    Examples
    --------
    >>> waits_longer_probability(2, 1.0, 3600.0, [0.0, 3600.0]).round(4)   # 1/3, then 1/3 exp(-1)
    array([0.3333, 0.1226])
    """
    places, a, stay, wait = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (n_places, load, stay_s, wait_s))
    )
    require_above(0, stay_s=stay)
    require_at_least(0, wait_s=wait)
    spare = np.maximum(places - a, 0.0)
    return np.asarray(erlang_c(places, a) * np.exp(-spare * wait / stay))


def mean_wait_s(n_places: ArrayLike, load: ArrayLike, stay_s: ArrayLike) -> Floats:
    """Mean wait of all arrivals, those that do not wait among them: C(c, a) h / (c - a); inf for a full line.

    Parameters
    ----------
    n_places : array_like of int, shape (...)
        Places c, 1 or more. [-]
    load : array_like, shape (...)
        Offered load a. [erlang]
    stay_s : array_like, shape (...)
        Mean stay h. [s]

    Returns
    -------
    ndarray, shape (...)
        Mean wait; inf where the load reaches the places. [s]

    Raises
    ------
    ValueError
        If a count is below 1, a load below 0, or a stay not above 0.

    Examples
    --------
    >>> mean_wait_s(2, [1.0, 2.0], 3600.0)
    array([1200.,   inf])
    """
    places, a, stay = np.broadcast_arrays(*(np.asarray(value, float) for value in (n_places, load, stay_s)))
    require_above(0, stay_s=stay)
    is_stable = a < places
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(is_stable, erlang_c(places, a) * stay / np.maximum(places - a, 0.0), np.inf))


def places_needed(load: float, stay_s: float, wait_s: float, probability: float) -> int:
    """Fewest places with which a share ``probability`` of the arrivals waits ``wait_s`` at most.

    Raises
    ------
    ValueError
        If the load is not in 0..1e12, the wait below 0, the stay not above 0, or the probability not in 0..1 without 1.

    Notes
    -----
    P(W > t) falls with c: the count is bracketed by doubling from the load on, then halved.
    """
    require_within(0, 1 - 1e-12, probability=probability)
    require_within(0, MOST_LOAD, load=load)

    def is_enough(count: int) -> bool:
        return bool(waits_longer_probability(count, load, stay_s, wait_s) <= 1 - probability)

    too_few, step = int(np.floor(load)), 1
    while not is_enough(too_few + step):
        too_few, step = too_few + step, 2 * step
    return too_few + 1 + bisect_left(range(too_few + 1, too_few + step), True, key=is_enough)


def cluster_places(n_servers: ArrayLike, gpus_per_server: ArrayLike, gpus: ArrayLike) -> Ints:
    """Jobs of one kind that a cluster runs at once.

    Parameters
    ----------
    n_servers : array_like of int, shape (...)
        Servers. [-]
    gpus_per_server : array_like of int, shape (...)
        GPUs G of each. [-]
    gpus : array_like of int, shape (...)
        GPUs g of a job, which starts when it has all of them at once. [-]

    Returns
    -------
    ndarray of int, shape (...)
        servers x floor(G / g) for a job inside one server; floor(servers / ceil(g / G)) for one that takes whole
        servers. [-]

    Raises
    ------
    ValueError
        If servers are below 0, or GPUs below 1.

    Examples
    --------
    >>> cluster_places(9, 8, [1, 3, 8, 16])
    array([72, 18,  9,  4])
    """
    servers, fitted, asked = np.broadcast_arrays(
        *(np.asarray(value, dtype=np.int64) for value in (n_servers, gpus_per_server, gpus))
    )
    require_at_least(0, n_servers=servers)
    require_at_least(1, gpus_per_server=fitted, gpus=asked)
    inside = servers * (fitted // asked)
    return np.asarray(np.where(asked <= fitted, inside, servers // -(-asked // fitted)), dtype=np.int64)
