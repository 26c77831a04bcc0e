"""Laws of the building plan over random designs of today's systems, 1 to 2,048 servers."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sizer.physical.networks.compute_fabric import rail_rule
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.site_rules import liquid_heat_w
from sizer.physical.roles import NetworkRole, Role
from sizer.workload.request import Fabric, Limits, SizingRequest
from tests.factories.requests import CATALOG
from tests.property.plan_laws import (
    every_end_reaches_every_other,
    everything_stands_once,
    planned,
    ports_balance,
    the_search_counts_what_the_plan_builds_but_for_cable_lengths,
)

GENERATIONS = ("ampere", "hopper", "blackwell", "cdna3", "cdna4")
ASKED = {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}]}
FABRICS = [[], ["400gbe"], ["800gbe"], ["200gbe"], ["xdr"]]
numbers = st.integers(0, 100_000)
SITES = [
    {"feeds": feeds, "network_racks": apart, "rack": rack}
    for feeds in ("2N", "N+1", "N")
    for apart in (False, True)
    for rack in ("ar3300", "ar3357")
]
WAYS = [(names, spares, False) for names in FABRICS for spares in ([], ["switch"])]
WAYS += [(names, spares, True) for names, spares, _ in WAYS if names and names != ["xdr"]]
# Every way and every room, but not every pair: platforms take longer to find than a plan to draw.
PLACES = [(place % len(WAYS), place % len(SITES)) for place in range(28)]


@cache
def platforms_of(way, site):
    """Those of a fabric, with or without spare switches, apart or converged, in a room."""
    names, spares, is_converged = WAYS[way]
    asked = {"platforms": {"generations": list(GENERATIONS), "fabrics": names}, "site": SITES[site]}
    more = {"resilience": {"keeps_targets_without": spares}, "fabric": {"converged": is_converged}}
    return platforms(CATALOG, SizingRequest.from_dict({**ASKED, **asked, **more}))


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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    place=st.sampled_from(PLACES),
    number=numbers,
    n=servers,
    m=nodes,
    fabric=fabrics,
    rack_power_w=st.sampled_from([None, 41e3, 60e3, 140e3]),
)
def test_every_plan_of_today_keeps_the_laws(place, number, n, m, fabric, rack_power_w):
    platform = platforms_of(*place)[number % len(platforms_of(*place))]
    limits = Limits(rack_power_w=rack_power_w)
    row, plan = planned(platform, n, m, fabric=fabric, limits=limits)
    ports_balance(row, plan)
    everything_stands_once(row, plan)
    every_end_reaches_every_other(row, plan)
    the_search_counts_what_the_plan_builds(row, plan)
    if n <= 70:  # no published fibre reaches across the largest rooms, whose racks are those of smaller ones
        everything_stands_in_a_rack_that_takes_it(limits, row, plan)
        no_feed_is_over_its_rating_after_a_loss(platform, plan)
        coolant_units_take_the_liquid_heat(row, plan)
        the_search_counts_what_the_plan_builds_but_for_cable_lengths(row, plan)
    rails_end_on_the_leaf_of_their_unit(platform, plan, n, fabric)
    two_ports_end_on_two_leaves(plan)


def everything_stands_in_a_rack_that_takes_it(limits, row, plan):
    for rack in plan.racks:
        if limits.rack_power_w is not None:
            assert rack.max_w <= limits.rack_power_w + 1e-6
        whole = {device.item for device in rack.devices if CATALOG.device(device.item).delivered is not None}
        assert rack.is_delivered == bool(whole)
        assert not whole or len(rack.devices) == 1
    bought = sum(int(part.quantity[0]) for part in row.components if part.role == "rack")
    assert bought == sum(not rack.is_delivered for rack in plan.racks)
    pdus = sum(int(part.quantity[0]) for part in row.components if part.role == "rack PDU")
    assert pdus == sum(len(rack.feeds) for rack in plan.racks if not rack.is_delivered)


def no_feed_is_over_its_rating_after_a_loss(platform, plan):
    """Each loss is played through by itself: what a device draws spreads over the inlets that stay live."""
    for rack in plan.racks:
        sides = {feed.side for feed in rack.feeds}
        redundancy = "2N" if rack.is_delivered else platform.site.feeds
        losses = [None, *(sides if redundancy != "N" and len(sides) > 1 else ())]
        worst = defaultdict(float)
        for lost in losses:
            live = [feed for feed in rack.feeds if feed.side != lost]
            draws = {device.number: device.power.max_w for device in rack.devices}
            n_live = defaultdict(int)
            for feed in live:
                for inlet in feed.inlets:
                    n_live[inlet.device] += 1
            for feed in live:
                unknown = sum(one.live_w for one in feed.hung if not one.inlet)
                load = unknown + sum(draws[inlet.device] / n_live[inlet.device] for inlet in feed.inlets)
                worst[feed.name] = max(worst[feed.name], load)
        for feed in rack.feeds:
            assert worst[feed.name] == pytest.approx(feed.alone_w, abs=1e-6)
            assert feed.alone_w <= feed.capacity_w + 1e-6
            assert all(feed.used(kind) <= count for kind, count in feed.outlets)
        # Every inlet of every device is on one outlet.
        inlets = [(inlet.device, inlet.inlet) for feed in rack.feeds for inlet in feed.inlets]
        assert len(inlets) == len(set(inlets))
        known = [CATALOG.device(device.item).power_inlets for device in rack.devices]
        assert len(inlets) == sum(count.value for count in known if count is not None)


def coolant_units_take_the_liquid_heat(row, plan):
    heat_w = sum(liquid_heat_w(CATALOG.device(device.item)) for device in plan.devices)
    assert float(row.liquid_heat_w[0]) == pytest.approx(heat_w)
    units = [part for part in row.components if part.role == "coolant distribution unit"]
    capacity_w = sum(int(part.quantity[0]) * CATALOG.cooling[part.item].capacity_w.value for part in units)
    assert capacity_w >= heat_w
    assert bool(units) == bool(heat_w)


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
    row, plan = planned(platform, n, m, fabric=fabric, limits=Limits(rack_power_w=rack_w))
    ports_balance(row, plan)
    the_search_counts_what_the_plan_builds(row, plan)
    pdus = [part for part in row.components if part.role is Role.RACK_PDU]
    assert sum(int(part.quantity[0]) for part in pdus) == sum(len(rack.feeds) for rack in plan.racks)


def the_search_counts_what_the_plan_builds(row, plan):
    there = Counter(device.role for device in plan.devices)
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
    """Within a unit every server, or tray of a rack, has the same rail on the same leaf of several."""
    rule = rail_rule(platform, fabric)
    leaves = [device.number for device in plan.devices if device.role is Role.COMPUTE_LEAF]
    if rule is None or len(leaves) < 2:
        return
    run = next(cable.run for cable in plan.cables if cable.run.role is Role.COMPUTE_CABLE)
    first = min(device.number for device in plan.devices if device.role is Role.GPU_SERVER)
    tray, rails = np.divmod(np.unique(run.a_port, return_inverse=True)[1], rule.links)
    unit = ((run.a_device - first) * rule.trays + tray) // rule.unit_servers
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
    for platform in platforms_of(0, 0)[:: max(len(platforms_of(0, 0)) // 12, 1)]:
        sizes = np.array([1, 2, n, 2 * n + 1, 300])
        together = slice_row(quantities(platform, sizes, np.full(5, 4), catalog=CATALOG, fabric=fabric), 2)
        alone = slice_row(quantities(platform, [n], [4], catalog=CATALOG, fabric=fabric), 0)
        for net, other in zip(together.networks, alone.networks, strict=True):
            for count in ("leaves", "spines", "cores", "end_points", "leaf_spine_cables", "peer_cables", "ports_free"):
                assert int(getattr(net, count)[0]) == int(getattr(other, count)[0]), (
                    platform.server.id,
                    net.role,
                    count,
                )
