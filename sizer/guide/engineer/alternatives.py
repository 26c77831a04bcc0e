"""Alternatives and sensitivity: inputs varied one by one, other platforms, what was excluded, points to confirm."""

from collections.abc import Callable
from typing import Any

from sizer.base.quantities import grouped, si
from sizer.guide.context import GuideContext
from sizer.present import charts, words
from sizer.present.figures import charted
from sizer.present.performance_tables import platforms_table, ruled_out_table
from sizer.present.tables import Cell, Table, fact_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import question_texts
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.checks import missing_text
from sizer.present.text.money import price_range_text, quotes_text
from sizer.present.text.plan import note_sentences
from sizer.present.text.verdict import selection_text
from sizer.questions.what_if.sensitivity import influence_table
from sizer.sizing.checks import CheckResult
from sizer.sizing.result import DesignAnswer, SizingResult

# Relative differences below this count as equal.
_SAME = 0.02


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/alternatives.html`` prints."""
    result = context.result
    return {
        "influences": [
            influence_table(sensitivity, words.sample_unit(answer.dnn), number)
            for number, (sensitivity, answer) in enumerate(zip(context.sensitivities, context.answers, strict=True), 1)
            if sensitivity.influences
        ],
        "search": result_text.judged(result),
        "selection": words.sentence(selection_text(result)),
        "runner_up": result_text.neighbours(result),
        "platforms": platforms_table(result),
        "comparison": comparison_table(result),
        "pareto": charted(
            "pareto",
            charts.pareto_chart(result, context.palette),
            "Designs that no other design beats in price or size, time, power and rack space together. "
            "The filled mark is the design of this document.",
        ),
        "deciding": quotes_text(result, with_amounts=False),
        "ruled_out": ruled_out_table(result),
        "warnings": _warnings(context),
        "questions": [words.question(text) for text in question_texts(result)],
    }


def _warnings(context: GuideContext) -> list[str]:
    """Warnings that no other chapter prints: those on performance, physical design and the bill print their own."""
    design = context.design
    printed = [*note_sentences(design.plan.warnings), *bill_warning_sentences(design.bill.warnings)]
    for answer in context.answers:
        printed += result_text.cautions(answer)
    sentences = {words.sentence(text) for text in printed}
    return [text for text in result_text.warnings(context.result) if text not in sentences]


def comparison_table(result: SizingResult) -> Table | None:
    """Advantages and disadvantages of every other platform; None where there is no other."""
    others = [other for other in result.platforms if other is not result.design]
    if not others:
        return None
    rows = []
    for other in others:
        worse, better = _differences(result.design, other)
        if worse or better:
            rows.append((other.name, _listed(worse, "none known"), _listed(better, "none")))
    if not rows:
        return None
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
        note(is_dearer, price_range_text(other), price_range_text(design))
    probability = words.chance(other.probability)
    if other.target_check is CheckResult.NOT_MET:
        worse.insert(0, f"misses the target, with a probability of {probability}")
    elif other.probability is None or design.probability is None:
        if other.conditional_on and not design.conditional_on:
            worse.append(f"conditional on the {missing_text(other.conditional_on)}, not known")
    elif abs(other.probability - design.probability) > _SAME:
        is_less_sure = other.probability < design.probability
        note(is_less_sure, f"a probability of {probability}", words.chance(design.probability))
    return worse, better
