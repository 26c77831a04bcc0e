"""What the default software stack is worth, and requests that rest on it, compared with published rates."""

import datetime
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.export.design_json import design_document
from sizer.perf.step_terms import EFFICIENCY, LAUNCH, TERM_NAMES, StepTerms
from sizer.physical.platforms import platforms
from sizer.questions.what_if.sensitivity import sensitivities
from sizer.sizing.design.evaluate_design import software_on
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.sizing.stages.compute_side import STATED_HOST_LOG_SD, core_seconds
from sizer.sizing.stages.gpu_memory import memory_of, resolved
from sizer.sizing.stages.gpu_side import gpu_side
from sizer.sizing.stages.own_networks import (
    beyond_runs_log_sd,
    check_measured,
    far_rates,
    own_fit,
    own_terms,
    rate_log_sd,
    run_on,
)
from sizer.sizing.stages.platform_columns import ServerRows, columns
from sizer.workload.request import SizingRequest
from sizer.workload.stack_choice import StackChoice, StackEvidence
from tests.factories.requests import CATALOG


def sized(work: dict[str, Any], **more: Any) -> SizingResult:
    return size(
        SizingRequest.from_dict(
            {"workload": [work], "confidence": 0.9, "platforms": {"generations": ["volta"]}, **more}
        ),
        CATALOG,
    )


@pytest.mark.parametrize(
    ("stack", "gpu", "evidence", "runs"),
    [
        # CUDA 11.0 of June 2020 knows compute capability 7.0 (V100) and 8.0 (A100), not 8.9 (L40S, CUDA 11.8).
        ("pytorch-ngc20.06", "l40s-48gb", StackEvidence.SEVERAL_FAMILIES, False),
        ("pytorch-ngc20.06", "l40s-48gb", None, False),
        ("pytorch-ngc20.06", "v100-sxm2-16gb", StackEvidence.NETWORK, True),
        ("pytorch-ngc20.06", "a100-sxm-80gb", StackEvidence.FAMILY, True),
        # Scripts of image classification on T4: of its own networks, not of a detector.
        ("tf-cnn-benchmarks-2.2", "t4-16gb", StackEvidence.NETWORK, True),
        ("tf-cnn-benchmarks-2.2", "t4-16gb", StackEvidence.SEVERAL_FAMILIES, False),
        ("mlperf-training", "b200-sxm-180gb", StackEvidence.NETWORK, True),
    ],
)
def test_software_runs_on_the_gpu_and_has_the_network(stack, gpu, evidence, runs):
    taken = CATALOG.stacks[stack]
    choice = None if evidence is None else StackChoice(taken, evidence, ())
    found = software_on(taken, choice, CATALOG.gpus[gpu], CATALOG)
    assert (found is taken) == runs
    assert runs or "current" in found.name


def test_bert_takes_24_to_64_gpus_by_the_rates_of_mlperf_v07() -> None:
    """One DGX-1 trained 379 sequences/s (47 a GPU), one DGX-2H 1,092 (68): 1,360 / 68 = 20, 1,360 / 47 = 29 GPUs.

    Whole servers of 8 and 16 GPUs and a confidence of 90 % make 24 to 64 of it.
    """
    work = {"dnn": "bert-large", "dataset": "wikipedia-bert", "target": {"samples_per_s": 1360}}
    result = sized(work)
    (answer,) = result.design.workloads
    assert answer.stack.id == "pytorch-ngc20.06"
    assert 24 <= result.design.n_gpus <= 64


def test_the_answer_says_what_the_newest_stack_is_worth() -> None:
    """ResNet-50 at 12,000 images/s: eight V100 print 10,800 with MXNet 20.12 and 5,000 with TensorFlow of 2018.

    12,000 / 10,800 = 1.1 and 12,000 / 5,000 = 2.4: at least two servers of eight GPUs, and three with the oldest stack.
    """
    work = {"dnn": "resnet50", "batch_per_gpu": 128, "dataset": "imagenet", "target": {"samples_per_s": 12_000}}
    result = sized(work, platforms={"servers": ["dgx-1"]})
    (answer,) = result.design.workloads
    default = answer.stack_default
    assert default.evidence is StackEvidence.NETWORK
    assert default.n_servers == result.design.n_servers
    oldest = default.alternatives[0]
    assert oldest.stack.released.value < "2019"
    assert oldest.samples_per_s < 0.6 * answer.throughput.value
    assert oldest.n_servers is not None
    assert oldest.n_servers >= 3
    assert 2 <= result.design.n_servers < oldest.n_servers
    (shown,) = design_document(result)["design"]["workloads"]
    assert shown["stack_default"]["alternatives"][0]["n_servers"] == oldest.n_servers
    (tornado,) = sensitivities(EvaluatedDesign(result, CATALOG))
    (bar,) = (influence for influence in tornado.influences if influence.key == "stack")
    assert bar.low_servers == oldest.n_servers
    assert bar.low == pytest.approx(oldest.samples_per_s, rel=1e-6)


DNN = {"name": "ours", "forward_flop": 49e9, "parameters": 21e6, "input_bytes": 1.2e6}
V100 = "v100-sxm2-16gb"


def work(catalog, dnn=None, date=None, **workload):
    found = {
        "name": "w",
        "dnn": dnn if isinstance(dnn, str) else {**DNN, **(dnn or {})},
        "epochs": 1,
        "target": {"gpus_busy": 1},
        **workload,
    }
    request = {"workload": [found], "platforms": {"servers": ["dgx-1"]}}
    request |= {} if date is None else {"date": date}
    return resolved(SizingRequest.from_dict(request), catalog, stored_calibration())[0]


@pytest.mark.parametrize(
    ("dnn", "kind"),
    [
        ({}, "other"),
        ({"like": "ssd-resnet34"}, "detector"),
        ({"like": "resnet50", "kind": "transformer"}, "transformer"),
        ({"like": "dlrm-dcnv2"}, None),  # arithmetic does not tell the rate of a recommender
    ],
)
def test_the_kind_is_what_is_said_or_that_of_the_network_that_it_is_like(catalog, dnn, kind):
    assert work(catalog, dnn).own_kind == kind


def test_a_network_has_the_same_rate_by_its_id_as_by_its_numbers(catalog):
    ours = catalog.dnns["vgg19"].model_copy(update={"id": "ours", "kind": "convolution"})
    added = replace(catalog, dnns={**catalog.dnns, "ours": ours})
    keys = ("forward_flop", "parameters", "input_bytes")
    numbers = {"kind": "convolution"} | {key: getattr(ours, key).value for key in keys}
    gpu, none = catalog.gpus[V100], StepTerms(np.zeros(len(TERM_NAMES)), np.zeros((len(TERM_NAMES),) * 2), np.zeros(()))
    found = []
    for one in (work(added, dnn, batch_per_gpu=16) for dnn in ("ours", numbers)):
        fit = own_fit(one, gpu, added)
        spread = rate_log_sd(one, gpu, fit, np.array([16.0])).tolist()
        found.append((one.stack, own_terms(one, gpu, fit, none, added.gpus).values.tolist(), spread))
    assert found[0] == found[1]


def test_software_and_batch_are_those_of_published_trainings_of_its_kind(catalog):
    found = work(catalog, {"like": "ssd-resnet34"})
    assert found.stack.trains_own
    # Published detectors on 16 GB trained with at most 128 images of 640 px, those of 49 GFLOP with 40.
    assert 8 <= found.batch_on(V100) <= 128


def test_the_spread_of_a_network_that_is_like_another_is_no_smaller_than_of_one_of_its_kind(catalog):
    none = StepTerms(np.zeros(len(TERM_NAMES)), np.zeros((len(TERM_NAMES),) * 2), np.zeros(()))
    works = [work(catalog, said, batch_per_gpu=16) for said in ({"like": "ssd-resnet34"}, {"kind": "detector"})]
    gpu = catalog.gpus[V100]
    fits = [own_fit(one, gpu, catalog) for one in works]
    terms = [own_terms(one, gpu, fit, none, catalog.gpus) for one, fit in zip(works, fits, strict=True)]
    assert terms[0].values[EFFICIENCY] == terms[1].values[EFFICIENCY]
    assert terms[0].values[LAUNCH] == -np.inf  # part of the published shares
    spreads = [rate_log_sd(one, gpu, fit, np.array([16.0]))[0] for one, fit in zip(works, fits, strict=True)]
    assert spreads[0] == spreads[1] > 0.3


