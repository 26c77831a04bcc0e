"""The drawings of a design in the order in which draw.io files and slides show them."""

from sizer.catalog.model import Catalog
from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.sizing.result import DesignAnswer


def design_pages(design: DesignAnswer, catalog: Catalog) -> tuple[tuple[str, Drawing], ...]:
    """Name and drawing of each page: topology, rack row, rack fronts."""
    fronts = rack_fronts(design.plan, catalog)
    numbers = range(1, len(fronts) + 1)
    names = [f"Rack fronts {n}" for n in numbers] if len(fronts) > 1 else ["Rack fronts"]
    return (
        ("Topology", topology(design)),
        ("Rack row", room(design.plan)),
        *zip(names, fronts, strict=True),
    )
