"""The models of rate and time to train as sums of log-linear terms: effects, their priors, and the sparse matrices.

log t = log(sum over k of exp(c_k + X_k theta)) + A theta: every term of the step (compute, memory, launch, exchange) is
a product of what is known and of effects; what multiplies the whole step stands in A.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from sizer.base.arrays import Floats
from sizer.calibrate.modern.accelerators import accelerator_of
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.without_runs import levels_of, related_network

Effect = tuple[str, float]  # name and factor
ROUNDS = (1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1, 6.0)
# Adapters of a server where the row does not state them, bytes/s for each GPU: 200 Gbit/s on A100 systems, 400 later.
_NIC_BYTES_PER_S = {"ampere": 25e9}
_NEWER_NIC_BYTES_PER_S = 50e9
_PCIE_BYTES_PER_S = 16e9  # about 16 lanes of generation 3; what newer links are worth is inside the effect

# Kind of effect -> mean and standard deviation of its prior in log space. Levels (first block) are weak.
PRIORS: dict[str, tuple[float, float]] = {
    "work": (30.0, 10.0),  # FLOP of a sample over the efficiency
    "traffic": (17.0, 3.0),  # bytes of memory traffic of a sample over the efficiency
    "launch": (-5.5, 1.5),  # seconds of a micro batch
    "exchange": (18.0, 2.5),  # bytes between servers in a step that computing does not hide
    "latency": (-7.0, 1.5),  # seconds for each doubling of the GPUs
    "pcie": (18.0, 2.5),  # the same between GPUs without NVLink
    "level": (0.0, 1.5),  # accelerators whose peak no source gives
    # A network without runs: the share of the peak that the eight fitted networks whose step is arithmetic reach on
    # eight H100 has this spread, and so has the share of the gradient that they expose.
    "network": (0.0, 0.56),
    "exposed": (0.0, 1.4),
    "generation": (0.0, 0.3),
    "generation-network": (0.0, 0.1),
    "launch-generation": (0.0, 0.2),
    "adapters-unknown": (0.0, 0.5),
    "pcie-link": (0.0, 0.5),
    "software": (-0.015, 0.06),  # of each round, on those before it
    "accelerator": (0.0, 0.1),
    "accelerator-network": (0.0, 0.1),
    "framework": (0.0, 0.05),
    "precision": (0.0, 0.1),
    "cpu": (0.0, 0.03),
    "submitter": (0.0, 0.03),
    "submitter-network": (0.0, 0.03),
    "system": (0.0, 0.03),
    "system-network": (0.0, 0.03),
    "scale": (0.01, 0.03),  # for each doubling of the GPUs
    "size": (0.0, 0.06),
    "size-batch": (0.0, 0.04),
    # Time to train.
    "samples": (15.0, 8.0),
    "steps": (8.0, 3.0),  # steps below which no larger batch helps
    "recipe": (0.0, 0.08),  # of each round, on those before it
    "batch": (0.0, 0.04),
    "evaluation": (-3.0, 1.5),  # share of the training time
    "overhead": (2.0, 1.5),  # seconds
    "time-submitter": (0.0, 0.02),
    "time-size": (0.0, 0.04),
    "time-system": (0.0, 0.03),
}


@dataclass
class Terms:
    """Terms of one row: constants and effects of each component, and the effects on the whole."""

    components: list[tuple[float, list[Effect]]] = field(default_factory=list)
    whole: list[Effect] = field(default_factory=list)


def rate_terms(row: ModernRow) -> Terms:
    """Terms of the time of one step. The row states accelerators and global batch."""
    assert row.accelerators is not None
    assert row.global_batch is not None
    own, name, n, related = row.benchmark, row.accelerator, row.accelerators, related_network(row.benchmark)
    net, log_flop = (own, 0.0) if related is None else (related.benchmark, related.log_flop)
    gpu = accelerator_of(name)
    generation, batch = gpu.generation, row.global_batch / n
    level = f"generation {generation}" if gpu.is_sourced else f"level {name}"
    launch = [(f"launch {net}", 1.0), (f"launch-generation {generation}", 1.0)]
    compute = [(f"work {net}", 1.0), (level, 1.0), (f"generation-network {generation} {net}", 1.0)]
    found = Terms(
        [
            (math.log(batch / gpu.peak_flop_per_s) + log_flop, compute),
            (math.log(batch / gpu.memory_bytes_per_s) + log_flop, [(f"traffic {net}", 1.0)]),
            (math.log(row.accumulation), launch),
        ]
    )
    # Groups of GPUs that NVLink connects exchange over the network; where the NVLink domain is a rack, trays do not.
    groups = row.servers if gpu.nvlink_domain is None else math.ceil(n / gpu.nvlink_domain)
    if groups > 1:
        (log_bytes, effects), rate = exposed_terms("exchange", own), row.nic_bytes_per_s
        if rate is None:
            rate = n / row.servers * _NIC_BYTES_PER_S.get(generation, _NEWER_NIC_BYTES_PER_S)
            effects.append(("adapters-unknown all", 1.0))
        found.components.append((math.log(2 * (1 - 1 / groups) / rate) + log_bytes, effects))
        found.components.append((math.log(math.log2(max(2, n))), [(f"latency {net}", 1.0)]))
    per_server = n / row.servers
    if per_server > 1 and gpu.nvlink_domain is None and not row.link.startswith("nvlink"):
        log_bytes, effects = exposed_terms("pcie", own)
        effects.append((f"pcie-link {row.link or 'unknown'}", 1.0))
        found.components.append((math.log(2 * (1 - 1 / per_server) / _PCIE_BYTES_PER_S) + log_bytes, effects))
    found.whole = [
        *((f"software {net} {generation} {r}", 1.0) for r in ROUNDS if r <= row.round_order),
        (f"accelerator {name}", 1.0),
        (f"accelerator-network {name} {net}", 1.0),
        (f"framework {row.framework} {net}", 1.0),
        (f"cpu {row.cpu_vendor} {net}", 1.0),
        (f"submitter {row.maker}", 1.0),
        (f"submitter-network {row.maker} {own}", 1.0),
        (f"system {row.maker} {row.hardware}", 1.0),
        (f"system-network {row.maker} {row.hardware} {own}", 1.0),
        (f"scale {net}", math.log2(n)),
        (f"size {own} {name} {n}", 1.0),
        (f"size-batch {own} {name} {n} {row.global_batch:g}", 1.0),
    ]
    if row.precision:
        found.whole.append((f"precision {row.precision} {net} {generation}", 1.0))
    if related is not None:
        found.whole.append((f"network {own}", 1.0))
    return found


def exposed_terms(kind: str, benchmark: str) -> tuple[float, list[Effect]]:
    """Bytes of an exchange that computing does not hide: their logarithm as far as it is counted, and its effects.

    Parameters
    ----------
    kind : {"exchange", "pcie"}
        Between servers, or between GPUs without NVLink.
    benchmark : str
        The network.
    """
    related = related_network(benchmark)
    if related is None:
        return 0.0, [(f"{kind} {benchmark}", 1.0)]
    return related.log_exposed_bytes, [(f"exposed {benchmark}", 1.0)]


def time_terms(row: ModernRow, log_samples_per_s: float) -> Terms:
    """Terms of the time to train at a rate: samples (start and growth with the batch), evaluation, fixed time."""
    assert row.global_batch is not None
    assert row.accelerators is not None
    net, name, related = row.benchmark, row.accelerator, related_network(row.benchmark)
    recipe = [
        *((f"recipe {net} {r}", 1.0) for r in ROUNDS if r <= row.round_order),
        (f"batch {net} {row.global_batch:g}", 1.0),
    ]
    few, many = (f"samples {net}", 1.0), (f"steps {net}", 1.0)
    size = f"time-size {net} {name} {row.accelerators}"
    log_few, log_many, log_share = (
        -log_samples_per_s,
        math.log(row.global_batch) - log_samples_per_s,
        -log_samples_per_s,
    )
    if related is not None:
        # What no run tells, the recipe does.
        log_few, log_many = log_few + related.length.log_samples, log_many + related.length.log_steps
        log_share = float(np.logaddexp(log_few, log_many)) + related.length.log_evaluation
    return Terms(
        [
            (log_few, [few, *recipe]),
            (log_many, [many, *recipe]),
            (log_share, [few, *recipe, (f"evaluation {net}", 1.0)]),
            (0.0, [(f"overhead {levels_of(net)}", 1.0)]),
        ],
        [
            (f"time-submitter {row.maker} {net}", 1.0),
            (size, 1.0),
            (f"time-system {row.maker} {row.hardware} {net}", 1.0),
        ],
    )


@dataclass(frozen=True)
class Matrices:
    """Terms of rows as arrays: logs of seconds from effects, with derivatives."""

    constants: Floats  # shape (rows, components); -inf where a row lacks one
    components: tuple[csr_array, ...]
    whole: csr_array

    def evaluate(self, values: Floats) -> tuple[Floats, csr_array]:
        """Logs of seconds, shape (rows,), and their derivatives by the effects, shape (rows, effects)."""
        logs = np.stack([self.constants[:, k] + x @ values for k, x in enumerate(self.components)], axis=1)
        top = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - top)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        derivative = self.whole
        for k, x in enumerate(self.components):
            derivative = derivative + diags_array(share[:, k]) @ x
        return (top + np.log(total))[:, 0] + self.whole @ values, csr_array(derivative)


def matrices(terms: Sequence[Terms], index: Callable[[str], int | None], n_effects: int) -> Matrices:
    """Arrays of rows; effects without an index are left out."""
    width = max((len(one.components) for one in terms), default=1)
    constants = np.full((len(terms), width), -np.inf)
    for i, one in enumerate(terms):
        for k, (constant, _) in enumerate(one.components):
            constants[i, k] = constant

    def sparse(effects: Sequence[Sequence[Effect]]) -> csr_array:
        cells = [
            (i, j, factor) for i, row in enumerate(effects) for name, factor in row if (j := index(name)) is not None
        ]
        at, to, factors = zip(*cells, strict=True) if cells else ((), (), ())
        shape = (len(terms), n_effects)
        return csr_array(
            coo_array((np.array(factors, dtype=float), (np.array(at, int), np.array(to, int))), shape=shape)
        )

    parts = tuple(
        sparse([one.components[k][1] if k < len(one.components) else [] for one in terms]) for k in range(width)
    )
    return Matrices(constants, parts, sparse([one.whole for one in terms]))


def unknown_variance(one: Terms, index: Callable[[str], int | None]) -> float:
    """Variance in log space that effects without an index add: that of their priors, on the whole and of levels."""
    levels = [effect for _, effects in one.components for effect in effects if effect[0].startswith("generation")]
    unknown = [effect for effect in (*one.whole, *levels) if index(effect[0]) is None]
    return sum((factor * PRIORS[name.split(" ", 1)[0]][1]) ** 2 for name, factor in unknown)
