"""Table of compliance: every requirement with what the design provides, and the chapter that shows it."""

from collections.abc import Iterator

from sizer.base.quantities import NARROW_SPACE, plain, si, significant, stated
from sizer.catalog.labels import item_name
from sizer.drawings.racks import at_least
from sizer.guide.chapters.team import turns_text
from sizer.guide.context import GuideContext
from sizer.physical.racks.feed_loads import feed_loads
from sizer.present import words
from sizer.present.facts.storage_tiers import OBJECT_STORAGE, TIER_CONTENTS
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text.calibration import throughput_text, time_text
from sizer.present.text.checks import ONE_LOST, amount_text, known_text, missing_text, open_text
from sizer.present.text.design_size import asked_target_text
from sizer.present.text.limits import Requirement, checked, limit_requirements
from sizer.present.text.plan import FEEDS_OF_RACKS, feed_counts, feed_names, few_supplies_text, unknown_feeds_text
from sizer.present.text.serving import token_cost
from sizer.questions.failures.text import targets_text
from sizer.questions.growth.text import demand_text, recommendation
from sizer.questions.ownership.text import run_cost_text
from sizer.questions.team.text import least_served, percentile_text, wait_text
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import TierContent
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.platform_columns import node_rates, node_write_rates, rate_is_unknown, write_rate_is_unknown

# Who asks for even odds has what is asked with them.
_EVEN = 0.5


def compliance_table(context: GuideContext) -> Table:
    """Every requirement with its result."""
    fields = (
        Field[Requirement]("Requirement", lambda r: r.text, "left", 32),
        Field[Requirement]("Design", lambda r: r.design, "left", 43),
        Field[Requirement]("Result", _result, "left", 12),
        Field[Requirement]("Details", lambda r: Cell("", chapter=r.chapter), "left", 13),
    )
    return record_table("met", "Requirements and how the design meets them", requirements(context), fields)


def _result(requirement: Requirement) -> str | Cell:
    if requirement.is_met is None:
        return Cell("open", is_open=True)
    if requirement.is_met and requirement.is_even:
        return Cell("as likely as not", is_open=True)
    return "met" if requirement.is_met else "not met"


def requirements(context: GuideContext) -> Iterator[Requirement]:
    """All requirements of the request, in the order of the table."""
    yield from _targets(context)
    yield from _team(context)
    yield from _capacity(context)
    yield from _storage_rates(context)
    # Losses to tolerate, each by the worst failure of its kind.
    for loss in context.tolerated_losses:
        failures = [failure for failure in context.failures if failure.loss == loss]
        text = f"Targets met after the loss of {ONE_LOST[loss]}"
        if not failures and loss == "switch":
            lan = "no switch in the design; the switches of the LAN that servers join are provided by others"
            yield Requirement(text, lan, None, "risks")
            continue
        if not failures:
            yield Requirement(text, "no such component in the design", True, "risks")
            continue
        worst = min(failures, key=lambda failure: (bool(failure.keeps_targets), sum(failure.probability)))
        yield Requirement(text, f"{targets_text(worst)} after the loss", worst.keeps_targets, "risks")
    yield from _growth(context)
    yield from _token_cost(context)
    yield from limit_requirements(context.result)
    yield from _components(context)
    yield from _feeds(context)


def _targets(context: GuideContext) -> Iterator[Requirement]:
    design, confidence = context.design, words.percent(context.result.request.confidence)
    # With one workload its row says it all.
    is_joint = context.has_many_workloads or bool(design.conditional_on)
    for answer in context.answers:
        text = asked_target_text(context.result, answer)
        if not is_joint and context.result.maximum is None:
            text = f"{text}, with {confidence} confidence"
        target = f"{answer.workload.name}: {text}" if context.has_many_workloads else words.sentence(text).rstrip(".")
        if answer.workload.target.time_to_train_s is not None and answer.time is not None:
            reached = time_text(answer)
        else:
            reached = throughput_text(answer)
        chance = f"probability {words.chance(answer.probability)}"
        if context.result.maximum is not None:
            target_rate = answer.workload.target.samples_per_s or 0.0
            rate = f"{significant(target_rate)}{words.NO_BREAK}{words.sample_unit(answer.dnn)}"
            chance = f"{rate} with {words.chance(answer.probability)} confidence"
        if answer in context.taking_turns:
            chance += "; alone on its GPUs, in turns with the team"
        is_even = words.is_even(answer.probability) and context.result.request.confidence > _EVEN
        # On condition of its first tokens, which a measurement settles.
        is_late = any(answer is late for late in design.late)
        is_met = None if is_late else answer.target_check.is_met
        yield Requirement(target, f"{reached}, {chance}", is_met, "performance", is_even)
        if answer.serving is not None:
            yield from _latencies(answer, f"{answer.workload.name}: " if context.has_many_workloads else "", is_late)
    if not is_joint:
        return
    is_met, probability = design.target_check.is_met, words.chance(design.probability)
    if design.conditional_on:
        probability = f"{probability}: {missing_text(design.conditional_on)} not published"
        is_met = False if design.target_check is CheckResult.NOT_MET else None
    is_even = words.is_even(design.probability) and context.result.request.confidence > _EVEN
    yield Requirement(f"Probability of at least {confidence}", probability, is_met, "performance", is_even)