def test_each_batch_of_a_what_if_has_its_own_spread(catalog):
    """Small steps do not fill a GPU, and teams differ more in them."""
    one, batches = work(catalog, {"kind": "detector"}), np.array([2.0, 64.0, 16.0])
    gpu = catalog.gpus[V100]
    fit = own_fit(one, gpu, catalog)
    spreads = rate_log_sd(one, gpu, fit, batches)
    assert spreads[0] > spreads[2] > spreads[1]
    for batch, spread in zip(batches, spreads, strict=True):
        assert spread == pytest.approx(float(rate_log_sd(one, gpu, fit, np.array([batch]))[0]))


def test_a_rate_above_the_peak_is_refused(catalog):
    rate = {"samples_per_s": 1100, "gpu": V100}  # 162 TFLOP/s of 125
    with pytest.raises(RequestError, match="above its peak"):
        work(catalog, measured=[rate])
    check_measured(work(catalog, measured=[rate | {"gpus": 2}]), "", catalog)


def test_a_rate_of_nothing_or_on_an_unknown_gpu_or_of_a_network_of_the_catalogue_is_refused(catalog):
    for rate in ({"samples_per_s": 0, "gpu": V100}, {"samples_per_s": 100, "gpu": "v1000"}):
        with pytest.raises(RequestError, match="measured"):
            work(catalog, measured=[rate])
    named = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 1}}
    named["measured"] = [{"samples_per_s": 100, "gpu": V100}]
    request = SizingRequest.from_dict({"workload": [named]})
    with pytest.raises(RequestError, match="given by its numbers"):
        resolved(request, catalog, stored_calibration())


def test_a_rate_that_is_far_off_or_old_is_told(catalog):
    rate = {"samples_per_s": 5, "gpu": V100}
    slow = work(catalog, {"kind": "detector"}, measured=[rate])
    assert far_rates(slow, catalog) == [pytest.approx(5 / 103, rel=0.4)]
    assert far_rates(work(catalog, {"kind": "detector"}, measured=[rate | {"samples_per_s": 90}]), catalog) == []
    old = rate | {"samples_per_s": 90, "day": datetime.date(2024, 1, 1)}
    assert len(work(catalog, date=datetime.date(2026, 1, 1), measured=[old]).warnings) == 1
    assert not work(catalog, date=datetime.date(2024, 6, 1), measured=[old]).warnings


def test_a_benchmark_of_it_is_a_tuned_run_and_single_precision_is_slower(catalog):
    gpu = catalog.gpus[V100]
    assert run_on(work(catalog, run="benchmark"), gpu).measured == "tuned"
    assert run_on(work(catalog, precision="fp32"), gpu).precision == "fp32"
    assert run_on(work(catalog, precision="fp32"), catalog.gpus["a100-sxm-80gb"]).precision == "tf32"


def test_host_work_that_is_stated_is_taken(catalog):
    seconds, log_sd = core_seconds(work(catalog, host_core_s=0.08), stored_calibration())
    assert (seconds, log_sd) == pytest.approx((0.08, STATED_HOST_LOG_SD), rel=0.02)


