"""Whether the design is needed: claims for the simpler design, their arithmetic, and where the data fits."""

from collections.abc import Iterator
from typing import Any

from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Row, Table, fact_table, row
from sizer.present.text import result_text
from sizer.questions.verdict.tables import arithmetic_table, claims_table, simplest_table
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.result import SizingResult, WorkloadAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/necessity.html`` prints."""
    result = context.result
    return {
        "claims": claims_table(context.claims, result),
        "arithmetic": arithmetic_table(context.claims),
        "simplest": simplest_text(context.simplest, result),
        "simplest_table": simplest_table(context.simplest, result),
        "checks": checks_table(result),
    }


def checks_table(result: SizingResult) -> Table | None:
    """Data sets compared with memory and usable capacity; None where neither is known."""
    trained = (answer for answer in result.design.workloads if answer.serving is None)
    rows = [check for answer in trained for check in _checks(answer, result)]
    if not rows:
        return None
    titles = ("Workload", "Compared with", "Result")
    return fact_table("checks", "Where the data set fits", rows, titles=titles, widths=(28, 36, 36), style="")


def _checks(answer: WorkloadAnswer, result: SizingResult) -> Iterator[Row]:
    design = result.design
    memory, usable = design.platform.server.memory_bytes, design.usable_bytes
    places: list[tuple[str, float]] = []
    if memory is not None:
        places.append(("memory of one server", memory.value))
        if design.n_servers > 1:
            servers = words.plural(design.n_servers, "server")
            places.append((f"total memory of {servers}", memory.value * design.n_servers))
    if usable > 0:
        places.append((f"usable capacity of {design.platform.storage.name}", usable))
    name = answer.workload.name
    for place, size_bytes in places:
        yield row(name, place, result_text.fits(answer.dataset_bytes, size_bytes))
        name = ""  # printed once
