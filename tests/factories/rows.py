"""One test over many rows of data, which names every row that fails."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def every(rows: Iterable[Any] | Callable[[], Iterable[Any]], name: Callable[..., object] = repr) -> Callable[..., Any]:
    """Turn a check of one row into a test of all rows; a function gives them when the test runs, not before.

    A row is one argument of the check, or a tuple of all its arguments; ``name`` says of the same which row it is.
    """

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        n_arguments = len(inspect.signature(check).parameters)

        def test() -> None:
            faults, n = [], 0
            for row in rows() if callable(rows) else rows:
                n += 1
                arguments = row if n_arguments > 1 else (row,)
                try:
                    check(*arguments)
                except Exception as error:
                    called = name(*arguments) if name is not repr else ", ".join(map(repr, arguments))
                    faults.append(f"{called}: {type(error).__name__}: {error}")
            assert n, "no rows"
            assert not faults, f"{len(faults)} of {n} rows:\n" + "\n".join(faults)

        test.__name__ = test.__qualname__ = check.__name__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate
