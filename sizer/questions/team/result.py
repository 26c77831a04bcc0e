"""A team on a design: its jobs, their queue waits, and what they read together, as numbers and typed reasons."""

from dataclasses import dataclass
from enum import StrEnum

from sizer.base.arrays import Floats
from sizer.workload.team import TeamJob

# Quantiles of the wait of each kind of job.
WAIT_QUANTILES = (0.5, 0.9, 0.95)


class DurationSource(StrEnum):
    """Where the duration of a job comes from."""

    STATED = "stated"
    COMPUTED = "computed"  # time to train its workload on its GPUs, with storage that never limits
    UNKNOWN = "unknown"  # it always runs


class ReadPattern(StrEnum):
    """How a job reads from storage over its time."""

    NO_WORKLOAD = "no workload"  # counted as reading nothing
    DOES_NOT_FIT = "does not fit"  # its GPUs do not hold its network
    UNKNOWN_DURATION = "unknown duration"  # all the time as in a first epoch
    CONSTANT = "constant"  # its share of the memory saves no reads
    LESS_AFTER_FIRST_EPOCH = "less after the first epoch"


@dataclass(frozen=True)
class JobModel:
    """One kind of job on the servers of a design."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    whole_servers: int  # servers that it takes; 0: a share of one
    duration_s: float  # mean; inf: it always runs, for an unknown time
    duration_source: DurationSource
    samples_per_s: float  # on its own GPUs; 0 without a workload, or where they do not hold it
    wait_s: float  # its target
    start_up_share: float  # of its time, in which it reads nothing
    cold_share: float  # of its time, in which it reads its data for the first time
    cold_bytes_per_s: float
    warm_bytes_per_s: float  # in the remaining time
    mean_bytes_per_s: float
    hit_fraction: float  # of its warm reads that its share of the servers' memory serves
    read_pattern: ReadPattern


@dataclass(frozen=True)
class JobKindRun:
    """Waits of one kind of job on a number of servers."""

    name: str
    n_jobs: int  # simulated and counted; of those that always run, their number
    share_within: float  # that starts within the target
    share_error: float  # its standard error
    mean_wait_s: float
    wait_quantiles_s: tuple[float, ...]  # of WAIT_QUANTILES
    meets: bool


@dataclass(frozen=True)
class ReadDemand:
    """Reads of all running jobs together from storage. [B/s]"""

    worst_bytes_per_s: float  # most jobs that could run at once, each at its highest rate
    average_bytes_per_s: float
    asked_bytes_per_s: float  # not exceeded for the requested share of the time
    percentile: float  # that share
    shares: Floats  # (points,) of the time, 0 to 1
    levels_bytes_per_s: Floats  # (points,) not exceeded for that share


@dataclass(frozen=True)
class TeamRun:
    """The team on a number of servers of one kind."""

    n_servers: int
    n_gpus: int
    kinds: tuple[JobKindRun, ...]  # in the order of the request
    all_placed: bool  # every job that always runs has its GPUs
    meets: bool  # the waits of all kinds
    gpus_busy_fraction: float  # GPUs in use, on average over all hours of the week
    gpus_reserved_fraction: float  # GPUs reserved but not in use, by jobs that take whole servers
    idle_fraction: float  # GPUs idle while a job waits
    fragmentation_fraction: float  # of these: enough for the first job in the queue, but spread over servers
    n_jobs: int  # simulated and counted
    n_weeks: int
    demand: ReadDemand


@dataclass(frozen=True)
class ReadCapacity:
    """Read rates that storage, mounts and network deliver, and the team's demand. [B/s]"""

    storage_bytes_per_s: float  # nodes, at the requested confidence
    mounts_bytes_per_s: float  # at the requested confidence
    network_bytes_per_s: float  # least of front end, gateway and the servers' ports
    asked_bytes_per_s: float  # the team's demand
    bottleneck: str  # "storage", "mounts" or "network": the least of the three

    @property
    def bytes_per_s(self) -> float:
        """The least of the three."""
        return min(self.storage_bytes_per_s, self.mounts_bytes_per_s, self.network_bytes_per_s)

    @property
    def load_fraction(self) -> float:
        """Demand / least capacity."""
        return self.asked_bytes_per_s / self.bytes_per_s
