"""Goodput: the share of its time that a synchronous job computes what it need not compute again; Erlang's formulas.

A job on many servers stops whenever one of them fails, goes back to its last checkpoint, and starts again. Failures are
taken as a Poisson process (J. T. Daly, A higher order estimate of the optimum checkpoint interval, 2006).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_at_least

# A sum of a Poisson distribution this small says that the load is over 30 standard deviations above the places.
_LEAST_SUM = 1e-250
_FRACTION_TERMS = 20


def erlang_b(n_places: ArrayLike, load: ArrayLike) -> Floats:
    """Share of the arrivals that find all places taken, where they go away instead of waiting.

    ``n_places`` (...): places c, 0 or more.
    ``load`` (...): offered load a: arrivals in a mean stay [erlang].
    Returns (...): b(c, a).
    Raises ValueError if a count or a load is below 0.

    B = a^c exp(-a) / G(c + 1, a), with the upper incomplete gamma function G [1]_. Where G is too small for a float,
    the load is far above the places, and Legendre's continued fraction of G converges within a few terms.

    References
    ----------
    .. [1] D. L. Jagerman, "Some properties of the Erlang loss function," Bell Syst. Tech. J. 53(3):525-551, 1974.

    Examples
    --------
    >>> erlang_b([0, 1, 2], 1.0)
    array([1. , 0.5, 0.2])
    """
    places, a = np.broadcast_arrays(np.asarray(n_places, float), np.asarray(load, float))
    require_at_least(0, n_places=places, load=a)
    # Here, because it takes a third of a second, and few answers have a queue.
    from scipy.special import gammaincc, gammaln, xlogy

    at_most = gammaincc(places + 1, a)  # of Poisson arrivals with mean a, that c at most come
    has_sum = at_most > _LEAST_SUM
    log_share = xlogy(places, a) - a - gammaln(places + 1) - np.log(np.where(has_sum, at_most, 1.0))
    far = np.where(has_sum, places + 1, a)  # any load above the places; used where has_sum is false
    fraction = np.zeros(places.shape)
    for k in range(_FRACTION_TERMS, 0, -1):
        fraction = k * (k - places - 1) / (far + 2 * k - places - fraction)
    return np.asarray(np.where(has_sum, np.minimum(np.exp(log_share), 1.0), (far - places - fraction) / far))


DAY_S = 86_400.0
# Interruptions for 1,000 days of a server with 8 GPUs: median and 90 % interval. Published: 3.8 (Llama 3 405B, 16,384
# H100), 3.0 (BLOOM, 384 A100), 2.2 (504 B200, GPUs only), 8.5 (about 1,600 H200); OPT-175B's 16 of 2021 lies outside.
INTERRUPTIONS = (4.0, 2.0, 9.0)
GPUS_OF_THE_RATE = 8
GPUS_OF_A_SERVER = 8  # of the published storage levels
# Usable storage planned where a request states none, for homes, data and checkpoints of all who share a cluster: the
# geometric mean of the two leanest of ten built ones, JUPITER (21 PB for 24,000 GPUs, Forschungszentrum Juelich) and
# Kedios (0.59 PB for 256, its build reports); Frontier has 17 TB a GPU (679 PB for 39,424, user guide of Oak Ridge).
# The smallest has 256 GPUs; a quarter of that counts as shared. Both are choices of ours.
USUAL_BYTES_PER_GPU, SHARED_CLUSTER_GPUS = (21e15 / 24_000 * 0.59e15 / 256) ** 0.5, 64
# Until a failure is noticed (1 to 30 min without tooling) and servers are found anew (1 to 10 min): middles by ratio.
NOTICE_S, RESCHEDULE_S = 330.0, 190.0
# First step after the start: logs of MLPerf v5.0 on 64 and 1,024 GPUs, 328 and 400 s.
WARM_UP_S = 365.0


@dataclass(frozen=True)
class StorageLevel:
    """Rates that NVIDIA's DGX SuperPOD reference architecture asks of storage. [B/s]"""

    name: str
    one_server: tuple[float, float]  # read, write
    scalable_unit: tuple[float, float]  # of 32 servers, and in proportion above


