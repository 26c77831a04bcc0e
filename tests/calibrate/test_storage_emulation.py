"""MLPerf Storage: rates of emulated accelerators."""

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.notes import CALIBRATED, PREDICTED
from sizer.calibrate.storage_emulation import load_emulation, systems_left_out, validate_emulation
from sizer.present.text.calibration import status_text

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
