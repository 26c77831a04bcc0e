"""Figures of a team that is tried, beside those of the team as it is."""

from sizer.base.language import tr
from sizer.base.quantities import grouped, si
from sizer.report.team_tables import least_served
from sizer.report.what_if_answer import Figure
from sizer.report.words import percent
from sizer.sizing.team import TeamAnswer


def team_figures(now: TeamAnswer, base: TeamAnswer) -> tuple[Figure, ...]:
    """Who starts in time, what would be enough, how busy the GPUs are, and what is read against what is carried."""
    found = []
    if now.model.case.queue:
        one, before = least_served(now.run, now), least_served(base.run, base)
        found.append(Figure(tr("Start in time, at least"), percent(one.share_within), _was(percent(one.share_within),
                            percent(before.share_within))))  # fmt: skip
    pairs = (
        (tr("Servers that the waits need"), grouped(now.n_servers_for_waits), grouped(base.n_servers_for_waits)),
        (tr("GPUs busy"), percent(now.run.gpus_busy_fraction), percent(base.run.gpus_busy_fraction)),
        (tr("Read together"), si(now.run.demand.asked_bytes_per_s, "B/s"),
         si(base.run.demand.asked_bytes_per_s, "B/s")),
        (tr("Of what is carried"), percent(now.carries.load_fraction), percent(base.carries.load_fraction)),
    )  # fmt: skip
    found += [Figure(label, here, _was(here, there)) for label, here, there in pairs]
    return tuple(found)


def _was(here: str, there: str) -> str:
    return tr("as it is") if here == there else tr("as it is: {value}", value=there)
