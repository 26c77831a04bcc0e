"""Answers by keys that are much smaller than what they are worked out from, and values found when first read."""

import hashlib
import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

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


# Digest of the pickle -> the object of this process.
_interned: WeakValueDictionary[bytes, Any] = WeakValueDictionary()


class Interned:
    """Base of large immutable dataclasses by which answers are stored.

    Another process gets one object of each, however often it is sent, and gives that back, so that its stored answers
    and those of this process are used again.
    """

    def __reduce__(self) -> tuple[Callable[[bytes, bytes], Any], tuple[bytes, bytes]]:
        return _of_this_process, self._packed

    @cached_property
    def _packed(self) -> tuple[bytes, bytes]:
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.init}  # type: ignore[arg-type]
        content = pickle.dumps((type(self), values))
        digest = hashlib.sha256(content).digest()
        _interned[digest] = self
        return digest, content


def _of_this_process(digest: bytes, content: bytes) -> Any:
    known = _interned.get(digest)
    if known is None:
        kind, values = pickle.loads(content)
        known = _interned[digest] = kind(**values)
        known.__dict__["_packed"] = digest, content
    return known


V = TypeVar("V")


class Deferred(Generic[V]):
    """A value and how it is found; two of them are equal where their values are.

    ``find``: a pure function without arguments; it is called once. A partial one is of a function of a module.
    """

    def __init__(self, find: Callable[[], V]) -> None:
        self._find: Callable[[], V] | None = find
        self._value: V | None = None
        self._lock = Lock()

    @property
    def value(self) -> V:
        with self._lock:
            if self._find is not None:
                self._value, self._find = self._find(), None
        return self._value  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deferred) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[Callable[[Any], "Deferred[V]"], tuple[Any]]:
        # Another process finds it when it is read there; where only this one can, it gets the value.
        find = self._find
        return (Deferred, (find,)) if isinstance(find, partial) else (_known, (self.value,))


def _known(value: V) -> Deferred[V]:
    return Deferred(lambda: value)


class DeferredValues(Mapping[str, V]):
    """Values by name, each found when it is first read; another process gets all of them."""

    def __init__(self, names: Iterable[str], find: Callable[[str], V]) -> None:
        self._values = {name: Deferred(partial(find, name)) for name in names}

    def __getitem__(self, name: str) -> V:
        return self._values[name].value

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[type[dict[str, V]], tuple[dict[str, V]]]:
        return dict, (dict(self),)
