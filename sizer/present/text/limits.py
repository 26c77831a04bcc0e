"""Limits of a request with what a design takes of each: rows of the table of compliance, and a line of the answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from sizer.base.quantities import grouped, stated
from sizer.present import words
from sizer.present.text.checks import known_text, open_text
from sizer.present.text.money import budget_text, price_range_text, range_text
from sizer.sizing.checks import CheckKind
from sizer.sizing.result import SizingResult


@dataclass(frozen=True)
class Requirement:
    """One requirement and what the design provides; ``is_met`` is None where that is not known."""

    text: str
    design: str
    is_met: bool | None
    chapter: str  # id of the chapter that shows it
    is_even: bool = False  # met and missed with about the same probability


def limits_text(result: SizingResult) -> str:
    """The limits that are kept, in one line: 'budget of USD 250 000 (USD 74 000 to 150 000)'; "" without one."""
    budget = result.design.budget_check
    is_told = budget is not None and budget.probability != 1  # by the verdict
    kept = [one for one in limit_requirements(result) if one.is_met and not (is_told and one.chapter == "bill")]
    return "; ".join(f"{words.inside_sentence(one.text)} ({one.design})" for one in kept)


def limit_requirements(result: SizingResult) -> Iterator[Requirement]:
    """Budget, room and power that a request allows."""
    yield from _budget(result)
    yield from _counts(result)
    yield from _power(result)


def budget_likely_text(result: SizingResult) -> str:
    """How likely the budget is kept where prices are missing, by the first purchase and by those to come."""
    check, later = result.design.budget_check, _planned(result)
    likely = "" if check is None else budget_text(check)
    if check is None or later is None or later[1] <= check.asked:
        return likely
    return f"{likely or 'kept'}, as far as the first purchase goes; later ones may exceed it"


def _planned(result: SizingResult) -> tuple[float, float] | None:
    """Price range of all purchases of the growth plan; None where there is one, or one is not known."""
    costs = [year.cost for year in result.planned_years if year.cost is not None and isfinite(year.cost.high)]
    if len(costs) < max(len(result.planned_years), 2) or not any(cost.high for cost in costs[1:]):
        return None
    return sum(cost.low for cost in costs), sum(cost.high for cost in costs)


def _budget(result: SizingResult) -> Iterator[Requirement]:
    budget, currency = result.request.limits.budget, result.request.currency
    if budget is None:
        return
    text = f"Budget of {words.money(words.whole(budget), currency)}"
    check = next(check for check in result.design.checks if check.kind is CheckKind.BUDGET)
    likely, price, planned = budget_likely_text(result), price_range_text(result.design), _planned(result)
    if planned is not None:
        price += f" for year 1, {range_text(currency, *planned)} with all purchases of the growth plan"
    yield Requirement(text, f"{price}; {likely}" if likely else price, check.result.is_met, "bill")


def _counts(result: SizingResult) -> Iterator[Requirement]:
    limits, quantities = result.request.limits, result.design.quantities
    racks, existing = int(quantities.racks[0]), int(quantities.existing_racks[0])
    # The limit is on racks that are bought; the guide counts all that hold the design.
    racks_text = f"{grouped(racks)} new, {grouped(existing)} existing" if existing else grouped(racks)
    units, servers = float(quantities.rack_units[0]), result.design.n_servers
    counts = (
        ("rack", limits.racks, racks, racks_text),
        ("rack unit", limits.rack_units, units, grouped(units)),
        ("server", limits.servers, servers, grouped(servers)),
        ("GPU", limits.gpus, result.design.n_gpus, grouped(result.design.n_gpus)),
    )
    for noun, most, count, text in counts:
        if most is not None:
            yield Requirement(f"At most {words.plural(most, noun)}", text, count <= most, "facility")


def _power(result: SizingResult) -> Iterator[Requirement]:
    limits = result.request.limits
    for scope, most_w, kind in (
        ("per rack", limits.rack_power_w, CheckKind.RACK_POWER),
        ("in total", limits.power_w, CheckKind.POWER),
    ):
        if most_w is not None:
            yield checked(result, kind, f"At most {stated(most_w, 'W')} {scope}", "facility")


def checked(result: SizingResult, kind: CheckKind, text: str, chapter: str, after: str = "") -> Requirement:
    """Requirement that the design's own checks decide, with what is missing where it is open."""
    check = next(check for check in result.design.checks if check.kind is kind)
    known = known_text(check, result.request.currency)
    known = f"{known}{after}" if check.known is not None else known
    open_ = open_text(check)
    return Requirement(text, f"{known}; {open_}" if open_ else known, check.result.is_met, chapter)
