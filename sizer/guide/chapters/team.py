"""Chapter on the team: its jobs, their queue wait, their reads, and GPU utilization."""

from typing import Any

from sizer.base.quantities import by_count, duration, grouped, si
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.text.money import servers_price_text
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.text import (
    NEGLIGIBLE_SHARE,
    demand_table,
    jobs_table,
    least_served,
    sizes_table,
    wait_text,
    waits_table,
)


def applies(context: GuideContext) -> bool:
    """Whether the request names a team."""
    return context.result.request.team is not None and context.team is not None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/team.html`` prints."""
    answer = context.team
    assert answer is not None  # the chapter would not apply
    return {
        "verdict": verdict(answer),
        "sizing_driver": sizing_driver(answer),
        "read_load": read_load(answer),
        # The team of the request says it of jobs whose reads nobody states.
        "jobs": jobs_table(answer) if any(job.samples_per_s for job in answer.model.jobs) else None,
        "waits": waits_table(answer),
        "sizes": None if context.is_single else sizes_table(answer),
        "demand": demand_table(answer),
    }


def verdict(answer: TeamAnswer) -> str:
    """Whether the jobs start within their wait limit."""
    run = answer.run
    if not answer.model.case.queue:
        if run.all_placed:
            return "All jobs run permanently and all have their GPUs; there is no queue wait."
        return "Not all permanently running jobs have their GPUs at the same time."
    kind = least_served(run, answer)
    meets = "meets" if run.meets else "does not meet"
    share = words.percent(kind.share_within)
    return (
        f"The design {meets} the target ({wait_text(answer.team)}). "
        f"Lowest share of all job types: {words.shortened(kind.name)}, {share} start within the limit."
    )


def turns_text(context: GuideContext) -> tuple[str, str]:
    """What the jobs of the team wait while a sized training runs; servers that hold both at once, and their cost."""
    team, design, runs = context.team, context.design, context.taking_turns
    assert team is not None  # its jobs take turns
    longest = max(runs, key=lambda run: 0.0 if run.time is None else float(run.time.total_s.value))
    lasts = "" if longest.time is None else f" for {duration(float(longest.time.total_s.value))}"
    gpus = f"{grouped(design.gpus_at_work(longest))} of {words.plural(design.n_gpus, 'GPU')}"
    stops = "; jobs that always run stop for it" if any(job.always_running for job in team.team.job) else ""
    both = context.servers_of_runs + team.n_servers_for_waits
    price = servers_price_text(context.result, both - design.n_servers)
    money = f", {price} more for the servers alone" if price else ""
    wait = f"in turns: {longest.workload.name} takes {gpus}{lasts}, and jobs wait until it ends{stops}"
    return wait, f"{grouped(both)} servers hold both at once{money}"


def sizing_driver(answer: TeamAnswer) -> str:
    """Whether the queue wait or another requirement determines the number of servers; "" without a queue."""
    if not answer.model.case.queue:
        return ""
    needed = answer.n_servers_for_waits
    if answer.run.n_servers == 1:
        return "One server is enough for the queue wait." if answer.run.meets else ""
    if answer.run.n_servers <= needed:
        return "The queue wait determines the number of servers: with one server fewer, the target is missed."
    return f"The queue wait alone needs {words.plural(needed, 'server')}; other requirements need more."


def read_load(answer: TeamAnswer) -> str:
    """Concurrent reads of all jobs compared with what storage and network deliver."""
    demand, supply = answer.run.demand, answer.read_capacity
    if demand.worst_bytes_per_s <= 0:
        return "No job of the team names a workload, so their reads are unknown."
    peak, available = si(demand.worst_bytes_per_s, "B/s"), si(supply.bytes_per_s, "B/s")
    if demand.percentile == 1:
        text = f"The peak read rate of all jobs is {peak}; the design delivers {available}."
    else:
        rate = si(demand.asked_bytes_per_s, "B/s")
        text = (
            f"For {words.percent(demand.percentile)} of the time, all jobs together read at most {rate}, "
            f"{words.percent(supply.load_fraction)} of the {available} that the design delivers; the peak is {peak}."
        )
    if uncounted := [words.shortened(job.job.name) for job in answer.model.jobs if job.is_uncounted]:
        verb = by_count(len(uncounted), "reads", "read")
        text += f" What {words.listed(uncounted)} {verb} is not stated, and adds to it."
    if demand.worst_bytes_per_s > supply.bytes_per_s:
        text += " Above that rate, reading jobs slow down; none fails."
    return text


def fragmentation(answer: TeamAnswer) -> str:
    """GPUs that are idle while jobs wait, and why."""
    scattered, idle = answer.run.fragmentation_fraction, answer.run.idle_fraction
    if idle < NEGLIGIBLE_SHARE:
        return "Almost no GPU is idle while a job waits."
    text = f"While a job waits, {words.percent(idle)} of the GPUs are idle, averaged over all hours."
    if scattered < NEGLIGIBLE_SHARE:
        return f"{text} They are too few for the first job in the queue."
    if idle - scattered < NEGLIGIBLE_SHARE:
        return f"{text} They would be enough for the first job in the queue but are spread over several servers."
    return (
        f"{text} Of these, {words.percent(scattered)} would be enough for the first job in the queue "
        "but are spread over several servers; the others are too few."
    )
