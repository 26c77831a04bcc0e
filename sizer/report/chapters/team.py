"""The chapter on the team: its jobs, how long they wait, and what storage and network carry for them."""

from typing import Any

from sizer.base.language import tr
from sizer.base.quantities import si
from sizer.report import words
from sizer.report.chapters.case import Case
from sizer.report.charts_team import reads_chart, waits_chart
from sizer.report.figures import charted
from sizer.report.team_tables import (
    HARDLY_ANY,
    demand_table,
    erlang_table,
    gpus_table,
    jobs_table,
    least_served,
    origins_table,
    sizes_table,
    wait_text,
    waits_table,
)
from sizer.sizing.team import TeamAnswer


def applies(case: Case) -> bool:
    """Whether the request names a team."""
    return case.result.request.team is not None and case.team is not None


def content(case: Case) -> dict[str, Any]:
    """What ``sections/team.html`` prints."""
    answer = case.team
    assert answer is not None  # the chapter would not apply
    is_full = case.is_full
    waits = charted(
        "team-waits-chart",
        waits_chart(answer, case.palette),
        tr("Each line is one kind of job; the marked one is the kind that is late most often with fewer servers."),
    )
    return {
        "verdict": verdict(answer),
        "sized_by": sized_by(answer),
        "carried": carried(answer),
        "jobs": jobs_table(answer),
        "origins": origins_table(answer) if is_full else None,
        "waits": waits_table(answer),
        "waits_chart": waits,
        "sizes": sizes_table(answer) if is_full else None,
        "erlang": erlang_table(answer) if is_full else None,
        "demand": demand_table(answer),
        # One chart is enough for a customer; without a queue it is that of the reads.
        "reads_chart": charted(
            "team-reads-chart",
            reads_chart(answer, case.palette) if is_full or waits is None else None,
            tr("For each share of the time, the rate that all running jobs together stay at or below."),
        ),
        "gpus": gpus_table(answer.run) if is_full else None,
        "fragments": fragments(answer) if answer.model.case.queue else "",
        "assumptions": list(answer.assumptions),
    }


def verdict(answer: TeamAnswer) -> str:
    """Whether the jobs start in time, in one sentence."""
    run = answer.run
    if not answer.model.case.queue:
        if run.all_placed:
            return tr("All jobs always run, and all have their GPUs at once; nobody waits.")
        return tr("Not all jobs that always run have their GPUs at once.")
    one = least_served(run, answer)
    return (
        tr("Asked: {asked}. The design keeps it: of the jobs that are late most often, {job}, {share} start in time.")
        if run.meets
        else tr("Asked: {asked}. The design does not keep it: of the jobs {job} only {share} start in time.")
    ).format(asked=wait_text(answer.team), job=words.shortened(one.name), share=words.percent(one.share_within))


def sized_by(answer: TeamAnswer) -> str:
    """Whether the waits or something else set the number of servers."""
    here, needed = answer.run.n_servers, answer.n_servers_for_waits
    if not answer.model.case.queue:
        return ""
    if here <= needed:
        return tr("The waits set the number of servers: with one fewer they are missed.")
    return tr("The waits alone would need {servers}; the rest of the request needs more.",
              servers=words.plural(needed, "server"))  # fmt: skip


def carried(answer: TeamAnswer) -> str:
    """What storage and network carry for all jobs, in one sentence."""
    demand, carries = answer.run.demand, answer.carries
    if demand.worst_bytes_per_s <= 0:
        return tr("No job of the team names a workload, so nothing is known of what they read.")
    rate, load = si(demand.asked_bytes_per_s, "B/s"), words.percent(carries.load_fraction)
    worst, least = si(demand.worst_bytes_per_s, "B/s"), si(carries.bytes_per_s, "B/s")
    if demand.percentile == 1:
        text = tr("At worst the jobs read {worst} together; the design carries {least}.", worst=worst, least=least)
    else:
        text = tr(
            "For {share} of the time the jobs read {rate} or less together, {load} of the {least} that the design "
            "carries; at worst they could read {worst}.",
            share=words.percent(demand.percentile), rate=rate, load=load, least=least, worst=worst,
        )  # fmt: skip
    if demand.worst_bytes_per_s > carries.bytes_per_s:
        text += " " + tr("In the moments beyond what is carried the jobs that read run more slowly; none fails.")
    return text


def fragments(answer: TeamAnswer) -> str:
    """What gang placement costs, in one sentence."""
    lost, idle = answer.run.fragmentation_fraction, answer.run.idle_fraction
    if idle < HARDLY_ANY:
        return tr("Next to no GPU stands idle while a job waits.")
    text = tr("While a job waits, {idle} of the GPUs stand idle, on average over all hours.", idle=words.percent(idle))
    if lost < HARDLY_ANY:
        return text + " " + tr("They are too few for the first in line.")
    if idle - lost < HARDLY_ANY:
        return text + " " + tr("They would be enough for the first in line, but lie scattered over servers.")
    parts = tr(
        "Of these, {lost} would be enough for the first in line, but lie scattered over servers; the rest are too few.",
        lost=words.percent(lost),
    )
    return f"{text} {parts}"
