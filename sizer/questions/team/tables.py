"""Tables of the team that shares the cluster: what it asks for, its jobs, how long they wait, and what they read."""

from math import isfinite

from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, plain, si, with_decimal_sign
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.team.analysis import WAIT_QUANTILES, JobModel, KindRun, TeamAnswer, TeamRun
from sizer.workload.team import Team, TeamJob

# A share of the GPUs this small is none.
HARDLY_ANY = 5e-4
# A wait this short is none; an error this small, in points of a percentage, is not printed.
_NO_WAIT_S = 1.0
_EXACT_POINTS = 0.05

KINDS = {"training": "training", "validation": "validation", "notebook": "notebook"}
_ORDERS = {
    "first-come": "first come, first served",
    "backfill": "first come, first served with backfill: a later job may start in a gap if it delays nobody",
}


def asked_table(team: Team) -> Table:
    """The team as the tool understood it."""
    hours = (
        f"{plain(team.hours_a_day)} h a day, {team.days_a_week} days a week; jobs are submitted "
        "in these hours and run at night, too"
    )
    rows = [
        *([row("Data scientists", grouped(team.data_scientists))] if team.data_scientists else []),
        row("Working hours", hours),
        row("Order of the queue", _ORDERS[team.order]),
        row("Reads carried", percentile_text(team)),
        *(_job_row(job, team) for job in team.job),
        row("Target", wait_text(team), kind="strong"),
    ]
    return Table(
        "team-asked", "Team as understood", columns(("", "left", 24), ("", "left", 76)), tuple(rows), style="asked"
    )


def wait_text(team: Team) -> str:
    """The wait target in words."""
    if all(job.always_running is not None for job in team.job):
        return "every job has its GPUs all the time"
    share, wait = words.percent(team.wait_probability), duration(team.wait_s)
    if any(job.wait_s is not None for job in team.job):
        return f"{share} of the jobs of each kind start within {wait} unless the kind has its own"
    return f"{share} of the jobs of each kind start within {wait}"


def percentile_text(team: Team) -> str:
    """For which share of the time storage and network carry what all jobs read."""
    if team.demand_percentile == 1:
        return "all the time, when every running job reads at once"
    return f"{words.percent(team.demand_percentile)} of the time"


def often_text(job: TeamJob, team: Team) -> str:
    """How often a kind of job is started."""
    if job.always_running is not None:
        return by_count(
            job.always_running,
            f"{grouped(job.always_running)} runs all the time",
            f"{grouped(job.always_running)} run all the time",
        )
    if job.jobs_a_day_each is not None:
        return f"{plain(job.jobs_a_day_each)} a day of each person, {plain(team.jobs_a_day(job))} a day in all"
    return f"{plain(team.jobs_a_day(job))} a day"


def gpus_text(job: TeamJob) -> str:
    """What one job takes."""
    text = words.plural(job.gpus, "GPU")
    return f"{text} in whole servers" if job.whole_servers else text


def _job_row(job: TeamJob, team: Team) -> Row:
    said = [KINDS[job.kind], gpus_text(job), often_text(job, team)]
    if job.duration_s is not None:
        said.append(f"{duration(job.duration_s)} long")
    if job.workload is not None:
        said.append(f"runs {job.workload}")
    if job.wait_s is not None:
        said.append(f"waits {duration(job.wait_s)} at most")
    return row(f"Job: {job.name}", words.capital("; ".join(said)))


# --- what the team gets


def jobs_table(answer: TeamAnswer) -> Table:
    """Kinds of job on the servers of the design."""
    rows = [
        row(
            one.job.name,
            _servers_text(one),
            plain(float(f"{one.jobs_a_day:.3g}")) if one.jobs_a_day else f"always {one.job.always_running or 0}",
            duration(one.duration_s) if isfinite(one.duration_s) else Cell("no end", is_muted=True),
            _reads(one.mean_bytes_per_s),
            _reads(max(one.cold_bytes_per_s, one.warm_bytes_per_s)),
        )
        for one in answer.model.jobs
    ]
    heads = columns(
        ("Job", "left", 29),
        ("GPUs of one", "left", 19),
        ("A working day", "right", 13),
        ("Runs for", "right", 13),
        ("Reads, mean", "right", 13),
        ("At most", "right", 13),
    )
    note = "A job starts when all its GPUs are free at once: in one server, or in whole servers where it needs more."
    return Table("team-jobs", "Jobs of the team on these servers", heads, tuple(rows), note)


