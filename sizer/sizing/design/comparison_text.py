"""Two requests, or two designs, beside each other in words."""

from collections.abc import Sequence

from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.bom.bill import Bill
from sizer.catalog.labels import item_name, sample_unit, sentence
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.workload.request import SizingRequest, Workload

# A difference below this share is none that the model could tell. [-]
_SEEN = 0.005
# Prices named in one sentence; the others are counted.
_NAMED = 4
# Digits of a rate asked: a changed target differs from the old one in the third or fourth.
_DIGITS = 4


def changes(before: SizingRequest, after: SizingRequest, design: DesignAnswer, catalog: Catalog) -> str:
    """What differs between two requests of the same workloads, as one sentence.

    Parameters
    ----------
    before, after : SizingRequest
    design : DesignAnswer
        Of ``before``: it has the words of its targets.
    catalog : Catalog
        For the names of parts.
    """
    said = []
    if after.confidence != before.confidence:
        said.append(f"confidence {_percent(after.confidence)} instead of {_percent(before.confidence)}")
    for old, new, answer in zip(before.workload, after.workload, design.workloads, strict=True):
        if new.target != old.target:
            of_which = f"{answer.workload.name}: " if len(before.workload) > 1 else ""
            said.append(f"{of_which}{_target(new, answer)} instead of {_target(old, answer)}")
    left = [
        item_name(ids[0], catalog)
        for ids, known in (
            (after.platforms.servers, before.platforms.servers),
            (after.platforms.storage, before.platforms.storage),
        )
        if ids != known and len(ids) == 1
    ]
    if left:
        said.append(f"only {' with '.join(left)}")
    if after.platforms.fabrics != before.platforms.fabrics and len(after.platforms.fabrics) == 1:
        said.append(f"only {kind_name(after.platforms.fabrics[0])}")
    return sentence("; ".join(said)) if said else "The request stays as it is."


def outcome(design: DesignAnswer, base: DesignAnswer) -> str:
    """What a design gains and what it gives up beside another one, without prices, as two short sentences."""
    better: list[str] = []
    worse: list[str] = []
    ratio = speed_up(design, base)
    if abs(ratio - 1) >= _SEEN:
        text = (
            f"{significant(100 * abs(ratio - 1), 2)}{NARROW_SPACE}% {'faster' if ratio > 1 else 'slower'} at the median"
        )
        (better if ratio > 1 else worse).append(text)
    one, other = design.quantities, base.quantities
    counts = (
        (design.n_gpus - base.n_gpus, "GPU", "GPUs"),
        (design.storage_nodes - base.storage_nodes, "storage node", "storage nodes"),
        (float(one.rack_units[0] - other.rack_units[0]), "rack unit", "rack units"),
    )
    for number, single, several in counts:
        if number:
            noun = single if abs(number) == 1 else several
            text = f"{plain(abs(number))} {noun} {'more' if number > 0 else 'fewer'}"
            (worse if number > 0 else better).append(text)
    watts = float(one.power_max_w[0] - other.power_max_w[0])
    if abs(watts) >= _SEEN * float(other.power_max_w[0]):
        text = f"{si(abs(watts), 'W')} {'more' if watts > 0 else 'less'}"
        (worse if watts > 0 else better).append(text)
    sides = [f"{label}: {', '.join(said)}." for label, said in (("For it", better), ("Against it", worse)) if said]
    return " ".join(sides) if sides else "It is equal in rate, GPUs, storage nodes, rack units and power."


def speed_up(design: DesignAnswer, base: DesignAnswer) -> float:
    """Rate of the first workload over that of another design, or its time to train under that: medians. [-]"""
    one, other = design.workloads[0], base.workloads[0]
    if one.time is not None and other.time is not None and one.workload.target.time_to_train_s is not None:
        return float(other.time.total_s.value / one.time.total_s.value)
    return float(one.throughput.value / other.throughput.value)


def open_between(one: Bill, other: Bill) -> tuple[str, ...]:
    """Items without a price whose number differs between two bills: they could turn the comparison round."""
    counts: list[dict[str, int]] = [{}, {}]
    for bill, count in zip((one, other), counts, strict=True):
        for line in bill.bought:
            if line.extended_net is None:
                name = line.item or line.description
                count[name] = count.get(name, 0) + line.quantity
    first, second = counts
    return tuple(name for name in dict.fromkeys([*first, *second]) if first.get(name, 0) != second.get(name, 0))


def names(items: Sequence[str], catalog: Catalog) -> str:
    """Names of items in a sentence; of many the first ones and how many more."""
    named = [item_name(item, catalog) for item in items[:_NAMED]]
    more = len(items) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def chance(probability: float) -> str:
    """A probability in words that claims no certainty."""
    if probability > 0.99:
        return f"a probability over 99{NARROW_SPACE}%"
    if probability < 0.01:
        return f"a probability under 1{NARROW_SPACE}%"
    return f"a probability of {100 * probability:.0f}{NARROW_SPACE}%"


def _target(workload: Workload, answer: WorkloadAnswer) -> str:
    target = workload.target
    if target.samples_per_s is not None:
        return f"at least {si(target.samples_per_s, sample_unit(answer.dnn), _DIGITS)}"
    if target.gpus_busy is not None:
        return f"{grouped(target.gpus_busy)} GPUs kept busy"
    assert target.time_to_train_s is not None  # a target is one of the three
    return f"trained within {duration(target.time_to_train_s)}"


def _percent(fraction: float) -> str:
    return f"{plain(100 * fraction, 2)}{NARROW_SPACE}%"
