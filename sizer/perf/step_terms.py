"""Sufficient numbers of one combination of stack, DNN, precision, GPU and links, and rates with their uncertainty.

The calibration knows hundreds of parameters. What one combination needs of them are the few numbers of
:data:`TERM_NAMES` and their covariance: a :class:`StepTerms`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.base.stored_answers import StoredAnswers
from sizer.perf.step_draws import drawn_terms

TERM_NAMES = (
    "log_efficiency",  # ln of the share of the GPU's peak that arithmetic reaches
    "log_launch_s",  # ln of the part of a step that does not grow with the batch
    "log_intra_bytes_per_s",  # ln of the rate of one GPU inside the server, one direction
    "log_inter_share",  # ln of the share of the NICs' line rate that the exchange reaches
    "overlap_logit",  # logit of the share of the backward pass that hides exchange
    "log_straggler",  # ln of the growth of a step with each doubling of the GPUs of a server
    "log_host_link_bytes_per_s",  # ln of the rate of one link between host and GPUs (inference input)
    "log_run_ahead",  # ln of (q - 1): how far kernel launches run ahead of the arithmetic
    "log_fill",  # ln of the samples that a step takes longer because small batches do not fill the GPU
    "log_scale_out",  # ln of the growth of a step on two servers against one; on many it doubles
)
# Logarithm of a part that a step does not have: launches that a rate includes, exchange that is never exposed. Exactly
# so, and no number that stands for it: the part is 0, whatever it is multiplied by; a rate without bound is minus it.
ABSENT = -np.inf
EFFICIENCY, LAUNCH, INTRA, INTER, OVERLAP, STRAGGLER, HOST_LINK, RUN_AHEAD, FILL, SCALE_OUT = range(len(TERM_NAMES))
# Draws of single combinations, 40 kB each: a batch over the whole catalogue knows thousands of these.
_draws: StoredAnswers[Floats] = StoredAnswers(256)


@dataclass(frozen=True)
class StepTerms:
    """Sufficient numbers of one combination of stack, DNN, precision, GPU and links, or of one a row.

    Attributes
    ----------
    values : ndarray, shape (..., k)
        In the order of :data:`TERM_NAMES`; :data:`ABSENT` where a step has no such part.
    covariance : ndarray, shape (..., k, k)
        Covariance of ``values`` from the calibration.
    scatter_log_sd : ndarray, shape (...)
        Scatter of measurements within a source around the model, which more calibration rows would not remove:
        standard deviation of the logarithm of a rate. [-]
    between_log_sd : ndarray, shape (...)
        The same between sources: what leaving whole sources out shows beyond the covariance and the scatter. [-]
    effects : tuple of (int, str, float)
        Term, parameter and coefficient of everything that ``values`` of one combination add up: what draws of the
        parameters move. Empty for stacked terms.
    """

    values: Floats
    covariance: Floats
    scatter_log_sd: Floats
    between_log_sd: Floats = field(default_factory=lambda: np.zeros(()))
    effects: tuple[tuple[int, str, float], ...] = field(default=(), repr=False)
    _kept: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        k = len(TERM_NAMES)
        shape = self.values.shape[:-1]
        if self.values.shape[-1:] != (k,) or self.covariance.shape != (*shape, k, k):
            raise ValueError(
                f"terms must be (..., {k}) and (..., {k}, {k}), got {self.values.shape}, {self.covariance.shape}"
            )

    @property
    def drawn(self) -> Floats:
        """(..., draws, k) draws of ``values``, the same in every run; see :mod:`sizer.perf.step_draws`."""
        if self._kept is not None:
            return self._kept
        if self.values.ndim > 1:
            return drawn_terms(self.values, self.covariance)
        return _draws.get(self.digest, lambda: drawn_terms(self.values, self.covariance))

    @cached_property
    def digest(self) -> bytes:
        """Of what rates with their draws depend on."""
        parts = (self.values, self.covariance, self.log_scatter)
        return blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).digest()

    @property
    def log_scatter(self) -> Floats:
        """(...) what moves the logarithm of a rate beside the terms: runs and sources. [-]"""
        return np.asarray(np.hypot(self.scatter_log_sd, self.between_log_sd))

    def __getitem__(self, rows: NDArray[np.intp] | int) -> "StepTerms":
        """Terms of some rows; with an index array, one row of terms for each of its elements."""
        within, between = np.asarray(self.scatter_log_sd)[rows], np.asarray(self.between_log_sd)
        kept = None if self._kept is None else self._kept[rows]
        between = between[rows] if between.ndim else between
        return StepTerms(self.values[rows], self.covariance[rows], within, between, _kept=kept)

    @classmethod
    def stack(cls, terms: "list[StepTerms]") -> "StepTerms":
        """Several single terms as one with a leading axis; ``stacked[index_array]`` then gives terms row by row."""
        return cls(
            np.stack([one.values for one in terms]),
            np.stack([one.covariance for one in terms]),
            np.stack([np.asarray(one.scatter_log_sd) for one in terms]),
            np.stack([np.asarray(one.between_log_sd) for one in terms]),
            _kept=np.stack([one.drawn for one in terms]),
        )


@dataclass(frozen=True)
class StepRate:
    """Rates of all GPUs together, with what draws of the terms make of them. [samples/s]

    Attributes
    ----------
    compute : Estimate, shape (...)
        Without exchange and without waiting for one another: GPUs x b/t. Never lower with more GPUs.
    total : Estimate, shape (...)
        With exchange and stragglers (training), or with the link between host and GPUs (inference).
    exchange : ndarray, shape (...)
        Capacity of the exchange alone, were computation free: global batch over exchange time; infinite for one GPU.
        In inference: what the links between host and GPUs carry.
    exposed_s : ndarray, shape (...)
        Time of a step that exchange and stragglers (in inference: the host links) add. [s]
    """

    compute: Estimate
    total: Estimate
    exchange: Floats
    exposed_s: Floats


@dataclass(frozen=True)
class StepSlopes:
    """Rate at given terms, and how it moves with them: what a fit asks for.

    Attributes
    ----------
    samples_per_s : ndarray, shape (...)
        As ``StepRate.total``, at the terms themselves. [samples/s]
    by_term : dict of int to ndarray
        Derivative of its logarithm by each term that it depends on, by index into :data:`TERM_NAMES`. [-]
    """

    samples_per_s: Floats
    by_term: dict[int, Floats]
