"""Predictions of rows that the catalogue does not know by name, and what a new calibration moved."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.calibrate.calibration import Draws, load_calibration, stored_calibration, streams
from sizer.calibrate.cases import prior_of
from sizer.calibrate.fit.hosts import HostTask
from sizer.calibrate.notes import FitNote
from sizer.calibrate.observations import load_observations, read_rows
from sizer.calibrate.reports import built_in_report
from sizer.calibrate.validate import predict, predict_all
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.sample_formats import SampleFormat
from tests.factories.observations import observation_text
from tests.factories.requests import CATALOG

ISILON = {
    "framework": "tensorflow",
    "software": "tensorflow (tf_cnn_benchmarks) + horovod, NGC 18.09 container",
    "batch_per_gpu": "256",
}


@pytest.fixture(scope="module")
def calibration():
    return load_calibration()


def row(**changes):
    return read_rows(observation_text(**changes), "x.csv")[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu": "v100"},
        {"server": "some-8x-v100", "intra_link": "nvlink2"},
        {"software": "MXNet NGC 21.06"},
        {"software": "", "framework": "pytorch"},
        {"servers": "128", "gpus": "1024", "inter_link": "edr", "nics_per_server": "4"},
        {"servers": "4", "gpus": "32"},
    ],
)
def test_names_of_others_are_predicted_with_a_wider_interval(catalog, calibration, changes):
    known, other = (predict(one, catalog, calibration) for one in (row(), row(**changes)))
    per_gpu = float(other.estimate.value) / int(changes.get("gpus", 8))
    assert 400 < per_gpu < 2000  # ResNet-50 in half precision on one V100: 600 to 1,400 images/s were published
    assert other.estimate.log_sd >= known.estimate.log_sd * 0.999


@pytest.mark.parametrize(
    ("quantity", "changes"),
    [
        ("storage_bytes_per_s", {"task": "storage", "sample_bytes": "113000", "value": "1e9"}),
        # Dell EMC 2018 printed 46 % on nine DGX-1 with this container.
        ("cpu_utilization_fraction", {"task": "preprocess", "loader": "framework", "value": "0.46", **ISILON}),
        ("time_to_train_s", {"value": "7000"}),
        ("run_time_s", {"value": "12000"}),
        ("epochs_to_target", {"task": "accuracy", "value": "60"}),
        ("epochs", {"task": "accuracy", "value": "90"}),
        ("speedup", {"value": "7.5", "notes": "over one GPU"}),
    ],
)
def test_every_quantity_of_a_run_is_predicted(catalog, calibration, quantity, changes):
    found = predict(row(quantity=quantity, **changes), catalog, calibration)
    assert found.estimate is not None, found.status
    value, low, high = found.estimate
    assert 0 < low <= value <= high
    assert value == pytest.approx(float(changes["value"]), rel=0.6)


def test_where_it_extrapolates_is_said(catalog, calibration):
    inside, beyond = row(gpus="4"), row(gpus="512", servers="64", inter_link="edr", batch_per_gpu="4096")
    assert predict(inside, catalog, calibration).notes == ()
    notes = {one.kind: one.values for one in predict(beyond, catalog, calibration).notes}
    assert notes[FitNote.MORE_GPUS][-1] == 512
    assert notes[FitNote.BATCH_OUTSIDE][-1] == 4096


def test_three_kinds_of_spread_make_the_interval(catalog, calibration):
    found = predict(row(), catalog, calibration)
    parts = found.spread
    whole = np.sqrt(parts.parameters**2 + parts.within**2 + parts.between**2)
    assert whole == pytest.approx(float(found.estimate.log_sd), rel=1e-9)
    assert min(parts.parameters, parts.within, parts.between) > 0


def test_links_of_todays_gpus_have_rates_of_their_own() -> None:
    """NCCL counts on 12 x 20 GB/s of an A100, 18 x 20.6 of an H100 and 18 x 40.1 of a B200, below the line rates."""
    links = {"nvlink3": 12 * 20e9, "nvlink4": 18 * 20.6e9, "nvlink5": 18 * 40.1e9, "nvl72": 18 * 40.1e9}
    for link, rate in links.items():
        assert math.exp(prior_of(f"intra:{link}").mean) == pytest.approx(rate, rel=0.01)
    catalog = shipped_catalog()
    for server in catalog.servers.values():
        of_gpus = [catalog.gpus[name].nvlink_bytes_per_s for name in server.gpus]
        lines = [line.value for line in of_gpus if line is not None]
        link = server.intra_link
        if lines and link is not None and catalog.gpu_links[link.value.id].family != "PCIe":
            rate = math.exp(prior_of(f"intra:{link.value.id}").mean)
            assert 0.3 < rate / min(lines) < 1.0, server.id


FITTED = stored_calibration()
LOADERS = st.sampled_from(("framework", "dali", "dali-cpu", "none"))
FRAMEWORKS = st.sampled_from(("tensorflow", "pytorch", "mxnet", "tensorrt"))


def work(sample_format: SampleFormat, loader: str = "framework", framework: str = "tensorflow"):
    return FITTED.hosts.work(HostTask(sample_format, loader, framework, "unseen"))


@given(st.sampled_from(SampleFormat), LOADERS, FRAMEWORKS, st.floats(1.0, 1e10), st.floats(1.0, 100.0))
def test_more_bytes_are_never_cheaper(sample_format, loader, framework, size, factor):
    line = work(sample_format, loader, framework)
    assert line.core_s(size * factor) >= line.core_s(size)


@given(st.sampled_from((SampleFormat.TOKENS, SampleFormat.TABULAR)), LOADERS, FRAMEWORKS, st.floats(1.0, 10e3))
def test_records_of_numbers_cost_a_fraction_of_an_image(sample_format, loader, framework, size):
    """Up to 10 kB. A sentence of 300 B that is split into tokens stays below an image, too."""
    image = work(SampleFormat.JPEG, loader, framework)
    assert work(sample_format, loader, framework).core_s(size) < 0.25 * image.core_s(size)
    assert work(sample_format, loader, framework).core_s(300) < 0.05 * image.core_s(300)
    assert work(SampleFormat.TEXT, loader, framework).core_s(300) < 0.35 * image.core_s(300)


@pytest.mark.parametrize(
    ("sample_format", "sample_bytes", "most_s"),
    [
        # nv-dle-dlrm: a DGX-2 (48 cores) trains on 10.5 M rows/s, so a row takes at most 48 / 10.5e6 core-seconds.
        (SampleFormat.TABULAR, 95, 48 / 10.5e6),
        # presto-2022: 8 virtual cores tokenize 367 documents/s of 3,282 B, the embedding look-up included.
        (SampleFormat.TEXT, 3282, 8 / 367),
        # presto-2022: 8 virtual cores read 1,726 documents/s of 3.6 kB of tokens.
        (SampleFormat.TOKENS, 3600, 8 / 1726),
        # presto-2022: 8 virtual cores read 4,800 spectrograms/s of 230,769 B.
        (SampleFormat.TENSORS, 230_769, 8 / 4800),
    ],
)
def test_lines_lie_below_what_published_loaders_delivered(sample_format, sample_bytes, most_s):
    assert work(sample_format).core_s(sample_bytes) < most_s


def test_reading_a_volume_lies_below_what_a_published_loader_delivered():
    """mlperf-storage-v1.0: 4 threads read 11.01 volumes/s of 146.6 MB: at most 2.5 ns per byte."""
    assert work(SampleFormat.VOLUMES).core_s_per_byte < 4 / 11.01 / 146.6e6


def test_the_work_of_jpeg_grows_with_its_bytes():
    """DGX-1 line: 1.6 ms + 14 ms/MB. 400 kB: 7.2 ms, 113 kB: 3.2 ms; the fit to more sources stays within a fifth."""
    line = work(SampleFormat.JPEG)
    np.testing.assert_allclose([line.core_s(113e3), line.core_s(400e3)], [3.2e-3, 7.2e-3], rtol=0.2)


def test_a_stack_without_a_loader_decodes_compressed_images_with_the_reference_loader():
    """TensorRT was measured on tensors; its JPEG costs what TensorFlow's loader takes, with a wider interval."""
    none, own = work(SampleFormat.JPEG, "none", "tensorrt"), work(SampleFormat.JPEG)
    assert none.core_s(400e3) == pytest.approx(own.core_s(400e3), rel=1e-12)
    seen = FITTED.hosts.work(HostTask(SampleFormat.JPEG, "framework", "tensorflow", "tf-cnn-benchmarks-ngc18.09"))
    assert none.log_sd(400e3) > 2 * seen.log_sd(400e3)
    task = HostTask(SampleFormat.JPEG, "none", "tensorrt", "any")
    assert FITTED.hosts.note(task).kind is FitNote.LOADER_ASSUMED


