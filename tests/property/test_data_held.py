"""Laws of capacity: every sized design holds what must fit, and room to spare never makes storage smaller."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.physical.capacity import counts_nodes
from sizer.physical.platforms import platforms
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.search.feasibility import StorageUnits
from sizer.workload.resolve import resolve
from tests.property.law_examples import law

CATALOG = shipped_catalog()
SETS = st.sampled_from(["imagenet", "imagenet-tfrecord", "coco", "imagenet-tensors-uint8"])
CARES = st.fixed_dictionaries(
    {
        "snapshot_share": st.floats(0, 1),
        "reserve_share": st.floats(0, 20),
        "checkpoint_every_s": st.sampled_from([600, 3600]),
        "checkpoints_kept": st.integers(1, 100_000),
    },
    optional={"raw_sample_bytes": st.floats(1e3, 1e7)},
)


def asked(works: list[tuple[str, float]], care: dict[str, Any]) -> SizingRequest:
    each = [
        {"name": f"W{number}", "dnn": "resnet50", "dataset": name, "dataset_bytes": held, "target": {"gpus_busy": 8}}
        for number, (name, held) in enumerate(works)
    ]
    allowed = {"servers": ["dgx-1"], "storage": ["isilon-f800", "wekaio", "isilon-h500"]}
    return SizingRequest.from_dict({"workload": each, "platforms": allowed, "confidence": 0.5, "data": care})


@law()
@given(works=st.lists(st.tuples(SETS, st.floats(1e9, 1e15)), min_size=1, max_size=3), care=CARES)
def test_every_sized_design_holds_what_must_fit(works, care):
    request = asked(works, care)
    try:
        result = size(request, CATALOG)
    except InfeasibleError:
        return
    for design in result.platforms:
        needed = storage_demand(design.workloads, request.data).total_bytes
        usable = design.usable_bytes
        assert not usable < needed  # NaN: no source gives a capacity
        if not np.isnan(usable):
            assert usable >= sum(
                {name: max(held for other, held in works if other == name) for name, _ in works}.values()
            )


@given(works=st.lists(st.tuples(SETS, st.floats(1e9, 1e15)), min_size=1, max_size=3), care=CARES, more=st.floats(0, 5))
def test_more_reserve_never_lowers_the_nodes(works, care, more):
    request = asked(works, care)
    readers = resolve(request, CATALOG, stored_calibration().measured)
    greater = request.data.model_copy(update={"reserve_share": request.data.reserve_share + more})
    options = platforms(CATALOG, request)
    before, after = (StorageUnits.of(readers, options, one) for one in (request.data, greater))
    counted = np.array([counts_nodes(option.storage) for option in options])
    assert (after.least >= before.least)[counted].all()
    assert (before.holds_data | ~after.holds_data).all()
