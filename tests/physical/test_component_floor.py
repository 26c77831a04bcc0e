"""Servers without a published maximum: the least they draw follows the GPUs that are fitted."""

import pytest

from sizer.physical.racks.power import device_power, with_fitted_power
from tests.factories.plans import CATALOG, laid_out


@pytest.mark.parametrize(("n_gpus", "floor_w"), [(4, 1_300), (8, 2_300), (10, 2_800)])
def test_floor_of_a_dss_8440_follows_its_gpus(n_gpus, floor_w):
    """250 W each of the V100S, 150 W each of the two Xeon Gold 6248 (data sheets): n x 250 + 2 x 150 W."""
    server = CATALOG.servers["dss-8440"]
    fitted = with_fitted_power(server, CATALOG.gpus["v100s-pcie-32gb"], n_gpus, CATALOG.cpus["xeon-gold-6248"], CATALOG)
    draw = device_power(fitted)
    assert draw.max_w == floor_w
    assert not draw.is_known


def test_a_published_maximum_is_not_touched():
    server = CATALOG.servers["dgx-1"]
    assert with_fitted_power(server, CATALOG.gpus["v100-sxm2-32gb"], 8, None, CATALOG) is server


def test_racks_are_planned_with_the_floor_of_ten_gpus():
    """Six servers of 2.8 kW are 16.8 kW: more than the 16.6 kW that one feed carries, so one rack does not take six."""
    plan = laid_out("dss-8440", "wekaio", "edr", 16, 6, gpus_per_server=10)
    in_one = max(sum(device.item == "dss-8440" for device in rack.devices) for rack in plan.racks)
    assert in_one == 5
    servers = [device for device in plan.devices if device.item == "dss-8440"]
    assert {device.power.max_w for device in servers} == {2_800}


@pytest.mark.parametrize(
    ("server", "cpu", "gpu", "n_gpus", "low_w", "high_w"),
    [
        ("xe7745", "epyc-9655", "l40s-48gb", 4, 2_200, 3_300),
        ("xe7745", "epyc-9655", "l40s-48gb", 8, 3_600, 5_400),
        ("xe7745", "epyc-9655", "h200-nvl-141gb", 8, 5_600, 8_400),
        ("dell-xe7740", "xeon-6787p", "l40s-48gb", 8, 3_500, 5_250),
    ],
)
def test_bracket_follows_what_is_in_the_server(server, cpu, gpu, n_gpus, low_w, high_w):
    """350 W an L40S, 600 W an H200 NVL, 400 W a processor of the XE7745, 350 W one of the XE7740.

    The supplies' 12,800 W are for the heaviest cards with half of the supplies lost. By hand four L40S take 2.7 kW:
    1,400 + 800 + 500 W of memory, drives, adapters and fans.
    """
    draw = device_power(
        with_fitted_power(CATALOG.servers[server], CATALOG.gpus[gpu], n_gpus, CATALOG.cpus[cpu], CATALOG)
    )
    assert (draw.low_w, draw.max_w) == (low_w, high_w)
    assert draw.is_known
