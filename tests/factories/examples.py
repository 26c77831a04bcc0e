"""Answers to the examples, sized once a test process."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sizer import Catalog, SizingRequest, SizingResult, size
from sizer.catalog.loader import shipped_catalog

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = tuple(sorted(path.stem for path in (ROOT / "examples").glob("*.toml")))
# Examples of one common workload each.
WORKLOADS = tuple(sorted(f"workloads/{path.stem}" for path in (ROOT / "examples" / "workloads").glob("*.toml")))

# Examples that every run of `make test` asks about everything: a network of V100 with one server, a language model.
_EVERY_RUN = ("small-team", "llama-70b-dgx-h100")


def most_in(suite: str, values: Iterable[Any], every_run: Sequence[str] = _EVERY_RUN) -> list[Any]:
    """Parameters of a test: the first and those of some examples in every run, the others in a whole suite."""
    mark = getattr(pytest.mark, suite)
    return [
        value
        if not place or getattr(value, "stem", value) in every_run
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=mark)
        for place, value in enumerate(values)
    ]


@cache
def catalog() -> Catalog:
    """The shipped catalogue."""
    return shipped_catalog()


@cache
def sized(name: str) -> SizingResult:
    """Answer of an example, by the name of its file."""
    return size(SizingRequest.from_file(ROOT / "examples" / f"{name}.toml"), catalog())
