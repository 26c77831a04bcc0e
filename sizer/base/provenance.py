"""A value that can say where it came from."""

from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")

Basis = Literal["datasheet", "measured", "published", "derived", "assumed"]


class Alternate(BaseModel, Generic[T]):
    """Another source's value for the same fact, kept so that a disagreement stays visible."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: T
    source: str
    where: str
    note: str = ""


class Sourced(BaseModel, Generic[T]):
    """A fact with its source. ``note`` explains the choice wherever ``alternates`` disagree.

    ``source`` is a key of ``catalog/sources.toml``; ``where`` the page, table, figure or cell in it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: T
    basis: Basis
    source: str
    where: str
    note: str = ""
    alternates: tuple[Alternate[T], ...] = ()
