"""Executive summary: requirement, proposal and confidence, as a chapter and as the one-page summary."""

from collections.abc import Iterator
from dataclasses import replace
from math import floor
from typing import Any

from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.guide.chapters.performance import outside_text
from sizer.guide.context import GuideContext
from sizer.guide.further_answers import cautions, decisions, further_answers, further_needs
from sizer.physical.roles import Role
from sizer.present import words
from sizer.present.facts.storage_tiers import system_name, tier_label, tier_text
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import delivery_text, excluded_text, not_ordered
from sizer.present.text.calibration import evidence_warning, throughput_text, time_text
from sizer.present.text.checks import conditional_sentence, missing_text
from sizer.present.text.decisions import confidence_texts
from sizer.present.text.design_size import asked_target_text
from sizer.present.text.money import price_basis_text, price_range_text
from sizer.present.text.plan import existing_text, few_supplies_text
from sizer.present.text.serving import serving_need_text
from sizer.present.text.verdict import measure_texts
from sizer.questions.team.text import least_served, wait_text
from sizer.questions.what_if.sensitivity import Influence
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.decision_options import USUAL_CONFIDENCE, can_be_bought, names_no_parts
from sizer.sizing.design.evaluate_design import smaller_sizes
from sizer.sizing.result import STAGES, DecisionOption, DesignAnswer, WorkloadAnswer

