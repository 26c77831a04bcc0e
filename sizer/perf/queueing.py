"""Erlang's formula for arrivals that find all equal places taken."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_at_least

# A sum of a Poisson distribution this small says that the load is over 30 standard deviations above the places.
_LEAST_SUM = 1e-250
_FRACTION_TERMS = 20


def erlang_b(n_places: ArrayLike, load: ArrayLike) -> Floats:
    """Share of the arrivals that find all places taken, where they go away instead of waiting.

    ``n_places`` (...): places c, 0 or more.
    ``load`` (...): offered load a: arrivals in a mean stay [erlang].
    Returns (...): b(c, a).
    Raises ValueError if a count or a load is below 0.

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