def _latencies(answer: WorkloadAnswer, name: str, is_late: bool) -> Iterator[Requirement]:
    """Limits of latency, each with its probability; kept less surely than asked they are not met, or a condition."""
    work, found = answer.served.work, answer.served
    for _, what, _, time_s, limit, chance in found.latencies:
        if limit is not None and chance is not None:
            text = f"{name}{what} within {stated(limit, 's')} for {work.percentile}{NARROW_SPACE}% of the requests"
            design = f"{words.estimate(time_s, 's')}, probability {words.chance(chance)}"
            is_met = chance >= work.confidence or (None if is_late else False)
            yield Requirement(words.capital(text), design, is_met, "performance")


def _team(context: GuideContext) -> Iterator[Requirement]:
    answer = context.team
    if answer is None:
        return
    run, demand, turns = answer.run, answer.run.demand, context.taking_turns
    if answer.model.case.queue:
        kind = least_served(run, answer)
        share = words.percent(kind.share_within)
        text = "all jobs" if kind.share_within >= 1 else f"{share} or more of each job type; lowest: {kind.name}"
        text += f"; while {words.listed([turn.workload.name for turn in turns])} does not run" if turns else ""
        yield Requirement(words.capital(wait_text(answer.team)), text, run.meets, "team")
    else:
        text = words.plural(run.n_gpus, "GPU")
        yield Requirement("GPUs for all jobs that always run", text, run.all_placed, "team")
    if turns:
        yield Requirement("Training and team at the same time", turns_text(context)[0], None, "summary")
    if demand.worst_bytes_per_s <= 0 and any(job.is_uncounted for job in answer.model.jobs):
        yield Requirement("Reads of the team's jobs", "not stated: no job names what it runs", None, "team")
    if demand.worst_bytes_per_s > 0:
        more = [job.job.name for job in answer.model.jobs if job.is_uncounted]
        reads = f"{si(demand.asked_bytes_per_s, 'B/s')} of {si(answer.read_capacity.bytes_per_s, 'B/s')}"
        yield Requirement(
            f"Concurrent reads of all jobs served {percentile_text(answer.team)}",
            f"{reads}; those of {words.listed(more)} are not stated" if more else reads,
            None if more and answer.read_capacity.load_fraction <= 1 else answer.read_capacity.load_fraction <= 1,
            "team",
        )


def _growth(context: GuideContext) -> Iterator[Requirement]:
    """Growth of the demand, by the purchases that the plan makes for it."""
    if context.result.request.growth is None:
        return
    plan, reason = context.growth_plan
    if plan is None:
        yield Requirement("Targets met as the demand grows", reason, False, "purchases")
        return
    growth = plan.of(context.design.platform.key)
    text = f"Targets met until year {plan.growth.years}" + (f": {changes}" if (changes := demand_text(plan)) else "")
    bought = recommendation(growth).rstrip(".")
    is_met = plan.unmet is None
    yield Requirement(text, bought if is_met else f"until year {plan.n_years} only: {bought}", is_met, "purchases")


def _token_cost(context: GuideContext) -> Iterator[Requirement]:
    """What a million tokens may cost to own: of models in use together, or of each training."""
    asked, owned, currency = context.result.request.ownership, context.ownership, context.result.request.currency
    if asked is None or asked.cost_per_million_tokens is None or owned is None:
        return
    text = f"At most {currency} {plain(float(asked.cost_per_million_tokens))} for a million tokens"
    amount, is_met = token_cost(context.design, asked)
    if amount:
        yield Requirement(text, amount, is_met, "bill")
    for run in owned.runs:
        if run.is_million_tokens:
            what = f"{currency} {run_cost_text(run, owned)}"
            yield Requirement(text, f"{run.workload}: {what}", owned.meets_cost_per_token(run), "bill")


