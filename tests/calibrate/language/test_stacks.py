"""Software stacks of published runs of language models."""

from sizer.calibrate.language.rows import TUNED, load_language_rows, stack_named
from sizer.catalog.loader import shipped_catalog


def test_every_stack_that_runs_tell_apart_can_be_asked_for():
    """Submissions to MLPerf count as one stack, and software that no word tells stays unnamed."""
    named = {stack_named(row) for row in load_language_rows()}
    asked = {stack.id for stack in shipped_catalog().stacks.values() if stack.trains_language}
    assert {name for name in named if not name.startswith((TUNED, "other:"))} <= asked
