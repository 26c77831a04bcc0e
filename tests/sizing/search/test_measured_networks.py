"""Sizing of MLPerf networks on today's GPUs: rates of published runs, batches, what other networks take from them."""

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.engine import StoredFits, kind_of
from sizer.calibrate.modern.rows import ModernRow, largest_batches
from sizer.calibrate.modern.terms import (
    RATE,
    STEPS,
    MeasuredSystem,
    SystemRates,
    convergence_of,
    modern_calibration,
    system_rates,
)
from sizer.calibrate.notes import FitNote
from sizer.catalog.loader import load_catalog, shipped_catalog
from sizer.guide.pdf.render import guide_html
from sizer.guide.plain_text import answer_text
from sizer.physical.platforms import platforms
from sizer.present.text.verdict import verdict_text
from sizer.present.words import sample_unit
from sizer.sizing.best_design import best_design
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.size import size
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.measured_rates import _anchor_correction, accelerator, largest_batch
from sizer.sizing.stages.platform_columns import ComputeGroup
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import SizingRequest
from tests.catalog.test_new_generation import FOLDER
from tests.factories import examples

LANGUAGE = {"dnn": "llama-3-70b", "sequence_tokens": 8192}
IMAGES = {"dnn": "bert-large", "dataset": "wikipedia-bert"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog(overlay=FOLDER)


@pytest.mark.laws
@pytest.mark.parametrize("workload", [LANGUAGE, IMAGES])
def test_a_made_up_gpu_is_sized_by_its_number_and_no_rate_is_claimed(catalog, workload):
    """32 GPUs of eight a server are four servers, with racks, cables and a bill."""
    asked = {
        "workload": [{**workload, "target": {"gpus_busy": 32}}],
        "platforms": {"servers": ["zbox"], "fabrics": ["zdr"], "storage": ["local-nvme"]},
        "stated_storage": [{"storage": "local-nvme", "usable_bytes": "400 TB"}],
    }
    result = size(SizingRequest.from_dict(asked), catalog)
    design, answer = result.design, result.design.workloads[0]
    assert (design.n_servers, design.n_gpus) == (4, 32)
    assert design.plan.n_links
    assert design.plan.racks
    assert {line.item: line.quantity for line in design.bill.lines}["zbox"] == 4
    assert not answer.rate_is_predicted
    assert FitNote.GENERATION_NOT_MEASURED in {one.kind for one in answer.unmeasured}
    assert "not predicted" in verdict_text(result)
    assert "not predicted" in answer_text(result)
    # Neither the answer nor the guide prints a rate of these GPUs.
    page = re.sub(r"<[^>]+>", " ", re.sub(r"<style.*?</style>", "", guide_html(result, catalog), flags=re.S))
    unit = sample_unit(answer.dnn)
    assert "not predicted" in page
    assert not re.search(rf"[0-9]\s*{unit}", page)
    assert not re.search(rf"[0-9]\s*{unit}", answer_text(result))


def test_a_measured_generation_is_predicted():
    asked = {"workload": [{**LANGUAGE, "target": {"gpus_busy": 32}}], "platforms": {"servers": ["dgx-h200"]}}
    answer = best_design(SizingRequest.from_dict(asked), examples.catalog()).design.workloads[0]
    assert answer.rate_is_predicted


CATALOG = shipped_catalog()


def request(dnn, server, target, **more):
    work = {"dnn": dnn, "target": target, **more}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": [server]}})


def rate_on(dnn, server, **more):
    """Throughput of one server, of which all GPUs are to be used."""
    [answer] = size(request(dnn, server, {"gpus_busy": 8}, **more), CATALOG).design.workloads
    return answer


@pytest.mark.parametrize(
    ("dnn", "server", "batch", "published"),
    [
        # MLPerf Training v5.0, 8 H200 with 256 images a step: six submitters, 1,120.55 to 1,155.67 images/s.
        ("stable-diffusion-v2", "dgx-h200", 32, 1147.5),
        # v4.1 and v5.0, 8 H200 with 256 images: Dell 2,447.4.
        ("retinanet", "dgx-h200", 32, 2447.4),
        # v3.0, NVIDIA, DGX H100 with 3,200 images a step.
        ("resnet50", "dgx-h100", 400, 56032.3),
    ],
)
def test_a_published_run_is_met(dnn, server, batch, published):
    """Submitters differ by some percent, and a design is no submission."""
    answer = rate_on(dnn, server, batch_per_gpu=batch, run="benchmark")
    assert float(answer.stages[4].capacity.value) == pytest.approx(published, rel=0.06)
    assert answer.stages[4].capacity.low < published < answer.stages[4].capacity.high
    beyond = {FitNote.GPU_MOVED_FROM_V100, FitNote.MLPERF_DNN_ON_GPU, FitNote.MLPERF_GENERATION}
    assert not beyond & {one.kind for one in answer.unmeasured}
    assert answer.evidence[0].n_gpus == 8
    assert answer.stack.id == "mlperf-training"


def test_people_reach_less_than_vendors_tuned():
    """SD v2 at 512 px: MosaicML's U-Net took 290 images/s on 8 A100 (README of mosaicml/diffusion), vendors' in MLPerf
    v4.1 1,084 on 8 H100, whose peak is 3.2 times that of A100: their code was 1.2 times as fast for the peak, MLPerf's
    own growth from A100 to H100, 2.0 to 2.3 in three networks, makes that 1.6 to 1.9.
    """
    asked = {"dnn": "stable-diffusion-v2", "server": "dgx-h100", "batch_per_gpu": 32}
    whole, named, tuned = (
        rate_on(**asked, **more) for more in ({}, {"stack": "mlperf-training"}, {"run": "benchmark"})
    )
    rates = [one.stages[4].capacity for one in (whole, named, tuned)]
    assert float(rates[1].value) == float(rates[2].value)
    assert 1.4 < float(rates[2].value / rates[0].value) < 2.0
    widths = [float(one.high / one.low) for one in rates]
    assert widths[0] > 1.5 * widths[2]
    kinds = [FitNote.RATE_OF_OWN_CODE in {note.kind for note in one.unmeasured} for one in (whole, named, tuned)]
    assert kinds == [True, False, False]
    assert [one.stack.runs_mlperf for one in (whole, named, tuned)] == [False, True, True]


def test_two_servers_of_the_example_train_as_published():
    """Dell, two XE9680L with 16 H200, MLPerf v5.0: 2,277.1 images/s, 2,560,000 images, 18.25 minutes."""
    [answer] = best_design(SizingRequest.from_file("examples/stable-diffusion-h200.toml"), CATALOG).design.workloads
    assert answer.batch_per_gpu == 32  # as theirs
    assert answer.throughput.low < 2277.1 < answer.throughput.high
    assert float(answer.throughput.value) == pytest.approx(2277.1, rel=0.06)
    assert answer.time.total_s.low < 18.2528 * 60 < answer.time.total_s.high


def test_arrays_say_what_the_fit_says_of_a_row():
    """Two ways through the same terms; sizes and batches that no two rows share count with their priors in both."""
    fit = modern_calibration().fits[RATE]
    kept = [i for i, name in enumerate(fit.names) if kind_of(name) not in ("size", "size-batch")]
    system = MeasuredSystem("bert", "h100-sxm5-80gb", 8, "nvlink4", 400e9, "intel")
    bare = dataclasses.replace(
        fit,
        names=tuple(fit.names[i] for i in kept),
        values=fit.values[kept],
        hessian=fit.hessian[kept][:, kept].tocsc(),
    )
    found = SystemRates(system, StoredFits("", {RATE: bare})).rate(np.array([1, 2, 64]), 48.0)
    rows = [
        ModernRow(
            "x",
            "v5.0",
            "",
            "",
            "bert",
            "h100-sxm5-80gb",
            m,
            8 * m,
            8 * m * 48.0,
            1,
            "nvlink4",
            400e9,
            "intel",
            "",
            "",
            None,
            None,
            None,
            "",
            "x",
        )
        for m in (1, 2, 64)
    ]
    steps, variance = STEPS.predict(bare, rows)
    np.testing.assert_allclose(np.exp(found.log), [row.global_batch for row in rows] / np.exp(steps), rtol=1e-9)
    np.testing.assert_allclose(found.sd, bare.interval_sd(variance), rtol=1e-6)


def test_larger_batches_need_more_samples():
    """Stable Diffusion, v5.0: 2.0 million images at 256 a step, 3.07 million at 1,024."""
    found = convergence_of("stable_diffusion")
    assert float(found.samples(256)) == pytest.approx(2.05e6, rel=0.15)
    assert float(found.samples(1024)) == pytest.approx(3.07e6, rel=0.2)


def test_batches_are_among_the_published_ones_and_fall_with_the_cluster():
    """The largest batch of Stable Diffusion on one GPU was 64; no step had more than 2,048 images."""
    [work] = resolved(request("stable-diffusion-v2", "dgx-h200", {"gpus_busy": 8}), CATALOG, stored_calibration())
    sizes = work.batch_sizes["h200-sxm-141gb"]
    assert (np.diff(sizes.batch_per_gpu) <= 0).all()
    assert sizes.batch_per_gpu.max() <= max(batch for _, batch in largest_batches("stable_diffusion"))
    n = np.array([8, 64, 1024])
    assert (n * sizes.at(n) <= 2048).all()
    # Between the listed numbers the batch is that of the next one below.
    assert sizes.at(9) == sizes.at(8)


@given(
    st.sampled_from(
        [
            ("resnet50", "resnet50-90-epochs", "dgx-b200", "ai400x2"),
            ("resnet50", "resnet50-mlperf-v0.6", "dgx-1", "isilon-f800"),
            ("resnet101", "resnet101-90-epochs", "dgx-1", "isilon-f800"),
            ("retinanet", "retinanet-mlperf-v5.0", "dgx-b200", "ai400x2"),
            ("stable-diffusion-v2", "stable-diffusion-v2-mlperf-v5.0", "dgx-h200", "ai400x2"),
        ]
    ),
    st.floats(600, 1e5),
)
@settings(max_examples=15, deadline=None)
def test_more_servers_never_make_a_time_unlikely(training, time_s):
    """With the batch that trains soonest; 1 % for batches that are whole numbers and the fit of the draws."""
    dnn, recipe, server, storage = training
    work = {"dnn": dnn, "recipe": recipe, "target": {"time_to_train_s": time_s}}
    asked = {"workload": [work], "platforms": {"servers": [server], "storage": [storage]}}
    of = SizingRequest.from_dict(asked)
    [work] = resolved(of, CATALOG, stored_calibration())
    platform, servers = platforms(CATALOG, of)[0], np.arange(1, 129)
    chance = run_on(of, work, platform, servers, 1000, np.inf, CATALOG, stored_calibration()).probability
    most = np.maximum.accumulate(chance)
    assert (most - chance)[most >= 0.9].max(initial=0.0) < 0.01


def test_a_larger_data_set_bears_a_larger_batch():
    """A thousand times the images have as many steps in an epoch with a thousand times the batch."""
    sizes = []
    for samples in (1_281_167, 1_281_167_000):
        data = {"name": "images", "n_samples": samples, "sample_bytes": 113_000}
        more = {"dataset": data, "recipe": "resnet50-90-epochs"}
        [work] = resolved(
            request("resnet50", "dgx-b200", {"samples_per_s": 1e6}, **more), CATALOG, stored_calibration()
        )
        sizes.append(work.batch_sizes["b200-sxm-180gb"])
    # Goyal et al. 2017: accuracy held up to 8,192 images a step.
    assert 4096 <= 512 * sizes[0].at(512) <= 32_768
    assert sizes[1].at(512) == sizes[1].at(1)


@pytest.mark.parametrize(
    ("gpu", "batch"),
    [
        # Mask R-CNN in MLPerf: A100 of 80 GB with up to 24 images each, H100 with 12, L40S with 11, H200 with none.
        ("a100-sxm-80gb", 24),
        ("h100-sxm-80gb", 12),
        ("h200-sxm-141gb", 12),
        ("l40s-48gb", 11),
    ],
)
def test_the_largest_batch_is_one_of_the_same_generation(gpu, batch):
    known = accelerator(gpu)
    assert known is not None
    assert largest_batch("maskrcnn", known) == batch


def test_tables_of_an_anchor_are_not_exchanged():
    """DLRM-DCNv2 has 26 G parameters in tables; with their gradients no GPU reached what was measured of it."""
    work = {
        "dnn": {"name": "ads", "parameters": 500e9, "forward_flop": 2e8, "input_bytes": 1000, "like": "dlrm-dcnv2"},
        "dataset": {"name": "clicks", "n_samples": 5e10, "sample_bytes": 800},
        "target": {"samples_per_s": 5e6},
    }
    asked = {"workload": [work], "platforms": {"servers": ["dgx-b200"], "storage": ["ai400x2"]}}
    counts = search(SizingRequest.from_dict(asked), CATALOG, stored_calibration())
    [row] = Ranking(counts).first(1)
    # 2 TB of tables take 11 B200 at least; MLPerf trained the DLRM at 4 million samples/s a B200.
    # An analogy takes a multiple: 72 B200 hold seven times the tables.
    assert 2 <= counts.evaluated.space.n_servers[row] <= 9


def test_the_interval_is_wider_where_nothing_was_measured():
    """B300 has no run of its own; MI300X one, by a framework that nobody else used."""
    sds = [
        float(system_rates(MeasuredSystem("retinanet", gpu, 8, "nvlink", 4e11, "intel")).rate(1, 32).sd)
        for gpu in ("b200-sxm-180gb", "b300-sxm-270gb", "mi300x-192gb")
    ]
    assert sds[0] < sds[1] < sds[2]


def test_an_old_stack_stays_slower():
    """H100 has 7.9 times the peak of V100, 3.7 times its memory bandwidth, and launches no kernel faster."""
    stack = {"stack": "mxnet-ngc19.07-dali", "batch_per_gpu": 128}
    old = [rate_on("resnet50", server, **stack) for server in ("dgx-1", "dgx-h100")]
    v100, h100 = (float(one.stages[4].capacity.value) for one in old)
    newest = rate_on("resnet50", "dgx-h100", batch_per_gpu=128, run="benchmark")
    assert 1 < h100 / v100 < 7.9
    assert h100 < float(newest.stages[4].capacity.value)


def test_vgg_gains_more_than_resnet_and_says_that_it_is_extrapolated():
    """VGG-16 does three times the arithmetic of ResNet-50 on fewer activations, so memory holds it back less."""
    gains = {}
    for dnn in ("vgg16", "resnet50"):
        stack = {"stack": "mxnet-ngc19.07-dali", "batch_per_gpu": 64}
        old, new = (rate_on(dnn, server, **stack) for server in ("dgx-1", "dgx-h100"))
        gains[dnn] = float(new.stages[4].capacity.value) / float(old.stages[4].capacity.value)
        assert any(one.kind is FitNote.GPU_MOVED_FROM_V100 for one in new.unmeasured)
        width = [math.log(float(one.stages[4].capacity.high) / float(one.stages[4].capacity.low)) for one in (old, new)]
        assert width[1] > width[0]
    assert gains["vgg16"] > gains["resnet50"]


def test_networks_of_today_read_their_own_data():
    [work] = resolved(request("dlrm-dcnv2", "dgx-h100", {"gpus_busy": 8}), CATALOG, stored_calibration())
    assert work.dataset.id == "criteo-4tb"
    assert work.sample_format.value == "tabular"
    assert work.mlperf == "dlrm_dcnv2"


def test_v100_requests_read_no_run_of_mlperf():
    [work] = resolved(request("resnet50", "dgx-1", {"gpus_busy": 8}), CATALOG, stored_calibration())
    assert work.mlperf == ""
    assert not work.batch_sizes


def test_a_rate_above_what_a_link_carries_takes_the_arithmetic_as_free():
    """FLUX.1 on four A40: exchanging its gradients over PCIe alone takes longer than the measured step."""
    group = ComputeGroup("r750xa", "a40-48gb", "pcie4", CATALOG.links["100gbe"])
    moved = _anchor_correction(stored_calibration(), CATALOG, CATALOG.dnns["flux-1"], group)
    assert math.isfinite(moved)
    assert 3 < moved < 7
