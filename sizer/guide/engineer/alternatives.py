"""Alternatives and sensitivity: inputs varied one by one, other platforms, what was excluded, points to confirm."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import charts, words
from sizer.present.figures import charted
from sizer.present.performance_tables import platforms_table, ruled_out_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import question_texts
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.money import quotes_text
from sizer.present.text.plan import note_sentences
from sizer.present.text.verdict import selection_text
from sizer.questions.what_if.sensitivity import influence_table


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
