"""The answer in numbers, and how it was made."""

from typing import Any

from sizer.guide.chapters.summary import numbers_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.text import result_text
from sizer.present.text.verdict import reason_texts, verdict_text


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/record.html`` prints."""
    result = context.result
    return {
        "verdict": words.sentence(verdict_text(result)),
        "confidence": result_text.doubt(result),
        "open_prices": result_text.open_prices(context.design.bill),
        "advice": [words.sentence(text) for text in reason_texts(result)],
        "numbers": numbers_table(context),
    }
