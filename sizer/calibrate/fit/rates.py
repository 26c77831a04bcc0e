"""Observations of training and inference rates as blocks of the joint fit; speed-ups as pairs of runs."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from sizer.base.arrays import Floats
from sizer.calibrate.cases import CaseArrays, RateCase, resolve
from sizer.calibrate.fit.joint import DesignMatrix, FitBlock
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
    """Logarithm of the rate of every case, with its derivatives by the parameters.

    A rate that a source states only as a share of another one is fitted as that share: it tells how a run scales, and
    must not pull at the rate that is printed.
    """
    n, k = len(cases), len(TERM_NAMES)
    design = DesignMatrix([active_effects(case.levels, case.row.gpus or 1) for case in cases], k)
    arrays = CaseArrays.of(list(cases))
    place = {case.row.id: i for i, case in enumerate(cases)}
    entries = [(i, i, 1.0) for i in range(n)]
    entries += [(i, place[stated_of(case.row)], -1.0) for i, case in enumerate(cases) if stated_of(case.row) in place]
    row, column, weight = zip(*entries, strict=True)
    relative = csr_array((weight, (row, column)), shape=(n, n))

    def predict(parameters: Floats) -> tuple[Floats, csr_array]:
        found = arrays.run.slopes(design.terms(parameters))
        slopes = np.zeros((n, k))
        for term, slope in found.by_term.items():
            slopes[:, term] = slope
        return relative @ np.log(found.samples_per_s), csr_array(relative @ design.jacobian(slopes))

    return FitBlock(
        task,
        tuple(case.row.id for case in cases),
        tuple(case.row.source for case in cases),
        design.layout.names,
        np.asarray(relative @ np.log([case.row.value for case in cases])),
        predict,
        is_drawn=True,
    )


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
