"""Checks of a design in words: what is met, what is open, and which fact is missing."""

from collections.abc import Iterable, Iterator

from sizer.base.quantities import by_count, grouped, plain, si
from sizer.drawings.racks import at_least
from sizer.physical.plan import Plan
from sizer.present import words
from sizer.present.text.money import budget_text, difference_text
from sizer.present.text.plan import feed_loss_is_open, few_supplies_text
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck, FactKind, MissingFact
from sizer.sizing.result import DesignAnswer, SpareCost
from sizer.workload.request import Loss

_FACTS = {
    FactKind.READ_RATE: "read rate",
    FactKind.WRITE_RATE: "write rate",
    FactKind.USABLE_CAPACITY: "usable capacity",
    FactKind.POWER: "maximum power",
    FactKind.WEIGHT: "weight",
    FactKind.TRAINING_RATE: "training rate",
    FactKind.SERVING_RATE: "serving rate",
    FactKind.GPU_MEMORY: "GPU memory",
    FactKind.OPERATORS: "kernels for this network",
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
        "Run it there for an hour and state what you measured with [[workload.measured]]."
        if is_own
        else "Ask the vendor."
    )
    return (
        f"Conditional on the {missing_text(design.conditional_on)}, which the vendor must confirm: the probability "
        f"of meeting the request is not known. {remedy}"
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


# What may fail, inside a sentence.
ONE_LOST = {
    "server": "one server",
    "storage-node": "one storage node",
    "switch": "one switch",
    "gateway": "one gateway",
    "feed": "one power feed",
    "head-node": "one head node",
}


def spare_sentence(cost: SpareCost, currency: str, plan: Plan | None = None, *, with_amounts: bool = False) -> str:
    """Cost of the redundancy compared with the design that has none.

    ``currency``: of the priced lines. ``plan``: of the design: devices with too few power supplies leave the loss of
    a feed open. ``with_amounts``: whether to say what parts that need a quote are expected to cost, for use in the
    house.
    """
    # Drives of the servers are no storage node.
    is_local = cost.without.platform.storage.kind == "local" and cost.is_free
    sure, open_ = tuple(loss for loss in cost.losses if not (is_local and loss == "storage-node")), ""
    if not sure:
        return ""
    if plan is not None and "feed" in cost.losses and feed_loss_is_open(plan):
        # Whether devices with too few power supplies run on, or how many supplies they need, is not published.
        sure = tuple(loss for loss in sure if loss != "feed")
        open_ = f" Whether it tolerates the loss of one power feed is open: {few_supplies_text(plan)}."
    tolerates = f"The design tolerates the loss of {listed_losses(sure)}" if sure else "The design is redundant"
    if cost.is_free:
        return f"{tolerates} without additional parts.{open_}"
    parts = list(_parts(cost))
    if cost.amount:
        amount = words.money(abs(cost.amount), currency)
        parts.append(f"{amount} more" if cost.amount > 0 else f"{amount} less")
    if cost.open_items:
        parts.append("additional parts that need a quote")
    if not parts:
        parts = ["the same number of other parts"]
    added = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    text = (
        f"Redundancy for the loss of {listed_losses(cost.losses)}: compared with {cost.without.name}, which has none, "
        f"the design takes {added}.{open_}"
    )
    if with_amounts and cost.cost is not None and cost.open_items:
        return f"{text} {difference_text(cost.cost)}"
    return text


def listed_losses(losses: tuple[Loss, ...]) -> str:
    """'one server, one storage node or one power feed'."""
    names = [ONE_LOST[loss] for loss in losses]
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _parts(cost: SpareCost) -> Iterator[str]:
    heads, servers, nodes, switches = (
        abs(n) for n in (cost.head_nodes, cost.n_servers, cost.storage_nodes, cost.switches)
    )
    units, watts = abs(cost.rack_units), si(abs(cost.power_w), "W")
    counts = (
        (cost.n_servers, by_count(servers, f"{grouped(servers)} server", f"{grouped(servers)} servers")),
        (cost.head_nodes, by_count(heads, f"{grouped(heads)} head node", f"{grouped(heads)} head nodes")),
        (cost.storage_nodes, by_count(nodes, f"{grouped(nodes)} storage node", f"{grouped(nodes)} storage nodes")),
        (cost.switches, by_count(switches, f"{grouped(switches)} switch", f"{grouped(switches)} switches")),
        (cost.rack_units, by_count(round(units), f"{plain(units)} rack unit", f"{plain(units)} rack units")),
    )
    for number, text in counts:
        if number:
            yield f"{text} more" if number > 0 else f"{text} fewer"
    if cost.power_w > 0:
        yield f"at least {watts} more" if cost.has_unknown_power else f"{watts} more"
    elif cost.power_w < 0:
        yield f"{watts} less"
