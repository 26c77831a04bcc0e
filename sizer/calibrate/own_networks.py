"""Networks of one's own: the share of a GPU's peak that people reach who train a network of a kind with their own code.

A step of b samples of F FLOP on each GPU (forward pass) takes 3 F b / (share x peak) with

    ln(share) = sum of effects - ln(1 + fill / (F b)),

so that small steps do not fill a GPU, and teams differ more in them. Kinds of networks, generations of GPUs, number
formats and how a rate was measured have effects. The network itself and the team that trains it are not known of a
request: they widen its interval by the spread that leaving teams out of the fit shows, unless a rate of its own is
stated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TypeVar

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Z90, Estimate
from sizer.base.formats.csv_rows import bounded, rows_of_file, typed_row
from sizer.calibrate import engine
from sizer.calibrate.observations import benchmark_file
from sizer.perf.training_step import TRAINING_PASSES
from sizer.workload.custom_network import OTHER_KIND

# Terms of a run: logarithms of the share of the peak that large steps reach, and of the FLOP of a forward pass on a GPU
# at which half of it is reached.
SHARE, FILL_FLOP = range(2)
N_TERMS = 2
# How a rate was measured: as people train, on prepared data alone, or after a vendor's tuning.
TRAINING, TUNED = "training", "tuned"
_SIGMA = 0.3  # scatter of a row, within which the loss is quadratic
# A step of so many times the FLOP that half fill a GPU fills it: two thirds of what large steps reach, 6 TFLOP.
# Vendors' tuned runs, and people's with the largest batch that fits, have 3 to 13.
_FILLED = 2.0
# Beyond what was published, a batch leaves so many steps in an epoch of one GPU: fewer train worse. A choice of ours.
_LEAST_STEPS = 100
# And has no more samples than any published one: recommenders in MLPerf train with 13,824 on each GPU.
_MOST_SAMPLES = 16_384
_FIT = "shares"
FloatsT = TypeVar("FloatsT", float, Floats)
prior_of = partial(engine.stated_prior, "own-networks")


@dataclass(frozen=True)
class OwnRun:
    """A rate of a network with somebody's own training code."""

    id: str
    team: str
    network: str
    kind: str
    forward_flop: float
    gpu: str
    generation: str
    peak_flop_per_s: float  # in mixed precision
    gpus: int
    batch_per_gpu: float
    precision: str  # mixed, tf32 or fp32
    measured: str  # "training" as people run it, "steps" on prepared data, "tuned" by a vendor
    samples_per_s: float
    software: str = ""
    year: int = 0
    source: str = ""
    where: str = ""
    notes: str = ""

    @property
    def share(self) -> float:
        """Share of the peak that the rate is."""
        return TRAINING_PASSES * self.forward_flop * self.samples_per_s / self.gpus / self.peak_flop_per_s


def effects_of(run: OwnRun) -> list[engine.Effect]:
    """Effects on the terms of a run."""
    names = [f"{name}:{getattr(run, name)}" for name in ("kind", "generation", "gpu", "team", "network")]
    usual = {"precision": "mixed", "measured": TRAINING}
    names += [f"{name}:{level}" for name, none in usual.items() if (level := getattr(run, name)) != none]
    fill = [(FILL_FLOP, name, 1.0) for name in ("fill:all", f"fill-team:{run.team}")]
    return [*fill, *((SHARE, name, 1.0) for name in ("base:all", *names))]


def _law(runs: Sequence[OwnRun]) -> engine.Law:
    log_flop = np.log([run.forward_flop * run.batch_per_gpu for run in runs])

    def law(terms: Floats) -> tuple[Floats, Floats]:
        log_steps = np.logaddexp(log_flop, terms[:, FILL_FLOP])
        waiting = np.exp(terms[:, FILL_FLOP] - log_steps)
        return terms[:, SHARE] + log_flop - log_steps, np.stack([np.ones_like(waiting), -waiting], axis=1)

    return law


SHARES = engine.RateModel[OwnRun](n_terms=N_TERMS, effects=effects_of, prior_of=prior_of, law=_law, sigma=_SIGMA)


@lru_cache(maxsize=1)
def load_runs() -> tuple[OwnRun, ...]:
    """The published rates.

    Raises CalibrationError naming the line and the column of a cell that is wrong.
    """
    file = benchmark_file("networks", "own_networks.csv")
    return tuple(rows_of_file(file, "own networks", lambda cells, _: typed_row(OwnRun, cells, bounded), key="id"))


