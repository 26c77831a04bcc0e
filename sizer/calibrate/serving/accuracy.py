"""The fit of serving to published rows, and its accuracy: in sample, with parts left out, and on MLPerf."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csc_array

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90
from sizer.calibrate.engine import AccuracyTarget, ErrorStatistics, Fit, FittedModel, StoredFits, digest_of
from sizer.calibrate.notes import CalibrationNote
from sizer.calibrate.observations import digest_of_files
from sizer.calibrate.serving.calibration import (
    RATES,
    SERVING,
    Printed,
    ServingCalibration,
    ServingTime,
    levels_of,
    points_of,
    unseen,
)
from sizer.calibrate.serving.cases import TOKENS, ServingCase, cases_of, predict
from sizer.calibrate.serving.deployment import Deployment, ServingPoints, model_of
from sizer.calibrate.serving.rows import CLOSED_LOOP, MLPERF, OFFLINE, ServingRow, memory_facts, shipped_paths
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
    if row.kind == CLOSED_LOOP and row.tpot_s and row.concurrency:
        each = {ServingTime.TPOT: row.tpot_s}
        if row.ttft_s is None:
            return each
        return each | {ServingTime.REQUEST: row.ttft_s + (tokens - 1) * row.tpot_s, ServingTime.TTFT: row.ttft_s}
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


def load_of(case: ServingCase) -> float:
    """Requests in flight at one replica: as stated, else as many as it takes."""
    return full_load(case) if case.concurrency is None else case.concurrency / case.replicas


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
        load, rows = load_of(case), rows_of[levels_of(case.deployment)["cell"]]
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
        some[index]
        for some in of_cell.values()
        for index in np.unique(np.linspace(0, len(some) - 1, min(most, len(some))).round().astype(int)).tolist()
    ]


# Rows of a cell that the fits see: more of one cell say little more, and cost time.
_ROWS_OF_CELL = 25
# What is left out, and the largest median error of tokens/s that is asked for.
_GROUPS: tuple[tuple[str, str, float], ...] = (
    ("cell", "serving-cell-left-out-median", 0.10),
    ("gpu", "serving-gpu-left-out-median", 0.12),
    ("model", "serving-model-left-out-median", 0.14),
    ("engine", "serving-engine-left-out-median", 0.14),
)
_COVERED = (0.85, 0.95)
# Spread of a measurement that is repeated: nine of ten of one configuration and version lie within 2.2 %, half of those
# of vendors on the same box within 2.1 %.
_REPEATED_SD = 0.025
_SCENARIOS = (
    ("Offline", "serving-mlperf-offline-unfitted-median"),
    ("Server", "serving-mlperf-server-unfitted-median"),
    ("Interactive", "serving-mlperf-interactive-unfitted-median"),
)


class _Errors:
    """Logarithms of predicted over printed of all printed times, and their spreads."""

    def __init__(self, cases: Sequence[ServingCase]) -> None:
        self.cases = list(cases)
        self.printed, self.measured = printed_of(cases)
        self.quantity = np.array([one.quantity.value for one in self.printed])
        self.tuned = np.array([one.deployment.is_tuned for one in self.printed])

    def of(self, fit: Fit, rows: Bools) -> tuple[Floats, Floats]:
        """Errors of some rows by a fit, and the variance by its effects."""
        some = [one for one, here in zip(self.printed, rows, strict=True) if here]
        logs, variance = SERVING.predict(fit, some)
        return logs - self.measured[rows], variance

    def left_out(self, model: FittedModel[Printed], group: str) -> tuple[Floats, Floats]:
        """Errors of all rows, each by a fit that has not seen its group."""
        mine = np.array([levels_of(one.deployment)[group] for one in self.printed])
        fitted = np.array([levels_of(case.deployment)[group] for case in model.cases])
        errors, variance = np.zeros(len(mine)), np.zeros(len(mine))
        for name in dict.fromkeys(mine[~self.tuned].tolist()):
            here = mine == name
            fit = without(model, fitted == name)
            errors[here], variance[here] = self.of(fit, here)
        return errors, variance

    def where(self, quantity: ServingTime) -> Bools:
        """Closed-loop rows of one quantity."""
        return np.asarray((self.quantity == quantity.value) & ~self.tuned)


def without(model: FittedModel[Printed], out: Bools) -> Fit:
    """The fit to the cases that are not ``out``; effects of these alone are unseen."""
    return known_effects(model.refitted(out).fit, [one for one, gone in zip(model.cases, out, strict=True) if not gone])


def calibrate_serving(rows: Sequence[ServingRow], catalog: Catalog) -> StoredFits:
    """Fit printed times of all rows at once, and check the fit on what it has not seen: about two minutes."""
    cases = fitted_cases(rows, catalog)
    model = fit_serving(thinned(cases, _ROWS_OF_CELL))
    errors = _Errors(cases)
    everything = np.ones(len(errors.printed), dtype=bool)
    tests = {"": errors.of(model.fit, everything)} | {name: errors.left_out(model, name) for name, *_ in _GROUPS}
    fit = model.fit
    figures = (*_closed_loop(errors, tests, fit), *_after_one(errors, model), *_mlperf(cases, model), *_memory(catalog))
    return StoredFits(digest_of_rows(cases), {RATES: fit}, figures)


def digest_of_rows(cases: Sequence[ServingCase]) -> str:
    """Digest of rows, effects, and all that the fit takes of the catalogue."""
    names = [tuple(SERVING.effects(one)) for one in printed_of(cases)[0]]
    table = ServingPoints.make([case.deployment for case in cases], input_tokens=1.0, output_tokens=1.0).table
    return digest_of(
        (digest_of_files(*shipped_paths()), sorted({str(name) for name in names})), list(vars(table).values())
    )


def _closed_loop(errors: _Errors, tests: dict[str, tuple[Floats, Floats]], fit: Fit) -> tuple[AccuracyTarget, ...]:
    spread = SERVING.scatter(errors.printed)

    def statistics(group: str, quantity: ServingTime) -> tuple[ErrorStatistics, float]:
        here = errors.where(quantity)
        found, variance = tests[group]
        sd = fit.interval_sd(variance, spread)[here]
        return ErrorStatistics.of(found[here], sd), float(np.median(np.expm1(Z90 * sd)))

    seen, known_width = statistics("", ServingTime.REQUEST)
    tpot, _ = statistics("cell", ServingTime.TPOT)
    first, _ = statistics("cell", ServingTime.TTFT)
    found = [AccuracyTarget("serving-median", seen.median, 0.0, 0.06, seen.rows)]
    shares, widths = [seen.coverage], {}
    for group, measure, most in _GROUPS:
        one, widths[group] = statistics(group, ServingTime.REQUEST)
        found.append(AccuracyTarget(measure, one.median, 0.0, most, one.rows))
        shares.append(one.coverage)
        if group == "cell":
            found.append(AccuracyTarget("serving-cell-left-out-p90", one.p90, 0.0, 0.28, one.rows))
    n = seen.rows
    return (
        *found,
        AccuracyTarget("serving-cell-left-out-time-per-token-median", tpot.median, 0.0, 0.10, tpot.rows),
        AccuracyTarget("serving-cell-left-out-first-token-median", first.median, 0.0, 0.32, first.rows),
        AccuracyTarget("serving-cell-left-out-first-token-coverage", first.coverage, *_COVERED, first.rows),
        AccuracyTarget("serving-least-coverage", min(shares), *_COVERED, n),
        AccuracyTarget("serving-most-coverage", max(shares), *_COVERED, n),
        AccuracyTarget("serving-half-width-cell-left-out", widths["cell"], 0.0, 0.25, n),
        AccuracyTarget("serving-half-width", known_width, 0.0, 0.12, n),
    )


def _after_one(errors: _Errors, model: FittedModel[Printed]) -> tuple[AccuracyTarget, ...]:
    """Rates of cells left out, after one of a middle load was measured, at half to twice this load of its layout."""
    fitted = np.array([levels_of(case.deployment)["cell"] for case in model.cases])
    series: dict[str, dict[object, list[int]]] = {}
    for index in np.flatnonzero(errors.where(ServingTime.REQUEST)).tolist():
        one = errors.printed[index]
        series.setdefault(levels_of(one.deployment)["cell"], {}).setdefault(one.point[:-1], []).append(index)
    gaps, sds = [np.zeros(0)], [np.zeros(0)]
    for cell, of_cell in series.items():
        before = ServingCalibration(without(model, fitted == cell))
        for places in of_cell.values():
            places.sort(key=lambda place: errors.printed[place].concurrency)
            points, _, of = points_of([errors.printed[place] for place in places])
            rates, middle = points.concurrency[of] / np.exp(errors.measured[places]), [len(places) // 2]
            measured = points_of([errors.printed[places[middle[0]]]])[0]
            after = before.after(measured, rates[middle], np.array([_REPEATED_SD])).rates(points)
            octaves = np.abs(np.log2(points.concurrency / measured.concurrency))
            near = (after.fits & (octaves > 0) & (octaves <= 1))[of]
            gaps.append(np.log(rates[near] / after.requests_per_s[of][near]))
            sds.append(after.log_sd[of][near])
    sd = np.concatenate(sds)
    found, width = ErrorStatistics.of(np.concatenate(gaps), sd), float(np.median(np.expm1(Z90 * sd)))
    return (
        AccuracyTarget("serving-half-width-after-one-measurement", width, 0.0, 0.10, found.rows),
        AccuracyTarget("serving-coverage-after-one-measurement", found.coverage, *_COVERED, found.rows),
    )


def _mlperf(cases: Sequence[ServingCase], model: FittedModel[Printed]) -> tuple[AccuracyTarget, ...]:
    """Rates of MLPerf's scenarios by a fit without any of its rows, and by fits with every other system."""
    of_mlperf = {case.row.row_id for case in cases if case.row.kind == MLPERF}
    tuned = np.array([case.row_id in of_mlperf for case in model.cases])
    some = [case for case in cases if case.row.kind == MLPERF]
    unfitted = _rate_errors(some, without(model, tuned))
    found, biases = [], []
    for scenario, measure in _SCENARIOS:
        mine = unfitted[[case.row.scenario == scenario for case in some]]
        found.append(AccuracyTarget(measure, float(np.median(np.abs(mine))), 0.0, 0.15, len(mine)))
        biases.append(float(np.median(mine)))
    worst = max(biases, key=abs)
    found.append(AccuracyTarget("serving-mlperf-unfitted-largest-bias", abs(worst), 0.0, 0.05, len(some)))
    # Every other system by name.
    systems = sorted({case.row.system for case in some})
    half = np.array([systems.index(case.row.system) % 2 for case in some])
    row_half = dict(zip((case.row.row_id for case in some), half, strict=True))
    errors = np.zeros(len(some))
    for number in (0, 1):
        out = np.array([row_half.get(case.row_id) == number for case in model.cases])
        here = half == number
        fit = without(model, out)
        errors[here] = _rate_errors([case for case, is_here in zip(some, here, strict=True) if is_here], fit)
    found.append(
        AccuracyTarget(
            "serving-mlperf-half-of-systems-left-out-median", float(np.median(np.abs(errors))), 0.0, 0.08, len(errors)
        )
    )
    return tuple(found)


