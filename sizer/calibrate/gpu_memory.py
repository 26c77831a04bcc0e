"""Fitted activations of neural networks, and what a workload takes of the memory of a GPU."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sizer.base.arrays import Floats

# Activations of a network are compared at this forward pass. [FLOP]
REFERENCE_FLOP = 1e10
# Spread of networks of one family around their line, and of families around all, before their rows are seen.
WITHIN_FAMILY_LOG_SD = 0.5
BETWEEN_FAMILIES_LOG_SD = 0.8


@dataclass(frozen=True)
class Activations:
    """Activations of one sample."""

    sample_bytes: float  # median [B]
    log_sd: float
    is_fitted: bool  # published rows of this network; False: from its family or from all networks


@dataclass(frozen=True)
class UnseenMemory:
    """Published rows predicted by fits that had not seen their network, or their source."""

    n_peaks: int
    median_error: float  # |ln(predicted / published)| of the activations behind peaks, median
    inside_90: float  # share of the peaks inside their 90 % interval
    n_ran: int
    ran_accepted: float  # share of the batches that ran which P(fits) >= 0.9 allows
    ran_likely: float  # and of those that are more likely than not to fit
    n_out_of_memory: int
    out_of_memory_refused: float  # share of the batches that ran out of memory which P(fits) >= 0.9 refuses


@dataclass(frozen=True)
class MemoryFit:
    """Effects on the logarithm of a sample's activations, with their covariance.

    ln a = general + family + slope ln(F / 10 GFLOP) + dnn [+ mixed] [+ inference] [+ recompute], F the forward pass.
    ``fixed`` is the logarithm of the context and workspaces of a GPU.
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    scatter_log_sd: float  # of implementations of one network
    n_rows: int
    # DNN/precision -> memory of a GPU [B] and the largest batch that was published as trained on it.
    ran: dict[str, tuple[tuple[float, float], ...]]
    unseen: dict[str, UnseenMemory]  # "network", "source"

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of every effect by its name."""
        return {name: place for place, name in enumerate(self.names)}

    @property
    def fixed_bytes(self) -> float:
        """Context of the driver and workspaces. [B]"""
        return math.exp(float(self.values[self.index["fixed"]]))

    def trained(self, dnn_id: str, precision: str) -> tuple[tuple[float, float], ...]:
        """Memory of GPUs and the largest batch of a network published on each; mixed precision takes less than fp32."""
        names = ("mixed", "fp32") if precision == "mixed" else (precision,)
        return tuple(pair for name in names for pair in self.ran.get(f"{dnn_id}/{name}", ()))

    def activations(
        self,
        *,
        dnn_id: str,
        family: str,
        forward_flop: float,
        precision: str,
        is_custom: bool = False,
        is_inference: bool = False,
        is_recomputed: bool = False,
    ) -> Activations:
        """Activations of one sample.

        Parameters
        ----------
        dnn_id : str
            Network of the catalogue, or the one that a custom network is like; empty for none.
        family : str
            Its family; empty where it is not known.
        forward_flop : float
            Forward pass of one sample. [FLOP]
        precision : {"mixed", "fp32"}
        is_custom : bool, default False
            The network is another one of the family of ``dnn_id``.
        is_inference : bool, default False
            Forward passes only, so that most activations are freed at once.
        is_recomputed : bool, default False
            Activations are computed again in the backward pass.
        """
        effects = [("general", 1.0), ("slope", math.log(forward_flop / REFERENCE_FLOP))]
        effects += [("mixed", 1.0)] * (precision == "mixed")
        effects += [("inference", 1.0)] * is_inference + [("recompute", 1.0)] * is_recomputed
        variance = self.scatter_log_sd**2
        known = f"dnn:{dnn_id}" in self.index
        if f"family:{family}" in self.index:
            effects.append((f"family:{family}", 1.0))
        else:
            variance += BETWEEN_FAMILIES_LOG_SD**2
        if known:
            effects.append((f"dnn:{dnn_id}", 1.0))
        if is_custom or not known:
            variance += WITHIN_FAMILY_LOG_SD**2
        mean, sd = self.log_mean_and_sd(effects, variance)
        return Activations(math.exp(mean), sd, known and not is_custom)

    def log_mean_and_sd(self, effects: Sequence[tuple[str, float]], variance: float = 0.0) -> tuple[float, float]:
        """Sum of some effects and its standard deviation, with a further variance."""
        columns = [self.index[name] for name, _ in effects]
        weights = np.array([weight for _, weight in effects])
        mean = float(weights @ self.values[columns])
        return mean, math.sqrt(float(weights @ self.covariance[np.ix_(columns, columns)] @ weights) + variance)

    def stored(self) -> dict[str, Any]:
        """Section of the stored calibration."""
        return {
            "scatter_log_sd": self.scatter_log_sd,
            "n_rows": self.n_rows,
            "ran": self.ran,
            "unseen": {name: vars(found) for name, found in self.unseen.items()},
            "parameters": {name: float(f"{value:.6g}") for name, value in zip(self.names, self.values, strict=True)},
            "covariance": [[float(f"{one:.4g}") for one in row] for row in self.covariance],
        }

    @classmethod
    def of_stored(cls, content: dict[str, Any]) -> "MemoryFit":
        """Fit from its section of the stored calibration; errors are those of a damaged dict."""
        names = tuple(content["parameters"])
        covariance = np.array(content["covariance"], dtype=float)
        if covariance.shape != (len(names), len(names)):
            raise ValueError("covariance of the GPU memory does not fit its parameters")
        return cls(
            names=names,
            values=np.array(list(content["parameters"].values()), dtype=float),
            covariance=covariance,
            scatter_log_sd=float(content["scatter_log_sd"]),
            n_rows=int(content["n_rows"]),
            ran={
                name: tuple((float(memory), float(batch)) for memory, batch in pairs)
                for name, pairs in content["ran"].items()
            },
            unseen={name: UnseenMemory(**found) for name, found in content["unseen"].items()},
        )
