"""Chapter 13: what would change the answer, what could go wrong, what was not chosen, and what to ask."""

from typing import Any

from sizer.base.quantities import by_count
from sizer.catalog.labels import item_name
from sizer.guide.chapters.case import Case
from sizer.guide.tables.risks import influence_table, lost_table, risk_table
from sizer.present import charts, result_text, words
from sizer.present.figures import Figure, charted
from sizer.present.performance_tables import platforms_table, ruled_out_table
from sizer.present.verdict_text import reason_texts, selection_text
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.sensitivity import Sensitivity


def content(case: Case) -> dict[str, Any]:
    """What ``sections/risks.html`` prints."""
    result = case.result
    # Chapters on performance, physical design and the bill print their own.
    elsewhere = [*case.design.plan.warnings, *case.design.bill.warnings]
    for answer in case.answers:
        elsewhere += result_text.cautions(answer)
    said = {words.sentence(text) for text in elsewhere}
    units = [words.sample_unit(answer.dnn) for answer in case.answers]
    return {
        "needs_cluster": result.needs_cluster,
        "reasons": [words.sentence(text) for text in reason_texts(result)],
        "limits": result_text.reason(case.design),
        "tornados": [
            figure
            for number, (one, unit) in enumerate(zip(case.sensitivities, units, strict=True), 1)
            if (figure := _tornado(case, number, one, unit)) is not None
        ],
        "influences": [
            influence_table(one, unit, number)
            for number, (one, unit) in enumerate(zip(case.sensitivities, units, strict=True), 1)
            if one.influences
        ]
        if case.is_full
        else [],
        "risks": risk_table(case),
        "judged": result_text.judged(result),
        "selection": words.sentence(selection_text(result)),
        "neighbours": result_text.neighbours(result),
        "platforms": platforms_table(result),
        "lost": lost_table(result) if case.is_full else None,
        "pareto": charted(
            "pareto",
            charts.pareto_chart(result, case.palette) if case.is_full else None,
            (
                "Designs that no other one beats in price or size, time, power and rack space together. "
                "The filled mark is the design of this document."
            ),
        ),
        "deciding": words.listed(item_name(item, case.catalog) for item in result.deciding_prices),
        "ruled_out": ruled_out_table(result) if case.is_full else None,
        "warnings": [text for text in result_text.warnings(result) if text not in said],
        "questions": [words.question(text) for text in result.questions] if case.is_full else [],
        "conclusions": conclusions(case),
    }


def _tornado(case: Case, number: int, one: Sensitivity, unit: str) -> Figure | None:
    if not one.influences:
        return None
    caption = "Each bar is one input moved to both its ends while the design and all else stay."
    return charted(f"tornado-{number}", tornado_chart(one, unit, case.palette), caption)


def conclusions(case: Case) -> list[str]:
    """Three or four findings with their numbers."""
    design, result = case.design, case.result
    chance = words.percent(design.probability)
    if case.is_single:
        first = f"One {design.platform.server.name} is enough: it meets what is asked with a probability of {chance}."
    else:
        efficiency = min(answer.scaling_efficiency for answer in case.answers)
        first = (
            f"{design.name} meets what is asked with a probability of {chance}; its GPUs keep "
            f"{words.percent(efficiency)} of the rate of as many single ones."
        )
    if not all(answer.meets_target for answer in case.answers):
        first = f"{design.name} does not meet what is asked with the certainty wanted: the probability is {chance}."
    found = [first, *(result_text.limit(answer, case.has_many_workloads) for answer in case.answers)]
    strongest = [one.influences[0] for one in case.sensitivities if one.influences]
    if strongest:
        one = strongest[0]
        found.append(
            f"What moves the answer most is the {words.inside_sentence(one.label)}: between "
            f"{one.low_text} and {one.high_text}."
        )
    open_questions = len(result.questions)
    if open_questions:
        found.append(
            by_count(
                open_questions,
                f"{words.capital(words.spelled(open_questions))} question is open to the vendors; its "
                "answer would replace an assumption or a missing price.",
                f"{words.capital(words.spelled(open_questions))} questions are open to the vendors; their "
                "answers would replace assumptions and missing prices.",
            )
        )
    return found
