"""Names in a sentence: what the catalogue holds under all names that people use for it, and what it does not hold."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from sizer.base.resources import data_dir
from sizer.catalog.fabrics import fabric_links
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.vendors import vendors_of
from sizer.workload.sentence.elsewhere import ELSEWHERE
from sizer.workload.sentence.fillers import FILLERS
from sizer.workload.sentence.text import UnreadText

# What stands in the text for a name, until it is read together with the words around it.
DNN, DATASET, GPU, SERVER, STORAGE, VENDOR, OUTSIDE = (chr(0xE000 + n) for n in range(7))
_FOLDERS = {DNN: "dnns", DATASET: "datasets", GPU: "gpus", SERVER: "servers", STORAGE: "storage"}
# More pieces than any name has: "Tesla V100 SXM2 32 GB" has seven.
_MOST_PIECES = 12
# Tables of published measurements, and the column that names the network.
_TABLES = (("training.csv", "dnn"), ("language/training.csv", "model"))
_PIECE = re.compile(r"[^\W\d_]+|\d+")
# "FLUX.1 [dev]" has its variant in brackets.
_GAP = re.compile(r"[ ._/-]{0,2}\[?")
# A word alone that is too common to name an item.
_TOO_COMMON = frozenset(
    ("local", "existing", "head", "ssd", "nvme", "nfs", "tesla", "neural", "mask", "matrix", "stable")
)
# Names of server families that stand for their vendor: "PowerEdge servers".
_SERIES = {"Dell": ("poweredge",), "HPE": ("proliant",), "Lenovo": ("thinksystem",)}
_MODEL_NUMBER = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])[\w-]{2,}")

Pieces = tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """A name in the text: what kind of thing it names, and which items it may mean (of a vendor, its names)."""

    kind: str
    start: int
    end: int
    ids: tuple[str, ...]


class Names:
    """All names of a catalogue by their pieces."""

    def __init__(self, catalog: Catalog) -> None:
        known: defaultdict[Pieces, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        exact: defaultdict[tuple[Pieces, str], set[str]] = defaultdict(set)
        for kind, folder in _FOLDERS.items():
            items: Mapping[str, Item] = catalog.folder(folder)
            for key, item in items.items():
                if not is_named(kind, item):
                    continue
                for name in (key, short_name(item), *item.aliases):
                    exact[pieces(name), kind].add(key)
                for name in (*_family_names(item), key, item.name, short_name(item), *item.aliases):
                    known[pieces(name)][kind].add(key)
                    known[pieces(name.replace("-", ""))][kind].add(key)
                    if kind == GPU and re.fullmatch(r".*\d[Ss]", name):
                        known[pieces(name)[:-1]][kind].add(key)  # who asks for a V100 takes a V100S
        for (own, kind), keys in exact.items():
            # An item of this very name rules over others that have it in theirs: DGX-2 is not DGX-2H.
            known[own][kind] = keys
        held = {link.id for link in fabric_links(catalog)}
        self._vendors = _vendor_names(catalog)
        for kind, outside in ELSEWHERE.items():
            for called in outside:
                if kind == "fabric" and "".join(pieces(called)) in held:
                    continue
                if pieces(called) not in self._vendors:
                    known.setdefault(pieces(called), {f"{OUTSIDE}{kind}": {called}})
        self._known = {
            name: {kind: tuple(sorted(keys)) for kind, keys in found.items()} for name, found in known.items()
        }
        self._longest = min(_MOST_PIECES, max(map(len, self._known), default=1))

    def mark(self, text: UnreadText) -> list[Mention]:
        """Find all names in a text and put their signs in their places."""
        mentions = self.named(text.left)
        for mention in mentions:
            text.mark(mention.start, mention.end, mention.kind[0])
        return mentions

    def named(self, text: str) -> list[Mention]:
        """All names in a text; the longest name at a place rules."""
        words = [(match[0].lower(), match.start(), match.end()) for match in _PIECE.finditer(text)]
        mentions: list[Mention] = []
        place = 0
        while place < len(words):
            count, mention = self._at(text, words, place)
            if mention is not None:
                mentions.append(mention)
            place += max(count, 1)
        return mentions

    def dnns_named(self, name: Pieces) -> tuple[str, ...]:
        """Networks with a name, given by its pieces."""
        return self._known.get(name, {}).get(DNN, ())

    def is_known(self, word: str) -> bool:
        """Whether a word is a name, or the first piece of one, of the catalogue or elsewhere."""
        first = pieces(word)[:1]
        return any(name[:1] == first for name in (*self._known, *self._vendors))

    def _at(self, text: str, words: list[tuple[str, int, int]], place: int) -> tuple[int, Mention | None]:
        """The longest name that starts at a piece, and how many pieces it takes."""
        start = words[place][1]
        if start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
            return 0, None
        if text.startswith("a ", start):
            return 0, None  # an article: "a 100 Gbit/s link" names no A100
        run = 1
        while run < self._longest and place + run < len(words):
            gap = text[words[place + run - 1][2] : words[place + run][1]]
            if _GAP.fullmatch(gap) is None:
                break
            run += 1
        for count in range(run, 0, -1):
            key = tuple(word for word, _, _ in words[place : place + count])
            end = words[place + count - 1][2]
            if end < len(text) and (text[end].isalnum() or text[end] == "_"):
                continue
            if count > 1 and text[end - 2 : end].isalnum() and text[end - 2 : end].endswith("s") and key[-1] == "s":
                key = (
                    key[:-1] if key[:-1] in self._known else key
                )  # "V100s" is the plural of V100; a V100S has a capital
            for name in (key, (*key[:-1], key[-1].removesuffix("s"))):
                if found := self._known.get(name):
                    kind = next(kind for kind in (*_FOLDERS, *found) if kind in found)
                    return count, Mention(kind, start, end, found[kind])
                if name in self._vendors:
                    return count, Mention(VENDOR, start, end, (self._vendors[name],))
        return 0, None


def is_named(kind: str, item: Item) -> bool:
    """Whether a sentence can name an item: GPU servers, and everything of the other kinds."""
    return kind != SERVER or getattr(item, "role", "") == "gpu"


@lru_cache(maxsize=8)
def names_of(catalog: Catalog) -> Names:
    """Names of a catalogue, collected once."""
    return Names(catalog)


def pieces(name: str) -> Pieces:
    """Letters and digits of a name: ResNet-50, resnet 50 and ResNet50 are the same."""
    return tuple(piece.lower() for piece in _PIECE.findall(name))


def short_name(item: Item) -> str:
    """Name of an item up to its first comma, bracket or "with"."""
    return re.split(r",| \(| with ", item.name)[0]


def _family_names(item: Item) -> list[str]:
    """Names that an item may share with others: V100 of a Tesla V100 PCIe, Isilon of an Isilon F800, ResNet."""
    words = short_name(item).split()
    numbered = [word for word in words if _MODEL_NUMBER.fullmatch(word) and len(pieces(word)) > 1]
    numbered += [" ".join(words[:n]) for n in range(2, len(words))]
    # "Qwen3 235B" of Qwen3 235B-A22B: the active parameters are left out.
    without_active = re.sub(r"-A\d+B\b", "", short_name(item))
    numbered += [without_active] if without_active != short_name(item) else []
    first = re.split(r"[\s-]", short_name(item))[0]
    is_telling = len(first) > 2 and first.isalpha() and first.lower() not in _TOO_COMMON | FILLERS
    # A lone size, form factor or version is no name: 32 GB, SXM2, V3.
    return [
        name
        for name in (*numbered, *([first] if is_telling else []))
        if not re.fullmatch(r"(?i)\w?\d+gb|sxm\d|fhhl|v\d", name)
    ]


def _vendor_names(catalog: Catalog) -> dict[Pieces, str]:
    """Names of vendors, those of GPUs too, and their parts: Dell EMC Isilon, Dell EMC, Dell, EMC.

    A name may lack its last letter: HP.
    """
    names: dict[Pieces, str] = {}
    makers_of_gpus = {gpu.vendor for gpu in catalog.gpus.values()}
    for vendor in sorted({*vendors_of(catalog), *makers_of_gpus}):
        words = vendor.split()
        for first in range(len(words)):
            for last in range(first + 1, len(words) + 1):
                part = " ".join(words[first:last])
                if part.lower() not in FILLERS:  # "Storage" is no name of Pure Storage
                    names.setdefault(pieces(part), part)
        for series in _SERIES.get(words[0], ()):
            names.setdefault((series,), words[0])
        if len(words) == 1 and vendor.isupper() and len(vendor) == 3:
            names.setdefault((vendor[:2].lower(),), vendor)
    return names


@cache
def _rows() -> Counter[str]:
    """Rows of a network by its name in the tables; read once, the files belong to the installed package."""
    found: Counter[str] = Counter()
    for file, column in _TABLES:
        with (data_dir("catalog") / "benchmarks" / file).open(encoding="utf-8", newline="") as table:
            found.update(_letters(row[column]) for row in csv.DictReader(table))
    return found


def _letters(name: str) -> str:
    """A name without what its spellings differ in."""
    return "".join(filter(str.isalnum, name.casefold()))


@lru_cache(maxsize=8)
def measurements(catalog: Catalog) -> Mapping[str, int]:
    """Published measurements of each neural network, by its id: of what is in wide use, most was measured."""
    return {
        dnn.id: sum(_rows()[name] for name in {_letters(name) for name in (dnn.id, dnn.name, *dnn.aliases)})
        for dnn in catalog.dnns.values()
    }
