"""[team]: people, job types, and the maximum queue wait."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from sizer.base.quantities import Seconds
from sizer.base.texts import Name
from sizer.workload.table import Count, ItemId, RequestTable

JobKind = Literal["training", "validation", "notebook"]
QueueOrder = Literal["first-come", "backfill"]
Durations = Literal["exponential", "fixed"]
Priority = Literal["high", "normal", "low"]
# Places in the queue: jobs of a smaller number stand before all of a larger one.
PRIORITY_RANKS: dict[Priority, int] = {"high": 0, "normal": 1, "low": 2}
# More than any cluster of the catalogue has GPUs for.
MOST_ALWAYS_RUNNING = 100_000
JobsADay = Annotated[float, Field(ge=0.001, le=100_000, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0.5, le=0.999, allow_inf_nan=False)]


def _whole_gpus(gpus: object) -> object:
    if isinstance(gpus, float) and 0 < gpus < 1:
        n = max(round(1 / gpus), 2)
        raise ValueError(
            f"a job takes whole GPUs; for notebooks that share a GPU write gpus = 1 and sessions_per_gpu = {n}"
        )
    return gpus


class TeamJob(RequestTable):
    """One job type. It is either submitted a number of times per day and ends, or a number of it always runs."""

    name: Name
    kind: JobKind = "training"
    # Of one job; beyond one server's GPUs it takes whole servers.
    gpus: Annotated[Count, BeforeValidator(_whole_gpus)]
    # Notebook sessions that share one GPU by taking turns; 1: each has its own.
    sessions_per_gpu: Annotated[int, Field(ge=1, le=16, strict=True)] = 1
    priority: Priority = "normal"  # in the queue; no job that runs is stopped for another one
    # The job takes whole servers even where it uses only some of their GPUs.
    whole_servers: Annotated[bool, Field(strict=True)] = False
    # Frequency: exactly one of the three.
    jobs_a_day: JobsADay | None = None
    jobs_a_day_each: JobsADay | None = None  # of every data scientist
    always_running: Count | None = None
    # Mean duration: given, or that of the [[workload]] of this name on this many GPUs. The workload also sets what the
    # job reads; a job without one has no read load.
    duration_s: Seconds | None = None
    duration_gpu: ItemId | None = None  # that it was measured on; without one it holds on every GPU
    workload: Name | None = None
    durations: Durations = "exponential"
    wait_s: Seconds | None = None  # instead of the team's

    @property
    def holds_anywhere(self) -> bool:
        """Whether a stated duration of work on GPUs names none: it is taken to hold on each."""
        return self.kind != "notebook" and self.duration_s is not None and self.duration_gpu is None

    @model_validator(mode="after")
    def _how_often_and_how_long(self) -> Self:
        often = [key for key in ("jobs_a_day", "jobs_a_day_each", "always_running") if getattr(self, key) is not None]
        if len(often) != 1:
            raise ValueError(
                "needs exactly one of jobs_a_day, jobs_a_day_each or always_running, "
                f"got {' and '.join(often) if often else 'none'}"
            )
        if self.always_running is not None:
            if self.duration_s is not None or self.wait_s is not None or self.priority != "normal":
                raise ValueError(
                    "a job with always_running neither ends nor waits; remove duration_s, wait_s and priority"
                )
        elif self.duration_s is None and self.workload is None:
            raise ValueError("needs a duration_s, for example '8 h', or the name of a workload with epochs or a recipe")
        return self

    @model_validator(mode="after")
    def _a_gpu_for_a_duration(self) -> Self:
        if self.duration_gpu is not None and self.duration_s is None:
            raise ValueError("duration_gpu says which GPU duration_s was measured on; add duration_s or remove it")
        return self

    @model_validator(mode="after")
    def _only_notebooks_share(self) -> Self:
        if self.sessions_per_gpu == 1:
            return self
        if self.kind != "notebook" or self.gpus != 1 or self.whole_servers:
            raise ValueError(
                f"sessions_per_gpu = {self.sessions_per_gpu} needs kind = 'notebook', gpus = 1 and no whole_servers; "
                "other jobs do not share a GPU"
            )
        if self.workload is not None:
            raise ValueError(
                "a notebook that shares a GPU has no rate of its own, so it cannot run a workload; remove workload "
                "and give duration_s"
            )
        return self


class Team(RequestTable):
    """The people who share the cluster. The wait target applies to each job type separately."""

    data_scientists: Count | None = None
    # Jobs are submitted in these hours and run at night, too.
    hours_a_day: Annotated[float, Field(ge=0.1, le=24, allow_inf_nan=False)] = 10.0
    days_a_week: Annotated[int, Field(ge=1, le=7, strict=True)] = 5
    # Share of the jobs that start within wait_s of their submission.
    wait_s: Seconds
    wait_probability: Probability = 0.9
    order: QueueOrder = "first-come"
    # Percentile of the combined read rate of all running jobs that storage and network are sized for; 1: the peak.
    demand_percentile: Annotated[float, Field(ge=0.5, le=1, allow_inf_nan=False)] = 0.95
    job: Annotated[tuple[TeamJob, ...], Field(min_length=1, max_length=20)]

    @model_validator(mode="after")
    def _jobs_fit_the_team(self) -> Self:
        names = Counter(job.name for job in self.job)
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise ValueError(f"job names must be unique; used twice: {', '.join(twice)}")
        running = sum(job.always_running or 0 for job in self.job)
        if running > MOST_ALWAYS_RUNNING:
            raise ValueError(f"{running} jobs are always_running in total; at most {MOST_ALWAYS_RUNNING} are allowed")
        each = [job.name for job in self.job if job.jobs_a_day_each is not None]
        if each and self.data_scientists is None:
            raise ValueError(f"jobs_a_day_each of {each[0]!r} needs data_scientists, the number of people")
        return self

    def jobs_a_day(self, job: TeamJob) -> float:
        """Jobs of one kind that all people together start on a working day; 0 for those that always run. [1/d]"""
        if job.jobs_a_day_each is not None:
            assert self.data_scientists is not None  # checked above
            return job.jobs_a_day_each * self.data_scientists
        return job.jobs_a_day or 0.0
