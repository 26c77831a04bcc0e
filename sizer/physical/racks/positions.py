"""Where every device stands: its rack, its lowest rack unit, and the place of the rack in the room.

Heavy devices stand low. The switches of a rack stand together at the height that half of their rack's links reach from
below, where the cables are shortest. The first racks, which hold the switches, stand in the middle of the room.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Rack
from sizer.physical.racks.placement import RackClass, RackFill
from sizer.workload.request import ExistingRack

RACK_UNIT_M = 0.04445  # EIA-310: 1.75 inch
# Free way in front of a row of racks. [m] An assumption of this program, as are the cable ways below.
AISLE_M = 1.2
# From a port to the cable manager at the side of the rack: half the width of a 600 mm rack. [m]
LEAD_M = 0.3
# Cable tray above the racks. [m]
TRAY_M = 0.3
# Cables are longer than their way by this share, for bends and loops.
SLACK_FRACTION = 0.1
# To the customer's LAN, whose place nobody has said. [m]
OUTSIDE_M = 10.0


@dataclass(frozen=True)
class DevicePlaces:
    """Places of all devices. Arrays over device numbers; rack numbers count used racks from 0."""

    rack: Ints
    unit: Ints  # lowest rack unit, from 1
    height_u: Ints
    row: Ints  # of each rack, from 0
    column: Ints


def device_places(
    fills: Sequence[RackFill],
    classes: Sequence[RackClass],
    links: Ints,
    n_network: int,
    existing: Sequence[ExistingRack],
    racks_per_row: int,
) -> DevicePlaces:
    """Give every device its rack unit.

    ``fills``: racks by ``placement.place``. ``classes``: of one row, in placing order: devices are numbered through
    them. ``links`` (devices,): links of each device. ``n_network``: so many of the first devices are switches and
    gateways. ``existing``: racks that are there, as in the limits of the placement. ``racks_per_row``: racks side by
    side in a row of the room.
    """
    n_devices = int(sum(group.quantity[0] for group in classes))
    rack, unit = np.zeros((2, n_devices), dtype=np.int64)
    height = np.concatenate([np.full(int(group.quantity[0]), group.needs[0], dtype=np.int64) for group in classes])
    kg = np.concatenate([np.full(int(group.quantity[0]), group.needs[1]) for group in classes])
    # Reserved devices have the role and item of the class before them and follow it in number.
    first: dict[tuple[str, str], int] = {}
    number = 0
    for group in classes:
        first.setdefault((group.role, group.item), number)
        number += int(group.quantity[0])
    for index, fill in enumerate(fills):
        inside = []
        for role, item, count in fill.devices:
            start = first[role, item]
            first[role, item] = start + count
            inside.append(np.arange(start, start + count))
        members = _stacked(np.concatenate(inside), kg, links, n_network)
        lowest = 1 if fill.existing is None else existing[fill.existing].first_free_u
        rack[members] = index
        unit[members] = lowest + np.cumsum(height[members]) - height[members]
    # Row and column of each rack, from 0: rows fill from the middle outwards, so does each row.
    n_racks = len(fills)
    order = np.arange(n_racks)
    rows = max(math.ceil(n_racks / racks_per_row), 1)
    columns = min(racks_per_row, max(n_racks, 1))
    row, column = _outwards(rows)[order // racks_per_row], _outwards(columns)[order % racks_per_row]
    return DevicePlaces(rack, unit, height, row, column)


def _stacked(members: Ints, kg: Floats, links: Ints, n_network: int) -> Ints:
    """Devices of one rack from the bottom up."""
    switches, others = members[members < n_network], members[members >= n_network]
    others = others[np.argsort(-kg[others], kind="stable")]
    if not switches.size or not others.size:
        return np.concatenate([switches, others])
    below = int(np.searchsorted(np.cumsum(links[others]), links[others].sum() / 2, side="left")) + 1
    return np.concatenate([others[:below], switches, others[below:]])


def _outwards(count: int) -> Ints:
    """Places 0 to count - 1 in the order of their distance from the middle one."""
    places = np.arange(count)
    return places[np.argsort(np.abs(places - (count - 1) // 2), kind="stable")]


def link_lengths_m(
    standing: DevicePlaces, rack: Rack, a_device: Ints, b_device: Ints, pdu_rack: Ints | int = -1
) -> Floats:
    """Length of the cable between two devices, slack included; ``OUTSIDE_M`` to what stands outside. [m]

    ``standing``: places of all devices. ``rack``: kind of the racks: height, width and depth. ``a_device``,
    ``b_device`` (links,): device numbers, -1 outside. ``pdu_rack`` (links,): rack of the rack PDU that a link starts
    at, whose port is planned at the top; -1: it starts at a device.

    Inside a rack: to the cable manager, along it, and back. Between racks: up to the tray above both, along the row,
    across the rows, and down.
    """
    height = np.asarray((standing.unit - 1 + standing.height_u / 2) * RACK_UNIT_M)
    is_pdu = np.asarray(pdu_rack) >= 0
    a, b = np.where(is_pdu, rack.height_u.value * RACK_UNIT_M, height[a_device]), height[b_device]
    rack_a, rack_b = np.where(is_pdu, pdu_rack, standing.rack[a_device]), standing.rack[b_device]
    tray = rack.height_u.value * RACK_UNIT_M + TRAY_M
    width = rack.width_m.value if rack.width_m is not None else 2 * LEAD_M
    depth = rack.depth_m.value if rack.depth_m is not None else AISLE_M
    along = np.abs(standing.column[rack_a] - standing.column[rack_b]) * width
    across = np.abs(standing.row[rack_a] - standing.row[rack_b]) * (depth + AISLE_M)
    way = np.where(rack_a == rack_b, np.abs(a - b), (tray - a) + (tray - b) + along + across)
    length = (way + 2 * LEAD_M) * (1 + SLACK_FRACTION)
    return np.where(((a_device < 0) & ~is_pdu) | (b_device < 0), OUTSIDE_M, length)


def unit_runs(units: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring rack units as (lowest, how many)."""
    for _, run in groupby(enumerate(sorted(units)), key=lambda pair: pair[1] - pair[0]):
        found = [unit for _, unit in run]
        yield found[0], len(found)
