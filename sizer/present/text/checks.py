"""Checks of a design in words: what is met, what is open, and which fact is missing."""

from collections.abc import Iterable

from sizer.base.quantities import grouped, si
from sizer.drawings.racks import at_least
from sizer.present import words
from sizer.present.text.money import budget_text
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck, FactKind, MissingFact
from sizer.sizing.result import DesignAnswer

_FACTS = {
    FactKind.READ_RATE: "read rate",
    FactKind.WRITE_RATE: "write rate",
    FactKind.USABLE_CAPACITY: "usable capacity",
    FactKind.POWER: "maximum power",
    FactKind.WEIGHT: "weight",
    FactKind.TRAINING_RATE: "training rate",
    FactKind.SERVING_RATE: "serving rate",
    FactKind.GPU_MEMORY: "GPU memory",
    FactKind.OPERATORS: "operators without CUDA",
}
_LABELS = {
    CheckKind.CAPACITY: "Usable capacity",
    CheckKind.WORKING_SET: "Usable capacity of the fast tier",
    CheckKind.POWER: "Power in total",
    CheckKind.RACK_POWER: "Power per rack",
    CheckKind.FEED_POWER: "Load of one feed after the loss of another",
    CheckKind.RACK_WEIGHT: "Weight in one rack",
    CheckKind.FLOOR_LOAD: "Floor load below a rack",
    CheckKind.BUDGET: "Budget",
}
_UNITS = {
    CheckKind.CAPACITY: "B",
    CheckKind.WORKING_SET: "B",
    CheckKind.POWER: "W",
    CheckKind.RACK_POWER: "W",
    CheckKind.FEED_POWER: "W",
}


def missing_text(facts: Iterable[MissingFact]) -> str:
    """Facts that are not known: 'read rate and usable capacity of HNAS', 'weight of DGX-1 and HNAS'."""
    by_name: dict[str, list[str]] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(_FACTS[fact.kind])
    by_kinds: dict[tuple[str, ...], list[str]] = {}
    for name, kinds in by_name.items():
        by_kinds.setdefault(tuple(kinds), []).append(name)
    return "; ".join(f"{words.listed(list(kinds))} of {words.listed(names)}" for kinds, names in by_kinds.items())


def conditional_sentence(design: DesignAnswer) -> str:
    """What a design is conditional on; "" where it is not."""
    if not design.conditional_on:
        return ""
    is_own = {fact.kind for fact in design.conditional_on} <= {FactKind.GPU_MEMORY, FactKind.OPERATORS}
    remedy = (
        "Train a few steps there and state their rate and GPU memory with [[workload.measured]]."
        if is_own
        else "Ask the vendor."
    )
    return (
        f"Conditional on the {missing_text(design.conditional_on)}, which no source gives: the probability of meeting "
        f"the request is not known. {remedy}"
    )


def check_label(check: DesignCheck) -> str:
    """What is checked."""
    return _LABELS[check.kind]


def amount_text(check: DesignCheck, amount: float, currency: str) -> str:
    """An amount of a check with its unit."""
    if check.kind is CheckKind.BUDGET:
        return words.money(words.whole(amount), currency)
    if check.kind is CheckKind.RACK_WEIGHT:
        return f"{grouped(amount)}{words.NO_BREAK}kg"
    if check.kind is CheckKind.FLOOR_LOAD:
        return f"{grouped(amount)}{words.NO_BREAK}kg/m²"
    return si(amount, _UNITS[check.kind])


def known_text(check: DesignCheck, currency: str) -> str:
    """What is known of a design, 'at least' where something is missing."""
    if check.known is None:
        return words.NOT_PUBLISHED
    is_lower = check.kind not in (CheckKind.CAPACITY, CheckKind.WORKING_SET) and bool(check.missing or check.unpriced)
    return at_least(is_lower, amount_text(check, check.known, currency))


def open_text(check: DesignCheck) -> str:
    """What must be known to decide an open check; "" where nothing is missing."""
    if check.result is not CheckResult.OPEN:
        return ""
    if check.kind is CheckKind.BUDGET:
        return budget_text(check)
    if check.unpriced:
        return f"{words.plural(len(check.unpriced), 'item')} without a price"
    return f"{missing_text(check.missing)} not known" if check.missing else ""
