"""Chapter on risks and next steps: sensitivity, risks with actions, redundancy, what happens next."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import grouped, si
from sizer.bom.bill import BillWarningKind
from sizer.guide.chapters.summary import strongest
from sizer.guide.context import GuideContext
from sizer.guide.further_answers import spare_remedy
from sizer.present import words
from sizer.present.tables import Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import values_to_confirm
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.calibration import note_texts, wide_interval_text
from sizer.present.text.checks import missing_text
from sizer.present.text.layouts import basis_sentence
from sizer.present.text.money import is_free
from sizer.present.text.plan import feed_loss_remedies, few_supplies_text
from sizer.present.text.serving import conditions
from sizer.present.text.verdict import other_software_text
from sizer.questions.failures.text import single_failures_table
from sizer.questions.growth.text import late_purchase_text, late_purchases
from sizer.questions.what_if.sensitivity import influence_table
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.platform_columns import write_rate_is_unknown
from sizer.sizing.stages.serving_rates import nearest_run

# A chart of fewer bars says no more than a sentence.
_LEAST_BARS = 3
# Bytes of a sample over those of the network's input beyond which reading whole samples decides the storage.
_MUCH_READ = 10
# Risks of a date of need, with the recommended action.
_OF_NEED = {
    BillWarningKind.TOO_LATE: ("Late delivery", "ask for a faster delivery, or agree on a later date"),
    BillWarningKind.SERVICE_ENDS: (
        "End of service",
        "agree on the service until the end of use, or plan the successor",
    ),
}


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/risks.html`` prints."""
    losses = context.tolerated_losses
    influences = [
        influence_table(sensitivity, words.sample_unit(answer.dnn), number)
        for number, (sensitivity, answer) in enumerate(zip(context.sensitivities, context.answers, strict=True), 1)
        if len(sensitivity.influences) >= _LEAST_BARS and not context.is_single
    ]
    return {
        # A cluster, and models in use, have them in their chapter on performance.
        "bottlenecks": result_text.reason(context.result) if context.is_single and not context.serves else [],
        "strongest": strongest(context),
        "influences": influences,
        "failures": single_failures_table(context.failures, losses) if losses or not context.is_single else None,
        "risks": risk_table(context),
        "steps": next_steps(context),
    }


def next_steps(context: GuideContext, tests: str = "the tests of this document") -> list[str]:
    """What happens next, in order; ``tests`` are those of the acceptance."""
    result, design = context.result, context.design
    steps = []
    if values_to_confirm(result):
        who = "Have the vendors confirm before the order" if not is_free(design) else "Check on your equipment"
        steps.append(f"{who} what the appendix “Values to confirm” lists.")
    if not design.servers_bought:
        steps.append(f"Accept what is there with {tests}.")
    elif context.is_single:
        steps.append(f"Order, install and accept the server with {tests}.")
    else:
        first = _first_acceptance(context)
        if first:
            steps.append(first)
        steps.append(f"Install the cluster and accept it as a whole with {tests}.")
    return steps


def _first_acceptance(context: GuideContext) -> str:
    """What is accepted before the rest; "" where nothing less than the whole cluster runs the workloads."""
    least = max(
        (math.ceil(_replica_gpus(answer) / context.design.platform.gpus_per_server) for answer in context.answers),
        default=1,
    )
    if context.design.n_servers == 1 or least >= context.design.n_servers:
        return ""
    # GPUs that were asked for are as many, whatever their rate is.
    is_counted = all(answer.workload.target.gpus_busy is not None for answer in context.answers)
    what = "rates" if is_counted else "number of servers"
    if least <= 1:
        return f"Accept one server first: its rate confirms or corrects the {what}."
    servers = f"the first {grouped(least)} servers, which hold one copy of the model"
    return f"Accept {servers}: their rate confirms or corrects the {what}."


def _replica_gpus(answer: WorkloadAnswer) -> int:
    """GPUs that hold one copy of the model."""
    if answer.serving is not None:
        return answer.serving.gpus_of_replica
    if not answer.kind.trains_language:
        return 1
    layout = answer.trained.layout
    # Fully sharded state is divided over the replicas, too.
    return answer.trained.gpus_used if layout.is_fully_sharded else answer.trained.gpus_used // max(layout.data, 1)


@dataclass(frozen=True)
class Risk:
    """A deviation from the plan, its reason, and the recommended action."""

    name: str
    reason: str
    action: str


