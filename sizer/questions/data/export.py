"""The data of a design, as plain data: what must fit, the ways in, and what is done beside training."""

import math
from dataclasses import asdict
from typing import Any

from sizer import __version__
from sizer.questions.data.analysis import DataPlan
from sizer.questions.data.ingest import Fill
from sizer.questions.data.local_copy import LocalCopy
from sizer.sizing.result import SCHEMA_VERSION


def data_document(design: str, plan: DataPlan) -> dict[str, Any]:
    """Everything about the data; numbers that no source gives, and a break-even that never comes, are null."""
    held = plan.held
    document = {
        "kind": "data",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "design": design,
        "capacity": {
            "sets": [{"name": one.name, "size_bytes": one.size_bytes, "n_samples": one.n_samples} for one in held.sets],
            "raw_bytes": held.raw_bytes,
            "snapshots_bytes": held.snapshots_bytes,
            "reserve_bytes": held.reserve_bytes,
            "checkpoints_bytes": held.checkpoints_bytes,
            "must_fit_bytes": held.total_bytes,
            "usable_bytes": plan.usable_bytes,
            "free_bytes": plan.free_bytes,
            "is_per_server": plan.is_per_server,
        },
        "ingest": {
            "chosen": None if plan.ingest.chosen is None else plan.ingest.chosen.way.key,
            "missing": plan.ingest.missing,
            "n_files": plan.ingest.n_files,
            "ways": [_way(fill) for fill in plan.ingest.fills],
        },
        "checkpoints": [asdict(one) for one in plan.checkpoints],
        "transform": None if plan.transform is None else asdict(plan.transform),
        "decoded": [asdict(one) for one in plan.decoded],
        "validations": [asdict(one) for one in plan.validations],
        "local_copies": [_copy(one) for one in plan.copies],
        "assumptions": [asdict(one) for one in plan.assumptions],
        "questions": list(plan.questions),
    }
    return {key: _known(value) for key, value in document.items()}


def _way(fill: Fill) -> dict[str, Any]:
    return {
        "key": fill.way.key,
        "name": fill.way.name,
        "data_bytes": fill.data_bytes,
        "links": [asdict(link) for link in fill.links],
        "least_s": fill.least_s,
        "write_bytes_per_s": None if fill.write is None else fill.write.bytes_per_s,
        "published_s": fill.published_s,
    }


def _copy(one: LocalCopy) -> dict[str, Any]:
    # The drives are a part of the catalogue: their id names them.
    facts = {key: value for key, value in vars(one).items() if key != "drives"}
    return {**facts, "drives": one.drives.id, "fits": one.fits, "pays": one.pays, "saved_nodes": one.saved_nodes}


def _known(value: Any) -> Any:
    """The same without NaN and infinity."""
    if isinstance(value, dict):
        return {key: _known(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
