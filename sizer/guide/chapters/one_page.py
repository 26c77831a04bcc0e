"""The summary on one page: the answer, the data path, the ten numbers, why, and how sure."""

from typing import Any

from sizer.drawings.datapath import datapath
from sizer.drawings.svg import write_svg
from sizer.guide.chapters.case import Case
from sizer.guide.tables.request import numbers_table
from sizer.present import result_text, words
from sizer.present.figures import Figure

# Three rows for each of more workloads, or of as many beside a team, would not fit the page.
_MOST_ROWS = 2


def content(case: Case) -> dict[str, Any]:
    """What ``summary.html`` prints."""
    design, first = case.design, case.answers[0]
    drawing = datapath(design, first, words.sample_unit(first.dnn))
    caption = f"The way of one {first.dnn.sample} of “{first.workload.name}” through the design."
    return {
        "path": Figure("path", caption, write_svg(drawing)),
        "numbers": numbers_table(
            case.result, case.team, is_brief=len(case.answers) + (case.team is not None) > _MOST_ROWS
        ),
        "reasons": result_text.reason(design),
        "doubts": result_text.doubt(case.result),
        "open_prices": result_text.open_prices(design.bill),
        "strongest": strongest(case),
    }


def strongest(case: Case) -> str:
    """The input that moves the answer most."""
    found = [one.influences[0] for one in case.sensitivities if one.influences]
    if not found:
        return "Nothing that the tool can vary moves the answer."
    return (
        f"The {words.inside_sentence(found[0].label)} moves it most: between {found[0].low_text} "
        f"and {found[0].high_text}."
    )
