"""A value that can say where it came from."""

import copyreg
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from sizer.base.texts import LongText, ShortText

T = TypeVar("T")

# Key of the facts that no document gives: their note states the reason for the value.
ASSUMPTION = "assumption"

Basis = Literal["datasheet", "measured", "published", "derived", "assumed"]


class Alternate(BaseModel, Generic[T]):
    """Another source's value for the same fact, kept so that a disagreement stays visible."""

    # Built inside the class of an item that uses it, never on its own: a hundred validators less at import.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: T
    source: ShortText
    where: LongText
    note: LongText = ""


class Sourced(BaseModel, Generic[T]):
    """A fact with its source. ``note`` explains the choice wherever ``alternates`` disagree.

    ``source`` is a key of ``catalog/sources.toml``; ``where`` the page, table, figure or cell in it.
    """

    # Built inside the class of an item that uses it, never on its own: a hundred validators less at import.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: T
    basis: Basis
    source: ShortText
    where: LongText
    note: LongText = ""
    alternates: tuple[Alternate[T], ...] = ()


def make_picklable() -> None:
    """Let every fact be pickled whose kind of value is known by now.

    Workers of a batch get the catalogue by pickle, which cannot find a class such as Sourced[Count] by its name. The
    restored fact is a plain Sourced; it equals the one that was sent.
    """
    for parametrised in (*Sourced.__subclasses__(), *Alternate.__subclasses__()):
        copyreg.pickle(parametrised, _reduced)


def _reduced(fact: BaseModel) -> tuple[Any, ...]:
    return (_restored, (type(fact).__pydantic_generic_metadata__["origin"], dict(fact)))


def _restored(origin: type[BaseModel], fields: dict[str, Any]) -> BaseModel:
    return origin.model_construct(**fields)
