"""Every number of the answers to the examples and the requests of customers, in ``numbers.csv``: ``make golden``.

The table says what moved, not what is right: that is held by the published runs, the hand calculations and the laws
elsewhere. A difference is a changed answer, to be explained where it is committed.
"""

import csv
import dataclasses
import enum
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from sizer.base.errors import InfeasibleError
from sizer.base.stored_answers import Deferred
from sizer.sizing.result import DecisionOption
from tests.cases import case_book
from tests.factories.examples import EXAMPLES, sized

TABLE = Path(__file__).parent / "numbers.csv"
# Last digits of sums and logarithms differ between processors.
SAME = 1e-7
# Fields that repeat numbers of the request or the catalogue, or of another field here.
_LEFT_OUT = {"request", "sources", "workload", "questions", "catalog", "inputs"}
# Designs that are compared with the described one: their size and figures, not their parts.
_COMPARED = ("platforms", "verdict.single", "runner_up")
_PARTS = {"plan", "stages", "scaling", "evidence", "language", "job", "lines", "networks", "components", "checks"}
# A longer array stands as its length, sum and sum weighted by position: any change of a value moves one of them.
_LONGEST_ARRAY = 4
# A longer list stands as its length and the sums of the numbers of its items, field by field.
_LONGEST_LIST = 4

ANSWERS = {f"examples/{name}": partial(sized, name) for name in EXAMPLES} | {
    f"cases/{name}": partial(case_book.designed, name) for name in case_book.NAMES
}


def numbers(answer: object) -> dict[str, str]:
    """Path of a number in an answer -> the number; of an item of the catalogue its id."""
    return {path: _text(value) for path, value in _leaves(answer, "")}


def answer_numbers(name: str) -> dict[str, str]:
    """Numbers of an answer by its name in the table; of a request that no design meets, that alone."""
    try:
        return numbers(ANSWERS[name]())
    except InfeasibleError:
        return {"is_feasible": "False"}


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    match value:
        case Deferred():
            yield from _leaves(value.value, path)
        case DecisionOption():  # another design than the described one
            yield f"{path}.n_servers", value.design.n_servers
            yield f"{path}.power_max_w", float(value.design.quantities.power_max_w[0])
        case BaseModel():
            name = getattr(value, "id", None)
            if name is not None:
                yield path, name
        case bool() | np.bool_():
            yield path, bool(value)
        case enum.Enum():
            yield path, value.name
        case int() | float() | Decimal() | np.number():
            yield path, value if isinstance(value, int | Decimal) else float(value)
        case np.ndarray():
            yield from _array(value, path)
        case Mapping():
            for key, inner in value.items():
                yield from _leaves(inner, f"{path}[{getattr(key, 'name', key)}]")
        case tuple() | list():
            yield from _list(value, path)
        case _ if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                if field.name not in (_LEFT_OUT | _PARTS if path.startswith(_COMPARED) else _LEFT_OUT):
                    yield from _leaves(getattr(value, field.name), f"{path}.{field.name}".removeprefix("."))


def _list(values: Sequence[object], path: str) -> Iterator[tuple[str, object]]:
    if len(values) <= _LONGEST_LIST:
        for place, value in enumerate(values):
            yield from _leaves(value, f"{path}[{_label(value, place)}]")
        return
    yield f"{path}.size", len(values)
    sums: dict[str, float] = {}
    for value in values:
        for name, number in _leaves(value, ""):
            if isinstance(number, int | float | Decimal) and math.isfinite(number):
                sums[name] = sums.get(name, 0.0) + float(number)
    for name, total in sums.items():
        yield f"{path}[all].{name}", total


def _label(value: object, place: int) -> str:
    """Name of an item of a list: that of a stage, the id of the item of a line, else its place."""
    names = (getattr(value, "key", None), getattr(value, "item", None))
    return next((name for name in names if isinstance(name, str)), str(place))


def _array(value: np.ndarray[Any, Any], path: str) -> Iterator[tuple[str, object]]:
    if value.dtype.kind not in "biuf":
        return
    flat = value.astype(float).ravel()
    if flat.size <= _LONGEST_ARRAY:
        for place, number in enumerate(flat):
            yield (path if flat.size == 1 else f"{path}[{place}]"), float(number)
        return
    yield f"{path}.size", int(flat.size)
    yield f"{path}.sum", float(flat.sum())
    yield f"{path}.weighted_sum", float(flat @ np.arange(1, flat.size + 1))


@cache
def stored() -> dict[str, dict[str, str]]:
    """Answer -> its numbers, as the table has them."""
    table: dict[str, dict[str, str]] = {}
    with TABLE.open(newline="", encoding="utf-8") as stream:
        answer = ""
        for name, path, number in csv.reader(stream):
            answer = name or answer  # stands in its first row
            table.setdefault(answer, {})[path] = number
    return table


def moved(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Lines that name every number that differs, with the old one and the new one."""
    lines = []
    for path in [*before, *(path for path in now if path not in before)]:
        old, new = before.get(path, "none"), now.get(path, "none")
        if old != new and not _same(old, new):
            lines.append(f"{path}: {old} -> {new}")
    return lines


def _same(old: str, new: str) -> bool:
    try:
        return math.isclose(float(old), float(new), rel_tol=SAME, abs_tol=1e-12)
    except ValueError:
        return False


def main() -> None:
    """Write the table from today's answers, and print what moved."""
    before = stored() if TABLE.exists() else {}
    with TABLE.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for name in ANSWERS:
            now = answer_numbers(name)
            for row, (path, number) in enumerate(now.items()):
                # What did not move keeps its last digit, so that the difference of two commits is what moved.
                old = before.get(name, {}).get(path, "")
                writer.writerow(("" if row else name, path, old if old and _same(old, number) else number))
            for line in moved(before.get(name, {}), now):
                sys.stdout.write(f"{name}: {line}\n")


if __name__ == "__main__":
    main()
