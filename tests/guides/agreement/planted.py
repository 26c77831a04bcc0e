"""Contradictions to plant in finished documents: what is changed where, and which two places must be named."""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass

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


def add(document: str, sentence: str) -> Callable[[Finished], None]:
    """Add a sentence to the last page."""

    def change(found: Finished) -> None:
        found.texts[document].text += f"\n{sentence}\n"

    return change


def planted(found: Finished, change: Callable[[Finished], None]) -> Finished:
    """The documents with the change; those that were read stay as they are."""
    changed = copy.deepcopy(found)
    change(changed)
    return changed
