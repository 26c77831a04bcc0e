"""Rows and spellings for the tests of free wording."""

import dataclasses

from sizer.calibrate.observations import Observation
from sizer.catalog.loader import shipped_catalog

CATALOG = shipped_catalog()


def row_of(**cells: object) -> Observation:
    empty = {field.name: "" for field in dataclasses.fields(Observation) if field.type in ("str", str)}
    counts = ("batch_per_gpu", "servers", "gpus", "nics_per_server", "storage_nodes", "sample_bytes", "dataset_bytes")
    stated = {"id": "mine-1", "source": "mine", "task": "training", "quantity": "samples_per_s", "value": 1.0}
    return Observation(**(empty | dict.fromkeys(counts) | stated | cells))
