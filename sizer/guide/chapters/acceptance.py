"""Chapter on the acceptance test."""

from typing import Any

from sizer.guide.acceptance.table import tests_table
from sizer.guide.context import GuideContext


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/acceptance.html`` prints."""
    return {"tests": tests_table(context.tests)}
