"""An appliance of two controllers: one of them is lost, and its drives stay behind the other one."""

from sizer import SizingRequest, failure_cases, size
from sizer.physical.losses import drives_survived
from sizer.questions.failures.analysis import NodeLost
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories.requests import CATALOG


def test_reads_continue_from_the_other_controller_of_the_only_appliance():
    """AI400X2: eight ports on two controllers. One controller is lost: the appliance stays, with four of its ports."""
    work = {"dnn": "resnet50", "target": {"gpus_busy": 16}}
    platforms = {"servers": ["dgx-h100"], "storage": ["ai400x2"], "fabrics": ["ndr"]}
    result = size(SizingRequest.from_dict({"workload": [work], "platforms": platforms, "confidence": 0.5}), CATALOG)
    assert result.design.storage_nodes == 1
    case = {case.key: case for case in failure_cases(EvaluatedDesign(result, CATALOG))}["storage-node"]
    assert isinstance(case.effect, NodeLost)
    assert case.effect.controllers == 2
    assert case.effect.remaining_nodes == 1
    # That the drives are behind both controllers is assumed, so nothing is promised.
    assert CATALOG.storage["ai400x2"].controllers.basis == "assumed"
    assert drives_survived(CATALOG.storage["ai400x2"]) is None
