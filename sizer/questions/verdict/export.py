"""Claims and the simplest sufficient design as plain data."""

from collections.abc import Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.present.design_summary import design_summary
from sizer.present.text.verdict import verdict_text
from sizer.questions.verdict.claim import Claim
from sizer.questions.verdict.simplest_design import RatedDesign, SimplestDesign
from sizer.questions.verdict.text import claim_arithmetic, claim_finding, claim_title, reversal_text
from sizer.sizing.result import SizingResult


def verdict_document(result: SizingResult, claims: Sequence[Claim], simplest: SimplestDesign) -> dict[str, Any]:
    """Whether a design is needed, for machines. Keys of claims stay the same from version to version."""
    return json_document(
        "verdict",
        **fields_of(result, "catalog_digest", "calibration_digest", "needs_cluster"),
        verdict=verdict_text(result),
        design=design_summary(result.design),
        simplest=fields_of(
            simplest,
            "is_described",
            in_the_way=simplest.excluding_choices,
            allowed=_rated(simplest.allowed),
            without_choices=None if simplest.unrestricted is None else _rated(simplest.unrestricted),
        ),
        claims=[_claim(claim) for claim in claims],
    )


def _rated(rated: RatedDesign) -> dict[str, object]:
    return {
        **design_summary(rated.design),
        **fields_of(rated.simplicity, "network_kinds", "devices"),
        "platforms": rated.request.platforms.model_dump(mode="json", exclude_defaults=True),
    }


def _claim(claim: Claim) -> dict[str, object]:
    return fields_of(
        claim,
        *("key", "workload", "holds", "value", "threshold", "unit", "sources"),
        claim=claim_title(claim),
        finding=claim_finding(claim),
        holds_at_most=claim.at_most,
        arithmetic=claim_arithmetic(claim),
        overturned_by=_reversal(claim),
    )


def _reversal(claim: Claim) -> dict[str, object] | None:
    reversal = claim.reversal
    if reversal is None:
        return None
    return {
        "key": reversal.input.key,
        "from": reversal.input.before,
        "still": reversal.last_unchanged,
        "to": reversal.after,
        "sentence": reversal_text(claim),
    }
