"""Prediction of one published observation by the code that sizes clusters."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import Case, CaseArrays, Levels, link_level, observed_link_bytes_per_s, resolve
from sizer.calibrate.hosts import IMAGENET_BYTES, host_cores
from sizer.calibrate.observations import Observation
from sizer.calibrate.rules import left_out_reason
from sizer.calibrate.runs import CACHE_ROWS, dnn_samples
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe
from sizer.perf.caches import hit_fraction
from sizer.perf.exchange import bus_bytes_per_s as bus_rate
from sizer.perf.exchange import hierarchical_allreduce_time_s
from sizer.perf.preprocess import core_seconds_per_sample, cpu_utilization_fraction, decode_samples_per_s
from sizer.perf.step import INTER, INTER_HOP_S, INTRA, INTRA_HOP_S, TERM_NAMES, StepRate, StepTerms

Floats = NDArray[np.float64]

CALIBRATED = "calibrated on"
PREDICTED = "predicted"

# GPU that stands for one whose form factor is not stated widens the interval by what separates the forms (clocks).
_ALIAS_LOG_SD = 0.05
# Speed-ups over one GPU (the notes say so), and over what else where the base is clear: row -> GPUs of the base.
_SPEEDUP_OVER_ONE = (
    "rs-scaling32-",
    "p100-nvcaffe-googlenet-speedup4",
    "p100-tf-inception3-speedup4",
    "p100-mxnet-inceptionbn-speedup16",
    "sus-c4130-p100-node-eff",
    "sog-c4140m-resnet50-in-node",
    "hfu-16gpu",
    "hvd-512g-",
)


@dataclass(frozen=True)
class _Context:
    catalog: Catalog
    calibration: Calibration
    rates: dict[str, Observation]
    epochs: dict[str, float]


def predict(
    row: Observation, catalog: Catalog, calibration: Calibration, rows: tuple[Observation, ...] = ()
) -> tuple[Estimate | None, str]:
    """What the model says about an observation.

    Parameters
    ----------
    row : Observation
        Any row.
    catalog : Catalog
        Where its names are looked up.
    calibration : Calibration
        Fitted values.
    rows : tuple of Observation
        All rows, for those that need another number of the same run (its rate, its epochs).

    Returns
    -------
    tuple of Estimate or None and str
        Prediction in the unit of the row, and a status: ``calibrated on``, ``predicted``, or why there is none.
    """
    context = _Context(
        catalog,
        calibration,
        {one.id: one for one in rows if one.quantity == "samples_per_s"},
        {one.id.split("/")[0]: one.value for one in rows if one.quantity in ("epochs", "epochs_to_target")},
    )
    return _predict(row, context)


def predict_all(
    rows: tuple[Observation, ...], catalog: Catalog, calibration: Calibration
) -> list[tuple[Estimate | None, str]]:
    """:func:`predict` of every row."""
    rates = {one.id: one for one in rows if one.quantity == "samples_per_s"}
    epochs = {one.id.split("/")[0]: one.value for one in rows if one.quantity in ("epochs", "epochs_to_target")}
    context = _Context(catalog, calibration, rates, epochs)
    return [_predict(row, context) for row in rows]


def _predict(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    by_quantity = {
        "samples_per_s": _rate,
        "storage_bytes_per_s": _storage,
        "cpu_utilization_fraction": _cpu,
        "epochs_to_target": _epochs,
        "time_to_train_s": _time,
        "run_time_s": _time,
        "speedup": _speedup,
        "cache_miss_fraction": _cache_miss,
        "bus_bytes_per_s": _bus,
    }
    function = by_quantity.get(row.quantity)
    if function is None:
        return None, f"not modelled: {row.quantity}"
    return function(row, context)


def _terms(case: Case, context: _Context) -> StepTerms:
    alias = _ALIAS_LOG_SD if case.row.gpu != case.gpu.id else 0.0
    return context.calibration.terms_of(case.levels, extra_log_sd=alias)


def _step_rate(case: Case, context: _Context) -> StepRate:
    rate = CaseArrays.of([case])
    terms = _terms(case, context)
    return rate.rate(StepTerms(terms.values[None], terms.covariance[None], terms.scatter_log_sd[None], terms.notes))


def _rate(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    if row.task not in ("training", "inference"):
        return None, f"not modelled: rate of task {row.task}"
    case, reason = resolve(row, context.catalog, for_fit=False)
    if case is None:
        return None, f"outside: {reason}"
    estimate = _limited_by_host(case, _step_rate(case, context).total[0], context)
    if row.id in context.calibration.used:
        return estimate, CALIBRATED
    left_out = left_out_reason(row)
    # A rate that the host sets is described by the fit of the host's work, where the server's cores are known.
    if row.id in context.calibration.host_used and host_cores(row, context.catalog) is not None:
        return estimate, f"{CALIBRATED} (host decode)"
    return estimate, f"left out of the fit: {left_out}" if left_out else PREDICTED


def _limited_by_host(case: Case, rate: Estimate, context: _Context) -> Estimate:
    """The smaller of the GPUs' rate and what the host can decode, where the server is known and data are real."""
    row = case.row
    cores = host_cores(row, context.catalog)
    if row.data != "real" or row.loader not in ("framework", "dali", "dali-cpu") or cores is None:
        return rate
    if case.dnn.sample != "image" or row.task != "training":
        return rate
    host = _host_rate(case, cores, context)
    return host if host.value < rate.value else rate


