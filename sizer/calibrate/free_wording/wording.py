"""What the wording of a software stack says: framework, versions, container tag, date, compiler, loader, line."""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from sizer.calibrate.free_wording.vocabulary import WordClasses, vocabulary
from sizer.calibrate.ids import LINES
from sizer.calibrate.observations import MAX_CELL_CHARACTERS
from sizer.catalog.schema import SoftwareLine

Version = tuple[int, ...]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    "(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = "(?P<y>20[1-3][0-9])"
# Every quantifier is bounded or followed by what it cannot take itself, so that no text takes long.
_DATES = (
    re.compile(rf"(?<!\w){_MONTH}[ .,'-]{{0,2}}(?:[0-9]{{1,2}}(?:[a-z]{{2}})?,? )?{_YEAR}(?!\w)"),  # Feb 3rd, 2018
    re.compile(rf"(?<![\w.]){_YEAR}[ ,-]{{1,2}}{_MONTH}(?!\w)"),
    re.compile(rf"(?<![\w.]){_YEAR}[-/.](?P<m>0[1-9]|1[0-2])(?:[-/.][0-9]{{2}})?(?!\w|[./-][0-9])"),
    re.compile(rf"(?<![0-9]){_YEAR}(?P<m>0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])"),
)
_PHRASES = (
    (re.compile(r"tf[ _-]?cnn[ _-]?benchmarks?(?:\.py)?"), " cnnbenchmarks "),
    (re.compile(r"(?<![\w-])[\w-]{1,40}\.py(?!\w)"), " "),  # scripts
    (re.compile(r"official[ _-]models?"), " official "),
    (re.compile(r"gluon[ _-]cv"), " gluoncv "),
    (re.compile(r"nv(?:idia)?[ _-]?caffe(?!2)"), " nvcaffe "),
    (re.compile(r"dali[ _-](?:on[ _-](?:the[ _-])?)?cpu"), " dalicpu "),
    (re.compile(r"(?<!\w)w/o(?!\w)"), " no "),
    (re.compile(r"nvcr\.io"), " ngc "),
)
_TOKEN = re.compile(r"@[0-9]{4}-[0-9]{2}|%|[^\W_]+(?:\.[^\W_]+)*")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}")
_WORD_AND_NUMBER = re.compile(r"([^\W\d_]+)([0-9]+(?:\.[0-9]+)*)(.*)", re.DOTALL)
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)*)(?:\.?((?:rc|alpha|beta|a|b|dev|post|ea|ga|py)[0-9]*))?")
_COUNT = re.compile(r"[0-9]+x")
_TAG = re.compile(r"(?:1[7-9]|2[0-9])\.(?:0[1-9]|1[0-2])")


@dataclass(frozen=True)
class Wording:
    """What a wording says. ``core`` holds what tells stacks of one framework apart, however it is spelled."""

    frameworks: tuple[str, ...]  # as named, then as implied
    versions: tuple[tuple[str, Version], ...]  # of frameworks
    tag: str  # of an NVIDIA container, e.g. 18.09
    date: str  # ISO month or year
    core: frozenset[str]
    lines: frozenset[str]  # keys of LINES that it speaks of
    has_xla: bool
    names_library_only: bool  # software of one framework, without the framework
    dali: str  # dali, dali-cpu, no, or empty where it does not speak of it


def _words() -> WordClasses:
    return vocabulary().words


