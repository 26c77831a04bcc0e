"""The deck, opened again with python-pptx: its slides, their findings, and that everything fits."""

import io
import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.util import Pt

from sizer.deck.blocks import Slide
from sizer.deck.outline import deck, slides
from sizer.guide.context import GuideContext, guide_context
from sizer.guide.profile import GUIDE, Edition, Profile
from tests.factories.examples import catalog, most_in, sized

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

REQUESTS = (
    "dgx1-f800-resnet50",  # one workload on a cluster
    "c4140-f800",  # one server for three workloads, no price known
    "apollo-weka-resnet50",
    "questions/forty-data-scientists",  # four workloads and a team
    "questions/do-we-need-a-cluster",  # one server is enough
    "questions/data-doubles-every-year",  # growth
    "questions/one-server-may-fail",
    "questions/most-within-budget",
    "questions/images-grow-tenfold",
)
# A slide is 960 by 540 points of 12 700 units.
POINT = 12_700
WIDTH, HEIGHT = 960 * POINT, 540 * POINT


@cache
def context(name: str) -> GuideContext:
    return GuideContext(sized(name), catalog(), GUIDE)


@cache
def written(name: str) -> bytes:
    return deck(sized(name), catalog())


@cache
def opened(name: str) -> Any:
    return Presentation(io.BytesIO(written(name)))


def texts(page: Any) -> list[str]:
    """Texts of a slide, those of tables and groups too."""
    found = []
    for shape in page.shapes:
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            found += [part.text_frame.text for part in shape.shapes if part.has_text_frame]
        elif shape.has_table:
            found += [cell.text for row in shape.table.rows for cell in row.cells]
        elif shape.has_text_frame:
            found.append(shape.text_frame.text)
    return found


@pytest.mark.parametrize("name", most_in("guides", REQUESTS))
def test_slides_lead_from_the_need_to_the_next_steps_and_everything_fits(name: str) -> None:
    pages = opened(name).slides
    assert 8 <= len(pages) <= 12
    topics = [slide.topic for slide in slides(context(name)) if isinstance(slide, Slide)]
    for topic in (
        "The need",
        "The verdict",
        "Data path and bottleneck",
        "Racks and power",
        *(() if context(name).is_single else ("Logical architecture", "Scaling")),
        "Bill of materials",
        "Risks and next steps",
    ):
        assert topic in topics
    for number, page in enumerate(pages, 1):
        fits(page)
        # Labels of a drawing stand where the drawing has them; they are in the tests of the drawings.
        blocks = [shape for shape in page.shapes if shape.has_table or shape.has_chart or shape.is_placeholder]
        for one, other in itertools.combinations(blocks, 2):
            across = min(one.left + one.width, other.left + other.width) - max(one.left, other.left)
            down = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
            assert across <= 0 or down <= 0, (number, one.name, other.name)


def fits(page: Any) -> None:
    """Every shape is inside the slide, and the rows of tables end above the footer."""
    for shape in page.shapes:
        assert shape.left >= 0
        assert shape.top >= 0
        assert shape.left + shape.width <= WIDTH
        assert shape.top + shape.height <= HEIGHT
        if shape.has_table or shape.is_placeholder:
            cells = [cell.text_frame for row in shape.table.rows for cell in row.cells] if shape.has_table else []
            frames = cells or [shape.text_frame]
            sizes = {run.font.size for frame in frames for part in frame.paragraphs for run in part.runs}
            assert min(sizes, default=Pt(12)) >= Pt(12)
        if shape.has_table:
            assert shape.top + sum(row.height for row in shape.table.rows) <= 502 * POINT
            assert sum(column.width for column in shape.table.columns) == pytest.approx(shape.width, abs=POINT)


def test_nothing_is_a_picture_and_charts_hold_their_numbers() -> None:
    name = "dgx1-f800-resnet50"
    kinds = [shape.shape_type for page in opened(name).slides for shape in page.shapes]
    assert MSO_SHAPE_TYPE.PICTURE not in kinds
    (native,) = [shape.chart for page in opened(name).slides for shape in page.shapes if shape.has_chart]
    series = {one.name: list(one.iter_values()) for one in native.plots[0].series}
    grid = sized(name).design.workloads[0].scaling
    expected = series["Expected"]
    assert expected == pytest.approx(list(grid.throughput.value[: len(expected)]))
    assert series["Target"] == [52_000, 52_000]
    assert native.value_axis.minimum_scale == native.category_axis.minimum_scale == 0
    assert native.value_axis.maximum_scale >= max(expected)
    assert "images/s" in native.value_axis.axis_title.text_frame.text


def test_every_slide_has_logo_footer_and_number() -> None:
    picture = io.BytesIO()
    Image.new("L", (400, 100), 128).save(picture, format="PNG")
    profile = Profile.from_dict({"company": "Acme", "confidentiality": "Confidential"}, logo=picture.getvalue())
    result = sized("questions/do-we-need-a-cluster")
    book = Presentation(io.BytesIO(deck(result, catalog(), Edition("guide", profile))))
    first, *others = book.slides
    places = set()
    for page in (first, *others):
        (logo,) = [shape for shape in page.shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]
        assert logo.width / logo.height == pytest.approx(4, rel=0.01)
        places.add((logo.left, logo.top, logo.width))
        title = page.shapes.title
        assert title.left + title.width <= logo.left or title.top >= logo.top + logo.height
    assert len(places) == 1
    for number, page in enumerate(others, 2):
        said = texts(page)
        assert f"Confidential · {result.request.title} · {result.request.customer}" in said
        fields = [element.get("type") for element in page.element.iter() if element.tag.endswith("}fld")]
        assert fields == ["slidenum"]
        assert page.slide_id in {one.slide_id for one in book.slides}
        assert number >= 2
    assert book.core_properties.author == "Acme"


@pytest.mark.guides
def test_very_long_names_still_fit() -> None:
    result = sized("questions/forty-data-scientists")
    long = "An extraordinarily long name of a customer, of a project and of a workload " * 12
    works = [
        work.model_copy(update={"name": f"{number} {long}"}) for number, work in enumerate(result.request.workload)
    ]
    request = result.request.model_copy(update={"title": long, "customer": long})
    answers = tuple(replace(answer, workload=work) for answer, work in zip(result.design.workloads, works, strict=True))
    changed = replace(result, request=request, design=replace(result.design, workloads=answers))
    book = Presentation(io.BytesIO(deck(changed, catalog())))
    assert 8 <= len(book.slides) <= 12
    for page in book.slides:
        fits(page)


def test_equal_answers_give_equal_bytes() -> None:
    assert deck(sized(REQUESTS[0]), catalog()) == written(REQUESTS[0])


@pytest.mark.guides
@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("questions/most-within-budget", "What the limits give"),
        ("questions/how-long-to-fill", "Filling the storage"),
        ("questions/images-grow-tenfold", "Growth"),
    ],
)
def test_the_question_has_the_slide_after_the_verdict(name, topic):
    found = slides(guide_context(sized(name), catalog(), GUIDE))
    topics = [slide.topic for slide in found if isinstance(slide, Slide)]
    assert topics[topics.index("The verdict") + 1] == topic
    assert topics.count(topic) == 1
    assert len(found) <= 12
