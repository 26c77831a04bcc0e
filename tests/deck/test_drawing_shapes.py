"""Drawings on slides, opened again with python-pptx: shapes where the drawing has them, links tied to their boxes."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.oxml.ns import qn

from sizer.deck.blocks import Branding, DrawingBlock, Slide, SlideColumn
from sizer.deck.presentation import written
from sizer.drawings.palette import LIGHT
from sizer.drawings.shapes import Box, Drawing, Label, Link, box_labels
from tests import factories
from tests.factories.examples import most_in

RESULTS = sorted(factories.ALL)
HOSTILE = "<b>&amp;\"'</b>\x00\x1b\ud800\uffff ]]> =cmd|1"


def slides(pages: Sequence[tuple[str, Drawing]], title: str) -> bytes:
    """A presentation with one slide for each drawing."""
    made = [Slide(name, drawing.title, (SlideColumn((DrawingBlock(drawing),)),)) for name, drawing in pages]
    return written(made, Branding(title, title), LIGHT)


def opened(data: bytes) -> Any:
    return Presentation(io.BytesIO(data))


def shapes(slide: Any) -> list[Any]:
    """All shapes, those inside groups too."""
    found = []
    for shape in slide.shapes:
        found += list(shape.shapes) if shape.shape_type == MSO_SHAPE_TYPE.GROUP else [shape]
    return found


def connectors(slide: Any) -> dict[str, list[Any]]:
    """Pieces of each link by the name of the link."""
    found: dict[str, list[Any]] = {}
    for shape in slide.shapes:
        if shape.element.tag == qn("p:cxnSp") and shape.name != "Rule":
            found.setdefault(shape.name, []).append(shape)
    return found


def tie(connector: Any, end: str) -> tuple[int, int] | None:
    """(shape, connection site) to which an end of a connector is tied."""
    found = connector.element.find(f".//{qn(end)}")
    return None if found is None else (int(found.get("id")), int(found.get("idx")))


def site(face: Any, number: int) -> tuple[float, float]:
    """Place of a connection site on the slide, from the formulas of the shape."""
    guides = {guide.get("name"): guide.get("fmla").split() for guide in face.element.iter(qn("a:gd"))}
    position = face.element.findall(f".//{qn('a:cxn')}")[number].find(qn("a:pos"))
    place = []
    for axis, start, size in (("x", face.left, face.width), ("y", face.top, face.height)):
        operator, side, share, whole = guides[position.get(axis)]
        assert (operator, side) == ("*/", {"x": "w", "y": "h"}[axis])
        place.append(start + size * int(share) / int(whole))
    return place[0], place[1]


def scale(slide: Any, drawing: Drawing) -> tuple[float, float, float]:
    """Length of a pixel and place of the drawing's corner, from the first box. [EMU]"""
    box = drawing.boxes[0]
    face = next(shape for shape in shapes(slide) if shape.name == box.id)
    pixel = face.width / box.width
    return pixel, face.left - pixel * box.x, face.top - pixel * box.y


@pytest.mark.parametrize("name", most_in("guides", RESULTS))
def test_boxes_keep_their_proportions_and_stay_on_the_slide(name):
    drawn = factories.drawings(name)
    deck = opened(slides(drawn, "Cluster"))
    assert deck.slide_width / deck.slide_height == pytest.approx(16 / 9)
    assert len(deck.slides) == len(drawn)
    for slide, (_, drawing) in zip(deck.slides, drawn, strict=True):
        pixel, left, top = scale(slide, drawing)
        faces = {shape.name: shape for shape in shapes(slide)}
        for box in drawing.boxes:
            face = faces[box.id]
            want = (left + pixel * box.x, top + pixel * box.y, pixel * box.width, pixel * box.height)
            # Corners are whole units of a length of which 12 700 make a point.
            assert (face.left, face.top, face.width, face.height) == pytest.approx(want, abs=10)
        for shape in slide.shapes:
            assert shape.left >= 0
            assert shape.left + shape.width <= deck.slide_width
            assert shape.top >= 0
            assert shape.top + shape.height <= deck.slide_height


@pytest.mark.parametrize("name", most_in("guides", RESULTS))
def test_links_are_tied_to_their_boxes_where_they_end(name):
    drawn = factories.drawings(name)
    for slide, (_, drawing) in zip(opened(slides(drawn, "Cluster")).slides, drawn, strict=True):
        pixel, left, top = scale(slide, drawing)
        faces = {shape.shape_id: shape for shape in shapes(slide)}
        found = connectors(slide)
        assert set(found) == {link.id for link in drawing.links}
        for link in drawing.links:
            ends = {"a:stCxn": (link.source, link.points[0]), "a:endCxn": (link.target, link.points[-1])}
            tied = {end: [tie(piece, end) for piece in found[link.id]] for end in ends}
            for end, (box, point) in ends.items():
                (known,) = [one for one in tied[end] if one is not None]
                face = faces[known[0]]
                assert face.name == box
                want = (left + pixel * point[0], top + pixel * point[1])
                # Sites are told in hundred-thousandths of a side: 598 pixels of 1.4 points are 10 million units.
                assert site(face, known[1]) == pytest.approx(want, abs=120)
            points = {(piece.begin_x, piece.begin_y) for piece in found[link.id]}
            points |= {(piece.end_x, piece.end_y) for piece in found[link.id]}
            for x, y in link.points:
                want = (left + pixel * x, top + pixel * y)
                assert any(point == pytest.approx(want, abs=10) for point in points)


@pytest.mark.parametrize("name", most_in("guides", RESULTS))
def test_every_text_of_the_drawing_stands_on_its_slide(name):
    drawn = factories.drawings(name)
    for slide, (view, drawing) in zip(opened(slides(drawn, "Cluster")).slides, drawn, strict=True):
        said = [
            paragraph.text
            for shape in shapes(slide)
            if shape.has_text_frame
            for paragraph in shape.text_frame.paragraphs
        ]
        wanted = [label.text for box in drawing.boxes for label in box_labels(box)]
        wanted += [label.text for label in (*drawing.labels, *(one for link in drawing.links for one in link.labels))]
        assert wanted
        for text in wanted:
            assert text in said
        assert slide.shapes.title.text_frame.text == drawing.title
        assert view in said


def test_hostile_text_is_shown_as_text():
    box = Box(HOSTILE, 0, 0, 600, 60, HOSTILE, ("x" * 5000,))
    link = Link(HOSTILE, HOSTILE, HOSTILE, ((0, 60), (0, 80)), 1, labels=(Label(0, 70, HOSTILE),))
    drawing = Drawing(626, 100, f"{HOSTILE} {'very long ' * 100}", (box,), (link,), labels=(Label(0, 9, HOSTILE),))
    deck = opened(slides([(HOSTILE, drawing)], HOSTILE))
    (slide,) = deck.slides
    shown = "<b>&amp;\"'</b>     ]]> =cmd|1"
    assert deck.core_properties.title == shown
    said = [shape.text_frame.text for shape in shapes(slide) if shape.has_text_frame]
    assert said.count(shown) == 2  # beside the link and loose
    assert any(text.startswith("<b>&amp;\"'</b> ]]> =cmd|1") and text.endswith("…") for text in said)
