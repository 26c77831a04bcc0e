"""The design as one JSON document: the request, the answer, the bill and the digests that reproduce it."""

import datetime
import json
import math
from decimal import Decimal
from typing import Any

from sizer import __version__
from sizer.base.estimate import Estimate
from sizer.base.money import percent
from sizer.bom.bill import Bill, BillLine, Sum
from sizer.export.plan_json import plan_document
from sizer.sizing.result import SCHEMA_VERSION, DesignAnswer, ParetoPoint, SizingResult, WorkloadAnswer

KIND = "design"
# What a customer's copy does not say of the quote: that it is nothing would be no answer either.
_NOT_TOLD = {"quote": {"discount_percent", "override", "line"}}


def design_document(result: SizingResult) -> dict[str, Any]:
    """Everything about one answer as plain data; ``SizingRequest.from_file`` reads the request back from it.

    Unknown numbers and limits that do not exist are ``null``.
    """
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "catalog_digest": result.catalog_digest,
        "calibration_digest": result.calibration_digest,
        "request": result.request.model_dump(
            mode="json", exclude_none=True, exclude=_NOT_TOLD if result.design.bill.is_customer_copy else None
        ),
        "verdict": result.verdict,
        "needs_cluster": result.needs_cluster,
        "advice": list(result.advice),
        "selection": result.selection,
        "design": _design(result.design),
        "plan": plan_document(result.design.plan),
        "bill": _bill(result.design.bill),
        "platforms": [summary_of(design) for design in result.platforms],
        "runner_up": None if result.runner_up is None else _point(result.runner_up),
        "runner_up_reason": result.runner_up_reason,
        "pareto": [_point(point) for point in result.pareto],
        "deciding_prices": list(result.deciding_prices),
        "n_designs": result.n_designs,
        "ruled_out": dict(result.ruled_out),
        "assumptions": [
            {"what": one.what, "value": one.value, "basis": one.basis, "source": one.source, "note": one.note}
            for one in result.assumptions
        ],
        "questions": list(result.questions),
        "sources": list(result.sources),
    }


def projection_document(design: DesignAnswer) -> dict[str, Any]:
    """One given cluster and how its workloads run, without a search.

    What the first workload reaches stands at the top as well, where a program looks first.
    """
    first = _workload(design.workloads[0])
    shown = ("samples_per_s", "storage_bytes_per_s", "cpu_utilization_fraction", "bottleneck", "stages")
    return {
        "kind": "projection",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        **{key: first[key] for key in shown},
        "design": _design(design),
        "bill": _bill(design.bill),
    }


