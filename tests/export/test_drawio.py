"""The draw.io file, read back with a plain XML parser and laid against the SVG of the same drawing."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from math import dist

import numpy as np
import pytest

from sizer.drawings.palette import LIGHT
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, Link
from sizer.drawings.svg import write_svg
from sizer.export.drawings.drawio import drawio
from tests import factories

RESULTS = sorted(factories.ALL)
HOSTILE = "<b>&amp;\"'</b>\x00\x1b\ud800\uffff ]]> {{ 7 * 7 }} $$x$$ = -1;html=1;"


def pages(data: bytes) -> list[dict[str, ET.Element]]:
    """Cells of each page by their id."""
    found = []
    for page in ET.fromstring(data):
        cells = list(page.iter("mxCell"))
        by_id = {cell.attrib["id"]: cell for cell in cells}
        assert len(by_id) == len(cells), "an id is used twice"
        found.append(by_id)
    return found


def style(cell: ET.Element) -> dict[str, str]:
    """Style of a cell; a key said twice would be an accident."""
    pairs = [entry.split("=", 1) for entry in cell.attrib["style"].strip(";").split(";")]
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys)
    return dict(pairs)


def place(cells: dict[str, ET.Element], id_: str) -> tuple[float, float, float, float]:
    """Absolute place of a vertex: geometry adds up along the parents."""
    geometry = cells[id_].find("mxGeometry")
    assert geometry is not None
    x, y, width, height = (float(geometry.attrib[key]) for key in ("x", "y", "width", "height"))
    parent = cells[id_].attrib["parent"]
    if parent == "1":
        return x, y, width, height
    left, top, *_ = place(cells, parent)
    return left + x, top + y, width, height


def end(cells: dict[str, ET.Element], edge: ET.Element, box: str, side: str) -> tuple[float, float]:
    """Where an edge meets its box, from the share of its sides and the pixels beyond."""
    x, y, width, height = place(cells, edge.attrib[box])
    said = style(edge)
    return (
        x + float(said[f"{side}X"]) * width + float(said[f"{side}Dx"]),
        y + float(said[f"{side}Y"]) * height + float(said[f"{side}Dy"]),
    )


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    """Places of all rectangles of an SVG."""
    found = re.findall(r'<rect x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)"', svg)
    return sorted(tuple(float(value) for value in values) for values in found)


@pytest.mark.parametrize("name", RESULTS)
def test_rectangles_and_routes_are_those_of_the_svg(name):
    drawn = factories.drawings(name)
    for (_, drawing), cells in zip(drawn, pages(drawio(drawn)), strict=True):
        kinds = ("copy:", "box:", "edge:", "part:", "bar:")
        got = sorted(place(cells, id_) for id_ in cells if id_.startswith(kinds))
        # Both round to a hundredth; a child of a child is the sum of three such numbers.
        assert len(got) == len(rectangles(write_svg(drawing)))
        for one, other in zip(got, rectangles(write_svg(drawing)), strict=True):
            assert one == pytest.approx(other, abs=0.021)
        assert drawing.links
        for link in drawing.links:
            edge = cells[f"link:{link.id}"]
            assert edge.attrib["source"] == f"box:{link.source}"
            assert edge.attrib["target"] == f"box:{link.target}"
            way = [(float(p.attrib["x"]), float(p.attrib["y"])) for p in edge.findall("mxGeometry/Array/mxPoint")]
            route = [end(cells, edge, "source", "exit"), *way, end(cells, edge, "target", "entry")]
            assert len(route) == len(link.points)
            for got_point, point in zip(route, link.points, strict=True):
                assert got_point == pytest.approx(point, abs=0.011)


@pytest.mark.parametrize("name", RESULTS)
def test_every_edge_ends_on_a_device_of_its_page_and_every_cell_has_a_parent(name):
    for cells in pages(drawio(factories.drawings(name))):
        for cell in cells.values():
            if cell.attrib.get("edge"):
                for side in ("source", "target"):
                    device = cells[cell.attrib[side]]
                    assert device.attrib["vertex"] == "1"
            if cell.attrib["id"] != "0":
                assert cell.attrib["parent"] in cells


@pytest.mark.parametrize("name", RESULTS)
def test_every_text_of_the_svg_stands_on_the_page(name):
    drawn = factories.drawings(name)
    for (_, drawing), cells in zip(drawn, pages(drawio(drawn)), strict=True):
        said = sorted(line for cell in cells.values() for line in cell.attrib.get("value", "").split("\n") if line)
        root = ET.fromstring(write_svg(drawing))
        shown = sorted(text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text"))
        assert said == shown


def test_text_beside_a_link_stands_where_the_svg_has_it():
    drawn = next(one for name in RESULTS for one in factories.drawings(name) if any(k.labels for k in one[1].links))
    (cells,) = pages(drawio([drawn]))
    labelled = [link for link in drawn[1].links if link.labels]
    assert labelled
    for link in labelled:
        for count, label in enumerate(link.labels, 1):
            note = cells[f"note:{link.id}:{count}"]
            offset = note.find("mxGeometry/mxPoint")
            assert offset is not None
            # The editor measures from half the way along the link.
            way = np.cumsum([0.0, *(dist(one, other) for one, other in pairwise(link.points))])
            x, y = (float(np.interp(way[-1] / 2, way, axis)) for axis in zip(*link.points, strict=True))
            assert x + float(offset.attrib["x"]) == pytest.approx(label.x, abs=0.01)
            # Centre of the line of text: the baseline lies a third of the type size below it.
            assert label.y - (y + float(offset.attrib["y"])) == pytest.approx(0.36 * label.size, abs=0.1)


def test_middle_of_a_bent_link_is_half_of_its_way():
    # 30 right, 40 down, 30 right: half of 100 is 20 down the second stretch.
    points = ((0.0, 5.0), (30.0, 5.0), (30.0, 45.0), (60.0, 45.0))
    assert sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(points)) == 100
    boxes = (Box("a", -10, 0, 10, 10, "A"), Box("b", 60, 40, 10, 10, "B"))
    link = Link("a--b", "a", "b", points, 1.0, labels=(Label(31.0, 25.0, "half", 10.0),))
    (cells,) = pages(drawio([("one", Drawing(100, 60, "t", boxes, (link,)))]))
    offset = cells["note:a--b:1"].find("mxGeometry/mxPoint")
    assert offset is not None
    assert float(offset.attrib["x"]) == pytest.approx(1.0)


def test_colours_lines_and_arrows_come_from_the_drawing():
    boxes = (Box("a", 0, 0, 40, 20, "A", role="gpu", copies=3), Box("b", 0, 40, 40, 20, "B", quiet=True, hatched=True))
    links = (
        Link("plain", "a", "b", ((20, 20), (20, 40)), 2.5, "network"),
        Link("dashed", "a", "b", ((30, 20), (30, 40)), 1, "other", dashed=True, arrow=True),
    )
    bars = (FilledBar(1, 2, 3, 4, "storage", 0.35),)
    (cells,) = pages(drawio([("one", Drawing(50, 70, "t", boxes, links, bars))]))
    plain, dashed = style(cells["link:plain"]), style(cells["link:dashed"])
    assert (plain["strokeColor"], plain["strokeWidth"], plain["endArrow"]) == (
        "#7350A0",
        "2.5",
        "none",
    )
    assert "dashed" not in plain
    assert (dashed["dashed"], dashed["endArrow"]) == ("1", "block")
    assert style(cells["edge:a"])["fillColor"] == "#1F7A4D"
    assert style(cells["bar:1"])["fillOpacity"] == "35"
    assert style(cells["box:b"])["fillStyle"] == "hatch"
    assert "url(#hatch-light-" in write_svg(Drawing(50, 70, "t", boxes))
    assert sorted(id_ for id_ in cells if id_.startswith("copy:")) == ["copy:a:1", "copy:a:2"]
    # Copies, face and everything on it move together.
    assert {cells[id_].attrib["parent"] for id_ in ("copy:a:1", "copy:a:2", "box:a")} == {"stack:a"}
    assert cells["edge:a"].attrib["parent"] == "box:a"


def test_the_title_is_the_text_of_the_face():
    large, small = Box("a", 0, 0, 200, 40, "9 × DGX-1", ("GPUs",)), Box("b", 0, 50, 200, 24, "DGX-1", small=True)
    (cells,) = pages(drawio([("one", Drawing(200, 80, "t", (large, small)))]))
    assert (cells["box:a"].attrib["value"], style(cells["box:a"])["fontStyle"]) == ("9 × DGX-1", "1")
    assert cells["line:a:1"].attrib["value"] == "GPUs"
    assert (cells["box:b"].attrib["value"], style(cells["box:b"])["fontStyle"]) == ("DGX-1", "0")


def test_hostile_text_is_shown_as_text():
    box = Box(HOSTILE, 0, 0, 400, 40, HOSTILE, (HOSTILE, "x" * 5000))
    link = Link(HOSTILE, HOSTILE, HOSTILE, ((0, 40), (0, 60)), 1, labels=(Label(0, 50, HOSTILE),))
    data = drawio([(HOSTILE, Drawing(400, 60, HOSTILE, (box,), (link,), labels=(Label(0, 9, HOSTILE),)))])
    (cells,) = pages(data)
    for cell in cells.values():
        if cell.attrib.get("value"):
            assert style(cell)["html"] == "0"
    # What has no shape becomes a space; everything else is there, letter by letter.
    shown = "<b>&amp;\"'</b>     ]]> {{ 7 * 7 }} $$x$$ = -1;html=1;"
    assert cells["text:1"].attrib["value"] == shown
    long = next(cell.attrib["value"] for cell in cells.values() if "xxx" in cell.attrib.get("value", ""))
    assert long.endswith("…")
    assert len(long) < 100
    for model in ET.fromstring(data).iter("mxGraphModel"):
        assert model.attrib["math"] == "0"  # the editor sets no formulas


def test_names_stay_apart_whatever_the_devices_are_called():
    ids = ["0", "1", "a", "a", "a~2", "a:1", "copy:a"]
    boxes = tuple(Box(id_, 20 * n, 0, 10, 10, id_, copies=2) for n, id_ in enumerate(ids))
    links = tuple(Link("same", "0", "1", ((10, 5), (20, 5)), 1) for _ in range(3))
    (cells,) = pages(drawio([("one", Drawing(200, 20, "t", boxes, links))]))  # asserts that ids are unique
    assert sum(id_.startswith("box:") for id_ in cells) == len(ids)
    assert sum(id_.startswith("link:") for id_ in cells) == 3


def test_pages_are_named_apart_and_the_file_is_not_compressed():
    drawing = Drawing(626, 100, "t", (Box("a", 0, 0, 10, 10, "A"),))
    root = ET.fromstring(drawio([("Racks", drawing), ("Racks", drawing)]))
    assert root.attrib["compressed"] == "false"
    assert [page.attrib["name"] for page in root] == ["Racks", "Racks"]
    assert len({page.attrib["id"] for page in root}) == 2
    model = root[0][0]
    assert (model.attrib["pageWidth"], model.attrib["pageHeight"]) == ("626", "100")


def test_equal_drawings_give_equal_bytes_and_other_devices_leave_the_rest_alone():
    assert drawio(factories.drawings("nine_dgx1")) == drawio(factories.drawings("nine_dgx1"))
    one, two = Box("a", 0, 0, 10, 10, "A"), Box("b", 20, 0, 10, 10, "B")
    (alone,) = pages(drawio([("one", Drawing(50, 20, "t", (two,)))]))
    (both,) = pages(drawio([("one", Drawing(50, 20, "t", (one, two)))]))
    assert {id_: ET.tostring(cell) for id_, cell in alone.items()}.items() <= {
        id_: ET.tostring(cell) for id_, cell in both.items()
    }.items()


def test_every_colour_is_of_the_palette():
    known = {LIGHT.background, LIGHT.surface, LIGHT.ink, LIGHT.muted, LIGHT.hairline, LIGHT.other}
    known |= set(LIGHT.stages.values())
    data = drawio(factories.drawings("nine_dgx1")).decode()
    assert set(re.findall(r"Color=(#\w+)", data)) <= known
