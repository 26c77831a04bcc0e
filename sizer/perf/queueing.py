"""Waiting in a line before equal places: Erlang's formulas, and the places that jobs find on a cluster."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.perf.arguments import require_above, require_at_least, require_within


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
    B(0, a) = 1 and 1/B(c, a) = 1 + c/a * 1/B(c - 1, a) [1]_: every term is positive, so nothing cancels, and the
    factorials of the closed form never appear.

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
    inverse = np.ones(places.shape)
    found = np.where(a > 0, 1.0, np.where(places > 0, 0.0, 1.0))
    most = int(places.max(initial=0))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for count in range(1, most + 1):
            inverse = np.where(places >= count, 1 + count / a * inverse, inverse)
        return np.asarray(np.where(a > 0, 1 / inverse, found))


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
        If the load or wait is below 0, the stay not above 0, or the probability not in 0..1 without 1.

    Notes
    -----
    P(W > t) falls with c, so the first count that is enough is the fewest. Erlang's loss for all counts is one
    recursion; a line ends within a few standard deviations of the load above it.
    """
    require_within(0, 1 - 1e-12, probability=probability)
    count = int(np.floor(load)) + 1
    while True:
        counts = np.arange(count, count + 64)
        is_enough = waits_longer_probability(counts, load, stay_s, wait_s) <= 1 - probability
        if is_enough.any():
            return int(counts[np.argmax(is_enough)])
        count += 64


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