def _host_rate(case: Case, cores: float, context: _Context) -> Estimate:
    fixed, per_byte, sd, _ = context.calibration.decode_terms(case.row.loader, case.stack.framework, case.stack.id)
    work = core_seconds_per_sample(case.row.sample_bytes or IMAGENET_BYTES, fixed, per_byte)
    return Estimate.log_normal(decode_samples_per_s(cores, work), sd)


def _run_rate(row: Observation, context: _Context) -> Observation | None:
    stem = row.id.split("/")[0]
    found = context.rates.get(stem) or context.rates.get(f"{stem}-derived-rate")
    if found is None and row.task == "training" and row.gpus:
        return replace(row, quantity="samples_per_s", value=1.0)  # the rate is not printed, the run is described
    return found


def _storage(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    run = _run_rate(row, context)
    if run is None or run.task not in ("training", "inference"):
        return None, "not modelled: rate of a storage system alone; the catalogue carries it"
    size = row.sample_bytes or run.sample_bytes
    if size is None:
        return None, "outside: bytes of a sample not stated"
    rate, status = _rate(run, context)
    return (None, status) if rate is None else (_times(rate, size), status)


def _cpu(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    run, cores = _run_rate(row, context), host_cores(row, context.catalog)
    if run is None:
        run = _published_rate(row, context)
    if run is None or cores is None:
        return None, "outside: rate or cores of the run not known"
    case, reason = resolve(replace(row, quantity="samples_per_s"), context.catalog, for_fit=False)
    if case is None:
        return None, f"outside: {reason}"
    fixed, per_byte, sd, _ = context.calibration.decode_terms(row.loader, case.stack.framework, case.stack.id)
    work = core_seconds_per_sample(row.sample_bytes or IMAGENET_BYTES, fixed, per_byte)
    busy = cpu_utilization_fraction(run.value, work, cores)
    return Estimate.log_normal(busy, sd), CALIBRATED


def _published_rate(row: Observation, context: _Context) -> Observation | None:
    """Rate of the same DNN on the same server and source, where it is printed once."""
    same = [
        one
        for one in context.rates.values()
        if (one.source, one.dnn, one.server, one.gpus, one.servers)
        == (row.source, row.dnn, row.server, row.gpus, row.servers)
        and one.task in ("training", "preprocess")
    ]
    return same[0] if same else None


def _recipe(row: Observation, catalog: Catalog) -> Recipe | None:
    for recipe in catalog.recipes.values():
        if recipe.dnn == row.dnn and any(point.source == row.source for point in recipe.points):
            return recipe
    return None


def _epochs(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    recipe = _recipe(row, context.catalog)
    if recipe is None:
        return None, "outside: no recipe of the catalogue"
    if not row.batch_per_gpu or not row.gpus:
        return None, "outside: global batch not stated"
    return context.calibration.epochs(recipe, row.batch_per_gpu * row.gpus), CALIBRATED


def _time(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    samples = dnn_samples(context.catalog).get(row.dnn)
    if row.dnn in ("resnet101", "resnet152"):
        samples = dnn_samples(context.catalog).get("resnet50")  # ImageNet, too
    if samples is None:
        return None, "outside: data set of the run not known"
    if row.quantity == "time_to_train_s":
        epochs, status = _epochs(row, context)
        if epochs is None:
            return None, status
    elif row.id.split("/")[0] in context.epochs:
        epochs = Estimate.exact(context.epochs[row.id.split("/")[0]])
    else:
        return None, "outside: epochs of the run not stated"
    run = _run_rate(row, context)
    if run is None:
        return None, "outside: run not described"
    if left_out_reason(run):
        return None, f"outside: {left_out_reason(run)}"
    rate, status = _rate(run, context)
    if rate is None:
        return None, status
    overhead = context.calibration.overhead
    steady = float(epochs.value) * samples / float(rate.value) * (1 + overhead.share)
    sd = math.sqrt(float(epochs.log_sd) ** 2 + float(rate.log_sd) ** 2 + overhead.log_sd**2)
    # Rate and epochs are fitted to rows of the same runs, the time itself is not.
    return Estimate.log_normal(steady + overhead.start_up_s, sd), PREDICTED


def _speedup(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    if row.task != "training" or not row.id.startswith(_SPEEDUP_OVER_ONE):
        return None, "outside: speed-up over something that the row does not describe"
    case, reason = resolve(replace(row, quantity="samples_per_s"), context.catalog, for_fit=False)
    if case is None:
        return None, f"outside: {reason}"
    one = replace(case, n_gpus_per_server=1, n_servers=1)
    terms = _terms(case, context)
    rate = CaseArrays.of([case, one]).rate(
        StepTerms(
            np.stack([terms.values] * 2),
            np.stack([terms.covariance] * 2),
            np.stack([terms.scatter_log_sd] * 2),
        )
    )
    # Both runs share their terms: the ratio varies with the difference of the derivatives only. How a release scales
    # differs between laboratories as its rate does.
    slope = np.zeros(len(TERM_NAMES))
    for term, both in rate.total_gradient.items():
        slope[term] = both[0] - both[1]
    within = context.calibration.scatter_log_sd["training"]
    sd = math.sqrt(float(slope @ terms.covariance @ slope) + 2 * within**2 + context.calibration.tau2)
    return Estimate.log_normal(rate.total.value[0] / rate.total.value[1], sd), PREDICTED


def _cache_miss(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    access = next((name for name, ids in CACHE_ROWS.items() if row.id in ids), None)
    if access is None:
        return None, "outside: an ideal cache, or access pattern not stated"
    position, sd = context.calibration.cache_position(access, "page-cache")
    cached = float(row.extra["cache_pct"]) / 100
    # 90 % interval of the position carried through the law, which is monotone.
    low, middle, high = (
        1 - hit_fraction(cached, min(1.0, max(1e-3, position + shift * 1.645 * sd))) for shift in (1, 0, -1)
    )
    return Estimate(middle, low, high), CALIBRATED


def _bus(row: Observation, context: _Context) -> tuple[Estimate | None, str]:
    message = row.extra.get("message_bytes")
    if not isinstance(message, int | float) or not row.gpus or not row.servers:
        return None, "outside: message, ranks or servers not stated"
    if row.servers > 1 and not row.inter_link:
        return None, "outside: link between the servers not stated"
    if row.inter_link.endswith("-efa"):
        return None, "outside: a cloud's own transport, not in the catalogue"
    levels = Levels(
        "training",
        "fp32",
        "",
        "",
        "",
        "",
        row.gpu,
        row.intra_link,
        link_level(row.inter_link) if row.servers > 1 else "",
    )
    try:
        line = observed_link_bytes_per_s(row.inter_link) * (row.nics_per_server or 1) if row.servers > 1 else 1.0
    except ValueError as error:
        return None, f"outside: {error}"
    terms = context.calibration.terms_of(levels)
    intra, inter = np.exp(terms.values[[INTRA, INTER]])
    g = row.gpus // row.servers

    def bus(intra: float, inter: float) -> float:
        time_s = hierarchical_allreduce_time_s(
            float(message), g, row.servers or 1, intra, line * inter, INTRA_HOP_S, INTER_HOP_S
        )
        return float(bus_rate(float(message), row.gpus or 1, time_s))

    middle = bus(intra, inter)
    slope = np.log([bus(intra * 1.01, inter) / middle, bus(intra, inter * 1.01) / middle]) / math.log(1.01)
    variance = slope @ terms.covariance[np.ix_([INTRA, INTER], [INTRA, INTER])] @ slope
    return Estimate.log_normal(middle, math.sqrt(float(variance) + 0.1**2)), PREDICTED


def _times(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.value * factor, estimate.low * factor, estimate.high * factor, estimate.warnings)