def plain(text: str) -> str:
    """Text without case, compatibility forms, control characters and runs of blanks."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CELL_CHARACTERS]).casefold()[:MAX_CELL_CHARACTERS]
    return " ".join("".join(c if c.isprintable() else " " for c in folded).split())


@lru_cache(maxsize=4096)
def read_wording(text: str) -> Wording:
    """Reading of a wording of any length and content."""
    return _WordingReader(_tokens(text)).wording()


def software_line(wording: Wording, framework: str) -> SoftwareLine:
    """Who builds and tunes the software that a wording speaks of."""
    # With other frameworks Horovod is an exchange library, not a line of scripts.
    said = wording.lines if framework == "tensorflow" else wording.lines - {"horovod"}
    return next((line for line in LINES if line in said), "upstream")


def _tokens(text: str) -> list[str]:
    """Words, numbers and dates (``@2018-02``) of a wording, joined ones taken apart: cuda9, ngc18.09, 1.2.0.rc1."""
    said = plain(text).replace("@", " ")
    for pattern in _DATES:
        said = pattern.sub(_date_token, said)
    for phrase, word in _PHRASES:
        said = phrase.sub(word, said)
    return [part for chunk in _TOKEN.findall(said) for part in _parts(chunk)]


def _date_token(found: re.Match[str]) -> str:
    month = found["m"]
    return f" @{found['y']}-{month if month.isdigit() else format(_MONTHS.index(month[:3]) + 1, '02d')} "


def _parts(chunk: str) -> list[str]:
    joined = _WORD_AND_NUMBER.fullmatch(chunk)
    if _HASH.fullmatch(chunk) or chunk in vocabulary().framework_of or not joined:
        return [chunk]
    if "." in joined[2] or joined[1] in _words().parts or joined[1] in vocabulary().framework_of:
        return [joined[1], joined[2] + joined[3]]
    return [chunk]


@dataclass
class _WordingReader:
    """One pass over the tokens. A number belongs to the word before it, if that has none yet."""

    tokens: list[str]
    named: list[str] = field(default_factory=list)
    implied: list[str] = field(default_factory=list)
    versions: list[tuple[str, Version]] = field(default_factory=list)
    tag: str = ""
    date: str = ""
    core: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)
    dali: str = ""
    has_xla: bool = False
    owner: str = ""

    def wording(self) -> Wording:
        """Reading of all tokens."""
        for place, token in enumerate(self.tokens):
            before = self.tokens[place - 1] if place else ""
            after = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
            number = _NUMBER.fullmatch(token)
            if token.startswith("@"):
                self._dated(token[1:])
            elif number and not _HASH.fullmatch(token):
                self._number(number[1], after)
            elif not (_COUNT.fullmatch(token) or token in _words().units):
                self._word(token, before, after)
        return self._result()

    def _result(self) -> Wording:
        core = set(self.core)
        if self.tag:
            # A tag fixes the release inside; only TensorFlow's containers came with a choice of two.
            core -= {dotted(version) for _, version in self.versions}
            core |= {"ngc", self.tag} | (
                {"tf2"} if ("tensorflow", 2) in ((n, v[0]) for n, v in self.versions) else set()
            )
            self.lines.add("ngc")
        return Wording(
            frameworks=tuple(dict.fromkeys(self.named + self.implied)),
            versions=tuple(self.versions),
            tag=self.tag,
            date=self.date,
            core=frozenset(core | ({self.date} if self.date else set())),
            lines=frozenset(self.lines),
            has_xla=self.has_xla,
            names_library_only=bool(self.implied) and not self.named,
            dali=self.dali,
        )

    def _dated(self, date: str) -> None:
        self.date = self.date or date

    def _number(self, number: str, after: str) -> None:
        owner, self.owner = self.owner, ""
        if after in _words().units or (after in _words().countable and "." not in number):
            self.core.add(dotted(_version(number)))
        elif not self.tag and _TAG.fullmatch(number) and self._may_be_tag(owner):
            self.tag = number
        elif len(number) == 4 and "2014" <= number <= "2035" and owner not in _words().data_sets:
            self._dated(number)
        elif owner in vocabulary().framework_of and (
            "." in number or number in ("1", "2") or owner in ("tensorrt", "trt")
        ):
            self.versions.append((vocabulary().framework_of[owner], _version(number)))
            self.core.add(dotted(_version(number)))
        elif owner not in _words().parts and owner not in vocabulary().implied_framework_of:
            self.core.add(dotted(_version(number)))

    def _may_be_tag(self, owner: str) -> bool:
        if owner in _words().calendar_versioned:
            return False
        return (
            owner in vocabulary().framework_of
            or not _words().container.union(("nvidia", "container")).isdisjoint(self.tokens)
            or not owner
        )

    def _word(self, word: str, before: str, after: str) -> None:
        is_off = before in _words().negations or after in ("off", "disabled", "false", "0")
        if word in _words().fillers:
            return
        if word in _words().container or word in ("container", "image"):
            self.owner = self.owner if self.owner in vocabulary().framework_of else ""
            if word in _words().container:
                self.lines.add("ngc")
                self.core.add("ngc")
            return
        self.owner = word
        if word == "xla":
            self.has_xla = self.has_xla or not is_off
        elif word in ("dali", "dalicpu"):
            self.dali = "no" if is_off else self.dali or {"dali": "dali", "dalicpu": "dali-cpu"}[word]
        elif word in vocabulary().lines and not is_off:
            self.lines.add(vocabulary().lines[word])
        self._keep(word)

    def _keep(self, word: str) -> None:
        if word in vocabulary().framework_of:
            self.named.append(vocabulary().framework_of[word])
        elif word in vocabulary().implied_framework_of or word.startswith("tf."):
            self.implied.append(vocabulary().implied_framework_of.get(word, "tensorflow"))
        if word == "tf2" or not (
            word in vocabulary().framework_of
            or word in _words().parts
            or word in _words().noise
            or word in _words().countable
            or word.startswith("tf.")
        ):
            self.core.add("examples" if word == "example" else word)


def dotted(version: Version) -> str:
    """Version as it is written, e.g. 1.15.3."""
    return ".".join(str(part) for part in version)


def _version(number: str) -> Version:
    """Parts of a version: 7 is 7.0, and 1.5.0 is 1.5."""
    parts = [int(part[:9]) for part in (number if "." in number else f"{number}.0").split(".")[:9]]
    while len(parts) > 2 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
