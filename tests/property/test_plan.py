"""Laws of plans and racks."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sizer.physical.layout import building_plan
from sizer.physical.networks.links import OUTSIDE
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import Role
from sizer.workload.request import Existing, ExistingRack, Fabric, Limits, SizingRequest
from tests.factories.requests import CATALOG
from tests.property.law_examples import law
from tests.property.plan_laws import (
    every_end_reaches_every_other,
    everything_stands_once,
    is_switch,
    planned,
    ports_balance,
    the_search_counts_what_the_plan_builds_but_for_cable_lengths,
)

ASKED = {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}], "platforms": {"generations": ["volta"]}}
PLATFORMS = platforms(CATALOG, SizingRequest.from_dict(ASKED))
WITH_DIRECTORS = platforms(CATALOG, SizingRequest.from_dict({**ASKED, "fabric": {"directors": True}}))
# One of each way to join server, storage and fabric would do for the ports; drawing from all finds the odd ones.
numbers = st.integers(0, len(PLATFORMS) - 1)
# Mostly small, some around the limits of one switch, two levels and beyond.
servers = st.one_of(st.integers(1, 40), st.integers(30, 170), st.sampled_from([324, 648, 649, 1000]))
nodes = st.one_of(st.integers(1, 12), st.integers(1, 36)).map(lambda units: 4 * units)
fabrics = st.builds(
    Fabric,
    oversubscription=st.sampled_from([1.0, 1.0, 2.0, 3.0]),
    rails_apart=st.booleans(),
    spare_servers=st.sampled_from([0, 0, 1, 7]),
)
rack_powers = st.sampled_from([None, 12e3, 20e3, 35e3])
rooms = st.lists(
    st.builds(
        ExistingRack,
        name=st.uuids().map(lambda u: f"A{u.hex[:8]}"),
        free_u=st.integers(1, 20),
        first_free_u=st.integers(1, 20),
        power_w=st.sampled_from(["2 kW", "9 kW", "16 kW"]),
    ),
    max_size=3,
)


@law(200)
@given(number=numbers, n=servers, m=nodes, fabric=fabrics, power=rack_powers, racks=rooms, directors=st.booleans())
def test_every_plan_keeps_the_laws(number, n, m, fabric, power, racks, directors):
    platform = (WITH_DIRECTORS if directors else PLATFORMS)[number]
    existing, limits = Existing(racks=tuple(racks)), Limits(rack_power_w=power)
    row, plan = planned(platform, n, m, fabric=fabric, limits=limits, existing=existing)
    ports_balance(row, plan)
    everything_stands_once(row, plan)
    all_is_there_and_no_rack_or_feed_is_over_its_rating(platform, row, plan, fabric, racks)
    every_end_reaches_every_other(row, plan)
    leaves_keep_their_ratio(row, plan, fabric)
    the_search_counts_what_the_plan_builds_but_for_cable_lengths(row, plan)


def all_is_there_and_no_rack_or_feed_is_over_its_rating(platform, row, plan, fabric, racks):
    counted = sum(
        int(part.quantity[0])
        for part in row.components
        if part.category in ("compute", "head node", "storage") and part.role is not Role.HOST_MEMORY  # in the server
    )
    assert sum(device.category != "network" for device in plan.devices) == counted
    assert len({rack.name for rack in plan.racks}) == len(plan.racks)
    rooms_by_name = {room.name: room for room in racks}
    for rack in plan.racks:
        units = [unit for device in rack.devices for unit in range(device.unit, device.unit + device.height_u)]
        taken = {u for d in rack.devices for u in range(d.unit, d.unit + d.height_u)}
        if rack.is_existing:
            room = rooms_by_name[rack.name]
            assert min(units) >= room.first_free_u
            assert max(units) < room.first_free_u + room.free_u
            assert rack.max_w <= float(room.power_w) + 1e-6
            continue
        assert len(taken) + len(rack.empty_units) == rack.height_u
        assert sum(device.weight_kg or 0 for device in rack.devices) <= platform.rack.load_kg.value + 1e-6
        # Either side alone carries everything that has an inlet on it, no PDU more than it may.
        for side in ("A", "B"):
            pdus = [pdu for pdu in rack.feeds if pdu.side == side]
            for pdu in pdus:
                assert pdu.alone_w <= pdu.capacity_w + 1e-6
                assert all(pdu.used(kind) <= count for kind, count in pdu.outlets)
            hung = {inlet.device for pdu in pdus for inlet in pdu.inlets}
            for device in rack.devices:
                inlets = CATALOG.item(device.item).power_inlets.value
                assert (device.number in hung) == (inlets > 1 or (inlets == 1 and side == "A"))
            draw = sum(device.power.max_w for device in rack.devices if device.number in hung)
            assert abs(sum(pdu.alone_w for pdu in pdus) - draw) < 1e-6
    if int(row.racks[0]):
        heaviest = max(rack.max_w for rack in plan.racks if not rack.is_existing)
        assert abs(heaviest - float(row.rack_power_max_w[0])) < 1e-6
    panels = sum(int(part.quantity[0]) for part in row.components if part.role == "blanking panel")
    assert panels == sum(len(rack.empty_units) for rack in plan.racks if not rack.is_existing)


def leaves_keep_their_ratio(row, plan, fabric):
    for net in row.networks:
        if net.role == "management":
            continue
        asked = fabric.oversubscription if net.role == "compute fabric" else 1.0
        down, up = np.zeros((2, len(plan.devices)))
        for cable in plan.cables:
            run = cable.run
            if run.network.network != net.role:
                continue
            rate = run.kind.gbit_per_s.value
            lower = np.array([a != OUTSIDE and is_switch(plan, a) for a in run.a_device], dtype=bool)
            is_uplink = run.role.is_between_switches
            assert (lower == is_uplink).all() or run.role == "gateway uplink cable"
            np.add.at(down, run.b_device, rate)
            if is_uplink:
                np.add.at(up, run.a_device, rate)
        has_uplinks = up > 0
        assert (down[has_uplinks] <= asked * up[has_uplinks] + 1e-6).all()
        assert float(net.oversubscription[0]) <= max(asked, 1.0) + 1e-9


@settings(max_examples=100, deadline=None)
@given(number=numbers, n=servers, m=nodes, more=st.integers(1, 40), fabric=fabrics)
def test_more_servers_never_take_fewer_switches_racks_or_cables(number, n, m, more, fabric):
    platform = PLATFORMS[number]
    counted = quantities(platform, [n, n + more], [m, m], catalog=CATALOG, fabric=fabric)
    assume(not counted.violations)
    assert counted.racks[0] <= counted.racks[1]
    switches = sum(p.quantity for p in counted.components if p.role.forwards)
    assert np.ndim(switches) == 0 or switches[0] <= switches[1]
    small, large = (slice_row(counted, row) for row in (0, 1))
    plans = [
        building_plan(platform, one, size, m, catalog=CATALOG, fabric=fabric)
        for one, size in ((small, n), (large, n + more))
    ]
    assert plans[0].n_links <= plans[1].n_links
    assert len(plans[0].racks) <= len(plans[1].racks)
