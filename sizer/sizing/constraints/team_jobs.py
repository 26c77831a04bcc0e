"""What the jobs of a team are on a kind of server: how long they run there and what they read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.perf.scheduling import servers_of
from sizer.perf.stage_capacity import throughput
from sizer.physical.platform import Platform
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.team import Team, TeamJob


@dataclass(frozen=True)
class JobFacts:
    """One kind of job on every row: a platform, or a kind of server. Arrays (rows,)."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    servers: Ints  # whole servers that it takes; 0: a share of one
    duration_s: Floats  # mean; inf where it always runs and has no length
    samples_per_s: Floats  # on its own GPUs, storage not limiting; 0 without a workload
    start_up_share: Floats  # of its time, in which it reads nothing
    cold_share: Floats  # of its time, in which it reads its data set for the first time
    cold_bytes_per_s: Floats
    warm_bytes_per_s: Floats  # for the rest of its time
    hit_fraction: Floats  # of its share of the servers' memory, after the first epoch

    def fits(self, row: int) -> bool:
        """Whether its GPUs hold its network."""
        return self.job.workload is None or float(self.samples_per_s[row]) != 0

    @property
    def mean_bytes_per_s(self) -> Floats:
        """What it reads on average while it runs. [B/s]"""
        warm = 1 - self.start_up_share - self.cold_share
        return np.asarray(self.cold_share * self.cold_bytes_per_s + warm * self.warm_bytes_per_s)

    @property
    def most_bytes_per_s(self) -> Floats:
        """What it reads at most. [B/s]"""
        return np.maximum(self.cold_bytes_per_s, self.warm_bytes_per_s)


def job_facts(
    team: Team,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[JobFacts, ...]:
    """Facts of every kind of job.

    Parameters
    ----------
    team : Team
    works : sequence of ResolvedWorkload
        Of the whole request.
    platforms : sequence of Platform
        All platforms, in the order of the compute groups of ``cols``.
    cols : Columns
        One entry a row; line rates as they are without an oversubscribed fabric, as a job finds its servers close by.
    catalog : Catalog
    calibration : Calibration

    Notes
    -----
    A job runs as its workload would on a cluster of its own GPUs: inside one server with its share of the host's
    cores and memory by GPUs, beyond with whole servers. Storage does not hold it up: it is sized for what all jobs
    read. The first epoch is read in full, later ones as far as the job's share of the memory does not hold the set.
    """
    by_name = {work.request.name: work for work in works}
    return tuple(
        _facts(team, job, by_name.get(job.workload or ""), platforms, cols, catalog, calibration) for job in team.job
    )


def _facts(
    team: Team,
    job: TeamJob,
    work: ResolvedWorkload | None,
    platforms: Sequence[Platform],
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
) -> JobFacts:
    fitted = cols.gpus_per_server.astype(np.int64)
    servers = np.array([servers_of(job.gpus, int(count), job.whole_servers) for count in fitted], dtype=np.int64)
    zero = np.zeros(fitted.shape)
    stated = np.full(fitted.shape, np.inf if job.duration_s is None else job.duration_s)
    jobs_a_day = team.jobs_a_day(job)
    if work is None:
        return JobFacts(job, jobs_a_day, servers, stated, zero, zero, zero, zero, zero, zero)
    part = np.where(servers > 0, 1.0, np.minimum(job.gpus / fitted, 1.0))
    on = np.maximum(servers, 1)
    own = replace(cols, gpus_per_server=job.gpus / on, cores=cols.cores * part, cache_bytes=cols.cache_bytes * part)
    comp = compute_side.compute(work, platforms, own, on, calibration, catalog)
    # What the GPUs of a job do not hold reads nothing.
    fits = all_fit([work], platforms, own, on, calibration, catalog)
    rate = np.where(fits, throughput([comp.gpu, comp.decode, comp.host_link]).value, 0.0)
    epoch_s = np.where(fits, work.n_samples / np.where(fits, rate, 1.0), np.inf)
    length = evaluate.run_epochs(work, comp, own, on, calibration)
    duration_s, cold_s = stated, epoch_s
    if job.duration_s is None and length is not None:
        cold_s = np.minimum(length.value, 1.0) * epoch_s
        # Storage holds no epoch up.
        duration_s = evaluate.time_s(work, length.value, rate, rate, calibration.start_up_s)
    # A job of unknown length that always runs is taken to read as in its first epoch.
    known = np.isfinite(duration_s)
    cold_share = np.where(known, np.minimum(cold_s / np.where(known, duration_s, 1.0), 1.0), 1.0)
    start_up = np.minimum(calibration.start_up_s / duration_s, 1 - cold_share)
    return JobFacts(
        job=job,
        jobs_a_day=jobs_a_day,
        servers=servers,
        duration_s=duration_s,
        samples_per_s=rate,
        start_up_share=start_up,
        cold_share=cold_share,
        cold_bytes_per_s=read_demand_bytes_per_s(rate, work.sample_bytes),
        warm_bytes_per_s=read_demand_bytes_per_s(rate, work.sample_bytes, comp.hit_fraction),
        hit_fraction=comp.hit_fraction,
    )
