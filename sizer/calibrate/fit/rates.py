"""Observations of rates and of all-reduces as blocks of the joint fit; speed-ups as pairs of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Floats
from sizer.calibrate.cases import RateCase, is_known_link, link_level, observed_link_bytes_per_s, resolve, runs_of
from sizer.calibrate.engine import Effect, ErrorStatistics, Fit, FittedRows, Law, Problem
from sizer.calibrate.fit.joint import MAD_TO_SD, MIN_SCATTER_LOG_SD, FitBlock, JointFit
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import INTRA_LINKS, Observation
from sizer.calibrate.parameters import active_effects, prior_of
from sizer.calibrate.rules import exclusion_of, speedup_base, stated_of, stated_rows
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.perf.exchange import (
    bus_bytes_per_s,
    hierarchical_allreduce_time_s,
)
from sizer.perf.step_terms import INTER, INTRA, OVERLAP, SCALE_OUT, STRAGGLER, TERM_NAMES, log_slopes
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S

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
    bases = {place: base for place, base in enumerate(over) if base is not None}
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
                one = ErrorStatistics.of(self.errors[mine], sd[mine])
                found[task] = {
                    "rows": one.rows,
                    "median_error": one.median,
                    "p90_error": one.p90,
                    "coverage": one.coverage,
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
        found: list[Effect] = []
        if self.n_gpus_per_server > 1:
            found.append((INTRA, f"intra:{self.intra_link}", 1.0))
        if self.n_servers > 1:
            found += [
                (INTER, f"inter:{self.inter_link.partition('/')[2]}", 1.0),
                (INTER, f"inter-link:{self.inter_link}", 1.0),
                (INTER, f"inter-site:{self.row.source}", 1.0),
            ]
        return tuple(found)

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
