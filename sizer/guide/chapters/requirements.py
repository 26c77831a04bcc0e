"""Chapter 2: the request as understood, where each demand is met, what is taken for granted, and whether a cluster is
needed at all."""

from collections.abc import Iterator
from typing import Any

from sizer.base.quantities import grouped, si
from sizer.catalog.labels import item_name
from sizer.guide.chapters.case import Case
from sizer.guide.tables.request import assumptions_table, checks_table, conditions_table, requirement_table
from sizer.physical.racks.power import heat_btu_per_h
from sizer.present import result_text, words
from sizer.present.redundancy_text import ONE_LOST
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.present.verdict_text import reason_texts
from sizer.questions.failures.tables import targets_text
from sizer.questions.team.tables import least_served, percentile_text, requested_team_table, wait_text
from sizer.questions.verdict.tables import arithmetic_table, claims_table, simplest_table
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.constraints.stored_data import data_held
from sizer.workload.target_text import target_text

# So many assumptions stand here, defaults of the request first; an appendix of the full guide lists all.
_MOST_ASSUMPTIONS = 6


def content(case: Case) -> dict[str, Any]:
    """What ``sections/requirements.html`` prints."""
    result, team = case.result, case.result.request.team
    return {
        "needs_cluster": result.needs_cluster,
        "advice": [words.sentence(text) for text in reason_texts(result)],
        "claims": claims_table(case.claims, result),
        "arithmetic": arithmetic_table(case.claims) if case.is_full else None,
        "simplest": simplest_text(case.simplest, result),
        "simplest_table": simplest_table(case.simplest, result),
        "workloads": [
            requirement_table(answer, number, len(case.answers)) for number, answer in enumerate(case.answers, 1)
        ],
        "team": requested_team_table(team) if team is not None else None,
        "conditions": conditions_table(result, case.catalog) if case.is_full else None,
        "met": met_table(case),
        "checks": checks_table(result) if case.is_full else None,
        "assumptions": assumptions_table(result, _MOST_ASSUMPTIONS),
    }


def met_table(case: Case) -> Table:
    """Every demand beside what the design does about it, and the chapter that shows it."""
    heads = columns(("Asked", "left", 34), ("Design", "left", 38), ("Outcome", "left", 12), ("Shown in", "left", 16))
    return Table("met", "Demand, design and outcome", heads, tuple(_met_rows(case)))


def _met_rows(case: Case) -> Iterator[Row]:
    yield from _targets(case)
    yield from _team(case)
    yield from _capacity(case)
    yield from _losses(case)
    yield from _limits(case)
    yield from _parts(case)
    yield from _room(case)


def _row(asked: str, design: str, is_met: bool | None, chapter: str) -> Row:
    outcome = Cell("open", is_muted=True) if is_met is None else Cell("met" if is_met else "not met")
    return row(asked, design, outcome, Cell("", chapter=chapter))


def _targets(case: Case) -> Iterator[Row]:
    for answer in case.answers:
        asked = words.sentence(target_text(answer.workload, answer.dnn)).rstrip(".")
        if case.has_many_workloads:
            asked = f"{answer.workload.name}: {target_text(answer.workload, answer.dnn)}"
        is_time = answer.workload.target.time_to_train_s is not None and answer.time is not None
        if is_time and answer.time is not None:
            reached = words.estimate(answer.time.total_s, "s")
        else:
            reached = words.estimate(answer.throughput, words.sample_unit(answer.dnn))
        chance = f"probability {words.percent(answer.probability)}"
        yield _row(asked, f"{reached}, {chance}", answer.meets_target, "performance")
    asked = f"Probability of at least {words.percent(case.result.request.confidence)}"
    met = all(answer.meets_target for answer in case.answers)
    yield _row(asked, words.percent(case.design.probability), met, "performance")


def _team(case: Case) -> Iterator[Row]:
    answer = case.team
    if answer is None:
        return
    run, demand = answer.run, answer.run.demand
    if answer.model.case.queue:
        one = least_served(run, answer)
        text = f"{words.percent(one.share_within)} of the jobs that are late most often, {one.name}"
        yield _row(words.capital(wait_text(answer.team)), text, run.meets, "team")
    else:
        asked = "GPUs for all jobs that always run"
        yield _row(asked, words.plural(run.n_gpus, "GPU"), run.all_placed, "team")
    if demand.worst_bytes_per_s > 0:
        yield _row(
            f"Reads of all jobs together carried {percentile_text(answer.team)}",
            f"{si(demand.asked_bytes_per_s, 'B/s')} of {si(answer.read_capacity.bytes_per_s, 'B/s')}",
            answer.read_capacity.load_fraction <= 1,
            "team",
        )


