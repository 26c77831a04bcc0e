"""Predictions of rows that the catalogue does not know by name, and what a new calibration moved."""

import math

import numpy as np
import pytest

from sizer.calibrate.calibration import load_calibration
from sizer.calibrate.notes import FitNote
from sizer.calibrate.observations import read_rows
from sizer.calibrate.parameters import prior_of
from sizer.calibrate.predict import predict
from sizer.catalog.loader import shipped_catalog
from tests.factories.observations import observation_text

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
