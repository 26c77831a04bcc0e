"""Observations of training and inference rates as blocks of the joint fit; speed-ups as pairs of runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import CaseArrays, RateCase, resolve
from sizer.calibrate.engine import Effect, Fit, FittedRows, Law, Problem
from sizer.calibrate.fit.joint import MIN_SCATTER_LOG_SD, FitBlock
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import active_effects, prior_of
from sizer.calibrate.predict import predict_all
from sizer.calibrate.rules import speedup_base, stated_of, stated_rows
from sizer.catalog.model import Catalog
from sizer.perf.step_terms import INTER, INTRA, OVERLAP, SCALE_OUT, STRAGGLER, TERM_NAMES

RATE_TASKS = ("training", "inference")


def is_rate(row: Observation) -> bool:
    """Whether a row is one that the joint fit could use."""
    return row.quantity == "samples_per_s" and row.task in RATE_TASKS


def usable_cases(
    rows: tuple[Observation, ...], catalog: Catalog
) -> tuple[tuple[RateCase, ...], dict[str, CalibrationNote]]:
    """Cases that the fit uses, training first, and the reason for every rate that it excludes."""
    cases: list[RateCase] = []
    excluded: dict[str, CalibrationNote] = {}
    for row in (*rows, *stated_rows(rows)):
        if is_rate(row):
            case = resolve(row, catalog, for_fit=True)
            if isinstance(case, CalibrationNote):
                excluded[row.id] = case
            else:
                cases.append(case)
    cases.sort(key=lambda case: (RATE_TASKS.index(case.levels.task), case.row.id))
    return tuple(cases), excluded


def rate_blocks(cases: tuple[RateCase, ...]) -> tuple[FitBlock, ...]:
    """One block a task."""
    return tuple(
        _block(task, tuple(case for case in cases if case.levels.task == task))
        for task in RATE_TASKS
        if any(case.levels.task == task for case in cases)
    )


def _block(task: str, cases: tuple[RateCase, ...]) -> FitBlock:
    """Logarithm of the rate of every case, with its derivatives by the terms.

    A rate that a source states only as a share of another one is fitted as that share: it tells how a run scales, and
    must not pull at the rate that is printed.
    """
    by_id = {case.row.id: case for case in cases}
    over = [by_id.get(stated_of(case.row) or "") for case in cases]
    logs = [
        np.log(case.row.value) - (0.0 if base is None else np.log(base.row.value))
        for case, base in zip(cases, over, strict=True)
    ]
    return FitBlock(
        effects=[pair_effects(case, base) for case, base in zip(cases, over, strict=True)],
        law=pair_law(cases, over),
        measured=np.array(logs),
        n_terms=2 * len(TERM_NAMES),
        sigma=np.nan,
        kind=task,
        ids=tuple(case.row.id for case in cases),
        sources=tuple(case.row.source for case in cases),
        is_drawn=True,
    )


def pair_effects(case: RateCase, over: RateCase | None) -> list[Effect]:
    """Effects on the terms of a run, and on those of the one that it is over, which stand behind them."""
    found = list(active_effects(case.levels, case.row.gpus or 1))
    behind = () if over is None else active_effects(over.levels, over.row.gpus or 1)
    return [*found, *((len(TERM_NAMES) + term, name, coefficient) for term, name, coefficient in behind)]


def pair_law(cases: Sequence[RateCase], over: Sequence[RateCase | None]) -> Law:
    """Logarithms of rates, of some over those of other runs."""
    k, runs = len(TERM_NAMES), CaseArrays.of(list(cases)).run
    bases = {place: base for place, base in enumerate(over) if base is not None}
    places, below = list(bases), CaseArrays.of(list(bases.values())).run if bases else None

    def law(terms: Floats) -> tuple[Floats, Floats]:
        found, slopes = runs.slopes(terms[:, :k]), np.zeros((len(cases), 2 * k))
        logs = np.log(found.samples_per_s)
        for term, slope in found.by_term.items():
            slopes[:, term] = slope
        if below is not None:
            base = below.slopes(terms[places, k:])
            logs[places] -= np.log(base.samples_per_s)
            for term, slope in base.by_term.items():
                slopes[places, k + term] = -slope
        return logs, slopes

    return law


def speedup_cases(row: Observation, catalog: Catalog, *, for_fit: bool) -> tuple[RateCase, RateCase] | CalibrationNote:
    """The run that a speed-up belongs to and the one that it is over; or why they are not known."""
    base = speedup_base(row)
    if row.task != "training" or base is None:
        return note(FitNote.SPEEDUP_BASE_UNKNOWN)
    case = resolve(replace(row, quantity="samples_per_s"), catalog, for_fit=for_fit)
    if isinstance(case, CalibrationNote):
        return case
    return case, replace(case, n_gpus_per_server=case.n_gpus_per_server if base == "server" else 1, n_servers=1)


def usable_speedups(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[tuple[RateCase, RateCase], ...]:
    """Speed-ups that a fit can use, each as the run and the one that it is over."""
    found = [speedup_cases(row, catalog, for_fit=True) for row in rows if row.quantity == "speedup"]
    return tuple(pair for pair in found if not isinstance(pair, CalibrationNote))


# Predictions and effects listed, largest change first.
_SHOWN = 10
# Below these nothing changed: rounding of another build of the linear algebra.
_LEAST_LOG_MOVE = 1e-3
_LEAST_SD_MOVE = 0.05


@dataclass(frozen=True)
class FitComparison:
    """Difference between two calibrations."""

    new_rows: tuple[str, ...]  # ids that are fitted now and were not before
    gone_rows: tuple[str, ...]
    n_predictions: int  # that both make
    n_moved: int
    predictions: tuple[tuple[str, float, float], ...]  # id, before, after; in the unit of the row, largest move first
    effects: tuple[tuple[str, float, float, float], ...]  # name, before, after, move in standard deviations


def compare_fits(
    before: Calibration, after: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> FitComparison:
    """Compare the predictions of ``rows`` and the effects that both calibrations have."""
    moves = []
    both = zip(rows, predict_all(rows, catalog, before), predict_all(rows, catalog, after), strict=True)
    for row, old, new in both:
        if old.estimate is not None and new.estimate is not None and min(old.estimate.value, new.estimate.value) > 0:
            moves.append((row.id, float(old.estimate.value), float(new.estimate.value)))
    moves.sort(key=lambda move: -abs(np.log(move[2] / move[1])))
    moved = [move for move in moves if abs(np.log(move[2] / move[1])) >= _LEAST_LOG_MOVE]
    was = dict(zip(before.names, before.fit.values.tolist(), strict=True))
    effects = [
        (name, was[name], float(value), float((value - was[name]) / sd))
        for name, value, sd in zip(after.names, after.fit.values, after.fit.sd, strict=True)
        if name in was and abs(value - was[name]) >= _LEAST_SD_MOVE * sd
    ]
    effects.sort(key=lambda effect: -abs(effect[3]))
    old_used, new_used = before.used | before.host_used, after.used | after.host_used
    return FitComparison(
        tuple(sorted(new_used - old_used)),
        tuple(sorted(old_used - new_used)),
        len(moves),
        len(moved),
        tuple(moved[:_SHOWN]),
        tuple(effects[:_SHOWN]),
    )


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
