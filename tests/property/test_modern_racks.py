"""Laws of racks, feeds and cooling over random designs of today's systems: DGX, HGX, PCIe servers, NVL72 racks."""

from collections import defaultdict
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sizer.catalog.generations import era_of
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.physical.racks.site_rules import liquid_heat_w
from sizer.workload.request import Fabric, Limits, SizingRequest
from tests.property.plan_laws import everything_stands_once, planned, ports_balance
from tests.property.test_plan import the_search_counts_what_the_plan_builds_but_for_cable_lengths

CATALOG = shipped_catalog()
SERVERS = sorted(s.id for s in CATALOG.servers.values() if s.role == "gpu" and era_of(CATALOG, s) == "today")
SITES = [
    {"feeds": feeds, "network_racks": apart, "rack": rack}
    for feeds in ("2N", "N+1", "N")
    for apart in (False, True)
    for rack in ("ar3300", "ar3357")
]


@cache
def platforms_of(number):
    asked = {
        "workload": [{"dnn": "llama-3-70b", "tokens": 1e10, "target": {"gpus_busy": 8}}],
        "platforms": {"servers": SERVERS},
        "site": SITES[number],
    }
    return platforms(CATALOG, SizingRequest.from_dict(asked))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    site=st.integers(0, len(SITES) - 1),
    number=st.integers(0, 10_000),
    n=st.one_of(st.integers(1, 12), st.integers(1, 70)),
    units=st.integers(1, 12),
    rack_power_w=st.sampled_from([None, 20e3, 41e3, 60e3, 140e3]),
    spare=st.sampled_from([0, 0, 0, 2]),
)
def test_designs_of_today_keep_the_laws(site, number, n, units, rack_power_w, spare):
    platform = platforms_of(site)[number % len(platforms_of(site))]
    limits = Limits(rack_power_w=rack_power_w)
    row, plan = planned(platform, n, 4 * units, limits=limits, fabric=Fabric(spare_servers=spare))
    ports_balance(row, plan)
    everything_stands_once(row, plan)
    everything_stands_in_a_rack_that_takes_it(limits, row, plan)
    no_feed_is_over_its_rating_after_a_loss(platform, plan)
    coolant_units_take_the_liquid_heat(row, plan)
    the_search_counts_what_the_plan_builds_but_for_cable_lengths(row, plan)


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
            draws = {device.number: device.power.max_w for device in rack.present}
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
        known = [CATALOG.device(device.item).power_inlets for device in rack.present]
        assert len(inlets) == sum(count.value for count in known if count is not None)


def coolant_units_take_the_liquid_heat(row, plan):
    heat_w = sum(liquid_heat_w(CATALOG.device(device.item)) for device in plan.devices if device.status != "reserved")
    assert float(row.liquid_heat_w[0]) == pytest.approx(heat_w)
    units = [part for part in row.components if part.role == "coolant distribution unit"]
    capacity_w = sum(int(part.quantity[0]) * CATALOG.cooling[part.item].capacity_w.value for part in units)
    assert capacity_w >= heat_w
    assert bool(units) == bool(heat_w)
