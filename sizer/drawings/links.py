"""What runs between the devices of a plan: bundles of cables, in words and in line width."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.quantities import grouped, si, significant
from sizer.catalog.links import LinkType
from sizer.physical.components import Network
from sizer.physical.networks.links import OUTSIDE, ZERO_U
from sizer.physical.plan import PlacedDevice, Plan

# End of the cables that lead to the customer's network.
CUSTOMER_LAN = "customer-lan"


@dataclass(frozen=True)
class Bundle:
    """Cables of one kind between two ends."""

    a: str  # the device, or the lower switch
    z: str  # the switch
    kind: LinkType
    count: int
    least: int  # cables of the device at the lower end that has fewest, and most, of them
    most: int

    @property
    def of_each(self) -> str:
        """Cables of one device at the lower end: '2', or '3 to 27' where they differ."""
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


def bundles(plan: Plan, end: Callable[[PlacedDevice], str]) -> tuple[Bundle, ...]:
    """Cables of a plan but those of its rack PDUs, bundled by their ends.

    ``end``: name of what stands for a device on the drawing: the device itself or its group.
    """
    names = [end(device) for device in plan.devices] + [CUSTOMER_LAN]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    known, number = list(numbers), np.array([numbers[name] for name in names])
    # Pair of ends and device at the lower end of every cable, as one number.
    found: dict[tuple[int, LinkType], list[Ints]] = {}
    for cable in plan.cables:
        drawn = cable.run.a_device != ZERO_U
        a_device = np.where(cable.run.a_device == OUTSIDE, len(plan.devices), cable.run.a_device)[drawn]
        pairs = number[a_device] * len(known) + number[cable.run.b_device[drawn]]
        for pair in np.unique(pairs).tolist():
            found.setdefault((pair, cable.run.kind), []).append(a_device[pairs == pair])
    counts = {key: np.unique(np.concatenate(devices), return_counts=True)[1] for key, devices in found.items()}
    return tuple(
        Bundle(known[pair // len(known)], known[pair % len(known)], kind, int(of.sum()), int(of.min()), int(of.max()))
        for (pair, kind), of in counts.items()
    )


def speed(kind: LinkType) -> str:
    """Speed of one link: 'FDR 56 Gbit/s', '40 GbE'."""
    return f"{kind.id.upper()} {kind.gbit_per_s.value:g} Gbit/s" if kind.is_infiniband else kind.name


def link_text(count: int, kind: LinkType) -> str:
    """Count and speed of a bundle: '3 × FDR 56 Gbit/s', '16 × 40 GbE'."""
    return f"{grouped(count)} × {speed(kind)}"


def stroke(kind: LinkType) -> float:
    """Line width of a link; it grows with the logarithm of the speed."""
    return 0.8 + 1.2 * math.log10(kind.gbit_per_s.value)


def many(count: int, name: str) -> str:
    """Name with its multiplicity, which one alone does not need."""
    return f"{grouped(count)} × {name}" if count > 1 else name


def memory(size_bytes: float) -> str:
    """Memory is sold in binary units where it divides by one."""
    gib = size_bytes / 2**30
    return f"{grouped(gib)} GiB" if gib.is_integer() else si(size_bytes, "B")


def oversubscribed(net: Network) -> str:
    """How a leaf's uplinks compare with its downlinks, as part of a sentence."""
    ratio = float(net.oversubscription[0])
    return "non-blocking" if ratio <= 1 else f"oversubscribed {significant(ratio, 2)}:1"
