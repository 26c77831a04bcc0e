"""The calibrated model against published measurements. Rows it was calibrated on are named so."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import load_calibration, unmeasured
from sizer.calibrate.fit.hosts import HostTask
from sizer.calibrate.fit.joint import calibrate, calibrate_with_fit
from sizer.calibrate.notes import CALIBRATED, FitNote, RowUse
from sizer.calibrate.observations import load_observations, observations_digest, stored_path
from sizer.calibrate.reports import built_in_report
from sizer.calibrate.validate import load_cross_validation, predict_all, validate, without_source
from sizer.catalog.sample_formats import SampleFormat
from sizer.evidence.tables import MEASURES
from sizer.perf.exchange import gradient_bytes
from sizer.perf.training_step import TrainingRun
from sizer.workload.custom_network import CustomDnn


@pytest.fixture(scope="module")
def rows():
    return load_observations()


@pytest.fixture(scope="module")
def calibration():
    return load_calibration()


@pytest.fixture(scope="module")
def report(rows, catalog, calibration):
    return validate(rows, catalog, calibration)


@pytest.fixture(scope="module")
def by_id(report):
    return {row.id: row for row in report.rows}


def training(catalog, calibration, stack, dnn, gpus, servers, link, nics=1, precision="mixed", batch=256):
    item, gpu = catalog.dnns[dnn], catalog.gpus["v100-sxm2-16gb"]
    terms = calibration.step_terms(
        stack=catalog.stacks[stack],
        dnn=item,
        precision=precision,
        gpu=gpu,
        intra_link="nvlink2",
        inter_link=link,
        task="training",
    )
    run = TrainingRun.of(
        batch_per_gpu=batch,
        n_gpus_per_server=gpus,
        n_servers=servers,
        forward_flop=item.forward_flop.value,
        gradient_bytes=gradient_bytes(item.parameters.value, precision),
        peak_flop_per_s=gpu.peak_mixed_flop_per_s.value,
        nic_bytes_per_s=12.5e9 * nics,
    )
    return run.rate(terms).total


@pytest.mark.parametrize(
    ("row", "published"),
    [("dgx1-isilon-resnet50-72gpu-derived-rate", 52_274), ("dgx1-isilon-inception4-large-72gpu-derived-rate", 15_304)],
)
def test_isilon_dgx1(by_id, row, published):
    """Dell EMC 2018, nine DGX-1 with Isilon F800. Calibrated on. The printed linear scaling pulls by 2 %."""
    assert by_id[row].published == published
    assert by_id[row].status == CALIBRATED
    assert_allclose(by_id[row].predicted, published, rtol=0.02)


def test_near_linear_to_32_gpus(catalog, calibration):
    """WekaIO and HPE 2019: training scales near-linearly to 32 GPUs on four Apollo 6500, taken as 90 %, rounded.

    With the TensorFlow container of that month, whose scaling inside a server is published.
    """
    one = training(catalog, calibration, "tf-ngc19.02", "resnet50", 1, 1, None).value
    many = training(catalog, calibration, "tf-ngc19.02", "resnet50", 8, 4, "edr").value
    assert round(float(many / (32 * one)), 2) >= 0.90


def test_linear_from_8_to_72_gpus(catalog, calibration):
    """Dell EMC 2018: throughput scales linearly from 8 to 72 GPUs on nine DGX-1. Calibrated on, as a share."""
    stack = "tf-cnn-benchmarks-ngc18.09"
    one = training(catalog, calibration, stack, "resnet50", 8, 1, None).value
    many = training(catalog, calibration, stack, "resnet50", 8, 9, "100gbe-roce", nics=4).value
    assert many / (9 * one) >= 0.95


def jpeg(loader: str, framework: str, stack: str) -> HostTask:
    return HostTask(SampleFormat.JPEG, loader, framework, stack)


def test_host_line_of_the_tensorflow_loader(calibration):
    """3.2 core-ms at 113 kB and 19.8 at 1.3 MB, derived from the DGX-1 runs (planning rules, section 8)."""
    work = calibration.hosts.work(jpeg("framework", "tensorflow", "tf-cnn-benchmarks-ngc18.09"))
    assert_allclose([work.core_s(113e3), work.core_s(1.3e6)], [3.2e-3, 19.8e-3], rtol=0.05)
    assert work.log_sd(113e3) <= 0.1  # as asked, for the stacks that were seen
    assert calibration.hosts.work(jpeg("framework", "tensorflow", "dell-ready-2018")).log_sd(113e3) <= 0.11
    assert calibration.hosts.note(jpeg("framework", "tensorflow", "dell-ready-2018")) is None
    assert calibration.hosts.work(jpeg("framework", "caffe2", "unseen")).log_sd(113e3) > 0.3


def test_software_generation_matters(catalog, calibration):
    """ResNet-50, eight V100: 6,210 (TensorFlow 19.07) against 11,220 images/s (MXNet 19.05, MLPerf v0.6)."""
    old = training(catalog, calibration, "tf-ngc19.07", "resnet50", 8, 1, None)
    new = training(catalog, calibration, "mxnet-ngc19.05-dali", "resnet50", 8, 1, None, batch=208)
    assert_allclose([old.value, new.value], [6210, 11_220], rtol=0.05)  # calibrated on; scatter 5 % between sources


# What falls short of what is asked, and by how much at most.
FALLS_SHORT = {
    # With an unknown stack 256 of 259 are inside, 98.8 instead of 96 %, of which 194 are of one source.
    "language-unknown-stack-coverage": 0.99,
    # MLPerf v5.1 held out: times 8.5 % off instead of 8.
    "language-newest-round-times": 0.086,
    # Two of 1,045 runs whose layout is printed took less memory than the model says by 9 and 14 %.
    # With a series left out, fitted until it settles: 6.13 % instead of 6.1.
    "held-out-series-median": 0.0615,
    # Intervals that are too narrow: of 38 rates of MLPerf v5.1 from earlier rounds 32 are inside, 84.2 % instead of 85.
    "modern-least-coverage": 0.843,
    # Serving: the interval of what was measured is 12.5 % either way instead of 12.
    "serving-half-width": 0.1255,
}


def test_every_figure_is_reached(catalog):
    """In sample, series and sources left out, scale-out, coverage, times of public logs, and the host data path."""
    figures = built_in_report(catalog).figures
    assert len(figures) == len(MEASURES)
    for figure in figures:
        assert figure.is_reached == (figure.measure not in FALLS_SHORT), figure
        assert figure.value <= FALLS_SHORT.get(figure.measure, figure.high), figure


@pytest.fixture(scope="module")
def refitted(catalog, rows):
    return calibrate_with_fit(catalog, rows)


@pytest.mark.laws
def test_checks_on_unseen_sources_are_those_of_the_stored_fit(catalog, rows, refitted):
    """Leaves two sources out again: their stored predictions and intervals come from the stored fit."""
    calibration, fit = refitted
    stored = load_cross_validation(calibration)
    for source in ("gh-awss-2", "nnabla"):
        again = without_source(source, fit, calibration, rows, catalog)
        assert set(again) == {row.id for row in rows if row.source == source} & set(stored.by_source)
        for name, triple in again.items():
            assert_allclose(triple, stored.by_source[name], rtol=5e-3)


@pytest.mark.laws
@pytest.mark.parametrize(
    "planted", ["dle-tf1907-rn50-train-fp16-dgx1-8g", "mlperf-v06-nvidia-dgx1_ngc19.05_mxnet-resnet"]
)
def test_a_planted_wrong_row_moves_no_other_prediction(catalog, rows, calibration, planted):
    """Rate x 2 in one row: no other rate moves by more than 2 %."""
    assert any(row.id == planted for row in rows)
    wrong = tuple(replace(row, value=2 * row.value) if row.id == planted else row for row in rows)
    fooled = calibrate(catalog, wrong)
    others = tuple(row for row in rows if row.quantity == "samples_per_s" and row.id != planted)
    for row, one, two in zip(
        others, predict_all(others, catalog, calibration), predict_all(others, catalog, fooled), strict=True
    ):
        if one.estimate is not None and two.estimate is not None:
            assert abs(np.log(two.estimate.value / one.estimate.value)) < 0.02, row.id


def test_nothing_is_left_out_silently(report):
    for row in report.rows:
        assert (row.predicted is None) == (row.status.use in (RowUse.OUTSIDE, RowUse.NOT_MODELLED)), row
        assert (row.status.reason is None) == (row.predicted is not None and row.status.use != RowUse.EXCLUDED), row


# --- what was never measured ------------------------------------------------------------------------------------------


def test_unseen_combinations_are_wide_and_say_so(catalog, calibration):
    common = {"precision": "mixed", "intra_link": "nvlink2", "inter_link": None, "task": "training"}
    gpu, stack = catalog.gpus["v100-sxm2-16gb"], catalog.stacks["mxnet-ngc19.05-dali"]
    seen = calibration.step_terms(stack=stack, dnn=catalog.dnns["resnet50"], gpu=gpu, **common)
    unseen = calibration.step_terms(stack=stack, dnn=catalog.dnns["bert-large"], gpu=gpu, **common)
    other = calibration.step_terms(
        stack=stack, dnn=catalog.dnns["resnet50"], gpu=catalog.gpus["v100s-pcie-32gb"], **common
    )
    resnet, bert, v100s = catalog.dnns["resnet50"], catalog.dnns["bert-large"], catalog.gpus["v100s-pcie-32gb"]
    assert not unmeasured(calibration, stack, resnet, "mixed", gpu.id, gpu, "training", 1)
    (missing,) = unmeasured(calibration, stack, bert, "mixed", gpu.id, gpu, "training", 1)
    assert missing.kind in (FitNote.DNN_FROM_FAMILY, FitNote.DNN_WITH_STACK)
    (missing,) = unmeasured(calibration, stack, resnet, "mixed", v100s.id, v100s, "training", 1)
    assert (missing.kind, missing.values) == (FitNote.GPU_FROM_GENERATION, (v100s.name,))
    assert unseen.covariance[0, 0] > 4 * seen.covariance[0, 0]
    assert other.covariance[0, 0] > seen.covariance[0, 0]


def test_custom_dnn_borrows(catalog, calibration):
    stack, gpu = catalog.stacks["tf-ngc19.07"], catalog.gpus["v100-sxm2-16gb"]
    common = {"precision": "mixed", "intra_link": "nvlink2", "inter_link": None, "task": "training", "gpu": gpu}
    numbers = {"forward_flop": 2e10, "parameters": 3e7, "input_bytes": 150_528}
    like = calibration.step_terms(stack=stack, dnn=CustomDnn(name="mine", like="vgg16", **numbers), **common)
    alone = calibration.step_terms(stack=stack, dnn=CustomDnn(name="mine", **numbers), **common)
    vgg = calibration.step_terms(stack=stack, dnn=catalog.dnns["vgg16"], **common)
    assert_allclose(like.values, vgg.values, rtol=1e-12)
    (missing,) = unmeasured(
        calibration, stack, CustomDnn(name="mine", like="vgg16", **numbers), "mixed", gpu.id, gpu, "training", 1
    )
    assert (missing.kind, missing.values) == (FitNote.DNN_FROM_LIKE, ("mine", "vgg16"))
    assert alone.covariance[0, 0] > like.covariance[0, 0]


@pytest.mark.parametrize("change", [{"precision": "int8"}, {"task": "dreaming"}])
def test_unknown_words_are_refused(catalog, calibration, change):
    arguments = {
        "stack": catalog.stacks["tf-ngc19.07"],
        "dnn": catalog.dnns["resnet50"],
        "precision": "mixed",
        "gpu": catalog.gpus["v100-sxm2-16gb"],
        "intra_link": "nvlink2",
        "inter_link": None,
        "task": "training",
    }
    with pytest.raises(ValueError, match=next(iter(change))):
        calibration.step_terms(**{**arguments, **change})


def test_caches(calibration):
    """Kinds of cache: page caches at their fitted position, pinned memory hits what it holds, none nothing."""
    assert calibration.cache_position("random", "pinned")[0] == 1.0
    assert calibration.cache_position("random", "none")[0] == 0.0
    assert 0.5 < calibration.cache_position("random", "page-cache")[0] < 0.6
    with pytest.raises(ValueError, match="sideways"):
        calibration.cache_position("sideways", "page-cache")


# --- storage of the calibration ---------------------------------------------------------------------------------------


@pytest.mark.laws
def test_stored_fit_is_the_fit_of_the_shipped_observations(rows, calibration, refitted):
    """Fits again and compares: 1e-3 of a logarithm lies far below every standard deviation, and above what another
    build of the linear algebra changes."""
    again, _ = refitted
    assert calibration.digest == again.digest == observations_digest(rows)
    assert calibration.names == again.names
    assert_allclose(calibration.fit.values, again.fit.values, atol=1e-3)
    assert_allclose(calibration.fit.sd, again.fit.sd, rtol=0.01)
    assert calibration.used == again.used


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.pop("fit"),
        lambda content: content.update(version=99),
        lambda content: content["fit"].update(hessian="AAAA"),
        lambda content: content.update(epochs_points=3),
    ],
)
def test_a_damaged_file_is_named_as_such(tmp_path, damage):
    content = json.loads(stored_path().read_text(encoding="utf-8"))
    damage(content)
    (tmp_path / "c.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CalibrationError, match="sizer calibrate"):
        load_calibration(tmp_path / "c.json")


def test_a_missing_or_foreign_file(tmp_path):
    with pytest.raises(CalibrationError, match="cannot be read"):
        load_calibration(tmp_path / "none.json")
    (tmp_path / "c.json").write_text("[1, 2", encoding="utf-8")
    with pytest.raises(CalibrationError, match="not a stored calibration"):
        load_calibration(tmp_path / "c.json")
