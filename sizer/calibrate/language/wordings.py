"""Names of models, tasks, sharding and recomputation in rows of others, in the words of the shipped rows."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.language.shapes import plain_name
from sizer.catalog.model import Catalog

# Makers that stand before a model's name.
_MAKERS = frozenset(("meta", "nvidia", "openai", "google", "mosaicml", "xai", "moonshotai"))
_KINDS = ("pretrain", "pretrain_proxy", "sft", "lora")
_RECOMPUTE = ("", "none", "selective", "full")
_FULLY_SHARDED = ("fsdp", "zero3", "hsdp", "fullshard", "hybridshard")
_NOT_SHARDED = ("ddp", "zero0", "noshard", "none")


class ModelNames:
    """Models by their names in the catalogue and in known rows, whatever case and punctuation."""

    def __init__(self, catalog: Catalog, known: Iterable[LanguageRow]) -> None:
        self._models = {plain_name(row.model): row.model for row in known} | _of_catalogue(catalog)

    def model_of(self, row: LanguageRow) -> str:
        """Name of a row's model in the shipped rows or the catalogue; else the row's own without its organisation."""
        model = row.model.rsplit("/", 1)[-1].strip() or row.model
        return self._models.get(plain_name(row.model)) or self._models.get(plain_name(model)) or model


@lru_cache(maxsize=8)
def _of_catalogue(catalog: Catalog) -> dict[str, str]:
    """Each name of the catalogue's language models, as :func:`plain_name` writes it."""
    found: dict[str, str] = {}
    for dnn in catalog.dnns.values():
        if dnn.transformer is not None:
            for name in (dnn.id, dnn.name, *dnn.aliases, dnn.transformer.measured_as):
                found.setdefault(plain_name(name), dnn.transformer.measured_as or dnn.name)
    found.pop("", None)
    return found


def family_of(model: str) -> str:
    """The first word of a model's name, without its version."""
    words = re.split(r"[\s_-]+", model.lower().rsplit("/", 1)[-1].strip())
    while len(words) > 1 and words[0] in _MAKERS:
        words = words[1:]
    usual = "-".join(words)
    return re.split(r"v?[0-9]|[-.]", usual)[0] or usual


def usual_words(row: LanguageRow, names: ModelNames) -> LanguageRow:
    """A row with the words of the shipped rows for its model, task, sharding and recomputation."""
    kind, recompute = row.kind.lower(), row.recompute.lower()
    return replace(
        row,
        model=names.model_of(row),
        kind=kind if kind in _KINDS else "pretrain",
        sharding=_sharding(row.sharding),
        recompute=recompute if recompute in _RECOMPUTE else "",
    )


def _sharding(text: str) -> str:
    plain = plain_name(text)
    if any(word in plain for word in _FULLY_SHARDED):
        return "fsdp"
    return "ddp" if plain.startswith(_NOT_SHARDED) else text
