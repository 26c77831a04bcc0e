"""Observations of training and inference rates as blocks of the joint fit; speed-ups as pairs of runs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.cases import CaseArrays, RateCase, resolve
from sizer.calibrate.engine import Effect, Law
from sizer.calibrate.fit.joint import FitBlock
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import active_effects
from sizer.calibrate.rules import speedup_base, stated_of, stated_rows
from sizer.catalog.model import Catalog
from sizer.perf.step_terms import TERM_NAMES

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
