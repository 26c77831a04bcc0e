"""The data of a design as plain data: required capacity, ingest, checkpoints, validation and local copies."""

from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.present.design_summary import tier_fields
from sizer.questions.data.analysis import Checkpoint, DataPlan, Transform
from sizer.questions.data.ingest import IngestLink, IngestRoute
from sizer.questions.data.local_copy import LocalCopy
from sizer.questions.data.tables import ENTRY_NAMES, assumptions, link_name
from sizer.questions.data.text import questions


def data_document(design: str, plan: DataPlan) -> dict[str, Any]:
    """Everything about the data; the epoch of a break-even that never comes is null."""
    required, ingest = plan.required, plan.ingest
    return json_document(
        "data",
        **fields_of(plan, "decoded", "validations"),
        design=design,
        assumptions=list(assumptions(plan)),
        questions=questions(plan),
        checkpoints=[_checkpoint(checkpoint) for checkpoint in plan.checkpoints],
        transform=None if plan.transform is None else _transform(plan.transform),
        capacity={
            **fields_of(required, "raw_bytes", "snapshots_bytes", "reserve_bytes", "checkpoints_bytes"),
            **fields_of(plan.tiers[-1], "usable_bytes", "free_bytes"),
            "is_per_server": plan.is_per_server,
            "tiers": [tier_fields(tier) for tier in plan.tiers],
            "sets": [fields_of(data_set, "name", "size_bytes", "n_samples") for data_set in required.sets],
            "minimum_bytes": required.minimum_bytes,
            "must_fit_bytes": required.total_bytes,
        },
        ingest=fields_of(
            ingest,
            *("missing", "n_files"),
            chosen=None if ingest.chosen is None else ingest.chosen.key,
            ways=[_route(route) for route in ingest.routes],
        ),
        local_copies=[_copy(copy) for copy in plan.copies],
    )


def _checkpoint(checkpoint: Checkpoint) -> dict[str, object]:
    return fields_of(
        checkpoint,
        *("workload", "size_bytes", "every_s", "write_bytes_per_s", "rate_is_bound", "write_s", "lost_fraction"),
        kept=checkpoint.n_retained,
        little_lost_bytes_per_s=checkpoint.negligible_loss_bytes_per_s,
    )


def _transform(transform: Transform) -> dict[str, object]:
    return fields_of(
        transform,
        *("n_samples", "core_s_per_sample", "core_hours", "cores", "cpu_s", "raw_bytes", "prepared_bytes"),
        is_assumed=transform.cost_is_assumed,
    )


def _route(route: IngestRoute) -> dict[str, object]:
    return fields_of(
        route,
        *("key", "data_bytes", "least_s", "published_s"),
        name=ENTRY_NAMES[route.entry],
        links=[_link(link) for link in route.links],
        write_bytes_per_s=None if route.write is None else route.write.bytes_per_s,
    )


def _link(link: IngestLink) -> dict[str, object]:
    return fields_of(link, "bytes_per_s", "copies", "source", "is_by_others", name=link_name(link))


def _copy(copy: LocalCopy) -> dict[str, object]:
    # The drives are a part of the catalogue: their id names them.
    return {**fields_of(copy, *vars(copy), "fits", "pays", "saved_nodes"), "drives": copy.drives.id}