def _servers_text(one: JobModel) -> str:
    if not one.whole_servers:
        return grouped(one.job.gpus)
    return f"{grouped(one.job.gpus)} in {words.plural(one.whole_servers, 'server')}"


def _reads(bytes_per_s: float) -> Cell:
    return Cell(si(bytes_per_s, "B/s")) if bytes_per_s > 0 else Cell("nothing", is_muted=True)


def origins_table(answer: TeamAnswer) -> Table:
    """Where lengths and reads of the jobs come from."""
    rows = [row(one.job.name, one.duration_how, one.reads_how) for one in answer.model.jobs]
    heads = columns(("Job", "left", 24), ("Its length", "left", 38), ("What it reads", "left", 38))
    return Table("team-origins", "Where lengths and reads come from", heads, tuple(rows))


def waits_table(answer: TeamAnswer) -> Table | None:
    """How long each kind of job waits, against what is asked; None where none waits."""
    share = words.percent(answer.team.wait_probability)
    rows = [
        row(
            kind.name,
            duration(one.wait_s),
            Cell(share_text(kind)),
            waited(kind.mean_wait_s),
            *(waited(quantile) for quantile in kind.wait_quantiles_s[1:]),
            "met" if kind.meets else "not met",
        )
        for one, kind in zip(answer.model.jobs, answer.run.kinds, strict=True)
        if one.jobs_a_day
    ]
    if not rows:
        return None
    heads = columns(
        ("Job", "left", 28),
        ("Asked, at most", "right", 12),
        ("Start in time", "right", 17),
        ("Mean wait", "right", 11),
        *((f"{words.percent(q)} within", "right", 11) for q in WAIT_QUANTILES[1:]),
        ("Outcome", "left", 10),
    )
    run = answer.run
    note = (
        f"Asked: {share} of each kind. Simulated: {words.plural(run.n_jobs, 'job')} in "
        f"{grouped(run.n_weeks)} weeks; ± is the standard error of the share."
    )
    if run.n_servers > answer.n_servers_for_waits:
        note += " " + (
            f"The waits alone would need {words.plural(answer.n_servers_for_waits, 'server')}; the "
            "rest of the request needs more."
        )
    title = f"How long jobs wait on {words.plural(run.n_servers, 'server')}"
    return Table("team-waits", title, heads, tuple(rows), note)


def share_text(kind: KindRun) -> str:
    """Share of the jobs of a kind that start in time, with its standard error in points."""
    error = 100 * kind.share_error
    if error < _EXACT_POINTS:
        return words.percent(kind.share_within)
    share = f"{100 * kind.share_within:.1f}"
    return f"{with_decimal_sign(f'{share} ± {error:.1f}')}{NARROW_SPACE}%"


def waited(seconds: float) -> str:
    """A wait in words."""
    if seconds < _NO_WAIT_S:
        return "none"
    return duration(seconds) if isfinite(seconds) else "for good"


def demand_table(answer: TeamAnswer) -> Table | None:
    """What all running jobs read together, against what the design carries; None where they read nothing."""
    demand, carries = answer.run.demand, answer.carries
    if demand.worst_bytes_per_s <= 0:
        return None
    read = (
        ("Read at worst: all that could run at once, each at its hungriest", demand.worst_bytes_per_s, False),
        (f"Read at most for {words.percent(demand.percentile)} of the time, as asked", demand.asked_bytes_per_s, True),
        ("Read on average", demand.average_bytes_per_s, False),
    )
    carried = (
        ("storage", "Carried by the storage nodes", carries.storage_bytes_per_s),
        ("mounts", "Carried by the mounts of the servers", carries.mounts_bytes_per_s),
        ("network", "Carried by the network between them", carries.network_bytes_per_s),
    )
    rows = [
        row(name, si(rate, "B/s"), words.percent(rate / carries.bytes_per_s), kind="strong" if is_asked else "")
        for name, rate, is_asked in read
    ]
    rows += [
        row(name, si(rate, "B/s") if isfinite(rate) else "not limited", "the least" if key == carries.limit else "–")
        for key, name, rate in carried
    ]
    heads = columns(
        ("All running jobs together", "left", 58), ("Rate", "right", 20), ("Of the least carried", "right", 22)
    )
    title = "What the jobs read together, and what the design carries"
    note = "Carried: at the confidence asked."
    return Table("team-demand", title, heads, tuple(rows), note)


