"""Analyses of one answer are made once for its guide, engineer's file and slides, and never taken from another."""

from sizer.guide.context import guide_context
from sizer.guide.edition import Edition
from tests.factories import examples


def test_editions_of_one_answer_share_its_analyses() -> None:
    result, catalog = examples.sized("small-team"), examples.catalog()
    guide = guide_context(result, catalog, Edition("guide"))
    engineer = guide_context(result, catalog, Edition("engineer"))
    assert guide.simplest is engineer.simplest
    assert guide.evaluated is engineer.evaluated
    assert (guide.edition.form, engineer.edition.form) == ("guide", "engineer")


def test_another_answer_has_its_own() -> None:
    first = guide_context(examples.sized("small-team"), examples.catalog(), Edition("guide"))
    first_design = first.evaluated.result
    second = guide_context(examples.sized("c4140-f800"), examples.catalog(), Edition("guide"))
    assert second.evaluated.result is second.result is not first_design
    assert first.evaluated.result is first_design
