"""How well the model predicts what was published: rows with predictions, also of fits without them, and summaries."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90, Estimate, Spread
from sizer.calibrate.calibration import Calibration, notes_on
from sizer.calibrate.cases import (
    RateCase,
    UnknownName,
    exclusion_of,
    precision_of,
    prior_of,
    resolve,
    rules,
    runs_of,
    with_ids,
)
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.fit import hosts
from sizer.calibrate.fit.hosts import samples_of
from sizer.calibrate.fit.joint import RATE_TASKS, JointFit, is_rate, resolve_all_reduce, speedup_cases, usable_cases
from sizer.calibrate.language.calibration import GroupAccuracy
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.observations import LOADERS, TASKS, Observation, read_stored, stored_path, write_stored
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Recipe
from sizer.perf.caches import hit_fraction
from sizer.perf.pipeline import cpu_utilization_fraction, decode_samples_per_s
from sizer.perf.step_terms import StepTerms, drawn_estimate

# A recipe that stands for another round or target: one step of the published growth (60 to 72 epochs).
_OTHER_RECIPE_LOG_SD = 0.15
# Recipes of a fixed length end in this; a run without printed epochs is taken to follow one.
_SCHEDULE = "-epochs"
_HOST_LOADERS = ("framework", "dali-cpu")


@dataclass(frozen=True)
class Prediction:
    """What the model says about an observation."""

    estimate: Estimate | None  # in the unit of the row; None: not predicted
    status: RowStatus
    notes: tuple[CalibrationNote, ...] = ()  # where it extrapolates; empty where it interpolates
    spread: Spread | None = None  # of rates

    @classmethod
    def none(cls, reason: CalibrationNote, use: RowUse = RowUse.OUTSIDE) -> "Prediction":
        """No prediction, and why."""
        return cls(None, RowStatus(use, reason))

    @classmethod
    def not_modelled(cls, kind: FitNote, *values: str) -> "Prediction":
        return cls.none(note(kind, *values), RowUse.NOT_MODELLED)


@dataclass(frozen=True)
class _Context:
    catalog: Catalog
    calibration: Calibration
    rates: dict[str, Observation]
    epochs: dict[str, float]
    busy: dict[str, float]  # stem of the id of a run -> printed share of its hosts' cores that was busy


def predict(
    row: Observation, catalog: Catalog, calibration: Calibration, rows: tuple[Observation, ...] = ()
) -> Prediction:
    """What the model says about an observation.

    ``row``: any row. ``catalog``: where its ids are looked up; a row without ids is read by its wording. ``rows``: all
    rows, for those that need another number of the same run (its rate, its epochs).
    """
    return predict_all((row,), catalog, calibration, rows)[0]


def predict_all(
    rows: tuple[Observation, ...], catalog: Catalog, calibration: Calibration, same_runs: tuple[Observation, ...] = ()
) -> list[Prediction]:
    """:func:`predict` of every row; ``same_runs``: where other numbers of a run are, by default the rows themselves."""
    rows = with_ids(rows, catalog)
    known = with_ids(same_runs, catalog) or rows
    context = _Context(
        catalog,
        calibration,
        {one.id: one for one in known if one.quantity == "samples_per_s"},
        {one.id.split("/")[0]: one.value for one in known if one.quantity in ("epochs", "epochs_to_target")},
        {one.id.split("/")[0]: one.value for one in known if one.quantity == "cpu_utilization_fraction"},
    )
    return [_predict(row, context) for row in rows]


def _predict(row: Observation, context: _Context) -> Prediction:
    by_quantity = {
        "samples_per_s": _rate,
        "storage_bytes_per_s": _storage,
        "cpu_utilization_fraction": _cpu,
        "cores_per_gpu": _cores_per_gpu,
        "samples_per_s_per_core": _host_rate_row,
        "epochs_to_target": _epochs,
        "epochs": _epochs,
        "time_to_train_s": _time,
        "run_time_s": _time,
        "speedup": _speedup,
        "cache_miss_fraction": _cache_miss,
        "bus_bytes_per_s": _all_reduce,
        "algorithm_bytes_per_s": _all_reduce,
        "all_reduce_time_s": _all_reduce,
    }
    function = by_quantity.get(row.quantity)
    if function is None:
        return Prediction.not_modelled(FitNote.QUANTITY_NOT_MODELLED, row.quantity)
    if row.task not in TASKS:
        return Prediction.not_modelled(FitNote.TASK_NOT_MODELLED, row.task)
    return function(row, context)


def _terms(case: RateCase, context: _Context) -> StepTerms:
    terms = context.calibration.terms_of(case.levels)
    if not case.is_other_board:
        return terms
    # Another board of the chip widens the interval by what separates boards.
    wider = np.hypot(terms.scatter_log_sd, prior_of("gpu").sd)
    return replace(terms, scatter_log_sd=wider)


def _rate(row: Observation, context: _Context) -> Prediction:
    if row.task in ("preprocess", "storage"):
        return _host_rate_row(row, context)
    if row.task not in ("training", "inference"):
        return Prediction.not_modelled(FitNote.TASK_NOT_MODELLED, row.task)
    case = resolve(row, context.catalog, for_fit=False)
    if isinstance(case, CalibrationNote):
        return Prediction.none(case)
    terms = _terms(case, context)
    estimate = runs_of([case]).rate(terms).total[0]
    spread = Spread.of(estimate.log_sd, terms.scatter_log_sd, terms.between_log_sd)
    estimate = _limited_by_host(case, estimate, terms, context)
    notes = case.notes + notes_on(context.calibration, case)
    return Prediction(estimate, _status(row, context), notes, spread)


def _status(row: Observation, context: _Context) -> RowStatus:
    if row.id in context.calibration.used:
        return CALIBRATED
    # A rate that the host sets is described by the fit of the host's work, where the server's cores are known.
    if row.id in context.calibration.host_used and hosts.host_cores(row, context.catalog) is not None:
        return RowStatus(RowUse.CALIBRATED_HOST)
    reason = exclusion_of(row)
    return PREDICTED if reason is None else RowStatus(RowUse.EXCLUDED, reason)


def _limited_by_host(case: RateCase, rate: Estimate, terms: StepTerms, context: _Context) -> Estimate:
    """The smaller of the GPUs' rate and what the host can decode, where its cores are known and data are real."""
    row = case.row
    cores = hosts.host_cores(row, context.catalog)
    if row.data != "real" or row.loader not in ("framework", "dali", "dali-cpu") or cores is None:
        return rate
    if case.dnn.sample != "image" or row.task != "training":
        return rate
    host = _rate_of_hosts(_task_of(case), row.sample_bytes or hosts.IMAGENET_BYTES, cores, context.calibration)
    # Who prints a rate has tuned the loader until it kept up: hosts hold a run where they do so with 95 % certainty on
    # one server, without what the exchange between servers takes from the GPUs.
    alone = rate if case.n_servers == 1 else runs_of([replace(case, n_servers=1)]).rate(terms).total[0]
    is_held = host.high < alone.value * case.n_servers
    return host if is_held and host.value < rate.value else rate


