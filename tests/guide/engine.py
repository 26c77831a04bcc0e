"""The PDF engine of this machine, which tests of PDFs need."""

import pytest

from sizer.guide.pdf import render


def needs_engine() -> None:
    """Skip where no PDF can be made."""
    if render.weasyprint_state() is not None:
        pytest.skip(str(render.weasyprint_state()))
