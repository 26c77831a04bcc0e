"""Full designs of DGX BasePOD with four and eight systems (RA-11127-001 V5, 2025, table 4.2), without storage."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from sizer import SizingRequest, project
from sizer.physical.racks.power import device_power
from sizer.physical.roles import NetworkRole, Role
from tests.factories import examples


@cache
def basepod(nodes, server="dgx-h100"):
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
    there = Counter(device.item for device in basepod(nodes, server).plan.devices)
    assert (there["qm9700"], there["sn4600c"], there["management-server"]) == (2, 2, 5)
    assert there["sn2201"] == 1 <= out_of_band


@pytest.mark.parametrize("server", ["dgx-h100", "dgx-b200"])
@pytest.mark.parametrize(("nodes", "links", "between"), [(4, 32, 16), (8, 64, 32)])
def test_compute_links(nodes, links, between, server):
    """16 and 32 modules of two links in the systems; 8 and 16 twin-port copper cables between the switches.

    The printed count of fibres, 16 and 32, is that of the modules: a fibre carries one link.
    """
    found = cables(basepod(nodes, server), NetworkRole.COMPUTE)
    assert (found[Role.COMPUTE_CABLE], found[Role.COMPUTE_UPLINK]) == (links, between)


@pytest.mark.parametrize(("nodes", "of_systems", "uplinks"), [(4, 8, 2), (8, 16, 2)])
def test_in_band_links(nodes, of_systems, uplinks):
    """8 and 16 cables of the systems, 10 of the management servers, 2 between the switches, 2 of each SN2201."""
    found = cables(basepod(nodes), NetworkRole.IN_BAND)
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
    design = basepod(nodes)
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
    design = basepod(nodes, server)
    catalog, watts, most = examples.catalog(), 0.0, 0.0
    for placed in design.plan.devices:
        device = catalog.device(placed.item)
        if placed.role is not Role.HEAD_NODE:
            watts += (device.power_max_w or device.power_low_w).value
            most += device_power(device).max_w
    second = 98 if nodes == 8 else 0
    assert (watts + second) / 1e3 == pytest.approx(kw, abs=0.05)
    assert most - watts == 2 * 434 + 52


# "Good" storage of the pod needs less; twelve appliances of eight 200 Gbit/s ports are the 96 storage ports of table 8.
STORAGE = {"storage": "ai400x2", "storage_nodes": 12}


def superpod(servers, server="dgx-h100", fabric="ndr", managers=True, rack_power_w=60_000, **storage):
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8}}],
            "platforms": {"fabrics": [fabric]},
            "fabric": {"subnet_manager": "ufm" if managers else "switch", "management_servers": 4},
            "limits": {"rack_power_w": rack_power_w},
        }
    )
    return project(asked, examples.catalog(), server=server, servers=servers, **(storage or STORAGE))


def network(design, role):
    return next(net for net in design.quantities.networks if net.role is role)


def counts(net):
    return tuple(
        int(getattr(net, name)[0])
        for name in ("leaves", "spines", "cores", "end_points", "leaf_spine_cables", "spine_core_cables")
    )


def pieces(design, *roles):
    found = Counter()
    for part in design.plan.components:
        if part.role in roles:
            found[part.item] += int(part.quantity[0])
    return found


@pytest.fixture(scope="module")
def four_units():
    return superpod(127)


def test_switches_of_the_bill(four_units):
    """Table 7: 48 + 16 QM9700, 8 SN4600C, 4 UFM appliances, 4 management servers.

    SN2201: the table has 8. Its cables (127 + 64 + 8 + 8 + 108 = 315) fit the 336 ports of seven; those of storage,
    whose number "varies", take the eighth. Here storage has 12 ports, and racks have fewer PDUs.
    """
    compute, storage, in_band, out_of_band = (
        sum(counts(network(four_units, role))[:3])
        for role in (NetworkRole.COMPUTE, NetworkRole.STORAGE, NetworkRole.IN_BAND, NetworkRole.MANAGEMENT)
    )
    assert (compute, storage, in_band) == (48, 16, 8)
    ends = int(network(four_units, NetworkRole.MANAGEMENT).end_points[0])
    assert out_of_band == -(-ends // 48) == 7
    there = Counter(device.role for device in four_units.plan.devices)
    assert there[Role.FABRIC_MANAGER] + there[Role.STORAGE_FABRIC_MANAGER] == 4
    assert there[Role.HEAD_NODE] == 4


def test_compute_cables_and_modules_of_the_bill(four_units):
    """Table 8: 2,040 fibres of nodes, switches; 1,536 modules in the switches, 508 in the nodes; 4 UFM ports.

    The table has two cables from the UFM appliances to the leaves, each of which splits in two, with four modules; here
    they are four links, of copper where appliance and leaf share a rack.
    """
    own = pieces(four_units, Role.COMPUTE_CABLE, Role.COMPUTE_UPLINK)
    assert sum(n for item, n in own.items() if item.startswith("mfp7e10")) == 2040
    assert own["mma4z00-ns-flt"] == 508
    ufm = Counter()
    for cable in four_units.plan.cables:
        if cable.run.role is Role.FABRIC_MANAGER_CABLE:
            ufm[cable.run.network.network] += cable.run.a_device.size
    assert ufm == {NetworkRole.COMPUTE: 4, NetworkRole.STORAGE: 4}
    # Cages of the compute switches in use: ports two by two, whatever their links are for.
    cages = set()
    for cable in four_units.plan.cables:
        run = cable.run
        if run.network.network is NetworkRole.COMPUTE:
            for devices, ports in ((run.a_device, run.a_port), (run.b_device, run.b_port)):
                cages |= {
                    (device, port // 2)
                    for device, port in zip(devices.tolist(), ports.tolist(), strict=True)
                    if device >= 0 and four_units.plan.devices[device].role.is_switch
                }
    assert len(cages) == 1536


def test_storage_cables_and_modules_of_the_bill(four_units):
    """Table 8: 494 fibres, 48 cables of 2 x 200 Gbit/s, 254 modules in the nodes.

    Four management servers (table 7: four HDR200 ports each, two of them in-band) join by two ports each.
    """
    storage = network(four_units, NetworkRole.STORAGE)
    leaves, spines, _, ends, between, _ = counts(storage)
    assert (leaves, spines, between) == (12, 4, 240)
    assert ends == 254 + 96 + 4 + 4 * 2
    fibres = pieces(four_units, Role.SERVER_STORAGE_CABLE, Role.STORAGE_UPLINK)
    assert sum(n for item, n in fibres.items() if item.startswith("mfp7e10")) == 494
    assert fibres["mma1z00-ns400"] == 254
    assert sum(n for item, n in pieces(four_units, Role.STORAGE_CABLE).items() if item.startswith("mfa7u10")) == 48


def test_in_band_cables_of_the_bill(four_units):
    """Table 8: 254 to nodes, 8 to management, 2 of each out-of-band switch, 24 leaf to core, 6 between leaves, 4 up.

    The 254 are printed as cables of 200 Gbit/s; the ports of the SN4600C run 100. The eight of NFS storage are missing:
    no such storage is in this design.
    """
    runs = Counter()
    for cable in four_units.plan.cables:
        if cable.run.network.network is NetworkRole.IN_BAND:
            runs[cable.run.role] += cable.run.a_device.size
    assert runs[Role.IN_BAND_CABLE] == 254 + 8
    assert runs[Role.MANAGEMENT_UPLINK] == 2 * 7
    assert runs[Role.IN_BAND_UPLINK] == 24 + 6
    assert runs[Role.LAN_UPLINK] == 4


def test_out_of_band_cables_of_the_bill(four_units):
    """Table 8: one a node (127), InfiniBand switch (64), management and UFM node (8), in-band switch (8), PDU (108).

    The published racks have 108 PDUs, these have as many as they need. UFM appliances are also connected back to back
    (two cables), which is no port of a switch.
    """
    plan, ends = four_units.plan, Counter()
    for cable in plan.cables:
        if cable.run.role is Role.MANAGEMENT_CABLE:
            for device in cable.run.a_device.tolist():
                ends[plan.devices[device].role if device >= 0 else Role.RACK_PDU] += 1
    assert ends[Role.GPU_SERVER] == 127
    assert ends[Role.COMPUTE_LEAF] + ends[Role.COMPUTE_SPINE] + ends[Role.STORAGE_LEAF] + ends[Role.STORAGE_SPINE] == 64
    assert ends[Role.HEAD_NODE] + ends[Role.FABRIC_MANAGER] + ends[Role.STORAGE_FABRIC_MANAGER] == 8
    assert ends[Role.IN_BAND_LEAF] + ends[Role.IN_BAND_SPINE] == 8
    assert ends[Role.RACK_PDU] == sum(len(rack.feeds) for rack in plan.racks)


def test_each_leaf_takes_one_rail_of_its_unit(four_units):
    """Figure 5: nodes of a unit meet in one hop on each rail."""
    run = next(cable.run for cable in four_units.plan.cables if cable.run.role is Role.COMPUTE_CABLE)
    node = run.a_device - run.a_device.min()
    leaf = run.b_device - run.b_device.min()
    rail = run.a_port - run.a_port.min()
    assert np.array_equal(leaf, 8 * (node // 32) + rail)


def test_every_module_reaches():
    """50 m is the reach of multimode modules; longer ways of a large hall get single-mode ones and their fibre."""
    plan = superpod(2048, managers=False, rack_power_w=41_000).plan
    items = plan.catalog.cables
    for cable in plan.cables:
        for number, choice in enumerate(cable.choices):
            longest = float(cable.length_m[cable.choice == number].max(initial=0.0))
            for item, _ in choice.modules:
                assert items[item].reach_m is None or items[item].reach_m.value >= longest - 1e-6
    used = Counter(item for cable in plan.cables for choice in cable.choices for item, _ in choice.modules)
    assert any(items[item].fibre_mode == "single-mode" for item in used)
