"""Answers by keys that are much smaller than what the answers are worked out from."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# Catalogues whose answers are stored at a time: one that nobody uses any more goes.
_CATALOGS = 8


class StoredAnswers(Generic[T]):
    """Answers by key; of more than ``most``, the one that nobody has asked for the longest is forgotten.

    An array in an answer must not be written to. A key or an answer that holds a catalogue would keep it for as long:
    see :func:`stores_by_catalog`.
    """

    def __init__(self, most: int) -> None:
        @lru_cache(maxsize=most)
        def place(key: Hashable) -> list[T]:  # noqa: ARG001 -- nothing before the answer is worked out
            return []

        self._place = place

    def clear(self) -> None:
        """Forget every answer."""
        self._place.cache_clear()

    def get(self, key: Hashable, work_out: Callable[[], T]) -> T:
        place = self._place(key)
        if not place:
            place.append(work_out())
        return place[0]


def stores_by_catalog(most: int) -> Callable[..., StoredAnswers[Any]]:
    """The store of a catalogue, or of one with a calibration: forgotten with the catalogue."""

    @lru_cache(maxsize=_CATALOGS)
    def store(*_: Hashable) -> StoredAnswers[Any]:
        return StoredAnswers(most)

    return store
