"""Racks that would hold the devices of a design if kinds were mixed freely."""

import numpy as np

from sizer.base.arrays import Floats
from sizer.physical.plan import Plan
from sizer.physical.racks.limits import SLACK


def packed_racks(plan: Plan) -> int:
    """New racks by first fit of the largest devices first, within units, kilograms, watts and outlets of each rack.

    The rule of the plan keeps kinds together, so that its cables are short and one device more moves nothing; it may
    take more racks. Systems that arrive as racks and racks that are there are left out.
    """
    return sum(_packed(plan, number) for number, group in enumerate(plan.rack_groups) if not group.is_delivered)


def _packed(plan: Plan, number: int) -> int:
    group = plan.rack_groups[number]
    there = {device.number for rack in plan.racks if rack.is_existing for device in rack.devices}
    kinds = {(one.role, one.item): one.needs for one in group.classes}
    placed = [
        kinds[device.role, device.item]
        for device in plan.devices
        if (device.role, device.item) in kinds and device.number not in there
    ]
    holds = group.limits.holds
    shares = [float((needs[holds > 0] / holds[holds > 0]).max()) for needs in placed]
    left: list[Floats] = []
    for place in sorted(range(len(placed)), key=lambda one: (-shares[one], one)):
        needs = placed[place]
        fitting = next((room for room in left if bool(np.all(room + SLACK >= needs))), None)
        if fitting is None:
            fitting = np.array(holds, dtype=float)
            left.append(fitting)
        fitting -= needs
    return len(left)