def _task_of(case: RateCase) -> hosts.HostTask:
    """What the hosts of a run do for one image."""
    row, stack = case.row, case.stack
    return hosts.HostTask(SampleFormat.JPEG, row.loader or "framework", stack.framework, stack.id)


def _rate_of_hosts(task: hosts.HostTask, sample_bytes: float, cores: float, calibration: Calibration) -> Estimate:
    """Samples per second that some cores prepare."""
    work = calibration.hosts.work(task)
    rate = decode_samples_per_s(cores, work.core_s(sample_bytes))
    return Estimate.log_normal(np.asarray(rate), work.log_sd(sample_bytes))


def _loader_rate(
    row: Observation, catalog: Catalog, calibration: Calibration, busy_fraction: float = 1.0
) -> Estimate | CalibrationNote:
    """Rate of an input pipeline alone, or of one core of it, or why it is not known.

    ``row``: row of a loader test, or of a run whose hosts were busy to a printed share. ``catalog``, ``calibration``:
    where cores and the work per sample come from. ``busy_fraction``: share of the cores that was busy. [-]
    """
    is_per_core = row.quantity == "samples_per_s_per_core"
    cores = 1.0 if is_per_core else hosts.busy_cores(row, catalog)
    if row.loader == "dali":
        return note(FitNote.GPU_DECODES)
    if row.loader not in LOADERS:
        return note(FitNote.LOADER_UNKNOWN, row.loader)
    if row.loader not in _HOST_LOADERS or cores is None:
        return note(FitNote.LOADER_OR_CORES_NOT_STATED)
    task, size = hosts.host_task(row, catalog), hosts.sample_bytes_of(row)
    if task is None:
        return note(FitNote.FORMAT_NOT_MODELLED, str(row.extra["sample_format"]))
    if size is None:
        return note(FitNote.SAMPLE_BYTES_NOT_STATED)
    return _rate_of_hosts(task, size, cores * busy_fraction, calibration)


