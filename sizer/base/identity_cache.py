"""Stored answers for objects that never change (catalogues, their items, platforms), and by any other key."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

# First arguments of which a function keeps the answers, several times what one request that allows everything asks
# about. The oldest one goes with all its answers, so that a catalogue that nobody uses any more goes, too.
_ITEMS = 4096
_CATALOGS = 8
# Lists of platforms, as different requests of a batch allow them.
_LISTS = 128


def cached_by_identity(function: Callable[P, R]) -> Callable[P, R]:
    """Keep what a pure function of immutable arguments answers, for the very objects that it was asked about.

    Items of two catalogues may share an id and differ, catalogues may even share a digest, and comparing two items
    means comparing every fact of theirs: an answer belongs to the identity of all arguments. It holds them, so that no
    later object can have the identity of one that is gone.

    Arguments are positional; the first one is an item or a platform. A function whose answer holds text takes the
    language as an argument. An array in an answer must not be written to.
    """
    return _cached(function, _ITEMS)


def cached_by_catalog(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function whose first argument is a catalogue, or a large part of one: for few of them."""
    return _cached(function, _CATALOGS)


def cached_by_list(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function whose first argument is a list that :func:`same_list` gave."""
    return _cached(function, _LISTS)


def _cached(function: Callable[P, R], most: int) -> Callable[P, R]:
    answers: dict[tuple[int, ...], tuple[tuple[Any, ...], R]] = {}
    asked_of: dict[int, list[tuple[int, ...]]] = {}  # first argument -> keys of its answers
    lock = Lock()

    @wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs, "the identity of an answer is that of its positional arguments"
        key = tuple(map(id, args))
        known = answers.get(key)
        if known is not None:
            return known[1]
        found = function(*args, **kwargs)
        with lock:
            if key[0] not in asked_of and len(asked_of) >= most:
                for old in asked_of.pop(next(iter(asked_of))):
                    answers.pop(old, None)
            asked_of.setdefault(key[0], []).append(key)
            answers[key] = (args, found)
        return found

    return answer


@dataclass(frozen=True, eq=False)
class Identity:
    """An object by its identity: part of a key of a bounded cache, where comparing means comparing every fact of it."""

    value: Any


identity_of = cached_by_identity(Identity)
identity_of_catalog = cached_by_catalog(Identity)
identity_of_list = cached_by_list(Identity)


def same_list(items: Sequence[T]) -> tuple[T, ...]:
    """Items that never change, as the tuple that the very same items had before where it is still stored."""
    found: tuple[T, ...] = _list_of(tuple(map(identity_of, items)))
    return found


@lru_cache(maxsize=_LISTS)
def _list_of(items: tuple[Identity, ...]) -> tuple[Any, ...]:
    return tuple(one.value for one in items)


class StoredAnswers(Generic[T]):
    """Answers by key; of more than ``most``, the one that nobody has asked for the longest is forgotten.

    For keys that are much smaller than what an answer is worked out from. An array in an answer must not be written to.
    A key or an answer that holds a catalogue would keep it for as long: see :func:`stores_by_catalog`.
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
        """The answer of a key, worked out where it is not stored."""
        place = self._place(key)
        if not place:
            place.append(work_out())
        return place[0]


def stores_by_catalog(most: int) -> Callable[..., StoredAnswers[Any]]:
    """The store of a catalogue, or of one with a calibration: forgotten with the catalogue."""
    return cached_by_catalog(lambda *_: StoredAnswers(most))
