"""Names of neural networks with a letter wrong: Lamma 3 8B. They are asked for, with the nearest name."""

import re
from difflib import get_close_matches

from sizer.workload.sentence.fillers import FILLERS
from sizer.workload.sentence.names import names_of, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.reading import Answer, Question

# A word with a version or size, as models are named.
_NAME = re.compile(
    r"(?<![\w-])(?P<word>[A-Za-z]{4,12})(?P<rest>[ -]?\d{1,4}(?:\.\d{1,2})?(?: ?B\b|[ -]\d{1,4}(?:\.\d)? ?B\b)?)(?!\w)",
    re.I,
)
# Of five letters one may be wrong: Lamma and Llama share four in a row or in order (2 x 4 / 10).
_LEAST_ALIKE = 0.8


def ask_misspelt(notes: Notes) -> None:
    """Ask for a network whose name is nearly that of one in the catalogue."""
    first_words = {
        word.lower(): word
        for dnn in notes.catalog.dnns.values()
        if (word := re.split(r"[\s\d.-]", short_name(dnn))[0]) and len(word) > 3 and word.lower() not in FILLERS
    }
    for match in list(_NAME.finditer(notes.text.left)):
        word = match["word"].lower()
        if word in FILLERS or names_of(notes.catalog).is_known(word):
            continue
        near = [first_words[name] for name in get_close_matches(word, first_words, n=3, cutoff=_LEAST_ALIKE)]
        if not near:
            continue
        start = match.start()
        answers = tuple(
            Answer(name + match["rest"], notes.replaced(start, match.end(), name + match["rest"])) for name in near
        )
        words = notes.text.sentence[start : match.end()]
        reason = f"the catalogue has no network of this name; the nearest is {near[0]}"
        notes.ask(Question("network", words, reason, answers=answers))
        notes.text.mark(start, match.end())