def _host_rate_row(row: Observation, context: _Context) -> Prediction:
    """Rate of an input pipeline alone, on all its cores or on one."""
    # A run whose hosts were busy to a printed share shows that share of their rate.
    is_run = row.quantity == "samples_per_s" and "cpu_threads_used" not in row.extra
    busy = context.busy.get(row.id.split("/")[0], 1.0) if is_run else 1.0
    found = _loader_rate(row, context.catalog, context.calibration, busy)
    return (
        Prediction.none(found) if isinstance(found, CalibrationNote) else Prediction(found, _host_status(row, context))
    )


def _host_status(row: Observation, context: _Context) -> RowStatus:
    if row.id in context.calibration.host_used:
        return CALIBRATED
    reason = exclusion_of(row) if row.task == "preprocess" else None
    return PREDICTED if reason is None else RowStatus(RowUse.EXCLUDED, reason)


def _run_rate(row: Observation, context: _Context) -> Observation | None:
    observation = hosts.matching_rate(row, context.rates)
    if observation is None and row.gpus:
        # The rate is not printed, but the run is described.
        return replace(row, quantity="samples_per_s", task="training", value=1.0)
    return observation


def _storage(row: Observation, context: _Context) -> Prediction:
    run = _run_rate(row, context)
    if run is None or not run.dnn:
        return Prediction.not_modelled(FitNote.STORAGE_ALONE)
    size = row.sample_bytes or run.sample_bytes
    if size is None:
        return Prediction.none(note(FitNote.SAMPLE_BYTES_NOT_STATED))
    rate = _rate(replace(run, sample_bytes=size), context)
    return rate if rate.estimate is None else replace(rate, estimate=rate.estimate.scaled(size))


def _cpu(row: Observation, context: _Context) -> Prediction:
    run, cores = hosts.matching_rate(row, context.rates), hosts.host_cores(row, context.catalog)
    if run is None:
        # Rate of the same DNN on the same server and source, where it is printed once.
        same = [
            one
            for one in context.rates.values()
            if (one.source, one.dnn, one.server, one.gpus, one.servers)
            == (row.source, row.dnn, row.server, row.gpus, row.servers)
            and one.task in ("training", "preprocess")
        ]
        run = same[0] if same else None
    if cores is None:
        return Prediction.none(note(FitNote.CORES_UNKNOWN))
    if row.loader not in LOADERS:
        return Prediction.none(note(FitNote.LOADER_UNKNOWN, row.loader))
    case = resolve(replace(row, quantity="samples_per_s", task="training"), context.catalog, for_fit=False)
    if isinstance(case, CalibrationNote):
        return Prediction.none(case)
    size, work = row.sample_bytes or hosts.IMAGENET_BYTES, context.calibration.hosts.work(_task_of(case))
    # Where the rate is not printed it is predicted, with its own spread.
    rate = Estimate.exact(run.value) if run is not None else _rate(case.row, context).estimate
    if rate is None:
        return Prediction.none(note(FitNote.RATE_UNKNOWN))
    busy = cpu_utilization_fraction(float(rate.value), work.core_s(size), cores)
    sd = math.hypot(work.log_sd(size), float(rate.log_sd))
    return Prediction(Estimate.log_normal(np.minimum(busy, 1.0), sd), _host_status(row, context), case.notes)


