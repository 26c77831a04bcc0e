"""Bounds on plain data from outside, checked before anything walks through it."""

from collections.abc import Mapping

from sizer.base.errors import RequestError

# The largest request that the tables allow has some 13,000 values, 1,000 of them lines and overrides of a quote.
MAX_VALUES = 20_000
MAX_ENTRIES = 2_000  # of one table or list
MAX_DEPTH = 20


def check_size(data: object, place: str) -> None:
    """Refuse data with more, longer or deeper tables and lists than any file that a person writes.

    ``data``: tables, lists and values, as a TOML or JSON parser returns them. ``place``: name of the file in the error.
    Raises RequestError naming the first bound that is exceeded. The work is bounded by ``MAX_VALUES``, not by the size
    of the data.
    """
    level, n_values = [data], 0
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for table in level:
            if not isinstance(table, Mapping | list | tuple):
                continue
            if len(table) > MAX_ENTRIES:
                kind = "table has" if isinstance(table, Mapping) else "list has"
                raise RequestError(f"{place}: a {kind} {len(table)} entries; at most {MAX_ENTRIES} are allowed")
            n_values += len(table)
            if n_values > MAX_VALUES:
                raise RequestError(f"{place}: has more than {MAX_VALUES} values; remove some")
            inner += table.values() if isinstance(table, Mapping) else table
        if not inner:
            return
        level = inner
    raise RequestError(f"{place}: tables are nested more than {MAX_DEPTH} deep; remove some levels")
