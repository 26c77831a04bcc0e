"""Full designs of DGX BasePOD with four and eight systems (RA-11127-001 V5, 2025, table 4.2), without storage."""

from collections import Counter
from functools import cache

import pytest

from sizer.physical.racks.power import device_power
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories import examples


@cache
def pod(nodes, server="dgx-h100"):
    """Two switches on every level, so that one may be lost; five management servers; one system a rack."""
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": ["ndr"]},
            "fabric": {"management_servers": 5},
            "resilience": {"keeps_targets_without": ["switch"]},
            "limits": {"rack_power_w": "14.4 kW"},
            "site": {"rack": "ar3357", "feeds": "N+1", "network_racks": True, "network_pdu": "px3-5747v-v2"},
        }
    )
    return project(asked, examples.catalog(), server=server, servers=nodes, storage=f"{server}-nvme", storage_nodes=0)


def cables(design, role):
    """Links of each role on one network."""
    found = Counter()
    for cable in design.plan.cables:
        if cable.run.network.network is role:
            found[cable.run.role] += cable.run.a_device.size
    return found


@pytest.mark.parametrize("server", ["dgx-h100", "dgx-b200"])
@pytest.mark.parametrize(("nodes", "out_of_band"), [(4, 1), (8, 2)])
def test_switches_and_servers(nodes, out_of_band, server):
    """2 QM9700, 2 SN4600C, 1 or 2 SN2201, 5 management servers.

    The second SN2201 of eight systems is a choice of the table: its 45 cables fit the 48 ports of one, as here.
    """
    there = Counter(device.item for device in pod(nodes, server).plan.devices)
    assert (there["qm9700"], there["sn4600c"], there["management-server"]) == (2, 2, 5)
    assert there["sn2201"] == 1 <= out_of_band


@pytest.mark.parametrize("server", ["dgx-h100", "dgx-b200"])
@pytest.mark.parametrize(("nodes", "links", "between"), [(4, 32, 16), (8, 64, 32)])
def test_compute_links(nodes, links, between, server):
    """16 and 32 modules of two links in the systems; 8 and 16 twin-port copper cables between the switches.

    The printed count of fibres, 16 and 32, is that of the modules: a fibre carries one link.
    """
    found = cables(pod(nodes, server), NetworkRole.COMPUTE)
    assert (found[Role.COMPUTE_CABLE], found[Role.COMPUTE_UPLINK]) == (links, between)


@pytest.mark.parametrize(("nodes", "of_systems", "uplinks"), [(4, 8, 2), (8, 16, 2)])
def test_in_band_links(nodes, of_systems, uplinks):
    """8 and 16 cables of the systems, 10 of the management servers, 2 between the switches, 2 of each SN2201."""
    found = cables(pod(nodes), NetworkRole.IN_BAND)
    assert found[Role.IN_BAND_CABLE] == of_systems + 10
    assert (found[Role.IN_BAND_UPLINK], found[Role.MANAGEMENT_UPLINK]) == (2, uplinks)


@pytest.mark.parametrize(("nodes", "printed"), [(4, 29), (8, 45)])
def test_out_of_band_cables(nodes, printed):
    """29 and 45 cables of Cat 6, of which the table does not say where they end.

    The rule of the SuperPOD (RA-11333-001 V11, table 8) is one cable for each system, switch, management server and
    PDU: 4 + 4 + 5 = 13 and 8 + 4 + 5 = 17. The 16 and 28 that remain are three PDUs of a rack for each system, as the
    compute racks of that document have, and four of network racks. Racks here have the PDUs that their draw takes: two
    with one spare for one system.
    """
    design = pod(nodes)
    ends = Counter()
    for cable in design.plan.cables:
        if cable.run.role is Role.MANAGEMENT_CABLE:
            for device in cable.run.a_device.tolist():
                ends[design.plan.devices[device].item if device >= 0 else "PDU"] += 1
    n_pdus = ends.pop("PDU")
    assert ends == {"dgx-h100": nodes, "qm9700": 2, "sn4600c": 2, "management-server": 5}
    assert sum(ends.values()) + 3 * nodes + 4 == printed
    assert n_pdus == sum(len(rack.feeds) for rack in design.plan.racks) == 2 * nodes + 2


@pytest.mark.parametrize(
    ("server", "nodes", "kw"),
    [("dgx-b200", 4, 61.7), ("dgx-b200", 8, 119.0), ("dgx-h100", 4, 45.3), ("dgx-h100", 8, 86.2)],
)
def test_power_without_management_servers(server, nodes, kw):
    """ "rackula", derived: maxima of systems and QM9700, and what is published of SN4600C and SN2201 (466 and 98 W).

    Its eight systems have a second SN2201. The upper end here, which feeds are sized with, has the assumed maxima of
    both switches instead: 2 x 434 W and 52 W more.
    """
    design = pod(nodes, server)
    catalog, watts, most = examples.catalog(), 0.0, 0.0
    for placed in design.plan.devices:
        device = catalog.device(placed.item)
        if placed.role is not Role.HEAD_NODE:
            watts += (device.power_max_w or device.power_low_w).value
            most += device_power(device).max_w
    second = 98 if nodes == 8 else 0
    assert (watts + second) / 1e3 == pytest.approx(kw, abs=0.05)
    assert most - watts == 2 * 434 + 52
