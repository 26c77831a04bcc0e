"""Rates, memory and largest loads of deployments: published facts, laws and what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.calibrate.serving.calibration import LatencyLimits, serving_calibration
from sizer.calibrate.serving.cases import TOKENS, TPOT, ServingCase, cases_of, predict
from sizer.calibrate.serving.deployment import (
    Deployment,
    ServingPoints,
    is_untried,
    missing_facts,
    model_of,
    served_model,
)
from sizer.calibrate.serving.rows import CLOSED_LOOP, load_serving_rows, memory_facts
from sizer.catalog.schema import TransformerShape
from tests.factories.requests import CATALOG

CALIBRATION = serving_calibration()


def deployment(model: str = "llama-3-70b", gpu: str = "h200-sxm-141gb", **given: object) -> Deployment:
    return Deployment(model_of(CATALOG.dnns[model]), CATALOG.gpus[gpu], **given)


def points(*deployments: Deployment, **given: object) -> ServingPoints:
    return ServingPoints.make(deployments, **{"input_tokens": 1000, "output_tokens": 500} | given)


@pytest.mark.parametrize("fact", memory_facts(), ids=lambda fact: fact.row_id)
def test_what_loads_and_for_how_many_requests(fact):
    """Published loads, refusals and limits; the limits within a quarter, which submitters choose themselves."""
    one = deployment(
        fact.model,
        fact.gpu,
        engine=fact.engine,
        weights=fact.weight_precision,
        cache=fact.kv_precision,
        tensor=fact.tensor,
    )
    room = points(one, input_tokens=fact.input_tokens, output_tokens=fact.output_tokens).room[0]
    assert (room >= 1) is np.bool_(fact.loads)
    if fact.most_concurrent:
        assert 0.75 < room / fact.most_concurrent < 1.25


def test_rates_of_a_published_table():
    """NVIDIA's table of NIM, 70B in FP8 on two H100: 5,000 tokens in, 500 out, at 1 and 50 requests."""
    rows = [row for row in load_serving_rows() if row.source == "nvidia-nim" and row.input_tokens == 5000]
    one = deployment(gpu="h100-sxm-80gb", engine="trtllm", tensor=2)
    stated = [row.concurrency for row in rows]
    rates = CALIBRATION.rates(
        ServingPoints.make([one], of=[0] * len(rows), input_tokens=5000, output_tokens=500, concurrency=stated)
    )
    error = np.abs(np.log(rates.tpot_s / [row.tpot_s for row in rows]))
    assert np.median(error) < 0.06  # as in sample
    assert np.mean(error < 1.645 * rates.tpot_log_sd) >= 0.6  # 90 %, of eight rows


def test_published_rows_lie_in_their_intervals():
    rows = [row for row in load_serving_rows() if row.role == "calibration"][::40]
    cases = [case for case in cases_of(rows, CATALOG) if isinstance(case, ServingCase) and not case.guessed]
    found = predict(cases, CALIBRATION)[TOKENS]
    error = np.log(found.value / [case.row.output_tokens_s for case in cases])
    assert np.median(np.abs(error)) < 0.12
    assert np.mean(np.abs(error) < 1.645 * found.log_sd) > 0.7  # 90 %, of 67 rows


@given(c=st.integers(1, 400), i=st.integers(100, 8000), o=st.integers(50, 4000), t=st.sampled_from([1, 2, 4, 8]))
@settings(max_examples=25, deadline=None)
def test_more_requests_never_speed_a_user_up(c, i, o, t):
    one = deployment(tensor=t, engine="vllm")
    rates = CALIBRATION.rates(
        ServingPoints.make([one], of=[0, 0], input_tokens=i, output_tokens=o, concurrency=[c, c * 1.5])
    )
    assert rates.tpot_s[0] <= rates.tpot_s[1] * (1 + 1e-9)
    assert rates.tokens_per_s[0] <= rates.tokens_per_s[1] * (1 + 1e-9)
    assert (rates.log_sd > 0).all()


