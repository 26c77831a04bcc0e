"""Scaling efficiency is what a buyer measures: the whole design over one GPU, or over the fewest servers."""

import dataclasses

import pytest

from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.stages.workload_run import rate_in_one_server
from tests.factories.examples import catalog, sized


def test_a_network_of_mlperf_scales_as_its_one_gpu_says():
    """MLPerf v4.1 and v5.0, Stable Diffusion: 141 to 145 images/s a GPU on 8 H200, 142 on 16: efficiency below 1."""
    answer = sized("stable-diffusion-h200").design.workloads[0]
    (model,) = EvaluatedDesign(sized("stable-diffusion-h200"), catalog()).workloads
    one = rate_in_one_server(model.work, model.platform, model.run.cols, 1, model.catalog, model.calibration)
    assert answer.scaling_efficiency == pytest.approx(float(answer.throughput.value) / 16 / float(one.value))
    assert 0.93 < answer.scaling_efficiency < 0.99


def test_more_gpus_may_suit_a_model_better_than_the_fewest():
    """405B on one rack of 72 GB200 has to be divided by more pipeline stages or recompute: each GPU does less."""
    assert sized("llama-405b-gb200-nvl72").design.workloads[0].scaling_efficiency > 1.02


def test_a_published_rate_is_compared_with_the_rate_while_it_runs():
    """The 90 % interval of published steps has no interruptions; with goodput 98.9 % the rates differ by 1.1 %."""
    answer = sized("llama-405b-gb200-nvl72").design.workloads[0]
    share = answer.job.plan.goodput[0]
    assert share == pytest.approx(0.989, abs=0.005)
    assert float(answer.throughput.value / answer.running_throughput.value) == pytest.approx(share)
    assert dataclasses.replace(answer, job=None).running_throughput.value == answer.throughput.value
