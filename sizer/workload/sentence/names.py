"""Names in a sentence: what the catalogue holds under all names that people use for it, and what it does not hold."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from sizer.catalog.fabrics import fabric_links
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog, vendors_of
from sizer.catalog.schema import Gpu
from sizer.workload.sentence.grammar import ELSEWHERE, FILLERS, GRAMMAR, rule
from sizer.workload.sentence.quantities import UNITS
from sizer.workload.sentence.text import Name

_FOLDERS: dict[str, str] = GRAMMAR["names"]["folders"]
# A plus sign that ends a word tells another part: Command R+.
_PIECE = re.compile(r"[^\W\d_]+|\d+|(?<=\w)\+(?![\w+])")
Pieces = tuple[str, ...]
# Words of limits and of work, and units, that may be told with a letter wrong.
_SAID = GRAMMAR["names"]["said"].split()
_NEARLY = ("time", "tokens", "epochs", "servers", "money")


class Names:
    """All names of a catalogue by their pieces."""

    def __init__(self, catalog: Catalog) -> None:
        known: defaultdict[Pieces, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        exact: defaultdict[tuple[Pieces, str], set[str]] = defaultdict(set)
        self._catalog = catalog
        for kind, folder in _FOLDERS.items():
            items: Mapping[str, Item] = catalog.folder(folder)
            for key, item in items.items():
                if (kind == "server" and getattr(item, "role", "") != "gpu") or getattr(item, "kind", "") == "local":
                    continue
                for name in (key, short_name(item), *item.aliases):
                    exact[pieces(name), kind].add(key)
                for name in (*_family_names(item), key, item.name, short_name(item), *item.aliases):
                    if not rule("<NO_NAME>").fullmatch(name):
                        known[pieces(name)][kind].add(key)
                        known[pieces(name.replace("-", ""))][kind].add(key)
                    if kind == "gpu" and re.fullmatch(r".*\d[Ss]", name):
                        known[pieces(name)[:-1]][kind].add(key)  # who asks for a V100 takes a V100S
        for (own, kind), keys in exact.items():
            # An item of this very name rules over others that have it in theirs: DGX-2 is not DGX-2H.
            if own in known:
                known[own][kind] = keys
        for stack in catalog.stacks.values():
            libraries = {word for word in GRAMMAR["names"]["libraries"] if word in re.findall(r"\w+", stack.name)}
            for name in {stack.framework, *stack.aliases, *libraries}:
                known[pieces(name)].setdefault("software", {name})
        # Vendors, those of GPUs too, and their parts: Dell EMC, Dell, EMC; "Storage" is no name of Pure Storage.
        self._vendors: dict[Pieces, str] = {}
        for words in (vendor.split() for vendor in vendors_of(catalog)):
            places = [(first, last + 1) for first in range(len(words)) for last in range(first, len(words))]
            parts = (" ".join(words[first:last]) for first, last in places)
            names = {part: part for part in parts if part.lower() not in FILLERS}
            names |= dict.fromkeys(GRAMMAR["names"]["series"].get(words[0], ()), words[0])
            self._vendors = {pieces(name): vendor for name, vendor in names.items()} | self._vendors
        for kind, outside in ELSEWHERE.items():
            for called in outside:
                if kind == "gpu" and (of := [one.id for one in catalog.generations.values() if one.name == called]):
                    gpus = {key for key, gpu in catalog.gpus.items() if gpu.generation in of}
                    known[pieces(called)]["gpu"] = gpus
                elif pieces(called) not in self._vendors and not (kind == "fabric" and called.lower() in catalog.links):
                    known.setdefault(pieces(called), {f"outside {kind}": {kind}})
        ids = known.items()
        self._known = {name: {kind: tuple(sorted(keys)) for kind, keys in of.items()} for name, of in ids}
        firsts = {name[0] for name, of in self._known.items() if len(name) > 1 and of.keys() & _FOLDERS.keys()}
        # First words of names, and long units, without any one letter: two words that share the rest differ by one.
        units = [name for name, (kind, *_) in reversed(UNITS.items()) if kind in _NEARLY and name.isalpha()]
        long = (name for name in (*units, *_SAID) if len(name) > 3)
        every = [name for name in (*sorted(firsts), *long) if len(name) > 3]
        self._nearly = {part: name for name in every for part in _shortened(name)} | {name: name for name in every}
        # Behind a whole name another piece may stand: the plural.
        self._starts = {name[:size] for name in (*self._known, *self._vendors) for size in range(1, len(name) + 1)}
        bands = "|".join(re.escape(link.id) for link in catalog.links.values() if link.is_infiniband) or "(?!)"
        self._fabrics = rule(GRAMMAR["patterns"]["FABRIC_NAME"].replace("BANDS", bands))
        self._gpus = {key: {*pieces(gpu.name)} for key, gpu in catalog.gpus.items()}
        self.sizes: dict[str, list[str]] = {}
        for dnn in (one for one in catalog.dnns.values() if one.transformer is not None):
            for word in re.findall(r"(?<!\S)\d+(?:\.\d+)?B(?!\S)", short_name(dnn).upper()):
                self.sizes.setdefault(word, []).append(dnn.id)
        for dnn in catalog.dnns.values():  # a size that is a name by itself is that of one network: 8B
            self.sizes |= {name: [dnn.id] for name in dnn.aliases if re.fullmatch(r"\d+B", name)}

    def named(self, text: str) -> list[Name]:
        """All names in a text; the longest name at a place rules."""
        found = list(self._fabric_names(text))
        for one in found:
            text = f"{text[: one.start]}{chr(0) * (one.end - one.start)}{text[one.end :]}"
        words = [
            (match[0].lower(), match.start(), match.end())
            for match in _PIECE.finditer(text)
            if not rule("<TUNED_FOR>").match(text, match.start() - 1)
        ]
        place = 0
        while place < len(words):
            count, name = self._at(text, words, place)
            if name is not None:
                found.append(name)
                while place + count < len(words) and words[place + count][1] < name.end:
                    count += 1  # "V100 32 GB": its memory belongs to the name
            place += max(count, 1)
        return found

    def misspelt(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Words with one letter wrong, and what is meant: the first of a name with a number, a unit behind a number."""
        words = [(match[0].lower(), *match.span()) for match in _PIECE.finditer(text)]
        for index, (word, start, end) in enumerate(words):
            meant = {self._nearly[part]: part for part in _shortened(word) if part in self._nearly}
            if len(word) < 3 or not meant or word in (*meant, *FILLERS, *UNITS) or self._at(text, words, index)[1]:
                continue
            best = max(meant, key=lambda one: meant[one] == one)
            is_unit = UNITS.get(best, ("",))[0] in _NEARLY and best[0] == word[0]
            is_counted = index > 0 and (words[index - 1][0].isdigit() or text[start - 2 : start - 1] == "k")
            is_said = best in _SAID and len(word) > 3 and (best[0], best[-1]) == (word[0], word[-1])
            if is_said or (is_unit and is_counted):
                yield start, end, best
            if best in _SAID or len(word) < 4 or (is_unit and is_counted):
                continue
            _, name = self._at(text, [*words[:index], (best, start, end), *words[index + 1 :]], index)
            if name is not None and name.kind in _FOLDERS and re.search(r"\d", text[start : name.end]):
                item = self._catalog.item(name.ids[0])
                yield start, end, next(one for one in _PIECE.findall(item.name) if one.lower() == best)

    def alike(self, words: str) -> tuple[str, ...]:
        """GPUs in whose names some words stand: the variants of a V100."""
        told = {*pieces(words)}
        return tuple(key for key, own in self._gpus.items() if told <= own)

    def _at(self, text: str, words: list[tuple[str, int, int]], place: int) -> tuple[int, Name | None]:
        """The longest name that starts at a piece, and how many pieces it takes."""
        start = words[place][1]
        # An article: "a 100 Gbit/s link" names no A100.
        if text.startswith("a ", start) or (start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_")):
            return 0, None
        run = 1
        while place + run < len(words) and tuple(word for word, _, _ in words[place : place + run]) in self._starts:
            if rule("<NAME_GAP>").fullmatch(text, words[place + run - 1][2], words[place + run][1]) is None:
                break
            run += 1
        for count in range(run, 0, -1):
            key = tuple(word for word, _, _ in words[place : place + count])
            end = words[place + count - 1][2]
            if end < len(text) and (text[end].isalnum() or text[end] == "_"):
                continue
            if count > 1 and key[-1] == text[end - 1] == "s" and text[end - 2].isalnum():
                key = key[:-1] if key[:-1] in self._known else key  # "V100s": the plural; a V100S has a capital
            for name in (key, (*key[:-1], key[-1].removesuffix("s"))):
                found = self._known.get(name)
                if found and (name == key or not any(kind.startswith("outside") for kind in found)):
                    return count, self._name(text, start, end, found)
                if name in self._vendors:
                    return count, Name("maker", start, end, (self._vendors[name],))
        return 0, None

    def _name(self, text: str, start: int, end: int, found: dict[str, tuple[str, ...]]) -> Name | None:
        kind = next(kind for kind in (*_FOLDERS, *found) if kind in found)
        ids, after = found[kind], text[end:]
        is_alone = kind.startswith("outside") or (kind == "dnn" and len(ids) == 1)
        if (
            (kind == "software" and re.match(r"-(?!based|native)[A-Za-z]", after))  # a longer name with a hyphen
            or (kind == "dataset" and re.match(r"[ -]\d+k\b", after, re.I))  # "ImageNet-21k": another one
            or (not is_alone and rule("<ALIKE>").match(text, end))
        ):
            return None
        if kind == "dnn" and (other := self._other_size(text, start, end, ids)):
            return Name("outside", *other, (self._catalog.dnns[ids[0]].sample,))
        is_kind = kind == "dnn" and text[start:end].lower().startswith("transformer")
        is_text = kind == "dnn" and self._catalog.dnns[ids[0]].sample in ("token", "sequence")
        styled = rule("<STYLED>").match(text, end) if is_text else None
        if styled and rule("<SIZE_AFTER>").match(text, styled.end()):
            return Name("kind", start, styled.end(), ())
        if is_kind and (rule("<SIZE_BEFORE>").search(text[:start]) or rule("<SIZE_AFTER>").match(text, end)):
            return Name("kind", start, end, ())  # "a 30B dense transformer"
        if kind in ("server", "storage") and len(ids) > 1 and (model := rule("<OTHER_MODEL>").match(text, end)):
            return Name("outside", start, model.end(), (kind,))  # "DGX-1V", "Isilon X99": another of the family
        sized = {"gpu": self._gpu, "server": self._server}.get(kind)
        return sized(text, start, end, ids) if sized else Name(kind.split()[0], start, end, ids)

    def _other_size(self, text: str, start: int, end: int, ids: tuple[str, ...]) -> tuple[int, int] | None:
        """Place of a name with a size that none of its networks has: Nemotron 49B, a 65B Llama, Mistral Large."""
        if re.search(r"\dB$", text[start:end], re.I):
            return None
        other = rule("<OTHER_SIZE>").match(text, end)
        end = other.end() if other else end
        behind = re.compile(r"[ -](\d{1,4}(?:\.\d)?)B\b", re.I).match(text, end)
        size = behind or re.search(r"(?<![\w.])(\d{1,4}(?:\.\d)?)B $", text[max(0, start - 9) : start], re.I)
        billions = float(size[1]) if size else 0.0
        dnns = [self._catalog.dnns[key] for key in ids]
        # A Llama 2 7B is called by this size and has 6.7 billion parameters; none is called or has 65.
        called = [dnn for dnn in dnns if re.search(rf"(?<![\w.]){billions:g}B\b", short_name(dnn), re.I)]
        called += [dnn for dnn in dnns if abs(dnn.parameters.value / 1e9 - billions) < 0.03 * billions]
        if not other and (size is None or len(ids) < 2 or called):
            return None
        return start - len(size[0]) if size and not behind else start, behind.end() if behind else end

    def _gpu(self, text: str, start: int, end: int, ids: tuple[str, ...]) -> Name:
        """The name of a GPU with its memory and form: V100 SXM2 32 GB, HGX B200."""
        before = rule("<GPU_BEFORE>").search(text, max(0, start - 20), start)
        after = rule("<GPU_AFTER>").match(text, end)
        assert before is not None
        assert after is not None
        memory = after["gb"] or before["gb"]
        forms = (after["form"] or before["form"] or after["after"], after["without"])
        form, without = (re.sub(r"[^a-z0-9]", "", (one or "").lower()) for one in forms)
        kept: list[str] = []
        # "A100 40GB": of the variant that the name alone means, else of the others of this name.
        for keys in (ids, self.alike(text[start:end])):
            gpus = [self._catalog.gpus[key] for key in keys]
            gpus = [gpu for gpu in gpus if _has_form(gpu, form) and not (without and _has_form(gpu, without))]
            kept = kept or [gpu.id for gpu in gpus if not memory or f" {memory} gb" in gpu.name.lower()]
        return Name("gpu", before.start(), after.end(), tuple(kept), "board" if form == "hgx" else "")

    def _server(self, text: str, start: int, end: int, ids: tuple[str, ...]) -> Name:
        """The name of a server with the memory of its GPUs, of each or of all: DGX A100 640GB."""
        if memory := rule("<SERVER_MEMORY>").match(text, end):
            for server in (self._catalog.servers[key] for key in ids):
                sizes = {f" {float(memory['gb']) / n:g} gb" for n in (1.0, server.n_gpus.value if server.n_gpus else 1)}
                gpus = [key for key in server.gpus if any(one in self._catalog.gpus[key].name.lower() for one in sizes)]
                if gpus:
                    return Name("server", start, memory.end(), (server.id,), gpus[0])
        return Name("server", start, end, ids)

    def _fabric_names(self, text: str) -> Iterator[Name]:
        """Fabrics by speed or kind: EDR, InfiniBand, 400G NDR, 100 GbE."""
        links = fabric_links(self._catalog)
        for match in self._fabrics.finditer(text):
            band, of_band = (match["band"] or match["band_after"] or "").lower(), match["ib_speed"]
            speed = float(match["speed"] or match["speed_after"] or 0)
            kinds = [
                link
                for link in (self._catalog.links.values() if speed else links)
                if (match["infiniband"] and link.is_infiniband)
                or (match["ethernet"] and not link.is_infiniband)
                or link.id == band
                or (speed and not link.is_infiniband and link.gbit_per_s.value == speed)
            ]
            kinds = [kind for kind in kinds if of_band and kind.gbit_per_s.value == float(of_band)] or kinds
            is_kind = len(kinds) > 1 and not of_band
            qualifier = "kind" if is_kind else "" if all(kind in links for kind in kinds) else "other"
            yield Name("fabric", *match.span(), tuple(kind.id for kind in kinds), qualifier)


def _shortened(word: str) -> list[str]:
    """A word, and what is left of it without any one of its letters."""
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]


