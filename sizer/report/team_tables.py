"""Tables of the team that shares the cluster: what it asks for, its jobs, how long they wait, and what they read."""

from sizer.base.language import Texts, mark, tr, trn
from sizer.base.quantities import duration, grouped, plain
from sizer.report import words
from sizer.report.tables import Row, Table, columns, row
from sizer.workload.team import Team, TeamJob

KINDS = Texts({"training": mark("training"), "validation": mark("validation"), "notebook": mark("notebook")})
_ORDERS = Texts(
    {
        "first-come": mark("first come, first served"),
        "backfill": mark("first come, first served with backfill: a later job may start in a gap if it delays nobody"),
    }
)


def asked_table(team: Team) -> Table:
    """The team as the tool understood it."""
    hours = tr("{hours} h a day, {days} days a week; jobs are submitted in these hours and run at night, too",
               hours=plain(team.hours_a_day), days=team.days_a_week)  # fmt: skip
    rows = [
        *([row(tr("Data scientists"), grouped(team.data_scientists))] if team.data_scientists else []),
        row(tr("Working hours"), hours),
        row(tr("Order of the queue"), _ORDERS[team.order]),
        row(tr("Reads carried"), percentile_text(team)),
        *(_job_row(job, team) for job in team.job),
        row(tr("Target"), wait_text(team), kind="strong"),
    ]
    return Table("team-asked", tr("Team as understood"), columns(("", "left", 24), ("", "left", 76)), tuple(rows),
                 style="asked")  # fmt: skip


def wait_text(team: Team) -> str:
    """The wait target in words."""
    share, wait = words.percent(team.wait_probability), duration(team.wait_s)
    if any(job.wait_s is not None for job in team.job):
        return tr("{share} of the jobs of each kind start within {wait} unless the kind has its own",
                  share=share, wait=wait)  # fmt: skip
    return tr("{share} of the jobs of each kind start within {wait}", share=share, wait=wait)


def percentile_text(team: Team) -> str:
    """For which share of the time storage and network carry what all jobs read."""
    if team.demand_percentile == 1:
        return tr("all the time, when every running job reads at once")
    return tr("{share} of the time", share=words.percent(team.demand_percentile))


def often_text(job: TeamJob, team: Team) -> str:
    """How often a kind of job is started."""
    if job.always_running is not None:
        return trn("{n} runs all the time", "{n} run all the time", job.always_running,
                   n=grouped(job.always_running))  # fmt: skip
    if job.jobs_a_day_each is not None:
        return tr("{each} a day of each person, {all} a day in all", each=plain(job.jobs_a_day_each),
                  all=plain(team.jobs_a_day(job)))  # fmt: skip
    return tr("{all} a day", all=plain(team.jobs_a_day(job)))


def gpus_text(job: TeamJob) -> str:
    """What one job takes."""
    text = words.plural(job.gpus, "GPU")
    return tr("{gpus} in whole servers", gpus=text) if job.whole_servers else text


def _job_row(job: TeamJob, team: Team) -> Row:
    said = [KINDS[job.kind], gpus_text(job), often_text(job, team)]
    if job.duration_s is not None:
        said.append(tr("{length} long", length=duration(job.duration_s)))
    if job.workload is not None:
        said.append(tr("runs {workload}", workload=job.workload))
    if job.wait_s is not None:
        said.append(tr("waits {wait} at most", wait=duration(job.wait_s)))
    return row(tr("Job: {name}", name=job.name), words.capital("; ".join(said)))
