"""Laws of the building plan over random designs of today's systems, 1 to 2,048 servers."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sizer.catalog.loader import shipped_catalog
from sizer.catalog.schema import Switch
from sizer.physical.layout import building_plan
from sizer.physical.networks.compute_fabric import rail_rule
from sizer.physical.networks.ports import device_ports
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import NetworkRole, Role
from sizer.workload.request import Fabric, Limits, SizingRequest

CATALOG = shipped_catalog()
GENERATIONS = ("ampere", "hopper", "blackwell", "cdna3", "cdna4")
ASKED = {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]}
FABRICS = [[], ["400gbe"], ["800gbe"], ["200gbe"], ["xdr"]]
numbers = st.integers(0, 100_000)


@cache
def all_platforms():
    """Those of every fabric, with and without spare switches, apart and converged."""
    found = []
    for names in FABRICS:
        for spares in ([], ["switch"]):
            asked = {
                **ASKED,
                "platforms": {"generations": list(GENERATIONS), "fabrics": names},
                "resilience": {"keeps_targets_without": spares},
            }
            found += platforms(CATALOG, SizingRequest.from_dict(asked))
            if names and names != ["xdr"]:
                converged = {**asked, "fabric": {"converged": True}}
                found += platforms(CATALOG, SizingRequest.from_dict(converged))
    return found


# Mostly small, some around full scalable units and the ends of two levels, up to 2,048.
servers = st.one_of(
    st.integers(1, 40),
    st.sampled_from([31, 32, 33, 63, 64, 65, 71, 72, 73, 127, 128, 129, 144, 256, 257]),
    st.integers(1, 300),
    st.sampled_from([300, 512, 600, 1024, 1500, 2048]),
)
nodes = st.one_of(st.integers(1, 12), st.integers(1, 64))
fabrics = st.builds(
    Fabric,
    oversubscription=st.sampled_from([1.0, 1.0, 2.0, 3.0]),
    spare_servers=st.sampled_from([0, 0, 1, 7]),
    subnet_manager=st.sampled_from(["switch", "ufm"]),
    management_servers=st.sampled_from([None, 2, 5]),
)
OUT_OF_PLAN = -1


def planned(number, n, m, fabric):
    platform = all_platforms()[number % len(all_platforms())]
    more = {"catalog": CATALOG, "fabric": fabric, "limits": Limits(rack_power_w=60e3)}
    counted = quantities(platform, [n], [m], **more)
    assume(not counted.violations)
    row = slice_row(counted, 0)
    return platform, row, building_plan(platform, row, n, m, **more)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(number=numbers, n=servers, m=nodes, fabric=fabrics)
def test_every_plan_of_today_keeps_the_laws(number, n, m, fabric):
    platform, row, plan = planned(number, n, m, fabric)
    ports_balance(row, plan)
    every_end_reaches_every_other(plan)
    the_search_counts_what_the_plan_builds(row, plan)
    rails_end_on_the_leaf_of_their_unit(platform, plan, n, fabric)
    two_ports_end_on_two_leaves(plan)


@pytest.mark.parametrize(
    ("server", "storage", "fabric_kind", "feeds", "rack_w", "n", "m", "fabric"),
    [
        ("dgx-h100", "powerscale-f910", "ndr", "2N", 60e3, 2, 27, Fabric(spare_servers=1, management_servers=1)),
        ("sr680a-v4", "ibm-sss6000", "xdr", "2N", 35e3, 3, 7, Fabric(spare_servers=5, management_servers=3)),
        ("cisco-c885a-mi350x", "powerscale-f910", "400gbe", "N+1", 35e3, 2, 65, Fabric(management_servers=3)),
    ],
)
def test_a_switch_for_ports_of_pdus_that_makes_the_racks_lighter(
    server, storage, fabric_kind, feeds, rack_w, n, m, fabric
):
    """The further switch moves devices to another rack, so that fewer PDUs a rack would carry them: it has ports for
    PDUs that the racks then would not have, and without it they have them again."""
    asked = {**ASKED, "platforms": {"servers": [server], "storage": [storage], "fabrics": [fabric_kind]}}
    platform = platforms(CATALOG, SizingRequest.from_dict({**asked, "site": {"feeds": feeds}}))[0]
    more = {"catalog": CATALOG, "fabric": fabric, "limits": Limits(rack_power_w=rack_w)}
    row = slice_row(quantities(platform, [n], [m], **more), 0)
    plan = building_plan(platform, row, n, m, **more)
    ports_balance(row, plan)
    the_search_counts_what_the_plan_builds(row, plan)
    pdus = [part for part in row.components if part.role is Role.RACK_PDU]
    assert sum(int(part.quantity[0]) for part in pdus) == sum(len(rack.feeds) for rack in plan.racks)


def ports_balance(row, plan):
    ports = {item: device_ports(CATALOG.item(item)) for item in {device.item for device in plan.devices}}
    used, at_switches, pdus, outside = Counter(), 0, Counter(), 0
    for cable in plan.cables:
        run = cable.run
        for device, port in zip(run.a_device.tolist(), run.a_port.tolist(), strict=True):
            if device >= 0:
                used[device, port] += 1
            elif device == OUT_OF_PLAN:
                outside += 1
            else:
                pdus[port] += 1
        for device, port in zip(run.b_device.tolist(), run.b_port.tolist(), strict=True):
            used[device, port] += 1
        for devices, numbers_ in ((run.a_device, run.a_port), (run.b_device, run.b_port)):
            for device, port in {*zip(devices.tolist(), numbers_.tolist(), strict=True)}:
                if device >= 0:
                    assert run.kind in ports[plan.devices[device].item][port].kinds
        assert (run.a_device != run.b_device).all()
    assert max(used.values(), default=1) == 1
    for (device, port), count in used.items():
        item = CATALOG.item(plan.devices[device].item)
        if isinstance(item, Switch) and ports[item.id][port].use != "management":
            at_switches += count
    # The uplinks of out-of-band switches are their own ports, counted as ends of the in-band network on the other side.
    uplinks = sum(run.run.a_device.size for run in plan.cables if run.run.role is Role.MANAGEMENT_UPLINK)
    in_band = any(net.role is NetworkRole.IN_BAND for net in row.networks)
    assert at_switches - (uplinks if in_band else 0) == sum(int(net.ports_used[0]) for net in row.networks)
    assert 2 * plan.n_links == sum(used.values()) + sum(pdus.values()) + outside
    # Every rack PDU of a new rack has one port on the out-of-band network.
    counted = sum(int(part.quantity[0]) for part in row.components if part.role is Role.RACK_PDU)
    if pdus:
        assert pdus == Counter(range(counted))
    for net in row.networks:
        assert int(net.ports_free[0]) >= 0


def every_end_reaches_every_other(plan):
    """Each network is one piece; the out-of-band switches hang together through the in-band network."""
    pieces = {}
    for cable in plan.cables:
        role = cable.run.network.network
        name = "management" if role in (NetworkRole.IN_BAND, NetworkRole.MANAGEMENT) else str(cable.run.network)
        pieces.setdefault(name, []).append(cable.run)
    for runs in pieces.values():
        group = np.arange(len(plan.devices))
        a, b = (np.concatenate([getattr(run, end) for run in runs]) for end in ("a_device", "b_device"))
        a, b = a[a >= 0], b[a >= 0]
        members = np.unique(np.concatenate([a, b]))
        while True:
            low = np.minimum(group[a], group[b])
            before = group.copy()
            np.minimum.at(group, a, low)
            np.minimum.at(group, b, low)
            if (group == before).all():
                break
        assert np.unique(group[members]).size == 1


def the_search_counts_what_the_plan_builds(row, plan):
    there = Counter(device.role for device in plan.devices if device.status != "reserved")
    for part in row.components:
        if part.role in there:
            assert there[part.role] == sum(int(p.quantity[0]) for p in row.components if p.role is part.role)
    links = Counter()
    for cable in plan.cables:
        links[cable.run.network.network] += cable.run.a_device.size
    for net in row.networks:
        between = net.leaf_spine_cables + net.spine_core_cables + net.peer_cables
        lan = sum(
            cable.run.a_device.size
            for cable in plan.cables
            if cable.run.network.network is net.role is NetworkRole.IN_BAND and cable.run.role is Role.LAN_UPLINK
        )
        assert links[net.role] == int((net.end_points + between)[0]), (net.role, lan)


def rails_end_on_the_leaf_of_their_unit(platform, plan, n, fabric):
    """Within a unit every server has the same rail on the same leaf, where the fabric has more than one."""
    rule = rail_rule(platform, fabric)
    leaves = [device.number for device in plan.devices if device.role is Role.COMPUTE_LEAF]
    if rule is None or len(leaves) < 2:
        return
    run = next(cable.run for cable in plan.cables if cable.run.role is Role.COMPUTE_CABLE)
    first = min(device.number for device in plan.devices if device.role is Role.GPU_SERVER)
    rails = np.unique(run.a_port, return_inverse=True)[1]
    unit = (run.a_device - first) // rule.unit_servers
    for one in np.unique(unit):
        for rail in range(rule.links):
            assert np.unique(run.b_device[(unit == one) & (rails == rail)]).size == 1


def two_ports_end_on_two_leaves(plan):
    """A server keeps its in-band and its storage network when one leaf fails."""
    leaves = Counter(device.role for device in plan.devices)
    for role, cable_role in ((Role.IN_BAND_LEAF, Role.IN_BAND_CABLE), (Role.STORAGE_LEAF, Role.SERVER_STORAGE_CABLE)):
        if leaves[role] < 2:
            continue
        for cable in plan.cables:
            run = cable.run
            if run.role is not cable_role or not run.a_device.size:
                continue
            pairs = np.unique(np.stack([run.a_device, run.b_device]), axis=1)
            ends = np.bincount(np.unique(run.a_device, return_inverse=True)[1])
            switches = np.bincount(np.unique(pairs[0], return_inverse=True)[1])
            assert (switches >= np.minimum(ends, 2)).all()


@pytest.mark.parametrize("n", [1, 2, 31, 32, 200])
def test_counts_of_many_sizes_are_those_of_one(n):
    """Arrays over sizes give the numbers that each size gives alone."""
    fabric = Fabric(subnet_manager="ufm")
    for platform in all_platforms()[:: max(len(all_platforms()) // 12, 1)]:
        sizes = np.array([1, 2, n, 2 * n + 1, 300])
        together = quantities(platform, sizes, np.full(5, 4), catalog=CATALOG, fabric=fabric)
        alone = quantities(platform, [n], [4], catalog=CATALOG, fabric=fabric)
        for net, other in zip(together.networks, alone.networks, strict=True):
            for count in ("leaves", "spines", "cores", "end_points", "leaf_spine_cables", "peer_cables", "ports_free"):
                assert int(getattr(net, count)[2]) == int(getattr(other, count)[0]), (
                    platform.server.id,
                    net.role,
                    count,
                )
