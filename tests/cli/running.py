"""The command line run inside the tests."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from sizer.cli import main


@dataclass(frozen=True)
class Done:
    """What a run ended with."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object) -> Done:
    """The command line in this process: a hundred starts of Python would make the tests slow."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["sizer", *map(str, arguments)])
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
