"""The command line run inside the tests."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from sizer.catalog import loader
from sizer.catalog.model import Catalog
from sizer.cli import main


@dataclass(frozen=True)
class Done:
    """What a run ended with."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object) -> Done:
    """The command line in this process: a hundred starts of Python, each with its catalogue, would be slow."""
    shipped, load = loader.shipped_catalog(), loader.load_catalog

    def loaded(*, overlay: Path | None = None) -> Catalog:
        return shipped if overlay is None else load(overlay=overlay)

    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["sizer", *map(str, arguments)])
        patch.setattr(loader, "load_catalog", loaded)
        try:
            main()
        except SystemExit as end:
            status = end.code
    return Done(int(status or 0) if isinstance(status, (int, type(None))) else 1, out.getvalue(), err.getvalue())


def refused(done: Done, status: int, *words: str) -> None:
    """One clear sentence and the status that fits."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