def _cores_per_gpu(row: Observation, context: _Context) -> Prediction:
    if row.loader not in LOADERS:
        return Prediction.none(note(FitNote.LOADER_UNKNOWN, row.loader))
    one = replace(row, quantity="samples_per_s", task="training", servers=1, gpus=1)
    case = resolve(one, context.catalog, for_fit=False)
    if isinstance(case, CalibrationNote):
        return Prediction.none(case)
    fed = runs_of([case]).rate(_terms(case, context)).total[0]
    per_core = _rate_of_hosts(_task_of(case), row.sample_bytes or hosts.IMAGENET_BYTES, 1.0, context.calibration)
    sd = math.hypot(float(fed.log_sd), float(per_core.log_sd))
    return Prediction(Estimate.log_normal(fed.value / per_core.value, sd), PREDICTED, case.notes)


def _recipe(row: Observation, dnn: str, catalog: Catalog) -> tuple[Recipe, bool] | None:
    """Recipe that a run follows, and whether it is printed for it: by source, else the newest of its kind."""
    has_schedule = row.quantity in ("epochs", "run_time_s")
    found = [
        recipe
        for recipe in catalog.recipes.values()
        if recipe.dnn == dnn and recipe.points and recipe.id.endswith(_SCHEDULE) == has_schedule
    ]
    own = [recipe for recipe in found if any(point.source == row.source for point in recipe.points)]
    if own or found:
        return max(own or found, key=lambda recipe: recipe.id), bool(own)
    return None


def _epochs(row: Observation, context: _Context) -> Prediction:
    case = resolve(replace(row, quantity="samples_per_s", task="training"), context.catalog, for_fit=False)
    dnn = row.dnn if isinstance(case, CalibrationNote) else case.dnn.id
    recipe = _recipe(row, dnn, context.catalog)
    if recipe is None:
        return Prediction.none(note(FitNote.NO_RECIPE, row.dnn))
    if not row.batch_per_gpu or not row.gpus:
        return Prediction.none(note(FitNote.BATCH_NOT_STATED))
    found, is_own = recipe
    curve, batch = context.calibration.epochs_curve(found), row.batch_per_gpu * row.gpus
    epochs = context.calibration.epochs(found, batch)
    beyond = (note(FitNote.EPOCHS_OUTSIDE, found.name, *curve.batches),) if curve.extrapolates(batch) else ()
    if is_own:
        is_point = any(
            (point.source, point.epochs) == (row.source, row.value) and abs(point.global_batch - batch) < 1
            for point in found.points
        )
        return Prediction(epochs, CALIBRATED if is_point else PREDICTED, beyond)
    sd = math.hypot(float(epochs.log_sd), _OTHER_RECIPE_LOG_SD)
    assumed = note(FitNote.RECIPE_ASSUMED, found.name)
    return Prediction(Estimate.log_normal(epochs.value, sd), PREDICTED, (assumed, *beyond))


