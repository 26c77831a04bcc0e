"""The joint fit of V100 systems: every kind of observation in one vector of parameters, with one covariance."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import (
    Levels,
    RateCase,
    active_effects,
    exclusion_of,
    generation,
    is_known_link,
    link_level,
    observed_link_bytes_per_s,
    prior_of,
    resolve,
    rules,
    runs_of,
    speedup_base,
    stated_of,
    stated_rows,
)
from sizer.calibrate.engine import Effect, ErrorStatistics, Fit, FittedRows, Law, Problem
from sizer.calibrate.fit.hosts import (
    bound_rows,
    cache_positions,
    cache_row_position,
    epochs_names,
    host_rows,
    public_runs,
    recipe_points,
    row_log_sd,
    stack_scatter,
)
from sizer.calibrate.gpu_memory import fit_memory, load_memory_rows, measured_rows, telling
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import INTRA_LINKS, Observation, load_observations, observations_digest
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Recipe
from sizer.perf.exchange import (
    bus_bytes_per_s,
    hierarchical_allreduce_time_s,
)
from sizer.perf.step_terms import INTER, INTRA, OVERLAP, SCALE_OUT, STRAGGLER, TERM_NAMES, log_slopes
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S

# Scatter of a row with which the fit starts; later passes use the scatter that the one before finds.
_FIRST_SIGMA = 0.06
_SCATTER_PASSES = 3
# Rates are printed to three digits, but runs of one set-up differ by some per cent; a smaller scatter would only say
# that a block has about as many parameters as rows.
MIN_SCATTER_LOG_SD = 0.022
# Fits in which the medians of draws, not the rates at the fitted parameters, come to meet the measurements.
_CENTRING_PASSES = 2
_CENTRING_PAIRS = 256
# Ratio of the standard deviation of a normal distribution to its median absolute deviation.
MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class FitBlock(FittedRows):
    """Rows of one kind, each with its id and source; a scatter of NaN is estimated from the residuals of the kind."""

    kind: str  # name under which the scatter is kept
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    is_drawn: bool = False  # answers take the median of draws, not the value at the parameters


@dataclass(frozen=True)
class JointFit:
    """Result of the joint fit."""

    problem: Problem  # measured: what each row asks of the rate at the parameters, for the median of draws to be right
    fit: Fit
    blocks: tuple[FitBlock, ...]
    scatter_log_sd: dict[str, float]  # within a source, by kind

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(name for block in self.blocks for name in block.ids)

    @property
    def sources(self) -> NDArray[np.str_]:
        return np.array([source for block in self.blocks for source in block.sources])

    @property
    def kinds(self) -> NDArray[np.str_]:
        return _by_row(self.blocks, [block.kind for block in self.blocks])

    def without(self, out: Bools) -> Fit:
        """The fit to the rows outside ``out`` alone."""
        return self.problem.without(self.fit, out)

    def errors(self, fit: Fit, rows: Bools | slice = slice(None)) -> tuple[Floats, Floats]:
        """Logarithms of some rows, measured less the median of draws by a fit, and their variance by the effects."""
        logs, derivative = self.problem(fit.values)
        return (self.problem.measured - logs)[rows], fit.variance(derivative[rows].toarray())


def fit_joint(blocks: Sequence[FitBlock]) -> JointFit:
    """Fit all blocks at once.

    Raises CalibrationError if there are no rows or the fit does not converge.

    A rate is no linear function of its parameters, so the median of draws around the most probable ones differs from
    the rate at them: 2 % below where hundreds of GPUs wait for one another. What the data say is the rate, so the
    normal distribution of the parameters is moved until the medians meet the measurements (the mean of a variational
    posterior), and every answer, which is a median of draws, is free of that bias.
    """
    used = tuple(block for block in blocks if block.ids)
    if not used:
        raise CalibrationError("no usable observation: nothing to calibrate on")
    problem = Problem(used, prior_of)
    kinds = _by_row(used, [block.kind for block in used])
    measured, given = problem.measured, problem.sigma
    sigma, start = np.where(np.isnan(given), _FIRST_SIGMA, given), problem.mean
    for _ in range(_SCATTER_PASSES):
        problem = problem.with_rows(measured, sigma)
        fit = problem.fit(start)
        scatter = _within_scatter(problem, fit, kinds)
        found = np.array([scatter[kind] for kind in kinds])
        sigma, start = np.where(np.isnan(given), found, given), fit.values
    is_drawn = _by_row(used, [block.is_drawn for block in used])
    for _ in range(_CENTRING_PASSES if is_drawn.any() else 0):
        problem = problem.with_rows(measured - _median_shift(problem, fit, is_drawn), sigma)
        fit = problem.fit(fit.values)
    return JointFit(problem, fit, used, scatter)


def _by_row(blocks: Sequence[FitBlock], values: Sequence[str | bool]) -> NDArray[Any]:
    return np.repeat(np.array(values), [len(block.ids) for block in blocks])


def _median_shift(problem: Problem, fit: Fit, is_drawn: NDArray[np.bool_]) -> Floats:
    """(rows) median of draws of the parameters less the value at them, where answers take that median."""
    normal = np.random.default_rng(0).standard_normal((_CENTRING_PAIRS, len(fit.values)))
    steps = normal @ np.linalg.cholesky(fit.covariance(fit.names)).T
    drawn = [problem.logs(fit.values + sign * step)[is_drawn] for step in steps for sign in (1, -1)]
    shift = np.zeros(len(problem.measured))
    shift[is_drawn] = np.median(drawn, axis=0) - problem.logs(fit.values)[is_drawn]
    return shift


def _within_scatter(problem: Problem, fit: Fit, kinds: NDArray[np.str_]) -> dict[str, float]:
    """Robust standard deviation of the residuals by kind, with the freedom that the parameters took given back."""
    residuals = problem.measured - problem.logs(fit.values)
    # Share of each parameter that the data determined rather than its prior, summed.
    taken = float((1 - fit.sd**2 / problem.sd**2).sum())
    n = len(residuals)
    freedom = np.sqrt(n / max(n - taken, 0.1 * n))
    found = {}
    for kind in np.unique(kinds):
        spread = float(MAD_TO_SD * np.median(np.abs(residuals[kinds == kind])) * freedom)
        found[str(kind)] = max(MIN_SCATTER_LOG_SD, spread)
    return found


START_UP, EVALUATIONS = "run-start-up:all", "run-evaluations:all"
# Data sets whose samples the public runs use whole; of others a fitted share.
_WHOLE_SETS = ("resnet50", "ssd-resnet34", "mask-rcnn")
_CACHE_LOG_SD = 0.1  # misses are printed in whole per cent
_EPOCHS_LOG_SD = 0.05  # counts lie on a grid of evaluations


def host_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Lines and factors of the host's work: every observation of it, and what runs say that it cannot exceed."""
    used = host_rows(rows, catalog) + bound_rows(rows, catalog)
    y = np.log([one.core_s for one in used])
    size = np.array([one.sample_bytes for one in used])
    is_bound = np.array([one.is_bound for one in used])
    has_fixed = np.array([float(one.task.has_fixed_part) for one in used])

    def law(terms: Floats) -> tuple[Floats, Floats]:
        fixed, grown = has_fixed * np.exp(terms[:, 0]), np.exp(terms[:, 1]) * size
        slopes = np.stack([fixed / (fixed + grown), grown / (fixed + grown), np.ones_like(size)], axis=1)
        work = np.log(fixed + grown) + terms[:, 2]
        # Below its bound a row says nothing.
        is_silent = is_bound & (work < y)
        slopes[is_silent] = 0.0
        return np.where(is_silent, y, work), slopes

    return FitBlock(
        effects=[
            [(0, one.task.fixed, 1.0), (1, one.task.per_byte, 1.0), *((2, name, 1.0) for name in one.task.factors)]
            for one in used
        ],
        law=law,
        measured=y,
        n_terms=3,
        sigma=np.array([row_log_sd(one.row) for one in used]),
        kind="host",
        ids=tuple(f"{one.row.id}#most" if one.is_bound else one.row.id for one in used),
        sources=tuple(one.row.source for one in used),
    )


