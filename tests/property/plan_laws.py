"""Laws that the building plan of every design keeps, whatever its platform."""

from collections import Counter

import numpy as np
from hypothesis import reject

from sizer.catalog.schema import Switch
from sizer.physical.layout import building_plan
from sizer.physical.networks.links import OUTSIDE
from sizer.physical.networks.ports import device_ports
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import NetworkRole, Role
from tests.factories.requests import CATALOG


def planned(platform, n, m, **more):
    """Counted design and plan of a size that the site takes."""
    counted = quantities(platform, [n], [m], catalog=CATALOG, **more)
    if counted.violations:
        reject()
    row = slice_row(counted, 0)
    return row, building_plan(platform, row, n, m, catalog=CATALOG, **more)


def is_switch(plan, device):
    return isinstance(CATALOG.item(plan.devices[device].item), Switch)


def ports_balance(row, plan):
    """Every link has two ends of the right kind, and no port two links; the networks count the same ends."""
    ports = {item: device_ports(CATALOG.item(item)) for item in {device.item for device in plan.devices}}
    used, pdus, outside = Counter(), Counter(), 0
    for cable in plan.cables:
        run = cable.run
        for device, port in zip(run.a_device.tolist(), run.a_port.tolist(), strict=True):
            if device >= 0:
                used[device, port] += 1
            elif device == OUTSIDE:
                outside += 1
            else:
                pdus[port] += 1
        used.update(zip(run.b_device.tolist(), run.b_port.tolist(), strict=True))
        for devices, numbers in ((run.a_device, run.a_port), (run.b_device, run.b_port)):
            for device, port in {*zip(devices.tolist(), numbers.tolist(), strict=True)}:
                if device >= 0:
                    assert ports[plan.devices[device].item][port].group.runs(run.kind)
        assert (run.a_device != run.b_device).all()
    assert max(used.values(), default=1) == 1
    at_switches = sum(
        is_switch(plan, device) and ports[plan.devices[device].item][port].group.use != "management"
        for device, port in used
    )
    # The uplinks of out-of-band switches are their own ports, counted as ends of the in-band network on the other side.
    uplinks = sum(run.run.a_device.size for run in plan.cables if run.run.role is Role.MANAGEMENT_UPLINK)
    in_band = any(net.role is NetworkRole.IN_BAND for net in row.networks)
    assert at_switches - (uplinks if in_band else 0) == sum(int(net.ports_used[0]) for net in row.networks)
    assert 2 * plan.n_links == sum(used.values()) + sum(pdus.values()) + outside
    assert len(plan.connections) == plan.n_links
    # Every rack PDU of a new rack has one port on the out-of-band network.
    counted = sum(int(part.quantity[0]) for part in row.components if part.role is Role.RACK_PDU)
    if pdus:
        assert pdus == Counter(range(counted))
    for net in row.networks:
        assert int(net.ports_free[0]) >= 0


def every_end_reaches_every_other(row, plan):
    """Each network is one piece.

    The out-of-band switches hang together through the in-band network, storage behind a gateway is one with the fabric.
    """
    behind = any(int(net.gateways[0]) for net in row.networks)
    has_rails = next(net for net in row.networks if net.role is NetworkRole.COMPUTE).rails > 1
    pieces = {}
    for cable in plan.cables:
        role, plane = cable.run.network.network, cable.run.network.plane
        if role in (NetworkRole.IN_BAND, NetworkRole.MANAGEMENT):
            role, plane = NetworkRole.MANAGEMENT, ""
        elif behind and role is NetworkRole.STORAGE:
            role, plane = NetworkRole.COMPUTE, "rail 1" if has_rails else ""
        pieces.setdefault((role, plane), []).append(cable.run)
    for runs in pieces.values():
        group = np.arange(len(plan.devices))
        a, b = (np.concatenate([getattr(run, end) for run in runs]) for end in ("a_device", "b_device"))
        members = np.unique(np.concatenate([a[a >= 0], b[b >= 0]]))
        a, b = a[a >= 0], b[a >= 0]
        while True:
            low = np.minimum(group[a], group[b])
            before = group.copy()
            np.minimum.at(group, a, low)
            np.minimum.at(group, b, low)
            if (group == before).all():
                break
        assert np.unique(group[members]).size == 1


def everything_stands_once(row, plan):
    """Devices and racks have names and places of their own, and the racks are those that were counted."""
    assert len({device.name for device in plan.devices}) == len(plan.devices)
    assert sum(len(rack.devices) for rack in plan.racks) == len(plan.devices)
    assert sum(not rack.is_existing for rack in plan.racks) == int(row.racks[0])
    assert sum(rack.is_existing for rack in plan.racks) == int(row.existing_racks[0])
    assert len({(rack.row, rack.column) for rack in plan.racks}) == len(plan.racks)
    for rack in plan.racks:
        units = [unit for device in rack.devices for unit in range(device.unit, device.unit + device.height_u)]
        assert len(units) == len(set(units))
        assert min(units) >= 1
        assert rack.is_existing or max(units) <= rack.height_u


def the_search_counts_what_the_plan_builds_but_for_cable_lengths(row, plan):
    def others(components):
        return [(p.role, p.item, int(p.quantity[0]), p.notes) for p in components if p.category != "cable and optic"]

    def links(components, *, is_built):
        """Fewest and most links of each role: a fibre is one, a cable that splits serves one or two.

        The search counts half cables, of which one leg at most stays over. In the plan both legs end in one cage, so
        that any of them may serve a single port.
        """
        with_fibre = {part.role for part in cables(components) if CATALOG.cables[part.item].media == "fibre"}
        low, high = Counter(), Counter()
        for part in cables(components):
            cable, pieces = CATALOG.cables[part.item], int(part.quantity[0])
            ends = 2 if cable.media == "transceiver" else 1
            if ends == 1 or part.role not in with_fibre:
                high[part.role] += pieces * cable.ports_each / ends
                unused = (pieces if is_built else 1) * (cable.ports_each - 1)
                low[part.role] += (pieces * cable.ports_each - unused) / ends
        return low, high

    def cables(components):
        return [part for part in components if part.category == "cable and optic"]

    assert others(row.components) == others(plan.components)
    fewest, most = links(row.components, is_built=False)
    fewest_built, most_built = links(plan.components, is_built=True)
    assert fewest <= most_built
    assert fewest_built <= most
    for cable in plan.cables:
        for number_, choice in enumerate(cable.choices):
            longest = cable.length_m[cable.choice == number_].max()
            lengths = [f.value for item, _ in choice.items if (f := CATALOG.cables[item].length_m) is not None]
            assert not lengths or longest <= max(lengths) + 1e-6 or plan.warnings