@given(
    layers=st.integers(8, 100),
    hidden=st.integers(8, 96),
    more=st.integers(1, 20),
    precision=st.sampled_from(["bf16", "fp8", "nvfp4"]),
)
@settings(max_examples=25, deadline=None)
def test_a_larger_model_never_has_more_room(layers, hidden, more, precision):
    def shape(n: int) -> TransformerShape:
        return TransformerShape(
            layers=n,
            hidden=128 * hidden,
            ffn=512 * hidden,
            heads=hidden,
            kv_heads=hidden,
            head_size=128,
            vocabulary=32000,
        )

    some = [
        dataclasses.replace(deployment(gpu="b200-sxm-180gb", weights=precision), model=served_model("ours", shape(n)))
        for n in (layers, layers + more)
    ]
    small, large = points(*some).room
    assert small >= large


def test_an_engine_that_is_not_named_is_less_certain():
    rates = CALIBRATION.rates(points(deployment(engine="vllm"), deployment(), concurrency=16))
    assert rates.log_sd[1] > rates.log_sd[0]


def test_what_nobody_measured_is_less_certain():
    measured, gpu, model = (
        deployment(engine="vllm", **one)
        for one in ({}, {"gpu": "mi355x-288gb"}, {"model": "qwen3-235b-a22b", "tensor": 4})
    )
    rates = CALIBRATION.rates(points(measured, gpu, model, concurrency=16))
    assert (rates.log_sd[1:] > rates.log_sd[0]).all()


def test_a_measurement_counts_by_its_spread_and_the_less_the_farther_it_is():
    """At its own load as the mean of two normal variables; 0.12 of the variance of a misfit is of that run alone."""
    here, other, model = (deployment(**one) for one in ({}, {"tensor": 2}, {"model": "qwen3-32b"}))
    asked = ServingPoints.make(
        (here, other, model),
        of=[0, 0, 0, 1, 2],
        input_tokens=1000,
        output_tokens=500,
        concurrency=[32, 64, 256, 32, 32],
    )
    before, faster, within = CALIBRATION.rates(asked), 1.2, 0.05
    after = CALIBRATION.after(points(here, concurrency=32), before.requests_per_s[:1] * faster, np.array([within]))
    found = after.rates(asked)
    moved = np.log(found.requests_per_s / before.requests_per_s)
    variance, misfit = before.log_sd[0] ** 2, 0.035**2 + (0.05 / 2) ** 2  # with 32 in flight, of 8 to 128
    shared = variance - 0.12 * misfit
    assert moved[0] == pytest.approx(np.log(faster) * shared / (variance + within**2), rel=1e-6)
    assert found.log_sd[0] ** 2 == pytest.approx(variance - shared**2 / (variance + within**2), rel=1e-6)
    assert (np.diff(moved[:3]) < 0).all()
    assert (np.diff(found.log_sd[:3]) > 0).all()
    assert 0 < moved[4] < moved[3] < moved[0]
    assert (found.log_sd < before.log_sd).all()


def test_a_gpu_without_the_facts_is_refused_by_name():
    bare = dataclasses.replace(
        deployment(), gpu=CATALOG.gpus["h200-sxm-141gb"].model_copy(update={"memory_bytes_per_s": None})
    )
    missing = missing_facts(bare.gpu)
    assert missing == CalibrationNote(FitNote.FACT_NOT_KNOWN, ("h200-sxm-141gb", "memory_bytes_per_s"))
    with pytest.raises(ValueError, match="h200-sxm-141gb"):
        CALIBRATION.rates(points(bare))


def test_a_model_that_does_not_load_serves_nothing():
    rates = CALIBRATION.rates(points(deployment(weights="bf16"), concurrency=4))
    assert not rates.fits[0]
    assert rates.tokens_per_s[0] == 0
    assert np.isinf(rates.tpot_s[0])


def test_tighter_latency_never_serves_more():
    one = points(deployment(engine="vllm", tensor=2))
    served = [CALIBRATION.largest_load(one, LatencyLimits(2.0, tpot)).requests_per_s[0] for tpot in (0.1, 0.05, 0.03)]
    assert served[0] >= served[1] >= served[2] > 0