def gpus_table(run: TeamRun) -> Table:
    """What the GPUs do over all hours of the week."""
    held, idle, lost = run.gpus_held_fraction, run.idle_fraction, run.fragmentation_fraction
    shares = (
        ("Run jobs", run.gpus_busy_fraction),
        ("Held unused, in servers that one job takes whole", held),
        ("Idle while a job waits: too few are free for the first in line", idle - lost),
        ("Idle while a job waits: enough are free, but scattered over servers", lost),
        ("Idle, and nobody waits", max(0.0, 1 - run.gpus_busy_fraction - held - idle)),
    )
    rows = [
        row(name, words.percent(share), plain(round(share * run.n_gpus, 1)))
        for name, share in shares
        if share >= HARDLY_ANY
    ]
    heads = columns(("What GPUs do", "left", 64), ("Share", "right", 16), ("GPUs", "right", 20))
    title = f"What the {words.plural(run.n_gpus, 'GPU')} do, over all hours of the week"
    return Table("team-gpus", title, heads, tuple(rows))


def sizes_table(answer: TeamAnswer) -> Table | None:
    """The team on fewer and more servers; None where no job waits."""
    if not answer.model.case.queue:
        return None
    rows = []
    for run in answer.runs:
        worst = least_served(run, answer)
        rows.append(
            row(
                grouped(run.n_servers),
                grouped(run.n_gpus),
                words.shortened(worst.name),
                words.percent(worst.share_within),
                waited(worst.wait_quantiles_s[1]),
                words.percent(run.gpus_busy_fraction),
                si(run.demand.asked_bytes_per_s, "B/s"),
                "met" if run.meets else "not met",
                kind="strong" if run.n_servers == answer.run.n_servers else "",
            )
        )
    heads = columns(
        ("Servers", "right", 9),
        ("GPUs", "right", 8),
        ("Most often late", "left", 25),
        ("In time", "right", 9),
        ("90 % within", "right", 12),
        ("GPUs busy", "right", 9),
        ("Read", "right", 15),
        ("Waits", "left", 13),
    )
    note = f"Read: kept below for {words.percent(answer.team.demand_percentile)} of the time."
    return Table("team-sizes", "The team on fewer and on more servers", heads, tuple(rows), note)


def least_served(run: TeamRun, answer: TeamAnswer) -> KindRun:
    """The kind of job, of those that wait, of which the smallest share starts in time."""
    return min((run.kinds[place] for place in answer.model.case.queue), key=lambda kind: kind.share_within)


def erlang_table(answer: TeamAnswer) -> Table | None:
    """Erlang's formula beside the simulation; None unless one kind of job alone uses the cluster."""
    found = answer.erlang
    if found is None:
        return None
    kind = answer.run.kinds[answer.model.case.queue[0]]
    rows = (
        row("Jobs that run at once", grouped(found.n_places), "–"),
        row("Offered load, erlang", plain(float(f"{found.load:.3g}")), "–"),
        row("Start in time", words.percent(found.share_within), share_text(kind)),
        row("Mean wait", waited(found.mean_wait_s), waited(kind.mean_wait_s)),
        row("Servers for the wait target", grouped(found.n_servers), grouped(answer.n_servers_for_waits)),
    )
    note = (
        "Both hold for the same assumptions and should agree within the error of the simulation."
        if found.is_exact
        else (
            "The formula takes the rate of the working hours to go on for ever, or lengths to "
            "spread; so it says no less than what is needed."
        )
    )
    heads = columns(("", "left", 40), ("Erlang's formula", "right", 30), ("Simulation", "right", 30))
    return Table("team-erlang", "Cross-check for one kind of job", heads, rows, note)
