"""Counts the bytes and floating-point operations of the judge's arrays: ``python -m tests.bench.traffic 1024``.

Each operand of an array operation counts once with the memory that it occupies, a broadcast one without its
repetitions, as if nothing stayed in a cache between two operations. That is what a processor moves at most.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking
from tests.bench.requests import open_request

# Functions that a processor works out as a polynomial or a quotient of two, and what one of them counts as.
ELEMENTARY = frozenset({"exp", "log", "log1p", "expm1", "log2", "power", "sqrt", "ndtr", "ndtri", "log_ndtr", "erf"})
ELEMENTARY_FLOP = 20
# They only look at an array in another way.
_VIEWS = frozenset({"broadcast_arrays", "broadcast_to", "reshape", "shape", "expand_dims", "squeeze", "ndim", "size"})
_MAKERS = ("asarray", "array", "zeros", "ones", "empty", "full", "arange", "stack", "repeat", "tile")

tally: Counter[str] = Counter()


def occupied_bytes(array: np.ndarray) -> int:
    """Memory behind an array; dimensions that repeat the same numbers do not count."""
    lengths = [n for n, stride in zip(array.shape, array.strides, strict=True) if stride != 0 or n == 0]
    return int(np.prod(lengths, dtype=np.int64)) * array.itemsize


class Watched(np.ndarray):
    """An array whose operations are counted, and whose results are watched too."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Do it with plain arrays, and count."""
        plain = [_plain(one) for one in inputs]
        if "out" in options:
            options["out"] = tuple(_plain(one) for one in options["out"])
        if "where" in options:
            options["where"] = _plain(options["where"])
        result = getattr(ufunc, method)(*plain, **options)
        operands = [one for one in plain if isinstance(one, np.ndarray)]
        _count(operands, result)
        if any(one.dtype.kind == "f" for one in operands):
            is_reduced = method != "__call__"
            size = operands[0].size if is_reduced else sum(one.size for one in _arrays(result))
            tally["elementary" if ufunc.__name__ in ELEMENTARY else "arithmetic"] += size
        return _watched(result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """The same for functions that are no ufunc: where, stack, unique."""
        plain = _plain(args)
        result = function(*plain, **_plain(options))
        if function.__name__ not in _VIEWS:
            _count(list(_arrays(plain)), result)
        return _watched(result)

    def __getitem__(self, key: Any) -> Any:
        """A view costs nothing, a copy is read and written."""
        base = self.view(np.ndarray)
        result = base[_plain(key)]
        if isinstance(result, np.ndarray) and not np.may_share_memory(result, base):
            _count([result], result)
        return _watched(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        """What is written, and what it is read from."""
        base, plain, given = self.view(np.ndarray), _plain(key), _plain(value)
        base[plain] = given
        _count([one for one in [given] if isinstance(one, np.ndarray)], base[plain])

    def astype(self, *args: Any, **options: Any) -> Any:
        """A copy."""
        result = self.view(np.ndarray).astype(*args, **options)
        _count([self], result)
        return _watched(result)


def _plain(value: Any) -> Any:
    if isinstance(value, Watched):
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        return type(value)(_plain(one) for one in value)
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value


def _watched(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(Watched)
    return tuple(_watched(one) for one in value) if isinstance(value, tuple) else value


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _arrays(one)


def _count(operands: list[np.ndarray], result: Any) -> None:
    tally["operations"] += 1
    tally["bytes"] += sum(occupied_bytes(one) for one in [*operands, *_arrays(result)])


@contextmanager
def watching() -> Iterator[Counter[str]]:
    """Count what is done with arrays that are made inside; the arrays that go round from there are watched too."""

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: _watched(function(*_plain(args), **_plain(options)))

    tally.clear()
    with ExitStack() as stack:
        for name in _MAKERS:
            stack.enter_context(patch.object(np, name, made(getattr(np, name))))
        yield tally


def count(most_servers: int) -> dict[str, float]:
    """Traffic of one search over the whole catalogue and the choice of its best design, everything warm."""
    catalog, calibration = load_catalog(), stored_calibration()

    def chosen(rate: float) -> tuple[int, int, int]:
        counts = search(open_request(rate, most_servers), catalog, calibration)
        evaluated = counts.evaluated
        return Ranking(counts).first(1)[0], evaluated.space.n_rows, evaluated.class_nodes.size

    chosen(50_000.0)  # terms and columns that are kept
    with watching() as seen:
        row, designs, distinct = chosen(52_000.0)
        found = dict(seen)
    # Nothing kept from the watched run may stand for the plain one.
    assert chosen(52_000.0)[0] == row
    flop = found["arithmetic"] + ELEMENTARY_FLOP * found["elementary"]
    return {**found, "designs": designs, "distinct": distinct, "flop": flop}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(count(int(sys.argv[1]))))
