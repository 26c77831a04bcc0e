"""The design as one JSON document: the request, the answer, the bill and the digests that reproduce it."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sizer.base.errors import InfeasibleError
from sizer.base.formats.json_document import fields_of, json_document, sealed
from sizer.base.money import percent
from sizer.bom.bill import Bill, BillLine, Sum
from sizer.bom.cost import CostInterval
from sizer.catalog.model import Catalog
from sizer.physical.components import Network, Quantities
from sizer.physical.plan import CABLE_CATEGORY, PlacedDevice, PlacedRack, Plan
from sizer.physical.platform import SecondTier, page_cache_bytes
from sizer.physical.quantities import ExistingUse
from sizer.present.design_summary import design_summary, tier_fields
from sizer.present.text.assumptions import AssumptionRow, assumption_rows, question_texts
from sizer.present.text.bill_warnings import bill_warning_sentences, change_text, note_text
from sizer.present.text.calibration import note_texts
from sizer.present.text.design_size import binding_text, limit_text
from sizer.present.text.plan import note_text as plan_note_text
from sizer.present.text.plan import notes_text, part_note_text, question_text
from sizer.present.text.result_text import cautions
from sizer.present.text.stages import measurement_text, stage_text
from sizer.present.text.verdict import reason_texts, runner_up_text, selection_text, verdict_text
from sizer.present.text.warnings import design_warnings
from sizer.questions.maximum.text import maximum_content
from sizer.questions.ownership.analysis import ownership
from sizer.questions.ownership.text import ownership_content
from sizer.sizing.checks import DesignCheck, MissingFact, bound_of
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.design.storage_need import demand_over_time
from sizer.sizing.reasons import StorageNeed
from sizer.sizing.result import DesignAnswer, ParetoPoint, SizingResult, Stage, WorkloadAnswer
from sizer.sizing.size import size
from sizer.sizing.stages.language_rates import LanguageAnswer
from sizer.sizing.stages.serving_rates import ServingAnswer
from sizer.sizing.stages.sharding import Sharding
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reading import READ_FROM_A_FILE, Reading
from sizer.workload.target_text import target_text


def plan_content(plan: Plan) -> dict[str, object]:
    """Racks with their devices, links of each network and cables by item.

    Devices of a rack that are alike share their role, item and status; ``units`` gives each its lowest rack unit,
    counted from 1 at the bottom.
    """
    links: Counter[str] = Counter()
    for link in plan.connections:
        links[str(link.network)] += 1
    items: Counter[str] = Counter()
    for part in plan.components:
        if part.category == CABLE_CATEGORY:
            items[part.item] += int(part.quantity[0])
    return {
        "questions": [question_text(question) for question in plan.questions],
        "warnings": [plan_note_text(note) for note in plan.warnings],
        "racks": [_rack(rack) for rack in plan.racks],
        "links": links,
        "cable_items": items,
    }


def _rack(rack: PlacedRack) -> dict[str, object]:
    return fields_of(
        rack,
        *("name", "item", "is_existing"),
        row=rack.row + 1,
        column=rack.column + 1,
        weight_kg=round(rack.weight_kg, 3),
        weight_is_complete=not rack.has_unknown_weight,
        power_typical_w=round(rack.typical_w, 3),
        power_max_w=round(rack.max_w, 3),
        power_is_complete=not rack.has_unknown_power,
        devices=_devices(rack.devices),
    )


def _devices(devices: tuple[PlacedDevice, ...]) -> list[dict[str, object]]:
    alike: dict[tuple[str, str, str], dict[str, int]] = {}
    for device in devices:
        alike.setdefault((device.role, device.item, device.status), {})[device.name] = device.unit
    return [
        {"role": role, "item": item, "status": status, "units": units} for (role, item, status), units in alike.items()
    ]


# Keys of the request that a customer's copy omits: "no discount" would be an answer too, and so is what was excluded.
_NOT_TOLD = {
    "quote": {"discount_percent", "override", "line"},
    "platforms": {"forbidden_servers", "forbidden_storage"},
}
# Keys of the document that a customer's copy omits: how the answer was found, and what else could be offered.
_OF_THE_TOOL = (
    *("catalog_digest", "calibration_digest", "n_designs", "assumptions", "sources", "pareto"),
    *("platforms", "runner_up", "runner_up_reason", "selection", "deciding_prices", "quotes_to_settle"),
)
# Likewise of a workload and of a stage: runs that the rates were fitted to, with the logs that they stand in.
_OF_THE_FIT = ("evidence", "gpu_log_sd", "stack_default")
# Keys of a line that a customer's copy answers with null.
_PRICES_OF_THE_QUOTE = ("unit_list_price", "discount_percent", "extended_list")


def design_document(result: SizingResult, reading: Reading = READ_FROM_A_FILE) -> dict[str, Any]:
    """Everything about one answer as plain data; ``SizingRequest.from_file`` reads the request back from it.

    With a reading also how the need in words was read: its assumptions, and the words that were not understood.

    A customer's copy has the design without the keys that tell how it was found, and without a digest of its content.
    """
    is_customer_copy = result.design.bill.is_customer_copy
    owned = ownership(result)
    document = json_document(
        "design",
        **fields_of(result, "catalog_digest", "calibration_digest", "needs_cluster"),
        **fields_of(result, "deciding_prices", "n_designs", "sources"),
        assumptions=[
            *(AssumptionRow(text, "", "sentence", "", "") for text in reading.assumptions),
            *assumption_rows(result),
        ],
        questions=question_texts(result),
        verdict=verdict_text(result),
        advice=reason_texts(result, with_amounts=True),
        selection=selection_text(result, with_amounts=True),
        quotes_to_settle=[
            fields_of(quote, "item", "name", "swing", "turns_at", "currency") for quote in result.quotes_to_settle
        ],
        runner_up_reason=runner_up_text(result),
        maximum=maximum_content(result.maximum),
        design=_design(result.design),
        plan=plan_content(result.design.plan),
        bill=_bill(result.design.bill),
        storage_demand=demand_over_time(result.design, result.request),
        ownership=None if owned is None else ownership_content(owned),
        platforms=[design_summary(design) for design in result.platforms],
        runner_up=None if result.runner_up is None else _point(result.runner_up),
        pareto=[_point(point) for point in result.pareto.value],
        **reading.told(),
    )
    # Every digit that was typed: numbers of the answer end where processors begin to differ.
    document["request"] = result.asked_request.model_dump(
        mode="json", exclude_none=True, exclude=_NOT_TOLD if is_customer_copy else None
    )
    if is_customer_copy:
        return _for_customer(document)
    limits = result.request.limits
    ruled_out = {limit_text(limit, bound_of(limit, limits)): count for limit, count in result.ruled_out.items()}
    return sealed(document | {"ruled_out": ruled_out})


def _for_customer(document: dict[str, Any]) -> dict[str, Any]:
    shown = _without(document, _OF_THE_TOOL)
    works = [
        _without(work, _OF_THE_FIT)
        | {"stages": {key: _without(stage, ("sources",)) for key, stage in work["stages"].items()}}
        for work in document["design"]["workloads"]
    ]
    design = _without(document["design"], ("warnings",))  # the risks of the guide say what a customer must know
    return shown | {"design": design | {"workloads": works}}


def _without(record: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def projection_document(design: DesignAnswer) -> dict[str, Any]:
    """One given cluster and how its workloads run, without a search.

    What the first workload reaches stands at the top as well, where a program looks first.
    """
    first = _workload(design, design.workloads[0])
    shown = ("samples_per_s", "storage_bytes_per_s", "cpu_utilization_fraction", "bottleneck", "stages")
    return json_document(
        "projection", design=_design(design), bill=_bill(design.bill), **{key: first[key] for key in shown}
    )


def _design(design: DesignAnswer) -> dict[str, object]:
    platform, counts = design.platform, design.quantities
    return {
        **fields_of(design, "name", "n_servers", "n_gpus", "storage_nodes", "probability"),
        "conditional_on": [_missing(fact) for fact in design.conditional_on],
        "cost": _price(design),
        "checks": [_check(check) for check in design.checks],
        "storage_need": None if design.storage_need is None else _need(design.storage_need),
        "warnings": design_warnings(design),
        "binding_limit": binding_text(design),
        "server": platform.server.id,
        "gpu": platform.gpu.id,
        "storage": platform.storage.id,
        "storage_tier": platform.storage.tier,
        "second_tier": None if platform.second_tier is None else _second_tier(platform.second_tier),
        "host_memory_bytes": None if platform.server.memory_bytes is None else platform.server.memory_bytes.value,
        "page_cache_bytes": page_cache_bytes(platform.server, platform.gpus_per_server, platform.gpu),
        **fields_of(platform, "gpus_per_server", "fabric"),
        "usable_bytes": design.usable_bytes,
        "tiers": [tier_fields(tier) for tier in design.tiers],
        **_quantities(counts),
        "weight_kg": design.weight_kg,
        "existing": None if design.existing is None else _existing(design.existing),
        "workloads": [_workload(design, answer) for answer in design.workloads],
    }


def _second_tier(tier: SecondTier) -> dict[str, object]:
    """Capacity tier behind the fast storage; ``storage`` null: object storage of the customer."""
    option = None
    if tier.storage is not None and tier.storage.capacity_options:
        option = tier.storage.capacity_options[tier.capacity_option].name
    return {
        "storage": None if tier.storage is None else tier.storage.id,
        "drives": option,
        **fields_of(tier, "nodes", "staging_bytes_per_s"),
    }


def _missing(fact: MissingFact) -> dict[str, object]:
    return {"fact": fact.kind.value, "item": fact.item, "name": fact.name}


def _need(need: StorageNeed) -> dict[str, object]:
    drives, tier, least = need.larger_drives, need.capacity_tier, need.minimum
    return {
        "decided_by": need.decision.value,
        **fields_of(need, "nodes", "nodes_for_capacity", "nodes_for_rate", "load_fraction", "fill_fraction"),
        "rate_need": need.rate_need.value,
        "larger_drives": None if drives is None else fields_of(drives, "drives", "nodes"),
        "capacity_tier": None
        if tier is None
        else fields_of(tier, "item", "name", "drives", "nodes", "performance_nodes", "performance_bytes"),
        "minimum": None if least is None else fields_of(least, "minimum_bytes", "stored_bytes", "nodes_for_stored"),
    }


def _price(design: DesignAnswer) -> dict[str, object]:
    """The budgetary price. Its ends are numbers and not money: they are rounded where they are printed."""
    bill, cost = design.bill, design.cost
    if cost is None:  # only the bill is known
        known = float(bill.total)
        cost = CostInterval(bill.currency, known, known, known, known if bill.is_complete else math.inf)
    is_known = math.isfinite(cost.high)
    return {
        **fields_of(cost, "currency", "low"),
        **{key: getattr(cost, key) if is_known else None for key in ("expected", "at_confidence", "high")},
        "basis": "prices" if bill.is_complete else "estimate" if is_known else "not known",
        "dated": list(cost.dated),
        "open_quotes": bill.n_unpriced,
    }


def _check(check: DesignCheck) -> dict[str, object]:
    return {
        "check": check.kind.value,
        "result": check.result.value,
        **fields_of(check, "asked", "known", "probability"),
        "missing": [_missing(fact) for fact in check.missing],
        "unpriced": list(check.unpriced),
    }


def _quantities(counts: Quantities) -> dict[str, object]:
    """Quantities of one design: the only row of each array."""
    of_row = ("rack_units", "power_typical_w", "power_max_w", "raw_bytes")
    return {
        "racks": counts.n_racks,
        "new_racks": counts.racks[0],
        "existing_racks": counts.existing_racks[0],
        **{name: getattr(counts, name)[0] for name in of_row},
        **fields_of(counts, "unknown_power", "unknown_weight"),
        "components": [
            fields_of(part, "role", "category", "item", quantity=part.quantity[0], note=part_note_text(part))
            for part in counts.components
            if int(part.quantity[0])
        ],
        "networks": [_network(network) for network in counts.networks],
    }


def _existing(use: ExistingUse) -> dict[str, dict[str, int]]:
    """Catalogue id -> count, storage in nodes."""
    return {
        name: {part.item: part.count for part in equipment}
        for name, equipment in (("used", use.used), ("idle", use.idle), ("added", use.added))
    }


def _network(network: Network) -> dict[str, object]:
    of_row = (
        *("end_points", "leaves", "spines", "cores", "leaf_spine_cables", "spine_core_cables"),
        *("ports_used", "ports_free", "oversubscription", "gateways", "gateway_uplinks"),
    )
    return {
        "name": network.role,
        **fields_of(network, "kind", "switch", "spine", "rails"),
        **{name: getattr(network, name)[0] for name in of_row},
        "subnet_manager": notes_text((network.subnet_manager,)) or None,
    }


def _workload(design: DesignAnswer, answer: WorkloadAnswer) -> dict[str, object]:
    return fields_of(
        answer,
        *("batch_per_gpu", "dataset_bytes", "sample_bytes", "sample_format", "probability"),
        *("storage_bytes_per_s", "cold_storage_bytes_per_s", "cpu_utilization_fraction"),
        *("gpu_busy_fraction", "cache_hit_fraction", "scaling_efficiency", "bottleneck", "next_bottleneck"),
        meets_target=answer.target_check.is_met,
        memory=fields_of(
            answer.memory, *("need_bytes", "state_bytes", "memory_bytes", "probability", "largest_batch", "is_fitted")
        ),
        sharding=None if answer.memory.sharding is Sharding.NONE else answer.memory.sharding,
        extrapolations=note_texts(answer.extrapolations),
        warnings=cautions(answer),
        name=answer.workload.name,
        target=target_text(answer.workload, answer.dnn),
        dnn=answer.dnn.id,
        dataset=answer.dataset.id,
        stack=answer.stack.id,
        stack_default=_stack_default(answer),
        recipe=None if answer.recipe is None else answer.recipe.id,
        samples_per_s=answer.throughput,
        stages={stage.key: _stage(stage) for stage in answer.stages},
        time=None
        if answer.time is None
        else fields_of(
            answer.time,
            *("epochs", "start_up_s", "first_epoch_s", "epoch_s", "evaluations_s", "whole_run", "total_s"),
        ),
        evidence=[
            fields_of(
                run,
                *("id", "source", "where", "n_gpus", "calibrates"),
                what=measurement_text(run),
                published_samples_per_s=run.published,
                predicted_samples_per_s=run.predicted,
            )
            for run in answer.evidence
        ],
        gpu_log_sd=answer.gpu_spread,
        before_measured=answer.before_measured,
        language=_language(answer.trained) if answer.kind.trains_language else None,
        serving=None if answer.serving is None else {**_serving(answer.serving), "day": answer.day},
        night=answer.night,
        other_loads=[] if answer.other_loads is None else [vars(load) for load in answer.other_loads.value],
        checkpoints=None
        if answer.job is None
        else {
            **fields_of(
                answer.job.plan,
                *("interval_s", "blocked_s", "write_s", "load_s", "restart_s", "between_s", "goodput"),
                *("interruptions_per_day", "lost_hours_per_week"),
            ),
            "rates_count_interruptions": answer.job.counts,
            "storage": checkpoint_storage(design, answer.job),
        },
    )


def _language(found: LanguageAnswer) -> dict[str, object]:
    """Layout of a language model, the next one, and the time of a step."""
    work = found.work
    return {
        "sequence_tokens": work.sequence,
        "batch_sequences": found.batch,
        "number_format": work.precision,
        "method": work.method,
        "gpus_used": found.gpus_used,
        "model_flop_per_token": found.model_flop,
        "peak_flop_per_s": found.peak_flop_per_s,
        "layout": found.layout,
        "runner_up": found.runner_up,
        "published_runs": found.basis,
        "other_stacks": [{"stack": one.stack.id, **fields_of(one, "rate_ratio", "runs")} for one in found.stacks.value],
    }


def _serving(found: ServingAnswer) -> dict[str, object]:
    """Replicas, latencies and memory of a language model in use."""
    work = found.work
    return {
        **fields_of(work, "input_tokens", "output_tokens", "prefix_cached", "first_token_s", "token_s", "percentile"),
        **fields_of(work, "is_embedding", "adapters", "load_by_hour", "night_hours"),
        "input_tokens_p95": work.length_at("input", 95),
        "output_tokens_p95": work.length_at("output", 95),
        "load_kind": work.load_kind.value,
        "number": work.number,
        "asked_requests_per_s": work.asked_rate if work.in_flight is None else found.served_per_s,
        **fields_of(
            found, "replicas", "tensor", "data", "servers_of_replica", "gpus_used", "weights", "load", "replicas_needed"
        ),
        "speculative": found.deployment.is_speculative,
        "engine": found.engine or None,
        "requests_per_s": found.requests_per_s,
        "bound": found.bound.name.lower(),
        "output_tokens_per_s": found.tokens_per_s,
        **fields_of(found, "ttft_s", "tpot_s", "ttft_percentile_s", "tpot_percentile_s"),
        **fields_of(found, "users", "active_users", "prefix_stay_s"),
        **fields_of(found, "concurrency", "most_concurrent", "served_per_s", "cache", "cache_is_assumed"),
        **fields_of(found, "weight_bytes", "cache_bytes", "room_bytes", "reserve_bytes", "prefix_bytes"),
        **fields_of(found, "adapter_bytes", "first_token_chance", "longest_tokens"),
        **fields_of(found, "after_replica", "after_server", "without_cache", "offload", "narrow_gain"),
    }


def _stack_default(answer: WorkloadAnswer) -> dict[str, object] | None:
    """Why the stack was taken and what it is worth; None where the request names it."""
    default = answer.stack_default
    if default is None:
        return None
    return {
        **fields_of(default, "evidence", "n_servers", "n_others"),
        "released": answer.stack.released.value,
        "alternatives": [
            {
                "stack": other.stack.id,
                "released": other.stack.released.value,
                **fields_of(other, "samples_per_s", "n_servers"),
            }
            for other in default.alternatives
        ],
    }


def _stage(stage: Stage) -> dict[str, object]:
    return fields_of(
        stage,
        *("load_fraction", "is_limiting", "sources"),
        capacity_samples_per_s=stage.capacity,
        how=stage_text(stage.reason),
    )


def _point(point: ParetoPoint) -> dict[str, object]:
    return fields_of(
        point,
        *("name", "server", "storage", "n_servers", "n_gpus", "storage_nodes", "throughput_samples_per_s"),
        *("time_s", "power_w", "rack_units", "is_documented"),
        cost=None if point.cost is None else float(point.cost),
    )


def _bill(bill: Bill) -> dict[str, object]:
    is_copy = bill.is_customer_copy
    return fields_of(
        bill,
        *("currency", "valid_until", "longest_lead_weeks", "unpriced"),
        warnings=bill_warning_sentences(bill.warnings),
        list_total=None if is_copy else _sum(bill.list_total),
        net_total=_sum(bill.net_total),
        deal_discount_percent=None if is_copy else percent(bill.deal_discount_percent),
        total=None if bill.net_total.is_unknown else bill.total,
        total_is_complete=bill.is_complete,
        one_off=_sum(bill.one_off),
        recurring=_sum(bill.recurring),
        yearly=_sum(bill.yearly),
        lines=[_line(line, is_copy) for line in bill.lines],
    )


def _line(line: BillLine, is_customer_copy: bool) -> dict[str, object]:
    """One line of a bill; a customer's copy knows neither list price nor discount."""
    optional = ("item", "sku", "price_date", "price_source")  # empty text: there is none
    document = fields_of(
        line,
        *("line", "group", "category", "manufacturer", "description", "quantity", "unit", "unit_net_price"),
        *("extended_list", "extended_net", "term_months", "lead_time_weeks", "power_max_w", "power_typical_w"),
        *("rack_units", "weight_kg", "price_valid_until", "status"),
        note=note_text(line),
        change=change_text(line) or None,
        unit_list_price=line.unit_price,
        discount_percent=percent(line.discount_percent),
        **{name: getattr(line, name) or None for name in optional},
    )
    return document | dict.fromkeys(_PRICES_OF_THE_QUOTE) if is_customer_copy else document


def _sum(amount: Sum) -> object:
    """Sum of the priced lines; None where nothing is priced."""
    return None if amount.is_unknown else amount.amount


def need_document(reading: Reading, refusal: str = "") -> dict[str, Any]:
    """A need that was not sized: as read, with what is asked, or why it is refused."""
    # "questions" are texts here as in an answer; "asked" also has the answers that each may have.
    texts = [question.text for question in reading.questions if question.about != "refused"]
    content = reading.told() | ({"refused": refusal} if refusal else {})
    return json_document(
        "need", request=reading.request, assumptions=list(reading.assumptions), questions=texts, **content
    )


def answer_document(reading: Reading, catalog: Catalog) -> dict[str, Any]:
    """The document that ``sizer size --json`` prints.

    Raises SizerError if the request is not valid, or has no answer for a reason other than its limits.
    """
    if reading.questions:
        return need_document(reading)
    try:
        return design_document(size(SizingRequest.from_dict(reading.request), catalog), reading)
    except InfeasibleError as error:
        return need_document(reading, str(error))
