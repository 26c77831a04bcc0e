"""The data of a design, as plain data: what must fit, how it gets in, and what is done besides training."""

from typing import Any

from sizer.base.json_document import fields_of, json_document
from sizer.questions.data.analysis import DataPlan
from sizer.questions.data.ingest import Fill
from sizer.questions.data.local_copy import LocalCopy


def data_document(design: str, plan: DataPlan) -> dict[str, Any]:
    """Everything about the data; the epoch of a break-even that never comes is null."""
    held, ingest = plan.held, plan.ingest
    return json_document(
        "data",
        **fields_of(plan, "checkpoints", "transform", "decoded", "validations", "assumptions", "questions"),
        design=design,
        capacity={
            **fields_of(held, "raw_bytes", "snapshots_bytes", "reserve_bytes", "checkpoints_bytes"),
            **fields_of(plan, "usable_bytes", "free_bytes", "is_per_server"),
            "sets": [fields_of(data_set, "name", "size_bytes", "n_samples") for data_set in held.sets],
            "must_fit_bytes": held.total_bytes,
        },
        ingest=fields_of(
            ingest,
            *("missing", "n_files"),
            chosen=None if ingest.chosen is None else ingest.chosen.way.key,
            ways=[_way(fill) for fill in ingest.fills],
        ),
        local_copies=[_copy(copy) for copy in plan.copies],
    )


def _way(fill: Fill) -> dict[str, object]:
    return fields_of(
        fill,
        *("data_bytes", "links", "least_s", "published_s"),
        key=fill.way.key,
        name=fill.way.name,
        write_bytes_per_s=None if fill.write is None else fill.write.bytes_per_s,
    )


def _copy(copy: LocalCopy) -> dict[str, object]:
    # The drives are a part of the catalogue: their id names them.
    return {**fields_of(copy, *vars(copy), "fits", "pays", "saved_nodes"), "drives": copy.drives.id}
