"""Drawings of the answers that many tests start from."""

from functools import cache

from sizer.drawings.datapath import datapath
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from tests.factories.results import ALL


@cache
def drawings(name: str) -> tuple[tuple[str, Drawing], ...]:
    """Named drawings of a result: its topology and its data paths."""
    design = ALL[name]().design
    paths = [datapath(design, one, "images/s") for one in design.workloads]
    return ("Topology", topology(design)), *((f"Data path {number}", path) for number, path in enumerate(paths, 1))
