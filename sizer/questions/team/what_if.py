"""What if the team were another: more people, more jobs, another patience or order, on more or fewer servers."""

from dataclasses import dataclass, replace

from sizer.questions.team.analysis import TeamAnswer, team_answer
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.team import JobsADay, QueueOrder, Team, TeamJob


@dataclass(frozen=True)
class TeamChange:
    """What is tried; None leaves it as the request says."""

    data_scientists: int | None = None
    jobs_ratio: float = 1.0  # of the jobs a day of every kind that comes and goes
    wait_s: float | None = None  # of the team; kinds with their own keep it
    order: QueueOrder | None = None
    n_servers: int | None = None  # of the design


def changed_team(team: Team, change: TeamChange) -> Team:
    """The team after a change.

    Parameters
    ----------
    team : Team
    change : TeamChange
        A number of data scientists counts for jobs that are stated by person; others stay as many.

    Raises
    ------
    ValueError
        If jobs become more or fewer than a request may hold.
    """
    data = team.model_dump(exclude_none=True)
    for key, value in (
        ("data_scientists", change.data_scientists),
        ("wait_s", change.wait_s),
        ("order", change.order),
    ):
        if value is not None:
            data[key] = value
    data["job"] = [{**job, **changed_rate(one, change)} for one, job in zip(team.job, data["job"], strict=True)]
    return Team.model_validate(data)


def changed_rate(job: TeamJob, change: TeamChange) -> dict[str, JobsADay]:
    """Jobs a day of one kind after a change, by their key; empty where they stay."""
    if change.jobs_ratio == 1:
        return {}
    stated = {"jobs_a_day": job.jobs_a_day, "jobs_a_day_each": job.jobs_a_day_each}
    return {key: float(f"{value * change.jobs_ratio:.6g}") for key, value in stated.items() if value is not None}


def changed_answer(evaluated: EvaluatedDesign, change: TeamChange) -> TeamAnswer | None:
    """The changed team on the design, or on another number of its servers beside the same storage.

    Parameters
    ----------
    evaluated : EvaluatedDesign
    change : TeamChange

    Returns
    -------
    TeamAnswer or None
        None without a team, and where the catalogue lacks parts of the design.

    Raises
    ------
    RequestError
        If the team starts more jobs than are simulated.
    ValueError
        As :func:`changed_team`.
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
