"""What redundancy costs, in words."""

from collections.abc import Iterator

from sizer.base.quantities import by_count, grouped, plain, si
from sizer.physical.plan import Plan
from sizer.present import words
from sizer.present.text.money import difference_text
from sizer.present.text.plan import feed_loss_is_open, few_supplies_text
from sizer.sizing.result import SpareCost
from sizer.workload.request import Loss

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