def _time(row: Observation, context: _Context) -> Prediction:
    run = _run_rate(row, context)
    if run is None:
        return Prediction.none(note(FitNote.RUN_NOT_DESCRIBED))
    reason = exclusion_of(run)
    if reason is not None:
        return Prediction.none(reason)
    rate = _rate(run, context)
    case = resolve(run, context.catalog, for_fit=False)
    if rate.estimate is None or isinstance(case, CalibrationNote):
        return rate
    samples = samples_of(case.dnn.id, context.catalog)
    if samples is None:
        return Prediction.none(note(FitNote.DATASET_UNKNOWN))
    printed = context.epochs.get(row.id.split("/")[0])
    epochs = _epochs(replace(row, batch_per_gpu=row.batch_per_gpu or run.batch_per_gpu), context)
    if row.quantity == "run_time_s" and printed is not None:
        epochs = Prediction(Estimate.exact(printed), CALIBRATED)
    if epochs.estimate is None:
        return epochs
    overhead = context.calibration.overhead
    samples *= context.calibration.epoch_samples_factor(case.dnn.id)
    steady_s = float(epochs.estimate.value) * samples / float(rate.estimate.value) * (1 + overhead.share)
    sd = math.hypot(float(epochs.estimate.log_sd), float(rate.estimate.log_sd), overhead.log_sd)
    # Rate, epochs and overhead are fitted to rows of the same runs, their product is not.
    estimate = Estimate.log_normal(steady_s + overhead.start_up_s, sd)
    return Prediction(estimate, PREDICTED, rate.notes + epochs.notes)


def _speedup(row: Observation, context: _Context) -> Prediction:
    pair = speedup_cases(row, context.catalog, for_fit=False)
    if isinstance(pair, CalibrationNote):
        return Prediction.none(pair)
    case, one = pair
    terms = _terms(case, context)
    # Both runs share their terms: the ratio varies with what differs only. How a release scales differs between
    # laboratories as its rate does.
    over, under = (np.log(runs_of([each]).over_draws.samples_per_s(terms.drawn)) for each in (case, one))
    within, between = context.calibration.scatter_log_sd["training"], float(terms.between_log_sd)
    estimate = drawn_estimate(over - under, np.array(math.sqrt(2 * within**2 + between**2)))[0]
    status = CALIBRATED if row.id in context.calibration.used else PREDICTED
    return Prediction(estimate, status, case.notes + notes_on(context.calibration, case))


def _cache_miss(row: Observation, context: _Context) -> Prediction:
    access = next((name for name, ids in rules("cache_rows").items() if row.id in ids), None)
    if access is None:
        return Prediction.none(note(FitNote.CACHE_NOT_DESCRIBED))
    position, sd = context.calibration.cache_position(access, "page-cache")
    cached = float(row.extra["cache_pct"]) / 100
    # 90 % interval of the position carried through the law, which is monotone.
    low, middle, high = (
        1 - hit_fraction(cached, min(1.0, max(1e-3, position + shift * Z90 * sd))) for shift in (1, 0, -1)
    )
    return Prediction(Estimate(middle, low, high), CALIBRATED)


def _all_reduce(row: Observation, context: _Context) -> Prediction:
    one = resolve_all_reduce(row, context.catalog.links)
    if isinstance(one, CalibrationNote):
        return Prediction.none(one)
    terms = context.calibration.terms_from(one.effects())
    value, slope = one.log_prediction(terms.values)
    within = float(terms.scatter_log_sd)
    sd = math.sqrt(float(slope @ terms.covariance @ slope) + within**2)
    reason = context.calibration.excluded.get(row.id)
    status = PREDICTED if reason is None else RowStatus(RowUse.EXCLUDED, reason)
    if row.id in context.calibration.used:
        status = CALIBRATED
    return Prediction(Estimate.log_normal(math.exp(value), sd), status)


