"""Host work per sample: reading records, decoding JPEG, cropping, feeding the GPUs."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above, require_at_least, require_within


def core_seconds_per_sample(sample_bytes: ArrayLike, fixed_core_s: ArrayLike, core_s_per_byte: ArrayLike) -> Floats:
    """Work of physical cores on one sample.

    Parameters
    ----------
    sample_bytes : array_like, shape (...)
        Sample as stored. [B]
    fixed_core_s : array_like, shape (...)
        Part that does not grow with the sample: crop, augmentation, feeding. [core s]
    core_s_per_byte : array_like, shape (...)
        Part that grows with it: JPEG decode. 0 for decoded tensors and for decoding on the GPU. [core s/B]

    Returns
    -------
    ndarray, shape (...)
        a + c x bytes. [core s]

    Raises
    ------
    ValueError
        If a size is not above 0 or a coefficient below 0.

    Notes
    -----
    Cropped images are decoded whole, so the cost follows the stored bytes, not the size that the GPU gets.

    Examples
    --------
    >>> core_seconds_per_sample([113e3, 1.3e6], 1.6e-3, 14e-9).round(4)   # TensorFlow loader, two JPEG sizes
    array([0.0032, 0.0198])
    """
    require_above(0, sample_bytes=sample_bytes)
    require_at_least(0, fixed_core_s=fixed_core_s, core_s_per_byte=core_s_per_byte)
    size, fixed, slope = (np.asarray(a, dtype=float) for a in (sample_bytes, fixed_core_s, core_s_per_byte))
    return np.asarray(fixed + slope * size)


def decode_samples_per_s(n_cores: ArrayLike, core_s_per_sample: ArrayLike, usable_fraction: ArrayLike = 1.0) -> Floats:
    """Samples per second that the cores of the hosts can prepare.

    Parameters
    ----------
    n_cores : array_like, shape (...)
        Physical cores of all servers. [-]
    core_s_per_sample : array_like, shape (...)
        Work on one sample; 0 means that the host does nothing. [core s]
    usable_fraction : array_like, shape (...), default 1
        Share of the cores that may be busy, above 0 up to 1. [-]

    Returns
    -------
    ndarray, shape (...)
        cores x usable / work; infinite where there is no work. [samples/s]

    Raises
    ------
    ValueError
        If there are no cores, the work is below 0 or the share not in 0..1.

    Examples
    --------
    >>> decode_samples_per_s(40, [0.0032, 0.0])
    array([12500.,    inf])
    """
    require_above(0, n_cores=n_cores, usable_fraction=usable_fraction)
    require_within(0, 1, usable_fraction=usable_fraction)
    require_at_least(0, core_s_per_sample=core_s_per_sample)
    cores, work, share = (np.asarray(a, dtype=float) for a in (n_cores, core_s_per_sample, usable_fraction))
    with np.errstate(divide="ignore"):
        return np.asarray(cores * share / work)


def cpu_utilization_fraction(samples_per_s: ArrayLike, core_s_per_sample: ArrayLike, n_cores: ArrayLike) -> Floats:
    """Share of the physical cores that is busy at a rate.

    Parameters
    ----------
    samples_per_s : array_like, shape (...)
        Rate of the whole system. [samples/s]
    core_s_per_sample : array_like, shape (...)
        Work on one sample. [core s]
    n_cores : array_like, shape (...)
        Physical cores of all servers. [-]

    Returns
    -------
    ndarray, shape (...)
        rate x work / cores, above 1 where the cores do not suffice. [-]

    Raises
    ------
    ValueError
        If a rate or work is below 0 or there are no cores.

    Examples
    --------
    >>> float(cpu_utilization_fraction(5808, 3.17e-3, 40).round(2))   # ResNet-50 on one DGX-1
    0.46
    """
    require_above(0, n_cores=n_cores)
    require_at_least(0, samples_per_s=samples_per_s, core_s_per_sample=core_s_per_sample)
    rate, work, cores = (np.asarray(a, dtype=float) for a in (samples_per_s, core_s_per_sample, n_cores))
    return np.asarray(rate * work / cores)
