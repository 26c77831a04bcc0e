"""Chapter on risks: sensitivity, risks, alternatives, points to confirm, conclusions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import by_count, grouped, si
from sizer.bom.bill import BillWarningKind
from sizer.guide.chapters.summary import strongest
from sizer.guide.context import GuideContext
from sizer.present import charts, words
from sizer.present.figures import PageFigure, charted
from sizer.present.performance_tables import platforms_table, ruled_out_table
from sizer.present.tables import Cell, Field, Table, fact_table, record_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import question_texts
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.calibration import note_texts
from sizer.present.text.checks import conditional_sentence, missing_text
from sizer.present.text.money import quotes_text
from sizer.present.text.plan import note_sentences
from sizer.present.text.verdict import reason_texts, selection_text
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.sensitivity import Sensitivity
from sizer.questions.what_if.sensitivity_table import influence_table
from sizer.sizing.checks import CheckResult
from sizer.sizing.result import DesignAnswer, SizingResult

# Relative differences below this count as equal.
_SAME = 0.02


_ABOUT_SALE = (BillWarningKind.SALE_ENDED, BillWarningKind.SALE_ENDS, BillWarningKind.AVAILABILITY_UNKNOWN)


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/risks.html`` prints."""
    result, is_full = context.result, context.is_full
    sensitivities = [
        (number, sensitivity, words.sample_unit(answer.dnn))
        for number, (sensitivity, answer) in enumerate(zip(context.sensitivities, context.answers, strict=True), 1)
        if sensitivity.influences
    ]
    return {
        "needs_cluster": result.needs_cluster,
        "reasons": [words.sentence(text) for text in reason_texts(result)],
        "bottlenecks": result_text.reason(context.design),
        "tornados": [_tornado(context, *sensitivity) for sensitivity in sensitivities],
        "influences": [influence_table(sensitivity, unit, number) for number, sensitivity, unit in sensitivities]
        if is_full
        else [],
        "risks": risk_table(context),
        "search": result_text.judged(result),
        "selection": words.sentence(selection_text(result)),
        "runner_up": result_text.neighbours(result),
        "platforms": platforms_table(result),
        "comparison": comparison_table(result) if is_full else None,
        "pareto": charted(
            "pareto",
            charts.pareto_chart(result, context.palette) if is_full else None,
            "Designs that no other design beats in price or size, time, power and rack space together. "
            "The filled mark is the design of this document.",
        ),
        "deciding": quotes_text(result, with_amounts=False),
        "ruled_out": ruled_out_table(result) if is_full else None,
        "warnings": _warnings(context),
        "questions": [words.question(text) for text in question_texts(result)] if is_full else [],
        "conclusions": conclusions(context),
    }


def _tornado(context: GuideContext, number: int, sensitivity: Sensitivity, unit: str) -> PageFigure | None:
    chart = tornado_chart(sensitivity, unit, context.palette)
    return charted(f"tornado-{number}", chart, "Each bar varies one input between its two ends; all others are fixed.")


def _warnings(context: GuideContext) -> list[str]:
    """Warnings that no other chapter prints: those on performance, physical design and the bill print their own."""
    design = context.design
    printed = [*note_sentences(design.plan.warnings), *bill_warning_sentences(design.bill.warnings)]
    for answer in context.answers:
        printed += result_text.cautions(answer)
    sentences = {words.sentence(text) for text in printed}
    return [text for text in result_text.warnings(context.result) if text not in sentences]


def conclusions(context: GuideContext) -> list[str]:
    """Three or four findings with their numbers."""
    design, n_open = context.design, len(context.result.questions)
    probability = words.percent(design.probability)
    if design.target_check is CheckResult.NOT_MET:
        first = (
            f"{design.name} does not reach the requested confidence: "
            f"the probability of meeting the request is {probability}."
        )
    elif design.conditional_on:
        first = f"{design.name}: {conditional_sentence(design)}"
    elif context.is_single:
        first = (
            f"One {design.platform.server.name} is enough: it meets the request with a probability of {probability}."
        )
    else:
        efficiency = words.percent(min(answer.scaling_efficiency for answer in context.answers))
        first = (
            f"{design.name} meets the request with a probability of {probability}. "
            f"Scaling efficiency at {words.plural(design.n_gpus, 'GPU')}: {efficiency}."
        )
    points = by_count(
        n_open,
        f"{words.capital(words.spelled(n_open))} point awaits confirmation by the vendors; "
        "the answer would replace an assumption or a missing price.",
        f"{words.capital(words.spelled(n_open))} points await confirmation by the vendors; "
        "the answers would replace assumptions and missing prices.",
    )
    return [
        first,
        *(result_text.limit(answer, context.has_many_workloads) for answer in context.answers),
        *([strongest(context)] if strongest(context) else []),
        *([points] if n_open else []),
    ]


@dataclass(frozen=True)
class Risk:
    """A deviation from the plan, its reason, and the recommended action."""

    name: str
    reason: str
    action: str