def _capacity(context: GuideContext) -> Iterator[Requirement]:
    """What each tier of the storage must hold."""
    stored = storage_demand(context.answers, context.result.request.data)
    for tier in context.design.tiers:
        kind = CheckKind.WORKING_SET if tier.content is TierContent.WORKING_SET else CheckKind.CAPACITY
        needed = si(tier.required_bytes, "B")
        what = TIER_CONTENTS.get(tier.content, "")
        if not what:
            is_more = tier.required_bytes > stored.sets_bytes
            sets = "model weights" if context.only_serves else "data sets"
            what = f"{sets}, checkpoints and other stored data" if is_more else sets
        if tier.storage is None:
            yield Requirement(f"Capacity for {needed} of {what}", OBJECT_STORAGE, None, "storage")
        elif tier.content is TierContent.EVERYTHING and stored.is_minimum:
            yield checked(context.result, kind, f"Usable capacity of at least {needed}", "storage")
        else:
            yield checked(context.result, kind, f"Capacity for {needed} of {what}", "storage", " usable")


def _storage_rates(context: GuideContext) -> Iterator[Requirement]:
    """Stated rates of the whole storage, held against its low ends."""
    design, data = context.design, context.result.request.data
    platform = design.platform
    count = design.delivering_nodes
    read, _, line = node_rates(platform)
    for verb, least, rate, is_unknown in (
        ("reads", data.minimum_read_bytes_per_s, read, rate_is_unknown(platform.storage)),
        (
            "writes",
            data.minimum_write_bytes_per_s,
            node_write_rates(platform)[0],
            write_rate_is_unknown(platform.storage),
        ),
    ):
        if least is not None:
            reached = count * min(rate, line)
            text = "not published" if is_unknown else f"{si(reached, 'B/s')}, lower end"
            is_met = None if is_unknown else reached >= least
            yield Requirement(f"Storage {verb} at least {stated(least, 'B/s')}", text, is_met, "storage")


def _components(context: GuideContext) -> Iterator[Requirement]:
    allowed, platform = context.result.request.platforms, context.design.platform
    if allowed.servers:
        names = words.listed((item_name(id_, context.catalog) for id_ in allowed.servers), "or")
        yield Requirement(f"Servers: {names}", platform.server.name, True, "decisions")
    if allowed.storage:
        names = words.listed((item_name(id_, context.catalog) for id_ in allowed.storage), "or")
        yield Requirement(f"Storage: {names}", platform.storage.name, True, "decisions")
    if allowed.storage_tier is not None:
        tier = platform.storage.tier
        yield Requirement(
            f"Storage tier: {allowed.storage_tier}", platform.storage.name, tier == allowed.storage_tier, "storage"
        )
    least, memory = allowed.host_memory_bytes, platform.server.memory_bytes
    if least is not None and memory is not None:
        text = f"At least {stated(least, 'B')} of host memory per server"
        yield Requirement(text, si(memory.value, "B"), memory.value >= least, "architecture")
    if allowed.fabrics and context.design.n_servers > 1:
        names = words.listed((item_name(id_, context.catalog) for id_ in allowed.fabrics), "or")
        yield Requirement(f"Fabric: {names}", platform.fabric.name, True, "architecture")


def _feeds(context: GuideContext) -> Iterator[Requirement]:
    """Feeds and load of the racks that are bought."""
    if context.design.is_workstation:
        return
    racks = context.design.plan.racks
    loads = feed_loads(racks, context.catalog)
    for check in context.design.checks:
        open_ = open_text(check)
        missing = f"; {open_}" if open_ else ""
        if check.kind is CheckKind.FEED_POWER:
            few = few_supplies_text(context.design.plan)
            least = bool(check.missing)
            carried = (
                f"{count}, {at_least(least, si(load.alone_w, 'W'))} of {si(load.capacity_w, 'W')} on one {name}"
                for count, name, load in zip(feed_counts(loads), feed_names(loads), loads, strict=True)
            )
            text = f"{'; '.join(carried)} after the loss of a feed{missing}"
            few = "; ".join(filter(None, (few, unknown_feeds_text(context.design.plan))))
            text += f"; {few}" if few else ""
            # Whether such a device stops or only runs slower is not published.
            is_met = None if few and check.result.is_met else check.result.is_met
            yield Requirement(FEEDS_OF_RACKS[context.design.platform.site.feeds], text, is_met, "facility")
        elif check.kind is CheckKind.RACK_WEIGHT:
            most, known = (amount_text(check, kg, "") for kg in (check.asked, check.known or 0.0))
            text = at_least(bool(check.missing), known)
            asked = f"At most {most} of devices in one rack"
            yield Requirement(asked, f"{text} without the rack itself{missing}", check.result.is_met, "facility")
        elif check.kind is CheckKind.FLOOR_LOAD:
            most, known = amount_text(check, check.asked, ""), known_text(check, "")
            yield Requirement(f"Floor load of at most {most}", f"{known}{missing}", check.result.is_met, "facility")
