"""What the reader knows, from grammar.toml: words without meaning, units, names of the field, and rules."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

GRAMMAR: dict[str, Any] = tomllib.loads(Path(__file__).with_name("grammar.toml").read_text(encoding="utf-8"))
GRAMMAR["patterns"]["MONTH"] = rf"(?P<month>{'|'.join(' '.join(GRAMMAR['months']).split())})\b\.?"
GRAMMAR["patterns"]["LOST"] = rf"\b(?:{'|'.join(GRAMMAR['losses'].values())})(?!\w)"
for _name in ("fractions", "words"):
    _table = GRAMMAR["numbers"][_name]
    GRAMMAR["numbers"][_name] = {word: float(value) for value, words in _table.items() for word in words.split("|")}
GRAMMAR["patterns"]["FRACTION"] += rf"({'|'.join(GRAMMAR['numbers']['fractions'])})<OF_PEOPLE>"
GRAMMAR["language"][:0] = [
    [key, GRAMMAR["patterns"]["DEGREE"].replace("NAMES", names)] for key, names in GRAMMAR["degrees"].items()
]
GRAMMAR["statements"] |= {
    key: [f"w.layout.{key}", "count", key.replace("_", " ") + " {}"] for key in GRAMMAR["degrees"]
}
# A chat, a document, a training or a person tells of the work, too, and a workstation of the machine; words of measures
# and samples say nothing more.
_COUNTED = {"requests", "documents", "jobs", "people"}
_UNITS = (line.split() for table in ("units", "cased_units") for line in GRAMMAR[table].split("\n"))
_OF_UNITS = (words for kind, _, _, *words in _UNITS if kind not in _COUNTED)
FILLERS = frozenset(re.findall(r"[\w']+", GRAMMAR["fillers"])).union(
    word.lower() for words in _OF_UNITS for word in words if not word.startswith("workstation")
)
# With what is known of a name: billions of parameters of a language model, the GPUs of a server; else "".
ELSEWHERE = {
    kind: {" ".join(name.split()): known for name, _, known in (one.partition("=") for one in names.split(","))}
    for kind, names in GRAMMAR["elsewhere"].items()
}
# What the name of a thing of this kind is called in a question.
CALLED = {"gpu": "GPU", "server": "server", "storage": "storage system", "precision": "precision", "fabric": "fabric"}
_SIGNS: dict[str, str] = {}  # of each kind of thing


def sign(kind: str) -> str:
    """The sign that stands in a text for things of a kind."""
    return _SIGNS.setdefault(kind, chr(0xE000 + len(_SIGNS)))


def _expanded(source: str) -> str:
    source = source.replace("\n", "")
    return re.sub(r"<([A-Z_]+)>", lambda match: _expanded(GRAMMAR["patterns"][match[1]]), source)


@cache
def rule(source: str) -> re.Pattern[str]:
    """Pattern of a rule: {gpu} or {n|tokens} in it stand for things of these kinds, <LEAST> for another pattern."""
    kinds = re.sub(
        r"\{([a-z/|]+)\}", lambda match: "[" + "".join(map(sign, match[1].split("|"))) + "]", _expanded(source)
    )
    return re.compile(kinds, re.I)
