"""The slide on what a request asks besides its target."""

import pytest

from sizer.deck.blocks import Slide
from sizer.deck.outline import slides
from sizer.guide.context import guide_context
from sizer.guide.profile import GUIDE
from tests.factories.examples import catalog, sized


@pytest.mark.guides
@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("questions/most-within-budget", "What the limits give"),
        ("questions/how-long-to-fill", "Filling the storage"),
        ("questions/images-grow-tenfold", "Growth"),
        ("questions/one-server-may-fail", "Losses"),
    ],
)
def test_the_question_has_the_slide_after_the_verdict(name, topic):
    found = slides(guide_context(sized(name), catalog(), GUIDE))
    topics = [slide.topic for slide in found if isinstance(slide, Slide)]
    assert topics[topics.index("The verdict") + 1] == topic
    assert topics.count(topic) == 1
    assert len(found) <= 12
