"""Sentences typed into the app."""

from sizer.base.errors import RequestError
from sizer.workload.sentence.reader import read_sentence
from tests.hostile.harness import Entry


def read(text: str) -> object:
    """The reading of a sentence; what the app would ask back is refused here."""
    from tests.hostile.warm import CATALOG

    reading = read_sentence(text, CATALOG)
    if reading.question is not None:
        asked = reading.question
        raise RequestError(f"sentence: {asked.about}: {asked.words} {asked.reason}".rstrip())
    return reading


def sentence(name: str, text: str, *says: str, status: int = 2) -> Entry:
    """A sentence that is refused, or read without harm (status 0)."""
    return Entry(name, read, text, status=status, says=says)


ENTRIES = (
    sentence("empty", "", "sentence: network"),
    sentence("too long", "train " * 1_000, "2,000"),
    sentence("only digits", "9" * 400, "sentence: network"),
    sentence("two readings, of which one is assumed", "ResNet-50 at 40.000 images/s", status=0),
    sentence("not in the catalogue", "64 MI210 for ResNet-50", "MI210 GPU"),
    sentence("numbers that never end", "1-" * 1_000, "sentence: network"),
)