def test_the_largest_load_meets_its_limits():
    one = points(deployment(engine="vllm", tensor=2), deployment("llama-3-8b", engine="sglang"))
    load = CALIBRATION.largest_load(one, LatencyLimits(2.0, 0.05, 99))
    again = CALIBRATION.rates(dataclasses.replace(one, concurrency=load.concurrency))
    assert load.is_reachable.all()
    assert (again.tpot_s * 1.17 < 0.05 * 1.03).all()  # MLPerf's ratio at 99 %; a grid of twenty
    assert (load.concurrency <= 0.85 * load.most_concurrent * (1 + 1e-9)).all()
    assert again.requests_per_s == pytest.approx(load.requests_per_s, rel=0.03)


def test_a_load_that_memory_bounds_is_the_less_sure_the_nearer_its_tokens_come_to_their_limit():
    """64 in flight: without a limit as sure as the room of the memory, which submitters set 8 % apart."""
    one = points(deployment(engine="vllm", tensor=2))
    later_s = CALIBRATION.largest_load(one, LatencyLimits(most_in_flight=64)).tpot_s[0]
    loads = [
        CALIBRATION.largest_load(one, LatencyLimits(tpot_s=limit * later_s, most_in_flight=64))
        for limit in (np.inf, 4, 1.17, 1.15)
    ]
    assert [load.concurrency[0] for load in loads] == pytest.approx([64] * 4)
    spreads = [load.concurrency_log_sd[0] for load in loads]
    assert spreads == sorted(spreads)
    assert spreads[0] == spreads[1] == 0.08 < spreads[2] < spreads[3]


def test_a_mixture_is_less_sure_beyond_the_loads_of_its_runs():
    """Fitted runs of gpt-oss-120b on H100 have up to 32 requests in flight of a GPU; dense models do not count."""
    loads = {"concurrency": [32.0, 128.0], "of": [0, 0], "output_tokens": 500, "input_tokens": 1000}
    mixture, dense = (
        CALIBRATION.rates(
            ServingPoints.make([deployment(model, "h100-sxm-80gb", engine="vllm", weights=weights)], **loads)
        )
        for model, weights in (("gpt-oss-120b", "mxfp4"), ("llama-3-8b", "fp8"))
    )
    assert mixture.log_sd[1] > 1.5 * mixture.log_sd[0]
    assert dense.log_sd[1] < 1.5 * dense.log_sd[0]


def test_a_limit_below_one_step_is_not_reachable():
    load = CALIBRATION.largest_load(points(deployment(engine="vllm")), LatencyLimits(2.0, 0.005))
    assert not load.is_reachable[0]
    assert load.least_tpot_s[0] > 0.015  # 70.6 GB of FP8 at 4.8 TB/s


@pytest.mark.parametrize(
    ("gpu", "weights", "computed_in", "untried"),
    [
        ("b200-sxm-180gb", "mxfp4", "fp4", False),
        ("h200-sxm-141gb", "mxfp4", "bf16", False),
        ("h200-sxm-141gb", "fp8", "fp8", False),
        ("a100-sxm-80gb", "fp8", "bf16", False),
        ("b200-sxm-180gb", "int4", "bf16", False),
        ("rtx-pro-6000-96gb", "mxfp4", "bf16", False),  # Marlin on compute capability 12.0: SGLang 28231, vLLM 30135
        ("rtx-pro-6000-96gb", "nvfp4", "fp4", False),
        ("mi325x-256gb", "int4", "bf16", True),
        ("mi325x-256gb", "fp8", "fp8", False),
    ],
)
def test_formats_that_a_gpu_lacks_are_widened_to_bf16(gpu, weights, computed_in, untried):
    """As the kernels of the engines do: weights of four or eight bits times activations of 16.

    Published runs widen MXFP4 on Hopper (gpt-oss-120b, InferenceX); none does so on CDNA.
    """
    one = deployment(gpu=gpu, weights=weights)
    assert (one.computed_in, is_untried(one)) == (computed_in, untried)


def test_runs_of_people_on_instinct_lie_in_the_interval():
    rows = [row for row in load_serving_rows() if row.calibrates and row.kind == CLOSED_LOOP and row.gpu[:2] == "mi"]
    found = predict([case for case in cases_of(rows, CATALOG) if isinstance(case, ServingCase)], CALIBRATION)[TPOT]
    gaps = np.log(found.value / [row.tpot_s for row in rows])
    assert len(gaps) >= 12
    assert np.all(np.abs(gaps) < np.minimum(1.645 * found.log_sd, 0.2))
