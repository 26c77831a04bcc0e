"""Wordings of models, tasks, sharding and recomputation in rows of others, in the words of the shipped rows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sizer.base.identity_cache import cached_by_catalog
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.language.shapes import plain_name
from sizer.calibrate.language.stacks import TUNED, stack_named
from sizer.catalog.model import Catalog

# Words of a name that tell no model from another, and makers that stand before it.
_KINDS_OF_MODEL = frozenset(
    ("instruct", "base", "chat", "hf", "it", "lora", "qlora", "peft", "sft", "moe", "model", "pretrain", "pretraining",
     "finetune", "finetuning")
)  # fmt: skip
_MAKERS = frozenset(("meta", "nvidia", "openai", "google", "mosaicml", "xai", "moonshotai"))
_ACTIVE = re.compile(r"(?<![a-z])a[0-9]+(?:\.[0-9]+)?b(?![a-z])")
_SIZE = re.compile(r"(?<![0-9.])(?:[0-9]+x)?[0-9]+(?:\.[0-9]+)?[bm](?![a-z])")
_DATE = re.compile(r"(?<![0-9a-z])[0-9]{4}(?![0-9a-z])")
# Sizes that are one, as share: of a name that rounds it, and of a row's parameters, which may count no embeddings.
_SAME_NAMED_SIZE, _SAME_SIZE = 0.02, 0.25
# Recomputation as a switch: switched on it is that of whole layers.
_ON, _OFF = ("yes", "true", "on", "enabled"), ("no", "none", "false", "off", "disabled")
_FULLY_SHARDED = ("fsdp", "zero3", "hsdp", "fullshard", "hybridshard")
_NOT_SHARDED = ("ddp", "zero0", "noshard", "none")
_FINE_TUNING = ("lora", "sft")


@dataclass(frozen=True)
class ModelWords:
    """A model's name in parts."""

    words: frozenset[str]
    version: str  # digits
    size: str  # as the name states it, with its unit; empty: not stated
    active: str  # the same of the parameters that a token uses

    @staticmethod
    def of(text: str) -> "ModelWords":
        """Parts of a name."""
        rest = _usual(text)
        active = _ACTIVE.search(rest)
        rest = _ACTIVE.sub(" ", rest)
        size = _SIZE.search(rest)
        rest = _DATE.sub(" ", _SIZE.sub(" ", rest))
        tokens = re.findall(r"[a-z]+|[0-9]+(?:\.[0-9]+)*", rest)
        words = frozenset(token for token in tokens if token.isalpha() and token not in (*_KINDS_OF_MODEL, "v"))
        version = "".join(token.replace(".", "") for token in tokens if not token.isalpha())
        return ModelWords(words, version, size[0] if size else "", active[0] if active else "")


@dataclass(frozen=True)
class NamedModel:
    """A name of a model that the fit or the catalogue has."""

    model: str  # its name in the shipped rows, else in the catalogue
    parts: ModelWords
    params_b: float | None


def _usual(text: str) -> str:
    """A name in lower case without its organisation, with hyphens."""
    words = re.split(r"[\s_-]+", text.lower().rsplit("/", 1)[-1].strip())
    while len(words) > 1 and words[0] in _MAKERS:
        words = words[1:]
    return "-".join(words)


class ModelNames:
    """Models by their names, whatever their spelling."""

    def __init__(self, catalog: Catalog, known: Iterable[LanguageRow]) -> None:
        self._named = dict(_of_catalogue(catalog))
        for row in known:
            self._named.setdefault(plain_name(row.model), NamedModel(row.model, ModelWords.of(row.model), None))
        self._found: dict[tuple[str, float | None], str] = {}

    def model_of(self, row: LanguageRow) -> str:
        """Name of a row's model in the shipped rows or the catalogue; else the row's own without its organisation."""
        # The layers that a proxy leaves out are no other model.
        size = None if row.layers or row.kind.lower().startswith("pretrain_") else row.params_b
        key = (row.model, size)
        if key not in self._found:
            self._found[key] = self._model(row.model, size)
        return self._found[key]

    def _model(self, text: str, params_b: float | None) -> str:
        short = "-".join(word for word in _usual(text).split("-") if word not in _KINDS_OF_MODEL)
        for name in (text, short):
            if plain_name(name) in self._named:
                return self._named[plain_name(name)].model
        parts = ModelWords.of(text)
        alike = [one for one in self._named.values() if parts.words and _is_named(parts, params_b, one)]
        whole = [one for one in alike if one.parts.words == parts.words]
        for group in (whole, alike):
            models = {one.model for one in group}
            if len(models) == 1:
                return models.pop()
        return text.rsplit("/", 1)[-1].strip() or text


