"""Rules over the parts of one answer before anything is written: what contradicts itself is not handed over."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from html import escape

from sizer.bom.bill import BY_OTHERS
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog, statements
from sizer.guide.acceptance.tests import acceptance_tests
from sizer.perf.stage_capacity import Capacity
from sizer.physical.notes import PlanNoteKind
from sizer.physical.racks.site_rules import coolant_parts
from sizer.present.availability import missing_spares_text
from sizer.present.text.assumptions import values_to_confirm
from sizer.present.text.verdict import proposal_text
from sizer.questions.ownership.analysis import ownership
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.constraints.tiers import TierContent
from sizer.sizing.decision_options import can_be_bought
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.spares import spare_servers, wait_for_repairs
from sizer.sizing.result import SizingResult
from sizer.workload.resolve import CUSTOM

_HOLD_ALL = ([TierContent.EVERYTHING], [TierContent.WORKING_SET, TierContent.ALL_DATA])
_AT_LEAST = (CheckKind.CAPACITY, CheckKind.WORKING_SET)
# Nothing that is bought runs for longer, at a lower rate, or draws more. [s], [B/s], [W]
_LONGEST_S, _LEAST_BYTES_PER_S, _MOST_W = 1e6 * 86_400, 1.0, 1e10
_ROUNDED = 1e-6
# Width of an interval over that of its named parts; hosts and exchange add little.
_UNEXPLAINED = 1.1
# Devices that a transfer switch keeps running.
_TO_TRANSFER = {PlanNoteKind.SINGLE_CORDED, PlanNoteKind.FEW_SUPPLIES}
_HALF_A_CENT = Decimal("0.005")
# What only somebody who read everything could say.
_NOBODY = re.compile(r"[Nn]o source (?:gives|says|states|prints|describes)")


def contradictions(result: SizingResult) -> list[str]:
    """Contradictions within an answer, one clause each; empty where there is none."""
    rules = (_requirements, _totals, _ownership, _figures, _tests, _comparisons, _told, _assumed, _dates)
    return [text for rule in rules for text in rule(result)]


def beyond_purchases(result: SizingResult) -> list[str]:
    """Magnitudes that nothing has which is bought, one clause each: they follow from numbers of the request."""
    answers = [workload for workload in result.design.workloads if workload.rate_is_predicted]
    read = {answer.workload.name: float(answer.throughput.value) * answer.sample_bytes for answer in answers}
    times = {answer.workload.name: float(answer.time.total_s.value) for answer in answers if answer.time is not None}
    drawn_w = float(result.design.quantities.power_max_w[0])
    return [
        *(f"{name} takes {time_s:.3g} s" for name, time_s in times.items() if not 0 < time_s < _LONGEST_S),
        *(f"{name} reads {rate:.3g} B/s" for name, rate in read.items() if not _LEAST_BYTES_PER_S <= rate < math.inf),
        *([] if drawn_w < _MOST_W else [f"the design draws {drawn_w:.3g} W"]),
    ]


def overstatements(page: str, catalog: Catalog) -> list[str]:
    """What a customer's page says that it must not: weak sources by their titles, and that nobody published a fact.

    ``page``: HTML, as it is printed.
    """
    names = {with_vendor(item) for _, item in catalog.items()}  # an article may be titled as the part that it is about
    weak = {source.title for source in catalog.sources.values() if source.is_weak} - names
    cited = [f"the page cites {title}" for title in sorted(weak) if f">{escape(title)}" in page]
    return [*cited, *(f"the page says {said[0]}" for said in _NOBODY.finditer(page))]


def _requirements(result: SizingResult) -> Iterator[str]:
    """What is met has what is required; no headroom is below zero."""
    for check in result.design.checks:
        if check.result is CheckResult.MET and check.known is not None and not check.missing:
            is_least = check.kind in _AT_LEAST
            short = check.asked - check.known if is_least else check.known - check.asked
            if short > _ROUNDED * abs(check.asked) and check.kind is not CheckKind.BUDGET:
                yield f"{check.kind.value} is met with {check.known:g} of {check.asked:g}"
    for answer in result.design.workloads:
        chance, asked = answer.probability, result.request.confidence
        if any(answer is late for late in result.design.late):
            continue  # met on condition of its first tokens
        if answer.target_check is CheckResult.MET and chance is not None and chance < asked - _ROUNDED:
            yield f"{answer.workload.name} meets its target with {chance:g}, {asked:g} was requested"
    for tier in result.design.tiers:
        if tier.free_bytes < 0:
            yield f"the {tier.content.value} tier lacks {-tier.free_bytes:g} B"


def _totals(result: SizingResult) -> Iterator[str]:
    """One total of a purchase, and a range around what is known of it."""
    bill, cost = result.design.bill, result.design.cost
    parts = bill.one_off.amount + bill.recurring.amount
    net = sum((line.extended_net or Decimal(0) for line in bill.bought), Decimal(0))
    if parts != bill.purchase.amount:
        yield f"what is bought once and again costs {parts}, the purchase {bill.purchase.amount}"
    if abs(bill.total - net * (100 - bill.deal_discount_percent) / 100) > _HALF_A_CENT:
        yield f"the lines add up to {net}, the total is {bill.total}"
    request = result.request
    if cost is None and (request.currency == "USD" or request.exchange_rate_usd is not None):
        yield "the design has no range of its price"
    if cost is not None and not float(bill.total) - 1 <= cost.low <= cost.expected <= cost.high:
        yield f"the price of {cost.low:g} to {cost.high:g} does not hold {bill.total} and {cost.expected:g}"
    if bill.is_complete != all(line.extended_net is not None for line in bill.bought):
        yield f"{bill.net_total.n_open} lines are said to be open, which is not what the lines are"
    for year in result.planned_years[:1]:
        if (year.n_servers, year.cost) != (result.design.n_servers, cost):
            yield f"the growth plan buys {year.n_servers} servers first, at another price than the bill"


def _ownership(result: SizingResult) -> Iterator[str]:
    """The cost of ownership starts from the bill, holds what the growth plan buys later, or says that it does not."""
    bill, request, owned = result.design.bill, result.request, ownership(result)
    if owned is None:
        return
    first, years = owned.cost.years[0].purchase, owned.cost.rates.years
    if first != bill.total:
        yield f"the cost of ownership begins with a purchase of {first}, the total of the bill is {bill.total}"
    planned = sum((year.purchase.amount for year in result.planned_years[1:years]), first)
    if owned.cost.purchase != planned:
        yield f"the cost of ownership holds purchases of {owned.cost.purchase}, the growth plan {planned}"
    if owned.up_to and float(owned.cost.total) > owned.up_to[-1].high * (1 + _ROUNDED) + 1:
        yield f"the cost of ownership is at most {owned.up_to[-1].high:g}, of which {owned.cost.total} is known"
    if request.growth is not None and years > 1 and not owned.later and "growth" not in owned.cost.missing:
        yield "the cost of ownership leaves out what the growth plan buys later, and does not say so"


def _figures(result: SizingResult) -> Iterator[str]:
    """No efficiency above 100 %, no typical draw above the maximum, no spread without a reason."""
    design = result.design
    for answer in design.workloads:
        name, is_alike = answer.workload.name, answer.kind.compares_one_gpu
        spread, gpu = answer.gpu_spread, next((stage for stage in answer.stages if stage.key == "gpu"), None)
        explained = math.hypot(spread.parameters, spread.within, spread.between)
        if answer.rate_is_predicted and gpu is not None:
            wide = float(Capacity.of_estimate(gpu.capacity).log_sd)  # one end may be the longer one
            if wide > _UNEXPLAINED * explained + _ROUNDED:
                yield f"{name} has a GPU rate that spreads by {wide:g}, of which {explained:g} has a reason"
        if is_alike and answer.scaling_efficiency > 1 + _ROUNDED and answer.workload.task == "training":
            yield f"{name} has a scaling efficiency of {answer.scaling_efficiency:g}"
    typical, most = float(design.quantities.power_typical_w[0]), float(design.quantities.power_max_w[0])
    if not typical <= most:
        yield f"the design draws typically {typical:g} W and at most {most:g} W"
    placed = sum(rack.weight_kg for rack in design.plan.racks)
    if abs(placed - design.weight_kg) > _ROUNDED * placed:
        yield f"the racks weigh {placed:g} kg, the devices with their racks {design.weight_kg:g} kg"
    heat, cooling = float(design.quantities.liquid_heat_w[0]), design.plan.catalog.cooling
    parts = [(cooling[part.item].capacity_w.value, int(part.quantity[0])) for part in coolant_parts(design.quantities)]
    if parts and sum(watts * count for watts, count in parts) - max(watts for watts, _ in parts) < heat:
        yield f"with one coolant unit lost, the others do not take {heat:g} W"


def _tests(result: SizingResult) -> Iterator[str]:
    """A test passes with what is required, and with no more than is expected, its links carry or its storage holds."""
    for test in acceptance_tests(EvaluatedDesign(result, result.design.plan.catalog)):
        limit = test.criterion
        if limit is None:
            continue
        required = limit.value if limit.required is None else min(limit.required, limit.bound)
        short = required - limit.value if limit.is_least else limit.value - required
        if not (short <= _ROUNDED * required and limit.value <= limit.bound):
            yield f"the test {test.key} passes with {limit.value:g} {limit.unit}; {required:g} are required"
        if limit.is_least and limit.value > (1 + _ROUNDED) * max(limit.expected, limit.required or 0.0):
            yield f"the test {test.key} asks for {limit.value:g} {limit.unit}; {limit.expected:g} are expected"


def _comparisons(result: SizingResult) -> Iterator[str]:
    """Designs that are compared hold the same data; nothing is ordered by a number that rests on an assumption."""
    design = result.design
    for other in result.platforms:
        if [tier.content for tier in other.tiers] not in _HOLD_ALL:
            yield f"{other.name} has other tiers of storage than one, or than a fast one before all data"
    pdu = design.platform.pdu
    is_ordered = any(line.item == pdu.id and line.sku for line in design.bill.lines)
    if is_ordered and any(count.basis == "assumed" for count in pdu.outlets.values()):
        yield f"{pdu.name} has a part number, and its outlets are assumed"


def _told(result: SizingResult) -> Iterator[str]:
    """What is met with servers that the bill lacks says so; servers that nobody sells stand beside what is sold."""
    for answer in result.design.workloads:
        waits, spares = wait_for_repairs(answer), spare_servers(result.design, answer)
        if waits is None or waits.probability is None or spares is None or not spares.missing:
            continue
        late = answer.time is not None and waits.total_s > float(answer.time.total_s.value)
        is_met = answer.target_check is CheckResult.MET and late and waits.probability < result.request.confidence
        if is_met and not missing_spares_text(result.design, answer):
            yield f"{answer.workload.name} needs spare servers that the bill lacks, and does not say so"
    warned = {warning.kind for warning in result.design.plan.warnings}
    lines = result.design.bill.part("rack and power").lines
    if warned & _TO_TRANSFER and not any(line.status == BY_OTHERS for line in lines):
        yield "transfer switches are advised, of which the bill has no line"
    newer = None if can_be_bought(result.design, result.design.plan.catalog, result.request.date) else result.newer
    if newer is not None and newer.value is not None and newer.value.design.name not in proposal_text(result):
        yield f"{newer.value.design.name} does the work with what is sold, and the first page does not say so"


def _assumed(result: SizingResult) -> Iterator[str]:
    """Every device of which a fact is assumed stands among the values to confirm."""
    plan, listed = result.design.plan, {part.part for part in values_to_confirm(result) if part.assumed}
    # A workstation stands in no rack.
    counted = {part.item for part in result.design.quantities.components if part.quantity}
    pdus = {group.pdu.id for group in plan.rack_groups if not group.is_delivered} & counted
    for item in map(plan.catalog.item, dict.fromkeys((*(device.item for device in plan.devices), *sorted(pdus)))):
        facts = [one.field for one in statements(item) if one.basis == "assumed" and one.value and one.source != CUSTOM]
        if facts and item.name not in listed:
            yield f"{facts[0]} of {item.name} is assumed, which no document says"


def _dates(result: SizingResult) -> Iterator[str]:
    """The quote ends no earlier than it begins."""
    day, until = result.request.date, result.design.bill.valid_until
    if day is not None and until is not None and until < day:
        yield f"the prices are valid until {until}, before {day}"
