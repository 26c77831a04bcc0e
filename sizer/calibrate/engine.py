"""The calibration engine: one way to fit, store, leave out and ask every performance model.

A model says which effects each term of a case adds up, and a law makes the logarithm of what is published::

    terms = sum of coefficient x effect        log t = law(terms)

Every effect has a normal prior, rows have a Student-t loss, and the covariance is that of Laplace: the inverse of the
Hessian, which is sparse and is what is stored. An effect that no row has counts with its prior, so that what was never
measured is wider, and no special case. To add a model: name its terms, say the effects and priors of a case, write the
law, and make a :class:`Problem` of the published rows.
"""

import base64
import binascii
import copy
import hashlib
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csc_array, csr_array, diags_array, triu, vstack
from scipy.sparse.linalg import SuperLU, splu

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90, Estimate
from sizer.calibrate.observations import read_stored, stated_table, stored_path, write_stored

Effect = tuple[int, str, float]  # term, name and coefficient
# Terms of every case, shape (cases, terms) or one row for all, to logarithms and their derivatives by the terms.
Law = Callable[[Floats], tuple[Floats, Floats]]
# Parameters -> predicted rows and their derivatives by the parameters, shapes (n,) and (n, p), the latter sparse.
Model = Callable[[Floats], tuple[Floats, csr_array]]

_MAX_EVALUATIONS = 600
_MAX_DAMPING = 1e12
# Degrees of freedom of the loss: residuals beyond about twice the scatter count less and less.
_TAIL = 6.0
# The Hessian is symmetric and positive definite: pivots on the diagonal keep it sparse.
_SYMMETRIC = {"SymmetricMode": True, "DiagPivotThresh": 0.0}
# Relative fall of the objective at which a fit has settled.
_TOLERANCE = 1e-8
# Newton steps of a fit to cases that come in later: laws are nearly straight there.
_UPDATE_STEPS = 4
# Of the logarithm of a factor, for derivatives by differences.
_STEP = 1e-4


@dataclass(frozen=True)
class Prior:
    """Normal prior of an effect, in the unit of its term: a logarithm or a logit."""

    mean: float
    sd: float


PriorOf = Callable[[str], Prior]


@cache
def priors(model: str) -> Mapping[str, Prior]:
    """Priors of a model by the kinds of its effects, or by whole names; the file says why."""
    return {
        name: Prior(math.log(one["median"]) if "median" in one else one.get("mean", 0.0), one["sd"])
        for name, one in stated_table("priors.toml")[model].items()
    }


def stated_prior(model: str, name: str) -> Prior:
    """Prior of an effect: that of its whole name, or of its kind."""
    stated = priors(model)
    return stated.get(name) or stated[kind_of(name)]


# --- laws -----------------------------------------------------------------------------------------------------------


def by_differences(log_value: Callable[[Floats], Floats]) -> Law:
    """Law of a value known by its factors, times what multiplies all of it: the last term.

    ``log_value``: logarithms of the factors, shape (..., cases or 1, factors), to those of the values, shape (...,
    cases).
    """

    def law(terms: Floats) -> tuple[Floats, Floats]:
        # All differences in one pass: of few cases each would cost its hundred array operations.
        factors = terms.shape[-1] - 1
        steps = _STEP * np.eye(factors + 1, factors, -1)
        known = terms[:, :-1]
        shared = known[:1] if (known == known[0]).all() else known
        base, *moved = log_value(shared + steps[:, None, :])
        slopes = (np.array(moved) - base).T / _STEP
        return base + terms[:, -1], np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)

    return law


def sum_of_parts(constants: Floats) -> Law:
    """Law of a time that is the sum of parts, times what multiplies all of it: the last term.

    ``constants`` (cases, parts): logarithms of what is known of the parts; -inf where a case lacks one.
    """

    def law(terms: Floats) -> tuple[Floats, Floats]:
        logs = constants + terms[:, :-1]
        top = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - top)
        total = share.sum(axis=1, keepdims=True)
        slopes = np.concatenate([share / total, np.ones_like(top)], axis=1)
        return (top + np.log(total))[:, 0] + terms[:, -1], slopes

    return law


# --- cases and their effects ----------------------------------------------------------------------------------------


