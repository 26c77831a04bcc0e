"""Words of a sentence that nobody read."""

import re

from sizer.workload.sentence.fillers import FILLERS
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.targets import SAMPLES
from sizer.workload.sentence.text import READ

_WORD = re.compile(rf"\d[\d.,]* ?(?:[kMGTP]?B|[kMGT]?bit)/s|[^\s,;.!?(){READ}\ue000-\ue006\"]+(?:[.,]\d+)*")

_SAMPLE = re.compile(SAMPLES, re.I)


def unread_words(notes: Notes) -> tuple[str, ...]:
    """Words that were not understood, or have no place in a request, in the order of the sentence."""
    words = [match[0].strip("-+/&:*'") for match in _WORD.finditer(notes.text.left)]
    # "Meta Llama 3 8B": who published a named network says nothing more.
    publishers = {word.lower() for key in notes.dnns for word in notes.catalog.dnns[key].vendor.split()}
    fillers = FILLERS | publishers
    return (*notes.unusable, *(word for word in words if re.search(r"\w", word) and not _is_filler(word, fillers)))


def _is_filler(word: str, fillers: frozenset[str] | set[str]) -> bool:
    """Whether a word says nothing about a request; a sample without a number says nothing either."""
    return all(part in fillers or _SAMPLE.fullmatch(part) for part in re.split(r"[-/&+]", word.lower()) if part)
