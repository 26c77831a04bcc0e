"""The team of a request on its design, as plain text for a terminal."""

from collections.abc import Iterator

from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.report.plain_table import table_text
from sizer.report.tables import Table, columns, row
from sizer.report.words import percent, plural
from sizer.sizing.team import WAIT_QUANTILES, Demand, JobModel, TeamAnswer, TeamRun


def team_text(title: str, design: str, answer: TeamAnswer) -> str:
    """Jobs, waits on the design and on other sizes, what is read, Erlang's reading, and what was taken for granted."""
    parts = [f"{title}\n{'=' * len(title)}\n{_verdict(design, answer)}"]
    tables = [_jobs_table(answer)]
    if answer.model.case.queue:
        tables += [_waits_table(answer.run), _sizes_table(answer)]
    parts += [table_text(table) for table in tables]
    parts += ["\n".join(_reads(answer)), *_erlang(answer)]
    parts.append("\n".join(f"Assumed: {sentence}" for sentence in answer.assumptions))
    return "\n\n".join(parts)


def _verdict(design: str, answer: TeamAnswer) -> str:
    run = answer.run
    meets = "meets" if run.meets else "misses"
    gpus = f"{percent(run.gpus_busy_fraction)} of its {plural(run.n_gpus, 'GPU')} are busy on average"
    target = "the waits of the team" if answer.model.case.queue else "what always runs: every job has its GPUs"
    text = f"{design} {meets} {target}; {gpus}."
    if answer.n_servers_for_waits < run.n_servers:
        fewest = plural(answer.n_servers_for_waits, "server")
        text += f" The waits alone need {fewest}; the workloads' own targets need the rest."
    return text


def _jobs_table(answer: TeamAnswer) -> Table:
    heads = columns("Job", ("GPUs", "right"), ("A day", "right"), ("Length", "right"), "Reads from storage")
    rows = (row(job.job.name, _gpus(job), _a_day(job), _length(job), job.reads_how) for job in answer.model.jobs)
    return Table("team-jobs", "Jobs", heads, tuple(rows))


def _gpus(job: JobModel) -> str:
    servers = f" ({plural(job.whole_servers, 'server')})" if job.whole_servers else ""
    return f"{job.job.gpus}{servers}"


def _a_day(job: JobModel) -> str:
    return significant(job.jobs_a_day) if job.jobs_a_day else f"{job.job.always_running} always"


def _length(job: JobModel) -> str:
    return duration(job.duration_s) if job.duration_s < float("inf") else "-"


def _waits_table(run: TeamRun) -> Table:
    shares = [(f"{percent(share)} within", "right") for share in WAIT_QUANTILES]
    heads = columns("Job", ("Simulated", "right"), ("In time", "right"), ("Mean wait", "right"), *shares, "")  # type: ignore[arg-type]
    rows = (
        row(
            kind.name,
            grouped(kind.n_jobs),
            _share(kind.share_within, kind.share_error),
            _wait(kind.mean_wait_s),
            *map(_wait, kind.wait_quantiles_s),
            "" if kind.meets else "too late",
        )
        for kind in run.kinds
    )
    return Table("team-waits", f"Waits on {plural(run.n_servers, 'server')}", heads, tuple(rows))


def _share(share: float, error: float) -> str:
    return f"{100 * share:.1f} ± {100 * error:.1f} %"


def _wait(wait_s: float) -> str:
    if wait_s == float("inf"):
        return "never"
    return duration(wait_s) if wait_s >= 1 else "none"


def _sizes_table(answer: TeamAnswer) -> Table:
    heads = columns(
        *(("Servers", "right"), ("GPUs", "right"), ("Least in time", "right"), ("GPUs busy", "right")),
        *(("Idle while jobs wait", "right"), ("Scattered", "right"), ("Reads", "right"), ""),
    )
    rows = (
        row(
            str(run.n_servers),
            grouped(run.n_gpus),
            percent(min(kind.share_within for kind in run.kinds)),
            percent(run.gpus_busy_fraction),
            percent(run.idle_fraction),
            percent(run.fragmentation_fraction),
            si(run.demand.asked_bytes_per_s, "B/s"),
            _remark(run, answer),
        )
        for run in answer.runs
    )
    return Table("team-sizes", "Fewer and more servers of the same kind", heads, tuple(rows))


def _remark(run: TeamRun, answer: TeamAnswer) -> str:
    if run.n_servers == answer.run.n_servers:
        return "the design"
    return "enough" if run.meets else "too few"


def _reads(answer: TeamAnswer) -> Iterator[str]:
    demand: Demand = answer.run.demand
    carries = answer.carries
    yield f"All running jobs together read {si(demand.average_bytes_per_s, 'B/s')} on average,"
    yield f"at most {si(demand.asked_bytes_per_s, 'B/s')} for {plain(100 * demand.percentile)} % of the time, and"
    yield f"{si(demand.worst_bytes_per_s, 'B/s')} if the hungriest jobs filled all servers in their first epoch."
    limit = {"storage": "the storage nodes", "mounts": "the servers' mounts", "network": "the network"}[carries.limit]
    yield (
        f"The design carries {si(carries.bytes_per_s, 'B/s')}, limited by {limit}: "
        f"{percent(carries.load_fraction)} loaded."
    )


def _erlang(answer: TeamAnswer) -> Iterator[str]:
    erlang = answer.erlang
    if erlang is None:
        return
    reading = "exactly this case" if erlang.is_exact else "an upper reading, as if the working hours never ended"
    yield (
        f"Erlang C ({reading}): {significant(erlang.load)} jobs at once on {plural(erlang.n_places, 'place')}, "
        f"{percent(erlang.share_within)} in time; {plural(erlang.n_servers, 'server')} for the wait asked for."
    )
