"""Claims that challenge the need for a design, each with its number, its threshold and the change that reverses it."""

from collections.abc import Iterator
from dataclasses import replace

from sizer.catalog.model import Catalog
from sizer.questions.verdict.claim import Claim, ClaimDraft
from sizer.questions.verdict.data_claims import data_claims
from sizer.questions.verdict.reversal import RequestInput, ResizedRequests, nearest_of
from sizer.questions.verdict.scale_claims import scale_claims
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult


def claims(evaluated: EvaluatedDesign) -> tuple[Claim, ...]:
    """Claims that apply to a design, each with the nearest request change that reverses it.

    A claim always favours the simpler option, so that a reader sees at a glance which requirement the design depends
    on. Changed requests are resized: ``one-server`` among all servers that the request allows, ``simple-storage`` on
    the servers of the design with any drives or file server, the others on the servers, storage and fabric of the
    design. With a team the design stays fixed. The change found is exact to the step in which it can be written;
    :mod:`sizer.questions.verdict.reversal` says how.

    About the whole request first, then workload by workload. Empty where the catalogue no longer holds the parts of
    the design.
    """
    models = tuple(model for model in evaluated.workloads if model is not None)
    if len(models) < len(evaluated.workloads):
        return ()
    resized = ResizedRequests(evaluated.result.request, models, evaluated.catalog, evaluated.calibration)
    return tuple(_settled(draft, resized, evaluated.catalog) for draft in _drafts(evaluated.result, resized))


def _drafts(result: SizingResult, resized: ResizedRequests) -> Iterator[ClaimDraft]:
    # Both parts begin with what is about the whole request.
    serves = all(answer.serving is not None for answer in result.design.workloads)
    drafts = [*scale_claims(result, resized), *(() if serves else data_claims(result, resized))]
    yield from (draft for draft in drafts if not draft.claim.workload)
    yield from (draft for draft in drafts if draft.claim.workload)


def _settled(draft: ClaimDraft, resized: ResizedRequests, catalog: Catalog) -> Claim:
    """The claim of a draft with the nearest change that reverses it."""

    def is_reversed(moved: RequestInput, value: float) -> bool | None:
        holds = draft.holds_at(moved, value)
        return None if holds is None else holds is not draft.claim.holds

    nearest = nearest_of(resized, draft.inputs, is_reversed)
    sources = tuple(key for key in dict.fromkeys(draft.claim.sources) if key in catalog.sources)
    return replace(draft.claim, sources=sources, reversal=nearest, tested_inputs=draft.inputs)