# Three rows for each further workload, or for a team as well, would not fit on one page.
_MOST_DETAILED = 2
# Decisions that the one page has room for.
_MOST_DECISIONS = 3
# Share of the result that an input must move to be named.
_NOTABLE = 0.05
# Width of the labels of the options, in percent.
_LABELS = 19


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/summary.html`` prints: the page that decides."""
    return {
        "needs": needs(context),
        "options": options_table(context),
        "existing": existing_text(context.design.existing, context.design.plan),
        "confidence": [
            *_confidence(context),
            *measure_texts(context.result, names_key=False),
            *further_answers(context),
            *cautions(context),
        ],
        "excluded": excluded_text(context.design.bill),
        "decisions": decisions(context),
    }


def one_page(context: GuideContext) -> dict[str, Any]:
    """What ``summary.html`` prints."""
    return {
        "answers": [*further_needs(context), *further_answers(context)],
        "numbers": numbers_table(context, is_brief=_is_brief(context)),
        "reasons": result_text.reason(context.result),
        # The first lines of the page answer what else is asked, and the table says which prices are open.
        "confidence": [*_confidence(context), *cautions(context)],
        "excluded": excluded_text(context.design.bill),
        "decisions": decisions(context)[:_MOST_DECISIONS],
    }


def options(context: GuideContext) -> list[tuple[str, DecisionOption]]:
    """What the customer may buy: as asked; as we would build it; the best of what can be ordered. Options of the same
    parts are one.
    """
    request, design, built = context.result.request, context.design, context.built
    is_sold = can_be_bought(design, context.catalog, request.date)
    names, asked = ["As asked"], DecisionOption(request, design)
    if built is not None and built.design is design:
        names.append("as we would build it")
        asked, built = built, None
    if is_sold and names_no_parts(request):
        names.append("on products sold today")
    found = (
        (words.listed(names), asked),
        ("As we would build it", built),
        ("As sure as asked", context.sure),
        ("With other parts" if is_sold else "On products sold today", context.on_sale),
    )
    return [(title, option) for title, option in found if option is not None]


def options_table(context: GuideContext) -> Table:
    """Options side by side."""
    compared = options(context)
    is_brief = len(compared) > 1 or _is_brief(context)
    pairs = [list(_option_rows(context, option, is_brief)) for _, option in compared]
    listed = [dict(pair) for pair in pairs]
    assert [len(one) for one in listed] == [len(pair) for pair in pairs]  # every label stands for one figure
    found = {label: [figures.get(label, "none") for figures in listed] for label in listed[0]}
    rows = [row(label, *texts) for label, texts in found.items() if set(texts) != {"none"}]
    share = (100 - _LABELS) // len(compared)
    # What the options are, as far as their names leave it open.
    notes = ["Power is the maximum."]
    if context.built is not None:
        is_sure = (context.built.design.probability or 0.0) >= USUAL_CONFIDENCE
        sure = "at least 90\u202f% confidence, " if is_sure else ""
        spare = ", one server in reserve"
        reserve = spare if context.built.has_spare_server else ""
        heads = ", redundant head, log-in and monitoring nodes" if _heads(context.built.design) else ""
        few = " (for what one of them leaves without power, see the decisions)"
        feeds = f"two feeds{few if few_supplies_text(context.built.design.plan) else ''}"
        notes.append(f"“As we would build it”: {sure}{feeds}{reserve}{heads}.")
    if context.sure is not None:
        notes.append("“As sure as asked”: the least of the compared designs that needs no condition.")
    if context.on_sale is not None:
        both = (context.on_sale, context.built or compared[0][1])
        has_reserves, others_have = ((one.has_spare_server, _heads(one.design) > 0) for one in both)
        likewise = "built likewise, " if has_reserves == others_have else ""
        notes.append(f"“{compared[-1][0]}”: {likewise}of parts on sale that the request excludes.")
    return fact_table(
        "options",
        "Options",
        rows,
        titles=("Figure", *(title for title, _ in compared)),
        widths=(_LABELS, *[share] * len(compared)),
        note=" ".join(notes),
        style="options",
    )


def _option_rows(context: GuideContext, option: DecisionOption, is_brief: bool) -> Iterator[tuple[str, str]]:
    """Figures of an option: what is bought, what it does, and what that takes."""
    design = option.design
    yield "GPU servers", f"{grouped(design.n_servers)} × {design.platform.server.name}"
    yield "GPUs", f"{grouped(design.n_gpus)} × {design.platform.gpu.name}"
    for answer in design.workloads:
        name = answer.workload.name if context.has_many_workloads else ""
        for performance_row in _performance_rows(answer, name, is_brief):
            label, value, of_what = (cell.text for cell in performance_row.cells)
            yield (f"{label}, {of_what}" if name else label), value
    yield "Confidence", words.chance(design.probability)
    yield "With one server out", (words.listed(_reduced(context, option)) if design.n_servers > 1 else "") or "none"
    yield "Price", price_range_text(design)
    yield "Racks and power", f"{result_text.racks(design)}, {result_text.power(design)}"
    yield "Main risk", _risk(design, option)
    yield "Delivery", delivery_text(design, option.request.date)
    kept = words.chance(None) if design.probability is None else "tolerated"
    yield "Loss of a server", kept if option.has_spare_server else "no server in reserve"
    # One storage system holds what the described design has on two tiers.
    for tier, described in zip(design.tiers, context.design.tiers, strict=False):
        yield tier_label(described, "Storage"), f"{_storage(design, tier)}, {system_name(tier)}"
    switches = result_text.switches(design)
    heads = _heads(design)
    yield "Switches", grouped(switches) if switches else "none"
    yield "Management", words.plural(heads, "server") if heads else "none"


def _reduced(context: GuideContext, option: DecisionOption) -> Iterator[str]:
    """What each workload does with one server fewer, and how likely it meets its target."""
    result = replace(context.result, request=option.request, design=option.design)
    for model in replace(context.evaluated, result=result).workloads:
        if model.is_open:
            yield words.NOT_KNOWN
            continue
        run = model.run_on([model.n_servers - 1])
        for smaller_size in smaller_sizes(run, model.platform, model.n_servers, context.catalog, is_open=False):
            does = f"{significant(smaller_size.samples_per_s)} {words.sample_unit(model.work.dnn)}"
            does = duration(smaller_size.time_s) if model.is_timed and smaller_size.time_s is not None else does
            yield f"{does}, {words.chance(smaller_size.probability)}"


def _heads(design: DesignAnswer) -> int:
    """Management servers."""
    return sum(device.role is Role.HEAD_NODE for device in design.plan.devices)


def _risk(design: DesignAnswer, option: DecisionOption) -> str:
    """What is most likely to go wrong with an option."""
    chance = design.probability
    if chance is None:
        return f"{missing_text(design.conditional_on) or 'a rate'} not published"
    if chance < USUAL_CONFIDENCE:
        return f"misses the target with {words.percent(1 - floor(100 * chance) / 100)} probability"
    if ended := not_ordered(design, option.request.date):
        return f"stock of {words.listed(ended)}"
    if few_supplies_text(design.plan):
        return "servers may stop with a power feed"
    if design.n_hosts > 1 and not option.has_spare_server:
        return "no spare server: the job waits for a repair"
    return words.plural(design.bill.n_unpriced, "quote") + " to come" if design.bill.n_unpriced else "none known"


def _confidence(context: GuideContext) -> list[str]:
    """Confidence, and what the evidence lacks; a value that is missing stands before everything else."""
    told = confidence_texts(context.result) or [*filter(None, [conditional_sentence(context.design)])]
    told_of = (text(answer) for answer in context.answers for text in (evidence_warning, outside_text))
    warnings = [*dict.fromkeys(filter(None, told_of))]
    if warnings:
        has_own = not context.design.servers_bought
        before = "Before ordering, have the rate measured on such a server of the vendor or a cloud."
        warnings.append("Measure the rate on your server." if has_own else before)
    return [*told, *warnings]


def _is_brief(context: GuideContext) -> bool:
    return len(context.answers) + (context.team is not None) > _MOST_DETAILED


def strongest(context: GuideContext) -> str:
    """The most influential input, in one sentence; "" where there is none."""
    if not all(answer.rate_is_predicted for answer in context.answers):
        return ""
    for sensitivity, answer in zip(context.sensitivities, context.answers, strict=False):
        unit = words.sample_unit(answer.dnn)
        # How much is trained on is what the customer states, not an uncertain input.
        # Nor is the rate of the bottleneck, which is the result.
        open_inputs = [
            influence
            for influence in sensitivity.influences
            if influence.key != "dataset-size"
            and abs(influence.high - influence.low) > _NOTABLE * max(influence.low, influence.high)
            and not {*_ends(influence, sensitivity.metric, unit)} & {influence.low_text, influence.high_text}
        ]
        if open_inputs:
            first = open_inputs[0]
            low, high = _ends(first, sensitivity.metric, unit)
            ends = f"{low} with {first.low_text}, {high} with {first.high_text}"
            what = "time to train" if sensitivity.metric == "s" else "throughput"
            return f"The {what} depends most on the {words.inside_sentence(first.label)}: {ends}."
    return ""


def _ends(one: Influence, metric: str, unit: str) -> tuple[str, str]:
    low, high = (duration(value, one.low) if metric == "s" else si(value, unit) for value in (one.low, one.high))
    return low, high


def needs(context: GuideContext) -> list[str]:
    """What the customer wants to do: an entry for each workload, one for the team, and what else is asked."""
    sentences = []
    for answer in context.answers:
        workload = answer.workload
        task = "Training" if workload.task == "training" else "Batch inference"
        name = f"{workload.name}: " if context.has_many_workloads else ""
        precision, data = words.name(workload.precision), result_text.dataset_phrase(answer)
        what = f"{task} of {answer.dnn.name} in {precision}"
        if answer.kind.trains_language:
            what = result_text.network_text(answer)
        if not answer.kind.reads_data:
            sentences.append(f"{name}{serving_need_text(answer, answer.served, in_short=context.has_many_workloads)}")
            continue
        sentences.append(f"{name}{what} on {data}. Target: {asked_target_text(context.result, answer)}.")
    team = context.result.request.team
    if team is not None:
        kinds = words.plural(len(team.job), "job type")
        who = words.plural(team.data_scientists, "data scientist") if team.data_scientists else "A team"
        verb = "shares" if who == "A team" or team.data_scientists == 1 else "share"
        sentences.append(f"{who} with {kinds} {verb} the cluster. Target: {wait_text(team)}.")
    return [*sentences, *further_needs(context)]


def numbers_table(context: GuideContext, *, is_brief: bool = False) -> Table:
    """Key figures of the design; ``is_brief``: one row for each workload."""
    design = context.design
    quantities, platform = design.quantities, design.platform
    n_switches = result_text.switches(design)
    rows = [
        row(
            words.capital(words.plural_of(design.n_servers, "GPU server")),
            grouped(design.n_servers),
            platform.server.name,
        ),
        row(words.plural_of(design.n_gpus, "GPU"), grouped(design.n_gpus), platform.gpu.name),
        *(row(tier_label(tier, "Storage"), _storage(design, tier), system_name(tier)) for tier in design.tiers),
        row(
            "Switches and gateways" if platform.gateway is not None else "Switches",
            grouped(n_switches) if n_switches else "none",
            "all networks" if n_switches else "",
        ),
        row("Rack space", result_text.racks(design), ""),
        row("Power, maximum", result_text.power(design), f"{result_text.power(design, 'typical')} typical"),
    ]
    for answer in context.answers:
        rows += _performance_rows(answer, answer.workload.name if context.has_many_workloads else "", is_brief)
    team = context.team
    if team is not None and team.model.case.queue:
        kind = least_served(team.run, team)
        rows.append(
            row(
                "Jobs that start within the wait limit",
                words.percent(kind.share_within),
                f"{words.shortened(kind.name)}, lowest share of all job types; "
                f"target {words.percent(team.team.wait_probability)}",
            )
        )
    basis = price_basis_text(design) if design.bill.is_complete else "estimate"
    rows.append(row("Price", price_range_text(design), basis))
    missing = len(set(quantities.unknown_power))  # what this table leaves out of its watts
    note = ""
    if missing == 1:
        note = "“At least”: one device type has no published value and is not included."
    elif missing:
        note = f"“At least”: {words.spelled(missing)} device types have no published value and are not included."
    return fact_table("numbers", "Key figures of the design", rows, titles=("", "", ""), widths=(24, 38, 38), note=note)


def _storage(design: DesignAnswer, tier: StorageTier) -> str:
    if tier.storage is None:
        return "existing"
    if tier.nodes:
        return tier_text(tier)
    if design.platform.attachment == "lan":
        return "existing"
    # Every server has drives of its own.
    usable, is_local = tier.usable_bytes, tier.storage.kind == "local"
    if not usable > 0:
        return grouped(design.n_servers) if is_local else "1"
    return f"{si(usable, 'B')} usable{' in each server' if is_local and design.n_servers > 1 else ''}"


def _performance_rows(answer: WorkloadAnswer, name: str, is_brief: bool) -> list[Row]:
    """Throughput, time to train and bottleneck of one workload; only the most important of them in brief."""
    rows = [row("Throughput", throughput_text(answer), name or answer.dnn.name)]
    # Nobody waits for the tokens of a text that is embedded.
    if not answer.kind.reads_data and not is_brief and not answer.served.work.is_embedding:
        found = answer.served
        at = f"{f'{name}, ' if name else ''}at {'the asked load' if found.load == 'asked' else 'most'}"
        for latency in found.latencies:
            label = words.capital(f"{latency.name}, {found.work.percentile}th percentile")
            rows.append(row(label, words.estimate(latency.at_percentile, "s"), at))
    if answer.time is not None:
        rows.append(row("Time to train", time_text(answer), name or result_text.epochs_text(answer)))
        if answer.time.whole_run is not None and not is_brief:
            value, low, high = (plain(float(part), 2) for part in answer.time.whole_run)
            rows.append(row("Whole run", f"{value} times the steps", f"published trainings {low} to {high} times"))
    if is_brief:
        return rows[-1:]
    return [*rows, row("Bottleneck", Cell(STAGES[answer.bottleneck], stage=answer.bottleneck), name)]
