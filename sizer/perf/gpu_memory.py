"""Memory that a training or a batch inference takes on one GPU, and the largest batch that fits."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.estimate import normal_cdf, normal_quantile
from sizer.perf.arguments import float_arrays, require_above, require_at_least, require_within

# What is searched for fits when it does with the first probability; what is stated is refused where it does with less
# than the second: all of the 90 % interval lies above the GPU's memory.
FITS_PROBABILITY, REFUSED = 0.9, 0.05
# Weights and gradients: 4 + 4 bytes with fp32; with mixed precision 2 + 2 and 4 of the fp32 copy that the optimizer
# updates. Micikevicius et al., "Mixed precision training," ICLR 2018, section 3.1.
WEIGHT_AND_GRADIENT_BYTES = 8.0
# Each running mean of the optimizer is an fp32 number: one with momentum, two with Adam and LAMB.
MOMENT_BYTES = 4.0
# Part of the state that an optimizer divided over the GPUs divides: the fp32 copy and the running means with mixed
# precision. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models," SC20, table 1.
SHARED_WEIGHT_BYTES = 4.0
# An inference holds fp32 weights alone.
INFERENCE_WEIGHT_BYTES = 4.0


def training_state_bytes(parameters: ArrayLike, n_moments: ArrayLike) -> Floats:
    """Weights, gradients and optimizer state, none of it divided over GPUs.

    ``parameters`` (...): trainable parameters.
    ``n_moments`` (...): running means that the optimizer keeps of each: 0 plain SGD, 1 momentum, 2 Adam or LAMB.
    Returns (...): state, the same for fp32 and mixed precision [B].
    Raises ValueError if parameters or moments are below 0.

    Examples
    --------
    >>> float(training_state_bytes(1.5e9, 2))   # GPT-2 1.5 B with Adam
    24000000000.0
    """
    count, moments = float_arrays(parameters, n_moments)
    require_at_least(0, parameters=count, n_moments=moments)
    return np.asarray(count * (WEIGHT_AND_GRADIENT_BYTES + MOMENT_BYTES * moments))


def needed_bytes(state_bytes: ArrayLike, fixed_bytes: ArrayLike, batch: ArrayLike, sample_bytes: ArrayLike) -> Floats:
    """Memory of one GPU: state, context and the activations of a batch.

    ``state_bytes`` (...): weights, gradients, optimizer [B].
    ``fixed_bytes`` (...): context of the driver and workspaces of the libraries [B].
    ``batch`` (...): samples of one step.
    ``sample_bytes`` (...): activations that one sample keeps until its backward pass [B].
    Returns (...): need [B].
    Raises ValueError if an argument is below 0.

    Examples
    --------
    >>> float(needed_bytes(5e9, 1e9, 4, 2e9))
    14000000000.0
    """
    state, fixed, samples, each = float_arrays(state_bytes, fixed_bytes, batch, sample_bytes)
    require_at_least(0, state_bytes=state, fixed_bytes=fixed, batch=samples, sample_bytes=each)
    return np.asarray(state + fixed + samples * each)


def fit_probability(
    memory_bytes: ArrayLike,
    state_bytes: ArrayLike,
    fixed_bytes: ArrayLike,
    batch: ArrayLike,
    sample_bytes: ArrayLike,
    sample_log_sd: ArrayLike,
) -> Floats:
    """Probability that a batch fits a GPU.

    ``memory_bytes`` (...): memory of the GPU [B].
    ``state_bytes``, ``fixed_bytes``, ``batch``, ``sample_bytes`` (...): as of :func:`needed_bytes`; ``sample_bytes`` is
        the median.
    ``sample_log_sd`` (...): standard deviation of the logarithm of ``sample_bytes``.
    Returns (...): probability; 0 where the state alone does not fit. It falls with the batch and grows with the memory.
    Raises ValueError if a size is below 0, or batch, sample or spread are not above 0.

    Examples
    --------
    >>> fit_probability(16e9, 5e9, 1e9, [4, 5, 8], 2e9, 0.3).round(2)
    array([0.77, 0.5 , 0.06])
    """
    memory, state, fixed, samples, each, sd = float_arrays(
        memory_bytes, state_bytes, fixed_bytes, batch, sample_bytes, sample_log_sd
    )
    require_at_least(0, memory_bytes=memory, state_bytes=state, fixed_bytes=fixed)
    require_above(0, batch=samples, sample_bytes=each, sample_log_sd=sd)
    room = memory - state - fixed
    margin = np.log(np.where(room > 0, room, 1.0) / (samples * each)) / sd
    return np.asarray(np.where(room > 0, normal_cdf(margin), 0.0))


def largest_batch(
    memory_bytes: ArrayLike,
    state_bytes: ArrayLike,
    fixed_bytes: ArrayLike,
    sample_bytes: ArrayLike,
    sample_log_sd: ArrayLike,
    probability: float = FITS_PROBABILITY,
) -> Floats:
    """Largest batch that fits a GPU with a probability.

    ``memory_bytes``, ``state_bytes``, ``fixed_bytes``, ``sample_bytes``, ``sample_log_sd`` (...): as of
        :func:`fit_probability`.
    ``probability``: least probability that the batch fits.
    Returns (...): whole samples; 0 where not one fits.
    Raises ValueError as :func:`fit_probability`, and if the probability is outside 0..1.

    Examples
    --------
    >>> largest_batch([16e9, 32e9], 5e9, 1e9, 2e9, 0.3)
    array([3., 8.])
    """
    memory, state, fixed, each, sd = float_arrays(memory_bytes, state_bytes, fixed_bytes, sample_bytes, sample_log_sd)
    require_at_least(0, memory_bytes=memory, state_bytes=state, fixed_bytes=fixed)
    require_above(0, sample_bytes=each, sample_log_sd=sd)
    require_within(0.0, 1.0, probability=probability)
    room = np.maximum(memory - state - fixed, 0.0)
    return np.asarray(np.floor(room / (each * np.exp(normal_quantile(probability) * sd))))