STORAGE_LEVELS = (
    StorageLevel("good", (4e9, 2e9), (15e9, 7e9)),
    StorageLevel("better", (8e9, 4e9), (40e9, 20e9)),
    StorageLevel("best", (40e9, 20e9), (125e9, 62e9)),
)
UNIT_SERVERS = 32


def time_between_interruptions(rate: ArrayLike, gpus: ArrayLike) -> Floats:
    """Mean seconds between interruptions of a job.

    ``rate``: interruptions for 1,000 days of 8 GPUs.
    ``gpus``: GPUs of the job.
    """
    return np.asarray(1000 * DAY_S * GPUS_OF_THE_RATE / (np.asarray(rate, float) * np.asarray(gpus, float)))


def goodput(interval_s: ArrayLike, blocked_s: ArrayLike, restart_s: ArrayLike, between_s: ArrayLike) -> Floats:
    """Share of the time that is useful, between 0 and 1.

    ``interval_s``: computing between two checkpoints [s].
    ``blocked_s``: time for which one checkpoint stops the job [s].
    ``restart_s``: from a failure to the first step after it; it can fail again [s].
    ``between_s``: mean time between interruptions [s].

    A piece of ``interval_s`` with its checkpoint takes ``M exp(R / M) (exp((T + C) / M) - 1)`` on average, exactly so
    for exponential times between failures.
    """
    t, c, r, m = (np.asarray(value, float) for value in (interval_s, blocked_s, restart_s, between_s))
    piece = (t + c) / m
    # In logarithms: a piece that is many times as long as the time between failures is never got through.
    log_takes = np.log(m) + r / m + piece + np.log(-np.expm1(-piece))
    return np.asarray(np.exp(np.log(t) - log_takes))


def best_interval(blocked_s: ArrayLike, between_s: ArrayLike) -> Floats:
    """Computing between checkpoints that loses least, by Daly's higher order estimate. [s]

    ``blocked_s``: time for which one checkpoint stops the job [s].
    ``between_s``: mean time between interruptions [s].
    """
    c, m = np.asarray(blocked_s, float), np.asarray(between_s, float)
    share = c / (2 * m)
    short = np.sqrt(2 * c * m) * (1 + np.sqrt(share) / 3 + share / 9) - c
    return np.asarray(np.where(c < 2 * m, short, m))


def servers_of_eight(servers: ArrayLike, gpus_per_server: ArrayLike) -> Floats:
    """Servers as the published levels count them: with 8 GPUs. A rack of 72 counts as nine, a smaller server as one.

    ``servers``: GPU servers.
    ``gpus_per_server``: GPUs of each.
    """
    return np.asarray(np.asarray(servers, float) * np.maximum(np.asarray(gpus_per_server, float) / GPUS_OF_A_SERVER, 1))


def level_rates(name: str, servers: ArrayLike) -> tuple[Floats, Floats]:
    """Read and write rates that the level of a name asks for, by servers. [B/s]

    Between one server and a unit of 32 the need grows in proportion from what one server asks.

    ``name``: of :data:`STORAGE_LEVELS`.
    ``servers``: GPU servers of 8 GPUs, see :func:`servers_of_eight`.
    """
    level = next(one for one in STORAGE_LEVELS if one.name == name)
    units = np.asarray(servers, float) / UNIT_SERVERS
    read, write = (
        np.maximum(min(one, unit), unit * units)
        for one, unit in zip(level.one_server, level.scalable_unit, strict=True)
    )
    return np.asarray(read), np.asarray(write)


def storage_level(read_bytes_per_s: float, write_bytes_per_s: float, servers: float) -> str | None:
    """The highest published level that read and write rates meet for so many servers; None below all."""
    met = None
    for level in STORAGE_LEVELS:
        read, write = level_rates(level.name, servers)
        if read_bytes_per_s >= float(read) and write_bytes_per_s >= float(write):
            met = level.name
    return met