def to_json(document: dict[str, Any]) -> str:
    """Canonical text of a document: sorted keys, two blanks of indent, a line feed at the end."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _design(design: DesignAnswer) -> dict[str, Any]:
    counts, platform = design.quantities, design.platform
    return {
        "name": design.name,
        "server": platform.server.id,
        "gpu": platform.gpu.id,
        "gpus_per_server": platform.gpus_per_server,
        "storage": platform.storage.id,
        "fabric": platform.fabric,
        "n_servers": design.n_servers,
        "n_gpus": design.n_gpus,
        "storage_nodes": design.storage_nodes,
        "probability": _number(design.probability),
        "binding_limit": design.binding_limit,
        "rack_units": _number(counts.rack_units[0]),
        "racks": int(counts.racks[0]),
        "power_typical_w": _number(counts.power_typical_w[0]),
        "power_max_w": _number(counts.power_max_w[0]),
        "weight_kg": _number(counts.weight_kg[0]),
        "unknown_power": list(counts.unknown_power),
        "unknown_weight": list(counts.unknown_weight),
        "raw_bytes": _number(counts.raw_bytes[0]),
        "usable_bytes": _number(counts.usable_bytes[0]),
        "components": [
            {
                "role": part.role,
                "category": part.category,
                "item": part.item,
                "quantity": int(part.quantity[0]),
                "note": part.note,
            }
            for part in counts.components
            if int(part.quantity[0])
        ],
        "networks": [
            {
                "name": net.name,
                "kind": net.kind,
                "switch": net.switch,
                "end_points": int(net.end_points[0]),
                "leaves": int(net.leaves[0]),
                "spines": int(net.spines[0]),
                "spine": net.spine,
                "cores": int(net.cores[0]),
                "leaf_spine_cables": int(net.leaf_spine_cables[0]),
                "spine_core_cables": int(net.spine_core_cables[0]),
                "rails": net.rails,
                "subnet_manager": net.subnet_manager or None,
                "ports_used": int(net.ports_used[0]),
                "ports_free": int(net.ports_free[0]),
                "oversubscription": _number(net.oversubscription[0]),
                "gateways": int(net.gateways[0]),
                "gateway_uplinks": int(net.gateway_uplinks[0]),
            }
            for net in counts.networks
        ],
        "workloads": [_workload(answer) for answer in design.workloads],
        "warnings": list(design.warnings),
    }


def _workload(answer: WorkloadAnswer) -> dict[str, Any]:
    time = answer.time
    return {
        "name": answer.workload.name,
        "dnn": answer.dnn.id,
        "dataset": answer.dataset.id,
        "stack": answer.stack.id,
        "recipe": None if answer.recipe is None else answer.recipe.id,
        "batch_per_gpu": answer.batch_per_gpu,
        "dataset_bytes": _number(answer.dataset_bytes),
        "sample_bytes": _number(answer.sample_bytes),
        "target": answer.target,
        "meets_target": bool(answer.meets_target),
        "probability": _number(answer.probability),
        "samples_per_s": _estimate(answer.throughput),
        "storage_bytes_per_s": _estimate(answer.storage_bytes_per_s),
        "cold_storage_bytes_per_s": _estimate(answer.cold_storage_bytes_per_s),
        "cpu_utilization_fraction": _estimate(answer.cpu_utilization_fraction),
        "gpu_busy_fraction": _number(answer.gpu_busy_fraction),
        "cache_hit_fraction": _number(answer.cache_hit_fraction),
        "scaling_efficiency": _number(answer.scaling_efficiency),
        "bottleneck": answer.bottleneck,
        "next_bottleneck": answer.next_bottleneck,
        "stages": {
            stage.key: {
                "capacity_samples_per_s": _estimate(stage.capacity),
                "load_fraction": _number(stage.load_fraction),
                "is_limiting": bool(stage.is_limiting),
                "how": stage.how,
                "sources": list(stage.sources),
            }
            for stage in answer.stages
        },
        "time": None
        if time is None
        else {
            "epochs": _estimate(time.epochs),
            "start_up_s": _number(time.start_up_s),
            "first_epoch_s": _estimate(time.first_epoch_s),
            "epoch_s": _estimate(time.epoch_s),
            "evaluations_s": _estimate(time.evaluations_s),
            "total_s": _estimate(time.total_s),
        },
        "evidence": [
            {
                "id": one.id,
                "source": one.source,
                "where": one.where,
                "what": one.what,
                "n_gpus": int(one.n_gpus),
                "published_samples_per_s": _number(one.published),
                "predicted_samples_per_s": _estimate(one.predicted),
                "calibrates": bool(one.calibrates),
            }
            for one in answer.evidence
        ],
        "gpu_log_sd": {name: _number(value) for name, value in vars(answer.gpu_spread).items()},
        "extrapolations": list(answer.extrapolations),
        "warnings": list(answer.warnings),
    }


def summary_of(design: DesignAnswer) -> dict[str, Any]:
    """A design beside others in a few numbers."""
    return {
        "name": design.name,
        "server": design.platform.server.id,
        "storage": design.platform.storage.id,
        "n_servers": design.n_servers,
        "n_gpus": design.n_gpus,
        "storage_nodes": design.storage_nodes,
        "probability": _number(design.probability),
        "rack_units": _number(design.quantities.rack_units[0]),
        "power_max_w": _number(design.quantities.power_max_w[0]),
        "total": _total(design.bill),
        "total_is_complete": design.bill.is_complete,
        "throughput_samples_per_s": [_estimate(answer.throughput) for answer in design.workloads],
    }


def _point(point: ParetoPoint) -> dict[str, Any]:
    return {
        "name": point.name,
        "server": point.server,
        "storage": point.storage,
        "n_servers": point.n_servers,
        "n_gpus": point.n_gpus,
        "storage_nodes": point.storage_nodes,
        "throughput_samples_per_s": _number(point.throughput_samples_per_s),
        "time_s": _number(point.time_s),
        "power_w": _number(point.power_w),
        "rack_units": _number(point.rack_units),
        "cost": None if point.cost is None else _number(point.cost),
        "is_documented": bool(point.is_documented),
    }


def _bill(bill: Bill) -> dict[str, Any]:
    return {
        "currency": bill.currency,
        "list_total": None if bill.is_customer_copy else _sum(bill.list_total),
        "net_total": _sum(bill.net_total),
        "deal_discount_percent": None if bill.is_customer_copy else percent(bill.deal_discount_percent),
        "total": _total(bill),
        "total_is_complete": bill.is_complete,
        "one_off": _sum(bill.one_off),
        "recurring": _sum(bill.recurring),
        "yearly": _sum(bill.yearly),
        "valid_until": _day(bill.valid_until),
        "longest_lead_weeks": bill.longest_lead_weeks,
        "unpriced": list(bill.unpriced),
        "warnings": list(bill.warnings),
        "lines": [_line(line, bill.is_customer_copy) for line in bill.lines],
    }


def _line(line: BillLine, is_customer_copy: bool) -> dict[str, Any]:
    """One line of a bill; a customer's copy knows neither list price nor discount."""
    return {
        "line": line.line,
        "group": line.group,
        "category": line.category,
        "item": line.item or None,
        "manufacturer": line.manufacturer,
        "sku": line.sku or None,
        "description": line.description,
        "quantity": line.quantity,
        "unit": line.unit,
        "unit_list_price": None if is_customer_copy else _money(line.unit_price),
        "discount_percent": None if is_customer_copy else percent(line.discount_percent),
        "unit_net_price": _money(line.unit_net_price),
        "extended_list": None if is_customer_copy else _money(line.extended_list),
        "extended_net": _money(line.extended_net),
        "term_months": line.term_months,
        "lead_time_weeks": line.lead_time_weeks,
        "power_max_w": line.power_max_w,
        "power_typical_w": line.power_typical_w,
        "rack_units": line.rack_units,
        "weight_kg": line.weight_kg,
        "price_date": line.price_date or None,
        "price_source": line.price_source or None,
        "price_valid_until": _day(line.price_valid_until),
        "status": line.status,
        "change": line.change or None,
        "note": line.note,
    }


def _day(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()


def _money(amount: Decimal | None) -> str | None:
    """Money as decimal text: a float would not hold every cent."""
    return None if amount is None else f"{amount:.2f}"


def _total(bill: Bill) -> str | None:
    return None if bill.net_total.is_unknown else _money(bill.total)


def _sum(amount: Sum) -> str | None:
    """Sum of the priced lines; null where nothing is priced."""
    return None if amount.is_unknown else _money(amount.amount)


def _number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def _estimate(interval: Estimate) -> dict[str, float | None]:
    value, low, high = interval
    return {"value": _number(value), "low": _number(low), "high": _number(high)}
