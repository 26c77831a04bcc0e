"""What two designs differ in, in numbers."""

from sizer.bom.bill import Bill
from sizer.sizing.result import DesignAnswer


def speed_up(design: DesignAnswer, base: DesignAnswer) -> float:
    """Rate of the first workload over that of another design, or its time to train under that: medians. [-]"""
    one, other = design.workloads[0], base.workloads[0]
    if one.time is not None and other.time is not None and one.workload.target.time_to_train_s is not None:
        return float(other.time.total_s.value / one.time.total_s.value)
    return float(one.throughput.value / other.throughput.value)


def open_between(one: Bill, other: Bill) -> tuple[str, ...]:
    """Items without a price whose number differs between two bills: their prices could reverse the comparison."""
    counts: list[dict[str, int]] = [{}, {}]
    for bill, count in zip((one, other), counts, strict=True):
        for line in bill.bought:
            if line.extended_net is None:
                name = line.item or line.description
                count[name] = count.get(name, 0) + line.quantity
    first, second = counts
    return tuple(name for name in dict.fromkeys([*first, *second]) if first.get(name, 0) != second.get(name, 0))
