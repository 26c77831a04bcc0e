"""The models of rate and time to train of MLPerf networks: parts of a step or of a training, their effects and priors.

Every part (compute, memory, launch, exchange) is a product of what is known and of effects; what multiplies the whole
step or training stands in the last term.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.calibrate.engine import Effect, Law, Prior, RateModel, kind_of, sum_of_parts
from sizer.calibrate.modern.accelerators import accelerator_of
from sizer.calibrate.modern.rows import ModernRow

# Parts of a step: arithmetic, memory traffic, launches, exchange between servers and its latency, exchange inside a
# server without NVLink. Parts of a training: samples at small batches, growth with the batch, evaluations, fixed time.
COMPUTE, TRAFFIC, LAUNCH, EXCHANGE, LATENCY, INSIDE, WHOLE = range(7)
FEW, MANY, EVALUATION, OVERHEAD, WHOLE_TIME = range(5)
ROUNDS = (1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1, 6.0)
# Scatter of rows in log space within which the loss is quadratic.
_SIGMA = 0.03
# Effects that one row alone would have are left to the spread: the row could not tell them from its scatter.
_SHARED_ONLY = frozenset(
    ("submitter-network", "system", "system-network", "size", "size-batch", "batch", "time-submitter", "time-size",
     "time-system", "cpu", "framework")
)  # fmt: skip
# Adapters of a server where the row does not state them, bytes/s for each GPU: 200 Gbit/s on A100 systems, 400 later.
_NIC_BYTES_PER_S = {"ampere": 25e9}
_NEWER_NIC_BYTES_PER_S = 50e9
_PCIE_BYTES_PER_S = 16e9  # about 16 lanes of generation 3; what newer links are worth is inside the effect

# Kind of effect -> prior in log space. Levels (first block) are weak.
PRIORS = {
    "work": Prior(30.0, 10.0, "FLOP of a sample over the efficiency"),
    "traffic": Prior(17.0, 3.0, "bytes of memory traffic of a sample over the efficiency"),
    "launch": Prior(-5.5, 1.5, "seconds of a micro batch"),
    "exchange": Prior(18.0, 2.5, "bytes between servers in a step that computing does not hide"),
    "latency": Prior(-7.0, 1.5, "seconds for each doubling of the GPUs"),
    "pcie": Prior(18.0, 2.5, "the same between GPUs without NVLink"),
    "level": Prior(0.0, 1.5, "accelerators whose peak no source gives"),
    "generation": Prior(0.0, 0.3),
    "generation-network": Prior(0.0, 0.1),
    "launch-generation": Prior(0.0, 0.2),
    "adapters-unknown": Prior(0.0, 0.5),
    "pcie-link": Prior(0.0, 0.5),
    "software": Prior(-0.015, 0.06, "of each round, on those before it"),
    "accelerator": Prior(0.0, 0.1),
    "accelerator-network": Prior(0.0, 0.1),
    "framework": Prior(0.0, 0.05),
    "precision": Prior(0.0, 0.1),
    "cpu": Prior(0.0, 0.03),
    "submitter": Prior(0.0, 0.03),
    "submitter-network": Prior(0.0, 0.03),
    "system": Prior(0.0, 0.03),
    "system-network": Prior(0.0, 0.03),
    "scale": Prior(0.01, 0.03, "for each doubling of the GPUs"),
    "size": Prior(0.0, 0.06),
    "size-batch": Prior(0.0, 0.04),
    # Time to train.
    "samples": Prior(15.0, 8.0),
    "steps": Prior(8.0, 3.0, "steps below which no larger batch helps"),
    "recipe": Prior(0.0, 0.08, "of each round, on those before it"),
    "batch": Prior(0.0, 0.04),
    "evaluation": Prior(-3.0, 1.5, "share of the training time"),
    "overhead": Prior(2.0, 1.5, "seconds"),
    "time-submitter": Prior(0.0, 0.02),
    "time-size": Prior(0.0, 0.04),
    "time-system": Prior(0.0, 0.03),
}


def prior_of(name: str) -> Prior:
    """Prior of an effect, by its kind."""
    return PRIORS[kind_of(name)]


@dataclass(frozen=True)
class Parts:
    """Logarithms of what is known of the parts of one case, -inf where it has none, and the effects on them."""

    constants: tuple[float, ...]
    effects: list[Effect]


def step_parts(row: ModernRow) -> Parts:
    """Parts of the time of one step. The row states accelerators and global batch."""
    assert row.accelerators is not None
    assert row.global_batch is not None
    net, name, n = row.benchmark, row.accelerator, row.accelerators
    gpu = accelerator_of(name)
    generation, batch = gpu.generation, row.global_batch / n
    known = [-math.inf] * WHOLE
    known[COMPUTE] = math.log(batch / gpu.peak_flop_per_s)
    known[TRAFFIC] = math.log(batch / gpu.memory_bytes_per_s)
    known[LAUNCH] = math.log(row.accumulation)
    found = [
        (COMPUTE, f"work {net}"),
        (COMPUTE, f"generation {generation}" if gpu.is_sourced else f"level {name}"),
        (COMPUTE, f"generation-network {generation} {net}"),
        (TRAFFIC, f"traffic {net}"),
        (LAUNCH, f"launch {net}"),
        (LAUNCH, f"launch-generation {generation}"),
    ]
    # Groups of GPUs that NVLink connects exchange over the network; where the NVLink domain is a rack, trays do not.
    groups = row.servers if gpu.nvlink_domain is None else math.ceil(n / gpu.nvlink_domain)
    if groups > 1:
        rate = row.nic_bytes_per_s
        if rate is None:
            rate = n / row.servers * _NIC_BYTES_PER_S.get(generation, _NEWER_NIC_BYTES_PER_S)
            found.append((EXCHANGE, "adapters-unknown all"))
        known[EXCHANGE] = math.log(2 * (1 - 1 / groups) / rate)
        known[LATENCY] = math.log(math.log2(max(2, n)))
        found += [(EXCHANGE, f"exchange {net}"), (LATENCY, f"latency {net}")]
    per_server = n / row.servers
    if per_server > 1 and gpu.nvlink_domain is None and not row.link.startswith("nvlink"):
        known[INSIDE] = math.log(2 * (1 - 1 / per_server) / _PCIE_BYTES_PER_S)
        found += [(INSIDE, f"pcie {net}"), (INSIDE, f"pcie-link {row.link or 'unknown'}")]
    whole = [
        *(f"software {net} {generation} {r}" for r in ROUNDS if r <= row.round_order),
        f"accelerator {name}",
        f"accelerator-network {name} {net}",
        f"framework {row.framework} {net}",
        f"cpu {row.cpu_vendor} {net}",
        f"submitter {row.maker}",
        f"submitter-network {row.maker} {net}",
        f"system {row.maker} {row.hardware}",
        f"system-network {row.maker} {row.hardware} {net}",
        f"size {net} {name} {n}",
        f"size-batch {net} {name} {n} {row.global_batch:g}",
        *([f"precision {row.precision} {net} {generation}"] if row.precision else []),
    ]
    effects = [*found, *((WHOLE, effect) for effect in whole)]
    scale = (WHOLE, f"scale {net}", math.log2(n))
    return Parts(tuple(known), [*((term, effect, 1.0) for term, effect in effects), scale])


@dataclass(frozen=True)
class Training:
    """A training at a rate, or the samples that it takes alone."""

    row: ModernRow
    log_samples_per_s: float = 0.0
    is_timed: bool = True


def training_parts(case: Training) -> Parts:
    """Parts of the time to train: samples (start and growth with the batch), evaluation, fixed time."""
    row, log_rate = case.row, case.log_samples_per_s
    assert row.global_batch is not None
    assert row.accelerators is not None
    net, name = row.benchmark, row.accelerator
    known = [-math.inf] * WHOLE_TIME
    known[FEW], known[MANY] = -log_rate, math.log(row.global_batch) - log_rate
    found = [(FEW, f"samples {net}"), (MANY, f"steps {net}")]
    recipe = [*(f"recipe {net} {r}" for r in ROUNDS if r <= row.round_order), f"batch {net} {row.global_batch:g}"]
    found += [(part, effect) for part in (FEW, MANY) for effect in recipe]
    if case.is_timed:
        known[EVALUATION], known[OVERHEAD] = known[FEW], 0.0
        found += [(EVALUATION, effect) for effect in recipe]
        found += [(EVALUATION, f"samples {net}"), (EVALUATION, f"evaluation {net}")]
        found += [
            (OVERHEAD, f"overhead {net}"),
            (WHOLE_TIME, f"time-submitter {row.maker} {net}"),
            (WHOLE_TIME, f"time-size {net} {name} {row.accelerators}"),
            (WHOLE_TIME, f"time-system {row.maker} {row.hardware} {net}"),
        ]
    return Parts(tuple(known), [(part, effect, 1.0) for part, effect in found])


def _law(parts: Sequence[Parts], n_parts: int) -> Law:
    return sum_of_parts(np.array([one.constants for one in parts]).reshape(-1, n_parts))


# Seconds of a step, and of a training.
STEPS = RateModel[ModernRow](
    n_terms=WHOLE + 1,
    effects=lambda row: step_parts(row).effects,
    prior_of=prior_of,
    law=lambda rows: _law([step_parts(row) for row in rows], WHOLE),
    sigma=_SIGMA,
    shared_only=_SHARED_ONLY,
)
TRAININGS = RateModel[Training](
    n_terms=WHOLE_TIME + 1,
    effects=lambda case: training_parts(case).effects,
    prior_of=prior_of,
    law=lambda cases: _law([training_parts(case) for case in cases], WHOLE_TIME),
    sigma=_SIGMA,
    shared_only=_SHARED_ONLY,
)