class Design:
    """Which parameters the terms of each case add up; an effect that is no parameter adds nothing."""

    def __init__(self, effects: Sequence[Sequence[Effect]], n_terms: int, index: Mapping[str, int]) -> None:
        self.shape = (len(effects), n_terms)
        known = [
            (row, term, index[name], coefficient)
            for row, effect in enumerate(effects)
            for term, name, coefficient in effect
            if name in index
        ]
        columns = np.array(known, dtype=float).reshape(-1, 4).T
        self._row, self._term, self._column = (part.astype(np.int64) for part in columns[:3])
        self._weight, self._width = columns[3], len(index)
        cells = (self._weight, (self._row * n_terms + self._term, self._column))
        self._matrix = csr_array(cells, shape=(len(effects) * n_terms, self._width))

    def terms(self, values: Floats) -> Floats:
        """Terms of every case, shape (cases, terms)."""
        return np.asarray(self._matrix @ values).reshape(self.shape)

    def jacobian(self, slopes: Floats) -> csr_array:
        """Derivatives by the parameters from those by the terms, shape (cases, terms)."""
        data = slopes[self._row, self._term] * self._weight
        return csr_array((data, (self._row, self._column)), shape=(self.shape[0], self._width))


# --- fits -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """Most probable effects, the Hessian of half the objective, and the spreads that leaving out set."""

    names: tuple[str, ...]
    values: Floats
    hessian: csc_array
    prior_of: PriorOf
    effect_factor: float = 1.0  # on the variance of the effects
    row_sd: float = 0.0  # scatter of a row about its effects

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of each effect."""
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _factors(self) -> SuperLU:
        return splu(self.hessian, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    @cached_property
    def _inverse(self) -> tuple[Bools, Floats]:
        """Which rows of the inverse of the Hessian are solved for, and these: most cases share most effects."""
        return np.zeros(len(self.names), dtype=bool), np.zeros((len(self.names),) * 2)

    def __getstate__(self) -> dict[str, Any]:
        # What is worked out on demand, the sparse factors among it, does not travel to another process.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def value(self, name: str) -> float:
        """An effect; its prior's mean where no row has it."""
        return float(self.values[self.index[name]]) if name in self.index else self.prior_of(name).mean

    def covariance(self, names: Sequence[str]) -> Floats:
        """Covariance of effects, shape (names, names); one that no row has varies alone, as its prior."""
        places = np.array([self.index.get(name, -1) for name in names], dtype=np.int64)
        known = np.flatnonzero(places >= 0)
        rows, (solved, inverse) = places[known], self._inverse
        # One by one: together, the last digits of one depend on the others, and on these the directions of draws.
        for place in np.unique(rows[~solved[rows]]).tolist():
            unit = np.zeros(len(self.names))
            unit[place] = 1.0
            inverse[place], solved[place] = self._factors.solve(unit), True
        found = np.zeros((len(names), len(names)))
        among = inverse[np.ix_(rows, rows)]
        found[np.ix_(known, known)] = (among + among.T) / 2
        for place in np.flatnonzero(places < 0).tolist():
            found[place, place] = self.prior_of(names[place]).sd ** 2
        return found

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of every effect."""
        return np.asarray(np.sqrt(np.diag(self.covariance(self.names))))

    def sd_of(self, name: str) -> float:
        """Standard deviation of an effect; that of its prior where no row has it."""
        return float(np.sqrt(self.covariance([name])[0, 0]))

    def terms(self, effects: Sequence[Effect], n_terms: int, unknown: Collection[str] = ()) -> tuple[Floats, Floats]:
        """Terms of one case and their covariance, shapes (terms,) and (terms, terms).

        Effects that are ``unknown`` count with their priors, whatever the rows say.
        """
        names = [name for name in dict.fromkeys(name for _, name, _ in effects) if name not in unknown]
        strange = [name for name in dict.fromkeys(name for _, name, _ in effects) if name in unknown]
        place = {name: number for number, name in enumerate((*names, *strange))}
        adds = np.zeros((n_terms, len(place)))
        for term, name, coefficient in effects:
            adds[term, place[name]] += coefficient
        priors = [self.prior_of(name) for name in strange]
        values = [*(self.value(name) for name in names), *(prior.mean for prior in priors)]
        some, others = adds[:, : len(names)], adds[:, len(names) :] * [prior.sd for prior in priors]
        return adds @ np.array(values), some @ self.covariance(names) @ some.T + others @ others.T

    def predict(self, effects: Sequence[Sequence[Effect]], law: Law, n_terms: int) -> tuple[Floats, Floats]:
        """Logarithms of what cases show, and their variance by the effects, shapes (cases,)."""
        unknown = dict.fromkeys(name for row in effects for _, name, _ in row if name not in self.index)
        priors, n = [self.prior_of(name) for name in unknown], len(self.names)
        design = Design(effects, n_terms, self.index | {name: n + i for i, name in enumerate(unknown)})
        logs, slopes = law(design.terms(np.append(self.values, [prior.mean for prior in priors])))
        derivative = design.jacobian(slopes).toarray()
        beyond = derivative[:, n:] * [prior.sd for prior in priors]
        return logs, self.variance(derivative[:, :n]) + (beyond**2).sum(axis=1)

    def variance(self, derivative: Floats) -> Floats:
        """Variance of predictions by the effects, from their derivatives, shape (cases, effects)."""
        return np.asarray((derivative * self._factors.solve(derivative.T).T).sum(axis=1))

    def interval_sd(self, variance: Floats, scatter: Floats | float = 0.0) -> Floats:
        """Standard deviation of what is published, in log space; ``scatter``: of a case, beyond that of every row."""
        return np.asarray(np.sqrt(self.effect_factor * variance + self.row_sd**2 + np.asarray(scatter) ** 2))

    def with_effects_of(self, other: "Fit") -> "Fit":
        """This fit with the effects of another one, which knows none of its own, after them."""
        hessian = csc_array(block_diag([self.hessian, other.hessian]))
        values = np.concatenate([self.values, other.values])
        return replace(self, names=(*self.names, *other.names), values=values, hessian=hessian)

    def updated(
        self, effects: Sequence[Sequence[Effect]], law: Law, n_terms: int, measured: Floats, sd: Floats
    ) -> "Fit":
        """This fit after some more cases, measured with standard deviations of their logarithms (Bayes).

        Effects that no row has come in with their priors.
        """
        new = dict.fromkeys(name for row in effects for _, name, _ in row if name not in self.index)
        priors = [self.prior_of(name) for name in new]
        hessian = self.hessian
        if new:
            hessian = csc_array(block_diag([hessian, diags_array([prior.sd**-2 for prior in priors])]))
        start = np.append(self.values, [prior.mean for prior in priors])
        found = replace(self, names=(*self.names, *new), values=start, hessian=hessian)
        design = Design(effects, n_terms, found.index)
        # The effects have ``effect_factor`` times the variance that the Hessian says.
        weight = self.effect_factor / (sd**2 + self.row_sd**2)
        for _ in range(_UPDATE_STEPS):
            logs, slopes = law(design.terms(found.values))
            derivative = design.jacobian(slopes)
            after = csc_array(hessian + derivative.T @ diags_array(weight) @ derivative)
            slope = derivative.T @ (weight * (measured - logs)) - hessian @ (found.values - start)
            found = replace(found, values=found.values + splu(after, options=_SYMMETRIC).solve(slope), hessian=after)
        return found

    def stored(self) -> dict[str, Any]:
        """As JSON holds it, exact to the last bit."""
        upper = csc_array(triu(self.hessian, format="csc"))
        return {
            "names": list(self.names),
            "values": _written(self.values, "<f8"),
            "hessian_columns": _written(upper.indptr, "<i4"),
            "hessian_rows": _written(upper.indices, "<i4"),
            "hessian": _written(upper.data, "<f8"),
            "effect_factor": self.effect_factor,
            "row_sd": self.row_sd,
        }

    @staticmethod
    def of_stored(content: Mapping[str, Any], prior_of: PriorOf) -> "Fit":
        """The fit that was stored.

        Raises ValueError, KeyError, TypeError, AttributeError, binascii.Error if it is damaged.
        """
        names, n = tuple(content["names"]), len(content["names"])
        values, data = _read(content["values"], "<f8"), _read(content["hessian"], "<f8")
        columns, rows = _read(content["hessian_columns"], "<i4"), _read(content["hessian_rows"], "<i4")
        if values.shape != (n,) or not (np.isfinite(values).all() and np.isfinite(data).all()):
            raise ValueError("effects and values do not match")
        upper = csc_array((data, rows, columns), shape=(n, n))
        upper.check_format()
        whole = csc_array(upper + triu(upper, 1).T)
        return Fit(names, values, whole, prior_of, float(content["effect_factor"]), float(content["row_sd"]))


@dataclass(frozen=True)
class FittedRows:
    """Published rows of one kind: the effects of their terms, the law, and the logarithms that were measured."""

    effects: Sequence[Sequence[Effect]]
    law: Law
    measured: Floats
    n_terms: int
    sigma: Floats | float  # scatter of a row, within which the loss is quadratic


class Problem:
    """Rows as a fit sees them: blocks with one vector of parameters."""

    def __init__(
        self,
        blocks: Sequence[FittedRows],
        prior_of: PriorOf,
        *,
        means: Mapping[str, float] | None = None,
        shared_only: Collection[str] = (),
        tolerance: float = _TOLERANCE,
    ) -> None:
        """The parameters are all effects of the rows.

        ``means``: means of priors that the rows themselves set. ``shared_only``: effects that one row alone has and
        that are left to the spread: kinds, as their names begin. ``tolerance``: relative fall of the objective at which
        a fit has settled.
        """
        self.tolerance = tolerance
        counts: dict[str, int] = {}
        for block in blocks:
            for row in block.effects:
                for _, name, _ in row:
                    counts[name] = counts.get(name, 0) + 1
        self.names = tuple(sorted(name for name, n in counts.items() if n > 1 or kind_of(name) not in shared_only))
        self.prior_of = prior_of
        priors = [prior_of(name) for name in self.names]
        own = means or {}
        self.mean = np.array([own.get(name, prior.mean) for name, prior in zip(self.names, priors, strict=True)])
        self.sd = np.array([prior.sd for prior in priors])
        index = {name: number for number, name in enumerate(self.names)}
        self._parts = [(block.law, Design(block.effects, block.n_terms, index)) for block in blocks]
        self.measured = np.concatenate([block.measured for block in blocks])
        self.sigma = np.concatenate([np.broadcast_to(block.sigma, len(block.effects)) for block in blocks])

    def __call__(self, values: Floats) -> tuple[Floats, csr_array]:
        """Logarithms of all rows and their derivatives by the parameters."""
        logs, derivatives = [], []
        for law, design in self._parts:
            log, slopes = law(design.terms(values))
            logs.append(log)
            derivatives.append(design.jacobian(slopes))
        return np.concatenate(logs), csr_array(vstack(derivatives))

    def logs(self, values: Floats) -> Floats:
        return np.concatenate([law(design.terms(values))[0] for law, design in self._parts])

    def with_rows(self, measured: Floats, sigma: Floats) -> "Problem":
        """The same rows as if they had been measured so, with such a scatter."""
        rows = copy.copy(self)
        rows.measured, rows.sigma = measured, sigma
        return rows

    def fit(self, start: Floats | None = None) -> Fit:
        """Most probable effects of all rows.

        Raises CalibrationError if the fit does not converge.
        """
        first = self.mean if start is None else start
        prior_fit = fit_with_priors(self, self.measured, self.sigma, self.mean, self.sd, first, self.tolerance)
        return Fit(self.names, prior_fit.values, prior_fit.hessian, self.prior_of)

    def without(self, fit: Fit, out: Bools) -> Fit:
        """Effects fitted to the rows that are not ``out``, from those of ``fit``, whose spreads they keep."""
        y, sigma = self.measured[~out], self.sigma[~out]

        def model(values: Floats) -> tuple[Floats, csr_array]:
            predicted, derivative = self(values)
            return predicted[~out], derivative[~out]

        prior_fit = fit_with_priors(model, y, sigma, self.mean, self.sd, fit.values, self.tolerance)
        return replace(fit, values=prior_fit.values, hessian=prior_fit.hessian)


def kind_of(name: str) -> str:
    """Kind of an effect: what its name begins with, before a colon or a space."""
    return name.replace(" ", ":", 1).split(":", 1)[0]


# --- models ---------------------------------------------------------------------------------------------------------

Case = TypeVar("Case")


@dataclass(frozen=True)
class RateModel(Generic[Case]):
    """A performance model, as far as the engine asks."""

    n_terms: int
    effects: Callable[[Case], Sequence[Effect]]
    prior_of: PriorOf
    law: Callable[[Sequence[Case]], Law]
    # Scatter of a row, within which the loss of the fit is quadratic; of some models each case has its own.
    sigma: float | Callable[[Sequence[Case]], Floats]
    row_sd: float = 0.0  # scatter of a run about its prediction, where leaving out does not set it
    # Scatter of what is particular or guessed of a case, beyond that of every row, shape (cases,).
    scatter: Callable[[Sequence[Case]], Floats] = lambda cases: np.zeros(len(cases))
    shared_only: Collection[str] = ()
    tolerance: float = _TOLERANCE  # relative fall of the objective at which a fit has settled

    def problem(self, cases: Sequence[Case], measured: Floats, means: Mapping[str, float] | None = None) -> Problem:
        """Published cases as a fit sees them."""
        sigma = self.sigma(cases) if callable(self.sigma) else self.sigma
        block = FittedRows([self.effects(case) for case in cases], self.law(cases), measured, self.n_terms, sigma)
        shared, tolerance = self.shared_only, self.tolerance
        return Problem([block], self.prior_of, means=means, shared_only=shared, tolerance=tolerance)

    def fitted(
        self, cases: Sequence[Case], measured: Floats, means: Mapping[str, float] | None = None
    ) -> "FittedModel[Case]":
        """The model with every effect fitted to published cases at once.

        Raises CalibrationError if the fit does not converge.
        """
        problem = self.problem(cases, measured, means)
        return FittedModel(self, tuple(cases), measured, replace(problem.fit(), row_sd=self.row_sd), means)

    def predict(self, fit: Fit, cases: Sequence[Case]) -> tuple[Floats, Floats]:
        """Logarithms of what cases show by a fit, and their variance by the effects, shapes (cases,)."""
        return fit.predict([self.effects(case) for case in cases], self.law(cases), self.n_terms)

    def names(self, cases: Iterable[Case]) -> list[str]:
        return sorted({name for case in cases for _, name, _ in self.effects(case)})


@dataclass(frozen=True)
class FittedModel(Generic[Case]):
    """A model, its fit, and the published cases that it was fitted to."""

    model: RateModel[Case]
    cases: tuple[Case, ...]
    measured: Floats  # logarithms
    fit: Fit
    means: Mapping[str, float] | None = None

    @cached_property
    def problem(self) -> Problem:
        """The cases as a fit sees them."""
        return self.model.problem(self.cases, self.measured, self.means)

    def predict(self, cases: Sequence[Case]) -> tuple[Floats, Floats]:
        """Logarithms of what cases show, and the standard deviations of what is published of them, shapes (cases,)."""
        logs, variance = self.model.predict(self.fit, cases)
        return logs, self.fit.interval_sd(variance, self.model.scatter(cases))

    def estimate(self, cases: Sequence[Case]) -> Estimate:
        """What cases show, with 90 % intervals, shape (cases,)."""
        if not cases:
            return Estimate.exact(np.zeros(0))
        logs, log_sd = self.predict(cases)
        return Estimate.log_normal(np.exp(logs), log_sd)

    def refitted(self, out: Bools) -> "FittedModel[Case]":
        return replace(self, fit=self.problem.without(self.fit, out))

    def errors(self, rows: Bools | None = None) -> tuple[Floats, Floats]:
        """Logarithms of predicted over measured of fitted cases, and the standard deviations of the intervals."""
        some = np.ones(len(self.cases), dtype=bool) if rows is None else rows
        logs, log_sd = self.predict([case for case, is_here in zip(self.cases, some, strict=True) if is_here])
        return logs - self.measured[some], log_sd

    def left_out(self, groups: Iterable[Hashable]) -> tuple[Floats, Floats]:
        """The same of all cases, each group of them by a fit that has not seen it."""
        numbers: dict[Hashable, int] = {}
        group: Ints = np.array([numbers.setdefault(name, len(numbers)) for name in groups])
        errors, log_sd = np.zeros(len(group)), np.zeros(len(group))
        for number in range(len(numbers)):
            out = group == number
            errors[out], log_sd[out] = self.refitted(out).errors(out)
        return errors, log_sd


# --- accuracy -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorStatistics:
    """Errors |ln(predicted / published)| of some rows."""

    rows: int
    median: float
    p90: float
    bias: float  # median of ln(predicted / published)
    coverage: float  # share inside the 90 % interval

    @staticmethod
    def of(errors: Floats, log_sd: Floats) -> "ErrorStatistics":
        """Accuracy of errors with the standard deviations of their predictions."""
        size = np.abs(errors)
        return ErrorStatistics(
            len(size),
            float(np.median(size)),
            float(np.quantile(size, 0.9)),
            float(np.median(errors)),
            float(np.mean(size <= Z90 * log_sd)),
        )


# Factors on the effects' variance, and scatters of a row, that are tried.
_EFFECT_FACTORS, _ROW_SDS = np.geomspace(0.3, 6, 30), np.geomspace(0.004, 0.1, 30)
_COVERED = 0.90


def with_spreads(fit: Fit, *tests: tuple[Floats, Floats]) -> Fit:
    """A fit with the spreads at which the intervals of all tests hold as many rows as they should.

    ``*tests``: errors (logarithms) and variances by the effects: of rows that were fitted, and of rows left out.
    """

    def missed(factor: float, row_sd: float) -> float:
        spread = [np.sqrt(factor * variance + row_sd**2) for _, variance in tests]
        shares = [np.mean(np.abs(errors) <= Z90 * sd) for (errors, _), sd in zip(tests, spread, strict=True)]
        return round(float(sum(abs(share - _COVERED) for share in shares)), 9)

    pairs = [(float(factor), float(sd)) for factor in _EFFECT_FACTORS for sd in _ROW_SDS]
    factor, row_sd = min(pairs, key=lambda pair: missed(*pair))
    return replace(fit, effect_factor=factor, row_sd=row_sd)


# --- storage --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AccuracyTarget:
    """One measure of accuracy and the range that the calibration must reach."""

    measure: str  # key of :data:`sizer.evidence.tables.MEASURES`
    value: float  # a fraction
    low: float  # what is asked for: low <= value <= high
    high: float
    rows: int  # rows that it was measured on

    @property
    def is_reached(self) -> bool:
        """Whether it lies where it must."""
        return self.low <= self.value <= self.high


@dataclass(frozen=True)
class StoredFits:
    """Fits of one model, the digest of what they were made from, and their accuracy."""

    digest: str
    fits: dict[str, Fit]
    figures: tuple[AccuracyTarget, ...] = ()


def fits_path(model: str) -> Path:
    """Where the shipped fits of a model are stored."""
    return stored_path().with_name(f"{model}.json")


def save_fits(stored: StoredFits, path: Path) -> Path:
    """Write fits as JSON."""
    content = {
        "digest": stored.digest,
        "figures": {one.measure: [round(one.value, 5), one.low, one.high, one.rows] for one in stored.figures},
        "fits": {name: fit.stored() for name, fit in stored.fits.items()},
    }
    return write_stored(content, path)


def load_fits(path: Path, priors: Mapping[str, PriorOf], digest: str | None = None) -> StoredFits:
    """Stored fits.

    ``priors``: of every fit by its name. ``digest``: of what the fits must have been made from. Raises CalibrationError
    if they are missing or damaged, or were made from something else.
    """
    content = read_stored(path)
    try:
        fits = StoredFits(
            content["digest"],
            {name: Fit.of_stored(content["fits"][name], prior_of) for name, prior_of in priors.items()},
            tuple(
                AccuracyTarget(name, float(value), float(low), float(high), int(rows))
                for name, (value, low, high, rows) in content["figures"].items()
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, binascii.Error) as error:
        raise CalibrationError(f"{path.name}: is damaged ({error!r}); run 'sizer calibrate'") from None
    if digest not in (None, fits.digest):
        raise CalibrationError(
            f"{path.name}: the published rows, or parts of the catalogue that they name, have changed since they were "
            "fitted; run 'sizer calibrate'"
        )
    return fits


def digest_of(facts: object, arrays: Iterable[NDArray[Any]] = ()) -> str:
    """Short digest of what a fit is made from."""
    digest = hashlib.sha256(repr(facts).encode())
    for column in arrays:
        # Seven digits: the last ones may differ between processors.
        digest.update(np.asarray(column, dtype="<f4").tobytes())
    return digest.hexdigest()[:16]


def _written(numbers: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.asarray(numbers).astype(kind).tobytes()).decode()


def _read(text: str, kind: str) -> NDArray[Any]:
    found = np.frombuffer(base64.b64decode(text, validate=True), dtype=kind)
    return found.astype(float if "f" in kind else np.int64)


# --- the solver -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PriorFit:
    """Most probable parameters under priors, with the Hessian of half the objective."""

    values: Floats
    hessian: csc_array
    residuals: Floats  # measured - predicted, of the data rows
    n_evaluations: int

    @cached_property
    def covariance(self) -> Floats:
        """Laplace covariance: the inverse of the Hessian.

        The sparse factors give the same last digits however many threads the dense library runs on.
        """
        inverse = splu(self.hessian, options=_SYMMETRIC).solve(np.eye(len(self.values)))
        return np.asarray((inverse + inverse.T) / 2)


def fit_with_priors(
    model: Model,
    y: Floats,
    sigma: Floats | float,
    prior_mean: Floats,
    prior_sd: Floats,
    start: Floats,
    tolerance: float = _TOLERANCE,
) -> PriorFit:
    """Fit with a robust loss on the data and one quadratic row for each prior.

    ``model``: parameters to predictions and their Jacobian. ``y`` (n,): what was measured. ``sigma``: scatter of a row,
    within which the loss is quadratic; beyond, a row loses its pull (:func:`robust_weight`). ``prior_mean``,
    ``prior_sd`` (p,): normal priors. ``start`` (p,): where to start. ``tolerance``: relative fall of the objective at
    which the fit has settled. Raises CalibrationError if the fit does not converge.

    Levenberg-Marquardt on the reweighted normal equations. With a prior row for every parameter they are well
    conditioned, and each row has a dozen of hundreds of effects, so that a sparse step takes milliseconds where
    :func:`scipy.optimize.least_squares` decomposes the dense matrix in half a second; a test compares the two.
    """
    values, n_evaluations = start.copy(), 0
    scale = np.broadcast_to(np.asarray(sigma, dtype=float), y.shape)
    objective, predicted, derivative = _objective(model, y, scale, prior_mean, prior_sd, values)
    damping = 1e-3
    while n_evaluations < _MAX_EVALUATIONS:
        hessian, slope = normal_equations(derivative, (predicted - y) / scale, scale, values, prior_mean, prior_sd)
        damped = csc_array(hessian + damping * diags_array(hessian.diagonal()))
        trial = values - splu(damped, options=_SYMMETRIC).solve(slope)
        n_evaluations += 1
        found = _objective(model, y, scale, prior_mean, prior_sd, trial)
        if not found[0] <= objective:  # NaN is no gain either
            damping *= 10
            if damping > _MAX_DAMPING:
                break
            continue
        gain, values = objective - found[0], trial
        objective, predicted, derivative = found
        damping = max(damping / 10, 1e-9)
        if gain < tolerance * max(1.0, objective):
            scaled = (predicted - y) / scale
            hessian, _ = normal_equations(derivative, scaled, scale, values, prior_mean, prior_sd)
            return PriorFit(values, csc_array(hessian), y - predicted, n_evaluations)
    raise CalibrationError(
        f"joint fit of {len(start)} parameters to {len(y)} rows: no convergence in {n_evaluations} evaluations"
    )


def _objective(
    model: Model, y: Floats, sigma: Floats, prior_mean: Floats, prior_sd: Floats, values: Floats
) -> tuple[float, Floats, csr_array]:
    """Robust loss plus priors, with the predictions and their derivatives."""
    predicted, derivative = model(values)
    data = _TAIL * np.log1p(((predicted - y) / sigma) ** 2 / _TAIL)
    return float(data.sum() + (((values - prior_mean) / prior_sd) ** 2).sum()), predicted, derivative


def normal_equations(
    derivative: csr_array, scaled: Floats, sigma: Floats, values: Floats, prior_mean: Floats, prior_sd: Floats
) -> tuple[csr_array, Floats]:
    """Gauss-Newton Hessian and slope of half the objective; ``scaled``: residuals in units of ``sigma``."""
    weight = robust_weight(scaled) / sigma**2
    hessian = derivative.T @ (diags_array(weight) @ derivative) + diags_array(prior_sd**-2)
    slope = derivative.T @ (weight * scaled * sigma) + (values - prior_mean) / prior_sd**2
    return csr_array(hessian), np.asarray(slope)


def robust_weight(scaled: Floats) -> Floats:
    """Weight of a row by its residual in units of sigma: 1 within, falling with the square beyond.

    The loss is that of a Student distribution: a row that no other supports loses its pull altogether, where a loss
    that grows linearly would let a doubled rate bend what its neighbours say about scaling.
    """
    return np.asarray(1 / (1 + scaled**2 / _TAIL))
