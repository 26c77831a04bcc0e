"""The PDF engine of this machine, which tests of PDFs need."""

import pytest

from sizer.guide.pdf import typeset


def needs_engine() -> None:
    """Skip where no PDF can be made."""
    if typeset.weasyprint_state() is not None:
        pytest.skip(str(typeset.weasyprint_state()))
