"""A value that takes long to find and that few readers ask for: found when it is first read."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Deferred(Generic[T]):
    """A value and how it is found; two of them are equal where their values are.

    ``find``: a pure function without arguments; it is called once.
    """

    def __init__(self, find: Callable[[], T]) -> None:
        self._find: Callable[[], T] | None = find
        self._value: T | None = None
        self._lock = Lock()

    @property
    def value(self) -> T:
        with self._lock:
            if self._find is not None:
                self._value, self._find = self._find(), None
        return self._value  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deferred) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[Callable[[T], "Deferred[T]"], tuple[T]]:
        # Another process gets the value, not what it is found from.
        return _known, (self.value,)


def _known(value: T) -> Deferred[T]:
    return Deferred(lambda: value)
