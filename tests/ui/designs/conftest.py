"""The library that the app writes to."""

from pathlib import Path

import pytest

from sizer.library.library import Library


@pytest.fixture
def library(designs_of_the_test: Path) -> Library:
    """The library that the app writes to, opened at the same time."""
    return Library(str(designs_of_the_test))