@pytest.mark.parametrize("sample_format", [f for f in SampleFormat if f not in ("jpeg", "slides", "tensors")])
def test_assumed_lines_say_so_and_are_wide(sample_format):
    """A factor of two either way at least: exp(1.645 x 0.45) = 2.1."""
    task = HostTask(sample_format, "framework", "tensorflow", "unseen")
    assert FITTED.hosts.note(task).kind is FitNote.HOST_LINE_ASSUMED
    assert FITTED.hosts.work(task).log_sd(1e5) > 0.45


@pytest.mark.parametrize("sample_format", [SampleFormat.JPEG, SampleFormat.TOKENS, SampleFormat.VOLUMES])
def test_draws_spread_as_the_line_says(sample_format):
    """Median and spread of 4,000 draws: 3 % of the median at a spread of 1, and 3 % of the spread."""
    stack, size = CATALOG.stacks["mxnet-1.6-gluoncv"], 1e5
    drawn = np.log(Draws(FITTED, 4000, streams(1)).core_seconds(sample_format, stack, size))
    line = FITTED.host_work(sample_format, stack)
    assert np.median(drawn) == pytest.approx(np.log(line.core_s(size)), abs=0.06)
    assert np.std(drawn) == pytest.approx(line.log_sd(size), rel=0.12)  # both parts of the sum are log-normal


@pytest.mark.laws
def test_held_out_sources_of_loaders_are_predicted():
    """As asked: median error below 40 %, 85 % or more inside the 90 % interval."""
    figures = {figure.measure: figure for figure in built_in_report(CATALOG).figures}
    assert figures["host-source-median"].value < 0.40
    assert figures["host-source-coverage"].value >= 0.85
    assert figures["host-source-median"].rows > 100


@pytest.mark.laws
def test_rows_that_show_no_work_of_a_core_do_not_calibrate():
    """A saturated process, a loader that something else slowed, and a number printed twice."""
    rows = load_observations()
    found = {row.id: p.status for row, p in zip(rows, predict_all(rows, CATALOG, FITTED), strict=True)}
    reasons = {
        "fleetx-reader-pil-38thr": FitNote.ONE_PROCESS,
        "pytorch-dataloader-512-px-jpeg-48thr": FitNote.ONE_PROCESS,
        "presto-ilsvrc2012-jpeg-concatenated-strategy": FitNote.LOADER_NOT_SATURATED,
        "rs-resnet50-cpu-cost/cpu": FitNote.REPEATED,
    }
    assert {name: found[name].reason.kind for name in reasons} == reasons
    assert not set(reasons) & FITTED.host_used
