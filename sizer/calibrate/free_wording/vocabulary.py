"""Words of software and parts, as ``catalog/benchmarks/wordings.toml`` lists them."""

import re
import tomllib
from functools import cached_property, lru_cache
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from sizer.base.resources import data_dir
from sizer.catalog.schema import SoftwareLine

Words = Annotated[frozenset[str], BeforeValidator(str.split)]


class Framework(BaseModel, frozen=True, extra="forbid"):
    """A framework's name and the words that mean it."""

    name: str
    words: Words = frozenset()
    implied_by: Words = frozenset()


class WordClasses(BaseModel, frozen=True, extra="forbid"):
    """Words that a reading of software treats alike; the file says how."""

    parts: Words
    calendar_versioned: Words
    data_sets: Words
    container: Words
    fillers: Words
    noise: Words
    negations: Words
    units: Words
    countable: Words


class Vocabulary(BaseModel, frozen=True, extra="forbid"):
    """The tables of the file, by their names there."""

    frameworks: dict[str, Framework]
    lines: dict[str, SoftwareLine]
    words: WordClasses
    mlperf_training: dict[str, str]
    chips: dict[str, str]
    form_factors: dict[str, str]
    servers: dict[str, str]
    dnns: dict[str, Words]
    dnns_assumed: dict[str, str]
    precisions: dict[str, Words]
    loaders: dict[str, Words]
    quantities: dict[str, Words]
    notes: dict[str, str]
    line_names: dict[SoftwareLine, str]

    @cached_property
    def framework_of(self) -> dict[str, str]:
        """Framework that a word names."""
        return {word: id_ for id_, one in self.frameworks.items() for word in (id_, *one.words)}

    @cached_property
    def implied_framework_of(self) -> dict[str, str]:
        """Framework that a word of other software implies."""
        return {word: id_ for id_, one in self.frameworks.items() for word in one.implied_by}

    def framework_name(self, id_: str) -> str:
        """Name of a framework; its id where the file has none."""
        return self.frameworks[id_].name if id_ in self.frameworks else id_


def cell_word(text: str, known: dict[str, Words]) -> str:
    """Word of a table that a cell means, however it is spelled; what means none of them in small letters."""
    alias = re.sub(r"[^a-z0-9]", "", text.lower().replace("/", "per"))
    return next((word for word, others in known.items() if alias in others), text.lower() if alias else "")


def note(key: str, *values: object) -> str:
    """Words of a note on what was assumed."""
    return vocabulary().notes[key].format(*values)


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Content of the shipped file, read once."""
    text = (data_dir("catalog") / "benchmarks" / "wordings.toml").read_text(encoding="utf-8")
    return Vocabulary.model_validate(tomllib.loads(text))
