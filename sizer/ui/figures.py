"""Figures of a design in words: each with the key of its explanation."""

from typing import NamedTuple

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, grouped, si
from sizer.explain.figure import CAPACITY, GPUS, POWER, PRICE, RACK_UNITS, STAGE, rate_key
from sizer.present.text.calibration import NOT_PREDICTED
from sizer.present.text.money import price_basis_text, price_range_text
from sizer.present.words import NOT_PUBLISHED, estimate_text, plural, sample_unit
from sizer.sizing.result import STAGES, DesignAnswer


class HeadlineItem(NamedTuple):
    """One number of the headline; ``key`` selects its explanation in :mod:`sizer.explain`."""

    key: str
    label: str
    value: str
    under: str = ""


def other_figures(design: DesignAnswer) -> tuple[HeadlineItem, ...]:
    """Figures besides the rate of the first workload and the price."""
    parts = design.quantities
    usable, nodes = design.usable_bytes, sum(tier.nodes for tier in design.tiers)
    power = float(parts.power_max_w[0])
    racks = parts.n_racks
    limiting = design.workloads[0]
    storage = design.platform.storage.name
    return (
        HeadlineItem(GPUS, "GPUs", grouped(design.n_gpus), f"in {plural(design.n_servers, 'server')}"),
        *(rate(design, number) for number in range(1, len(design.workloads))),
        HeadlineItem(
            CAPACITY,
            "Usable capacity",
            si(usable, "B") if usable > 0 else NOT_PUBLISHED,
            plural(nodes, "storage node") if nodes else storage.partition(",")[0].partition(" (")[0],
        ),
        HeadlineItem(
            POWER,
            "Power, at least" if parts.unknown_power else "Power, at most",
            si(power, "W"),
            f"{plural(len(parts.unknown_power), 'device type')} unknown"
            if parts.unknown_power
            else "typical " + si(float(parts.power_typical_w[0]), "W"),
        ),
        HeadlineItem(RACK_UNITS, "Rack units", f"{float(parts.rack_units[0]):g}", f"in {plural(racks, 'rack')}"),
        HeadlineItem(
            STAGE,
            "Bottleneck",
            STAGES[limiting.bottleneck],
            f"next: {STAGES[limiting.next_bottleneck].lower()}"
            if limiting.next_bottleneck != limiting.bottleneck
            else "",
        ),
    )


def rate(design: DesignAnswer, number: int) -> HeadlineItem:
    """Rate or time of a workload with its 90 % interval."""
    answer = design.workloads[number]
    of_which = f"{answer.dnn.name}, " if len(design.workloads) > 1 else ""
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        label, value = "time to train", _split(answer.time.total_s, "s")
    elif answer.workload.task == "training":
        label, value = "training rate", _split(answer.throughput, sample_unit(answer.dnn))
    else:
        label, value = "inference rate", _split(answer.throughput, sample_unit(answer.dnn))
    if not answer.rate_is_predicted:
        value = (NOT_PREDICTED, "")
    return HeadlineItem(rate_key(number), f"{of_which}{label}" if of_which else label.capitalize(), *value)


def _split(interval: Estimate, unit: str) -> tuple[str, str]:
    """Middle of an estimate, and its interval with the unit."""
    parts = estimate_text(interval, unit)
    if parts.is_range:
        return f"{parts.middle}{NARROW_SPACE}{parts.unit}", parts.spread
    spread = f"{parts.spread}{NARROW_SPACE}{parts.unit}" if parts.spread else ""
    return f"{parts.middle}{NARROW_SPACE}{parts.unit}", spread


def price(design: DesignAnswer) -> HeadlineItem:
    """What the design costs, and on what that rests."""
    return HeadlineItem(PRICE, "Price", price_range_text(design), price_basis_text(design))