@cached_by_catalog
def _of_catalogue(catalog: Catalog) -> dict[str, NamedModel]:
    """Each name of the catalogue's language models, as :func:`plain_name` writes it."""
    found: dict[str, NamedModel] = {}
    for dnn in catalog.dnns.values():
        if dnn.transformer is None:
            continue
        for name in (dnn.id, dnn.name, *dnn.aliases, dnn.transformer.measured_as):
            model = dnn.transformer.measured_as or dnn.name
            found.setdefault(plain_name(name), NamedModel(model, ModelWords.of(name), dnn.parameters.value / 1e9))
    found.pop("", None)
    return found


def _is_named(parts: ModelWords, params_b: float | None, one: NamedModel) -> bool:
    """Whether a name leaves out parts of a known one and contradicts none.

    A later release of a version, such as 3.1 of 3, is the same model where the size says so.
    """
    known = one.parts
    if not parts.words <= known.words or (parts.active and parts.active != known.active):
        return False
    is_alike = _is_size(parts, params_b, one)
    if parts.version in ("", known.version):
        return is_alike is not False
    return is_alike is True and bool(known.version) and parts.version.startswith(known.version)


def _is_size(parts: ModelWords, params_b: float | None, one: NamedModel) -> bool | None:
    """Whether a model has a known one's size; None where nothing says so."""
    if parts.size and one.parts.size:
        return parts.size == one.parts.size
    size = one.params_b or _size_b(one.parts.size)
    stated, tolerance = (_size_b(parts.size), _SAME_NAMED_SIZE) if parts.size else (params_b, _SAME_SIZE)
    return abs(stated / size - 1) < tolerance if stated and size else None


def _size_b(text: str) -> float:
    """G parameters of a size as names write it; 0 of a product, such as 8x7b, and of none."""
    if not text or "x" in text:
        return 0.0
    return float(text[:-1]) * (1.0 if text.endswith("b") else 1e-3)


def family_of(model: str) -> str:
    """The first word of a model's name, without its version."""
    usual = _usual(model)
    return re.split(r"v?[0-9]|[-.]", usual)[0] or usual


def usual_words(row: LanguageRow, names: ModelNames, known: Sequence[LanguageRow], guessed: list[str]) -> LanguageRow:
    """A row with the words of the shipped rows for its model, task, sharding and recomputation.

    Parameters
    ----------
    row : LanguageRow
    names : ModelNames
    known : sequence of LanguageRow
        Of the fit: tasks of a benchmark.
    guessed : list of str
        Takes what the row leaves open.
    """
    model = names.model_of(row)
    return replace(
        row,
        model=model,
        kind=_kind(row, model, known, guessed),
        sharding=_sharding(row.sharding),
        recompute=_recompute(row.recompute),
    )


def _kind(row: LanguageRow, model: str, known: Sequence[LanguageRow], guessed: list[str]) -> str:
    """The task: pretrain, pretrain_proxy, sft or lora; of a benchmark whose task a row leaves out, the benchmark's."""
    plain = plain_name(row.kind)
    if any(word in plain for word in ("lora", "peft", "adapter")):
        return "lora"
    if "sft" in plain or "fullfinetun" in plain:
        return "sft"
    if plain.startswith("pretrain"):
        return "pretrain_proxy" if "proxy" in plain else "pretrain"
    is_tuning = "tun" in plain
    stack = stack_named(row)
    if stack.startswith(TUNED) or row.ttt_min or is_tuning:
        of_model = [one for one in known if one.model == model and (not is_tuning or one.kind in _FINE_TUNING)]
        kinds = {one.kind for one in of_model if stack_named(one).startswith(TUNED)} or {one.kind for one in of_model}
        if len(kinds) == 1:
            return kinds.pop()
    if is_tuning:
        guessed.append("task")
        return "sft"
    return "lora" if "lora" in plain_name(row.model) else "pretrain"


def _sharding(text: str) -> str:
    plain = plain_name(text)
    if any(word in plain for word in _FULLY_SHARDED):
        return "fsdp"
    return "ddp" if plain.startswith(_NOT_SHARDED) else text


def _recompute(text: str) -> str:
    plain = plain_name(text)
    if plain in _OFF:
        return "none"
    if plain in _ON or "full" in plain:
        return "full"
    return "selective" if "select" in plain else ""
