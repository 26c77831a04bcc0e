"""Claims and the simplest sufficient design as plain data."""

from collections.abc import Sequence
from typing import Any

from sizer import __version__
from sizer.export.design_json import summary_of
from sizer.questions.verdict.analysis import Claim
from sizer.questions.verdict.reversal import Change
from sizer.questions.verdict.simplest_design import Simple, SimplestDesign
from sizer.sizing.result import SCHEMA_VERSION, SizingResult


def verdict_document(result: SizingResult, found: Sequence[Claim], simple: SimplestDesign) -> dict[str, Any]:
    """Whether a design is needed, for machines. Keys of claims stay the same from version to version."""
    return {
        "kind": "verdict",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "catalog_digest": result.catalog_digest,
        "calibration_digest": result.calibration_digest,
        "verdict": result.verdict,
        "needs_cluster": result.needs_cluster,
        "design": summary_of(result.design),
        "simplest": {
            "is_described": simple.is_described,
            "allowed": _simple(simple.allowed),
            "without_choices": None if simple.lifted is None else _simple(simple.lifted),
            "in_the_way": list(simple.in_the_way),
        },
        "claims": [_claim(claim) for claim in found],
    }


def _simple(one: Simple) -> dict[str, Any]:
    return {
        **summary_of(one.design),
        "network_kinds": one.simplicity.network_kinds,
        "devices": one.simplicity.devices,
        "platforms": one.request.platforms.model_dump(mode="json", exclude_defaults=True),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "key": claim.key,
        "workload": claim.workload,
        "claim": claim.title,
        "holds": claim.holds,
        "finding": claim.sentence,
        "value": claim.value,
        "threshold": claim.threshold,
        "holds_at_most": claim.at_most,
        "unit": claim.unit,
        "arithmetic": claim.reason,
        "sources": list(claim.sources),
        "overturned_by": None if claim.overturn is None else _change(claim.overturn),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "key": change.key,
        "from": change.before,
        "still": change.still,
        "to": change.after,
        "sentence": change.sentence,
    }