@dataclass(frozen=True)
class CheckpointPlan:
    """How a job is checkpointed, and what that makes of its time. Rates in B/s, times in seconds."""

    gpus: int
    checkpoint_bytes: float
    write_s: float  # until a checkpoint lies in storage
    load_s: float
    blocked_s: float
    interval_s: float
    restart_s: float  # from a failure to the first step after it, with what is lost while a checkpoint is written
    between_s: tuple[float, float, float]  # median, and at the high and the low end of the rate of interruptions
    goodput: tuple[float, float, float]  # median, low, high

    @property
    def interruptions_per_day(self) -> float:
        return DAY_S / self.between_s[0]

    @property
    def lost_hours_per_week(self) -> float:
        """Hours of a week in which the job does nothing that lasts."""
        return 7 * 24 * (1 - self.goodput[0])

    @property
    def write_share(self) -> float:
        """Share of the time in which storage takes a checkpoint."""
        return min(1.0, self.write_s / (self.interval_s + self.blocked_s))


def checkpoint_plan(
    gpus: int,
    checkpoint_bytes: float,
    write_bytes_per_s: float,
    read_bytes_per_s: float,
    copy_s: float | None = None,
    interval_s: float | None = None,
    rates: tuple[float, float, float] = INTERRUPTIONS,
    notice_s: float = NOTICE_S + RESCHEDULE_S,
    warm_up_s: float = WARM_UP_S,
) -> CheckpointPlan:
    """Goodput of a job with the best interval, or a given one.

    ``checkpoint_bytes``: size of a checkpoint [B].
    ``write_bytes_per_s``, ``read_bytes_per_s``: rates of storage, all writers or readers together [B/s].
    ``copy_s``: copying the state into host memory, for checkpoints that are written while the job goes on; without it
        the job waits until the checkpoint is written [s].
    ``interval_s``: computing between checkpoints; by default the best [s].
    ``rates``: interruptions for 1,000 days of 8 GPUs: median, low and high end of the 90 % interval.
    ``notice_s``: until a failure is noticed and servers are found [s].
    ``warm_up_s``: from loading to the first step [s].
    """
    write_s, load_s = checkpoint_bytes / write_bytes_per_s, checkpoint_bytes / read_bytes_per_s
    blocked = write_s if copy_s is None else copy_s
    restart = notice_s + load_s + warm_up_s
    if copy_s is not None:
        # A failure before a checkpoint is written sends the job back to the one before: on average so much more work.
        restart += write_s
    median, low, high = (float(time_between_interruptions(rate, gpus)) for rate in rates)
    # A checkpoint must be written before the next one starts.
    interval = max(float(best_interval(blocked, median)), write_s - blocked) if interval_s is None else interval_s
    shares = [float(goodput(interval, blocked, restart, between)) for between in (median, high, low)]
    return CheckpointPlan(
        gpus=gpus,
        checkpoint_bytes=checkpoint_bytes,
        write_s=write_s,
        load_s=load_s,
        blocked_s=blocked,
        interval_s=interval,
        restart_s=restart,
        between_s=(median, high, low),
        goodput=(shares[0], shares[1], shares[2]),
    )


def spares_that_suffice(servers: int, repair_s: float, share: float = 0.99, rate: float = INTERRUPTIONS[0]) -> int:
    """Spare servers with which a job has all its servers in ``share`` of the time.

    Servers in repair at one time are Poisson distributed with mean ``servers x rate x repair time``.
    """
    mean = servers * rate / (1000 * DAY_S) * repair_s
    # Fewer than 25 standard deviations below the mean never are; exp(-mean) itself would round to 0 from 745 on.
    spares = max(0, int(mean - 25 * math.sqrt(mean)))
    term, below = math.exp(spares * math.log(mean) - mean - math.lgamma(spares + 1)) if mean > 0 else 1.0, 0.0
    while below + term < share:
        below += term
        spares += 1
        term *= mean / spares
    return spares


def spare_wait_s(servers: int, repair_s: float, spares: int, rate: float = INTERRUPTIONS[0]) -> float:
    """Mean wait of a failed job for a server, with so many spare ones. [s]

    ``servers``: servers of the job.
    ``repair_s``: mean time of a repair, exponential [s].
    ``spares``: servers beyond those of the job.
    ``rate``: interruptions for 1,000 days of a server.

    A job runs while at most ``spares`` servers are in repair. At a failure all of them are with the probability of
    Erlang's loss formula at ``servers x rate x repair time``; it then waits for the first of ``spares + 1`` repairs.
    """
    mean = servers * rate / (1000 * DAY_S) * repair_s
    if spares == 0:
        return repair_s
    return float(erlang_b(spares, mean)) * repair_s / (spares + 1)
