"""What storage systems carry at their limit, predicted without their configuration."""

import dataclasses

import numpy as np
import pytest

from sizer.calibrate.storage_emulation import load_emulation
from sizer.calibrate.storage_limits import (
    Unpredictable,
    adapter_bytes_per_s,
    at_limit_accuracy,
    limits_left_out,
    predicted_at_limit,
)


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