def test_a_measured_rate_gains_no_more_on_another_gpu_than_its_hardware_and_is_less_sure_there(catalog):
    """By hand: L40S over A6000 is 2.34 in peak and 1.13 in memory bandwidth; B200 over H100 2.27 and 2.39."""
    none = StepTerms(np.zeros(len(TERM_NAMES)), np.zeros((len(TERM_NAMES),) * 2), np.zeros(()))
    cases = [
        ("rtx-a6000-48gb", "l40s-48gb", 1.12, 2.35),
        ("h100-sxm-80gb", "b200-sxm-180gb", 2.27, 2.39),
        ("a100-sxm-80gb", "b300-sxm-270gb", 3.9, 7.3),
        ("l40s-48gb", "rtx-a6000-48gb", 0.42, 0.9),
    ]
    for measured, other, least, most in cases:
        rate = {"samples_per_s": 90, "gpu": measured, "batch_per_gpu": 16}
        one = work(catalog, {"kind": "detector", "forward_flop": 100e9}, measured=[rate])
        rates, spreads = [], []
        for gpu in (catalog.gpus[measured], catalog.gpus[other]):
            fit = own_fit(one, gpu, catalog)
            assert one.batch_on(gpu.id) == 16  # as they train, not what is usual of the kind
            terms = own_terms(one, gpu, fit, none, catalog.gpus)
            rates.append(np.exp(terms.values[EFFICIENCY]) * gpu.peak_mixed_flop_per_s.value)
            spreads.append(float(rate_log_sd(one, gpu, fit, np.array([16.0]))[0]))
        assert least <= rates[1] / rates[0] <= most, measured
        assert spreads[1] > 1.15 * spreads[0]


def test_gpu_memory_of_a_run_replaces_the_guess(catalog):
    """A sample took 70 GB of an H100: state 16 x 0.23 G = 3.7 GB, context 1.1 GB, 65 GB of activations."""
    weather = {"forward_flop": 60e12, "parameters": 230e6, "input_bytes": 830e6, "kind": "transformer"}
    rate = {"samples_per_s": 0.5, "gpu": "h100-sxm-80gb", "batch_per_gpu": 1}
    guessed, ran, known = (
        memory_of(work(catalog, weather, **more), stored_calibration(), catalog)
        for more in ({}, {"measured": [rate]}, {"measured": [rate | {"gpu_memory_bytes": 70e9}]})
    )
    assert guessed.is_guess
    assert ran.is_guess
    assert not known.is_guess
    assert known.sample_bytes == pytest.approx(65e9, rel=0.03)
    assert ran.fit_probability(80e9, 1, 8) >= 0.95
    assert ran.sample_bytes <= 82e9 < guessed.sample_bytes  # 80 GiB less the state
    assert float(known.largest_batch(180e9, 8)) == 2


def test_a_guess_of_the_activations_refuses_only_what_almost_surely_does_not_fit(catalog):
    """Where the state fits, a batch that the guess alone keeps out is a question; most fit by recomputation."""
    weather = {"forward_flop": 60e12, "parameters": 230e6, "input_bytes": 830e6, "kind": "transformer"}
    found = memory_of(work(catalog, weather), stored_calibration(), catalog)
    assert found.as_it_runs(180e9, 1, 8).sample_bytes < found.sample_bytes / 2  # computed again
    assert found.fit_probability(180e9, 1, 8) >= 0.9
    assert found.least_probability <= found.fit_probability(24e9, 1, 8) < 0.9  # open
    assert found.fit_probability(3e9, 1, 8) == 0  # its state alone takes more


def test_a_rate_of_a_network_that_is_like_another_moves_and_narrows_it(catalog):
    """A recommender that reaches half of what its relative would: nearly half on that GPU, less sure on another."""
    servers = ["dgx-h100", "dgx-b200"]
    dnn = {**DNN, "like": "dlrm-dcnv2", "parameters": 20e9}

    def sides(**measured):
        found = {"name": "w", "dnn": dnn, "epochs": 1, "target": {"gpus_busy": 1}, **measured}
        request = SizingRequest.from_dict({"workload": [found], "platforms": {"servers": servers}})
        ones = {one.gpu.id: one for one in platforms(catalog, request)}
        cols = columns(tuple(ones.values()), catalog, None).shaped((len(ones), 1))
        one = resolved(request, catalog, stored_calibration())[0]
        side = gpu_side(one, ServerRows(tuple(ones.values()), cols, np.array([[1]]), catalog, stored_calibration()))
        return dict(zip(ones, zip(side.gpu.median[:, 0], side.gpu.log_sd[:, 0], strict=True), strict=True))

    before = sides(batch_per_gpu=1024)
    h100, b200 = "h100-sxm-80gb", "b200-sxm-180gb"
    rate = {"samples_per_s": before[h100][0] / 2, "gpu": h100, "gpus": 8, "batch_per_gpu": 1024}
    after = sides(batch_per_gpu=1024, measured=[rate])
    assert after[h100][0] / before[h100][0] == pytest.approx(0.5, rel=0.1)
    assert 0.45 < after[b200][0] / before[b200][0] < 0.8  # most of it is the network and the team
    assert after[h100][1] < after[b200][1] < before[b200][1]


