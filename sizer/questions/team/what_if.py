"""A changed team: more people, more jobs, another queue wait or queue order, on more or fewer servers."""

from dataclasses import dataclass, replace

from sizer.questions.team.analysis import TeamAnswer, team_answer
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.team import JobsADay, QueueOrder, Team, TeamJob


@dataclass(frozen=True)
class TeamChange:
    """Changes of a team; None keeps the value of the request."""

    data_scientists: int | None = None
    jobs_ratio: float = 1.0  # of the jobs a day of every kind that queues
    wait_s: float | None = None  # of the team; kinds with their own target keep it
    order: QueueOrder | None = None
    n_servers: int | None = None  # of the design


def changed_team(team: Team, change: TeamChange) -> Team:
    """The team after a change.

    ``change``: the number of data scientists changes jobs that are stated per person; the others stay. Raises
    ValueError if a number of jobs leaves the range of a request.
    """
    data = team.model_dump(exclude_none=True)
    for key, value in (
        ("data_scientists", change.data_scientists),
        ("wait_s", change.wait_s),
        ("order", change.order),
    ):
        if value is not None:
            data[key] = value
    data["job"] = [{**as_data, **changed_rate(job, change)} for job, as_data in zip(team.job, data["job"], strict=True)]
    return Team.model_validate(data)


def changed_rate(job: TeamJob, change: TeamChange) -> dict[str, JobsADay]:
    """Jobs a day of one kind after a change, by their key; empty if they stay."""
    if change.jobs_ratio == 1:
        return {}
    stated = {"jobs_a_day": job.jobs_a_day, "jobs_a_day_each": job.jobs_a_day_each}
    return {key: float(f"{value * change.jobs_ratio:.6g}") for key, value in stated.items() if value is not None}


def changed_answer(evaluated: EvaluatedDesign, change: TeamChange) -> TeamAnswer | None:
    """The changed team on the design, or on another number of its servers with the same storage.

    None without a team, or if the catalogue lacks parts of the design. Raises RequestError if the team starts too
    many jobs to simulate. Raises ValueError as :func:`changed_team`.
    """
    result = evaluated.result
    team = result.request.team
    if team is None:
        return None
    request = result.request.model_copy(update={"team": changed_team(team, change)})
    design = result.design
    if change.n_servers is not None:
        each = design.n_gpus // design.n_servers
        design = replace(design, n_servers=change.n_servers, n_gpus=each * change.n_servers)
    return team_answer(replace(evaluated, result=replace(result, request=request, design=design)))
