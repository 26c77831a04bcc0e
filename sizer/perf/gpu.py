"""Time of one step on one GPU: a fixed launch time and arithmetic at a fitted share of the peak."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.perf.checks import require_above, require_at_least, require_within

Floats = NDArray[np.float64]

# Forward pass 1 F, backward pass 2 F (gradients of inputs and of weights); no recomputation of activations.
TRAINING_PASSES = 3.0
INFERENCE_PASSES = 1.0


def compute_time_s(
    batch_per_gpu: ArrayLike,
    forward_flop: ArrayLike,
    peak_flop_per_s: ArrayLike,
    efficiency_fraction: ArrayLike,
    passes: float = TRAINING_PASSES,
) -> Floats:
    """Arithmetic of one step on one GPU, without launch time.

    Parameters
    ----------
    batch_per_gpu : array_like, shape (...)
        Samples in the step. [-]
    forward_flop : array_like, shape (...)
        Operations of one forward pass of one sample, 2 x multiply-accumulates. [FLOP]
    peak_flop_per_s : array_like, shape (...)
        Peak of the unit used: tensor cores for mixed precision. [FLOP/s]
    efficiency_fraction : array_like, shape (...)
        Share of the peak reached, 0..1. [-]
    passes : float
        Forward passes that the step is worth: 3 in training, 1 in inference. [-]

    Returns
    -------
    ndarray, shape (...)
        passes F b / (P eta). [s]

    Raises
    ------
    ValueError
        If batch, FLOP, peak or efficiency are not above 0, or the efficiency is above 1.

    Examples
    --------
    >>> float(compute_time_s(256, 8.2e9, 125e12, 0.2).round(4))   # ResNet-50 on V100, mixed precision
    0.2519
    """
    require_above(0, batch_per_gpu=batch_per_gpu, forward_flop=forward_flop, peak_flop_per_s=peak_flop_per_s)
    require_above(0, efficiency_fraction=efficiency_fraction, passes=passes)
    require_within(0, 1, efficiency_fraction=efficiency_fraction)
    b, flop, peak, eta = (
        np.asarray(a, dtype=float) for a in (batch_per_gpu, forward_flop, peak_flop_per_s, efficiency_fraction)
    )
    return np.asarray(passes * flop * b / (peak * eta))


def gpu_step_time_s(
    batch_per_gpu: ArrayLike,
    forward_flop: ArrayLike,
    peak_flop_per_s: ArrayLike,
    efficiency_fraction: ArrayLike,
    launch_s: ArrayLike,
    passes: float = TRAINING_PASSES,
) -> Floats:
    """Time of one step on one GPU: launch time + passes F b / (P eta).

    Parameters
    ----------
    batch_per_gpu, forward_flop, peak_flop_per_s, efficiency_fraction, passes
        As for :func:`compute_time_s`.
    launch_s : array_like, shape (...)
        Part of the step that does not grow with the batch: kernel launches, optimiser, framework. [s]

    Returns
    -------
    ndarray, shape (...)
        Time of the step. [s]

    Raises
    ------
    ValueError
        As :func:`compute_time_s`, and if the launch time is below 0.

    Notes
    -----
    The rate b/t saturates with the batch: half the limit is reached where the arithmetic takes as long as the launch.

    Examples
    --------
    >>> rate = 64 / gpu_step_time_s(64, 8.2e9, 125e12, 0.25, [0.0, 0.01])
    >>> rate.round(0)
    array([1270., 1060.])
    """
    require_at_least(0, launch_s=launch_s)
    compute = compute_time_s(batch_per_gpu, forward_flop, peak_flop_per_s, efficiency_fraction, passes)
    return np.asarray(launch_s, dtype=float) + compute


def host_to_gpu_samples_per_s(
    input_bytes: ArrayLike, n_links: ArrayLike, link_bytes_per_s: ArrayLike, bytes_per_value: float = 4.0
) -> Floats:
    """Samples per second that the links between host and GPUs of one server can carry.

    Parameters
    ----------
    input_bytes : array_like, shape (...)
        One decoded sample in uint8, as the catalogue gives it. [B]
    n_links : array_like, shape (...)
        Links between host and GPUs that work side by side. [-]
    link_bytes_per_s : array_like, shape (...)
        Rate of one link, one direction. [B/s]
    bytes_per_value : float
        Width of one value on the link: 4 where the host converts to float before it copies. [B]

    Returns
    -------
    ndarray, shape (...)
        n B / (w s). [samples/s]

    Raises
    ------
    ValueError
        If an argument is not above 0.

    Notes
    -----
    HPE's example is 10.5 GiB/s over one x16 link: 18,000 float images/s of 227 x 227 for one GPU.

    Examples
    --------
    >>> float(host_to_gpu_samples_per_s(3 * 227 * 227, 1, 10.5 * 2**30).round(-1))
    18230.0
    """
    require_above(0, input_bytes=input_bytes, n_links=n_links, link_bytes_per_s=link_bytes_per_s)
    require_above(0, bytes_per_value=bytes_per_value)
    size, links, rate = (np.asarray(a, dtype=float) for a in (input_bytes, n_links, link_bytes_per_s))
    return np.asarray(links * rate / (bytes_per_value * size))
