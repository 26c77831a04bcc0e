"""Places that take no output, and environments that lack what a program expects."""

import os
import resource
import shutil
import sys
from pathlib import Path

from tests.hostile.harness import Entry, command
from tests.hostile.requests import PLAIN

FILES = {"request.toml": PLAIN}
SIZE = ("size", "request.toml", "--out", "out", "--formats", "design,csv")


def full(arguments: tuple[str, ...]) -> None:
    """The command with a full device as its output."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    command(arguments)


def closed(arguments: tuple[str, ...]) -> None:
    """The command without standard output and input."""
    sys.stdout.flush()
    for number in (0, 1):
        os.close(number)
    sys.stdout = None  # type: ignore[assignment]  # as Python starts without one
    command(arguments)


def in_ascii(arguments: tuple[str, ...]) -> None:
    """The command on a terminal of plain ASCII."""
    sys.stdout.reconfigure(encoding="ascii", errors="strict")  # type: ignore[union-attr]
    sys.stderr.reconfigure(encoding="ascii", errors="strict")  # type: ignore[union-attr]
    command(arguments)


def in_latin1(arguments: tuple[str, ...]) -> None:
    """The command on a terminal of Western Europe, twenty years ago."""
    sys.stdout.reconfigure(encoding="latin-1", errors="strict")  # type: ignore[union-attr]
    command(arguments)


def in_cp1252(arguments: tuple[str, ...]) -> None:
    """The command on a console of Windows."""
    sys.stdout.reconfigure(encoding="cp1252", errors="strict")  # type: ignore[union-attr]
    command(arguments)


def homeless(arguments: tuple[str, ...]) -> None:
    """The command of a user without a home and without a name."""
    os.environ.pop("HOME", None)
    os.chown(".", 54321, 54321)
    os.setuid(54321)
    command(arguments)


def nowhere(arguments: tuple[str, ...]) -> None:
    """The command in a working directory that is gone."""
    request = Path("request.toml").resolve()
    gone = Path("gone")
    gone.mkdir()
    os.chdir(gone)
    shutil.rmtree(request.parent / "gone")
    command((arguments[0], str(request), "--out", str(request.parent / "out"), *arguments[4:]))


def few_files(arguments: tuple[str, ...]) -> None:
    """The command of a user who may open no further file."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
    command(arguments)


def interrupted(arguments: tuple[str, ...]) -> None:
    """The command, stopped by Ctrl-C while it writes."""
    import sizer.export.files

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    sizer.export.files.os.fsync = stop  # type: ignore[attr-defined,assignment]
    command(arguments)


def ended(name: str, call: object, *says: str, status: int = 0, leaves: tuple[str, ...] = ("out",)) -> Entry:
    """``sizer size`` in such a place."""
    return Entry(name, call, SIZE, FILES, status, says, leaves)  # type: ignore[arg-type]


ENTRIES = (
    ended("full standard output", full, "cannot be printed", "No space left", "free some space", status=7),
    ended("closed standard output", closed, "documents: out/"),
    ended("ASCII", in_ascii, "documents: out/"),
    ended("Latin-1", in_latin1, "documents: out/"),
    ended("Windows-1252", in_cp1252, "documents: out/"),
    ended("no home, unknown user", homeless, "documents: out/"),
    ended("deleted working directory", nowhere, "documents: "),
    ended("few open files", few_files, "Too many open files", "ulimit -n", status=7, leaves=()),
    Entry(  # Arrow reserved a gigabyte of addresses
        "draws of a sweep under a limit of memory",
        command,
        ("sweep", "request.toml", "--axis", "confidence=0.5,0.9", "--draws", "3", "--out", "out.csv"),
        FILES,
        0,
        leaves=("out.csv",),
    ),
    ended("interrupted while writing", interrupted, "interrupted", "not written", status=130),
    Entry("full device as folder", command, (*SIZE[:3], "/dev/full", *SIZE[4:]), FILES, 7, ("/dev/full", "cannot be")),
    Entry("a file as folder", command, (*SIZE[:3], "request.toml"), FILES, 7, ("request.toml", "cannot be")),
    Entry("folder of the kernel", command, (*SIZE[:3], "/proc/x"), FILES, 7, ("/proc/x", "cannot be")),
)
