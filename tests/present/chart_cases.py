"""Designs and answers for tests of the charts of the guide."""

from collections.abc import Iterator
from typing import Any

from sizer.present.charting import Chart
from sizer.questions.failures.analysis import FailureCase, FailureKey, WorkStops
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from tests import factories

UNIT = "images/s"


def first(name: str) -> tuple[WorkloadAnswer, DesignAnswer]:
    design = factories.ALL[name]().design
    return design.workloads[0], design


def title(chart: Chart | None) -> str:
    """Finding of a chart, with plain spaces."""
    return plain(" ".join(chart.to_dict(validate=False)["title"]["text"]))


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def tables(part: Any) -> Iterator[list[dict[str, Any]]]:
    """All data that a chart carries, in the order of its layers."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, list) and value and isinstance(value[0], dict) and key not in ("layer", "tooltip"):
                yield value
            else:
                yield from tables(value)
    elif isinstance(part, list):
        for one in part:
            yield from tables(one)


def rows(chart: Chart | None, key: str) -> list[dict[str, Any]]:
    """Rows of the first data that have ``key``."""
    return next(table for table in tables(chart.to_dict(validate=False)) if key in table[0])


def texts(chart: Chart | None) -> list[str]:
    """All texts that a chart draws beside its marks."""
    found = [row.get("text", "") for table in tables(chart.to_dict(validate=False)) for row in table]
    return [plain(text) for text in found]


def marks(chart: Chart | None) -> list[dict[str, Any]]:
    return [layer["mark"] for layer in chart.to_dict(validate=False)["layer"]]


def failure(key: FailureKey, share: float, rate: float = 1000.0) -> FailureCase:
    return FailureCase(key, WorkStops(), (rate * share,), (share,))