def _losses(case: Case) -> Iterator[Row]:
    """Losses that the design is asked to bear, by what is left after the worst of each kind."""
    for loss in case.asked_losses:
        found = [one for one in case.failures if one.loss == loss]
        asked = f"Targets kept without {ONE_LOST[loss]}"
        if not found:
            yield _row(asked, "no such part in the design", True, "operation")
            continue
        worst = min(found, key=lambda one: (bool(one.keeps_targets), sum(one.probability)))
        text = f"{targets_text(worst)} after the loss"
        yield _row(asked, text, worst.keeps_targets, "operation")


def _capacity(case: Case) -> Iterator[Row]:
    design = case.design
    held = data_held(case.answers, case.result.request.data)
    needed = held.total_bytes
    usable = float(design.quantities.usable_bytes[0])
    if needed > held.sets_bytes:
        asked = f"Room for {si(needed, 'B')} of data and what is kept beside them"
    else:
        asked = f"Room for {si(needed, 'B')} of training data"
    if usable > 0:
        yield _row(asked, f"{si(usable, 'B')} usable", usable >= needed, "storage")
    else:
        yield _row(asked, "usable capacity not published", None, "storage")


def _limits(case: Case) -> Iterator[Row]:
    design, limits, counts = case.design, case.result.request.limits, case.design.quantities
    if limits.budget is not None:
        bill = design.bill
        # A lower bound above the budget breaks it, one below it proves nothing.
        is_met = False if float(bill.total) > limits.budget else True if bill.is_complete else None
        asked = f"Budget of {words.money(words.whole(limits.budget), case.result.request.currency)}"
        yield _row(asked, result_text.price(bill), is_met, "bill")
    numbers = (
        ("At most {n} racks", limits.racks, int(counts.racks[0])),
        ("At most {n} rack units", limits.rack_units, float(counts.rack_units[0])),
        ("At most {n} servers", limits.servers, design.n_servers),
    )
    for asked, most, found in numbers:
        if most is not None:
            yield _row(asked.format(n=grouped(most)), grouped(found), found <= most, "facility")
    watts = (
        ("At most {power} in a rack", limits.rack_power_w, max(rack.max_w for rack in design.plan.racks)),
        ("At most {power} in all", limits.power_w, float(counts.power_max_w[0])),
    )
    for asked, most_w, found_w in watts:
        if most_w is not None:
            known = not counts.unknown_power
            text = ("" if known else "at least" + " ") + si(found_w, "W")
            yield _row(asked.format(power=si(most_w, "W")), text, found_w <= most_w if known else None, "facility")


def _parts(case: Case) -> Iterator[Row]:
    allowed, platform = case.result.request.platforms, case.design.platform
    if allowed.servers:
        names = words.listed((item_name(one, case.catalog) for one in allowed.servers), "or")
        yield _row(f"Servers: {names}", platform.server.name, True, "architecture")
    if allowed.storage:
        names = words.listed((item_name(one, case.catalog) for one in allowed.storage), "or")
        yield _row(f"Storage: {names}", platform.storage.name, True, "storage")
    if allowed.fabrics and not case.is_single:
        names = words.listed((words.link_name(kind) for kind in allowed.fabrics), "or")
        yield _row(f"Fabric: {names}", words.link_name(platform.fabric), True, "network")


def _room(case: Case) -> Iterator[Row]:
    plan = case.design.plan
    if any(rack.feeds for rack in plan.racks):
        carried = all(feed.alone_w <= feed.capacity_w for rack in plan.racks for feed in rack.feeds)
        yield _row(
            "Feeds A and B each carry a whole rack",
            "{n} PDUs, heat to cool {heat}".format(
                n=grouped(sum(len(rack.feeds) for rack in plan.racks)),
                heat=f"{grouped(heat_btu_per_h(sum(rack.max_w for rack in plan.racks)))}{words.NO_BREAK}BTU/h",
            ),
            carried,
            "facility",
        )
