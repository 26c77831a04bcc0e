"""Tables of failures and maintenance: what each costs, whether targets are met, and which losses a design tolerates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sizer.base.quantities import duration, grouped
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text.redundancy import ONE_LOST
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.case_text import ENGINEERING_JUDGEMENT, effect_text, failure_title, remedy_text
from sizer.questions.failures.scenarios import StandbyTakesOver
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
    "coolant-unit": "Coolant distribution unit",
}
# A probability below this prints as none.
_LEAST_PROBABILITY = 0.005
# A shorter outage is of no use for any work on a part.
_LEAST_OUTAGE_S = 60.0


@dataclass(frozen=True)
class _ToleratedLoss:
    """A loss that a request names, with the worst failure of that kind; None where the design has no such part."""

    loss: Loss
    worst: FailureCase | None


def failures_table(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Table | None:
    """Each failure with the remaining throughput, whether the targets are met, and what to do."""
    if not cases:
        return None
    has_team = any(case.within_wait is not None for case in cases)
    fields: list[Field[FailureCase]] = [
        Field("What fails", failure_title, width=17),
        Field("Effect", effect_text, width=29 if has_team else 35),
        Field("Remaining throughput", _shares, "right", 11),
        Field("Targets", targets_text, width=13),
        *([Field("Jobs within wait", _within_wait, "right", 8)] if has_team else []),
        Field("Remedy", remedy_text, width=22 if has_team else 24),
    ]
    note = " ".join(_notes(cases, answers))
    return record_table("failures", "Single failures and what each costs", cases, fields, note=note)


def maintenance_table(cases: Sequence[FailureCase]) -> Table | None:
    """Parts that are taken out one after the other, and whether the targets are met meanwhile."""
    serviced = [case for case in cases if case.key in _SERVICED and case.keeps_targets is not None]
    if not serviced:
        return None
    fields: list[Field[FailureCase]] = [
        Field("Taken out, one at a time", lambda case: _SERVICED[case.key], width=30),
        Field("Targets meanwhile", targets_text, width=25),
        Field("When", _maintenance_text, width=45),
    ]
    return record_table("maintenance", "Maintenance during operation", serviced, fields)


def tolerated_losses_table(losses: Sequence[Loss], cases: Sequence[FailureCase]) -> Table:
    """Losses that the request asks the design to tolerate, with what remains after each."""
    fields: list[Field[_ToleratedLoss]] = [
        Field("Lost", lambda one: words.capital(ONE_LOST[one.loss]), width=18),
        Field(
            "What remains",
            lambda one: "The design has no such part." if one.worst is None else effect_text(one.worst),
            width=46,
        ),
        Field("Remaining throughput", lambda one: "" if one.worst is None else _shares(one.worst), "right", 16),
        Field(
            "Targets",
            lambda one: Cell("met", is_muted=True) if one.worst is None else targets_text(one.worst),
            width=20,
        ),
    ]
    rows = [_ToleratedLoss(loss, _worst([case for case in cases if case.loss == loss])) for loss in losses]
    return record_table("kept-without", "Losses that the request asks the design to tolerate", rows, fields)


def single_failures_table(cases: Sequence[FailureCase], losses: Sequence[Loss]) -> Table | None:
    """Failures of whole devices and feeds, tolerated or not, for a reader who plans operation; None without any.

    ``losses`` are those that the request asks the design to tolerate.
    """
    shown = [case for case in cases if case.key in _SERVICED and case.key != "back-end-switch"]
    if not shown:
        return None

    def result(case: FailureCase) -> Cell:
        is_asked = case.loss in losses
        text = targets_text(case)
        return Cell(f"{text} (requested)" if is_asked else text, is_open=case.keeps_targets is None)

    fields: list[Field[FailureCase]] = [
        Field("What fails", failure_title, width=20),
        Field("Effect", lambda case: effect_text(case).removesuffix(f" {ENGINEERING_JUDGEMENT}"), width=52),
        Field("Rate", _shares, "right", 13),
        Field("Targets", result, width=15),
    ]
    note = (
        "Rate: share of the normal rate, once jobs that stopped run again. Targets: whether a run still meets them if "
        "the part stays out for the whole run, with the probability."
    )
    return record_table("single-failures", "Single failures and what remains after each", shown, fields, note=note)


def tolerated_sentence(losses: Sequence[Loss], cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> str:
    """What remains after each loss that the request asks the design to tolerate; "" where it asks for none."""
    parts = []
    for loss in losses:
        worst = _worst([case for case in cases if case.loss == loss])
        if worst is None:
            continue
        after = f"after the loss of {ONE_LOST[loss]}"
        if worst.keeps_targets is None:
            parts.append(f"{after} it is not known whether the target is met")
            continue
        met = targets_text(worst)
        (answer, share) = min(zip(answers, worst.share, strict=True), key=lambda pair: pair[1])
        target_s = answer.workload.target.time_to_train_s
        if target_s is not None and answer.time is not None and share > 0:
            remains = f"the training takes {duration(float(answer.time.total_s.value) / share)}"
        else:
            remains = f"{_shares(worst)} of the rate {'remain' if share else 'remains'}"
        parts.append(f"{after} {remains} (target {met})")
    return words.sentence("; ".join(parts)) if parts else ""


def _worst(cases: Sequence[FailureCase]) -> FailureCase | None:
    return min(cases, key=lambda case: (bool(case.keeps_targets), sum(case.share), sum(case.probability)), default=None)


def targets_text(case: FailureCase) -> str:
    """Whether the targets are met after a loss, and with which probability."""
    if case.keeps_targets is None:
        return "not known"
    probability = prod(case.probability)
    if case.keeps_targets and len(case.probability) == 1 and words.is_even(probability):
        return f"as likely as not, {words.chance(probability)}"
    if case.keeps_targets:
        return f"met, {words.chance(probability)}"
    if all(case.meets_target):
        return "jobs start too late"  # the targets of the workloads are met; the team waits
    if probability < _LEAST_PROBABILITY:
        if case.too_few_gpus is None:
            return "missed"
        remaining, asked = case.too_few_gpus
        return f"missed, {grouped(remaining)} of {words.plural(asked, 'GPU')}"
    return f"missed, {words.chance(probability)}"


def _shares(case: FailureCase) -> str:
    if not case.rate_is_known:
        return words.NOT_KNOWN
    return words.listed(dict.fromkeys(words.percent(share) if share > 0 else "none" for share in case.share))


def _within_wait(case: FailureCase) -> str:
    return "" if case.within_wait is None else words.percent(case.within_wait)


def _maintenance_text(case: FailureCase) -> str:
    """When a part can be serviced."""
    if case.keeps_targets and case.key == "head" and not isinstance(case.effect, StandbyTakesOver):
        return "any time; no job starts meanwhile"
    if case.keeps_targets:
        return "any time, one after the other"
    if case.keeps_targets is None:
        return "between two runs: whether the targets are met meanwhile is not known"
    outage_s = min(case.outage_s, default=0.0)
    if _LEAST_OUTAGE_S <= outage_s < float("inf"):
        return f"for at most {duration(outage_s)} during a run, or between two runs"
    return "between two runs: the targets are missed as long as it is out"


def _notes(cases: Sequence[FailureCase], answers: Sequence[WorkloadAnswer]) -> Iterator[str]:
    if len(answers) > 1:
        yield "Remaining throughput is the projected share of the normal rate, per workload where they differ."
    if any(case.keeps_targets is not None for case in cases):
        yield (
            "Targets: whether runs still meet them if the part stays out for the whole run, with the probability. A "
            "part that is repaired during the run does less harm."
        )
    if any(case.within_wait is not None for case in cases):
        yield "Jobs within wait: share that starts within its wait limit, for the worst kind of job."
