"""GPUs that people own beside the usual ones: those with MLPerf rows have their rates, the others a wide interval."""

import math
import statistics

import pytest

from sizer.calibrate.modern.design_rates import MeasuredSystem, system_rates
from sizer.calibrate.modern.published import micro_batch, published_runs
from sizer.calibrate.modern.terms import PRIORS


def _system(accelerator: str, gpus: int = 8) -> MeasuredSystem:
    return MeasuredSystem("resnet", accelerator, gpus, "pcie", 8 * 12.5e9, "intel")


@pytest.mark.parametrize("accelerator", ["a30-pcie-24gb", "a40-pcie-48gb", "l4-pcie-24gb", "l40-pcie-48gb"])
def test_a_gpu_with_published_runs_has_their_rate(accelerator):
    """Published ResNet-50 rates of one server; submitters of the same system differ by a few per cent."""
    rows = [row for row in published_runs("resnet") if (row.accelerator, row.servers) == (accelerator, 1)]
    errors = [
        math.log(math.exp(float(system_rates(_system(accelerator, row.accelerators)).rate(1, micro_batch(row)).log)))
        - math.log(row.samples_per_s)
        for row in rows
        if row.accelerators <= 10 and row.accumulation == 1
    ]
    assert errors
    assert abs(statistics.median(errors)) < 0.1


@pytest.mark.parametrize("accelerator", ["t4-16gb", "mi250x-128gb", "mi300a-128gb", "gaudi3-128gb"])
def test_a_gpu_whose_generation_has_no_runs_has_the_spread_of_generations(accelerator):
    assert float(system_rates(_system(accelerator)).rate(1, 64).sd) > PRIORS["generation"].sd
