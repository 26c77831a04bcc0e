"""Feeds of devices of which no source gives the power inlets."""

from sizer import SizingRequest
from sizer.physical.notes import PlanNoteKind
from sizer.sizing.best_design import best_design
from tests.factories.examples import catalog


def test_a_device_without_known_inlets_loads_both_feeds_with_its_full_draw():
    """2 DGX-1, fabric switch, management switch, AFF A800, head node: 2 x 3,500 + 450 + 150 + 2,468 + 1,100 W.

    Feed A carries all of it alone, feed B all but the single-corded management switch. The data sheet of the AFF A800
    gives its draw and no inlets.
    """
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 16}}
    only = {"servers": ["dgx-1"], "storage": ["netapp-a800"], "fabrics": ["100gbe"]}
    plan = best_design(SizingRequest.from_dict({"workload": [work], "platforms": only}), catalog()).design.plan
    assert catalog().storage["netapp-a800"].power_inlets is None
    (rack,) = plan.racks
    assert {feed.side: feed.alone_w for feed in rack.feeds} == {"A": 11_168, "B": 11_018}
    assert [note.values for note in plan.warnings if note.kind is PlanNoteKind.INLETS_UNKNOWN] == [("AFF A800",)]
