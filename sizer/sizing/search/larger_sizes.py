"""Numbers of servers beyond those of a search that its targets may take, where none of these meets them."""

import math

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.sizing.limits import COMPUTE_LIMITS, Limit
from sizer.sizing.search.feasibility import EvaluatedSpace

# Largest number of servers that a search looks at; fewer where the fabric ends before.
MOST_SERVERS = 10_000
# What more servers may mend. A workload that starts to fit the GPUs on more of them is not foreseen.
TAKE_SERVERS = {*COMPUTE_LIMITS, Limit.TEAM_WAITS, Limit.CONFIDENCE, Limit.SERVER_LOSS} - {Limit.GPU_MEMORY}
# Scaling is judged over the last two doublings: layouts of language models divide some numbers better than others.
_DOUBLINGS = 2
# Looked at besides the number expected: a little fewer, and more for platforms that take more than the best one.
_FEWER, _MORE = 15 / 16, 5 / 4
# Sizes are a step apart where there would be more of them.
_MOST_SIZES = 512


def servers_expected(evaluated: EvaluatedSpace) -> float:
    """Servers at which the targets of a request may be met, by how the largest designs of its search scale.

    Infinite where more servers would not do: the rate does not grow enough, or another limit is broken.
    """
    most = int(evaluated.space.sizes[-1])
    others = [kept[:, -1] for limit, kept in evaluated.class_passes.items() if limit not in TAKE_SERVERS]
    could = np.logical_and.reduce(others)[evaluated.class_of]
    if not could.any():
        return math.inf
    sizes = evaluated.space.sizes
    place = int(np.searchsorted(sizes, max(most // 2**_DOUBLINGS, 1)))
    fewer, share = int(sizes[place]), _delivered_shares(evaluated)[:, [place, -1]][could]
    exponent = np.ones(len(share))
    if fewer < most:
        with np.errstate(divide="ignore", invalid="ignore"):  # fewer servers may deliver nothing
            exponent = np.log(share[:, 1] / share[:, 0]) / math.log(most / fewer)
    return float(max(servers_by_scaling(most, share[:, 1], exponent).min(), most + 1.0))


def servers_by_scaling(n_servers: int, share: Floats, exponent: Floats) -> Floats:
    """Servers that deliver all of what is asked, where so many deliver a share; infinite where no number does.

    Notes
    -----
    n servers deliver n/(a + b n), after Amdahl's law. Their share s grows as n^k, k = a/(a + b n) being ``exponent``,
    and is 1 at n k/(k - (1 - s)) servers. Each delivers no more than it does now, even where k is above 1.
    """
    k, missing = np.minimum(exponent, 1.0), 1 - np.minimum(share, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(k > missing, n_servers * k / (k - missing), np.inf))


def larger_sizes(evaluated: EvaluatedSpace) -> Ints | None:
    """Numbers of servers to look at where no design of a space meets the targets; None where no larger one would."""
    if evaluated.runs.any():
        return None
    expected, most = servers_expected(evaluated), int(evaluated.space.sizes[-1])
    if expected > MOST_SERVERS:
        return None
    low, high = max(most + 1, math.floor(expected * _FEWER)), min(MOST_SERVERS, math.ceil(expected * _MORE))
    # What is expected may be too much: the fewest servers that are enough lie from the last size on.
    if high - most <= _MOST_SIZES:
        low = most + 1
    return np.arange(low, high + 1, max(1, math.ceil((high - low) / _MOST_SIZES)))


def _delivered_shares(evaluated: EvaluatedSpace) -> Floats:
    """(platforms, sizes) share of what the targets ask of them that servers deliver at the confidence asked."""
    targets, shares = evaluated.targets, []
    for comp, need in zip(targets.computes, targets.needs, strict=True):
        stages = (comp.decode, comp.host_link, *((comp.gpu,) if need.counts_gpu else ()))
        # Of rows whose GPUs do not hold the network nothing is asked: they deliver all of that.
        asked = np.where(need.samples_per_s > 0, need.samples_per_s, 1.0)
        shares += [
            np.where(need.samples_per_s > 0, stage.quantile(1 - targets.confidence) / asked, 1.0) for stage in stages
        ]
    return np.asarray(np.min(shares, axis=0)[evaluated.kind_of_class][evaluated.class_of])
