"""What the limits allow, for requests that ask for the highest rate."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.questions.maximum.text import maximum_sentences


def applies(context: GuideContext) -> bool:
    """Whether the request asks for the highest rate."""
    return context.result.maximum is not None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/maximum.html`` prints."""
    return {"findings": maximum_sentences(context.result, with_amounts=False)}
