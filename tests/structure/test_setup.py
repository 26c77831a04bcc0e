"""What the set-up runs in a process of its own is there."""

import sys
from pathlib import Path

from tools import setup


def test_the_set_up_can_ask_the_pdf_engine(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setattr(setup, "PYTHON", sys.executable)
    assert "could not be asked" not in (setup.pdf_state() or "")
