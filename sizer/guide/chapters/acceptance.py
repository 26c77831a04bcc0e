"""Chapter on the acceptance test."""

from collections.abc import Sequence
from typing import Any

from sizer.base.provenance import ASSUMPTION
from sizer.guide.acceptance.tests import AcceptanceTest
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, fact_table, row

_AREAS = {
    "network": "Networks",
    "storage": "Storage",
    "compute": "One GPU, one server",
    "training": "Training",
    "power": "Power",
    "capacity": "Inventory and capacity",
}


def tests_table(tests: Sequence[AcceptanceTest]) -> Table | None:
    """Acceptance tests with expected results and limits; None without tests."""
    rows: list[Row] = []
    for area, title in _AREAS.items():
        in_area = [test for test in tests if test.area == area]
        about = None
        for test in in_area:
            if test.about != about:
                about = test.about
                rows.append(row(about or title, kind="group"))
            documents = tuple(key for key in test.sources if key != ASSUMPTION)
            assumed = "" if documents == test.sources else "; partly assumed" if documents else "; assumed"
            basis = Cell(words.sentence(test.basis + assumed), documents)
            rows.append(row(test.run.rstrip(".") + ".", test.expect, test.passes, basis))
    if not rows:
        return None
    titles = ("Test", "Expected result", "Pass criterion", "Basis")
    caption = "Acceptance tests with expected results"
    return fact_table("acceptance", caption, rows, titles=titles, widths=(31, 23, 24, 22), style="")


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/acceptance.html`` prints."""
    return {"tests": tests_table(context.tests)}
