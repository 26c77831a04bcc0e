"""Speed of the documents beside the guide. Run apart (`make bench`): a time is no test."""

from typing import Any

from sizer.export.workbook.book import workbook
from tests.factories.examples import catalog, sized

EXAMPLE = "dgx1-f800-resnet50"


def test_workbook_warm(benchmark: Any) -> None:
    """The workbook of an answer that is there."""
    answer = sized(EXAMPLE)
    workbook(answer, catalog())
    benchmark.extra_info["kilobytes"] = round(len(benchmark.pedantic(workbook, (answer, catalog()), rounds=5)) / 1000)