def cache_block(rows: tuple[Observation, ...]) -> FitBlock:
    """Position of a page cache between never hitting and never evicting, by access pattern.

    Raises CalibrationError if no row shows an access pattern.
    """
    by_id = {row.id: row for row in rows}
    access_rows = rules("cache_rows")
    shown = [(access, by_id[name]) for access, names in access_rows.items() for name in names if name in by_id]
    missing = [access for access in access_rows if access not in {one for one, _ in shown}]
    if missing:
        raise CalibrationError(
            f"no observation shows a page cache at {missing[0]} access; one of {', '.join(access_rows[missing[0]])} "
            "is needed"
        )
    return FitBlock(
        effects=[[(0, f"cache-position:{access}", 1.0)] for access, _ in shown],
        law=lambda terms: (terms[:, 0], np.ones_like(terms)),
        measured=np.log([cache_row_position(row) for _, row in shown]),
        n_terms=1,
        sigma=_CACHE_LOG_SD,
        kind="cache",
        ids=tuple(row.id for _, row in shown),
        sources=tuple(row.source for _, row in shown),
    )


def epochs_block(recipe: Recipe) -> FitBlock:
    """Epochs of one recipe: flat, then growing; a lone point is taken as it is."""
    points = recipe_points(recipe)
    batch, epochs = np.array(points).T

    def law(terms: Floats) -> tuple[Floats, Floats]:
        base, double, growth = np.exp(terms).T * np.array([[epochs.min()], [batch.max()], [1.0]])
        ratio = np.log(batch / double)
        grown = np.exp(growth * ratio)
        share = grown / (1 + grown)
        slopes = np.stack([np.ones_like(batch), -growth * share, share * ratio * growth], axis=1)
        return np.log(base * (1 + grown)), slopes

    return FitBlock(
        effects=[[(term, name, 1.0) for term, name in enumerate(epochs_names(recipe))]] * len(points),
        law=law,
        measured=np.log(epochs),
        n_terms=3,
        sigma=_EPOCHS_LOG_SD,
        kind="epochs",
        ids=tuple(f"{recipe.id}@{point.global_batch:g}#{i}" for i, point in enumerate(recipe.points)),
        sources=tuple(point.source for point in recipe.points),
    )


