"""How releases scale of which only speed-ups are published: a fit of their own, after the joint one."""

import numpy as np

from sizer.calibrate.cases import RateCase
from sizer.calibrate.engine import Fit, FittedRows, Problem
from sizer.calibrate.fit.joint import MIN_SCATTER_LOG_SD
from sizer.calibrate.fit.rates import pair_effects, pair_law
from sizer.calibrate.parameters import active_effects, prior_of
from sizer.perf.step_terms import INTER, INTRA, OVERLAP, SCALE_OUT, STRAGGLER, TERM_NAMES

_EXCHANGE = (INTRA, INTER, OVERLAP, STRAGGLER, SCALE_OUT)
# Speed-ups are printed to three digits, as are the rates that they are quotients of.
_SCATTER_LOG_SD = float(np.sqrt(2)) * MIN_SCATTER_LOG_SD


def fit_scaling(pairs: tuple[tuple[RateCase, RateCase], ...], joint: Fit) -> tuple[frozenset[str], Fit]:
    """Fit speed-ups by the effects that the joint fit does not have; those that it has keep their values.

    Parameters
    ----------
    pairs : tuple of (RateCase, RateCase)
        The run of every speed-up, and the run that it is over.
    joint : Fit
        To the rates.

    Returns
    -------
    ids : frozenset of str
        Speed-ups that it is fitted to.
    fit : Fit
        The joint fit with the effects that they tell.

    Notes
    -----
    In one fit with the rates, the few speed-ups of one laboratory would move what all releases share. Effects on the
    rate of one GPU nearly cancel in a quotient: where the joint fit does not have them they stay at their prior.
    """
    new = [[name for name in _exchange(case) if name not in joint.index] for case, _ in pairs]
    used = [pair for pair, names in zip(pairs, new, strict=True) if names]
    if not used:
        return frozenset(), joint
    is_open = {name for names in new for name in names}
    effects = [pair_effects(case, one) for case, one in used]
    given = np.zeros((len(used), 2 * len(TERM_NAMES)))
    for row, found in enumerate(effects):
        for term, name, coefficient in found:
            given[row, term] += 0.0 if name in is_open else coefficient * joint.value(name)
    rates = pair_law([case for case, _ in used], [one for _, one in used])
    block = FittedRows(
        effects=[[effect for effect in found if effect[1] in is_open] for found in effects],
        law=lambda terms: rates(given + terms),
        measured=np.log([case.row.value for case, _ in used]),
        n_terms=2 * len(TERM_NAMES),
        sigma=_SCATTER_LOG_SD,
    )
    return frozenset(case.row.id for case, _ in used), joint.with_effects_of(Problem([block], prior_of).fit())


def _exchange(case: RateCase) -> list[str]:
    return [name for term, name, _ in active_effects(case.levels, case.row.gpus or 1) if term in _EXCHANGE]
