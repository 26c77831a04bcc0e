"""Sizing of FLUX.1: 11.9 G parameters with AdamW, divided over the GPUs."""

import pytest

from sizer import InfeasibleError, SizingRequest, size
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.sharding import Sharding, all_reduced_bytes, gradient_bytes, work_factor
from tests.factories.requests import CATALOG

RECIPE = "flux-1-mlperf-v5.1"


def request(servers, target, **more):
    work = {"dnn": "flux-1", "target": target, **more}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": [servers]}})


def test_sixty_four_h100_hold_it():
    """16 bytes of each parameter over 64 GPUs are 2.97 GB. At 25 to 60 % of 989 TFLOP/s a GPU, 20.4 TFLOP a sample,
    trains 12 to 29 samples/s: 780 to 1,900 on all of them."""
    [answer] = size(request("dgx-h100", {"gpus_busy": 64}, recipe=RECIPE), CATALOG).design.workloads
    memory = answer.memory
    assert memory.sharding is Sharding.STATE
    assert memory.state_bytes == pytest.approx(16 * 11_891_178_560 / 64)
    assert memory.probability >= 0.9
    assert answer.stack.id == "pytorch-own"
    assert 780 < float(answer.throughput.value) < 1900
    # 7.9 to 8.8 million samples up to the least published batch; evaluations, 4 %, and the start-up come on top.
    samples = float(answer.time.total_s.value) * float(answer.throughput.value)
    assert 7.9e6 < samples < 1.1 * 8.8e6


def test_eight_small_gpus_cannot_hold_it():
    """190 GB over eight GPUs are 23.8 GB each: more than 16 GB, and no design of one DGX-1 is called fitting."""
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "flux-1", "target": {"gpus_busy": 8}, "epochs": 1}],
            "platforms": {"servers": ["dgx-1"], "gpus": ["v100-sxm2-16gb"]},
            "limits": {"servers": 1},
        }
    )
    with pytest.raises(InfeasibleError, match=r"GPU memory.*weights, gradients and optimizer alone take 23\.8\sGB"):
        size(asked, CATALOG)


def test_divided_weights_are_gathered_and_activations_recomputed():
    """23.8 GB of gradient in BF16; gathering weights twice and scattering gradients move 1.5 times an all-reduce."""
    [work] = resolved(request("dgx-h100", {"gpus_busy": 64}), CATALOG, stored_calibration())
    assert gradient_bytes(work) == pytest.approx(23.78e9, rel=1e-3)
    assert all_reduced_bytes(work) == pytest.approx(1.5 * 23.78e9, rel=1e-3)
    assert work_factor(work) == pytest.approx(4 / 3)


def test_the_recipe_is_no_part_of_the_fit_of_v100_runs():
    """Its points would widen the scatter of theirs; the curve meets them alone."""
    calibration, recipe = stored_calibration(), CATALOG.recipes[RECIPE]
    assert recipe.id not in calibration.epochs_points
    for batch, millions in ((1024, 8.769), (2048, 10.735), (4096, 15.624)):
        found = float(calibration.epochs(recipe, batch).value) * 1_099_776
        assert found == pytest.approx(millions * 1e6, rel=0.03)
