"""What fails, what each failure costs and what then helps: one case for every kind of part that a design has."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sizer.physical.losses import Losses, Remaining
from sizer.questions.failures.after_loss import Rest, chances, shares, window_s
from sizer.questions.failures.cases import Cases, Draft
from sizer.questions.team.analysis import TeamModel, team_model
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import SizingResult
from sizer.sizing.stages.evaluate import least_chance
from sizer.workload.request import Loss


@dataclass(frozen=True)
class FailureCase:
    """One failure."""

    key: str
    what: str  # "One GPU server fails"
    effect: str  # one sentence
    remedy: str
    throughput: tuple[float, ...]  # of every workload after it, at the median; 0: it stops [samples/s]
    share: tuple[float, ...]  # of its normal rate, 0..1
    loss: Loss | None = None  # the kind of loss that a request can ask a design to bear
    # Of every workload: the probability that a run meets the target if the part is away all the time, whether that is
    # enough, and how long the part may be away once in a run; empty where the catalogue no longer holds the parts, and
    # where no source says whether the data survive.
    chance: tuple[float, ...] = ()
    meets: tuple[bool, ...] = ()
    window_s: tuple[float, ...] = ()
    # Share of the jobs of the team that start in time on the servers that are left, of the kind that fares worst.
    starts_in_time: float | None = None
    # Whether all targets are still met together at the confidence asked, and the waits of a team; None where it is
    # not known.
    keeps_targets: bool | None = None


def failure_cases(evaluated: EvaluatedDesign) -> tuple[FailureCase, ...]:
    """Failures of single parts of a design, each with what it costs.

    Parameters
    ----------
    evaluated : EvaluatedDesign

    Returns
    -------
    tuple of FailureCase
        In the order of the data path: compute, storage, fabric, management, power. Only parts that the design has.

    Notes
    -----
    A target is judged with the probability that the request asks for, of runs that have no more from their start to
    their end. Planned maintenance is the same with one part after the other taken out.

    Rates are those of the same models on what is left: fewer servers or storage nodes, ports that are cut off, and
    the share of its uplinks that the worst switch keeps. Switches are taken to route around a loss. What a repair
    takes from the read rate, and how long it lasts, is not modelled; how often parts fail is not published for these
    systems. Both are left out rather than guessed.
    """
    result = evaluated.result
    cases = Cases(result, Losses(result.design.plan))
    drafts = list(cases.drafts())
    found = evaluated.workloads
    outcomes = _Outcomes(result, found, cases.whole, [draft.rests for draft in drafts], team_model(evaluated))
    return tuple(outcomes.case(place, draft, cases.loss_of(draft.key)) for place, draft in enumerate(drafts))


class _Outcomes:
    """What the workloads do on each of some rests, worked out for all of them in one pass."""

    def __init__(
        self,
        result: SizingResult,
        found: Sequence[WorkloadOnDesign | None],
        whole: Remaining,
        rests: Sequence[tuple[Rest, ...]],
        team: TeamModel | None,
    ) -> None:
        self._answers, self._rests = result.design.workloads, rests
        self._confidence = result.request.confidence
        self._asked = least_chance(self._confidence)
        flat = [rest for some in rests for rest in some]
        runs = {count: team.on(count) for count in {rest.left.n_servers for rest in flat} if count} if team else {}
        # No job starts that cannot read its data.
        self._runs = [runs.get(rest.left.n_servers) if rest.left.reaches_storage else None for rest in flat]
        self._has_team = team is not None
        starts = np.cumsum([0, *(len(some) for some in rests)])
        self._places = [range(first, last) for first, last in pairwise(starts.tolist())]
        pairs = list(zip(found, self._answers, strict=True))
        self._shares = np.array([shares(model, answer, whole, flat) for model, answer in pairs])
        known = [model for model in found if model is not None]
        self._chances = np.array([chances(model, flat) for model in known]) if len(known) == len(pairs) else None

    def case(self, place: int, draft: Draft, loss: Loss | None) -> FailureCase:
        """The case of a draft."""
        best = max(self._places[place], key=lambda index: (self._keeps(index), float(self._shares[:, index].sum())))
        share = tuple(self._shares[:, best].tolist())
        chance = tuple(self._chances[:, best].tolist()) if self._chances is not None and draft.is_certain else ()
        meets = tuple(one >= self._asked for one in chance)
        return FailureCase(
            key=draft.key,
            what=draft.what,
            effect=draft.effect(self._rests[place][best - self._places[place].start].left),
            remedy=draft.remedy,
            throughput=tuple(
                part * float(answer.throughput.value) for part, answer in zip(share, self._answers, strict=True)
            ),
            share=share,
            loss=loss,
            chance=chance,
            meets=meets,
            window_s=tuple(
                window_s(answer, part, self._confidence, is_met=is_met)
                for answer, part, is_met in zip(self._answers, share, meets, strict=bool(meets))
            ),
            starts_in_time=self._in_time(best),
            keeps_targets=self._keeps(best) if meets else None,
        )

    def _keeps(self, index: int) -> bool:
        """Whether all workloads together meet their targets, with the confidence asked, as of the design itself."""
        run = self._runs[index]
        waits = not self._has_team or (run is not None and run.meets)
        return self._chances is not None and waits and float(self._chances[:, index].prod()) >= self._asked

    def _in_time(self, index: int) -> float | None:
        """Share of the jobs that start in time, of the kind that fares worst; None without a team."""
        if not self._has_team:
            return None
        run = self._runs[index]
        return 0.0 if run is None else min((kind.share_within for kind in run.kinds), default=1.0)
