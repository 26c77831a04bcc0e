"""Figures of a team that is tried, beside those of the team as it is."""

from sizer.base.quantities import grouped, si
from sizer.present.words import percent
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.tables import least_served
from sizer.questions.what_if.answer import Figure


def team_figures(now: TeamAnswer, base: TeamAnswer) -> tuple[Figure, ...]:
    """Who starts in time, what would be enough, how busy the GPUs are, and what is read against what is carried."""
    found = []
    if now.model.case.queue:
        one, before = least_served(now.run, now), least_served(base.run, base)
        found.append(
            Figure(
                "Start in time, at least",
                percent(one.share_within),
                _was(percent(one.share_within), percent(before.share_within)),
            )
        )
    pairs = (
        ("Servers that the waits need", grouped(now.n_servers_for_waits), grouped(base.n_servers_for_waits)),
        ("GPUs busy", percent(now.run.gpus_busy_fraction), percent(base.run.gpus_busy_fraction)),
        ("Read together", si(now.run.demand.asked_bytes_per_s, "B/s"), si(base.run.demand.asked_bytes_per_s, "B/s")),
        ("Of what is carried", percent(now.carries.load_fraction), percent(base.carries.load_fraction)),
    )
    found += [Figure(label, here, _was(here, there)) for label, here, there in pairs]
    return tuple(found)


def _was(here: str, there: str) -> str:
    return "as it is" if here == there else f"as it is: {there}"
