"""Sequences that a benchmark takes to its target quality, by global batch; start-up and evaluations are in them."""

from collections.abc import Sequence

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.engine import Effect, FittedModel, Prior, RateModel, kind_of
from sizer.calibrate.language.cases import LanguageCase

MINUTE = 60.0
# Logarithms: sequences of a benchmark, which its own runs set, and their growth with the batch. Beyond the batch at
# which gradients still help, twice the batch takes up to twice the sequences; below it, no more.
_PRIORS = {"sequences": Prior(0.0, 10.0), "growth": Prior(0.15, 0.15)}
_SCATTER = 0.06

Run = tuple[str, float]  # benchmark and global batch


def benchmark_of(case: LanguageCase) -> str:
    """Runs of one benchmark share model and task."""
    return f"{case.row.model}/{case.row.kind}"


def _effects_of(run: Run) -> list[Effect]:
    benchmark, batch = run
    return [(0, f"sequences:{benchmark}", 1.0), (0, f"growth:{benchmark}", float(np.log(batch)))]


# ln(sequences) = sequences + growth x ln(batch).
SEQUENCES = RateModel[Run](
    n_terms=1,
    effects=_effects_of,
    prior_of=lambda name: _PRIORS[kind_of(name)],
    law=lambda _: lambda terms: (terms[:, 0], np.ones_like(terms)),
    sigma=_SCATTER,
    row_sd=_SCATTER,
)


def sequences_measured(cases: Sequence[LanguageCase]) -> tuple[list[Run], Floats, dict[str, float]]:
    """Runs that took a benchmark to its target, their sequences (logarithms), and the level of each benchmark."""
    runs, logs = [], []
    for case in cases:
        row, step = case.row, case.log_step_s
        if row.ttt_min and row.global_batch and step is not None:
            runs.append((benchmark_of(case), row.global_batch))
            logs.append(np.log(row.ttt_min * MINUTE * row.global_batch) - step)
    at_one = np.array(logs) - _PRIORS["growth"].mean * np.log([batch for _, batch in runs])
    names = np.array([name for name, _ in runs])
    means = {f"sequences:{name}": float(np.median(at_one[names == name])) for name in dict.fromkeys(names.tolist())}
    return runs, np.array(logs), means


def fit_benchmarks(cases: Sequence[LanguageCase]) -> FittedModel[Run]:
    """Fit every benchmark that runs of these cases took to its target."""
    return SEQUENCES.fitted(*sequences_measured(cases))