def risk_table(context: GuideContext) -> Table | None:
    """Risks with reason and recommended action; None without any."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for risk in _risks(context):
        reasons.setdefault((risk.name, risk.action), []).append(risk.reason)
    if not reasons:
        return None
    rows = [Risk(name, ". ".join(dict.fromkeys(told)), action) for (name, action), told in reasons.items()]
    fields = (
        Field[Risk]("Risk", lambda risk: risk.name, "left", 18),
        Field[Risk]("Reason", lambda risk: risk.reason, "left", 45),
        Field[Risk]("Recommended action", lambda risk: risk.action, "left", 37),
    )
    return record_table("risks", "Risks", rows, fields)


def _too_few_gpus(context: GuideContext) -> Iterator[Risk]:
    """That a target of GPUs in one job takes every server, so that no server may fail."""
    for case in context.failures:
        if case.key == "server" and case.too_few_gpus is not None:
            remaining, asked = case.too_few_gpus
            yield Risk(
                "Loss of a server",
                f"{grouped(remaining)} of the {grouped(asked)} GPUs of the target remain until the repair",
                "add a spare server, or accept a job on fewer GPUs until then",
            )


def _late_purchases(context: GuideContext) -> Iterator[Risk]:
    """That the growth plan buys parts whose sale or service ends."""
    if context.result.request.growth is None:
        return
    plan, _ = context.growth_plan
    if plan is None:
        return
    purchases = late_purchases(plan, plan.of(context.design.platform.key), context.catalog)
    reasons = [late_purchase_text(late) for late in purchases]
    if reasons:
        yield Risk(
            "Growth with parts at the end of their life",
            "; ".join(reasons),
            "agree on sale and service with the vendor, buy them now, or plan the successor",
        )


def _risks(context: GuideContext) -> Iterator[Risk]:
    design = context.design
    if design.conditional_on:
        yield Risk(
            "Request not met",
            f"{missing_text(design.conditional_on)} not known",
            "get the value from the vendor, or measure it, before ordering",
        )
    if design.platform.other_software is not None:
        yield Risk("Software of the GPUs", other_software_text(design), "run the work on one such server first")
    for answer in context.answers:
        for condition in conditions(context.design, answer) if answer.serving is not None else ():
            yield Risk("Condition of the answer", f"{condition.clause}: {condition.why}", condition.action)
        lacking = ["; ".join(note_texts(answer.unmeasured))] if answer.unmeasured else []
        if answer.kind.trains_language and not answer.trained.basis.all_three:
            lacking.append(basis_sentence(answer.trained))
        if answer.serving is not None and nearest_run(answer.serving) is None:
            gpu = design.platform.gpu.name
            lacking.append(f"{answer.workload.name}: no run of {answer.dnn.name} on the {gpu} is published")
        if lacking and answer.rate_is_predicted:
            yield Risk(
                "Rate not confirmed by a published run",
                ". ".join(words.sentence(text).rstrip(".") for text in lacking) + wide_interval_text(answer),
                "measure the rate on one server, on loan if possible, before the order"
                if design.servers_bought
                else "measure the rate on your server",
            )
        if answer.probability is not None and answer.probability < 0.9:
            yield Risk(
                "Missed target",
                f"{answer.workload.name}: the probability of meeting the target is {words.chance(answer.probability)}",
                f"order {context.surer.name} ({words.chance(context.surer.probability)}), or accept a lower rate"
                if context.surer is not None
                else "order more servers or storage, or accept a lower rate",
            )
        if answer.extrapolations:
            yield Risk(
                "Rate outside the measured range",
                words.sentence("; ".join(note_texts(answer.extrapolations))).rstrip("."),
                "run the one-server acceptance test first; scale the order by its result",
            )
        input_bytes = answer.dnn.input_bytes.value
        if not answer.kind.trains_language and answer.sample_bytes > _MUCH_READ * input_bytes:
            yield Risk(
                "Reads of whole samples",
                f"{si(answer.sample_bytes, 'B')} are read for one input of {si(input_bytes, 'B')}, an assumption",
                "use several inputs of each read, or store cropped copies: reads fall in proportion",
            )
        if answer.bottleneck in ("storage", "decode", "network"):
            yield Risk(
                "GPUs wait for data",
                f"{words.stage(answer.bottleneck)} is the bottleneck",
                "newer software or faster GPUs bring little until this stage grows",
            )
    storage, writes = design.platform.storage, any(one.job and one.job.checkpoints.is_asked for one in context.answers)
    if writes and storage.kind != "local" and write_rate_is_unknown(storage):
        yield Risk(
            "Write rate of the storage",
            f"no write rate of {storage.name} is published; checkpoints rest on an assumed one",
            "have the vendor confirm it, or test one node, before the order",
        )
    if few := few_supplies_text(design.plan):
        yield Risk("Loss of a power feed", words.capital(few), words.listed(feed_loss_remedies(design.plan), "or"))
    n_unknown = len([device for device in design.quantities.unknown_power if device])
    if n_unknown:
        yield Risk(
            "Power above plan",
            f"the maximum power of {words.plural(n_unknown, 'device type')} is not published",
            "ask the vendor before the feeds are ordered, or leave one such device out of each full rack",
        )
    if not spare_remedy(context):
        yield from _too_few_gpus(context)
    for kind, (name, action) in _OF_NEED.items():
        for reason in bill_warning_sentences(warning for warning in design.bill.warnings if warning.kind is kind):
            yield Risk(name, reason.rstrip("."), action)
    yield from _late_purchases(context)