def _has_form(gpu: Gpu, form: str) -> bool:
    """Whether a GPU has the form asked for; boards of HGX and GPUs with NVLink are SXM modules."""
    kind = str(gpu.form_factor.value)
    is_sxm = form in ("nvlink", "hgx") and kind.startswith("sxm")
    return not form or is_sxm or kind.startswith(form) or form in pieces(gpu.name)


@lru_cache(maxsize=8)
def names_of(catalog: Catalog) -> Names:
    """Names of a catalogue, collected once."""
    return Names(catalog)


def pieces(name: str) -> Pieces:
    """Letters and digits of a name: ResNet-50, resnet 50 and ResNet50 are the same."""
    return tuple(piece.lower() for piece in _PIECE.findall(name))


# What is known of names that the catalogue lacks, by their pieces.
KNOWN = {pieces(name): known for names in ELSEWHERE.values() for name, known in names.items() if known}


def short_name(item: Item) -> str:
    """Name of an item up to its first comma, bracket or "with"."""
    return re.split(r",| \(| with ", item.name)[0]


def place_of(item: Item) -> int:
    """Place of a network among those in wide use, of which most was measured."""
    usual = GRAMMAR["names"]["usual"]
    return usual.index(short_name(item)) if short_name(item) in usual else len(usual)


def _family_names(item: Item) -> list[str]:
    """Names that an item may share with others: V100 of a Tesla V100 PCIe, Isilon of an Isilon F800, ResNet."""
    name, common = short_name(item), FILLERS.union(GRAMMAR["names"]["too_common"])
    words, first = name.split(), re.split(r"[\s-]", name)[0]
    numbered = [
        word for word in words if re.fullmatch(r"(?=\w*\d)(?=\w*[A-Za-z])[\w-]{2,}", word) and len(pieces(word)) > 1
    ]
    is_telling = len(first) > 2 and first.isalpha() and first.lower() not in common
    # "Qwen3 235B" of Qwen3 235B-A22B: the active parameters are left out.
    numbered += [*(" ".join(words[:n]) for n in range(2, len(words))), re.sub(r"-A\d+B\b", "", name)]
    return [*numbered, *([first] if is_telling else [])]
