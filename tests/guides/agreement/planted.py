"""Contradictions to plant in finished documents: what is changed where, and which two places must be named."""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.guides.agreement.finished import Finished


@dataclass(frozen=True)
class Planted:
    """One change in one document, and what the finding says of both places."""

    change: Callable[[Finished], None]
    first: str
    second: str


def text(document: str, pattern: str, to: str) -> Callable[[Finished], None]:
    """Change the first place of a text that matches."""

    pattern = pattern.replace(" ", r"\s+")

    def change(found: Finished) -> None:
        one = found.texts[document]
        changed, n = re.subn(pattern, to, one.text, count=1)
        assert n == 1, f"{document} has no {pattern}"
        moved = len(changed) - len(one.text)
        at = re.search(pattern, one.text)
        one.starts = [start + (moved if start > at.start() else 0) for start in one.starts]
        one.text = changed

    return change


def key(path: str, to: Any) -> Callable[[Finished], None]:
    """Change a value of the design document: "design.workloads.0.bottleneck"."""

    def change(found: Finished) -> None:
        *way, last = path.split(".")
        holder: Any = found.design
        for step in way:
            holder = holder[int(step)] if step.isdigit() else holder[step]
        before = holder[int(last)] if last.isdigit() else holder[last]
        holder[last] = to(before) if callable(to) else to

    return change


def cell(sheet: str, label: str, column: int, to: Any) -> Callable[[Finished], None]:
    """Change a cell of the workbook in the row that begins with a label."""

    def change(found: Finished) -> None:
        row = next(row for row in found.sheets[sheet] if row[0] == label)
        row[column] = to(row[column]) if callable(to) else to

    return change


def first_row(table: str, **columns: str) -> Callable[[Finished], None]:
    """Change columns of the first row of a table; "_" stands for a hyphen of their names."""

    def change(found: Finished) -> None:
        found.tables[table][0].update({name.replace("_", "-"): value for name, value in columns.items()})

    return change


def drop_row(table: str) -> Callable[[Finished], None]:
    """Take the last row away."""

    def change(found: Finished) -> None:
        found.tables[table].pop()

    return change


def add(document: str, sentence: str) -> Callable[[Finished], None]:
    """Add a sentence to the last page."""

    def change(found: Finished) -> None:
        found.texts[document].text += f"\n{sentence}\n"

    return change


def both(*changes: Callable[[Finished], None]) -> Callable[[Finished], None]:
    """One change after the other."""

    def change(found: Finished) -> None:
        for one in changes:
            one(found)

    return change


def planted(found: Finished, change: Callable[[Finished], None]) -> Finished:
    """The documents with the change; those that were read stay as they are."""
    changed = copy.deepcopy(found)
    change(changed)
    return changed
