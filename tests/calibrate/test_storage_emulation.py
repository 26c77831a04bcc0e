"""MLPerf Storage: rates of emulated accelerators, and the limits of storage."""

import dataclasses

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.notes import CALIBRATED, PREDICTED
from sizer.calibrate.storage_emulation import (
    Unpredictable,
    adapter_bytes_per_s,
    at_limit_accuracy,
    limits_left_out,
    load_emulation,
    predicted_at_limit,
    systems_left_out,
    validate_emulation,
)
from sizer.present.text.calibration import status_text


def by_id(text):
    return next(one for one in limits_left_out() if text in one.row.id)


def test_every_result_is_predicted_or_named_unpredictable():
    """Median within 15 % where nodes or known clients are the limit; every other row has its reason."""
    found = limits_left_out()
    assert len(found) == 130
    for limit in ("nodes", "client"):
        errors = [abs(one.log_error) for one in found if one.limit == limit and one.reason is None]
        assert len(errors) >= 15
        assert np.median(errors) < 0.15
    assert all(one.reason is not None for one in found if one.bytes_per_s is None)
    assert all(one.is_reached for one in at_limit_accuracy())


@pytest.mark.parametrize(
    ("row", "rate"),
    [
        ("18clients/unet3d-h100", 110e9),  # DDN states 110 GB/s at most; published 103.8
        ("AMDHost/unet3d-h100/10hosts", 360e9),  # three nodes of 120 GB/s; published 380.1
        ("OceanStor_A800", 749.5e9),  # 698 GiB/s in the next round; published 729.3
        ("F9000X_10x7000GiB_nvme_2xNDR400_Nclient3/unet3d-h100/unet3d_60acc", 173.4e9),  # 3 x 57.8 of one client
        ("32-Nodes-50-Hosts-unet3d-h100", 265.6e9),  # 32 x the mean of 57.4 and 58.8 on seven nodes
    ],
)
def test_predictions_by_hand(row, rate):
    found = by_id(row)
    assert found.bytes_per_s == pytest.approx(rate, rel=0.002)
    low, high = found.interval
    assert low < found.row.bytes_per_s < high


def test_reasons():
    assert by_id("unet3d_1acc").reason is Unpredictable.BELOW_LIMIT
    assert by_id("Micron_9550_Gen5_Performance_NVMe/unet3d/h100").reason is Unpredictable.NO_DRIVE_RATE
    assert by_id("16clients/cosmoflow-h100").reason is Unpredictable.SMALL_FILES
    # One client of another product: 24 to 90 % of its line.
    assert by_id("weka-1-client-dual-socket-56-cores/unet3d-h100").reason is Unpredictable.LINE_SHARE


def test_a_result_does_not_predict_itself():
    """Half the rate in the row itself changes nothing that is predicted for it."""
    rows = load_emulation()
    row = by_id("18clients/unet3d-h100").row
    slower = dataclasses.replace(row, samples_per_s=row.samples_per_s / 2)
    others = [slower if one is row else one for one in rows]
    assert predicted_at_limit(slower, others).bytes_per_s == predicted_at_limit(row, rows).bytes_per_s


def test_adapters_of_a_client():
    row = by_id("18clients/unet3d-h100").row
    assert adapter_bytes_per_s(row) == 12.5e9  # 1x 100 Gbit/s
    assert adapter_bytes_per_s(dataclasses.replace(row, client_nics="3x 100 client")) == 37.5e9
    assert adapter_bytes_per_s(dataclasses.replace(row, client_nics="")) is None


HEADER = "id,round,system,workload,accelerator_emulated,accelerators,samples_per_s\n"


def written(folder, line):
    path = folder / "storage.csv"
    path.write_text(HEADER + line + "\n", encoding="utf-8")
    return path


def test_systems_held_out():
    """130 results of 49 systems: a system is predicted from the others within 15 % in the median."""
    errors, inside = systems_left_out(load_emulation())
    assert len(errors) == 130
    assert np.median(np.abs(errors)) < 0.15
    assert 0.85 <= np.mean(inside) <= 0.96


def test_a_result_of_a_stranger(tmp_path):
    # DDN's AI400X2T: 72 emulated A100 train 3D U-Net on 713 volumes/s.
    path = written(tmp_path, "a,v2.0,new,unet3d,a100,72,713.199")
    [found] = validate_emulation(load_emulation(path))
    assert found.predicted == pytest.approx(713, rel=0.05)
    assert found.low < found.predicted < found.high
    [unknown] = validate_emulation(load_emulation(written(tmp_path, "a,v2.0,new,unet3d,b200,72,9000")))
    assert unknown.predicted is None
    words = "not predicted: no MLPerf Storage result of unet3d with emulated b200 is known"
    assert status_text(unknown.status) == words


def test_a_row_of_the_fit_is_told_from_one_with_another_number(tmp_path):
    """By its id and its number, whatever further columns a file has."""
    known = load_emulation()[0]
    start = f"{known.id},{known.round},{known.system},{known.workload},{known.accelerator},{known.accelerators:g}"
    uses = [
        validate_emulation(load_emulation(written(tmp_path, f"{start},{rate!r}")))[0].status
        for rate in (known.samples_per_s, 2 * known.samples_per_s)
    ]
    assert uses == [CALIBRATED, PREDICTED]


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        (",v2.0,new,UNet3D,H100,36,708.2", 708.2),  # DDN: 708 volumes/s
        ("b,,,resnet50,a100,864,723053", 723_053),
        ('c,v2.0,x,cosmoflow,h100,"64",12555.5', 12_555.5),
    ],
)
def test_any_case_and_blank_cells_are_read(tmp_path, line, rate):
    [found] = validate_emulation(load_emulation(written(tmp_path, line)))
    assert found.predicted == pytest.approx(rate, rel=0.15)


def test_a_rate_in_bytes_is_enough(tmp_path):
    """103.828 GB/s of 3D U-Net are 708.235 volumes/s (DDN, 36 H100); without a number of GPUs nothing is predicted."""
    path = tmp_path / "storage.csv"
    head = "workload,accelerator_emulated,accelerators,samples_per_s,gb_per_s\n"
    path.write_text(head + "unet3d,h100,36,,103.828\nunet3d,h100,,,103.828\nbert,h100,8,100,\n", encoding="utf-8")
    first, without, other = validate_emulation(load_emulation(path))
    assert first.published == pytest.approx(708.235, rel=1e-3)
    assert first.predicted == pytest.approx(708.235, rel=0.05)
    assert without.predicted is None
    assert other.predicted is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("a,v1.0,x,unet3d,a100,0,5", "accelerators: 0 must be 1e-09 to"),
        ("a,v1.0,x,unet3d,a100,nan,5", "accelerators: nan must be 1e-09 to"),
        ("a,v1.0,x,unet3d,a100,4,fast", "samples_per_s: 'fast' is not a number"),
        ('a,v1.0,x,unet3d,a100,4,"1,234"', "samples_per_s: '1,234' is not a number"),
        ("a,v1.0,x,unet3d,a100,4,1_000", "samples_per_s: '1_000' is not a number"),
        ("a,v1.0,x,unet3d,a100,1e-9,5", "accelerators: 1e-9 is not a whole number"),
    ],
)
def test_a_bad_cell_is_named(tmp_path, line, says):
    with pytest.raises(CalibrationError, match="csv:2: ") as refused:
        load_emulation(written(tmp_path, line))
    assert says in str(refused.value)
