"""Parameters of the joint fit: which effects a combination has, their priors, and the terms that they add up to.

Every term of :data:`sizer.perf.step.TERM_NAMES` is a sum of effects, one parameter each, so that a combination that
was never measured still has a prediction: the pool it belongs to, with the spread of that pool.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sizer.base.units import GIB
from sizer.calibrate.cases import Levels
from sizer.perf.step import EFFICIENCY, HOST_LINK, INTER, INTRA, LAUNCH, OVERLAP, STRAGGLER

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """Normal prior of every parameter of one kind; means are in the unit of the term (logarithm or logit)."""

    mean: float
    sd: float
    why: str


# Kind of effect (text before the first ':') -> prior. Spreads are weak: about what separates the members of each pool
# in the published rows, so that an effect without data stays wide rather than wrong.
PRIORS: dict[str, Prior] = {
    "base": Prior(math.log(0.3), 0.7, "DNN training reaches tenths of the peak"),
    "framework": Prior(0.0, 0.25, "frameworks of one year differ by about a quarter"),
    "stack": Prior(0.0, 0.25, "one framework gained 1.9 times over two years of releases"),
    "stack-precision": Prior(0.0, 0.25, "half-precision kernels matured later than single-precision ones"),
    "family": Prior(0.0, 0.3, "small convolutions use the units less well than large ones"),
    "dnn": Prior(0.0, 0.3, "within a family of DNNs"),
    "gpu": Prior(0.0, 0.1, "clocks of one chip differ by about a tenth between boards"),
    "gpu-generation": Prior(0.0, 0.3, "chips reach different shares of their peak"),
    "pair": Prior(0.0, 0.15, "kernels tuned for one DNN in one release"),
    "inference": Prior(0.0, 0.4, "forward passes alone against whole steps"),
    "inference-stack": Prior(0.0, 0.2, "inference paths of a release differ from its training paths"),
    "inference-dnn": Prior(0.0, 0.2, "backward passes of DNNs differ in cost"),
    "launch": Prior(math.log(5e-3), 1.0, "some hundred kernels of some ten microseconds"),
    "launch-stack": Prior(0.0, 0.6, "frameworks differ in overhead per kernel"),
    "launch-dnn": Prior(0.0, 0.6, "DNNs differ in number of kernels"),
    "launch-inference": Prior(math.log(0.3), 0.5, "a third of the kernels, no optimiser"),
    "launch-inference-dnn": Prior(0.0, 0.3, "backward passes differ in number of kernels"),
    "launch-inference-stack": Prior(0.0, 0.5, "inference engines fuse kernels"),
    # Rate of one GPU, one direction: what NCCL counts on (nccl-source: 20 GB/s per NVLink of V100, 18 of P100, at most
    # 100 GB/s in one server; 12 GB/s per PCIe x16, 6 to 9 through a CPU) less what two GPUs measured (7 GB/s, PCIe).
    "intra:nvlink1": Prior(math.log(40e9), 0.4, "four links of P100, some rings share them"),
    "intra:nvlink2": Prior(math.log(80e9), 0.4, "two to six links of V100"),
    "intra:nvswitch": Prior(math.log(100e9), 0.4, "six links of V100 through a switch"),
    "intra:pcie3": Prior(math.log(7e9), 0.4, "x16 links through switches or CPUs"),
    "intra": Prior(math.log(20e9), 1.0, "a link that is not known"),
    "inter:rdma": Prior(math.log(0.8), 0.3, "nccl-tests over EDR and RoCE reach 0.5 to 0.98 of the line"),
    "inter:tcp": Prior(math.log(0.35), 0.4, "nccl-tests over TCP reach 0.1 to 0.4 of the line"),
    "inter-link": Prior(0.0, 0.15, "adapters and switches of one kind"),
    "inter-stack": Prior(0.0, 0.7, "exchange libraries and their settings"),
    "overlap": Prior(0.0, 1.0, "half of the backward pass"),
    "overlap-framework": Prior(0.0, 1.0, "whether gradients leave layer by layer"),
    "straggler": Prior(math.log(0.016), 0.25, "median of the published pairs of one GPU and all GPUs of a server"),
    "straggler-framework": Prior(0.0, 0.5, "how a framework synchronises"),
    "straggler-stack": Prior(0.0, 1.0, "input pipelines and synchronisation of a release"),
    "host-link": Prior(math.log(10.5 * GIB), 0.15, "HPE's example of one x16 link (hpe-dlbs)"),
}


def prior_of(name: str) -> Prior:
    """Prior of a parameter by its kind, or by its whole name where one link has its own."""
    return PRIORS.get(name) or PRIORS[name.split(":")[0]]


def active_terms(levels: Levels, n_gpus: int) -> tuple[tuple[int, str], ...]:
    """Effects that the rate of a measurement can tell something about: no exchange on one GPU."""
    only_exchange = (INTRA, INTER, OVERLAP, STRAGGLER)
    return tuple(
        (term, name)
        for term, name in effects(levels)
        if not (term in only_exchange and (n_gpus == 1 or levels.task == "inference"))
        and not (term == HOST_LINK and levels.task == "training")
        and not (term == INTER and not levels.inter_link)
    )


def effects(levels: Levels) -> tuple[tuple[int, str], ...]:
    """(term, parameter) for every effect that a combination adds up; each with coefficient 1."""
    e, p = levels, levels.precision
    generation = "p100" if e.gpu.startswith("p") else "v100"
    found = [
        (EFFICIENCY, f"base:{p}"),
        (EFFICIENCY, f"framework:{e.framework}/{p}"),
        (EFFICIENCY, f"stack:{e.stack}"),
        (EFFICIENCY, f"stack-precision:{e.stack}/{p}"),
        (EFFICIENCY, f"family:{e.family}/{p}"),
        (EFFICIENCY, f"dnn:{e.dnn}/{p}"),
        (EFFICIENCY, f"gpu:{e.gpu}"),
        (EFFICIENCY, f"gpu-generation:{generation}/{p}"),
        (EFFICIENCY, f"pair:{e.stack}/{e.dnn}/{p}/{e.task}"),
        (LAUNCH, "launch:all"),
        (LAUNCH, f"launch-stack:{e.stack}"),
        (LAUNCH, f"launch-dnn:{e.dnn}"),
        (INTRA, f"intra:{e.intra_link}"),
        (OVERLAP, "overlap:all"),
        (OVERLAP, f"overlap-framework:{e.framework}"),
        (STRAGGLER, "straggler:all"),
        (STRAGGLER, f"straggler-framework:{e.framework}"),
        (STRAGGLER, f"straggler-stack:{e.stack}/{p}"),
        (HOST_LINK, "host-link:all"),
    ]
    # On one server the share is not read; it still needs a value, the one of RDMA.
    protocol = e.inter_link.partition("/")[2] or "rdma"
    found += [(INTER, f"inter:{protocol}")]
    if e.inter_link:
        found += [(INTER, f"inter-link:{e.inter_link}"), (INTER, f"inter-stack:{e.stack}/{p}")]
    if e.task == "inference":
        found += [
            (EFFICIENCY, f"inference:{p}"),
            (EFFICIENCY, f"inference-stack:{e.stack}/{p}"),
            (EFFICIENCY, f"inference-dnn:{e.dnn}/{p}"),
            (LAUNCH, "launch-inference:all"),
            (LAUNCH, f"launch-inference-stack:{e.stack}"),
            (LAUNCH, f"launch-inference-dnn:{e.dnn}"),
        ]
    return tuple(found)


@dataclass(frozen=True)
class Layout:
    """The parameters that a set of combinations has, in order, with their priors."""

    names: tuple[str, ...]
    index: dict[str, int] = field(init=False, repr=False)
    mean: Floats = field(init=False, repr=False)
    sd: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        priors = [prior_of(name) for name in self.names]
        object.__setattr__(self, "index", {name: i for i, name in enumerate(self.names)})
        object.__setattr__(self, "mean", np.array([prior.mean for prior in priors]))
        object.__setattr__(self, "sd", np.array([prior.sd for prior in priors]))

    @classmethod
    def of(cls, used: Iterable[tuple[tuple[int, str], ...]]) -> "Layout":
        """Every parameter that some row uses."""
        return cls(tuple(sorted({name for row in used for _, name in row})))
