"""What fails, what each failure costs and what then helps: one case for every kind of part that a design has."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.losses import Left, Losses
from sizer.sizing.after_loss import Rest, chances, shares, window_s
from sizer.sizing.evaluate import least_chance
from sizer.sizing.failure_drafts import Cases, Draft
from sizer.sizing.result import SizingResult
from sizer.sizing.what_if import Model, models
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
    # enough, and how long the part may be away once in a run; empty where the catalogue no longer holds the parts.
    chance: tuple[float, ...] = ()
    meets: tuple[bool, ...] = ()
    window_s: tuple[float, ...] = ()
    # Whether all targets are still met together at the confidence asked; None where it is not known.
    keeps_targets: bool | None = None


def failure_cases(
    result: SizingResult, catalog: Catalog, calibration: Calibration | None = None
) -> tuple[FailureCase, ...]:
    """Failures of single parts of a design, each with what it costs.

    Parameters
    ----------
    result : SizingResult
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

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
    fitted = calibration if calibration is not None else stored_calibration()
    cases = Cases(result, Losses(result.design.plan))
    drafts = list(cases.drafts())
    outcomes = _Outcomes(result, models(result, catalog, fitted), cases.whole, [d.rests for d in drafts])
    return tuple(outcomes.case(place, draft, cases.loss_of(draft.key)) for place, draft in enumerate(drafts))


class _Outcomes:
    """What the workloads do on each of some rests, worked out for all of them in one pass."""

    def __init__(
        self,
        result: SizingResult,
        found: Sequence[Model | None],
        whole: Left,
        rests: Sequence[tuple[Rest, ...]],
    ) -> None:
        self._answers, self._rests = result.design.workloads, rests
        self._confidence = result.request.confidence
        self._asked = least_chance(self._confidence)
        flat = [rest for some in rests for rest in some]
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
        chance = () if self._chances is None else tuple(self._chances[:, best].tolist())
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
            keeps_targets=self._keeps(best) if meets else None,
        )

    def _keeps(self, index: int) -> bool:
        """Whether all workloads together meet their targets, with the confidence asked, as of the design itself."""
        return self._chances is not None and float(self._chances[:, index].prod()) >= self._asked
