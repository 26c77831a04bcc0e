"""Formulas of other predictors, by hand."""

import math

import numpy as np
import pytest

from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import LanguageCase, cases_of
from sizer.calibrate.language.peers import Predictor, predictor_errors, roofline_step_s, runs_of_peers
from sizer.calibrate.language.rows import LanguageRow
from tests.factories import examples

# Llama 3 8B: 6.98 G parameters of linear layers and 0.525 G of the head; attention of 8,192 tokens, causal.
_LINEAR = 32 * (4096 * 128 * 80 + 3 * 4096 * 14336) + 4096 * 128256
_ATTENTION = 6 * 32 * 8192 * 32 * 128
_PEAK = 989e12


def case_of(**more) -> LanguageCase:
    usual = {
        "seq": 8192.0,
        "global_batch": 8.0,
        "micro_batch": 1.0,
        "tp": 1.0,
        "pp": 1.0,
        "cp": 1.0,
        "recompute": "none",
    }
    row = LanguageRow("a", "s", "Llama3-8B", "H100", "BF16", 8, software="NeMo", tokens_s_gpu=1e4, **(usual | more))
    [case] = cases_of([row], examples.catalog())
    assert isinstance(case, LanguageCase)
    return case


def test_llm_analysis_of_one_gpu_a_replica_is_work_over_half_the_peak():
    """llm-analysis: FLOP / (peak x 0.5); one sequence of 8,192 tokens on each of eight GPUs."""
    case = case_of(sharding="dist_optimizer")
    [found] = roofline_step_s([case], np.array([_PEAK]))
    assert found == pytest.approx((6 * _LINEAR + _ATTENTION) * 8192 / (0.5 * _PEAK), rel=1e-6)


def test_llm_analysis_adds_ring_all_reduces_of_tensor_parallelism():
    """Four all-reduces a layer of 8,192 x 4,096 BF16 elements, each 2 (t - 1) / t of them over NVLink."""
    one, two = case_of(sharding="dist_optimizer"), case_of(sharding="dist_optimizer", tp=2.0)
    [plain] = roofline_step_s([one], np.array([_PEAK]))
    [split] = roofline_step_s([two], np.array([_PEAK]))
    # With TP 2 each replica of two GPUs has two sequences: each GPU does as much work.
    moved = 4 * 2 * 8192 * 4096 * 2 * 32 * (2 * 1 / 2)
    assert split - plain == pytest.approx(moved / two.machine["domain_bytes_per_s"], rel=1e-6)


def test_llm_analysis_takes_the_longer_of_computing_and_gathering():
    """Full sharding gathers the weights twice, forward and backward: over a link of 1 GB/s that is the longer part."""
    case = case_of(sharding="fsdp2", network="8 gb/s per gpu", gpus_per_node=1.0)
    slow = case.machine["nic_bytes_per_s"]
    assert slow == 1e9
    [found] = roofline_step_s([case], np.array([_PEAK]))
    parameters = _LINEAR + 4096 * 128256
    assert found == pytest.approx(2 * 2 * parameters / slow, rel=1e-6)


def test_the_fitted_utilization_has_no_bias_and_this_tool_the_smallest_error():
    errors = {one.predictor: one for one in predictor_errors(language_calibration(), examples.catalog())}
    assert len({one.rows for one in errors.values()}) == 1
    assert errors[Predictor.FITTED_UTILIZATION].bias == pytest.approx(0.0, abs=1e-12)
    assert min(errors.values(), key=lambda one: one.median).predictor is Predictor.OURS


def test_runs_of_other_tools_are_predicted_without_being_fitted():
    """Table 5 of the paper that Calculon uses has 8 runs, the file of vTrain 109, the table of SimuMax 43."""
    calibration = language_calibration()
    found = {one.source: one for one in runs_of_peers(calibration, examples.catalog())}
    assert {source: one.rows for source, one in found.items()} == {"korthikanti-2022": 8, "vtrain": 109, "simumax": 43}
    assert {case.row.source for case in calibration.cases} & set(found) == {"simumax"}
    assert found["simumax"].mean > np.mean(
        [
            abs(math.expm1(error))
            for case, error in zip(calibration.cases, calibration.fit.residuals, strict=True)
            if case.row.source == "simumax"
        ]
    )
    # Their own papers state 14.7 and 12.9 % on these 109 runs.
    assert found["vtrain"].mean < min(found["vtrain"].theirs.values())
