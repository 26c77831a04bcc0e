"""What a customer may doubt, as claims: each with its number, its threshold, and the change that turns it round."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sizer.catalog.model import Catalog
from sizer.questions.verdict.claim_draft import Draft, Unit
from sizer.questions.verdict.data_claims import data_claims
from sizer.questions.verdict.reversal import Change, Trials, nearest_change
from sizer.questions.verdict.scale_claims import scale_claims
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult


@dataclass(frozen=True)
class Claim:
    """One claim in favour of the simpler design; whether it holds, and what would turn it round."""

    key: str  # stays the same in files: "one-server"
    workload: str  # its name; "" where the claim is about the whole request
    title: str  # "One server is enough"
    holds: bool
    sentence: str  # the finding with its numbers
    value: float
    threshold: float
    at_most: bool  # the claim holds where the value is at most the threshold; False: at least
    unit: Unit
    reason: str  # the arithmetic
    sources: tuple[str, ...]  # keys of catalog/sources.toml
    overturn: Change | None
    unmoved: str  # what was moved without turning the claim; "" where something does


def claims(evaluated: EvaluatedDesign) -> tuple[Claim, ...]:
    """Claims about a design that make sense for it, each with the nearest request change that overturns it.

    Parameters
    ----------
    evaluated : EvaluatedDesign

    Returns
    -------
    tuple of Claim
        About the whole request first, then workload by workload. Empty where the catalogue no longer holds the parts
        of the design.

    Notes
    -----
    A claim is always stated in favour of the simpler thing, so that a reader sees at a glance what the design rests on.
    Changed requests are sized anew: for one server among all that the request allows, for simple storage on the
    servers of the design, else on its servers, storage and fabric; with a team that last design is held. The change
    found is exact to the step in which it can be written; :mod:`sizer.questions.verdict.reversal` says how.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    found = evaluated.workloads
    known = tuple(model for model in found if model is not None)
    if len(known) < len(found):
        return ()
    trials = Trials(result.request, known, catalog, fitted)
    return tuple(_settled(draft, trials, catalog) for draft in _drafts(result, trials))


def _drafts(result: SizingResult, trials: Trials) -> Iterator[Draft]:
    # Both parts begin with what is about the whole request.
    parts = [list(part(result, trials)) for part in (scale_claims, data_claims)]
    listed = [draft for part in parts for draft in part]
    yield from (draft for draft in listed if not draft.workload)
    yield from (draft for draft in listed if draft.workload)


def _settled(draft: Draft, trials: Trials, catalog: Catalog) -> Claim:
    changes = [nearest_change(trials, lever, partial(draft.is_turned, lever), draft.effect) for lever in draft.levers]
    near = min((one for one in changes if one is not None), key=_distance, default=None)
    moved = ", ".join(dict.fromkeys(lever.what for lever in draft.levers))
    return Claim(
        key=draft.key,
        workload=draft.workload,
        title=draft.title,
        holds=draft.holds,
        sentence=draft.sentence,
        value=draft.value,
        threshold=draft.threshold,
        at_most=draft.at_most,
        unit=draft.unit,
        reason=draft.reason,
        sources=tuple(key for key in dict.fromkeys(draft.sources) if key in catalog.sources),
        overturn=near,
        unmoved=""
        if near is not None
        else f"No sensible change of the request overturns it; looked at: {moved}."
        if moved
        else "Not looked for: with a team every change takes a simulation of its waits.",
    )


def _distance(change: Change) -> float:
    """How far a change goes: the same for twice and for half."""
    return abs(math.log(change.after / change.before))