# A series that is measured on as many GPUs predicts its larger clusters.
SMALL_GPUS = 8


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of rows that the fit had not seen, by the id of the row."""

    digest: str  # of the observations
    by_source: dict[str, tuple[float, float, float]]  # predicted and its 90 % interval, in the unit of the row
    by_series: dict[str, float]  # ln(published / predicted) of rates, their series left out
    scale_out: dict[str, float]  # the same of rates above SMALL_GPUS, those of their series left out


def series_of(case: RateCase) -> tuple[str, ...]:
    """What the rows of one series share: they differ in batch and in number of GPUs."""
    e, row = case.levels, case.row
    return (row.source, e.task, row.software, e.dnn, e.precision, e.gpu, row.server, row.loader)


def cross_validate(
    fit: JointFit, calibration: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> CrossValidation:
    """Predict every row of every source, series and large cluster without it."""
    by_source: dict[str, tuple[float, float, float]] = {}
    for source in sorted(set(fit.sources.tolist())):
        by_source |= without_source(source, fit, calibration, rows, catalog)
    cases = {case.row.id: case for case in usable_cases(rows, catalog)[0]}
    # A rate that is fitted as a share of another one is no rate of its own.
    named = zip(fit.ids, fit.kinds.tolist(), strict=True)
    of_rate = [cases.get(name) if kind in RATE_TASKS else None for name, kind in named]
    groups: dict[tuple[str, ...], list[int]] = {}
    families: dict[tuple[str, ...], list[int]] = {}
    for i, case in enumerate(of_rate):
        if case is not None:
            groups.setdefault(series_of(case), []).append(i)
            if case.levels.task == "training":
                # Servers of one kind and clusters of them are one family, whatever their count.
                families.setdefault((*series_of(case)[:6], case.row.server), []).append(i)
    large = [_large(members, of_rate) for members in families.values()]
    return CrossValidation(
        calibration.digest, by_source, _errors(fit, groups.values()), _errors(fit, [one for one in large if one])
    )


def without_source(
    source: str, fit: JointFit, calibration: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> dict[str, tuple[float, float, float]]:
    """Predictions of the rows of one source by a fit that has not seen it, by id: value and 90 % interval."""
    out = fit.sources == source
    mine = tuple(row for row in rows if row.source == source)
    # Effects that only speed-ups tell are no part of the joint fit: without their source they are at their prior.
    unseen = replace(calibration, fit=fit.without(out))
    found = {}
    for row, prediction in zip(mine, predict_all(mine, catalog, unseen, rows), strict=True):
        if prediction.estimate is not None:
            value, low, high = prediction.estimate
            found[row.id] = (value, low, high)
    return found


def _large(members: list[int], of_rate: list[RateCase | None]) -> list[int]:
    """Rows of a family above :data:`SMALL_GPUS`, where it has smaller ones, too."""
    counts = [0 if (case := of_rate[i]) is None else case.n_gpus_per_server * case.n_servers for i in members]
    large = [i for i, count in zip(members, counts, strict=True) if count > SMALL_GPUS]
    return large if len(large) < len(members) else []


def _errors(fit: JointFit, groups: Iterable[list[int]]) -> dict[str, float]:
    found, ids = {}, fit.ids
    for members in groups:
        out = np.zeros(len(ids), dtype=bool)
        out[members] = True
        errors, _ = fit.errors(fit.without(out), out)
        found.update({ids[i]: float(error) for i, error in zip(sorted(members), errors, strict=True)})
    return found


# Where the shipped checks are stored.
_CHECKS = stored_path().with_name("cross-validation.json")


def save_cross_validation(checks: CrossValidation) -> Path:
    """Write the checks as JSON."""

    def short(value: float) -> float:
        return float(f"{value:.6g}")

    content = {
        "digest": checks.digest,
        "by_source": {name: [short(v) for v in triple] for name, triple in checks.by_source.items()},
        "by_series": {name: short(error) for name, error in checks.by_series.items()},
        "scale_out": {name: short(error) for name, error in checks.scale_out.items()},
    }
    return write_stored(content, _CHECKS)


def load_cross_validation(calibration: Calibration) -> CrossValidation:
    """Stored checks of a calibration.

    Raises CalibrationError if they are missing, damaged or belong to other observations.
    """
    try:
        found = TypeAdapter(CrossValidation).validate_python(read_stored(_CHECKS))
    except ValidationError as error:
        raise CalibrationError(f"stored checks are damaged ({error.errors()[0]}); run 'sizer calibrate'") from None
    if found.digest != calibration.digest:
        raise CalibrationError("stored checks belong to another calibration; run 'sizer calibrate'")
    return found


@dataclass(frozen=True)
class ValidatedRow:
    """One published number and the prediction for it."""

    id: str
    task: str
    quantity: str
    source: str
    published: float
    estimate: Estimate | None  # the prediction; None where there is none
    status: RowStatus
    notes: tuple[CalibrationNote, ...] = ()  # where the prediction extrapolates; empty where it interpolates

    @property
    def predicted(self) -> float | None:
        """Median of the prediction."""
        return None if self.estimate is None else float(self.estimate.value)

    @property
    def low(self) -> float | None:
        """Low end of its 90 % interval."""
        return None if self.estimate is None else float(self.estimate.low)

    @property
    def high(self) -> float | None:
        return None if self.estimate is None else float(self.estimate.high)

    @property
    def log_error(self) -> float | None:
        """ln(predicted / published) where both are numbers above 0, however far apart; else None."""
        if self.predicted is None or not (0 < self.predicted < math.inf and 0 < self.published < math.inf):
            return None
        return math.log(self.predicted) - math.log(self.published)

    @property
    def is_covered(self) -> bool | None:
        """Whether the published number lies in the 90 % interval."""
        return None if self.estimate is None else bool(self.estimate.low <= self.published <= self.estimate.high)


@dataclass(frozen=True)
class Summary:
    """Accuracy of a group of rows."""

    name: str
    rows: int
    predicted_rows: int
    median_error: float | None = None  # of |ln(predicted / published)|
    p90_error: float | None = None
    bias: float | None = None  # median of ln(predicted / published)
    coverage: float | None = None  # share of published numbers inside their 90 % interval
    judged_rows: int = 0  # that have an interval

    @property
    def inside(self) -> int:
        """Published numbers inside their 90 % interval."""
        return round((self.coverage or 0.0) * self.judged_rows)


@dataclass(frozen=True)
class ValidationReport:
    """Every row, and summaries by task, quantity and source."""

    rows: tuple[ValidatedRow, ...]
    by_task: tuple[Summary, ...]
    by_quantity: tuple[Summary, ...]
    by_source: tuple[Summary, ...]
    total: Summary
    # Only for the built-in observations: the same rows predicted by fits that had not seen their source.
    unseen: tuple[ValidatedRow, ...] = ()
    figures: tuple[AccuracyTarget, ...] = ()
    unknown: tuple[UnknownName, ...] = ()  # names in files of others that mean nothing known
    generations: tuple[GroupAccuracy, ...] = ()  # runs of language models by generation of GPU and software stack


def validate(
    rows: tuple[Observation, ...], catalog: Catalog, calibration: Calibration, checks: CrossValidation | None = None
) -> ValidationReport:
    """Predict every observation and summarise the errors.

    Summaries count rows that the model is meant to describe: those that it is calibrated on and those that it predicts.
    Rows that the fit excludes keep their prediction in the table, with the reason. With ``checks``, the report also
    holds the same rows predicted without their source, and the accuracy targets.
    """
    validated = [
        ValidatedRow(row.id, row.task, row.quantity, row.source, row.value, one.estimate, one.status, one.notes)
        for row, one in zip(rows, predict_all(rows, catalog, calibration), strict=True)
    ]
    if checks is None:
        return report_of(validated)
    unseen = _unseen(validated, checks)
    return replace(report_of(validated), unseen=unseen, figures=_figures(rows, validated, unseen, checks))


def report_of(rows: Sequence[ValidatedRow]) -> ValidationReport:
    """Rows with the summaries of their errors."""
    found = list(rows)
    return ValidationReport(
        tuple(found),
        summaries(found, lambda row: row.task),
        summaries(found, lambda row: f"{row.task}: {row.quantity}"),
        summaries(found, lambda row: row.source),
        summarise("all", found),
    )


def _unseen(rows: list[ValidatedRow], checks: CrossValidation) -> tuple[ValidatedRow, ...]:
    """The rows that count in summaries, as predicted without their source."""
    status = RowStatus(RowUse.PREDICTED_WITHOUT_SOURCE)
    found = []
    for row in rows:
        triple = checks.by_source.get(row.id)
        if triple is not None and is_meant(row):
            found.append(replace(row, estimate=Estimate(*np.array(triple)), status=status))
    return tuple(found)


def _figures(
    rows: tuple[Observation, ...], seen: list[ValidatedRow], unseen: tuple[ValidatedRow, ...], checks: CrossValidation
) -> tuple[AccuracyTarget, ...]:
    named = {row.id for row in rows if is_rate(row) and row.dnn and row.gpu and precision_of(row)}
    rates = [row for row in seen if row.id in named]
    fitted = [abs(row.log_error) for row in rates if row.log_error is not None and row.status == CALIBRATED]
    fitted_ids = {row.id for row in rates if row.status == CALIBRATED}
    strangers = [row for row in unseen if row.id in fitted_ids]
    errors = [abs(row.log_error) for row in strangers if row.log_error is not None]
    inside = [bool(row.is_covered) for row in strangers]
    times = [abs(row.log_error) for row in seen if row.quantity == "time_to_train_s" and row.log_error is not None]
    hosts = [row for row in unseen if row.task == "preprocess" and row.log_error is not None]
    host_errors = [abs(row.log_error) for row in hosts if row.log_error is not None]
    host_inside = [bool(row.is_covered) for row in hosts]
    series, larger = (np.abs(list(found.values())) for found in (checks.by_series, checks.scale_out))
    predicted = [row.predicted is not None for row in rates]
    return (
        _figure("rates-predicted", np.mean, predicted, 0.95, 1.0),
        _figure("in-sample-median", np.median, fitted, 0.0, 0.03),
        _figure("in-sample-p90", partial(np.quantile, q=0.9), fitted, 0.0, 0.12),
        # Rows of MLPerf v0.7 are harder than those before, of which 5.9 % and 10.9 % are reached: BERT has no others.
        _figure("held-out-series-median", np.median, series, 0.0, 0.061),
        _figure("held-out-source-median", np.median, errors, 0.0, 0.112),
        _figure("held-out-clusters-median", np.median, larger, 0.0, 0.07),
        _figure("held-out-source-coverage", np.mean, inside, 0.85, 0.96),
        _figure("time-to-train-median", np.median, times, 0.0, 0.10),
        _figure("host-source-median", np.median, host_errors, 0.0, 0.40),
        _figure("host-source-coverage", np.mean, host_inside, 0.85, 1.0),
    )


def _figure(
    measure: str, statistic: Callable[[Any], Any], values: Sequence[float] | Floats, low: float, high: float
) -> AccuracyTarget:
    if not len(values):
        raise CalibrationError(f"no observation shows the accuracy measure {measure}")
    return AccuracyTarget(measure, float(statistic(values)), low, high, len(values))


def is_meant(row: ValidatedRow) -> bool:
    """Whether a row counts in summaries."""
    return row.predicted is not None and row.status.use is not RowUse.EXCLUDED


def summarise(name: str, rows: Sequence[ValidatedRow], only_meant: bool = True) -> Summary:
    """Accuracy of some rows; those that the fit leaves out for a reason count as rows only."""
    rated = [row for row in rows if (is_meant(row) if only_meant else row.predicted is not None)]
    errors = np.array([row.log_error for row in rated if row.log_error is not None])
    covered = [row.is_covered for row in rated if row.is_covered is not None]
    found = Summary(name, len(rows), len(rated), judged_rows=len(covered))
    if covered:
        found = replace(found, coverage=float(np.mean(covered)))
    if not len(errors):
        return found
    middle, outer = float(np.median(np.abs(errors))), float(np.quantile(np.abs(errors), 0.9))
    return replace(found, median_error=middle, p90_error=outer, bias=float(np.median(errors)))


def summaries(
    rows: Iterable[ValidatedRow], key: Callable[[ValidatedRow], str], only_meant: bool = True
) -> tuple[Summary, ...]:
    """Accuracy of each group of rows, by name."""
    groups: dict[str, list[ValidatedRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return tuple(summarise(name, groups[name], only_meant) for name in sorted(groups))
