"""The three answers at the head of every page: what to buy, whether it does the job, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si
from sizer.catalog.labels import with_vendor
from sizer.drawings.racks import at_least
from sizer.explain.figure import CAPACITY, GPUS, POWER, PRICE, RACK_UNITS, STAGE, rate_key
from sizer.present.text.calibration import NOT_PREDICTED, compared_time_s
from sizer.present.text.checks import amount_text, check_label, missing_text, open_text
from sizer.present.text.design_size import asked_target_text
from sizer.present.text.money import price_basis_text, price_range_text, quotes_text
from sizer.present.text.plan import existing_text
from sizer.present.text.result_text import stack_worth_text
from sizer.present.text.serving import conditions, most_users_text, used_stack_text
from sizer.present.text.verdict import (
    equipment_texts,
    even_odds_text,
    measure_texts,
    selection_text,
    verdict_text,
)
from sizer.present.words import NOT_PUBLISHED, TO_BE_QUOTED, chance, estimate_text, plural, sample_unit, sentence
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult


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
        label, value = "time to train", _split(answer.time.total_s, "s", compared_time_s(answer))
    elif answer.workload.task == "training":
        label, value = "training rate", _split(answer.throughput, sample_unit(answer.dnn))
    else:
        label, value = "inference rate", _split(answer.throughput, sample_unit(answer.dnn))
    if not answer.rate_is_predicted:
        value = (NOT_PREDICTED, "")
    return HeadlineItem(rate_key(number), f"{of_which}{label}" if of_which else label.capitalize(), *value)


def _split(interval: Estimate, unit: str, like: float | None = None) -> tuple[str, str]:
    """Middle of an estimate, and its interval with the unit; ``like`` as for ``estimate_text``."""
    parts = estimate_text(interval, unit, like)
    if parts.is_range:
        return f"{parts.middle}{NARROW_SPACE}{parts.unit}", parts.spread
    spread = f"{parts.spread}{NARROW_SPACE}{parts.unit}" if parts.spread else ""
    return f"{parts.middle}{NARROW_SPACE}{parts.unit}", spread


def price(design: DesignAnswer) -> HeadlineItem:
    """What the design costs, and on what that rests."""
    return HeadlineItem(PRICE, "Price", price_range_text(design), price_basis_text(design))


COUNT = 3


@dataclass(frozen=True)
class Badge:
    """Sign, colour and words of a judgement: green is settled, orange needs attention."""

    colour: str
    icon: str
    text: str
    in_short: str = ""  # where there is one line


@dataclass(frozen=True)
class Tile:
    """One question of a customer with its answer."""

    question: str
    figure: HeadlineItem
    badge: Badge | None
    note: str = ""


def tiles(result: SizingResult, *, is_customer_mode: bool) -> tuple[Tile, Tile, Tile]:
    """The three answers."""
    return _purchase(result.design), _performance(result), _cost(result, is_customer_mode=is_customer_mode)


def _purchase(design: DesignAnswer) -> Tile:
    parts = design.quantities
    units, racks = float(parts.rack_units[0]), parts.n_racks
    power = at_least(bool(parts.unknown_power), si(float(parts.power_max_w[0]), "W"))
    storage = with_vendor(design.platform.storage)
    count = design.storage_nodes
    nodes = f"{count} × {storage} {by_count(count, 'node', 'nodes')}" if count else storage
    gpus = f"{grouped(design.n_gpus)} × {design.platform.gpu.name}"
    size = f"{grouped(units)} {by_count(units, 'rack unit', 'rack units')} in {plural(racks, 'rack')}, {power}"
    bought, server = design.servers_bought, with_vendor(design.platform.server)
    there = design.n_servers - bought
    value = f"{grouped(bought)} × {server}" if bought else "No GPU server"
    at_hand = f" besides {grouped(there)} at hand" if there and bought else ""
    used = "" if bought else f"{grouped(there)} × {server} at hand: "
    return Tile(
        "What to buy", HeadlineItem(GPUS, f"GPU servers{at_hand}", value, f"{used}{gpus}, with {nodes}; {size}"), None
    )


def _performance(result: SizingResult) -> Tile:
    design = result.design
    first = design.workloads[0]
    item = rate(design, 0)
    under = f"{item.under}; target {asked_target_text(result, first)}" if item.under else item.under
    room = most_users_text(first.serving) if first.serving is not None and first.serving.work.counts_people else ""
    note = f"Serves {room}, with {_software(design)}" if room else f"with {_software(design)}"
    if first.time is not None and first.workload.target.time_to_train_s is None:
        middle, ends = _split(first.time.total_s, "s")
        note = f"Trains in {middle} ({ends}), {note}"
    return Tile("Will it do the job?", item._replace(under=under), _verdict(result), note)


def _software(design: DesignAnswer) -> str:
    """Software stacks that the rates suppose, each once."""
    return ", ".join(dict.fromkeys(map(used_stack_text, design.workloads)))


def _verdict(result: SizingResult) -> Badge:
    """Whether the design meets the targets, and with which probability."""
    design = result.design
    probability = design.probability
    if design.conditional_on and design.target_check is not CheckResult.NOT_MET:
        return Badge("orange", "help", f"Not known: {missing_text(design.conditional_on)}")
    if probability is None:
        return Badge("orange", "help", "Probability not known")
    if not all(answer.rate_is_predicted for answer in design.workloads):
        return Badge("orange", "help", f"Not known: no measured rate of {design.platform.gpu.name}")
    share = chance(probability)
    if design.target_check is CheckResult.NOT_MET:
        return Badge("orange", "warning", f"Below the target, probability {share}", f"below, {share}")
    if design.late:
        return Badge("orange", "help", f"Met on a condition, probability {share}", f"on a condition, {share}")
    if even_odds_text(design):
        return Badge("orange", "help", f"Even odds, probability {share}", f"even odds, {share}")
    if not result.needs_cluster:
        return Badge("green", "check", f"No cluster needed, probability {share}", f"met, {share}")
    return Badge("green", "check", f"Met, probability {share}", f"met, {share}")


def _cost(result: SizingResult, *, is_customer_mode: bool) -> Tile:
    item = price(result.design)
    changed = 0 if is_customer_mode else len(result.design.bill.changed_quantities)
    if changed:
        item = item._replace(under=f"{item.under}; {plural(changed, 'line')} with a quantity changed by hand")
    return Tile("What does it cost?", item, _money(result.design, result.request.currency))


def _money(design: DesignAnswer, currency: str) -> Badge | None:
    """What is open about the price: main items without one, then the budget, then other items."""
    bill = design.bill
    open_lines = [line for line in bill.bought if line.extended_net is None]
    main = [line for line in open_lines if line.category in ("compute", "storage")]
    budget = next((check for check in design.checks if check.kind is CheckKind.BUDGET), None)
    if budget is not None:
        amount = amount_text(budget, budget.asked, currency)
        if budget.result is CheckResult.NOT_MET:
            return Badge("red", "block", f"Over the budget of {amount}")
        if budget.result is CheckResult.OPEN:
            return Badge("orange", "help", f"Budget of {amount} open")
        # The guide says as much: met, whatever main items cost within their ranges.
        return Badge("green", "check", f"Within the budget of {amount}{' at estimated prices' if main else ''}")
    if main:
        return Badge("orange", "help", f"{plural(len(main), 'main item')} {TO_BE_QUOTED}")
    if not bill.is_complete:
        return Badge("orange", "help", "Incomplete")
    return Badge("green", "check", "Every item priced")


def sentences(result: SizingResult, *, is_customer_mode: bool) -> Iterator[str]:
    """What the tiles do not say: a verdict against a cluster, the reason of the choice, and the decisive quotes."""
    with_amounts = not is_customer_mode
    design = result.design
    if not result.needs_cluster or design.probability is None or len(design.workloads) > 1 or result.request.team:
        yield sentence(verdict_text(result))
    else:
        yield from measure_texts(result, names_key=False)
        yield from equipment_texts(result)
        if even_odds_text(design):
            yield even_odds_text(design)
        for answer in design.late:
            yield from (f"This holds {one.text}." for one in conditions(design, answer))
    if design.existing is not None:
        yield existing_text(design.existing)
    yield from maximum_sentences(result, with_amounts=with_amounts)[:1]
    if is_customer_mode:
        return  # what other designs cost is no matter of a customer
    yield sentence(selection_text(result, with_amounts=with_amounts))
    if quotes := quotes_text(result, with_amounts=False):
        yield quotes


def open_checks(result: SizingResult) -> list[str]:
    """Checks that a missing fact leaves open, each with that fact."""
    opened = [check for check in result.design.checks if check.result is CheckResult.OPEN]
    return [f"{check_label(check)}: {open_text(check)}." for check in opened]


def stacks(result: SizingResult) -> list[str]:
    """The software stack of each workload, and what the choice is worth."""
    return list(dict.fromkeys(map(stack_worth_text, result.design.workloads)))