def run_block(rows: tuple[Observation, ...], catalog: Catalog) -> FitBlock:
    """Start-up and evaluations of the public runs, from their times, epochs and rates."""
    runs = public_runs(rows, catalog)
    named = (run.row.dnn for run in runs)
    samples: list[list[Effect]] = [[] if dnn in _WHOLE_SETS else [(2, f"epoch-samples:{dnn}", 1.0)] for dnn in named]
    steady_s = np.array([run.epochs * run.n_samples / run.samples_per_s for run in runs])

    def law(terms: Floats) -> tuple[Floats, Floats]:
        start, share, used = np.exp(terms[:, 0]), np.exp(terms[:, 1]), steady_s * np.exp(terms[:, 2])
        total = start + used * (1 + share)
        return np.log(total), np.stack([start, used * share, used * (1 + share)], axis=1) / total[:, None]

    return FitBlock(
        effects=[[(0, START_UP, 1.0), (1, EVALUATIONS, 1.0), *own] for own in samples],
        law=law,
        measured=np.log([run.row.value for run in runs]),
        n_terms=3,
        sigma=np.nan,
        kind="run",
        ids=tuple(run.row.id for run in runs),
        sources=tuple(run.row.source for run in runs),
    )


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
    k, runs = len(TERM_NAMES), runs_of(cases)
    bases = {index: base for index, base in enumerate(over) if base is not None}
    places, below = list(bases), runs_of(list(bases.values())) if bases else None

    def log_rates(terms: Floats) -> Floats:
        logs = np.log(runs.samples_per_s(terms[..., :k]))
        if below is not None:
            logs[..., places] -= np.log(below.samples_per_s(terms[..., places, k:]))
        return logs

    return lambda terms: (log_rates(terms), log_slopes(log_rates, terms))


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


