"""Answers kept for objects that never change: items of the catalogue, platforms, languages."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Answers of one function: several times what a request that allows everything asks for. All are dropped when there are
# more, so that a catalogue that nobody uses any more goes with its answers.
_MOST_KEPT = 8192


def kept(function: Callable[P, R]) -> Callable[P, R]:
    """Keep what a pure function of immutable arguments answers, for the very objects that it was asked about.

    Items of two catalogues may share an id and differ, catalogues may even share a digest, and comparing two items
    means comparing every fact of theirs: an answer belongs to the identity of all arguments. It holds them, so that no
    later object can have the identity of one that is gone. Arguments are positional. A function whose answer holds text
    takes the language as an argument. An array in an answer must not be written to.
    """
    answers: dict[tuple[int, ...], tuple[tuple[Any, ...], R]] = {}

    @wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs, "the identity of an answer is that of its positional arguments"
        key = tuple(map(id, args))
        known = answers.get(key)
        if known is not None:
            return known[1]
        if len(answers) >= _MOST_KEPT:
            answers.clear()
        found = function(*args, **kwargs)
        answers[key] = (args, found)
        return found

    return answer