def risk_table(context: GuideContext) -> Table | None:
    """Risks with reason and recommended action; None without any."""
    rows = tuple(_risks(context))
    if not rows:
        return None
    fields = (
        Field[Risk]("Risk", lambda risk: risk.name, "left", 24),
        Field[Risk]("Reason", lambda risk: risk.reason, "left", 42),
        Field[Risk]("Recommended action", lambda risk: risk.action, "left", 34),
    )
    return record_table("risks", "Risks", rows, fields)


def _risks(context: GuideContext) -> Iterator[Risk]:
    result, design = context.result, context.design
    if design.conditional_on:
        yield Risk(
            "Request not met",
            f"{missing_text(design.conditional_on)} not known",
            "get the value from the vendor, or measure it, before ordering",
        )
    for answer in context.answers:
        if answer.probability is not None and answer.probability < 0.9:
            yield Risk(
                "Missed target",
                f"{answer.workload.name}: the probability of meeting the target is {words.percent(answer.probability)}",
                "request a higher confidence, which adds servers or storage, or accept the interval",
            )
        if answer.extrapolations:
            yield Risk(
                "Rate outside the measured range",
                words.sentence("; ".join(note_texts(answer.extrapolations))).rstrip("."),
                "run the one-server acceptance test first; scale the order by its result",
            )
        if answer.bottleneck in ("storage", "decode", "network"):
            yield Risk(
                "GPUs wait for data",
                f"{words.stage(answer.bottleneck)} is the bottleneck",
                "newer software or faster GPUs bring no gain until this stage grows",
            )
    n_unknown = len([device for device in design.quantities.unknown_power if device])
    if n_unknown:
        yield Risk(
            "Power above plan",
            f"the maximum power of {words.plural(n_unknown, 'device type')} is not published",
            "ask the vendor before the feeds are ordered; measure the first rack",
        )
    missing = design.bill.net_total.n_open
    if missing:
        yield Risk(
            "Higher price",
            f"{missing} of {len(design.bill.bought)} lines await a quote",
            "request quotes for the lines marked in the bill",
        )
    sales = [warning for warning in design.bill.warnings if warning.kind in _ABOUT_SALE]
    for sale in bill_warning_sentences(sales[:1]):
        yield Risk(
            "Availability",
            sale.rstrip("."),
            "confirm availability, or request a quote for a successor",
        )
    n_assumed = len(result.assumptions)
    if n_assumed:
        yield Risk(
            "Wrong assumption",
            by_count(n_assumed, "1 input is an assumption", f"{n_assumed} inputs are assumptions"),
            "confirm them with the vendors before ordering",
        )


def comparison_table(result: SizingResult) -> Table | None:
    """Advantages and disadvantages of every other platform; None where there is no other."""
    others = [other for other in result.platforms if other is not result.design]
    if not others:
        return None
    rows = []
    for other in others:
        worse, better = _differences(result.design, other)
        rows.append((other.name, _listed(worse, "none known"), _listed(better, "none")))
    titles = ("Design", "Disadvantages", "Advantages")
    caption = "Alternatives compared with this design"
    return fact_table("lost", caption, rows, titles=titles, widths=(30, 38, 32), style="")


def _listed(texts: list[str], nothing: str) -> Cell:
    return Cell(words.capital(words.listed(texts))) if texts else Cell(nothing, is_muted=True)


def _differences(design: DesignAnswer, other: DesignAnswer) -> tuple[list[str], list[str]]:
    """What is worse and what is better in another design, with its number and that of the design."""
    worse: list[str] = []
    better: list[str] = []

    def note(is_worse: bool, theirs: str, ours: str) -> None:
        (worse if is_worse else better).append(f"{theirs} compared with {ours}")

    sizes: list[tuple[float, float, Callable[[float], str]]] = [
        (design.n_gpus, other.n_gpus, lambda count: words.plural(int(count), "GPU")),
        (
            float(design.quantities.rack_units[0]),
            float(other.quantities.rack_units[0]),
            lambda units: f"{grouped(units)}{words.NO_BREAK}U",
        ),
    ]
    if not (design.quantities.unknown_power or other.quantities.unknown_power):
        powers = float(design.quantities.power_max_w[0]), float(other.quantities.power_max_w[0])
        sizes.append((*powers, lambda power_w: si(power_w, "W")))
    for ours, theirs, text in sizes:
        if abs(theirs - ours) > _SAME * max(ours, theirs):
            note(theirs > ours, text(theirs), text(ours))
    if design.bill.is_complete and other.bill.is_complete and design.bill.total != other.bill.total:
        is_dearer = other.bill.total > design.bill.total
        note(is_dearer, result_text.price(other.bill), result_text.price(design.bill))
    probability = words.percent(other.probability)
    if other.target_check is CheckResult.NOT_MET:
        worse.insert(0, f"misses the target, with a probability of {probability}")
    elif other.probability is None or design.probability is None:
        if other.conditional_on and not design.conditional_on:
            worse.append(f"conditional on the {missing_text(other.conditional_on)}, not known")
    elif abs(other.probability - design.probability) > _SAME:
        is_less_sure = other.probability < design.probability
        note(is_less_sure, f"a probability of {probability}", words.percent(design.probability))
    return worse, better
