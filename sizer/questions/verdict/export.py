"""Claims and the simplest sufficient design as plain data."""

from collections.abc import Sequence
from typing import Any

from sizer.base.json_document import fields_of, json_document
from sizer.present.design_summary import design_summary
from sizer.present.verdict_text import verdict_text
from sizer.questions.verdict.analysis import Claim
from sizer.questions.verdict.reversal import Change
from sizer.questions.verdict.simplest_design import Simple, SimplestDesign
from sizer.sizing.result import SizingResult


def verdict_document(result: SizingResult, claims: Sequence[Claim], simple: SimplestDesign) -> dict[str, Any]:
    """Whether a design is needed, for machines. Keys of claims stay the same from version to version."""
    return json_document(
        "verdict",
        **fields_of(result, "catalog_digest", "calibration_digest", "needs_cluster"),
        verdict=verdict_text(result),
        design=design_summary(result.design),
        simplest=fields_of(
            simple,
            *("is_described", "in_the_way"),
            allowed=_simple(simple.allowed),
            without_choices=None if simple.lifted is None else _simple(simple.lifted),
        ),
        claims=[_claim(claim) for claim in claims],
    )


def _simple(simple: Simple) -> dict[str, object]:
    return {
        **design_summary(simple.design),
        **fields_of(simple.simplicity, "network_kinds", "devices"),
        "platforms": simple.request.platforms.model_dump(mode="json", exclude_defaults=True),
    }


def _claim(claim: Claim) -> dict[str, object]:
    return fields_of(
        claim,
        *("key", "workload", "holds", "value", "threshold", "unit", "sources"),
        claim=claim.title,
        finding=claim.sentence,
        holds_at_most=claim.at_most,
        arithmetic=claim.reason,
        overturned_by=None if claim.overturn is None else _change(claim.overturn),
    )


def _change(change: Change) -> dict[str, object]:
    return fields_of(change, "key", "still", "sentence", **{"from": change.before, "to": change.after})