def _memory(catalog: Catalog) -> tuple[AccuracyTarget, ...]:
    """Published loads and refusals, and limits of requests in flight."""
    right, errors = [], []
    for fact in memory_facts():
        model = model_of(catalog.dnns[fact.model])
        if isinstance(model, CalibrationNote):
            raise CalibrationError(f"{fact.row_id}: {fact.model} has no shape in the catalogue")
        deployment = Deployment(
            model, catalog.gpus[fact.gpu], fact.engine, fact.weight_precision, fact.kv_precision, tensor=fact.tensor
        )
        points = ServingPoints.make([deployment], input_tokens=fact.input_tokens, output_tokens=fact.output_tokens)
        room = float(points.room[0])
        right.append((room >= 1) == fact.loads)
        if fact.most_concurrent:
            errors.append(abs(math.log(room / fact.most_concurrent)))
    return (
        AccuracyTarget("serving-memory-loads-and-refusals", float(np.mean(right)), 1.0, 1.0, len(right)),
        AccuracyTarget("serving-memory-limits-median", float(np.median(errors)), 0.0, 0.15, len(errors)),
    )


def _rate_errors(cases: Sequence[ServingCase], fit: Fit) -> Floats:
    found = predict(cases, ServingCalibration(fit))[TOKENS].value
    return np.asarray(np.log(found / np.array([case.row.output_tokens_s for case in cases], dtype=float)))
