"""The chapter on the team: its jobs, how long they wait, and what storage and network carry for them."""

from typing import Any

from sizer.base.quantities import si
from sizer.guide.chapters.case import Case
from sizer.present import words
from sizer.present.figures import charted
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.charts import reads_chart, waits_chart
from sizer.questions.team.tables import (
    NEGLIGIBLE_SHARE,
    demand_table,
    erlang_table,
    gpus_table,
    jobs_table,
    least_served,
    sizes_table,
    sources_table,
    wait_text,
    waits_table,
)
from sizer.questions.team.text import assumptions


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
        ("Each line is one kind of job; the marked one is the kind that is late most often with fewer servers."),
    )
    return {
        "verdict": verdict(answer),
        "sized_by": sized_by(answer),
        "carried": carried(answer),
        "jobs": jobs_table(answer),
        "origins": sources_table(answer) if is_full else None,
        "waits": waits_table(answer),
        "waits_chart": waits,
        "sizes": sizes_table(answer) if is_full else None,
        "erlang": erlang_table(answer) if is_full else None,
        "demand": demand_table(answer),
        # One chart is enough for a customer; without a queue it is that of the reads.
        "reads_chart": charted(
            "team-reads-chart",
            reads_chart(answer, case.palette) if is_full or waits is None else None,
            "For each share of the time, the rate that all running jobs together stay at or below.",
        ),
        "gpus": gpus_table(answer.run) if is_full else None,
        "fragments": fragments(answer) if answer.model.case.queue else "",
        "assumptions": list(assumptions(answer)),
    }


def verdict(answer: TeamAnswer) -> str:
    """Whether the jobs start in time, in one sentence."""
    run = answer.run
    if not answer.model.case.queue:
        if run.all_placed:
            return "All jobs always run, and all have their GPUs at once; nobody waits."
        return "Not all jobs that always run have their GPUs at once."
    one = least_served(run, answer)
    return (
        ("Asked: {asked}. The design keeps it: of the jobs that are late most often, {job}, {share} start in time.")
        if run.meets
        else ("Asked: {asked}. The design does not keep it: of the jobs {job} only {share} start in time.")
    ).format(asked=wait_text(answer.team), job=words.shortened(one.name), share=words.percent(one.share_within))


def sized_by(answer: TeamAnswer) -> str:
    """Whether the waits or something else set the number of servers."""
    here, needed = answer.run.n_servers, answer.n_servers_for_waits
    if not answer.model.case.queue:
        return ""
    if here <= needed:
        return "The waits set the number of servers: with one fewer they are missed."
    return f"The waits alone would need {words.plural(needed, 'server')}; the rest of the request needs more."


def carried(answer: TeamAnswer) -> str:
    """What storage and network carry for all jobs, in one sentence."""
    demand, carries = answer.run.demand, answer.read_capacity
    if demand.worst_bytes_per_s <= 0:
        return "No job of the team names a workload, so nothing is known of what they read."
    rate, load = si(demand.asked_bytes_per_s, "B/s"), words.percent(carries.load_fraction)
    worst, least = si(demand.worst_bytes_per_s, "B/s"), si(carries.bytes_per_s, "B/s")
    if demand.percentile == 1:
        text = f"At worst the jobs read {worst} together; the design carries {least}."
    else:
        text = (
            f"For {words.percent(demand.percentile)} of the time the jobs read {rate} or less "
            f"together, {load} of the {least} that the design carries; at worst they could read "
            f"{worst}."
        )
    if demand.worst_bytes_per_s > carries.bytes_per_s:
        text += " " + "In the moments beyond what is carried the jobs that read run more slowly; none fails."
    return text


def fragments(answer: TeamAnswer) -> str:
    """What gang placement costs, in one sentence."""
    lost, idle = answer.run.fragmentation_fraction, answer.run.idle_fraction
    if idle < NEGLIGIBLE_SHARE:
        return "Next to no GPU stands idle while a job waits."
    text = f"While a job waits, {words.percent(idle)} of the GPUs stand idle, on average over all hours."
    if lost < NEGLIGIBLE_SHARE:
        return text + " " + "They are too few for the first in line."
    if idle - lost < NEGLIGIBLE_SHARE:
        return text + " " + "They would be enough for the first in line, but lie scattered over servers."
    parts = (
        f"Of these, {words.percent(lost)} would be enough for the first in line, but lie "
        "scattered over servers; the rest are too few."
    )
    return f"{text} {parts}"
