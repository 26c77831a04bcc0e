"""Answers to the examples, sized once a test process."""

from functools import cache
from pathlib import Path

from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = tuple(sorted(path.stem for path in (ROOT / "examples").glob("*.toml")))
# Examples of one common workload each.
WORKLOADS = tuple(sorted(f"workloads/{path.stem}" for path in (ROOT / "examples" / "workloads").glob("*.toml")))


@cache
def catalog() -> Catalog:
    """The shipped catalogue."""
    return shipped_catalog()


@cache
def sized(name: str) -> SizingResult:
    """Answer of an example, by the name of its file."""
    return size(SizingRequest.from_file(ROOT / "examples" / f"{name}.toml"), catalog())