_EXCHANGE = (INTRA, INTER, OVERLAP, STRAGGLER, SCALE_OUT)
# Speed-ups are printed to three digits, as are the rates that they are quotients of.
_SCATTER_LOG_SD = float(np.sqrt(2)) * MIN_SCATTER_LOG_SD


def fit_scaling(pairs: tuple[tuple[RateCase, RateCase], ...], joint: Fit) -> tuple[frozenset[str], Fit]:
    """Fit speed-ups by the effects that the joint fit does not have; those that it has keep their values.

    ``pairs``: the run of every speed-up, and the run that it is over. Returns the speed-ups that it is fitted to, and
    the joint fit with the effects that they tell.

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


# Nearly every stack of the observations comes from one source, so leaving sources out cannot tell how far two
# laboratories with one stack disagree: the spread of stacks takes that up. Releases that several laboratories printed
# at full batch differ by 3 % (MXNet 20.03 against 20.12, PyTorch 19.05 against 20.03) to 6 % (TensorFlow 20.03 with
# XLA, 1,199 images/s, against 19.07, 1,249 to 1,336): the least of that is assumed at least.
MIN_BETWEEN_LOG_SD = 0.03


@dataclass(frozen=True)
class Unseen:
    """Rates predicted by fits that had not seen their source. Arrays over rates, of logarithms."""

    kinds: NDArray[np.str_]
    errors: Floats
    variances: Floats  # by the parameters
    scatter: Floats  # standard deviation within a source

    @property
    def tau2(self) -> float:
        """max(0, variance of the errors - mean parameter variance - scatter), medians against outliers."""
        spread = (MAD_TO_SD * np.median(np.abs(self.errors))) ** 2
        beyond = spread - np.median(self.variances) - np.median(self.scatter**2)
        return float(max(MIN_BETWEEN_LOG_SD**2, beyond))

    def by_task(self) -> dict[str, dict[str, float]]:
        """Rows, median and 90th percentile of the error, and coverage of the 90 % interval, by task."""
        found = {}
        sd = np.sqrt(self.variances + self.scatter**2 + self.tau2)
        for task in RATE_TASKS:
            mine = self.kinds == task
            if mine.any():
                statistics = ErrorStatistics.of(self.errors[mine], sd[mine])
                found[task] = {
                    "rows": statistics.rows,
                    "median_error": statistics.median,
                    "p90_error": statistics.p90,
                    "coverage": statistics.coverage,
                }
        return found


def leave_sources_out(fit: JointFit) -> Unseen:
    """Every rate, predicted by a fit without its source."""
    kinds, sources = fit.kinds, fit.sources
    is_rate = np.isin(kinds, RATE_TASKS)
    errors, variances = np.zeros(len(kinds)), np.zeros(len(kinds))
    for source in np.unique(sources[is_rate]):
        out = sources == source
        errors[out], variances[out] = fit.errors(fit.without(out), out)
    return Unseen(kinds[is_rate], errors[is_rate], variances[is_rate], fit.problem.sigma[is_rate])


# Below this size latency sets the time of an all-reduce, and tuning constants of the library stand for it.
MIN_MESSAGE_BYTES = 16e6
# Size of a plateau that a source prints without the message: far beyond latency.
_PLATEAU_BYTES = 1e9
_QUANTITIES = ("bus_bytes_per_s", "algorithm_bytes_per_s", "all_reduce_time_s")


@dataclass(frozen=True)
class AllReduce:
    """One measured all-reduce. Counts [-], sizes [B], rates [B/s]."""

    row: Observation
    message_bytes: float
    n_gpus_per_server: int
    n_servers: int
    intra_link: str
    inter_link: str
    line_bytes_per_s: float  # all NICs of one server; 1 on one server

    def effects(self) -> tuple[Effect, ...]:
        """Parameters that its rate depends on."""
        effects: list[Effect] = []
        if self.n_gpus_per_server > 1:
            effects.append((INTRA, f"intra:{self.intra_link}", 1.0))
        if self.n_servers > 1:
            effects += [
                (INTER, f"inter:{self.inter_link.partition('/')[2]}", 1.0),
                (INTER, f"inter-link:{self.inter_link}", 1.0),
                (INTER, f"inter-site:{self.row.source}", 1.0),
            ]
        return tuple(effects)

    def log_printed(self, terms: Floats) -> Floats:
        """Logarithm of the printed quantity, shape (...) for terms of shape (..., k)."""
        size, gpus = self.message_bytes, self.n_gpus_per_server
        intra, inter = np.exp(terms[..., INTRA]), self.line_bytes_per_s * np.exp(terms[..., INTER])
        time_s = hierarchical_allreduce_time_s(size, gpus, self.n_servers, intra, inter, INTRA_HOP_S, INTER_HOP_S)
        if self.row.quantity == "all_reduce_time_s":
            return np.log(time_s)
        if self.row.quantity == "algorithm_bytes_per_s":
            return np.log(size / time_s)
        return np.log(bus_bytes_per_s(size, gpus * self.n_servers, time_s))

    def log_prediction(self, terms: Floats) -> tuple[float, Floats]:
        """Logarithm of the printed quantity, and its derivatives by the terms."""
        return float(self.log_printed(terms)), log_slopes(self.log_printed, terms)


def resolve_all_reduce(row: Observation, links: Mapping[str, LinkType]) -> AllReduce | CalibrationNote:
    """What a row measured, or the reason why it cannot be told."""
    if row.quantity not in _QUANTITIES:
        return note(FitNote.QUANTITY_NOT_MODELLED, row.quantity)
    message = row.extra.get("message_bytes", _PLATEAU_BYTES)
    if isinstance(message, bool) or not isinstance(message, int | float) or not 1 <= message <= 1e13:
        return note(FitNote.MESSAGE_NOT_BYTES)
    if not row.gpus or not row.servers or row.gpus < 2:
        return note(FitNote.COUNTS_NOT_STATED)
    if row.gpus % row.servers:
        return note(FitNote.UNEVEN_GPUS, row.gpus, row.servers)
    if row.servers > 1 and not row.inter_link:
        return note(FitNote.INTER_LINK_NOT_STATED)
    if row.servers > 1 and not is_known_link(row.inter_link, links):
        return note(FitNote.INTER_LINK_UNKNOWN, row.inter_link)
    intra_link = row.intra_link if row.intra_link in INTRA_LINKS else ""
    if row.gpus > row.servers and not intra_link:
        return note(FitNote.INTRA_LINK_UNKNOWN)
    link, line = "", 1.0
    if row.servers > 1:
        link = link_level(row.inter_link)
        line = observed_link_bytes_per_s(row.inter_link, links) * (row.nics_per_server or 1)
    return AllReduce(row, float(message), row.gpus // row.servers, row.servers, intra_link, link, line)


def usable_all_reduces(
    rows: tuple[Observation, ...], links: Mapping[str, LinkType]
) -> tuple[tuple[AllReduce, ...], dict[str, CalibrationNote]]:
    """Bandwidths that the fit uses, and the reason for every one that it excludes."""
    measured: list[AllReduce] = []
    excluded: dict[str, CalibrationNote] = {}
    for row in rows:
        if row.quantity not in _QUANTITIES or row.task != "network":
            continue
        one = resolve_all_reduce(row, links)
        if isinstance(one, CalibrationNote):
            excluded[row.id] = one
        elif (reason := exclusion_of(row)) is not None:
            excluded[row.id] = reason
        elif one.message_bytes < MIN_MESSAGE_BYTES:
            excluded[row.id] = note(FitNote.SMALL_MESSAGE)
        else:
            measured.append(one)
    return tuple(measured), excluded


def network_block(measured: tuple[AllReduce, ...]) -> FitBlock:
    """Logarithm of every printed bandwidth or time."""

    def law(terms: Floats) -> tuple[Floats, Floats]:
        found = [one.log_prediction(row) for one, row in zip(measured, terms, strict=True)]
        values, slopes = zip(*found, strict=True)
        return np.array(values), np.array(slopes)

    return FitBlock(
        effects=[one.effects() for one in measured],
        law=law,
        measured=np.log([one.row.value for one in measured]),
        n_terms=len(TERM_NAMES),
        sigma=np.nan,
        kind="network",
        ids=tuple(one.row.id for one in measured),
        sources=tuple(one.row.source for one in measured),
    )


def _combination(levels: Levels) -> str:
    return f"{levels.stack}/{levels.dnn}/{levels.precision}/{levels.task}"


def calibrate(catalog: Catalog, observations: tuple[Observation, ...] | None = None) -> Calibration:
    """Fit everything to the observations, by default the shipped ones.

    Raises CalibrationError if observations cannot be read or a fit does not hold.
    """
    return calibrate_with_fit(catalog, load_observations() if observations is None else observations)[0]


def calibrate_with_fit(catalog: Catalog, rows: tuple[Observation, ...]) -> tuple[Calibration, JointFit]:
    """:func:`calibrate`, with the fit itself, from which rows can be left out again."""
    cases, excluded_rates = usable_cases(rows, catalog)
    if len(cases) < 2 * len(TERM_NAMES):
        raise CalibrationError(f"{len(cases)} usable rates do not make a calibration; {len(excluded_rates)} excluded")
    all_reduces, excluded_bandwidths = usable_all_reduces(rows, catalog.links)
    recipes = [recipe for recipe in catalog.recipes.values() if recipe.points and catalog.dnns[recipe.dnn].era is None]
    fit = fit_joint(
        [
            *rate_blocks(cases),
            *([network_block(all_reduces)] if all_reduces else []),
            host_block(rows, catalog),
            cache_block(rows),
            run_block(rows, catalog),
            *(epochs_block(recipe) for recipe in recipes),
        ]
    )
    speedups, effects = fit_scaling(usable_speedups(rows, catalog), fit.fit)
    residuals = dict(zip(fit.ids, fit.errors(fit.fit)[0].tolist(), strict=True))
    position = {access: math.exp(effects.value(f"cache-position:{access}")) for access in rules("cache_rows")}
    unseen = leave_sources_out(fit)
    stated = load_memory_rows(catalog)
    most_gpus: dict[str, int] = {}
    batches: dict[str, list[float]] = {}
    for case in cases:
        if case.levels.task == "training":
            most_gpus[case.stack.id] = max(most_gpus.get(case.stack.id, 0), case.n_gpus_per_server * case.n_servers)
        if case.row.batch_per_gpu is not None:
            key = f"{case.dnn.id}/{case.levels.precision}/{case.levels.task}"
            batches.setdefault(key, []).append(case.batch_per_gpu)
    calibration = Calibration(
        digest=observations_digest(rows),
        fit=effects,
        scatter_log_sd=fit.scatter_log_sd,
        tau2=unseen.tau2,
        dnn_families={dnn.id: dnn.family for dnn in catalog.dnns.values()},
        used=frozenset([*(case.row.id for case in cases), *(one.row.id for one in all_reduces), *speedups]),
        rates_of=dict(Counter(_combination(case.levels) for case in cases)),
        rates_with_batch=_rates_with_batch(cases, catalog),
        host_used=frozenset(host_row.row.id for host_row in host_rows(rows, catalog) if not host_row.is_bound),
        host_log_sd=stack_scatter(rows, catalog, residuals),
        cache_positions=cache_positions(rows, position),
        epochs_points={recipe.id: recipe_points(recipe) for recipe in recipes},
        most_gpus=most_gpus,
        batches={key: (min(some), max(some)) for key, some in batches.items()},
        gpu_memory=fit_memory(telling((*stated, *measured_rows(cases, stated)))),
        excluded={**excluded_rates, **excluded_bandwidths},
        unseen_sources=unseen.by_task(),
    )
    return calibration, fit


def _rates_with_batch(cases: tuple[RateCase, ...], catalog: Catalog) -> dict[str, int]:
    """Rates by combination that state their batch, on chips that a server of the catalogue takes."""
    taken = {generation(catalog.gpus[gpu]) for server in catalog.servers.values() for gpu in server.gpus}
    return dict(
        Counter(
            _combination(case.levels)
            for case in cases
            if case.row.batch_per_gpu is not None and case.levels.generation in taken
        )
    )
