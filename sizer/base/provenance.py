"""A value that can say where it came from."""

from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")

Basis = Literal["datasheet", "measured", "published", "derived", "assumed"]


class Alternate(BaseModel, Generic[T]):
    """Another source's value for the same fact, kept so that a disagreement stays visible."""

    # Built inside the class of an item that uses it, never on its own: a hundred validators less at import.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: T
    source: str
    where: str
    note: str = ""


class Sourced(BaseModel, Generic[T]):
    """A fact with its source. ``note`` explains the choice wherever ``alternates`` disagree.

    ``source`` is a key of ``catalog/sources.toml``; ``where`` the page, table, figure or cell in it.
    """

    # Built inside the class of an item that uses it, never on its own: a hundred validators less at import.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: T
    basis: Basis
    source: str
    where: str
    note: str = ""
    alternates: tuple[Alternate[T], ...] = ()
