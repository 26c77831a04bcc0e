"""The models of step times and of sequences to a target: factors and effects of what runs share, under priors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.engine import Effect, FittedModel, Law, Prior, RateModel, by_differences, kind_of
from sizer.calibrate.language.cases import LanguageCase, arrays
from sizer.calibrate.language.layout import CONTRADICTION
from sizer.perf.language.step import COEFFICIENTS, Efficiencies, Layouts, Machines, Shapes, step_time

StepInputs = tuple[Shapes, Layouts, Machines]

# Spread of a factor's logarithm before any data: half widths of what the published models of others assume.
PRIOR_SD = {
    "linear": 0.10,
    "experts": 0.4,
    "half_width": 0.7,
    "half_tokens": 0.7,
    "half_expert_tokens": 0.7,
    "attention": 0.3,
    "early": 0.2,
    "ported": 0.25,
    "elementwise_bytes": 0.6,
    "tensor": 0.6,
    "tensor_far": 0.5,
    "expert_traffic": 0.6,
    "expert_far": 0.5,
    "context": 0.6,
    "data": 0.8,
    "full_shard": 0.5,
    "optimizer_bytes": 0.5,
    "routing_bytes": 0.7,
    "launch_s": 0.7,
    "routing_s": 0.8,
    "fixed_s": 0.8,
    "bubble": 0.2,
    "straggler": 0.7,
    "head": 0.5,
    "far_rate": 0.3,
    "recompute": 0.1,
    "lora": 0.1,
    "tuned": 0.4,
}
# Levels of a run and the spread of their effects on the logarithm of the step time.
EFFECT_SD = {
    "gpu_precision": 0.12,
    "stack_group": 0.10,
    "stack": 0.13,  # as the fourteen fitted stacks differ
    "release": 0.05,
    "family": 0.08,
    "model_gpu": 0.04,
    "mixture": 0.12,
    "mixture_stack": 0.15,
    "lora": 0.15,
}
# Scatter of one run about the model, within which the loss is quadratic.
SCATTER = 0.04
# Scatter of the logarithm of a run about its prediction, beyond what the effects know: about 3 % between repeats half a
# year apart, more where routing, adapters or a guessed layout come in. Runs left out of the fit give these.
_ROW_SD, _MIXTURE, _LORA = 0.06, 0.10, 0.10
# The same of a run of which something is guessed: runs that are not fitted, because that is missing, give the larger.
# The number format, blanked in the 932 fitted rows: errors with 0.19 have 90 % inside. A contradictory layout says less
# than none.
_GUESSED = {"layers": 0.15, "shape": 0.15, "micro batch": 0.25, "hybrid layers": 0.4, "precision": 0.20,
            CONTRADICTION: 0.25}  # fmt: skip
_GUESSED_OTHERWISE = 0.10
# The same where neither layout nor global batch is stated: blanked in the 932 fitted rows, whose median error is 0.23.
_NEITHER, _LAYOUT_AND_BATCH = 0.55, frozenset(("layout", "global batch"))


def prior_of(name: str) -> Prior:
    """Prior of a factor or of an effect."""
    if name in PRIOR_SD:
        return Prior(float(np.log(getattr(Efficiencies(), name))), PRIOR_SD[name])
    return Prior(0.0, EFFECT_SD[kind_of(name)])


def effects_of(case: LanguageCase) -> list[Effect]:
    """Every factor, and the effects ``kind:level`` on the whole step."""
    levels = case.levels
    factors = [(term, name, 1.0) for term, name in enumerate(COEFFICIENTS)]
    found = [f"{kind}:{level}" for kind in EFFECT_SD if (level := getattr(levels, kind))]
    return [*factors, *((len(COEFFICIENTS), name, 1.0) for name in found)]


def step_law(inputs: StepInputs) -> Law:
    """Logarithms of the seconds of a step of layouts."""

    def log_step_s(factors: Floats) -> Floats:
        each: dict[str, Any] = dict(zip(COEFFICIENTS, np.moveaxis(np.exp(factors), -1, 0), strict=True))
        return np.asarray(np.log(step_time(*inputs, Efficiencies(**each)).total))

    return by_differences(log_step_s)


def scatter(cases: Sequence[LanguageCase]) -> Floats:
    """Standard deviation of the logarithm of a run about its prediction, beyond that of every run, shape (cases,)."""
    parts = [
        (
            _MIXTURE * bool(case.levels.mixture),
            _LORA * bool(case.levels.lora),
            max((_GUESSED.get(part, _GUESSED_OTHERWISE) for part in case.guessed), default=0.0),
            _NEITHER * _LAYOUT_AND_BATCH.issubset(case.guessed),
        )
        for case in cases
    ]
    return np.asarray(np.sqrt((np.array(parts).reshape(-1, 4) ** 2).sum(axis=1)))


STEPS = RateModel(
    n_terms=len(COEFFICIENTS) + 1,
    effects=effects_of,
    prior_of=prior_of,
    law=lambda cases: step_law(arrays(cases)),
    sigma=SCATTER,
    row_sd=_ROW_SD,
    scatter=scatter,
)


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