def test_more_gpus_than_any_published_run_had_widen_the_interval(catalog):
    one = work(catalog, {"kind": "detector"})
    for gpu in ("l4-24gb", "a100-sxm-80gb"):
        spreads = beyond_runs_log_sd(one, catalog.gpus[gpu], np.array([1.0, 8.0, 112.0, 1024.0]))
        assert spreads[0] == spreads[1] == 0.0
        assert 0.0 < spreads[2] < spreads[3]


# FLOP of a sample, samples of the data set, kind, GPU, and the batches that people train such networks with on it.
PRACTICE = [
    # nnU-Net plans 2 patches of 128^3 for 11 GB to 32 GB, MLPerf's 3D U-Net runs 7 on 80 GB.
    ("volume", 1.2e12, 30e6, 100_000, "v100-sxm2-32gb", 2, 4),
    ("volume", 1.2e12, 30e6, 100_000, "a100-sxm-80gb", 4, 8),
    ("volume", 1.2e12, 30e6, 200, "a100-sxm-80gb", 2, 2),  # two hundred scans are no reason for more
    # Rows of tables and series are so small that batches are counted in thousands.
    ("transformer", 1e9, 12e6, 1e8, "rtx-pro-6000-96gb", 2048, 16_384),
    ("transformer", 1e6, 1e6, 1e9, "rtx-pro-6000-96gb", 8192, 16_384),
    # CIFAR-10 has 50,000 images.
    ("convolution", 1.1e9, 11e6, 50_000, "h100-sxm-80gb", 256, 512),
    ("convolution", 8.2e9, 26e6, 1.28e6, "a100-sxm-80gb", 256, 1024),
    # Detectors of 165 GFLOP fill a GPU with fewer images than were published of small ones, as Ultralytics' do.
    ("detector", 165e9, 44e6, 80_000, "rtx-pro-6000-96gb", 32, 128),
    # Audio spectrogram transformer: 10 s of AudioSet, 12 on each of 4 GPUs of 12 GB and more on larger ones.
    ("transformer", 2e11, 87e6, 2e6, "a100-sxm-80gb", 24, 256),
]


@pytest.mark.parametrize(("kind", "flop", "parameters", "samples", "gpu", "least", "most"), PRACTICE)
def test_the_default_batch_is_one_that_people_train_with(catalog, kind, flop, parameters, samples, gpu, least, most):
    dnn = {"kind": kind, "forward_flop": flop, "parameters": parameters}
    dataset = {"name": "d", "n_samples": samples, "sample_bytes": "10 kB", "format": "records"}
    one = work(catalog, dnn, dataset=dataset)
    assert least <= one.batch_on(gpu) <= most


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["convolution", "depthwise", "detector", "transformer", "volume", "point-cloud", "diffusion"]),
    flop=st.floats(1e6, 1e14),
    samples=st.integers(1, 10**10),
    gpu=st.sampled_from(["t4-16gb", "rtx-pro-6000-96gb", "b300-sxm-270gb"]),
)
def test_a_default_batch_larger_than_one_surely_fits(kind, flop, samples, gpu):
    dataset = {"name": "d", "n_samples": samples, "sample_bytes": "10 kB", "format": "records"}
    catalog = shipped_catalog()
    one = work(catalog, {"kind": kind, "forward_flop": flop}, dataset=dataset)
    memory = memory_of(one, stored_calibration(), catalog)
    batch = one.batch_on(gpu)
    assert batch == 1 or memory.fit_probability(catalog.gpus[gpu].memory_bytes.value, batch, 1) >= 0.9
