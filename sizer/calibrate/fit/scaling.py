"""How releases scale of which only speed-ups are published: a fit of their own, after the joint one."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from sizer.base.arrays import Floats
from sizer.calibrate.cases import CaseArrays, RateCase
from sizer.calibrate.fit.joint import MIN_SCATTER_LOG_SD, DesignMatrix, JointFit
from sizer.calibrate.fit.solver import PriorFit, fit_with_priors
from sizer.calibrate.parameters import Effect, Layout, active_effects, prior_of
from sizer.perf.step_terms import INTER, INTRA, OVERLAP, SCALE_OUT, STRAGGLER, TERM_NAMES

_EXCHANGE = (INTRA, INTER, OVERLAP, STRAGGLER, SCALE_OUT)
# Speed-ups are printed to three digits, as are the rates that they are quotients of.
_SCATTER_LOG_SD = float(np.sqrt(2)) * MIN_SCATTER_LOG_SD


@dataclass(frozen=True)
class ScalingFit:
    """Effects on the exchange and the waiting of releases that no published rate tells anything about."""

    ids: frozenset[str]  # of the speed-ups that it is fitted to
    names: tuple[str, ...]
    values: Floats
    covariance: Floats

    def combined_with(self, values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Values and covariance of the joint fit with these effects after them."""
        return np.concatenate([values, self.values]), np.asarray(block_diag(covariance, self.covariance))


def fit_scaling(pairs: tuple[tuple[RateCase, RateCase], ...], joint: JointFit) -> ScalingFit:
    """Fit speed-ups by the effects that the joint fit does not have; those that it has keep their values.

    Parameters
    ----------
    pairs : tuple of (RateCase, RateCase)
        The run of every speed-up, and the run that it is over.
    joint : JointFit
        Fit to the rates.

    Notes
    -----
    In one fit with the rates, the few speed-ups of one laboratory would move what all releases share. Effects on the
    rate of one GPU nearly cancel in a quotient: where the joint fit does not have them they stay at their prior.
    """
    known = dict(zip(joint.model.layout.names, joint.fit.values.tolist(), strict=True))
    new = [[effect for effect in _exchange(case) if effect[1] not in known] for case, _ in pairs]
    used = [(pair, effects) for pair, effects in zip(pairs, new, strict=True) if effects]
    if not used:
        return ScalingFit(frozenset(), (), np.zeros(0), np.zeros((0, 0)))
    n, k = len(used), len(TERM_NAMES)
    design = DesignMatrix([effects for _, effects in used], k)
    given = np.zeros((n, k))
    for row, ((case, _), _) in enumerate(used):
        for term, name, coefficient in active_effects(case.levels, case.row.gpus or 1):
            is_open = name in design.layout.index
            given[row, term] += 0.0 if is_open else coefficient * known.get(name, prior_of(name).mean)
    many, one = (CaseArrays.of([pair[side] for pair, _ in used]) for side in (0, 1))

    def predict(parameters: Floats) -> tuple[Floats, csr_array]:
        values = given + design.terms(parameters)
        rate, over, slopes = many.run.slopes(values), one.run.slopes(values), np.zeros((n, k))
        for term, slope in rate.by_term.items():
            slopes[:, term] = slope - over.by_term[term]
        return np.log(rate.samples_per_s / over.samples_per_s), design.jacobian(slopes)

    layout: Layout = design.layout
    measured = np.log([case.row.value for (case, _), _ in used])
    best: PriorFit = fit_with_priors(predict, measured, _SCATTER_LOG_SD, layout.mean, layout.sd, layout.mean)
    return ScalingFit(frozenset(case.row.id for (case, _), _ in used), layout.names, best.values, best.covariance)


def _exchange(case: RateCase) -> list[Effect]:
    return [one for one in active_effects(case.levels, case.row.gpus or 1) if one[0] in _EXCHANGE]
