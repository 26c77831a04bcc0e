"""Failures of a design and what it takes to bear them, as plain data."""

import math
from collections.abc import Sequence
from typing import Any

from sizer import __version__
from sizer.questions.failures.analysis import FailureCase
from sizer.sizing.redundancy_cost import SpareCost
from sizer.sizing.result import SCHEMA_VERSION, SizingResult


def failures_document(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> dict[str, Any]:
    """Everything about the cases; a window without an end, and what is not known, is null."""
    return {
        "kind": "failures",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "design": result.design.name,
        "workloads": [answer.workload.name for answer in result.design.workloads],
        "keeps_targets_without": list(result.request.resilience.keeps_targets_without),
        "cases": [_case(case) for case in cases],
        "cost": None if cost is None else _cost(cost, result.request.currency),
    }


def _case(case: FailureCase) -> dict[str, Any]:
    return {
        "key": case.key,
        "loss": case.loss,
        "what": case.what,
        "effect": case.effect,
        "remedy": case.remedy,
        "throughput_samples_per_s": list(case.throughput),
        "share": list(case.share),
        "keeps_targets": case.keeps_targets,
        "probability": list(case.chance),
        "meets_target": list(case.meets),
        "window_s": [None if math.isinf(one) else one for one in case.window_s],
        "starts_in_time": case.starts_in_time,
    }


def _cost(cost: SpareCost, currency: str) -> dict[str, Any]:
    return {
        "without": cost.without.name,
        "n_servers": cost.n_servers,
        "storage_nodes": cost.storage_nodes,
        "switches": cost.switches,
        "rack_units": cost.rack_units,
        "power_max_w": cost.power_w,
        "has_unknown_power": cost.has_unknown_power,
        "priced_lines": str(cost.amount),
        "currency": currency,
        "to_be_quoted": list(cost.open_items),
    }
