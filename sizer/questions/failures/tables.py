"""Tables of failures and maintenance: what each costs, which targets it leaves, and which losses a design bears."""

from collections.abc import Iterator, Sequence

from sizer.base.quantities import duration
from sizer.present import words
from sizer.present.redundancy_text import ONE_LOST
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.failures.analysis import FailureCase
from sizer.sizing.result import WorkloadAnswer
from sizer.workload.request import Loss

# Parts that are taken out for maintenance, by the failure that is the same loss.
_SERVICED = {
    "server": "GPU server",
    "storage-node": "Storage node",
    "leaf": "Switch with servers on it",
    "spine": "Spine switch",
    "core": "Core switch",
    "front-end-switch": "Switch of the storage front end",
    "gateway": "Gateway",
    "back-end-switch": "Back-end switch",
    "management-switch": "Management switch",
    "head": "Head node",
    "power-feed": "PDU or power feed",
}
# A chance below this is not told apart from none.
_LEAST_CHANCE = 0.005
# A shorter time serves no part.
_LEAST_WINDOW_S = 60.0


def failures_table(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Table | None:
    """Each failure with what is left of the throughput, whether the targets are kept, and what to do."""
    if not cases:
        return None
    in_time = any(one.starts_in_time is not None for one in cases)
    heads = [
        ("What fails", "left", 17),
        ("Effect", "left", 29 if in_time else 35),
        ("Throughput left", "right", 11),
        ("Targets", "left", 13),
        *([("Jobs in time", "right", 8)] if in_time else []),
        ("Remedy", "left", 22 if in_time else 24),
    ]
    rows = [
        row(
            words.sentence(one.what).rstrip("."),
            words.sentence(one.effect),
            _shares(one),
            targets_text(one),
            *([_in_time(one)] if in_time else []),
            words.sentence(one.remedy),
        )
        for one in cases
    ]
    return Table(
        "failures",
        "Single failures and what each costs",
        columns(*heads),  # type: ignore[arg-type]
        tuple(rows),
        " ".join(_notes(cases, answers)),
    )


def maintenance_table(cases: Sequence[FailureCase]) -> Table | None:
    """Parts that are taken out one after the other, and whether the targets are met meanwhile."""
    rows = [
        row(_SERVICED[one.key], targets_text(one), _window_text(one))
        for one in cases
        if one.key in _SERVICED and one.keeps_targets is not None
    ]
    if not rows:
        return None
    heads = columns(("Taken out, one at a time", "left", 30), ("Targets meanwhile", "left", 25), ("When", "left", 45))
    return Table("maintenance", "Maintenance in running operation", heads, tuple(rows))


def kept_table(losses: Sequence[Loss], cases: Sequence[FailureCase]) -> Table:
    """Losses that the request asks the design to bear, with what each leaves."""
    heads = columns(
        ("Lost", "left", 18),
        ("What is left", "left", 46),
        ("Throughput left", "right", 16),
        ("Targets", "left", 20),
    )
    return Table("kept-without", "Losses that the design bears", heads, tuple(_kept_rows(losses, cases)))


def _kept_rows(losses: Sequence[Loss], cases: Sequence[FailureCase]) -> Iterator[Row]:
    for loss in losses:
        found = [one for one in cases if one.loss == loss]
        lost = words.sentence(ONE_LOST[loss]).rstrip(".")
        if not found:
            yield row(lost, "The design has no such part.", "", Cell("kept", is_muted=True))
            continue
        worst = min(found, key=lambda one: (bool(one.keeps_targets), sum(one.share), sum(one.chance)))
        yield row(lost, words.sentence(worst.effect), _shares(worst), targets_text(worst))


def targets_text(case: FailureCase) -> str:
    """Whether the targets are kept after a loss, and with which probability."""
    if case.keeps_targets is None:
        return "not known"
    chance = 1.0
    for one in case.chance:
        chance *= one
    if case.keeps_targets:
        return f"kept, {words.percent(min(chance, 0.999))}"
    if all(case.meets):
        return "jobs start too late"  # the targets of the workloads are met; the team waits
    if chance < _LEAST_CHANCE:
        return "missed"
    return f"missed, {words.percent(chance)}"


def _shares(case: FailureCase) -> str:
    return words.listed(dict.fromkeys(words.percent(share) if share > 0 else "none" for share in case.share))


def _in_time(case: FailureCase) -> str:
    return "" if case.starts_in_time is None else words.percent(case.starts_in_time)


def _window_text(case: FailureCase) -> str:
    """When a part can be serviced."""
    if case.keeps_targets and case.key == "head":
        return "any time; no job starts meanwhile"
    if case.keeps_targets:
        return "any time, one after the other"
    window_s = min((one for one in case.window_s), default=0.0)
    if _LEAST_WINDOW_S <= window_s < float("inf"):
        return f"for at most {duration(window_s)} of a run, or between two runs"
    return "between two runs: the targets are missed as long as it is out"


def _notes(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Iterator[str]:
    if len(answers) > 1:
        yield ("Throughput left is the projected share of the normal rate, workload by workload where they differ.")
    if any(one.keeps_targets is not None for one in cases):
        yield (
            "Targets: whether runs that have no more from start to end still meet them, with the "
            "probability of that; a part that comes back during a run does less harm."
        )
    if any(one.starts_in_time is not None for one in cases):
        yield "Jobs in time: share that starts within its wait, of the kind of job that fares worst."