def trainings_of(kind: str) -> list[OwnRun]:
    """Published trainings of networks of a kind; all of them where the kind is not known.

    Of a kind that nobody published as people run it, those of vendors and on prepared data.
    """
    alike = [run for run in load_runs() if kind in (run.kind, OTHER_KIND)]
    return [run for run in alike if run.measured == TRAINING] or alike


def largest_batch(kind: str, forward_flop: float, n_samples: float) -> float:
    """Largest batch per GPU that a network of a kind is planned with: of published trainings, or one that fills a GPU.

    ``forward_flop``: of one sample [FLOP]. ``n_samples``: of the data set [samples]. Returns whatever the GPU memory
    holds.
    """
    published = max(run.batch_per_gpu for run in trainings_of(kind))
    filling = _FILLED * math.exp(own_networks().value("fill:all")) / forward_flop
    return max(published, min(filling, n_samples / _LEAST_STEPS, _MOST_SAMPLES))


def filled_share(step_flop: FloatsT) -> FloatsT:
    """Share of its rate that a GPU reaches in a step; ``step_flop``: of its forward pass. [FLOP]"""
    return step_flop / (step_flop + math.exp(own_networks().value("fill:all")))


def estimated_rates(runs: Sequence[OwnRun]) -> Estimate:
    """Rates of published runs by the shipped fit, with 90 % intervals, shape (runs,). [samples/s]"""
    fit = own_networks()
    logs, variance = SHARES.predict(fit, runs)
    rates = [run.samples_per_s / run.share for run in runs]
    return Estimate.log_normal(np.exp(logs) * rates, fit.interval_sd(variance))


def fit_shares(runs: Sequence[OwnRun]) -> engine.FittedModel[OwnRun]:
    """Shares of the peak, with the spreads at which trainings lie where they should whose team was left out."""
    model = SHARES.fitted(runs, np.log([run.share for run in runs]))
    errors, sd = teams_left_out(model)
    return replace(model, fit=engine.with_spreads(model.fit, (errors, sd**2)))


def teams_left_out(model: engine.FittedModel[OwnRun]) -> tuple[Floats, Floats]:
    """Errors of trainings (logarithms) and the spreads of their predictions, each team by a fit without it."""
    is_training = np.array([run.measured == TRAINING for run in model.cases])
    errors, sd = model.left_out([run.team for run in model.cases])
    return errors[is_training], sd[is_training]


def calibrate_own_networks() -> engine.StoredFits:
    """The fit to the published rates, as it is stored."""
    model = fit_shares(load_runs())
    errors, sd = teams_left_out(model)
    found = engine.ErrorStatistics.of(errors, sd)
    figures = (
        engine.AccuracyTarget("own-networks-coverage", found.coverage, 0.85, 0.96, found.rows),
        engine.AccuracyTarget("own-networks-bias", abs(found.bias), 0.0, 0.10, found.rows),
        engine.AccuracyTarget("own-networks-half-width", float(np.expm1(Z90 * np.median(sd))), 0.0, 1.5, found.rows),
    )
    return engine.StoredFits(engine.digest_of(load_runs()), {_FIT: model.fit}, figures)


@cache
def own_calibration() -> engine.StoredFits:
    """The shipped fit with its accuracy, read once.

    Raises CalibrationError if it is missing or damaged, or the rates have changed since.
    """
    return engine.load_fits(engine.fits_path("own-networks"), {_FIT: prior_of}, engine.digest_of(load_runs()))


def own_networks() -> engine.Fit:
    """The shipped fit."""
    return own_calibration().fits[_FIT]


def own_code_rate(forward_flop: Floats) -> tuple[Floats, Floats]:
    """ln of the rate that teams reach with their own code over that of MLPerf's tuned runs, and its spread.

    ``forward_flop``: of a forward pass on each GPU: teams differ less in long steps [FLOP].
    """
    fit = own_networks()
    waiting = 1 / (1 + forward_flop / math.exp(fit.value("fill:all")))
    slopes = np.stack([-np.ones_like(waiting), -np.ones_like(waiting), waiting], axis=-1)
    names = (f"measured:{TUNED}", "team:mlperf", "fill-team:mlperf")
    known = ((slopes @ fit.covariance(names)) * slopes).sum(axis=-1)
    teams = prior_of("team").sd ** 2 + (prior_of("fill-team").sd * waiting) ** 2
    return slopes @ [fit.value(name) for name in names], fit.interval_sd(known, np.sqrt(teams))


def unknown_network_log_sd() -> float:
    """Spread of the logarithm of a rate between networks of a kind and between teams, in steps that half fill a GPU."""
    return math.hypot(prior_of("network").sd, prior_of("team").sd, prior_of("fill-team").sd / 2)
