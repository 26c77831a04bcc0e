"""The fit to published rows: printed times of a fixed number of requests in flight, and MLPerf's at full load."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csc_array

from sizer.base.arrays import Floats
from sizer.calibrate.engine import Fit, FittedModel
from sizer.calibrate.notes import CalibrationNote
from sizer.calibrate.serving.cases import ServingCase, cases_of
from sizer.calibrate.serving.deployment import ServingPoints
from sizer.calibrate.serving.fit import SERVING, Printed, ServingTime, levels_of, unseen
from sizer.calibrate.serving.rows import CLOSED_LOOP, MLPERF, OFFLINE, ServingRow
from sizer.catalog.model import Catalog

# On the variance of the effects: with cells left out nine rows of ten are inside then. Rows of a cell count as a dozen,
# which leaves the factors less certain than they are.
_EFFECT_FACTOR = 0.70


def fitted_cases(rows: Sequence[ServingRow], catalog: Catalog) -> list[ServingCase]:
    """The rows that the fit uses: marked for calibration, nothing guessed, with a time that a load explains."""
    found = [case for case in cases_of(rows, catalog) if not isinstance(case, CalibrationNote)]
    return [case for case in found if case.row.calibrates and not case.guessed and printed_times(case)]


def printed_times(case: ServingCase) -> dict[ServingTime, float]:
    """Seconds that a row prints, or that follow from what it prints, of a load that is known."""
    row, tokens = case.row, case.output_tokens
    if row.kind == CLOSED_LOOP and row.ttft_s and row.tpot_s and row.concurrency:
        request = row.ttft_s + (tokens - 1) * row.tpot_s
        return {ServingTime.TPOT: row.tpot_s, ServingTime.REQUEST: request, ServingTime.TTFT: row.ttft_s}
    if row.output_tokens_s and (row.kind == OFFLINE or (row.kind == MLPERF and row.scenario == "Offline")):
        in_flight = full_load(case)
        if in_flight >= 1:
            return {ServingTime.REQUEST: in_flight * case.replicas * tokens / row.output_tokens_s}
    if row.kind == MLPERF and row.tpot_mean_s and row.concurrency_mean:
        return {ServingTime.TPOT: row.tpot_mean_s}
    return {}


def full_load(case: ServingCase) -> float:
    """Requests in flight at one replica that is given as many as its memory and its engine take."""
    lengths = {name: getattr(case, name) for name in ("input_tokens", "output_tokens", "cached_share")}
    return float(ServingPoints.make([case.deployment], **lengths).room[0])


def fit_serving(cases: Sequence[ServingCase]) -> FittedModel[Printed]:
    """Fit every factor and effect to all printed times at once.

    Raises CalibrationError if the fit does not converge.
    """
    found, measured = printed_of(cases)
    model = SERVING.fitted(found, measured)
    return replace(model, fit=replace(model.fit, effect_factor=_EFFECT_FACTOR, prior_of=unseen))


def known_effects(fit: Fit, cases: Sequence[Printed]) -> Fit:
    """A fit with the effects of some cases alone: the others, which no row has, count as unseen."""
    names = {name for case in cases for _, name, _ in SERVING.effects(case)}
    kept = np.flatnonzero([name in names for name in fit.names])
    hessian = csc_array(fit.hessian[kept][:, kept])
    return replace(fit, names=tuple(fit.names[place] for place in kept), values=fit.values[kept], hessian=hessian)


def printed_of(cases: Sequence[ServingCase]) -> tuple[list[Printed], Floats]:
    """Printed times of cases, and their logarithms."""
    rows_of = Counter(levels_of(case.deployment)["cell"] for case in cases)
    found, measured = [], []
    for case in cases:
        rows = rows_of[levels_of(case.deployment)["cell"]]
        load = full_load(case) if case.concurrency is None else case.concurrency / case.replicas
        for quantity, seconds in printed_times(case).items():
            found.append(
                Printed(
                    case.deployment,
                    case.input_tokens,
                    case.output_tokens,
                    case.cached_share,
                    load,
                    quantity,
                    case.row.row_id,
                    float(rows),
                )
            )
            measured.append(math.log(seconds))
    return found, np.array(measured)


def thinned(cases: Sequence[ServingCase], most: int) -> list[ServingCase]:
    """At most so many cases of each cell, evenly taken: what many rows of one cell say, some of them say."""
    of_cell: dict[str, list[ServingCase]] = {}
    for case in sorted(cases, key=lambda one: one.row.row_id):
        of_cell.setdefault(levels_of(case.deployment)["cell"], []).append(case)
    return [
        some[place]
        for some in of_cell.values()
        for place in np.unique(np.linspace(0, len(some) - 1, min(most, len(some))).round().astype(int)).tolist()
    ]
